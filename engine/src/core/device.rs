//! The whole machine of one group: everything a device decides, without doing any of it.
//!
//! Owns the status and the machines under it: outbox, inbox, pairing, membership. Takes
//! inputs by `handle_*`, and hands out what follows by [`Device::drain`] as one [`Step`]:
//! writes for one transaction, and effects for after it. Never touches a socket, the
//! database, the clock or the source of randomness; they are arguments.
//!
//! Invariants:
//! - an input that returns an error changed nothing, but for the wish to leave that is
//!   remembered with `manifestAwaited`;
//! - nothing leaves (push, acknowledgement, event) but as an effect of the step that holds
//!   the writes it rests on;
//! - there is membership exactly in `Member` and `Ending`;
//! - a machine restored from the committed writes at any point goes on where this one was,
//!   but for what is memory only: pushes in flight, the pairing window, handler attempts.
//!
//! Spec: 3 to 8 and appendix B; the wipe and its order: 5.6, 5.7.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rand_core::CryptoRngCore;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, MemberId, SigningPublic};
use sealpost_protocol::limit::{BODY_BYTES_MAX, SEQUENCE_MAX};
use sealpost_protocol::manifest::{self, ManifestHash};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;
use thiserror::Error;

use super::absence::Absence;
use super::error::{EngineError, StorageFault};
use super::event::{Event, JoinProgress, Member, PairingState};
use super::group_name::GroupName;
use super::held::HeldBlobs;
use super::inbox;
use super::inbox::Inbox;
use super::issue::{DeliveryIssue, HandlerError, Unreadable};
use super::membership::{Cohesion, Membership};
use super::message::Message;
use super::outbox::Outbox;
use super::pairing::Pairing;
use super::run_marker::{OwnRuns, RunMarker};
use super::status::{Connection, Phase, Status, StatusReason};
use super::step::{
    BufferedManifest, Change, Effect, HandlerRun, Lookup, PushId, PushOutcome, SessionId, Snapshot,
    Step, WordsTarget,
};
use super::timing;

mod ending;
mod joining;
mod membering;
mod naming;
mod receiving;
mod sending;
#[cfg(test)]
mod tests;

/// The machine of one group on one device.
pub struct Device {
    secrets: DeviceSecrets,
    keys: DeviceKeys,
    name: DeviceName,
    group_name: Option<GroupName>,
    /// Whether that name was given on this device.
    gave_name: bool,
    body_bytes_max: usize,
    phase: Phase,
    /// The status that the app was told last.
    told: Status,
    /// How far the join was when that was last told.
    told_progress: Option<JoinProgress>,
    last_sequence: u64,
    connection: Connection,
    has_handler: bool,
    outbox: Outbox,
    inbox: Inbox,
    held: HeldBlobs,
    pairing: Pairing,
    buffered: Vec<BufferedManifest>,
    membership: Option<Membership>,
    /// What the merge timer was told last: a session up and no blob waiting.
    was_drained: bool,
    /// Whether the person wants to leave, which no known manifest could carry yet.
    wants_leave: bool,
    /// Whether the person gave up waiting for the end of a group.
    is_forgotten: bool,
    /// Whether copies may wait that go to nobody any more.
    withdraws: bool,
    next_sweep_ms: u64,
    runs: OwnRuns,
    absence: Absence,
    /// Bodies known in this drain, so that what is queued now can be pushed now.
    bodies: BTreeMap<u64, Vec<u8>>,
    step: Step,
}

/// What doesn't come from the store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// A lower limit than the Protocol Size Limit for the body given to `send`; a higher one
    /// is clamped.
    pub max_payload_bytes: Option<usize>,
}

/// Why a snapshot can't be what this machine wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RestoreError {
    /// The phase needs a group, and there is none.
    #[error("the stored phase needs membership rows")]
    MembershipMissing,
    /// The phase needs a join, and there is none.
    #[error("the stored phase needs a join row")]
    JoinMissing,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

