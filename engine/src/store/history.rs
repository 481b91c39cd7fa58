//! The message history: pages of it, one message of it, and what of it was read.

use rusqlite::{OptionalExtension, Row, params};
use sealpost_protocol::app_message::AppMessage;
use sealpost_protocol::key::MemberId;
use sealpost_protocol::message_id::MessageId;

use super::fault::fault;
use super::{Store, integer, number};
use crate::core::error::StorageFault;
use crate::core::issue::SendFailure;
use crate::core::message::{AppMessageId, DeliveryState, MessageHandle};
use crate::history::{Content, DRAFT_BYTES_MAX, Delivery, PAGE_ROWS_MAX, StoredMessage};

pub(super) const COLUMNS: &str =
    "position, id, own, author, author_name, body, sent_at_ms, stored_at_ms";

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

    /// The message called `id`, under whichever of its ids.
    pub(crate) fn message(&self, id: &MessageId) -> Result<Option<StoredMessage>, StorageFault> {
        let position: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT position FROM message WHERE id = ?1
                 UNION ALL SELECT position FROM resend WHERE id = ?1",
            )
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

    /// Up to `before` messages before `position` and up to `after` from there on, oldest first.
    pub(crate) fn messages_around(
        &self,
        position: u64,
        before: usize,
        after: usize,
    ) -> Result<Vec<StoredMessage>, StorageFault> {
        let mut found = self.messages_before(Some(position), before)?;
        found.extend(self.messages_after(position.saturating_sub(1), after)?);
        Ok(found)
    }

    /// How many messages there are.
    pub(crate) fn message_count(&self) -> Result<u64, StorageFault> {
        let count: i64 = self
            .connection
            .query_row("SELECT count(*) FROM message", [], |row| row.get(0))
            .map_err(fault)?;
        number(count)
    }

    /// The Message ID under which an author's message with this id in its body is kept.
    pub(crate) fn message_of_app_id(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<MessageId>, StorageFault> {
        self.connection
            .prepare_cached("SELECT id FROM message WHERE author = ?1 AND app_id = ?2")
            .and_then(|mut statement| {
                let found = |row: &Row<'_>| row.get(0).map(MessageId::from_bytes);
                let of = params![author.as_str(), app_id];
                statement.query_row(of, found).optional()
            })
            .map_err(fault)
    }

    /// What of a message has to be known to delete it or to send it once more.
    pub(crate) fn message_handle(
        &self,
        position: u64,
    ) -> Result<Option<MessageHandle>, StorageFault> {
        let found = self
            .connection
            .prepare_cached("SELECT id, body FROM message WHERE position = ?1")
            .and_then(|mut statement| {
                let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                statement.query_row([integer(position)], read).optional()
            })
            .map_err(fault)?;
        let Some((id, body)) = found else {
            return Ok(None);
        };
        let mut ids = vec![MessageId::from_bytes(id)];
        ids.extend(self.resent_ids(position)?);
        let deliveries = self.deliveries(position)?;
        let is_failed = |delivery: &&Delivery| matches!(delivery.state, DeliveryState::Failed(_));
        let failed = deliveries.iter().filter(is_failed);
        Ok(Some(MessageHandle {
            position,
            ids,
            body,
            failed: failed.map(|delivery| delivery.member.clone()).collect(),
            has_left: deliveries
                .iter()
                .any(|delivery| matches!(delivery.state, DeliveryState::OnRelay { .. })),
        }))
    }

    /// The Message IDs under which a message was sent once more.
    pub(crate) fn resent_ids(&self, position: u64) -> Result<Vec<MessageId>, StorageFault> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM resend WHERE position = ?1")
            .map_err(fault)?;
        let mut rows = statement.query([integer(position)]).map_err(fault)?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            ids.push(MessageId::from_bytes(row.get(0).map_err(fault)?));
        }
        Ok(ids)
    }

    /// What was written and not sent; empty if nothing was.
    pub(crate) fn draft(&self) -> Result<String, StorageFault> {
        let found = self
            .connection
            .query_row("SELECT text FROM draft", [], |row| row.get(0))
            .optional();
        Ok(found.map_err(fault)?.unwrap_or_default())
    }

    /// Keeps what was written and not sent.
    pub(crate) fn set_draft(&self, text: &str) -> Result<(), StorageFault> {
        let end = text.floor_char_boundary(DRAFT_BYTES_MAX);
        let text = text.get(..end).unwrap_or_default();
        let done = if text.is_empty() {
            self.connection.execute("DELETE FROM draft", [])
        } else {
            let sql = "INSERT OR REPLACE INTO draft (one, text) VALUES (1, ?1)";
            self.connection.execute(sql, [text])
        };
        done.map(drop).map_err(fault)
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

    /// The position up to which everything was read.
    pub(crate) fn read_position(&self) -> Result<u64, StorageFault> {
        let position: i64 = self
            .connection
            .query_row("SELECT read_position FROM device", [], |row| row.get(0))
            .map_err(fault)?;
        number(position)
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

    pub(super) fn deliveries(&self, position: u64) -> Result<Vec<Delivery>, StorageFault> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT member, name,
                     iif(state = 'waiting' AND position <= (SELECT withdrawn_to FROM device),
                         'withdrawn', state),
                     failure, at_ms
                 FROM delivery WHERE position = ?1 ORDER BY place",
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

pub(super) fn read_message(row: &Row<'_>) -> Result<StoredMessage, StorageFault> {
    let body: Vec<u8> = row.get(5).map_err(fault)?;
    let read = AppMessage::decode(&body).ok();
    let via = read.as_ref().and_then(|message| message.via.as_ref());
    Ok(StoredMessage {
        position: number(row.get(0).map_err(fault)?)?,
        id: MessageId::from_bytes(row.get(1).map_err(fault)?),
        own: row.get(2).map_err(fault)?,
        author: member(row.get(3).map_err(fault)?)?,
        author_name: row.get(4).map_err(fault)?,
        app_id: read.as_ref().map(|message| message.id),
        via: via.map(|phone| phone.as_str().to_owned()),
        content: read.map_or(Content::Unknown, Content::from),
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

pub(super) fn delivery_state(
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
