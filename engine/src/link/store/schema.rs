//! The versions of the store of links and the way from each to the next.

use rusqlite::{Connection, TransactionBehavior};

use crate::core::error::StorageFault;
use crate::store::encrypted::{run_scripts, stored_version};
use crate::store::{OpenFault, fault};

const MIGRATIONS: [&str; 1] = [include_str!("schema_1.sql")];

/// The version that this program writes.
#[expect(clippy::cast_possible_truncation, reason = "one script per version")]
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// The version of the store, 0 for a new one; a newer one is refused.
pub(super) fn version(connection: &Connection) -> Result<u32, OpenFault> {
    match stored_version(connection)? {
        found if found > VERSION => Err(OpenFault::TooNew {
            found,
            known: VERSION,
        }),
        found => Ok(found),
    }
}

/// Brings a store of version `found` to the present one, all the way or not at all.
pub(super) fn migrate(connection: &mut Connection, found: u32) -> Result<(), StorageFault> {
    if found >= VERSION {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fault)?;
    run_scripts(&MIGRATIONS, &transaction, found)?;
    transaction.commit().map_err(fault)
}
