//! A file that SQLCipher encrypts, as every database of this crate is one.
//!
//! Owns how such a file is made, opened and brought to a version; what is in it is the
//! business of the store that uses it ([`super::Store`], [`crate::link`]). One file in WAL
//! mode, `synchronous=FULL`, `secure_delete=ON`, foreign keys on, 0600 in a directory of 0700,
//! held under an exclusive lock by one connection.
//!
//! The key is 32 random bytes. It reaches SQLCipher through its key function
//! (`sqlite3_key_v2`, which `rusqlite` wraps as [`Connection::key`]) in the `x'…'` form that
//! stands for a raw key; it is never part of an SQL statement, and the text is erased.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction};
use zeroize::Zeroizing;

use super::fault::{OpenFault, fault, io_fault};
use crate::core::error::StorageFault;
use crate::durable_file;

/// How long an opener waits for another one to let go of the file.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 5_000 });

/// How many statements stay prepared: about as many as there are.
const STATEMENTS_KEPT: usize = 64;

/// The WAL file is cut back to this size after a checkpoint.
const WAL_BYTES_MAX: i64 = 4 * 1024 * 1024;

/// Connects to the file under its key, alone, and leaves its log alone when it closes.
pub(crate) fn connect(path: &Path, key: &[u8; 32]) -> Result<Connection, OpenFault> {
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
pub(crate) fn make_file(path: &Path) -> Result<(), OpenFault> {
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
pub(crate) fn key_text(key: &[u8; 32]) -> Zeroizing<String> {
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

/// Sets an option of the connection.
pub(crate) fn set_config(
    connection: &Connection,
    what: DbConfig,
    on: bool,
) -> Result<(), OpenFault> {
    connection
        .set_db_config(what, on)
        .map(drop)
        .map_err(|error| fault(error).into())
}

/// Makes the connection what the module says, once the file is known to be ours.
pub(crate) fn configure(connection: &Connection) -> rusqlite::Result<()> {
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
pub(crate) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number as it was stored.
pub(crate) fn number(value: i64) -> Result<u64, StorageFault> {
    u64::try_from(value).map_err(|_| StorageFault::Damaged)
}

/// The version of the store in the file, 0 where there is none yet. The first read of the
/// file: a wrong key and a store that is open elsewhere show here.
pub(crate) fn stored_version(connection: &Connection) -> Result<u32, StorageFault> {
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .map_err(fault)?;
    if tables == 0 {
        return Ok(0);
    }
    let found: Option<u32> = connection
        .query_row("SELECT version FROM store_version", [], |row| row.get(0))
        .optional()
        .map_err(|_| StorageFault::Damaged)?;
    found
        .filter(|found| *found > 0)
        .ok_or(StorageFault::Damaged)
}

/// Runs those of `scripts` that a store of version `found` hasn't seen, and notes the version
/// that they lead to. Script *n* leads from version *n* to *n* + 1.
pub(crate) fn run_scripts(
    scripts: &[&str],
    transaction: &Transaction<'_>,
    found: u32,
) -> Result<(), StorageFault> {
    let due = scripts
        .iter()
        .skip(usize::try_from(found).unwrap_or(usize::MAX));
    for script in due {
        transaction.execute_batch(script).map_err(fault)?;
    }
    transaction
        .execute(
            "INSERT OR REPLACE INTO store_version (one, version) VALUES (1, ?1)",
            [i64::try_from(scripts.len()).unwrap_or(i64::MAX)],
        )
        .map(drop)
        .map_err(fault)
}
