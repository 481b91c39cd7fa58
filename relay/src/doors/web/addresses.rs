//! What one address has used of the door.
//!
//! Owns: the only place of the relay where addresses are kept: in memory, as [`AddressKey`],
//! until their buckets are full again (amendment 14). Never does: log or store one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sealpost_protocol::link::key::{Direction, MailboxId};

use crate::limits::{AddressKey, Rates, WebLimits};

struct Used {
    requests: Rates<AddressKey>,
    failures: Rates<AddressKey>,
    creations: Rates<AddressKey>,
    puts: Rates<(MailboxId, Direction)>,
    /// Until when an address is answered with nothing but 429.
    paused: BTreeMap<AddressKey, u64>,
    connections: BTreeMap<AddressKey, usize>,
}

/// The rates and counts of all addresses.
#[derive(Clone)]
pub(crate) struct Addresses {
    used: Arc<Mutex<Used>>,
    limits: WebLimits,
}

impl Addresses {
    pub(crate) fn new(limits: WebLimits) -> Self {
        Self {
            used: Arc::new(Mutex::new(Used {
                requests: Rates::new(limits.request_rate),
                failures: Rates::new(limits.failure_rate),
                creations: Rates::new(limits.creation_rate),
                puts: Rates::new(limits.put_rate),
                paused: BTreeMap::new(),
                connections: BTreeMap::new(),
            })),
            limits,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection; none if the address has as many as it may have.
    pub(crate) fn connect(&self, address: IpAddr) -> Option<AddressPlace> {
        let key = AddressKey::from(address);
        let mut used = self.lock();
        let count = used.connections.entry(key).or_default();
        if *count >= self.limits.connections_per_address_max {
            return None;
        }
        *count = count.saturating_add(1);
        Some(AddressPlace {
            addresses: self.clone(),
            key,
        })
    }

    /// Counts a request; how long to wait if it is one too many.
    pub(crate) fn take_request(&self, address: IpAddr, now_ms: u64) -> Result<(), Duration> {
        let key = AddressKey::from(address);
        let mut used = self.lock();
        if let Some(until) = used.paused.get(&key).copied() {
            let rest_ms = until.saturating_sub(now_ms);
            let pause = self.limits.failure_pause;
            // A clock that was set back mustn't make a pause longer.
            if rest_ms > 0 && u128::from(rest_ms) <= pause.as_millis() {
                return Err(Duration::from_millis(rest_ms));
            }
            used.paused.remove(&key);
        }
        if used.requests.take(key, now_ms) {
            Ok(())
        } else {
            Err(used.requests.rate().pause())
        }
    }

    /// Counts an answer that somebody who guesses would get.
    pub(crate) fn fail(&self, address: IpAddr, now_ms: u64) {
        let key = AddressKey::from(address);
        let mut used = self.lock();
        if !used.failures.take(key, now_ms) {
            let pause_ms = u64::try_from(self.limits.failure_pause.as_millis());
            let until = now_ms.saturating_add(pause_ms.unwrap_or(u64::MAX));
            used.paused.insert(key, until);
        }
    }

    /// Counts a mailbox that an address is about to make.
    pub(crate) fn take_creation(&self, address: IpAddr, now_ms: u64) -> Result<(), Duration> {
        let mut used = self.lock();
        if used.creations.take(AddressKey::from(address), now_ms) {
            Ok(())
        } else {
            Err(used.creations.rate().pause())
        }
    }

    /// Counts an Envelope on its way into a direction.
    pub(crate) fn take_put(
        &self,
        place: (MailboxId, Direction),
        now_ms: u64,
    ) -> Result<(), Duration> {
        let mut used = self.lock();
        if used.puts.take(place, now_ms) {
            Ok(())
        } else {
            Err(used.puts.rate().pause())
        }
    }

    /// Forgets everybody who has been silent for long enough.
    pub(crate) fn sweep(&self, now_ms: u64) {
        let mut used = self.lock();
        used.requests.sweep(now_ms);
        used.failures.sweep(now_ms);
        used.creations.sweep(now_ms);
        used.puts.sweep(now_ms);
        used.paused.retain(|_, until| *until > now_ms);
    }
}

/// One connection of an address.
pub(crate) struct AddressPlace {
    addresses: Addresses,
    key: AddressKey,
}

impl Drop for AddressPlace {
    fn drop(&mut self) {
        let mut used = self.addresses.lock();
        if let Some(count) = used.connections.get_mut(&self.key) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                used.connections.remove(&self.key);
            }
        }
    }
}
