//! The scenarios: who acts, what is changed and how often, and what must come of it.

use super::fault::Fault;
use super::rogue::Arts;
use super::world::Weather;

pub(super) const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Calibrated on the published rule: with it that rule breaks as many histories of S1 to S3 as
/// the specification reports.
const REFERENCE_GAP_STEPS: u64 = 60;

/// Far too few for a manifest to go round; calibrated in the same way on S4 and the exact
/// setting.
const BURST_GAP_STEPS: u64 = 15;

/// A schedule.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The word by which it is asked for, with a seed: `s4-17`.
    pub id: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What must come of it.
    pub goal: Goal,
    /// Its share of the time, beside the others'.
    pub weight: u32,
    /// The fewest and most devices at the start.
    pub(super) founders: (u64, u64),
    /// The fewest and most changes.
    pub(super) changes: (u64, u64),
    pub(super) removals: Removals,
    /// Whether a joiner changes the membership as soon as it is a member.
    pub(super) joiners_act: bool,
    pub(super) pace: Pace,
    pub(super) duplicates_percent: u64,
    pub(super) crashes_percent: u64,
    pub(super) attack: Option<Attack>,
}

/// What a scenario must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// No history breaks the rule.
    Never,
    /// At most so many histories in a million break the rule.
    PerMillion(u64),
    /// No puppet is a member at the end.
    NoPuppet,
    /// Nothing: the removed device still is a member for those who haven't heard.
    Shown,
}

/// Who may be removed, or leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removals {
    /// Nobody.
    None,
    /// Every second founder, which changes nothing itself.
    Passive,
    /// Devices that came later.
    Joiners,
    /// Everybody; and devices leave.
    Any,
}

/// How much time passes between changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// Fewer steps than this after each change.
    Steps(u64),
    /// Up to two days after each change; devices are away for one to twenty days.
    Days,
    /// After each change the group comes to rest.
    Quiet,
}

/// A device that is removed half way and goes on signing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attack {
    pub(super) begins: Begins,
    pub(super) arts: Arts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// While its removal spreads.
    AtOnce,
    /// When everybody knows of its removal.
    OnceKnown,
    /// So many days after that.
    DaysAfter(u64),
    /// It names puppets while its removal spreads, and goes on when they have been closed.
    AfterClosing,
}

const STRESS: Scenario = Scenario {
    id: "s1",
    title: "S1 admissions only",
    goal: Goal::Never,
    weight: 5,
    founders: (3, 8),
    changes: (5, 12),
    removals: Removals::None,
    joiners_act: false,
    pace: Pace::Steps(REFERENCE_GAP_STEPS),
    duplicates_percent: 2,
    crashes_percent: 0,
    attack: None,
};

const JOINERS_ACT: Scenario = Scenario {
    id: "s4",
    title: "S4 joiners act at once",
    goal: Goal::PerMillion(200),
    weight: 30,
    removals: Removals::Any,
    joiners_act: true,
    pace: Pace::Steps(BURST_GAP_STEPS),
    ..STRESS
};

const EXACT: Scenario = Scenario {
    id: "exact",
    title: "exact 5.5 setting",
    goal: Goal::PerMillion(2_000),
    weight: 20,
    founders: (3, 3),
    changes: (12, 12),
    ..JOINERS_ACT
};

const ATTACKED: Scenario = Scenario {
    goal: Goal::NoPuppet,
    weight: 2,
    founders: (4, 8),
    changes: (8, 14),
    ..JOINERS_ACT
};

const fn attacked(id: &'static str, title: &'static str, begins: Begins, arts: Arts) -> Scenario {
    Scenario {
        id,
        title,
        attack: Some(Attack { begins, arts }),
        ..ATTACKED
    }
}

const PUPPETS: Arts = Arts {
    puppets: true,
    ..Arts::NONE
};

