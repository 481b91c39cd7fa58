//! Measures the desktop app as a person has it: start, memory, idle work, a long history.
//!
//! Runs the built app under a screen, a session bus, a keychain and a tray of its own. A
//! second device inside this program writes `MESSAGES` texts to it, so the history is one
//! that really arrived; the last of them through an engine of its own. The relay between the two is one without limits: with the usual one
//! of 20 pushes per second to a recipient, 50,000 messages take 40 minutes, whatever the
//! devices can do. The app's own relay is on all along. What is measured is printed beside its goal; a missed goal is no
//! failure, because machines differ.

mod guest;
mod page;
mod usage;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use sealpost_protocol::invitation::Invitation;
use sealpost_tests::desktop::{Desktop, Keychain};
use sealpost_tests::driver::AppWindow;
use sealpost_tests::process::{OwnedProcess, wait_until};
use sealpost_tests::program::Program;
use sealpost_tests::relay_process::{LIMITS_OFF, RelayProcess};
use sealpost_tests::session_bus::TrayHost;
use sealpost_tests::terminal::say;
use serde_json::json;
use tokio::task::JoinSet;

use self::guest::Guest;
use self::page::{last_position, start_relay, type_until, watch_keys};
use self::usage::{Memory, drop_from_cache, family, mapped_files, worked};

/// How many messages the long history has, unless `MESSAGES` says otherwise.
const MESSAGES: u64 = 50_000;

/// How many of them arrive while somebody types.
const WHILE_TYPING: u64 = 2_000;

/// How long the app is watched while it does nothing, unless `SECONDS` says otherwise.
const IDLE_SECONDS: u64 = 60;

/// How long somebody types while nothing arrives.
const QUIET_TYPING: Duration = Duration::from_secs(5);

/// How long the long history may take to arrive.
const ARRIVAL_PATIENCE: Duration = Duration::from_secs(1_200);

/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is left to do after a start, or after messages, is no idle work.
const SETTLING: Duration = Duration::from_secs(20);

/// The app's own process may have so much memory.
const MEMORY_GOAL: &str = "120 MiB own";

struct Stage {
    desktop: Desktop,
    app: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(measure())
}

async fn measure() -> anyhow::Result<()> {
    let stage = Stage {
        app: Program::App.built()?,
        desktop: Desktop::start(Keychain::Unlocked)?,
    };
    let _tray = TrayHost::start(&stage.desktop)?;
    let messages = number("MESSAGES", MESSAGES);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    report("load of the machine before", load.trim(), "none");

    empty_web_view(&stage).await?;
    let start = Instant::now();
    let window = stage.open().await?;
    window.element("device-name").await?;
    report("first start to its first field", seconds(start), "-");
    say(&memory("memory, no group", window.app_id(), MEMORY_GOAL)?);
    let relay = RelayProcess::start_with(&LIMITS_OFF)?;
    fill(&window, &relay, messages).await?;
    say(&memory(
        "memory, all messages arrived",
        window.app_id(),
        MEMORY_GOAL,
    )?);
    let files = mapped_files(window.app_id());
    window.close().await?;

    let window = stage
        .start("warm start to a usable window", "1.5 s")
        .await?;
    window.close().await?;
    drop_from_cache(&files);
    let window = stage.start("cold start to a usable window", "-").await?;
    long_history(&window, messages).await?;
    tokio::time::sleep(SETTLING).await;
    say(&memory(
        "memory, long history open",
        window.app_id(),
        MEMORY_GOAL,
    )?);
    window.close().await?;
    idle(&stage).await
}

impl Stage {
    fn arguments(&self) -> Vec<String> {
        let data = self.desktop.folder().join("profiles");
        let data = data.to_string_lossy().into_owned();
        ["--data-dir", &data, "--relay-host", "127.0.0.1"]
            .map(str::to_owned)
            .to_vec()
    }

