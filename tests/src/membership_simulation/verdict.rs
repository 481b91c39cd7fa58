//! Judges a history that has come to rest; section 1 of the membership rule.
//!
//! An admission is excused if somebody who removed its admitter didn't list the newcomer at
//! that moment, and then so is what the newcomer did. Two outcomes that no rule can mend are
//! told apart: a *partition*, in which the live devices form camps and nobody lists anybody
//! of another camp, and an *info-death*, in which no live device ever received a removal. One
//! that only devices of another camp received is *unheard* in this one. Everything else is
//! judged camp by camp.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::SignedManifest;

use super::device::{Device, Phase};
use super::fault::Fault;
use super::machine::{Machine, View};
use super::world::{Intent, What, World};

/// What can be wrong at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// Live devices differ in the current manifest or in the members.
    Fork,
    /// An admitted device is not a member, and nobody wanted that.
    LostAdmission,
    /// A removed device is a member.
    UndoneRemoval,
    /// A device that has wiped is a member.
    Ghost,
    /// A live device is not a member.
    Unlisted,
    /// A device has wiped, and nobody wanted that.
    WrongWipe,
    /// It never came to rest.
    NoTermination,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fork => "fork",
            Self::LostAdmission => "lost admission",
            Self::UndoneRemoval => "undone removal",
            Self::Ghost => "ghost",
            Self::Unlisted => "unlisted",
            Self::WrongWipe => "wrong wipe",
            Self::NoTermination => "no termination",
        })
    }
}

/// The outcome of one history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is wrong and shouldn't be.
    pub failures: BTreeSet<Failure>,
    /// The live devices form camps.
    pub is_partition: bool,
    /// A removal reached no live device.
    pub is_info_death: bool,
    /// A removal reached live devices of one camp, and none of another.
    pub is_unheard: bool,
    /// One that counts as unheard did reach that camp, but only signed by somebody whom it
    /// holds in limbo.
    pub is_heard_from_limbo: bool,
    /// A member lists a removed device that went on signing, or one of its puppets.
    pub lists_rogue: bool,
}

/// Judges a world at rest.
pub(crate) fn judge<M: Machine>(world: &World<M>, is_at_rest: bool) -> Verdict {
    let mut judge = Judge::new(world);
    if !is_at_rest {
        judge.fail(Failure::NoTermination);
    }
    judge.verdict.lists_rogue = world.lists_rogue();
    judge.verdict.is_partition = judge.camps.len() > 1;
    for camp in judge.camps.clone() {
        judge.judge_agreement(&camp);
        judge.judge_removals(&camp);
        judge.judge_lists(&camp);
    }
    judge.judge_admissions();
    judge.judge_wipes();
    judge.verdict
}

type Camp = BTreeSet<usize>;

struct Judge<'a, M> {
    world: &'a World<M>,
    views: BTreeMap<usize, View>,
    camps: Vec<Camp>,
    verdict: Verdict,
}

impl<'a, M: Machine> Judge<'a, M> {
    fn new(world: &'a World<M>) -> Self {
        let live = world.live();
        let views = live.filter_map(|at| Some((at, world.devices[at].machine()?.view().clone())));
        let mut views: BTreeMap<usize, View> = views.collect();
        if world.weather.fault == Fault::ForgottenMember
            && let Some(view) = views.values_mut().next()
        {
            view.pop_last();
        }
        let mut judge = Self {
            world,
            views,
            camps: Vec::new(),
            verdict: Verdict::default(),
        };
        judge.camps = judge.camps();
        judge
    }

