//! A backup of the profile, and the way back from one.
//!
//! Owns which file the person chose and what becomes of it; also of a text of what can be read.
//! The files themselves are the engine's. All hold `lifecycle`, because a group that closes meanwhile would be missing;
//! what closes everything cancels them first.

use std::path::PathBuf;
use std::sync::Arc;

use rand_core::OsRng;
use sealpost_engine::backup::{
    BackupError, Contents, Counts, GROUPS_MAX, make, portable_settings, restore,
};
use sealpost_engine::export::{Readable, write_text};
use sealpost_engine::keys::KeyStore;
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::Profile;
use tokio::runtime::Handle;

use super::group::SPARE_GROUPS;
use super::keys::check_passphrase;
use super::{Controller, Stage, State, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::settings::Settings as _;
use crate::view::{BackedUp, ChosenFile, DataWork, Exported, Passphrase, RestoredBackup};
use crate::window::FileProposal;

/// How the names of backups end.
const EXTENSION: &str = "sealpost-backup";

/// How the names of texts end.
const TEXT_EXTENSION: &str = "txt";

impl Controller {
    /// Writes a backup of all groups to a place that the person chooses.
    ///
    /// # Errors
    ///
    /// `passphrase-too-short`, `backup-no-room`, `file-unwritable`, `storage`, `closed`.
    pub async fn back_up(&self, args: Passphrase) -> Result<BackedUp, AppError> {
        check_passphrase(&args.passphrase)?;
        let Some(path) = self.choose_place(self.proposal()).await? else {
            return Ok(BackedUp::default());
        };
        let begun = self.begin(DataWork::Backup);
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, _) = self.opened()?;
        let groups: Vec<_> = self
            .engines()
            .into_iter()
            .map(|(_, engine)| engine)
            .collect();
        let left_out = groups_of(&profile)?.len().saturating_sub(groups.len());
        let contents = Contents {
            groups,
            left_out,
            device_name: profile.device_name(),
            settings: portable_settings(&profile),
            now_ms: self.now_ms(),
        };
        let (file, runtime) = (path.display().to_string(), Handle::current());
        let made = self.work(&begun, move |progress| {
            make(
                &contents,
                &path,
                &args.passphrase,
                progress,
                &runtime,
                &mut OsRng,
            )
        });
        Ok(match made.await? {
            None => BackedUp::default(),
            Some(Counts { groups, messages }) => BackedUp {
                file: Some(file),
                groups,
                messages,
                left_out: left_out as u64,
            },
        })
    }

    /// Asks the person for a backup to restore.
    ///
    /// # Errors
    ///
    /// `internal`.
    pub async fn choose_backup(&self) -> Result<ChosenFile, AppError> {
        let proposal = self.proposal();
        let window = Arc::clone(&self.shared.setup.window);
        let chosen = blocking(move || window.choose_file(&proposal)).await?;
        let name = chosen.as_deref().and_then(|path| path.file_name());
        let name = name.map(|name| name.to_string_lossy().into_owned());
        if chosen.is_some() {
            self.state().data.chosen = chosen;
        }
        Ok(ChosenFile { name })
    }

    /// Restores the backup that was chosen, beside what is there.
    ///
    /// # Errors
    ///
    /// `backup-passphrase-wrong`, `backup-foreign`, `backup-too-new`, `backup-damaged`,
    /// `backup-no-room`, `file-unreadable`; `closed` while the app is locked.
    pub async fn restore_backup(&self, args: Passphrase) -> Result<RestoredBackup, AppError> {
        let begun = self.begin(DataWork::Restore);
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, keys) = self.opened_data()?;
        let chosen = self.state().data.chosen.clone();
        let path = chosen.ok_or(AppErrorCode::FileUnreadable)?;
        let (into, store) = (Arc::clone(&profile), Arc::clone(&keys));
        let restored = self.work(&begun, move |progress| {
            let passphrase = &args.passphrase;
            restore(&into, &*store, &path, passphrase, progress, &mut OsRng)
        });
        let Some(restored) = restored.await? else {
            return Ok(RestoredBackup::default());
        };
        self.state().data.chosen = None;
        self.apply_preferences(profile.preferences());
        for namespace in restored.groups {
            self.open_restored(&profile, &keys, namespace).await;
        }
        self.show_what_is_open();
        Ok(RestoredBackup {
            is_done: true,
            groups: restored.counts.groups,
            messages: restored.counts.messages,
        })
    }

    /// Writes what can be read of all groups as text to a place that the person chooses, also
    /// of those that don't open.
    ///
    /// # Errors
    ///
    /// `backup-no-room`, `file-unwritable`; `closed` while the app is locked.
    pub async fn export_messages(&self) -> Result<Exported, AppError> {
        let proposal = FileProposal {
            name: format!("sealpost-messages.{TEXT_EXTENSION}"),
            kind: self.shared.setup.catalogue.get().text("file-text"),
            extension: TEXT_EXTENSION,
        };
        let Some(path) = self.choose_place(proposal).await? else {
            return Ok(Exported::default());
        };
        let begun = self.begin(DataWork::Export);
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, keys) = self.opened_data()?;
        let (groups, now_ms) = (groups_of(&profile)?, self.now_ms());
        let file = path.display().to_string();
        let written = self.work(&begun, move |progress| {
            write_text(&profile, &*keys, &groups, &path, progress, now_ms)
        });
        Ok(match written.await? {
            None => Exported::default(),
            Some(Readable {
                groups,
                messages,
                damaged,
            }) => Exported {
                file: Some(file),
                groups,
                messages,
                damaged,
            },
        })
    }

    /// The profile and the key store, also where no group could be opened.
    fn opened_data(&self) -> Result<(Arc<Profile>, Arc<dyn KeyStore>), AppError> {
        self.state()
            .opened_data()
            .ok_or(AppErrorCode::Closed.into())
    }

    async fn open_restored(
        &self,
        profile: &Profile,
        keys: &Arc<dyn KeyStore>,
        namespace: Namespace,
    ) {
        let opened = self.open_group(profile, keys, namespace.clone(), None);
        if let Err(error) = opened.await {
            // It is there, and opens at the next start or says why not.
            self.note_unopened(namespace, error);
        }
    }

    async fn choose_place(&self, proposal: FileProposal) -> Result<Option<PathBuf>, AppError> {
        let window = Arc::clone(&self.shared.setup.window);
        blocking(move || window.choose_new_file(&proposal)).await
    }

    fn proposal(&self) -> FileProposal {
        FileProposal {
            name: format!("sealpost.{EXTENSION}"),
            kind: self.shared.setup.catalogue.get().text("file-backup"),
            extension: EXTENSION,
        }
    }
}

