//! Tests of the membership machine, one file per section of the rule.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, SigningPublic};
use sealpost_protocol::manifest::{GroupId, Manifest, Member, SignedManifest};
use sealpost_protocol::name::DeviceName;

use super::{KnownManifest, Membership, MembershipChange, MembershipEffect, MembershipSnapshot};

mod cohesion;
mod compaction;
mod issue;
mod limbo;
mod merge;
mod order;
mod receive;
mod restore;
mod view;

/// A time to start from.
const NOW_MS: u64 = 1_700_000_000_000;

const HOUR_MS: u64 = 3_600_000;

/// A device with fixed keys.
#[derive(Clone)]
struct Person {
    secrets: DeviceSecrets,
    member: Member,
}

impl Person {
    fn new(number: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(number);
        let secrets = DeviceSecrets::generate(&mut rng);
        let keys = secrets.keys();
        let name = DeviceName::clean(&format!("device {number}"), &keys.signing);
        Self {
            secrets,
            member: Member { keys, name },
        }
    }

    fn many<const N: usize>() -> [Self; N] {
        std::array::from_fn(|number| Self::new(number as u64))
    }

    fn key(&self) -> SigningPublic {
        self.member.keys.signing
    }

    fn keys(&self) -> DeviceKeys {
        self.member.keys
    }
}

fn group_id() -> GroupId {
    GroupId::from_bytes([7; 32])
}

/// A manifest of the test group.
fn manifest(
    version: u64,
    parent: Option<&SignedManifest>,
    members: &[&Person],
    by: &Person,
) -> SignedManifest {
    let members = members.iter().map(|person| person.member.clone()).collect();
    let parent = parent.map(SignedManifest::hash);
    let manifest = Manifest::new(group_id(), version, parent, members).expect("a valid list");
    manifest.sign(&by.secrets.signing)
}

/// Rows that hold a root and other manifests.
fn rows(root: &SignedManifest, others: &[&SignedManifest]) -> MembershipSnapshot {
    let mut rows = MembershipSnapshot {
        root: Some(root.hash()),
        ..MembershipSnapshot::default()
    };
    for manifest in [root].into_iter().chain(others.iter().copied()) {
        let known = KnownManifest {
            manifest: manifest.clone(),
            trusted: false,
        };
        rows.manifests.insert(manifest.hash(), known);
    }
    rows
}

/// A group of two, as its founder holds it, with nothing left to drain.
fn founded(founder: &Person, second: &Person) -> Membership {
    let mut group = Membership::genesis(
        group_id(),
        founder.member.clone(),
        second.member.clone(),
        &founder.secrets.signing,
        NOW_MS,
    )
    .expect("two different devices");
    let _ = group.drain();
    group
}

/// The machine of a device that holds this root, with nothing left to drain.
fn joined(me: &Person, root: &SignedManifest) -> Membership {
    let mut group = Membership::anchored(me.keys(), root.clone(), Vec::new(), NOW_MS);
    let _ = group.drain();
    group
}

/// Lets a machine take a manifest that is not refused.
fn take(group: &mut Membership, author: &Person, manifest: &SignedManifest) {
    take_at(group, author, manifest, NOW_MS);
}

fn take_at(group: &mut Membership, author: &Person, manifest: &SignedManifest, now_ms: u64) {
    group
        .handle_manifest(&author.key(), manifest.clone(), now_ms)
        .expect("not refused");
}

fn tick(group: &mut Membership, me: &Person, now_ms: u64, online: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(now_ms);
    group.handle_timer(now_ms, online, &me.secrets.signing, &mut rng);
}

/// Lets time pass for a device that is online.
fn pass(group: &mut Membership, me: &Person, from_ms: u64, until_ms: u64) {
    let mut now_ms = from_ms;
    tick(group, me, now_ms, true);
    while let Some(due_ms) = group.next_timer().filter(|due_ms| *due_ms < until_ms) {
        now_ms = now_ms.max(due_ms);
        tick(group, me, now_ms, true);
    }
}

/// Who is in the view, by position in `people`.
fn listed(group: &Membership, people: &[Person]) -> Vec<usize> {
    let people = people.iter().enumerate();
    people
        .filter(|(_, person)| group.view().contains_key(&person.key()))
        .map(|(at, _)| at)
        .collect()
}

/// What was sent, to whom.
fn sent(effects: &[MembershipEffect]) -> Vec<(SigningPublic, SignedManifest)> {
    let sends = effects.iter().filter_map(|effect| match effect {
        MembershipEffect::Send { to, manifest } => Some((to.signing, manifest.clone())),
        _ => None,
    });
    sends.collect()
}

/// Drains a machine and returns what it sent.
fn drained_sends(group: &mut Membership) -> Vec<(SigningPublic, SignedManifest)> {
    sent(&group.drain().1)
}
