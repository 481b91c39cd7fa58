//! A click on a notification leads to its group, whatever state the window is in.

use anyhow::ensure;
use sealpost_tests::desktop::Keychain;
use sealpost_tests::device_process::Device;
use sealpost_tests::driver::AppWindow;
use sealpost_tests::session_bus::{NotificationServer, TrayHost};
use serde_json::json;

use super::stage::{HAS_FOCUS, ONE_AT_A_TIME, Stage, pair};

/// The newest message on the screen.
const LAST_TEXT_IS: &str = "return [...document.querySelectorAll('[data-testid=\"message-text\"]')].at(-1)?.textContent.trim() === arguments[0]";

const TAKE_FOCUS_AWAY: &str = "document.activeElement?.blur()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_leads_out_of_hiding_off_the_task_bar_and_through_a_dialog() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let _tray = TrayHost::start(&stage.desktop).unwrap();
    let notices = NotificationServer::start(&stage.desktop).unwrap();
    let window = stage.open(&[]).await.unwrap();
    let guest = Device::new("guest", "Ben").unwrap();
    pair(&window, &guest).await.unwrap();
    window.element("composer").await.unwrap();

    // Closed, which hides it where there is a tray.
    stage.close_window().unwrap();
    click_next(&window, &notices, &guest, "hidden")
        .await
        .unwrap();
    stage.until_on_screen(true).unwrap();

    stage
        .manage_window(&["getactivewindow", "windowminimize"])
        .unwrap();
    stage.until_on_screen(false).unwrap();
    click_next(&window, &notices, &guest, "minimised")
        .await
        .unwrap();
    stage.until_on_screen(true).unwrap();

    // A question is open, which covers all of the window.
    for dialog in ["support-bundle", "shortcuts"] {
        window.click("settings").await.unwrap();
        window.click(dialog).await.unwrap();
        window.element("close-dialog").await.unwrap();
        click_next(&window, &notices, &guest, dialog).await.unwrap();
        assert!(!window.is_shown("close-dialog").await, "{dialog} covers it");
    }
    window.close().await.unwrap();
}

/// Has the other device write, clicks on what comes of it, and waits until it is shown.
async fn click_next(
    window: &AppWindow,
    notices: &NotificationServer,
    guest: &Device,
    text: &str,
) -> anyhow::Result<()> {
    let before = notices.notices().len();
    guest.run_well(&["send", text, "--wait", "20"])?;
    let notice = notices.until_after(before, "a notification", |one| one.body.contains("Ben"))?;
    ensure!(notice.has_default, "a click does nothing");
    // A group that is open shows the message anyway: only the cursor tells that the click led.
    window.run(TAKE_FOCUS_AWAY, vec![]).await?;
    notices.click(notice.id)?;
    window
        .run_until("the message", LAST_TEXT_IS, vec![json!(text)])
        .await?;
    window
        .run_until("the cursor", HAS_FOCUS, vec![json!("composer")])
        .await?;
    notices.close(notice.id)
}
