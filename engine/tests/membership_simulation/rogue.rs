//! A removed device that ignores its removal and goes on signing.

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{Manifest, Member, SignedManifest};

use crate::device::Device;
use crate::world::World;

/// A removed device and the puppets that it admits.
pub(crate) struct Rogue {
    /// The rogue first; then puppets, which have their own keys and obey.
    hands: Vec<Device>,
    /// What it builds on: everything it knew, and everything it signed.
    known: Vec<SignedManifest>,
}

impl Rogue {
    /// Takes over a device that is about to be removed.
    pub(crate) fn of(device: usize, puppets: usize, world: &mut World) -> Self {
        let device = &world.devices[device];
        let membership = device.membership().expect("a member");
        let manifests = membership.snapshot().manifests.values();
        let known = manifests.map(|known| known.manifest.clone()).collect();
        let mut hands = vec![device.twin()];
        for number in 0..puppets {
            hands.push(world.stranger(1_000 + number));
        }
        Self { hands, known }
    }

    /// Signs something that might pass: on any parent, with any members, up to 3,000 versions
    /// ahead, by the rogue or by a puppet.
    pub(crate) fn sign(
        &mut self,
        honest: &[Member],
        world: &mut World,
    ) -> (SigningPublic, SignedManifest) {
        let parents: Vec<usize> = (0..self.known.len()).collect();
        let parent = &self.known[world.pick(&parents).expect("a parent")];
        let mut members: Vec<Member> = self.hands.iter().map(|hand| hand.member.clone()).collect();
        members.truncate(1 + usize::try_from(world.below(4)).expect("a few"));
        members.extend(honest.iter().filter(|_| world.percent(70)).cloned());
        members.dedup();
        let ahead = world.pick(&[1, 1, 2, 50, 3_000]).expect("a number");
        let version = parent.version() + ahead;
        let hands: Vec<usize> = (0..self.hands.len()).collect();
        let hand = &self.hands[world.pick(&hands).expect("a hand")];
        let manifest = Manifest::new(parent.group_id(), version, Some(parent.hash()), members);
        let manifest = manifest.expect("a valid list").sign(&hand.secrets.signing);
        self.known.push(manifest.clone());
        (hand.key(), manifest)
    }

    /// Whether a key belongs to the rogue or to a puppet.
    pub(crate) fn owns(&self, key: &SigningPublic) -> bool {
        self.hands.iter().any(|hand| hand.key() == *key)
    }
}
