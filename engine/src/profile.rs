//! A profile: one person's directory, locked while it is used.
//!
//! Owns `<data-dir>/<profile>/`: its lock, `profile.json` and the names of the databases in
//! it. Never opens a database and never reads a key.
//!
//! Layout: `lock`, `profile.json` (0600, replaced whole), `trueseal_<namespace>.db` per
//! group, `links.db` for links, `relay/` for the relay inside the app, and while a backup comes
//! back the folders of `backup/restore.rs`. The directory is 0700.
//!
//! Invariants:
//! - one engine per profile: the lock is the operating system's, so that it ends with the
//!   process that held it, however that ended;
//! - a failed open changes nothing that was there before;
//! - a directory with databases and without a `profile.json` is damaged, not new: a fresh
//!   profile id would put every key in it out of reach.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rand_core::{CryptoRng, OsRng, RngCore};
use serde::{Deserialize, Serialize};

use crate::backup;
use crate::durable_file;
use crate::link::Links;
use crate::namespace::Namespace;

/// The format of `profile.json` that this version writes.
const FORMAT: u32 = 1;

/// Largest `profile.json` that is read.
const RECORD_BYTES_MAX: u64 = 1024 * 1024;

const DATABASE_PREFIX: &str = "trueseal_";
const DATABASE_SUFFIX: &str = ".db";

/// The random id of a profile: it ties key items to the directory they belong to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileId([u8; 16]);

impl ProfileId {
    /// Draws a fresh id.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        Self(id)
    }

    /// The id as bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The id as 32 hexadecimal digits.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads an id back.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let mut id = [0; 16];
        for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(id))
    }
}

impl fmt::Debug for ProfileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProfileId")
    }
}

/// Which key store a profile uses. The person chose it; nothing falls back by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyStoreKind {
    /// The keychain of the operating system.
    Keychain,
    /// A key file under a passphrase.
    PassphraseFile,
    /// A key file that only its permissions protect.
    KeyFile,
}

/// What `profile.json` says. Text of the person's own, so it never prints itself.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    format: u32,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_store: Option<KeyStoreKind>,
    #[serde(default)]
    groups_made: u32,
    /// Settings of the shell, which this module keeps and doesn't read.
    #[serde(default)]
    settings: BTreeMap<String, serde_json::Value>,
}

/// Reads only the format, so that a newer file is told from a damaged one.
#[derive(Deserialize)]
struct RecordFormat {
    format: u32,
}

/// A locked profile. Unlocked when dropped.
pub struct Profile {
    directory: PathBuf,
    id: ProfileId,
    record: Mutex<Record>,
    /// Held while the record is written, so that reading it never waits for the disk.
    writing: Mutex<()>,
    // Held for its lock; see the invariants of the module.
    _lock: File,
}

/// Why a profile can't be used. Nothing in it was changed. The text is safe to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The name is not one that every file system takes.
    #[error("a profile name has 1 to 64 of the characters A-Z a-z 0-9 _ -")]
    InvalidName,
    /// Another program has the profile open.
    #[error("the profile is in use by another program")]
    InUse {
        /// The process that has it, where it is known.
        pid: Option<u32>,
    },
    /// The data directory can't be written.
    #[error("the data directory can't be written: {0}")]
    NotWritable(NotWritable),
    /// The profile was written by a newer version of this program.
    #[error("the profile has format {found}; this version knows {known}")]
    TooNew {
        /// The format that was found.
        found: u32,
        /// The newest format that this version knows.
        known: u32,
    },
    /// `profile.json` can't be understood, or is gone while databases are there.
    #[error("the profile is damaged")]
    Damaged,
    /// The directory can't be read.
    #[error("the profile can't be read: {0}")]
    Io(io::ErrorKind),
}

impl ProfileError {
    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidName => "profileInvalidName",
            Self::InUse { .. } => "profileInUse",
            Self::NotWritable(_) => "profileNotWritable",
            Self::TooNew { .. } => "profileTooNew",
            Self::Damaged => "profileDamaged",
            Self::Io(_) => "profileUnreadable",
        }
    }
}

