//! One simulated device: its keys, its machine, and what it ever received.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use sealpost_engine::core::membership::is_anchor;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, SigningPublic, SigningSecret};
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};
use sealpost_protocol::name::DeviceName;

use super::machine::Machine;

/// Identities made once and shared by all histories: making keys costs more than to use them.
pub(crate) const IDENTITIES: usize = 256;

/// The keys and the record of a device.
pub(crate) struct Identity {
    pub(crate) secrets: DeviceSecrets,
    pub(crate) member: Member,
}

/// One of the shared identities.
pub(crate) fn identity(number: usize) -> &'static Identity {
    static POOL: OnceLock<Vec<Identity>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let identities = (0..IDENTITIES).map(|number| {
            let secrets = DeviceSecrets::generate(&mut rng);
            let keys = secrets.keys();
            let name = DeviceName::clean(&format!("device {number}"), &keys.signing);
            let member = Member { keys, name };
            Identity { secrets, member }
        });
        identities.collect()
    });
    &pool[number % IDENTITIES]
}

/// A device, from the first join request to the wipe.
pub(crate) struct Device<M> {
    pub(crate) identity: &'static Identity,
    pub(crate) phase: Phase<M>,
    /// Whether it was there from the start.
    pub(crate) is_founder: bool,
    /// Offline until then.
    pub(crate) away_until_ms: u64,
    /// Every manifest it ever took in.
    pub(crate) received: BTreeSet<ManifestHash>,
    /// What the machine was told last about its connection.
    pub(crate) told_online: bool,
}

/// Where a device stands.
pub(crate) enum Phase<M> {
    /// It has asked and waits for its anchor.
    Pending {
        admitter: SigningPublic,
        buffered: Vec<(SigningPublic, SignedManifest)>,
    },
    /// It has a group.
    Member(Box<M>),
    /// It was removed and has wiped.
    Removed,
    /// It left and has wiped.
    Left,
    /// It was removed and doesn't obey, or it is a puppet of such a device.
    Rogue,
}

impl<M: Machine> Device<M> {
    /// A device that asked `admitter`, or one that is about to found a group.
    pub(crate) fn pending(identity: &'static Identity, admitter: SigningPublic) -> Self {
        Self {
            identity,
            phase: Phase::Pending {
                admitter,
                buffered: Vec::new(),
            },
            is_founder: false,
            away_until_ms: 0,
            received: BTreeSet::new(),
            told_online: false,
        }
    }

    pub(crate) fn member(&self) -> &'static Member {
        &self.identity.member
    }

    pub(crate) fn keys(&self) -> DeviceKeys {
        self.identity.member.keys
    }

    /// Its signing key, by which it is named everywhere.
    pub(crate) fn key(&self) -> SigningPublic {
        self.keys().signing
    }

    pub(crate) fn secret(&self) -> &'static SigningSecret {
        &self.identity.secrets.signing
    }

    /// Its machine, while it has a group.
    pub(crate) fn machine(&self) -> Option<&M> {
        match &self.phase {
            Phase::Member(machine) => Some(machine),
            Phase::Pending { .. } | Phase::Removed | Phase::Left | Phase::Rogue => None,
        }
    }

    /// Its machine to change, with the secret to sign with.
    pub(crate) fn acting(&mut self) -> Option<(&mut M, &'static SigningSecret)> {
        let secret = self.secret();
        match &mut self.phase {
            Phase::Member(machine) => Some((machine, secret)),
            Phase::Pending { .. } | Phase::Removed | Phase::Left | Phase::Rogue => None,
        }
    }

    /// Whether it is a member in its own eyes.
    pub(crate) fn is_listed(&self) -> bool {
        let machine = self.machine();
        machine.is_some_and(|machine| machine.view().contains_key(&self.key()))
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
        let me = self.keys();
        let secret = self.secret();
        match &mut self.phase {
            Phase::Member(machine) => machine.take(author, manifest, secret, now_ms),
            Phase::Pending { admitter, buffered } => {
                if is_anchor(manifest, author, &me, admitter) {
                    let buffered = std::mem::take(buffered);
                    let machine = M::anchored(me, manifest.clone(), buffered, now_ms);
                    self.phase = Phase::Member(Box::new(machine));
                } else {
                    let has_room = M::has_room(buffered.iter().map(|(by, _)| by), author, admitter);
                    let kept = (*author, manifest.clone());
                    if has_room && !buffered.contains(&kept) {
                        buffered.push(kept);
                    }
                }
            }
            Phase::Removed | Phase::Left | Phase::Rogue => return,
        }
        self.received.insert(manifest.hash());
    }

    /// Loses everything that isn't durable.
    pub(crate) fn crash(&mut self, now_ms: u64) {
        if let Phase::Member(machine) = &mut self.phase {
            machine.crash(now_ms);
            self.told_online = false;
        }
    }
}
