//! A group as it lies on this device: store, keys and the machine built from them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::name::DeviceName;

use crate::core::device::{Device, Settings};
use crate::core::error::StorageFault;
use crate::core::issue::DeliveryIssue;
use crate::core::run_marker::RunMarker;
use crate::core::step::{Change, Step};
use crate::durable_file;
use crate::engine::{OpenError, OpenOptions};
use crate::keys::{GroupKeys, IdentityId, KeyItemName, KeyStore, KeyStoreError};
use crate::profile::{ProfileId, database_path};
use crate::store::{Applied, FLOOR, OpenFault, Store, salvage};

/// Everything of a group that its actor owns.
pub(super) struct Group {
    pub(super) store: Store,
    pub(super) device: Device,
    keys: GroupKeys,
    identity: IdentityId,
    home: KeyHome,
    path: PathBuf,
    name: String,
    settings: Settings,
    repair: Repair,
    /// The store was too old and started afresh, under another identity.
    pub(super) is_reset: bool,
}

/// Whether the store is to be repaired while the group is open. Once is tried: what doesn't
/// help by then doesn't help a second time, and each time keeps a copy of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    NotTried,
    Wanted,
    /// The file was let go of and has to be opened again.
    Closed,
    Tried,
}

/// Where the keys of the group are kept.
struct KeyHome {
    store: Arc<dyn KeyStore>,
    item: KeyItemName,
    profile: ProfileId,
}

impl KeyHome {
    fn load(&self) -> Result<Option<GroupKeys>, KeyStoreError> {
        let item = self.store.load(&self.item)?;
        item.map(|item| GroupKeys::decode(&item, &self.profile))
            .transpose()
    }

    fn save(&self, keys: &GroupKeys) -> Result<(), KeyStoreError> {
        self.store.save(&self.item, &keys.encode(&self.profile))
    }
}

impl Group {
    /// Opens the group, or makes it. Blocks: on the key store, the disk and the keychain's
    /// questions.
    pub(super) fn open(options: &OpenOptions, now_ms: u64) -> Result<Self, OpenError> {
        Self::open_above(FLOOR, options, now_ms)
    }

    /// As [`Group::open`], where stores below version `floor` start afresh.
    pub(super) fn open_above(
        floor: u32,
        options: &OpenOptions,
        now_ms: u64,
    ) -> Result<Self, OpenError> {
        durable_file::create_private_directory(&options.directory)
            .map_err(|error| crate::store::io_fault(&error))?;
        let path = database_path(&options.directory, &options.namespace);
        let home = KeyHome {
            store: Arc::clone(&options.key_store),
            item: KeyItemName::group(&options.profile_id, &options.namespace),
            profile: options.profile_id,
        };
        let mut keys = find_keys(&home, &path)?;
        let name = options.device_name.clone();
        let settings = Settings {
            max_payload_bytes: options.max_payload_bytes,
        };
        let opening = Opening {
            floor,
            path: &path,
            name: &name,
            settings,
            now_ms,
        };
        let (opened, is_reset) = match opening.open_or_repair(&keys) {
            Err(Unopened::Outdated) => (opening.reset(&home, &mut keys)?, true),
            opened => (opened?, false),
        };
        let (mut store, identity, mut device) = opened;
        // A change of identity that was cut short after its commit: the old one goes now. If
        // it can't, it goes at another start; nothing uses it.
        let is_cut_short = keys.keep_only(&identity);
        let runs = begin_run(&mut store, &mut keys, now_ms);
        if is_cut_short || runs.is_some() {
            let saved = home.save(&keys);
            tracing::debug!(
                is_saved = saved.is_ok(),
                is_cut_short,
                "the keys name this run"
            );
        }
        if let Some((run, known)) = runs {
            device.handle_runs(run, known);
        }
        Ok(Self {
            store,
            device,
            keys,
            identity,
            home,
            path,
            name,
            settings,
            repair: Repair::NotTried,
            is_reset,
        })
    }

    /// The store turned out to be damaged: it is repaired when the machine is built anew, or
    /// at the next start where that was tried already.
    pub(super) fn want_repair(&mut self) {
        salvage::want(&self.path);
        if self.repair == Repair::NotTried {
            self.repair = Repair::Wanted;
        }
    }

