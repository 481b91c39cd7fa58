//! What a device of the model has on its disk.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_engine::core::link::{LinkChange, LinkRow, LinkSnapshot, OutboxRow, RowKind};
use sealpost_protocol::link::key::{LinkId, LinkKey, Role};
use sealpost_protocol::link::payload::PayloadId;

/// The tables of one link, and what the app made of them.
#[derive(Clone)]
pub(super) struct ModelStore {
    key: LinkKey,
    id: LinkId,
    role: Role,
    row: LinkRow,
    outbox: BTreeMap<PayloadId, OutboxRow>,
    accepted: Vec<PayloadId>,
    /// What arrived, in order, repetitions included.
    pub(super) arrived: Vec<PayloadId>,
    /// What this device queued and hasn't been set back before.
    pub(super) queued: Vec<PayloadId>,
    /// States that a newer one replaced; they needn't arrive.
    pub(super) superseded: BTreeSet<PayloadId>,
    /// Whether the link is over.
    pub(super) is_forgotten: bool,
}

impl ModelStore {
    pub(super) fn new(key: LinkKey, id: LinkId, role: Role) -> Self {
        Self {
            key,
            id,
            role,
            row: LinkRow {
                is_established: true,
                last_contact_ms: Some(0),
                ..LinkRow::default()
            },
            outbox: BTreeMap::new(),
            accepted: Vec::new(),
            arrived: Vec::new(),
            queued: Vec::new(),
            superseded: BTreeSet::new(),
            is_forgotten: false,
        }
    }

    /// One transaction.
    pub(super) fn commit(&mut self, changes: &[LinkChange]) {
        for change in changes {
            match change {
                LinkChange::RowSaved(row) => self.row = *row,
                LinkChange::OutboxAdded(row) => {
                    self.queued.push(row.id);
                    self.outbox.insert(row.id, row.clone());
                }
                LinkChange::OutboxStored { id, stored } => {
                    if let Some(row) = self.outbox.get_mut(id) {
                        row.stored = *stored;
                    }
                }
                LinkChange::OutboxRebased { id, queued_ms } => {
                    if let Some(row) = self.outbox.get_mut(id) {
                        row.queued_ms = *queued_ms;
                    }
                }
                LinkChange::OutboxRemoved { id } => {
                    if let Some(row) = self.outbox.remove(id) {
                        self.note_superseded(&row);
                    }
                }
                LinkChange::Arrived(row) => self.arrived.push(row.id),
                LinkChange::Accepted { id } => self.accepted.push(*id),
                LinkChange::AcceptedForgotten { id } => self.accepted.retain(|other| other != id),
                LinkChange::Forgotten => self.is_forgotten = true,
                LinkChange::LinkAdded(_)
                | LinkChange::EraseQueued(_)
                | LinkChange::EraseRemoved { .. } => {}
            }
        }
    }

    /// A state that goes while a newer one under its key waits needn't arrive.
    fn note_superseded(&mut self, gone: &OutboxRow) {
        let is_newer = |row: &OutboxRow| row.kind == gone.kind && row.position > gone.position;
        if gone.kind != RowKind::Msg && self.outbox.values().any(is_newer) {
            self.superseded.insert(gone.id);
        }
    }

    pub(super) fn snapshot(&self) -> LinkSnapshot {
        LinkSnapshot {
            key: self.key.clone(),
            id: self.id,
            role: self.role,
            row: self.row,
            outbox: self.outbox.values().cloned().collect(),
            accepted: self.accepted.clone(),
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.outbox.len()
    }
}
