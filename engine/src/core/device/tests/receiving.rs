use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::limit::{
    BODY_BYTES_MAX, HANDLER_ATTEMPTS_MAX, HELD_BLOBS_MAX, RELAY_LIFE_MS_MAX, REPLAY_WINDOW_MS,
};

use crate::core::event::Event;
use crate::core::issue::{DeliveryIssue, HandlerError, Unreadable};
use crate::core::message::MessageHandle;
use crate::core::rig::{Post, Rig, SECOND_MS, acknowledged, issues};
use crate::core::status::Connection;
use crate::core::step::{Effect, HandlerRun, SessionId};
use crate::core::timing::RUN_IN_THE_WAY_MS;

const MALFORMED: DeliveryIssue = DeliveryIssue::Unreadable(Unreadable::Malformed);

/// An envelope of the group's first device for its second.
fn from_peer(post: &mut Post, sequence: u64, timestamp_ms: u64, body: &[u8]) -> Vec<u8> {
    let author = post.rigs[0].store.secrets.clone();
    sealed(
        &author,
        &mut post.rigs[1],
        MessageTag::Sync,
        sequence,
        timestamp_ms,
        body,
    )
}

fn sealed(
    author: &DeviceSecrets,
    to: &mut Rig,
    tag: MessageTag,
    sequence: u64,
    timestamp_ms: u64,
    body: &[u8],
) -> Vec<u8> {
    let recipient = to.noise();
    let sealing = Sealing {
        author: &author.signing,
        recipient: &recipient,
        sequence,
        timestamp_ms,
        tag,
        body,
    };
    seal(&sealing, &mut to.rng).expect("it can be sealed")
}

/// An envelope that names a version, with a filler that makes it unlike any other.
fn of_version(version: u8, filler: u64) -> Vec<u8> {
    let mut envelope = vec![0x38, version, 0x4a, 8];
    envelope.extend_from_slice(&filler.to_be_bytes());
    envelope
}

fn runs(effects: &[Effect]) -> Vec<HandlerRun> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::StartHandler { run, .. } => Some(*run),
            _ => None,
        })
        .collect()
}

#[test]
fn nothing_is_decided_without_a_handler() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"x");
    let rig = &mut post.rigs[1];
    rig.device.handle_handler_set(false);
    assert!(!rig.device.wants_receive_session());
    assert!(rig.deliver(&envelope).is_empty());
    assert!(rig.deliver(b"junk").is_empty());
    assert_eq!(rig.device.inbox_waiting(), 2);
    rig.device.handle_handler_set(true);
    assert_eq!(runs(&rig.drain()).len(), 1);
}

#[test]
fn a_handled_message_is_recorded_stored_and_acknowledged_in_one_step() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"x");
    let author = post.rigs[0].device.me().id;
    let rig = &mut post.rigs[1];
    let effects = rig.deliver(&envelope);
    assert!(
        acknowledged(&effects).is_empty(),
        "not before the handler is done"
    );
    assert!(rig.store.handled.is_empty());
    rig.device
        .handle_handler_outcome(runs(&effects)[0], Ok(()), rig.now_ms);
    let step = rig.take_step();
    assert_eq!(acknowledged(&step.effects).len(), 1);
    rig.store.commit(step.changes);
    assert_eq!((rig.store.handled.len(), rig.store.rows.len()), (1, 1));
    assert_eq!(rig.store.rows[&1].author, author);
}

#[test]
fn a_duplicate_is_acknowledged_in_silence() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"x");
    let rig = &mut post.rigs[1];
    rig.receive(&envelope);
    let effects = rig.deliver(&envelope);
    assert_eq!(effects.len(), 1);
    assert_eq!(acknowledged(&effects).len(), 1);
}

#[test]
fn a_duplicate_within_one_step_is_seen_too() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"x");
    let rig = &mut post.rigs[1];
    rig.device
        .handle_deliver(rig.session, 501, envelope.clone());
    rig.device.handle_deliver(rig.session, 502, envelope);
    let started = rig.drain();
    rig.device
        .handle_handler_outcome(runs(&started)[0], Ok(()), rig.now_ms);
    let effects = rig.drain();
    assert!(runs(&effects).is_empty());
    assert_eq!(acknowledged(&effects), vec![501, 502]);
}