    /// Repairs the store if that is wanted, and opens it again.
    pub(super) fn repair(&mut self, now_ms: u64) -> Result<(), StorageFault> {
        let key = self.keys.database_key();
        if self.repair == Repair::Wanted {
            self.store.let_go()?;
            self.repair = Repair::Closed;
            let is_whole =
                |store: &Store| build_from(store, &self.keys, &self.name, self.settings, now_ms);
            let repaired =
                salvage::repair(FLOOR, &self.path, key, &self.identity, now_ms, |store| {
                    is_whole(store).is_ok_and(|(identity, _)| identity == self.identity)
                });
            tracing::info!(is_repaired = repaired.is_ok(), "a repair while open");
        }
        if self.repair == Repair::Closed {
            salvage::finish(&self.path)?;
            self.store =
                Store::open(&self.path, key, &self.identity).map_err(|fault| match fault {
                    OpenFault::Storage(fault) => fault,
                    OpenFault::TooNew { .. } | OpenFault::Outdated { .. } => {
                        StorageFault::Unavailable
                    }
                })?;
            self.repair = Repair::Tried;
        }
        Ok(())
    }

    /// The relay of the group: the one given now, or the one that the store names.
    pub(super) fn settle_relay(
        &self,
        given: Option<RelayAddress>,
    ) -> Result<Option<RelayAddress>, StorageFault> {
        let stored = self.store.relay()?;
        match given {
            Some(relay) if stored.as_ref() != Some(&relay) => {
                self.store.set_relay(&relay)?;
                Ok(Some(relay))
            }
            _ => Ok(stored),
        }
    }

    /// Writes a step: all of it or nothing.
    pub(super) fn commit(&mut self, step: &Step) -> Result<Applied, StorageFault> {
        let replaced = step.changes.iter().find_map(|change| match change {
            Change::IdentityReplaced(secrets) => Some(secrets.clone()),
            _ => None,
        });
        match replaced {
            None => self.store.apply(&step.changes, None),
            Some(secrets) => self.commit_identity(step, secrets),
        }
    }

    /// Writes a step that changes the identity: key store, database, key store.
    fn commit_identity(
        &mut self,
        step: &Step,
        secrets: DeviceSecrets,
    ) -> Result<Applied, StorageFault> {
        let fresh = self.keys.add_identity(&self.identity, secrets, &mut OsRng);
        let applied = match self.home.save(&self.keys) {
            Ok(()) => self.store.apply(&step.changes, Some(&fresh)),
            Err(error) => {
                tracing::warn!(%error, "the fresh identity can't be saved");
                Err(StorageFault::Unavailable)
            }
        };
        if applied.is_ok() {
            self.identity = fresh;
        }
        self.keys.keep_only(&self.identity);
        if applied.is_ok()
            && let Err(error) = self.home.save(&self.keys)
        {
            // The next start does it: the database names the fresh one.
            tracing::warn!(%error, "the old identity can't be removed yet");
        }
        applied
    }

    /// Builds the machine anew from the store; what is in memory only is taken over.
    pub(super) fn restore(&mut self, now_ms: u64) -> Result<(), StorageFault> {
        self.store.finish_sends_left()?;
        let secrets = self
            .keys
            .identity(&self.identity)
            .ok_or(StorageFault::Damaged)?;
        let secrets = secrets.secrets.clone();
        let mut device = build(&self.store, secrets, &self.name, self.settings, now_ms)?;
        device.take_over(&mut self.device);
        self.device = device;
        Ok(())
    }
}

/// What of a group doesn't depend on its keys, while it is opened.
struct Opening<'a> {
    floor: u32,
    path: &'a Path,
    name: &'a str,
    settings: Settings,
    now_ms: u64,
}

/// The store, the identity that it names, and the machine that was built from it.
type Opened = (Store, IdentityId, Device);

/// Why a group isn't open.
enum Unopened {
    /// Its store is below the floor.
    Outdated,
    /// Anything else.
    Failed(OpenError),
}

impl From<OpenError> for Unopened {
    fn from(error: OpenError) -> Self {
        Self::Failed(error)
    }
}

impl From<Unopened> for OpenError {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            // Only one that shows again after it was emptied.
            Unopened::Outdated => StorageFault::Unavailable.into(),
            Unopened::Failed(error) => error,
        }
    }
}

