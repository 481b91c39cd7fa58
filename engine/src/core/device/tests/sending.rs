use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::MemberId;
use sealpost_protocol::limit::{BODY_BYTES_MAX, OUTBOX_LIFE_MS, SEQUENCE_MAX};

use crate::core::device::{Device, Settings};
use crate::core::error::{EngineError, StorageFault};
use crate::core::issue::{DeliveryIssue, SendFailure};
use crate::core::message::{DeliveryState, MessageHandle};
use crate::core::rig::{Post, Rig, SECOND_MS, issues, pushes};
use crate::core::status::{Connection, Status};
use crate::core::step::{Change, PushId, PushOutcome};
use crate::core::timing::COPIES_REMOVED_AT_ONCE_MAX;

#[test]
fn a_message_is_queued_before_it_is_pushed() {
    let mut post = Post::group(3);
    let peer = post.rigs[1].device.me().id;
    let rig = &mut post.rigs[0];
    let id = rig
        .device
        .handle_send(b"hello".to_vec(), rig.now_ms)
        .expect("a member");
    let step = rig.take_step();
    let entries = step
        .changes
        .iter()
        .filter(|c| matches!(c, Change::OutboxEntryAdded(_)))
        .count();
    assert_eq!(entries, 2);
    assert_eq!(
        pushes(&step.effects).len(),
        2,
        "all copies of one send go together"
    );
    assert!(rig.device.is_sending(&id, &peer));
}

#[test]
fn an_own_row_starts_waiting_and_ends_on_the_relay() {
    let mut post = Post::group(2);
    let peer = post.rigs[1].device.me().id;
    let rig = &mut post.rigs[0];
    let id = rig
        .device
        .handle_send(b"hello".to_vec(), rig.now_ms)
        .expect("a member");
    let effects = rig.drain();
    assert_eq!(rig.store.delivery(&id, &peer), Some(DeliveryState::Waiting));
    let push = pushes(&effects)[0].id;
    rig.device
        .handle_push_outcome(push, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    rig.drain();
    let at_ms = rig.now_ms;
    assert_eq!(
        rig.store.delivery(&id, &peer),
        Some(DeliveryState::OnRelay { at_ms })
    );
    assert!(rig.store.bodies.is_empty() && rig.store.entries.is_empty());
    assert!(!rig.device.is_sending(&id, &peer));
}

#[test]
fn checks_come_in_order_and_change_nothing() {
    let mut rig = Rig::new(1, "alone");
    let max = BODY_BYTES_MAX;
    assert_eq!(
        rig.device.handle_send(vec![0; max + 1], rig.now_ms),
        Err(EngineError::PayloadTooLarge { max })
    );
    assert_eq!(
        rig.device.handle_send(vec![0; max], rig.now_ms),
        Err(EngineError::NotMember {
            status: Status::NotJoined
        })
    );
    assert!(rig.take_step().is_empty());
}

#[test]
fn the_largest_body_and_an_empty_one_arrive() {
    let mut post = Post::group(2);
    for body in [vec![7; BODY_BYTES_MAX], Vec::new()] {
        let rig = &mut post.rigs[0];
        rig.device
            .handle_send(body.clone(), rig.now_ms)
            .expect("within the limit");
        post.settle(0);
        assert_eq!(post.rigs[1].bodies().last(), Some(&body));
    }
}

#[test]
fn a_lower_limit_holds_and_a_higher_one_is_clamped() {
    let post = Post::group(2);
    for (asked, held) in [(Some(9), 9), (Some(BODY_BYTES_MAX + 1), BODY_BYTES_MAX)] {
        let settings = Settings {
            max_payload_bytes: asked,
        };
        let rig = &post.rigs[0];
        let mut device = Device::restore(rig.store.snapshot(), settings, rig.now_ms)
            .expect("a consistent store");
        assert_eq!(device.max_payload_bytes(), held);
        assert_eq!(
            device.handle_send(vec![0; held + 1], rig.now_ms),
            Err(EngineError::PayloadTooLarge { max: held })
        );
    }
}

#[test]
fn sequence_numbers_start_at_the_clock_and_never_repeat() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    let before = rig.store.sequence;
    assert!(before >= rig.now_ms, "not below the clock");
    rig.now_ms -= 60 * SECOND_MS;
    rig.device
        .handle_send(b"a".to_vec(), rig.now_ms)
        .expect("a member");
    rig.drain();
    assert_eq!(
        rig.store.sequence,
        before + 1,
        "above the last one, whatever the clock says"
    );
    rig.now_ms += 3_600 * SECOND_MS;
    rig.device
        .handle_send(b"b".to_vec(), rig.now_ms)
        .expect("a member");
    rig.drain();
    assert_eq!(rig.store.sequence, rig.now_ms);
}

