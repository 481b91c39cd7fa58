//! Reads out what can be read of a group, also of one that doesn't open any more.
//!
//! Owns the way of a history to a person who wants it in the clear. Never opens the group's
//! own database: what it reads is a copy in a folder that the caller gives and removes, so
//! that nothing of a damaged store changes, and the disk that it lies on may be full.

use std::path::Path;

use rand_core::OsRng;

use crate::engine::OpenError;
use crate::history::{PAGE_ROWS_MAX, StoredMessage};
use crate::keys::{GroupKeys, IdentityId, KeyItemName, KeyStore};
use crate::namespace::Namespace;
use crate::profile::{Profile, database_path};
use crate::store::{OpenFault, Store, salvage};

/// What could be read of a group.
pub struct Export {
    store: Store,
    /// What the group is called, where that can be read.
    pub name: Option<String>,
    /// How many messages can be read.
    pub messages: u64,
    /// Whether a part of the store can't be read.
    pub is_damaged: bool,
}

impl Export {
    /// Reads the group in `namespace` into `scratch`, an empty folder for its owner only.
    /// Blocks.
    ///
    /// # Errors
    ///
    /// Any [`OpenError`]: without the keys, or where the very begin of the store is damaged,
    /// nothing can be read.
    pub fn read(
        profile: &Profile,
        key_store: &dyn KeyStore,
        namespace: &Namespace,
        scratch: &Path,
        now_ms: u64,
    ) -> Result<Self, OpenError> {
        let id = profile.id();
        let item = key_store.load(&KeyItemName::group(&id, namespace))?;
        let item = item.ok_or(OpenError::KeysMissing)?;
        let keys = GroupKeys::decode(&item, &id)?;
        let path = database_path(profile.directory(), namespace);
        let key = keys.database_key();
        let nobody = IdentityId::generate(&mut OsRng);
        let (store, is_damaged) =
            salvage::read_out(&path, key, &nobody, scratch, now_ms).map_err(open_error)?;
        Ok(Self {
            name: store.label()?,
            messages: store.message_count()?,
            store,
            is_damaged,
        })
    }

    /// Up to a page of messages after `position`, oldest first; empty at the end.
    ///
    /// # Errors
    ///
    /// [`OpenError::Storage`].
    pub fn messages_after(&self, position: u64) -> Result<Vec<StoredMessage>, OpenError> {
        Ok(self.store.messages_after(position, PAGE_ROWS_MAX)?)
    }
}

fn open_error(fault: OpenFault) -> OpenError {
    match fault {
        OpenFault::Storage(fault) => fault.into(),
        OpenFault::TooNew { found, known } => OpenError::StoreTooNew { found, known },
        OpenFault::Outdated { .. } => crate::core::error::StorageFault::Unavailable.into(),
    }
}
