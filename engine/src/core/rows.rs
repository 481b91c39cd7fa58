//! What every change means: the rows of one group, in memory.
//!
//! Owns the plainest store there can be, beside which the one on disk is an optimisation. The
//! tests of the machines and the simulation of whole groups rest on it, so that a change has
//! one meaning there. The program itself keeps its rows in [`crate::store`].
//!
//! Never checks what it is given and never fails: the machines' own tests do the first, and
//! those who simulate a disk the second.
//!
//! Spec: 8.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, MemberId, NoisePublic};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::group_name::GroupName;
use super::issue::DeliveryIssue;
use super::membership::MembershipSnapshot;
use super::message::{AppMessageId, DeliveryState, NewMessage};
use super::status::Phase;
use super::step::{
    BufferedManifest, Change, HeldBlob, JoinRecord, Lookup, LookupError, OutboxEntry,
    OutboxMessage, Snapshot, StoredContent,
};

/// The rows of one group.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The identity.
    pub secrets: DeviceSecrets,
    /// The name of the device.
    pub name: DeviceName,
    /// What the group is called.
    pub group_name: Option<GroupName>,
    /// Whether it was named here.
    pub gave_name: bool,
    /// Where the device stands.
    pub phase: Phase,
    /// Whether the person wants to leave as soon as that can be.
    pub wants_leave: bool,
    /// The last time at which there was a session with the relay, in Unix ms.
    pub seen_ms: Option<u64>,
    /// The last used sequence number.
    pub sequence: u64,
    /// The unfinished join.
    pub join: Option<JoinRecord>,
    /// Manifests that wait for the admission.
    pub buffered: Vec<BufferedManifest>,
    /// The messages of the outbox with their bodies, by sequence number.
    pub bodies: BTreeMap<u64, (OutboxMessage, Vec<u8>)>,
    /// The copies that wait, by sequence number and recipient.
    pub entries: BTreeMap<(u64, NoisePublic), DeviceKeys>,
    /// The dedup table: until when each row is needed.
    pub handled: BTreeMap<MessageId, u64>,
    /// The message history by position.
    pub rows: BTreeMap<u64, NewMessage>,
    /// The last position that was given.
    pub last_position: u64,
    /// The messages of others that were deleted.
    pub deleted: BTreeSet<(MemberId, AppMessageId)>,
    /// How far own messages came, by position and recipient.
    pub deliveries: BTreeMap<(u64, MemberId), DeliveryState>,
    /// The positions of messages by the ids under which they were sent once more.
    pub resends: BTreeMap<MessageId, u64>,
    /// The delivery issues, oldest first.
    pub issues: Vec<DeliveryIssue>,
    /// The held blobs by digest.
    pub held: BTreeMap<[u8; 32], HeldBlob>,
    /// What is known of the members.
    pub membership: Option<MembershipSnapshot>,
}

impl Rows {
    /// The rows of a device that was in no group yet.
    #[must_use]
    pub const fn new(secrets: DeviceSecrets, name: DeviceName) -> Self {
        Self {
            secrets,
            name,
            group_name: None,
            gave_name: false,
            phase: Phase::NotJoined,
            wants_leave: false,
            seen_ms: None,
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
            issues: Vec::new(),
            held: BTreeMap::new(),
            membership: None,
        }
    }

