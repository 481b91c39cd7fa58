//! The disk of a simulated device: the meaning of every change, and what a crash leaves.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_engine::core::group_name::GroupName;
use sealpost_engine::core::issue::DeliveryIssue;
use sealpost_engine::core::membership::MembershipSnapshot;
use sealpost_engine::core::message::{AppMessageId, DeliveryState, MessageHandle, NewMessage};
use sealpost_engine::core::status::Phase;
use sealpost_engine::core::step::{
    BufferedManifest, Change, HeldBlob, JoinRecord, Lookup, LookupError, OutboxBody, OutboxEntry,
    OutboxKind, OutboxMessage, Snapshot, StoredContent,
};
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, MemberId, NoisePublic, SigningPublic};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

/// The rows of one device.
#[derive(Clone)]
pub(super) struct Disk {
    secrets: DeviceSecrets,
    name: DeviceName,
    group_name: Option<GroupName>,
    gave_name: bool,
    phase: Phase,
    sequence: u64,
    join: Option<JoinRecord>,
    buffered: Vec<BufferedManifest>,
    bodies: BTreeMap<u64, (OutboxMessage, Vec<u8>)>,
    pub(super) entries: BTreeMap<(u64, NoisePublic), DeviceKeys>,
    pub(super) handled: BTreeMap<MessageId, u64>,
    /// The message history by position.
    pub(super) rows: BTreeMap<u64, NewMessage>,
    last_position: u64,
    /// The messages of others that were deleted.
    deleted: BTreeSet<(MemberId, AppMessageId)>,
    pub(super) deliveries: BTreeMap<(u64, MemberId), DeliveryState>,
    /// The positions of messages by the ids under which they were sent once more.
    resends: BTreeMap<MessageId, u64>,
    /// Messages whose `send` was answered and whose rows aren't written yet.
    sent: BTreeMap<u64, NewMessage>,
    /// Whether ids inside bodies aren't looked up: what a mutation does.
    pub(super) forgets_app_ids: bool,
    pub(super) issues: Vec<DeliveryIssue>,
    pub(super) held: BTreeMap<[u8; 32], HeldBlob>,
    membership: Option<MembershipSnapshot>,
}

impl Disk {
    pub(super) fn new(secrets: DeviceSecrets, name: DeviceName) -> Self {
        Self {
            secrets,
            name,
            group_name: None,
            gave_name: false,
            phase: Phase::NotJoined,
            sequence: 0,
            join: None,
            buffered: Vec::new(),
            bodies: BTreeMap::new(),
            entries: BTreeMap::new(),
            handled: BTreeMap::new(),
            rows: BTreeMap::new(),
            last_position: 0,
            deleted: BTreeSet::new(),
            deliveries: BTreeMap::new(),
            resends: BTreeMap::new(),
            sent: BTreeMap::new(),
            forgets_app_ids: false,
            issues: Vec::new(),
            held: BTreeMap::new(),
            membership: None,
        }
    }

    /// One transaction, after what is left of a `send`.
    pub(super) fn commit(&mut self, changes: Vec<Change>) {
        self.finish_sends_left();
        self.write(changes);
    }

    fn write(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.apply(change);
        }
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
            self.write(changes_of(sequence, row));
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

    /// Where the history has a message, under whichever of its ids.
    pub(super) fn position(&self, id: &MessageId) -> Option<u64> {
        let found = self.rows.iter().find(|(_, row)| row.id == *id);
        found
            .map(|(position, _)| *position)
            .or_else(|| self.resends.get(id).copied())
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
        Snapshot {
            secrets: self.secrets.clone(),
            name: self.name.clone(),
            group_name: self.group_name.clone(),
            gave_name: self.gave_name,
            phase: self.phase,
            last_sequence: self.sequence,
            join: self.join.clone(),
            is_join_refused: self.is_join_refused(),
            buffered: self.buffered.clone(),
            outbox_messages: self.bodies.values().map(|(kept, _)| kept.clone()).collect(),
            outbox_entries: self
                .entries
                .iter()
                .map(|((sequence, _), recipient)| OutboxEntry {
                    sequence: *sequence,
                    recipient: *recipient,
                })
                .collect(),
            held: self.held.values().copied().collect(),
            membership: self.membership.clone(),
        }
    }

