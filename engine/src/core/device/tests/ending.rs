use std::collections::BTreeSet;

use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::DeviceSecrets;

use crate::core::device::Device;
use crate::core::error::EngineError;
use crate::core::event::Event;
use crate::core::issue::DeliveryIssue;
use crate::core::membership::IssueError;
use crate::core::message::DeliveryState;
use crate::core::rig::{Post, Rig, acknowledged, issues, pushes};
use crate::core::status::{Ending, Phase, Status, StatusReason};
use crate::core::step::{Change, Effect, OutboxKind, PushOutcome};
use crate::core::timing::COPIES_REMOVED_AT_ONCE_MAX;

pub(super) fn revoke(author: &DeviceSecrets, to: &mut Rig) -> Vec<u8> {
    let recipient = to.noise();
    let sealing = Sealing {
        author: &author.signing,
        recipient: &recipient,
        sequence: 1,
        timestamp_ms: to.now_ms,
        tag: MessageTag::Revoke,
        body: &[],
    };
    seal(&sealing, &mut to.rng).expect("it can be sealed")
}

fn last_status(post: &mut Post, index: usize) -> Option<(Status, Option<StatusReason>)> {
    post.take_events(index)
        .into_iter()
        .filter_map(|event| match event {
            Event::StatusChanged { status, reason } => Some((status, reason)),
            _ => None,
        })
        .next_back()
}

/// The device is where it began, under another identity, with its history.
fn assert_wiped(rig: &Rig, before: &DeviceSecrets) {
    assert_eq!(rig.device.status(), Status::NotJoined);
    assert_eq!(rig.store.phase, Phase::NotJoined);
    assert!(rig.store.membership.is_none() && rig.store.bodies.is_empty());
    assert!(rig.store.entries.is_empty() && rig.store.handled.is_empty());
    assert!(rig.store.secrets.keys() != before.keys());
    assert_eq!(rig.store.secrets.keys(), rig.device.keys());
}

#[test]
fn a_removed_device_is_wiped_and_keeps_its_history() {
    let mut post = Post::group(3);
    let before = post.rigs[2].store.secrets.clone();
    let rig = &mut post.rigs[2];
    rig.device
        .handle_send(b"mine".to_vec(), rig.now_ms)
        .expect("a member");
    post.settle(2);
    let target = post.rigs[2].device.me().id;
    let rig = &mut post.rigs[0];
    rig.device
        .handle_remove(&target, rig.now_ms)
        .expect("a member");
    post.settle(0);
    assert_wiped(&post.rigs[2], &before);
    assert_eq!(post.rigs[2].bodies(), vec![b"mine".to_vec()]);
    assert_eq!(
        last_status(&mut post, 2),
        Some((Status::NotJoined, Some(StatusReason::Removed)))
    );
    for index in 0..2 {
        assert_eq!(post.rigs[index].device.members().len(), 1);
    }
}

#[test]
fn a_wiped_device_can_pair_again() {
    let mut post = Post::group(2);
    let target = post.rigs[1].device.me().id;
    let rig = &mut post.rigs[0];
    rig.device
        .handle_remove(&target, rig.now_ms)
        .expect("a member");
    post.settle(0);
    post.pair(0, 1);
    assert_eq!(post.rigs[1].device.status(), Status::Member);
}

