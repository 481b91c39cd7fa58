//! The app in its desktop: tray, notifications, links, a second start, starting hidden. What
//! goes wrong around it, and what a kill leaves, is in the files of the folder.
//!
//! The tray and the notification server are the test's own, so it sees what the app asks of
//! them and does what a person would do with them. The second device is the command-line
//! client.

#[path = "shell/keychain.rs"]
mod keychain;
#[path = "shell/notification.rs"]
mod notification;
#[path = "shell/page.rs"]
mod page;
#[path = "shell/screen_lock.rs"]
mod screen_lock;
#[path = "shell/stage.rs"]
mod stage;
#[path = "shell/waiting.rs"]
mod waiting;

use std::process::Command;

use anyhow::{Context as _, ensure};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::invitation::Invitation;
use sealpost_tests::desktop::Keychain;
use sealpost_tests::device_process::Device;
use sealpost_tests::driver::{AppWindow, PATIENCE};
use sealpost_tests::process::wait_until;
use sealpost_tests::relay_session::RelaySession;
use sealpost_tests::session_bus::{NotificationServer, TrayHost};
use serde_json::{Value, json};

use stage::{HAS_FOCUS, INVITATION_IS, ONE_AT_A_TIME, Stage, pair};

/// Puts a blob into the app's inbox that is no message.
async fn push_rubbish(link: &str) -> anyhow::Result<()> {
    let invitation = Invitation::parse(link).context("the invitation can be read")?;
    let relay = invitation.relay.context("it names a relay")?;
    let device = invitation.token.keys().noise;
    let mut session = RelaySession::push(relay.push_port(), *relay.public_key()).await?;
    let rubbish = [0x55; 300];
    session
        .say(&Frame::Push {
            recipient: device,
            envelope: &rubbish,
        })
        .await?;
    session.hear().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tray_and_notifications_lead_to_the_right_place() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let tray = TrayHost::start(&stage.desktop).unwrap();
    let notices = NotificationServer::start(&stage.desktop).unwrap();
    let window = stage.open(&[]).await.unwrap();
    tray.until_icon().unwrap();
    check_first_menu(&tray).unwrap();

    let guest = Device::new("guest", "Ben").unwrap();
    let link = pair(&window, &guest).await.unwrap();
    check_notification(&window, &notices, &guest).await.unwrap();
    check_tray_choices(&window, &tray, &link).await.unwrap();
    check_second_start(&stage, &window, &link).await.unwrap();

    let app = window.app_id();
    tray.choose("Quit").unwrap();
    wait_until("the end of the app", PATIENCE, || {
        (!sealpost_tests::process::is_alive(app)).then_some(())
    })
    .unwrap();
}

fn check_first_menu(tray: &TrayHost) -> anyhow::Result<()> {
    tray.until_line("No group yet", |line| !line.enabled)?;
    let labels: Vec<String> = tray.menu()?.into_iter().map(|line| line.label).collect();
    let all = [
        "No group yet",
        "Show Sealpost",
        "Relay on this computer",
        "Pair a device…",
        "Delivery issues",
        "Mute notifications",
        "Quit",
    ];
    ensure!(labels == all, "{labels:?}");
    ensure!(!tray.line("Pair a device")?.enabled, "there is no group");
    Ok(())
}

async fn check_notification(
    window: &AppWindow,
    notices: &NotificationServer,
    guest: &Device,
) -> anyhow::Result<()> {
    // The person is elsewhere in the window.
    window.click("settings").await?;
    window.element("settings-page").await?;
    guest.run_well(&["send", "the secret of the <b>day</b>", "--wait", "20"])?;
    let notice = notices.until("a notification", |one| one.body.contains("Ben"))?;
    ensure!(notice.has_default, "a click does nothing");
    let said = format!("{}{}", notice.title, notice.body);
    ensure!(!said.contains("secret"), "the text was shown: {said}");
    // As soon as it is there: no click is too early.
    notices.click(notice.id)?;
    window
        .run_until(
            "the cursor where one writes",
            HAS_FOCUS,
            vec![json!("composer")],
        )
        .await?;
    // With the text, if the person wants it so, and never as markup.
    window.click("settings").await?;
    window.click("notify-whoAndText").await?;
    window
        .until_view("the choice to count", |view| {
            view["settings"]["notifications"] == "whoAndText"
        })
        .await?;
    guest.run_well(&["send", "the secret of the <b>day</b>", "--wait", "20"])?;
    let notice = notices.until("a notification with its text", |one| {
        one.body.contains("secret")
    })?;
    ensure!(
        notice.body.contains("&lt;b&gt;day&lt;/b&gt;"),
        "markup: {}",
        notice.body
    );
    // Reading it takes it away.
    window.click("group").await?;
    window.element("composer").await?;
    notices.until("the notification to be withdrawn", |one| {
        one.id == notice.id && one.withdrawn
    })?;
    Ok(())
}

