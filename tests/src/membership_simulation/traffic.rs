//! What one admission into a quiet group costs: manifests pushed, and their bytes.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::limit::GROUP_MEMBERS_MAX;

use super::Rule;
use super::machine::{Machine, Product};
use super::published::Published;
use super::verdict::judge;
use super::world::{Pushed, Weather, World};

/// Removed keys whose proof a newcomer is sent at most.
const PROVEN_REMOVALS: usize = 16;

/// Ancestors that a newcomer is sent at most.
const ANCESTORS: usize = 4;

/// An admission into a group in which nothing else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Into a new group, which has so many members afterwards.
    New(usize),
    /// Into a group of 32 that has seen as many removals as a newcomer is told of, each on a
    /// manifest of its own: the most that an admission can cost.
    Old,
}

/// Blobs and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Manifests pushed.
    pub blobs: usize,
    /// The bytes of their Envelopes.
    pub bytes: usize,
}

impl Traffic {
    /// What an admission costs under a rule.
    ///
    /// # Panics
    ///
    /// If the group doesn't agree afterwards.
    #[must_use]
    pub fn of(admission: Admission, rule: Rule) -> Self {
        match rule {
            Rule::Product => measure::<Product>(admission),
            Rule::Published => measure::<Published>(admission),
        }
    }
}

fn measure<M: Machine>(admission: Admission) -> Traffic {
    let mut world: World<M> = World::new(1, Weather::FAIR);
    match admission {
        Admission::New(members) => world.found(members - 1),
        Admission::Old => found_old(&mut world),
    }
    world.pushed = Some(Vec::new());
    let by = world.live().next().expect("a member");
    world.admit(by);
    assert!(world.settle(), "it comes to rest");
    let verdict = judge(&world, true);
    assert!(verdict.failures.is_empty(), "{verdict:?}");
    let pushed = world.pushed.take().unwrap_or_default();
    let bytes = pushed.iter().map(|blob| sealed_bytes(&world, blob)).sum();
    Traffic {
        blobs: pushed.len(),
        bytes,
    }
}

/// A group one short of full in which members came and went, one after the other.
///
/// The last changes are admissions, so that the newcomer's nearest ancestors are none of the
/// proofs.
fn found_old<M: Machine>(world: &mut World<M>) {
    world.found(GROUP_MEMBERS_MAX - 1 - ANCESTORS);
    for _ in 0..PROVEN_REMOVALS {
        let newcomer = admit_quietly(world);
        world.remove(0, newcomer);
        assert!(world.settle(), "it comes to rest");
    }
    for _ in 0..ANCESTORS {
        admit_quietly(world);
    }
}

fn admit_quietly<M: Machine>(world: &mut World<M>) -> usize {
    let newcomer = world.admit(0).expect("room");
    assert!(world.settle(), "it comes to rest");
    newcomer
}

fn sealed_bytes<M: Machine>(world: &World<M>, blob: &Pushed) -> usize {
    let sealing = Sealing {
        author: world.devices[blob.from].secret(),
        recipient: &world.devices[blob.to].keys().noise,
        sequence: world.now_ms,
        timestamp_ms: world.now_ms,
        tag: MessageTag::GroupManifest,
        body: &blob.manifest.encode(),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    seal(&sealing, &mut rng).expect("it fits").len()
}