#[test]
fn the_last_sequence_number_is_used_and_no_other() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.store.sequence = SEQUENCE_MAX - 1;
    rig.restart();
    rig.device
        .handle_send(b"last".to_vec(), rig.now_ms)
        .expect("one is left");
    assert_eq!(
        rig.device.handle_send(b"none".to_vec(), rig.now_ms),
        Err(EngineError::Storage(StorageFault::SequenceExhausted))
    );
    rig.drain();
    assert_eq!(rig.store.sequence, SEQUENCE_MAX);
}

#[test]
fn a_sync_keeps_its_time_through_every_seal_and_its_id() {
    let mut post = Post::group(2);
    let sent_at_ms = post.rigs[0].now_ms;
    let id = post.rigs[0]
        .device
        .handle_send(b"x".to_vec(), sent_at_ms)
        .expect("a member");
    let first = post.rigs[0].drain();
    let push = pushes(&first)[0].id;
    let rig = &mut post.rigs[0];
    rig.device
        .handle_push_outcome(push, PushOutcome::Unanswered, rig.now_ms, &mut rig.rng);
    rig.drain();
    let second = rig.advance(2 * SECOND_MS);
    let (one, two) = (
        pushes(&first)[0].envelope.clone(),
        pushes(&second)[0].envelope.clone(),
    );
    assert_ne!(one, two, "every seal has a key of its own");
    for envelope in [&one, &two] {
        post.rigs[1].receive(envelope);
    }
    let rows = &post.rigs[1].store.rows;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[&1].id, rows[&1].sent_at_ms), (id, sent_at_ms));
}

#[test]
fn a_restart_pushes_what_was_in_flight_again() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_send(b"x".to_vec(), rig.now_ms)
        .expect("a member");
    assert_eq!(pushes(&rig.drain()).len(), 1);
    assert_eq!(pushes(&rig.restart()).len(), 1);
}

