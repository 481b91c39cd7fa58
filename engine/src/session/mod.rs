//! The two connections of a group to its relay (specification, 2.5 and 2.6).
//!
//! Owns sockets, deadlines, heartbeats and reconnecting. Decides nothing about messages:
//! what arrives is reported to the actor, what is to be pushed comes from it.
//!
//! - [`receive`]: one long Receive Session while the group wants one;
//! - [`push`]: short Push Sessions while there is something to push;
//! - [`dial`]: the one way to a socket, and the telling apart of its failures;
//! - [`handshake`] and [`record`]: from a socket to frames.
//!
//! Invariants:
//! - reading and writing of a session never wait for each other;
//! - what is read and not taken yet is bounded in number and bytes; beyond that the socket
//!   isn't read;
//! - no address, key or host is logged.

pub(crate) mod backoff;
pub(crate) mod dial;
pub(crate) mod handshake;
pub(crate) mod push;
pub(crate) mod receive;
pub(crate) mod record;
pub(crate) mod timing;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::NoiseSecret;
use tokio::sync::OwnedSemaphorePermit;

use crate::core::status::{ConnectFailure, Connection};
use crate::core::step::{PushId, PushOutcome, SessionId};

/// Something that a session has to say to the actor.
pub(crate) enum Report {
    /// The Receive Session is being set up, or isn't there for this reason.
    Connection(Connection),
    /// A Receive Session is up.
    Started(SessionId),
    /// It ended; this is what there is instead.
    Ended(SessionId, Connection),
    /// A Deliver frame.
    Delivered {
        /// The session that it came on.
        session: SessionId,
        /// The relay's id of the blob.
        blob: u64,
        /// The envelope.
        envelope: Vec<u8>,
        /// Its place in the bounded queue.
        place: QueuePlace,
    },
    /// The relay sent a frame that makes no sense.
    BadFrame,
    /// What came of a push.
    Pushed(PushId, PushOutcome),
}

/// Where reports go.
pub(crate) type Reporter = Arc<dyn Fn(Report) + Send + Sync>;

/// A place in the bounded queue between socket and actor. Dropping it lets more be read.
#[derive(Debug)]
pub(crate) struct QueuePlace {
    _frame: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
}

/// Where the sessions go, and as whom.
pub(crate) struct Route {
    /// The relay.
    pub(crate) relay: RelayAddress,
    /// The device's key for receiving.
    pub(crate) device: NoiseSecret,
}

/// Whether there is to be a Receive Session.
#[derive(Clone)]
pub(crate) enum ReceiveGoal {
    /// There is to be none, for this reason.
    Idle(Option<ConnectFailure>),
    /// There is to be one.
    Connect(Arc<Route>),
}

/// Why a session didn't come about or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionFault {
    /// An ordinary failure.
    Failed(ConnectFailure),
    /// The relay speaks only other Transport Versions.
    Unsupported {
        /// Lowest version that it speaks.
        min: u16,
        /// Highest version that it speaks.
        max: u16,
    },
}

impl SessionFault {
    /// The state of the connection that follows.
    pub(crate) const fn connection(self) -> Connection {
        match self {
            Self::Failed(failure) => Connection::Disconnected(Some(failure)),
            Self::Unsupported { min, max } => Connection::RelayVersionUnsupported { min, max },
        }
    }

    /// The outcome of a push that it met.
    pub(crate) const fn push_outcome(self) -> PushOutcome {
        match self {
            Self::Failed(_) => PushOutcome::Unanswered,
            Self::Unsupported { min, max } => PushOutcome::VersionUnsupported { min, max },
        }
    }
}

impl From<ConnectFailure> for SessionFault {
    fn from(failure: ConnectFailure) -> Self {
        Self::Failed(failure)
    }
}
