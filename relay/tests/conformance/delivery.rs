//! Storing, delivering, acknowledging (specification 2.5 to 2.7).

use std::time::{Duration, Instant};

use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::frame::{Frame, Refusal};

use crate::client::{Said, Session, envelope, new_device, number_of};
use crate::test_relay::{TestRelay, wait_until};

pub(crate) async fn a_blob_waits_is_delivered_and_leaves_when_acknowledged(relay: RelayAddress) {
    let alice = new_device();
    let mut sender = Session::push(&relay).await;
    assert_eq!(sender.store(alice.public(), b"hello").await, Said::Ack);
    let mut session = Session::receive(&relay, &alice).await;
    let (id, envelope) = session.hear_blob().await;
    assert_eq!(envelope, b"hello");
    session.acknowledge(id).await;
    session.assert_nothing_waits().await;
    Session::receive(&relay, &alice)
        .await
        .assert_nothing_waits()
        .await;
}

pub(crate) async fn waiting_blobs_come_first_and_new_ones_as_they_arrive(relay: RelayAddress) {
    let alice = new_device();
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

pub(crate) async fn each_blob_goes_out_once_per_session_and_again_in_a_new_one(
    relay: RelayAddress,
) {
    let alice = new_device();
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

pub(crate) async fn sessions_of_one_device_have_their_own_cursors(relay: RelayAddress) {
    let alice = new_device();
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

pub(crate) async fn a_foreign_acknowledgement_deletes_nothing(relay: RelayAddress) {
    let (alice, bob) = (new_device(), new_device());
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
    // Bob's own is still there too.
    assert_eq!(
        Session::receive(&relay, &bob).await.hear_blob().await.1,
        b"for bob"
    );
    let (again, envelope) = Session::receive(&relay, &alice).await.hear_blob().await;
    assert_eq!((again, envelope.as_slice()), (alices_id, &b"for alice"[..]));
}

pub(crate) async fn unacknowledged_blobs_survive_a_restart_in_order() {
    let relay = TestRelay::start().await;
    let alice = new_device();
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

pub(crate) async fn pipelined_pushes_are_answered_one_by_one_and_in_order(relay: RelayAddress) {
    let mut sender = Session::push(&relay).await;
    let recipients: Vec<_> = (0..7).map(|_| new_device().public()).collect();
    for number in 0..60_u64 {
        let bytes = if number % 3 == 0 {
            TOO_LARGE_BYTES
        } else {
            300
        };
        let recipient = recipients[(number % 7) as usize];
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
}

/// One byte more than the largest Envelope of a relay without a limit of its own.
const TOO_LARGE_BYTES: usize = 61_440 + 464 + 1;

/// The relay looks into nothing, so it can't know that it has seen an Envelope before.
pub(crate) async fn an_envelope_that_is_pushed_twice_is_two_blobs(relay: RelayAddress) {
    let alice = new_device();
    let mut sender = Session::push(&relay).await;
    for _ in 0..2 {
        assert_eq!(sender.store(alice.public(), b"twice").await, Said::Ack);
    }
    let mut session = Session::receive(&relay, &alice).await;
    let (first, second) = (session.hear_blob().await, session.hear_blob().await);
    assert_eq!(
        (first.1.as_slice(), second.1.as_slice()),
        (&b"twice"[..], &b"twice"[..])
    );
    assert!(first.0 != second.0, "each blob has an id of its own");
    session.acknowledge(first.0).await;
    session.assert_nothing_waits().await;
    let (left, _) = Session::receive(&relay, &alice).await.hear_blob().await;
    assert_eq!(left, second.0);
}

/// An acknowledgement that is said twice, or of a blob that is gone, is ignored.
pub(crate) async fn a_repeated_acknowledgement_is_ignored(relay: RelayAddress) {
    let alice = new_device();
    let mut sender = Session::push(&relay).await;
    sender.store(alice.public(), b"one").await;
    let mut session = Session::receive(&relay, &alice).await;
    let (id, _) = session.hear_blob().await;
    // More often than malformed frames are forgiven.
    for _ in 0..20 {
        session.acknowledge(id).await;
    }
    session.assert_nothing_waits().await;
    sender.store(alice.public(), b"two").await;
    assert_eq!(session.hear_blob().await.1, b"two");
}

pub(crate) async fn only_the_recipient_gets_a_blob(relay: RelayAddress) {
    let (alice, bob) = (new_device(), new_device());
    let mut bobs = Session::receive(&relay, &bob).await;
    let mut sender = Session::push(&relay).await;
    sender.store(alice.public(), b"for alice").await;
    bobs.assert_nothing_waits().await;
    let mut alices = Session::receive(&relay, &alice).await;
    assert_eq!(alices.hear_blob().await.1, b"for alice");
    bobs.assert_nothing_waits().await;
}

pub(crate) async fn the_largest_envelope_is_taken_and_one_byte_more_is_not(relay: RelayAddress) {
    let mut sender = Session::push(&relay).await;
    let too_large = vec![1; TOO_LARGE_BYTES];
    let largest = &too_large[1..];
    let alice = new_device();
    let refused = Said::Error(Refusal::TooLarge);
    assert_eq!(sender.store(alice.public(), &too_large).await, refused);
    // The largest frame that a Noise message carries.
    assert_eq!(sender.store(alice.public(), &[1; 65_482]).await, refused);
    // The session stays usable after an Error.
    assert_eq!(sender.store(alice.public(), largest).await, Said::Ack);
    let mut session = Session::receive(&relay, &alice).await;
    assert_eq!(session.hear_blob().await.1, largest);
}

pub(crate) async fn a_lowered_limit_is_exact() {
    let relay = TestRelay::start_with(|config| config.sessions.body_bytes_max = 8_192).await;
    let mut sender = Session::push(&relay).await;
    let alice = new_device().public();
    let refused = Said::Error(Refusal::TooLarge);
    assert_eq!(sender.store(alice, &[1; 8_657]).await, refused);
    assert_eq!(sender.store(alice, &[1; 8_656]).await, Said::Ack);
}

pub(crate) async fn a_large_inbox_is_delivered_complete_and_in_order(relay: RelayAddress) {
    let alice = new_device();
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
    Session::receive(&relay, &alice)
        .await
        .assert_nothing_waits()
        .await;
}

/// Amendment 12: reader and writer of a session are independent.
pub(crate) async fn a_device_that_does_not_read_still_heartbeats_and_acknowledges() {
    let idle = Duration::from_millis(1_500);
    let relay = TestRelay::start_with(|config| {
        config.sessions.receive_idle = idle;
        config.sessions.push_rate.burst = 10_000;
    })
    .await;
    let alice = new_device();
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
        tokio::time::sleep(idle / 30).await;
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
