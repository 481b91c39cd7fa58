//! The app's own settings in a profile.
//!
//! Owns how they are written: each under one key of `profile.json`, as JSON. What can't be
//! read counts as not there, because a setting is never worth a start that fails.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_engine::core::phone_feed::Sharing;
use sealpost_engine::profile::{Profile, ProfileError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::view::{AutoLock, LanguageChoice, NotificationPrivacy, StatusReason, Theme};
use crate::window::Closing;

/// The key of [`RelaySettings`].
const RELAY: &str = "relay";

/// How the relay on this computer is set up. There once it has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelaySettings {
    /// Whether it starts with the app.
    pub on: bool,
    /// The port of receive sessions. Invitations and groups name it, so it stays.
    pub receive_port: u16,
    /// The port of push sessions.
    pub push_port: u16,
}

/// The key of [`Preferences`].
const PREFERENCES: &str = "preferences";

/// After how many minutes without use the app locks, until the person chooses otherwise.
const AUTO_LOCK_MINUTES: u32 = 15;

/// What the person chose about the app itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preferences {
    /// How much a notification says.
    pub notifications: NotificationPrivacy,
    /// Until when none is shown.
    pub muted_until_ms: Option<u64>,
    /// Whether the app starts when the person logs in.
    pub start_at_login: bool,
    /// Whether it then starts without showing its window.
    pub start_hidden: bool,
    /// The colours of the window.
    pub theme: Theme,
    /// The language.
    pub language: LanguageChoice,
    /// Whether a relay that was on when the app ended starts with it.
    pub start_relay_with_app: bool,
    /// When the app locks by itself.
    pub auto_lock: AutoLock,
    /// After how many minutes without use.
    pub auto_lock_minutes: u32,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            notifications: NotificationPrivacy::default(),
            muted_until_ms: None,
            start_at_login: false,
            start_hidden: false,
            theme: Theme::default(),
            language: LanguageChoice::default(),
            start_relay_with_app: true,
            auto_lock: AutoLock::default(),
            auto_lock_minutes: AUTO_LOCK_MINUTES,
        }
    }
}

/// The key of [`PhonesSettings`].
const PHONES: &str = "phones";

/// How phones come in, and what each of them sees. Their names and keys are elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PhonesSettings {
    /// Whether phones may connect while the relay runs.
    pub on: bool,
    /// The port of the page that they open; zero until one was chosen. Phones know it, so it
    /// stays.
    pub port: u16,
    /// The phones, by what their links are called on this computer.
    pub phones: BTreeMap<String, PhoneSettings>,
}

/// What is kept of one phone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PhoneSettings {
    /// Which groups it sees.
    pub sharing: Sharing,
    /// The host and port of this computer in the code that it scanned.
    pub address: Option<String>,
}

/// The key of whether the person knows that closing the window only hides it.
const HIDING_TOLD: &str = "hidingTold";

/// The key of whether the person knows that closing the window ends the app without a tray.
const ENDING_TOLD: &str = "endingTold";

/// The key of what ended each group that this device is in no more.
const ENDED_GROUPS: &str = "endedGroups";

/// A list of namespaces in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceList(pub &'static str);

/// Reads and writes the app's settings of a profile.
pub trait Settings {
    /// What the person chose about the app itself.
    fn preferences(&self) -> Preferences;

    /// Keeps what the person chose about the app itself.
    ///
    /// # Errors
    ///
    /// The profile can't be written.
    fn set_preferences(&self, preferences: Preferences) -> Result<(), ProfileError>;

    /// How the relay on this computer is set up.
    fn relay(&self) -> Option<RelaySettings>;

    /// Keeps how the relay on this computer is set up.
    ///
    /// # Errors
    ///
    /// The profile can't be written.
    fn set_relay(&self, relay: RelaySettings) -> Result<(), ProfileError>;

    /// How phones come in, and what each of them sees.
    fn phones(&self) -> PhonesSettings;

