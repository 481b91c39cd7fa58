//! Storing, delivering, acknowledging (specification 2.5 to 2.7).

use std::time::{Duration, Instant};

use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::limit::RELAY_LIFE_MS_MAX;

use crate::client::{Said, Session, device, envelope, number_of};
use crate::test_relay::{TestRelay, wait_until};

#[tokio::test]
async fn a_blob_waits_is_delivered_and_leaves_when_acknowledged() {
    let relay = TestRelay::start().await;
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    assert_eq!(sender.store(alice.public(), b"hello").await, Said::Ack);
    assert_eq!(relay.relay.numbers().blobs, 1);
    let mut session = Session::receive(&relay, &alice).await;
    let (id, envelope) = session.hear_blob().await;
    assert_eq!(envelope, b"hello");
    session.acknowledge(id).await;
    session.assert_nothing_waits().await;
    assert_eq!(relay.relay.numbers().blobs, 0);
    let relay = relay.restart().await;
    Session::receive(&relay, &alice)
        .await
        .assert_nothing_waits()
        .await;
}

#[tokio::test]
async fn waiting_blobs_come_first_and_new_ones_as_they_arrive() {
    let relay = TestRelay::start().await;
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    for number in 0..10 {
        assert_eq!(
            sender.store(alice.public(), &envelope(number, 100)).await,
            Said::Ack
        );
    }
    let mut session = Session::receive(&relay, &alice).await;
    for number in 10..20 {
        assert_eq!(
            sender.store(alice.public(), &envelope(number, 100)).await,
            Said::Ack
        );
    }
    for number in 0..20 {
        assert_eq!(number_of(&session.hear_blob().await.1), number);
    }
    for number in 20..30 {
        assert_eq!(
            sender.store(alice.public(), &envelope(number, 100)).await,
            Said::Ack
        );
        assert_eq!(number_of(&session.hear_blob().await.1), number);
    }
}

#[tokio::test]
async fn each_blob_goes_out_once_per_session_and_again_in_a_new_one() {
    let relay = TestRelay::start().await;
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    for number in 0..5 {
        sender.store(alice.public(), &envelope(number, 50)).await;
    }
    let mut first = Session::receive(&relay, &alice).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        let (id, envelope) = first.hear_blob().await;
        assert_eq!(number_of(&envelope), number);
        ids.push(id);
    }
    first.acknowledge(ids[1]).await;
    first.acknowledge(ids[3]).await;
    first.assert_nothing_waits().await;
    sender.store(alice.public(), &envelope(5, 50)).await;
    assert_eq!(number_of(&first.hear_blob().await.1), 5);
    first.assert_nothing_waits().await;

    let mut second = Session::receive(&relay, &alice).await;
    for number in [0, 2, 4, 5] {
        assert_eq!(number_of(&second.hear_blob().await.1), number);
    }
    second.assert_nothing_waits().await;
}

#[tokio::test]
async fn sessions_of_one_device_have_their_own_cursors() {
    let relay = TestRelay::start().await;
    let alice = device(1);
    let mut one = Session::receive(&relay, &alice).await;
    let mut two = Session::receive(&relay, &alice).await;
    one.assert_nothing_waits().await;
    two.assert_nothing_waits().await;
    let mut sender = Session::push(&relay).await;
    for number in 0..3 {
        sender.store(alice.public(), &envelope(number, 50)).await;
    }
    for number in 0..3 {
        assert_eq!(number_of(&one.hear_blob().await.1), number);
        assert_eq!(number_of(&two.hear_blob().await.1), number);
    }
}

#[tokio::test]
async fn a_foreign_acknowledgement_deletes_nothing() {
    let relay = TestRelay::start().await;
    let (alice, bob) = (device(1), device(2));
    let mut sender = Session::push(&relay).await;
    sender.store(alice.public(), b"for alice").await;
    sender.store(bob.public(), b"for bob").await;
    let (alices_id, _) = Session::receive(&relay, &alice).await.hear_blob().await;
    let mut bobs = Session::receive(&relay, &bob).await;
    let (_, envelope) = bobs.hear_blob().await;
    assert_eq!(envelope, b"for bob");
    bobs.acknowledge(alices_id).await;
    bobs.acknowledge(u64::MAX).await;
    bobs.acknowledge(0).await;
    bobs.assert_nothing_waits().await;
    assert_eq!(relay.relay.numbers().blobs, 2);
    let (again, envelope) = Session::receive(&relay, &alice).await.hear_blob().await;
    assert_eq!((again, envelope.as_slice()), (alices_id, &b"for alice"[..]));
}

