//! The phones of this profile, as the window shows them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app_error::AppError;

/// The phones, the door that they come in by, and a pairing that is going on.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PhonesView {
    /// Whether phones may connect while the relay runs.
    pub on: bool,
    /// Whether they can.
    pub door: PhoneDoor,
    /// Why they can't, in the state `failed`, or why the links to them can't be used.
    pub failure: Option<AppError>,
    /// The port of the page that phones open; zero until one was chosen.
    pub port: u16,
    /// What a code names as this computer; null without a network.
    pub host: Option<String>,
    /// The pairing that is going on.
    pub pairing: Option<PhonePairingView>,
    /// How the last pairing ended, until the next one begins.
    pub pairing_closed: Option<PhonePairingClosed>,
    /// The phones, in the order of their pairing.
    pub phones: Vec<PhoneView>,
}

/// Whether phones can connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PhoneDoor {
    /// Switched off.
    Off,
    /// The relay on this computer doesn't run.
    RelayOff,
    /// Coming up.
    Opening,
    /// Open.
    Open,
    /// It can't be opened.
    Failed,
}

/// A pairing with a phone.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PhonePairingView {
    /// How far it is.
    pub step: PhonePairingStep,
    /// What the code says. Gone once a phone has used it: nobody else may.
    pub link: Option<String>,
    /// The code: a complete SVG document, dark on light, quiet zone included. Gone with the
    /// link.
    pub qr_svg: Option<String>,
    /// When the code ends.
    #[ts(type = "number")]
    pub expires_at_ms: u64,
    /// The name that the phone gives itself, once it is known.
    pub name: Option<String>,
    /// The six digits that the phone must show too.
    pub digits: Option<String>,
    /// What the phone will see.
    pub sharing: PhoneSharingView,
    /// The phone that it takes the place of, because that one can't reach this computer.
    pub instead_of: Option<String>,
}

/// How far a pairing with a phone is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PhonePairingStep {
    /// The relay makes the box that the code leads to.
    Preparing,
    /// The code is shown.
    Code,
    /// A phone has used it; both sides compute the digits.
    Contacted,
    /// The person compares the digits.
    Compare,
    /// The person said that they are the same; the phone moves to keys of its own.
    Finishing,
}

/// How a pairing with a phone ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PhonePairingClosed {
    /// The phone is paired.
    Paired,
    /// Its five minutes are over.
    Expired,
    /// The person closed it or left its screen.
    Cancelled,
    /// The person said that the digits differ.
    Declined,
    /// Two devices used the code.
    TwoDevices,
    /// What the phone sent doesn't fit together.
    Mismatch,
    /// The relay refused it, or it couldn't be kept.
    Failed,
    /// It ended on the phone.
    PhoneGaveUp,
    /// The relay was switched off, or phones were.
    DoorClosed,
    /// This computer got another address, so the code leads nowhere.
    AddressChanged,
}

/// A phone.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PhoneView {
    /// Names it in the commands.
    pub id: String,
    /// What it is called on this computer.
    pub name: String,
    /// How the link to it stands.
    pub state: PhoneState,
    /// Since when nothing has confirmed the link, in the state `unconfirmed`.
    #[ts(type = "number | null")]
    pub since_ms: Option<u64>,
    /// When something authentic came from it last.
    #[ts(type = "number | null")]
    pub last_contact_ms: Option<u64>,
    /// How much waits for it.
    #[ts(type = "number")]
    pub waiting: u64,
    /// What keeps the link from working.
    pub trouble: Option<PhoneTrouble>,
    /// The address of this computer that it was paired at, where that is gone: there the
    /// phone finds nothing.
    pub address_gone: Option<String>,
    /// What it sees.
    pub sharing: PhoneSharingView,
}

/// How the link to a phone stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PhoneState {
    /// As it should.
    Linked,
    /// The relay had lost its box, and nothing has come from the phone since.
    Unconfirmed,
    /// The relay has no box for it any more.
    Lost,
    /// It was unpaired on the phone.
    UnpairedThere,
    /// It ended because something didn't fit together.
    Broken,
}

/// What keeps a link to a phone from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PhoneTrouble {
    /// Its box is full, because it hasn't collected for a while.
    Full,
    /// The relay answers what makes no sense.
    Misbehaves,
    /// The relay refuses what this app asks.
    Refused,
    /// The page on the phone is newer than this app.
    Newer,
    /// This computer can't write down what goes over it.
    Storage,
}

/// Which groups a phone sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PhoneSharingView {
    /// The groups that it sees at the moment.
    pub groups: Vec<String>,
    /// Whether it sees the groups that come later too.
    pub later: bool,
}

/// The arguments of `start_phone_pairing`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartPhonePairing {
    /// The phone that the new one takes the place of; null for one more.
    pub instead_of: Option<String>,
}

/// The arguments of `set_phone_sharing`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetPhoneSharing {
    /// The phone; null for the one that is being paired.
    pub phone: Option<String>,
    /// Which groups it sees.
    pub sharing: PhoneSharingView,
}

/// The arguments of the commands about one phone.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OfPhone {
    /// The phone.
    pub phone: String,
}

/// The arguments of `rename_phone`.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RenamePhone {
    /// The phone.
    pub phone: String,
    /// Its new name.
    pub name: String,
}

/// The arguments of `set_phones_on`.
#[derive(Clone, Copy, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetPhonesOn {
    /// Whether phones may connect while the relay runs.
    pub on: bool,
}
