//! The write-ahead log of the store.
//!
//! Nothing can keep it from being moved into the file: the store is held under an exclusive
//! lock, so no other program reads it, and its own reads end before the next write. It
//! therefore never grows far beyond one checkpoint interval and the largest transaction; what
//! could make a huge one is done in steps: by the store (`wipe.rs`, `search.rs`, `schema.rs`),
//! and by the machine where copies are taken back or grow too old
//! ([`crate::core::timing::COPIES_REMOVED_AT_ONCE_MAX`]).

use super::{Store, fault};
use crate::core::error::StorageFault;

impl Store {
    /// Does the next part of what waits for a quiet moment. Returns whether that was all; what
    /// fails keeps nothing else from being done.
    pub(crate) fn tidy_step(&self) -> Result<bool, StorageFault> {
        let mut failed = None;
        for step in [Self::clear_step, Self::withdraw_step, Self::index_step] {
            match step(self) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(fault) => failed = Some(fault),
            }
        }
        failed.map_or(Ok(true), Err)
    }

    /// Moves the log into the file and leaves it empty. If that fails, it stays as it is.
    pub(crate) fn truncate_log(&self) {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let done = self.connection.query_row(checkpoint, [], |_| Ok(()));
        if let Err(error) = done {
            let fault = fault(error);
            tracing::debug!(%fault, "the write-ahead log stays for now");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::{configure, connect, schema};
    use super::*;
    use crate::core::group_name::GroupName;
    use crate::core::step::Change;
    use crate::keys::IdentityId;

    const KEY: [u8; 32] = [7; 32];
    const LOG_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

    fn log_bytes(database: &Path) -> u64 {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        fs::metadata(path).unwrap().len()
    }

    fn write(store: &mut Store, rows: u64) {
        let mut changes = Vec::new();
        for row in 0..rows {
            let text = format!("{row} ").repeat(500);
            let name = GroupName { version: row, text };
            let is_mine = true;
            changes.push(Change::GroupNamed { name, is_mine });
            store.apply(&changes, None).unwrap();
            changes.clear();
        }
    }

    #[test]
    fn the_log_stays_small_whoever_tries_to_read_and_is_given_back_when_it_is_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.db");
        let first = IdentityId::from_bytes([1; 16]);
        let mut store = Store::open(&path, &KEY, &first).unwrap();
        // One that would hold the log if it could begin.
        let reader = rusqlite::Connection::open(&path).unwrap();
        let key = super::super::key_text(&KEY);
        reader.key(None::<&str>, key.as_bytes(), false).unwrap();
        reader.busy_timeout(std::time::Duration::ZERO).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        let read = reader.query_row("SELECT count(*) FROM device", [], |row| {
            row.get::<_, i64>(0)
        });
        assert!(read.is_err(), "the store is held alone");
        // Far more pages than a checkpoint interval has.
        write(&mut store, 3_000);
        let busy = log_bytes(&path);
        assert!(busy > 0 && busy <= LOG_BYTES_MAX, "{busy}");
        store.truncate_log();
        assert_eq!(log_bytes(&path), 0);
        // What only looks writes nothing.
        store.unread().unwrap();
        let purge = Change::HandledPurged { before_ms: 1 };
        assert!(!store.apply(&[purge], None).unwrap().has_written);
        assert_eq!(log_bytes(&path), 0);
    }

    #[test]
    fn an_outbox_of_an_earlier_version_is_moved_in_steps_that_a_stop_only_delays() {
        const MESSAGES: u32 = 1_050;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.db");
        let first = IdentityId::from_bytes([1; 16]);
        fs::write(&path, b"").unwrap();
        let mut old = connect(&path, &KEY).unwrap();
        // As large as the log may be; a transaction for all of it would be twice that.
        schema::fill_earlier_outbox(&mut old, &first, MESSAGES, 60_000);
        configure(&old).unwrap();
        schema::begin_migration(&mut old, &first);
        let mut largest = log_bytes(&path);
        for _ in 0..5 {
            assert!(!schema::move_outbox(&mut old).unwrap());
            largest = largest.max(log_bytes(&path));
        }
        drop(old);
        let store = Store::open(&path, &KEY, &first).unwrap();
        largest = largest.max(log_bytes(&path));
        assert!(largest <= LOG_BYTES_MAX, "{largest}");
        assert_eq!(store.outbox_copies(), Ok(u64::from(MESSAGES)));
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (messages, bytes): (u32, u32) = store
            .connection
            .query_row(
                "SELECT count(*), sum(length(body)) FROM outbox_message WHERE kind = 2",
                [],
                read,
            )
            .unwrap();
        assert_eq!((messages, bytes), (MESSAGES, MESSAGES * 60_000));
        let left = "SELECT count(*) FROM sqlite_master WHERE name GLOB '*_3'";
        let left: i64 = store
            .connection
            .query_row(left, [], |row| row.get(0))
            .unwrap();
        assert_eq!(left, 0);
    }
}
