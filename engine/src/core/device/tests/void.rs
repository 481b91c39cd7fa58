//! An admission by a device that is removed at the same time.

use std::collections::BTreeSet;

use sealpost_protocol::envelope::{MessageTag, Sealing, seal};

use crate::core::event::Event;
use crate::core::membership::Cohesion;
use crate::core::rig::{Post, Rig, pushes};
use crate::core::status::{Ending, Status, StatusReason};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Three devices, of which the third has removed the second while that let a fourth in.
fn torn() -> Post {
    let mut post = Post::group(3);
    let second = post.rigs[1].device.me().id;
    let mut joiner = Rig::new(60, "joiner");
    joiner.connect();
    post.rigs.push(joiner);
    post.effects.push(Vec::new());
    let rig = &mut post.rigs[2];
    // It tells the others when it is drained next, which the admission leads to.
    rig.device
        .handle_remove(&second, rig.now_ms)
        .expect("a member");
    post.pair(1, 3);
    post.rigs[3].device.handle_confirm_words();
    post.settle(3);
    post
}

/// Lets time pass for everybody, with the wake-ups that are due on the way.
fn pass(post: &mut Post, ms: u64) {
    const STEP_MS: u64 = 10_000;
    for _ in 0..ms / STEP_MS {
        for index in 0..post.rigs.len() {
            let rig = &mut post.rigs[index];
            rig.now_ms += STEP_MS;
            if rig
                .device
                .next_wakeup()
                .is_some_and(|due| due <= rig.now_ms)
            {
                rig.device.handle_wakeup(rig.now_ms, &mut rig.rng);
                post.settle(index);
            }
        }
    }
}

#[test]
fn the_joiner_learns_that_its_admission_came_to_nothing_and_can_pair_again() {
    let mut post = torn();
    assert_eq!(post.rigs[1].device.status(), Status::NotJoined, "removed");
    assert_eq!(post.rigs[3].device.status(), Status::Member);
    for index in [0, 2] {
        assert_eq!(post.rigs[index].device.members().len(), 1, "device {index}");
    }
    post.take_events(3);
    pass(&mut post, DAY_MS + DAY_MS / 2 + 10 * 60_000);
    assert_eq!(post.rigs[3].device.status(), Status::NotJoined);
    let reason = StatusReason::AdmissionVoid;
    let is_told = post.take_events(3).iter().any(
        |event| matches!(event, Event::StatusChanged { reason: Some(told), .. } if *told == reason),
    );
    assert!(is_told);
    post.pair(0, 3);
    assert_eq!(post.rigs[3].device.members().len(), 2);
}

#[test]
fn a_device_that_is_not_listed_stays_a_member_and_holds_its_messages() {
    let mut post = torn();
    // What the joiner is never sent: how the others see it.
    let rows = post.rigs[2].store.membership.clone().expect("a member");
    let author = post.rigs[2].store.secrets.clone();
    let rig = &mut post.rigs[3];
    for (sequence, known) in (1_u64..).zip(rows.manifests.values()) {
        let recipient = rig.noise();
        let sealing = Sealing {
            author: &author.signing,
            recipient: &recipient,
            sequence,
            timestamp_ms: rig.now_ms,
            tag: MessageTag::GroupManifest,
            body: &known.manifest.encode(),
        };
        let envelope = seal(&sealing, &mut rig.rng).expect("it can be sealed");
        rig.deliver(&envelope);
    }
    assert_eq!(rig.device.status(), Status::Member, "no wipe");
    let heard = BTreeSet::new();
    assert_eq!(rig.device.cohesion(&heard), Some(Cohesion::AdmissionVoid));
    rig.device
        .handle_send(b"held".to_vec(), rig.now_ms)
        .expect("a member");
    let effects = rig.drain();
    assert!(pushes(&effects).is_empty(), "the others would drop it");
    assert!(!rig.store.entries.is_empty());
}

#[test]
fn a_removed_device_is_told_another_reason() {
    assert_eq!(Ending::Void.reason(), StatusReason::AdmissionVoid);
    let mut post = torn();
    let is_removed = post.take_events(1).iter().any(|event| {
        let reason = Some(StatusReason::Removed);
        matches!(event, Event::StatusChanged { reason: told, .. } if *told == reason)
    });
    assert!(is_removed);
    let heard = BTreeSet::new();
    assert_eq!(post.rigs[0].device.cohesion(&heard), Some(Cohesion::Whole));
    assert_eq!(post.rigs[1].device.cohesion(&heard), None);
}
