//! Store Reset (specification, section 8): what is too old to be understood is emptied.
//!
//! Only ever after the file opened under its key and showed a version below the floor
//! (amendment 10). Everything in it goes, the message history too, because nothing can read
//! it any more; the identity is a new one, which the keys must hold before this is called.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::fault::{OpenFault, fault};
use super::{Store, configure, connect, issues, schema};
use crate::core::error::StorageFault;
use crate::core::issue::DeliveryIssue;
use crate::keys::IdentityId;

impl Store {
    /// Empties the store at `path` and makes it anew with `fresh` as the identity in use: all
    /// in one transaction, and so that it is listed until somebody has seen it. Refuses one that isn't below `floor`.
    pub(crate) fn reset(
        floor: u32,
        path: &Path,
        key: &[u8; 32],
        fresh: &IdentityId,
        now_ms: u64,
    ) -> Result<(), OpenFault> {
        let mut connection = connect(path, key)?;
        let found = schema::version(&connection)?;
        if schema::plan(found, floor) != schema::Plan::Reset {
            return Err(StorageFault::Unavailable.into());
        }
        tracing::warn!(found, floor, "a store is too old and starts afresh");
        configure(&connection).map_err(fault)?;
        connection
            .pragma_update(None, "foreign_keys", "OFF")
            .map_err(fault)?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fault)?;
        while let Some(table) = next_table(&transaction).map_err(fault)? {
            transaction
                .execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))
                .map_err(fault)?;
        }
        schema::make(&transaction, fresh)?;
        issues::add(&transaction, now_ms, &DeliveryIssue::StoreReset).map_err(fault)?;
        transaction.commit().map_err(fault)?;
        Ok(())
    }
}

/// A table that is left; those that own others go first.
fn next_table(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection
        .query_row(
            "SELECT name FROM pragma_table_list
             WHERE schema = 'main' AND type IN ('table', 'virtual')
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             ORDER BY type = 'virtual' DESC LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()
}
