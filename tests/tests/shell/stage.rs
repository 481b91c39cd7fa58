//! A desktop and the app on it, for the tests of this folder.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use sealpost_tests::desktop::{Desktop, Keychain};
use sealpost_tests::device_process::Device;
use sealpost_tests::driver::{AppWindow, PATIENCE};
use sealpost_tests::process::{OwnedProcess, wait_until};
use sealpost_tests::program::Program;
use serde_json::json;
use tokio::sync::Mutex;

/// How long a key may take to close the window.
const TRY: Duration = Duration::from_secs(3);

/// Windows draw on the processor here; two tests at once would only slow each other down.
pub(crate) static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// The four words of a window, once they are there.
const READ_WORDS: &str = r#"
    const words = [...document.querySelectorAll('[data-testid="words"] .word')];
    return words.length === 4 ? words.map((word) => word.textContent) : null;
"#;

pub(crate) const VALUE_OF: &str =
    "return document.querySelector(`[data-testid=\"${arguments[0]}\"]`)?.value ?? null";

pub(crate) const INVITATION_IS: &str =
    "return document.querySelector('[data-testid=\"invitation-input\"]')?.value === arguments[0]";

pub(crate) const HAS_FOCUS: &str = "return document.activeElement?.dataset.testid === arguments[0]";

/// A desktop and the app on it.
pub(crate) struct Stage {
    pub(crate) desktop: Desktop,
    app: PathBuf,
}

impl Stage {
    pub(crate) fn set(keychain: Keychain) -> anyhow::Result<Self> {
        Ok(Self {
            app: Program::App.built()?,
            desktop: Desktop::start(keychain)?,
        })
    }

    fn arguments(&self) -> Vec<String> {
        let data = self.desktop.folder().join("profiles");
        let data = data.to_string_lossy().into_owned();
        [
            "--data-dir",
            &data,
            "--relay-host",
            "127.0.0.1",
            "--log-level",
            "trace",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    pub(crate) async fn open(&self, more: &[&str]) -> anyhow::Result<AppWindow> {
        let mut arguments = self.arguments();
        arguments.extend(more.iter().map(|&argument| argument.to_owned()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let log = self.desktop.folder().join("app.log");
        AppWindow::open(&self.desktop, &self.app, &arguments, &log).await
    }

    /// Starts the app without anybody at its page.
    pub(crate) fn start(&self, more: &[&str]) -> anyhow::Result<OwnedProcess> {
        let mut command = Command::new(&self.app);
        self.desktop
            .place(&mut command)
            .args(self.arguments())
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        OwnedProcess::start("sealpost-app", &mut command)
    }

    /// Starts the app once more and waits until it has handed its arguments over.
    pub(crate) fn start_again(&self, more: &[&str]) -> anyhow::Result<()> {
        let status = self.start(more)?.wait(PATIENCE)?;
        ensure!(status.success(), "the second start failed: {status}");
        Ok(())
    }

    /// Whether the screen shows the window.
    pub(crate) fn is_on_screen(&self) -> anyhow::Result<bool> {
        let mut command = Command::new("xwininfo");
        let output = self
            .desktop
            .place(&mut command)
            .args(["-name", "Sealpost"])
            .output()?;
        Ok(String::from_utf8_lossy(&output.stdout).contains("IsViewable"))
    }

    /// Does something with the window that has the keyboard, as a person would.
    pub(crate) fn manage_window(&self, what: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new("xdotool");
        let status = self.desktop.place(&mut command).args(what).status()?;
        ensure!(status.success(), "the window can't be managed: {what:?}");
        Ok(())
    }

    /// Closes the window by the keyboard. Whatever manages windows may not have given it the
    /// keyboard yet; then it is tried again, as a person would.
    pub(crate) fn close_window(&self) -> anyhow::Result<()> {
        wait_until("no window", PATIENCE, || {
            if !self.is_on_screen().ok()? {
                return Some(());
            }
            self.manage_window(&["key", "alt+F4"]).ok()?;
            let gone = || (!self.is_on_screen().ok()?).then_some(());
            wait_until("no window", TRY, gone).ok()
        })
    }

    pub(crate) fn until_on_screen(&self, is_shown: bool) -> anyhow::Result<()> {
        let what = if is_shown { "the window" } else { "no window" };
        wait_until(what, PATIENCE, || {
            (self.is_on_screen().ok()? == is_shown).then_some(())
        })
    }
}

/// Starts a group in the window and pairs it with a second device; returns the invitation.
pub(crate) async fn pair(window: &AppWindow, guest: &Device) -> anyhow::Result<String> {
    window.type_into("device-name", "Anna").await?;
    window.click("start-group").await?;
    window.element("qr-code").await?;
    let link = window.run(VALUE_OF, vec![json!("invitation-link")]).await?;
    let link = link.as_str().context("there is no invitation")?.to_owned();
    let mut joining = guest.start(&["join", &link])?;
    joining.wait_for("question")?;
    joining.type_line("yes")?;
    let there = joining.wait_for("words")?;
    let here = window.run_until("the words", READ_WORDS, vec![]).await?;
    ensure!(
        there["words"] == here,
        "the two devices show different words"
    );
    window.click("accept").await?;
    joining.type_line("same")?;
    joining.wait_for("joined")?;
    ensure!(joining.wait()?.success(), "the guest did not join");
    Ok(link)
}
