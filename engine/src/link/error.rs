//! Why the links can't be opened, and why a call on them failed. Each has a stable code, and a
//! text that is safe to log.

use sealpost_protocol::link::code::CodeError;

use super::relay_url::RelayUrlError;
use crate::core::error::StorageFault;
use crate::keys::KeyStoreError;
use crate::store::OpenFault;

/// Why the links of a profile can't be opened. Their data is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinksOpenError {
    /// The key store could not be asked, or what it holds is damaged.
    #[error("the key of the links can't be read: {0}")]
    KeyStore(#[from] KeyStoreError),
    /// The store is there and the key store has no key for it. A fresh one is never made up
    /// over an existing store.
    #[error("the key of the links is missing")]
    KeyMissing,
    /// The store can't be used: not readable, full, damaged, or open elsewhere.
    #[error("the store of the links can't be used: {0}")]
    Storage(#[from] StorageFault),
    /// The store was written by a newer version of this program.
    #[error("the store of the links has version {found}; this version knows {known}")]
    StoreTooNew {
        /// The version that was found.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
}

impl LinksOpenError {
    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::KeyStore(error) => error.code(),
            Self::KeyMissing => "linksKeyMissing",
            Self::Storage(_) => "linksStorage",
            Self::StoreTooNew { .. } => "linksStoreTooNew",
        }
    }
}

impl From<OpenFault> for LinksOpenError {
    fn from(fault: OpenFault) -> Self {
        match fault {
            OpenFault::Storage(fault) => Self::Storage(fault),
            OpenFault::TooNew { found, known } => Self::StoreTooNew { found, known },
            // No version of this store is too old to be read.
            OpenFault::Outdated { .. } => Self::Storage(StorageFault::Damaged),
        }
    }
}

/// Why a call failed. Nothing was changed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinksError {
    /// The store couldn't be read or written.
    #[error("storage: {0}")]
    Storage(#[from] StorageFault),
    /// The links are closed.
    #[error("closed")]
    Closed,
    /// There is no such link.
    #[error("no such link")]
    UnknownLink,
    /// The link isn't there yet: its pairing isn't complete.
    #[error("the link is still being paired")]
    StillPairing,
    /// The link is being paired no more.
    #[error("the link is not being paired")]
    NotPairing,
    /// There are no digits to compare yet, or they were answered.
    #[error("there are no digits to compare")]
    NoDigits,
    /// The link hasn't ended: it has to be unpaired.
    #[error("the link has not ended")]
    NotEnded,
    /// The link has ended; only what had arrived is still there.
    #[error("the link has ended")]
    Ended,
    /// Too much already waits to be collected.
    #[error("{max} messages wait already")]
    OutboxFull {
        /// How many may wait.
        max: usize,
    },
    /// There are as many links as there can be.
    #[error("there are {max} links already")]
    TooMany {
        /// How many there may be.
        max: usize,
    },
    /// The body, or what goes with it, is too large.
    #[error("the body is larger than {max} bytes")]
    TooLarge {
        /// The limit, in bytes.
        max: usize,
    },
    /// The name shows nothing.
    #[error("nothing of the name can be seen")]
    NameEmpty,
    /// The text is no pairing code.
    #[error("the pairing code can't be used: {0}")]
    Code(#[from] CodeError),
    /// The address in the code is none.
    #[error("the address of the relay can't be used: {0}")]
    RelayUrl(#[from] RelayUrlError),
}

impl LinksError {
    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Storage(_) => "linksStorage",
            Self::Closed => "linksClosed",
            Self::UnknownLink => "linkUnknown",
            Self::StillPairing => "linkStillPairing",
            Self::NotPairing => "linkNotPairing",
            Self::NoDigits => "linkNoDigits",
            Self::NotEnded => "linkNotEnded",
            Self::Ended => "linkEnded",
            Self::OutboxFull { .. } => "linkOutboxFull",
            Self::TooMany { .. } => "linkTooMany",
            Self::TooLarge { .. } => "linkTooLarge",
            Self::NameEmpty => "linkNameEmpty",
            Self::Code(_) => "linkCode",
            Self::RelayUrl(_) => "linkRelayUrl",
        }
    }
}
