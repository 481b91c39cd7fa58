//! What a program can see of its links.
//!
//! Values only: copies of the committed state, for showing.

use std::fmt;

use sealpost_protocol::link::key::Role;
use sealpost_protocol::link::payload::PayloadId;
use zeroize::Zeroizing;

use super::name::LinkName;
use super::relay_url::RelayUrl;
use super::transport::LinkFailure;
use crate::core::error::StorageFault;
use crate::core::link::RowFailure;
use crate::core::link::pairing::{PairingFailure, PairingPhase};

/// Where the mailbox of a link is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkPlace {
    /// On the relay in this program: see [`super::Links::set_here`].
    Here,
    /// On a relay that is reached over HTTP.
    At(RelayUrl),
}

/// A link, as it stands.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkInfo {
    /// What it is called on this device.
    pub name: LinkName,
    /// Whether this device showed the code (A) or scanned it (B).
    pub role: Role,
    /// What the person calls the other device, or what it calls itself.
    pub peer_name: String,
    /// Where its mailbox is.
    pub place: LinkPlace,
    /// How it stands.
    pub state: LinkState,
    /// When its pairing began.
    pub made_at_ms: u64,
    /// When the other device was last heard of.
    pub last_contact_ms: Option<u64>,
    /// How much waits here until the other device says that it has it.
    pub waiting: u64,
    /// How much arrived and wasn't handled yet.
    pub arrived: u64,
    /// What keeps it from working, if something does.
    pub trouble: Option<LinkTrouble>,
}

/// How a link stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It is being paired.
    Pairing(PairingInfo),
    /// It works.
    Active,
    /// The relay had lost the mailbox, which was made anew, and the other device hasn't been
    /// heard of since. What waits is sent again. It may be that the other device has unpaired:
    /// after 7 days a person should be asked.
    Unconfirmed {
        /// Since when.
        since_ms: u64,
    },
    /// The relay has no mailbox for it and makes none: the other device unpaired while this
    /// one was away, or nothing was said for 30 days. The key is kept until the person unpairs.
    Lost,
    /// It has ended; its keys are gone. What had arrived can still be read. Goes with
    /// [`super::Links::dismiss`].
    Ended(LinkEnd),
}

impl LinkState {
    /// A stable name for each.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Pairing(_) => "pairing",
            Self::Active => "active",
            Self::Unconfirmed { .. } => "unconfirmed",
            Self::Lost => "lost",
            Self::Ended(_) => "ended",
        }
    }
}

/// Why a link ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// The other device unpaired.
    ByPeer,
    /// Its pairing came to nothing.
    Pairing(PairingFailure),
    /// The relay makes no mailboxes for devices from outside, and so no code could be shown.
    ClaimsClosed,
    /// Its pairing couldn't be written down.
    Storage(StorageFault),
}

impl LinkEnd {
    /// A stable name for each.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::ByPeer => "byPeer",
            Self::Pairing(failure) => failure.code(),
            Self::ClaimsClosed => "claimsClosed",
            Self::Storage(_) => "storage",
        }
    }
}

/// How far a pairing is.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingInfo {
    /// How far it is. Only [`PairingPhase::Comparing`] asks the person for something.
    pub phase: PairingPhase,
    /// The six digits, once both devices show them.
    pub digits: Option<String>,
    /// Whether the person said on this device that they are the same.
    pub is_confirmed: bool,
    /// The code to show, on A: once its mailbox is made, and until a device has used it.
    pub url: Option<PairingUrl>,
    /// When it ends by itself.
    pub expires_at_ms: u64,
}

impl fmt::Debug for PairingInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PairingInfo").field(&self.phase).finish()
    }
}

/// The URL to show as a QR code. It has the key in its fragment: it belongs on this screen and
/// nowhere else, in no log and in no request.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingUrl(Zeroizing<String>);

impl PairingUrl {
    pub(super) const fn new(url: Zeroizing<String>) -> Self {
        Self(url)
    }

    /// The URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PairingUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairingUrl")
    }
}

/// A pairing that this device began.
#[derive(Clone, Debug)]
pub struct PairingStarted {
    /// What the link is called on this device.
    pub name: LinkName,
    /// What the other device scans.
    pub url: PairingUrl,
    /// When the code is taken back.
    pub expires_at_ms: u64,
}

/// What keeps a link from working. It is tried again all the same, where that is of any use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTrouble {
    /// The relay can't be reached.
    NotReached(LinkFailure),
    /// The other device hasn't collected for so long that the mailbox is full. What waits goes
    /// out when it has.
    Blocked,
    /// The relay answers with what makes no sense.
    Misbehaves,
    /// The relay doesn't take the address that this program uses for it.
    Misconfigured,
    /// The relay refuses what this program asks.
    Refused,
    /// The relay says that the mailbox belongs to somebody else.
    WrongToken,
    /// The other device is newer than this program; what it sent in that form is passed over.
    NewerPeer,
    /// What happens can't be written down at the moment. Nothing is lost: it is fetched again.
    Storage(StorageFault),
}

impl LinkTrouble {
    /// A stable name for each.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotReached(failure) => failure.code(),
            Self::Blocked => "blocked",
            Self::Misbehaves => "misbehaves",
            Self::Misconfigured => "misconfigured",
            Self::Refused => "refusedByRelay",
            Self::WrongToken => "wrongToken",
            Self::NewerPeer => "newerPeer",
            Self::Storage(_) => "storage",
        }
    }
}

impl fmt::Debug for LinkInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkInfo").field(&self.state).finish()
    }
}

/// What is sent over a link.
#[derive(Clone, PartialEq, Eq)]
pub enum LinkContent {
    /// A message: delivered once, in order.
    Message,
    /// A state: it replaces one under the same key that wasn't sent yet.
    State {
        /// The key.
        key: String,
    },
}

impl fmt::Debug for LinkContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Message => "Message",
            Self::State { .. } => "State",
        })
    }
}

/// Something that arrived and waits to be handled.
#[derive(Clone, PartialEq, Eq)]
pub struct Arrived {
    /// Its place: what arrives later has a higher one.
    pub position: u64,
    /// Its id, made by the sender.
    pub id: PayloadId,
    /// What it is.
    pub content: LinkContent,
    /// What it says.
    pub body: Vec<u8>,
    /// When it was sealed, by the sender's clock. For display: nothing rests on it.
    pub sealed_at_ms: u64,
}

impl fmt::Debug for Arrived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Arrived").field(&self.position).finish()
    }
}

/// Something that was sent and that the other device hasn't said that it has, or never will.
#[derive(Clone, PartialEq, Eq)]
pub struct SentRow {
    /// Its id.
    pub id: PayloadId,
    /// What it is.
    pub content: LinkContent,
    /// What it says.
    pub body: Vec<u8>,
    /// When it was queued.
    pub queued_at_ms: u64,
    /// How far it got.
    pub progress: LinkProgress,
}

impl fmt::Debug for SentRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SentRow").field(&self.progress).finish()
    }
}

/// How far something that was sent got. What the other device has is no row any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkProgress {
    /// It waits on this device.
    Waiting,
    /// The relay has it.
    OnRelay,
    /// The other device has taken it off the relay, as far as the relay says.
    Collected,
    /// It won't arrive.
    Failed(RowFailure),
}

impl LinkProgress {
    /// A stable name for each.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::OnRelay => "onRelay",
            Self::Collected => "collected",
            Self::Failed(_) => "failed",
        }
    }
}