#[test]
fn nothing_more_is_sent_to_a_removed_device() {
    let mut post = Post::group(3);
    let target = post.rigs[2].device.me();
    let rig = &mut post.rigs[0];
    // Two messages: one in flight to it, one behind.
    let flying = rig
        .device
        .handle_send(b"1".to_vec(), rig.now_ms)
        .expect("a member");
    let waiting = rig
        .device
        .handle_send(b"2".to_vec(), rig.now_ms)
        .expect("a member");
    let effects = rig.drain();
    let push = pushes(&effects)
        .into_iter()
        .find(|push| push.recipient == target.keys.noise)
        .expect("one is in flight")
        .id;
    rig.device
        .handle_remove(&target.id, rig.now_ms)
        .expect("a member");
    let effects = rig.drain();
    assert!(issues(&effects).is_empty(), "in silence");
    let state = |rig: &Rig, id| {
        let state = rig.store.delivery(&id, &target.id);
        state.expect("it went there")
    };
    assert_eq!(state(rig, waiting), DeliveryState::Withdrawn);
    assert_eq!(state(rig, flying), DeliveryState::Withdrawn);
    // Its answer says that it was too late to take it back.
    rig.device
        .handle_push_outcome(push, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    let effects = rig.drain();
    assert!(matches!(state(rig, flying), DeliveryState::OnRelay { .. }));
    assert_eq!(pushes(&effects).len(), 1, "only the removal itself");
}

#[test]
fn removing_needs_a_member_and_another_one() {
    let mut post = Post::group(2);
    let me = post.rigs[0].device.me().id;
    let stranger = Rig::new(70, "stranger").device.me().id;
    let rig = &mut post.rigs[0];
    for id in [&me, &stranger] {
        assert_eq!(
            rig.device.handle_remove(id, rig.now_ms),
            Err(EngineError::MemberNotFound)
        );
    }
    assert!(rig.take_step().is_empty());
    let mut alone = Rig::new(71, "alone");
    assert_eq!(
        alone.device.handle_remove(&me, alone.now_ms),
        Err(EngineError::NotMember {
            status: Status::NotJoined
        })
    );
}

#[test]
fn leaving_waits_for_its_manifests_and_resumes_after_a_crash() {
    let mut post = Post::group(3);
    let before = post.rigs[1].store.secrets.clone();
    let rig = &mut post.rigs[1];
    rig.device
        .handle_send(b"late".to_vec(), rig.now_ms)
        .expect("a member");
    rig.device.handle_leave(rig.now_ms).expect("a member");
    let effects = rig.drain();
    assert_eq!(rig.device.status(), Status::Leaving);
    assert_eq!(pushes(&effects).len(), 2, "manifests, and no Sync");
    assert!(
        rig.store
            .deliveries
            .values()
            .all(|state| *state == DeliveryState::Withdrawn)
    );
    assert_eq!(
        rig.device.handle_send(b"no".to_vec(), rig.now_ms),
        Err(EngineError::NotMember {
            status: Status::Leaving
        })
    );
    rig.device.handle_leave(rig.now_ms).expect("does nothing");
    let effects = rig.restart();
    assert_eq!(rig.device.status(), Status::Leaving);
    assert!(rig.device.wants_receive_session(), "without a handler");
    let ids: Vec<_> = pushes(&effects).iter().map(|push| push.id).collect();
    assert_eq!(ids.len(), 2);
    rig.device
        .handle_push_outcome(ids[0], PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    rig.drain();
    assert_eq!(rig.device.status(), Status::Leaving);
    rig.device
        .handle_push_outcome(ids[1], PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    let step = rig.take_step();
    assert!(
        matches!(step.changes.last(), Some(Change::IdentityReplaced(_))),
        "identity last"
    );
    assert!(matches!(step.effects.last(), Some(Effect::RestartIdentity)));
    rig.store.commit(step.changes);
    assert_wiped(rig, &before);
}

#[test]
fn the_others_hear_of_a_leave() {
    let mut post = Post::group(3);
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    post.settle(1);
    assert_eq!(
        last_status(&mut post, 1),
        Some((Status::NotJoined, Some(StatusReason::Left)))
    );
    for index in [0, 2] {
        assert_eq!(post.rigs[index].device.members().len(), 1);
    }
}

#[test]
fn a_sole_member_leaves_at_once() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    post.settle(1);
    let before = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[0];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    rig.drain();
    assert_wiped(rig, &before);
}

#[test]
fn a_leaving_device_discards_messages_and_ends_its_handler_run() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.device
        .handle_send(b"1".to_vec(), rig.now_ms)
        .expect("a member");
    let effects = rig.drain();
    let envelope = pushes(&effects)[0].envelope.clone();
    let rig = &mut post.rigs[1];
    rig.deliver(&envelope);
    rig.device.handle_leave(rig.now_ms).expect("a member");
    let effects = rig.drain();
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::AbandonHandler(_)))
    );
    assert_eq!(acknowledged(&effects).len(), 1);
    let effects = rig.deliver(&envelope);
    assert!(issues(&effects).is_empty());
    assert_eq!(acknowledged(&effects).len(), 1);
    assert!(rig.store.rows.is_empty());
}

#[test]
fn destroying_reaches_everybody_and_ends_with_new_identities() {
    let mut post = Post::group(3);
    let before: Vec<_> = post
        .rigs
        .iter()
        .map(|rig| rig.store.secrets.clone())
        .collect();
    let rig = &mut post.rigs[1];
    rig.device.handle_destroy(rig.now_ms).expect("a member");
    post.settle(1);
    for (index, before) in before.iter().enumerate() {
        assert_wiped(&post.rigs[index], before);
        assert_eq!(
            last_status(&mut post, index),
            Some((Status::NotJoined, Some(StatusReason::Destroyed)))
        );
    }
}

