//! Brings a backup back into a profile, beside what is there.
//!
//! Owns the two folders in the profile that make it all or nothing. In `restore.new` the new
//! databases are written; what is found there at a start is removed with its keys. Once it is
//! complete and durable the folder becomes `restore.ready`, in one rename: from here on the
//! backup is restored, and whoever opens the profile puts the databases in place first.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use rand_core::{CryptoRng, RngCore};
use serde::{Deserialize, Serialize};

use super::record::{GroupPart, Kind, ProfilePart, read};
use super::seal::Opener;
use super::settings::bounded;
use super::{BackupError, Counts, GROUPS_MAX, Progress, ShellSettings};
use crate::durable_file;
use crate::keys::{GroupKeys, KeyItemName, KeyStore};
use crate::namespace::Namespace;
use crate::profile::{Profile, ProfileError, database_path, list_namespaces};
use crate::store::{HistoryWriter, NotTaken, TIME_MS_MAX};

const UNFINISHED: &str = "restore.new";
const READY: &str = "restore.ready";
/// In the folder: what is to become of the profile.
const PLAN: &str = "plan.json";
/// Largest plan that is read.
const PLAN_BYTES_MAX: u64 = 1024 * 1024;

/// What a backup brought.
#[derive(Clone)]
pub struct Restored {
    /// The places of the groups.
    pub groups: Vec<Namespace>,
    /// How much it is.
    pub counts: Counts,
    /// When the backup was made.
    pub made_at_ms: u64,
}

/// What is to be changed in `profile.json`.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Plan {
    /// Where the profile has no name for this device yet.
    pub(crate) device_name: Option<String>,
    /// Where nothing was chosen here yet.
    pub(crate) settings: ShellSettings,
    /// The groups that came back.
    pub(crate) groups: Vec<String>,
}

impl Plan {
    /// The places of the groups that came back.
    pub(crate) fn namespaces(&self) -> Vec<Namespace> {
        let names = self.groups.iter();
        names
            .filter_map(|name| Namespace::parse(name).ok())
            .collect()
    }
}

/// Restores the backup at `path`: each of its groups becomes a new one of the profile, with
/// its history and under fresh keys, a member of nothing. Settings are taken where nothing was
/// chosen here. Blocks, and takes about a second and 64 MiB for the passphrase.
///
/// # Errors
///
/// Any [`BackupError`]; nothing was restored then.
pub fn restore(
    profile: &Profile,
    key_store: &dyn KeyStore,
    path: &Path,
    passphrase: &str,
    progress: &Progress,
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<Restored, BackupError> {
    let is_file = fs::metadata(path).map(|found| found.is_file());
    if !is_file.map_err(|error| BackupError::of_reading(&error))? {
        // Opening a pipe would wait for somebody who writes to it.
        return Err(BackupError::NotABackup);
    }
    let file = File::open(path).map_err(|error| BackupError::of_reading(&error))?;
    // An earlier one that couldn't be put in place comes first: there is room for one.
    profile.finish_restore()?;
    clear_unfinished(profile, key_store)?;
    let opener = Opener::start(BufReader::new(file), passphrase)?;
    progress.check()?;
    let staging = Staging::start(profile, key_store)?;
    let (restored, plan) = staging.fill(opener, progress, rng)?;
    progress.check()?;
    staging.commit(&restored.groups, &plan)?;
    Ok(restored)
}

/// Removes what a restore left that was stopped before its end.
///
/// # Errors
///
/// [`BackupError::KeyStore`], [`BackupError::Profile`] or [`BackupError::Unwritable`].
pub fn clear_unfinished(profile: &Profile, key_store: &dyn KeyStore) -> Result<(), BackupError> {
    let folder = profile.directory().join(UNFINISHED);
    if !folder.exists() {
        return Ok(());
    }
    let in_use = profile.namespaces()?;
    for namespace in list_namespaces(&folder)? {
        if !in_use.contains(&namespace) {
            key_store.remove(&KeyItemName::group(&profile.id(), &namespace))?;
        }
    }
    fs::remove_dir_all(&folder).map_err(|error| BackupError::of_writing(&error))
}

/// The new databases until they count.
pub(super) struct Staging<'a> {
    profile: &'a Profile,
    key_store: &'a dyn KeyStore,
    folder: PathBuf,
}

impl<'a> Staging<'a> {
    pub(super) fn start(
        profile: &'a Profile,
        key_store: &'a dyn KeyStore,
    ) -> Result<Self, BackupError> {
        let folder = profile.directory().join(UNFINISHED);
        durable_file::create_private_directory(&folder)
            .map_err(|error| BackupError::of_writing(&error))?;
        Ok(Self {
            profile,
            key_store,
            folder,
        })
    }

