//! The database file: its layout, its version, and who may open it.
//!
//! Owns: creating, recognising and refusing store files (specification 2.7). The tables:
//!
//! - `meta`: one row with the store's version and the ids given out so far;
//! - `recipients`: one row per inbox that holds blobs, with their count and bytes;
//! - `blobs`: one row per blob, in arrival order, without a secondary index;
//! - `mailboxes`, `directions`, `envelopes`: the mailboxes of links, with the last sequence of
//!   each direction and what is stored in it. The hash beside an Envelope spares reading all of
//!   them at a start;
//! - `wormhole_…` and `mailbox_message_acks`: nameplates and mailboxes of the wormhole door, and
//!   records of their use where an operator wants them.
//!
//! A later door adds tables of its own here and a step to `migration`.
//!
//! Invariants:
//! - a file of a newer version is left byte for byte as it is;
//! - a damaged or foreign file is never deleted or changed;
//! - one process has the store open, held by a lock of the operating system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::migration;
use crate::folder::{create_private_folder, folder_of};

/// The Relay Store Version that this release reads and writes.
pub(super) const STORE_VERSION: u32 = 3;

/// The oldest version that can be migrated. Below it, only a reset helps.
pub(super) const STORE_VERSION_MIN: u32 = 1;

/// Marks the file as ours in the header of the database: "SPRS".
pub(super) const APPLICATION_ID: u32 = 0x5350_5253;

/// The version that [`SCHEMA`] makes.
const STORE_VERSION_OF_SCHEMA: u32 = 1;

/// The tables of version 1. A new store takes the same steps from there as an old one.
const SCHEMA: &str = "
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    store_version INTEGER NOT NULL,
    ids_reserved INTEGER NOT NULL
) STRICT;
INSERT INTO meta (one, store_version, ids_reserved) VALUES (1, 1, 0);
CREATE TABLE recipients (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    blobs INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    recipient INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    envelope BLOB NOT NULL
) STRICT;
";

/// Why a store can't be opened. Its file is unchanged.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum StoreOpenError {
    /// The folder or the file can't be made or written.
    #[error("the data folder can't be written ({0})")]
    NotWritable(io::ErrorKind),
    /// Another process has it open.
    #[error("another relay uses this data folder")]
    InUse,
    /// A later release has written it.
    #[error("the store has version {found}, and this release reads up to version {supported}")]
    Newer {
        /// The version of the file.
        found: u32,
        /// The version of this release.
        supported: u32,
    },
    /// An early release has written it, and it can't be migrated.
    #[error("the store has version {found}, which is too old for version {supported}")]
    Outdated {
        /// The version of the file.
        found: u32,
        /// The version of this release.
        supported: u32,
    },
    /// A file of another program.
    #[error("the file is not a relay store")]
    Foreign,
    /// A store that contradicts itself.
    #[error("the store is damaged")]
    Damaged,
    /// The system gives no thread to write with.
    #[error("the store's thread can't be started ({0})")]
    Thread(io::ErrorKind),
    /// This program has failed while it opened the store.
    #[error("this program has failed while it opened the store")]
    Panicked,
    /// Anything else that SQLite reports, with its extended code.
    #[error("the store can't be opened (code {0})")]
    Database(i32),
}

impl From<rusqlite::Error> for StoreOpenError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let rusqlite::Error::SqliteFailure(failure, _) = error else {
            return Self::Damaged;
        };
        match failure.code {
            ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
                Self::NotWritable(io::ErrorKind::PermissionDenied)
            }
            ErrorCode::DiskFull => Self::NotWritable(io::ErrorKind::StorageFull),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::InUse,
            ErrorCode::DatabaseCorrupt => Self::Damaged,
            ErrorCode::NotADatabase => Self::Foreign,
            _ => Self::Database(failure.extended_code),
        }
    }
}

