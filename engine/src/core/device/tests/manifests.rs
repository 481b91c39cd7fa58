//! What becomes of a manifest by what it is and by the status it arrives in.

use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::manifest::{GroupId, Manifest, Member, SignedManifest};
use sealpost_protocol::name::DeviceName;

use crate::core::issue::{DeliveryIssue, Unreadable};
use crate::core::rig::{Post, Rig, acknowledged, issues, pushes};
use crate::core::status::Status;
use crate::core::step::Effect;

fn sealed(body: &[u8], author: &DeviceSecrets, to: &mut Rig) -> Vec<u8> {
    let recipient = to.noise();
    let sealing = Sealing {
        author: &author.signing,
        recipient: &recipient,
        sequence: 1,
        timestamp_ms: to.now_ms,
        tag: MessageTag::GroupManifest,
        body,
    };
    seal(&sealing, &mut to.rng).expect("it can be sealed")
}

/// Lets a device receive a body as a manifest; returns the issues it raised.
fn receive(rig: &mut Rig, author: &DeviceSecrets, body: &[u8]) -> Vec<DeliveryIssue> {
    let envelope = sealed(body, author, rig);
    let effects = rig.deliver(&envelope);
    assert_eq!(acknowledged(&effects).len(), 1, "whatever it is");
    issues(&effects)
}

fn current(rig: &Rig) -> SignedManifest {
    let rows = rig.store.membership.as_ref().expect("a member");
    let manifests = rows.manifests.values().map(|known| &known.manifest);
    let current = manifests.max_by_key(|manifest| manifest.version());
    current.expect("a root").clone()
}

fn next(
    after: &SignedManifest,
    group: GroupId,
    version: u64,
    members: Vec<Member>,
    by: &DeviceSecrets,
) -> Vec<u8> {
    let manifest = Manifest::new(group, version, Some(after.hash()), members);
    manifest.expect("a valid list").sign(&by.signing).encode()
}

#[test]
fn each_kind_of_manifest_is_told_in_its_way() {
    let mut post = Post::group(2);
    let peer = post.rigs[0].store.secrets.clone();
    let stranger = Rig::new(90, "stranger").store.secrets.clone();
    let rig = &mut post.rigs[1];
    let last = current(rig);
    let (group, version) = (last.group_id(), last.version());
    let members = last.members().to_vec();
    let same =
        |group, version, by: &DeviceSecrets| next(&last, group, version, members.clone(), by);

    let malformed = vec![DeliveryIssue::Unreadable(Unreadable::Malformed)];
    let unauthorized = vec![DeliveryIssue::Unauthorized];
    let mut forged = same(group, version + 1, &peer);
    let end = forged.len() - 40;
    forged[end] ^= 1;
    assert_eq!(receive(rig, &peer, &forged), malformed);
    assert_eq!(receive(rig, &peer, &forged[..forged.len() - 1]), malformed);
    assert_eq!(receive(rig, &peer, &[]), malformed);
    let foreign = same(GroupId::from_bytes([9; 32]), version + 1, &peer);
    assert_eq!(receive(rig, &peer, &foreign), unauthorized);
    let jump = same(group, version + 10_001, &peer);
    assert_eq!(receive(rig, &peer, &jump), unauthorized);
    assert_eq!(current(rig), last, "a refusal changes nothing");

    // What can't be judged is parked and never shown; what is old is normal traffic.
    let by_stranger = same(group, version + 1, &stranger);
    assert!(receive(rig, &stranger, &by_stranger).is_empty());
    assert!(receive(rig, &peer, &last.encode()).is_empty());
    let greater = same(group, version + 10_000, &peer);
    assert!(receive(rig, &peer, &greater).is_empty());
    assert_eq!(current(rig).version(), version + 10_000);
    assert_eq!(rig.device.members().len(), 1);
}

#[test]
fn a_manifest_outside_a_group_is_refused_and_while_one_ends_passed_over() {
    let mut post = Post::group(2);
    let peer = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[1];
    let last = current(rig);
    let members = last.members().to_vec();
    let more = next(&last, last.group_id(), last.version() + 1, members, &peer);
    rig.device.handle_destroy(rig.now_ms).expect("a member");
    rig.drain();
    assert!(receive(rig, &peer, &more).is_empty());
    assert_eq!(rig.device.status(), Status::Destroying);
    let mut alone = Rig::new(91, "alone");
    alone.connect();
    assert_eq!(
        receive(&mut alone, &peer, &more),
        vec![DeliveryIssue::Unauthorized]
    );
    assert_eq!(alone.device.status(), Status::NotJoined);
}

#[test]
fn thirty_two_members_travel_in_one_frame() {
    let mut post = Post::group(2);
    let peer = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[1];
    let last = current(rig);
    let mut members = last.members().to_vec();
    for seed in 0..30 {
        let keys = Rig::new(100 + seed, "many").store.secrets.keys();
        let name = DeviceName::clean(&"n".repeat(64), &keys.signing);
        members.push(Member { keys, name });
    }
    let full = next(&last, last.group_id(), last.version() + 1, members, &peer);
    assert!(receive(rig, &peer, &full).is_empty());
    assert_eq!(rig.device.members().len(), 31);
    // Thirty of them are unknown to this device, which answers to nobody but them.
    let target = rig.device.members()[0].id.clone();
    rig.device
        .handle_remove(&target, rig.now_ms)
        .expect("a member");
    let effects = rig.drain();
    assert_eq!(
        pushes(&effects).len(),
        31,
        "the removed one hears of it too"
    );
    assert!(
        !effects
            .iter()
            .any(|effect| matches!(effect, Effect::Raise(_)))
    );
}
