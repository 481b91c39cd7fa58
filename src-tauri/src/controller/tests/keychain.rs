use super::*;
use crate::view::{KeychainTrouble, Passphrase, Screen};

fn passphrase(text: &str) -> Passphrase {
    Passphrase {
        passphrase: text.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_keychain_is_said_and_tried_again() {
    let data = tempfile::tempdir().unwrap();
    let keychain = Arc::new(MemoryStore::new());
    let troubles = [
        (KeyStoreError::Missing, KeychainTrouble::Missing),
        (KeyStoreError::Locked, KeychainTrouble::Locked),
        (KeyStoreError::Dismissed, KeychainTrouble::Dismissed),
        (KeyStoreError::Failed, KeychainTrouble::Missing),
    ];
    for (failure, kind) in troubles {
        keychain.fail_with(Some(failure));
        let app = App::start(data.path(), "default", &keychain).await;
        let view = app.controller.view().await;
        assert_eq!(view.screen, Screen::Keychain);
        assert!(app.controller.needs_attention().await);
        let shown = view.keychain.expect("it says what is wrong");
        assert_eq!((shown.kind, shown.may_choose_passphrase), (kind, true));
        let args = StartGroup {
            device_name: "Laptop".to_owned(),
            relay: RelayChoice::ThisComputer,
        };
        let refused = app.controller.start_group(args).await.err();
        assert_eq!(refused.map(|error| error.code), Some(AppErrorCode::Closed));
        app.controller.try_keychain_again().await.unwrap();
        assert_eq!(app.controller.view().await.screen, Screen::Keychain);
        keychain.fail_with(None);
        app.controller.try_keychain_again().await.unwrap();
        assert_eq!(app.controller.view().await.screen, Screen::FirstStart);
        app.controller.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passphrase_file_is_chosen_and_asked_for_at_the_next_start() {
    let data = tempfile::tempdir().unwrap();
    let keychain = Arc::new(MemoryStore::new());
    keychain.fail_with(Some(KeyStoreError::Missing));
    let app = App::start(data.path(), "default", &keychain).await;
    let short = app
        .controller
        .choose_passphrase(passphrase("short"))
        .await
        .err();
    let expected = AppError::new(AppErrorCode::PassphraseTooShort).with_number("min", 8);
    assert_eq!(short, Some(expected));
    app.controller
        .choose_passphrase(passphrase("correct horse"))
        .await
        .unwrap();
    assert_eq!(app.controller.view().await.screen, Screen::FirstStart);
    let group = app.start_group().await;

    let app = app.restart(data.path(), "default").await;
    assert_eq!(app.controller.view().await.screen, Screen::Passphrase);
    let wrong = app.controller.unlock(passphrase("wrong horse")).await.err();
    assert_eq!(wrong, Some(AppErrorCode::PassphraseWrong.into()));
    assert_eq!(app.controller.view().await.screen, Screen::Passphrase);
    app.controller
        .unlock(passphrase("correct horse"))
        .await
        .unwrap();
    let view = app.controller.view().await;
    assert_eq!(
        (view.screen, view.groups[0].id.as_str()),
        (Screen::Ready, group.as_str())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_gone_never_lead_to_a_fresh_identity() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let me = app.group(&group).await.me.id;
    let full = Arc::clone(&app.keychain);
    app.controller.quit().await;
    drop(app);

    let emptied = Arc::new(MemoryStore::new());
    let app = App::start(data.path(), "default", &emptied).await;
    let view = app.controller.view().await;
    let shown = view.keychain.expect("it says what is wrong");
    assert_eq!(shown.kind, KeychainTrouble::Damaged);
    assert!(!shown.may_choose_passphrase, "there are keys somewhere");
    assert!(view.groups.is_empty() && emptied.is_empty());
    let refused = app
        .controller
        .choose_passphrase(passphrase("correct horse"))
        .await
        .err();
    assert_eq!(refused.map(|error| error.code), Some(AppErrorCode::Closed));
    app.controller.quit().await;

    let app = App::start(data.path(), "default", &full).await;
    assert_eq!(app.group(&group).await.me.id, me);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keychain_that_fails_in_the_middle_is_no_dead_end() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.keychain.fail_with(Some(KeyStoreError::Locked));
    let args = StartGroup {
        device_name: "Laptop".to_owned(),
        relay: RelayChoice::ThisComputer,
    };
    let refused = app.controller.start_group(args).await.err();
    let expected = AppError::new(AppErrorCode::KeychainUnusable).with_word("kind", "locked");
    assert_eq!(refused, Some(expected));
    let view = app.controller.view().await;
    assert_eq!(view.screen, Screen::Keychain);
    let shown = view.keychain.expect("it says what is wrong");
    assert!(shown.may_choose_passphrase, "there are no keys yet");
    app.keychain.fail_with(None);
    app.controller.try_keychain_again().await.unwrap();
    app.start_group().await;
}
