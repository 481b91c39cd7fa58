//! An encrypted backup of a profile in one file, and the way back from it.
//!
//! Owns the file: its bytes (`seal.rs`), the records in it (`record.rs`), how one is written
//! (`make.rs`, `place.rs`) and how one is brought back (`restore.rs`). The bytes are described in
//! `docs/backup.md`.
//!
//! A backup never holds a key of a device. What is restored is history: each group comes back
//! beside those that are there, in a database and under keys that are new, and is a member of
//! nothing. So a backup can never put two copies of one device into the world.
//!
//! Invariants:
//! - nothing stands under the name of a backup but a whole one: it is written beside it,
//!   synced and renamed, readable by its owner only;
//! - a backup replaces nothing but a backup, and one in which groups are missing nothing at all;
//! - a restore never changes or removes anything that was there, and shows all of the backup
//!   or nothing of it, wherever it is stopped;
//! - no length in a file makes more memory than a record may have;
//! - no error tells a name, a path or a text.

mod make;
mod place;
mod record;
mod restore;
mod seal;
mod settings;
mod source;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::core::error::{EngineError, StorageFault};
use crate::keys::KeyStoreError;
use crate::profile::{NotWritable, ProfileError};

pub use self::make::{Contents, make};
pub(crate) use self::place::{Place, Unfinished};
pub(crate) use self::record::{DeliveryPart, IssuePart, MessagePart, NotePart};
pub(crate) use self::restore::finish;
pub use self::restore::{Restored, clear_unfinished, restore};
pub use self::seal::FORMAT;
pub(crate) use self::settings::take as take_settings;
pub use self::settings::{ShellSettings, portable_settings};

/// The most groups of a backup. A file with more of them, each a database, isn't read on.
pub const GROUPS_MAX: usize = 100;

/// How many groups and messages a backup has, or a restore brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Groups.
    pub groups: u64,
    /// Messages of all of them.
    pub messages: u64,
}

/// How far a backup or a restore is, and the way to stop it. Clones are of the same one.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    total: AtomicU64,
    is_cancelled: AtomicBool,
}

impl Progress {
    /// How many messages are done, and of how many; `None` where that isn't known yet. What
    /// a file says of its own number is only shown.
    #[must_use]
    pub fn so_far(&self) -> (u64, Option<u64>) {
        let total = self.shared.total.load(Ordering::Relaxed);
        let done = self.shared.done.load(Ordering::Relaxed);
        (done, (total > 0).then_some(total.max(done)))
    }

    /// Stops it at its next step; it ends with [`BackupError::Cancelled`] unless it is done.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, messages: u64) {
        self.shared.done.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, messages: u64) {
        self.shared.total.store(messages, Ordering::Relaxed);
    }

    /// Whether it may go on.
    ///
    /// # Errors
    ///
    /// [`BackupError::Cancelled`].
    pub fn check(&self) -> Result<(), BackupError> {
        if self.shared.is_cancelled.load(Ordering::Relaxed) {
            return Err(BackupError::Cancelled);
        }
        Ok(())
    }
}

/// Why there is no backup, or nothing was restored. The text is safe to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The file was made by something else.
    #[error("this file is no backup")]
    NotABackup,
    /// A newer version of this program made it.
    #[error("the backup has format {found}; this version knows {known}")]
    TooNew {
        /// The format that was found.
        found: u16,
        /// The newest format that this version knows.
        known: u16,
    },
    /// The passphrase is not the one of this backup.
    #[error("this passphrase doesn't open the backup")]
    WrongPassphrase,
    /// A part of it isn't what was written.
    #[error("the backup is damaged")]
    Damaged,
    /// It ends before its end.
    #[error("the backup is cut off")]
    Truncated,
    /// Its parts are in another order than they were written in.
    #[error("the parts of the backup are in another order")]
    Reordered,
    /// Something stands behind its end.
    #[error("something was appended to the backup")]
    Appended,
    /// A file of that name is there and is no backup.
    #[error("a file that is no backup is in the place")]
    Occupied,
    /// A file of that name is there, and groups are missing in this backup.
    #[error("a backup in which groups are missing replaces nothing")]
    WouldReplaceWhole,
    /// There are more than [`GROUPS_MAX`] groups.
    #[error("more groups than a backup has room for")]
    TooManyGroups,
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// The backup is written, but its folder can't be synced: without power it may be gone.
    #[error("the backup is written, but its name isn't durable: {0}")]
    NotSynced(io::ErrorKind),
    /// The file or its folder can't be written.
    #[error("the backup can't be written: {0}")]
    Unwritable(io::ErrorKind),
    /// The file can't be read.
    #[error("the backup can't be read: {0}")]
    Unreadable(io::ErrorKind),
    /// There isn't memory enough to derive the key.
    #[error("not enough memory for the passphrase")]
    NoMemory,
    /// The data of a group can't be read or written.
    #[error("the data can't be used: {0}")]
    Storage(StorageFault),
    /// A group closed meanwhile.
    #[error("the group was closed")]
    Closed,
    /// The key store doesn't take the new keys.
    #[error("the keys can't be saved: {0}")]
    KeyStore(KeyStoreError),
    /// The profile can't be changed.
    #[error("the profile can't be changed: {0}")]
    Profile(ProfileError),
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl BackupError {
    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotABackup => "notABackup",
            Self::TooNew { .. } => "backupTooNew",
            Self::WrongPassphrase => "wrongPassphrase",
            Self::Damaged => "backupDamaged",
            Self::Truncated => "backupTruncated",
            Self::Reordered => "backupReordered",
            Self::Appended => "backupAppended",
            Self::Occupied => "occupied",
            Self::WouldReplaceWhole => "wouldReplaceWhole",
            Self::TooManyGroups => "tooManyGroups",
            Self::Full => "full",
            Self::NotSynced(_) => "notSynced",
            Self::Unwritable(_) => "unwritable",
            Self::Unreadable(_) => "unreadable",
            Self::NoMemory => "noMemory",
            Self::Storage(_) => "storage",
            Self::Closed => "closed",
            Self::KeyStore(error) => error.code(),
            Self::Profile(error) => error.code(),
            Self::Cancelled => "cancelled",
        }
    }

    fn of_reading(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            kind => Self::Unreadable(kind),
        }
    }

    pub(crate) fn of_writing(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            kind => Self::Unwritable(kind),
        }
    }
}

impl From<ProfileError> for BackupError {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::NotWritable(NotWritable::Full) => Self::Full,
            error => Self::Profile(error),
        }
    }
}

impl From<KeyStoreError> for BackupError {
    fn from(error: KeyStoreError) -> Self {
        match error {
            KeyStoreError::Io(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                Self::Full
            }
            error => Self::KeyStore(error),
        }
    }
}

impl From<StorageFault> for BackupError {
    fn from(fault: StorageFault) -> Self {
        match fault {
            StorageFault::Full => Self::Full,
            fault => Self::Storage(fault),
        }
    }
}

impl From<EngineError> for BackupError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Storage(fault) => fault.into(),
            _ => Self::Closed,
        }
    }
}
