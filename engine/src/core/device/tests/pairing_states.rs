//! What each side of a pairing is told at each point, and what is refused where.

use sealpost_protocol::frame::Refusal;
use sealpost_protocol::limit::SEQUENCE_MAX;
use sealpost_protocol::pairing_words::compare_code;

use super::pairing::{ask, open_window, say_same, stranger};
use crate::core::device::{Device, Settings};
use crate::core::error::{EngineError, StorageFault};
use crate::core::event::{Event, JoinProgress, JoinRequestId};
use crate::core::issue::{DeliveryIssue, SendFailure};
use crate::core::rig::{Post, Rig, SECOND_MS, issues, pushes, words};
use crate::core::status::Status;
use crate::core::step::{Change, Effect, PushId, PushOutcome};

fn progress(rig: &Rig) -> Option<JoinProgress> {
    rig.device.pairing().join.map(|join| join.progress)
}

fn is_told(effects: &[Effect]) -> bool {
    let is_change = |effect: &Effect| matches!(effect, Effect::Tell(Event::PairingChanged));
    effects.iter().any(is_change)
}

/// A joiner whose request is on its way, and the push that carries it.
fn asking() -> (Post, PushId) {
    let mut post = Post::new(2);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    assert_eq!(progress(rig), Some(JoinProgress::Queued));
    let effects = rig.drain();
    let push = pushes(&effects)[0].id;
    (post, push)
}

#[test]
fn a_joiner_is_told_what_it_waits_for() {
    let (mut post, push) = asking();
    let rig = &mut post.rigs[1];
    assert_eq!(progress(rig), Some(JoinProgress::Sending));
    // The relay isn't reached: it waits, and is tried again.
    let unanswered = PushOutcome::Unanswered;
    rig.device
        .handle_push_outcome(push, unanswered, rig.now_ms, &mut rig.rng);
    assert!(is_told(&rig.drain()));
    assert_eq!(progress(rig), Some(JoinProgress::Queued));
    rig.restart();
    rig.connect();
    let effects = rig.advance(2 * SECOND_MS);
    assert_eq!(progress(rig), Some(JoinProgress::Sending));
    // The restart has sealed it anew; whichever is in flight, its answer counts.
    let push = pushes(&effects).first().map_or(PushId(1), |push| push.id);
    let stored = PushOutcome::Stored;
    rig.device
        .handle_push_outcome(push, stored, rig.now_ms, &mut rig.rng);
    assert!(is_told(&rig.drain()));
    assert_eq!(progress(rig), Some(JoinProgress::OnRelay));
    assert!(!is_told(&rig.drain()), "told once");
    let effects = rig.restart();
    assert_eq!(progress(rig), Some(JoinProgress::OnRelay));
    assert!(pushes(&effects).is_empty(), "it isn't sent again");
}

#[test]
fn a_joiner_in_the_group_waits_for_the_words_alone() {
    let mut post = Post::new(2);
    post.pair(0, 1);
    assert_eq!(progress(&post.rigs[1]), Some(JoinProgress::Admitted));
    let rig = &mut post.rigs[1];
    rig.restart();
    assert_eq!(progress(rig), Some(JoinProgress::Admitted));
    say_same(rig);
    rig.drain();
    assert_eq!(progress(rig), None);
}

#[test]
fn a_request_that_the_relay_refuses_for_good_is_not_said_to_be_on_it() {
    for (refusal, failure) in [
        (Refusal::TooLarge, SendFailure::TooLarge),
        (Refusal::Malformed, SendFailure::Malformed),
    ] {
        let (mut post, push) = asking();
        let rig = &mut post.rigs[1];
        let refused = PushOutcome::Refused(refusal);
        rig.device
            .handle_push_outcome(push, refused, rig.now_ms, &mut rig.rng);
        let effects = rig.drain();
        assert!(is_told(&effects));
        assert_eq!(progress(rig), Some(JoinProgress::Refused));
        assert!(issues(&effects).iter().any(|issue| matches!(
            issue,
            DeliveryIssue::SendFailed { failure: of, .. } if *of == failure
        )));
        // Also once the issue is dismissed, after a restart, and where the machine was built
        // anew.
        rig.store.issues.clear();
        rig.restart();
        assert_eq!(progress(rig), Some(JoinProgress::Refused));
        let snapshot = rig.store.snapshot();
        let anew = Device::restore(snapshot, Settings::default(), rig.now_ms);
        let mut last = std::mem::replace(&mut rig.device, anew.expect("it is consistent"));
        rig.device.take_over(&mut last);
        assert_eq!(progress(rig), Some(JoinProgress::Refused));
        // It can be given up, or replaced, which starts over.
        let token = open_window(&mut post.rigs[0]);
        let rig = &mut post.rigs[1];
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("another's token");
        assert_eq!(progress(rig), Some(JoinProgress::Queued));
        rig.device.handle_cancel_join(&mut rig.rng);
        rig.drain();
        assert_eq!(rig.device.status(), Status::NotJoined);
    }
}