#[test]
fn a_revoke_is_forwarded_to_everybody_but_its_author() {
    let mut post = Post::group(4);
    let author = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[1];
    let envelope = revoke(&author, rig);
    rig.device.handle_deliver(rig.session, 1, envelope.clone());
    let step = rig.take_step();
    assert!(
        step.changes
            .iter()
            .any(|change| matches!(change, Change::PhaseSaved(Phase::Ending(Ending::Destroyed))))
    );
    assert_eq!(
        acknowledged(&step.effects),
        vec![1],
        "after the commit of the same step"
    );
    assert_eq!(pushes(&step.effects).len(), 2);
    assert!(
        pushes(&step.effects)
            .iter()
            .all(|push| push.recipient != author.keys().noise)
    );
    rig.store.commit(step.changes);
    let effects = rig.deliver(&envelope);
    assert!(pushes(&effects).is_empty(), "forwarded once");
    assert!(issues(&effects).is_empty());
}

#[test]
fn a_former_member_may_revoke_and_a_stranger_may_not() {
    let mut post = Post::group(3);
    let former = post.rigs[2].store.secrets.clone();
    let target = post.rigs[2].device.me().id;
    let rig = &mut post.rigs[0];
    rig.device
        .handle_remove(&target, rig.now_ms)
        .expect("a member");
    post.settle(0);
    let stranger = Rig::new(72, "stranger").store.secrets.clone();
    let rig = &mut post.rigs[1];
    let envelope = revoke(&stranger, rig);
    assert_eq!(
        issues(&rig.deliver(&envelope)),
        vec![DeliveryIssue::Unauthorized]
    );
    assert_eq!(rig.device.status(), Status::Member);
    let envelope = revoke(&former, rig);
    rig.deliver(&envelope);
    assert_eq!(rig.device.status(), Status::Destroying);
}

#[test]
fn destroying_replaces_leaving() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    rig.drain();
    rig.device.handle_destroy(rig.now_ms).expect("leaving");
    rig.drain();
    assert_eq!(rig.device.status(), Status::Destroying);
    assert_eq!(
        rig.device.handle_leave(rig.now_ms),
        Err(EngineError::NotMember {
            status: Status::Destroying
        })
    );
}

#[test]
fn a_device_without_a_group_destroys_nothing() {
    let mut rig = Rig::new(73, "alone");
    let none = EngineError::NotMember {
        status: Status::NotJoined,
    };
    assert_eq!(rig.device.handle_destroy(rig.now_ms), Err(none));
    assert_eq!(rig.device.handle_leave(rig.now_ms), Err(none));
    assert_eq!(rig.device.handle_forget(), Err(none));
}

#[test]
fn a_group_whose_relay_is_gone_can_be_forgotten_once_it_ends() {
    let mut post = Post::group(2);
    let before = post.rigs[1].store.secrets.clone();
    let rig = &mut post.rigs[1];
    assert_eq!(
        rig.device.handle_forget(),
        Err(EngineError::NotMember {
            status: Status::Member
        })
    );
    rig.device.handle_destroy(rig.now_ms).expect("a member");
    rig.drain();
    rig.device.handle_forget().expect("it ends");
    rig.drain();
    assert_wiped(rig, &before);
}

#[test]
fn a_permanently_refused_control_message_does_not_hold_up_the_end() {
    let mut post = Post::group(2);
    let before = post.rigs[1].store.secrets.clone();
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    let push = pushes(&rig.drain())[0].id;
    let refused = PushOutcome::Refused(sealpost_protocol::frame::Refusal::Malformed);
    rig.device
        .handle_push_outcome(push, refused, rig.now_ms, &mut rig.rng);
    let effects = rig.drain();
    assert!(matches!(
        issues(&effects)[..],
        [DeliveryIssue::SendFailed { .. }]
    ));
    assert_wiped(rig, &before);
}

