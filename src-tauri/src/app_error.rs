//! The errors that reach the window: a code and numbers, never words.
//!
//! Owns the list of codes. A code exists only where the window says something else for it;
//! its three sentences (what happened, why, what to do) stand in `locales/*.ftl` under
//! `error-<code>`. It never carries a key, a name, an address, a path or a text.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use ts_rs::TS;

/// An error that the window can put into words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppError {
    /// What happened.
    pub code: AppErrorCode,
    /// The numbers and fixed words that the sentences need.
    #[ts(type = "Record<string, string | number>")]
    pub args: BTreeMap<&'static str, ErrorArgument>,
}

/// A number or a fixed word in an error's sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ErrorArgument {
    /// A number.
    Number(u64),
    /// A word of a fixed list; never anything a person or a peer wrote.
    Word(&'static str),
}

/// Everything that can go wrong in a way of its own for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum AppErrorCode {
    /// This device is in a group or on its way into one already.
    AlreadyInGroup,
    /// The backup isn't what was written; `kind` says how.
    BackupDamaged,
    /// The file is no backup.
    BackupForeign,
    /// There is no room for the backup, or for what is in it.
    BackupNoRoom,
    /// The backup is written, but its folder can't be synced.
    BackupNotSynced,
    /// A file that is no backup is in the place of the backup.
    BackupOccupied,
    /// The passphrase doesn't open the backup.
    BackupPassphraseWrong,
    /// The backup has format `found` and this version knows `known`.
    BackupTooNew,
    /// There are more groups than the `max` that a backup holds.
    BackupTooManyGroups,
    /// A file is in the place of a backup in which groups would be missing.
    BackupWouldReplace,
    /// The text could not be put on the clipboard.
    ClipboardUnavailable,
    /// The app is closing.
    Closed,
    /// The file can't be read; `kind` says why.
    FileUnreadable,
    /// The file can't be written; `kind` says why.
    FileUnwritable,
    /// This group is full; `max` members.
    GroupFull,
    /// A group's name is empty or longer than `max` bytes.
    GroupNameInvalid,
    /// This device is still in the group; `status` says how.
    GroupNotOver,
    /// There is no such group in this profile.
    GroupUnknown,
    /// This group has removed `max` devices and lets nobody in any more.
    GroupWornOut,
    /// The picture holds no pairing code.
    ImageHoldsNoCode,
    /// The file is not a picture that can be read.
    ImageUnreadable,
    /// A fault of the program itself.
    Internal,
    /// The invitation can't be read; `part` says where.
    InvitationInvalid,
    /// The invitation is one of this device's own.
    InvitationIsOwn,
    /// The key file can't be read or written; `kind` says why.
    KeyFileUnusable,
    /// The keychain can't be used; `kind` says how.
    KeychainUnusable,
    /// One of the keys of the device that asks belongs to a member.
    KeysMismatch,
    /// The keys are of a newer version of this app.
    KeysTooNew,
    /// Only addresses that begin with http or https are opened.
    LinkRefused,
    /// News of the group that the change needs is still on its way.
    ManifestAwaited,
    /// The group has no such member.
    MemberUnknown,
    /// There is nothing in the message.
    MessageEmpty,
    /// The message has `size` bytes and `max` are allowed.
    MessageTooLarge,
    /// There is no such message in the group any more.
    MessageUnknown,
    /// The device's name is empty.
    NameEmpty,
    /// This version can't do that yet.
    NotAvailable,
    /// There is too little memory to derive a key from a passphrase.
    NoMemory,
    /// The group doesn't list this device at the moment.
    NotListed,
    /// Not possible in the group's `status`.
    NotMember,
    /// The pairing window is closed.
    PairingClosed,
    /// A passphrase needs `min` characters.
    PassphraseTooShort,
    /// The passphrase doesn't open the key file.
    PassphraseWrong,
    /// Another program uses `port`, at which phones find this computer.
    PhonePortInUse,
    /// The pairing with a phone is over.
    PhonePairingOver,
    /// There is no such phone.
    PhoneUnknown,
    /// This computer is in no network in which a phone could reach it.
    PhonesNeedNetwork,
    /// The relay on this computer doesn't run, and phones come in through it.
    PhonesNeedRelay,
    /// There are as many phones as there can be: `max`.
    PhonesTooMany,
    /// The links to the phones can't be read or written; `kind` says why.
    PhonesUnusable,
    /// The profile's own file can't be understood.
    ProfileDamaged,
    /// Another program has this profile open.
    ProfileInUse,
    /// Not a name for a profile.
    ProfileNameInvalid,
    /// The data directory can't be written; `kind` says why.
    ProfileNotWritable,
    /// The profile has format `found` and this version knows `known`.
    ProfileTooNew,
    /// The relay's address can't be read; `part` says where.
    RelayAddressInvalid,
    /// The relay's folder can't be written.
    RelayDataNotWritable,
    /// The pairing token names no relay and none was given.
    RelayNeeded,
    /// The two ports have to be different numbers from 1 to 65,535.
    RelayPortsInvalid,
    /// This user may not open `port`.
    RelayPortForbidden,
    /// Another program uses `port`.
    RelayPortInUse,
    /// The relay's own data can't be opened.
    RelayStoreUnusable,
    /// The group has removed the device that asks before.
    RemovedBefore,
    /// The device that asked is no longer waiting.
    RequestUnknown,
    /// The entry that starts the app at login can't be written; `kind` says why.
    StartAtLoginUnavailable,
    /// The group's data can't be read or written; `kind` says why.
    Storage,
    /// The group's data is of a newer version of this app.
    StoreTooNew,
    /// The members of the group can't change any more.
    VersionsExhausted,
}

impl AppError {
    /// An error whose sentences need nothing.
    pub fn new(code: AppErrorCode) -> Self {
        Self {
            code,
            args: BTreeMap::new(),
        }
    }

    /// Adds a number.
    #[must_use]
    pub fn with_number(mut self, name: &'static str, number: u64) -> Self {
        self.args.insert(name, ErrorArgument::Number(number));
        self
    }

    /// Adds a word of a fixed list.
    #[must_use]
    pub fn with_word(mut self, name: &'static str, word: &'static str) -> Self {
        self.args.insert(name, ErrorArgument::Word(word));
        self
    }
}

impl From<AppErrorCode> for AppError {
    fn from(code: AppErrorCode) -> Self {
        Self::new(code)
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.code)
    }
}

impl std::error::Error for AppError {}
