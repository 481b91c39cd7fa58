//! The message history: pages of it, one message of it, and what of it was read.

use rusqlite::{OptionalExtension, Row, params};
use sealpost_protocol::key::MemberId;
use sealpost_protocol::message_id::MessageId;

use super::fault::fault;
use super::{Store, integer, number};
use crate::core::error::StorageFault;
use crate::core::issue::SendFailure;
use crate::core::message::DeliveryState;
use crate::history::{Content, Delivery, PAGE_ROWS_MAX, StoredMessage};

const COLUMNS: &str = "position, id, own, author, author_name, body, sent_at_ms, stored_at_ms";

impl Store {
    /// Up to `limit` messages after `position`, oldest first.
    pub(crate) fn messages_after(
        &self,
        position: u64,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, StorageFault> {
        let sql =
            format!("SELECT {COLUMNS} FROM message WHERE position > ?1 ORDER BY position LIMIT ?2");
        self.page(&sql, integer(position), limit)
    }

    /// Up to `limit` messages before `position`, or the newest, oldest first.
    pub(crate) fn messages_before(
        &self,
        position: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, StorageFault> {
        let sql = format!(
            "SELECT {COLUMNS} FROM message WHERE position < ?1 ORDER BY position DESC LIMIT ?2"
        );
        let mut found = self.page(&sql, position.map_or(i64::MAX, integer), limit)?;
        found.reverse();
        Ok(found)
    }

    /// The message called `id`.
    pub(crate) fn message(&self, id: &MessageId) -> Result<Option<StoredMessage>, StorageFault> {
        let position: Option<i64> = self
            .connection
            .prepare_cached("SELECT position FROM message WHERE id = ?1")
            .and_then(|mut statement| {
                statement
                    .query_row(params![id.as_bytes()], |row| row.get(0))
                    .optional()
            })
            .map_err(fault)?;
        let Some(position) = position else {
            return Ok(None);
        };
        let sql = format!("SELECT {COLUMNS} FROM message WHERE position = ?1 LIMIT ?2");
        Ok(self.page(&sql, position, 1)?.pop())
    }

    /// Everything up to `position` was read.
    pub(crate) fn mark_read(&self, position: u64) -> Result<(), StorageFault> {
        self.connection
            .execute(
                "UPDATE device SET read_position = max(read_position,
                     min(?1, (SELECT coalesce(max(position), 0) FROM message)))",
                [integer(position)],
            )
            .map(drop)
            .map_err(fault)
    }

    /// How many messages of others were not read.
    pub(crate) fn unread(&self) -> Result<u64, StorageFault> {
        let unread: i64 = self
            .connection
            .query_row(
                "SELECT count(*) FROM message
                 WHERE own = 0 AND position > (SELECT read_position FROM device)",
                [],
                |row| row.get(0),
            )
            .map_err(fault)?;
        number(unread)
    }

    /// How many copies of messages, control messages among them, wait in the outbox.
    pub(crate) fn outbox_copies(&self) -> Result<u64, StorageFault> {
        let copies: i64 = self
            .connection
            .query_row("SELECT count(*) FROM outbox_entry", [], |row| row.get(0))
            .map_err(fault)?;
        number(copies)
    }

    fn page(
        &self,
        sql: &str,
        position: i64,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, StorageFault> {
        let limit = i64::try_from(limit.min(PAGE_ROWS_MAX)).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        let mut rows = statement.query([position, limit]).map_err(fault)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            let mut message = read_message(row)?;
            if message.own {
                message.deliveries = self.deliveries(message.position)?;
            }
            found.push(message);
        }
        Ok(found)
    }

    fn deliveries(&self, position: u64) -> Result<Vec<Delivery>, StorageFault> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT member, name, state, failure, at_ms FROM delivery
                 WHERE position = ?1 ORDER BY place",
            )
            .map_err(fault)?;
        let mut rows = statement.query([integer(position)]).map_err(fault)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            found.push(read_delivery(row)?);
        }
        Ok(found)
    }
}

fn read_message(row: &Row<'_>) -> Result<StoredMessage, StorageFault> {
    let body: Vec<u8> = row.get(5).map_err(fault)?;
    Ok(StoredMessage {
        position: number(row.get(0).map_err(fault)?)?,
        id: MessageId::from_bytes(row.get(1).map_err(fault)?),
        own: row.get(2).map_err(fault)?,
        author: member(row.get(3).map_err(fault)?)?,
        author_name: row.get(4).map_err(fault)?,
        content: Content::of(&body),
        sent_at_ms: number(row.get(6).map_err(fault)?)?,
        stored_at_ms: number(row.get(7).map_err(fault)?)?,
        deliveries: Vec::new(),
    })
}

fn read_delivery(row: &Row<'_>) -> Result<Delivery, StorageFault> {
    let state: String = row.get(2).map_err(fault)?;
    let failure: Option<String> = row.get(3).map_err(fault)?;
    let at_ms: Option<i64> = row.get(4).map_err(fault)?;
    Ok(Delivery {
        member: member(row.get(0).map_err(fault)?)?,
        name: row.get(1).map_err(fault)?,
        state: delivery_state(&state, failure.as_deref(), at_ms)?,
    })
}

fn delivery_state(
    state: &str,
    failure: Option<&str>,
    at_ms: Option<i64>,
) -> Result<DeliveryState, StorageFault> {
    let failure = failure.and_then(SendFailure::from_code);
    match (state, failure, at_ms) {
        ("waiting", None, None) => Ok(DeliveryState::Waiting),
        ("withdrawn", None, None) => Ok(DeliveryState::Withdrawn),
        ("onRelay", None, Some(at_ms)) => Ok(DeliveryState::OnRelay {
            at_ms: number(at_ms)?,
        }),
        ("failed", Some(failure), None) => Ok(DeliveryState::Failed(failure)),
        _ => Err(StorageFault::Damaged),
    }
}

fn member(text: String) -> Result<MemberId, StorageFault> {
    MemberId::parse(&text).ok_or(StorageFault::Damaged)
}
