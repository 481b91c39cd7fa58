//! Whole groups in one thread: the real machines of the engine and the real rules of the
//! relay, on a clock, a network and disks that are simulated, beside a reference model.
//!
//! One history is one seed: the same seed gives the same history, to the byte of its log.
//! Pushes are lost, repeated and late, answers and acknowledgements get lost, sessions break,
//! devices are cut off for days, the relay restarts, refuses and runs full, lives end or are
//! met to the millisecond, clocks are wrong by days and are set, handlers fail, hang, send and
//! run ahead of a shared commit, programs are upgraded before others, stores are restored from
//! backups, devices are copied, and they stop before a commit, after it and between two
//! effects. Then the faults end, and the [`model`] says what must have come of it.
//!
//! It stands here and not in the engine because it needs nothing that isn't public there.
//! How groups form and lose members under the same faults is simulated beside the machines,
//! in `engine/src/core/simulation`; both know the rules only from the machines.

mod disk;
mod events;
mod group;
mod judging;
mod model;
mod mutation;
mod node;
mod plan;
mod quiet;
mod relay;
mod rewriting;
#[cfg(test)]
mod scripted;
mod scripts;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use mutation::Mutation;
use world::World;

/// Seeds of histories that failed once; each is run again by the tests. What a seed draws
/// changes with the simulation, so what failed is also kept step by step, in `scripted`.
pub const SEEDS_THAT_FAILED: [u64; 11] = [
    10,
    35,
    39,
    160,
    315,
    1_624,
    1_883_268_402_119_172,
    1_883_272_091_027_280,
    1_883_272_091_029_885,
    1_883_284_398_159_197,
    1_883_295_057_982_716,
];

/// What came of one history.
#[derive(Debug)]
pub struct History {
    /// Drains of a machine.
    pub steps: u64,
    /// What it did that it mustn't.
    pub violation: Option<String>,
    /// What happened, where that was asked for.
    pub log: Vec<String>,
}

/// Runs the history of a seed.
#[must_use]
pub fn run(seed: u64) -> History {
    run_with(seed, None, false)
}

/// Runs the history of a seed and keeps its log.
#[must_use]
pub fn run_logged(seed: u64) -> History {
    run_with(seed, None, true)
}

/// Runs the history of a seed with one check switched off.
#[must_use]
pub fn run_mutated(seed: u64, mutation: Mutation) -> History {
    run_with(seed, Some(mutation), false)
}

fn run_with(seed: u64, mutation: Option<Mutation>, keeps_log: bool) -> History {
    let mut world = World::new(seed, mutation, keeps_log);
    // A machine that contradicts itself panics in a debug build: that is a violation too.
    let verdict = catch_unwind(AssertUnwindSafe(|| world.run()));
    let violation = match verdict {
        Ok(verdict) => verdict.err(),
        Err(_) => Some("a machine contradicts itself".to_owned()),
    };
    History {
        steps: world.steps,
        violation,
        log: world.take_log(),
    }
}
