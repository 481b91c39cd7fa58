//! Backups of a profile, and what they bring back.

use super::*;
use crate::view::{ChosenFile, GroupStatus, Passphrase, SetSettings, StatusReason};

fn passphrase(text: &str) -> Passphrase {
    Passphrase {
        passphrase: text.to_owned(),
    }
}

/// Two apps in one group, and what the first wrote.
async fn with_messages() -> Pair {
    let pair = Pair::new().await;
    for text in ["one", "two"] {
        pair.laptop.send(&pair.laptop_group, text).await;
    }
    pair
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_brings_the_messages_back_on_a_first_start_and_no_second_copy() {
    let data = tempfile::tempdir().unwrap();
    let pair = with_messages().await;
    let (laptop, group) = (&pair.laptop, &pair.laptop_group);
    let dark = SetSettings {
        theme: Some(Theme::Dark),
        start_at_login: Some(true),
        ..SetSettings::default()
    };
    laptop.controller.set_settings(dark).await.unwrap();
    let file = data.path().join("a.sealpost-backup");
    *laptop.window.file.lock().unwrap() = Some(file.clone());
    let short = laptop.controller.back_up(passphrase("short")).await.err();
    assert_eq!(short.unwrap().code, AppErrorCode::PassphraseTooShort);
    let made = laptop.controller.back_up(passphrase("four plain words"));
    let made = made.await.unwrap();
    assert_eq!(made.file.as_deref(), file.to_str());
    assert_eq!((made.groups, made.messages, made.left_out), (1, 2, 0));
    assert!(laptop.controller.view().await.data_work.is_none());

    let new = App::fresh(data.path(), "new").await;
    assert_eq!(new.controller.view().await.screen, Screen::FirstStart);
    let nothing = new.controller.choose_backup().await.unwrap();
    assert!(nothing == ChosenFile { name: None });
    *new.window.file.lock().unwrap() = Some(file.clone());
    let chosen = new.controller.choose_backup().await.unwrap();
    assert_eq!(chosen.name.as_deref(), Some("a.sealpost-backup"));
    let wrong = new
        .controller
        .restore_backup(passphrase("four other words"));
    assert_eq!(
        wrong.await.err(),
        Some(AppErrorCode::BackupPassphraseWrong.into())
    );
    assert_eq!(new.controller.view().await.screen, Screen::FirstStart);
    // The same file still: only the passphrase was wrong.
    let restored = new
        .controller
        .restore_backup(passphrase("four plain words"));
    let restored = restored.await.unwrap();
    assert!(restored.is_done);
    assert_eq!((restored.groups, restored.messages), (1, 2));
    let view = new.controller.view().await;
    assert_eq!((view.screen, view.groups.len()), (Screen::Ready, 1));
    assert_eq!(view.device_name, "Laptop");
    assert_eq!(view.settings.theme, Theme::Dark);
    assert!(!view.settings.start_at_login, "that is for each computer");
    let back = &view.groups[0];
    assert_eq!(back.status, GroupStatus::NotJoined);
    assert_eq!(back.status_reason, Some(StatusReason::Restored));
    assert_ne!(back.me.id, laptop.group(group).await.me.id);
    let texts: Vec<_> = new.messages(&back.id).await;
    let texts: Vec<_> = texts.iter().map(|row| row.text.as_deref()).collect();
    assert_eq!(texts, [Some("one"), Some("two")]);
    // So it stays after a restart.
    let new = new.restart(data.path(), "new").await;
    let view = new.controller.view().await;
    assert_eq!(view.groups[0].status_reason, Some(StatusReason::Restored));
    new.controller.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_backup_or_can_not_be_written_says_so_and_changes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let words = || passphrase("four plain words");
    // The person closed the dialog.
    assert_eq!(app.controller.back_up(words()).await.unwrap().file, None);
    let unchosen = app.controller.restore_backup(words()).await.err();
    assert_eq!(unchosen, Some(AppErrorCode::FileUnreadable.into()));
    let choose = |name: &str, content: &[u8]| {
        let file = data.path().join(name);
        std::fs::write(&file, content).unwrap();
        *app.window.file.lock().unwrap() = Some(file);
    };
    choose("picture", b"\x89PNG and more");
    app.controller.choose_backup().await.unwrap();
    let foreign = app.controller.restore_backup(words()).await.err();
    assert_eq!(foreign, Some(AppErrorCode::BackupForeign.into()));
    choose("newer", b"SPBACKUP\0\x09");
    app.controller.choose_backup().await.unwrap();
    let newer = app.controller.restore_backup(words()).await.err().unwrap();
    let both = AppError::new(AppErrorCode::BackupTooNew)
        .with_number("found", 9)
        .with_number("known", 1);
    assert_eq!(newer, both);
    choose("cut", b"SPBACKUP\0\x01");
    app.controller.choose_backup().await.unwrap();
    let cut = app.controller.restore_backup(words()).await.err();
    let truncated = AppError::new(AppErrorCode::BackupDamaged).with_word("kind", "truncated");
    assert_eq!(cut, Some(truncated));
    *app.window.file.lock().unwrap() = Some(data.path().join("no/such/folder/a"));
    let unwritable = app.controller.back_up(words()).await.err();
    assert_eq!(unwritable, Some(AppErrorCode::FileUnwritable.into()));
    let view = app.controller.view().await;
    assert_eq!((view.screen, view.failure), (Screen::FirstStart, None));
    app.controller.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_cancelled_is_shown_until_then_and_leaves_nothing() {
    let data = tempfile::tempdir().unwrap();
    let pair = with_messages().await;
    let laptop = &pair.laptop;
    let file = data.path().join("a.sealpost-backup");
    *laptop.window.file.lock().unwrap() = Some(file.clone());
    let working = laptop.controller.clone();
    let made = tokio::spawn(async move { working.back_up(passphrase("four plain words")).await });
    // The key from the passphrase takes longer than the first look at it.
    laptop
        .window
        .until("a backup on its way", |view| view.data_work.is_some())
        .await;
    laptop.controller.cancel_data_work().unwrap();
    let made = made.await.unwrap().unwrap();
    assert_eq!(made.file, None);
    assert!(!file.exists());
    assert!(laptop.controller.view().await.data_work.is_none());
}

/// Makes the database of the group one that doesn't open.
fn damage(profile: &Path, group: &str) -> PathBuf {
    let path = profile.join(format!("trueseal_{group}.db"));
    std::fs::write(&path, vec![7; 100_000]).unwrap();
    for rest in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(profile.join(format!("trueseal_{group}.db{rest}")));
    }
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_group_opens_a_backup_comes_back_and_what_is_readable_goes_out() {
    let pair = with_messages().await;
    let data = pair._data.path();
    let (app, keychain) = (&pair.laptop, Arc::clone(&pair.laptop.keychain));
    let kept = data.join("a.sealpost-backup");
    *app.window.file.lock().unwrap() = Some(kept.clone());
    let made = app.controller.back_up(passphrase("four plain words"));
    assert_eq!(made.await.unwrap().messages, 2);
    app.controller.quit().await;
    let profile = data.join("laptop");
    let path = damage(&profile, &pair.laptop_group);
    let damaged = std::fs::read(&path).unwrap();

    let app = App::start(data, "laptop", &keychain).await;
    let view = app.controller.view().await;
    assert_eq!((view.screen, view.is_data_open), (Screen::Failed, true));
    let text = data.join("messages.txt");
    *app.window.file.lock().unwrap() = Some(text.clone());
    let read = app.controller.export_messages().await.unwrap();
    assert_eq!((read.groups, read.messages, read.damaged), (0, 0, 1));
    assert!(text.exists());
    *app.window.file.lock().unwrap() = Some(kept.clone());
    app.controller.choose_backup().await.unwrap();
    let restored = app
        .controller
        .restore_backup(passphrase("four plain words"));
    assert!(restored.await.unwrap().is_done);
    let view = app.controller.view().await;
    assert_eq!((view.screen, view.groups.len()), (Screen::Ready, 1));
    assert!(view.failure.is_some(), "the damaged one is still named");
    assert_eq!(app.messages(&view.groups[0].id).await.len(), 2);
    assert_eq!(std::fs::read(&path).unwrap(), damaged);
    // Now there is something to read. A backup isn't replaced by it, and none is made of less.
    *app.window.file.lock().unwrap() = Some(text.clone());
    let read = app.controller.export_messages().await.unwrap();
    assert_eq!((read.groups, read.messages, read.damaged), (1, 2, 1));
    let lines = std::fs::read_to_string(&text).unwrap();
    assert!(lines.contains("Laptop: one"), "{lines}");
    let was = std::fs::read(&kept).unwrap();
    *app.window.file.lock().unwrap() = Some(kept.clone());
    let refused = app.controller.export_messages().await.err();
    assert_eq!(refused, Some(AppErrorCode::FileUnwritable.into()));
    let refused = app.controller.back_up(passphrase("four plain words")).await;
    assert_eq!(refused.err(), Some(AppErrorCode::BackupWouldReplace.into()));
    assert_eq!(std::fs::read(&kept).unwrap(), was);
    app.controller.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_waits_for_its_turn_is_stopped_by_what_closes_everything() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let file = data.path().join("a.sealpost-backup");
    *app.window.file.lock().unwrap() = Some(file.clone());
    let lifecycle = app.controller.shared.lifecycle.lock().await;
    let working = app.controller.clone();
    let made = tokio::spawn(async move { working.back_up(passphrase("four plain words")).await });
    app.window
        .until("a backup that waits", |view| view.data_work.is_some())
        .await;
    app.controller.cancel_data_work().unwrap();
    drop(lifecycle);
    assert_eq!(made.await.unwrap().unwrap().file, None);
    assert!(!file.exists());
    assert!(app.controller.view().await.data_work.is_none());
    app.controller.quit().await;
}
