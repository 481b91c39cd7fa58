//! Why a session ended, for the log: never who it was or what was in it.

use std::io;

use sealpost_protocol::channel::{ChannelError, HandshakeError, RecordError};

use crate::metrics::EndingKind;
use crate::store::StoreError;

/// See the module.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum Ending {
    /// The device closed the connection.
    #[error("closed by the device")]
    Closed,
    /// The connection broke.
    #[error("connection lost")]
    Disconnected,
    /// The first bytes were not a version that is spoken here.
    #[error("transport version not supported")]
    Unsupported,
    /// The handshake took too long.
    #[error("handshake deadline")]
    HandshakeDeadline,
    /// The handshake was wrong.
    #[error("handshake failed: {0}")]
    Handshake(#[from] HandshakeError),
    /// The stream wasn't cut into messages.
    #[error("malformed record: {0}")]
    Record(#[from] RecordError),
    /// A message couldn't be decrypted.
    #[error("channel failed: {0}")]
    Channel(#[from] ChannelError),
    /// A Push Session has lived long enough.
    #[error("push session deadline")]
    PushDeadline,
    /// A device has been silent for too long.
    #[error("idle")]
    Idle,
    /// Too many malformed frames.
    #[error("too many malformed frames")]
    Malformed,
    /// The device has its share of sessions.
    #[error("too many sessions of one device")]
    TooManySessions,
    /// The store doesn't answer.
    #[error("store failed: {0}")]
    Store(#[from] StoreError),
    /// The relay stops.
    #[error("relay stops")]
    Stopping,
}

/// What it is counted as.
impl From<&Ending> for EndingKind {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Closed => Self::Closed,
            Ending::Disconnected => Self::Disconnected,
            Ending::Unsupported => Self::Unsupported,
            Ending::HandshakeDeadline => Self::HandshakeDeadline,
            Ending::Handshake(_) => Self::Handshake,
            Ending::Record(_) => Self::Record,
            Ending::Channel(_) => Self::Channel,
            Ending::PushDeadline => Self::PushDeadline,
            Ending::Idle => Self::Idle,
            Ending::Malformed => Self::Malformed,
            Ending::TooManySessions => Self::TooManySessions,
            Ending::Store(_) => Self::Store,
            Ending::Stopping => Self::Stopping,
        }
    }
}

impl From<io::Error> for Ending {
    fn from(_: io::Error) -> Self {
        Self::Disconnected
    }
}
