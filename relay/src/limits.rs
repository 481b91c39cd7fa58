//! What one recipient, one device and the whole relay may use.
//!
//! Owns: every number that bounds use (specification 0.3 and 2.8, and 4.11 of
//! "paired-mailbox/1"), and ([`rates`]) the token buckets. Never does: read a clock, lock, or
//! keep an address longer than its bucket takes to fill. In the native door everything is keyed
//! on the recipient, the device key or a global count; only the web door's is on addresses
//! (amendment 14).

mod rates;
mod web;
mod wormhole;

use std::time::Duration;

use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::limit;

pub use rates::{Rate, Rates};
pub(crate) use web::AddressKey;
pub use web::{MailboxLimits, WebLimits};
pub use wormhole::WormholeLimits;
pub(crate) use wormhole::{
    WORMHOLE_PING_INTERVAL, WORMHOLE_PRUNE_INTERVAL, WORMHOLE_QUEUE_BYTES_MAX,
    WORMHOLE_QUEUES_BYTES_MAX, WORMHOLE_SILENCE_MAX, WORMHOLE_WRITE_TIME,
};

/// Watches of one direction of a mailbox; a later one takes the place of the oldest.
pub(crate) const WATCHES_PER_DIRECTION_MAX: usize = 4;

/// The shortest time between two frames of a watch that tell the same kind of thing.
pub(crate) const WATCH_FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// Bytes of Envelopes that are read at a time for a page that is on its way. Whatever a
/// connection asks and doesn't read, it holds little more than this.
pub(crate) const PAGE_PIECE_BYTES_MAX: usize = 65_536;

/// Bytes that a blob costs beside its Envelope, in the file, in the index and on its way
/// there. Every bound in bytes charges them, or endless many empty Envelopes would cost nothing.
pub const BLOB_OVERHEAD_BYTES: u64 = 256;

/// What `blobs` Envelopes of `bytes` together are charged with.
pub(crate) fn charged_bytes(blobs: u64, bytes: u64) -> u64 {
    blobs
        .saturating_mul(BLOB_OVERHEAD_BYTES)
        .saturating_add(bytes)
}

/// Bounds of inboxes and of the whole store. Where they bound bytes, a blob counts as its
/// Envelope and [`BLOB_OVERHEAD_BYTES`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StoreLimits {
    /// Blobs that may wait in one inbox.
    pub inbox_blobs_max: u64,
    /// Bytes that may wait in one inbox.
    pub inbox_bytes_max: u64,
    /// Inboxes that may hold blobs at the same time. A quarter more is kept for devices that
    /// are connected, so that strangers who fill inboxes of nobody don't cut them off.
    pub inboxes_max: u64,
    /// Bytes that may wait in all inboxes together (amendment 6), and a quarter more for
    /// devices that are connected.
    pub total_bytes_max: u64,
    /// Bytes that must stay free on the disk (amendment 6).
    pub disk_free_bytes_min: u64,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            inbox_blobs_max: 10_000,
            inbox_bytes_max: 268_435_456,
            inboxes_max: 100_000,
            total_bytes_max: 17_179_869_184,
            disk_free_bytes_min: 268_435_456,
        }
    }
}

impl StoreLimits {
    /// How many inboxes there may be for one more to be filled.
    pub(crate) fn inboxes_max_for(&self, is_watched: bool) -> u64 {
        with_share(self.inboxes_max, is_watched)
    }

    /// How many bytes there may be with one more blob in an inbox.
    pub(crate) fn total_bytes_max_for(&self, is_watched: bool) -> u64 {
        with_share(self.total_bytes_max, is_watched)
    }
}

/// The share of connected devices is bounded too: whoever makes keys can also connect with
/// them, once for each.
fn with_share(max: u64, is_watched: bool) -> u64 {
    if is_watched {
        max.saturating_add(max.div_ceil(4))
    } else {
        max
    }
}

/// Bounds of connections and of what goes over them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionLimits {
    /// The largest body of a message; the Envelope limit follows from it.
    pub body_bytes_max: usize,
    /// Concurrent connections per listener.
    pub connections_max: usize,
    /// Concurrent Receive Sessions per device key.
    pub receive_sessions_per_key_max: usize,
    /// Pushes per recipient.
    pub push_rate: PushRate,
    /// From accept to the end of the handshake.
    pub handshake: Duration,
    /// From accept to the end of a Push Session.
    pub push_session: Duration,
    /// The longest silence of a device on a Receive Session.
    pub receive_idle: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            body_bytes_max: limit::BODY_BYTES_MAX,
            connections_max: 1_000,
            receive_sessions_per_key_max: 4,
            push_rate: PushRate {
                per_second: 20,
                burst: 500,
            },
            handshake: Duration::from_millis(limit::HANDSHAKE_MS),
            push_session: Duration::from_millis(limit::PUSH_SESSION_MS),
            receive_idle: Duration::from_millis(limit::RECEIVE_IDLE_MS),
        }
    }
}

/// Bounds of the health endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HealthLimits {
    /// Concurrent connections.
    pub(crate) connections_max: usize,
    /// From accept to the end of a connection, however much it asks.
    pub(crate) deadline: Duration,
}

impl Default for HealthLimits {
    fn default() -> Self {
        Self {
            connections_max: 32,
            deadline: Duration::from_secs(10),
        }
    }
}

