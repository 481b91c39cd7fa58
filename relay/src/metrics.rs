//! What a relay counts: whole numbers over everybody, never over one.
//!
//! Owns: the counters of the doors and of the store, and ([`page`]) their text for Prometheus.
//! Never does: hold a key, an address, an id or a time of one client; every label is a word of
//! this file. [`crate::Relay::numbers`] reads the same counters.
//!
//! Invariants:
//! - counting is one relaxed addition: no lock, no allocation;
//! - on each port, connections ever = open + closed, but for the moment between the two.

mod page;
mod web;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sealpost_protocol::frame::{Frame, Refusal};

use crate::doors::native::SessionKind;

pub(crate) use page::{CONTENT_TYPE, Source};
pub(crate) use web::WebMetrics;

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Declares an enum together with the word that stands for each of its values in a label.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($value:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub(crate) enum $name { $($value,)* }

        impl $name {
            const WORDS: &[&str] = &[$($word,)*];
        }
    };
}

words! {
    /// How a connection ended.
    EndingKind {
        Closed = "closed",
        Disconnected = "disconnected",
        Unsupported = "unsupported_version",
        HandshakeDeadline = "handshake_deadline",
        Handshake = "handshake_failed",
        Record = "malformed_record",
        Channel = "channel_failed",
        PushDeadline = "push_session_deadline",
        Idle = "idle",
        Malformed = "malformed_frames",
        TooManySessions = "too_many_sessions",
        TooManyConnections = "too_many_connections",
        Store = "store_failed",
        Stopping = "stopping",
    }
}

words! {
    /// What a push was answered with.
    PushResult {
        Acked = "acked",
        TooLarge = "too_large",
        Malformed = "malformed",
        InboxFull = "inbox_full",
        RateLimited = "rate_limited",
        Unavailable = "unavailable",
        InternalError = "internal_error",
    }
}

impl PushResult {
    fn of(answer: &Frame<'_>) -> Self {
        match answer {
            Frame::Error(Refusal::TooLarge) => Self::TooLarge,
            Frame::Error(Refusal::Malformed) => Self::Malformed,
            Frame::Error(Refusal::InboxFull) => Self::InboxFull,
            Frame::Error(Refusal::RateLimited) => Self::RateLimited,
            Frame::Error(Refusal::Unavailable) => Self::Unavailable,
            Frame::Error(Refusal::InternalError) => Self::InternalError,
            _ => Self::Acked,
        }
    }
}

/// What happens on one port.
#[derive(Debug, Default)]
struct PortMetrics {
    open: AtomicU64,
    ever: Counter,
    closed: [Counter; EndingKind::WORDS.len()],
    sessions: Counter,
}

/// What the native door counts.
#[derive(Debug, Default)]
pub(crate) struct DoorMetrics {
    push_port: PortMetrics,
    receive_port: PortMetrics,
    pushes: [Counter; PushResult::WORDS.len()],
    /// Blobs that were written to a device.
    pub(crate) deliveries: Counter,
    /// Acknowledgements that devices sent for them.
    pub(crate) delivery_acks: Counter,
}

impl DoorMetrics {
    fn port(&self, kind: SessionKind) -> &PortMetrics {
        match kind {
            SessionKind::Push => &self.push_port,
            SessionKind::Receive => &self.receive_port,
        }
    }

    /// One more connection, open until [`Self::leave`].
    pub(crate) fn enter(&self, kind: SessionKind) {
        let port = self.port(kind);
        port.ever.add(1);
        port.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leave(&self, kind: SessionKind) {
        self.port(kind).open.fetch_sub(1, Ordering::Relaxed);
    }

    /// A connection that was closed at once, over the cap.
    pub(crate) fn turn_away(&self, kind: SessionKind) {
        self.port(kind).ever.add(1);
        self.close(kind, EndingKind::TooManyConnections);
    }

    pub(crate) fn close(&self, kind: SessionKind, ending: EndingKind) {
        if let Some(counter) = self.port(kind).closed.get(ending as usize) {
            counter.add(1);
        }
    }

    /// A handshake that succeeded.
    pub(crate) fn begin_session(&self, kind: SessionKind) {
        self.port(kind).sessions.add(1);
    }

    /// The answer to one push.
    pub(crate) fn answer(&self, answer: &Frame<'_>) {
        if let Some(counter) = self.pushes.get(PushResult::of(answer) as usize) {
            counter.add(1);
        }
    }

    /// Open connections on both ports.
    pub(crate) fn connections(&self) -> u64 {
        let open = |port: &PortMetrics| port.open.load(Ordering::Relaxed);
        open(&self.push_port).saturating_add(open(&self.receive_port))
    }
}

/// Upper bounds of the buckets of pushes per commit.
const PUSHES_BOUNDS: [u64; 13] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096];

/// Upper bounds of the buckets of a commit's time, in microseconds: a fast disk syncs in a
/// tenth of a millisecond, a failing one takes seconds.
const MICROS_BOUNDS: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000,
];

/// Counts values by size.
#[derive(Debug)]
struct Histogram<const BOUNDS: usize> {
    bounds: [u64; BOUNDS],
    buckets: [Counter; BOUNDS],
    above: Counter,
    sum: Counter,
}

impl<const BOUNDS: usize> Histogram<BOUNDS> {
    fn new(bounds: [u64; BOUNDS]) -> Self {
        Self {
            bounds,
            buckets: std::array::from_fn(|_| Counter::default()),
            above: Counter::default(),
            sum: Counter::default(),
        }
    }

    fn add(&self, value: u64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        self.buckets.get(place).unwrap_or(&self.above).add(1);
        self.sum.add(value);
    }
}

/// What the store counts.
#[derive(Debug)]
pub(crate) struct StoreMetrics {
    pushes: Histogram<{ PUSHES_BOUNDS.len() }>,
    micros: Histogram<{ MICROS_BOUNDS.len() }>,
    /// Attempts to write that failed.
    pub(crate) failures: Counter,
    /// Reads of waiting blobs that failed.
    pub(crate) read_failures: Counter,
    /// Blobs whose time was over.
    pub(crate) expired: Counter,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        Self {
            pushes: Histogram::new(PUSHES_BOUNDS),
            micros: Histogram::new(MICROS_BOUNDS),
            failures: Counter::default(),
            read_failures: Counter::default(),
            expired: Counter::default(),
        }
    }
}

impl StoreMetrics {
    /// A commit of `pushes`, requests to mailboxes among them, that took `time`. Commits that
    /// nobody waits for would hide those that somebody does.
    pub(crate) fn commit(&self, pushes: usize, time: Duration) {
        if pushes > 0 {
            self.pushes.add(pushes as u64);
            self.micros
                .add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_word_of_its_own() {
        for words in [EndingKind::WORDS, PushResult::WORDS] {
            let mut sorted = words.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), words.len());
        }
        let last = [
            EndingKind::Stopping as usize,
            PushResult::InternalError as usize,
        ];
        assert_eq!(
            last.map(|last| last + 1),
            [EndingKind::WORDS.len(), PushResult::WORDS.len()]
        );
    }

    #[test]
    fn a_value_on_a_bound_belongs_below_it() {
        let histogram = Histogram::new([1, 10]);
        for value in [0, 1, 2, 10, 11, 500] {
            histogram.add(value);
        }
        let counts: Vec<u64> = histogram.buckets.iter().map(Counter::get).collect();
        assert_eq!((counts, histogram.above.get()), (vec![2, 2], 2));
        assert_eq!(histogram.sum.get(), 524);
    }
}
