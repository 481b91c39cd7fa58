//! What the window is told and what it may ask: the one definition of the border
//! between Rust and TypeScript.
//!
//! Owns the shapes only. It holds no rule and no text for people: errors are codes with
//! numbers, and the words for them stand in `locales/*.ftl`. The TypeScript side is
//! generated from this file into `ui/src/bindings` (`make bindings`), and a test compares
//! the two.
//!
//! Invariants:
//! - camelCase everywhere; every number fits a JavaScript `number`.
//! - [`AppView`] is the whole state of the window but for the messages, so that a window
//!   that has missed events needs only the newest one.
//! - Nothing here derives `Debug` if it can hold a name, a text, an address or a link.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

mod arguments;
mod backup;
mod history;
mod messages;
mod phones;
mod relay_test;
mod settings;

pub use arguments::*;
pub use backup::*;
pub use history::*;
pub use messages::*;
pub use phones::*;
pub use relay_test::*;
pub use settings::*;

pub use crate::app_error::{AppError, AppErrorCode};

/// The name of the event that carries an [`AppView`].
pub const VIEW_EVENT: &str = "view";

/// The name of the event that carries a [`MessagesChanged`].
pub const MESSAGES_EVENT: &str = "messages";

/// The name of the event that carries a [`RelayTestView`].
pub const RELAY_TEST_EVENT: &str = "relay-test";

/// The whole state of the window, but for the messages.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppView {
    /// Which screen there is.
    pub screen: Screen,
    /// What is wrong with the keychain, on the screen `keychain`.
    pub keychain: Option<KeychainView>,
    /// Why the app can't go on, on the screen `failed`; elsewhere what went wrong at start.
    pub failure: Option<AppError>,
    /// This device's name, empty until one was chosen.
    pub device_name: String,
    /// What to fill into an empty name field.
    pub suggested_device_name: String,
    /// The groups of this profile, in the order of their creation.
    pub groups: Vec<GroupView>,
    /// The relay on this computer.
    pub relay: RelayView,
    /// The phones of this profile.
    pub phones: PhonesView,
    /// What this program is.
    pub versions: VersionsView,
    /// The language of the interface, as in `locales/`.
    pub language: String,
    /// Whether closing the window leaves the app running in the tray.
    pub has_tray: bool,
    /// What the person chose about the app itself.
    pub settings: SettingsView,
    /// How many delivery issues there are in all groups.
    #[ts(type = "number")]
    pub issue_count: u64,
    /// Where the window is asked to go: by a notification, the tray or a link. The window
    /// goes there once and then says `arrived`.
    pub destination: Option<DestinationView>,
    /// What is done with the data at the moment: a backup, a restore or an export.
    pub data_work: Option<DataWorkView>,
    /// Whether a backup can be restored and messages be read out: also where no group opens.
    pub is_data_open: bool,
}

/// A place in the window that something outside of it leads to.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DestinationView {
    /// Names it in `arrived`.
    pub id: u32,
    /// The place.
    pub place: Place,
    /// The group, in the places of a group.
    pub group: Option<String>,
    /// The invitation to fill in, in the place `join`.
    pub invitation: Option<String>,
}

/// The places that something outside of the window leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// The messages of a group, with the cursor where one writes.
    Group,
    /// The list of delivery issues.
    Issues,
    /// The pairing code of a group.
    Pair,
    /// The form that joins a group.
    Join,
    /// The relay on this computer.
    Relay,
}

/// The screens of the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Screen {
    /// The profile and the keys are being opened.
    Starting,
    /// The keychain can't be used; see [`AppView::keychain`].
    Keychain,
    /// The keys are in a file and its passphrase is wanted.
    Passphrase,
    /// There is no group yet.
    FirstStart,
    /// There are groups.
    Ready,
    /// Nothing can be opened; see [`AppView::failure`].
    Failed,
}

/// What is wrong with the keychain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeychainView {
    /// Which of the known troubles it is.
    pub kind: KeychainTrouble,
    /// Whether the profile is still without keys, so that a passphrase file may be chosen.
    pub may_choose_passphrase: bool,
}

