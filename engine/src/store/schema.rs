//! The versions of the store and the way from each to the next.
//!
//! Script *n* leads from version *n* to *n* + 1; version 0 is a file without tables. All
//! scripts that are needed run in one transaction. A store below the floor can't be migrated
//! and is reset; the floor is the first version, so there is none yet.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::fault::{OpenFault, fault};
use crate::core::error::StorageFault;
use crate::core::status::Phase;
use crate::keys::IdentityId;

const MIGRATIONS: [&str; 4] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
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
    match found {
        None | Some(0) => Err(StorageFault::Damaged.into()),
        Some(found) if plan(found, FLOOR) == Plan::Refuse => Err(OpenFault::TooNew {
            found,
            known: VERSION,
        }),
        Some(found) => Ok(found),
    }
}

/// Brings a store of version `found` to the present one.
pub(super) fn migrate(
    connection: &mut Connection,
    found: u32,
    first: &IdentityId,
) -> Result<(), StorageFault> {
    migrate_by(&MIGRATIONS, connection, found, first)
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
        .map_err(fault)?;
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
        let fresh = schema_of(&store_of(MIGRATIONS.len()));
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
