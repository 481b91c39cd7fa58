//! The versions of the store and the way from each to the next.
//!
//! Script *n* leads from version *n* to *n* + 1; version 0 is a file without tables. All
//! scripts that are needed run in one transaction; what may be large is set aside by it under
//! another name and moved in steps, before anything is read, by this start or the next. A store below the floor can't be migrated
//! and is reset; the floor is the first version, so there is none yet.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::encrypted::{self, stored_version};
use super::fault::{OpenFault, fault};
use crate::core::error::StorageFault;
use crate::core::status::Phase;
use crate::keys::IdentityId;

const MIGRATIONS: [&str; 5] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
];

/// The Store Version that this program writes.
#[expect(clippy::cast_possible_truncation, reason = "one script per version")]
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// The oldest version that is migrated. It moves only with a release that resets what is
/// older, and says so.
pub(crate) const FLOOR: u32 = 1;

/// What is to become of a store that was opened under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// There is nothing in it yet.
    Make,
    /// It is of the present version.
    Keep,
    /// It is brought to the present version.
    Migrate,
    /// It is emptied: what it holds can't be understood any more.
    Reset,
    /// It is left alone: a newer program wrote it.
    Refuse,
}

/// The plan for a store of version `found` where `floor` is the oldest that is migrated.
pub(super) const fn plan(found: u32, floor: u32) -> Plan {
    match found {
        0 => Plan::Make,
        found if found > VERSION => Plan::Refuse,
        found if found < floor => Plan::Reset,
        VERSION => Plan::Keep,
        _ => Plan::Migrate,
    }
}

/// The version of the store, read under its key. The first read of the file: a wrong key
/// and a store that is open elsewhere show here.
pub(super) fn version(connection: &Connection) -> Result<u32, OpenFault> {
    match stored_version(connection)? {
        found if plan(found, FLOOR) == Plan::Refuse => Err(OpenFault::TooNew {
            found,
            known: VERSION,
        }),
        found => Ok(found),
    }
}

/// How many messages of an outbox are moved at once. A body has up to 60 KiB.
const MESSAGES_AT_ONCE: i64 = 100;

/// Brings a store of version `found` to the present one.
pub(super) fn migrate(
    connection: &mut Connection,
    found: u32,
    first: &IdentityId,
) -> Result<(), StorageFault> {
    migrate_by(&MIGRATIONS, connection, found, first)?;
    while !move_outbox(connection)? {}
    Ok(())
}

/// Moves the next messages of the outbox that version 3 wrote. Returns whether there are none.
pub(super) fn move_outbox(connection: &mut Connection) -> Result<bool, StorageFault> {
    let is_there: bool = connection
        .query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'outbox_message_3')",
            [],
            |row| row.get(0),
        )
        .map_err(fault)?;
    if !is_there {
        return Ok(true);
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fault)?;
    move_rows(&transaction).map_err(fault)?;
    transaction.commit().map_err(fault)?;
    Ok(false)
}

fn move_rows(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let last: Option<i64> = transaction.query_row(
        "SELECT max(sequence) FROM
             (SELECT sequence FROM outbox_message_3 ORDER BY sequence LIMIT ?1)",
        [MESSAGES_AT_ONCE],
        |row| row.get(0),
    )?;
    let Some(last) = last else {
        return transaction
            .execute_batch("DROP TABLE outbox_entry_3; DROP TABLE outbox_message_3;");
    };
    for sql in [
        "INSERT INTO outbox_message (sequence, kind, sent_at_ms, first, reported, body)
             SELECT sequence, kind, sent_at_ms, first, reported, body
             FROM outbox_message_3 WHERE sequence <= ?1",
        "INSERT INTO outbox_entry (sequence, recipient_noise, recipient_signing)
             SELECT sequence, recipient_noise, recipient_signing
             FROM outbox_entry_3 WHERE sequence <= ?1",
        "DELETE FROM outbox_entry_3 WHERE sequence <= ?1",
        "DELETE FROM outbox_message_3 WHERE sequence <= ?1",
    ] {
        transaction.prepare_cached(sql)?.execute([last])?;
    }
    Ok(())
}

/// Makes the tables of an earlier version, to see what becomes of such a store.
#[cfg(test)]
pub(super) fn make_earlier(
    version: usize,
    connection: &mut Connection,
    first: &IdentityId,
) -> Result<(), StorageFault> {
    migrate_by(&MIGRATIONS[..version], connection, 0, first)
}

/// Makes a store of version 3 with `messages` in its outbox, of `bytes` each.
#[cfg(test)]
pub(super) fn fill_earlier_outbox(
    connection: &mut Connection,
    first: &IdentityId,
    messages: u32,
    bytes: u32,
) {
    make_earlier(3, connection, first).unwrap();
    let fill = format!(
        "WITH RECURSIVE number (n) AS
             (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {messages})
         INSERT INTO outbox_message (sequence, kind, sent_at_ms, body)
             SELECT n, 2, n, zeroblob({bytes}) FROM number;
         INSERT INTO outbox_entry SELECT sequence, zeroblob(32), zeroblob(32) FROM outbox_message;"
    );
    connection.execute_batch(&fill).unwrap();
}

/// Plays a stop right after the tables of that store were set aside.
#[cfg(test)]
pub(super) fn begin_migration(connection: &mut Connection, first: &IdentityId) {
    migrate_by(&MIGRATIONS, connection, 3, first).unwrap();
}

/// Brings a store of version `found` to the one that `scripts` lead to: all the way or not at
/// all.
fn migrate_by(
    scripts: &[&str],
    connection: &mut Connection,
    found: u32,
    first: &IdentityId,
) -> Result<(), StorageFault> {
    if usize::try_from(found).is_ok_and(|found| found >= scripts.len()) {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fault)?;
    run_scripts(scripts, &transaction, found, first)?;
    transaction.commit().map_err(fault)
}

