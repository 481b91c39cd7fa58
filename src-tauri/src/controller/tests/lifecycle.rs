use std::time::Instant;

use super::*;
use crate::view::{ConnectionState, GroupStatus, Screen, StatusReason};
use crate::window::TrayStatus;

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_profile_asks_for_a_name_and_starts_a_group_in_one_step() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let view = app
        .window
        .until("the first screen", |view| view.screen == Screen::FirstStart)
        .await;
    assert_eq!(
        (
            view.device_name.as_str(),
            view.suggested_device_name.as_str()
        ),
        ("", "Computer")
    );
    assert!(view.failure.is_none() && view.has_tray);
    let args = StartGroup {
        device_name: " \u{202e} ".to_owned(),
        relay: RelayChoice::ThisComputer,
    };
    let refused = app.controller.start_group(args).await.err();
    assert_eq!(refused, Some(AppErrorCode::NameEmpty.into()));

    let group = app.start_group().await;
    let view = app
        .window
        .until("connected", |view| {
            view.groups.first().is_some_and(|group| {
                group.connection.state == ConnectionState::Connected && group.pairing.is_some()
            })
        })
        .await;
    assert_eq!(view.screen, Screen::Ready);
    assert_eq!(view.device_name, "Laptop");
    let started = find(&view, &group);
    assert_eq!(started.status, GroupStatus::New);
    assert_eq!(
        (started.name.as_str(), started.relay_host.as_str()),
        ("My devices", "127.0.0.1")
    );
    assert!(started.pairing.as_ref().unwrap().qr_svg.starts_with("<svg"));
    assert_eq!(
        app.window.tray.lock().unwrap().map(|tray| tray.status),
        Some(TrayStatus::Connected)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_there_again_after_a_restart() {
    let pair = Pair::new().await;
    pair.laptop.send(&pair.laptop_group, "kept").await;
    let Pair {
        laptop,
        phone,
        laptop_group,
        phone_group,
        _data: data,
    } = pair;
    phone
        .until_messages(&phone_group, "the message", |messages| messages.len() == 1)
        .await;
    let laptop = laptop.restart(data.path(), "laptop").await;
    let view = laptop
        .window
        .until("the phone is connected to the relay again", |view| {
            view.relay.devices == 2
        })
        .await;
    assert_eq!(view.screen, Screen::Ready);
    assert_eq!(find(&view, &laptop_group).members.len(), 1);
    assert_eq!(laptop.messages(&laptop_group).await.len(), 1);
    laptop.send(&laptop_group, "again").await;
    phone
        .until_messages(&phone_group, "the second message", |messages| {
            messages.len() == 2
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_is_open_elsewhere_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let first = App::fresh(data.path(), "default").await;
    let second = App::start(data.path(), "default", &first.keychain).await;
    let view = second.controller.view().await;
    assert_eq!(view.screen, Screen::Failed);
    assert_eq!(
        view.failure.map(|failure| failure.code),
        Some(AppErrorCode::ProfileInUse)
    );
    let refused = second
        .controller
        .copy_text(CopyText {
            text: String::new(),
        })
        .await
        .err();
    assert_eq!(refused, Some(AppErrorCode::ClipboardUnavailable.into()));
    second.controller.quit().await;
    assert_eq!(first.controller.view().await.screen, Screen::FirstStart);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_profile_name_and_a_bad_folder_are_told_apart() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "../elsewhere").await;
    let failure = app.controller.view().await.failure.expect("it failed");
    assert_eq!(failure.code, AppErrorCode::ProfileNameInvalid);

    let file = data.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let app = App::fresh(&file, "default").await;
    let failure = app.controller.view().await.failure.expect("it failed");
    assert_eq!(failure.code, AppErrorCode::ProfileNotWritable);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_window_hides_it_only_where_there_is_a_tray() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.controller.handle_window_closed().await;
    app.controller.handle_window_closed().await;
    assert_eq!(app.window.hidden.load(Ordering::SeqCst), 2);
    let told = |app: &App| app.window.told_closed.lock().unwrap().clone();
    assert_eq!(told(&app), [Closing::Hidden], "it is said once");
    assert!(!*app.window.exited.borrow());
    app.window.has_tray.store(false, Ordering::SeqCst);
    app.controller.handle_window_closed().await;
    assert!(*app.window.exited.borrow());
    assert_eq!(told(&app), [Closing::Hidden, Closing::Ended]);
    let app = app.restart(data.path(), "default").await;
    app.window.has_tray.store(false, Ordering::SeqCst);
    app.controller.handle_window_closed().await;
    assert!(told(&app).is_empty(), "that too is said once");
}

#[tokio::test(flavor = "multi_thread")]
async fn quitting_gives_everything_back() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let port = app.controller.view().await.relay.receive_port;
    app.controller.quit().await;
    assert!(*app.window.exited.borrow());
    TcpListener::bind(("127.0.0.1", port)).expect("the relay's port is free again");
    Profile::open(data.path(), "default").expect("the profile is free again");
    let late = app.controller.start_pairing(in_group(&group)).await.err();
    assert_eq!(
        late.map(|error| error.code),
        Some(AppErrorCode::GroupUnknown)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_device_still_knows_it_after_a_restart() {
    let pair = Pair::new().await;
    let phone_id = pair.phone.group(&pair.phone_group).await.me.id;
    let engine = pair.laptop.controller.engine(&pair.laptop_group).unwrap();
    let phone_id = engine
        .members()
        .into_iter()
        .find(|one| one.id.as_str() == phone_id);
    engine
        .remove(phone_id.expect("it is a member").id)
        .await
        .unwrap();
    let Pair {
        phone,
        phone_group,
        _data: data,
        laptop: _laptop,
        ..
    } = pair;
    let is_removed = |group: &GroupView| {
        group.status == GroupStatus::NotJoined && group.status_reason == Some(StatusReason::Removed)
    };
    phone
        .window
        .until("removed", |view| group_is(view, &phone_group, is_removed))
        .await;
    let phone = phone.restart(data.path(), "phone").await;
    assert!(is_removed(&phone.group(&phone_group).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_changes_are_told_a_few_times() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.window
        .until("the first screen", |view| view.screen == Screen::FirstStart)
        .await;
    let (before, began) = (app.window.times_told.load(Ordering::SeqCst), Instant::now());
    for _ in 0..2_000 {
        app.controller.changed();
        tokio::task::yield_now().await;
    }
    let told = app.window.times_told.load(Ordering::SeqCst) - before;
    let allowed = began.elapsed().as_millis() / 50 + 2;
    assert!(
        told as u128 <= allowed,
        "told {told} times where {allowed} are allowed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_service_that_hangs_keeps_no_app_open() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    let port = app.controller.view().await.relay.receive_port;
    app.window.has_tray.store(false, Ordering::SeqCst);
    let (held, hung) = std::sync::mpsc::channel();
    *app.window.hung_notices.lock().unwrap() = Some(hung);
    let window = Arc::clone(&app.window);
    let controller = app.controller.clone();
    let closing = tokio::spawn(async move { controller.handle_window_closed().await });
    let mut exited = window.exited.subscribe();
    tokio::time::timeout(PATIENCE, exited.wait_for(|exited| *exited))
        .await
        .expect("it ends")
        .expect("the app runs");
    TcpListener::bind(("127.0.0.1", port)).expect("everything is closed");
    drop(held);
    closing.await.unwrap();
}

/// The engine waits while it says so: nothing of the disk may be in its way.
#[tokio::test(flavor = "multi_thread")]
async fn how_a_group_ended_is_kept_before_it_is_told_and_not_while_the_engine_says_it() {
    use sealpost_engine::core::event::Event;
    use sealpost_engine::core::status::{Status, StatusReason as Reason};

    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let profile = app.controller.state().profile.clone().unwrap();
    let removed = Event::StatusChanged {
        status: Status::NotJoined,
        reason: Some(Reason::Removed),
    };
    // One thread only: whatever writes later has had no turn yet.
    app.controller.handle_event(&group, removed);
    assert_eq!(profile.group_end(&group), None);
    app.window
        .until("the end", |view| {
            let is_told = group_is(view, &group, |group| {
                group.status_reason == Some(StatusReason::Removed)
            });
            assert!(
                !is_told || profile.group_end(&group).is_some(),
                "told first"
            );
            is_told
        })
        .await;
    assert_eq!(profile.group_end(&group), Some(StatusReason::Removed));
}
