//! The settings of the app, as the window shows and changes them.
//!
//! Owns the shapes and their names in `profile.json`, which are the same.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The settings of this profile.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    /// How much a notification says.
    pub notifications: NotificationPrivacy,
    /// Until when no notification is shown; null when they are.
    #[ts(type = "number | null")]
    pub muted_until_ms: Option<u64>,
    /// Whether the app starts when the person logs in.
    pub start_at_login: bool,
    /// Whether it then starts without showing its window.
    pub start_hidden: bool,
    /// Light, dark, or what the system says.
    pub theme: Theme,
    /// The language, or what the system says.
    pub language: LanguageChoice,
    /// Whether the relay on this computer starts with the app.
    pub start_relay_with_app: bool,
    /// When the app locks by itself.
    pub auto_lock: AutoLock,
    /// After how many minutes without use, for `afterMinutes`.
    pub auto_lock_minutes: u32,
    /// Where the keys are.
    pub key_store: KeyStoreChoice,
    /// The folder of this profile's data.
    pub data_directory: String,
    /// The name of this profile.
    pub profile: String,
    /// Whether a tray shows the app's icon now.
    pub tray_present: bool,
}

/// The arguments of `set_settings`: what is there is changed, the rest stays.
#[derive(Clone, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub struct SetSettings {
    /// How much a notification says.
    pub notifications: Option<NotificationPrivacy>,
    /// Whether the app starts when the person logs in.
    pub start_at_login: Option<bool>,
    /// Whether it then starts without showing its window.
    pub start_hidden: Option<bool>,
    /// Light, dark, or what the system says.
    pub theme: Option<Theme>,
    /// The language, or what the system says.
    pub language: Option<LanguageChoice>,
    /// Whether the relay on this computer starts with the app.
    pub start_relay_with_app: Option<bool>,
    /// When the app locks by itself.
    pub auto_lock: Option<AutoLock>,
    /// After how many minutes without use, for `afterMinutes`.
    pub auto_lock_minutes: Option<u32>,
}

/// How much a notification says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum NotificationPrivacy {
    /// That there is something new.
    Nothing,
    /// Who wrote, and in which group.
    #[default]
    Who,
    /// Who wrote and what.
    WhoAndText,
}

/// The colours of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Theme {
    /// What the system says.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// The language of everything that the app shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum LanguageChoice {
    /// What the system says.
    #[default]
    #[serde(rename = "system")]
    System,
    /// English.
    #[serde(rename = "en")]
    English,
    /// German.
    #[serde(rename = "de")]
    German,
}

/// When the app locks by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AutoLock {
    /// Only when the person says so.
    #[default]
    Never,
    /// Whenever the screen is locked.
    WithSystem,
    /// After some minutes without use, and whenever the screen is locked.
    AfterMinutes,
}

/// Where the keys of a profile are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum KeyStoreChoice {
    /// In the keychain of the system.
    Keychain,
    /// In a file under a passphrase.
    Passphrase,
    /// In a file that only this user can read, as the command line makes for scheduled runs.
    File,
}
