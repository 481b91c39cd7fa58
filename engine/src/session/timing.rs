//! The delays and bounds of the sessions. Those of the protocol are in
//! `sealpost_protocol::limit`.

use std::time::Duration;

use sealpost_protocol::limit::{
    HANDSHAKE_MS, HEARTBEAT_INTERVAL_MS, PUSH_SESSION_MS, RECEIVE_IDLE_MS,
};

/// How long looking up and connecting may take, over all addresses.
pub(crate) const DIAL: Duration = Duration::from_secs(10);

/// How long after one address the next one is tried beside it.
pub(crate) const DIAL_STAGGER: Duration = Duration::from_millis(250);

/// How many addresses of a host are tried.
pub(crate) const DIAL_ADDRESSES_MAX: usize = 16;

/// How long a handshake may take.
pub(crate) const HANDSHAKE: Duration = Duration::from_millis(HANDSHAKE_MS);

/// How often a device shows that its Receive Session lives.
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(HEARTBEAT_INTERVAL_MS);

/// How long a relay may be silent, and how long a write may take, before the session is
/// given up.
pub(crate) const SILENCE_MAX: Duration = Duration::from_millis(RECEIVE_IDLE_MS);

/// The first delay before connecting again.
pub(crate) const RECONNECT_FIRST_MS: u64 = 1_000;

/// The longest delay before connecting again.
pub(crate) const RECONNECT_MAX_MS: u64 = 30_000;

/// The longest delay where trying again soon is of no use: another key, another program or
/// another version at that address.
pub(crate) const RECONNECT_HOPELESS_MAX_MS: u64 = 300_000;

/// How far a delay is moved at random, in per cent to either side.
pub(crate) const JITTER_PERCENT: u64 = 20;

/// A session that lived this long makes the next delay the first again.
pub(crate) const SETTLED: Duration = Duration::from_secs(60);

/// No push is started in a Push Session older than this; the relay ends it soon.
pub(crate) const PUSH_START: Duration = Duration::from_secs(20);

/// The end of a Push Session, on both sides.
pub(crate) const PUSH_SESSION: Duration = Duration::from_millis(PUSH_SESSION_MS);

/// How long a Push Session with nothing to do is kept for what follows an answer: the next
/// message to the same recipient is only pushed once this one is on the relay.
pub(crate) const PUSH_LINGER: Duration = Duration::from_secs(1);

/// How many delivered frames may wait for the actor.
pub(crate) const QUEUE_FRAMES_MAX: usize = 256;

/// How many bytes of delivered frames may wait for the actor.
pub(crate) const QUEUE_BYTES_MAX: usize = 8 * 1024 * 1024;
