//! Relays that stop, lose everything or go back to yesterday, and a mailbox that is full:
//! nothing is lost, and nothing arrives twice.

use sealpost_engine::core::link::LinkRequest;
use sealpost_protocol::limit::{LINK_ENVELOPE_BYTES_MIN, LINK_SLOTS};
use sealpost_protocol::link::key::Direction;

use super::rig::{
    Pair, TestRelay, info, nothing_left, numbered, received, send, send_all, trouble, until,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_stops_in_the_middle_loses_and_repeats_nothing() {
    let mut relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    send_all(&pair.a, &pair.on_a, "a", 20).await;
    relay.stop().await;
    send_all(&pair.a, &pair.on_a, "b", 20).await;
    send_all(&pair.b, &pair.on_b, "c", 20).await;
    until("A tells so", || trouble(&pair.a, &pair.on_a) == "refused").await;
    relay.resume().await;
    pair.a.hurry();
    pair.b.hurry();
    let mut expected = numbered("a", 20);
    expected.extend(numbered("b", 20));
    assert_eq!(pair.received_by_b(40).await, expected);
    assert_eq!(pair.received_by_a(20).await, numbered("c", 20));
    until("A works again", || trouble(&pair.a, &pair.on_a).is_empty()).await;
    pair.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_lost_its_store_is_given_everything_again() {
    let mut relay = TestRelay::start().await;
    let mut pair = Pair::make(&relay).await;
    send_all(&pair.a, &pair.on_a, "old", 10).await;
    assert_eq!(pair.received_by_b(10).await, numbered("old", 10));
    pair.b.close().await;
    send_all(&pair.a, &pair.on_a, "lost", 10).await;
    until("the relay has them", || {
        info(&pair.a, &pair.on_a).waiting >= 10
    })
    .await;
    all_on_relay(&pair).await;
    pair.a.close().await;
    relay.stop().await;
    relay.lose_store();
    relay.resume().await;
    pair.reopen(&relay).await;
    assert_eq!(pair.received_by_b(10).await, numbered("lost", 10));
    send(&pair.b, &pair.on_b, "thanks").await;
    assert_eq!(pair.received_by_a(1).await, ["thanks"]);
    until("both trust again", || {
        let active = |state: &'static str| state == "active";
        active(super::rig::state(&pair.a, &pair.on_a))
            && active(super::rig::state(&pair.b, &pair.on_b))
    })
    .await;
    assert!(nothing_left(&pair.b, &pair.on_b).await);
    pair.close().await;
}

/// Waits until nothing waits on A itself.
async fn all_on_relay(pair: &Pair) {
    loop {
        let rows = pair.a.outbox(&pair.on_a).await.unwrap();
        if rows.iter().all(|row| row.progress.code() != "waiting") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_went_back_to_yesterday_loses_and_repeats_nothing() {
    let mut relay = TestRelay::start().await;
    let mut pair = Pair::make(&relay).await;
    send_all(&pair.a, &pair.on_a, "old", 5).await;
    assert_eq!(pair.received_by_b(5).await, numbered("old", 5));
    pair.close().await;
    relay.stop().await;
    let yesterday = std::fs::read(relay.store()).unwrap();
    relay.resume().await;
    pair.reopen(&relay).await;
    send_all(&pair.a, &pair.on_a, "today", 8).await;
    assert_eq!(pair.received_by_b(8).await, numbered("today", 8));
    pair.b.close().await;
    send_all(&pair.a, &pair.on_a, "gone", 8).await;
    all_on_relay(&pair).await;
    pair.a.close().await;
    relay.stop().await;
    relay.lose_store();
    std::fs::write(relay.store(), yesterday).unwrap();
    relay.resume().await;
    pair.reopen(&relay).await;
    assert_eq!(pair.received_by_b(8).await, numbered("gone", 8));
    send(&pair.b, &pair.on_b, "thanks").await;
    assert_eq!(pair.received_by_a(1).await, ["thanks"]);
    assert!(nothing_left(&pair.b, &pair.on_b).await);
    pair.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_the_mailbox_holds_waits_without_a_loop_and_goes_when_it_is_collected() {
    const MORE: usize = LINK_SLOTS + 10;
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    until("nothing is on its way", || {
        info(&pair.a, &pair.on_a).waiting == 0
    })
    .await;
    pair.b.close().await;
    send_all(&pair.a, &pair.on_a, "a", MORE).await;
    until("A says that it is full", || {
        trouble(&pair.a, &pair.on_a) == "blocked"
    })
    .await;
    let asked = relay.running().numbers().web_connections;
    let b = pair.homes.1.open(&relay).await;
    assert_eq!(received(&b, &pair.on_b, MORE).await, numbered("a", MORE));
    until("A goes on", || trouble(&pair.a, &pair.on_a).is_empty()).await;
    assert!(asked < 8, "{asked}");
    b.close().await;
    pair.a.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_directions_full_of_strange_envelopes_are_emptied_and_used_again() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    until("B is done", || info(&pair.b, &pair.on_b).waiting == 0).await;
    let mailbox = pair.mailbox();
    pair.close().await;
    for direction in Direction::ALL {
        // Whoever has the token can do this: 64 slots, four pages of them.
        let base = 1_000;
        for slot in 0..u64::try_from(LINK_SLOTS).unwrap() {
            let envelope = vec![1; LINK_ENVELOPE_BYTES_MIN];
            let sequence = base + slot;
            let put = LinkRequest::Put {
                direction,
                sequence,
                envelope,
            };
            relay.ask(&mailbox, put).await;
        }
    }
    let (a, b) = (
        pair.homes.0.open(&relay).await,
        pair.homes.1.open(&relay).await,
    );
    send_all(&a, &pair.on_a, "a", 20).await;
    send_all(&b, &pair.on_b, "b", 20).await;
    assert_eq!(received(&b, &pair.on_b, 20).await, numbered("a", 20));
    assert_eq!(received(&a, &pair.on_a, 20).await, numbered("b", 20));
    a.close().await;
    b.close().await;
}

/// A's database as it was is put back, as from a copy of its folder; the relay may have lost
/// its store on top of that.
async fn set_back(is_relay_lost: bool) {
    let mut relay = TestRelay::start().await;
    let mut pair = Pair::make(&relay).await;
    until("nothing waits", || info(&pair.b, &pair.on_b).waiting == 0).await;
    pair.close().await;
    let database = pair.homes.0.directory.path().join("links.db");
    let copy = std::fs::read(&database).unwrap();
    pair.reopen(&relay).await;
    send_all(&pair.a, &pair.on_a, "since", 6).await;
    send_all(&pair.b, &pair.on_b, "answer", 6).await;
    assert_eq!(pair.received_by_b(6).await, numbered("since", 6));
    assert_eq!(pair.received_by_a(6).await, numbered("answer", 6));
    until("A has been confirmed", || {
        info(&pair.a, &pair.on_a).waiting == 0
    })
    .await;
    until("B has been confirmed", || {
        info(&pair.b, &pair.on_b).waiting == 0
    })
    .await;
    pair.close().await;
    std::fs::write(&database, copy).unwrap();
    if is_relay_lost {
        relay.stop().await;
        relay.lose_store();
        relay.resume().await;
    }
    pair.reopen(&relay).await;
    send_all(&pair.a, &pair.on_a, "new", 3).await;
    send_all(&pair.b, &pair.on_b, "more", 3).await;
    assert_eq!(pair.received_by_b(3).await, numbered("new", 3));
    assert_eq!(pair.received_by_a(3).await, numbered("more", 3));
    assert!(nothing_left(&pair.b, &pair.on_b).await);
    assert!(nothing_left(&pair.a, &pair.on_a).await);
    pair.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_was_set_back_goes_on_and_repeats_nothing() {
    set_back(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_was_set_back_and_a_relay_that_lost_everything_still_meet() {
    set_back(true).await;
}
