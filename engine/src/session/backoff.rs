//! How long to wait before connecting again: one second doubling to a limit, ±20 %.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rand_core::RngCore;

use super::SessionFault;
use super::timing::{JITTER_PERCENT, Timing};
use crate::core::status::ConnectFailure;

/// How often in a row something failed. Clones count together, so that the count outlives
/// the task that waits by it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures(Arc<AtomicU32>);

/// Waits by the number of failures in a row.
#[derive(Debug)]
pub(crate) struct Backoff {
    timing: Timing,
    failures: Failures,
}

impl Backoff {
    /// Goes on from these failures.
    pub(crate) const fn new(timing: Timing, failures: Failures) -> Self {
        Self { timing, failures }
    }

    /// Things went well: the next delay is the first again.
    pub(crate) fn reset(&mut self) {
        self.failures.0.store(0, Ordering::Relaxed);
    }

    /// The delay after `fault`.
    pub(crate) fn delay(&mut self, fault: SessionFault, rng: &mut impl RngCore) -> Duration {
        let failures = self.failures.0.load(Ordering::Relaxed);
        let doubled = self
            .timing
            .reconnect_first
            .saturating_mul(1 << failures.min(20));
        self.failures
            .0
            .store(failures.saturating_add(1), Ordering::Relaxed);
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
        let mut backoff = Backoff::new(Timing::default(), Failures::default());
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
        let failures = Failures(Arc::new(AtomicU32::new(9)));
        let mut backoff = Backoff::new(Timing::default(), failures);
        backoff.reset();
        let delay = backoff.delay(ConnectFailure::Lost.into(), &mut rng);
        assert!(delay <= Duration::from_millis(1_200));
    }

    #[test]
    fn failures_outlive_the_task_that_counts_them() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let failures = Failures::default();
        let fault = ConnectFailure::Refused.into();
        for _ in 0..4 {
            let mut backoff = Backoff::new(Timing::default(), failures.clone());
            backoff.delay(fault, &mut rng);
        }
        let mut backoff = Backoff::new(Timing::default(), failures);
        assert!(backoff.delay(fault, &mut rng) >= Duration::from_secs(12));
    }
}
