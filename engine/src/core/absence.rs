//! How long the device was without its relay.
//!
//! A relay keeps what waits for a device for [`limit::RELAY_LIFE_MS_MAX`] at most (spec 2.7),
//! and nobody is told what it drops then: the senders have long heard that it is on the relay.
//! So the device says itself, when it is back, from which time on messages may be missing.
//!
//! Owns the last time at which there was a session. Never decides what becomes of a message.

use sealpost_protocol::limit;

use super::timing;

/// The last time at which the device had its relay.
#[derive(Debug, Default)]
pub(super) struct Absence {
    seen_ms: Option<u64>,
}

/// What follows from a look at the clock while there is a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Whether the time is to be written: not at each look, which would keep a disk awake.
    pub(super) is_to_be_saved: bool,
    /// Since when the device was away, where that was too long.
    pub(super) since_ms: Option<u64>,
}

impl Absence {
    /// Goes on from what the store holds.
    pub(super) const fn restore(seen_ms: Option<u64>) -> Self {
        Self { seen_ms }
    }

    /// There is a session now.
    pub(super) fn look(&mut self, now_ms: u64) -> Look {
        let away_ms = self.seen_ms.map(|seen_ms| now_ms.checked_sub(seen_ms));
        let look = match away_ms {
            // The first session of a group, or a clock that was set back.
            None | Some(None) => Look {
                is_to_be_saved: true,
                since_ms: None,
            },
            Some(Some(away_ms)) => Look {
                is_to_be_saved: away_ms >= timing::SWEEP_INTERVAL_MS,
                since_ms: self.seen_ms.filter(|_| away_ms > limit::RELAY_LIFE_MS_MAX),
            },
        };
        if look.is_to_be_saved {
            self.seen_ms = Some(now_ms);
        }
        look
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_800_000_000_000;

    #[test]
    fn only_who_was_away_for_longer_than_a_relay_keeps_anything_is_told_and_once() {
        let mut absence = Absence::default();
        assert_eq!(absence.look(START).since_ms, None, "the first session");
        let back = START + limit::RELAY_LIFE_MS_MAX;
        assert_eq!(Absence::restore(Some(START)).look(back).since_ms, None);
        let look = absence.look(back + 1);
        assert!(look.is_to_be_saved);
        assert_eq!(look.since_ms, Some(START));
        assert_eq!(absence.look(back + 1), Look::default());
    }

    #[test]
    fn a_session_that_stays_is_written_once_an_hour_and_is_no_absence() {
        let mut absence = Absence::default();
        let mut written = 0;
        for minute in 0..60 * 24 * 40 {
            let look = absence.look(START + minute * 60_000);
            written += u64::from(look.is_to_be_saved);
            assert_eq!(look.since_ms, None);
        }
        assert_eq!(written, 24 * 40);
    }

    #[test]
    fn a_clock_that_was_set_back_counts_from_there() {
        let mut absence = Absence::restore(Some(START));
        let earlier = START - limit::RELAY_LIFE_MS_MAX;
        assert!(absence.look(earlier).is_to_be_saved);
        let back = earlier + limit::RELAY_LIFE_MS_MAX + 1;
        assert_eq!(absence.look(back).since_ms, Some(earlier));
    }
}
