//! The app locks when the screen does, whoever says so, and only where the person chose it.

use sealpost_tests::desktop::Keychain;
use sealpost_tests::session_bus::ScreenSaver;
use serde_json::{Value, json};

use super::stage::{ONE_AT_A_TIME, Stage};

const CHOOSE: &str = "const choice = document.querySelector(`[data-testid=\"${arguments[0]}\"]`); \
     choice.value = arguments[1]; choice.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_screen_locks_the_app_whoever_says_so() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let window = stage.open(&[]).await.unwrap();
    window.type_into("device-name", "Anna").await.unwrap();
    window.click("start-group").await.unwrap();
    window.element("qr-code").await.unwrap();
    let screen = ScreenSaver::start(&stage.desktop).unwrap();

    window.click("settings").await.unwrap();
    window.element("auto-lock").await.unwrap();
    let chosen = vec![json!("auto-lock"), json!("withSystem")];
    window.run(CHOOSE, chosen).await.unwrap();
    let is_chosen = |view: &Value| view["settings"]["autoLock"] == "withSystem";
    window.until_view("the choice", is_chosen).await.unwrap();
    for signal in ScreenSaver::LOCKS {
        // What only begins or ends something else locks nothing: the next one does.
        screen.say_unlocked().unwrap();
        window.element("group").await.unwrap();
        screen.say(signal).unwrap();
        window.element("locked").await.unwrap();
        assert!(!window.is_shown("group").await, "a locked app shows groups");
        window.click("try-keychain-again").await.unwrap();
        window.element("group").await.unwrap();
    }
    window.close().await.unwrap();
}
