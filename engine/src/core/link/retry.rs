//! What an answer means for the next try (specification 6.8), and how long it waits.
//!
//! Owns the table's columns as [`Verdict`]s and the one backoff of a link. Every request is
//! safe to repeat, so there is no "it may have happened" among them.

use rand_core::RngCore;

use super::step::{Answer, Done, RefusedError};
use super::timing;

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is done.
    Done(Done),
    /// Again after the backoff.
    Backoff,
    /// Again after what the relay asks for, in ms, not yet moved at random.
    Wait(u64),
    /// A 2xx that says nothing: as [`Verdict::Backoff`], and counted.
    Unreadable,
    /// The relay, or something in front of it, is set up wrongly: report it, try rarely.
    Configuration,
    /// This program did something that it must not do.
    Refused,
    /// The token isn't one. As above.
    Unauthorized,
    /// Another token owns the mailbox.
    WrongToken,
    /// There is no such mailbox.
    NoMailbox,
    /// There is no such mailbox, and this device may not make it.
    ClaimsClosed,
    /// The sequence isn't above this last one.
    Taken(Option<u64>),
    /// The sequence is too far above the last one.
    Jump,
    /// The envelope is too large.
    TooLarge,
    /// The direction is full.
    Full,
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        let refused = match answer {
            Answer::Done(done) => return Self::Done(done),
            Answer::Unreadable => return Self::Unreadable,
            Answer::NoAnswer => return Self::Backoff,
            Answer::Refused(refused) => refused,
        };
        let wait_ms = refused.retry_after_s.map_or(timing::RETRY_AFTER_MS, |s| {
            s.saturating_mul(1_000).min(timing::RETRY_AFTER_MAX_MS)
        });
        match (refused.status, refused.error) {
            (404, RefusedError::NoMailbox) => Self::NoMailbox,
            (404, RefusedError::ClaimsClosed) => Self::ClaimsClosed,
            (403, RefusedError::WrongToken) => Self::WrongToken,
            (409, _) => Self::Taken(refused.last),
            (413, _) => Self::TooLarge,
            (507, _) => Self::Full,
            (429 | 503, _) => Self::Wait(wait_ms),
            (400, RefusedError::SequenceJump) => Self::Jump,
            // Without a code it wasn't a relay: nothing of it may cost a message.
            (400 | 405, error) if error != RefusedError::Missing => Self::Refused,
            (401, error) if error != RefusedError::Missing => Self::Unauthorized,
            (408 | 500..=599, _) => Self::Backoff,
            _ => Self::Configuration,
        }
    }
}

/// How often in a row something got no answer, and until when it waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retry {
    failures: u32,
    until_ms: Option<u64>,
}

impl Retry {
    /// It worked: nothing waits, and the next delay is the first again.
    pub(super) const fn reset(&mut self) {
        self.failures = 0;
        self.until_ms = None;
    }

    /// Tries at once, once; the next delay goes on from where it was.
    pub(super) const fn hurry(&mut self) {
        self.until_ms = None;
    }

    /// It got no answer: waits `rand(0.5 … 1.0) × min(cap, 1 s × 2^n)`.
    pub(super) fn fail(&mut self, cap_ms: u64, now_ms: u64, rng: &mut impl RngCore) {
        let doubled = timing::BACKOFF_FIRST_MS
            .saturating_mul(1_u64.checked_shl(self.failures).unwrap_or(u64::MAX))
            .min(cap_ms);
        self.failures = self.failures.saturating_add(1).min(u32::BITS);
        let half = doubled / 2;
        self.wait(half.saturating_add(below(half, rng)), now_ms);
    }

    /// Waits as long as the relay asks for, moved by up to a fifth to either side.
    pub(super) fn wait_as_asked(&mut self, asked_ms: u64, now_ms: u64, rng: &mut impl RngCore) {
        let spread = asked_ms.saturating_mul(timing::RETRY_AFTER_JITTER_PERCENT) / 100;
        let moved = below(spread.saturating_mul(2), rng);
        let wait_ms = asked_ms.saturating_sub(spread).saturating_add(moved);
        self.wait(wait_ms, now_ms);
    }

