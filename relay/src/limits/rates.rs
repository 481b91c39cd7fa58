//! Token buckets, one per key.
//!
//! Invariants:
//! - a bucket never holds more than its burst;
//! - a bucket that is full needs no state, so forgetting it changes nothing;
//! - a clock that steps back neither fills a bucket nor stops it from filling again.

use std::collections::BTreeMap;
use std::time::Duration;

/// How much of something one key gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rate {
    /// Lasting, per period.
    pub count: u32,
    /// The period.
    pub period: Duration,
    /// At once after a silence.
    pub burst: u32,
}

impl Rate {
    /// What one token is, in units of which `count` flow in per millisecond: a refill of a few
    /// milliseconds is never rounded away.
    fn token(self) -> u64 {
        u64::try_from(self.period.as_millis())
            .unwrap_or(u64::MAX)
            .max(1)
    }

    fn ceiling(self) -> u64 {
        u64::from(self.burst).saturating_mul(self.token())
    }

    /// How long an empty bucket takes to hold one token again.
    pub fn pause(self) -> Duration {
        let pause_ms = self.token().div_ceil(u64::from(self.count).max(1));
        Duration::from_millis(pause_ms)
    }
}

/// The tokens of one key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct TokenBucket {
    /// Invariant: at most the rate's ceiling.
    level: u64,
    filled_at_ms: u64,
}

impl TokenBucket {
    fn full(rate: Rate, now_ms: u64) -> Self {
        Self {
            level: rate.ceiling(),
            filled_at_ms: now_ms,
        }
    }

    /// Adds what has flowed in since the last time.
    fn fill(&mut self, rate: Rate, now_ms: u64) {
        let elapsed_ms = now_ms.saturating_sub(self.filled_at_ms);
        let inflow = elapsed_ms.saturating_mul(u64::from(rate.count));
        self.level = self.level.saturating_add(inflow).min(rate.ceiling());
        self.filled_at_ms = now_ms;
        debug_assert!(
            self.level <= rate.ceiling(),
            "a bucket never holds more than its burst"
        );
    }

    fn take(&mut self, rate: Rate) -> bool {
        match self.level.checked_sub(rate.token()) {
            Some(rest) => {
                self.level = rest;
                true
            }
            None => false,
        }
    }

    fn is_full(&self, rate: Rate) -> bool {
        self.level >= rate.ceiling()
    }
}

/// The token buckets of all keys that are not full.
#[derive(Debug)]
pub struct Rates<Key> {
    rate: Rate,
    buckets: BTreeMap<Key, TokenBucket>,
    /// The number of buckets at which full ones are forgotten next.
    sweep_at: usize,
}

/// Buckets below this number are never swept; they cost nothing.
pub(super) const SWEEP_FLOOR: usize = 4_096;

impl<Key: Ord> Rates<Key> {
    /// Full buckets for everybody.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            buckets: BTreeMap::new(),
            sweep_at: SWEEP_FLOOR,
        }
    }

    /// Takes one token of `key`; false if there is none.
    pub fn take(&mut self, key: Key, now_ms: u64) -> bool {
        if self.buckets.len() >= self.sweep_at {
            self.sweep(now_ms);
        }
        let rate = self.rate;
        let bucket = self
            .buckets
            .entry(key)
            .or_insert_with(|| TokenBucket::full(rate, now_ms));
        bucket.fill(rate, now_ms);
        bucket.take(rate)
    }

    /// Whether there is a token of `key`, without taking it.
    pub fn has(&self, key: &Key, now_ms: u64) -> bool {
        self.buckets.get(key).is_none_or(|bucket| {
            let mut bucket = *bucket;
            bucket.fill(self.rate, now_ms);
            bucket.take(self.rate)
        })
    }

    /// The rate of every key.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Forgets every bucket that has filled up again.
    pub(crate) fn sweep(&mut self, now_ms: u64) {
        let rate = self.rate;
        self.buckets.retain(|_, bucket| {
            bucket.fill(rate, now_ms);
            !bucket.is_full(rate)
        });
        // Doubling keeps the cost of sweeping constant per token.
        self.sweep_at = self.buckets.len().saturating_mul(2).max(SWEEP_FLOOR);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }
}
