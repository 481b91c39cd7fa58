//! The message history and the list of delivery issues, as they are read.
//!
//! Owns the value types of the queries. The rows themselves are the store's; what becomes a
//! row is the core's decision.

use std::fmt;
use std::ops::Range;

use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::key::MemberId;
use sealpost_protocol::limit::BODY_BYTES_MAX;
use sealpost_protocol::message_id::MessageId;

use crate::core::issue::DeliveryIssue;
use crate::core::issue::SendFailure;
use crate::core::message::{AppMessageId, DeliveryState};
use crate::core::step::MembershipNote;

/// The most rows that one query answers.
pub const PAGE_ROWS_MAX: usize = 1_000;

/// The longest draft that is kept, in bytes: twice the longest message, so that one that is too
/// long can be shortened another day.
pub const DRAFT_BYTES_MAX: usize = 2 * BODY_BYTES_MAX;

/// A message that a search found.
#[derive(Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The message.
    pub message: StoredMessage,
    /// Where in its text what was looked for stands: ranges of bytes, in order and apart.
    pub places: Vec<Range<usize>>,
}

impl fmt::Debug for SearchHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SearchHit(..)")
    }
}

/// One message of a group's history.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// The place in the history: grows in the order of storing and is never used twice.
    pub position: u64,
    /// The Message ID.
    pub id: MessageId,
    /// Whether this device sent it.
    pub own: bool,
    /// The author.
    pub author: MemberId,
    /// The author's name when the message was stored.
    pub author_name: String,
    /// The id that the message carries itself, the same in every copy of it; nothing where its
    /// body can't be read.
    pub app_id: Option<AppMessageId>,
    /// The author's phone that it was written on, where it was written on one.
    pub via: Option<String>,
    /// What it says.
    pub content: Content,
    /// When the author says it was sent.
    pub sent_at_ms: u64,
    /// When this device stored it.
    pub stored_at_ms: u64,
    /// For an own message, how far it got to each recipient.
    pub deliveries: Vec<Delivery>,
}

/// What a message says.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text(String),
    /// Something that this version can't show. It is kept.
    Unknown,
}

impl Content {
    /// Reads the body of a message.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        AppMessage::decode(body).map_or(Self::Unknown, Self::from)
    }

    /// The text, where it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Unknown => None,
        }
    }
}

impl From<AppMessage> for Content {
    fn from(message: AppMessage) -> Self {
        match message.kind {
            AppMessageKind::Text(text) => Self::Text(text),
            AppMessageKind::GroupName { .. } | AppMessageKind::Unknown { .. } => Self::Unknown,
        }
    }
}

/// How far an own message got on its way to one recipient.
#[derive(Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The recipient.
    pub member: MemberId,
    /// The recipient's name when the message was sent.
    pub name: String,
    /// How far it got.
    pub state: DeliveryState,
}

/// How far an own message is as a whole. Says no more than is known of its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The state of the copy that the person has to know of: one that failed, or the least
    /// advanced.
    pub state: DeliveryState,
    /// How many copies are on the relay.
    pub on_relay: usize,
    /// How many copies there are; who left the group meanwhile isn't counted.
    pub total: usize,
    /// When the first copy got onto the relay.
    pub on_relay_at_ms: Option<u64>,
    /// Why the first of those that failed did.
    pub failure: Option<SendFailure>,
}

impl Progress {
    /// The progress of a message; nothing of one to nobody.
    #[must_use]
    pub fn of(deliveries: &[Delivery]) -> Option<Self> {
        let states = || {
            let states = deliveries.iter().map(|delivery| delivery.state);
            states.filter(|state| *state != DeliveryState::Withdrawn)
        };
        let on_relay_at_ms = states().filter_map(|state| match state {
            DeliveryState::OnRelay { at_ms } => Some(at_ms),
            _ => None,
        });
        let failure = states().find_map(|state| match state {
            DeliveryState::Failed(failure) => Some(failure),
            _ => None,
        });
        Some(Self {
            state: states().min_by_key(|state| advance(*state))?,
            on_relay: on_relay_at_ms.clone().count(),
            total: states().count(),
            on_relay_at_ms: on_relay_at_ms.min(),
            failure,
        })
    }
}

/// The order in which the states of copies stand for the whole: a failure needs the person.
const fn advance(state: DeliveryState) -> u8 {
    match state {
        DeliveryState::Failed(_) => 0,
        DeliveryState::Waiting => 1,
        DeliveryState::Sending => 2,
        DeliveryState::OnRelay { .. } | DeliveryState::Withdrawn => 3,
    }
}

/// A line of the membership history: somebody came or went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNote {
    /// The place in the history: grows in the order of what was seen, and is never used twice.
    pub position: u64,
    /// Who came or went, by whose hand.
    pub note: MembershipNote,
}

/// What a line of the membership history says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// It made the group.
    Created,
    /// It was let in.
    Added,
    /// It was in the group before this device could see by whose hand.
    Found,
    /// It left.
    Left,
    /// Another device removed it.
    Removed,
    /// It is no member after all: whoever had let it in had been removed by then.
    Void,
}

impl NoteKind {
    /// The stable name of the value, for JSON and the message catalogue.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Added => "added",
            Self::Found => "found",
            Self::Left => "left",
            Self::Removed => "removed",
            Self::Void => "void",
        }
    }
}

impl MembershipNote {
    /// What the line says.
    #[must_use]
    pub fn kind(&self) -> NoteKind {
        let by = self.by.as_ref();
        let is_by_itself = by.map(|by| by.issuer == self.member.keys.signing);
        match (self.is_added, is_by_itself) {
            (true, Some(true)) => NoteKind::Created,
            (true, Some(false)) => NoteKind::Added,
            (true, None) => NoteKind::Found,
            (false, Some(true)) => NoteKind::Left,
            (false, Some(false)) => NoteKind::Removed,
            (false, None) => NoteKind::Void,
        }
    }
}

/// A delivery issue of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIssue {
    /// Names the row in [`crate::Engine::dismiss_issue`].
    pub id: u64,
    /// When it happened.
    pub at_ms: u64,
    /// What happened.
    pub issue: DeliveryIssue,
}

impl fmt::Debug for StoredMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredMessage(..)")
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Content(..)")
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Delivery(..)")
    }
}