impl SessionLimits {
    /// The largest Envelope that is stored.
    pub fn envelope_bytes_max(&self) -> usize {
        self.body_bytes_max
            .saturating_add(limit::ENVELOPE_OVERHEAD_BYTES_MAX)
            .min(limit::ENVELOPE_BYTES_MAX)
    }
}

/// How many pushes one recipient gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PushRate {
    /// Lasting pushes per second.
    pub per_second: u32,
    /// Pushes at once after a silence.
    pub burst: u32,
}

/// The token buckets of all recipients that are not full.
#[derive(Debug)]
pub struct PushRates(Rates<NoisePublic>);

impl PushRates {
    /// Full buckets for everybody.
    pub fn new(rate: PushRate) -> Self {
        Self(Rates::new(Rate {
            count: rate.per_second,
            period: Duration::from_secs(1),
            burst: rate.burst,
        }))
    }

    /// Takes one token of `recipient`; false if there is none.
    pub fn take(&mut self, recipient: NoisePublic, now_ms: u64) -> bool {
        self.0.take(recipient, now_ms)
    }

    /// Forgets every bucket that has filled up again.
    pub(crate) fn sweep(&mut self, now_ms: u64) {
        self.0.sweep(now_ms);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::rates::SWEEP_FLOOR;
    use super::*;

    /// Milliseconds of a second's tokens.
    const TOKEN: u64 = 1_000;

    const RATE: PushRate = PushRate {
        per_second: 20,
        burst: 500,
    };

    fn recipient(byte: u8) -> NoisePublic {
        NoisePublic::from_bytes([byte; 32])
    }

    #[test]
    fn a_burst_passes_and_the_next_waits_for_a_token() {
        let mut rates = PushRates::new(RATE);
        for _ in 0..500 {
            assert!(rates.take(recipient(1), 1_000));
        }
        assert!(!rates.take(recipient(1), 1_000));
        assert!(
            !rates.take(recipient(1), 1_049),
            "20 per second is one per 50 ms"
        );
        assert!(rates.take(recipient(1), 1_050));
        assert!(!rates.take(recipient(1), 1_050));
    }

    #[test]
    fn recipients_do_not_share_tokens() {
        let mut rates = PushRates::new(PushRate {
            per_second: 1,
            burst: 1,
        });
        assert!(rates.take(recipient(1), 0));
        assert!(!rates.take(recipient(1), 0));
        assert!(rates.take(recipient(2), 0));
    }

    #[test]
    fn a_clock_that_steps_back_does_not_lock_a_recipient_out() {
        let mut rates = PushRates::new(PushRate {
            per_second: 1,
            burst: 1,
        });
        assert!(rates.take(recipient(1), 1_000_000));
        assert!(
            !rates.take(recipient(1), 0),
            "the step itself gives nothing"
        );
        assert!(rates.take(recipient(1), 1_000));
    }

    #[test]
    fn full_buckets_are_forgotten_and_others_kept() {
        let mut rates = PushRates::new(RATE);
        assert!(rates.take(recipient(1), 0));
        for _ in 0..400 {
            assert!(rates.take(recipient(2), 0));
        }
        rates.sweep(50);
        assert_eq!(rates.0.len(), 1);
    }

    #[test]
    fn state_stays_bounded_under_pushes_to_ever_new_recipients() {
        let mut rates = PushRates::new(RATE);
        for number in 0..40_000_u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_be_bytes());
            assert!(rates.take(NoisePublic::from_bytes(key), number));
        }
        assert!(rates.0.len() <= 2 * SWEEP_FLOOR);
    }

    #[test]
    fn the_envelope_limit_follows_the_body_limit() {
        let limits = SessionLimits::default();
        assert_eq!(limits.envelope_bytes_max(), 61_904);
        let low = SessionLimits {
            body_bytes_max: limit::BODY_BYTES_LIMIT_MIN,
            ..limits
        };
        assert_eq!(low.envelope_bytes_max(), 8_656);
    }

    proptest! {
        /// Whatever the clock does, no window lets more through than the burst and the inflow.
        #[test]
        fn no_history_passes_more_than_burst_and_inflow(
            steps in prop::collection::vec(0_u64..400, 1..400),
            per_second in 1_u32..50,
            burst in 1_u32..60,
        ) {
            let mut rates = PushRates::new(PushRate { per_second, burst });
            let mut now_ms = 5_000;
            let mut passed = 0_u64;
            for step in &steps {
                now_ms += step;
                passed += u64::from(rates.take(recipient(7), now_ms));
            }
            let inflow = (now_ms - 5_000) * u64::from(per_second) / TOKEN;
            prop_assert!(passed <= u64::from(burst) + inflow);
        }

        /// Sweeping at any moment is invisible to the recipients.
        #[test]
        fn sweeping_changes_no_answer(
            steps in prop::collection::vec((0_u64..200, any::<bool>(), 0_u8..3), 1..300),
        ) {
            let rate = PushRate { per_second: 5, burst: 4 };
            let mut swept = PushRates::new(rate);
            let mut plain = PushRates::new(rate);
            let mut now_ms = 0;
            for (step, sweep, key) in steps {
                now_ms += step;
                if sweep {
                    swept.sweep(now_ms);
                }
                prop_assert_eq!(
                    swept.take(recipient(key), now_ms),
                    plain.take(recipient(key), now_ms)
                );
            }
        }
    }
}
