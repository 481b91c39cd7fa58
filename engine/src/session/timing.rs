//! The delays and bounds of the sessions. Those of the protocol are in
//! `sealpost_protocol::limit`.

use std::time::Duration;

use sealpost_protocol::limit::{
    HANDSHAKE_MS, HEARTBEAT_INTERVAL_MS, PUSH_SESSION_MS, RECEIVE_IDLE_MS,
};

/// How many addresses of a host are tried.
pub(crate) const DIAL_ADDRESSES_MAX: usize = 16;

/// How far a delay is moved at random, in per cent to either side.
pub(crate) const JITTER_PERCENT: u64 = 20;

/// How many delivered frames may wait for the actor.
pub(crate) const QUEUE_FRAMES_MAX: usize = 256;

/// How many bytes of delivered frames may wait for the actor.
pub(crate) const QUEUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long asking a relay for its key may take, from looking it up to its answer: somebody
/// waits for it.
pub(crate) const PROBE_MAX: Duration = Duration::from_secs(5);

/// How often a session looks whether the network has changed under it.
pub(crate) const LOOK_AT_WAY: Duration = Duration::from_secs(5);

/// How long each step of testing a relay may take: the deadline of a handshake.
pub(crate) const RELAY_TEST_STEP_MAX: Duration = Duration::from_millis(HANDSHAKE_MS);

/// The delays of the sessions: a value, so that a test can make them short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// How long looking up and connecting may take, over all addresses.
    pub(crate) dial: Duration,
    /// How long after one address the next one is tried beside it.
    pub(crate) dial_stagger: Duration,
    /// How long a handshake may take.
    pub(crate) handshake: Duration,
    /// How often a device shows that its Receive Session lives.
    pub(crate) heartbeat: Duration,
    /// How long a relay may be silent, and how long a write may take, before the session is
    /// given up.
    pub(crate) silence_max: Duration,
    /// The first delay before connecting again.
    pub(crate) reconnect_first: Duration,
    /// The longest delay before connecting again.
    pub(crate) reconnect_max: Duration,
    /// The longest delay where trying again soon is of no use: another key, another program
    /// or another version at that address.
    pub(crate) reconnect_hopeless_max: Duration,
    /// A session that lived this long makes the next delay the first again.
    pub(crate) settled: Duration,
    /// No push is started in a Push Session older than this; the relay ends it soon.
    pub(crate) push_start: Duration,
    /// The end of a Push Session, on both sides.
    pub(crate) push_session: Duration,
    /// How long a Push Session with nothing to do is kept for what follows an answer: the
    /// next message to the same recipient is only pushed once this one is on the relay.
    pub(crate) push_linger: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            dial: Duration::from_secs(10),
            dial_stagger: Duration::from_millis(250),
            handshake: Duration::from_millis(HANDSHAKE_MS),
            heartbeat: Duration::from_millis(HEARTBEAT_INTERVAL_MS),
            silence_max: Duration::from_millis(RECEIVE_IDLE_MS),
            reconnect_first: Duration::from_secs(1),
            reconnect_max: Duration::from_secs(30),
            reconnect_hopeless_max: Duration::from_secs(300),
            settled: Duration::from_secs(60),
            push_start: Duration::from_secs(20),
            push_session: Duration::from_millis(PUSH_SESSION_MS),
            push_linger: Duration::from_secs(1),
        }
    }
}
