//! Quotas, rates and caps (specification 2.8).

use std::sync::Arc;

use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::NoiseSecret;
use sealpost_relay::{BLOB_OVERHEAD_BYTES, Clock, Relay};

use crate::client::{PATIENCE, Said, Session, device, envelope, new_device};
use crate::raw_client::{connect, read_to_end};
use crate::test_relay::{TestRelay, config_in, relay_key, wait_until};

pub(crate) async fn a_full_inbox_refuses_and_others_do_not() {
    let relay = TestRelay::start_with(|config| config.store.inbox_blobs_max = 3).await;
    let (alice, bob) = (device(1), device(2));
    let mut sender = Session::push(&relay).await;
    for number in 0..3 {
        assert_eq!(
            sender.store(alice.public(), &envelope(number, 9)).await,
            Said::Ack
        );
    }
    let full = Said::Error(Refusal::InboxFull);
    assert_eq!(sender.store(alice.public(), &envelope(3, 9)).await, full);
    assert_eq!(sender.store(bob.public(), &envelope(3, 9)).await, Said::Ack);
    let mut session = Session::receive(&relay, &alice).await;
    let (id, _) = session.hear_blob().await;
    session.acknowledge(id).await;
    for _ in 0..2 {
        session.hear_blob().await;
    }
    session.assert_nothing_waits().await;
    assert_eq!(
        sender.store(alice.public(), &envelope(3, 9)).await,
        Said::Ack
    );
}

/// Pushes that are on their way to the disk count too.
pub(crate) async fn a_pipelined_burst_does_not_go_over_the_quota() {
    let relay = TestRelay::start_with(|config| config.store.inbox_blobs_max = 10).await;
    let mut senders = [Session::push(&relay).await, Session::push(&relay).await];
    for number in 0..30 {
        for sender in &mut senders {
            sender
                .say_push(device(1).public(), &envelope(number, 9))
                .await
                .unwrap();
        }
    }
    let mut stored = 0;
    for sender in &mut senders {
        for _ in 0..30 {
            match sender.hear().await.unwrap() {
                Said::Ack => stored += 1,
                other => assert_eq!(other, Said::Error(Refusal::InboxFull)),
            }
        }
    }
    assert_eq!(stored, 10);
    assert_eq!(relay.relay.numbers().blobs, 10);
}

pub(crate) async fn the_whole_relay_has_one_cap() {
    let relay = TestRelay::start_with(|config| {
        config.store.total_bytes_max = 1_000 + 2 * BLOB_OVERHEAD_BYTES
    })
    .await;
    let mut sender = Session::push(&relay).await;
    assert_eq!(sender.store(device(1).public(), &[0; 600]).await, Said::Ack);
    let unavailable = Said::Error(Refusal::Unavailable);
    assert_eq!(
        sender.store(device(2).public(), &[0; 600]).await,
        unavailable
    );
    assert_eq!(sender.store(device(2).public(), &[0; 400]).await, Said::Ack);
}

pub(crate) async fn a_disk_below_its_floor_refuses() {
    let relay = TestRelay::start_with(|config| config.store.disk_free_bytes_min = 1 << 49).await;
    let mut sender = Session::push(&relay).await;
    let unavailable = Said::Error(Refusal::Unavailable);
    assert_eq!(
        sender.store(device(1).public(), &[0; 10]).await,
        unavailable
    );
    assert_eq!(relay.relay.numbers().blobs, 0);
}

struct LostClock;

impl Clock for LostClock {
    fn now_ms(&self) -> u64 {
        3_600_000
    }

    fn is_set(&self) -> bool {
        false
    }
}

pub(crate) async fn a_relay_that_does_not_know_the_time_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let relay = Relay::start(config_in(&folder), relay_key(), Arc::new(LostClock));
    let relay = relay.await.unwrap();
    let mut sender = Session::push_to(relay.ports().push, relay.public_key())
        .await
        .unwrap();
    let unavailable = Said::Error(Refusal::Unavailable);
    assert_eq!(
        sender.store(device(1).public(), b"too early").await,
        unavailable
    );
}

pub(crate) async fn the_rate_is_counted_per_recipient_and_after_size_and_form() {
    let relay = TestRelay::start_with(|config| {
        config.sessions.push_rate.burst = 2;
        config.sessions.push_rate.per_second = 1;
        config.store.inbox_blobs_max = 1;
    })
    .await;
    let (alice, bob) = (device(1).public(), device(2).public());
    let mut sender = Session::push(&relay).await;
    // Size comes first and takes no token.
    let too_large = vec![0; 62_000];
    for _ in 0..3 {
        assert_eq!(
            sender.store(alice, &too_large).await,
            Said::Error(Refusal::TooLarge)
        );
    }
    assert_eq!(sender.store(alice, b"1").await, Said::Ack);
    // The quota comes after the rate and has taken a token.
    assert_eq!(
        sender.store(alice, b"2").await,
        Said::Error(Refusal::InboxFull)
    );
    assert_eq!(
        sender.store(alice, b"3").await,
        Said::Error(Refusal::RateLimited)
    );
    assert_eq!(sender.store(bob, b"1").await, Said::Ack);
}

pub(crate) async fn the_fifth_session_of_a_device_is_refused_after_the_handshake(
    relay: RelayAddress,
) {
    let alice = new_device();
    let mut sessions = Vec::new();
    for _ in 0..4 {
        let mut session = Session::receive(&relay, &alice).await;
        session.assert_nothing_waits().await;
        sessions.push(session);
    }
    let mut fifth = Session::receive(&relay, &alice).await;
    assert_eq!(
        fifth.hear().await.unwrap(),
        Said::Error(Refusal::Unavailable)
    );
    fifth.assert_closed().await;
    let mut others = Session::receive(&relay, &new_device()).await;
    others.assert_nothing_waits().await;
    let mut sender = Session::push(&relay).await;
    sender.store(alice.public(), b"for all four").await;
    for session in &mut sessions {
        assert_eq!(session.hear_blob().await.1, b"for all four");
        session.assert_nothing_waits().await;
    }
    sessions.pop();
    enter_again(&relay, &alice).await;
}

/// The relay sees in its own time that a session has left.
async fn enter_again(relay: &RelayAddress, device: &NoiseSecret) {
    let entering = async {
        while Session::receive(relay, device).await.hear().await.unwrap()
            == Said::Error(Refusal::Unavailable)
        {
            tokio::task::yield_now().await;
        }
    };
    let entered = tokio::time::timeout(PATIENCE, entering).await;
    assert!(entered.is_ok(), "a place is free again");
}

pub(crate) async fn connections_over_the_cap_are_closed_and_the_others_go_on() {
    let relay = TestRelay::start_with(|config| config.sessions.connections_max = 2).await;
    let mut first = Session::push(&relay).await;
    let second = Session::push(&relay).await;
    let mut over = connect(relay.push_port()).await;
    assert_eq!(read_to_end(&mut over).await, b"");
    assert_eq!(
        first.store(device(1).public(), b"still here").await,
        Said::Ack
    );
    // The other port has a cap of its own.
    Session::receive(&relay, &device(1)).await.hear_blob().await;
    drop(second);
    wait_until("one is left", || relay.relay.numbers().connections <= 1).await;
    let mut third = Session::push(&relay).await;
    assert_eq!(
        third.store(device(1).public(), b"there is room").await,
        Said::Ack
    );
}