#[test]
fn a_temporary_refusal_is_tried_again_and_nobody_is_told_of_a_failure() {
    for refusal in [
        Refusal::InboxFull,
        Refusal::RateLimited,
        Refusal::Unavailable,
        Refusal::InternalError,
    ] {
        let (mut post, push) = asking();
        let rig = &mut post.rigs[1];
        let refused = PushOutcome::Refused(refusal);
        rig.device
            .handle_push_outcome(push, refused, rig.now_ms, &mut rig.rng);
        assert!(issues(&rig.drain()).is_empty());
        assert_eq!(progress(rig), Some(JoinProgress::Queued));
    }
}

#[test]
fn a_join_can_be_cancelled_at_any_time() {
    let cancel = |rig: &mut Rig| {
        rig.device.handle_cancel_join(&mut rig.rng);
        rig.drain();
        rig.connect();
        assert_eq!(rig.device.status(), Status::NotJoined);
        assert!(rig.store.entries.is_empty() && rig.store.join.is_none());
        assert!(rig.device.pairing().join.is_none());
    };
    // Before it was pushed, while it is, on the relay, with the words said to be the same.
    let (mut post, _) = asking();
    cancel(&mut post.rigs[1]);
    let (mut post, push) = asking();
    let rig = &mut post.rigs[1];
    let stored = PushOutcome::Stored;
    rig.device
        .handle_push_outcome(push, stored, rig.now_ms, &mut rig.rng);
    say_same(rig);
    rig.drain();
    cancel(rig);
    // The admitter may accept all the same: the manifest then finds nobody who waits.
    let envelope = {
        let joiner = post.rigs[1].store.secrets.clone();
        let admitter = &mut post.rigs[0];
        let token = admitter.device.pairing().window.expect("open").token;
        let request = ask(admitter, &token, &joiner).expect("new");
        admitter
            .device
            .handle_accept(request, admitter.now_ms, &mut admitter.rng)
            .expect("open");
        pushes(&admitter.drain())[0].envelope.clone()
    };
    let rig = &mut post.rigs[1];
    assert_eq!(
        issues(&rig.deliver(&envelope)),
        vec![DeliveryIssue::Unauthorized]
    );
    assert_eq!(rig.device.status(), Status::NotJoined);
    // In the group it is no longer a join, and leaving is the way out.
    let mut post = Post::new(2);
    post.pair(0, 1);
    let rig = &mut post.rigs[1];
    rig.device.handle_cancel_join(&mut rig.rng);
    rig.drain();
    assert_eq!(rig.device.status(), Status::Member);
}

#[test]
fn a_cancelled_join_leaves_keys_that_nobody_asks_with_again() {
    // On the relay, accepted in vain, and the ghost removed: the group remembers its keys.
    let give_up: [fn(&mut Rig); 2] = [
        |rig| rig.device.handle_cancel_join(&mut rig.rng),
        |rig| {
            let refused = rig.device.handle_refuse_words(rig.now_ms, &mut rig.rng);
            refused.expect("it may");
        },
    ];
    for give_up in give_up {
        let mut post = Post::group(2);
        let mut rig = Rig::new(60, "third");
        rig.connect();
        post.rigs.push(rig);
        post.effects.push(Vec::new());
        let token = open_window(&mut post.rigs[0]);
        let rig = &mut post.rigs[2];
        let before = rig.device.keys();
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("another's token");
        post.settle(2);
        give_up(&mut post.rigs[2]);
        post.settle(2);
        assert_ne!(post.rigs[2].device.keys(), before);
        assert_eq!(
            post.rigs[2].store.secrets.keys(),
            post.rigs[2].device.keys()
        );
        let rig = &mut post.rigs[0];
        let request = rig.device.pairing().window.expect("open").requests[0].id;
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("open");
        post.settle(0);
        let ghost = before.signing.member_id();
        let rig = &mut post.rigs[0];
        rig.device
            .handle_remove(&ghost, rig.now_ms)
            .expect("it may");
        post.settle(0);
        assert_eq!(post.rigs[2].device.status(), Status::NotJoined);
        post.pair(0, 2);
        assert_eq!(post.rigs[2].device.status(), Status::Member);
        assert_eq!(post.rigs[2].device.members().len(), 2);
    }
}

