//! Membership alone, in stress: the engine's own machine on a simulated clock and network.
//!
//! Random groups, random changes at the same time, long offline periods, repeated blobs,
//! crashes, a removed device that goes on signing; afterwards everybody comes online, and the
//! devices must agree. It reproduces section 1 of the membership rule, with the published rule
//! (specification 5.3 to 5.6) beside it. Results and limits: `docs/membership.md`.
//!
//! One history is one scenario and one seed, and the same seed gives the same history. It
//! stands here and not in the engine because it needs nothing that isn't public there. It
//! never seals or opens an Envelope: manifests go round as values.

mod account;
mod device;
mod fault;
mod machine;
mod published;
mod rogue;
mod scenario;
mod schedule;
mod traffic;
mod verdict;
mod world;

use std::ops::Range;

pub use account::{Account, History, Standing};
pub use fault::Fault;
pub use rogue::Arts;
pub use scenario::{Goal, SCENARIOS, Scenario};
pub use traffic::{Admission, Traffic};
pub use verdict::{Failure, Verdict};

use device::Device;
use machine::{Machine, Product};
use published::Published;

/// The rule that the devices follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The engine's.
    Product,
    /// The published one.
    Published,
}

/// Runs one history.
#[must_use]
pub fn run(scenario: &Scenario, rule: Rule, seed: u64, fault: Fault) -> History {
    run_with(scenario, rule, seed, fault, false)
}

/// Runs one history and tells what happened in it.
#[must_use]
pub fn run_told(scenario: &Scenario, rule: Rule, seed: u64) -> History {
    run_with(scenario, rule, seed, Fault::None, true)
}

/// Runs the histories of a range of seeds.
#[must_use]
pub fn run_many(scenario: &Scenario, rule: Rule, seeds: Range<u64>, fault: Fault) -> Account {
    let mut account = Account::default();
    for seed in seeds {
        account.count(scenario, seed, &run(scenario, rule, seed, fault));
    }
    account
}

fn run_with(scenario: &Scenario, rule: Rule, seed: u64, fault: Fault, is_told: bool) -> History {
    match rule {
        Rule::Product => run_machine::<Product>(scenario, seed, fault, is_told),
        Rule::Published => run_machine::<Published>(scenario, seed, fault, is_told),
    }
}

fn run_machine<M: Machine>(scenario: &Scenario, seed: u64, fault: Fault, is_told: bool) -> History {
    let (verdict, world) = scenario.run::<M>(seed, fault, is_told);
    let mut machines = world.devices.iter().filter_map(Device::machine);
    let has_folded = machines.any(Machine::has_folded);
    History {
        verdict,
        has_folded,
        pushed: world.pushed_count,
        dropped: world.dropped.len(),
        journal: world.journal.unwrap_or_default(),
    }
}