    async fn open(&self) -> anyhow::Result<AppWindow> {
        let arguments = self.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let log = self.desktop.folder().join("app.log");
        AppWindow::open(&self.desktop, &self.app, &arguments, &log).await
    }

    /// Opens the app and waits until the group can be chosen.
    async fn start(&self, what: &str, goal: &str) -> anyhow::Result<AppWindow> {
        let start = Instant::now();
        let window = self.open().await?;
        window.element("group").await?;
        report(what, seconds(start), goal);
        Ok(window)
    }
}

/// Measures the memory of the browser that comes with the system's web view, on an empty page:
/// what any program with such a window has on this machine.
async fn empty_web_view(stage: &Stage) -> anyhow::Result<()> {
    let what = "memory, an empty page in WebKit's own browser";
    let Some(program) = web_view_browser() else {
        report(
            what,
            "not measured: this system's WebKit comes without one",
            "-",
        );
        return Ok(());
    };
    let mut command = Command::new(program);
    stage
        .desktop
        .place(&mut command)
        .arg("about:blank")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut browser = OwnedProcess::start("MiniBrowser", &mut command)?;
    wait_until("the processes of the browser", PATIENCE, || {
        (family(browser.id()).len() > 2).then_some(())
    })?;
    tokio::time::sleep(SETTLING).await;
    say(&memory(what, browser.id(), "-")?);
    browser.terminate(PATIENCE)?;
    Ok(())
}

/// The browser for trying WebKitGTK out, where the system has it: its folder is named for the
/// processor.
fn web_view_browser() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    folders
        .map(|folder| folder.path().join("webkit2gtk-4.1/MiniBrowser"))
        .find(|program| program.is_file())
}

/// Lets a second device into a new group and has it write the long history, the end of it
/// while somebody types.
async fn fill(window: &AppWindow, relay: &RelayProcess, messages: u64) -> anyhow::Result<()> {
    let mut guest = pair(window, relay).await?;
    // It counts as much as it does for whoever runs the relay of a group.
    start_relay(window).await?;
    watch_keys(window).await?;
    let begin = Instant::now();
    let keys = type_until(window, async || Ok(begin.elapsed() > QUIET_TYPING)).await?;
    report(
        "key press to glyph, nothing arrives",
        spread(&keys),
        "100 ms",
    );

    let at_once = messages.saturating_sub(WHILE_TYPING);
    let begin = Instant::now();
    guest.pour(at_once).await?;
    arrive(window, at_once).await?;
    report(
        "messages received in a second",
        rate(at_once, begin.elapsed()),
        "-",
    );

    let begin = Instant::now();
    let writing = guest.write(messages - at_once);
    let all_are_there = async || Ok(last_position(window).await? >= messages);
    let keys = type_until(window, all_are_there).await?;
    finish(writing).await?;
    let what = format!("key press to glyph, {} arrive", messages - at_once);
    report(&what, spread(&keys), "100 ms");
    let while_typing = rate(messages - at_once, begin.elapsed());
    report(
        "messages from engine to engine in a second",
        while_typing,
        "-",
    );
    guest.close().await;
    Ok(())
}

/// Starts a group in the app and lets the second device into it.
async fn pair(window: &AppWindow, relay: &RelayProcess) -> anyhow::Result<Guest> {
    window.type_into("device-name", "Anna").await?;
    window.click("relay-elsewhere").await?;
    window.type_into("relay-address", &relay.address()?).await?;
    window.click("start-group").await?;
    window.element("qr-code").await?;
    let link = "return document.querySelector('[data-testid=\"invitation-link\"]').value";
    let link = window.run(link, vec![]).await?;
    let guest = Guest::ask(Invitation::parse(link.as_str().context("no invitation")?)?).await?;
    window.click("accept").await?;
    until("the admission", PATIENCE, async || Ok(guest.is_admitted())).await?;
    guest.confirm().await?;
    Ok(guest)
}

async fn finish(mut writing: JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    while let Some(written) = writing.join_next().await {
        written??;
    }
    Ok(())
}