/// All of them, in the order in which they are told.
pub const SCENARIOS: [Scenario; 20] = [
    STRESS,
    Scenario {
        id: "s2",
        title: "S2 and passive removed",
        removals: Removals::Passive,
        ..STRESS
    },
    Scenario {
        id: "s3",
        title: "S3 acting removed, leave",
        weight: 8,
        removals: Removals::Any,
        ..STRESS
    },
    JOINERS_ACT,
    Scenario {
        id: "crashes",
        title: "S4, 3 % crashes, 10 % duplicates",
        weight: 20,
        duplicates_percent: 10,
        crashes_percent: 3,
        ..JOINERS_ACT
    },
    EXACT,
    Scenario {
        id: "big",
        title: "big: 20 devices, 40 changes",
        goal: Goal::Never,
        weight: 15,
        founders: (20, 20),
        changes: (40, 40),
        ..JOINERS_ACT
    },
    Scenario {
        id: "overflow",
        title: "overflow: 29-30 devices of 32, 8-12 changes",
        goal: Goal::PerMillion(10_000),
        weight: 8,
        founders: (29, 30),
        changes: (8, 12),
        joiners_act: true,
        pace: Pace::Steps(BURST_GAP_STEPS),
        ..STRESS
    },
    Scenario {
        id: "weeks",
        title: "weeks: changes over weeks, away for 1-20 days",
        goal: Goal::PerMillion(2_000),
        weight: 5,
        changes: (12, 24),
        pace: Pace::Days,
        ..JOINERS_ACT
    },
    Scenario {
        id: "old",
        title: "old group: 300 changes, compacted",
        goal: Goal::Never,
        weight: 5,
        founders: (3, 3),
        changes: (300, 300),
        removals: Removals::Joiners,
        pace: Pace::Quiet,
        ..JOINERS_ACT
    },
    Scenario {
        goal: Goal::Shown,
        ..attacked(
            "at-once",
            "removed device signs at once",
            Begins::AtOnce,
            Arts::ALL,
        )
    },
    attacked(
        "known",
        "removed device signs once all know",
        Begins::OnceKnown,
        Arts::ALL,
    ),
    attacked(
        "month",
        "removed device signs 31 days later",
        Begins::DaysAfter(31),
        Arts::ALL,
    ),
    attacked(
        "puppets",
        "once all know, puppets alone",
        Begins::OnceKnown,
        PUPPETS,
    ),
    attacked(
        "jumps",
        "once all know, puppets, version jumps",
        Begins::OnceKnown,
        Arts {
            jumps: true,
            ..PUPPETS
        },
    ),
    attacked(
        "parents",
        "once all know, puppets, any old parent",
        Begins::OnceKnown,
        Arts {
            old_parents: true,
            ..PUPPETS
        },
    ),
    attacked(
        "pending",
        "once all know, sends to pending joiners first",
        Begins::OnceKnown,
        Arts {
            pending: true,
            ..Arts::ALL
        },
    ),
    attacked(
        "seeded",
        "puppets named early, sign once they were closed",
        Begins::AfterClosing,
        Arts::ALL,
    ),
    attacked(
        "history",
        "removed admitter sends forged history 400 days later",
        Begins::DaysAfter(400),
        Arts {
            history: true,
            ..Arts::ALL
        },
    ),
    Scenario {
        goal: Goal::Shown,
        pace: Pace::Days,
        changes: (12, 24),
        ..attacked(
            "rogue-weeks",
            "removed device signs over weeks, others away for 1-20 days",
            Begins::AtOnce,
            Arts::ALL,
        )
    },
];

impl Scenario {
    /// The scenario with this id.
    #[must_use]
    pub fn find(id: &str) -> Option<&'static Self> {
        SCENARIOS.iter().find(|scenario| scenario.id == id)
    }

    /// Whether a removed device attacks in it.
    #[must_use]
    pub const fn is_attacked(&self) -> bool {
        self.attack.is_some()
    }

    pub(super) fn weather(&self, fault: Fault) -> Weather {
        Weather {
            duplicates_percent: self.duplicates_percent,
            crashes_percent: self.crashes_percent,
            fault,
        }
    }
}