/// Why a directory can't be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWritable {
    /// This user may not write there.
    #[error("permission denied")]
    PermissionDenied,
    /// The file system is mounted for reading only.
    #[error("read-only file system")]
    ReadOnly,
    /// A part of the path is not a directory.
    #[error("a part of the path is not a directory")]
    NotADirectory,
    /// The disk or the quota is full.
    #[error("no space left")]
    Full,
    /// Anything else.
    #[error("{0}")]
    Other(io::ErrorKind),
}

impl NotWritable {
    /// A stable name for each reason.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::PermissionDenied => "permissionDenied",
            Self::ReadOnly => "readOnly",
            Self::NotADirectory => "notADirectory",
            Self::Full => "full",
            Self::Other(_) => "other",
        }
    }
}

impl From<io::Error> for NotWritable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => Self::NotADirectory,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            kind => Self::Other(kind),
        }
    }
}

impl From<io::Error> for ProfileError {
    fn from(error: io::Error) -> Self {
        Self::NotWritable(error.into())
    }
}

impl Profile {
    /// Opens the profile called `name` below `data_dir` and locks it; makes it when there is
    /// none yet.
    ///
    /// # Errors
    ///
    /// Any [`ProfileError`].
    pub fn open(data_dir: &Path, name: &str) -> Result<Self, ProfileError> {
        // A profile name obeys the same grammar as a namespace: both become file names.
        Namespace::parse(name).map_err(|_| ProfileError::InvalidName)?;
        let directory = data_dir.join(name);
        durable_file::create_private_directory(&directory)?;
        let lock = lock(&directory.join("lock"))?;
        let (id, record) = match read_record(&directory.join("profile.json"))? {
            Some(found) => found,
            None => make_record(&directory)?,
        };
        let profile = Self {
            directory,
            id,
            record: Mutex::new(record),
            writing: Mutex::new(()),
            _lock: lock,
        };
        if let Err(error) = profile.finish_restore() {
            // Its groups come at another start; those that are here open all the same.
            tracing::warn!(%error, "what was restored can't be put in place yet");
        }
        Ok(profile)
    }

    /// Puts in place what a restore made ready.
    pub(crate) fn finish_restore(&self) -> Result<(), ProfileError> {
        backup::finish(&self.directory, |plan| {
            self.change(|record| {
                let groups = plan.namespaces();
                if record.device_name.is_none() {
                    record.device_name = plan.device_name;
                }
                backup::take_settings(&mut record.settings, plan.settings, &groups);
            })
        })
    }

    /// The id of the profile.
    #[must_use]
    pub const fn id(&self) -> ProfileId {
        self.id
    }

    /// The directory of the profile, which is also that of its databases.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where a key file of this profile stands.
    #[must_use]
    pub fn key_file_path(&self) -> PathBuf {
        self.directory.join("keys")
    }

    /// Where the relay inside the app keeps its store.
    #[must_use]
    pub fn relay_directory(&self) -> PathBuf {
        self.directory.join("relay")
    }

    /// The name that this device shows to others, once one was chosen.
    #[must_use]
    pub fn device_name(&self) -> Option<String> {
        self.record().device_name.clone()
    }

    /// Keeps the name that this device shows to others.
    ///
    /// # Errors
    ///
    /// [`ProfileError::NotWritable`]; the earlier name then stays.
    pub fn set_device_name(&self, name: &str) -> Result<(), ProfileError> {
        self.change(|record| record.device_name = Some(name.to_owned()))
    }

    /// The key store that was chosen, once one was.
    #[must_use]
    pub fn key_store(&self) -> Option<KeyStoreKind> {
        self.record().key_store
    }

    /// Keeps which key store was chosen.
    ///
    /// # Errors
    ///
    /// [`ProfileError::NotWritable`]; the earlier choice then stays.
    pub fn set_key_store(&self, kind: KeyStoreKind) -> Result<(), ProfileError> {
        self.change(|record| record.key_store = Some(kind))
    }

