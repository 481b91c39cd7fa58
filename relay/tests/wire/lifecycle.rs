//! Starting and stopping inside a process.

use std::sync::Arc;
use std::time::Duration;

use sealpost_protocol::limit::RELAY_LIFE_MS_MAX;
use sealpost_relay::{Port, Relay, StartError, StoreOpenError, SystemClock, WebConfig};

use crate::client::{Said, Session, device, envelope, number_of};
use crate::raw_client::{connect, read_to_end};
use crate::test_relay::{TestRelay, config_in, relay_key, wait_until};

#[tokio::test]
async fn an_address_names_the_ports_it_got() {
    let relay = TestRelay::start().await;
    let address = relay.relay.address("relay.example").unwrap();
    assert_eq!(*address.public_key(), relay_key().public());
    assert_eq!(address.receive_port(), relay.receive_port());
    assert_eq!(address.push_port(), relay.push_port());
}

#[tokio::test]
async fn a_port_in_use_is_named_for_each_port() {
    let relay = TestRelay::start().await;
    let ports = relay.relay.ports();
    let address = |port: u16| format!("127.0.0.1:{port}").parse().unwrap();
    let web = relay.relay.open_web(WebConfig::server(address(0))).unwrap();
    for port in [Port::Receive, Port::Push, Port::Health, Port::Web] {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let place = Arc::clone(&folder);
        let (number, started) = match port {
            Port::Receive => (
                ports.receive,
                TestRelay::start_in(folder, |config| {
                    config.listen_receive = address(ports.receive);
                })
                .await,
            ),
            Port::Push => (
                ports.push,
                TestRelay::start_in(folder, |config| {
                    config.listen_push = address(ports.push);
                })
                .await,
            ),
            Port::Health => (
                ports.health.unwrap(),
                TestRelay::start_in(folder, |config| {
                    config.listen_health = ports.health.map(address);
                })
                .await,
            ),
            Port::Web => (
                web,
                TestRelay::start_in(folder, |config| {
                    config.web = Some(WebConfig::server(address(web)));
                })
                .await,
            ),
        };
        let error = started.err().unwrap();
        assert_eq!(error, StartError::PortInUse { port, number });
        let text = format!("the {port} port {number} is in use by another program");
        assert_eq!(error.to_string(), text);
        let files = std::fs::read_dir(place.path()).unwrap().count();
        assert_eq!(
            files, 0,
            "a port that is in use is told before anything is made"
        );
    }
}

#[tokio::test]
async fn two_relays_do_not_share_a_store() {
    let relay = TestRelay::start().await;
    let second = TestRelay::start_in(Arc::clone(&relay.folder), |_| ()).await;
    assert_eq!(
        second.err().unwrap(),
        StartError::Store(StoreOpenError::InUse)
    );
    let mut sender = Session::push(&relay).await;
    assert_eq!(
        sender.store(device(1).public(), b"undisturbed").await,
        Said::Ack
    );
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_written_is_told_and_no_port_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let mut config = config_in(&folder);
    config.store_path = file.join("inbox.db");
    let error = Relay::start(config.clone(), relay_key(), Arc::new(SystemClock)).await;
    let error = error.err().unwrap();
    assert!(
        matches!(error, StartError::Store(StoreOpenError::NotWritable(_))),
        "{error}"
    );
}

#[tokio::test]
async fn a_configuration_above_the_ceiling_does_not_start() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let started = TestRelay::start_in(folder, |config| {
        config.sessions.body_bytes_max = 61_441;
    });
    assert!(matches!(started.await.err(), Some(StartError::Config(_))));
}

#[tokio::test]
async fn the_same_ports_can_be_taken_again_after_a_stop() {
    let relay = TestRelay::start().await;
    let ports = relay.relay.ports();
    let mut session = Session::receive(&relay, &device(1)).await;
    session.assert_nothing_waits().await;
    relay.relay.stop().await;
    session.assert_closed().await;
    let again = TestRelay::start_in(relay.folder, |config| {
        config.listen_receive.set_port(ports.receive);
        config.listen_push.set_port(ports.push);
    });
    assert_eq!(again.await.unwrap().receive_port(), ports.receive);
}

