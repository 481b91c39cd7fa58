//! A relay and devices that can be stopped at any one commit: before it, after it, or after
//! what it pushed has reached the relay and nothing has come back.
//!
//! Every history is run once for each of its commits; the devices go on from their stores,
//! and the relay still has what wasn't acknowledged.

use std::collections::BTreeSet;

use rand_core::RngCore;
use sealpost_protocol::key::NoisePublic;

use crate::core::rig::{Post, Rig, Store, words};
use crate::core::step::{Effect, Push, PushOutcome};

/// Where a device is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    BeforeTheCommit,
    AfterTheCommit,
    AfterThePushes,
}

impl Moment {
    pub(super) const ALL: [Self; 3] = [
        Self::BeforeTheCommit,
        Self::AfterTheCommit,
        Self::AfterThePushes,
    ];
}

struct Blob {
    id: u64,
    recipient: NoisePublic,
    envelope: Vec<u8>,
}

pub(super) struct Mail {
    pub(super) rigs: Vec<Rig>,
    /// The last blob of the session, by device.
    cursors: Vec<u64>,
    blobs: Vec<Blob>,
    in_flight: Vec<(usize, Push)>,
    last_blob: u64,
    commits: usize,
    stop: Option<(usize, Moment)>,
}

/// The stores of a group, made once per test: pairing costs more than the rest.
pub(super) fn group(members: usize) -> Vec<Store> {
    let post = Post::group(members);
    post.rigs.into_iter().map(|rig| rig.store).collect()
}

impl Mail {
    /// A group whose devices are connected; the commit with that number is the last of one.
    pub(super) fn new(stores: &[Store], stop: Option<(usize, Moment)>) -> Self {
        // Not the seeds of the identities, or a fresh one would be the old one.
        let rigs: Vec<Rig> = (1_000..)
            .zip(stores)
            .map(|(seed, store)| Rig::with_store(seed, store.clone()))
            .collect();
        let mut mail = Self {
            cursors: vec![0; rigs.len()],
            rigs,
            blobs: Vec::new(),
            in_flight: Vec::new(),
            last_blob: 0,
            commits: 0,
            stop: None,
        };
        for index in 0..mail.rigs.len() {
            let effects = mail.rigs[index].connect();
            mail.act(index, effects);
        }
        mail.stop = stop;
        mail
    }

    /// Whether the device was stopped.
    pub(super) const fn was_stopped(&self) -> bool {
        self.stop.is_none()
    }

    /// Drains a device, commits, and does what follows; or stops it.
    pub(super) fn step(&mut self, index: usize) {
        let step = self.rigs[index].take_step();
        let is_written = !step.changes.is_empty();
        self.commits += usize::from(is_written);
        let stop = self
            .stop
            .filter(|(commit, _)| is_written && *commit == self.commits);
        let moment = stop.map(|(_, moment)| moment);
        if moment.is_some() {
            self.stop = None;
        }
        if moment != Some(Moment::BeforeTheCommit) {
            self.rigs[index].store.commit(step.changes);
        }
        match moment {
            None => self.act(index, step.effects),
            Some(Moment::AfterThePushes) => {
                for effect in step.effects {
                    if let Effect::Push(push) = effect {
                        self.store(push.recipient, push.envelope);
                    }
                }
                self.restart(index);
            }
            Some(_) => self.restart(index),
        }
    }

    /// Carries everything on until nothing moves.
    pub(super) fn settle(&mut self) {
        for index in 0..self.rigs.len() {
            self.step(index);
        }
        while self.push_one() || self.deliver_one() {}
    }

    /// Lets one push or one delivery of a random device that isn't away take place. False if
    /// there is none.
    pub(super) fn move_one(&mut self, away: &BTreeSet<usize>, rng: &mut impl RngCore) -> bool {
        let pushes = self.in_flight.iter().enumerate();
        let pushes = pushes.filter(|(_, (of, _))| !away.contains(of));
        let pushes: Vec<_> = pushes.map(|(at, _)| at).collect();
        let inboxes = (0..self.rigs.len()).filter(|index| !away.contains(index));
        let inboxes: Vec<_> = inboxes
            .filter(|index| self.next_blob(*index).is_some())
            .collect();
        let occasions = pushes.len() + inboxes.len();
        if occasions == 0 {
            return false;
        }
        let chosen = rng.next_u32() as usize % occasions;
        match pushes.get(chosen) {
            Some(at) => self.push(*at),
            None => self.deliver(inboxes[chosen - pushes.len()]),
        }
        true
    }

    /// Lets time pass and everything that is due happen at a device.
    pub(super) fn pass(&mut self, index: usize, ms: u64) {
        let effects = self.rigs[index].advance(ms);
        self.act(index, effects);
    }

    pub(super) fn restart(&mut self, index: usize) {
        self.in_flight.retain(|(of, _)| *of != index);
        let effects = self.rigs[index].restart();
        self.act(index, effects);
        self.reconnect(index);
    }

    fn reconnect(&mut self, index: usize) {
        self.cursors[index] = 0;
        let effects = self.rigs[index].connect();
        self.act(index, effects);
    }

    fn push_one(&mut self) -> bool {
        if self.in_flight.is_empty() {
            return false;
        }
        self.push(0);
        true
    }

    fn push(&mut self, at: usize) {
        let (index, push) = self.in_flight.remove(at);
        self.store(push.recipient, push.envelope);
        let rig = &mut self.rigs[index];
        rig.device
            .handle_push_outcome(push.id, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
        self.step(index);
    }

    fn store(&mut self, recipient: NoisePublic, envelope: Vec<u8>) {
        self.last_blob += 1;
        self.blobs.push(Blob {
            id: self.last_blob,
            recipient,
            envelope,
        });
    }

    fn deliver_one(&mut self) -> bool {
        let mut inboxes = 0..self.rigs.len();
        let Some(index) = inboxes.find(|index| self.next_blob(*index).is_some()) else {
            return false;
        };
        self.deliver(index);
        true
    }

    /// The next blob of the session of a device.
    fn next_blob(&self, index: usize) -> Option<&Blob> {
        let noise = self.rigs[index].noise();
        let cursor = self.cursors[index];
        let mut blobs = self.blobs.iter();
        blobs.find(|blob| blob.recipient == noise && blob.id > cursor)
    }

    fn deliver(&mut self, index: usize) {
        let blob = self.next_blob(index).expect("something waits");
        let (id, envelope) = (blob.id, blob.envelope.clone());
        self.cursors[index] = id;
        let rig = &mut self.rigs[index];
        rig.device.handle_deliver(rig.session, id, envelope);
        self.step(index);
    }

    fn act(&mut self, index: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Push(push) => self.in_flight.push((index, push)),
                Effect::Acknowledge { blob, .. } => self.blobs.retain(|kept| kept.id != blob),
                Effect::StartHandler { run, .. } => {
                    let rig = &mut self.rigs[index];
                    rig.device.handle_handler_outcome(run, Ok(()), rig.now_ms);
                    self.step(index);
                }
                Effect::ComputeWords(request) => {
                    let rig = &mut self.rigs[index];
                    rig.device.handle_words(request.target, words());
                    self.step(index);
                }
                Effect::RestartIdentity => {
                    // Nobody reads that inbox any more, and what was pushed is done with.
                    self.in_flight.retain(|(of, _)| *of != index);
                    self.reconnect(index);
                }
                _ => {}
            }
        }
    }
}
