use super::*;
use crate::app_error::ErrorArgument;
use crate::view::{ConnectionState, DeliveryState, RelayState, SetRelayRunning};

#[tokio::test(flavor = "multi_thread")]
async fn messages_wait_while_the_relay_is_off() {
    let pair = Pair::new().await;
    let app = &pair.laptop;
    let ports = |view: &AppView| (view.relay.receive_port, view.relay.push_port);
    let before = ports(&app.controller.view().await);
    app.controller
        .set_relay_running(SetRelayRunning { on: false })
        .await
        .unwrap();
    let view = app
        .window
        .until("off", |view| {
            view.relay.state == RelayState::Off
                && group_is(view, &pair.laptop_group, |group| {
                    group.connection.state == ConnectionState::Disconnected
                })
        })
        .await;
    assert!(!find(&view, &pair.laptop_group).relay_is_here);
    app.send(&pair.laptop_group, "later").await;
    let waiting = app.messages(&pair.laptop_group).await;
    let delivery = waiting[0].delivery.as_ref().unwrap();
    assert_ne!(delivery.state, DeliveryState::OnRelay);
    assert_eq!((delivery.on_relay, delivery.total), (0, 1));

    app.controller
        .set_relay_running(SetRelayRunning { on: true })
        .await
        .unwrap();
    let view = app
        .window
        .until("on", |view| view.relay.state == RelayState::On)
        .await;
    assert_eq!(ports(&view), before, "the ports stay");
    pair.phone
        .until_messages(&pair.phone_group, "the late message", |messages| {
            messages.len() == 1
        })
        .await;
    app.until_messages(&pair.laptop_group, "on the relay", |messages| {
        let delivery = messages[0].delivery.as_ref().unwrap();
        delivery.state == DeliveryState::OnRelay
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_switch_is_kept_over_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.controller
        .set_relay_running(SetRelayRunning { on: true })
        .await
        .unwrap();
    let app = app.restart(data.path(), "default").await;
    assert_eq!(app.controller.view().await.relay.state, RelayState::On);
    app.controller
        .set_relay_running(SetRelayRunning { on: false })
        .await
        .unwrap();
    let app = app.restart(data.path(), "default").await;
    let view = app.controller.view().await;
    assert_eq!(view.relay.state, RelayState::Off);
    assert_ne!(view.relay.receive_port, 0, "the port is still known");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_another_program_took_is_named() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    app.controller
        .set_relay_running(SetRelayRunning { on: false })
        .await
        .unwrap();
    let port = app.controller.view().await.relay.receive_port;
    let other = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let refused = app
        .controller
        .set_relay_running(SetRelayRunning { on: true })
        .await;
    let error = refused.expect_err("the port is taken");
    assert_eq!(error.code, AppErrorCode::RelayPortInUse);
    assert_eq!(error.args["port"], ErrorArgument::Number(port.into()));
    let view = app.controller.view().await;
    assert_eq!(view.relay.state, RelayState::Failed);
    assert_eq!(view.relay.failure, Some(error));
    assert_eq!(find(&view, &group).id, group, "the rest of the app works");
    drop(other);
    app.controller
        .set_relay_running(SetRelayRunning { on: true })
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_whose_key_is_gone_is_not_given_another_one() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.controller
        .set_relay_running(SetRelayRunning { on: true })
        .await
        .unwrap();
    app.controller.quit().await;
    let emptied = Arc::new(MemoryStore::new());
    let app = App::start(data.path(), "default", &emptied).await;
    let view = app.controller.view().await;
    assert_eq!(view.relay.state, RelayState::Failed);
    let failure = view.relay.failure.expect("it says why");
    assert_eq!(failure.code, AppErrorCode::KeychainUnusable);
    assert!(emptied.is_empty(), "nothing was written");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_can_use_the_relay_of_somebody_else() {
    let data = tempfile::tempdir().unwrap();
    let host = App::fresh(data.path(), "host").await;
    let group = host.start_group().await;
    let link = host.link(&group).await;
    let (address, _) = link.split_once('#').unwrap();
    let guest = App::fresh(data.path(), "guest").await;
    let start = |address: &str| StartGroup {
        device_name: "Tablet".to_owned(),
        relay: RelayChoice::Address {
            address: address.to_owned(),
        },
    };
    let refused = guest
        .controller
        .start_group(start("trueseal://x@y"))
        .await
        .err();
    let expected = AppError::new(AppErrorCode::RelayAddressInvalid).with_word("part", "key");
    assert_eq!(refused, Some(expected));
    assert_eq!(
        guest.controller.view().await.device_name,
        "",
        "nothing was kept"
    );
    let group = guest
        .controller
        .start_group(start(address))
        .await
        .unwrap()
        .group;
    let view = guest
        .window
        .until("connected", |view| {
            group_is(view, &group, |group| {
                group.connection.state == ConnectionState::Connected
            })
        })
        .await;
    assert_eq!(view.relay.state, RelayState::Off);
    assert!(!find(&view, &group).relay_is_here);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_follows_the_address_of_its_computer() {
    let data = tempfile::tempdir().unwrap();
    let keychain = Arc::new(MemoryStore::new());
    let network = Arc::new(Mutex::new(vec!["127.0.0.1".to_owned()]));
    let app = App::start_in_network(data.path(), "default", &keychain, &network).await;
    let group = app.start_group().await;
    let is_at = |view: &AppView, host: &str| {
        group_is(view, &group, |group| {
            group.relay_host == host && group.connection.state == ConnectionState::Connected
        })
    };
    app.window
        .until("connected", |view| is_at(view, "127.0.0.1"))
        .await;
    *network.lock().unwrap() = vec!["127.0.0.2".to_owned(), "127.0.0.3".to_owned()];
    let view = app
        .window
        .until("the new one", |view| is_at(view, "127.0.0.2"))
        .await;
    assert_eq!(view.relay.addresses, ["127.0.0.2", "127.0.0.3"]);
    assert!(app.link(&group).await.contains("@127.0.0.2:"));

    app.controller.quit().await;
    *network.lock().unwrap() = vec!["127.0.0.4".to_owned()];
    let app = App::start_in_network(data.path(), "default", &keychain, &network).await;
    app.window
        .until("after a restart", |view| is_at(view, "127.0.0.4"))
        .await;

    // Without any network it stays: there is nothing better.
    network.lock().unwrap().clear();
    app.window
        .until("no network", |view| view.relay.addresses.is_empty())
        .await;
    assert_eq!(app.group(&group).await.relay_host, "127.0.0.4");
}
