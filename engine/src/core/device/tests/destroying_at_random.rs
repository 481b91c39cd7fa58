//! A group is destroyed while its members come, go, leave, restart and are away: whole devices,
//! everything at random, each history from its seed.
//!
//! Whoever learns that the group is over tells everybody in its list before it is wiped. So at
//! the end nobody is left whom such a device listed; where nobody destroyed the group, nobody
//! is told so. A device can be left over only if nobody who was told knew it: it was let in by
//! one that left or was removed at the same moment.
//!
//! Spec: 5.6, 5.7.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::GroupId;

use super::mail::{Mail, group};
use crate::core::membership::Membership;
use crate::core::rig::{Rig, SECOND_MS, Store};
use crate::core::status::{Ending, Phase};

/// Histories in a test run.
const HISTORIES: u64 = 150;

const FOUNDERS: usize = 4;

const JOINERS: usize = 3;

/// Random events in a history; after half of them the group may be destroyed.
const EVENTS: u64 = 120;

const MINUTE_MS: u64 = 60 * SECOND_MS;

/// Pushes and deliveries after which a history counts as one that never comes to rest.
const SETTLING_MAX: usize = 5_000;

/// What is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// One device ignores that the group is destroyed.
    Deaf,
}

/// One history.
struct History {
    mail: Mail,
    /// The group that is destroyed.
    group: GroupId,
    rng: ChaCha8Rng,
    fault: Fault,
    away: BTreeSet<usize>,
    /// Who destroyed the group of its own accord.
    destroyer: Option<usize>,
    /// Whom each device that learned of the end listed then.
    told: BTreeMap<usize, BTreeSet<SigningPublic>>,
}

