//! Simulated histories: none breaks a promise, and a check switched off is noticed.

use std::sync::atomic::{AtomicU64, Ordering};

use sealpost_tests::simulation::{Mutation, SEEDS_THAT_FAILED, run, run_logged, run_mutated};

/// Histories in a normal test run.
const HISTORIES: u64 = 2_000;

/// Histories in which a mutation must be found.
const HISTORIES_PER_MUTATION: u64 = 500;

/// Runs each seed on every core; the first violation with its seed.
fn first_violation(seeds: std::ops::Range<u64>) -> Option<(u64, String)> {
    let next = AtomicU64::new(seeds.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let run_some = || {
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds.end {
                    return None;
                }
                if let Some(violation) = run(seed).violation {
                    return Some((seed, violation));
                }
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run_some)).collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().expect("a history returns"))
            .min()
    })
}

/// `SEALPOST_SEED=n` repeats one history, `SEALPOST_HISTORIES=n` runs more of them.
#[test]
fn no_history_breaks_a_promise() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let seeds = match number("SEALPOST_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number("SEALPOST_HISTORIES").unwrap_or(HISTORIES),
    };
    if let Some((seed, violation)) = first_violation(seeds) {
        panic!("SEALPOST_SEED={seed}: {violation}");
    }
}

#[test]
fn no_history_that_failed_once_fails_again() {
    for seed in SEEDS_THAT_FAILED {
        assert_eq!(run(seed).violation, None, "SEALPOST_SEED={seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_log() {
    for seed in [7, 8, 9, 10] {
        let (first, second) = (run_logged(seed), run_logged(seed));
        assert!(first.log.len() > 50, "a history has a log");
        assert_eq!(first.log.join("\n"), second.log.join("\n"));
    }
}

/// The table of `docs/validation.md` is what this prints.
#[test]
fn every_mutation_is_found() {
    let found: Vec<_> = Mutation::ALL
        .into_iter()
        .map(|mutation| {
            let at = (1..=HISTORIES_PER_MUTATION).find_map(|seed| {
                let violation = run_mutated(seed, mutation).violation?;
                Some((seed, violation))
            });
            println!("{mutation:?}: {at:?}");
            (mutation, at)
        })
        .collect();
    let missed: Vec<_> = found.iter().filter(|(_, at)| at.is_none()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
