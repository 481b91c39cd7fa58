//! The schedules: who acts, what is changed and how often, and how it is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Write as _;
use std::ops::Range;

use crate::device::Device;
use crate::fault::Fault;
use crate::verdict::{Failure, Verdict, judge};
use crate::world::World;

/// The steps after a change are fewer than this: far too few for a manifest to go round.
const CHANGE_GAP_STEPS: u64 = 15;

/// One in so many steps sends a device offline.
const AWAY_EVERY_STEPS: u64 = 60;

/// The shortest and longest time offline; T is a hundred steps.
const AWAY_STEPS: (u64, u64) = (20, 600);

/// Of a hundred changes so many are leaves, where devices leave.
const LEAVE_PERCENT: u64 = 6;

/// Of a hundred changes so many are removals or leaves, where devices are removed.
const GOING_PERCENT: u64 = 28;

/// A schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    /// The fewest and most devices at the start.
    pub(crate) founders: (u64, u64),
    /// The fewest and most changes.
    pub(crate) changes: (u64, u64),
    /// Who may be removed.
    pub(crate) removals: Removals,
    /// Whether a joiner changes the membership as soon as it is a member.
    pub(crate) joiners_act: bool,
    /// Deliveries that are repeated.
    pub(crate) duplicates_percent: u64,
    /// Deliveries after which the device crashes.
    pub(crate) crashes_percent: u64,
}

/// Who may be removed, or leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removals {
    /// Nobody.
    None,
    /// Devices that change nothing themselves.
    Passive,
    /// Everybody; and devices leave.
    Any,
}

impl Scenario {
    /// Admissions only, by the devices of the start.
    pub(crate) const STRESS: Self = Self {
        founders: (3, 8),
        changes: (5, 12),
        removals: Removals::None,
        joiners_act: false,
        duplicates_percent: 2,
        crashes_percent: 0,
    };

    /// Everything, by everybody.
    pub(crate) const JOINERS_ACT: Self = Self {
        removals: Removals::Any,
        joiners_act: true,
        ..Self::STRESS
    };

    /// One history.
    pub(crate) fn run(&self, seed: u64, fault: Fault) -> (Verdict, World) {
        let mut world = World::new(seed, self.duplicates_percent, self.crashes_percent, fault);
        let founders = world.between(self.founders.0, self.founders.1);
        world.found(usize::try_from(founders).expect("a few"));
        let changes = world.between(self.changes.0, self.changes.1);
        for _ in 0..changes {
            self.change(&mut world);
            for _ in 0..world.below(CHANGE_GAP_STEPS) {
                if world.below(AWAY_EVERY_STEPS) == 0 {
                    let steps = world.between(AWAY_STEPS.0, AWAY_STEPS.1);
                    world.send_away(steps);
                }
                world.step();
            }
        }
        let is_at_rest = world.settle();
        (judge(&world, is_at_rest), world)
    }

    /// One random change by a random device.
    fn change(&self, world: &mut World) {
        let actors = members(world, |device| {
            (device.acts || self.joiners_act) && device.membership().is_some_and(|g| g.is_listed())
        });
        let Some(by) = world.pick(&actors) else {
            return;
        };
        let dice = world.below(100);
        match self.removals {
            Removals::Any if dice < LEAVE_PERCENT => world.leave(by),
            Removals::Any | Removals::Passive if dice < GOING_PERCENT => self.remove(world, by),
            Removals::Any | Removals::Passive | Removals::None => {
                world.admit(by);
            }
        }
    }

    fn remove(&self, world: &mut World, by: usize) {
        let view = world.devices[by]
            .membership()
            .map(|group| group.view().clone());
        let view = view.unwrap_or_default();
        let me = world.devices[by].key();
        let is_any = self.removals == Removals::Any;
        let targets = members(world, |device| {
            view.contains_key(&device.key()) && device.key() != me && (is_any || !device.acts)
        });
        match world.pick(&targets) {
            Some(target) => world.remove(by, target),
            None => {
                world.admit(by);
            }
        }
    }
}

fn env(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn members(world: &World, is_wanted: impl Fn(&Device) -> bool) -> Vec<usize> {
    let devices = world.devices.iter().enumerate();
    devices
        .filter(|(_, device)| is_wanted(device))
        .map(|(at, _)| at)
        .collect()
}

/// What many histories add up to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) name: String,
    pub(crate) runs: u64,
    pub(crate) failing: u64,
    pub(crate) partitions: u64,
    pub(crate) info_deaths: u64,
    pub(crate) blobs: usize,
    pub(crate) manifests: usize,
    pub(crate) dropped: usize,
    pub(crate) kinds: BTreeMap<Failure, u64>,
    pub(crate) failing_seeds: Vec<(u64, BTreeSet<Failure>)>,
}

impl Tally {
    /// The share of histories that fail.
    pub(crate) fn share_failing(&self) -> f64 {
        self.failing as f64 / self.runs as f64
    }

    fn count(&mut self, seed: u64, verdict: &Verdict, world: &World) {
        self.runs += 1;
        self.blobs += world.pushed_blobs;
        self.manifests += world.issued.len();
        self.dropped += world.dropped.len();
        self.partitions += u64::from(verdict.is_partition);
        self.info_deaths += u64::from(verdict.is_info_death);
        for failure in &verdict.failures {
            *self.kinds.entry(*failure).or_default() += 1;
        }
        if !verdict.failures.is_empty() {
            self.failing += 1;
            self.failing_seeds.push((seed, verdict.failures.clone()));
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.runs as usize;
        write!(
            f,
            "{}: {} of {runs} fail {:?}, {} partitions, {} info-deaths, {} blobs and {} manifests per run, seeds {:?}",
            self.name,
            self.failing,
            self.kinds,
            self.partitions,
            self.info_deaths,
            self.blobs / runs,
            self.manifests / runs,
            self.failing_seeds.iter().take(10).collect::<Vec<_>>(),
        )
    }
}

/// The seeds to run, as the environment asks.
pub(crate) fn seeds() -> Range<u64> {
    let first = env("SEALPOST_SIMULATION_SEED", 1);
    first..first + env("SEALPOST_SIMULATION_RUNS", 100)
}

/// Runs a scenario many times and prints what came of it.
pub(crate) fn run_many(name: &str, scenario: &Scenario) -> Tally {
    run(name, scenario, Fault::None, seeds())
}

/// Runs a scenario a twentieth as often, for large groups.
pub(crate) fn run_some(name: &str, scenario: &Scenario) -> Tally {
    run(name, scenario, Fault::None, share(20))
}

/// Runs the harshest scenario with a fault planted, a quarter as often.
pub(crate) fn run_faulty(fault: Fault) -> Tally {
    let name = format!("{fault:?}");
    run(&name, &Scenario::JOINERS_ACT, fault, share(4))
}

fn share(of: u64) -> Range<u64> {
    let seeds = seeds();
    seeds.start..seeds.start + (seeds.end - seeds.start).div_ceil(of)
}

fn run(name: &str, scenario: &Scenario, fault: Fault, seeds: Range<u64>) -> Tally {
    let is_single = seeds.end - seeds.start == 1;
    let mut tally = Tally {
        name: name.to_owned(),
        ..Tally::default()
    };
    let mut out = std::io::stdout().lock();
    for seed in seeds {
        let (verdict, world) = scenario.run(seed, fault);
        tally.count(seed, &verdict, &world);
        if is_single {
            writeln!(out, "{}", world.journal.join("\n")).expect("stdout");
        }
    }
    writeln!(out, "{tally}").expect("stdout");
    tally
}
