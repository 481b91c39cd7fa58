//! The relay of the simulation: the real inboxes and push rates on a clock that is given.
//!
//! Owns the order of the checks of the native door (size, rate, quota) and what a crash
//! leaves. Quotas, arrival order and lifetimes are those of `sealpost-relay`.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::limit::RELAY_LIFE_MS_MAX;
use sealpost_relay::store::{
    BlobId, InboxStore, MemoryStore, PutRefusal, PutRoom, StoreSettings, WriterPace,
};
use sealpost_relay::{PushRate, PushRates, SessionLimits, StoreLimits};

/// Bounds small enough to be met in a short history.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelayPlan {
    pub(super) inbox_blobs_max: u64,
    pub(super) push_burst: u32,
    pub(super) body_bytes_max: usize,
    pub(super) life_ms: u64,
}

/// What the relay holds, and what is still on its way to it.
pub(super) struct Relay {
    store: MemoryStore,
    rates: PushRates,
    envelope_bytes_max: usize,
    /// Pushes whose sender stopped waiting, but which may still arrive.
    pub(super) late: Vec<(NoisePublic, Vec<u8>)>,
    /// Answered and not written: there is something here only under a mutation.
    unwritten: Vec<(NoisePublic, Vec<u8>, u64)>,
}

impl Relay {
    pub(super) fn new(plan: RelayPlan) -> Self {
        let limits = StoreLimits {
            inbox_blobs_max: plan.inbox_blobs_max,
            ..StoreLimits::default()
        };
        let session = SessionLimits {
            body_bytes_max: plan.body_bytes_max,
            ..SessionLimits::default()
        };
        Self {
            store: MemoryStore::new(StoreSettings {
                limits,
                life_ms: plan.life_ms,
                pace: WriterPace::default(),
            }),
            rates: PushRates::new(PushRate {
                burst: plan.push_burst,
                ..session.push_rate
            }),
            envelope_bytes_max: session.envelope_bytes_max(),
            late: Vec::new(),
            unwritten: Vec::new(),
        }
    }

    /// Takes a push; it is durable on return.
    pub(super) fn push(
        &mut self,
        recipient: NoisePublic,
        envelope: &[u8],
        now_ms: u64,
    ) -> Result<(), Refusal> {
        if envelope.len() > self.envelope_bytes_max {
            return Err(Refusal::TooLarge);
        }
        if !self.rates.take(recipient, now_ms) {
            return Err(Refusal::RateLimited);
        }
        let envelope = Bytes::copy_from_slice(envelope);
        let put = self
            .store
            .put(recipient, envelope, PutRoom::uncounted(), now_ms);
        match put {
            Ok(_) => Ok(()),
            Err(PutRefusal::InboxFull) => Err(Refusal::InboxFull),
            Err(PutRefusal::Unavailable) => Err(Refusal::Unavailable),
        }
    }

    /// Takes a push without writing it.
    pub(super) fn promise(&mut self, recipient: NoisePublic, envelope: Vec<u8>, now_ms: u64) {
        self.unwritten.push((recipient, envelope, now_ms));
    }

    /// Writes what was only promised; returns it.
    pub(super) fn write(&mut self) -> Vec<Vec<u8>> {
        let mut written = Vec::new();
        for (recipient, envelope, now_ms) in std::mem::take(&mut self.unwritten) {
            if self.push(recipient, &envelope, now_ms).is_ok() {
                written.push(envelope);
            }
        }
        written
    }

    /// The relay stops and starts again.
    pub(super) fn crash(&mut self) {
        self.unwritten.clear();
    }

    /// The first blob behind `cursor`.
    pub(super) fn next(
        &self,
        device: NoisePublic,
        cursor: BlobId,
        now_ms: u64,
    ) -> Option<(BlobId, Vec<u8>)> {
        let chunk = ready(self.store.read(device, cursor, now_ms)).ok()?;
        let blob = chunk.blobs.into_iter().next()?;
        Some((blob.id, blob.envelope.to_vec()))
    }

    /// Everything that waits for a device.
    pub(super) fn waiting(&self, device: NoisePublic, now_ms: u64) -> BTreeMap<u64, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut cursor = BlobId::START;
        while let Ok(chunk) = ready(self.store.read(device, cursor, now_ms)) {
            if chunk.blobs.is_empty() {
                break;
            }
            cursor = chunk.through;
            for blob in chunk.blobs {
                found.insert(blob.id.as_u64(), blob.envelope.to_vec());
            }
        }
        found
    }

    /// Takes an acknowledgement.
    pub(super) fn delete(&self, device: NoisePublic, blob: u64) {
        self.store.delete(device, BlobId::from_u64(blob));
    }

    /// When the first blob may expire.
    pub(super) fn first_expiry_ms(&self) -> u64 {
        self.store.first_expiry_ms().unwrap_or(u64::MAX)
    }

    /// Lets go what has expired.
    pub(super) fn expire(&self, now_ms: u64) {
        while self.store.expire(now_ms) {}
    }
}

impl Default for RelayPlan {
    fn default() -> Self {
        Self {
            inbox_blobs_max: 10_000,
            push_burst: 500,
            body_bytes_max: 8_192,
            life_ms: RELAY_LIFE_MS_MAX,
        }
    }
}

/// The value of a future that waits for nothing.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a store in memory waits for nothing"),
    }
}
