//! Session State: the encrypted database of one group (specification, section 8).
//!
//! Owns the file, its encryption, its versions and every SQL statement. Decides nothing:
//! what is written follows from the core's [`Change`](crate::core::step::Change)s and a few
//! settings of the shell.
//!
//! Layout: `schema_1.sql` and what follows it, in a file as [`encrypted`] makes it.
//!
//! Invariants:
//! - [`Store::apply`] writes all changes of a step in one transaction or none;
//! - a store of a newer version is refused and not one byte of it changes;
//! - a wrong key and a damaged file are a fault, never a reset (amendment 10);
//! - the message history, the issues and the label survive a wipe (amendment 9).

mod apply;
mod backup;
pub(crate) mod encrypted;
mod fault;
mod history;
mod issues;
mod log;
mod membership;
mod reset;
mod restore;
mod runs;
pub(crate) mod salvage;
mod schema;
mod search;
mod sent;
#[cfg(test)]
mod tests;
mod wipe;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, params};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::MemberId;
use sealpost_protocol::message_id::MessageId;

pub(crate) use self::apply::Applied;
pub(crate) use self::backup::{BackupHead, HistoryWriter, NotTaken, TIME_MS_MAX};
#[cfg(test)]
use self::encrypted::key_text;
use self::encrypted::{configure, connect, integer, make_file, number, set_config};
pub(crate) use self::fault::{OpenFault, fault, io_fault};
pub(crate) use self::schema::FLOOR;
pub(crate) use self::search::Query;
use crate::core::error::StorageFault;
use crate::core::message::AppMessageId;
use crate::core::step::{Lookup, LookupError, StoredContent};
use crate::keys::IdentityId;

/// The open store of one group.
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
    /// Whether a `send` may have left its row in `sent`: what follows goes before every other
    /// write of the machine.
    has_left: bool,
}

impl Store {
    /// Whether there is a store at `path`. An empty file is the trace of a creation that
    /// was cut short, and holds nothing.
    pub(crate) fn exists(path: &Path) -> Result<bool, StorageFault> {
        match fs::metadata(path) {
            Ok(found) => Ok(found.len() > 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io_fault(&error)),
        }
    }

    /// Opens the store at `path`, or makes it with `first` as the identity in use.
    pub(crate) fn open(path: &Path, key: &[u8; 32], first: &IdentityId) -> Result<Self, OpenFault> {
        Self::open_above(FLOOR, path, key, first)
    }

    /// As [`Store::open`], with stores below version `floor` as [`OpenFault::Outdated`].
    pub(crate) fn open_above(
        floor: u32,
        path: &Path,
        key: &[u8; 32],
        first: &IdentityId,
    ) -> Result<Self, OpenFault> {
        make_file(path)?;
        let connection = connect(path, key)?;
        let found = schema::version(&connection)?;
        if schema::plan(found, floor) == schema::Plan::Reset {
            return Err(OpenFault::Outdated { found });
        }
        set_config(
            &connection,
            DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
            false,
        )?;
        configure(&connection).map_err(fault)?;
        let mut store = Self {
            connection,
            path: path.to_owned(),
            has_left: true,
        };
        schema::migrate(&mut store.connection, found, first)?;
        match store.finish_sends_left() {
            // The group opens all the same; they go before the next write.
            Err(StorageFault::Full) => tracing::warn!("what was sent last can't be written yet"),
            finished => finished?,
        }
        Ok(store)
    }

    /// Closes the file and keeps nothing of it: whatever is asked from here on fails.
    pub(crate) fn let_go(&mut self) -> Result<(), StorageFault> {
        self.connection = Connection::open_in_memory().map_err(fault)?;
        Ok(())
    }

    /// Which identity is in use.
    pub(crate) fn identity(&self) -> Result<IdentityId, StorageFault> {
        self.connection
            .query_row("SELECT identity FROM device", [], |row| row.get(0))
            .map(IdentityId::from_bytes)
            .map_err(fault)
    }

    /// The relay of the group.
    pub(crate) fn relay(&self) -> Result<Option<RelayAddress>, StorageFault> {
        let text: Option<String> = self
            .connection
            .query_row("SELECT relay FROM device", [], |row| row.get(0))
            .map_err(fault)?;
        text.map(|text| RelayAddress::parse(&text).map_err(|_| StorageFault::Damaged))
            .transpose()
    }

    /// Keeps the relay of the group.
    pub(crate) fn set_relay(&self, relay: &RelayAddress) -> Result<(), StorageFault> {
        let set = self
            .connection
            .execute("UPDATE device SET relay = ?1", [relay.to_text()]);
        set.map(drop).map_err(fault)
    }
}

#[cfg(test)]
impl Store {
    /// Plays a store that can't be read. `false` ends it.
    pub(crate) fn hide_tables(&self, is_hidden: bool) {
        let (from, to) = if is_hidden {
            ("device", "hidden")
        } else {
            ("hidden", "device")
        };
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        self.connection.execute_batch(&sql).unwrap();
    }

    /// The present version.
    pub(crate) const VERSION: u32 = schema::VERSION;

    /// Plays a store of another version, without looking at what is in it.
    pub(crate) fn set_version(path: &Path, key: &[u8; 32], version: u32) {
        let connection = connect(path, key).unwrap();
        set_config(
            &connection,
            DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
            false,
        )
        .unwrap();
        connection
            .execute("UPDATE store_version SET version = ?1", [version])
            .unwrap();
    }

    /// Plays a full disk: the file may not grow. `false` ends it.
    pub(crate) fn fill_disk(&self, is_full: bool) {
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

impl Lookup for Store {
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError> {
        let found = self
            .connection
            .prepare_cached("SELECT 1 FROM handled WHERE id = ?1")
            .and_then(|mut statement| statement.exists(params![id.as_bytes()]));
        found.map_err(|_| LookupError)
    }

    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT body FROM outbox_message WHERE sequence = ?1
                 UNION ALL SELECT body FROM sent WHERE sequence = ?1",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([integer(sequence)], |row| row.get(0))
                    .optional()
            });
        found.map_err(|_| LookupError)
    }

    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError> {
        self.content(
            "SELECT sent_at_ms, body FROM message WHERE id = ?1",
            &[id.as_bytes()],
        )
    }

    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError> {
        self.content(
            "SELECT sent_at_ms, body FROM message WHERE author = ?1 AND app_id = ?2",
            &[&author.as_str(), app_id],
        )
    }

    fn is_deleted(&self, author: &MemberId, app_id: &AppMessageId) -> Result<bool, LookupError> {
        self.connection
            .prepare_cached("SELECT 1 FROM deleted WHERE author = ?1 AND app_id = ?2")
            .and_then(|mut statement| statement.exists(params![author.as_str(), app_id]))
            .map_err(|_| LookupError)
    }
}

impl Store {
    fn content(
        &self,
        sql: &str,
        of: &[&dyn rusqlite::ToSql],
    ) -> Result<Option<StoredContent>, LookupError> {
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?));
                statement.query_row(of, read).optional()
            });
        let found = found.map_err(|_| LookupError)?;
        found
            .map(|(sent_at, body)| {
                let sent_at_ms = number(sent_at).map_err(|_| LookupError)?;
                Ok(StoredContent { sent_at_ms, body })
            })
            .transpose()
    }
}