    /// Reads everything, to the very end of the file.
    pub(super) fn fill(
        &self,
        mut from: Opener<impl Read>,
        progress: &Progress,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<(Restored, Plan), BackupError> {
        let Kind::Profile(head) = read(&mut from)? else {
            return Err(BackupError::Damaged);
        };
        progress.expect(head.messages);
        let mut groups = Vec::new();
        let mut messages = 0_u64;
        let mut writer: Option<HistoryWriter> = None;
        loop {
            progress.check()?;
            match (read(&mut from)?, writer.as_mut()) {
                (Kind::Group(group), _) => {
                    finish_writer(writer.take())?;
                    if groups.len() == GROUPS_MAX {
                        return Err(BackupError::Damaged);
                    }
                    let (namespace, fresh) = self.make_group(&group, rng)?;
                    groups.push(namespace);
                    writer = Some(fresh);
                }
                (Kind::Message(message), Some(writer)) => {
                    writer.message(&message)?;
                    messages = messages.saturating_add(1);
                    progress.add(1);
                }
                (Kind::Issue(issue), Some(writer)) => writer.issue(&issue)?,
                (Kind::Note(note), Some(writer)) => writer.note(&note)?,
                (Kind::End(end), _) if end.groups == groups.len() as u64 => break,
                _ => return Err(BackupError::Damaged),
            }
        }
        from.finish()?;
        finish_writer(writer)?;
        Ok(outcome(&head, groups, messages))
    }

    /// The store first, then its keys: what is found in the folder names the keys to remove.
    fn make_group(
        &self,
        group: &GroupPart,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<(Namespace, HistoryWriter), BackupError> {
        let namespace = self.profile.new_namespace(rng)?;
        let keys = GroupKeys::generate(rng);
        let first = keys.first_identity().ok_or(BackupError::Damaged)?;
        let path = database_path(&self.folder, &namespace);
        let (name, read) = (group.name.as_deref(), group.read_position);
        let writer = HistoryWriter::open(&path, keys.database_key(), &first.id, name, read)?;
        let id = self.profile.id();
        let item = KeyItemName::group(&id, &namespace);
        self.key_store.save(&item, &keys.encode(&id))?;
        Ok((namespace, writer))
    }

    /// Makes it count and puts it in place.
    pub(super) fn commit(self, groups: &[Namespace], plan: &Plan) -> Result<(), BackupError> {
        let ready = self.make_ready(plan)?;
        let outcome = durable_file::sync_directory(self.profile.directory())
            .map_err(|error| BackupError::of_writing(&error))
            .and_then(|()| Ok(self.profile.finish_restore()?));
        let Err(error) = outcome else { return Ok(()) };
        let is_in_place = |namespace| database_path(self.profile.directory(), namespace).exists();
        // Nothing was put in place: it didn't happen, and what is dropped here clears it.
        if !groups.iter().any(is_in_place) && fs::rename(&ready, &self.folder).is_ok() {
            return Err(error);
        }
        // The rest comes at the next start.
        tracing::warn!(%error, "what was restored can't be put in place yet");
        Ok(())
    }

    /// From the renaming on it is restored, whatever happens. It fails where an earlier one
    /// waits still: that one is not touched.
    pub(super) fn make_ready(&self, plan: &Plan) -> Result<PathBuf, BackupError> {
        let ready = self.profile.directory().join(READY);
        let bytes = serde_json::to_vec(plan).unwrap_or_default();
        // Syncs the folder, too.
        durable_file::replace(&self.folder.join(PLAN), &bytes)
            .and_then(|()| fs::rename(&self.folder, &ready))
            .map_err(|error| BackupError::of_writing(&error))?;
        Ok(ready)
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // What can't be removed now is removed at the next start. Gone after a commit.
        if clear_unfinished(self.profile, self.key_store).is_err() {
            tracing::warn!("what a restore left can't be removed yet");
        }
    }
}

fn finish_writer(writer: Option<HistoryWriter>) -> Result<(), BackupError> {
    writer.map_or(Ok(()), |writer| Ok(writer.finish()?))
}

fn outcome(head: &ProfilePart, groups: Vec<Namespace>, messages: u64) -> (Restored, Plan) {
    let counts = Counts {
        groups: groups.len() as u64,
        messages,
    };
    let name = head.device_name.as_deref();
    let settings: ShellSettings = serde_json::from_str(&head.settings).unwrap_or_default();
    let plan = Plan {
        device_name: name.and_then(sealpost_protocol::name::clean),
        settings: bounded(settings),
        groups: groups
            .iter()
            .map(|group| group.as_str().to_owned())
            .collect(),
    };
    let restored = Restored {
        groups,
        counts,
        made_at_ms: head.made_at_ms.min(TIME_MS_MAX),
    };
    (restored, plan)
}

/// Takes what a restore made ready into the profile in `directory`: first the databases, then
/// what `change` does with the plan, which may happen twice. Nothing is there for it but after
/// a restore.
pub(crate) fn finish(
    directory: &Path,
    change: impl FnOnce(Plan) -> Result<(), ProfileError>,
) -> Result<(), ProfileError> {
    let ready = directory.join(READY);
    if !ready.exists() {
        return Ok(());
    }
    let path = ready.join(PLAN);
    if path.exists() {
        let plan = read_plan(&path)?;
        for namespace in list_namespaces(&ready)? {
            let (from, to) = (
                database_path(&ready, &namespace),
                database_path(directory, &namespace),
            );
            if to.exists() {
                // Its name was never used before; whatever that is, it isn't replaced.
                return Err(ProfileError::Damaged);
            }
            fs::rename(from, to)?;
        }
        durable_file::sync_directory(directory)?;
        change(plan)?;
        // Without the plan everything is in place.
        durable_file::remove(&path)?;
    }
    fs::remove_dir_all(&ready)?;
    Ok(())
}

fn read_plan(path: &Path) -> Result<Plan, ProfileError> {
    let mut bytes = Vec::new();
    let read = |error: io::Error| ProfileError::Io(error.kind());
    File::open(path)
        .map_err(read)?
        .take(PLAN_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(read)?;
    serde_json::from_slice(&bytes).map_err(|_| ProfileError::Damaged)
}

impl From<NotTaken> for BackupError {
    fn from(error: NotTaken) -> Self {
        match error {
            NotTaken::Nonsense => Self::Damaged,
            NotTaken::Storage(fault) => fault.into(),
        }
    }
}
