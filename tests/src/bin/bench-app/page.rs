//! What is asked of the app's own page.

use std::time::Duration;

use anyhow::Context as _;
use sealpost_tests::driver::AppWindow;

/// Asks the app for its view.
const READ_VIEW: &str = "const done = arguments[0];\
    window.__TAURI_INTERNALS__.invoke('view', { args: {} }).then(done, () => done(null));";

/// Switches the app's own relay on.
const START_RELAY: &str = "const done = arguments[0];\
    window.__TAURI_INTERNALS__.invoke('set_relay_running', { args: { on: true } })\
    .then(() => done(true), () => done(null));";

/// Whether the newest message is on the screen.
pub(crate) const SHOWS_END: &str = r#"
    const list = document.querySelector('[data-testid="messages"]');
    const rows = [...document.querySelectorAll('[data-message-id]')];
    const last = Math.max(0, ...rows.map((row) => Number(row.dataset.position)));
    return list !== null && last >= arguments[0];
"#;

/// Notes for each key how long it takes from the press to the end of the frame that shows it:
/// a message to itself is handled after the frame that was begun before it was sent.
const WATCH_KEYS: &str = r#"
    const composer = document.querySelector('[data-testid="composer"]');
    window.sealpostKeys = [];
    composer.addEventListener('keydown', (event) => requestAnimationFrame(() => {
        const after = new MessageChannel();
        after.port1.onmessage = () => window.sealpostKeys.push(performance.now() - event.timeStamp);
        after.port2.postMessage(null);
    }), true);
    return true;
"#;

/// Takes the notes.
const TAKE_KEYS: &str = "const keys = window.sealpostKeys; window.sealpostKeys = []; return keys;";

/// The position of the newest message of the only group.
pub(crate) async fn last_position(window: &AppWindow) -> anyhow::Result<u64> {
    let view = window.run_async(READ_VIEW).await?;
    Ok(view["groups"][0]["lastPosition"].as_u64().unwrap_or(0))
}

/// Switches the relay of this computer on, as many people have it.
pub(crate) async fn start_relay(window: &AppWindow) -> anyhow::Result<()> {
    let started = window.run_async(START_RELAY).await?;
    started.as_bool().context("the relay didn't start")?;
    Ok(())
}

/// Prepares the composer of the group that is shown for [`type_until`].
pub(crate) async fn watch_keys(window: &AppWindow) -> anyhow::Result<()> {
    window.element("composer").await?;
    window.run(WATCH_KEYS, vec![]).await?;
    Ok(())
}

/// Types letters until it is enough, and returns how long each took to its glyph, in ms and
/// in ascending order.
pub(crate) async fn type_until(
    window: &AppWindow,
    mut is_enough: impl AsyncFnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<f64>> {
    /// As quick as anybody types.
    const BETWEEN_KEYS: Duration = Duration::from_millis(60);
    /// The question must not be what keeps the app busy.
    const BETWEEN_QUESTIONS: usize = 8;
    window.run(TAKE_KEYS, vec![]).await?;
    let composer = window.element("composer").await?;
    while !is_enough().await? {
        for _ in 0..BETWEEN_QUESTIONS {
            composer.send_keys("x").await?;
            tokio::time::sleep(BETWEEN_KEYS).await;
        }
    }
    let keys = window.run(TAKE_KEYS, vec![]).await?;
    let keys = keys.as_array().context("no key was seen")?;
    let mut keys: Vec<f64> = keys.iter().filter_map(serde_json::Value::as_f64).collect();
    keys.sort_by(f64::total_cmp);
    Ok(keys)
}
