//! The store in memory: the meaning of every change, and the snapshot that follows from them.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, MemberId, NoisePublic};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use crate::core::group_name::GroupName;
use crate::core::issue::DeliveryIssue;
use crate::core::membership::MembershipSnapshot;
use crate::core::message::{AppMessageId, DeliveryState, NewMessage};
use crate::core::status::Phase;
use crate::core::step::{
    BufferedManifest, Change, HeldBlob, JoinRecord, Lookup, LookupError, OutboxEntry,
    OutboxMessage, Snapshot, StoredContent,
};

/// Everything that survives a crash.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) secrets: DeviceSecrets,
    pub(crate) name: DeviceName,
    pub(crate) group_name: Option<GroupName>,
    pub(crate) gave_name: bool,
    pub(crate) phase: Phase,
    pub(crate) sequence: u64,
    pub(crate) join: Option<JoinRecord>,
    pub(crate) buffered: Vec<BufferedManifest>,
    pub(crate) bodies: BTreeMap<u64, (OutboxMessage, Vec<u8>)>,
    pub(crate) entries: BTreeMap<(u64, NoisePublic), DeviceKeys>,
    pub(crate) handled: BTreeMap<MessageId, u64>,
    pub(crate) rows: Vec<NewMessage>,
    pub(crate) deleted: BTreeSet<(MemberId, AppMessageId)>,
    pub(crate) deliveries: BTreeMap<(MessageId, MemberId), DeliveryState>,
    pub(crate) issues: Vec<DeliveryIssue>,
    pub(crate) held: BTreeMap<[u8; 32], HeldBlob>,
    pub(crate) membership: Option<MembershipSnapshot>,
    /// Rows that were asked for again: the dedup table should have prevented it.
    pub(crate) repeats: usize,
    /// Makes every look-up fail.
    pub(crate) is_broken: bool,
}

impl Store {
    pub(crate) fn new(secrets: DeviceSecrets, name: DeviceName) -> Self {
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
            deleted: BTreeSet::new(),
            deliveries: BTreeMap::new(),
            issues: Vec::new(),
            held: BTreeMap::new(),
            membership: None,
            repeats: 0,
            is_broken: false,
        }
    }

    /// One transaction.
    pub(crate) fn commit(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.apply(change);
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
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
            outbox_messages: self
                .bodies
                .values()
                .map(|(message, _)| message.clone())
                .collect(),
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

    fn apply(&mut self, change: Change) {
        match change {
            Change::PhaseSaved(phase) => self.phase = phase,
            Change::SequenceSaved(sequence) => {
                assert!(sequence > self.sequence, "a sequence number only grows");
                self.sequence = sequence;
            }
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
                assert!(
                    self.bodies.contains_key(&entry.sequence),
                    "an entry has its message"
                );
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
                assert!(
                    !self.entries.keys().any(|(waiting, _)| *waiting == sequence),
                    "a body goes with the last copy"
                );
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
                self.handled
                    .retain(|_, keep_until_ms| *keep_until_ms >= before_ms);
            }
            Change::MessageStored(row) => self.store(row),
            Change::MessageDeleted { position } => {
                let place = usize::try_from(position).unwrap();
                let row = self.rows.remove(place - 1);
                if let (false, Some(app_id)) = (row.own, row.app_id) {
                    self.deleted.insert((row.author, app_id));
                }
            }
            Change::MessageResent { id, members, .. } => {
                let waiting = |member| ((id, member), DeliveryState::Waiting);
                self.deliveries.extend(members.into_iter().map(waiting));
            }
            Change::DeliveryChanged {
                message,
                member,
                state,
            } => {
                assert_ne!(state, DeliveryState::Sending, "in flight is never stored");
                if let Some(delivery) = self.deliveries.get_mut(&(message, member)) {
                    *delivery = state;
                }
            }
            other => panic!("not a change of messages: {other:?}"),
        }
    }

    fn store(&mut self, row: NewMessage) {
        self.repeats += self.rows.iter().filter(|known| known.id == row.id).count();
        let is_known = self.rows.iter().any(|known| {
            known.id == row.id
                || (known.author == row.author
                    && known.app_id.is_some()
                    && known.app_id == row.app_id)
        });
        if is_known {
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

impl Store {
    fn content(
        &self,
        is_it: impl Fn(&NewMessage) -> bool,
    ) -> Result<Option<StoredContent>, LookupError> {
        if self.is_broken {
            return Err(LookupError);
        }
        Ok(self.rows.iter().find(|row| is_it(row)).map(content_of))
    }
}

fn content_of(row: &NewMessage) -> StoredContent {
    StoredContent {
        sent_at_ms: row.sent_at_ms,
        body: row.body.clone(),
    }
}

impl Lookup for Store {
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError> {
        if self.is_broken {
            Err(LookupError)
        } else {
            Ok(self.handled.contains_key(id))
        }
    }

    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError> {
        if self.is_broken {
            return Err(LookupError);
        }
        Ok(self.bodies.get(&sequence).map(|(_, body)| body.clone()))
    }

    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError> {
        self.content(|row| row.id == *id)
    }

    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError> {
        self.content(|row| row.author == *author && row.app_id.as_ref() == Some(app_id))
    }

    fn is_deleted(&self, author: &MemberId, app_id: &AppMessageId) -> Result<bool, LookupError> {
        if self.is_broken {
            return Err(LookupError);
        }
        Ok(self.deleted.contains(&(author.clone(), *app_id)))
    }
}