    /// A setting of the shell.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<serde_json::Value> {
        self.record().settings.get(key).cloned()
    }

    /// Keeps a setting of the shell; `None` forgets it.
    ///
    /// # Errors
    ///
    /// [`ProfileError::NotWritable`]; the earlier setting then stays.
    pub fn set_setting(
        &self,
        key: &str,
        value: Option<serde_json::Value>,
    ) -> Result<(), ProfileError> {
        self.change(|record| match value {
            Some(value) => drop(record.settings.insert(key.to_owned(), value)),
            None => drop(record.settings.remove(key)),
        })
    }

    /// The groups of this profile in the order of their creation: one per database.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Io`] when the directory can't be listed.
    pub fn namespaces(&self) -> Result<Vec<Namespace>, ProfileError> {
        list_namespaces(&self.directory)
    }

    /// Names a new group. Nothing is written but the count of groups, so that no name is
    /// ever used twice.
    ///
    /// # Errors
    ///
    /// [`ProfileError::NotWritable`].
    pub fn new_namespace(
        &self,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Namespace, ProfileError> {
        let mut place = 0;
        self.change(|record| {
            record.groups_made = record.groups_made.saturating_add(1);
            place = record.groups_made;
        })?;
        Ok(Namespace::fresh(place, rng))
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change in the file first and in memory when that has worked.
    fn change(&self, change: impl FnOnce(&mut Record)) -> Result<(), ProfileError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = self.record().clone();
        change(&mut record);
        write_record(&self.directory, &record)?;
        *self.record() = record;
        Ok(())
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Profile")
    }
}

/// The file of the database of `namespace` in the profile directory `directory`.
#[must_use]
pub fn database_path(directory: &Path, namespace: &Namespace) -> PathBuf {
    directory.join(format!(
        "{DATABASE_PREFIX}{}{DATABASE_SUFFIX}",
        namespace.as_str()
    ))
}

fn lock(path: &Path) -> Result<File, ProfileError> {
    let mut options = durable_file::private();
    let mut file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(ProfileError::InUse {
                pid: read_pid(&file),
            });
        }
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    // Only for the message that a second opener gets; a failure here costs nothing else.
    let pid = std::process::id().to_string();
    let noted = file.set_len(0).and_then(|()| file.rewind());
    drop(noted.and_then(|()| file.write_all(pid.as_bytes())));
    Ok(file)
}

fn read_pid(mut file: &File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn read_record(path: &Path) -> Result<Option<(ProfileId, Record)>, ProfileError> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(RECORD_BYTES_MAX).read_to_end(&mut bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    }
    .map_err(|error| ProfileError::Io(error.kind()))?;
    let RecordFormat { format } =
        serde_json::from_slice(&bytes).map_err(|_| ProfileError::Damaged)?;
    if format > FORMAT {
        return Err(ProfileError::TooNew {
            found: format,
            known: FORMAT,
        });
    }
    let record: Record = serde_json::from_slice(&bytes).map_err(|_| ProfileError::Damaged)?;
    let id = ProfileId::parse(&record.id).ok_or(ProfileError::Damaged)?;
    Ok(Some((id, record)))
}

fn make_record(directory: &Path) -> Result<(ProfileId, Record), ProfileError> {
    if !list_namespaces(directory)?.is_empty() || Links::exist(directory) {
        return Err(ProfileError::Damaged);
    }
    let id = ProfileId::generate(&mut OsRng);
    let record = Record {
        format: FORMAT,
        id: id.to_text(),
        device_name: None,
        key_store: None,
        groups_made: 0,
        settings: BTreeMap::new(),
    };
    write_record(directory, &record)?;
    Ok((id, record))
}

fn write_record(directory: &Path, record: &Record) -> Result<(), ProfileError> {
    let mut bytes = serde_json::to_vec_pretty(record).map_err(|_| ProfileError::Damaged)?;
    bytes.push(b'\n');
    if bytes.len() as u64 > RECORD_BYTES_MAX {
        // What is longer is never read again.
        return Err(ProfileError::NotWritable(NotWritable::Other(
            io::ErrorKind::FileTooLarge,
        )));
    }
    Ok(durable_file::replace(
        &directory.join("profile.json"),
        &bytes,
    )?)
}

pub(crate) fn list_namespaces(directory: &Path) -> Result<Vec<Namespace>, ProfileError> {
    let unreadable = |error: io::Error| ProfileError::Io(error.kind());
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let text = name
            .to_str()
            .and_then(|name| name.strip_prefix(DATABASE_PREFIX));
        let text = text.and_then(|name| name.strip_suffix(DATABASE_SUFFIX));
        let namespace = text.and_then(|text| Namespace::parse(text).ok());
        // An empty file is the trace of a creation that was cut short, and no group.
        if let Some(namespace) = namespace
            && entry.metadata().map_err(unreadable)?.len() > 0
        {
            found.push(namespace);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests;