impl Opening<'_> {
    fn open_or_repair(&self, keys: &GroupKeys) -> Result<Opened, Unopened> {
        salvage::finish(self.path).map_err(OpenError::from)?;
        if salvage::is_wanted(self.path) {
            // Where it fails, opening says why.
            let repaired = self.repair(keys);
            tracing::info!(is_repaired = repaired.is_ok(), "a repair was wanted");
        }
        match self.open(keys) {
            Err(Unopened::Failed(OpenError::Storage(StorageFault::Damaged))) => {
                self.repair(keys)?;
                self.open(keys)
            }
            opened => opened,
        }
    }

    fn open(&self, keys: &GroupKeys) -> Result<Opened, Unopened> {
        let first = first_of(keys)?;
        salvage::finish(self.path).map_err(OpenError::from)?;
        let opened = Store::open_above(self.floor, self.path, keys.database_key(), &first);
        let store = opened.map_err(|fault| match fault {
            OpenFault::Outdated { .. } => Unopened::Outdated,
            fault => open_error(fault).into(),
        })?;
        let (identity, device) = self.build(&store, keys)?;
        Ok((store, identity, device))
    }

    fn build(&self, store: &Store, keys: &GroupKeys) -> Result<(IdentityId, Device), OpenError> {
        build_from(store, keys, self.name, self.settings, self.now_ms)
    }

    fn repair(&self, keys: &GroupKeys) -> Result<(), OpenError> {
        let is_whole = |store: &Store| self.build(store, keys).is_ok();
        let (key, first) = (keys.database_key(), first_of(keys)?);
        salvage::repair(self.floor, self.path, key, &first, self.now_ms, is_whole)
            .map_err(open_error)
    }

    /// Starts a store that is too old afresh, under another identity: key store, database,
    /// key store, as for every change of identity.
    fn reset(&self, home: &KeyHome, keys: &mut GroupKeys) -> Result<Opened, OpenError> {
        let in_use = first_of(keys)?;
        let fresh = keys.add_identity(&in_use, DeviceSecrets::generate(&mut OsRng), &mut OsRng);
        keys.forget_last_run();
        home.save(keys)?;
        let key = keys.database_key();
        Store::reset(self.floor, self.path, key, &fresh, self.now_ms).map_err(open_error)?;
        keys.keep_only(&fresh);
        home.save(keys)?;
        Ok(self.open(keys)?)
    }
}

fn first_of(keys: &GroupKeys) -> Result<IdentityId, OpenError> {
    let first = keys.first_identity().ok_or(KeyStoreError::Damaged)?;
    Ok(first.id)
}

/// The keys of the group. Fresh ones are made and saved only where there is no store: over
/// an existing one they would put everything in it out of reach.
fn find_keys(home: &KeyHome, path: &Path) -> Result<GroupKeys, OpenError> {
    let exists = Store::exists(path)?;
    match home.load()? {
        Some(keys) => Ok(keys),
        None if exists => Err(OpenError::KeysMissing),
        None => {
            let keys = GroupKeys::generate(&mut OsRng);
            // Before the store, so that no store is ever without its key.
            home.save(&keys)?;
            Ok(keys)
        }
    }
}

/// Marks this run in store and keys, and says so where the keys name one that the store
/// doesn't have: then another store was used with them since. Nothing here keeps a group from
/// opening: on a full disk it is only not looked for.
fn begin_run(
    store: &mut Store,
    keys: &mut GroupKeys,
    now_ms: u64,
) -> Option<(RunMarker, BTreeSet<RunMarker>)> {
    let run = RunMarker::generate(&mut OsRng);
    let begun = store.runs().and_then(|known| {
        store.add_run(&run)?;
        let is_behind = keys.last_run().is_some_and(|last| !known.contains(&last));
        if is_behind {
            tracing::warn!("the store is older than its keys");
            let issue = DeliveryIssue::StoreRestored;
            let at_ms = now_ms;
            store.apply(&[Change::IssueAdded { at_ms, issue }], None)?;
        }
        Ok(known)
    });
    match begun {
        Ok(known) => {
            keys.set_last_run(run);
            Some((run, known))
        }
        Err(fault) => {
            tracing::warn!(%fault, "this run can't be noted");
            None
        }
    }
}

fn secrets_of(keys: &GroupKeys, identity: &IdentityId) -> Result<DeviceSecrets, OpenError> {
    let found = keys.identity(identity).ok_or(KeyStoreError::Damaged)?;
    Ok(found.secrets.clone())
}

/// The machine of the identity that the store names.
fn build_from(
    store: &Store,
    keys: &GroupKeys,
    name: &str,
    settings: Settings,
    now_ms: u64,
) -> Result<(IdentityId, Device), OpenError> {
    let identity = store.identity()?;
    let secrets = secrets_of(keys, &identity)?;
    let device = build(store, secrets, name, settings, now_ms)?;
    Ok((identity, device))
}

fn build(
    store: &Store,
    secrets: DeviceSecrets,
    name: &str,
    settings: Settings,
    now_ms: u64,
) -> Result<Device, StorageFault> {
    let name = DeviceName::clean(name, &secrets.keys().signing);
    let snapshot = store.snapshot(secrets, name)?;
    Device::restore(snapshot, settings, now_ms).map_err(|_| StorageFault::Damaged)
}

const fn open_error(fault: OpenFault) -> OpenError {
    match fault {
        OpenFault::Storage(fault) => OpenError::Storage(fault),
        OpenFault::Outdated { .. } => OpenError::Storage(StorageFault::Unavailable),
        OpenFault::TooNew { found, known } => OpenError::StoreTooNew { found, known },
    }
}
