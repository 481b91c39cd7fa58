//! What the person chooses about the app, and when it counts.

use super::*;
use crate::view::{
    AutoLock, LanguageChoice, Mute, NotificationPrivacy, RelayState, SetRelayPorts, SetSettings,
};

#[tokio::test(flavor = "multi_thread")]
async fn choices_are_kept_and_the_others_stay() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let usual = app.controller.view().await.settings;
    assert_eq!(usual.notifications, NotificationPrivacy::Who);
    assert!(!usual.start_at_login && usual.start_relay_with_app);
    let german = SetSettings {
        language: Some(LanguageChoice::German),
        theme: Some(Theme::Dark),
        ..SetSettings::default()
    };
    app.controller.set_settings(german).await.unwrap();
    let private = SetSettings {
        notifications: Some(NotificationPrivacy::Nothing),
        auto_lock_minutes: Some(0),
        ..SetSettings::default()
    };
    app.controller.set_settings(private).await.unwrap();
    let app = app.restart(data.path(), "default").await;
    let view = app.controller.view().await;
    assert_eq!(view.language, "de");
    assert_eq!(view.settings.theme, Theme::Dark);
    assert_eq!(view.settings.notifications, NotificationPrivacy::Nothing);
    assert_eq!(view.settings.auto_lock, AutoLock::Never);
    assert_eq!(view.settings.auto_lock_minutes, 1, "never at once");
    assert_eq!(*app.window.theme.lock().unwrap(), Some(Theme::Dark));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_for_the_login_that_can_not_be_written_is_not_claimed() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let start = |hidden| SetSettings {
        start_at_login: Some(true),
        start_hidden: Some(hidden),
        ..SetSettings::default()
    };
    app.window.login_fails.store(true, Ordering::SeqCst);
    let refused = app.controller.set_settings(start(false)).await.err();
    assert_eq!(refused, Some(AppErrorCode::StartAtLoginUnavailable.into()));
    assert!(!app.controller.view().await.settings.start_at_login);
    app.window.login_fails.store(false, Ordering::SeqCst);
    app.controller.set_settings(start(true)).await.unwrap();
    assert_eq!(*app.window.login.lock().unwrap(), [LoginStart::Hidden]);
    // The program may have moved: each start mends the entry.
    let app = app.restart(data.path(), "default").await;
    assert_eq!(*app.window.login.lock().unwrap(), [LoginStart::Hidden]);
    // Switched off in the settings of the desktop, it is off here too.
    let profile = app.controller.opened().unwrap().0;
    app.window.login_is_off.store(true, Ordering::SeqCst);
    app.controller.mend_login_entry(profile).await;
    assert!(!app.controller.view().await.settings.start_at_login);
    app.controller.set_settings(start(true)).await.unwrap();
    let off = SetSettings {
        start_at_login: Some(false),
        ..SetSettings::default()
    };
    app.controller.set_settings(off).await.unwrap();
    let app = app.restart(data.path(), "default").await;
    assert!(app.window.login.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn mute_ends_by_itself() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let until_ms = app.clock.now_ms() + 60_000;
    let mute = Mute {
        until_ms: Some(until_ms),
    };
    app.controller.mute(mute).await.unwrap();
    let settings = app.controller.view().await.settings;
    assert_eq!(settings.muted_until_ms, Some(until_ms));
    app.clock.added_ms.store(60_000, Ordering::SeqCst);
    let settings = app.controller.view().await.settings;
    assert_eq!(settings.muted_until_ms, None);
    app.controller.switch_mute().await.unwrap();
    let until_ms = app.controller.view().await.settings.muted_until_ms;
    assert!(until_ms.is_some_and(|until| until < (1 << 53)));
    app.controller.switch_mute().await.unwrap();
    let settings = app.controller.view().await.settings;
    assert_eq!(settings.muted_until_ms, None);
}

/// A menu's tick moves at once, so a person may choose again before the first time is done.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_tray_switches_twice_in_a_row_is_as_it_was() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    let switches = |view: &AppView| (view.settings.muted_until_ms, view.relay.state);
    let before = switches(&app.controller.view().await);
    let (first, second) = tokio::join!(app.controller.switch_mute(), app.controller.switch_mute());
    first.and(second).unwrap();
    let (first, second) =
        tokio::join!(app.controller.switch_relay(), app.controller.switch_relay());
    first.and(second).unwrap();
    assert_eq!(switches(&app.controller.view().await), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_moves_to_other_ports_with_its_groups_or_stays() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let free = || TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let (receive, push) = (free(), free());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let ports = SetRelayPorts {
        receive_port: port(&receive),
        push_port: port(&push),
    };
    // Another program has one of them: all stays as it was.
    drop(push);
    let before = app.controller.view().await.relay.receive_port;
    let refused = app.controller.set_relay_ports(ports).await.err();
    assert_eq!(
        refused.map(|error| error.code),
        Some(AppErrorCode::RelayPortInUse)
    );
    let relay = app.controller.view().await.relay;
    assert_eq!((relay.state, relay.receive_port), (RelayState::On, before));
    drop(receive);
    app.controller.set_relay_ports(ports).await.unwrap();
    let relay = app.controller.view().await.relay;
    assert_eq!(relay.receive_port, ports.receive_port);
    assert_eq!(relay.state, RelayState::On);
    let engine = app.controller.engine(&group).unwrap();
    let known = engine.relay().expect("the group has a relay");
    assert_eq!(
        (known.receive_port(), known.push_port()),
        (ports.receive_port, ports.push_port)
    );
    for (receive_port, push_port) in [(0, 1), (1, 0), (7_000, 7_000)] {
        let odd = SetRelayPorts {
            receive_port,
            push_port,
        };
        let refused = app.controller.set_relay_ports(odd).await.err();
        assert_eq!(refused, Some(AppErrorCode::RelayPortsInvalid.into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_does_not_start_with_the_app_stays_off() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    let by_hand = SetSettings {
        start_relay_with_app: Some(false),
        ..SetSettings::default()
    };
    app.controller.set_settings(by_hand).await.unwrap();
    let app = app.restart(data.path(), "default").await;
    assert_eq!(app.controller.view().await.relay.state, RelayState::Off);
}
