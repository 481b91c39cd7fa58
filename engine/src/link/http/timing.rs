//! The delays and bounds of the HTTP transport (specification, section 2).

use std::time::Duration;

/// How long looking up, connecting and the handshake of TLS may take together.
pub(super) const CONNECT_MAX: Duration = Duration::from_secs(5);

/// How long a request may take, from its first byte to the last of its answer.
pub(crate) const REQUEST_MAX: Duration = Duration::from_secs(30);

/// The largest answer that is read: a page of the largest envelopes in base64, and what
/// stands around them.
pub(super) const ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How many connections stay open between requests.
pub(super) const IDLE_CONNECTIONS_MAX: usize = 4;

/// How long a watch may be silent; the door sends a beat every 25 s.
pub(super) const WATCH_SILENCE_MAX: Duration = Duration::from_secs(75);

/// The largest frame of a watch that is read.
pub(super) const FRAME_BYTES_MAX: usize = 16 * 1024;

/// How long the other side is waited for when a connection is closed.
pub(crate) const GOODBYE_MAX: Duration = Duration::from_secs(1);
