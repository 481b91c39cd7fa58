//! One history of a scenario: the changes, the time between them, and the attack.

use super::device::Device;
use super::fault::Fault;
use super::machine::Machine;
use super::scenario::{Attack, Begins, DAY_MS, Pace, Removals, Scenario};
use super::verdict::{Verdict, judge};
use super::world::World;

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

/// The longest time between two changes over weeks.
const GAP_DAYS_MS: u64 = 2 * DAY_MS;

/// The shortest and longest absence over weeks, in days.
const AWAY_DAYS: (u64, u64) = (1, 20);

/// Of a hundred changes over weeks so many are followed by somebody's going away.
const AWAY_PERCENT: u64 = 40;

/// What a rogue signs while its removal spreads, where it goes on only later.
const SEEDS: usize = 6;

/// The time after which everything in limbo has been closed, and a day.
const CLOSED_AFTER_MS: u64 = 17 * DAY_MS;

/// The size above which an old group removes rather than admits.
const OLD_GROUP_MEMBERS: usize = 3;

impl Scenario {
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
            self.pass_time(&mut world);
        }
        let is_at_rest = world.settle();
        world.note_ends();
        (Some(judge(&world, is_at_rest)), world)
    }

    /// The time until the next change.
    fn pass_time<M: Machine>(&self, world: &mut World<M>) {
        match self.pace {
            Pace::Steps(most) => {
                for _ in 0..world.below(most) {
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
            Pace::Days => {
                if world.percent(AWAY_PERCENT) {
                    let days = world.between(AWAY_DAYS.0, AWAY_DAYS.1);
                    world.send_away_for(days * DAY_MS);
                }
                world.rogue_acts();
                let gap_ms = world.below(GAP_DAYS_MS);
                world.pass(gap_ms);
            }
            Pace::Quiet => {
                world.settle();
            }
        }
    }

    /// One random change by a random device.
    fn change<M: Machine>(&self, world: &mut World<M>) {
        let actors = devices(world, |at, device| {
            let acts = device.is_founder || self.joiners_act;
            acts && device.is_listed() && !self.is_passive(at, device)
        });
        let Some(by) = world.pick(&actors) else {
            return;
        };
        let size = world.devices[by].machine().map_or(0, |m| m.view().len());
        let dice = world.below(100);
        match self.removals {
            // A group that only grows would be a big one, not an old one.
            _ if self.pace == Pace::Quiet && size > OLD_GROUP_MEMBERS => self.remove(world, by),
            Removals::Any if dice < LEAVE_PERCENT && size > 1 => world.leave(by),
            Removals::Any | Removals::Passive | Removals::Joiners if dice < GOING_PERCENT => {
                self.remove(world, by)
            }
            Removals::Any | Removals::Passive | Removals::Joiners | Removals::None => {
                world.admit(by);
            }
        }
    }

    fn is_passive<M: Machine>(&self, at: usize, device: &Device<M>) -> bool {
        self.removals == Removals::Passive && device.is_founder && at % 2 == 1
    }

    fn remove<M: Machine>(&self, world: &mut World<M>, by: usize) {
        let machine = world.devices[by].machine();
        let view = machine.map(|machine| machine.view().clone());
        let view = view.unwrap_or_default();
        let me = world.devices[by].key();
        let targets = devices(world, |at, device| {
            let may_go = match self.removals {
                Removals::Any => true,
                Removals::Joiners => !device.is_founder,
                Removals::Passive => self.is_passive(at, device),
                Removals::None => false,
            };
            view.contains_key(&device.key()) && device.key() != me && may_go
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
    let live = devices(world, |_, device| device.is_listed());
    let Some(by) = world.pick(&live) else {
        return false;
    };
    let device = &world.devices[by];
    let me = device.key();
    let view = device.machine().map(|machine| machine.view().clone());
    let view = view.unwrap_or_default();
    let targets = devices(world, |at, device| {
        let is_apt = !attack.arts.history || world.is_admitter_of_a_member(at);
        device.key() != me && device.is_listed() && view.contains_key(&device.key()) && is_apt
    });
    let Some(target) = world.pick(&targets) else {
        return false;
    };
    let known = world.devices[target].machine().map(Machine::held);
    world.turn_rogue(target, attack.arts, known.unwrap_or_default());
    world.remove(by, target);
    match attack.begins {
        Begins::AtOnce => return true,
        Begins::OnceKnown => {
            world.settle();
        }
        Begins::DaysAfter(days) => {
            world.settle();
            world.pass(days * DAY_MS);
        }
        Begins::AfterClosing => {
            for _ in 0..SEEDS {
                world.rogue_acts();
            }
            world.settle();
            world.pass(CLOSED_AFTER_MS);
            world.settle();
        }
    }
    world.tick();
    is_known_by_all(world, target) && !world.lists_rogue()
}

fn is_known_by_all<M: Machine>(world: &World<M>, removed: usize) -> bool {
    let key = world.devices[removed].key();
    let mut machines = world.devices.iter().filter_map(Device::machine);
    machines.all(|machine| machine.knows_removed(&key))
}

fn devices<M: Machine>(
    world: &World<M>,
    is_wanted: impl Fn(usize, &Device<M>) -> bool,
) -> Vec<usize> {
    let devices = world.devices.iter().enumerate();
    devices
        .filter(|(at, device)| is_wanted(*at, device))
        .map(|(at, _)| at)
        .collect()
}
