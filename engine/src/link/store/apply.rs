//! Writes the changes of one step.

use rusqlite::{Transaction, TransactionBehavior, params};
use sealpost_protocol::link::key::Role;
use sealpost_protocol::link::payload::PayloadId;

use super::LinkStore;
use super::read::{ROLE_A, ROLE_B};
use crate::core::error::StorageFault;
use crate::core::link::{
    ArrivedRow, EraseRow, LinkChange, LinkRow, NewLink, OutboxRow, RowFailure, RowKind, Stored,
};
use crate::link::name::LinkName;
use crate::store::encrypted::integer;
use crate::store::fault;

/// The link that changes are about.
#[derive(Clone)]
pub(in crate::link) struct Of {
    /// Its row, once it has one: a pairing has none.
    pub(in crate::link) position: Option<i64>,
    /// What it is called on this device.
    pub(in crate::link) name: LinkName,
    /// The web door of its relay; `None` is the relay in this program.
    pub(in crate::link) relay: Option<String>,
    /// When its pairing began.
    pub(in crate::link) made_at_ms: u64,
}

/// What is left of a link when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) enum EndRecord {
    /// What had arrived, until the person has seen that it ended.
    WhatArrived,
    /// Nothing: the person ended it.
    Nothing,
}

impl LinkStore {
    /// Writes `changes` in one transaction, after rows that will never arrive were set aside.
    /// Returns the position of the link.
    pub(in crate::link) fn apply(
        &mut self,
        of: &Of,
        changes: &[LinkChange],
        failures: &[(PayloadId, RowFailure)],
        end: EndRecord,
    ) -> Result<Option<i64>, StorageFault> {
        if changes.is_empty() && failures.is_empty() {
            return Ok(of.position);
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fault)?;
        let mut writing = Writing {
            transaction: &transaction,
            of,
            position: of.position,
            end,
        };
        for (id, reason) in failures {
            writing.set_aside(id, *reason).map_err(fault)?;
        }
        for change in changes {
            writing.write(change).map_err(fault)?;
        }
        let position = writing.position;
        transaction.commit().map_err(fault)?;
        if changes.contains(&LinkChange::Forgotten) {
            self.truncate_log();
        }
        Ok(position)
    }

    /// Moves the log into the file, which is overwritten where rows were deleted, and leaves
    /// the log empty: nothing of a key that is gone stays behind. If that fails now, closing
    /// does it.
    pub(in crate::link) fn truncate_log(&self) {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let done = self.connection.query_row(checkpoint, [], |_| Ok(()));
        if let Err(error) = done {
            let fault = fault(error);
            tracing::debug!(%fault, "the log of the links stays for now");
        }
    }
}

/// A transaction about one link.
struct Writing<'a> {
    transaction: &'a Transaction<'a>,
    of: &'a Of,
    position: Option<i64>,
    end: EndRecord,
}