#[test]
fn the_replay_window_ends_after_sixty_days_exactly() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let oldest = from_peer(&mut post, 1, now - REPLAY_WINDOW_MS, b"x");
    let older = from_peer(&mut post, 2, now - REPLAY_WINDOW_MS - 1, b"y");
    let future = from_peer(&mut post, 3, now + 365 * 24 * 3_600 * SECOND_MS, b"z");
    let rig = &mut post.rigs[1];
    rig.receive(&oldest);
    let expired = DeliveryIssue::Unreadable(Unreadable::Expired);
    assert_eq!(issues(&rig.receive(&older)), vec![expired]);
    rig.receive(&future);
    assert_eq!(rig.bodies(), vec![b"x".to_vec(), b"z".to_vec()]);
}

#[test]
fn no_copy_reaches_the_handler_after_its_record_is_gone() {
    for ahead_ms in [0, 10 * 24 * 3_600 * SECOND_MS] {
        let mut post = Post::group(2);
        let now = post.rigs[1].now_ms;
        let envelope = from_peer(&mut post, 1, now + ahead_ms, b"x");
        let rig = &mut post.rigs[1];
        rig.receive(&envelope);
        rig.advance(ahead_ms + REPLAY_WINDOW_MS);
        assert_eq!(rig.store.handled.len(), 1, "kept for the whole window");
        assert!(
            issues(&rig.receive(&envelope)).is_empty(),
            "still a duplicate"
        );
        rig.advance(3_600 * SECOND_MS);
        assert!(rig.store.handled.is_empty(), "and no longer");
        let expired = DeliveryIssue::Unreadable(Unreadable::Expired);
        assert_eq!(issues(&rig.receive(&envelope)), vec![expired]);
        assert_eq!(rig.store.rows.len(), 1);
    }
}

#[test]
fn a_failing_handler_is_tried_five_times_and_then_given_up() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"x");
    let rig = &mut post.rigs[1];
    let mut started = rig.deliver(&envelope);
    for delay_s in [1, 2, 4, 8] {
        let failure = Err(HandlerError::new("no"));
        rig.device
            .handle_handler_outcome(runs(&started)[0], failure, rig.now_ms);
        assert!(rig.drain().is_empty());
        assert_eq!(
            rig.device.next_wakeup().map(|at| at - rig.now_ms),
            Some(delay_s * SECOND_MS)
        );
        assert!(runs(&rig.advance(delay_s * SECOND_MS - 1)).is_empty());
        started = rig.advance(1);
        assert_eq!(runs(&started).len(), 1);
    }
    rig.device.handle_handler_outcome(
        runs(&started)[0],
        Err(HandlerError::new("at last")),
        rig.now_ms,
    );
    let effects = rig.drain();
    let raised = issues(&effects);
    assert!(matches!(
        &raised[..],
        [DeliveryIssue::HandlerGaveUp { error, .. }] if error.as_str() == "at last"
    ));
    assert_eq!(acknowledged(&effects).len(), 1);
    assert!(rig.store.rows.is_empty());
    // The id is recorded: a copy doesn't run the handler again.
    assert!(runs(&rig.deliver(&envelope)).is_empty());
}

