//! The errors of the engine's calls (spec 6.2), each with a stable code.
//!
//! `Display` is log-safe: variants carry numbers and enums, never text from outside.

use thiserror::Error;

use super::status::Status;

/// Why a call of the engine failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The relay address isn't one.
    #[error("invalid relay address")]
    InvalidRelayAddress,
    /// The namespace has characters or a length that aren't allowed.
    #[error("invalid namespace")]
    InvalidNamespace,
    /// The store couldn't be read or written.
    #[error("storage: {0}")]
    Storage(#[from] StorageFault),
    /// The engine is closed.
    #[error("closed")]
    Closed,
    /// The device isn't in the status that the call needs.
    #[error("not a member: {status}")]
    NotMember {
        /// The status at the time of the call.
        status: Status,
    },
    /// The device already belongs to a group.
    #[error("already in a group")]
    AlreadyInGroup,
    /// The pairing token is damaged, or this device's own.
    #[error("invalid pairing token")]
    InvalidPairingToken,
    /// The pairing window that the request came to is closed.
    #[error("pairing is closed")]
    PairingClosed,
    /// The group has removed this device before; it can only come back with new keys.
    #[error("the device was removed from the group and can't come back with these keys")]
    RemovedBefore,
    /// One of the device's keys belongs to another member.
    #[error("one of the device's keys belongs to another member")]
    KeysMismatch,
    /// The group has as many members as it can have.
    #[error("the group is full: {max} members")]
    GroupFull {
        /// The largest number of members.
        max: usize,
    },
    /// The group has removed so many devices that it admits nobody any more, ever.
    #[error("the group has removed {max} devices and admits nobody any more")]
    GroupWornOut {
        /// The largest number of removed devices.
        max: usize,
    },
    /// The other members' manifests list this device no more, or not yet; that is settled
    /// when theirs and its own have met.
    #[error("this device is not listed in the group at the moment")]
    NotListed,
    /// No manifest that this device knows can carry the change; one that is on its way will.
    #[error("no known manifest can carry the change at the moment")]
    ManifestAwaited,
    /// The group has no manifest version left, so that its members can't change any more.
    #[error("the group has no manifest version left")]
    VersionsExhausted,
    /// Nothing that can be seen is left of the group's name.
    #[error("nothing of the group's name can be seen")]
    GroupNameEmpty,
    /// Nobody in the group has that id.
    #[error("no such member")]
    MemberNotFound,
    /// The body is larger than the limit in force.
    #[error("the body is larger than {max} bytes")]
    PayloadTooLarge {
        /// The limit in force, in bytes.
        max: usize,
    },
    /// There is a message handler already.
    #[error("a message handler is already set")]
    MessageHandlerAlreadySet,
    /// The store was written by a newer version.
    #[error("the store was written by a newer version")]
    StoreTooNew,
}

impl EngineError {
    /// The stable name of the error, for JSON and the message catalogue.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidRelayAddress => "invalidRelayAddress",
            Self::InvalidNamespace => "invalidNamespace",
            Self::Storage(_) => "storage",
            Self::Closed => "closed",
            Self::NotMember { .. } => "notMember",
            Self::AlreadyInGroup => "alreadyInGroup",
            Self::InvalidPairingToken => "invalidPairingToken",
            Self::PairingClosed => "pairingClosed",
            Self::RemovedBefore => "removedBefore",
            Self::KeysMismatch => "keysMismatch",
            Self::GroupFull { .. } => "groupFull",
            Self::GroupWornOut { .. } => "groupWornOut",
            Self::NotListed => "notListed",
            Self::ManifestAwaited => "manifestAwaited",
            Self::VersionsExhausted => "versionsExhausted",
            Self::GroupNameEmpty => "groupNameEmpty",
            Self::MemberNotFound => "memberNotFound",
            Self::PayloadTooLarge { .. } => "payloadTooLarge",
            Self::MessageHandlerAlreadySet => "messageHandlerAlreadySet",
            Self::StoreTooNew => "storeTooNew",
        }
    }
}

/// What is wrong with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum StorageFault {
    /// It couldn't be read or written, for a reason that isn't one of the others.
    #[error("unavailable")]
    Unavailable,
    /// The disk is full.
    #[error("full")]
    Full,
    /// Its content isn't what was written.
    #[error("damaged")]
    Damaged,
    /// Another program holds it.
    #[error("in use")]
    InUse,
    /// The sequence counter reached its end, so nothing more can be sent (spec 3.4).
    #[error("sequence exhausted")]
    SequenceExhausted,
}

impl StorageFault {
    /// The stable name of the fault.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Full => "full",
            Self::Damaged => "damaged",
            Self::InUse => "inUse",
            Self::SequenceExhausted => "sequenceExhausted",
        }
    }
}
