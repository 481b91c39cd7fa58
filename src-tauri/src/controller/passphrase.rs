//! Changing where the keys are: another passphrase, a passphrase instead of the keychain, and
//! back; and locking.
//!
//! Owns the move. The keys are written to the new place and read back from it before the
//! profile names it, and removed from the old place only then; a crash leaves the profile
//! with a place that has all of them. The groups are closed meanwhile, because each holds the
//! store that it was opened with.

use std::sync::Arc;

use sealpost_engine::keys::{KeyItem, KeyItemName, KeyStore, KeyStoreError, PassphraseFileStore};
use sealpost_engine::profile::{KeyStoreKind, Profile};

use super::keys::check_passphrase;
use super::{Controller, Stage, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::view::{ChangePassphrase, KeychainTrouble, Passphrase};

impl Controller {
    /// Protects the keys with another passphrase; keys that are in the keychain move into a
    /// file under it.
    ///
    /// # Errors
    ///
    /// `passphrase-too-short`, `passphrase-wrong`, `key-file-unusable`, `keychain-unusable`,
    /// `closed` while the app is locked.
    pub async fn change_passphrase(&self, args: ChangePassphrase) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, _) = self.opened()?;
        check_passphrase(&args.passphrase)?;
        let moving = Arc::clone(&profile);
        let keychain = Arc::clone(&self.shared.setup.keychain);
        self.reopen_after(profile, move || match moving.key_store() {
            Some(KeyStoreKind::PassphraseFile) => {
                let store = PassphraseFileStore::open(&moving.key_file_path(), &args.current)?;
                store.change_passphrase(&args.passphrase)?;
                Ok(Arc::new(store))
            }
            Some(KeyStoreKind::KeyFile) => Err(AppErrorCode::NotAvailable.into()),
            None | Some(KeyStoreKind::Keychain) => {
                let path = moving.key_file_path();
                // Left by an attempt that ended before the profile named it.
                let _ = std::fs::remove_file(&path);
                let store = PassphraseFileStore::create(&path, &args.passphrase)?;
                move_keys(&moving, &*keychain, &store, KeyStoreKind::PassphraseFile)?;
                Ok(Arc::new(store))
            }
        })
        .await
    }

    /// Moves the keys back into the keychain.
    ///
    /// # Errors
    ///
    /// `passphrase-wrong`, `keychain-unusable`, `key-file-unusable`; `not-available` when
    /// there is no passphrase; `closed` while the app is locked.
    pub async fn remove_passphrase(&self, args: Passphrase) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, _) = self.opened()?;
        if profile.key_store() != Some(KeyStoreKind::PassphraseFile) {
            return Err(AppErrorCode::NotAvailable.into());
        }
        let moving = Arc::clone(&profile);
        let keychain = Arc::clone(&self.shared.setup.keychain);
        self.reopen_after(profile, move || {
            keychain.check()?;
            let path = moving.key_file_path();
            let file = PassphraseFileStore::open(&path, &args.passphrase)?;
            move_keys(&moving, &file, &*keychain, KeyStoreKind::Keychain)?;
            // A file that stays is opened by its passphrase only, as before.
            let _ = std::fs::remove_file(path);
            let keys: Arc<dyn KeyStore> = keychain;
            Ok(keys)
        })
        .await
    }

    /// Closes the groups and forgets their keys until the person opens them again. The relay
    /// on this computer goes on: it holds nothing that it could read.
    ///
    /// # Errors
    ///
    /// `closed` when nothing is open; `not-available` for a file without a passphrase, which
    /// a lock would not protect.
    pub async fn lock(&self) -> Result<(), AppError> {
        self.state().cancel_data_work();
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, _) = self.opened()?;
        let stage = match profile.key_store() {
            Some(KeyStoreKind::KeyFile) => return Err(AppErrorCode::NotAvailable.into()),
            Some(KeyStoreKind::PassphraseFile) => Stage::Passphrase,
            None | Some(KeyStoreKind::Keychain) => Stage::Keychain(KeychainTrouble::Locked),
        };
        self.shut_groups(stage).await;
        Ok(())
    }

    /// Closes the groups, does something with the key store, and opens them with what came of
    /// it: the new store, or the old one when it failed. The window shows what it did before
    /// meanwhile: without groups it would look like a first start.
    async fn reopen_after(
        &self,
        profile: Arc<Profile>,
        work: impl FnOnce() -> Result<Arc<dyn KeyStore>, AppError> + Send + 'static,
    ) -> Result<(), AppError> {
        let (_, before) = self.opened()?;
        let view = self.snapshot().await;
        self.state().kept_view = Some(view);
        self.close_groups().await;
        let outcome = blocking(work).await.and_then(|outcome| outcome);
        let (keys, answer) = match outcome {
            Ok(keys) => (keys, Ok(())),
            Err(error) => (before, Err(error)),
        };
        self.open_groups(profile, keys).await;
        self.state().kept_view = None;
        self.changed();
        answer
    }
}

/// Moves all keys of a profile to another store.
fn move_keys(
    profile: &Profile,
    from: &dyn KeyStore,
    to: &dyn KeyStore,
    kind: KeyStoreKind,
) -> Result<(), AppError> {
    let id = profile.id();
    let groups = profile.namespaces()?;
    let mut names: Vec<KeyItemName> = groups
        .iter()
        .map(|namespace| KeyItemName::group(&id, namespace))
        .collect();
    names.extend([KeyItemName::relay(&id), KeyItemName::links(&id)]);
    for name in &names {
        if let Some(item) = from.load(name)? {
            copy_key(to, name, &item)?;
        }
    }
    profile.set_key_store(kind)?;
    for name in &names {
        // What stays behind is a second copy in a place that the person trusted before.
        let _ = from.remove(name);
    }
    Ok(())
}

fn copy_key(to: &dyn KeyStore, name: &KeyItemName, item: &KeyItem) -> Result<(), KeyStoreError> {
    to.save(name, item)?;
    let read = to.load(name)?;
    let is_same = read.is_some_and(|read| read.as_bytes() == item.as_bytes());
    is_same.then_some(()).ok_or(KeyStoreError::Damaged)
}
