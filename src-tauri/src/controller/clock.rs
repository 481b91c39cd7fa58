//! What the times in received messages say of this computer's clock.
//!
//! Owns one inference: a message can't be written after it arrived, so an author whose newest
//! message was is ahead of this computer. One such author may be wrong itself; when at least
//! two say so and nobody says otherwise, it is this computer that is behind. That it is ahead
//! can't be told from messages, which may have waited on the relay for days.

use std::collections::BTreeMap;

use sealpost_protocol::key::MemberId;

/// What a difference has to be at least to matter: clocks that nobody sets drift by seconds.
const OFF_MS: u64 = 2 * 60 * 1000;

/// How many authors have to agree.
const WITNESSES_MIN: usize = 2;

/// What the newest message of each author says.
#[derive(Default)]
pub(super) struct ClockWitnesses {
    ahead_ms: BTreeMap<MemberId, u64>,
}

impl ClockWitnesses {
    /// Takes over a message that has just arrived.
    pub(super) fn handle(&mut self, author: &MemberId, sent_at_ms: u64, stored_at_ms: u64) {
        let ahead_ms = sent_at_ms.saturating_sub(stored_at_ms);
        self.ahead_ms.insert(author.clone(), ahead_ms);
    }

    /// By how much this computer's clock is ahead of the others', where they agree that it is
    /// off: a negative number, because only that can be known.
    pub(super) fn off_ms(&self) -> Option<i64> {
        let least = self.ahead_ms.values().min()?;
        let is_off = *least >= OFF_MS && self.ahead_ms.len() >= WITNESSES_MIN;
        let behind = i64::try_from(*least).ok()?;
        is_off.then(|| behind.saturating_neg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealpost_protocol::key::SigningSecret;

    fn author(seed: u8) -> MemberId {
        SigningSecret::from_bytes([seed; 32]).public().member_id()
    }

    #[test]
    fn one_device_alone_blames_nobody() {
        let mut witnesses = ClockWitnesses::default();
        assert_eq!(witnesses.off_ms(), None);
        witnesses.handle(&author(1), 10_000_000, 1_000_000);
        assert_eq!(witnesses.off_ms(), None);
        witnesses.handle(&author(1), 20_000_000, 2_000_000);
        assert_eq!(witnesses.off_ms(), None, "the same device twice");
    }

    #[test]
    fn two_that_agree_are_believed_until_one_says_otherwise() {
        let mut witnesses = ClockWitnesses::default();
        witnesses.handle(&author(1), 1_300_000, 1_000_000);
        witnesses.handle(&author(2), 1_200_000, 1_000_000);
        assert_eq!(witnesses.off_ms(), Some(-200_000), "as far as both go");
        // A message that waited says nothing against it by itself, but it is no witness.
        witnesses.handle(&author(2), 500_000, 1_000_000);
        assert_eq!(witnesses.off_ms(), None);
    }

    #[test]
    fn a_drift_of_seconds_is_nothing() {
        let mut witnesses = ClockWitnesses::default();
        for seed in 1..=5 {
            witnesses.handle(&author(seed), 1_000_000 + OFF_MS - 1, 1_000_000);
        }
        assert_eq!(witnesses.off_ms(), None);
        for seed in 1..=5 {
            witnesses.handle(&author(seed), u64::MAX, 0);
        }
        assert_eq!(witnesses.off_ms(), None, "no clock is off by so much");
    }
}
