//! What waits for a relay: it is said, it outlives a kill, and it goes once the relay is back.

use anyhow::ensure;
use sealpost_tests::desktop::Keychain;
use sealpost_tests::device_process::Device;
use sealpost_tests::driver::AppWindow;
use serde_json::{Value, json};

use super::stage::{ONE_AT_A_TIME, Stage, VALUE_OF, pair};

const DRAFT: &str = "half a thou";
const TEXT: &str = "written while the relay is off";

/// How far the last message is.
const DELIVERY_IS: &str = "return [...document.querySelectorAll('[data-testid=\"delivery-state\"]')].at(-1)?.dataset.state === arguments[0]";

/// What a place says, and whether the window takes the relay for reached.
const SAYS: &str = "return document.querySelector(`[data-testid=\"${arguments[0]}\"]`)?.textContent.includes(arguments[1]) \
     && document.querySelector('[data-testid=\"connection\"]')?.dataset.state === 'disconnected'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_a_relay_outlives_a_kill_and_goes_once_it_is_on() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let window = stage.open(&[]).await.unwrap();
    let guest = Device::new("guest", "Ben").unwrap();
    pair(&window, &guest).await.unwrap();
    window.element("composer").await.unwrap();
    switch_relay(&window, false).await.unwrap();
    check_off(&window).await.unwrap();

    window.type_into("composer", TEXT).await.unwrap();
    window.click("send").await.unwrap();
    window
        .run_until("the message to wait", DELIVERY_IS, vec![json!("waiting")])
        .await
        .unwrap();
    window.type_into("composer", DRAFT).await.unwrap();
    let is_kept = |view: &Value| view["groups"][0]["draft"] == DRAFT;
    window.until_view("the draft", is_kept).await.unwrap();
    window.kill().unwrap();

    // All is as it was, and the relay is off as it was.
    let window = stage.open(&[]).await.unwrap();
    window.element("composer").await.unwrap();
    let draft = window.run(VALUE_OF, vec![json!("composer")]).await.unwrap();
    assert_eq!(draft, DRAFT);
    check_off(&window).await.unwrap();
    window
        .run_until("the message to wait", DELIVERY_IS, vec![json!("waiting")])
        .await
        .unwrap();

    switch_relay(&window, true).await.unwrap();
    window
        .run_until("the message's way", DELIVERY_IS, vec![json!("onRelay")])
        .await
        .unwrap();
    let mut reading = guest.start(&["tail"]).unwrap();
    let message = reading.wait_for("message").unwrap();
    assert_eq!(message["text"], TEXT);
    drop(reading);
    window.close().await.unwrap();
}

/// Switches the relay in its panel and closes that.
async fn switch_relay(window: &AppWindow, on: bool) -> anyhow::Result<()> {
    window.click("show-relay").await?;
    window.click("relay-switch").await?;
    let state = if on { "on" } else { "off" };
    window
        .until_view("the switch", |view| view["relay"]["state"] == state)
        .await?;
    window.click("close-panel").await
}

/// The relay is off: both places that speak of it say so.
async fn check_off(window: &AppWindow) -> anyhow::Result<()> {
    for (place, words) in [
        ("relay-line", "Relay here: off"),
        ("connection", "No relay is running at 127.0.0.1"),
    ] {
        let arguments = vec![json!(place), json!(words)];
        window.run_until(words, SAYS, arguments).await?;
    }
    ensure!(window.is_shown("composer").await, "one can't write");
    Ok(())
}