/// Input.
impl Device {
    /// Builds the machine from what the store holds. The first drain finishes what a stop
    /// interrupted.
    ///
    /// # Errors
    ///
    /// If the rows contradict each other.
    pub fn restore(
        snapshot: Snapshot,
        settings: Settings,
        now_ms: u64,
    ) -> Result<Self, RestoreError> {
        let keys = snapshot.secrets.keys();
        let membership = match (snapshot.phase, snapshot.membership) {
            (Phase::NotJoined | Phase::PendingJoin, _) => None,
            (_, None) => return Err(RestoreError::MembershipMissing),
            (_, Some(rows)) => Some(
                Membership::restore(keys, rows, now_ms)
                    .map_err(|_| RestoreError::MembershipMissing)?,
            ),
        };
        if snapshot.phase == Phase::PendingJoin && snapshot.join.is_none() {
            return Err(RestoreError::JoinMissing);
        }
        let limit = settings.max_payload_bytes.unwrap_or(BODY_BYTES_MAX);
        let join = snapshot.join.filter(|join| match snapshot.phase {
            Phase::PendingJoin => true,
            Phase::Member => !join.confirmed,
            Phase::NotJoined | Phase::Ending(_) => false,
        });
        let mut device = Self {
            keys,
            secrets: snapshot.secrets,
            name: snapshot.name,
            group_name: snapshot.group_name,
            gave_name: snapshot.gave_name,
            body_bytes_max: limit.min(BODY_BYTES_MAX),
            phase: snapshot.phase,
            told: snapshot.phase.status(),
            told_progress: None,
            last_sequence: snapshot.last_sequence,
            connection: Connection::Disconnected(None),
            has_handler: false,
            outbox: Outbox::restore(
                &keys.signing,
                snapshot.outbox_messages,
                snapshot.outbox_entries,
            ),
            inbox: Inbox::default(),
            held: HeldBlobs::restore(snapshot.held),
            pairing: Pairing::restore(join),
            buffered: snapshot.buffered,
            membership,
            was_drained: false,
            wants_leave: snapshot.wants_leave,
            is_forgotten: false,
            // A stop may have come in between.
            withdraws: true,
            next_sweep_ms: now_ms,
            runs: OwnRuns::default(),
            absence: Absence::restore(snapshot.seen_ms),
            bodies: BTreeMap::new(),
            step: Step::default(),
        };
        device.told_progress = device.pairing.join_record().map(|_| device.join_progress());
        device.want_join_words();
        device.carry_out_membership(None, now_ms);
        Ok(device)
    }

    /// Takes over what no store holds from the machine that this one replaces: the open
    /// pairing window, unless it is another identity's or the phase has none.
    pub fn take_over(&mut self, last: &mut Self) {
        let has_window = matches!(self.phase, Phase::NotJoined | Phase::Member);
        let keys = self.keys;
        let members: Vec<DeviceKeys> = self.view().map(|member| member.keys).collect();
        let fits = |of| has_window && of == keys;
        let wanted = self.pairing.take_over(&mut last.pairing, fits, &members);
        self.runs = std::mem::take(&mut last.runs);
        self.step
            .effects
            .extend(wanted.into_iter().map(Effect::ComputeWords));
    }

    /// Takes the marker of this run and those of earlier runs on this store, before anything
    /// is sent.
    pub fn handle_runs(&mut self, current: RunMarker, known: BTreeSet<RunMarker>) {
        self.runs = OwnRuns::new(current, known, self.last_sequence);
    }

    /// Looks for a copy of this device: it sends its marker to itself.
    pub const fn handle_look_for_copy(&mut self) {
        self.runs.want();
    }

    /// A message handler was set, or cancelled. A run that has begun goes to its end.
    pub fn handle_handler_set(&mut self, is_set: bool) {
        self.has_handler = is_set;
    }

    /// A run couldn't start, because the handler was cancelled in between. It starts once
    /// there is one again, which [`Device::handle_handler_set`] says.
    pub fn handle_handler_missing(&mut self, run: HandlerRun) {
        self.has_handler = false;
        self.inbox.handle_missing_handler(run);
    }

    /// The person wants everything to be tried now.
    pub fn handle_reconnect(&mut self) {
        self.outbox.clear_backoff();
    }

    /// The shell dials, waits, or gave up; for a session that is up there is
    /// [`Device::handle_session_started`].
    pub fn handle_connection(&mut self, connection: Connection) {
        self.set_connection(connection);
    }