#[tokio::test]
async fn unacknowledged_blobs_survive_a_restart_in_order() {
    let relay = TestRelay::start().await;
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    for number in 0..50 {
        sender.store(alice.public(), &envelope(number, 2_000)).await;
    }
    let relay = relay.restart().await;
    let mut sender = Session::push(&relay).await;
    sender.store(alice.public(), &envelope(50, 2_000)).await;
    let mut session = Session::receive(&relay, &alice).await;
    let mut last_id = 0;
    for number in 0..=50 {
        let (id, envelope) = session.hear_blob().await;
        assert_eq!(number_of(&envelope), number);
        assert!(id > last_id, "ids grow over restarts");
        last_id = id;
    }
}

#[tokio::test]
async fn pipelined_pushes_are_answered_one_by_one_and_in_order() {
    let relay = TestRelay::start_with(|config| {
        config.sessions.body_bytes_max = 8_192;
    })
    .await;
    let mut sender = Session::push(&relay).await;
    for number in 0..60_u64 {
        let bytes = if number % 3 == 0 { 8_657 } else { 8_656 };
        let recipient = device((number % 7) as u8).public();
        sender
            .say_push(recipient, &envelope(number, bytes))
            .await
            .unwrap();
    }
    for number in 0..60 {
        let expected = if number % 3 == 0 {
            Said::Error(Refusal::TooLarge)
        } else {
            Said::Ack
        };
        assert_eq!(sender.hear().await.unwrap(), expected, "answer {number}");
    }
    assert_eq!(relay.relay.numbers().blobs, 40);
}

#[tokio::test]
async fn a_session_stays_usable_after_an_error() {
    let relay = TestRelay::start().await;
    let mut sender = Session::push(&relay).await;
    let too_large = vec![1; 61_905];
    let alice = device(1).public();
    assert_eq!(
        sender.store(alice, &too_large).await,
        Said::Error(Refusal::TooLarge)
    );
    assert_eq!(sender.store(alice, &too_large[..61_904]).await, Said::Ack);
}

#[tokio::test]
async fn a_large_inbox_is_delivered_complete_and_in_order() {
    let relay = TestRelay::start_with(|config| {
        config.sessions.push_rate.burst = 10_000;
    })
    .await;
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    let size = |number: u64| 10 + (number * 7_919 % 20_000) as usize;
    for number in 0..150 {
        sender
            .say_push(alice.public(), &envelope(number, size(number)))
            .await
            .unwrap();
        if number >= 30 {
            assert_eq!(sender.hear().await.unwrap(), Said::Ack);
        }
    }
    for _ in 0..30 {
        assert_eq!(sender.hear().await.unwrap(), Said::Ack);
    }
    let mut session = Session::receive(&relay, &alice).await;
    for number in 0..150 {
        let (id, delivered) = session.hear_blob().await;
        assert_eq!(delivered, envelope(number, size(number)));
        session.acknowledge(id).await;
    }
    session.assert_nothing_waits().await;
    assert_eq!(relay.relay.numbers().bytes, 0);
}

/// Amendment 12: reader and writer of a session are independent.
#[tokio::test]
async fn a_device_that_does_not_read_still_heartbeats_and_acknowledges() {
    let idle = Duration::from_secs(1);
    let relay = TestRelay::start_with(|config| {
        config.sessions.receive_idle = idle;
        config.sessions.push_rate.burst = 10_000;
    })
    .await;
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    sender.store(alice.public(), &envelope(0, 100)).await;
    let mut session = Session::receive_narrow(&relay, &alice).await;
    let (first, _) = session.hear_blob().await;
    // More than the buffers of both sockets hold, so the relay's writer blocks.
    let mut heartbeats = 0;
    for number in 1..=BLOCKING_BLOBS {
        let answer = sender
            .store(alice.public(), &envelope(number, 60_000))
            .await;
        assert_eq!(answer, Said::Ack);
        session.say(&Frame::Heartbeat).await.unwrap();
        heartbeats += 1;
    }
    let begin = Instant::now();
    while begin.elapsed() < idle * 2 {
        tokio::time::sleep(idle / 10).await;
        session.say(&Frame::Heartbeat).await.unwrap();
        heartbeats += 1;
    }
    session.acknowledge(first).await;
    wait_for_blobs(&relay, BLOCKING_BLOBS).await;
    let (mut blobs, mut echoes) = (0, 0);
    while blobs < BLOCKING_BLOBS || echoes < heartbeats {
        match session.hear().await.unwrap() {
            Said::Deliver(_, envelope) => {
                blobs += 1;
                assert_eq!(number_of(&envelope), blobs);
                session.say(&Frame::Heartbeat).await.unwrap();
                heartbeats += 1;
            }
            Said::Heartbeat => echoes += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(echoes, heartbeats, "one echo per heartbeat");
}

/// Times 60,000 bytes.
const BLOCKING_BLOBS: u64 = 80;

async fn wait_for_blobs(relay: &TestRelay, blobs: u64) {
    wait_until("the blobs are as many", || {
        relay.relay.numbers().blobs == blobs
    })
    .await;
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
    let folder = std::sync::Arc::clone(&relay.folder);
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
