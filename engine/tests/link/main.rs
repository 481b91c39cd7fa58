//! Two devices, their links and a relay's web door: pairing, delivery, every way to unpair, and
//! relays and other devices that do what they must not (paired mailbox, section 11).

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod bad_input;
mod log_canary;
mod pairing;
mod relay_faults;
mod rig;
mod unpairing;

use rig::{Pair, TestRelay, info, nothing_left, numbered, received, send, send_all, until};
use sealpost_engine::core::link::timing::OUTBOX_ROWS_MAX;
use sealpost_engine::link::{LinkContent, LinksError};
use sealpost_protocol::limit::LINK_BODY_BYTES_MAX;

#[tokio::test(flavor = "multi_thread")]
async fn messages_go_both_ways_in_order_and_leave_the_outbox_once_confirmed() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    send_all(&pair.a, &pair.on_a, "a", 30).await;
    send_all(&pair.b, &pair.on_b, "b", 30).await;
    assert_eq!(pair.received_by_b(30).await, numbered("a", 30));
    assert_eq!(pair.received_by_a(30).await, numbered("b", 30));
    until("A's outbox is confirmed", || {
        info(&pair.a, &pair.on_a).waiting == 0
    })
    .await;
    until("B's outbox is confirmed", || {
        info(&pair.b, &pair.on_b).waiting == 0
    })
    .await;
    assert!(pair.a.outbox(&pair.on_a).await.unwrap().is_empty());
    let (a, b) = (info(&pair.a, &pair.on_a), info(&pair.b, &pair.on_b));
    assert_eq!(
        (a.peer_name.as_str(), b.peer_name.as_str()),
        ("Phone", "Desk")
    );
    assert!(a.last_contact_ms.is_some() && a.trouble.is_none());
    pair.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrived_stays_until_it_is_handled_and_restarts_change_nothing() {
    let relay = TestRelay::start().await;
    let mut pair = Pair::make(&relay).await;
    send_all(&pair.a, &pair.on_a, "a", 5).await;
    until("all have arrived", || {
        info(&pair.b, &pair.on_b).arrived == 5
    })
    .await;
    pair.reopen(&relay).await;
    assert_eq!(info(&pair.b, &pair.on_b).arrived, 5);
    assert_eq!(info(&pair.b, &pair.on_b).peer_name, "Desk");
    assert_eq!(received(&pair.b, &pair.on_b, 5).await, numbered("a", 5));
    send(&pair.b, &pair.on_b, "answer").await;
    assert_eq!(pair.received_by_a(1).await, ["answer"]);
    assert!(nothing_left(&pair.b, &pair.on_b).await);
    pair.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_replaces_the_one_before_it_and_an_id_goes_once() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    pair.b.close().await;
    let key = || LinkContent::State {
        key: "groups".to_owned(),
    };
    for body in ["one", "two", "three"] {
        let body = body.as_bytes().to_vec();
        pair.a.send(&pair.on_a, key(), body, None).await.unwrap();
    }
    let id = send(&pair.a, &pair.on_a, "once").await;
    let again = pair
        .a
        .send(&pair.on_a, LinkContent::Message, b"once".to_vec(), Some(id));
    assert_eq!(again.await.unwrap(), id);
    let b = pair.homes.1.open(&relay).await;
    until("the message arrived", || info(&b, &pair.on_b).arrived == 2).await;
    let arrived = b.arrived(&pair.on_b, 0, 10).await.unwrap();
    let bodies: Vec<_> = arrived.iter().map(|one| one.body.as_slice()).collect();
    assert_eq!(bodies, [b"three".as_slice(), b"once"]);
    assert_eq!(arrived[0].content, key());
    b.close().await;
    pair.a.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_sent_is_refused_and_leaves_nothing() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    let large = vec![0; LINK_BODY_BYTES_MAX + 1];
    let refused = pair
        .a
        .send(&pair.on_a, LinkContent::Message, large, None)
        .await;
    let max = LINK_BODY_BYTES_MAX;
    assert_eq!(refused, Err(LinksError::TooLarge { max }));
    let largest = vec![7; LINK_BODY_BYTES_MAX];
    let sent = pair
        .a
        .send(&pair.on_a, LinkContent::Message, largest, None)
        .await;
    sent.unwrap();
    until("the largest arrives", || {
        info(&pair.b, &pair.on_b).arrived == 1
    })
    .await;
    assert_eq!(OUTBOX_ROWS_MAX, 1_024);
    pair.close().await;
    let closed = pair.a.rename(&pair.on_a, "x").await;
    assert_eq!(closed, Err(LinksError::Closed));
}
