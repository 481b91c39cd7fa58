//! Two engines and a relay: pairing, messages both ways, crashes, and a relay that is away.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod codes;
mod copies;
mod devices;
mod ending;
mod failures;
mod history;
mod log_canary;
mod phone;

use std::fs;
use std::time::Duration;

use devices::{Device, Home, TestRelay, pair, until};
use sealpost_engine::OpenError;
use sealpost_engine::core::error::EngineError;
use sealpost_engine::core::event::Event;
use sealpost_engine::core::message::DeliveryState;
use sealpost_engine::core::status::{Connection, Status, StatusReason};
use sealpost_engine::keys::KeyStoreError;
use sealpost_protocol::message_id::MessageId;

fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{prefix} {number}"))
        .collect()
}

async fn send_all(device: &Device, texts: &[String]) -> Vec<MessageId> {
    let mut ids = Vec::new();
    for text in texts {
        ids.push(device.engine.send_text(text).await.unwrap());
    }
    ids
}

async fn is_on_relay(device: &Device, id: MessageId) -> bool {
    let message = device.engine.message(id).await.unwrap().unwrap();
    let on_relay = |state| matches!(state, DeliveryState::OnRelay { .. });
    message
        .deliveries
        .iter()
        .all(|delivery| on_relay(delivery.state))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_devices_pair_and_messages_go_both_ways_in_order() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    assert_eq!(a.engine.status(), Status::NotJoined);
    pair(&a, &b).await;
    assert_eq!(a.engine.members()[0].name.as_str(), "Phone");
    assert_eq!(b.engine.members()[0].name.as_str(), "Laptop");
    let (from_a, from_b) = (numbered("a", 20), numbered("b", 20));
    let ids = send_all(&a, &from_a).await;
    send_all(&b, &from_b).await;
    a.until_received(20).await;
    b.until_received(20).await;
    assert_eq!(a.history().await.1, from_b);
    assert_eq!(b.history().await.1, from_a);
    assert_eq!(b.handled(), from_a);
    assert!(is_on_relay(&a, ids[19]).await);
    assert_eq!(b.engine.unread().await.unwrap(), 20);
    let last = b.engine.messages_before(None, 1).await.unwrap()[0].position;
    b.engine.mark_read(last).await.unwrap();
    assert_eq!(b.engine.unread().await.unwrap(), 0);
    let reason = Some(StatusReason::Joined);
    until("the listener hears of the join", || {
        b.was_told(|event| matches!(event, Event::StatusChanged { reason: r, .. } if *r == reason))
    })
    .await;
    until("everything is acknowledged", || relay.blobs() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_dies_in_the_middle_shows_each_message_once_and_in_order() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    let texts = numbered("a", 60);
    send_all(&a, &texts[..30]).await;
    b.until_received(5).await;
    // Dropped in the middle of receiving, and of sending, without a word.
    send_all(&b, &numbered("b", 10)).await;
    drop(b);
    send_all(&a, &texts[30..]).await;
    let b = home_b.start(None).await;
    assert_eq!(b.engine.status(), Status::Member);
    b.until_received(60).await;
    assert_eq!(b.history().await.1, texts);
    a.until_received(10).await;
    assert_eq!(a.history().await.1, numbered("b", 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_sent_while_the_relay_is_away_is_delivered_when_it_is_back() {
    let mut relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    relay.stop().await;
    until("both notice", || {
        [&a, &b]
            .iter()
            .all(|device| device.engine.connection() != Connection::Connected)
    })
    .await;
    let id = a.engine.send_text("later").await.unwrap();
    assert!(!is_on_relay(&a, id).await);
    // It survives the sender's end, too.
    a.engine.close().await;
    let a = home_a.start(None).await;
    relay.resume().await;
    a.engine.reconnect();
    b.engine.reconnect();
    b.until_received(1).await;
    assert_eq!(b.history().await.1, ["later"]);
    until("the sender hears of it", || {
        a.was_told(|event| matches!(event, Event::MessageChanged { id: changed } if *changed == id))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_group_answers_closed_and_can_be_opened_again_at_once() {
    let relay = TestRelay::start().await;
    let home = Home::new("Laptop");
    let a = home.start(Some(relay.address())).await;
    a.engine.rename_group("Home".to_owned()).await.unwrap();
    a.engine.close().await;
    a.engine.close().await;
    assert_eq!(a.engine.send(Vec::new()).await, Err(EngineError::Closed));
    assert_eq!(a.engine.unread().await, Err(EngineError::Closed));
    let again = a.engine.on_message(|_| Box::pin(async { Ok(()) }));
    assert_eq!(again.err(), Some(EngineError::Closed));
    let engine = home.try_open(None).await.unwrap();
    assert_eq!(engine.group_name().as_deref(), Some("Home"));
    assert!(
        engine.relay() == Some(relay.address()),
        "the relay is remembered"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_refuse_what_the_status_forbids() {
    let home = Home::new("Laptop");
    let engine = home.try_open(None).await.unwrap();
    let status = Status::NotJoined;
    assert_eq!(
        engine.send(vec![0; 9]).await,
        Err(EngineError::NotMember { status })
    );
    let max = engine.max_payload_bytes();
    assert_eq!(
        engine.send(vec![0; max + 1]).await,
        Err(EngineError::PayloadTooLarge { max })
    );
    let _first = engine.on_message(|_| Box::pin(async { Ok(()) })).unwrap();
    let second = engine.on_message(|_| Box::pin(async { Ok(()) }));
    assert_eq!(second.err(), Some(EngineError::MessageHandlerAlreadySet));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_group_without_its_keys_is_never_given_new_ones() {
    let home = Home::new("Laptop");
    let engine = home.try_open(None).await.unwrap();
    let me = engine.me();
    engine.close().await;
    let before = fs::read(home.database()).unwrap();
    for failure in [
        KeyStoreError::Missing,
        KeyStoreError::Locked,
        KeyStoreError::Dismissed,
    ] {
        home.keys.fail_with(Some(failure));
        assert_eq!(
            home.try_open(None).await.unwrap_err(),
            OpenError::KeyStore(failure)
        );
    }
    home.keys.fail_with(None);
    let other = Home::new("Other");
    let mut options = home.options(None);
    options.key_store = other.options(None).key_store;
    let refused = sealpost_engine::Engine::open(options).await.unwrap_err();
    assert_eq!(refused, OpenError::KeysMissing);
    assert!(other.keys.is_empty());
    assert_eq!(fs::read(home.database()).unwrap(), before);
    assert_eq!(home.try_open(None).await.unwrap().me(), me);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_hangs_or_fails_loses_nothing() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    b.engine.close().await;
    let engine = home_b.try_open(None).await.unwrap();
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let handler = engine.on_message(move |_| {
        let _ = started.send(());
        Box::pin(std::future::pending())
    });
    send_all(&a, &numbered("a", 3)).await;
    tokio::time::timeout(Duration::from_secs(60), starts.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(engine.unread().await.unwrap(), 0);
    handler.unwrap().cancel();
    engine.close().await;
    let b = home_b.start(None).await;
    b.until_received(3).await;
    assert_eq!(b.history().await.1, numbered("a", 3));
}