    fn device(&self, at: usize) -> &'a Device<M> {
        &self.world.devices[at]
    }

    fn lists(&self, lister: usize, listed: usize) -> bool {
        let key = self.device(listed).key();
        let view = self.views.get(&lister);
        view.is_some_and(|view| view.contains_key(&key))
    }

    fn is_in_any_view(&self, camp: &Camp, at: usize) -> bool {
        camp.iter().any(|lister| self.lists(*lister, at))
    }

    fn fail(&mut self, failure: Failure) {
        self.verdict.failures.insert(failure);
    }

    /// The groups of live devices that know nothing of each other.
    fn camps(&self) -> Vec<Camp> {
        let mut left: Camp = self.views.keys().copied().collect();
        let mut camps = Vec::new();
        while let Some(first) = left.pop_first() {
            let mut camp = Camp::from([first]);
            let mut reached = vec![first];
            while let Some(one) = reached.pop() {
                let is_near = |two: &usize| self.lists(one, *two) || self.lists(*two, one);
                let near: Vec<_> = left.iter().copied().filter(is_near).collect();
                left.retain(|two| !near.contains(two));
                camp.extend(&near);
                reached.extend(near);
            }
            camps.push(camp);
        }
        camps
    }

    fn judge_agreement(&mut self, camp: &Camp) {
        let machines = camp.iter().filter_map(|at| self.device(*at).machine());
        let currents: BTreeSet<_> = machines.map(|machine| machine.current().hash()).collect();
        let views: BTreeSet<_> = camp.iter().map(|at| &self.views[at]).collect();
        if currents.len() > 1 || views.len() > 1 {
            self.fail(Failure::Fork);
        }
    }

    fn intents(&self, is_wanted: impl Fn(&Intent) -> bool) -> impl Iterator<Item = &'a Intent> {
        let intents = self.world.intents.iter();
        intents.filter(move |intent| is_wanted(intent))
    }

    /// Every device that somebody admitted is in every view of its camp.
    fn judge_admissions(&mut self) {
        let lost = self
            .intents(|intent| intent.what == What::Admit)
            .any(|intent| self.is_admission_lost(intent));
        if lost {
            self.fail(Failure::LostAdmission);
        }
    }

    /// A device that lives in a camp has to be in every view of it; any other in all views.
    fn is_admission_lost(&self, intent: &Intent) -> bool {
        let target = intent.target;
        let everybody = self.views.keys().copied().collect();
        let own = self.camps.iter().find(|camp| camp.contains(&target));
        let camp = own.unwrap_or(&everybody);
        let is_missing = if own.is_some() || self.camps.len() == 1 {
            !camp.iter().all(|lister| self.lists(*lister, target))
        } else {
            !camp.is_empty() && !self.is_in_any_view(camp, target)
        };
        is_missing && !self.is_meant_to_go(target) && !self.is_admission_excused(target)
    }

    fn judge_removals(&mut self, camp: &Camp) {
        let removals: Vec<_> = self.intents(|intent| intent.what == What::Remove).collect();
        for intent in removals {
            if !self.is_in_any_view(camp, intent.target) {
                continue;
            }
            if !self.is_unmendable(camp, intent.target) && !self.is_removal_excused(intent) {
                self.fail(Failure::UndoneRemoval);
            }
        }
    }

    /// Whether somebody wanted this device removed, itself included, or the group was full.
    fn is_meant_to_go(&self, target: usize) -> bool {
        let mut goes = self.intents(|i| i.what != What::Admit && i.target == target);
        let key = self.device(target).key();
        goes.next().is_some() || self.world.dropped.contains(&key)
    }

    fn removals_of(&self, target: usize) -> impl Iterator<Item = &'a SignedManifest> {
        let issued = &self.world.issued;
        self.intents(move |intent| intent.what != What::Admit && intent.target == target)
            .filter_map(|intent| issued.get(&intent.manifest?))
    }

    fn is_admission_excused(&self, target: usize) -> bool {
        let key = self.device(target).key();
        let mut admissions = self.intents(|i| i.what == What::Admit && i.target == target);
        admissions.any(|intent| {
            let mut removals = self.removals_of(intent.by);
            removals.any(|removal| !removal.lists(&key)) || self.is_admission_excused(intent.by)
        })
    }

    fn is_removal_excused(&self, intent: &Intent) -> bool {
        let key = self.device(intent.target).key();
        let mut removals = self.removals_of(intent.by);
        removals.any(|removal| removal.lists(&key)) || self.is_admission_excused(intent.by)
    }

    /// Whether nobody live, or nobody of this camp, knows that this device was removed.
    fn is_unmendable(&mut self, camp: &Camp, target: usize) -> bool {
        let everybody = self.views.keys().copied().collect();
        if !self.has_reached(&everybody, target) {
            self.verdict.is_info_death = true;
            return true;
        }
        let is_unheard = !self.has_reached_by_members(camp, target);
        self.verdict.is_unheard |= is_unheard;
        self.verdict.is_heard_from_limbo |= is_unheard && self.has_reached(camp, target);
        is_unheard
    }

    /// The manifests that remove this device.
    fn removals_against(&self, target: usize) -> impl Iterator<Item = &'a SignedManifest> {
        let key = self.device(target).key();
        let issued = &self.world.issued;
        issued.values().filter(move |manifest| {
            let parent = manifest.parent().and_then(|parent| issued.get(&parent));
            !manifest.lists(&key) && parent.is_some_and(|parent| parent.lists(&key))
        })
    }

    /// Whether any of these devices ever received a manifest that removes this one.
    fn has_reached(&self, some: &Camp, target: usize) -> bool {
        self.removals_against(target).any(|removal| {
            let mut some = some.iter();
            some.any(|at| self.device(*at).received.contains(&removal.hash()))
        })
    }

    /// Whether any device of a camp received a removal that counts there: what somebody signs
    /// whose admission may rightly be void can't, as long as the camp holds it in limbo.
    fn has_reached_by_members(&self, camp: &Camp, target: usize) -> bool {
        self.removals_against(target).any(|removal| {
            let may_be_void = self.may_be_void(removal.issuer());
            camp.iter().any(|at| {
                let device = self.device(*at);
                let limbo = device.machine().map(Machine::limbo).unwrap_or_default();
                let is_void = may_be_void && limbo.contains(removal.issuer());
                device.received.contains(&removal.hash()) && !is_void
            })
        })
    }

    /// Whether a key's admission is excused, whatever any device makes of it.
    fn may_be_void(&self, key: &SigningPublic) -> bool {
        let devices = self.world.devices.iter().enumerate();
        let mut of_key = devices.filter(|(_, device)| device.key() == *key);
        of_key.any(|(at, _)| self.is_admission_excused(at))
    }

    /// Nobody is listed who has wiped, and everybody is who lives.
    fn judge_lists(&mut self, camp: &Camp) {
        for (at, device) in self.world.devices.iter().enumerate() {
            let is_listed = device.is_gone() && self.is_in_any_view(camp, at);
            if is_listed && !self.is_unmendable(camp, at) {
                self.fail(Failure::Ghost);
            }
        }
        let is_listed = |at: &usize| camp.iter().all(|lister| self.lists(*lister, *at));
        if !camp.iter().all(is_listed) {
            self.fail(Failure::Unlisted);
        }
    }

    fn judge_wipes(&mut self) {
        for (at, device) in self.world.devices.iter().enumerate() {
            let is_wiped = matches!(device.phase, Phase::Removed);
            if is_wiped && !self.is_meant_to_go(at) && !self.is_admission_excused(at) {
                self.fail(Failure::WrongWipe);
            }
        }
    }
}