async fn arrive(window: &AppWindow, messages: u64) -> anyhow::Result<()> {
    until("all messages", ARRIVAL_PATIENCE, async || {
        Ok(last_position(window).await? >= messages)
    })
    .await
}

/// Opens the group and jumps to its end.
async fn long_history(window: &AppWindow, messages: u64) -> anyhow::Result<()> {
    if window.is_shown("composer").await {
        window.click("settings").await?;
        window.element("settings-page").await?;
    }
    let start = Instant::now();
    window.click("group").await?;
    window.element("message").await?;
    report("open the long history", seconds(start), "1 s");
    let to_top = "document.querySelector('[data-testid=\"messages\"]').scrollTop = 0; return true";
    window.run(to_top, vec![]).await?;
    window.element("jump-to-end").await?;
    let start = Instant::now();
    window.click("jump-to-end").await?;
    window
        .run_until(
            "the end of the history",
            page::SHOWS_END,
            vec![json!(messages)],
        )
        .await?;
    report("jump to its end", seconds(start), "1 s");
    Ok(())
}

/// Watches the app in the tray while it does nothing.
async fn idle(stage: &Stage) -> anyhow::Result<()> {
    let mut command = Command::new(&stage.app);
    stage
        .desktop
        .place(&mut command)
        .args(stage.arguments())
        .arg("--hidden")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut app = OwnedProcess::start("sealpost-app", &mut command)?;
    wait_until("the processes of the app", PATIENCE, || {
        (family(app.id()).len() > 2).then_some(())
    })?;
    tokio::time::sleep(SETTLING).await;
    let seconds = number("SECONDS", IDLE_SECONDS);
    let all = || family(app.id()).into_iter().map(worked).sum::<f64>();
    let before = (worked(app.id()), all());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let share = |before: f64, now: f64| (now - before) / count(seconds) * 100.0;
    let (own, all) = (share(before.0, worked(app.id())), share(before.1, all()));
    report(
        &format!("work in {seconds} s in the tray"),
        format!("{own:.2} % of a processor own, {all:.2} % of all"),
        "0.1 %",
    );
    say(&memory("memory, in the tray", app.id(), MEMORY_GOAL)?);
    app.terminate(PATIENCE)?;
    Ok(())
}

async fn until(
    what: &str,
    patience: Duration,
    is_so: impl AsyncFn() -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let end = Instant::now() + patience;
    while !is_so().await? {
        ensure!(Instant::now() < end, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

fn number(name: &str, usual: u64) -> u64 {
    let chosen = std::env::var(name).ok();
    chosen.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A count, for a division.
fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

fn seconds(start: Instant) -> String {
    format!("{:.2} s", start.elapsed().as_secs_f64())
}

fn rate(messages: u64, time: Duration) -> String {
    format!("{:.0}", count(messages) / time.as_secs_f64())
}

/// The median and the greatest of values in ascending order.
fn spread(values: &[f64]) -> String {
    let median = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
    let greatest = values.last().copied().unwrap_or(f64::NAN);
    let keys = values.len();
    format!("{median:.0} ms, slowest {greatest:.0} ms of {keys} keys")
}

/// The memory of a process and of all that it started. Most of the first is the code of the
/// system's web view and of the graphics driver, which others use too.
fn memory(what: &str, of: u32, goal: &str) -> anyhow::Result<String> {
    let memory = Memory::of(of)?;
    let (resident, data) = (memory.resident, memory.data);
    let (driver, all) = (memory.driver, memory.of_all);
    let values = format!(
        "{resident:.0} MiB own (RSS; {driver:.0} graphics driver, {data:.0} data), {all:.0} of all (PSS)"
    );
    Ok(line(what, &values, goal))
}

fn line(what: &str, value: &str, goal: &str) -> String {
    format!("{what:<44} {value:<72} {goal}")
}

fn report(what: &str, value: impl AsRef<str>, goal: &str) {
    say(&line(what, value.as_ref(), goal));
}