#[test]
fn joining_and_giving_up_in_one_step_ends_with_one_fresh_identity() {
    let mut rig = Rig::new(60, "third");
    let token = open_window(&mut Rig::new(51, "another"));
    rig.connect();
    for _ in 0..2 {
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("another's token");
        rig.device.handle_cancel_join(&mut rig.rng);
    }
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    let step = rig.take_step();
    let is_identity = |change: &&Change| matches!(change, Change::IdentityReplaced(_));
    assert_eq!(step.changes.iter().filter(is_identity).count(), 1);
    assert!(step.restarts_identity());
    rig.store.commit(step.changes);
    assert_eq!(rig.store.secrets.keys(), rig.device.keys());
    assert_eq!(rig.store.entries.len(), 1);
    let keys = rig.device.keys();
    rig.restart();
    assert_eq!(
        (rig.device.keys(), rig.device.status()),
        (keys, Status::PendingJoin)
    );
}

#[test]
fn keys_that_a_group_removed_are_refused_as_such() {
    let mut post = Post::group(3);
    let gone = post.rigs[2].store.secrets.clone();
    let rig = &mut post.rigs[0];
    let id = gone.keys().signing.member_id();
    rig.device.handle_remove(&id, rig.now_ms).expect("it may");
    rig.drain();
    let token = open_window(rig);
    let request = ask(rig, &token, &gone).expect("new");
    assert_eq!(
        rig.device.handle_accept(request, rig.now_ms, &mut rig.rng),
        Err(EngineError::RemovedBefore)
    );
    assert!(
        rig.device.pairing().window.is_some(),
        "an error changes nothing"
    );
}

/// Accepts, and builds the machine anew before or after that is written.
fn accept_and_rebuild(rig: &mut Rig, request: JoinRequestId, is_written: bool) {
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    let step = rig.take_step();
    if is_written {
        rig.store.commit(step.changes);
    }
    let anew = Device::restore(rig.store.snapshot(), Settings::default(), rig.now_ms);
    let mut last = std::mem::replace(&mut rig.device, anew.expect("it is consistent"));
    rig.device.take_over(&mut last);
    rig.connect();
}

#[test]
fn an_acceptance_that_is_not_written_leaves_its_window_open() {
    let mut alone = Rig::new(50, "alone");
    alone.connect();
    for mut rig in [alone, Post::group(2).rigs.remove(0)] {
        let token = open_window(&mut rig);
        let request = ask(&mut rig, &token, &stranger(9)).expect("new");
        let members = rig.device.members();
        for _ in 0..2 {
            accept_and_rebuild(&mut rig, request, false);
            let window = rig.device.pairing().window.expect("open again");
            assert!(window.token == token && window.requests[0].id == request);
            assert_eq!(rig.device.members(), members);
        }
        accept_and_rebuild(&mut rig, request, true);
        assert!(rig.device.pairing().window.is_none());
        assert_eq!(rig.device.members().len(), members.len() + 1);
        // Long written, and who was let in is gone again: it stays closed.
        let id = stranger(9).keys().signing.member_id();
        rig.device.handle_remove(&id, rig.now_ms).expect("it may");
        rig.drain();
        let anew = Device::restore(rig.store.snapshot(), Settings::default(), rig.now_ms);
        let mut last = std::mem::replace(&mut rig.device, anew.expect("it is consistent"));
        rig.device.take_over(&mut last);
        assert!(rig.device.pairing().window.is_none());
    }
}

/// A device in each status, by how it gets there.
fn in_status(status: Status) -> Rig {
    let mut post = Post::group(2);
    let mut rig = post.rigs.remove(1);
    match status {
        Status::Member => {}
        Status::Leaving => {
            rig.device.handle_leave(rig.now_ms).expect("it may");
            rig.drain();
        }
        Status::Destroying => {
            rig.device.handle_destroy(rig.now_ms).expect("it may");
            rig.drain();
        }
        Status::NotJoined | Status::PendingJoin => {
            rig = Rig::new(50, "alone");
            rig.connect();
            if status == Status::PendingJoin {
                let token = open_window(&mut Rig::new(51, "another"));
                rig.device
                    .handle_join(&token, rig.now_ms)
                    .expect("another's token");
                rig.drain();
            }
        }
    }
    assert_eq!(rig.device.status(), status);
    rig
}