    /// A Receive Session is up: every push may be tried at once.
    pub fn handle_session_started(&mut self, session: SessionId) {
        self.inbox.start_session(session);
        self.held.end_session();
        self.outbox.clear_backoff();
        self.absence.begin();
        self.set_connection(Connection::Connected);
    }

    /// A Receive Session ended, for this reason or none.
    pub fn handle_session_ended(&mut self, session: SessionId, connection: Connection) {
        self.inbox.end_session(session);
        if !self.inbox.is_up() {
            self.held.end_session();
            self.set_connection(connection);
        }
    }

    /// The relay delivered a blob.
    pub fn handle_deliver(&mut self, session: SessionId, blob: u64, envelope: Vec<u8>) {
        let at = inbox::BlobRef { session, blob };
        self.inbox.add(at, envelope);
    }

    /// The relay sent a frame that has no place in a Receive Session; the shell closes it.
    pub fn handle_bad_frame(&mut self, now_ms: u64) {
        let issue = DeliveryIssue::Unreadable(Unreadable::Malformed);
        inbox::raise(issue, now_ms, &mut self.step);
    }

    /// The message handler is done with a message, or failed at it.
    pub fn handle_handler_outcome(
        &mut self,
        run: HandlerRun,
        outcome: Result<(), HandlerError>,
        now_ms: u64,
    ) {
        if let Some(handled) = self.inbox.handle_outcome(run, outcome, now_ms) {
            self.finish_message(handled, now_ms);
        }
    }

    /// A push ended.
    pub fn handle_push_outcome(
        &mut self,
        push: PushId,
        outcome: PushOutcome,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        self.follow_version(outcome);
        let asks = |device: &Self| {
            device.phase == Phase::PendingJoin && device.outbox.pair_in_flight().is_some()
        };
        let asked = asks(self);
        self.outbox
            .handle_outcome(push, outcome, now_ms, rng, &mut self.step);
        if asked
            && !asks(self)
            && outcome != PushOutcome::Stored
            && let Some(record) = self.pairing.refuse_join()
        {
            self.step.changes.push(Change::JoinSaved(record.clone()));
        }
    }

    /// Time passed. Due at [`Device::next_wakeup`], harmless at any other time.
    pub fn handle_wakeup(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if self.has_handler
            && let Some(handled) = self.inbox.handle_wakeup(now_ms, &mut self.step)
        {
            self.finish_message(handled, now_ms);
        }
        if let Some(at) = self.runs.take_held(now_ms) {
            inbox::acknowledge(at, &mut self.step);
        }
        self.fire_membership_timer(now_ms, rng);
        let is_sweep_due = now_ms >= self.next_sweep_ms
            || self.next_sweep_ms.saturating_sub(now_ms) > timing::SWEEP_INTERVAL_MS;
        if is_sweep_due {
            let is_all = self.outbox.expire(now_ms, &mut self.step);
            // What is left of many is due at once.
            let pause_ms = if is_all { timing::SWEEP_INTERVAL_MS } else { 0 };
            self.next_sweep_ms = now_ms.saturating_add(pause_ms);
            self.held.forget_gone(now_ms, &mut self.step);
            self.step
                .changes
                .push(Change::HandledPurged { before_ms: now_ms });
        }
    }

    /// Decides the next blobs and hands out the run of the message handler that they lead to,
    /// ahead of the drain, so that the records of many messages share one commit. A handler
    /// is then called before its forerunner's record is durable; a crash in between calls
    /// both again, as one before any commit does. `None` as soon as the step holds anything
    /// but such records: a run must not rest on a change of the group that may fail.
    pub fn run_ahead(
        &mut self,
        now_ms: u64,
        lookup: &impl Lookup,
    ) -> Option<(HandlerRun, Message)> {
        if !self.step.holds_only_records() {
            return None;
        }
        self.decide_blobs(now_ms, lookup);
        if !self.step.holds_only_records() {
            return None;
        }
        self.step.take_run()
    }

    /// Hands out what `send` was asked, if nothing else waits to be written: its caller needn't
    /// wait for the sealing, which is half of the work. The drain that has to follow seals it.
    pub fn drain_sends(&mut self) -> Option<Step> {
        self.step
            .holds_only_sends()
            .then(|| std::mem::take(&mut self.step))
    }

