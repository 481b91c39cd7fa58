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
    /// Whether some device has folded old manifests away.
    pub has_folded: bool,
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
    /// Histories in which a removal reached one camp and not another.
    pub unheard: u64,
    /// Those of them in which it reached that camp, signed by somebody in limbo there.
    pub heard_from_limbo: u64,
    /// Histories in which some device folded old manifests away.
    pub folded: u64,
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
        self.unheard += u64::from(verdict.is_unheard);
        self.heard_from_limbo += u64::from(verdict.is_heard_from_limbo);
        self.folded += u64::from(history.has_folded);
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
        self.unheard += other.unheard;
        self.heard_from_limbo += other.heard_from_limbo;
        self.folded += other.folded;
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

    /// What the histories say about the goal.
    #[must_use]
    pub fn standing(&self, goal: Goal) -> Standing {
        let is_never_met = match goal {
            Goal::Shown => false,
            Goal::NoPuppet => self.puppets > 0,
            Goal::Never => self.violations > 0,
            Goal::PerMillion(rate) => {
                let (low, high) = self.interval();
                let most = rate as f64 / 1e6;
                if low <= most && high > most {
                    return Standing::Untold;
                }
                low > most
            }
        };
        if is_never_met {
            Standing::Missed
        } else {
            Standing::Met
        }
    }

    /// The share of histories that break the rule lies in here in 95 of 100 cases (Wilson).
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        if self.histories == 0 {
            return (0.0, 1.0);
        }
        let histories = self.histories as f64;
        let share = self.violations as f64 / histories;
        let square = DEVIATIONS * DEVIATIONS / histories;
        let middle = share + square / 2.0;
        let spread = (share * (1.0 - share) / histories + square / (4.0 * histories)).sqrt();
        let spread = DEVIATIONS * spread;
        let low = (middle - spread) / (1.0 + square);
        let high = (middle + spread) / (1.0 + square);
        (low.max(0.0), high.min(1.0))
    }

    /// The line of a scenario.
    #[must_use]
    pub fn line(&self, scenario: &Scenario) -> String {
        let kinds = self.kinds.iter();
        let kinds: String = kinds
            .map(|(kind, count)| format!(", {kind} {count}"))
            .collect();
        let (low, high) = self.interval();
        let violations = if scenario.is_attacked() {
            "puppet or itself listed"
        } else {
            "violations"
        };
        format!(
            "{} histories, {violations} {} (95 %: {}-{}){kinds}, partition {}, info-death {}, unheard in a camp {} ({} of them signed in limbo)",
            self.histories,
            self.violations,
            Percent(low),
            Percent(high),
            self.partitions,
            self.info_deaths,
            self.unheard,
            self.heard_from_limbo,
        )
    }
}

/// The width of a 95 % interval in standard deviations.
const DEVIATIONS: f64 = 1.96;

/// What histories say about a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is met.
    Met,
    /// It is missed.
    Missed,
    /// The interval holds it: there are too few histories to tell.
    Untold,
}

struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} %", self.0 * 100.0)
    }
}
