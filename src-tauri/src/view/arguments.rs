//! What the window's commands take and answer.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The arguments of `start_group`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartGroup {
    /// This device's name.
    pub device_name: String,
    /// Which relay the group uses.
    pub relay: RelayChoice,
}

/// Which relay a new group uses.
#[derive(Clone, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RelayChoice {
    /// The one on this computer, which is started if it is off.
    ThisComputer,
    /// Another one.
    Address {
        /// Its address as text.
        address: String,
    },
}

/// The answer of `start_group` and `join_group`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenedGroup {
    /// The new group's id.
    pub group: String,
}

/// The arguments of `read_invitation`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadInvitation {
    /// What the person pasted or typed.
    pub text: String,
}

/// What an invitation says, to be confirmed before anything is connected.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InvitationPreview {
    /// The relay's host; null for a bare pairing token.
    pub relay_host: Option<String>,
    /// The relay's address as text, without the token.
    pub relay_text: Option<String>,
    /// Whether the relay has to be asked for.
    pub needs_relay: bool,
    /// A short form of the relay's key, to compare by eye.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[ts(optional)]
    pub relay_words: Option<String>,
}

/// The arguments of `read_invitation_image`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadInvitationImage {
    /// A PNG or JPEG file in base64.
    pub bytes_base64: String,
}

/// The answer of `read_invitation_image`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InvitationText {
    /// What the code in the picture says.
    pub text: String,
}

/// The arguments of `join_group`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JoinGroup {
    /// This device's name.
    pub device_name: String,
    /// The invitation or the bare pairing token.
    pub invitation: String,
    /// The relay's address, for a bare pairing token.
    pub relay_address: Option<String>,
}

/// The arguments of every command that needs a group only.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InGroup {
    /// The group.
    pub group: String,
}

/// The arguments of `accept_request` and `dismiss_request`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JoinRequestIn {
    /// The group.
    pub group: String,
    /// The request's id.
    pub request: String,
}

/// The arguments of `send_message`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SendMessage {
    /// The group.
    pub group: String,
    /// What the person wrote.
    pub text: String,
}

/// The answer of `send_message`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    /// The Message ID.
    pub id: String,
}

/// The arguments of `messages`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadMessages {
    /// The group.
    pub group: String,
    /// Only messages before this position; null for the newest.
    #[ts(type = "number | null")]
    pub before: Option<u64>,
    /// How many at most.
    pub limit: u32,
}

/// The arguments of `mark_read`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MarkRead {
    /// The group.
    pub group: String,
    /// The position of the newest message seen.
    #[ts(type = "number")]
    pub position: u64,
}

/// The arguments of `set_relay_running`.
#[derive(Clone, Copy, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetRelayRunning {
    /// Whether the relay on this computer is to run.
    pub on: bool,
}

/// The arguments of `choose_passphrase` and `unlock`. Erased from memory when dropped.
#[derive(Deserialize, TS, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
pub struct Passphrase {
    /// The passphrase of the key file.
    pub passphrase: String,
}

/// The arguments of `copy_text`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CopyText {
    /// What goes to the clipboard.
    pub text: String,
}