/// The groups of a profile, whether or not they are open.
fn groups_of(profile: &Profile) -> Result<Vec<Namespace>, AppError> {
    let spare = profile.listed(SPARE_GROUPS);
    let mut groups = profile.namespaces()?;
    groups.retain(|group| !spare.contains(group.as_str()));
    Ok(groups)
}

impl State {
    /// Whether there is data to restore into, or to read out: also where no group opens.
    pub(super) fn opened_data(&self) -> Option<(Arc<Profile>, Arc<dyn KeyStore>)> {
        match (&self.stage, &self.profile, &self.key_store) {
            (Stage::Open | Stage::Failed(_), Some(profile), Some(keys)) => {
                Some((Arc::clone(profile), Arc::clone(keys)))
            }
            _ => None,
        }
    }
}

impl From<BackupError> for AppError {
    fn from(error: BackupError) -> Self {
        let damaged = |kind| Self::new(AppErrorCode::BackupDamaged).with_word("kind", kind);
        match error {
            BackupError::NotABackup => AppErrorCode::BackupForeign.into(),
            BackupError::TooNew { found, known } => Self::new(AppErrorCode::BackupTooNew)
                .with_number("found", found.into())
                .with_number("known", known.into()),
            BackupError::WrongPassphrase => AppErrorCode::BackupPassphraseWrong.into(),
            BackupError::Damaged => damaged("changed"),
            BackupError::Truncated => damaged("truncated"),
            BackupError::Reordered => damaged("reordered"),
            BackupError::Appended => damaged("appended"),
            BackupError::Occupied => AppErrorCode::BackupOccupied.into(),
            BackupError::WouldReplaceWhole => AppErrorCode::BackupWouldReplace.into(),
            BackupError::TooManyGroups => {
                Self::new(AppErrorCode::BackupTooManyGroups).with_number("max", GROUPS_MAX as u64)
            }
            BackupError::NotSynced(_) => AppErrorCode::BackupNotSynced.into(),
            BackupError::Full => AppErrorCode::BackupNoRoom.into(),
            BackupError::Unwritable(_) => AppErrorCode::FileUnwritable.into(),
            BackupError::Unreadable(_) => AppErrorCode::FileUnreadable.into(),
            BackupError::Storage(fault) => {
                Self::new(AppErrorCode::Storage).with_word("kind", fault.code())
            }
            BackupError::Closed | BackupError::Cancelled => AppErrorCode::Closed.into(),
            BackupError::KeyStore(error) => error.into(),
            BackupError::Profile(error) => error.into(),
            BackupError::NoMemory => AppErrorCode::NoMemory.into(),
        }
    }
}