async fn check_tray_choices(window: &AppWindow, tray: &TrayHost, link: &str) -> anyhow::Result<()> {
    tray.until_line("Connected", |_| true)?;
    tray.choose("Pair a device")?;
    window.element("qr-code").await?;

    push_rubbish(link).await?;
    tray.until_line("Delivery issues (1)", |line| line.enabled)?;
    tray.choose("Delivery issues")?;
    window.element("issues-page").await?;
    window.element("issue").await?;
    window.click("issue-dismiss").await?;
    window.element("no-issues").await?;
    tray.until_line("Delivery issues", |line| !line.label.contains('('))?;

    // The tick moves with the choice; what it stands for comes after it.
    tray.choose("Mute")?;
    let is_muted = |view: &Value| !view["settings"]["mutedUntilMs"].is_null();
    window.until_view("the mute", is_muted).await?;
    tray.until_line("Mute", |line| line.checked == Some(true))?;
    tray.choose("Mute")?;
    let is_loud = |view: &Value| !is_muted(view);
    window.until_view("the end of the mute", is_loud).await?;
    tray.until_line("Mute", |line| line.checked == Some(false))?;
    // Twice in a row is not at all, however fast.
    tray.choose("Mute")?;
    tray.choose("Mute")?;
    tray.until_line("Mute", |line| line.checked == Some(false))?;

    tray.until_line("Relay", |line| line.checked == Some(true))?;
    tray.choose("Relay")?;
    let is_off = |view: &Value| view["relay"]["state"] == "off";
    window.until_view("the relay to stop", is_off).await?;
    tray.until_line("Relay", |line| line.checked == Some(false))?;
    tray.until_line("No connection", |_| true)?;
    tray.choose("Relay")?;
    let is_on = |view: &Value| view["relay"]["state"] == "on";
    window.until_view("the relay to start", is_on).await?;
    tray.until_line("Relay", |line| line.checked == Some(true))?;
    tray.until_line("Connected", |_| true)?;
    Ok(())
}

async fn check_second_start(stage: &Stage, window: &AppWindow, link: &str) -> anyhow::Result<()> {
    window.click("group").await?;
    // The places are gone to in their order, so the last one comes after all the others.
    let last = link.to_uppercase();
    for link in [link, link, &last] {
        stage.start_again(&[link])?;
    }
    window
        .run_until("the last invitation", INVITATION_IS, vec![json!(last)])
        .await?;
    window
        .until_view("an end of the places", |view| view["destination"].is_null())
        .await?;
    // Without an invitation it only shows the window, and what is none leads nowhere.
    window.click("settings").await?;
    window.element("settings-page").await?;
    for arguments in [&[][..], &["https://example.org/"]] {
        stage.start_again(arguments)?;
        ensure!(
            window.is_shown("settings-page").await,
            "{arguments:?} led away"
        );
        stage.until_on_screen(true)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_start_stays_hidden_and_an_icon_comes_with_the_tray() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let tray = TrayHost::start(&stage.desktop).unwrap();
    let mut app = stage.start(&["--hidden"]).unwrap();
    tray.until_icon().unwrap();
    tray.until_line("No group yet", |_| true).unwrap();
    // Whatever shows a window by mistake has done so by now: all is open and told.
    assert!(!stage.is_on_screen().unwrap(), "the window is shown");
    // The login's entry starts it once more: nobody asked for the window.
    stage.start_again(&["--hidden"]).unwrap();
    assert!(!stage.is_on_screen().unwrap(), "the window is shown");
    tray.choose("Show").unwrap();
    stage.until_on_screen(true).unwrap();

    // The panel crashes and comes back: so does the icon.
    drop(tray);
    let tray = TrayHost::start(&stage.desktop).unwrap();
    tray.until_icon().unwrap();
    tray.until_line("No group yet", |_| true).unwrap();
    assert!(app.is_running());
    tray.choose("Quit").unwrap();
    let status = app.wait(PATIENCE).unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_tray_a_hidden_start_can_be_found_and_a_link_opens_the_form() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let mut hidden = stage.start(&["--hidden"]).unwrap();
    // The window is there for the task bar, minimised.
    let is_listed = || {
        let mut command = Command::new("xprop");
        let output = stage
            .desktop
            .place(&mut command)
            .args(["-name", "Sealpost", "WM_STATE"])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.contains("Iconic").then_some(())
    };
    wait_until("a minimised window", PATIENCE, is_listed).unwrap();
    // The tray starts after the app.
    let tray = TrayHost::start(&stage.desktop).unwrap();
    tray.until_icon().unwrap();
    hidden.terminate(PATIENCE).unwrap();

    let link = "trueseal://somewhere";
    let window = stage.open(&["--hidden", link]).await.unwrap();
    window
        .run_until("the invitation", INVITATION_IS, vec![json!(link)])
        .await
        .unwrap();
    stage.until_on_screen(true).unwrap();
    window.close().await.unwrap();
}