    /// Works through the waiting blobs as far as possible, seals what may be pushed, and
    /// hands out everything that follows from the inputs since the last drain.
    pub fn drain(
        &mut self,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
        lookup: &impl Lookup,
    ) -> Step {
        self.note_presence(now_ms);
        self.decide_blobs(now_ms, lookup);
        self.fire_membership_timer(now_ms, rng);
        self.withdraw_some();
        self.finish_ending(rng);
        // Only now: an end that is over within the step is told as one change.
        self.tell_status(None);
        self.push_ready(now_ms, rng, lookup);
        self.push_marker(now_ms, rng);
        self.tell_join_progress();
        for id in self.outbox.take_changed() {
            self.tell(Event::MessageChanged { id });
        }
        self.outbox.end_step();
        self.inbox.forget_recorded();
        self.pairing.note_drained();
        self.bodies.clear();
        std::mem::take(&mut self.step)
    }
}

/// Questions.
impl Device {
    /// When [`Device::handle_wakeup`] is due, in Unix ms. A clock may be set, so the shell
    /// looks at it more often than this says.
    #[must_use]
    pub fn next_wakeup(&self) -> Option<u64> {
        // A group that ends merges nothing any more.
        let membership = self
            .membership
            .as_ref()
            .filter(|_| self.phase == Phase::Member)
            .and_then(Membership::next_timer);
        [
            self.outbox.next_wakeup(|to| self.holds_sync(to)),
            self.inbox.next_wakeup().filter(|_| self.has_handler),
            membership,
            self.runs.next_wakeup(),
            self.withdraws.then_some(0),
            Some(self.next_sweep_ms),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Where the device stands.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.phase.status()
    }

    /// How the device reaches its relay.
    #[must_use]
    pub const fn connection(&self) -> Connection {
        self.connection
    }

    /// The identity in use.
    #[must_use]
    pub const fn secrets(&self) -> &DeviceSecrets {
        &self.secrets
    }

    /// The public keys of the identity in use.
    #[must_use]
    pub const fn keys(&self) -> DeviceKeys {
        self.keys
    }

    /// This device, under the name that the group knows it by.
    #[must_use]
    pub fn me(&self) -> Member {
        self.member(&self.keys.signing).unwrap_or_else(|| Member {
            id: self.keys.signing.member_id(),
            name: self.name.clone(),
            keys: self.keys,
        })
    }

    /// The other members.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        self.view()
            .filter(|member| member.keys.signing != self.keys.signing)
            .map(Member::of)
            .collect()
    }

    /// What the group is called, if it has a name.
    #[must_use]
    pub fn group_name(&self) -> Option<&str> {
        self.group_name.as_ref().map(|name| name.text.as_str())
    }

    /// The current manifest's version and hash: equal on all devices that agree.
    #[must_use]
    pub fn manifest(&self) -> Option<(u64, ManifestHash)> {
        let current = self.membership.as_ref()?.current();
        Some((current.version(), current.hash()))
    }

    /// How this device stands with the others of its group; `heard` are those that wrote a
    /// message. Nothing where the group is over.
    #[must_use]
    pub fn cohesion(&self, heard: &BTreeSet<SigningPublic>) -> Option<Cohesion> {
        let membership = self.membership.as_ref();
        let membership = membership.filter(|_| self.phase == Phase::Member)?;
        Some(membership.cohesion(heard))
    }

    /// Whether words are still of use.
    #[must_use]
    pub fn wants_words(&self, target: WordsTarget) -> bool {
        self.pairing.wants_words(target)
    }

    /// What pairing looks like.
    #[must_use]
    pub fn pairing(&self) -> PairingState {
        self.pairing.state(self.join_progress())
    }

    /// The largest body that `send` takes.
    #[must_use]
    pub const fn max_payload_bytes(&self) -> usize {
        self.body_bytes_max
    }

    /// Whether a Receive Session should be open: with a handler, or while a group ends.
    #[must_use]
    pub const fn wants_receive_session(&self) -> bool {
        self.has_handler || matches!(self.phase, Phase::Ending(_))
    }

    /// Delivered blobs that aren't decided yet. The shell stops reading at
    /// [`timing::INBOX_WAITING_MAX`].
    #[must_use]
    pub fn inbox_waiting(&self) -> usize {
        self.inbox.waiting()
    }

