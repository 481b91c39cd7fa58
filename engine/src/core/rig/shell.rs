//! A device with its shell reduced to the commit.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use sealpost_protocol::key::{DeviceSecrets, NoisePublic};
use sealpost_protocol::name::DeviceName;

use super::Store;
use crate::core::device::{Device, Settings};
use crate::core::issue::DeliveryIssue;
use crate::core::step::{Effect, Push, SessionId, Step};

pub(crate) const SECOND_MS: u64 = 1_000;

/// When the tests begin: late enough that nothing is before 1970 two months earlier.
pub(crate) const START_MS: u64 = 1_790_812_800_000;

/// One device, its store, its clock and its randomness.
pub(crate) struct Rig {
    pub(crate) store: Store,
    pub(crate) device: Device,
    pub(crate) now_ms: u64,
    pub(crate) rng: ChaCha8Rng,
    pub(crate) session: SessionId,
    last_blob: u64,
}

impl Rig {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let secrets = DeviceSecrets::generate(&mut rng);
        let name = DeviceName::clean(name, &secrets.keys().signing);
        Self::with_store(seed, Store::new(secrets, name))
    }

    /// A device that goes on from a store.
    pub(crate) fn with_store(seed: u64, store: Store) -> Self {
        let device = Device::restore(store.snapshot(), Settings::default(), START_MS)
            .expect("a store is consistent after every commit");
        let mut rig = Self {
            store,
            device,
            now_ms: START_MS,
            rng: ChaCha8Rng::seed_from_u64(seed),
            session: SessionId(0),
            last_blob: 0,
        };
        rig.advance(0);
        rig
    }

    pub(crate) fn noise(&self) -> NoisePublic {
        self.device.keys().noise
    }

    /// Drains without committing.
    pub(crate) fn take_step(&mut self) -> Step {
        self.device.drain(self.now_ms, &mut self.rng, &self.store)
    }

    /// Drains, commits and hands out the effects.
    pub(crate) fn drain(&mut self) -> Vec<Effect> {
        let step = self.take_step();
        self.store.commit(step.changes);
        step.effects
    }

    /// Drops the machine and builds it from the store.
    pub(crate) fn restart(&mut self) -> Vec<Effect> {
        self.device = Device::restore(self.store.snapshot(), Settings::default(), self.now_ms)
            .expect("the store is consistent after every commit");
        self.drain()
    }

    /// Sets a handler and starts a Receive Session.
    pub(crate) fn connect(&mut self) -> Vec<Effect> {
        self.device.handle_handler_set(true);
        self.session = SessionId(self.session.0 + 1);
        self.device.handle_session_started(self.session);
        self.drain()
    }

    /// Delivers an envelope on the session that is up, under a fresh blob id.
    pub(crate) fn deliver(&mut self, envelope: &[u8]) -> Vec<Effect> {
        self.last_blob += 1;
        self.device
            .handle_deliver(self.session, self.last_blob, envelope.to_vec());
        self.drain()
    }

    /// Delivers an envelope whose message the handler takes at once.
    pub(crate) fn receive(&mut self, envelope: &[u8]) -> Vec<Effect> {
        let mut effects = self.deliver(envelope);
        let runs: Vec<_> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::StartHandler { run, .. } => Some(*run),
                _ => None,
            })
            .collect();
        for run in runs {
            self.device.handle_handler_outcome(run, Ok(()), self.now_ms);
            effects.extend(self.drain());
        }
        effects
    }

    /// Lets time pass and everything that is due happen.
    pub(crate) fn advance(&mut self, ms: u64) -> Vec<Effect> {
        self.now_ms += ms;
        self.device.handle_wakeup(self.now_ms, &mut self.rng);
        let effects = self.drain();
        self.check_wakeup();
        effects
    }

    /// What was due is done: a shell that sleeps until the next wake-up doesn't spin.
    pub(crate) fn check_wakeup(&self) {
        let due = self
            .device
            .next_wakeup()
            .expect("a sweep is always due some time");
        assert!(due > self.now_ms, "due {} ms ago", self.now_ms - due);
    }

    /// The bodies of the rows, in the order of the history.
    pub(crate) fn bodies(&self) -> Vec<Vec<u8>> {
        let rows = self.store.rows.values();
        rows.map(|row| row.body.clone()).collect()
    }
}

/// Words, as if they had been computed.
pub(crate) fn words() -> [String; 4] {
    ["one", "two", "three", "four"].map(str::to_owned)
}

/// The pushes among the effects.
pub(crate) fn pushes(effects: &[Effect]) -> Vec<&Push> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Push(push) => Some(push),
            _ => None,
        })
        .collect()
}

/// The issues raised among the effects.
pub(crate) fn issues(effects: &[Effect]) -> Vec<DeliveryIssue> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Raise(issue) => Some(issue.clone()),
            _ => None,
        })
        .collect()
}

/// The blobs acknowledged among the effects.
pub(crate) fn acknowledged(effects: &[Effect]) -> Vec<u64> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Acknowledge { blob, .. } => Some(*blob),
            _ => None,
        })
        .collect()
}
