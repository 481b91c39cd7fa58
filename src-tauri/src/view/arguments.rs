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

/// The arguments of `choose_passphrase`, `unlock` and `remove_passphrase`, and of `back_up` and
/// `restore_backup`. Erased from memory when dropped.
#[derive(Deserialize, TS, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
pub struct Passphrase {
    /// The passphrase of the key file, or that of the backup.
    pub passphrase: String,
}

/// The arguments of `copy_text`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CopyText {
    /// What goes to the clipboard.
    pub text: String,
}

/// The arguments of `remove_member` and `compare_code`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MemberIn {
    /// The group.
    pub group: String,
    /// The Member ID.
    pub member: String,
}

/// The answer of `leaving_warning`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LeavingWarning {
    /// What speaks against leaving now; null where nothing does.
    pub newcomer: Option<Newcomer>,
}

/// A device that was let in only a moment ago: whoever leaves now may take its way in along.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Newcomer {
    /// Its name.
    pub name: String,
    /// Whether it is this device.
    pub is_me: bool,
    /// When that is no reason any more.
    #[ts(type = "number")]
    pub until_ms: u64,
}

/// The arguments of `rename_group`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RenameGroup {
    /// The group.
    pub group: String,
    /// Its new name, for every member.
    pub name: String,
}

/// The arguments of `set_group_relay`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetGroupRelay {
    /// The group.
    pub group: String,
    /// Which relay it uses from now on.
    pub relay: RelayChoice,
}

/// The arguments of `membership_history`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadHistory {
    /// The group.
    pub group: String,
    /// `next` of the page before; null for the newest.
    #[ts(type = "number | null")]
    pub before: Option<u64>,
    /// How many lines at most.
    pub limit: u32,
}

/// The answer of `compare_code`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CompareCode {
    /// The code that both devices show for each other.
    pub code: String,
}

/// The arguments of `delivery_issues`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadIssues {
    /// `next` of the page before; null for the newest.
    #[ts(type = "number | null")]
    pub before: Option<u64>,
    /// How many at most.
    pub limit: u32,
}

/// The arguments of `dismiss_issue`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct IssueIn {
    /// The group.
    pub group: String,
    /// The issue's id.
    #[ts(type = "number")]
    pub issue: u64,
}

/// The arguments of `retry_message`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RetryMessage {
    /// The group.
    pub group: String,
    /// The Message ID.
    pub id: String,
}

/// The arguments of `delete_message` and `message_text`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageIn {
    /// The group.
    pub group: String,
    /// Where the message stands in it.
    #[ts(type = "number")]
    pub position: u64,
}

/// The answer of `message_text`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageText {
    /// The whole text.
    pub text: String,
}

/// The arguments of `save_draft`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveDraft {
    /// The group.
    pub group: String,
    /// What was typed and not sent; empty for nothing.
    pub text: String,
}

/// The arguments of `search`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Search {
    /// What to look for.
    pub text: String,
    /// `next` of the page before; null for the newest.
    #[ts(type = "number | null")]
    pub before: Option<u64>,
    /// How many at most.
    pub limit: u32,
}

/// The arguments of `test_relay`: the relay of a group, or the one at an address.
#[derive(Clone, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum TestRelay {
    /// The relay of a group.
    Group {
        /// The group.
        group: String,
    },
    /// A relay that is not used yet.
    Address {
        /// Its address as text.
        address: String,
    },
}

/// The arguments of `relay_code`: the relay of a group, or the one on this computer.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayOf {
    /// The group; null for the relay on this computer.
    pub group: Option<String>,
}

/// The answer of `relay_code`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayCode {
    /// The relay's address as text.
    pub address: String,
    /// The same as a QR code: a complete SVG document.
    pub qr_svg: String,
}

/// The arguments of `set_relay_ports`.
#[derive(Clone, Copy, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetRelayPorts {
    /// The port of receive sessions.
    pub receive_port: u16,
    /// The port of push sessions.
    pub push_port: u16,
}

/// The arguments of `change_passphrase`. Erased from memory when dropped.
#[derive(Deserialize, TS, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
pub struct ChangePassphrase {
    /// The passphrase until now; empty when the keys are in the keychain.
    pub current: String,
    /// The passphrase from now on.
    pub passphrase: String,
}

/// The arguments of `mute`.
#[derive(Clone, Copy, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Mute {
    /// Until when no notification is shown; null to show them again.
    #[ts(type = "number | null")]
    pub until_ms: Option<u64>,
}

/// The answer of `support_bundle`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SupportBundle {
    /// All of it, exactly as it would be saved.
    pub text: String,
}

/// The answer of what writes a file that the person chooses.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SavedFile {
    /// Whether it was written; not when the person chose no file.
    pub saved: bool,
}

/// The arguments of `open_link`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenLink {
    /// An address that begins with http or https.
    pub url: String,
}

/// The arguments of `showing`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Showing {
    /// The group whose messages are on the screen, at their end; null for anything else.
    pub group: Option<String>,
    /// Whether the list of delivery issues is on the screen.
    pub issues: bool,
}

/// The arguments of `arrived`.
#[derive(Clone, Copy, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Arrived {
    /// The destination's id.
    pub id: u32,
}