#[test]
fn a_run_that_outlives_its_session_counts_and_its_blob_is_then_a_duplicate() {
    for is_reconnected_first in [false, true] {
        let mut post = Post::group(2);
        let now = post.rigs[1].now_ms;
        let one = from_peer(&mut post, 1, now, b"1");
        let two = from_peer(&mut post, 2, now, b"2");
        let rig = &mut post.rigs[1];
        let slow = runs(&rig.deliver(&one))[0];
        rig.deliver(&two);
        let ended = Connection::Disconnected(None);
        rig.device.handle_session_ended(rig.session, ended);
        let mut effects = rig.drain();
        if is_reconnected_first {
            effects.extend(rig.connect());
            // Nothing overtakes it.
            effects.extend(rig.deliver(&two));
        }
        rig.device.handle_handler_outcome(slow, Ok(()), rig.now_ms);
        let step = rig.take_step();
        effects.extend(step.effects);
        rig.store.commit(step.changes);
        assert!(acknowledged(&effects).is_empty());
        assert!(
            !effects
                .iter()
                .any(|effect| matches!(effect, Effect::AbandonHandler(_)))
        );
        assert_eq!(rig.bodies(), vec![b"1".to_vec()]);
        if !is_reconnected_first {
            rig.connect();
            rig.deliver(&two);
        }
        for run in 2..4 {
            rig.device
                .handle_handler_outcome(HandlerRun(run), Ok(()), rig.now_ms);
        }
        let mut again = rig.drain();
        again.extend(rig.deliver(&one));
        assert!(runs(&again).is_empty(), "it ran once");
        assert!(issues(&again).is_empty());
        assert_eq!(acknowledged(&again).len(), 2);
        assert_eq!(rig.bodies(), vec![b"1".to_vec(), b"2".to_vec()]);
    }
}

#[test]
fn a_run_that_hangs_is_abandoned_when_its_message_comes_again() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let one = from_peer(&mut post, 1, now, b"1");
    let two = from_peer(&mut post, 2, now, b"2");
    let rig = &mut post.rigs[1];
    let hanging = runs(&rig.deliver(&one))[0];
    rig.deliver(&two);
    let is_abandoned = |effects: &[Effect]| {
        let of_hanging =
            |effect: &Effect| matches!(effect, Effect::AbandonHandler(run) if *run == hanging);
        effects.iter().any(of_hanging)
    };
    assert!(!is_abandoned(&rig.connect()));
    // One that has to wait for it doesn't keep it from being found.
    assert!(runs(&rig.deliver(&of_version(9, 1))).is_empty());
    let effects = rig.deliver(&one);
    assert!(is_abandoned(&effects));
    let again = runs(&effects)[0];
    rig.device
        .handle_handler_outcome(hanging, Ok(()), rig.now_ms);
    assert!(
        rig.drain().is_empty(),
        "the result of an abandoned run counts for nothing"
    );
    rig.device.handle_handler_outcome(again, Ok(()), rig.now_ms);
    rig.drain();
    rig.receive(&two);
    assert_eq!(rig.bodies(), vec![b"1".to_vec(), b"2".to_vec()]);
}

#[test]
fn a_run_that_hangs_is_tried_again_when_its_blob_is_gone_from_the_relay() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let one = from_peer(&mut post, 1, now, b"1");
    let two = from_peer(&mut post, 2, now, b"2");
    let rig = &mut post.rigs[1];
    let mut hanging = runs(&rig.deliver(&one))[0];
    rig.connect();
    assert!(runs(&rig.deliver(&two)).is_empty());
    for attempt in 2..=HANDLER_ATTEMPTS_MAX {
        rig.advance(0);
        let effects = rig.advance(RUN_IN_THE_WAY_MS - 1);
        assert!(runs(&effects).is_empty(), "a slow one is waited for");
        let effects = rig.advance(1);
        let is_abandoned =
            |effect: &Effect| matches!(effect, Effect::AbandonHandler(run) if *run == hanging);
        assert!(effects.iter().any(is_abandoned), "attempt {attempt}");
        hanging = runs(&effects)[0];
    }
    let effects = rig.advance(RUN_IN_THE_WAY_MS);
    let codes: Vec<_> = issues(&effects).iter().map(|issue| issue.code()).collect();
    assert_eq!(
        codes,
        ["handlerGaveUp"],
        "nothing disappears without a notice"
    );
    let next = runs(&effects)[0];
    rig.device.handle_handler_outcome(next, Ok(()), rig.now_ms);
    rig.drain();
    assert_eq!(rig.bodies(), vec![b"2".to_vec()]);
}

