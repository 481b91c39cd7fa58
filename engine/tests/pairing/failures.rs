//! Ways to go wrong that a person can tell apart, and a group that ends.

use std::sync::Arc;

use rand_core::OsRng;
use sealpost_engine::clock::{Clock, SteppedClock, SystemClock};
use sealpost_engine::core::error::EngineError;
use sealpost_engine::core::event::Event;
use sealpost_engine::core::status::{ConnectFailure, Connection, Status, StatusReason};
use sealpost_engine::keys::KeyStoreError;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::NoiseSecret;
use tokio::net::TcpListener;

use crate::devices::{Home, TestRelay, pair, until};

/// What a device says of a relay at `address`.
async fn failure_at(address: RelayAddress) -> Option<ConnectFailure> {
    let home = Home::new("Laptop");
    let device = home.start(Some(address)).await;
    let failure = || match device.engine.connection() {
        Connection::Disconnected(failure) => failure,
        _ => None,
    };
    let is_telling = |failure| !matches!(failure, None | Some(ConnectFailure::NoHandler));
    until("the attempt ends", || is_telling(failure())).await;
    failure()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_wrong_address_has_its_own_reason() {
    let relay = TestRelay::start().await;
    let good = relay.address();
    let other_key = NoiseSecret::generate(&mut OsRng).public();
    let at = |key, host: &str, receive| RelayAddress::new(key, host, receive, 9).unwrap();
    let wrong_key = at(other_key, "127.0.0.1", good.receive_port());
    assert_eq!(failure_at(wrong_key).await, Some(ConnectFailure::WrongKey));
    let nowhere = at(*good.public_key(), "sealpost-test.invalid", 7700);
    assert_eq!(
        failure_at(nowhere).await,
        Some(ConnectFailure::NameNotFound)
    );
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let refusing = at(*good.public_key(), "127.0.0.1", closed);
    assert_eq!(failure_at(refusing).await, Some(ConnectFailure::Refused));
    // The push port of the same relay speaks another handshake.
    let wrong_port = at(*good.public_key(), "127.0.0.1", good.push_port());
    let failure = failure_at(wrong_port).await;
    let told = [
        Some(ConnectFailure::SomethingElse),
        Some(ConnectFailure::Unavailable),
    ];
    assert!(told.contains(&failure), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_handler_nothing_is_received_and_pushing_works_all_the_same() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    a.engine.close().await;
    let sender = home_a.try_open(None).await.unwrap();
    sender
        .send_text("from a program that only sends")
        .await
        .unwrap();
    b.until_received(1).await;
    let idle = Connection::Disconnected(Some(ConnectFailure::NoHandler));
    assert_eq!(sender.connection(), idle);
    assert_eq!(sender.push_failure(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_leaves_keeps_its_history_and_comes_back_as_another() {
    let relay = TestRelay::start().await;
    let (home_a, mut home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let clock = Arc::new(SteppedClock::new(SystemClock.now_ms()));
    home_b.clock = Arc::<SteppedClock>::clone(&clock);
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    a.engine.send_text("remember this").await.unwrap();
    b.until_received(1).await;
    let before = b.engine.me();
    // The key store is away at the moment of the wipe: it waits, and nothing is half done.
    home_b.keys.fail_with(Some(KeyStoreError::Locked));
    b.engine.leave().await.unwrap();
    until("the others hear of it", || a.engine.members().is_empty()).await;
    assert_eq!(b.engine.status(), Status::Leaving);
    assert_eq!(b.engine.me().keys, before.keys);
    home_b.keys.fail_with(None);
    until("the wipe is done", || {
        clock.advance(1_000);
        b.engine.wake();
        b.engine.status() == Status::NotJoined
    })
    .await;
    assert_ne!(b.engine.me().keys, before.keys);
    assert_eq!(b.history().await.0, ["remember this"]);
    let left = Some(StatusReason::Left);
    until("the listener hears why", || {
        b.was_told(|event| matches!(event, Event::StatusChanged { reason, .. } if *reason == left))
    })
    .await;
    let status = Status::NotJoined;
    assert_eq!(
        b.engine.send_text("x").await,
        Err(EngineError::NotMember { status })
    );
    let fresh = b.engine.me();
    b.engine.close().await;
    let b = home_b.start(None).await;
    assert_eq!(b.engine.me().keys, fresh.keys);
    pair(&a, &b).await;
    a.engine.send_text("welcome back").await.unwrap();
    b.until_received(2).await;
}