    /// What a machine is built from.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let messages = self.bodies.values();
        let entries = self.entries.iter();
        Snapshot {
            secrets: self.secrets.clone(),
            name: self.name.clone(),
            group_name: self.group_name.clone(),
            gave_name: self.gave_name,
            phase: self.phase,
            wants_leave: self.wants_leave,
            seen_ms: self.seen_ms,
            last_sequence: self.sequence,
            join: self.join.clone(),
            buffered: self.buffered.clone(),
            outbox_messages: messages.map(|(message, _)| message.clone()).collect(),
            outbox_entries: entries
                .map(|((sequence, _), recipient)| OutboxEntry {
                    sequence: *sequence,
                    recipient: *recipient,
                })
                .collect(),
            held: self.held.values().copied().collect(),
            membership: self.membership.clone(),
        }
    }

    /// Where the history has a message, under whichever of its ids.
    #[must_use]
    pub fn position(&self, id: &MessageId) -> Option<u64> {
        let found = self.rows.iter().find(|(_, row)| row.id == *id);
        found
            .map(|(position, _)| *position)
            .or_else(|| self.resends.get(id).copied())
    }

    /// How far an own message came on its way to a recipient.
    #[must_use]
    pub fn delivery(&self, id: &MessageId, member: &MemberId) -> Option<DeliveryState> {
        let key = (self.position(id)?, member.clone());
        self.deliveries.get(&key).copied()
    }

    /// Writes the changes of one step.
    pub fn write(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.apply(change);
        }
    }

    #[expect(
        clippy::too_many_lines,
        reason = "a flat dispatcher: one arm per change"
    )]
    fn apply(&mut self, change: Change) {
        match change {
            Change::PhaseSaved(phase) => self.phase = phase,
            Change::LeaveWanted(wants) => self.wants_leave = wants,
            Change::SeenSaved(at_ms) => self.seen_ms = Some(at_ms),
            Change::SequenceSaved(sequence) => self.sequence = self.sequence.max(sequence),
            Change::JoinSaved(record) => self.join = Some(record),
            Change::JoinRemoved => self.join = None,
            Change::ManifestBuffered(kept) => self.buffered.push(kept),
            Change::BufferedManifestsRemoved => self.buffered.clear(),
            Change::OutboxMessageAdded(message, body) => {
                self.bodies.insert(message.sequence, (message, body.0));
            }
            Change::OutboxEntryAdded(entry) => {
                let key = (entry.sequence, entry.recipient.noise);
                self.entries.insert(key, entry.recipient);
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
                let kept_ms = self.handled.entry(id).or_default();
                *kept_ms = keep_until_ms.max(*kept_ms);
            }
            Change::HandledPurged { before_ms } => {
                self.handled.retain(|_, until_ms| *until_ms >= before_ms);
            }
            Change::MessageStored(row) => self.store(row),
            Change::MessageDeleted { position } => self.delete(position),
            Change::MessageResent {
                position,
                id,
                members,
            } => self.resend(position, id, members),
            Change::DeliveryChanged {
                message,
                member,
                state,
            } => {
                let position = self.position(&message);
                let key = position.map(|position| (position, member));
                if let Some(delivery) = key.and_then(|key| self.deliveries.get_mut(&key)) {
                    *delivery = state;
                }
            }
            Change::GroupNamed { name, is_mine } => {
                self.group_name = Some(name);
                self.gave_name = is_mine;
            }
            Change::IssueAdded { issue, .. } => self.issues.push(issue),
            Change::HeldBlobAdded(row) => {
                self.held.entry(row.digest).or_insert(row);
            }
            Change::HeldBlobRemoved { digest } => {
                self.held.remove(&digest);
            }
            Change::Membership(change) => {
                self.membership.get_or_insert_default().apply(&change);
            }
            // For people only: nothing is decided by it.
            Change::MembershipNoted(_) => {}
            Change::GroupWiped => self.wipe(),
            Change::IdentityReplaced(secrets) => self.secrets = secrets,
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
        self.last_position = self.last_position.saturating_add(1);
        for recipient in &row.recipients {
            let delivery = (self.last_position, recipient.id.clone());
            self.deliveries.insert(delivery, DeliveryState::Waiting);
        }
        self.rows.insert(self.last_position, row);
    }

    fn delete(&mut self, position: u64) {
        if let Some(row) = self.rows.remove(&position)
            && let (false, Some(app_id)) = (row.own, row.app_id)
        {
            self.deleted.insert((row.author, app_id));
        }
        self.deliveries.retain(|(of, _), _| *of != position);
        self.resends.retain(|_, of| *of != position);
    }

    fn resend(&mut self, position: u64, id: MessageId, members: Vec<MemberId>) {
        self.resends.insert(id, position);
        for member in members {
            if let Some(delivery) = self.deliveries.get_mut(&(position, member))
                && matches!(delivery, DeliveryState::Failed(_))
            {
                *delivery = DeliveryState::Waiting;
            }
        }
    }

    fn wipe(&mut self) {
        self.group_name = self.group_name.take().map(GroupName::left_over);
        self.gave_name = false;
        self.wants_leave = false;
        self.seen_ms = None;
        self.sequence = 0;
        self.join = None;
        self.buffered.clear();
        self.bodies.clear();
        self.entries.clear();
        self.handled.clear();
        self.deleted.clear();
        self.held.clear();
        self.membership = None;
        for state in self.deliveries.values_mut() {
            if *state == DeliveryState::Waiting {
                *state = DeliveryState::Withdrawn;
            }
        }
    }
}

impl Lookup for Rows {
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError> {
        Ok(self.handled.contains_key(id))
    }

    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError> {
        Ok(self.bodies.get(&sequence).map(|(_, body)| body.clone()))
    }

    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError> {
        Ok(self.rows.values().find(|row| row.id == *id).map(content_of))
    }

    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError> {
        let is_it = |row: &&NewMessage| row.author == *author && row.app_id == Some(*app_id);
        Ok(self.rows.values().find(is_it).map(content_of))
    }

    fn is_deleted(&self, author: &MemberId, app_id: &AppMessageId) -> Result<bool, LookupError> {
        Ok(self.deleted.contains(&(author.clone(), *app_id)))
    }
}

fn content_of(row: &NewMessage) -> StoredContent {
    StoredContent {
        sent_at_ms: row.sent_at_ms,
        body: row.body.clone(),
    }
}