#[test]
fn a_run_that_outlived_its_session_in_nobodys_way_is_left_alone() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let one = from_peer(&mut post, 1, now, b"1");
    let rig = &mut post.rigs[1];
    let slow = runs(&rig.deliver(&one))[0];
    rig.connect();
    for _ in 0..5 {
        assert!(runs(&rig.advance(RUN_IN_THE_WAY_MS)).is_empty());
    }
    rig.device.handle_handler_outcome(slow, Ok(()), rig.now_ms);
    rig.drain();
    assert_eq!(rig.bodies(), vec![b"1".to_vec()]);
}

#[test]
fn attempts_are_counted_over_the_end_of_a_session() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"1");
    let rig = &mut post.rigs[1];
    let mut effects = rig.deliver(&envelope);
    let mut attempts = 0;
    while let [run] = runs(&effects)[..] {
        attempts += 1;
        let failed = Err(HandlerError::new("no"));
        rig.device.handle_handler_outcome(run, failed, rig.now_ms);
        effects = rig.drain();
        rig.connect();
        effects.extend(rig.deliver(&envelope));
        effects.extend(rig.advance(10 * SECOND_MS));
    }
    assert_eq!(attempts, HANDLER_ATTEMPTS_MAX);
    // Given up, and the blob that came again is a duplicate.
    assert_eq!(acknowledged(&effects).len(), 2);
}

#[test]
fn a_run_without_a_handler_starts_with_the_next_one() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"1");
    let rig = &mut post.rigs[1];
    let lost = runs(&rig.deliver(&envelope))[0];
    rig.device.handle_handler_missing(lost);
    rig.device.handle_handler_set(false);
    assert!(runs(&rig.advance(SECOND_MS)).is_empty());
    rig.device.handle_handler_set(true);
    let again = runs(&rig.advance(0));
    rig.device
        .handle_handler_outcome(again[0], Ok(()), rig.now_ms);
    assert_eq!(acknowledged(&rig.drain()).len(), 1);
    assert_eq!(rig.bodies(), vec![b"1".to_vec()]);
}

#[test]
fn a_blob_of_another_session_is_dropped() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"x");
    let rig = &mut post.rigs[1];
    rig.device.handle_deliver(SessionId(99), 1, envelope);
    assert!(rig.drain().is_empty());
    assert_eq!(rig.device.inbox_waiting(), 0);
}

#[test]
fn what_cannot_be_looked_up_is_not_overtaken() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let one = from_peer(&mut post, 1, now, b"1");
    let rig = &mut post.rigs[1];
    rig.store.is_broken = true;
    let effects = rig.deliver(&one);
    assert!(matches!(effects[..], [Effect::RestartSession(session)] if session == rig.session));
    rig.store.is_broken = false;
    assert!(
        rig.deliver(&one).is_empty(),
        "nothing more is taken from that session"
    );
    rig.connect();
    rig.receive(&one);
    assert_eq!(rig.store.rows.len(), 1);
}

#[test]
fn what_is_no_message_for_this_device_is_malformed() {
    let mut post = Post::group(3);
    let now = post.rigs[1].now_ms;
    let good = from_peer(&mut post, 1, now, b"x");
    let mut flipped = good.clone();
    *flipped.last_mut().expect("not empty") ^= 1;
    let mut cut = good;
    cut.pop();
    let author = post.rigs[0].store.secrets.clone();
    let for_another = sealed(&author, &mut post.rigs[2], MessageTag::Sync, 2, now, b"y");
    let pair = sealed(
        &author,
        &mut post.rigs[1],
        MessageTag::Pair,
        3,
        now,
        b"short",
    );
    let manifest = sealed(
        &author,
        &mut post.rigs[1],
        MessageTag::GroupManifest,
        4,
        now,
        b"no",
    );
    let rig = &mut post.rigs[1];
    for envelope in [
        Vec::new(),
        b"junk".to_vec(),
        flipped,
        cut,
        for_another,
        pair,
        manifest,
    ] {
        let is_empty = envelope.is_empty();
        let effects = rig.deliver(&envelope);
        assert_eq!(acknowledged(&effects).len(), 1);
        let outdated = DeliveryIssue::Unreadable(Unreadable::SenderOutdated);
        // Nothing at all is a protobuf without a version.
        assert_eq!(
            issues(&effects),
            vec![if is_empty { outdated } else { MALFORMED }]
        );
    }
    assert!(rig.store.rows.is_empty());
    assert_eq!(
        rig.store.issues.len(),
        7,
        "each is recorded with its acknowledgement"
    );
}