    /// Keeps how phones come in, and what each of them sees.
    ///
    /// # Errors
    ///
    /// The profile can't be written.
    fn set_phones(&self, phones: &PhonesSettings) -> Result<(), ProfileError>;

    /// Keeps that the person was told what closing the window did. Whether this is the first
    /// time; never when it can't be kept, because then it would be told for ever.
    fn closing_is_news(&self, what: Closing) -> bool;

    /// What ended a group for this device; nothing while it hasn't ended.
    fn group_end(&self, namespace: &str) -> Option<StatusReason>;

    /// Keeps what ended a group for this device.
    ///
    /// # Errors
    ///
    /// The profile can't be written.
    fn set_group_end(&self, namespace: &str, end: Option<StatusReason>)
    -> Result<(), ProfileError>;

    /// The namespaces in a list.
    fn listed(&self, list: NamespaceList) -> BTreeSet<String>;

    /// Puts a namespace into a list.
    ///
    /// # Errors
    ///
    /// The profile can't be written.
    fn list(&self, list: NamespaceList, namespace: &str) -> Result<(), ProfileError>;

    /// Takes a namespace out of a list.
    ///
    /// # Errors
    ///
    /// The profile can't be written.
    fn unlist(&self, list: NamespaceList, namespace: &str) -> Result<(), ProfileError>;
}

impl Settings for Profile {
    fn preferences(&self) -> Preferences {
        read(self, PREFERENCES).unwrap_or_default()
    }

    fn set_preferences(&self, preferences: Preferences) -> Result<(), ProfileError> {
        write(self, PREFERENCES, &preferences)
    }

    fn relay(&self) -> Option<RelaySettings> {
        read(self, RELAY)
    }

    fn set_relay(&self, relay: RelaySettings) -> Result<(), ProfileError> {
        write(self, RELAY, &relay)
    }

    fn phones(&self) -> PhonesSettings {
        read(self, PHONES).unwrap_or_default()
    }

    fn set_phones(&self, phones: &PhonesSettings) -> Result<(), ProfileError> {
        write(self, PHONES, phones)
    }

    fn closing_is_news(&self, what: Closing) -> bool {
        let key = match what {
            Closing::Hidden => HIDING_TOLD,
            Closing::Ended => ENDING_TOLD,
        };
        let told: bool = read(self, key).unwrap_or_default();
        !told && write(self, key, &true).is_ok()
    }

    fn group_end(&self, namespace: &str) -> Option<StatusReason> {
        let ends: BTreeMap<String, StatusReason> = read(self, ENDED_GROUPS)?;
        ends.get(namespace).copied()
    }

    fn set_group_end(
        &self,
        namespace: &str,
        end: Option<StatusReason>,
    ) -> Result<(), ProfileError> {
        let mut ends: BTreeMap<String, StatusReason> = read(self, ENDED_GROUPS).unwrap_or_default();
        let before = match end {
            Some(end) => ends.insert(namespace.to_owned(), end),
            None => ends.remove(namespace),
        };
        if before == end {
            return Ok(());
        }
        write(self, ENDED_GROUPS, &ends)
    }

    fn listed(&self, list: NamespaceList) -> BTreeSet<String> {
        read(self, list.0).unwrap_or_default()
    }

    fn list(&self, list: NamespaceList, namespace: &str) -> Result<(), ProfileError> {
        let mut names = self.listed(list);
        names.insert(namespace.to_owned());
        write(self, list.0, &names)
    }

    fn unlist(&self, list: NamespaceList, namespace: &str) -> Result<(), ProfileError> {
        let mut names = self.listed(list);
        names.remove(namespace);
        write(self, list.0, &names)
    }
}

fn read<T: DeserializeOwned>(profile: &Profile, key: &str) -> Option<T> {
    serde_json::from_value(profile.setting(key)?).ok()
}

fn write<T: Serialize>(profile: &Profile, key: &str, value: &T) -> Result<(), ProfileError> {
    // Numbers, truths, texts and lists of them always have a form in JSON.
    profile.set_setting(key, serde_json::to_value(value).ok())
}