#[test]
fn every_call_of_pairing_is_refused_where_the_specification_says() {
    let token = open_window(&mut Rig::new(52, "yet another"));
    for status in [
        Status::NotJoined,
        Status::PendingJoin,
        Status::Member,
        Status::Leaving,
        Status::Destroying,
    ] {
        let may_open = matches!(status, Status::NotJoined | Status::Member);
        let mut rig = in_status(status);
        let opened = rig.device.handle_start_pairing(rig.now_ms, &mut rig.rng);
        let expected = (!may_open).then_some(EngineError::NotMember { status });
        assert_eq!(opened.err(), expected, "startPairing in {status:?}");

        let mut rig = in_status(status);
        let may_join = matches!(status, Status::NotJoined | Status::PendingJoin);
        let joined = rig.device.handle_join(&token, rig.now_ms);
        let expected = (!may_join).then_some(EngineError::AlreadyInGroup);
        assert_eq!(joined.err(), expected, "join in {status:?}");

        let mut rig = in_status(status);
        let accepted = rig
            .device
            .handle_accept(JoinRequestId(1), rig.now_ms, &mut rig.rng);
        assert_eq!(accepted, Err(EngineError::PairingClosed), "{status:?}");
        // No error, and nothing to do.
        rig.device.handle_cancel_pairing();
        rig.device.handle_dismiss(JoinRequestId(1));
        assert!(rig.drain().is_empty(), "cancelPairing in {status:?}");
        if status != Status::PendingJoin {
            rig.device.handle_cancel_join(&mut rig.rng);
            rig.device.handle_confirm_words();
            assert!(rig.drain().is_empty(), "cancelJoin in {status:?}");
        }
    }
}

#[test]
fn a_group_that_ends_closes_the_window_and_refuses_its_requests() {
    for end in [
        (|rig: &mut Rig| rig.device.handle_leave(rig.now_ms)) as fn(&mut Rig) -> _,
        |rig| rig.device.handle_destroy(rig.now_ms),
    ] {
        let mut post = Post::group(2);
        let rig = &mut post.rigs[0];
        let token = open_window(rig);
        let request = ask(rig, &token, &stranger(9)).expect("new");
        end(rig).expect("it may");
        assert!(is_told(&rig.drain()));
        assert!(rig.device.pairing().window.is_none());
        assert_eq!(
            rig.device.handle_accept(request, rig.now_ms, &mut rig.rng),
            Err(EngineError::PairingClosed)
        );
        let before = rig.store.issues.len();
        assert_eq!(ask(rig, &token, &stranger(10)), None);
        assert_eq!(rig.store.issues.len(), before + 1);
    }
}

#[test]
fn a_dismissed_device_may_ask_again_with_a_new_code() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let joiner = stranger(9);
    let request = ask(&mut rig, &token, &joiner).expect("new");
    rig.device.handle_dismiss(request);
    rig.drain();
    // Also after it was restarted or has asked afresh: the same keys, the same code.
    for _ in 0..3 {
        assert_eq!(ask(&mut rig, &token, &joiner), None);
    }
    assert!(rig.store.issues.is_empty(), "it is no offence");
    let second = open_window(&mut rig);
    let request = ask(&mut rig, &second, &joiner).expect("it may again");
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    rig.drain();
    assert_eq!(rig.device.members().len(), 1);
}

#[test]
fn words_that_come_after_the_answer_show_nothing() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let request = ask(&mut rig, &token, &stranger(9)).expect("new");
    rig.device.handle_dismiss(request);
    rig.drain();
    let target = crate::core::step::WordsTarget::Request(request);
    rig.device.handle_words(target, words());
    assert!(rig.drain().is_empty());
    rig.device.handle_cancel_pairing();
    rig.drain();
    rig.device.handle_words(target, words());
    assert!(rig.drain().is_empty());
}

#[test]
fn members_compare_a_code_at_any_time() {
    let mut post = Post::group(3);
    let code = |from: usize, to: usize, post: &Post| {
        let other = post.rigs[to].device.me();
        let found = post.rigs[from].device.members();
        let listed = found.iter().find(|member| member.id == other.id);
        let keys = listed.expect("a member").keys;
        compare_code(&post.rigs[from].device.keys(), &keys)
    };
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        assert_eq!(code(one, other, &post), code(other, one, &post));
    }
    assert_ne!(code(0, 1, &post), code(0, 2, &post));
    let before = code(0, 1, &post);
    post.rigs[0].advance(90 * 24 * 3_600 * SECOND_MS);
    post.rigs[0].restart();
    assert_eq!(code(0, 1, &post), before);
}

#[test]
fn a_device_that_has_used_up_its_numbers_neither_asks_nor_admits() {
    let exhausted = EngineError::Storage(StorageFault::SequenceExhausted);
    let mut rig = Rig::new(1, "device");
    rig.store.sequence = SEQUENCE_MAX;
    rig.restart();
    rig.connect();
    let theirs = open_window(&mut Rig::new(52, "another"));
    assert_eq!(rig.device.handle_join(&theirs, rig.now_ms), Err(exhausted));
    assert_eq!(rig.device.status(), Status::NotJoined);
    let token = open_window(&mut rig);
    let request = ask(&mut rig, &token, &stranger(9)).expect("new");
    assert_eq!(
        rig.device.handle_accept(request, rig.now_ms, &mut rig.rng),
        Err(exhausted)
    );
    assert!(rig.drain().is_empty() && rig.store.membership.is_none());
    assert!(
        rig.device.pairing().window.is_some(),
        "an error changes nothing"
    );
}