    /// Waits for so long.
    pub(super) const fn wait(&mut self, wait_ms: u64, now_ms: u64) {
        self.until_ms = Some(now_ms.saturating_add(wait_ms));
    }

    /// Until when it waits, if it does.
    pub(super) fn until(&self, now_ms: u64) -> Option<u64> {
        self.until_ms.filter(|until_ms| *until_ms > now_ms)
    }
}

/// A number from 0 to `most`.
fn below(most: u64, rng: &mut impl RngCore) -> u64 {
    let values = most.saturating_add(1);
    rng.next_u64().checked_rem(values).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    use super::super::step::Refused;
    use super::*;

    fn refused(status: u16, code: &str) -> Verdict {
        Verdict::from(Answer::Refused(Refused {
            status,
            error: RefusedError::parse(code),
            last: Some(41),
            retry_after_s: Some(7),
        }))
    }

    #[test]
    fn every_line_of_the_table_has_its_verdict() {
        for (status, code, verdict) in [
            (500, "internal", Verdict::Backoff),
            (502, "", Verdict::Backoff),
            (504, "", Verdict::Backoff),
            (503, "unavailable", Verdict::Wait(7_000)),
            (503, "relay_full", Verdict::Wait(7_000)),
            (429, "rate_limited", Verdict::Wait(7_000)),
            (400, "bad_request", Verdict::Refused),
            (400, "bad_envelope", Verdict::Refused),
            (400, "sequence_jump", Verdict::Jump),
            (405, "method_not_allowed", Verdict::Refused),
            (401, "unauthorized", Verdict::Unauthorized),
            (403, "wrong_token", Verdict::WrongToken),
            (403, "origin_denied", Verdict::Configuration),
            (421, "bad_host", Verdict::Configuration),
            (404, "no_mailbox", Verdict::NoMailbox),
            (404, "claims_closed", Verdict::ClaimsClosed),
            (409, "sequence_taken", Verdict::Taken(Some(41))),
            (413, "envelope_too_large", Verdict::TooLarge),
            (507, "direction_full", Verdict::Full),
        ] {
            assert_eq!(refused(status, code), verdict, "{status} {code}");
        }
        assert_eq!(Verdict::from(Answer::NoAnswer), Verdict::Backoff);
        assert_eq!(Verdict::from(Answer::Unreadable), Verdict::Unreadable);
    }

    #[test]
    fn what_no_relay_answered_costs_no_message_and_no_link() {
        for status in [301, 302, 400, 401, 403, 404, 405, 418] {
            assert_eq!(refused(status, ""), Verdict::Configuration, "{status}");
        }
    }

    #[test]
    fn a_relay_that_says_no_time_or_too_long_a_time_is_waited_for_in_bounds() {
        for (retry_after_s, wait_ms) in [
            (None, timing::RETRY_AFTER_MS),
            (Some(u64::MAX), timing::RETRY_AFTER_MAX_MS),
        ] {
            let answer = Answer::Refused(Refused {
                status: 503,
                error: RefusedError::Other,
                last: None,
                retry_after_s,
            });
            assert_eq!(Verdict::from(answer), Verdict::Wait(wait_ms));
        }
    }

    #[test]
    fn delays_double_to_their_cap_and_are_moved_at_random() {
        let mut rng = ChaCha12Rng::seed_from_u64(7);
        let mut retry = Retry::default();
        for n in 0..40_u32 {
            let full = (1_000 << n.min(20)).min(timing::BACKOFF_MAX_MS);
            retry.fail(timing::BACKOFF_MAX_MS, 0, &mut rng);
            let waited = retry.until(0).unwrap();
            assert!((full / 2..=full).contains(&waited), "{n}: {waited}");
        }
        retry.reset();
        retry.fail(timing::BACKOFF_MAX_MS, 0, &mut rng);
        assert!(retry.until(0).unwrap() <= 1_000);
        for _ in 0..100 {
            retry.wait_as_asked(10_000, 5, &mut rng);
            assert!((8_005..=12_005).contains(&retry.until(5).unwrap()));
        }
    }
}
