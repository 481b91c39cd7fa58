//! Moving the keys between keychain and passphrase, and locking.

use super::*;
use crate::view::{
    AutoLock, ChangePassphrase, MarkRead, Passphrase, RelayState, Screen, SetSettings, Showing,
};

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

#[tokio::test(flavor = "multi_thread")]
async fn nothing_looks_like_a_first_start_while_keys_move_or_the_app_locks() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    app.window
        .until("the group", |view| view.screen == Screen::Ready)
        .await;
    app.window.screens.lock().unwrap().clear();
    let asking = app.controller.clone();
    // Whoever asks at any moment sees one of the screens that are meant.
    let asked = tokio::spawn(async move {
        let mut seen = Vec::new();
        loop {
            let view = asking.view().await;
            if view.screen == Screen::Ready && view.groups.is_empty() {
                seen.push(Screen::FirstStart);
            }
            seen.push(view.screen);
            if view.screen == Screen::Passphrase {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    });
    app.controller
        .change_passphrase(change("", "the passphrase"))
        .await
        .unwrap();
    let wrong = change("not the one", "the second one");
    let wrong = app.controller.change_passphrase(wrong).await;
    assert_eq!(code(wrong), Some(AppErrorCode::PassphraseWrong));
    app.controller.lock().await.unwrap();
    let mut asked = asked.await.unwrap();
    asked.dedup();
    assert_eq!(asked, [Screen::Ready, Screen::Passphrase]);
    app.window
        .until("the lock", |view| view.screen == Screen::Passphrase)
        .await;
    let told = app.window.screens.lock().unwrap().clone();
    let meant: &[&[Screen]] = &[&[Screen::Ready, Screen::Passphrase], &[Screen::Passphrase]];
    assert!(meant.contains(&told.as_slice()), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_arrive_keep_no_app_open() {
    let pair = Pair::new().await;
    let phone = &pair.phone;
    let locking = SetSettings {
        auto_lock: Some(AutoLock::AfterMinutes),
        auto_lock_minutes: Some(2),
        ..SetSettings::default()
    };
    phone.controller.set_settings(locking).await.unwrap();
    phone.controller.used().unwrap();
    let mut messages = 0;
    let mut arrive = async |added_ms: u64| {
        phone.clock.added_ms.fetch_add(added_ms, Ordering::SeqCst);
        messages += 1;
        pair.laptop.send(&pair.laptop_group, "one more").await;
        // What the window does by itself when a message arrives.
        let rows = phone
            .until_messages(&pair.phone_group, "it", |rows| rows.len() == messages)
            .await;
        for group in [None, Some(pair.phone_group.clone())] {
            let issues = false;
            phone
                .controller
                .showing(&Showing { group, issues })
                .unwrap();
        }
        let read = MarkRead {
            group: pair.phone_group.clone(),
            position: rows.last().unwrap().position,
        };
        phone.controller.mark_read(read).await.unwrap();
        phone.controller.lock_if_unused().await;
    };
    let is_open = || phone.controller.opened().is_ok();
    arrive(100_000).await;
    assert!(is_open());
    phone.controller.used().unwrap();
    arrive(100_000).await;
    assert!(is_open(), "it was used since");
    phone.clock.added_ms.fetch_add(30_000, Ordering::SeqCst);
    phone.controller.lock_if_unused().await;
    assert!(!is_open(), "nobody has used it for longer than was chosen");
}
