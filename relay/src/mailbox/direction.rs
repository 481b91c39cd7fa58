//! The slots of one direction.
//!
//! Owns: the order in which a put is checked (specification 4.6), pages and pruning.
//!
//! Invariants: at most `LINK_SLOTS` Envelopes; no stored sequence above the last.

use std::collections::BTreeMap;
use std::ops::Bound;

use sealpost_protocol::limit;

use super::EnvelopeDigest;

/// How a put ends.
pub(super) enum SlotAnswer {
    /// It is stored.
    Stored,
    /// The same bytes were stored before.
    Repeated,
    /// No sequence at all.
    OutOfRange,
    /// Not above the last one.
    Taken,
    /// Too far above it.
    Jump,
    /// No slot is free.
    Full,
    /// The relay has no room for it.
    NoRoom,
}

/// One direction of a mailbox.
#[derive(Clone, Debug, Default)]
pub struct DirectionSlots {
    /// The highest sequence ever stored, and the hash of what was stored under it.
    last: Option<(u64, [u8; limit::HASH_BYTES])>,
    stored: BTreeMap<u64, EnvelopeDigest>,
}

impl DirectionSlots {
    /// A direction as it was written.
    pub(crate) fn restore(last: (u64, [u8; limit::HASH_BYTES])) -> Self {
        Self {
            last: Some(last),
            stored: BTreeMap::new(),
        }
    }

    /// Adds an Envelope that was written. False if the direction can't have it.
    pub(crate) fn restore_slot(&mut self, sequence: u64, digest: EnvelopeDigest) -> bool {
        let is_known = self.last.is_some_and(|(last, _)| sequence <= last);
        is_known
            && sequence > 0
            && self.stored.len() < limit::LINK_SLOTS
            && self.stored.insert(sequence, digest).is_none()
    }

    /// The highest sequence ever stored.
    pub fn last(&self) -> Option<u64> {
        self.last.map(|(last, _)| last)
    }

    /// Envelopes stored now.
    pub fn count(&self) -> u32 {
        u32::try_from(self.stored.len()).unwrap_or(u32::MAX)
    }

    /// Bytes of the Envelopes stored now.
    pub fn bytes(&self) -> u64 {
        self.stored
            .values()
            .map(|digest| u64::from(digest.bytes()))
            .sum()
    }

    /// The lowest stored sequence.
    pub fn oldest(&self) -> Option<u64> {
        self.stored.first_key_value().map(|(sequence, _)| *sequence)
    }

    /// The checks of a put in their order; `has_room` is asked only where it would be stored.
    pub(super) fn put(
        &mut self,
        sequence: u64,
        digest: EnvelopeDigest,
        has_room: impl FnOnce() -> bool,
    ) -> SlotAnswer {
        if !(1..=limit::LINK_SEQUENCE_MAX).contains(&sequence) {
            return SlotAnswer::OutOfRange;
        }
        if self.holds(sequence, &digest) {
            return SlotAnswer::Repeated;
        }
        match self.last() {
            Some(last) if sequence <= last => return SlotAnswer::Taken,
            Some(last) if sequence > last.saturating_add(limit::LINK_JUMP_MAX) => {
                return SlotAnswer::Jump;
            }
            // While nothing was ever stored, any number may be the first (amendment 17).
            Some(_) | None => {}
        }
        if self.stored.len() >= limit::LINK_SLOTS {
            return SlotAnswer::Full;
        }
        if !has_room() {
            return SlotAnswer::NoRoom;
        }
        self.last = Some((sequence, *digest.hash()));
        self.stored.insert(sequence, digest);
        SlotAnswer::Stored
    }

    /// Whether these bytes are stored under this sequence, or were until they were pruned.
    fn holds(&self, sequence: u64, digest: &EnvelopeDigest) -> bool {
        let is_last = |(last, hash): (u64, _)| last == sequence && hash == *digest.hash();
        self.stored.get(&sequence) == Some(digest) || self.last.is_some_and(is_last)
    }

    /// The sequences of a page with the lengths of their Envelopes, and how many lie beyond it.
    pub(super) fn page(&self, after: u64, limit: usize) -> (Vec<(u64, u32)>, u32) {
        let mut rest = self
            .stored
            .range((Bound::Excluded(after), Bound::Unbounded))
            .map(|(sequence, digest)| (*sequence, digest.bytes()));
        let page = rest.by_ref().take(limit).collect();
        (page, u32::try_from(rest.count()).unwrap_or(u32::MAX))
    }

    /// Frees every slot up to `through`; false if none was taken.
    pub(super) fn prune(&mut self, through: u64) -> bool {
        let before = self.stored.len();
        self.stored.retain(|sequence, _| *sequence > through);
        self.stored.len() < before
    }
}
