//! Where a device stands in its group, and how well it reaches its relay.
//!
//! Owns the value sets of spec 5.8 and 6.2 for status, status reason and connection, with
//! the stable codes under which they are stored and shown. Holds no rule: the machine that
//! moves between the values is [`super::device`].

use std::fmt;

/// Where the device stands in its group, as the app sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The device belongs to no group.
    NotJoined,
    /// A pairing token was accepted and the admission hasn't arrived yet.
    PendingJoin,
    /// The device is in a group.
    Member,
    /// The device leaves, or was removed, and its last manifests are still on their way.
    Leaving,
    /// The group is being destroyed and the last messages that say so are on their way.
    Destroying,
}

impl Status {
    /// The stable name of the value, for stores, JSON and the message catalogue.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotJoined => "notJoined",
            Self::PendingJoin => "pendingJoin",
            Self::Member => "member",
            Self::Leaving => "leaving",
            Self::Destroying => "destroying",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Why the status changed, where the specification names a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatusReason {
    /// This device created the group.
    Created,
    /// The admission arrived.
    Joined,
    /// This device left.
    Left,
    /// Another member removed this device.
    Removed,
    /// Whoever let this device in had been removed by then, so that its admission came to
    /// nothing. It has to pair again, with a device that is in the group.
    AdmissionVoid,
    /// Others were let in at the same time, and this device came last: the group was full. It
    /// has to pair again once somebody has made room.
    GroupFull,
    /// The group was destroyed.
    Destroyed,
    /// The store was older than this version can read and was started afresh.
    StoreReset,
}

impl StatusReason {
    /// The stable name of the value.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Joined => "joined",
            Self::Left => "left",
            Self::Removed => "removed",
            Self::AdmissionVoid => "admissionVoid",
            Self::GroupFull => "groupFull",
            Self::Destroyed => "destroyed",
            Self::StoreReset => "storeReset",
        }
    }
}

/// The stored form of [`Status`]: it also says how a group that ends came to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// No group.
    NotJoined,
    /// Waiting for the admission.
    PendingJoin,
    /// In a group.
    Member,
    /// The group ends for this device once its outbox is empty; then everything is wiped.
    Ending(Ending),
}

/// Why a group ends for this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// This device left.
    Left,
    /// Another member removed this device.
    Removed,
    /// The others closed this device's admission, because its admitter had been removed.
    Void,
    /// The others dropped this device's admission, because the group was full.
    Full,
    /// The group is destroyed.
    Destroyed,
}

impl Ending {
    /// The reason given once the wipe is done.
    #[must_use]
    pub const fn reason(self) -> StatusReason {
        match self {
            Self::Left => StatusReason::Left,
            Self::Removed => StatusReason::Removed,
            Self::Void => StatusReason::AdmissionVoid,
            Self::Full => StatusReason::GroupFull,
            Self::Destroyed => StatusReason::Destroyed,
        }
    }
}

impl Phase {
    /// Every phase, in the order of the life of a group.
    pub const ALL: [Self; 8] = [
        Self::NotJoined,
        Self::PendingJoin,
        Self::Member,
        Self::Ending(Ending::Left),
        Self::Ending(Ending::Removed),
        Self::Ending(Ending::Void),
        Self::Ending(Ending::Full),
        Self::Ending(Ending::Destroyed),
    ];

    /// What the app is told.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::NotJoined => Status::NotJoined,
            Self::PendingJoin => Status::PendingJoin,
            Self::Member => Status::Member,
            Self::Ending(Ending::Left | Ending::Removed | Ending::Void | Ending::Full) => {
                Status::Leaving
            }
            Self::Ending(Ending::Destroyed) => Status::Destroying,
        }
    }

    /// The name under which the phase is stored. Never reused for another meaning.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotJoined => "notJoined",
            Self::PendingJoin => "pendingJoin",
            Self::Member => "member",
            Self::Ending(Ending::Left) => "leaving",
            Self::Ending(Ending::Removed) => "removed",
            Self::Ending(Ending::Void) => "admissionVoid",
            Self::Ending(Ending::Full) => "groupFull",
            Self::Ending(Ending::Destroyed) => "destroying",
        }
    }

    /// Reads a stored name back.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.code() == code)
    }
}

/// How the device reaches its relay: the state of its one Receive Session (spec 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Connection {
    /// Dialling or in the handshake.
    Connecting,
    /// A Receive Session is up.
    Connected,
    /// No Receive Session; with the reason of the last attempt where one is known.
    Disconnected(Option<ConnectFailure>),
    /// The relay answered that it speaks only other Transport Versions.
    RelayVersionUnsupported {
        /// Lowest version that the relay speaks.
        min: u16,
        /// Highest version that the relay speaks.
        max: u16,
    },
}

impl Connection {
    /// The stable name of the state, without its details.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Disconnected(_) => "disconnected",
            Self::RelayVersionUnsupported { .. } => "relayVersionUnsupported",
        }
    }
}

/// Why no session with the relay came about, or why it ended. Each has a text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectFailure {
    /// The relay's host name can't be looked up.
    NameNotFound,
    /// The computer answered that nothing listens there.
    Refused,
    /// Nothing answered in time, or the network can't be reached.
    NoAnswer,
    /// Something answered that isn't a relay.
    SomethingElse,
    /// A relay answered that doesn't hold the expected key.
    WrongKey,
    /// The relay refused the session for now.
    Unavailable,
    /// An established session broke off.
    Lost,
    /// The group has no relay address yet.
    NoRelay,
    /// No message handler is registered, so nothing may be received.
    NoHandler,
}

impl ConnectFailure {
    /// The stable name of the reason.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NameNotFound => "nameNotFound",
            Self::Refused => "refused",
            Self::NoAnswer => "noAnswer",
            Self::SomethingElse => "somethingElse",
            Self::WrongKey => "wrongKey",
            Self::Unavailable => "unavailable",
            Self::Lost => "lost",
            Self::NoRelay => "noRelay",
            Self::NoHandler => "noHandler",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_is_read_back_from_its_code() {
        for phase in Phase::ALL {
            assert_eq!(Phase::from_code(phase.code()), Some(phase));
        }
        assert_eq!(Phase::from_code("member "), None);
    }

    #[test]
    fn a_removed_device_still_draining_shows_as_leaving() {
        assert_eq!(Phase::Ending(Ending::Removed).status(), Status::Leaving);
        assert_eq!(Ending::Removed.reason(), StatusReason::Removed);
    }
}
