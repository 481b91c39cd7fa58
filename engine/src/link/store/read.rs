//! Reads what is stored, and writes the little that no machine knows of.

use rusqlite::{Row, params};
use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, LinkToken, MailboxId, Role};
use sealpost_protocol::link::payload::PayloadId;

use super::LinkStore;
use crate::core::error::StorageFault;
use crate::core::link::{
    EraseRow, Farewell, LinkRow, LinkSnapshot, OutboxRow, RowFailure, RowKind, Stored,
};
use crate::link::info::{Arrived, LinkContent, LinkProgress, SentRow};
use crate::link::name::LinkName;
use crate::store::encrypted::{integer, number};
use crate::store::fault;

pub(super) const ROLE_A: u8 = 1;
pub(super) const ROLE_B: u8 = 2;

/// A link as it is stored, without its tables.
pub(in crate::link) struct LinkRecord {
    pub(in crate::link) position: i64,
    pub(in crate::link) name: LinkName,
    pub(in crate::link) role: Role,
    pub(in crate::link) relay: Option<String>,
    pub(in crate::link) peer_name: String,
    pub(in crate::link) made_at_ms: u64,
    pub(in crate::link) row: LinkRow,
    /// Gone once the link is over.
    pub(in crate::link) secret: Option<(LinkKey, LinkId)>,
}

/// A mailbox that is to be erased.
pub(in crate::link) struct EraseRecord {
    pub(in crate::link) relay: Option<String>,
    pub(in crate::link) row: EraseRow,
}

type Read<T> = Result<T, StorageFault>;

impl LinkStore {
    /// Every link, oldest first.
    pub(in crate::link) fn links(&self) -> Read<Vec<LinkRecord>> {
        self.all(
            "SELECT position, name, role, relay, peer_name, made_at_ms, key, id, last_received,
                 received_in, floor, is_established, unconfirmed_since_ms, lost_since_ms,
                 last_contact_ms
             FROM link ORDER BY position",
            [],
            link_record,
        )
    }

    /// What the machine of a link is built from; `None` where it is over.
    pub(in crate::link) fn snapshot(&self, link: &LinkRecord) -> Read<Option<LinkSnapshot>> {
        let Some((key, id)) = link.secret.clone() else {
            return Ok(None);
        };
        let outbox = self.all(
            "SELECT id, position, collapse, body, queued_ms, sequence, created_ms
             FROM outbox WHERE link = ?1 ORDER BY position",
            [link.position],
            outbox_row,
        )?;
        let accepted = self.all(
            "SELECT id FROM accepted WHERE link = ?1 ORDER BY position",
            [link.position],
            |row| Ok(PayloadId::from_bytes(row.get(0).map_err(fault)?)),
        )?;
        Ok(Some(LinkSnapshot {
            key,
            id,
            role: link.role,
            row: link.row,
            outbox,
            accepted,
        }))
    }

    /// What arrived after a position and wasn't handled, oldest first.
    pub(in crate::link) fn arrived(
        &self,
        link: i64,
        after: u64,
        limit: usize,
    ) -> Read<Vec<Arrived>> {
        self.all(
            "SELECT position, id, collapse, body, ts_ms FROM arrived
             WHERE link = ?1 AND position > ?2 ORDER BY position LIMIT ?3",
            params![
                link,
                integer(after),
                i64::try_from(limit).unwrap_or(i64::MAX)
            ],
            |row| {
                Ok(Arrived {
                    position: number(row.get(0).map_err(fault)?)?,
                    id: PayloadId::from_bytes(row.get(1).map_err(fault)?),
                    content: content(row.get(2).map_err(fault)?),
                    body: row.get(3).map_err(fault)?,
                    sealed_at_ms: number(row.get(4).map_err(fault)?)?,
                })
            },
        )
    }

    /// How much arrived and wasn't handled.
    pub(in crate::link) fn arrived_count(&self, link: i64) -> Read<u64> {
        let count = "SELECT count(*) FROM arrived WHERE link = ?1";
        let count = self.connection.query_row(count, [link], |row| row.get(0));
        number(count.map_err(fault)?)
    }

