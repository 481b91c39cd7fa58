//! How long to wait before connecting again: one second doubling to a limit, ±20 %.

use std::time::Duration;

use rand_core::RngCore;

use super::SessionFault;
use super::timing::{JITTER_PERCENT, Timing};
use crate::core::status::ConnectFailure;

/// Counts failures in a row.
#[derive(Debug)]
pub(crate) struct Backoff {
    timing: Timing,
    failures: u32,
}

impl Backoff {
    /// Starts without a failure.
    pub(crate) const fn new(timing: Timing) -> Self {
        Self {
            timing,
            failures: 0,
        }
    }

    /// Things went well: the next delay is the first again.
    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }

    /// The delay after `fault`.
    pub(crate) fn delay(&mut self, fault: SessionFault, rng: &mut impl RngCore) -> Duration {
        let doubled = self
            .timing
            .reconnect_first
            .saturating_mul(1 << self.failures.min(20));
        self.failures = self.failures.saturating_add(1);
        let delay = doubled.min(self.longest(fault));
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        let spread = delay_ms.saturating_mul(JITTER_PERCENT) / 100;
        let moved = rng.next_u64() % spread.saturating_mul(2).saturating_add(1);
        Duration::from_millis(delay_ms.saturating_sub(spread).saturating_add(moved))
    }

    const fn longest(&self, fault: SessionFault) -> Duration {
        match fault {
            SessionFault::Unsupported { .. }
            | SessionFault::Failed(ConnectFailure::SomethingElse | ConnectFailure::WrongKey) => {
                self.timing.reconnect_hopeless_max
            }
            SessionFault::Failed(_) => self.timing.reconnect_max,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    fn delays(fault: SessionFault, count: usize) -> Vec<u64> {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut backoff = Backoff::new(Timing::default());
        let mut next = || u64::try_from(backoff.delay(fault, &mut rng).as_millis()).unwrap();
        std::iter::repeat_with(&mut next).take(count).collect()
    }

    #[test]
    fn delays_double_from_one_to_thirty_seconds_within_a_fifth() {
        let middle = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
        let refused = ConnectFailure::Refused.into();
        for (delay, middle) in delays(refused, middle.len()).into_iter().zip(middle) {
            assert!(
                (middle * 4 / 5..=middle * 6 / 5).contains(&delay),
                "{delay} {middle}"
            );
        }
    }

    #[test]
    fn a_wrong_key_is_asked_again_every_few_minutes_only() {
        let last = *delays(ConnectFailure::WrongKey.into(), 40).last().unwrap();
        assert!((240_000..=360_000).contains(&last), "{last}");
    }

    #[test]
    fn a_reset_starts_again_at_one_second() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut backoff = Backoff {
            timing: Timing::default(),
            failures: 9,
        };
        backoff.reset();
        let delay = backoff.delay(ConnectFailure::Lost.into(), &mut rng);
        assert!(delay <= Duration::from_millis(1_200));
    }
}