#[test]
fn a_permanent_refusal_is_raised_once_and_the_others_go_on() {
    let mut post = Post::group(4);
    let rig = &mut post.rigs[0];
    let id = rig
        .device
        .handle_send(b"x".to_vec(), rig.now_ms)
        .expect("a member");
    let ids: Vec<_> = pushes(&rig.drain()).iter().map(|push| push.id).collect();
    let refused = PushOutcome::Refused(Refusal::TooLarge);
    let failed = DeliveryIssue::SendFailed {
        message: id,
        failure: SendFailure::TooLarge,
    };
    rig.device
        .handle_push_outcome(ids[0], refused, rig.now_ms, &mut rig.rng);
    assert_eq!(issues(&rig.drain()), vec![failed.clone()]);
    // The second failure comes after a restart, when memory says nothing of the first.
    let again = rig.restart();
    let ids: Vec<_> = pushes(&again).iter().map(|push| push.id).collect();
    assert_eq!(ids.len(), 2);
    rig.device
        .handle_push_outcome(ids[0], refused, rig.now_ms, &mut rig.rng);
    assert!(
        issues(&rig.drain()).is_empty(),
        "once per message and reason"
    );
    rig.device
        .handle_push_outcome(ids[1], PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    rig.drain();
    assert_eq!(rig.store.issues, vec![failed]);
    let states: Vec<_> = rig.store.deliveries.values().collect();
    let lost = DeliveryState::Failed(SendFailure::TooLarge);
    assert_eq!(states.iter().filter(|state| ***state == lost).count(), 2);
    assert!(rig.store.bodies.is_empty());
}

#[test]
fn a_refused_version_touches_nothing_until_the_relay_is_asked_again() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_send(b"x".to_vec(), rig.now_ms)
        .expect("a member");
    let push = pushes(&rig.drain())[0].id;
    let outcome = PushOutcome::VersionUnsupported { min: 2, max: 3 };
    rig.device
        .handle_push_outcome(push, outcome, rig.now_ms, &mut rig.rng);
    let effects = rig.drain();
    assert!(issues(&effects).is_empty() && pushes(&effects).is_empty());
    assert_eq!(
        rig.device.connection(),
        Connection::RelayVersionUnsupported { min: 2, max: 3 }
    );
    assert_eq!(rig.store.entries.len(), 1);
    assert!(pushes(&rig.advance(299 * SECOND_MS)).is_empty());
    assert_eq!(pushes(&rig.advance(SECOND_MS)).len(), 1);
}

#[test]
fn reconnecting_by_hand_tries_what_waits_at_once() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_send(b"hello".to_vec(), rig.now_ms)
        .expect("a member");
    let push = pushes(&rig.drain())[0].id;
    rig.device
        .handle_push_outcome(push, PushOutcome::Unanswered, rig.now_ms, &mut rig.rng);
    assert!(pushes(&rig.drain()).is_empty());
    rig.device.handle_reconnect();
    assert_eq!(pushes(&rig.drain()).len(), 1);
}

#[test]
fn a_sync_expires_after_thirty_days_and_a_manifest_never() {
    let mut post = Post::group(2);
    post.rigs.truncate(1);
    let rig = &mut post.rigs[0];
    let peer = rig.device.members()[0].clone();
    rig.store.is_broken = true;
    let id = rig
        .device
        .handle_send(b"x".to_vec(), rig.now_ms)
        .expect("a member");
    // The relay is away from the first push on.
    let push = pushes(&rig.drain())[0].id;
    rig.device
        .handle_push_outcome(push, PushOutcome::Unanswered, rig.now_ms, &mut rig.rng);
    rig.drain();
    assert!(issues(&rig.advance(OUTBOX_LIFE_MS - 1)).is_empty());
    let failed = DeliveryIssue::SendFailed {
        message: id,
        failure: SendFailure::Expired,
    };
    // Looked at before each push, at the latest within the hour.
    rig.now_ms += 1;
    assert_eq!(issues(&rig.connect()), vec![failed]);
    assert_eq!(
        rig.store.delivery(&id, &peer.id),
        Some(DeliveryState::Failed(SendFailure::Expired))
    );
    rig.device
        .handle_remove(&peer.id, rig.now_ms)
        .expect("a member");
    rig.drain();
    rig.advance(400 * 24 * 3_600 * SECOND_MS);
    assert_eq!(
        rig.store.entries.len(),
        1,
        "the manifest waits for as long as it takes"
    );
}

#[test]
fn a_store_that_cannot_be_read_loses_no_message() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_send(b"x".to_vec(), rig.now_ms)
        .expect("a member");
    rig.drain();
    rig.store.is_broken = true;
    assert!(pushes(&rig.restart()).is_empty());
    assert_eq!(rig.store.entries.len(), 1);
    rig.store.is_broken = false;
    assert_eq!(pushes(&rig.advance(2 * SECOND_MS)).len(), 1);
}

