//! Judges a history that has come to rest.
//!
//! An admission is excused if somebody who removed its admitter didn't list the newcomer at
//! that moment, and then so is what the newcomer did. Two outcomes that no rule can mend are
//! told apart: a *partition*, in which the live devices form camps and nobody lists anybody
//! of another camp, and an *info-death*, in which no live device ever received a removal.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{Member, SignedManifest};

use crate::device::{Device, Phase};
use crate::fault::Fault;
use crate::world::{Intent, What, World};

/// What can be wrong at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failure {
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

/// The outcome of one history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// What is wrong and shouldn't be.
    pub(crate) failures: BTreeSet<Failure>,
    /// The live devices form camps.
    pub(crate) is_partition: bool,
    /// A removal reached no live device.
    pub(crate) is_info_death: bool,
}

type View = BTreeMap<SigningPublic, Member>;

/// Judges a world at rest.
pub(crate) fn judge(world: &World, is_at_rest: bool) -> Verdict {
    let mut judge = Judge::new(world);
    if !is_at_rest {
        judge.verdict.failures.insert(Failure::NoTermination);
    }
    judge.verdict.is_partition = judge.camps() > 1;
    if !judge.verdict.is_partition {
        judge.judge_agreement();
        judge.judge_intents();
        judge.judge_lists();
        judge.judge_wipes();
    }
    judge.verdict
}

struct Judge<'a> {
    world: &'a World,
    views: BTreeMap<usize, View>,
    verdict: Verdict,
}

impl<'a> Judge<'a> {
    fn new(world: &'a World) -> Self {
        let devices = world.devices.iter().enumerate();
        let live = devices.filter_map(|(at, d)| Some((at, d.membership()?.view().clone())));
        let mut views: BTreeMap<usize, View> = live.collect();
        if world.fault == Fault::ForgottenMember
            && let Some(view) = views.values_mut().next()
        {
            view.pop_last();
        }
        Self {
            world,
            views,
            verdict: Verdict::default(),
        }
    }

    fn device(&self, at: usize) -> &'a Device {
        &self.world.devices[at]
    }

    fn is_in_any_view(&self, at: usize) -> bool {
        let key = self.device(at).key();
        self.views.values().any(|view| view.contains_key(&key))
    }

    fn is_in_every_view(&self, at: usize) -> bool {
        let key = self.device(at).key();
        self.views.values().all(|view| view.contains_key(&key))
    }

    fn fail(&mut self, failure: Failure) {
        self.verdict.failures.insert(failure);
    }

    /// The number of groups of live devices that know nothing of each other.
    fn camps(&self) -> usize {
        let mut left: BTreeSet<usize> = self.views.keys().copied().collect();
        let mut camps = 0;
        while let Some(first) = left.pop_first() {
            camps += 1;
            let mut reached = vec![first];
            while let Some(one) = reached.pop() {
                let near: Vec<_> = left
                    .iter()
                    .copied()
                    .filter(|two| self.are_linked(one, *two))
                    .collect();
                for two in near {
                    left.remove(&two);
                    reached.push(two);
                }
            }
        }
        camps
    }

    fn are_linked(&self, one: usize, two: usize) -> bool {
        let lists = |a: usize, b: usize| {
            let key = self.device(b).key();
            self.views
                .get(&a)
                .is_some_and(|view| view.contains_key(&key))
        };
        lists(one, two) || lists(two, one)
    }

    fn judge_agreement(&mut self) {
        let live = self
            .views
            .keys()
            .filter_map(|at| self.device(*at).membership());
        let winners: BTreeSet<_> = live.map(|group| group.current().hash()).collect();
        let views: BTreeSet<_> = self.views.values().collect();
        if winners.len() > 1 || views.len() > 1 {
            self.fail(Failure::Fork);
        }
    }

    fn judge_intents(&mut self) {
        for intent in &self.world.intents {
            match intent.what {
                What::Admit if self.is_admission_lost(intent) => self.fail(Failure::LostAdmission),
                What::Remove if self.is_in_any_view(intent.target) => {
                    self.judge_undone_removal(intent);
                }
                What::Admit | What::Remove | What::Leave => {}
            }
        }
    }

    fn is_admission_lost(&self, intent: &Intent) -> bool {
        !self.views.is_empty()
            && !self.is_in_every_view(intent.target)
            && !self.is_meant_to_go(intent.target)
            && !self.is_admission_excused(intent.target)
    }

    fn judge_undone_removal(&mut self, intent: &Intent) {
        if self.reached_nobody(intent.target) {
            self.verdict.is_info_death = true;
        } else if !self.is_removal_excused(intent) {
            self.fail(Failure::UndoneRemoval);
        }
    }

    /// Whether somebody wanted this device removed, itself included, or the group was full.
    fn is_meant_to_go(&self, target: usize) -> bool {
        let intents = self.world.intents.iter();
        let mut goes = intents.filter(|intent| intent.what != What::Admit);
        let key = self.device(target).key();
        goes.any(|intent| intent.target == target) || self.world.dropped.contains(&key)
    }

    fn removals_of(&self, target: usize) -> impl Iterator<Item = (&'a Intent, &'a SignedManifest)> {
        let world = self.world;
        let intents = world.intents.iter();
        intents
            .filter(move |intent| intent.what != What::Admit && intent.target == target)
            .filter_map(|intent| Some((intent, world.issued.get(&intent.manifest?)?)))
    }

    fn is_admission_excused(&self, target: usize) -> bool {
        let intents = self.world.intents.iter();
        let mut admissions = intents.filter(|i| i.what == What::Admit && i.target == target);
        admissions.any(|intent| {
            let key = self.device(target).key();
            let mut removals = self.removals_of(intent.by);
            removals.any(|(_, removal)| !removal.lists(&key))
                || self.is_admission_excused(intent.by)
        })
    }

    fn is_removal_excused(&self, intent: &Intent) -> bool {
        let key = self.device(intent.target).key();
        let mut removals = self.removals_of(intent.by);
        removals.any(|(_, removal)| removal.lists(&key)) || self.is_admission_excused(intent.by)
    }

    /// Whether no live device ever received a manifest that removes this one.
    fn reached_nobody(&self, target: usize) -> bool {
        let key = self.device(target).key();
        let issued = &self.world.issued;
        let mut removals = issued.values().filter(|manifest| {
            let parent = manifest.parent().and_then(|parent| issued.get(&parent));
            !manifest.lists(&key) && parent.is_some_and(|parent| parent.lists(&key))
        });
        !removals.any(|removal| {
            let mut live = self.views.keys();
            live.any(|at| self.device(*at).received.contains(&removal.hash()))
        })
    }

    /// Nobody is listed who has wiped, and everybody is who lives.
    fn judge_lists(&mut self) {
        for (at, device) in self.world.devices.iter().enumerate() {
            if device.is_gone() && self.is_in_any_view(at) {
                if self.reached_nobody(at) {
                    self.verdict.is_info_death = true;
                } else {
                    self.fail(Failure::Ghost);
                }
            }
            if device.membership().is_some() && !self.is_in_every_view(at) {
                self.fail(Failure::Unlisted);
            }
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
