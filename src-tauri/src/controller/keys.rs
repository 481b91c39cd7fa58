//! Which key store a profile uses, and the screens around it.
//!
//! Owns the person's choice: the keychain unless it can't be used, a key file under a
//! passphrase if the person says so. Nothing falls back by itself, and nothing is written
//! while a store can't be read.

use std::sync::Arc;

use sealpost_engine::keys::{
    KeyFileStore, KeyStore, KeyStoreError, KeychainStore, PassphraseFileStore,
};
use sealpost_engine::profile::{KeyStoreKind, Profile};

use super::failure::keychain_trouble;
use super::{Controller, Stage, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::settings::Settings as _;
use crate::view::Passphrase;

/// The keychain of the system: a key store that can be asked whether it is of any use.
pub trait Keychain: KeyStore {
    /// Asks whether items can be read and written, and lets it ask the person to unlock it.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn check(&self) -> Result<(), KeyStoreError>;
}

impl Keychain for KeychainStore {
    fn check(&self) -> Result<(), KeyStoreError> {
        Self::check(self)
    }
}

/// The fewest characters of a passphrase.
const PASSPHRASE_CHARACTERS_MIN: usize = 8;

impl Controller {
    /// Opens the key store that the profile uses, or shows the screen of what it lacks.
    pub(super) async fn open_key_store(&self, profile: Arc<Profile>) {
        match profile.key_store() {
            None | Some(KeyStoreKind::Keychain) => self.open_keychain(profile).await,
            Some(KeyStoreKind::PassphraseFile) => self.set_stage(Stage::Passphrase),
            Some(KeyStoreKind::KeyFile) => self.open_key_file(profile).await,
        }
    }

    async fn open_keychain(&self, profile: Arc<Profile>) {
        let keychain = Arc::clone(&self.shared.setup.keychain);
        let asked = Arc::clone(&keychain);
        // Known before the person has typed anything, and before anything is written.
        match blocking(move || asked.check()).await {
            Ok(Ok(())) => self.open_groups(profile, keychain).await,
            Ok(Err(error)) => self.set_stage(Stage::Keychain(keychain_trouble(error))),
            Err(error) => self.set_stage(Stage::Failed(error)),
        }
    }

    async fn open_key_file(&self, profile: Arc<Profile>) {
        let path = profile.key_file_path();
        match blocking(move || KeyFileStore::open(&path)).await {
            Ok(Ok(store)) => self.open_groups(profile, Arc::new(store)).await,
            Ok(Err(error)) => self.set_stage(Stage::Failed(error.into())),
            Err(error) => self.set_stage(Stage::Failed(error)),
        }
    }

    /// Asks the keychain once more.
    ///
    /// # Errors
    ///
    /// `closed` when nothing waits for it.
    pub async fn try_keychain_again(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let profile = self.waiting_profile(|stage| matches!(stage, Stage::Keychain(_)))?;
        self.open_key_store(profile).await;
        Ok(())
    }

    /// Uses a key file under a passphrase, for a profile that has no keys yet.
    ///
    /// # Errors
    ///
    /// `passphrase-too-short`; `key-file-unusable`; `closed` when the profile has keys.
    pub async fn choose_passphrase(&self, args: Passphrase) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let profile = self.waiting_profile(|stage| matches!(stage, Stage::Keychain(_)))?;
        if !may_choose_passphrase(&profile) {
            return Err(AppErrorCode::Closed.into());
        }
        check_passphrase(&args.passphrase)?;
        let chosen = Arc::clone(&profile);
        let store = blocking(move || create_key_file(&chosen, &args.passphrase)).await??;
        self.open_groups(profile, store).await;
        Ok(())
    }

    /// Opens the key file.
    ///
    /// # Errors
    ///
    /// `passphrase-wrong`; `key-file-unusable`; `closed` when nothing waits for it.
    pub async fn unlock(&self, args: Passphrase) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let profile = self.waiting_profile(|stage| matches!(stage, Stage::Passphrase))?;
        let path = profile.key_file_path();
        let store = blocking(move || PassphraseFileStore::open(&path, &args.passphrase)).await??;
        self.open_groups(profile, Arc::new(store)).await;
        Ok(())
    }

    /// The profile, if the app waits in a stage.
    fn waiting_profile(&self, waits: impl Fn(&Stage) -> bool) -> Result<Arc<Profile>, AppError> {
        let state = self.state();
        match &state.profile {
            Some(profile) if waits(&state.stage) => Ok(Arc::clone(profile)),
            _ => Err(AppErrorCode::Closed.into()),
        }
    }
}

/// Refuses a passphrase that is too short.
pub(super) fn check_passphrase(passphrase: &str) -> Result<(), AppError> {
    if passphrase.chars().count() < PASSPHRASE_CHARACTERS_MIN {
        return Err(AppError::new(AppErrorCode::PassphraseTooShort)
            .with_number("min", PASSPHRASE_CHARACTERS_MIN as u64));
    }
    Ok(())
}

/// Whether a profile is still without keys, also without that of a relay.
pub(super) fn may_choose_passphrase(profile: &Profile) -> bool {
    let without_groups = profile.namespaces().is_ok_and(|found| found.is_empty());
    without_groups && profile.key_store().is_none() && profile.relay().is_none()
}

fn create_key_file(profile: &Profile, passphrase: &str) -> Result<Arc<dyn KeyStore>, AppError> {
    let path = profile.key_file_path();
    let store = match PassphraseFileStore::create(&path, passphrase) {
        // Left by an attempt that ended before the choice was kept; it holds no keys.
        Err(KeyStoreError::AlreadyThere) => PassphraseFileStore::open(&path, passphrase),
        made => made,
    }?;
    profile.set_key_store(KeyStoreKind::PassphraseFile)?;
    Ok(Arc::new(store))
}