/// The known troubles with a keychain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum KeychainTrouble {
    /// There is no keychain on this computer, or it doesn't answer.
    Missing,
    /// It is locked.
    Locked,
    /// The person dismissed the question for its password.
    Dismissed,
    /// The item of this profile is not there any more, or can't be read.
    Damaged,
    /// The item belongs to another profile.
    OtherProfile,
}

/// One group as the window shows it.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GroupView {
    /// The group's id in this app: its namespace.
    pub id: String,
    /// The group's name on this device.
    pub name: String,
    /// Where this device stands in the group.
    pub status: GroupStatus,
    /// What led there last.
    pub status_reason: Option<StatusReason>,
    /// Whether the relay is reached.
    pub connection: ConnectionView,
    /// The relay's host, empty when the group has no relay.
    pub relay_host: String,
    /// Whether the group's relay is the one on this computer.
    pub relay_is_here: bool,
    /// This device.
    pub me: MemberView,
    /// The other members.
    pub members: Vec<MemberView>,
    /// The open pairing window.
    pub pairing: Option<PairingView>,
    /// Why the last pairing window closed, until the next one opens.
    pub pairing_closed: Option<PairingClosed>,
    /// The device that last asked with a code that is used up, until the next window opens.
    pub stale_request: Option<StaleRequestView>,
    /// The device whose admission by this one came to nothing last, until the next window
    /// opens.
    pub dropped_admission: Option<DroppedAdmissionView>,
    /// How this device stands with the others: what it can't repair shows here.
    pub cohesion: CohesionView,
    /// The words of an admission that this device asked for.
    pub join: Option<JoinView>,
    /// How many messages were not read yet.
    #[ts(type = "number")]
    pub unread: u64,
    /// The position of the newest message, zero when there is none.
    #[ts(type = "number")]
    pub last_position: u64,
    /// How long a text may be, in bytes of UTF-8.
    pub max_body_bytes: u32,
    /// The position up to which all was read.
    #[ts(type = "number")]
    pub read_position: u64,
    /// How many delivery issues there are.
    #[ts(type = "number")]
    pub issue_count: u64,
    /// What was typed and not sent.
    pub draft: String,
    /// By how much this computer's clock is ahead of everybody else's, where it is off by so
    /// much that it matters.
    #[ts(type = "number | null")]
    pub clock_off_ms: Option<i64>,
}

/// Where this device stands in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum GroupStatus {
    /// Started here, and no other device was admitted yet: there is nobody to write to.
    New,
    /// Not in the group any more; what was written stays readable.
    NotJoined,
    /// Has asked to be admitted.
    PendingJoin,
    /// A member.
    Member,
    /// On its way out.
    Leaving,
    /// Destroying the group.
    Destroying,
}

/// What changed a device's place in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum StatusReason {
    /// It started the group.
    Created,
    /// It was admitted.
    Joined,
    /// It left.
    Left,
    /// Another member removed it.
    Removed,
    /// Whoever let it in had been removed by then.
    AdmissionVoid,
    /// It came last into a group that was full.
    GroupFull,
    /// A member destroyed the group.
    Destroyed,
    /// Its stored state was of a version that can't be read any more.
    StoreReset,
    /// Its history came out of a backup.
    Restored,
}

/// Whether the relay of a group is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionView {
    /// The state.
    pub state: ConnectionState,
    /// Why not, when that is known.
    pub reason: Option<ConnectReason>,
}

/// The states of the connection to a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ConnectionState {
    /// On the way.
    Connecting,
    /// There.
    Connected,
    /// Not there; the next attempt comes by itself.
    Disconnected,
    /// The relay speaks none of our Transport versions.
    Unsupported,
}

/// Why a relay isn't reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ConnectReason {
    /// The relay's name isn't known to the network.
    NameNotFound,
    /// Nothing listens at that port.
    Refused,
    /// Nothing answers.
    NoAnswer,
    /// What answers there is not a relay.
    SomethingElse,
    /// A relay answers, but not the one whose key the address names.
    WrongKey,
    /// The group has no relay.
    NoRelay,
    /// The relay answers, but says that it can't serve anybody now.
    Unavailable,
    /// The connection was there and broke.
    Lost,
}

