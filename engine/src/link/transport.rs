//! How a link reaches its mailbox.
//!
//! Owns the trait that a way to a relay implements: over HTTP ([`super::HttpTransport`]) or in
//! the same process, as the relay inside the app is reached. A transport repeats nothing and
//! remembers nothing; what follows from an answer is decided by the machine
//! ([`crate::core::link`]).
//!
//! Invariant: dropping what [`LinkTransport::watch`] returned ends the watch.

use std::fmt;
use std::sync::Arc;

use sealpost_protocol::link::key::{Direction, LinkToken, MailboxId};

use crate::core::link::{Answer, LinkRequest, WatchEvent};
use crate::core::status::ConnectFailure;
use crate::engine::BoxFuture;

/// A mailbox, and what shows its relay that one may use it. Opens no envelope.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkAddress {
    /// The mailbox.
    pub mailbox: MailboxId,
    /// The token that claimed it.
    pub token: LinkToken,
}

impl fmt::Debug for LinkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkAddress")
    }
}

/// Why a relay gave no answer. The text is safe to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkFailure {
    /// Nobody knows the host's name.
    #[error("the name isn't found")]
    NameNotFound,
    /// Nothing listens there.
    #[error("refused")]
    Refused,
    /// It was silent for too long.
    #[error("no answer")]
    NoAnswer,
    /// The connection broke.
    #[error("the connection broke")]
    Lost,
    /// Its certificate isn't trusted.
    #[error("the certificate isn't trusted")]
    Certificate,
    /// Something else than a relay with a web door answers there.
    #[error("something else answers")]
    SomethingElse,
    /// The relay in this process doesn't run.
    #[error("the relay in this process doesn't run")]
    RelayOff,
}

impl LinkFailure {
    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NameNotFound => "nameNotFound",
            Self::Refused => "refused",
            Self::NoAnswer => "noAnswer",
            Self::Lost => "lost",
            Self::Certificate => "certificate",
            Self::SomethingElse => "somethingElse",
            Self::RelayOff => "relayOff",
        }
    }
}

impl From<ConnectFailure> for LinkFailure {
    fn from(failure: ConnectFailure) -> Self {
        match failure {
            ConnectFailure::NameNotFound => Self::NameNotFound,
            ConnectFailure::Refused => Self::Refused,
            ConnectFailure::Lost => Self::Lost,
            ConnectFailure::NoAnswer => Self::NoAnswer,
            _ => Self::SomethingElse,
        }
    }
}

/// Where a watch tells what it sees. Tells nothing once nobody listens.
pub type WatchSink = Arc<dyn Fn(WatchEvent) + Send + Sync>;

/// A way to one relay.
pub trait LinkTransport: Send + Sync + 'static {
    /// Makes one request. Whether it happened isn't known after a failure.
    fn perform(
        &self,
        address: LinkAddress,
        request: LinkRequest,
    ) -> BoxFuture<Result<Answer, LinkFailure>>;

    /// Watches a direction, and tells `sink` what it sees. Ends when the watch has ended, after
    /// it told so.
    fn watch(&self, address: LinkAddress, direction: Direction, sink: WatchSink) -> BoxFuture<()>;

    /// The network has changed: connections that are kept are of no use any more.
    fn renew(&self) {}
}
