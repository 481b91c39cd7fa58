//! Where a backup is written: what stands there already, and the file beside it until it is
//! whole.
//!
//! Owns the rule of what a backup may replace: nothing but an older backup, and that only when
//! no group is missing in the new one. The file beside it has a random name and is locked by
//! the system while it is written, so that two backups to one name don't meet; only what this
//! program made and nobody holds is ever removed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rand_core::{CryptoRng, RngCore};

use super::BackupError;
use super::seal::MAGIC;
use crate::durable_file;

/// Ends the name of a backup that isn't whole yet; before it stand a point and so many digits.
const UNFINISHED: &str = ".part";
const DIGITS: usize = 16;

/// The place of a backup.
pub(crate) struct Place {
    /// No link: what it points to.
    path: PathBuf,
    folder: PathBuf,
    name: OsString,
}

impl Place {
    pub(crate) fn of(path: &Path) -> Result<Self, BackupError> {
        // Its folder is synced, which has no name where the path is relative.
        let mut path = std::path::absolute(path).map_err(writing)?;
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            // The file that it stands for is what is to be replaced, and not the link.
            path = fs::canonicalize(&path).map_err(writing)?;
        }
        let none = BackupError::Unwritable(io::ErrorKind::InvalidInput);
        Ok(Self {
            folder: path.parent().ok_or(none)?.to_owned(),
            name: path.file_name().ok_or(none)?.to_owned(),
            path,
        })
    }

    /// Whether a backup may be put here.
    pub(crate) fn check(&self, is_incomplete: bool) -> Result<(), BackupError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(writing(error)),
            Ok(found) if !found.is_file() || !is_backup(&self.path) => Err(BackupError::Occupied),
            Ok(_) if is_incomplete => Err(BackupError::WouldReplaceWhole),
            Ok(_) => Ok(()),
        }
    }

    /// Whether a text may be put here: in place of another file, but not of a backup.
    pub(crate) fn check_text(&self) -> Result<(), BackupError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(writing(error)),
            Ok(found) if found.is_file() && !is_backup(&self.path) => Ok(()),
            Ok(_) => Err(BackupError::Unwritable(io::ErrorKind::AlreadyExists)),
        }
    }

    /// Removes what attempts left that were stopped.
    pub(crate) fn clear_left_over(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            // A folder may be written without being read.
            return;
        };
        for entry in entries.flatten() {
            if self.is_unfinished(&entry.file_name())
                && entry.file_type().is_ok_and(|kind| kind.is_file())
                && is_abandoned(&entry.path())
            {
                // What can't be removed is removed before the next one.
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    fn unfinished(&self, rng: &mut (impl RngCore + CryptoRng)) -> PathBuf {
        let mut name = self.name.clone();
        name.push(format!(".{:0DIGITS$x}{UNFINISHED}", rng.next_u64()));
        self.folder.join(name)
    }

    fn is_unfinished(&self, name: &std::ffi::OsStr) -> bool {
        let digits = name
            .as_encoded_bytes()
            .strip_prefix(self.name.as_encoded_bytes())
            .and_then(|rest| rest.strip_prefix(b"."))
            .and_then(|rest| rest.strip_suffix(UNFINISHED.as_bytes()));
        digits.is_some_and(|digits| {
            digits.len() == DIGITS && digits.iter().all(u8::is_ascii_hexdigit)
        })
    }
}

/// The file beside the place, removed unless it is put there.
pub(crate) struct Unfinished {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    is_in_place: bool,
}

impl Unfinished {
    pub(crate) fn start(
        place: &Place,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Self, BackupError> {
        let path = place.unfinished(rng);
        let file = durable_file::private()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(writing)?;
        let unfinished = Self {
            path,
            file,
            is_in_place: false,
        };
        // Where a file system has no locks, nobody takes the file for one that was left.
        if let Err(error) = unfinished.file.try_lock() {
            tracing::debug!(%error, "a backup is written without a lock");
        }
        Ok(unfinished)
    }

    /// The file, for writing.
    pub(crate) fn file(&self) -> Result<File, BackupError> {
        self.file.try_clone().map_err(writing)
    }

    pub(crate) fn put_in_place(self, place: &Place) -> Result<(), BackupError> {
        self.put_in_place_and(place, durable_file::sync_directory)
    }

    /// The folder is synced by `sync`. From the renaming on the backup stands there.
    pub(crate) fn put_in_place_and(
        mut self,
        place: &Place,
        sync: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), BackupError> {
        fs::rename(&self.path, &place.path).map_err(writing)?;
        self.is_in_place = true;
        sync(&place.folder).map_err(|error| BackupError::NotSynced(error.kind()))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_in_place {
            // What can't be removed is removed before the next one.
            drop(fs::remove_file(&self.path));
        }
    }
}

fn is_backup(path: &Path) -> bool {
    begin_of(path).is_ok_and(|begin| begin == MAGIC)
}

/// Whether it is an attempt that nobody works at any more.
fn is_abandoned(path: &Path) -> bool {
    // Of one that was stopped soon nothing was written.
    let is_ours = begin_of(path).is_ok_and(|begin| begin.is_empty() || begin == MAGIC);
    is_ours && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// The first bytes of a regular file.
fn begin_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    let file = File::open(path)?;
    file.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

fn writing(error: io::Error) -> BackupError {
    BackupError::of_writing(&error)
}