    /// Forgets what was handled. Returns whether it was there.
    pub(in crate::link) fn handled(&self, link: i64, id: &PayloadId) -> Read<bool> {
        self.change(
            "DELETE FROM arrived WHERE link = ?1 AND id = ?2",
            params![link, id.as_bytes()],
        )
    }

    /// What was sent and isn't acknowledged, and what failed, oldest first.
    pub(in crate::link) fn sent(&self, link: i64) -> Read<Vec<SentRow>> {
        let rows = self.all(
            "SELECT id, position, collapse, body, queued_ms, sequence, created_ms
             FROM outbox WHERE link = ?1 ORDER BY position",
            [link],
            outbox_row,
        )?;
        let mut sent = self.all(
            "SELECT id, collapse, body, queued_ms, reason FROM failed WHERE link = ?1
             ORDER BY queued_ms, id",
            [link],
            failed_row,
        )?;
        sent.extend(rows.into_iter().map(|row| SentRow {
            id: row.id,
            content: match row.kind {
                RowKind::Msg => LinkContent::Message,
                RowKind::State { collapse } => LinkContent::State { key: collapse },
            },
            body: row.body,
            queued_at_ms: row.queued_ms,
            progress: match row.stored {
                Some(_) => LinkProgress::OnRelay,
                None => LinkProgress::Waiting,
            },
        }));
        Ok(sent)
    }

    /// Forgets something that failed. Returns whether it was there.
    pub(in crate::link) fn dismiss_failed(&self, link: i64, id: &PayloadId) -> Read<bool> {
        self.change(
            "DELETE FROM failed WHERE link = ?1 AND id = ?2",
            params![link, id.as_bytes()],
        )
    }

    /// Calls the other device something else.
    pub(in crate::link) fn rename(&self, link: i64, peer_name: &str) -> Read<bool> {
        self.change(
            "UPDATE link SET peer_name = ?2 WHERE position = ?1",
            params![link, peer_name],
        )
    }

    /// Forgets what is left of a link.
    pub(in crate::link) fn remove_link(&self, link: i64) -> Read<bool> {
        let is_gone = self.change("DELETE FROM link WHERE position = ?1", [link])?;
        self.truncate_log();
        Ok(is_gone)
    }

    /// The mailboxes that are to be erased, oldest first.
    pub(in crate::link) fn erasing(&self) -> Read<Vec<EraseRecord>> {
        self.all(
            "SELECT relay, mailbox, token, queued_ms, bye_direction, bye_sequence, bye_envelope
             FROM erase ORDER BY position",
            [],
            erase_record,
        )
    }

    /// A mailbox needs no erasing any more.
    pub(in crate::link) fn remove_erase(&self, mailbox: &MailboxId) -> Read<bool> {
        self.change("DELETE FROM erase WHERE mailbox = ?1", [mailbox.as_bytes()])
    }

    /// A mailbox is to be erased since then, by the clock of now.
    pub(in crate::link) fn rebase_erase(&self, mailbox: &MailboxId, queued_ms: u64) -> Read<bool> {
        let sql = "UPDATE erase SET queued_ms = ?2 WHERE mailbox = ?1";
        self.change(
            sql,
            rusqlite::params![mailbox.as_bytes(), integer(queued_ms)],
        )
    }

    fn change(&self, sql: &str, with: impl rusqlite::Params) -> Read<bool> {
        let changed = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(with));
        changed.map(|rows| rows > 0).map_err(fault)
    }

    fn all<T>(
        &self,
        sql: &str,
        with: impl rusqlite::Params,
        read: impl Fn(&Row<'_>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        let mut rows = statement.query(with).map_err(fault)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            found.push(read(row)?);
        }
        Ok(found)
    }
}

fn optional_number(value: Option<i64>) -> Read<Option<u64>> {
    value.map(number).transpose()
}

