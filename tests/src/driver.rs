//! One window of the app, driven by WebDriver.
//!
//! Each window has a WebKitWebDriver of its own, because one driver holds one session; the
//! driver starts the app. What is on the page is asked of it as a [`Page`].
//!
//! A dropped window is gone with everything that it started. `WebKitWebDriver` takes its
//! screenshots from the page and not from the screen, so windows may cover each other.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::desktop::Desktop;
pub use crate::page::PATIENCE;
use crate::page::{POLL, Page};
use crate::port::free_ports;
use crate::process::{OwnedProcess, child_of, is_alive, wait_until};

/// A window of the app.
#[derive(Debug)]
pub struct AppWindow {
    page: Page,
    driver: OwnedProcess,
    app: Pid,
}

impl Deref for AppWindow {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl AppWindow {
    /// Starts the app at `binary` on `desktop` and waits for its page.
    ///
    /// What the app and the driver say is appended to the file at `log_path`.
    ///
    /// # Errors
    ///
    /// When the driver or the app doesn't start.
    pub async fn open(
        desktop: &Desktop,
        binary: &Path,
        arguments: &[&str],
        log_path: &Path,
    ) -> anyhow::Result<Self> {
        let [port] = free_ports()?;
        let log = File::options().create(true).append(true).open(log_path)?;
        let mut command = Command::new("WebKitWebDriver");
        desktop
            .place(&mut command)
            .arg(format!("--port={port}"))
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("SEALPOST_LOG", "trace")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let driver = OwnedProcess::start("WebKitWebDriver", &mut command)?;
        let options = json!({ "binary": binary, "args": arguments });
        let capabilities = [("webkitgtk:browserOptions".to_owned(), options)];
        let page = Page::open(port, capabilities.into_iter().collect())
            .await
            .with_context(|| format!("the log ends with:\n{}", end_of(log_path)))?;
        let own = binary.canonicalize()?;
        let app = child_of(driver.id(), |program| program == own);
        let app = app.context("the driver started no app")?;
        Ok(Self { page, driver, app })
    }

    /// The process id of the app.
    #[must_use]
    pub fn app_id(&self) -> u32 {
        self.app.as_raw_nonzero().get().unsigned_abs()
    }

    /// Kills the app with SIGKILL, and then whatever it left behind.
    /// Its files are closed and its names are free on return.
    ///
    /// # Errors
    ///
    /// When it doesn't die in time.
    pub fn kill(mut self) -> anyhow::Result<()> {
        let _ = kill_process(self.app, Signal::KILL);
        let app = self.app_id();
        let end = wait_until("the end of the app", PATIENCE, || {
            (!is_alive(app)).then_some(())
        });
        self.driver.kill();
        end
    }

    /// Closes the WebDriver session, which closes the app, and waits for its end: an app that
    /// starts while an earlier one is still ending would hand its work over to that one.
    ///
    /// # Errors
    ///
    /// When the driver refuses, or the app doesn't end in time.
    pub async fn close(self) -> anyhow::Result<()> {
        self.client()
            .clone()
            .close()
            .await
            .context("the window did not close")?;
        let app = self.app_id();
        wait_until("the end of the app", PATIENCE, || {
            (!is_alive(app)).then_some(())
        })
    }

    /// Waits until what the app tells its window is as it should be, and returns it. A tick
    /// or a field may look so before the app has done it.
    ///
    /// # Errors
    ///
    /// When it isn't within the patience; the error names `what` was waited for.
    pub async fn until_view(
        &self,
        what: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> anyhow::Result<Value> {
        const READ: &str = "const done = arguments[0]; \
             window.__TAURI_INTERNALS__.invoke('view').then(done, () => done(null));";
        let deadline = Instant::now() + PATIENCE;
        loop {
            let view = self.run_async(READ).await?;
            if is_so(&view) {
                return Ok(view);
            }
            if Instant::now() >= deadline {
                bail!("waited {PATIENCE:?} in vain for {what}");
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Reads the only QR code of a picture.
///
/// # Errors
///
/// When there is none, more than one, or an unreadable one.
pub fn read_qr_code(picture: &image::DynamicImage) -> anyhow::Result<String> {
    let mut prepared = rqrr::PreparedImage::prepare(picture.to_luma8());
    let codes = prepared.detect_grids();
    let [code] = codes.as_slice() else {
        bail!(
            "{} QR codes on the picture where one was expected",
            codes.len()
        );
    };
    let (_, text) = code.decode().context("the QR code can't be read")?;
    Ok(text)
}

/// The last lines of a log.
fn end_of(log: &Path) -> String {
    const LINES: usize = 20;
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines
        .get(lines.len().saturating_sub(LINES)..)
        .unwrap_or_default()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::desktop::Keychain;

    /// Shows that the desktop and the driver work before any window of the app is blamed.
    #[tokio::test]
    async fn a_page_is_shown_clicked_and_photographed() {
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let browser = PathBuf::from(format!("/usr/lib/{triplet}/webkit2gtk-4.1/MiniBrowser"));
        let desktop = Desktop::start(Keychain::Unlocked).unwrap();
        let log = desktop.folder().join("driver.log");
        let window = AppWindow::open(&desktop, &browser, &["--automation"], &log)
            .await
            .unwrap();
        let page = "data:text/html,<button data-testid=b onclick=\"this.textContent='yes'\">no";
        window.client().goto(page).await.unwrap();
        window.click("b").await.unwrap();
        assert_eq!(window.text("b").await.unwrap(), "yes");
        assert!(!window.is_shown("c").await);
        let picture = window
            .screenshot(&desktop.folder().join("page.png"))
            .await
            .unwrap();
        assert!(picture.width() > 100);
        let app = window.app_id();
        window.kill().unwrap();
        assert!(!is_alive(app));
    }
}
