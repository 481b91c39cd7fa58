//! What each side of a pairing is told at each point, and what is refused where.

use sealpost_protocol::frame::Refusal;
use sealpost_protocol::limit::{GROUP_MEMBERS_MAX, SEQUENCE_MAX};
use sealpost_protocol::pairing_words::compare_code;

use super::pairing::{ask, open_window, stranger};
use crate::core::error::{EngineError, StorageFault};
use crate::core::event::{AdmissionDropped, Event, JoinProgress, JoinRequestId};
use crate::core::issue::{DeliveryIssue, SendFailure};
use crate::core::rig::{Post, Rig, SECOND_MS, issues, pushes, words};
use crate::core::status::{Status, StatusReason};
use crate::core::step::{Effect, PushId, PushOutcome};

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
    rig.device.handle_confirm_words();
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
        // It can be given up, or replaced, which starts over.
        let token = open_window(&mut post.rigs[0]);
        let rig = &mut post.rigs[1];
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("another's token");
        assert_eq!(progress(rig), Some(JoinProgress::Queued));
        rig.device.handle_cancel_join();
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
        rig.device.handle_cancel_join();
        rig.drain();
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
    rig.device.handle_confirm_words();
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
    rig.device.handle_cancel_join();
    rig.drain();
    assert_eq!(rig.device.status(), Status::Member);
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
            rig.device.handle_cancel_join();
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

/// Lets strangers into the group of the first device until it has so many members.
fn fill(post: &mut Post, count: usize) {
    for number in 2..count {
        let rig = &mut post.rigs[0];
        let token = open_window(rig);
        let seed = 4_000 + u64::try_from(number).expect("a small number");
        let request = ask(rig, &token, &stranger(seed)).expect("new");
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("room");
        post.settle(0);
    }
}

#[test]
fn of_two_admissions_into_the_last_place_one_is_dropped_and_its_admitter_told() {
    let mut post = Post::group(2);
    fill(&mut post, GROUP_MEMBERS_MAX - 1);
    for seed in [60, 61] {
        let mut rig = Rig::new(seed, "joiner");
        rig.connect();
        post.rigs.push(rig);
        post.effects.push(Vec::new());
    }
    // Each admitter lets one in before it hears of the other.
    for (admitter, joiner) in [(0, 2), (1, 3)] {
        let token = open_window(&mut post.rigs[admitter]);
        let rig = &mut post.rigs[joiner];
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("another's token");
        post.settle(joiner);
        let rig = &mut post.rigs[admitter];
        let request = rig.device.pairing().window.expect("open").requests[0].id;
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("one place is left");
    }
    post.take_events(0);
    post.take_events(1);
    for _ in 0..20 {
        for index in 0..post.rigs.len() {
            let rig = &mut post.rigs[index];
            rig.now_ms += 60 * SECOND_MS;
            rig.device.handle_wakeup(rig.now_ms, &mut rig.rng);
            post.settle(index);
        }
    }
    let dropped: Vec<usize> = [0, 1]
        .into_iter()
        .flat_map(|admitter| {
            let events = post.take_events(admitter);
            let is_drop = |event: &Event| {
                matches!(
                    event,
                    Event::AdmissionDropped {
                        reason: AdmissionDropped::GroupFull,
                        ..
                    }
                )
            };
            let count = events.iter().filter(|event| is_drop(event)).count();
            std::iter::repeat_n(admitter, count)
        })
        .collect();
    assert_eq!(dropped.len(), 1, "told once, to one: {dropped:?}");
    let (kept, lost) = if dropped == [0] { (3, 2) } else { (2, 3) };
    let keys = |index: usize| post.rigs[index].device.keys().signing.member_id();
    for admitter in [0, 1] {
        let members = post.rigs[admitter].device.members();
        assert_eq!(members.len(), GROUP_MEMBERS_MAX - 1);
        assert!(members.iter().any(|member| member.id == keys(kept)));
        assert!(!members.iter().any(|member| member.id == keys(lost)));
    }
    assert_eq!(post.rigs[kept].device.status(), Status::Member);
    // It had been let in by its own admitter, so it hears that it is out again.
    assert_eq!(post.rigs[lost].device.status(), Status::NotJoined);
    let is_removal = |event: &Event| {
        let removed = Some(StatusReason::Removed);
        matches!(event, Event::StatusChanged { reason, .. } if *reason == removed)
    };
    assert!(post.take_events(lost).iter().any(is_removal));
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