fn link_record(row: &Row<'_>) -> Read<LinkRecord> {
    let get = |column: usize| row.get::<_, Option<i64>>(column).map_err(fault);
    let name: String = row.get(1).map_err(fault)?;
    let role: u8 = row.get(2).map_err(fault)?;
    let key: Option<[u8; 32]> = row.get(6).map_err(fault)?;
    let id: Option<[u8; 16]> = row.get(7).map_err(fault)?;
    Ok(LinkRecord {
        position: row.get(0).map_err(fault)?,
        name: LinkName::parse(&name).ok_or(StorageFault::Damaged)?,
        role: if role == ROLE_A { Role::A } else { Role::B },
        relay: row.get(3).map_err(fault)?,
        peer_name: row.get(4).map_err(fault)?,
        made_at_ms: number(row.get(5).map_err(fault)?)?,
        row: LinkRow {
            last_received: optional_number(get(8)?)?,
            received_in: optional_number(get(9)?)?,
            floor: number(row.get(10).map_err(fault)?)?,
            is_established: row.get(11).map_err(fault)?,
            unconfirmed_since_ms: optional_number(get(12)?)?,
            lost_since_ms: optional_number(get(13)?)?,
            last_contact_ms: optional_number(get(14)?)?,
        },
        secret: key
            .zip(id)
            .map(|(key, id)| (LinkKey::from_bytes(key), LinkId::from_bytes(id))),
    })
}

fn outbox_row(row: &Row<'_>) -> Read<OutboxRow> {
    let sequence = optional_number(row.get(5).map_err(fault)?)?;
    let created = optional_number(row.get(6).map_err(fault)?)?;
    let collapse: Option<String> = row.get(2).map_err(fault)?;
    Ok(OutboxRow {
        id: PayloadId::from_bytes(row.get(0).map_err(fault)?),
        position: number(row.get(1).map_err(fault)?)?,
        kind: collapse.map_or(RowKind::Msg, |collapse| RowKind::State { collapse }),
        body: row.get(3).map_err(fault)?,
        queued_ms: number(row.get(4).map_err(fault)?)?,
        stored: sequence.zip(created).map(|(sequence, created_ms)| Stored {
            sequence,
            created_ms,
        }),
    })
}

fn failed_row(row: &Row<'_>) -> Read<SentRow> {
    let reason: String = row.get(4).map_err(fault)?;
    let reason = match reason.as_str() {
        "tooLarge" => RowFailure::TooLarge,
        "malformed" => RowFailure::Malformed,
        "expired" => RowFailure::Expired,
        _ => return Err(StorageFault::Damaged),
    };
    Ok(SentRow {
        id: PayloadId::from_bytes(row.get(0).map_err(fault)?),
        content: content(row.get(1).map_err(fault)?),
        body: row.get(2).map_err(fault)?,
        queued_at_ms: number(row.get(3).map_err(fault)?)?,
        progress: LinkProgress::Failed(reason),
    })
}

fn erase_record(row: &Row<'_>) -> Read<EraseRecord> {
    let direction: Option<String> = row.get(4).map_err(fault)?;
    let bye = match direction {
        Some(direction) => Some(Farewell {
            direction: Direction::parse(&direction).ok_or(StorageFault::Damaged)?,
            sequence: number(row.get(5).map_err(fault)?)?,
            envelope: row.get(6).map_err(fault)?,
        }),
        None => None,
    };
    Ok(EraseRecord {
        relay: row.get(0).map_err(fault)?,
        row: EraseRow {
            mailbox: MailboxId::from_bytes(row.get(1).map_err(fault)?),
            token: LinkToken::from_bytes(row.get(2).map_err(fault)?),
            queued_ms: number(row.get(3).map_err(fault)?)?,
            bye,
        },
    })
}

fn content(collapse: Option<String>) -> LinkContent {
    collapse.map_or(LinkContent::Message, |key| LinkContent::State { key })
}