/// Holds the store for this process; the lock ends with the process, however that ends.
#[derive(Debug)]
pub(super) struct StoreLock(#[expect(dead_code, reason = "held, not used")] File);

/// Opens the store for writing, making it if there is none.
pub(super) fn open(path: &Path, reset: bool) -> Result<(Connection, StoreLock), StoreOpenError> {
    let not_writable = |error: io::Error| StoreOpenError::NotWritable(error.kind());
    create_private_folder(folder_of(path)).map_err(not_writable)?;
    let lock = take_lock(&beside(path, ".lock"))?;
    private_file(path).map_err(not_writable)?;
    let found = match read_header(path).map_err(not_writable)? {
        Header::Empty => None,
        Header::Foreign => return Err(StoreOpenError::Foreign),
        Header::Store { version } => Some(version),
    };
    if let Some(found) = found.filter(|found| *found > STORE_VERSION) {
        return Err(StoreOpenError::Newer {
            found,
            supported: STORE_VERSION,
        });
    }
    let connection = connect(path)?;
    let recorded = recorded_version(&connection)?;
    if recorded == Some(0) && !holds_blobs(&connection)? {
        return Err(StoreOpenError::Foreign);
    }
    match recorded {
        Some(version) if version > STORE_VERSION => Err(StoreOpenError::Newer {
            found: version,
            supported: STORE_VERSION,
        }),
        Some(version) if version < STORE_VERSION_MIN && reset => {
            drop(connection);
            reset_files(path).map_err(not_writable)?;
            let connection = connect(path)?;
            Ok((prepare(connection)?, lock))
        }
        Some(version) if version < STORE_VERSION_MIN => Err(StoreOpenError::Outdated {
            found: version,
            supported: STORE_VERSION,
        }),
        Some(_) | None => Ok((prepare(connection)?, lock)),
    }
}

/// Opens the store for reading beside the writer.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "cache_size", READER_CACHE_KIB)?;
    Ok(connection)
}

/// Other processes may look into the database for a moment, such as a backup.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Page cache of a reader, negative because SQLite counts KiB that way.
const READER_CACHE_KIB: i64 = -256;

/// The write-ahead log of the store of `path`.
pub(super) fn log_path(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// A file of the same folder, with a longer name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

fn take_lock(path: &Path) -> Result<StoreLock, StoreOpenError> {
    let file = private_file(path).map_err(|error| StoreOpenError::NotWritable(error.kind()))?;
    match file.try_lock() {
        Ok(()) => Ok(StoreLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreOpenError::InUse),
        Err(TryLockError::Error(error)) => Err(StoreOpenError::NotWritable(error.kind())),
    }
}

/// Makes or opens a file that only its owner can read. SQLite gives its side files the same
/// mode.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    private(options.read(true).write(true).create(true).truncate(false)).open(path)
}

/// Makes a file that only its owner can read, and opens none that was there.
pub(super) fn private_file_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    private(options.write(true).create_new(true)).open(path)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// What the first 100 bytes of the file say, read without SQLite so that nothing is written.
enum Header {
    Empty,
    Foreign,
    Store { version: u32 },
}

fn read_header(path: &Path) -> io::Result<Header> {
    let mut header = Vec::new();
    File::open(path)?.take(100).read_to_end(&mut header)?;
    if header.is_empty() {
        return Ok(Header::Empty);
    }
    let number_at = |offset: usize| {
        let bytes = header.get(offset..offset.saturating_add(4))?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    match (
        header.starts_with(b"SQLite format 3\0"),
        number_at(60),
        number_at(68),
    ) {
        (true, Some(version), Some(APPLICATION_ID)) => Ok(Header::Store { version }),
        // A crash between making the file and its tables leaves both numbers at nought.
        (true, Some(0), Some(0)) => Ok(Header::Store { version: 0 }),
        _ => Ok(Header::Foreign),
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Closing must not move pages of a newer or damaged store from its log into its file.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// The version as the newest commit has it; none if there are no tables.
pub(super) fn recorded_version(connection: &Connection) -> rusqlite::Result<Option<u32>> {
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(None);
    }
    connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map(Some)
}

/// Whether there is a table of blobs, of this release or of those that recorded no version.
/// Many programs leave both numbers of their files at nought.
fn holds_blobs(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema AS one WHERE one.type = 'table' AND 3 =
            (SELECT count(*) FROM pragma_table_info(one.name)
             WHERE name IN ('recipient', 'envelope', 'expires_at')))",
        [],
        |row| row.get(0),
    )
}

