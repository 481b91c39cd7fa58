//! The disk of a simulated device: the rows, the short way of a `send`, and what a crash leaves.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use sealpost_engine::core::message::{AppMessageId, DeliveryState, MessageHandle, NewMessage};
use sealpost_engine::core::rows::Rows;
use sealpost_engine::core::step::{
    Change, Lookup, LookupError, OutboxBody, OutboxEntry, OutboxKind, OutboxMessage, Snapshot,
    StoredContent,
};
use sealpost_protocol::key::{DeviceSecrets, MemberId, SigningPublic};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

/// The rows of one device.
#[derive(Clone)]
pub(super) struct Disk {
    tables: Rows,
    /// Messages whose `send` was answered and whose rows aren't written yet.
    sent: BTreeMap<u64, NewMessage>,
    /// Whether ids inside bodies aren't looked up: what a mutation does.
    pub(super) forgets_app_ids: bool,
}

impl Deref for Disk {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.tables
    }
}

impl DerefMut for Disk {
    fn deref_mut(&mut self) -> &mut Rows {
        &mut self.tables
    }
}

impl Disk {
    pub(super) const fn new(secrets: DeviceSecrets, name: DeviceName) -> Self {
        Self {
            tables: Rows::new(secrets, name),
            sent: BTreeMap::new(),
            forgets_app_ids: false,
        }
    }

    /// One transaction, after what is left of a `send`.
    pub(super) fn commit(&mut self, changes: Vec<Change>) {
        self.finish_sends_left();
        self.tables.write(changes);
    }

    /// Makes one `send` durable by one row, as the store does.
    pub(super) fn begin_send(&mut self, changes: &[Change]) {
        let [
            Change::SequenceSaved(sequence),
            Change::MessageStored(row),
            ..,
        ] = changes
        else {
            panic!("a send begins with its number and its row");
        };
        self.finish_sends_left();
        self.sent.insert(*sequence, row.clone());
    }

    /// Writes the other rows of the `send` that was begun, or that a stop left half written.
    pub(super) fn finish_sends_left(&mut self) {
        for (sequence, row) in self.take_sends_left() {
            self.tables.write(changes_of(sequence, row));
        }
    }

    /// Whether the rows of a `send` aren't all written.
    pub(super) fn has_sends_left(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Loses the other rows of the `send`s that weren't finished: what a mutation does.
    pub(super) fn take_sends_left(&mut self) -> BTreeMap<u64, NewMessage> {
        std::mem::take(&mut self.sent)
    }

    /// Writes rows that were taken.
    pub(super) fn finish_late(&mut self, left: BTreeMap<u64, NewMessage>) {
        self.sent = left;
        self.finish_sends_left();
    }

    /// What of a message has to be known to delete it or to send it once more.
    pub(super) fn message_handle(&self, position: u64) -> Option<MessageHandle> {
        let row = self.rows.get(&position)?;
        let again = self.resends.iter().filter(|(_, of)| **of == position);
        let mut ids = vec![row.id];
        ids.extend(again.map(|(id, _)| *id));
        let mut failed = Vec::new();
        let mut has_left = false;
        for ((of, member), state) in &self.deliveries {
            if *of == position {
                has_left |= matches!(state, DeliveryState::OnRelay { .. });
                if matches!(state, DeliveryState::Failed(_)) {
                    failed.push(member.clone());
                }
            }
        }
        Some(MessageHandle {
            position,
            ids,
            body: row.body.clone(),
            failed,
            has_left,
        })
    }

    /// Whether a copy of a message waits.
    pub(super) fn is_queued(&self, author: &SigningPublic, id: &MessageId) -> bool {
        self.bodies
            .keys()
            .any(|sequence| MessageId::derive(author, *sequence) == *id)
    }

    /// What a device that starts reads.
    pub(super) fn snapshot(&self) -> Snapshot {
        if !self.sent.is_empty() {
            // What is left of a `send` is sent, though it isn't written.
            let mut finished = self.clone();
            finished.finish_sends_left();
            return finished.snapshot();
        }
        self.tables.snapshot()
    }

    /// Gives every waiting message another number: what a mutation does at a restart.
    pub(super) fn renumber(&mut self) {
        let bodies = std::mem::take(&mut self.bodies);
        for (sequence, (mut message, body)) in bodies {
            message.sequence = sequence + 1;
            self.bodies.insert(sequence + 1, (message, body));
        }
        let entries = std::mem::take(&mut self.entries);
        self.entries = entries
            .into_iter()
            .map(|((sequence, noise), keys)| ((sequence + 1, noise), keys))
            .collect();
        self.sequence += 1;
    }

    /// Drops control messages: what a mutation does after 30 days.
    pub(super) fn drop_control(&mut self) {
        let is_control = |kind: OutboxKind| !matches!(kind, OutboxKind::Sync { .. });
        self.bodies
            .retain(|_, (message, _)| !is_control(message.kind));
        let Rows {
            bodies, entries, ..
        } = &mut self.tables;
        entries.retain(|(sequence, _), _| bodies.contains_key(sequence));
    }
}

impl Lookup for Disk {
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError> {
        self.tables.is_handled(id)
    }

    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError> {
        let left = self.sent.get(&sequence).map(|row| row.body.clone());
        Ok(self.tables.outbox_body(sequence)?.or(left))
    }

    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError> {
        self.tables.stored_message(id)
    }

    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError> {
        if self.forgets_app_ids {
            return Ok(None);
        }
        self.tables.stored_app_message(author, app_id)
    }

    fn is_deleted(&self, author: &MemberId, app_id: &AppMessageId) -> Result<bool, LookupError> {
        Ok(!self.forgets_app_ids && self.tables.is_deleted(author, app_id)?)
    }
}

/// The changes of one `send`, from its row.
fn changes_of(sequence: u64, row: NewMessage) -> Vec<Change> {
    let kind = OutboxKind::Sync {
        sent_at_ms: row.sent_at_ms,
    };
    let message = OutboxMessage {
        sequence,
        kind,
        first: None,
        reported: Vec::new(),
    };
    let copies: Vec<Change> = row
        .recipients
        .iter()
        .map(|recipient| {
            Change::OutboxEntryAdded(OutboxEntry {
                sequence,
                recipient: recipient.keys,
            })
        })
        .collect();
    let body = OutboxBody(row.body.clone());
    let mut changes = vec![Change::SequenceSaved(sequence), Change::MessageStored(row)];
    changes.push(Change::OutboxMessageAdded(message, body));
    changes.extend(copies);
    changes
}
