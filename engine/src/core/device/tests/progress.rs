//! How far a message is with each of its recipients is told as it happens.

use sealpost_protocol::frame::Refusal;
use sealpost_protocol::message_id::MessageId;

use crate::core::event::Event;
use crate::core::message::DeliveryState;
use crate::core::rig::{Post, Rig, pushes};
use crate::core::step::{Effect, PushId, PushOutcome};

const OTHERS: usize = 7;

/// The messages that were said to have changed, as often as it was said.
fn changed(effects: &[Effect]) -> Vec<MessageId> {
    let changed = |effect: &Effect| match effect {
        Effect::Tell(Event::MessageChanged { id }) => Some(*id),
        _ => None,
    };
    effects.iter().filter_map(changed).collect()
}

fn answer(rig: &mut Rig, push: PushId, outcome: PushOutcome) {
    let now_ms = rig.now_ms;
    rig.device
        .handle_push_outcome(push, outcome, now_ms, &mut rig.rng);
}

/// For how many recipients the relay has the message.
fn on_relay(rig: &Rig, id: MessageId) -> usize {
    let is_there = |state: &DeliveryState| matches!(state, DeliveryState::OnRelay { .. });
    let position = rig.store.position(&id).expect("it is in the history");
    let deliveries = rig.store.deliveries.iter();
    deliveries
        .filter(|((of, _), state)| *of == position && is_there(state))
        .count()
}

fn sent(rig: &mut Rig) -> (MessageId, Vec<Effect>) {
    let id = rig.device.handle_send(b"x".to_vec(), rig.now_ms).unwrap();
    (id, rig.drain())
}

#[test]
fn each_recipients_step_is_told_with_what_the_store_says_by_then() {
    let mut post = Post::group(1 + OTHERS);
    let rig = &mut post.rigs[0];
    let (id, effects) = sent(rig);
    assert_eq!(changed(&effects), [id], "it is being sent");
    let started: Vec<_> = pushes(&effects).iter().map(|push| push.id).collect();
    assert_eq!(started.len(), OTHERS);
    for (push, done) in started.iter().zip(1..) {
        answer(rig, *push, PushOutcome::Stored);
        assert_eq!(changed(&rig.drain()), [id]);
        assert_eq!(on_relay(rig, id), done);
    }
    assert!(
        changed(&rig.drain()).is_empty(),
        "nothing more happens to it"
    );
}

#[test]
fn steps_that_share_a_commit_are_told_once() {
    let mut post = Post::group(1 + OTHERS);
    let rig = &mut post.rigs[0];
    let (first, effects) = sent(rig);
    let started: Vec<_> = pushes(&effects).iter().map(|push| push.id).collect();
    let (second, effects) = sent(rig);
    assert_eq!(changed(&effects), [], "{second:?} waits behind the first");
    let outcomes = [
        PushOutcome::Stored,
        PushOutcome::Refused(Refusal::RateLimited),
        PushOutcome::Refused(Refusal::TooLarge),
        PushOutcome::Unanswered,
    ];
    for (push, outcome) in started.iter().zip(outcomes) {
        answer(rig, *push, outcome);
    }
    let told = changed(&rig.drain());
    let of_first = told.iter().filter(|id| **id == first).count();
    // Two recipients are done with the first, and the second is on its way to them.
    let of_second = told.iter().filter(|id| **id == second).count();
    assert_eq!((of_first, of_second, told.len()), (1, 1, 2));
}

#[test]
fn a_copy_that_goes_back_to_waiting_or_fails_is_told_too() {
    for outcome in [
        PushOutcome::Unanswered,
        PushOutcome::Refused(Refusal::InboxFull),
        PushOutcome::Refused(Refusal::Malformed),
    ] {
        let mut post = Post::group(2);
        let rig = &mut post.rigs[0];
        let (id, effects) = sent(rig);
        let push = pushes(&effects)[0].id;
        answer(rig, push, outcome);
        assert_eq!(changed(&rig.drain()), [id], "{outcome:?}");
    }
}
