//! The schedules: who acts, what is changed and how often, and what must come of it.

use super::device::Device;
use super::fault::Fault;
use super::machine::Machine;
use super::rogue::Arts;
use super::verdict::{Verdict, judge};
use super::world::{Weather, World};

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

/// One in so many steps the rogue signs something.
const ROGUE_EVERY_STEPS: u64 = 4;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The time after which nothing of a removed issuer is taken any more, and a day.
const LONG_AFTER_MS: u64 = 31 * DAY_MS;

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
    founders: (u64, u64),
    /// The fewest and most changes.
    changes: (u64, u64),
    removals: Removals,
    /// Whether a joiner changes the membership as soon as it is a member.
    joiners_act: bool,
    duplicates_percent: u64,
    crashes_percent: u64,
    attack: Option<Attack>,
}

/// What a scenario must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// At most so many histories in a million break the rule.
    PerMillion(u64),
    /// No puppet is a member at the end.
    NoPuppet,
    /// Nothing: the removed device still is a member for those who haven't heard.
    Shown,
}

/// Who may be removed, or leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Removals {
    /// Nobody.
    None,
    /// Devices that change nothing themselves.
    Passive,
    /// Everybody; and devices leave.
    Any,
}

/// A device that is removed half way and goes on signing.
#[derive(Clone, Copy, Debug)]
struct Attack {
    begins: Begins,
    arts: Arts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    /// While its removal spreads.
    AtOnce,
    /// When everybody knows of its removal.
    OnceKnown,
    /// A month later.
    LongAfter,
}

const STRESS: Scenario = Scenario {
    id: "s1",
    title: "S1 admissions only",
    goal: Goal::PerMillion(0),
    weight: 6,
    founders: (3, 8),
    changes: (5, 12),
    removals: Removals::None,
    joiners_act: false,
    duplicates_percent: 2,
    crashes_percent: 0,
    attack: None,
};

const JOINERS_ACT: Scenario = Scenario {
    id: "s4",
    title: "S4 joiners act at once",
    goal: Goal::PerMillion(200),
    weight: 20,
    removals: Removals::Any,
    joiners_act: true,
    ..STRESS
};

const EXACT: Scenario = Scenario {
    id: "exact",
    title: "exact 5.5 setting",
    goal: Goal::PerMillion(2_000),
    weight: 15,
    founders: (3, 3),
    changes: (12, 12),
    ..JOINERS_ACT
};

const ATTACKED: Scenario = Scenario {
    goal: Goal::NoPuppet,
    weight: 3,
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

const ALONE: Arts = Arts {
    puppets: false,
    jumps: false,
    old_parents: false,
};

/// All of them, in the order in which they are told.
pub const SCENARIOS: [Scenario; 14] = [
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
        weight: 10,
        removals: Removals::Any,
        ..STRESS
    },
    JOINERS_ACT,
    Scenario {
        id: "crashes",
        title: "S4, 3 % crashes, 10 % duplicates",
        weight: 10,
        duplicates_percent: 10,
        crashes_percent: 3,
        ..JOINERS_ACT
    },
    EXACT,
    Scenario {
        id: "big",
        title: "big: 20 devices, 40 changes",
        goal: Goal::PerMillion(0),
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
        ..STRESS
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
        Begins::LongAfter,
        Arts::ALL,
    ),
    attacked(
        "puppets",
        "once all know, puppets alone",
        Begins::OnceKnown,
        Arts {
            puppets: true,
            ..ALONE
        },
    ),
    attacked(
        "jumps",
        "once all know, puppets, version jumps",
        Begins::OnceKnown,
        Arts {
            puppets: true,
            jumps: true,
            ..ALONE
        },
    ),
    attacked(
        "parents",
        "once all know, puppets, any old parent",
        Begins::OnceKnown,
        Arts {
            puppets: true,
            old_parents: true,
            ..ALONE
        },
    ),
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

    fn weather(&self, fault: Fault) -> Weather {
        Weather {
            duplicates_percent: self.duplicates_percent,
            crashes_percent: self.crashes_percent,
            fault,
        }
    }

    /// One history; nothing where the attack had no occasion.
    pub(crate) fn run<M: Machine>(
        &self,
        seed: u64,
        fault: Fault,
        is_told: bool,
    ) -> (Option<Verdict>, World<M>) {
        let mut world = World::new(seed, self.weather(fault));
        world.journal = is_told.then(Vec::new);
        let founders = world.between(self.founders.0, self.founders.1);
        world.found(usize::try_from(founders).expect("a few"));
        let changes = world.between(self.changes.0, self.changes.1);
        for change in 0..changes {
            if let Some(attack) = self.attack.filter(|_| change == changes / 2)
                && !begin(attack, &mut world)
            {
                return (None, world);
            }
            self.change(&mut world);
            for _ in 0..world.below(CHANGE_GAP_STEPS) {
                if world.below(AWAY_EVERY_STEPS) == 0 {
                    let steps = world.between(AWAY_STEPS.0, AWAY_STEPS.1);
                    world.send_away(steps);
                }
                if world.rogue.is_some() && world.below(ROGUE_EVERY_STEPS) == 0 {
                    world.rogue_acts();
                }
                world.step();
            }
        }
        let is_at_rest = world.settle();
        (Some(judge(&world, is_at_rest)), world)
    }

    /// One random change by a random device.
    fn change<M: Machine>(&self, world: &mut World<M>) {
        let actors = devices(world, |device| {
            (device.is_founder || self.joiners_act) && device.is_listed()
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

    fn remove<M: Machine>(&self, world: &mut World<M>, by: usize) {
        let machine = world.devices[by].machine();
        let view = machine.map(|machine| machine.view().clone());
        let view = view.unwrap_or_default();
        let me = world.devices[by].key();
        let is_any = self.removals == Removals::Any;
        let targets = devices(world, |device| {
            view.contains_key(&device.key()) && device.key() != me && (is_any || !device.is_founder)
        });
        match world.pick(&targets) {
            Some(target) => world.remove(by, target),
            None => {
                world.admit(by);
            }
        }
    }
}

/// Removes a member, which doesn't obey. Returns whether the attack can begin.
fn begin<M: Machine>(attack: Attack, world: &mut World<M>) -> bool {
    let live = devices(world, Device::is_listed);
    let Some(by) = world.pick(&live) else {
        return false;
    };
    let (me, view) = {
        let device = &world.devices[by];
        let machine = device.machine();
        (device.key(), machine.map(|machine| machine.view().clone()))
    };
    let view = view.unwrap_or_default();
    let targets = devices(world, |device| {
        device.key() != me && device.is_listed() && view.contains_key(&device.key())
    });
    let Some(target) = world.pick(&targets) else {
        return false;
    };
    let known = world.devices[target].machine().map(Machine::held);
    world.turn_rogue(target, attack.arts, known.unwrap_or_default());
    world.remove(by, target);
    if attack.begins == Begins::AtOnce {
        return true;
    }
    world.settle();
    if attack.begins == Begins::LongAfter {
        world.now_ms += LONG_AFTER_MS;
    }
    world.tick();
    let key = world.devices[target].key();
    let mut machines = world.devices.iter().filter_map(Device::machine);
    machines.all(|machine| machine.knows_removed(&key))
}

fn devices<M: Machine>(world: &World<M>, is_wanted: impl Fn(&Device<M>) -> bool) -> Vec<usize> {
    let devices = world.devices.iter().enumerate();
    devices
        .filter(|(_, device)| is_wanted(device))
        .map(|(at, _)| at)
        .collect()
}
