//! Moving the keys between keychain and passphrase, and locking.

use super::*;
use crate::view::{ChangePassphrase, Passphrase, RelayState, Screen};

fn change(current: &str, passphrase: &str) -> ChangePassphrase {
    ChangePassphrase {
        current: current.to_owned(),
        passphrase: passphrase.to_owned(),
    }
}

fn passphrase(text: &str) -> Passphrase {
    Passphrase {
        passphrase: text.to_owned(),
    }
}

fn code<T>(answer: Result<T, AppError>) -> Option<AppErrorCode> {
    answer.err().map(|error| error.code)
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_move_to_a_passphrase_and_back_with_all_that_they_open() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let me = app.group(&group).await.me.id;
    assert_eq!(app.keychain.len(), 2, "a group's item and the relay's");

    let short = app.controller.change_passphrase(change("", "short")).await;
    assert_eq!(code(short), Some(AppErrorCode::PassphraseTooShort));
    app.controller
        .change_passphrase(change("", "the first one"))
        .await
        .unwrap();
    assert!(app.keychain.is_empty(), "nothing is left behind");
    assert_eq!(app.group(&group).await.me.id, me);

    let app = app.restart(data.path(), "default").await;
    assert_eq!(app.controller.view().await.screen, Screen::Passphrase);
    app.controller
        .unlock(passphrase("the first one"))
        .await
        .unwrap();
    assert_eq!(app.group(&group).await.me.id, me);
    let relay = app.controller.view().await.relay;
    assert_eq!(relay.state, RelayState::On, "the relay's key moved too");

    let wrong = change("not the one", "the second one");
    let wrong = app.controller.change_passphrase(wrong).await;
    assert_eq!(code(wrong), Some(AppErrorCode::PassphraseWrong));
    assert_eq!(app.group(&group).await.me.id, me, "all is open as before");
    app.controller
        .change_passphrase(change("the first one", "the second one"))
        .await
        .unwrap();

    let app = app.restart(data.path(), "default").await;
    let old = app.controller.unlock(passphrase("the first one")).await;
    assert_eq!(code(old), Some(AppErrorCode::PassphraseWrong));
    app.controller
        .unlock(passphrase("the second one"))
        .await
        .unwrap();
    app.controller
        .remove_passphrase(passphrase("the second one"))
        .await
        .unwrap();
    assert_eq!(app.keychain.len(), 2);
    let app = app.restart(data.path(), "default").await;
    assert_eq!(app.controller.view().await.screen, Screen::Ready);
    assert_eq!(app.group(&group).await.me.id, me);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keychain_that_fails_on_the_way_back_leaves_the_passphrase_in_force() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    app.controller
        .change_passphrase(change("", "the passphrase"))
        .await
        .unwrap();
    app.keychain.fail_with(Some(KeyStoreError::Locked));
    let failed = app
        .controller
        .remove_passphrase(passphrase("the passphrase"))
        .await;
    assert_eq!(code(failed), Some(AppErrorCode::KeychainUnusable));
    app.group(&group).await;
    let app = app.restart(data.path(), "default").await;
    app.controller
        .unlock(passphrase("the passphrase"))
        .await
        .unwrap();
    app.group(&group).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_app_shows_nothing_until_it_is_opened_and_its_relay_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    app.controller
        .change_passphrase(change("", "the passphrase"))
        .await
        .unwrap();
    app.controller.lock().await.unwrap();
    let view = app.controller.view().await;
    assert_eq!(view.screen, Screen::Passphrase);
    assert!(view.groups.is_empty());
    assert_eq!(view.relay.state, RelayState::On);
    let late = app.controller.lock().await;
    assert_eq!(code(late), Some(AppErrorCode::Closed));
    app.controller
        .unlock(passphrase("the passphrase"))
        .await
        .unwrap();
    app.group(&group).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_keychain_opens_the_app_again_when_it_is_tried() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    app.controller.lock().await.unwrap();
    assert_eq!(app.controller.view().await.screen, Screen::Keychain);
    app.controller.try_keychain_again().await.unwrap();
    app.group(&group).await;
}
