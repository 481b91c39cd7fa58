//! Deleted space: how much of it lies in the file, and giving it back in slices.
//!
//! Owns: SQLite's incremental vacuum. Never does: decide when, or move the log that a slice is
//! written to.

use rusqlite::Connection;

use super::schema::PAGE_BYTES;

/// Pages given back to the file system at a time, so that a put never waits for long.
const SLICE_PAGES: u32 = 128;

/// What a slice adds to the log at most, roughly: each page that is given back has another one
/// moved into its place, and both are noted.
pub(super) const SLICE_LOG_BYTES: u64 = 3 * SLICE_PAGES as u64 * PAGE_BYTES as u64;

/// Free pages that stay in the file for the next puts.
const PAGES_KEPT: u32 = 64;

/// Free pages above which a slice is given back even while puts keep coming.
const PAGES_MAX: u32 = 4_096;

/// Whether there is so much that it shouldn't wait for silence.
pub(super) fn is_pressing(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(pages(connection)? > PAGES_MAX)
}

/// Gives one slice back; false if there is none, or if the file keeps what it has: a file that
/// another program has put together may not know incremental vacuum.
pub(super) fn give_back_slice(connection: &Connection) -> rusqlite::Result<bool> {
    let before = pages(connection)?;
    let spare = before.saturating_sub(PAGES_KEPT);
    if spare == 0 {
        return Ok(false);
    }
    vacuum(connection, spare.min(SLICE_PAGES))?;
    Ok(pages(connection)? < before)
}

fn pages(connection: &Connection) -> rusqlite::Result<u32> {
    connection
        .prepare_cached("PRAGMA freelist_count")?
        .query_row([], |row| row.get(0))
}

/// The pragma frees a page per step, so it has to be stepped to its end.
fn vacuum(connection: &Connection, pages: u32) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut steps = statement.query([])?;
    while steps.next()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    /// Leaves more free pages than may wait for silence.
    const WASTE: &str = "CREATE TABLE waste (bytes BLOB) STRICT;
        INSERT INTO waste VALUES (zeroblob(20000000));
        DROP TABLE waste;";

    #[test]
    fn slices_end_where_the_kept_pages_begin() {
        let folder = tempfile::tempdir().unwrap();
        let (connection, _lock) = schema::open(&folder.path().join("inbox.db"), false).unwrap();
        connection.execute_batch(WASTE).unwrap();
        assert!(is_pressing(&connection).unwrap());
        while give_back_slice(&connection).unwrap() {}
        assert_eq!(pages(&connection).unwrap(), PAGES_KEPT);
    }

    #[test]
    fn a_file_without_incremental_vacuum_has_nothing_to_give_back() {
        let folder = tempfile::tempdir().unwrap();
        let (connection, _lock) = schema::open(&folder.path().join("inbox.db"), false).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM;")
            .unwrap();
        connection.execute_batch(WASTE).unwrap();
        assert!(is_pressing(&connection).unwrap());
        assert!(!give_back_slice(&connection).unwrap());
    }
}
