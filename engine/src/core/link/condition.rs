//! What can be said about a link at a glance.

use super::timing;

/// How a link stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCondition {
    /// The other device hasn't fetched for a while: its direction is full.
    pub is_blocked: bool,
    /// Since when nothing shows that the other device still has the link, in Unix ms: the
    /// relay had lost the mailbox, or the other device hasn't come over from the pairing yet.
    pub unconfirmed_since_ms: Option<u64>,
    /// Since when the relay has no mailbox for the link and makes none, in Unix ms: removed on
    /// the other device, or expired.
    pub lost_since_ms: Option<u64>,
    /// When something authentic came from the other device last, in Unix ms.
    pub last_contact_ms: Option<u64>,
    /// What keeps the link from working.
    pub error: Option<LinkError>,
    /// An envelope of another version came: the other device is newer.
    pub is_peer_newer: bool,
    /// The last try to reach the relay got no answer.
    pub is_unanswered: bool,
    /// How many rows wait for the other device.
    pub waiting: usize,
}

impl LinkCondition {
    /// Whether to ask the person if the link shall go: unconfirmed for seven days.
    #[must_use]
    pub fn is_unpair_offered(&self, now_ms: u64) -> bool {
        self.unconfirmed_since_ms
            .is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= timing::UNCONFIRMED_OFFER_MS)
    }
}

/// What keeps a link from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Another token owns the mailbox: an error of the pairing. The link stands still.
    WrongToken,
    /// The relay doesn't take the token as one. The link stands still.
    Unauthorized,
    /// The relay refuses what this program does. The link stands still.
    Refused,
    /// The relay, or something in front of it, is set up wrongly. Tried again rarely.
    Configuration,
    /// The relay answers what can't be. Tried again rarely.
    Misbehaves,
}

impl LinkError {
    /// Whether nothing is tried any more in this run.
    #[must_use]
    pub const fn stops(self) -> bool {
        matches!(self, Self::WrongToken | Self::Unauthorized | Self::Refused)
    }

    /// A stable code for texts and `--json`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::WrongToken => "wrongToken",
            Self::Unauthorized => "unauthorized",
            Self::Refused => "refused",
            Self::Configuration => "configuration",
            Self::Misbehaves => "misbehaves",
        }
    }
}

/// How far a row of the outbox is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowProgress {
    /// It waits here.
    Queued,
    /// The relay has it.
    Stored,
    /// The other device seems to have fetched it; a hint of the relay's.
    Collected,
}
