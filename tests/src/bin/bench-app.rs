//! Measures the desktop app as a person has it: start, memory, idle work, a long history.
//!
//! Runs the built app under a screen, a session bus, a keychain and a tray of its own. A
//! second device inside this program writes `MESSAGES` texts to it through the relay in the
//! app, so the history is one that really arrived. What is measured is printed beside its
//! goal; a missed goal is no failure, because machines differ.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rand_core::OsRng;
use sealpost_engine::clock::SystemClock;
use sealpost_engine::core::status::Status;
use sealpost_engine::engine::{Engine, OpenOptions};
use sealpost_engine::keys::MemoryStore;
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::ProfileId;
use sealpost_protocol::invitation::Invitation;
use sealpost_tests::desktop::{Desktop, Keychain};
use sealpost_tests::driver::AppWindow;
use sealpost_tests::process::{OwnedProcess, wait_until};
use sealpost_tests::program::Program;
use sealpost_tests::session_bus::TrayHost;
use serde_json::json;
use tokio::task::JoinSet;

/// How many messages the long history has, unless `MESSAGES` says otherwise.
const MESSAGES: u64 = 50_000;

/// How long the app is watched while it does nothing, unless `SECONDS` says otherwise.
const IDLE_SECONDS: u64 = 60;

/// How long the long history may take to arrive.
const ARRIVAL_PATIENCE: Duration = Duration::from_secs(1_200);

/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The ticks of the processor's clock in a second, as Linux counts a process's time.
const TICKS_PER_SECOND: f64 = 100.0;

/// Asks the app for its view, from its own page.
const READ_VIEW: &str = "const done = arguments[0];\
    window.__TAURI_INTERNALS__.invoke('view', { args: {} }).then(done, () => done(null));";

/// Whether the newest message is on the screen.
const SHOWS_END: &str = r#"
    const list = document.querySelector('[data-testid="messages"]');
    const rows = [...document.querySelectorAll('[data-message-id]')];
    const last = Math.max(0, ...rows.map((row) => Number(row.dataset.position)));
    return list !== null && last >= arguments[0];
"#;

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

    let start = Instant::now();
    let window = stage.open().await?;
    window.element("device-name").await?;
    report("first start to its first field", seconds(start), "-");
    say(&memory("memory, no group", window.app_id())?);
    fill(&window, messages).await?;
    say(&memory("memory, all messages arrived", window.app_id())?);
    window.close().await?;

    let start = Instant::now();
    let window = stage.open().await?;
    window.element("group").await?;
    report("warm start to a usable window", seconds(start), "1.5 s");
    long_history(&window, messages).await?;
    say(&memory("memory, long history open", window.app_id())?);
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
}

/// Lets a second device into a new group and has it write the long history.
async fn fill(window: &AppWindow, messages: u64) -> anyhow::Result<()> {
    window.type_into("device-name", "Anna").await?;
    window.click("start-group").await?;
    window.element("qr-code").await?;
    let link = "return document.querySelector('[data-testid=\"invitation-link\"]').value";
    let link = window.run(link, vec![]).await?;
    let invitation = Invitation::parse(link.as_str().context("no invitation")?)?;
    let folder = tempfile::tempdir()?;
    let guest = open_guest(folder.path(), &invitation).await?;
    guest.join(invitation.token).await?;
    window.click("accept").await?;
    until("the admission", PATIENCE, async || {
        Ok(guest
            .pairing()
            .join
            .is_some_and(|join| join.words.is_some())
            && guest.status() == Status::Member)
    })
    .await?;
    guest.confirm_words().await?;
    window.element("composer").await?;
    let start = Instant::now();
    let mut writing = write(&guest, messages);
    let longest = longest_frame(window).await?;
    report("longest frame while messages arrive", longest, "100 ms");
    while let Some(written) = writing.join_next().await {
        written??;
    }
    until("all messages", ARRIVAL_PATIENCE, async || {
        Ok(last_position(window).await? >= messages)
    })
    .await?;
    let rate = count(messages) / start.elapsed().as_secs_f64();
    report(
        "messages that arrive in a second",
        format!("{rate:.0}"),
        "-",
    );
    guest.close().await;
    Ok(())
}

