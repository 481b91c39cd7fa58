//! A removed device that ignores its removal and goes on signing.
//!
//! It and its puppets know every manifest that any of them was sent. What they sign is valid
//! in form; nothing else about it has to be.

use std::collections::BTreeSet;

use sealpost_protocol::manifest::{Manifest, Member, SignedManifest};

use super::device::identity;
use super::machine::Machine;
use super::world::World;

/// What it may do besides signing as itself, on the greatest manifest, one version up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arts {
    /// It brings devices of its own in, which sign too.
    pub puppets: bool,
    /// It jumps up to 3,000 versions ahead.
    pub jumps: bool,
    /// It builds on any manifest it ever knew.
    pub old_parents: bool,
    /// It sends to those that wait for their anchor too, more than they keep.
    pub pending: bool,
    /// It sends what it and its puppets sign as if it were older than the anchors it issued.
    pub history: bool,
}

impl Arts {
    /// None of them.
    pub const NONE: Self = Self {
        puppets: false,
        jumps: false,
        old_parents: false,
        pending: false,
        history: false,
    };

    /// All that is no attack of its own.
    pub const ALL: Self = Self {
        puppets: true,
        jumps: true,
        old_parents: true,
        ..Self::NONE
    };
}

const PUPPETS: usize = 3;

/// The share of members and puppets that a manifest of the rogue lists.
const LISTED_PERCENT: u64 = 70;

/// The share of devices to which the rogue sends a manifest.
const SENT_PERCENT: u64 = 80;

/// What each pending joiner is sent at once, more than it keeps.
const FLOOD: usize = 120;

/// A removed device and the puppets that it admits.
pub(crate) struct Rogue {
    arts: Arts,
    /// The rogue first; then puppets, which have their own keys and obey.
    pub(crate) hands: Vec<usize>,
    /// What it builds on.
    known: Vec<SignedManifest>,
    /// The joiners that it has sent more than they keep.
    flooded: BTreeSet<usize>,
}

impl Rogue {
    /// A device that is about to be removed, with all that it knows.
    pub(crate) fn new(device: usize, arts: Arts, known: Vec<SignedManifest>) -> Self {
        Self {
            arts,
            hands: vec![device],
            known,
            flooded: BTreeSet::new(),
        }
    }

    pub(crate) const fn puppets(&self) -> usize {
        if self.arts.puppets { PUPPETS } else { 0 }
    }

    /// Learns what was sent to one of its hands.
    pub(crate) fn learn(&mut self, manifest: &SignedManifest) {
        if !self.known.contains(manifest) {
            self.known.push(manifest.clone());
        }
    }

    /// Signs something that might pass; returns it with the hand that signed.
    pub(crate) fn sign<M: Machine>(
        &mut self,
        honest: &[&Member],
        world: &mut World<M>,
    ) -> Option<(usize, SignedManifest)> {
        let parent = if self.arts.old_parents {
            let places: Vec<usize> = (0..self.known.len()).collect();
            self.known.get(world.pick(&places)?)?
        } else {
            self.known.iter().max_by_key(|known| known.version())?
        };
        let ahead = if self.arts.jumps {
            world.pick(&[1, 1, 2, 50, 3_000])?
        } else {
            1
        };
        let mut members: Vec<Member> = Vec::new();
        for hand in &self.hands {
            members.push(world.devices[*hand].member().clone());
        }
        members.extend(honest.iter().copied().cloned());
        members.retain(|_| world.percent(LISTED_PERCENT));
        let version = if self.arts.history {
            world.between(1, parent.version())
        } else {
            parent.version() + ahead
        };
        let hand = world.pick(&self.hands)?;
        let manifest = Manifest::new(parent.group_id(), version, Some(parent.hash()), members);
        let manifest = manifest.ok()?.sign(world.devices[hand].secret());
        self.known.push(manifest.clone());
        Some((hand, manifest))
    }
}

impl<M: Machine> World<M> {
    /// Lets a device that was a member turn into a rogue; its removal is another's to issue.
    pub(crate) fn turn_rogue(&mut self, device: usize, arts: Arts, known: Vec<SignedManifest>) {
        let mut rogue = Rogue::new(device, arts, known);
        self.make_rogue(device);
        for _ in 0..rogue.puppets() {
            let puppet = self.add_device(identity(0).member.keys.signing);
            self.make_rogue(puppet);
            rogue.hands.push(puppet);
        }
        self.rogue = Some(rogue);
    }

    /// Lets the rogue, if there is one, sign and send to most.
    pub(crate) fn rogue_acts(&mut self) {
        let Some(mut rogue) = self.rogue.take() else {
            return;
        };
        let live: Vec<_> = self.live().collect();
        let honest: Vec<_> = live.iter().map(|at| self.devices[*at].member()).collect();
        self.send_forged(&mut rogue, &honest, &live);
        let mut pending = self.pending();
        pending.retain(|at| rogue.arts.pending && rogue.flooded.insert(*at));
        if !pending.is_empty() {
            for _ in 0..FLOOD {
                self.send_forged(&mut rogue, &honest, &pending);
            }
        }
        self.rogue = Some(rogue);
    }

    /// History is the rogue's own to send: it is an admitter, its puppets are not.
    fn send_forged(&mut self, rogue: &mut Rogue, honest: &[&Member], to: &[usize]) {
        let Some((hand, manifest)) = rogue.sign(honest, self) else {
            return;
        };
        self.remember_issued(hand, &manifest);
        let author = if rogue.arts.history {
            rogue.hands[0]
        } else {
            hand
        };
        for to in to {
            if self.percent(SENT_PERCENT) {
                self.queue(author, *to, manifest.clone());
            }
        }
    }

    /// Whether any member lists the rogue or a puppet.
    pub(crate) fn lists_rogue(&self) -> bool {
        let hands = self.rogue.iter().flat_map(|rogue| rogue.hands.iter());
        let mut keys = hands.map(|hand| self.devices[*hand].key());
        keys.any(|key| {
            let mut machines = self.devices.iter().filter_map(|device| device.machine());
            machines.any(|machine| machine.view().contains_key(&key))
        })
    }
}