/// Settings that were measured to be the best ones for this load; see the benchmark.
fn prepare(mut connection: Connection) -> Result<Connection, StoreOpenError> {
    // The first two take effect only before the first table exists.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(StoreOpenError::NotWritable(io::ErrorKind::Unsupported));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Where a sync doesn't reach the disk otherwise, which is on macOS.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    // `log` does it, between two commits.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", WRITER_CACHE_KIB)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    migrate(&transaction)?;
    transaction.commit()?;
    Ok(connection)
}

/// Says that the store has turned out to be sound, and may be tidied when it is closed.
pub(super) fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        .map(drop)
}

/// Bytes of a page, in the file and in the log.
pub(super) const PAGE_BYTES: u32 = 4_096;

/// Bytes of the write-ahead log that stay on disk after a checkpoint.
const WAL_BYTES_KEPT: i64 = 8 * 1_024 * 1_024;

/// Page cache of the writer, negative because SQLite counts KiB that way.
const WRITER_CACHE_KIB: i64 = -2_048;

fn migrate(transaction: &Transaction<'_>) -> Result<(), StoreOpenError> {
    match recorded_version(transaction)? {
        None => {
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            migration::migrate(transaction, STORE_VERSION_OF_SCHEMA)
        }
        Some(found) => {
            migration::migrate(transaction, found)?;
            let mirrored: u32 =
                transaction.query_row("SELECT store_version FROM meta", [], |row| row.get(0))?;
            if mirrored == STORE_VERSION {
                Ok(())
            } else {
                Err(StoreOpenError::Damaged)
            }
        }
    }
}

/// Makes a store as the first release with versions made it.
#[cfg(test)]
pub(super) fn make_version_one(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_update(None, "auto_vacuum", "INCREMENTAL")
        .unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for (pragma, number) in [
        ("application_id", APPLICATION_ID),
        ("user_version", STORE_VERSION_OF_SCHEMA),
    ] {
        connection.pragma_update(None, pragma, number).unwrap();
    }
    connection
}

