//! Table 5.7 row by row, and the end of a group through every crash.

use std::collections::BTreeSet;

use sealpost_protocol::key::{DeviceSecrets, NoisePublic};

use super::ending::revoke;
use super::mail::{Mail, Moment, group};
use crate::core::error::EngineError;
use crate::core::issue::DeliveryIssue;
use crate::core::rig::{Post, Rig, acknowledged, issues, pushes};
use crate::core::status::{Ending, Phase, Status};
use crate::core::step::{OutboxKind, PushOutcome};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

const STATUSES: [Status; 5] = [
    Status::Member,
    Status::Leaving,
    Status::PendingJoin,
    Status::Destroying,
    Status::NotJoined,
];

/// A device in that status, and two that are or were in its group.
fn device_in(status: Status) -> (Post, DeviceSecrets, NoisePublic) {
    let mut post = Post::group(3);
    let author = post.rigs[2].store.secrets.clone();
    let other = post.rigs[0].noise();
    let id = post.rigs[1].device.me().id;
    let rig = &mut post.rigs[1];
    match status {
        Status::Member => {}
        Status::Leaving => rig.device.handle_leave(rig.now_ms).expect("a member"),
        Status::Destroying => rig.device.handle_destroy(rig.now_ms).expect("a member"),
        Status::NotJoined | Status::PendingJoin => {
            let rig = &mut post.rigs[0];
            rig.device.handle_remove(&id, rig.now_ms).expect("a member");
            post.settle(0);
        }
    }
    if status == Status::PendingJoin {
        let rig = &mut post.rigs[0];
        let token = rig
            .device
            .handle_start_pairing(rig.now_ms, &mut rig.rng)
            .expect("a member");
        let rig = &mut post.rigs[1];
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("no group");
    }
    post.rigs[1].drain();
    assert_eq!(post.rigs[1].device.status(), status);
    (post, author, other)
}

/// Whom a device means to tell that the group is over.
fn revoked(rig: &Rig) -> BTreeSet<NoisePublic> {
    let is_revoke = |sequence: &u64| rig.store.bodies[sequence].0.kind == OutboxKind::Revoke;
    let entries = rig.store.entries.keys();
    entries
        .filter(|(sequence, _)| is_revoke(sequence))
        .map(|(_, recipient)| *recipient)
        .collect()
}

#[test]
fn destroying_a_group_does_what_the_table_says_in_each_status() {
    for status in STATUSES {
        let (mut post, author, other) = device_in(status);
        let rig = &mut post.rigs[1];
        let before = revoked(rig);
        let outcome = rig.device.handle_destroy(rig.now_ms);
        rig.drain();
        match status {
            Status::Member | Status::Leaving => {
                assert_eq!(outcome, Ok(()));
                assert_eq!(rig.store.phase, Phase::Ending(Ending::Destroyed));
                assert_eq!(revoked(rig), BTreeSet::from([other, author.keys().noise]));
            }
            Status::Destroying => {
                assert_eq!(outcome, Ok(()));
                assert_eq!(revoked(rig), before, "nobody is told twice");
            }
            Status::PendingJoin | Status::NotJoined => {
                assert_eq!(outcome, Err(EngineError::NotMember { status }));
                assert_eq!(rig.device.status(), status);
            }
        }
    }
}

#[test]
fn a_revoke_does_what_the_table_says_in_each_status() {
    for status in STATUSES {
        let (mut post, author, other) = device_in(status);
        let rig = &mut post.rigs[1];
        let before = revoked(rig);
        let envelope = revoke(&author, rig);
        let effects = rig.deliver(&envelope);
        assert!(issues(&effects).is_empty(), "{status}: without an issue");
        assert_eq!(acknowledged(&effects).len(), 1, "{status}");
        match status {
            Status::Member | Status::Leaving => {
                assert_eq!(rig.store.phase, Phase::Ending(Ending::Destroyed));
                assert_eq!(revoked(rig), BTreeSet::from([other]), "but not its author");
            }
            Status::Destroying => assert_eq!(revoked(rig), before, "not forwarded again"),
            Status::PendingJoin | Status::NotJoined => {
                assert_eq!(rig.device.status(), status, "ignored");
                assert!(revoked(rig).is_empty());
            }
        }
    }
}

#[test]
fn a_revoke_from_somebody_never_held_is_refused_in_every_group() {
    for status in [Status::Member, Status::Leaving, Status::Destroying] {
        let (mut post, _, _) = device_in(status);
        let stranger = Rig::new(90, "stranger").store.secrets.clone();
        let rig = &mut post.rigs[1];
        let envelope = revoke(&stranger, rig);
        let effects = rig.deliver(&envelope);
        assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
        assert_eq!(acknowledged(&effects).len(), 1);
        assert_eq!(rig.device.status(), status);
    }
}