#[test]
fn an_app_id_is_stored_once_per_author() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    let text = AppMessage::new(AppMessageKind::Text("hi".into()), &mut rig.rng).encode();
    for body in [&text, &text] {
        rig.device
            .handle_send(body.clone(), rig.now_ms)
            .expect("a member");
    }
    post.settle(0);
    for rig in &post.rigs {
        assert_eq!(rig.bodies(), vec![text.clone()]);
    }
}

#[test]
fn nothing_of_a_message_is_printed() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_rename_group("canary", rig.now_ms)
        .expect("a name");
    rig.device
        .handle_send(b"canary".to_vec(), rig.now_ms)
        .expect("a member");
    let before = format!("{:?}", rig.device);
    let shown = format!("{before} {:?} {:?}", rig.take_step(), rig.store.snapshot());
    let bytes = format!("{:?}", b"canary");
    assert!(!shown.contains("canary") && !shown.contains(bytes.trim_matches(['[', ']'])));
}

#[test]
fn without_other_members_a_message_is_kept_and_nothing_is_queued() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    post.settle(1);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_send(b"note to self".to_vec(), rig.now_ms)
        .expect("a member");
    assert!(pushes(&rig.drain()).is_empty());
    assert_eq!(rig.bodies(), vec![b"note to self".to_vec()]);
    assert!(rig.store.bodies.is_empty());
}

/// What the store would say of the only message of a history.
fn handle(rig: &Rig, failed: Vec<MemberId>, has_left: bool) -> MessageHandle {
    let row = rig.store.rows.values().next().expect("a message");
    MessageHandle {
        position: 1,
        ids: vec![row.id],
        body: row.body.clone(),
        failed,
        has_left,
    }
}

#[test]
fn a_message_is_sent_once_more_to_those_at_which_it_failed_and_shown_once() {
    let mut post = Post::group(3);
    let [reached, failed] = [1, 2].map(|place| post.rigs[place].device.me());
    let rig = &mut post.rigs[0];
    let text = AppMessage::new(AppMessageKind::Text("hi".into()), &mut rig.rng).encode();
    let first = rig
        .device
        .handle_send(text.clone(), rig.now_ms)
        .expect("a member");
    for push in pushes(&rig.drain()) {
        let outcome = if push.recipient == failed.keys.noise {
            PushOutcome::Refused(Refusal::Malformed)
        } else {
            PushOutcome::Stored
        };
        rig.device
            .handle_push_outcome(push.id, outcome, rig.now_ms, &mut rig.rng);
    }
    rig.drain();
    let nobody = handle(rig, Vec::new(), true);
    assert_eq!(
        rig.device.handle_retry(nobody, rig.now_ms),
        Err(EngineError::MemberNotFound)
    );
    let gone = handle(rig, vec![Rig::new(99, "gone").device.me().id], true);
    assert_eq!(
        rig.device.handle_retry(gone, rig.now_ms),
        Err(EngineError::MemberNotFound)
    );
    let once_more = handle(rig, vec![failed.id.clone()], true);
    let again = rig
        .device
        .handle_retry(once_more, rig.now_ms)
        .expect("a member");
    assert_ne!(first, again);
    let effects = rig.drain();
    assert_eq!(
        rig.store.delivery(&again, &failed.id),
        Some(DeliveryState::Waiting)
    );
    let there = rig.store.delivery(&again, &reached.id);
    assert!(matches!(there, Some(DeliveryState::OnRelay { .. })));
    let copies = pushes(&effects);
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].recipient, failed.keys.noise);
    let (id, envelope) = (copies[0].id, copies[0].envelope.clone());
    // Twice, should the first one have arrived after all.
    for _ in 0..2 {
        post.rigs[2].receive(&envelope);
    }
    assert_eq!(post.rigs[2].bodies(), vec![text.clone()]);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_push_outcome(id, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    rig.drain();
    let state = rig.store.delivery(&again, &failed.id);
    let at_ms = rig.now_ms;
    assert_eq!(state, Some(DeliveryState::OnRelay { at_ms }));
    assert_eq!(rig.bodies(), [text]);
}

