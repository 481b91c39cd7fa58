//! The end of a group in its store, without one huge transaction.
//!
//! Owns what a wipe removes, and how: a full outbox is only set aside, under another name, and
//! messages that waited are marked by one number. That commits in a moment, all or nothing;
//! what was set aside is deleted in steps afterwards, while nothing else goes on, and after a
//! restart too. One transaction for all of it would be as large as the outbox, and so would
//! the log.

use rusqlite::{Transaction, params};

use super::fault::fault;
use super::{Store, membership};
use crate::core::error::StorageFault;
use crate::core::message::DeliveryState;

/// How many rows one step removes or changes. A body has up to 60 KiB.
const MESSAGES_AT_ONCE: i64 = 200;
const DELIVERIES_AT_ONCE: i64 = 2_000;

/// Stands between the name of a table that was set aside and what makes the name its own.
const ASIDE: &str = "_aside_";

/// Ends the group on this device. What the person read and wrote stays (amendment 9).
pub(super) fn wipe(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    set_outbox_aside(transaction)?;
    transaction.execute_batch(
        "DELETE FROM draft;
         DELETE FROM sent;
         DELETE FROM deleted;
         DELETE FROM pending_join;
         DELETE FROM buffered_manifest;
         DELETE FROM handled;
         DELETE FROM held_blob;
         UPDATE device SET wants_leave = 0, seen_ms = NULL, last_sequence = 0, label_version = 0, label_is_mine = 0,
             withdrawn_to = (SELECT coalesce(max(position), 0) FROM message);",
    )?;
    membership::wipe(transaction)
}

/// Gives the outbox another name and makes an empty one in its place.
fn set_outbox_aside(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let is_empty: bool = transaction.query_row(
        "SELECT NOT EXISTS (SELECT 1 FROM outbox_message)",
        [],
        |row| row.get(0),
    )?;
    if is_empty {
        return Ok(());
    }
    let mark: String =
        transaction.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0))?;
    // Both names change before a new table refers to one of them: references follow a name.
    let tables = ["outbox_entry", "outbox_message"];
    let mut made = Vec::new();
    for table in tables {
        made.push(transaction.query_row::<String, _, _>(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1",
            [table],
            |row| row.get(0),
        )?);
    }
    for table in tables {
        transaction.execute_batch(&format!(
            "ALTER TABLE {table} RENAME TO {table}{ASIDE}{mark}"
        ))?;
    }
    for sql in made.iter().rev() {
        transaction.execute_batch(sql)?;
    }
    Ok(())
}

impl Store {
    /// Removes the next part of what a wipe set aside. Returns whether nothing is left. An
    /// outbox that can't be cleared doesn't keep the next one.
    pub(super) fn clear_step(&self) -> Result<bool, StorageFault> {
        let mut failed = None;
        for messages in self.outboxes_aside()? {
            match self.clear_outbox(&messages) {
                Ok(()) => return Ok(false),
                Err(fault) => failed = Some(fault),
            }
        }
        failed.map_or(Ok(true), Err)
    }

    fn outboxes_aside(&self) -> Result<Vec<String>, StorageFault> {
        self.connection
            .prepare_cached(
                "SELECT name FROM sqlite_master
                 WHERE type = 'table' AND name GLOB 'outbox_message_aside_*' ORDER BY name",
            )
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .map_err(fault)
    }

    /// The copies go with their messages.
    fn clear_outbox(&self, messages: &str) -> Result<(), StorageFault> {
        let sql = format!(
            "DELETE FROM {messages} WHERE sequence IN
                 (SELECT sequence FROM {messages} LIMIT {MESSAGES_AT_ONCE})"
        );
        let removed = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.execute([]))
            .map_err(fault)?;
        if removed > 0 {
            return Ok(());
        }
        let entries = messages.replacen("outbox_message", "outbox_entry", 1);
        // Both or neither; of two that an earlier program dropped one by one, one may be gone.
        let transaction = self.connection.unchecked_transaction().map_err(fault)?;
        transaction
            .execute_batch(&format!(
                "DROP TABLE IF EXISTS {entries}; DROP TABLE IF EXISTS {messages};"
            ))
            .map_err(fault)?;
        transaction.commit().map_err(fault)
    }

    /// Writes down of the next messages what reading them says already: that they wait no more.
    /// Returns whether that was all.
    pub(super) fn withdraw_step(&self) -> Result<bool, StorageFault> {
        let marked: bool = self
            .connection
            .prepare_cached("SELECT withdrawn_to > 0 FROM device")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(fault)?;
        if !marked {
            return Ok(true);
        }
        let withdrawn = DeliveryState::Withdrawn.code();
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE delivery SET state = ?1 WHERE (position, member) IN
                     (SELECT position, member FROM delivery
                      WHERE state = 'waiting' AND position <= (SELECT withdrawn_to FROM device)
                      LIMIT ?2)",
            )
            .and_then(|mut statement| statement.execute(params![withdrawn, DELIVERIES_AT_ONCE]))
            .map_err(fault)?;
        if changed == 0 {
            self.connection
                .execute("UPDATE device SET withdrawn_to = 0", [])
                .map_err(fault)?;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
