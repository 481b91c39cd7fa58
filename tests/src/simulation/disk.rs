//! The disk of a simulated device: the meaning of every change, and what a crash leaves.

use std::collections::BTreeMap;

use sealpost_engine::core::group_name::GroupName;
use sealpost_engine::core::issue::DeliveryIssue;
use sealpost_engine::core::membership::MembershipSnapshot;
use sealpost_engine::core::message::{AppMessageId, DeliveryState, NewMessage};
use sealpost_engine::core::status::Phase;
use sealpost_engine::core::step::{
    BufferedManifest, Change, HeldBlob, JoinRecord, Lookup, LookupError, OutboxEntry, OutboxKind,
    OutboxMessage, Snapshot, StoredContent,
};
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, MemberId, NoisePublic};
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
    pub(super) rows: Vec<NewMessage>,
    pub(super) deliveries: BTreeMap<(MessageId, MemberId), DeliveryState>,
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
            rows: Vec::new(),
            deliveries: BTreeMap::new(),
            issues: Vec::new(),
            held: BTreeMap::new(),
            membership: None,
        }
    }

    /// One transaction.
    pub(super) fn commit(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.apply(change);
        }
    }

    /// What a device that starts reads.
    pub(super) fn snapshot(&self) -> Snapshot {
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
        let is_it = |issue: &DeliveryIssue| {
            matches!(issue, DeliveryIssue::SendFailed { message, .. } if *message == request)
        };
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
            Change::SequenceSaved(sequence) => self.sequence = sequence,
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
                if let Some(delivery) = self.deliveries.get_mut(&(message, member)) {
                    *delivery = state;
                }
            }
            other => panic!("a change without a meaning here: {other:?}"),
        }
    }

    fn store(&mut self, row: NewMessage) {
        if self.rows.iter().any(|known| known.id == row.id) {
            return;
        }
        for recipient in &row.recipients {
            self.deliveries
                .insert((row.id, recipient.id.clone()), DeliveryState::Waiting);
        }
        self.rows.push(row);
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
        self.held.clear();
        self.membership = None;
    }
}

impl Lookup for Disk {
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError> {
        Ok(self.handled.contains_key(id))
    }

    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError> {
        Ok(self.bodies.get(&sequence).map(|(_, body)| body.clone()))
    }

    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError> {
        Ok(self.rows.iter().find(|row| row.id == *id).map(content_of))
    }

    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError> {
        let is_it = |row: &&NewMessage| row.author == *author && row.app_id == Some(*app_id);
        Ok(self.rows.iter().find(is_it).map(content_of))
    }

    fn is_deleted(&self, _author: &MemberId, _app_id: &AppMessageId) -> Result<bool, LookupError> {
        // Nothing is deleted here.
        Ok(false)
    }
}

fn content_of(row: &NewMessage) -> StoredContent {
    StoredContent {
        sent_at_ms: row.sent_at_ms,
        body: row.body.clone(),
    }
}
