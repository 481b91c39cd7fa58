//! The time of day, as an argument.
//!
//! Owns the one place where this crate reads a clock. Everything below takes milliseconds
//! since the Unix epoch as a value, so that thirty and sixty days pass in a test without
//! anybody waiting for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Says what time it is, in milliseconds since the Unix epoch.
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now_ms(&self) -> u64;
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        // A clock before 1970 counts as 1970: nothing here can do anything better with it.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            })
    }
}

/// A clock that moves only when it is told to.
#[derive(Debug)]
pub struct SteppedClock(AtomicU64);

impl SteppedClock {
    /// Starts at `now_ms`.
    #[must_use]
    pub const fn new(now_ms: u64) -> Self {
        Self(AtomicU64::new(now_ms))
    }

    /// Moves the clock on by `step_ms`.
    pub fn advance(&self, step_ms: u64) {
        self.0.fetch_add(step_ms, Ordering::SeqCst);
    }

    /// Puts the clock to `now_ms`, forwards or back.
    pub fn set(&self, now_ms: u64) {
        self.0.store(now_ms, Ordering::SeqCst);
    }
}

impl Clock for SteppedClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepped_clock_moves_only_when_told() {
        let clock = SteppedClock::new(7);
        assert_eq!(clock.now_ms(), 7);
        assert_eq!(clock.now_ms(), 7);
        clock.advance(3);
        assert_eq!(clock.now_ms(), 10);
        clock.set(2);
        assert_eq!(clock.now_ms(), 2);
    }

    #[test]
    fn the_system_clock_is_past_the_year_2024() {
        assert!(SystemClock.now_ms() > 1_704_067_200_000);
    }
}
