//! What many histories of one scenario add up to.

use std::collections::BTreeMap;
use std::fmt;

use super::scenario::{Goal, Scenario};
use super::verdict::{Failure, Verdict};

/// The most seeds that are kept to be named.
const SEEDS_NAMED_MAX: usize = 5;

/// What one history came to.
#[derive(Clone, Debug)]
pub struct History {
    /// The judgement; nothing where the attack had no occasion.
    pub verdict: Option<Verdict>,
    /// Manifests pushed to the relay.
    pub pushed: usize,
    /// Devices that had to go because the group was overfull.
    pub dropped: usize,
    /// What happened, where that was asked for.
    pub journal: Vec<String>,
}

/// Histories of one scenario under one rule.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Histories judged.
    pub histories: u64,
    /// Histories in which anything is wrong that a rule could have mended.
    pub violations: u64,
    /// Histories that end in camps.
    pub partitions: u64,
    /// Histories in which a removal reached nobody.
    pub info_deaths: u64,
    /// Histories in which a removed device or a puppet of it is a member.
    pub puppets: u64,
    /// Manifests pushed.
    pub pushed: usize,
    /// Devices dropped from overfull groups.
    pub dropped: usize,
    /// How often each kind of failure occurred.
    pub kinds: BTreeMap<Failure, u64>,
    /// The first seeds that broke the rule.
    pub seeds: Vec<u64>,
}

impl Account {
    /// Counts one history of an ordinary scenario, or of one with a rogue.
    pub fn count(&mut self, scenario: &Scenario, seed: u64, history: &History) {
        let Some(verdict) = &history.verdict else {
            return;
        };
        self.histories += 1;
        self.pushed += history.pushed;
        self.dropped += history.dropped;
        self.partitions += u64::from(verdict.is_partition);
        self.info_deaths += u64::from(verdict.is_info_death);
        self.puppets += u64::from(verdict.lists_rogue);
        for failure in &verdict.failures {
            *self.kinds.entry(*failure).or_default() += 1;
        }
        let is_violated = if scenario.is_attacked() {
            verdict.lists_rogue
        } else {
            !verdict.failures.is_empty()
        };
        if is_violated {
            self.violations += 1;
            if self.seeds.len() < SEEDS_NAMED_MAX {
                self.seeds.push(seed);
            }
        }
    }

    /// Adds what another thread counted.
    pub fn add(&mut self, other: Self) {
        self.histories += other.histories;
        self.violations += other.violations;
        self.partitions += other.partitions;
        self.info_deaths += other.info_deaths;
        self.puppets += other.puppets;
        self.pushed += other.pushed;
        self.dropped += other.dropped;
        for (failure, count) in other.kinds {
            *self.kinds.entry(failure).or_default() += count;
        }
        self.seeds.extend(other.seeds);
        self.seeds.sort_unstable();
        self.seeds.truncate(SEEDS_NAMED_MAX);
    }

    /// How often a kind of failure occurred.
    #[must_use]
    pub fn of(&self, failure: Failure) -> u64 {
        self.kinds.get(&failure).copied().unwrap_or_default()
    }

    /// Whether the goal is met, with room for chance where it is a rate: a rate that is
    /// exactly the goal's passes in more than 999 of 1,000 runs.
    #[must_use]
    pub fn meets(&self, goal: Goal) -> bool {
        match goal {
            Goal::Shown => true,
            Goal::NoPuppet => self.puppets == 0,
            Goal::PerMillion(0) => self.violations == 0,
            Goal::PerMillion(rate) => {
                let expected = self.histories as f64 * rate as f64 / 1e6;
                self.violations as f64 <= expected + 3.0 * expected.sqrt() + 2.0
            }
        }
    }

    /// The line of a scenario.
    #[must_use]
    pub fn line(&self, scenario: &Scenario) -> String {
        if scenario.is_attacked() {
            let removed = self.of(Failure::WrongWipe);
            let forks = self.of(Failure::Fork);
            return format!("{self}, honest device removed {removed}, fork {forks}");
        }
        self.to_string()
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            histories,
            violations,
            partitions,
            info_deaths,
            ..
        } = self;
        write!(
            f,
            "{histories} histories, {violations} violations, partition {partitions}, info-death {info_deaths}"
        )
    }
}