    /// Whether a copy of the message is in flight to the member:
    /// [`super::message::DeliveryState::Sending`] in place of the stored `Waiting`.
    #[must_use]
    pub fn is_sending(&self, message: &MessageId, member: &MemberId) -> bool {
        member
            .signing_key()
            .and_then(|key| self.member(&key))
            .is_some_and(|listed| self.outbox.is_in_flight(message, &listed.keys.noise))
    }

    fn view(&self) -> impl Iterator<Item = &manifest::Member> {
        self.membership
            .iter()
            .flat_map(|membership| membership.view().values())
    }

    fn member(&self, key: &SigningPublic) -> Option<Member> {
        self.membership.as_ref()?.view().get(key).map(Member::of)
    }

    /// Whether Sync messages to a recipient wait: for the words, for this device to be listed
    /// again, or for the recipient to be. Where the group ends they wait to be taken back.
    fn holds_sync(&self, to: &DeviceKeys) -> bool {
        let Some(membership) = &self.membership else {
            return true;
        };
        matches!(self.phase, Phase::Ending(_))
            || self
                .pairing
                .join_record()
                .is_some_and(|join| !join.confirmed)
            || !membership.is_listed()
            || !membership.view().contains_key(&to.signing)
    }
}

/// What all parts of the machine share.
impl Device {
    fn tell(&mut self, event: Event) {
        self.step.effects.push(Effect::Tell(event));
    }

    fn set_phase(&mut self, phase: Phase, reason: Option<StatusReason>) {
        self.phase = phase;
        self.step.changes.push(Change::PhaseSaved(phase));
        if !matches!(phase, Phase::Ending(_)) {
            self.tell_status(reason);
        }
    }

    fn tell_status(&mut self, reason: Option<StatusReason>) {
        let status = self.phase.status();
        if self.told != status || reason.is_some() {
            self.told = status;
            self.tell(Event::StatusChanged { status, reason });
        }
    }

    /// A refused version concerns the connection as a whole, and so does an accepted one.
    fn follow_version(&mut self, outcome: PushOutcome) {
        let was_refused = matches!(self.connection, Connection::RelayVersionUnsupported { .. });
        match outcome {
            PushOutcome::VersionUnsupported { min, max } => {
                self.set_connection(Connection::RelayVersionUnsupported { min, max });
            }
            PushOutcome::Stored | PushOutcome::Refused(_) if was_refused => {
                let is_up = self.inbox.is_up();
                let unknown = Connection::Disconnected(None);
                self.set_connection(if is_up {
                    Connection::Connected
                } else {
                    unknown
                });
            }
            PushOutcome::Stored | PushOutcome::Refused(_) | PushOutcome::Unanswered => {}
        }
    }

    /// Notes that there is a session, and says when there was none for too long.
    fn note_presence(&mut self, now_ms: u64) {
        if self.phase != Phase::Member || self.connection != Connection::Connected {
            return;
        }
        let look = self.absence.look(now_ms);
        if look.is_to_be_saved {
            self.step.changes.push(Change::SeenSaved(now_ms));
        }
        if let Some(since_ms) = look.since_ms {
            inbox::raise(
                DeliveryIssue::AwayTooLong { since_ms },
                now_ms,
                &mut self.step,
            );
        }
    }

    fn set_connection(&mut self, connection: Connection) {
        if self.connection != connection {
            self.connection = connection;
            self.tell(Event::ConnectionChanged(connection));
        }
    }

    /// The next sequence number: above the last one, and not below the clock, so that a
    /// restored store doesn't use a number twice (amendment 1).
    fn next_sequence(&self, now_ms: u64) -> Result<u64, EngineError> {
        let next = self
            .last_sequence
            .checked_add(1)
            .map(|next| next.max(now_ms));
        next.filter(|next| *next <= SEQUENCE_MAX)
            .ok_or(EngineError::Storage(StorageFault::SequenceExhausted))
    }

    fn take_sequence(&mut self, sequence: u64) -> MessageId {
        debug_assert!(
            sequence > self.last_sequence,
            "a sequence number is used once"
        );
        self.last_sequence = sequence;
        self.step.changes.push(Change::SequenceSaved(sequence));
        MessageId::derive(&self.keys.signing, sequence)
    }
}
