//! A backup of the profile, and the way back from one.
//!
//! Owns which file the person chose, how far the work is and its end. The file itself is the
//! engine's. Both hold `lifecycle`, because a group that closes meanwhile would be missing;
//! what closes everything cancels them first.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_engine::backup::{
    BackupError, Contents, Counts, GROUPS_MAX, Progress, make, portable_settings, restore,
};
use sealpost_engine::keys::KeyStore;
use sealpost_engine::profile::Profile;
use tokio::runtime::Handle;

use super::group::SPARE_GROUPS;
use super::keys::check_passphrase;
use super::{Controller, State, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::settings::Settings as _;
use crate::view::{BackedUp, ChosenFile, DataWork, DataWorkView, Passphrase, RestoredBackup};
use crate::window::FileProposal;

/// How often the window is told how far it is.
const TELL_INTERVAL: Duration = Duration::from_millis(250);

/// How the names of backups end.
const EXTENSION: &str = "sealpost-backup";

/// What is done with the data at the moment, and the backup that was chosen for it.
#[derive(Default)]
pub(super) struct DataDesk {
    work: Option<(DataWork, Progress)>,
    chosen: Option<PathBuf>,
}

impl DataDesk {
    pub(super) fn view(&self) -> Option<DataWorkView> {
        let (kind, progress) = self.work.as_ref()?;
        let (done, total) = progress.so_far();
        Some(DataWorkView {
            kind: *kind,
            done,
            total,
        })
    }
}

impl Controller {
    /// Writes a backup of all groups to a place that the person chooses.
    ///
    /// # Errors
    ///
    /// `passphrase-too-short`, `backup-no-room`, `file-unwritable`, `storage`, `closed`.
    pub async fn back_up(&self, args: Passphrase) -> Result<BackedUp, AppError> {
        check_passphrase(&args.passphrase)?;
        let Some(path) = self.choose_place().await? else {
            return Ok(BackedUp::default());
        };
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, _) = self.opened()?;
        let groups: Vec<_> = self
            .engines()
            .into_iter()
            .map(|(_, engine)| engine)
            .collect();
        let left_out = groups_of(&profile)?.saturating_sub(groups.len());
        let contents = Contents {
            groups,
            left_out,
            device_name: profile.device_name(),
            settings: portable_settings(&profile),
            now_ms: self.now_ms(),
        };
        let (file, runtime) = (path.display().to_string(), Handle::current());
        let made = self.work(DataWork::Backup, move |progress| {
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
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, keys) = self.opened()?;
        let chosen = self.state().data.chosen.clone();
        let path = chosen.ok_or(AppErrorCode::FileUnreadable)?;
        let (into, store) = (Arc::clone(&profile), Arc::clone(&keys));
        let restored = self.work(DataWork::Restore, move |progress| {
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
        Ok(RestoredBackup {
            is_done: true,
            groups: restored.counts.groups,
            messages: restored.counts.messages,
        })
    }

    /// Ends the backup or the restore that is on its way; nothing of it stays.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub fn cancel_data_work(&self) -> Result<(), AppError> {
        if let Some((_, progress)) = &self.state().data.work {
            progress.cancel();
        }
        Ok(())
    }

    async fn open_restored(
        &self,
        profile: &Profile,
        keys: &Arc<dyn KeyStore>,
        namespace: sealpost_engine::namespace::Namespace,
    ) {
        let opened = self.open_group(profile, keys, namespace.clone(), None);
        if let Err(error) = opened.await {
            // It is there, and opens at the next start or says why not.
            self.note_unopened(namespace, error);
        }
    }

    /// Does it off the threads that serve the window and tells how far it is. `None` when it
    /// was cancelled.
    async fn work<T: Send + 'static>(
        &self,
        kind: DataWork,
        work: impl FnOnce(&Progress) -> Result<T, BackupError> + Send + 'static,
    ) -> Result<Option<T>, AppError> {
        let progress = Progress::default();
        self.state().data.work = Some((kind, progress.clone()));
        let mut ticks = tokio::time::interval(TELL_INTERVAL);
        let mut work = std::pin::pin!(blocking(move || work(&progress)));
        let outcome = loop {
            tokio::select! {
                outcome = &mut work => break outcome,
                _ = ticks.tick() => self.changed(),
            }
        };
        self.state().data.work = None;
        self.changed();
        match outcome? {
            Ok(done) => Ok(Some(done)),
            Err(BackupError::Cancelled) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn choose_place(&self) -> Result<Option<PathBuf>, AppError> {
        let proposal = self.proposal();
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

/// How many groups a profile has, whether or not they are open.
fn groups_of(profile: &Profile) -> Result<usize, AppError> {
    let spare = profile.listed(SPARE_GROUPS);
    let groups = profile.namespaces()?;
    let is_group =
        |group: &&_| !spare.contains(sealpost_engine::namespace::Namespace::as_str(group));
    Ok(groups.iter().filter(is_group).count())
}

impl State {
    /// Stops what is done with the data, for what closes everything.
    pub(super) fn cancel_data_work(&self) {
        if let Some((_, progress)) = &self.data.work {
            progress.cancel();
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