    /// As the store on disk finds it.
    fn is_join_refused(&self) -> bool {
        let request = MessageId::derive(&self.secrets.keys().signing, self.sequence);
        let is_it = |issue: &DeliveryIssue| matches!(issue, DeliveryIssue::SendFailed { message, .. } if *message == request);
        self.phase == Phase::PendingJoin && self.issues.iter().any(is_it)
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
        let bodies = &self.bodies;
        self.entries
            .retain(|(sequence, _), _| bodies.contains_key(sequence));
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::PhaseSaved(phase) => self.phase = phase,
            Change::SequenceSaved(sequence) => self.sequence = self.sequence.max(sequence),
            Change::JoinSaved(record) => self.join = Some(record),
            Change::JoinRemoved => self.join = None,
            Change::ManifestBuffered(kept) => self.buffered.push(kept),
            Change::BufferedManifestsRemoved => self.buffered.clear(),
            Change::HeldBlobAdded(row) => {
                self.held.insert(row.digest, row);
            }
            Change::HeldBlobRemoved { digest } => {
                self.held.remove(&digest);
            }
            Change::IssueAdded { issue, .. } => self.issues.push(issue),
            Change::GroupNamed { name, is_mine } => {
                self.group_name = Some(name);
                self.gave_name = is_mine;
            }
            Change::Membership(change) => {
                self.membership.get_or_insert_default().apply(&change);
            }
            Change::MembershipNoted(_) => {}
            Change::GroupWiped => self.wipe(),
            Change::IdentityReplaced(secrets) => self.secrets = secrets,
            other => self.apply_message(other),
        }
    }

    fn apply_message(&mut self, change: Change) {
        match change {
            Change::OutboxMessageAdded(message, body) => {
                self.bodies.insert(message.sequence, (message, body.0));
            }
            Change::OutboxEntryAdded(entry) => {
                self.entries
                    .insert((entry.sequence, entry.recipient.noise), entry.recipient);
            }
            Change::OutboxEntryRemoved {
                sequence,
                recipient,
            } => {
                self.entries.remove(&(sequence, recipient));
            }
            Change::OutboxMessageRemoved { sequence } => {
                self.bodies.remove(&sequence);
            }
            Change::OutboxFailureReported { sequence, failure } => {
                if let Some((message, _)) = self.bodies.get_mut(&sequence) {
                    message.reported.push(failure);
                }
            }
            Change::MessageHandled { id, keep_until_ms } => {
                self.handled.insert(id, keep_until_ms);
            }
            Change::HandledPurged { before_ms } => {
                self.handled.retain(|_, until_ms| *until_ms >= before_ms);
            }
            Change::MessageStored(row) => self.store(row),
            Change::DeliveryChanged {
                message,
                member,
                state,
            } => {
                let position = self.position(&message);
                if let Some(delivery) =
                    position.and_then(|position| self.deliveries.get_mut(&(position, member)))
                {
                    *delivery = state;
                }
            }
            Change::MessageDeleted { position } => {
                if let Some(row) = self.rows.remove(&position)
                    && let (false, Some(app_id)) = (row.own, row.app_id)
                {
                    self.deleted.insert((row.author, app_id));
                }
                self.deliveries.retain(|(of, _), _| *of != position);
                self.resends.retain(|_, of| *of != position);
            }
            Change::MessageResent {
                position,
                id,
                members,
            } => {
                self.resends.insert(id, position);
                for member in members {
                    if let Some(delivery) = self.deliveries.get_mut(&(position, member))
                        && matches!(delivery, DeliveryState::Failed(_))
                    {
                        *delivery = DeliveryState::Waiting;
                    }
                }
            }
            other => panic!("a change without a meaning here: {other:?}"),
        }
    }

    fn store(&mut self, row: NewMessage) {
        let is_it = |known: &NewMessage| {
            let has_same_app_id = known.app_id.is_some() && known.app_id == row.app_id;
            known.id == row.id || (known.author == row.author && has_same_app_id)
        };
        if self.rows.values().any(is_it) {
            return;
        }
        self.last_position += 1;
        for recipient in &row.recipients {
            let delivery = (self.last_position, recipient.id.clone());
            self.deliveries.insert(delivery, DeliveryState::Waiting);
        }
        self.rows.insert(self.last_position, row);
    }

    fn wipe(&mut self) {
        self.group_name = self.group_name.take().map(GroupName::left_over);
        self.gave_name = false;
        self.sequence = 0;
        self.join = None;
        self.buffered.clear();
        self.bodies.clear();
        self.entries.clear();
        self.handled.clear();
        self.deleted.clear();
        self.held.clear();
        self.membership = None;
    }
}

impl Lookup for Disk {
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError> {
        Ok(self.handled.contains_key(id))
    }

    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError> {
        let left = self.sent.get(&sequence).map(|row| &row.body);
        let body = self.bodies.get(&sequence).map(|(_, body)| body).or(left);
        Ok(body.cloned())
    }

    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError> {
        Ok(self.rows.values().find(|row| row.id == *id).map(content_of))
    }

    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError> {
        if self.forgets_app_ids {
            return Ok(None);
        }
        let is_it = |row: &&NewMessage| row.author == *author && row.app_id == Some(*app_id);
        Ok(self.rows.values().find(is_it).map(content_of))
    }

    fn is_deleted(&self, author: &MemberId, app_id: &AppMessageId) -> Result<bool, LookupError> {
        Ok(!self.forgets_app_ids && self.deleted.contains(&(author.clone(), *app_id)))
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

fn content_of(row: &NewMessage) -> StoredContent {
    StoredContent {
        sent_at_ms: row.sent_at_ms,
        body: row.body.clone(),
    }
}