/// Drops all inboxes of a store that can't be migrated.
fn reset_files(path: &Path) -> io::Result<()> {
    for file in [path.to_owned(), log_path(path), beside(path, "-shm")] {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    private_file(path).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data").join("inbox.db");
        (folder, path)
    }

    fn write_version(path: &Path, version: u32) {
        let connection = Connection::open(path).unwrap();
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
    }

    #[test]
    fn a_new_store_has_the_measured_settings() {
        let (_folder, path) = place();
        let (connection, _lock) = open(&path, false).unwrap();
        let number = |pragma: &str| -> i64 {
            connection
                .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
                .unwrap()
        };
        assert_eq!(number("auto_vacuum"), 2, "incremental");
        assert_eq!(number("synchronous"), 2, "full");
        assert_eq!(number("fullfsync"), 1);
        assert_eq!(number("checkpoint_fullfsync"), 1);
        assert_eq!(number("page_size"), 4_096);
        assert_eq!(number("wal_autocheckpoint"), 0);
        assert_eq!(number("user_version"), i64::from(STORE_VERSION));
        let mode: String = connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn a_second_opener_is_refused_and_a_third_after_it_closed_is_not() {
        let (_folder, path) = place();
        let first = open(&path, false).unwrap();
        assert_eq!(open(&path, false).unwrap_err(), StoreOpenError::InUse);
        drop(first);
        open(&path, false).unwrap();
    }

    #[test]
    fn a_newer_store_is_refused_byte_for_byte() {
        let (_folder, path) = place();
        drop(open(&path, false).unwrap());
        write_version(&path, STORE_VERSION + 1);
        let before = fs::read(&path).unwrap();
        for reset in [false, true] {
            let error = open(&path, reset).unwrap_err();
            assert_eq!(
                error,
                StoreOpenError::Newer {
                    found: STORE_VERSION + 1,
                    supported: STORE_VERSION
                }
            );
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_newer_version_that_stands_only_in_the_log_is_refused_too() {
        let (_folder, path) = place();
        drop(open(&path, false).unwrap());
        let writer = Connection::open(&path).unwrap();
        writer
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .unwrap();
        writer.pragma_update(None, "user_version", 4).unwrap();
        drop(writer);
        let before = fs::read(&path).unwrap();
        let error = open(&path, false).unwrap_err();
        assert_eq!(
            error,
            StoreOpenError::Newer {
                found: 4,
                supported: STORE_VERSION
            }
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn an_unversioned_store_needs_a_reset() {
        let (_folder, path) = place();
        drop(open(&path, false).unwrap());
        write_version(&path, 0);
        let error = open(&path, false).unwrap_err();
        assert_eq!(
            error,
            StoreOpenError::Outdated {
                found: 0,
                supported: STORE_VERSION
            }
        );
        let (connection, _lock) = open(&path, true).unwrap();
        assert_eq!(recorded_version(&connection).unwrap(), Some(STORE_VERSION));
    }

    #[test]
    fn a_reset_has_no_effect_on_a_current_store() {
        let (_folder, path) = place();
        let (connection, lock) = open(&path, false).unwrap();
        let insert = "INSERT INTO recipients (id, key, blobs, bytes) VALUES (1, x'00', 1, 1)";
        connection.execute(insert, []).unwrap();
        drop((connection, lock));
        let (connection, _lock) = open(&path, true).unwrap();
        let rows: u32 = connection
            .query_row("SELECT count(*) FROM recipients", [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 1);
    }

    #[test]
    fn foreign_files_are_left_alone() {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for content in [&b"hello, this is a letter"[..], &[0; 4_096]] {
            fs::write(&path, content).unwrap();
            assert_eq!(open(&path, true).unwrap_err(), StoreOpenError::Foreign);
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        fs::remove_file(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        other
            .execute_batch("PRAGMA application_id = 7; CREATE TABLE t (a)")
            .unwrap();
        drop(other);
        assert_eq!(open(&path, true).unwrap_err(), StoreOpenError::Foreign);
    }

    #[test]
    fn a_reset_deletes_no_database_of_another_program() {
        for tables in [
            "CREATE TABLE notes (recipient, text); CREATE TABLE t (envelope, expires_at)",
            "CREATE TABLE meta (store_version)",
            "CREATE VIEW blobs AS SELECT 1 AS recipient, 2 AS envelope, 3 AS expires_at",
        ] {
            let (_folder, path) = place();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            Connection::open(&path)
                .unwrap()
                .execute_batch(tables)
                .unwrap();
            let before = fs::read(&path).unwrap();
            for reset in [false, true] {
                assert_eq!(open(&path, reset).unwrap_err(), StoreOpenError::Foreign);
            }
            assert_eq!(fs::read(&path).unwrap(), before, "{tables}");
        }
    }

    #[test]
    fn a_store_of_the_releases_without_versions_can_be_reset() {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let old = "CREATE TABLE inbox (id INTEGER PRIMARY KEY AUTOINCREMENT,
            recipient BLOB NOT NULL, envelope BLOB NOT NULL, expires_at INTEGER NOT NULL)";
        Connection::open(&path).unwrap().execute_batch(old).unwrap();
        let outdated = StoreOpenError::Outdated {
            found: 0,
            supported: STORE_VERSION,
        };
        assert_eq!(open(&path, false).unwrap_err(), outdated);
        let (connection, _lock) = open(&path, true).unwrap();
        assert_eq!(recorded_version(&connection).unwrap(), Some(STORE_VERSION));
    }

    #[test]
    fn a_damaged_store_is_left_alone() {
        let (_folder, path) = place();
        let (connection, lock) = open(&path, false).unwrap();
        settle(&connection).unwrap();
        drop((connection, lock));
        let mut content = fs::read(&path).unwrap();
        for byte in content.iter_mut().skip(100) {
            *byte = 0xa5;
        }
        fs::write(&path, &content).unwrap();
        assert_eq!(open(&path, true).unwrap_err(), StoreOpenError::Damaged);
        assert_eq!(fs::read(&path).unwrap(), content);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, path) = place();
        let (connection, _lock) = open(&path, false).unwrap();
        connection
            .execute("UPDATE meta SET ids_reserved = 1", [])
            .unwrap();
        for file in fs::read_dir(path.parent().unwrap()).unwrap() {
            let file = file.unwrap();
            let mode = file.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{:?}", file.file_name());
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_said_so() {
        let (_folder, path) = place();
        let file = path.parent().unwrap();
        fs::write(file, b"").unwrap();
        assert!(matches!(
            open(&path, false),
            Err(StoreOpenError::NotWritable(_))
        ));
    }
}