impl Writing<'_> {
    fn run(&self, sql: &str, with: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<usize> {
        self.transaction.prepare_cached(sql)?.execute(with)
    }

    fn write(&mut self, change: &LinkChange) -> rusqlite::Result<()> {
        match change {
            LinkChange::RowSaved(row) => self.save(row),
            LinkChange::OutboxAdded(row) => self.add(row),
            LinkChange::OutboxStored { id, stored } => self.set_stored(id, stored.as_ref()),
            LinkChange::OutboxRebased { id, queued_ms } => {
                let sql = "UPDATE outbox SET queued_ms = ?3 WHERE link = ?1 AND id = ?2";
                let queued_ms = integer(*queued_ms);
                self.run(sql, params![self.position, id.as_bytes(), queued_ms])
                    .map(drop)
            }
            LinkChange::OutboxRemoved { id } => self.remove("outbox", id),
            LinkChange::Arrived(row) => self.arrived(row),
            LinkChange::Accepted { id } => {
                let sql = "INSERT OR IGNORE INTO accepted (link, id) VALUES (?1, ?2)";
                self.run(sql, params![self.position, id.as_bytes()])
                    .map(drop)
            }
            LinkChange::AcceptedForgotten { id } => self.remove("accepted", id),
            LinkChange::LinkAdded(link) => self.add_link(link),
            LinkChange::Forgotten => self.forget(),
            LinkChange::EraseQueued(row) => self.queue_erase(row),
            LinkChange::EraseRemoved { mailbox } => {
                let sql = "DELETE FROM erase WHERE mailbox = ?1";
                self.run(sql, params![mailbox.as_bytes()]).map(drop)
            }
        }
    }

    fn save(&self, row: &LinkRow) -> rusqlite::Result<()> {
        let sql = "UPDATE link SET last_received = ?2, received_in = ?3, floor = ?4,
                       is_established = ?5, unconfirmed_since_ms = ?6, lost_since_ms = ?7,
                       last_contact_ms = ?8
                   WHERE position = ?1";
        self.run(
            sql,
            params![
                self.position,
                row.last_received.map(integer),
                row.received_in.map(integer),
                integer(row.floor),
                row.is_established,
                row.unconfirmed_since_ms.map(integer),
                row.lost_since_ms.map(integer),
                row.last_contact_ms.map(integer),
            ],
        )
        .map(drop)
    }

    fn add(&self, row: &OutboxRow) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO outbox
                       (link, id, position, collapse, body, queued_ms, sequence, created_ms)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let (sequence, created) = place(row.stored.as_ref());
        self.run(
            sql,
            params![
                self.position,
                row.id.as_bytes(),
                integer(row.position),
                collapse(&row.kind),
                row.body,
                integer(row.queued_ms),
                sequence,
                created,
            ],
        )
        .map(drop)
    }

    fn set_stored(&self, id: &PayloadId, stored: Option<&Stored>) -> rusqlite::Result<()> {
        let sql = "UPDATE outbox SET sequence = ?3, created_ms = ?4 WHERE link = ?1 AND id = ?2";
        let (sequence, created) = place(stored);
        self.run(
            sql,
            params![self.position, id.as_bytes(), sequence, created],
        )
        .map(drop)
    }

    fn remove(&self, table: &str, id: &PayloadId) -> rusqlite::Result<()> {
        let sql = format!("DELETE FROM {table} WHERE link = ?1 AND id = ?2");
        self.run(&sql, params![self.position, id.as_bytes()])
            .map(drop)
    }

    fn arrived(&self, row: &ArrivedRow) -> rusqlite::Result<()> {
        // A state that wasn't handled is of no use any more once there is a newer one.
        if let RowKind::State { collapse } = &row.kind {
            let sql = "DELETE FROM arrived WHERE link = ?1 AND collapse = ?2";
            self.run(sql, params![self.position, collapse])?;
        }
        let sql = "INSERT OR IGNORE INTO arrived (link, id, collapse, body, ts_ms, arrived_ms)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.run(
            sql,
            params![
                self.position,
                row.id.as_bytes(),
                collapse(&row.kind),
                row.body,
                integer(row.ts_ms),
                integer(row.arrived_ms),
            ],
        )
        .map(drop)
    }

    fn add_link(&mut self, link: &NewLink) -> rusqlite::Result<()> {
        let role = match link.role {
            Role::A => ROLE_A,
            Role::B => ROLE_B,
        };
        let sql = "INSERT INTO link (name, role, relay, peer_name, platform, made_at_ms, key, id)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.run(
            sql,
            params![
                self.of.name.as_str(),
                role,
                self.of.relay,
                link.peer_name,
                link.peer_platform,
                integer(self.of.made_at_ms),
                link.key.as_bytes(),
                link.id.as_bytes(),
            ],
        )?;
        self.position = Some(self.transaction.last_insert_rowid());
        self.save(&link.row)?;
        link.outbox.iter().try_for_each(|row| self.add(row))
    }

    fn forget(&self) -> rusqlite::Result<()> {
        if self.end == EndRecord::Nothing {
            let sql = "DELETE FROM link WHERE position = ?1";
            return self.run(sql, params![self.position]).map(drop);
        }
        for sql in [
            "UPDATE link SET key = NULL, id = NULL, last_received = NULL, received_in = NULL,
                 floor = 0 WHERE position = ?1",
            "DELETE FROM outbox WHERE link = ?1",
            "DELETE FROM failed WHERE link = ?1",
            "DELETE FROM accepted WHERE link = ?1",
        ] {
            self.run(sql, params![self.position])?;
        }
        Ok(())
    }

    fn queue_erase(&self, row: &EraseRow) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO erase (mailbox, token, relay, queued_ms, bye_direction,
                       bye_sequence, bye_envelope)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let bye = row.bye.as_ref();
        self.run(
            sql,
            params![
                row.mailbox.as_bytes(),
                row.token.as_bytes(),
                self.of.relay,
                integer(row.queued_ms),
                bye.map(|bye| bye.direction.as_str()),
                bye.map(|bye| integer(bye.sequence)),
                bye.map(|bye| &bye.envelope),
            ],
        )
        .map(drop)
    }

    fn set_aside(&self, id: &PayloadId, reason: RowFailure) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO failed (link, id, collapse, body, queued_ms, reason)
                   SELECT link, id, collapse, body, queued_ms, ?3 FROM outbox
                   WHERE link = ?1 AND id = ?2";
        let reason = reason.code();
        self.run(sql, params![self.position, id.as_bytes(), reason])
            .map(drop)
    }
}

fn collapse(kind: &RowKind) -> Option<&str> {
    match kind {
        RowKind::Msg => None,
        RowKind::State { collapse } => Some(collapse),
    }
}

fn place(stored: Option<&Stored>) -> (Option<i64>, Option<i64>) {
    (
        stored.map(|stored| integer(stored.sequence)),
        stored.map(|stored| integer(stored.created_ms)),
    )
}
