//! Each trouble with the keychain has its screen and a way on, and none ends in a fresh start
//! over a profile that exists. A computer without a keychain is in `tests/tests/window.rs`.

use std::time::Duration;

use sealpost_tests::desktop::Keychain;
use sealpost_tests::secret_service::{Prompter, Secrets};
use serde_json::json;

use super::stage::{ONE_AT_A_TIME, Stage};

const ANY_KIND: &str =
    "return document.querySelector('[data-testid=\"keychain-trouble\"]')?.dataset.kind";

/// What kind of trouble the screen tells of.
const KIND: &str = "return document.querySelector('[data-testid=\"keychain-trouble\"]')?.dataset.kind === arguments[0]";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_keychain_is_named_and_tried_again() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let mut stage = Stage::set(Keychain::Locked).unwrap();
    let window = stage.open(&[]).await.unwrap();
    // With nothing that could show its question, it is over before anybody could close it;
    // on a slow machine that can't be told from a person's answer.
    let kind = window
        .run_until("the trouble", ANY_KIND, vec![])
        .await
        .unwrap();
    assert!(kind == "locked" || kind == "dismissed", "{kind}");
    stage.desktop.unlock_keychain().unwrap();
    window.click("try-keychain-again").await.unwrap();
    window.element("device-name").await.unwrap();
    window.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_for_the_keychain_that_was_closed_is_named_and_asked_again() {
    /// As long as a person looks at a question before closing it.
    const A_LOOK: Duration = Duration::from_secs(1);
    let _turn = ONE_AT_A_TIME.lock().await;
    let mut stage = Stage::set(Keychain::Locked).unwrap();
    let prompter = Prompter::start(&stage.desktop, A_LOOK).unwrap();
    let window = stage.open(&[]).await.unwrap();
    let kind = window
        .run_until("the trouble", ANY_KIND, vec![])
        .await
        .unwrap();
    assert_eq!((kind, prompter.times_asked()), (json!("dismissed"), 1));
    let asked = prompter.times_asked();
    assert!(asked > 0, "nobody was asked");
    window.click("try-keychain-again").await.unwrap();
    sealpost_tests::process::wait_until("the question again", super::PATIENCE, || {
        (prompter.times_asked() > asked).then_some(())
    })
    .unwrap();
    // The button rests while the question is on the screen.
    window
        .run_until(
            "the end of the question",
            "return document.querySelector('[data-testid=\"try-keychain-again\"]')?.disabled === false",
            vec![],
        )
        .await
        .unwrap();
    stage.desktop.unlock_keychain().unwrap();
    window.click("try-keychain-again").await.unwrap();
    window.element("device-name").await.unwrap();
    window.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_are_damaged_or_gone_start_nothing_anew_and_open_once_they_are_back() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let window = stage.open(&[]).await.unwrap();
    window.type_into("device-name", "Anna").await.unwrap();
    window.click("start-group").await.unwrap();
    window.element("qr-code").await.unwrap();
    window.close().await.unwrap();

    let secrets = Secrets::of(&stage.desktop).unwrap();
    let kept = secrets.read_all().unwrap();
    assert_eq!(kept.len(), 2, "one item for the group, one for the relay");
    secrets.write_all(&kept, |_| b"damaged".to_vec()).unwrap();
    let window = stage.open(&[]).await.unwrap();
    window
        .run_until("the damaged keys", KIND, vec![json!("damaged")])
        .await
        .unwrap();
    assert!(!window.is_shown("start-group").await, "a fresh start");
    // Nothing was written over them, so they open once a copy of the keychain is put back.
    for item in secrets.read_all().unwrap() {
        assert_eq!(item.secret, b"damaged");
    }
    secrets.write_all(&kept, <[u8]>::to_vec).unwrap();
    window.click("try-keychain-again").await.unwrap();
    window.element("group").await.unwrap();
    window.close().await.unwrap();

    secrets.remove_all().unwrap();
    let window = stage.open(&[]).await.unwrap();
    window
        .run_until("the missing keys", KIND, vec![json!("damaged")])
        .await
        .unwrap();
    assert!(!window.is_shown("start-group").await, "a fresh start");
    assert!(
        secrets.read_all().unwrap().is_empty(),
        "keys were made anew"
    );
    window.close().await.unwrap();
}
