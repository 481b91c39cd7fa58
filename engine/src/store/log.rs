//! The write-ahead log of the store.
//!
//! Nothing can keep it from being moved into the file: the store is held under an exclusive
//! lock, so no other program reads it, and its own reads end before the next write. It
//! therefore never grows far beyond one checkpoint interval and the largest transaction; what
//! could make a huge one is done in steps (`wipe.rs`, `search.rs`).

use super::{Store, fault};
use crate::core::error::StorageFault;

impl Store {
    /// Does the next part of what waits for a quiet moment. Returns whether that was all.
    pub(crate) fn tidy_step(&self) -> Result<bool, StorageFault> {
        Ok(self.clear_step()? && self.index_step()?)
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
}
