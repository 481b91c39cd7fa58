//! How many Receive Sessions each device has.
//!
//! Owns: the cap per device key. Invariant: a device without a session has no entry.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sealpost_protocol::key::NoisePublic;

/// See the module.
#[derive(Debug)]
pub(super) struct SessionCount {
    per_key_max: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    by_key: BTreeMap<NoisePublic, usize>,
    total: u64,
}

impl SessionCount {
    pub(super) fn new(per_key_max: usize) -> Self {
        Self {
            per_key_max,
            counts: Mutex::default(),
        }
    }

    /// Counts one more session of `device` for as long as the place lives; none if the device
    /// has its share.
    pub(super) fn enter(&self, device: NoisePublic) -> Option<SessionPlace<'_>> {
        let mut counts = self.lock();
        let count = counts.by_key.get(&device).copied().unwrap_or_default();
        if count >= self.per_key_max {
            return None;
        }
        counts.by_key.insert(device, count.saturating_add(1));
        counts.total = counts.total.saturating_add(1);
        Some(SessionPlace {
            sessions: self,
            device,
        })
    }

    pub(super) fn total(&self) -> u64 {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One counted session.
#[derive(Debug)]
pub(super) struct SessionPlace<'a> {
    sessions: &'a SessionCount,
    device: NoisePublic,
}

impl Drop for SessionPlace<'_> {
    fn drop(&mut self) {
        let mut counts = self.sessions.lock();
        counts.total = counts.total.saturating_sub(1);
        match counts.by_key.get_mut(&self.device) {
            Some(count) if *count > 1 => *count = count.saturating_sub(1),
            _ => {
                counts.by_key.remove(&self.device);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifth_is_refused_until_one_leaves() {
        let sessions = SessionCount::new(4);
        let device = NoisePublic::from_bytes([1; 32]);
        let mut places: Vec<_> = (0..4).map(|_| sessions.enter(device).unwrap()).collect();
        assert!(sessions.enter(device).is_none());
        assert!(sessions.enter(NoisePublic::from_bytes([2; 32])).is_some());
        places.pop();
        assert!(sessions.enter(device).is_some());
        places.clear();
        assert_eq!(sessions.total(), 0);
        assert!(sessions.lock().by_key.is_empty());
    }
}
