//! The store of the links of a profile: one encrypted database beside those of the groups.
//!
//! Owns its schema, its versions and every SQL statement. Decides nothing: what is written
//! follows from the core's [`LinkChange`]s and from what the person calls a device. The file is
//! one as [`crate::store::encrypted`] makes it, under a key of its own
//! ([`crate::keys::KeyItemName::links`]).
//!
//! Invariants:
//! - [`LinkStore::apply`] writes all changes of a step in one transaction or none;
//! - a store of a newer version is refused and not one byte of it changes;
//! - a wrong key and a damaged file are a fault, never a reset;
//! - of a link that is over, nothing is left but what arrived and wasn't handled, and its
//!   mailbox in the queue of those that are to be erased.

mod apply;
mod read;
mod schema;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::core::error::StorageFault;
use crate::store::encrypted::{configure, connect, make_file, set_config};
use crate::store::{OpenFault, Store, fault};

pub(super) use self::apply::{EndRecord, Of};
pub(super) use self::read::LinkRecord;

/// The name of the database in the directory of the profile.
const FILE: &str = "links.db";

/// Where the database of the links is.
pub(super) fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

/// The open store.
pub(super) struct LinkStore {
    connection: Connection,
}

impl LinkStore {
    /// Whether there is a store at `path`.
    pub(super) fn exists(path: &Path) -> Result<bool, StorageFault> {
        Store::exists(path)
    }

    /// Opens the store at `path`, or makes it.
    pub(super) fn open(path: &Path, key: &[u8; 32]) -> Result<Self, OpenFault> {
        make_file(path)?;
        let mut connection = connect(path, key)?;
        let found = schema::version(&connection)?;
        let leave_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        set_config(&connection, leave_log, false)?;
        configure(&connection).map_err(fault)?;
        schema::migrate(&mut connection, found)?;
        Ok(Self { connection })
    }
}

#[cfg(test)]
impl LinkStore {
    /// Plays a full disk: the file may not grow. `false` ends it.
    pub(super) fn fill_disk(&self, is_full: bool) {
        // Pages that are free already could still be used.
        self.connection.execute_batch("VACUUM").unwrap();
        let pages: i64 = self
            .connection
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap();
        let limit = if is_full { pages } else { i64::from(u32::MAX) };
        self.connection
            .pragma_update(None, "max_page_count", limit)
            .unwrap();
    }
}
