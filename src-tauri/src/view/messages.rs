//! The messages of a group, as the window shows them.

use serde::Serialize;
use ts_rs::TS;

/// Tells that rows of a group's messages are new or changed.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessagesChanged {
    /// The group.
    pub group: String,
    /// The lowest position that may have changed.
    #[ts(type = "number")]
    pub from: u64,
}

/// Some consecutive messages of a group, oldest first.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<MessageView>,
    /// Whether there are older ones.
    pub more: bool,
}

/// One message.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// Its place in the order of arrival on this device.
    #[ts(type = "number")]
    pub position: u64,
    /// The Message ID.
    pub id: String,
    /// Whether this device wrote it.
    pub own: bool,
    /// The author's Member ID.
    pub author_id: String,
    /// The author's name when the message was handled.
    pub author_name: String,
    /// The author's phone that it was written on, where it was written on one.
    pub via: Option<String>,
    /// The text; null when this version can't show the message.
    pub text: Option<String>,
    /// The author's clock when it was sent.
    #[ts(type = "number")]
    pub sent_at_ms: u64,
    /// This device's clock when it was stored.
    #[ts(type = "number")]
    pub stored_at_ms: u64,
    /// What is known about an own message on its way.
    pub delivery: Option<DeliveryView>,
}

/// What is known about an own message on its way. Never more than that.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// The state of the least advanced recipient.
    pub state: DeliveryState,
    /// For how many recipients the relay has stored it.
    pub on_relay: u32,
    /// How many recipients there are; who left the group meanwhile isn't counted.
    pub total: u32,
    /// Until when the relay keeps it at most.
    #[ts(type = "number | null")]
    pub kept_until_ms: Option<u64>,
    /// Why it failed.
    pub reason: Option<FailureReason>,
    /// The same for each recipient.
    pub recipients: Vec<RecipientView>,
}

/// How far a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DeliveryState {
    /// In the outbox of this device.
    Waiting,
    /// Handed to the connection, not answered yet.
    Sending,
    /// Stored by the relay.
    OnRelay,
    /// Given up.
    Failed,
}

/// Why a message was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FailureReason {
    /// The relay takes no message of that size.
    TooLarge,
    /// The relay could not read it.
    Malformed,
    /// It waited for its whole life.
    Expired,
}

/// How far a message has come on its way to one recipient.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RecipientView {
    /// The recipient's name.
    pub name: String,
    /// How far it has come.
    pub state: DeliveryState,
    /// Why it failed.
    pub reason: Option<FailureReason>,
}
