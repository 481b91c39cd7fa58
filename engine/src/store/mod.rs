//! Session State: the encrypted database of one group (specification, section 8).
//!
//! Owns the file, its encryption, its versions and every SQL statement. Decides nothing:
//! what is written follows from the core's [`Change`](crate::core::step::Change)s and a few
//! settings of the shell.
//!
//! Layout: `schema_1.sql` and what follows it. One SQLCipher file in WAL mode, `synchronous=FULL`,
//! `secure_delete=ON`, foreign keys on, 0600 in a directory of 0700, held under an exclusive
//! lock by the one connection of the one actor.
//!
//! The key is 32 random bytes. It reaches SQLCipher through its key function
//! (`sqlite3_key_v2`, which `rusqlite` wraps as [`Connection::key`]) in the `x'…'` form that
//! stands for a raw key; it is never part of an SQL statement, and the text is erased.
//!
//! Invariants:
//! - [`Store::apply`] writes all changes of a step in one transaction or none;
//! - a store of a newer version is refused and not one byte of it changes;
//! - a wrong key and a damaged file are a fault, never a reset (amendment 10);
//! - the message history, the issues and the label survive a wipe (amendment 9).

mod apply;
mod backup;
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
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::MemberId;
use sealpost_protocol::message_id::MessageId;
use zeroize::Zeroizing;

pub(crate) use self::apply::Applied;
pub(crate) use self::backup::{BackupHead, HistoryWriter, NotTaken, TIME_MS_MAX};
use self::fault::fault;
pub(crate) use self::fault::{OpenFault, io_fault};
pub(crate) use self::schema::FLOOR;
pub(crate) use self::search::Query;
use crate::core::error::StorageFault;
use crate::core::message::AppMessageId;
use crate::core::step::{Lookup, LookupError, StoredContent};
use crate::durable_file;
use crate::keys::IdentityId;

/// How long an opener waits for another one to let go of the file.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 5_000 });

/// How many statements stay prepared: about as many as there are.
const STATEMENTS_KEPT: usize = 64;

/// The WAL file is cut back to this size after a checkpoint.
const WAL_BYTES_MAX: i64 = 4 * 1024 * 1024;

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

/// Connects to the file under its key, alone, and leaves its log alone when it closes.
fn connect(path: &Path, key: &[u8; 32]) -> Result<Connection, OpenFault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    // Until the version is known to be ours, closing must not touch the file either.
    set_config(
        &connection,
        DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
        true,
    )?;
    // Its own log would go to the standard error of whoever uses this crate.
    connection
        .pragma_update(None, "cipher_log_level", "NONE")
        .map_err(fault)?;
    connection
        .key(None::<&str>, key_text(key).as_bytes(), false)
        .map_err(fault)?;
    connection.busy_timeout(PATIENCE).map_err(fault)?;
    connection
        .pragma_update(None, "locking_mode", "EXCLUSIVE")
        .map_err(fault)?;
    Ok(connection)
}

/// Makes an empty file that only its owner may read, where there is none: SQLite would make
/// it readable for all.
fn make_file(path: &Path) -> Result<(), OpenFault> {
    match durable_file::private()
        .write(true)
        .create_new(true)
        .open(path)
    {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(io_fault(&error).into()),
    }
}

/// The form in which the key function takes a raw key.
fn key_text(key: &[u8; 32]) -> Zeroizing<String> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    // The exact capacity, so that growing never leaves a copy of the key behind.
    let mut text = Zeroizing::new(String::with_capacity(67));
    text.push_str("x'");
    for byte in key {
        for half in [byte >> 4, byte & 15] {
            text.extend(
                DIGITS
                    .get(usize::from(half))
                    .map(|&digit| char::from(digit)),
            );
        }
    }
    text.push('\'');
    text
}

fn set_config(connection: &Connection, what: DbConfig, on: bool) -> Result<(), OpenFault> {
    connection
        .set_db_config(what, on)
        .map(drop)
        .map_err(|error| fault(error).into())
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    tracing::debug!(wal = mode == "wal", "store opened");
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES_MAX)
}

/// A number as SQLite stores it. Larger ones don't occur: times and sequence numbers end at
/// 2⁶³−1 (amendment 1), and a saturated "for ever" stays one.
fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number as it was stored.
fn number(value: i64) -> Result<u64, StorageFault> {
    u64::try_from(value).map_err(|_| StorageFault::Damaged)
}