/// Runs a history once for each of its commits and each way to be stopped at one.
fn whatever_is_stopped(
    members: usize,
    begin: impl Fn(&mut Mail),
    check: impl Fn(&Mail, &[DeviceSecrets]),
) {
    let stores = group(members);
    let before: Vec<_> = stores.iter().map(|store| store.secrets.clone()).collect();
    let mut stopped = 0;
    for moment in Moment::ALL {
        for commit in 1.. {
            println!("stopped {moment:?}, number {commit}");
            let mut mail = Mail::new(&stores, Some((commit, moment)));
            // Whoever asked is not told when the commit didn't happen, and asks again.
            for _ in 0..2 {
                begin(&mut mail);
                mail.settle();
            }
            check(&mail, &before);
            if !mail.was_stopped() {
                break;
            }
            stopped += 1;
        }
    }
    assert!(stopped > 3 * members, "only {stopped} stops");
}

fn is_wiped(rig: &Rig, before: &DeviceSecrets) -> bool {
    let store = &rig.store;
    store.phase == Phase::NotJoined
        && store.membership.is_none()
        && store.entries.is_empty()
        && store.secrets.keys() != before.keys()
        && rig.device.keys() == store.secrets.keys()
}

#[test]
fn a_group_is_destroyed_whichever_commit_a_device_is_stopped_at() {
    let begin = |mail: &mut Mail| {
        let rig = &mut mail.rigs[1];
        let _ = rig.device.handle_destroy(rig.now_ms);
    };
    whatever_is_stopped(4, begin, |mail, before| {
        for (rig, before) in mail.rigs.iter().zip(before) {
            assert!(is_wiped(rig, before));
        }
    });
}

#[test]
fn a_leave_and_a_removal_end_well_whichever_commit_a_device_is_stopped_at() {
    let leave = |mail: &mut Mail| {
        let rig = &mut mail.rigs[1];
        let _ = rig.device.handle_leave(rig.now_ms);
    };
    whatever_is_stopped(3, leave, |mail, before| {
        assert!(is_wiped(&mail.rigs[1], &before[1]));
        for index in [0, 2] {
            assert_eq!(mail.rigs[index].device.members().len(), 1);
        }
    });
    let remove = |mail: &mut Mail| {
        let target = mail.rigs[2].device.me().id;
        let rig = &mut mail.rigs[1];
        let _ = rig.device.handle_remove(&target, rig.now_ms);
    };
    whatever_is_stopped(3, remove, |mail, before| {
        assert!(is_wiped(&mail.rigs[2], &before[2]));
        for index in [0, 1] {
            assert_eq!(mail.rigs[index].device.members().len(), 1);
        }
    });
}

#[test]
fn a_removed_device_pushes_its_manifests_before_it_is_wiped() {
    let mut post = Post::group(3);
    let before = post.rigs[1].store.secrets.clone();
    let (me, third) = (post.rigs[1].device.me().id, post.rigs[2].device.me().id);
    // It has just removed somebody, and nothing of that has left it.
    let rig = &mut post.rigs[1];
    rig.device
        .handle_remove(&third, rig.now_ms)
        .expect("a member");
    let held = rig.drain();
    let held: Vec<_> = pushes(&held).iter().map(|push| push.id).collect();
    assert_eq!(held.len(), 2);
    let rig = &mut post.rigs[0];
    rig.device.handle_remove(&me, rig.now_ms).expect("a member");
    let effects = rig.drain();
    let to = before.keys().noise;
    let news = pushes(&effects)
        .into_iter()
        .find(|push| push.recipient == to)
        .expect("it is told");
    let rig = &mut post.rigs[1];
    rig.deliver(&news.envelope);
    assert_eq!(rig.store.phase, Phase::Ending(Ending::Removed));
    assert_eq!(rig.device.status(), Status::Leaving);
    for push in held {
        assert!(!is_wiped(rig, &before));
        rig.device
            .handle_push_outcome(push, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
        rig.drain();
    }
    assert!(is_wiped(rig, &before));
}

#[test]
fn the_end_of_a_group_waits_for_its_relay_for_as_long_as_it_takes() {
    let mut post = Post::group(3);
    let before = post.rigs[1].store.secrets.clone();
    let rig = &mut post.rigs[1];
    rig.device.handle_destroy(rig.now_ms).expect("a member");
    let mut effects = rig.drain();
    for _ in 0..100 {
        for push in pushes(&effects) {
            rig.device.handle_push_outcome(
                push.id,
                PushOutcome::Unanswered,
                rig.now_ms,
                &mut rig.rng,
            );
        }
        rig.drain();
        effects = rig.advance(DAY_MS);
        assert_eq!(rig.device.status(), Status::Destroying);
    }
    assert_eq!(revoked(rig).len(), 2, "a control message never expires");
    effects = rig.restart();
    let ids: Vec<_> = pushes(&effects).iter().map(|push| push.id).collect();
    assert_eq!(ids.len(), 2);
    for id in ids {
        rig.device
            .handle_push_outcome(id, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    }
    rig.drain();
    assert!(is_wiped(rig, &before));
}

#[test]
fn the_last_member_is_wiped_at_once() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    post.settle(1);
    let before = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[0];
    rig.device.handle_destroy(rig.now_ms).expect("a member");
    rig.drain();
    assert!(is_wiped(rig, &before));
}
