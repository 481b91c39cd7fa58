//! What the person chose about the app itself.
//!
//! Owns how a choice takes effect: it is kept first, then it counts. What can't take effect,
//! such as an entry for the login that can't be written, isn't kept either.

use std::sync::Arc;

use sealpost_engine::profile::{KeyStoreKind, Profile};

use super::{Controller, State, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::catalogue::Language;
use crate::settings::{Preferences, RelaySettings, Settings as _};
use crate::view::{KeyStoreChoice, LanguageChoice, Mute, SetRelayPorts, SetSettings, SettingsView};
use crate::window::LoginStart;

/// A moment that never comes, for a mute without an end: the year 9999.
const MUTED_FOR_GOOD_MS: u64 = 253_402_300_799_000;

/// The fewest and the most minutes after which the app may lock.
const AUTO_LOCK_MINUTES: std::ops::RangeInclusive<u32> = 1..=24 * 60;

impl Controller {
    /// Changes some settings; the others stay.
    ///
    /// # Errors
    ///
    /// `closed` while no profile is open; `start-at-login-unavailable`;
    /// `profile-not-writable`.
    pub async fn set_settings(&self, args: SetSettings) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let profile = self.state().profile.clone();
        let profile = profile.ok_or(AppErrorCode::Closed)?;
        let before = self.state().preferences;
        let after = changed(before, &args);
        if login_start(&before) != login_start(&after) {
            self.write_login_entry(login_start(&after)).await?;
        }
        self.keep_preferences(profile, after).await
    }

    /// Shows no notifications until a time, or shows them again.
    ///
    /// # Errors
    ///
    /// `closed` while no profile is open; `profile-not-writable`.
    pub async fn mute(&self, args: Mute) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        self.keep_mute(args.until_ms).await
    }

    /// Mutes until the person says otherwise, or shows notifications again. Chosen twice in a
    /// row it is undone, however long the first time takes.
    ///
    /// # Errors
    ///
    /// Those of [`Controller::mute`].
    pub async fn switch_mute(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let until_ms = (!self.is_muted()).then_some(MUTED_FOR_GOOD_MS);
        let kept = self.keep_mute(until_ms).await;
        // The tick in the tray has moved already, and goes back to what is so.
        self.changed();
        kept
    }

    async fn keep_mute(&self, until_ms: Option<u64>) -> Result<(), AppError> {
        let profile = self.state().profile.clone();
        let profile = profile.ok_or(AppErrorCode::Closed)?;
        let muted_until_ms = until_ms.map(|until| until.min(MUTED_FOR_GOOD_MS));
        let before = self.state().preferences;
        let after = Preferences {
            muted_until_ms,
            ..before
        };
        self.keep_preferences(profile, after).await
    }

    async fn keep_preferences(
        &self,
        profile: Arc<Profile>,
        chosen: Preferences,
    ) -> Result<(), AppError> {
        blocking(move || profile.set_preferences(chosen)).await??;
        self.apply_preferences(chosen);
        Ok(())
    }

    /// Takes the relay on this computer to other ports.
    ///
    /// # Errors
    ///
    /// `relay-ports-invalid`; what keeps the relay from listening there, and then it listens
    /// where it did before.
    pub async fn set_relay_ports(&self, args: SetRelayPorts) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let SetRelayPorts {
            receive_port,
            push_port,
        } = args;
        if receive_port == 0 || push_port == 0 || receive_port == push_port {
            return Err(AppErrorCode::RelayPortsInvalid.into());
        }
        self.move_relay(RelaySettings {
            on: true,
            receive_port,
            push_port,
        })
        .await
    }

    /// Whether notifications are muted at this moment.
    pub(super) fn is_muted(&self) -> bool {
        self.state().notifications.is_muted(self.now_ms())
    }

    /// Lets what the person chose in this profile count, when it is opened and when it changes.
    pub(super) fn apply_preferences(&self, chosen: Preferences) {
        let language = match chosen.language {
            LanguageChoice::System => Language::of_system(),
            LanguageChoice::English => Language::English,
            LanguageChoice::German => Language::German,
        };
        self.shared.setup.catalogue.set(language);
        self.window().set_theme(chosen.theme);
        let mut state = self.state();
        state.preferences = chosen;
        let notifications = &mut state.notifications;
        notifications.choose(chosen.notifications, chosen.muted_until_ms);
        drop(state);
        self.changed();
    }

    /// Mends the entry for the login at the start: the program may have moved since. One that
    /// the person has switched off elsewhere is off.
    pub(super) async fn mend_login_entry(&self, profile: Arc<Profile>) {
        let chosen = self.state().preferences;
        let start = login_start(&chosen);
        if start == LoginStart::Never {
            return;
        }
        let window = Arc::clone(&self.shared.setup.window);
        let mended = blocking(move || window.mend_start_at_login(start)).await;
        match mended.and_then(|mended| mended) {
            Ok(true) => {}
            Ok(false) => {
                let off = Preferences {
                    start_at_login: false,
                    ..chosen
                };
                // What can't be kept is found again at the next start.
                let _ = self.keep_preferences(profile, off).await;
            }
            Err(_) => tracing::warn!("the entry for the login could not be mended"),
        }
    }

    async fn write_login_entry(&self, start: LoginStart) -> Result<(), AppError> {
        let window = Arc::clone(&self.shared.setup.window);
        blocking(move || window.set_start_at_login(start)).await?
    }

    /// The settings as the window shows them; the usual ones while no profile is open.
    pub(super) fn settings_view(&self, state: &State) -> SettingsView {
        let profile = state.profile.as_deref();
        let chosen = state.preferences;
        let now_ms = self.now_ms();
        SettingsView {
            notifications: chosen.notifications,
            muted_until_ms: chosen.muted_until_ms.filter(|until| *until > now_ms),
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

fn changed(before: Preferences, args: &SetSettings) -> Preferences {
    let minutes = args.auto_lock_minutes.unwrap_or(before.auto_lock_minutes);
    Preferences {
        notifications: args.notifications.unwrap_or(before.notifications),
        muted_until_ms: before.muted_until_ms,
        start_at_login: args.start_at_login.unwrap_or(before.start_at_login),
        start_hidden: args.start_hidden.unwrap_or(before.start_hidden),
        theme: args.theme.unwrap_or(before.theme),
        language: args.language.unwrap_or(before.language),
        start_relay_with_app: args
            .start_relay_with_app
            .unwrap_or(before.start_relay_with_app),
        auto_lock: args.auto_lock.unwrap_or(before.auto_lock),
        auto_lock_minutes: minutes.clamp(*AUTO_LOCK_MINUTES.start(), *AUTO_LOCK_MINUTES.end()),
    }
}

fn login_start(preferences: &Preferences) -> LoginStart {
    match (preferences.start_at_login, preferences.start_hidden) {
        (false, _) => LoginStart::Never,
        (true, false) => LoginStart::Shown,
        (true, true) => LoginStart::Hidden,
    }
}