impl History {
    fn new(stores: &[Store], seed: u64, fault: Fault) -> Self {
        let mail = Mail::new(stores, None);
        Self {
            group: group_of(&mail.rigs[0]).expect("a founder"),
            mail,
            rng: ChaCha8Rng::seed_from_u64(seed),
            fault,
            away: BTreeSet::new(),
            destroyer: None,
            told: BTreeMap::new(),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.next_u32() as usize % bound
    }

    fn run(mut self, is_destroyed: bool) -> Self {
        for event in 0..EVENTS {
            self.happen(is_destroyed && self.destroyer.is_none() && event > EVENTS / 2);
        }
        self.away.clear();
        for _ in 0..20 {
            for _ in 0..SETTLING_MAX {
                if !self.move_one() {
                    break;
                }
            }
            for index in 0..self.mail.rigs.len() {
                self.mail.pass(index, MINUTE_MS);
                self.notice(index);
            }
        }
        assert!(!self.move_one(), "it comes to rest");
        self
    }

    /// One random event at a random device.
    fn happen(&mut self, may_destroy: bool) {
        let index = self.below(self.mail.rigs.len());
        match self.below(40) {
            0 | 13 | 14 => self.join(index),
            1 | 2 | 15 | 16 => self.accept(index),
            3 => self.remove(index),
            4 if self.below(2) == 0 => {
                let rig = &mut self.mail.rigs[index];
                let _ = rig.device.handle_leave(rig.now_ms);
            }
            5 => {
                self.away.insert(index);
            }
            6 | 7 => {
                self.away.remove(&index);
            }
            8 => self.mail.restart(index),
            9 => self.mail.pass(index, MINUTE_MS),
            10..=12 if may_destroy => self.destroy(index),
            _ => {
                self.move_one();
            }
        }
        self.mail.step(index);
        self.notice(index);
    }

    fn join(&mut self, index: usize) {
        let joiner = FOUNDERS + self.below(JOINERS);
        let rig = &mut self.mail.rigs[index];
        if rig.store.phase != Phase::Member {
            return;
        }
        let token = rig.device.handle_start_pairing(rig.now_ms, &mut rig.rng);
        let rig = &mut self.mail.rigs[joiner];
        if let (Ok(token), Phase::NotJoined) = (token, rig.store.phase) {
            let _ = rig.device.handle_join(&token, rig.now_ms);
            self.mail.step(joiner);
        }
    }

    fn accept(&mut self, index: usize) {
        let rig = &mut self.mail.rigs[index];
        let window = rig.device.pairing().window;
        let request = window.and_then(|window| window.requests.first().map(|first| first.id));
        if let Some(request) = request {
            let _ = rig.device.handle_accept(request, rig.now_ms, &mut rig.rng);
        }
    }

    fn remove(&mut self, index: usize) {
        let members = self.mail.rigs[index].device.members();
        if !members.is_empty() {
            let target = members[self.below(members.len())].keys.signing.member_id();
            let rig = &mut self.mail.rigs[index];
            let _ = rig.device.handle_remove(&target, rig.now_ms);
        }
    }

    fn destroy(&mut self, index: usize) {
        let group = self.group;
        let rig = &mut self.mail.rigs[index];
        if group_of(rig) == Some(group) && rig.device.handle_destroy(rig.now_ms).is_ok() {
            self.destroyer = Some(index);
        }
    }

    fn move_one(&mut self) -> bool {
        let deaf = (self.fault == Fault::Deaf).then(|| self.mail.rigs[0].store.clone());
        let is_moved = self.mail.move_one(&self.away, &mut self.rng);
        if let Some(before) = deaf
            && self.mail.rigs[0].store.phase == Phase::Ending(Ending::Destroyed)
            && before.phase == Phase::Member
        {
            self.mail.rigs[0].store = before;
            self.mail.restart(0);
        }
        for index in 0..self.mail.rigs.len() {
            self.notice(index);
        }
        is_moved
    }

    /// Writes down whom a device lists that has learned that the group is over.
    fn notice(&mut self, index: usize) {
        let rig = &self.mail.rigs[index];
        let is_over = rig.store.phase == Phase::Ending(Ending::Destroyed);
        if is_over && group_of(rig) == Some(self.group) {
            let members = rig.device.members().into_iter();
            let listed = members.map(|member| member.keys.signing);
            self.told.entry(index).or_default().extend(listed);
        }
    }

    /// Those that still have the group.
    fn members(&self) -> impl Iterator<Item = (usize, &Rig)> {
        let rigs = self.mail.rigs.iter().enumerate();
        rigs.filter(|(_, rig)| {
            rig.store.phase == Phase::Member && group_of(rig) == Some(self.group)
        })
    }

    /// The devices that are left although somebody who was told of the end listed them.
    fn forgotten(&self) -> Vec<usize> {
        let left = self.members().filter(|(_, rig)| {
            let key = rig.device.keys().signing;
            self.told.values().any(|listed| listed.contains(&key))
        });
        left.map(|(index, _)| index).collect()
    }
}

fn group_of(rig: &Rig) -> Option<GroupId> {
    rig.device.membership.as_ref().map(Membership::group_id)
}

/// The stores of a group and of devices that may join it, made once.
fn stores() -> Vec<Store> {
    let joiners = (0..JOINERS).map(|joiner| Rig::new(70 + joiner as u64, "joiner").store);
    group(FOUNDERS).into_iter().chain(joiners).collect()
}

#[test]
fn a_group_that_is_destroyed_while_it_changes_is_destroyed_everywhere() {
    let stores = stores();
    let (mut destroyed, mut joined, mut left) = (0, 0, 0);
    for seed in 0..HISTORIES {
        let history = History::new(&stores, seed, Fault::None).run(true);
        assert_eq!(history.forgotten(), [0; 0], "seed {seed}");
        if history.destroyer.is_some() {
            destroyed += 1;
            joined += history.told.keys().filter(|at| **at >= FOUNDERS).count();
            left += history.members().count();
        }
    }
    println!("{destroyed} destroyed, {joined} joiners told, {left} devices left over");
    assert!(destroyed > HISTORIES / 2, "only {destroyed} were destroyed");
    assert!(joined > 5, "only {joined} joiners were told");
    assert!(left < 10, "{left} devices are left over");
}

#[test]
fn a_group_that_nobody_destroys_ends_for_nobody() {
    let stores = stores();
    for seed in 0..HISTORIES / 3 {
        let history = History::new(&stores, seed, Fault::None).run(false);
        assert!(history.told.is_empty(), "seed {seed}");
        assert!(history.members().count() > 0, "seed {seed}");
    }
}

#[test]
fn a_device_that_ignores_the_end_of_a_group_is_noticed() {
    let stores = stores();
    let noticed = (0..HISTORIES / 3).filter(|seed| {
        let history = History::new(&stores, *seed, Fault::Deaf).run(true);
        history.forgotten().contains(&0)
    });
    assert!(noticed.count() > 5, "a deaf device is left over");
}