/// A member of a group.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// The Member ID.
    pub id: String,
    /// The name it gave itself.
    pub name: String,
    /// A short form of its key, to compare by eye.
    pub fingerprint: String,
    /// Whether it is this device.
    pub is_me: bool,
    /// The name of who admitted it, where this device knows.
    pub added_by: Option<String>,
    /// When this device learned of it.
    #[ts(type = "number | null")]
    pub added_at_ms: Option<u64>,
    /// When its last message was stored here.
    #[ts(type = "number | null")]
    pub last_message_at_ms: Option<u64>,
}

/// An open pairing window.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PairingView {
    /// The invitation as a link.
    pub link: String,
    /// The same as a QR code: a complete SVG document, dark on light, quiet zone included.
    pub qr_svg: String,
    /// When the app closes the window.
    #[ts(type = "number")]
    pub expires_at_ms: u64,
    /// Who asks to be admitted.
    pub requests: Vec<JoinRequestView>,
}

/// A device that asks to be admitted.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JoinRequestView {
    /// The request's id.
    pub id: String,
    /// The name the device gives itself.
    pub name: String,
    /// The four words that its screen must show too.
    pub words: Vec<String>,
    /// The member whose name a person could take this one for.
    pub looks_like: Option<String>,
}

/// Why a pairing window closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PairingClosed {
    /// Its ten minutes are over.
    Expired,
    /// A device was accepted.
    Accepted,
    /// The person closed it or left its screen.
    Cancelled,
}

/// What the joining side shows.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JoinView {
    /// The four words that the admitting screen must show too; none until they are computed.
    pub words: Vec<String>,
    /// Whether the person said that they are the same.
    pub confirmed: bool,
    /// How far the request has come.
    pub progress: JoinProgress,
}

/// How far a request to join has come, as far as this device can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum JoinProgress {
    /// It waits here, because no relay is reached or the relay has no room.
    Queued,
    /// It is on its way to the relay.
    Sending,
    /// The relay has it; somebody must accept it.
    OnRelay,
    /// The relay refused it for good.
    Refused,
    /// This device is in the group; only the words are still to be compared.
    Admitted,
}

/// A device that asked with a code that is used up.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StaleRequestView {
    /// The name the device gives itself.
    pub name: String,
    /// What became of the code.
    pub spent: SpentCode,
}

/// A device that was let in and isn't in the group after all.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DroppedAdmissionView {
    /// The name the device gives itself.
    pub name: String,
    /// Why.
    pub reason: DroppedReason,
}

/// Why an admission came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DroppedReason {
    /// Others were let in at the same time, and the group was full.
    GroupFull,
    /// It was removed meanwhile.
    Removed,
}

/// How this device stands with the other members of its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum CohesionView {
    /// Nothing speaks against it.
    #[default]
    Whole,
    /// The others don't list this device at the moment; what it sends waits.
    Unlisted,
    /// Whoever let this device in had been removed; it has to join again.
    AdmissionVoid,
    /// Whoever let this device in is gone, and nothing was heard of the others.
    CutOff,
}

/// What became of a pairing code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum SpentCode {
    /// Another device was let in with it.
    Accepted,
    /// Its window was closed or its time was over.
    Closed,
}

/// The relay on this computer.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayView {
    /// Whether it runs.
    pub state: RelayState,
    /// The addresses of this computer at which other devices can reach it, best first.
    pub addresses: Vec<String>,
    /// The port of receive sessions, zero until one was chosen.
    pub receive_port: u16,
    /// The port of push sessions, zero until one was chosen.
    pub push_port: u16,
    /// How many messages wait in it.
    #[ts(type = "number")]
    pub waiting_blobs: u64,
    /// How many bytes they take.
    #[ts(type = "number")]
    pub stored_bytes: u64,
    /// How many devices are connected.
    #[ts(type = "number")]
    pub devices: u64,
    /// When the first of the waiting messages is given up.
    #[ts(type = "number | null")]
    pub first_expiry_ms: Option<u64>,
    /// Why it doesn't run, in the state `failed`.
    pub failure: Option<AppError>,
}

/// The states of the relay on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RelayState {
    /// Switched off.
    Off,
    /// Coming up.
    Starting,
    /// Running.
    On,
    /// Switched on, but can't run.
    Failed,
}

/// What this program is.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct VersionsView {
    /// The app.
    pub app: String,
    /// The Transport version it speaks.
    pub transport: u16,
    /// The End-to-End version it speaks.
    pub end_to_end: u16,
}
