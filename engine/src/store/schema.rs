//! The versions of the store and the way from each to the next.
//!
//! Script *n* leads from version *n* to *n* + 1; version 0 is a file without tables. All
//! scripts that are needed run in one transaction. A store below the floor could not be
//! migrated and would be reset; the floor is the first version, so there is none yet.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::fault::{OpenFault, fault};
use crate::core::error::StorageFault;
use crate::core::status::Phase;
use crate::keys::IdentityId;

const MIGRATIONS: [&str; 2] = [include_str!("schema_1.sql"), include_str!("schema_2.sql")];

/// The Store Version that this program writes.
#[expect(clippy::cast_possible_truncation, reason = "one script per version")]
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

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
        Some(found) if found > VERSION => Err(OpenFault::TooNew {
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
    let due = MIGRATIONS
        .iter()
        .skip(usize::try_from(found).unwrap_or(usize::MAX));
    if due.len() == 0 {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fault)?;
    for script in due {
        transaction.execute_batch(script).map_err(fault)?;
    }
    transaction
        .execute(
            "INSERT OR REPLACE INTO store_version (one, version) VALUES (1, ?1)",
            [VERSION],
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
    transaction.commit().map_err(fault)
}