/// Writes the long history: many at a time, because each send waits for the disk.
fn write(guest: &Engine, messages: u64) -> JoinSet<anyhow::Result<()>> {
    const WRITERS: u64 = 64;
    let mut writing = JoinSet::new();
    for first in 1..=WRITERS {
        let guest = guest.clone();
        writing.spawn(async move {
            let mut message = first;
            while message <= messages {
                let text = format!("Message {message} of a long history, with a few words in it");
                guest.send_text(&text).await?;
                message += WRITERS;
            }
            Ok(())
        });
    }
    writing
}

async fn open_guest(folder: &Path, invitation: &Invitation) -> anyhow::Result<Engine> {
    let engine = Engine::open(OpenOptions {
        directory: folder.to_owned(),
        namespace: Namespace::parse("guest")?,
        profile_id: ProfileId::generate(&mut OsRng),
        relay: invitation.relay.clone(),
        device_name: "Ben".to_owned(),
        key_store: Arc::new(MemoryStore::new()),
        clock: Arc::new(SystemClock),
        max_payload_bytes: None,
    })
    .await?;
    engine.on_message(|_| Box::pin(async { Ok(()) }))?;
    Ok(engine)
}

/// The longest time between two frames of the page in five seconds.
async fn longest_frame(window: &AppWindow) -> anyhow::Result<String> {
    let script = "const done = arguments[0]; const begin = performance.now();\
        let last = begin, longest = 0;\
        const frame = (now) => { longest = Math.max(longest, now - last); last = now;\
            if (now - begin < 5000) requestAnimationFrame(frame); else done(longest); };\
        requestAnimationFrame(frame);";
    let longest = window.run_async(script).await?;
    Ok(format!("{:.0} ms", longest.as_f64().unwrap_or_default()))
}

async fn last_position(window: &AppWindow) -> anyhow::Result<u64> {
    let view = window.run_async(READ_VIEW).await?;
    Ok(view["groups"][0]["lastPosition"].as_u64().unwrap_or(0))
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
        .run_until("the end of the history", SHOWS_END, vec![json!(messages)])
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
    // What a start leaves to be done is no idle work.
    tokio::time::sleep(Duration::from_secs(20)).await;
    let seconds = number("SECONDS", IDLE_SECONDS);
    let before = ticks(app.id());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let used = (ticks(app.id()) - before) / TICKS_PER_SECOND;
    let share = used / count(seconds) * 100.0;
    report(
        &format!("work of all its processes in {seconds} s in the tray"),
        format!("{share:.2} % of a processor"),
        "0.1 %",
    );
    say(&memory("memory, in the tray", app.id())?);
    app.terminate(PATIENCE)?;
    Ok(())
}

/// A process and all that it started.
fn family(of: u32) -> Vec<u32> {
    let mut found = vec![of];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = format!("/proc/{parent}/task/{parent}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        found.extend(
            children
                .split_whitespace()
                .filter_map(|id| id.parse::<u32>().ok()),
        );
        next += 1;
    }
    found
}

/// What the processor did for a process and all that it started, in ticks.
fn ticks(of: u32) -> f64 {
    let of_one = |id: u32| -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some(field(11)? + field(12)?)
    };
    family(of).into_iter().filter_map(of_one).sum()
}

/// The memory of a process and of all that it started.
fn memory(what: &str, of: u32) -> anyhow::Result<String> {
    let of_one = |id: u32, name: &str| -> f64 {
        let rollup = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup"));
        let rollup = rollup.unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kib.unwrap_or_default() / 1024.0
    };
    let own = of_one(of, "Rss:");
    ensure!(own > 0.0, "the app is gone");
    let all: f64 = family(of).into_iter().map(|id| of_one(id, "Pss:")).sum();
    // Most of the first is the code of the system's web view, which others use too.
    let heap = of_one(of, "Anonymous:");
    let values = format!("{own:.0} MiB own (RSS, {heap:.0} of it data), {all:.0} MiB of all (PSS)");
    Ok(line(what, &values, "120 MiB own"))
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

fn line(what: &str, value: &str, goal: &str) -> String {
    format!("{what:<52} {value:<44} {goal}")
}

fn report(what: &str, value: impl AsRef<str>, goal: &str) {
    say(&line(what, value.as_ref(), goal));
}

fn say(text: &str) {
    // Nobody reads what can't be written.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