/// Step 2 of stopping: what was read is committed and answered.
#[tokio::test]
async fn a_stopping_relay_answers_what_it_has_taken() {
    let relay = TestRelay::start_with(|config| config.sessions.push_rate.burst = 10_000).await;
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    assert_eq!(
        sender.store(alice.public(), &envelope(0, 10)).await,
        Said::Ack
    );
    for number in 1..=300 {
        sender
            .say_push(alice.public(), &envelope(number, 1_000))
            .await
            .unwrap();
    }
    assert_eq!(sender.hear().await.unwrap(), Said::Ack);
    let folder = Arc::clone(&relay.folder);
    relay.relay.stop().await;
    let mut acknowledged = 1;
    while let Ok(answer) = sender.hear().await {
        assert_eq!(answer, Said::Ack);
        acknowledged += 1;
    }
    let relay = TestRelay::start_in(folder, |_| ()).await.unwrap();
    let mut session = Session::receive(&relay, &alice).await;
    for number in 0..=acknowledged {
        assert_eq!(number_of(&session.hear_blob().await.1), number);
    }
}

#[tokio::test]
async fn a_stop_does_not_wait_for_idle_or_unfinished_connections() {
    let relay = TestRelay::start().await;
    let _idle_push = Session::push(&relay).await;
    let _idle_receive = Session::receive(&relay, &device(1)).await;
    let _silent = connect(relay.push_port()).await;
    let stopped = tokio::time::timeout(Duration::from_secs(5), relay.relay.stop());
    stopped.await.expect("the stop is quick");
}

#[tokio::test]
async fn a_stopped_relay_refuses_connections() {
    let relay = TestRelay::start().await;
    let ports = relay.relay.ports();
    relay.relay.stop().await;
    for port in [ports.receive, ports.push, ports.health.unwrap()] {
        assert!(
            tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .is_err()
        );
    }
}

#[tokio::test]
async fn a_dropped_relay_ends_its_sessions() {
    let relay = TestRelay::start().await;
    let mut stream = connect(relay.push_port()).await;
    drop(relay.relay);
    assert_eq!(read_to_end(&mut stream).await, b"");
}

#[tokio::test]
async fn numbers_count_and_name_nobody() {
    let relay = TestRelay::start().await;
    let (alice, bob) = (device(1), device(2));
    let before_ms = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_millis() as u64;
    let mut sender = Session::push(&relay).await;
    sender.store(alice.public(), &[0; 100]).await;
    sender.store(alice.public(), &[0; 50]).await;
    sender.store(bob.public(), &[0; 7]).await;
    let mut session = Session::receive(&relay, &alice).await;
    session.hear_blob().await;
    let numbers = relay.relay.numbers();
    assert_eq!((numbers.blobs, numbers.bytes, numbers.inboxes), (3, 157, 2));
    assert_eq!((numbers.connections, numbers.receive_sessions), (2, 1));
    let expiry_ms = numbers.first_expiry_ms.unwrap();
    assert!(expiry_ms.abs_diff(before_ms + RELAY_LIFE_MS_MAX) < 60_000);
    let folder = Arc::clone(&relay.folder);
    drop((sender, session));
    wait_until("all have left", || relay.relay.numbers().connections == 0).await;
    assert_eq!(relay.relay.numbers().receive_sessions, 0);
    relay.relay.stop().await;
    let relay = TestRelay::start_in(folder, |config| config.life_ms = 60_000).await;
    let numbers = relay.unwrap().relay.numbers();
    assert_eq!(
        numbers.first_expiry_ms,
        Some(expiry_ms),
        "another lifetime changes nothing of what waits"
    );
}