/// Makes everything anew in an emptied store.
pub(super) fn make(transaction: &Transaction<'_>, first: &IdentityId) -> Result<(), StorageFault> {
    run_scripts(&MIGRATIONS, transaction, 0, first)
}

fn run_scripts(
    scripts: &[&str],
    transaction: &Transaction<'_>,
    found: u32,
    first: &IdentityId,
) -> Result<(), StorageFault> {
    encrypted::run_scripts(scripts, transaction, found)?;
    if found == 0 {
        let phase = Phase::NotJoined.code();
        transaction
            .execute(
                "INSERT INTO device (one, identity, phase) VALUES (1, ?1, ?2)",
                params![first.as_bytes(), phase],
            )
            .map_err(fault)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: IdentityId = IdentityId::from_bytes([1; 16]);
    const MADE_UP: &str =
        "ALTER TABLE device ADD COLUMN mood TEXT; UPDATE device SET mood = 'new';";
    const BROKEN: &str = "CREATE TABLE half (id INTEGER) STRICT; INSERT INTO nowhere VALUES (1);";

    /// A store of an earlier version, with something in it.
    fn store_of(version: usize) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_by(&MIGRATIONS[..version], &mut connection, 0, &FIRST).unwrap();
        connection
            .execute("UPDATE device SET label = 'kept', last_sequence = 7", [])
            .unwrap();
        connection
    }

    fn stored_version(connection: &Connection) -> u32 {
        let read = |row: &rusqlite::Row<'_>| row.get(0);
        connection
            .query_row("SELECT version FROM store_version", [], read)
            .unwrap()
    }

    fn schema_of(connection: &Connection) -> Vec<String> {
        connection
            .prepare("SELECT coalesce(sql, name) FROM sqlite_master ORDER BY name")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap()
    }

    #[test]
    fn what_becomes_of_a_store_depends_on_its_version_and_the_floor() {
        assert_eq!(plan(0, FLOOR), Plan::Make);
        assert_eq!(plan(0, VERSION), Plan::Make, "nothing is lost there");
        for floor in FLOOR..=VERSION {
            for found in 1..VERSION {
                let expected = if found < floor {
                    Plan::Reset
                } else {
                    Plan::Migrate
                };
                assert_eq!(plan(found, floor), expected, "{found} under {floor}");
            }
            assert_eq!(plan(VERSION, floor), Plan::Keep);
            assert_eq!(plan(VERSION + 1, floor), Plan::Refuse);
            assert_eq!(plan(u32::MAX, floor), Plan::Refuse);
        }
    }

    #[test]
    fn every_earlier_version_is_brought_to_the_present_one_and_keeps_its_rows() {
        let mut newest = store_of(MIGRATIONS.len());
        migrate(&mut newest, VERSION, &FIRST).unwrap();
        let fresh = schema_of(&newest);
        for from in 1..=MIGRATIONS.len() {
            let mut connection = store_of(from);
            let found = version(&connection).unwrap();
            assert_eq!(usize::try_from(found).unwrap(), from);
            migrate(&mut connection, found, &FIRST).unwrap();
            assert_eq!(version(&connection), Ok(VERSION));
            assert_eq!(schema_of(&connection), fresh, "from {from}");
            let row: (String, i64) = connection
                .query_row("SELECT label, last_sequence FROM device", [], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .unwrap();
            assert_eq!(row, ("kept".to_owned(), 7));
        }
    }

    #[test]
    fn no_request_of_an_earlier_version_becomes_a_refused_one() {
        let join = "INSERT INTO pending_join
                (one, admitter_noise, admitter_signing, secret, confirmed)
            VALUES (1, zeroblob(32), zeroblob(32), zeroblob(32), 0);";
        // Of a message of an earlier group, say, that is deleted: no other row knows it.
        let issue = "INSERT INTO delivery_issue (at_ms, code, message)
            VALUES (1, 'sendFailed.malformed', zeroblob(32));";
        let waits = "INSERT INTO outbox_message (sequence, kind, sent_at_ms, body)
            VALUES (7, 1, 0, x'00');";
        for from in 1..=4 {
            for rows in [vec![join], vec![join, issue], vec![join, issue, waits]] {
                let mut connection = store_of(from);
                connection.execute_batch(&rows.concat()).unwrap();
                migrate(&mut connection, u32::try_from(from).unwrap(), &FIRST).unwrap();
                let refused: bool = connection
                    .query_row("SELECT refused FROM pending_join", [], |row| row.get(0))
                    .unwrap();
                assert!(!refused, "{rows:?} from {from}");
            }
        }
    }

    #[test]
    fn migrations_are_chained_and_one_that_fails_leaves_the_old_store() {
        let next = VERSION + 1;
        let mut connection = store_of(1);
        let before = schema_of(&connection);
        let with_one = [&MIGRATIONS[..], &[MADE_UP]].concat();
        let with_two = [&with_one[..], &[BROKEN]].concat();
        migrate_by(&with_two, &mut connection, 1, &FIRST).unwrap_err();
        assert_eq!(stored_version(&connection), 1);
        assert_eq!(schema_of(&connection), before);
        migrate_by(&with_one, &mut connection, 1, &FIRST).unwrap();
        assert_eq!(stored_version(&connection), next);
        let mood: String = connection
            .query_row("SELECT mood FROM device WHERE label = 'kept'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(mood, "new");
        // For this version it is too new now.
        let newer = OpenFault::TooNew {
            found: next,
            known: VERSION,
        };
        assert_eq!(version(&connection), Err(newer));
    }
}
