//! What the person chose about the app itself.
//!
//! Owns how a choice takes effect: it is kept first and only then shown.

use sealpost_engine::profile::{KeyStoreKind, Profile};

use super::{Controller, State};
use crate::settings::Settings;
use crate::view::{KeyStoreChoice, SettingsView};

impl Controller {
    /// The settings as the window shows them; the usual ones while no profile is open.
    pub(super) fn settings_view(&self, state: &State) -> SettingsView {
        let profile = state.profile.as_deref();
        let chosen = profile.map(Settings::preferences).unwrap_or_default();
        SettingsView {
            notifications: chosen.notifications,
            muted_until_ms: chosen.muted_until_ms,
            start_at_login: chosen.start_at_login,
            start_hidden: chosen.start_hidden,
            theme: chosen.theme,
            language: chosen.language,
            start_relay_with_app: chosen.start_relay_with_app,
            auto_lock: chosen.auto_lock,
            auto_lock_minutes: chosen.auto_lock_minutes,
            key_store: match profile.and_then(Profile::key_store) {
                None | Some(KeyStoreKind::Keychain) => KeyStoreChoice::Keychain,
                Some(KeyStoreKind::PassphraseFile) => KeyStoreChoice::Passphrase,
                Some(KeyStoreKind::KeyFile) => KeyStoreChoice::File,
            },
            data_directory: profile
                .map(|profile| profile.directory().display().to_string())
                .unwrap_or_default(),
            profile: self.shared.setup.profile.clone(),
            tray_present: state.has_tray,
        }
    }
}