#[test]
fn a_crash_before_the_wipe_commits_repeats_it() {
    let mut post = Post::group(2);
    let before = post.rigs[1].store.secrets.clone();
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    let push = pushes(&rig.drain())[0].id;
    rig.device
        .handle_push_outcome(push, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    drop(rig.take_step());
    let effects = rig.restart();
    assert_eq!(rig.device.status(), Status::Leaving);
    let push = pushes(&effects)[0].id;
    rig.device
        .handle_push_outcome(push, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    rig.drain();
    assert_wiped(rig, &before);
}

#[test]
fn a_leave_that_was_wanted_too_early_follows_the_next_manifest() {
    let mut post = Post::group(2);
    post.rigs[1].device.want_leave(true);
    post.rigs[1].drain();
    let mut third = Rig::new(60, "third");
    third.connect();
    post.rigs.push(third);
    post.effects.push(Vec::new());
    assert_eq!(post.rigs[1].device.status(), Status::Member);
    post.pair(0, 2);
    assert_eq!(post.rigs[1].device.status(), Status::NotJoined);
    assert!(!post.rigs[1].store.wants_leave);
    let me = post.rigs[2].device.me().id;
    let others = post.rigs[0].device.members();
    assert_eq!(others.len(), 1);
    assert_eq!(others[0].id, me);
}

#[test]
fn a_wish_to_leave_outlives_the_program() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.want_leave(true);
    rig.drain();
    assert_eq!(rig.device.status(), Status::Member);
    // By now it can be.
    rig.restart();
    rig.connect();
    assert_eq!(rig.device.status(), Status::Leaving);
    assert!(!rig.store.wants_leave);
    // It goes with its group, however that ends.
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    rig.device.want_leave(true);
    rig.drain();
    rig.device.handle_destroy(rig.now_ms).expect("a member");
    post.settle(0);
    assert_eq!(post.rigs[0].device.status(), Status::NotJoined);
    assert!(!post.rigs[0].store.wants_leave);
}

#[test]
fn every_reason_against_a_manifest_has_a_code_of_its_own() {
    let errors = [
        IssueError::NotListed,
        IssueError::NoParent,
        IssueError::GroupFull { max: 32 },
        IssueError::TombsFull { max: 4_096 },
        IssueError::MemberUnknown,
        IssueError::VersionExhausted,
        IssueError::RemovedBefore,
    ];
    let codes: BTreeSet<_> = errors
        .iter()
        .map(|error| Device::refusal_of(error).code())
        .collect();
    assert_eq!(codes.len(), errors.len());
    assert!(!codes.contains("notMember"), "it is one");
}

/// More copies than one step takes back, for the other of two.
fn with_many_copies(rig: &mut Rig) -> usize {
    let many = 2 * COPIES_REMOVED_AT_ONCE_MAX + 5;
    for number in 0..many {
        let text = number.to_string().into_bytes();
        rig.device.handle_send(text, rig.now_ms).expect("a member");
    }
    rig.drain();
    many
}

/// The copies of the app's messages that wait.
fn waiting(rig: &Rig) -> usize {
    let bodies = rig.store.bodies.values();
    let is_sync = |kind: OutboxKind| matches!(kind, OutboxKind::Sync { .. });
    bodies.filter(|(message, _)| is_sync(message.kind)).count()
}

#[test]
fn many_copies_are_taken_back_step_by_step_and_none_goes_out_meanwhile() {
    let ends: [fn(&mut Rig); 3] = [
        |rig| {
            let peer = rig.device.members().remove(0).id;
            rig.device
                .handle_remove(&peer, rig.now_ms)
                .expect("a member");
        },
        |rig| rig.device.handle_leave(rig.now_ms).expect("a member"),
        |rig| rig.device.handle_destroy(rig.now_ms).expect("a member"),
    ];
    for stops in [false, true] {
        for end in ends {
            let mut post = Post::group(2);
            let rig = &mut post.rigs[0];
            let many = with_many_copies(rig);
            end(rig);
            let mut left = many;
            while left > 0 {
                let effects = if stops && left < many {
                    let mut effects = rig.restart();
                    effects.extend(rig.connect());
                    effects
                } else {
                    rig.drain()
                };
                // What goes out is what tells of the end.
                assert!(pushes(&effects).len() <= rig.store.entries.len() - waiting(rig));
                let now_left = waiting(rig);
                assert!(now_left < left, "each step takes some");
                // A restart is a step, and so is the connection after it.
                let steps = if stops { 2 } else { 1 };
                assert!(left - now_left <= steps * COPIES_REMOVED_AT_ONCE_MAX);
                left = now_left;
                let is_due = rig.device.next_wakeup() <= Some(rig.now_ms);
                assert!(is_due || left == 0, "what is left is due at once");
            }
            let states = rig.store.deliveries.values();
            let withdrawn = states.filter(|state| **state == DeliveryState::Withdrawn);
            assert_eq!(withdrawn.count(), many);
        }
    }
}