#[test]
fn deleting_takes_a_message_back_only_while_no_copy_has_left() {
    // Whether the store knows of a copy that left, and how many copies are pushed.
    for (has_left, pushed, is_taken_back) in [
        (false, 0, true),
        (true, 0, false),
        (false, 1, false),
        (false, 2, false),
    ] {
        let mut post = Post::group(3);
        let rig = &mut post.rigs[0];
        rig.device.handle_push_outcome(
            PushId::UNTRACKED,
            PushOutcome::Unanswered,
            rig.now_ms,
            &mut rig.rng,
        );
        rig.device
            .handle_send(b"hello".to_vec(), rig.now_ms)
            .expect("a member");
        let effects = rig.drain();
        let copies: Vec<_> = pushes(&effects).iter().map(|push| push.id).collect();
        assert_eq!(copies.len(), 2);
        for (place, push) in copies.into_iter().enumerate() {
            // One is on the relay, a second one in flight: both have left.
            let outcome = match place {
                0 if pushed > 0 => PushOutcome::Stored,
                1 if pushed > 1 => continue,
                _ => PushOutcome::Unanswered,
            };
            rig.device
                .handle_push_outcome(push, outcome, rig.now_ms, &mut rig.rng);
        }
        rig.drain();
        let waiting = rig.store.entries.len();
        assert!(waiting > 0);
        let message = handle(rig, Vec::new(), has_left);
        rig.device.handle_delete_message(message);
        rig.drain();
        assert!(rig.store.rows.is_empty());
        let left = if is_taken_back { 0 } else { waiting };
        assert_eq!(rig.store.entries.len(), left, "{has_left} {pushed}");
        // A restart agrees.
        let sent = pushes(&rig.restart()).len();
        assert_eq!(sent, left);
    }
}

#[test]
fn what_is_sent_is_handed_out_before_it_is_sealed_and_sealed_right_after() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    assert!(rig.device.drain_sends().is_none(), "nothing was sent");
    rig.device
        .handle_send(b"one".to_vec(), rig.now_ms)
        .expect("a member");
    rig.device
        .handle_send(b"two".to_vec(), rig.now_ms)
        .expect("a member");
    let step = rig.device.drain_sends().expect("two sends");
    assert!(pushes(&step.effects).is_empty());
    rig.store.commit(step.changes);
    assert!(rig.device.drain_sends().is_none());
    let effects = rig.drain();
    assert_eq!(pushes(&effects).len(), 1, "the second waits for the first");
    // With anything else in it the step stays whole.
    rig.device
        .handle_send(b"three".to_vec(), rig.now_ms)
        .expect("a member");
    rig.device.handle_bad_frame(rig.now_ms);
    assert!(rig.device.drain_sends().is_none());
}

#[test]
fn many_that_grew_too_old_unnoticed_are_given_up_step_by_step() {
    let many = 2 * COPIES_REMOVED_AT_ONCE_MAX + 5;
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    for number in 0..many {
        let text = number.to_string().into_bytes();
        rig.device.handle_send(text, rig.now_ms).expect("a member");
    }
    rig.drain();
    // The program was off, and what it sees first is that the relay can be reached.
    rig.now_ms += OUTBOX_LIFE_MS;
    let mut effects = rig.restart();
    let mut given_up = issues(&effects).len();
    while given_up < many {
        let at_once = issues(&effects).len();
        assert!(
            (1..=COPIES_REMOVED_AT_ONCE_MAX).contains(&at_once),
            "{at_once}"
        );
        assert!(pushes(&effects).is_empty());
        assert!(rig.device.next_wakeup() <= Some(rig.now_ms), "due at once");
        effects = rig.drain();
        given_up += issues(&effects).len();
    }
    assert!(rig.store.bodies.is_empty());
}
