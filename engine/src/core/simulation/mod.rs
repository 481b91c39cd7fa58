//! Whole devices and a relay in one thread, under every fault a network and a crash can bring.
//!
//! One history is one seed: the same seed gives the same run. Messages are lost, repeated and
//! late, answers and acknowledgements get lost, sessions break, the relay refuses, handlers
//! fail, and devices stop before a commit, after it, and between two effects. Then the faults
//! end, and what was promised has to be true.
//!
//! `SEALPOST_HISTORIES=n` runs more histories, `SEALPOST_SEED=n` repeats one.

mod relay;
mod world;

use world::{Departure, Faults, World};

/// What happens in one history before the faults end.
const EVENTS: usize = 300;

/// Histories in a normal test run, for each setting.
const HISTORIES: u64 = 120;

fn history(seed: u64, members: usize, newcomers: usize, faults: &Faults) {
    let mut world = World::new(seed, members, newcomers, *faults);
    world.run(EVENTS);
    world.settle();
    world.check();
}

fn history_with(seed: u64, departure: Departure) {
    let mut world = World::new(seed, 3, 0, Faults::ALL);
    world.run(EVENTS / 3);
    world.depart(departure);
    world.run(EVENTS / 3);
    world.settle();
    world.check();
}

fn run(first_seed: u64, members: usize, newcomers: usize, faults: &Faults) {
    run_each(first_seed, |seed| history(seed, members, newcomers, faults));
}

/// Runs a history for each seed; the number of one that fails is printed.
fn run_each(first_seed: u64, history: impl Fn(u64) + std::panic::RefUnwindSafe) {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let seeds = match number("SEALPOST_SEED") {
        Some(seed) => seed..seed + 1,
        None => first_seed..first_seed + number("SEALPOST_HISTORIES").unwrap_or(HISTORIES),
    };
    for seed in seeds {
        let done = std::panic::catch_unwind(|| history(seed));
        if let Err(failure) = done {
            println!("history failed: SEALPOST_SEED={seed}");
            std::panic::resume_unwind(failure);
        }
    }
}

#[test]
fn two_devices_under_every_fault() {
    run(1, 2, 0, &Faults::ALL);
}

#[test]
fn three_devices_under_every_fault() {
    run(100_000, 3, 0, &Faults::ALL);
}

#[test]
fn a_third_device_joins_under_every_fault() {
    run(200_000, 2, 1, &Faults::ALL);
}

#[test]
fn two_devices_join_at_once_without_crashes() {
    run(300_000, 2, 2, &Faults::NO_CRASHES);
}

#[test]
fn a_member_leaves_under_every_fault() {
    run_each(400_000, |seed| history_with(seed, Departure::Leave));
}

#[test]
fn a_member_is_removed_under_every_fault() {
    run_each(500_000, |seed| history_with(seed, Departure::Remove));
}

#[test]
fn a_group_is_destroyed_under_every_fault() {
    run_each(600_000, |seed| history_with(seed, Departure::Destroy));
}

/// A manifest for the second newcomer overtook the admission of the first, which then took
/// the second one's messages for a stranger's.
#[test]
fn a_later_admission_waits_for_an_earlier_one() {
    history(301_679, 2, 2, &Faults::NO_CRASHES);
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let logged = || {
        let mut world = World::new(7, 2, 1, Faults::ALL);
        world.keep_log();
        world.run(EVENTS);
        world.settle();
        world.log().to_vec()
    };
    assert_eq!(logged(), logged());
}
