//! Envelopes that were stored a moment ago, for devices that are connected.
//!
//! Owns: a bounded window of committed Envelopes, so that delivering to a connected device
//! needs no read. Never does: hold anything that isn't durable, or grow past its bound;
//! whatever was pushed out is read from the database.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::limits::charged_bytes;

/// Bytes that the window may be charged with, over all inboxes.
const FRESH_BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// The window.
#[derive(Default)]
pub(super) struct FreshBlobs {
    envelopes: BTreeMap<u64, Bytes>,
    /// Invariant: the sum of the charges, at most `FRESH_BYTES_MAX` after every call.
    bytes: u64,
}

impl FreshBlobs {
    /// Adds one, and pushes out the oldest where there is no room.
    pub(super) fn insert(&mut self, id: u64, envelope: Bytes) {
        self.bytes = self.bytes.saturating_add(charge(&envelope));
        if let Some(replaced) = self.envelopes.insert(id, envelope) {
            self.bytes = self.bytes.saturating_sub(charge(&replaced));
        }
        while self.bytes > FRESH_BYTES_MAX {
            let Some((_, oldest)) = self.envelopes.pop_first() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(charge(&oldest));
        }
    }

    /// Forgets one that was deleted.
    pub(super) fn remove(&mut self, id: u64) {
        if let Some(envelope) = self.envelopes.remove(&id) {
            self.bytes = self.bytes.saturating_sub(charge(&envelope));
        }
    }

    pub(super) fn find(&self, id: u64) -> Option<Bytes> {
        self.envelopes.get(&id).cloned()
    }
}

fn charge(envelope: &Bytes) -> u64 {
    charged_bytes(1, envelope.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leave_first_and_the_bound_holds() {
        let mut fresh = FreshBlobs::default();
        let envelope = Bytes::from(vec![1; 60_000]);
        for id in 1..=200 {
            fresh.insert(id, envelope.clone());
            assert!(fresh.bytes <= FRESH_BYTES_MAX);
        }
        assert!(fresh.find(1).is_none());
        assert!(fresh.find(200).is_some());
    }

    #[test]
    fn empty_envelopes_leave_too() {
        let mut fresh = FreshBlobs::default();
        for id in 0..100_000 {
            fresh.insert(id, Bytes::new());
        }
        assert!(charged_bytes(fresh.envelopes.len() as u64, 0) <= FRESH_BYTES_MAX);
    }

    #[test]
    fn removed_and_replaced_bytes_are_counted_once() {
        let mut fresh = FreshBlobs::default();
        fresh.insert(1, Bytes::from_static(b"abc"));
        fresh.insert(1, Bytes::from_static(b"abcd"));
        assert_eq!(fresh.bytes, charged_bytes(1, 4));
        fresh.remove(1);
        fresh.remove(1);
        assert_eq!(fresh.bytes, 0);
    }
}
