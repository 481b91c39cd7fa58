//! What wormhole mailboxes and their connections may use (specification "Mailbox server over
//! WebSocket", section 9).

use std::time::Duration;

/// Bounds of wormhole mailboxes (section 9, amendment 6).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WormholeLimits {
    /// Mailboxes of the relay.
    pub mailboxes_max: u64,
    /// Messages of one mailbox.
    pub messages_max: u64,
    /// Bytes of one mailbox.
    pub bytes_max: u64,
    /// Bytes of one frame.
    pub frame_bytes_max: usize,
}

impl Default for WormholeLimits {
    fn default() -> Self {
        Self {
            mailboxes_max: 100_000,
            messages_max: 10_000,
            bytes_max: 16 * 1_024 * 1_024,
            frame_bytes_max: 4 * 1_024 * 1_024,
        }
    }
}

impl WormholeLimits {
    /// The bounds of a relay inside an app, which serves its owner and whom it invites.
    pub(crate) const BUNDLED_MAILBOXES_MAX: u64 = 1_000;
}

/// Bytes of messages that wait for one connection to read them.
pub(crate) const WORMHOLE_QUEUE_BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// The same of all connections together.
pub(crate) const WORMHOLE_QUEUES_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

/// How often the relay pings a connection.
pub(crate) const WORMHOLE_PING_INTERVAL: Duration = Duration::from_secs(60);

/// The silence after which a connection is dropped.
pub(crate) const WORMHOLE_SILENCE_MAX: Duration = Duration::from_secs(600);

/// How long the reading of one frame may take at the other end.
pub(crate) const WORMHOLE_WRITE_TIME: Duration = Duration::from_secs(60);

/// How often old mailboxes are pruned.
pub(crate) const WORMHOLE_PRUNE_INTERVAL: Duration = Duration::from_secs(300);
