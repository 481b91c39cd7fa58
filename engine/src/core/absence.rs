//! How long the device was without its relay.
//!
//! A relay keeps what waits for a device for [`limit::RELAY_LIFE_MS_MAX`] at most (spec 2.7),
//! and nobody is told what it drops then: the senders have long heard that it is on the relay.
//! So the device says itself, when it is back, from which time on messages may be missing.
//!
//! A clock may be set, or the computer sleep, while a session is up, and neither can be told from
//! the other here. So a step of the clock says nothing by itself: the shell starts the sessions
//! afresh then, and the first look of a session decides. A time that lies ahead of the clock is
//! given up for an earlier one only once the clock has stood there for a while: it is the clock
//! that is wrong, more often, and is put right soon after.
//!
//! Owns the last time at which there was a session. Never decides what becomes of a message.
//!
//! Invariants:
//! - an absence is raised at the first look of a session at most;
//! - what is lost over an absence is never hidden by saving the time of a look after a step.

use sealpost_protocol::limit;

use super::timing;

/// The last time at which the device had its relay.
#[derive(Debug, Default)]
pub(super) struct Absence {
    seen_ms: Option<u64>,
    /// A later time that was given up for `seen_ms`, because the clock went on before it. Counts
    /// again once the clock is past it: then it was the clock that was behind.
    given_up_ms: Option<u64>,
    /// Since when the clock stands where it is, and when it was looked at last.
    stands: Option<(u64, u64)>,
    /// Whether a session began since the last look.
    has_begun: bool,
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
    pub(super) fn restore(seen_ms: Option<u64>) -> Self {
        Self {
            seen_ms,
            ..Self::default()
        }
    }

    /// A session began: its first look is the one that can tell.
    pub(super) const fn begin(&mut self) {
        self.has_begun = true;
    }

    /// There is a session now.
    pub(super) fn look(&mut self, now_ms: u64) -> Look {
        let has_begun = std::mem::take(&mut self.has_begun);
        let stood_ms = self.stand(now_ms);
        let has_stood = stood_ms >= timing::SWEEP_INTERVAL_MS;
        let Some(seen_ms) = self.seen_ms else {
            // The first session of a group.
            return self.save(now_ms, None);
        };
        let Some(since_seen_ms) = now_ms.checked_sub(seen_ms) else {
            if !has_stood {
                return Look::default();
            }
            self.given_up_ms = self.given_up_ms.max(self.seen_ms);
            return self.save(now_ms, None);
        };
        let given_up_ms = self
            .given_up_ms
            .filter(|given_up_ms| *given_up_ms <= now_ms);
        let since_ms = given_up_ms.unwrap_or_default().max(seen_ms);
        if now_ms.saturating_sub(since_ms) > limit::RELAY_LIFE_MS_MAX {
            return match (has_begun, has_stood) {
                (true, _) => self.save(now_ms, Some(since_ms)),
                // No session outlasts a sleep of weeks: the clock was set.
                (false, true) => self.save(now_ms, None),
                (false, false) => Look::default(),
            };
        }
        if since_seen_ms >= timing::SWEEP_INTERVAL_MS {
            self.save(now_ms, None)
        } else {
            Look::default()
        }
    }

    /// For how long the clock went on without a step: one back, or one ahead that would look
    /// like an absence.
    fn stand(&mut self, now_ms: u64) -> u64 {
        let from_ms = match self.stands {
            Some((from_ms, last_ms))
                if now_ms >= last_ms && now_ms - last_ms <= limit::RELAY_LIFE_MS_MAX =>
            {
                from_ms
            }
            _ => now_ms,
        };
        self.stands = Some((from_ms, now_ms));
        now_ms.saturating_sub(from_ms)
    }