#[test]
fn an_issue_is_recorded_in_the_step_that_acknowledges() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.handle_deliver(rig.session, 7, b"junk".to_vec());
    let step = rig.take_step();
    assert_eq!(step.changes.len(), 1);
    assert!(matches!(
        step.effects[..],
        [Effect::Raise(_), Effect::Acknowledge { blob: 7, .. }]
    ));
}

#[test]
fn an_older_version_is_dropped_and_named() {
    let mut post = Post::group(2);
    let outdated = DeliveryIssue::Unreadable(Unreadable::SenderOutdated);
    assert_eq!(
        issues(&post.rigs[1].deliver(&of_version(0, 1))),
        vec![outdated]
    );
}

#[test]
fn a_newer_version_is_held_once_through_sessions_and_restarts() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    let held = DeliveryIssue::HeldForUpgrade { version: 2 };
    let effects = rig.deliver(&of_version(2, 1));
    assert_eq!(issues(&effects), vec![held.clone()]);
    assert!(acknowledged(&effects).is_empty());
    rig.connect();
    assert!(
        issues(&rig.deliver(&of_version(2, 1))).is_empty(),
        "once per blob and run"
    );
    rig.restart();
    rig.connect();
    assert_eq!(issues(&rig.deliver(&of_version(2, 1))), vec![held]);
    assert_eq!((rig.store.held.len(), rig.store.issues.len()), (1, 1));
}

#[test]
fn a_version_is_raised_once_a_minute() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    assert_eq!(issues(&rig.deliver(&of_version(2, 1))).len(), 1);
    assert_eq!(issues(&rig.deliver(&of_version(2, 2))).len(), 0);
    assert_eq!(issues(&rig.deliver(&of_version(3, 3))).len(), 1);
    rig.advance(60 * SECOND_MS);
    assert_eq!(issues(&rig.deliver(&of_version(2, 4))).len(), 1);
}

#[test]
fn the_oldest_held_blob_gives_way_to_the_hundred_and_first() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    let most = u64::try_from(HELD_BLOBS_MAX).expect("a small number");
    let first = rig.device.inbox_waiting();
    assert_eq!(first, 0);
    for filler in 0..most {
        assert!(acknowledged(&rig.deliver(&of_version(2, filler))).is_empty());
    }
    let dropped = DeliveryIssue::Unreadable(Unreadable::DroppedWhileHeld);
    let effects = rig.deliver(&of_version(2, most));
    assert_eq!(issues(&effects), vec![dropped]);
    assert_eq!(acknowledged(&effects).len(), 1);
    assert_eq!(rig.store.held.len(), HELD_BLOBS_MAX);
    assert!(
        !rig.store.held.values().any(|row| row.order == 1),
        "the oldest went"
    );
}

#[test]
fn held_blobs_that_no_relay_can_have_any_more_do_not_count() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.deliver(&of_version(2, 1));
    rig.advance(RELAY_LIFE_MS_MAX);
    assert_eq!(rig.store.held.len(), 1);
    rig.advance(3_600 * SECOND_MS);
    assert!(rig.store.held.is_empty());
}

#[test]
fn a_stranger_and_an_own_copy_are_unauthorized() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let stranger = Rig::new(77, "stranger").store.secrets.clone();
    let own = post.rigs[1].store.secrets.clone();
    for author in [stranger, own] {
        let rig = &mut post.rigs[1];
        let envelope = sealed(&author, rig, MessageTag::Sync, 1, now, b"x");
        let effects = rig.deliver(&envelope);
        assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
        assert_eq!(acknowledged(&effects).len(), 1);
    }
}

