//! How long to wait before connecting again: one second doubling to a limit, ±20 %.

use std::time::Duration;

use rand_core::RngCore;

use super::SessionFault;
use super::timing::{
    JITTER_PERCENT, RECONNECT_FIRST_MS, RECONNECT_HOPELESS_MAX_MS, RECONNECT_MAX_MS,
};
use crate::core::status::ConnectFailure;

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Things went well: the next delay is the first again.
    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }

    /// The delay after `fault`.
    pub(crate) fn delay(&mut self, fault: SessionFault, rng: &mut impl RngCore) -> Duration {
        let doubled = RECONNECT_FIRST_MS.saturating_mul(1_u64 << self.failures.min(20));
        self.failures = self.failures.saturating_add(1);
        let delay = doubled.min(longest_ms(fault));
        let spread = delay.saturating_mul(JITTER_PERCENT) / 100;
        let moved = rng.next_u64() % spread.saturating_mul(2).saturating_add(1);
        Duration::from_millis(delay.saturating_sub(spread).saturating_add(moved))
    }
}

const fn longest_ms(fault: SessionFault) -> u64 {
    match fault {
        SessionFault::Unsupported { .. }
        | SessionFault::Failed(ConnectFailure::SomethingElse | ConnectFailure::WrongKey) => {
            RECONNECT_HOPELESS_MAX_MS
        }
        SessionFault::Failed(_) => RECONNECT_MAX_MS,
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    fn delays(fault: SessionFault, count: usize) -> Vec<u64> {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut backoff = Backoff::default();
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
        let mut backoff = Backoff { failures: 9 };
        backoff.reset();
        let delay = backoff.delay(ConnectFailure::Lost.into(), &mut rng);
        assert!(delay <= Duration::from_millis(1_200));
    }
}