    fn save(&mut self, now_ms: u64, since_ms: Option<u64>) -> Look {
        self.seen_ms = Some(now_ms);
        self.given_up_ms = self.given_up_ms.filter(|given_up_ms| *given_up_ms > now_ms);
        Look {
            is_to_be_saved: true,
            since_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_800_000_000_000;
    const YEAR: u64 = 365 * 86_400_000;
    const MINUTE: u64 = 60_000;

    /// The first look of a session.
    fn begin(absence: &mut Absence, now_ms: u64) -> Look {
        absence.begin();
        absence.look(now_ms)
    }

    /// Looks each minute from a time on, without a step; none of them raises anything.
    fn stay(absence: &mut Absence, from_ms: u64, minutes: u64) -> u64 {
        let looks = (0..=minutes).map(|minute| absence.look(from_ms + minute * MINUTE));
        let mut written = 0;
        for look in looks {
            assert_eq!(look.since_ms, None);
            written += u64::from(look.is_to_be_saved);
        }
        written
    }

    #[test]
    fn only_who_was_away_for_longer_than_a_relay_keeps_anything_is_told_and_once() {
        let mut absence = Absence::default();
        let first = begin(&mut absence, START);
        assert!(first.is_to_be_saved && first.since_ms.is_none());
        let back = START + limit::RELAY_LIFE_MS_MAX;
        let mut in_time = Absence::restore(Some(START));
        assert_eq!(begin(&mut in_time, back).since_ms, None);
        let mut absence = Absence::restore(Some(START));
        let look = begin(&mut absence, back + 1);
        assert!(look.is_to_be_saved);
        assert_eq!(look.since_ms, Some(START));
        assert_eq!(absence.look(back + 1), Look::default());
        assert_eq!(begin(&mut absence, back + 1), Look::default());
    }

    #[test]
    fn a_session_that_stays_is_written_once_an_hour_and_is_no_absence() {
        let mut absence = Absence::default();
        absence.begin();
        assert_eq!(stay(&mut absence, START, 60 * 24 * 40 - 1), 24 * 40);
    }

    #[test]
    fn a_clock_that_was_behind_and_is_put_right_is_no_absence() {
        // Soon, and only after hours, when the earlier time has been written.
        for minutes in [5, 59, 60, 200] {
            let mut absence = Absence::restore(Some(START));
            assert_eq!(begin(&mut absence, START - 6 * YEAR), Look::default());
            let written = stay(&mut absence, START - 6 * YEAR, minutes);
            assert_eq!(written, minutes / 60, "{minutes} minutes");
            let right = START + MINUTE * minutes;
            assert_eq!(absence.look(right).since_ms, None);
            assert_eq!(begin(&mut absence, right + MINUTE).since_ms, None);
        }
    }

    #[test]
    fn an_absence_is_told_though_the_clock_was_behind_at_first() {
        for minutes in [0, 5, 200] {
            let mut absence = Absence::restore(Some(START));
            begin(&mut absence, START - 6 * YEAR);
            stay(&mut absence, START - 6 * YEAR, minutes);
            let right = START + limit::RELAY_LIFE_MS_MAX + 1;
            assert_eq!(absence.look(right), Look::default(), "the old session");
            assert_eq!(begin(&mut absence, right).since_ms, Some(START));
        }
    }

    #[test]
    fn a_sleep_of_weeks_with_a_session_up_is_an_absence_for_the_next_session() {
        let mut absence = Absence::default();
        begin(&mut absence, START);
        let awake = START + 2 * limit::RELAY_LIFE_MS_MAX;
        assert_eq!(absence.look(awake), Look::default());
        let look = begin(&mut absence, awake + 1);
        assert!(look.is_to_be_saved);
        assert_eq!(look.since_ms, Some(START));
    }

    #[test]
    fn a_clock_that_is_set_ahead_under_a_session_that_stays_is_no_absence() {
        let mut absence = Absence::default();
        begin(&mut absence, START);
        let ahead = START + 6 * YEAR;
        assert_eq!(stay(&mut absence, ahead, 59), 0, "it may be set back");
        assert_eq!(stay(&mut absence, ahead + 60 * MINUTE, 60), 2);
        assert_eq!(begin(&mut absence, ahead + 121 * MINUTE).since_ms, None);
        // Put right again at last, it counts from there.
        assert_eq!(stay(&mut absence, START, 60), 1);
        let back = START + 60 * MINUTE + limit::RELAY_LIFE_MS_MAX + 1;
        assert!(begin(&mut absence, back).since_ms.is_some());
    }

    #[test]
    fn a_clock_that_is_set_ahead_and_back_within_the_hour_is_as_if_it_had_not_been() {
        let mut absence = Absence::default();
        begin(&mut absence, START);
        stay(&mut absence, START + 6 * YEAR, 30);
        assert_eq!(begin(&mut absence, START + 31 * MINUTE), Look::default());
        assert!(absence.look(START + 60 * MINUTE).is_to_be_saved);
    }

    #[test]
    fn a_clock_that_was_set_back_counts_from_there_after_an_hour() {
        let mut absence = Absence::restore(Some(START));
        let earlier = START - limit::RELAY_LIFE_MS_MAX;
        assert_eq!(begin(&mut absence, earlier), Look::default());
        let stood = earlier + timing::SWEEP_INTERVAL_MS;
        assert_eq!(absence.look(stood - 1), Look::default());
        assert!(absence.look(stood).is_to_be_saved);
        // Another run knows nothing of the time that was given up.
        let mut next = Absence::restore(Some(stood));
        let back = stood + limit::RELAY_LIFE_MS_MAX + 1;
        assert_eq!(begin(&mut next, back).since_ms, Some(stood));
    }
}
