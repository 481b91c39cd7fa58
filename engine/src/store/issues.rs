//! The list of delivery issues: kept until dismissed, told to a listener once.

use rusqlite::{Params, Row, Transaction, params};
use sealpost_protocol::message_id::MessageId;

use super::fault::fault;
use super::{Store, integer, number};
use crate::core::error::StorageFault;
use crate::core::issue::DeliveryIssue;
use crate::history::{PAGE_ROWS_MAX, StoredIssue};

/// How many issues are kept: the oldest go first. Anyone who knows a device's key can cause
/// issues at the rate that the relay lets through.
const ISSUES_MAX: i64 = 10_000;

const COLUMNS: &str = "id, at_ms, code, message, version, detail";

pub(super) fn add(
    transaction: &Transaction<'_>,
    at_ms: u64,
    issue: &DeliveryIssue,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO delivery_issue (at_ms, code, message, version, detail)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            integer(at_ms),
            issue.code(),
            issue.message().map(MessageId::as_bytes),
            issue.version(),
            issue.detail(),
        ])?;
    let oldest = transaction.last_insert_rowid().saturating_sub(ISSUES_MAX);
    transaction
        .prepare_cached("DELETE FROM delivery_issue WHERE id <= ?1")?
        .execute([oldest])
        .map(drop)
}

impl Store {
    /// Up to `limit` issues with an id below `before`, but a page at most, newest first.
    pub(crate) fn issues(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredIssue>, StorageFault> {
        let limit = i64::try_from(limit.min(PAGE_ROWS_MAX)).unwrap_or(i64::MAX);
        let sql =
            format!("SELECT {COLUMNS} FROM delivery_issue WHERE id < ?1 ORDER BY id DESC LIMIT ?2");
        self.select(&sql, [integer(before.unwrap_or(u64::MAX)), limit])
    }

    /// Up to a page of issues that no listener was told, oldest first.
    pub(crate) fn untold_issues(&self) -> Result<Vec<StoredIssue>, StorageFault> {
        let sql = format!(
            "SELECT {COLUMNS} FROM delivery_issue WHERE told = 0 ORDER BY id LIMIT {PAGE_ROWS_MAX}"
        );
        self.select(&sql, [])
    }

    /// Marks the issues up to `id` as told.
    pub(crate) fn mark_told(&self, id: u64) -> Result<(), StorageFault> {
        self.connection
            .execute(
                "UPDATE delivery_issue SET told = 1 WHERE told = 0 AND id <= ?1",
                [integer(id)],
            )
            .map(drop)
            .map_err(fault)
    }

    /// How many issues there are.
    pub(crate) fn issue_count(&self) -> Result<u64, StorageFault> {
        let count: i64 = self
            .connection
            .prepare_cached("SELECT count(*) FROM delivery_issue")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(fault)?;
        number(count)
    }

    /// Takes an issue off the list. Returns whether it was there.
    pub(crate) fn remove_issue(&self, id: u64) -> Result<bool, StorageFault> {
        self.connection
            .execute("DELETE FROM delivery_issue WHERE id = ?1", [integer(id)])
            .map(|removed| removed > 0)
            .map_err(fault)
    }

    /// Takes all issues off the list.
    pub(crate) fn remove_all_issues(&self) -> Result<(), StorageFault> {
        self.connection
            .execute("DELETE FROM delivery_issue", [])
            .map(drop)
            .map_err(fault)
    }

    fn select(&self, sql: &str, values: impl Params) -> Result<Vec<StoredIssue>, StorageFault> {
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        let mut rows = statement.query(values).map_err(fault)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            found.push(read(row)?);
        }
        Ok(found)
    }
}

fn read(row: &Row<'_>) -> Result<StoredIssue, StorageFault> {
    let code: String = row.get(2).map_err(fault)?;
    let message: Option<[u8; 32]> = row.get(3).map_err(fault)?;
    let version: Option<u32> = row.get(4).map_err(fault)?;
    let detail: Option<String> = row.get(5).map_err(fault)?;
    let message = message.map(MessageId::from_bytes);
    let issue = DeliveryIssue::from_columns(&code, message, version, detail.as_deref());
    Ok(StoredIssue {
        id: number(row.get(0).map_err(fault)?)?,
        at_ms: number(row.get(1).map_err(fault)?)?,
        issue: issue.ok_or(StorageFault::Damaged)?,
    })
}

#[cfg(test)]
mod tests;
