//! From an older store to this release's, step by step.
//!
//! Owns: the chain of steps. All that a store lacks run in the one transaction that the start
//! opens, so a start that fails leaves the store as it was.
//!
//! A release that changes the tables adds one step at the end and raises `STORE_VERSION`; one
//! that can't convert older stores raises `STORE_VERSION_MIN` to its own version and drops the
//! steps before. The compiler holds the three together.

use rusqlite::Transaction;

use super::schema::{STORE_VERSION, STORE_VERSION_MIN, StoreOpenError};

/// The SQL that leads from one version to the next, the oldest first.
const STEPS: [&str; (STORE_VERSION - STORE_VERSION_MIN) as usize] = [MAILBOXES, WORMHOLES];

/// To version 2: mailboxes of links.
const MAILBOXES: &str = "
CREATE TABLE mailboxes (
    id INTEGER PRIMARY KEY,
    mailbox BLOB NOT NULL UNIQUE,
    token_hash BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    touched_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE directions (
    mailbox INTEGER NOT NULL,
    direction INTEGER NOT NULL,
    last INTEGER NOT NULL,
    last_hash BLOB NOT NULL,
    PRIMARY KEY (mailbox, direction)
) STRICT, WITHOUT ROWID;
CREATE TABLE envelopes (
    mailbox INTEGER NOT NULL,
    direction INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL,
    envelope BLOB NOT NULL,
    PRIMARY KEY (mailbox, direction, sequence)
) STRICT;
";

/// To version 3: mailboxes of the wormhole door. `mailbox_message_acks.side` is the author of
/// the messages that were acknowledged.
const WORMHOLES: &str = "
CREATE TABLE wormhole_mailboxes (
    id INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    name TEXT NOT NULL,
    for_nameplate INTEGER NOT NULL,
    touched_ms INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    UNIQUE (app, name)
) STRICT;
CREATE TABLE wormhole_sides (
    mailbox INTEGER NOT NULL,
    side TEXT NOT NULL,
    opened_ms INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    mood TEXT,
    PRIMARY KEY (mailbox, side)
) STRICT, WITHOUT ROWID;
CREATE TABLE wormhole_nameplates (
    id INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    digits INTEGER NOT NULL,
    name TEXT NOT NULL,
    mailbox INTEGER NOT NULL,
    UNIQUE (app, digits, name)
) STRICT;
CREATE INDEX wormhole_nameplates_of ON wormhole_nameplates (mailbox);
CREATE TABLE wormhole_nameplate_sides (
    nameplate INTEGER NOT NULL,
    side TEXT NOT NULL,
    claimed_ms INTEGER NOT NULL,
    is_claimed INTEGER NOT NULL,
    PRIMARY KEY (nameplate, side)
) STRICT, WITHOUT ROWID;
CREATE TABLE wormhole_messages (
    arrival INTEGER PRIMARY KEY,
    mailbox INTEGER NOT NULL,
    side TEXT NOT NULL,
    phase TEXT NOT NULL,
    body TEXT NOT NULL,
    command TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    seqnum INTEGER
) STRICT;
CREATE INDEX wormhole_messages_of ON wormhole_messages (mailbox);
CREATE UNIQUE INDEX wormhole_messages_numbered ON wormhole_messages (mailbox, side, seqnum)
    WHERE seqnum IS NOT NULL;
CREATE TABLE mailbox_message_acks (
    mailbox INTEGER NOT NULL,
    side TEXT NOT NULL,
    seqnum INTEGER NOT NULL,
    PRIMARY KEY (mailbox, side)
) STRICT, WITHOUT ROWID;
CREATE TABLE wormhole_usage_nameplates (
    app TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    waiting_ms INTEGER,
    total_ms INTEGER NOT NULL,
    result TEXT NOT NULL
) STRICT;
CREATE TABLE wormhole_usage_mailboxes (
    app TEXT NOT NULL,
    for_nameplate INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    waiting_ms INTEGER,
    total_ms INTEGER NOT NULL,
    result TEXT NOT NULL
) STRICT;
CREATE TABLE wormhole_usage_clients (
    app TEXT NOT NULL,
    side TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    implementation TEXT,
    version TEXT
) STRICT;
";

/// Brings the store of `transaction` from `found` to this release's version.
pub(super) fn migrate(transaction: &Transaction<'_>, found: u32) -> Result<(), StoreOpenError> {
    run(transaction, found, STORE_VERSION_MIN, &STEPS)
}

/// Runs the steps from `found` on; the first of them starts at version `oldest`.
fn run(
    transaction: &Transaction<'_>,
    found: u32,
    oldest: u32,
    steps: &[&str],
) -> Result<(), StoreOpenError> {
    let outdated = StoreOpenError::Outdated {
        found,
        supported: STORE_VERSION,
    };
    let done = found.checked_sub(oldest).ok_or(outdated)?;
    let mut version = found;
    for step in steps.iter().skip(done as usize) {
        transaction.execute_batch(step)?;
        version = version.saturating_add(1);
        transaction.execute("UPDATE meta SET store_version = ?1", [version])?;
        transaction.pragma_update(None, "user_version", version)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::schema;
    use super::*;

    const TO_TWO: &str = "ALTER TABLE recipients ADD COLUMN colour INTEGER NOT NULL DEFAULT 3";
    const TO_THREE: &str = "UPDATE recipients SET colour = colour * 2";
    const BROKEN: &str = "UPDATE nothing SET a = 1";

    /// A store of version 1 with one recipient, taken through `steps`.
    fn taken_through(steps: &[&str]) -> (tempfile::TempDir, Connection, bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = schema::make_version_one(&folder.path().join("inbox.db"));
        let row = "INSERT INTO recipients VALUES (7, zeroblob(32), 1, 3)";
        connection.execute_batch(row).unwrap();
        let transaction = connection.transaction().unwrap();
        let is_done = run(&transaction, 1, 1, steps).is_ok();
        if is_done {
            transaction.commit().unwrap();
        } else {
            drop(transaction);
        }
        (folder, connection, is_done)
    }

    fn number(connection: &Connection, query: &str) -> Option<u32> {
        connection.query_row(query, [], |row| row.get(0)).ok()
    }

    /// A relay that is replaced by a later release delivers what waits in its store.
    #[test]
    fn a_store_of_the_first_version_keeps_its_blobs_and_gets_mailboxes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let rows = "INSERT INTO recipients VALUES (7, zeroblob(32), 1, 3);
            INSERT INTO blobs VALUES (1, 7, 10, x'010203');";
        schema::make_version_one(&path).execute_batch(rows).unwrap();
        let (connection, _lock) = schema::open(&path, false).unwrap();
        let version = Some(STORE_VERSION);
        assert_eq!(number(&connection, "PRAGMA user_version"), version);
        assert_eq!(
            number(&connection, "SELECT store_version FROM meta"),
            version
        );
        let found = |query: &str| number(&connection, query);
        assert_eq!(found("SELECT length(envelope) FROM blobs"), Some(3));
        assert_eq!(found("SELECT count(*) FROM mailboxes"), Some(0));
    }

    #[test]
    fn all_steps_that_are_missing_run_in_order() {
        let (_folder, connection, is_done) = taken_through(&[TO_TWO, TO_THREE]);
        assert!(is_done);
        assert_eq!(
            number(&connection, "SELECT colour FROM recipients"),
            Some(6)
        );
        assert_eq!(number(&connection, "PRAGMA user_version"), Some(3));
        assert_eq!(
            number(&connection, "SELECT store_version FROM meta"),
            Some(3)
        );
    }

    #[test]
    fn a_step_that_fails_leaves_the_store_at_its_old_version() {
        let (_folder, connection, is_done) = taken_through(&[TO_TWO, BROKEN]);
        assert!(!is_done);
        assert_eq!(number(&connection, "SELECT colour FROM recipients"), None);
        assert_eq!(number(&connection, "SELECT blobs FROM recipients"), Some(1));
        assert_eq!(number(&connection, "PRAGMA user_version"), Some(1));
        assert_eq!(
            number(&connection, "SELECT store_version FROM meta"),
            Some(1)
        );
    }

    #[test]
    fn steps_that_are_done_are_left_out_and_too_old_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = schema::make_version_one(&folder.path().join("inbox.db"));
        let transaction = connection.transaction().unwrap();
        run(&transaction, 2, 1, &[BROKEN]).unwrap();
        let refused = run(&transaction, 1, 2, &[TO_TWO]);
        let (found, supported) = (1, STORE_VERSION);
        assert_eq!(refused, Err(StoreOpenError::Outdated { found, supported }));
    }
}
