//! One simulated device: its keys, its machine, and the rows that survive a crash.

use std::collections::BTreeSet;

use rand_chacha::ChaCha8Rng;
use sealpost_engine::core::membership::{
    BUFFERED_MANIFESTS_MAX, Membership, MembershipEffect, MembershipSnapshot, is_anchor,
};
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, SigningPublic};
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};
use sealpost_protocol::name::DeviceName;

/// A device, from the first join request to the wipe.
pub(crate) struct Device {
    pub(crate) secrets: DeviceSecrets,
    pub(crate) member: Member,
    pub(crate) phase: Phase,
    /// Whether the schedule lets it change the membership.
    pub(crate) acts: bool,
    /// Offline until then.
    pub(crate) away_until_ms: u64,
    /// The rows as committed; equal to the machine's by the machine's own promise.
    pub(crate) stored: MembershipSnapshot,
    /// Every manifest it ever took in.
    pub(crate) received: BTreeSet<ManifestHash>,
    /// What the machine was told last about its connection.
    pub(crate) told_online: bool,
}

/// Where a device stands.
pub(crate) enum Phase {
    /// It has asked and waits for its anchor.
    Pending {
        admitter: SigningPublic,
        buffered: Vec<(SigningPublic, SignedManifest)>,
    },
    /// It has a group.
    Member(Box<Membership>),
    /// It was removed and has wiped.
    Removed,
    /// It left and has wiped.
    Left,
}

impl Device {
    /// A device that asked `admitter`, or one that is about to found a group.
    pub(crate) fn pending(admitter: SigningPublic, number: usize, rng: &mut ChaCha8Rng) -> Self {
        let secrets = DeviceSecrets::generate(rng);
        let keys = secrets.keys();
        let name = DeviceName::clean(&format!("device {number}"), &keys.signing);
        Self {
            member: Member { keys, name },
            secrets,
            phase: Phase::Pending {
                admitter,
                buffered: Vec::new(),
            },
            acts: false,
            away_until_ms: 0,
            stored: MembershipSnapshot::default(),
            received: BTreeSet::new(),
            told_online: false,
        }
    }

    /// A device with the same keys and without a group.
    pub(crate) fn twin(&self) -> Self {
        Self {
            secrets: self.secrets.clone(),
            member: self.member.clone(),
            phase: Phase::Removed,
            acts: false,
            away_until_ms: 0,
            stored: MembershipSnapshot::default(),
            received: BTreeSet::new(),
            told_online: false,
        }
    }

    /// Its keys.
    pub(crate) fn keys(&self) -> DeviceKeys {
        self.member.keys
    }

    /// Its signing key, by which it is named everywhere.
    pub(crate) fn key(&self) -> SigningPublic {
        self.member.keys.signing
    }

    /// Its machine, while it has a group.
    pub(crate) fn membership(&self) -> Option<&Membership> {
        match &self.phase {
            Phase::Member(membership) => Some(membership),
            Phase::Pending { .. } | Phase::Removed | Phase::Left => None,
        }
    }

    /// The machine to change, with the secret to sign with.
    pub(crate) fn acting(&mut self) -> Option<(&mut Membership, &DeviceSecrets)> {
        match &mut self.phase {
            Phase::Member(membership) => Some((membership, &self.secrets)),
            Phase::Pending { .. } | Phase::Removed | Phase::Left => None,
        }
    }

    /// Whether it waits for its anchor.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.phase, Phase::Pending { .. })
    }

    /// Whether it has wiped.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.phase, Phase::Removed | Phase::Left)
    }

    /// Takes a delivered manifest in.
    pub(crate) fn receive(
        &mut self,
        author: &SigningPublic,
        manifest: &SignedManifest,
        now_ms: u64,
    ) {
        if !self.is_gone() {
            self.received.insert(manifest.hash());
        }
        let me = self.keys();
        match &mut self.phase {
            Phase::Member(membership) => {
                let refused = membership.handle_manifest(author, manifest.clone(), now_ms);
                refused.expect("honest manifests are of this group and make no jumps");
            }
            Phase::Pending { admitter, buffered } => {
                if is_anchor(manifest, author, &me, admitter) {
                    let buffered = std::mem::take(buffered);
                    let machine = Membership::anchored(me, manifest.clone(), buffered, now_ms);
                    self.phase = Phase::Member(Box::new(machine));
                } else if buffered.len() < BUFFERED_MANIFESTS_MAX {
                    buffered.push((*author, manifest.clone()));
                }
            }
            Phase::Removed | Phase::Left => {}
        }
    }

    /// Commits what the machine wrote; returns what it wants done.
    pub(crate) fn commit(&mut self) -> Vec<MembershipEffect> {
        let Phase::Member(membership) = &mut self.phase else {
            return Vec::new();
        };
        let (changes, effects) = membership.drain();
        for change in &changes {
            self.stored.apply(change);
        }
        effects
    }

    /// Loses everything that isn't committed.
    pub(crate) fn crash(&mut self, now_ms: u64) {
        if let Phase::Member(membership) = &mut self.phase {
            assert_eq!(*membership.snapshot(), self.stored, "rows are complete");
            let restored =
                Membership::restore(self.member.keys, self.stored.clone(), now_ms).expect("a root");
            assert_eq!(restored.view(), membership.view(), "the same members");
            assert_eq!(restored.current(), membership.current(), "the same winner");
            **membership = restored;
            self.told_online = false;
        }
    }
}
