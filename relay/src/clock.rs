//! The wall clock of the relay, as an argument.
//!
//! Owns: the one place where this crate reads the time of day. Lifetimes of blobs and token
//! buckets are computed from it, so that tests can step it. Socket deadlines are not: they use
//! the timer of the runtime and are configured short in tests.

use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time in Unix milliseconds.
pub trait Clock: Send + Sync + 'static {
    /// The present time in Unix milliseconds.
    fn now_ms(&self) -> u64;

    /// Whether the time can be believed. A computer that has lost its clock starts decades
    /// back, and what it stored then would all expire at once when the clock is set.
    fn is_set(&self) -> bool {
        true
    }
}

/// 2025 began here; no relay is older.
const EARLIEST_MS: u64 = 1_735_689_600_000;

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            })
    }

    fn is_set(&self) -> bool {
        self.now_ms() >= EARLIEST_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_is_past_2025() {
        assert!(SystemClock.is_set());
    }
}
