//! A relay and devices that can be stopped at any one commit: before it, after it, or after
//! what it pushed has reached the relay and nothing has come back.
//!
//! Every history is run once for each of its commits; the devices go on from their stores,
//! and the relay still has what wasn't acknowledged.

use sealpost_protocol::key::NoisePublic;

use crate::core::rig::{Post, Rig, Store};
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

    fn restart(&mut self, index: usize) {
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
        let (index, push) = self.in_flight.remove(0);
        self.store(push.recipient, push.envelope);
        let rig = &mut self.rigs[index];
        rig.device
            .handle_push_outcome(push.id, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
        self.step(index);
        true
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
        for index in 0..self.rigs.len() {
            let noise = self.rigs[index].noise();
            let cursor = self.cursors[index];
            let next = self
                .blobs
                .iter()
                .find(|blob| blob.recipient == noise && blob.id > cursor);
            let Some(blob) = next else {
                continue;
            };
            let (id, envelope) = (blob.id, blob.envelope.clone());
            self.cursors[index] = id;
            let rig = &mut self.rigs[index];
            rig.device.handle_deliver(rig.session, id, envelope);
            self.step(index);
            return true;
        }
        false
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
