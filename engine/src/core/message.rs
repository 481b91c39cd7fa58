//! Messages as they cross the edge of the core: to a handler, and into the message history.
//!
//! Owns the value types only. Bodies never appear in `Debug` output.

use std::fmt;

use sealpost_protocol::key::MemberId;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::event::Member;
use super::issue::SendFailure;

/// The id that an application body carries itself; shown once per author (amendment 15).
pub type AppMessageId = [u8; 16];

/// A received message on its way to the message handler.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Stable across every re-delivery.
    pub id: MessageId,
    /// The author as listed at the time of handling.
    pub from: Member,
    /// When the author says it was sent.
    pub sent_at_ms: u64,
    /// The bytes given to `send`.
    pub body: Vec<u8>,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Message(..)")
    }
}

/// A new row of the message history. The store gives it its position.
#[derive(Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// The Message ID; unique in the history.
    pub id: MessageId,
    /// Whether this device sent it.
    pub own: bool,
    /// The author.
    pub author: MemberId,
    /// The author's name at the time.
    pub author_name: DeviceName,
    /// The id inside the body, where the body could be decoded; unique per author.
    pub app_id: Option<AppMessageId>,
    /// The body as it was sent. Kept whole, so that a later version can show what this one
    /// can't.
    pub body: Vec<u8>,
    /// When the author says it was sent.
    pub sent_at_ms: u64,
    /// When this device stored it.
    pub stored_at_ms: u64,
    /// For an own message, who it goes to; every delivery starts as
    /// [`DeliveryState::Waiting`].
    pub recipients: Vec<Member>,
}

impl fmt::Debug for NewMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewMessage(..)")
    }
}

/// What of a message in the history has to be known to delete it or to send it once more.
#[derive(Clone, PartialEq, Eq)]
pub struct MessageHandle {
    /// Its place in the history.
    pub position: u64,
    /// Its Message ID, and those under which it was sent once more.
    pub ids: Vec<MessageId>,
    /// Its body.
    pub body: Vec<u8>,
    /// The recipients at which it failed.
    pub failed: Vec<MemberId>,
    /// Whether a copy of it is on the relay or was.
    pub has_left: bool,
}

impl fmt::Debug for MessageHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageHandle(..)")
    }
}

/// How far an own message got on its way to one recipient. Says only what is known:
/// nothing tells a sender that a message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeliveryState {
    /// In the outbox.
    Waiting,
    /// Pushed, and not answered yet. Never stored: after a restart it is waiting again.
    Sending,
    /// The relay stored it.
    OnRelay {
        /// When the relay's answer was committed here.
        at_ms: u64,
    },
    /// It won't be sent to this recipient.
    Failed(SendFailure),
    /// It was taken back because the recipient left the group, or this device did.
    Withdrawn,
}

impl DeliveryState {
    /// The stable name of the state, without its details.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::OnRelay { .. } => "onRelay",
            Self::Failed(_) => "failed",
            Self::Withdrawn => "withdrawn",
        }
    }
}
