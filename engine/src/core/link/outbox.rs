//! What one link has to send and hasn't had acknowledged, in order.
//!
//! Owns the rows in memory and which of them is next. It never talks to the relay. Every
//! method says what it did as changes, so that memory and table stay one.
//!
//! Invariant: of several states under one key, only the newest one is ever *unsent*; older
//! ones lie on the relay or go.

use std::collections::BTreeMap;

use sealpost_protocol::limit::LINK_LAST_MAX;
use sealpost_protocol::link::payload::{Ack, PayloadId};

use super::clock::ClockJump;
use super::step::{LinkChange, LinkEffect, LinkEvent, LinkStep, OutboxRow, RowKind, Stored};
use super::timing;

/// The outbox of one link.
#[derive(Default)]
pub(super) struct LinkOutbox {
    /// By position.
    rows: BTreeMap<u64, OutboxRow>,
    places: BTreeMap<PayloadId, u64>,
    /// Rows that the relay seems to have handed out; told once.
    collected: Vec<PayloadId>,
}

impl LinkOutbox {
    /// Builds it from its rows.
    pub(super) fn restore(rows: Vec<OutboxRow>) -> Self {
        let mut outbox = Self::default();
        for row in rows {
            outbox.places.insert(row.id, row.position);
            outbox.rows.insert(row.position, row);
        }
        outbox
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn holds(&self, id: &PayloadId) -> bool {
        self.places.contains_key(id)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &OutboxRow> {
        self.rows.values()
    }

    pub(super) fn row(&self, id: &PayloadId) -> Option<&OutboxRow> {
        self.rows.get(self.places.get(id)?)
    }

    pub(super) fn is_collected(&self, id: &PayloadId) -> bool {
        self.collected.contains(id)
    }

    /// The oldest row that isn't on the relay.
    pub(super) fn next_unsent(&self) -> Option<&OutboxRow> {
        self.rows.values().find(|row| row.stored.is_none())
    }

    /// Whether some row is on the relay, as far as is known.
    pub(super) fn has_stored(&self) -> bool {
        self.rows.values().any(|row| row.stored.is_some())
    }

    /// Queues a row. Unsent states under its key go.
    pub(super) fn add(
        &mut self,
        (id, kind, body): (PayloadId, RowKind, Vec<u8>),
        now_ms: u64,
        step: &mut LinkStep,
    ) {
        let last = self
            .rows
            .last_key_value()
            .map_or(0, |(position, _)| *position);
        let row = OutboxRow {
            position: last.saturating_add(1),
            id,
            kind,
            body,
            queued_ms: now_ms,
            stored: None,
        };
        self.places.insert(id, row.position);
        self.rows.insert(row.position, row.clone());
        step.changes.push(LinkChange::OutboxAdded(row));
        self.drop_superseded(step);
    }

    /// The relay has this row.
    pub(super) fn mark_stored(&mut self, id: &PayloadId, stored: Stored, step: &mut LinkStep) {
        if self.set_stored(id, Some(stored), step) {
            step.effects
                .push(LinkEffect::Tell(LinkEvent::RowStored(*id)));
        }
    }

    fn set_stored(&mut self, id: &PayloadId, stored: Option<Stored>, step: &mut LinkStep) -> bool {
        let place = self.places.get(id);
        let Some(row) = place.and_then(|place| self.rows.get_mut(place)) else {
            return false;
        };
        row.stored = stored;
        let id = *id;
        step.changes.push(LinkChange::OutboxStored { id, stored });
        true
    }

    /// Queues again what the relay doesn't have any more: rows of another incarnation of the
    /// mailbox, or above its last sequence (specification 6.3 step 2).
    pub(super) fn requeue_lost(&mut self, created_ms: u64, last: u64, step: &mut LinkStep) {
        self.requeue(step, |stored| {
            stored.created_ms != created_ms || stored.sequence > last
        });
    }

    /// Queues everything again: the other device asked for it.
    pub(super) fn requeue_all(&mut self, step: &mut LinkStep) {
        self.requeue(step, |_| true);
    }

    fn requeue(&mut self, step: &mut LinkStep, is_lost: impl Fn(Stored) -> bool) {
        let lost: Vec<PayloadId> = self
            .rows
            .values()
            .filter(|row| row.stored.is_some_and(&is_lost))
            .map(|row| row.id)
            .collect();
        for id in &lost {
            self.set_stored(id, None, step);
        }
        if !lost.is_empty() {
            self.drop_superseded(step);
        }
    }

    /// Removes unsent states of which a newer one waits, too or lies on the relay.
    fn drop_superseded(&mut self, step: &mut LinkStep) {
        let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
        for (position, row) in &self.rows {
            if let RowKind::State { collapse } = &row.kind {
                newest.insert(collapse, *position);
            }
        }
        let superseded: Vec<PayloadId> = self
            .rows
            .iter()
            .filter(|(position, row)| {
                let RowKind::State { collapse } = &row.kind else {
                    return false;
                };
                let is_newest = newest.get(collapse.as_str()) == Some(position);
                row.stored.is_none() && !is_newest
            })
            .map(|(_, row)| row.id)
            .collect();
        for id in superseded {
            self.remove(&id, LinkEvent::RowSuperseded(id), step);
        }
    }

    /// Removes what the other device has. Only what lies in the incarnation that it speaks of.
    pub(super) fn acknowledge(&mut self, ack: Ack, step: &mut LinkStep) {
        let received: Vec<PayloadId> = self
            .rows
            .values()
            .filter(|row| {
                row.stored
                    .is_some_and(|stored| is_acknowledged(stored, ack))
            })
            .map(|row| row.id)
            .collect();
        for id in received {
            self.remove(&id, LinkEvent::RowReceived(id), step);
        }
    }

    /// Tells of rows that lie below the oldest that the relay still has.
    pub(super) fn note_collected(
        &mut self,
        created_ms: u64,
        (oldest, count): (Option<u64>, Option<u64>),
        step: &mut LinkStep,
    ) {
        let is_gone = |sequence: u64| oldest.map_or(count == Some(0), |oldest| sequence < oldest);
        let gone: Vec<PayloadId> = self
            .rows
            .values()
            .filter(|row| {
                row.stored.is_some_and(|stored| {
                    stored.created_ms == created_ms && is_gone(stored.sequence)
                })
            })
            .map(|row| row.id)
            .filter(|id| !self.collected.contains(id))
            .collect();
        for id in gone {
            self.collected.push(id);
            step.effects
                .push(LinkEffect::Tell(LinkEvent::RowCollected(id)));
        }
    }

    /// Removes a row, and tells why.
    pub(super) fn remove(&mut self, id: &PayloadId, event: LinkEvent, step: &mut LinkStep) {
        let Some(place) = self.places.remove(id) else {
            return;
        };
        self.rows.remove(&place);
        self.collected.retain(|other| other != id);
        step.changes.push(LinkChange::OutboxRemoved { id: *id });
        step.effects.push(LinkEffect::Tell(event));
    }

    /// The clock was set: what waits is as old as before.
    pub(super) fn rebase(&mut self, jump: ClockJump, step: &mut LinkStep) {
        for row in self.rows.values_mut() {
            let queued_ms = jump.rebase(row.queued_ms);
            if queued_ms != row.queued_ms {
                row.queued_ms = queued_ms;
                let id = row.id;
                step.changes
                    .push(LinkChange::OutboxRebased { id, queued_ms });
            }
        }
    }

    /// The ids of the rows whose time is over.
    pub(super) fn expired(&self, now_ms: u64) -> Vec<PayloadId> {
        let is_over = |row: &&OutboxRow| expiry(row) <= now_ms;
        self.rows
            .values()
            .filter(is_over)
            .map(|row| row.id)
            .collect()
    }

    /// When the next row's time is over.
    pub(super) fn next_expiry(&self) -> Option<u64> {
        self.rows.values().map(expiry).min()
    }
}

fn expiry(row: &OutboxRow) -> u64 {
    row.queued_ms.saturating_add(timing::ROW_LIFE_MS)
}

/// Whether an acknowledgement covers what lies there.
pub(super) fn is_acknowledged(stored: Stored, ack: Ack) -> bool {
    ack.sequence <= LINK_LAST_MAX
        && stored.created_ms == ack.created_ms
        && stored.sequence <= ack.sequence
}