#[test]
fn who_was_removed_is_not_heard_any_more() {
    let mut post = Post::group(3);
    let removed = post.rigs[2].store.secrets.clone();
    let id = post.rigs[2].device.me().id;
    let rig = &mut post.rigs[0];
    let now = rig.now_ms;
    let before = sealed(&removed, rig, MessageTag::Sync, 1, now, b"before");
    let after = sealed(&removed, rig, MessageTag::Sync, 2, now, b"after");
    assert!(issues(&rig.receive(&before)).is_empty());
    rig.device.handle_remove(&id, now).expect("a member");
    rig.drain();
    let effects = rig.receive(&after);
    assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
    assert_eq!(acknowledged(&effects).len(), 1);
    assert_eq!(rig.bodies(), vec![b"before".to_vec()]);
}

#[test]
fn a_device_without_a_group_takes_no_messages_and_ignores_a_revoke() {
    let mut post = Post::new(2);
    let author = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[1];
    let now = rig.now_ms;
    let sync = sealed(&author, rig, MessageTag::Sync, 1, now, b"x");
    assert_eq!(
        issues(&rig.deliver(&sync)),
        vec![DeliveryIssue::Unauthorized]
    );
    let revoke = sealed(&author, rig, MessageTag::Revoke, 2, now, b"");
    let effects = rig.deliver(&revoke);
    assert!(issues(&effects).is_empty());
    assert_eq!(acknowledged(&effects).len(), 1);
}

#[test]
fn a_body_that_cannot_be_decoded_is_kept_whole() {
    let mut post = Post::group(2);
    let body = vec![0xff; BODY_BYTES_MAX];
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, &body);
    let rig = &mut post.rigs[1];
    rig.receive(&envelope);
    assert_eq!(
        (rig.bodies(), rig.store.rows[&1].app_id),
        (vec![body], None)
    );
}

#[test]
fn a_handler_may_send() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let envelope = from_peer(&mut post, 1, now, b"x");
    let rig = &mut post.rigs[1];
    let run = runs(&rig.deliver(&envelope))[0];
    rig.device
        .handle_send(b"reply".to_vec(), rig.now_ms)
        .expect("a member");
    rig.device.handle_handler_outcome(run, Ok(()), rig.now_ms);
    rig.drain();
    assert_eq!(rig.bodies(), vec![b"reply".to_vec(), b"x".to_vec()]);
}

#[test]
fn a_bad_frame_is_reported() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.handle_bad_frame(rig.now_ms);
    assert_eq!(issues(&rig.drain()), vec![MALFORMED]);
}

#[test]
fn connection_changes_are_told_once() {
    let mut post = Post::group(2);
    post.take_events(1);
    let rig = &mut post.rigs[1];
    let connection = Connection::Connecting;
    rig.device.handle_connection(connection);
    rig.device.handle_connection(connection);
    let told = rig.drain();
    assert!(matches!(
        told[..],
        [Effect::Tell(Event::ConnectionChanged(_))]
    ));
}

#[test]
fn a_message_that_was_deleted_is_not_shown_again_when_it_is_sent_once_more() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let text = AppMessage::new(AppMessageKind::Text("hi".into()), &mut post.rigs[0].rng);
    let first = from_peer(&mut post, 1, now, &text.encode());
    let again = from_peer(&mut post, 2, now + 1, &text.encode());
    let fresh = AppMessage::new(AppMessageKind::Text("hi".into()), &mut post.rigs[0].rng);
    let other = from_peer(&mut post, 3, now + 2, &fresh.encode());
    let rig = &mut post.rigs[1];
    rig.receive(&first);
    let message = MessageHandle {
        position: 1,
        ids: vec![rig.store.rows[&1].id],
        body: text.encode(),
        failed: Vec::new(),
        has_left: false,
    };
    rig.device.handle_delete_message(message);
    rig.drain();
    assert!(rig.bodies().is_empty());
    // A restart knows it, too.
    rig.restart();
    rig.device.handle_handler_set(true);
    rig.connect();
    let effects = rig.deliver(&again);
    assert!(runs(&effects).is_empty());
    assert_eq!(acknowledged(&effects).len(), 1);
    assert!(issues(&effects).is_empty());
    rig.receive(&other);
    assert_eq!(rig.bodies(), [fresh.encode()]);
}
