//! The outbox: what goes out next, to whom, and when again.
//!
//! Owns the waiting copies of every message and their order, the pushes in flight and the
//! backoff. Never seals, never opens a connection, never holds a body.
//!
//! Invariants:
//! - copies for one recipient go out in the order of their sequence numbers; one behind
//!   another that waits for its retry waits with it. Only control copies pass Sync copies
//!   that are *held* back as a whole (a joiner's, before the words are confirmed; those to a
//!   device that isn't listed at the moment);
//! - at most one push per recipient and [`timing::PUSHES_IN_FLIGHT_MAX`] in all are
//!   unanswered;
//! - a copy leaves the outbox only on the relay's Ack, on a permanent refusal, by expiry, or
//!   when it is withdrawn; "in flight" is memory only, so a restart means waiting;
//! - `sendFailed` is raised once per (message, reason);
//! - at most [`timing::COPIES_REMOVED_AT_ONCE_MAX`] copies in all expire, are withdrawn for who is
//!   gone or given up in one step; those of a message that is deleted go with it.
//!
//! Spec: 2.5, 7.2, 4.6; seed "Sending and receiving", section Sender.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::CryptoRngCore;
use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::{DeviceKeys, NoisePublic, SigningPublic};
use sealpost_protocol::limit::OUTBOX_LIFE_MS;
use sealpost_protocol::message_id::MessageId;

use super::issue::{DeliveryIssue, SendFailure};
use super::message::DeliveryState;
use super::step::{
    Change, Effect, OutboxBody, OutboxEntry, OutboxKind, OutboxMessage, PushId, PushOutcome, Step,
};
use super::timing;

/// The outbox of one device.
#[derive(Default)]
pub(super) struct Outbox {
    messages: BTreeMap<u64, Queued>,
    lanes: BTreeMap<NoisePublic, Lane>,
    /// The waiting copies that go before all other manifests from there on, by sequence
    /// number: newcomers that haven't heard of their admission.
    firsts: BTreeMap<u64, NoisePublic>,
    in_flight: BTreeMap<PushId, InFlight>,
    last_push: u64,
    /// Until when nothing is pushed because the relay refused the Transport Version.
    refused_version_until_ms: Option<u64>,
    /// Own messages whose delivery states changed since the last drain.
    changed: BTreeSet<MessageId>,
    /// How many copies went by themselves since the last drain.
    removed: usize,
}

/// A message of which at least one copy waits.
struct Queued {
    id: MessageId,
    kind: OutboxKind,
    first: Option<NoisePublic>,
    reported: BTreeSet<SendFailure>,
    /// Whether the relay took a copy since this machine was built.
    has_left: bool,
    /// Invariant: the number of lane entries with this sequence number; never 0.
    copies: usize,
}

/// The copies for one recipient.
struct Lane {
    recipient: DeviceKeys,
    control: BTreeSet<u64>,
    sync: BTreeSet<u64>,
    pushing: Option<PushId>,
    failures: u32,
    /// Whether the last failure was the connection's and not an answer of the relay.
    is_unanswered: bool,
    retry_at_ms: u64,
}

struct InFlight {
    recipient: NoisePublic,
    sequence: u64,
    /// The app's message it is a copy of, if it is one. Kept here because the copy may be
    /// withdrawn before its answer comes.
    message: Option<MessageId>,
}

/// A copy that may be sealed and pushed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) sequence: u64,
    pub(super) recipient: DeviceKeys,
    pub(super) kind: OutboxKind,
}

impl Outbox {
    /// Builds the outbox from its rows. Rows that don't fit together are left out: a message
    /// without copies, a copy without its message.
    pub(super) fn restore(
        author: &SigningPublic,
        messages: Vec<OutboxMessage>,
        entries: Vec<OutboxEntry>,
    ) -> Self {
        let mut outbox = Self::default();
        for message in messages {
            let queued = Queued {
                id: MessageId::derive(author, message.sequence),
                kind: message.kind,
                first: message.first,
                reported: message.reported.into_iter().collect(),
                has_left: false,
                copies: 0,
            };
            outbox.messages.insert(message.sequence, queued);
        }
        for entry in entries {
            outbox.add_copy(entry.sequence, entry.recipient);
        }
        outbox.messages.retain(|_, queued| queued.copies > 0);
        outbox
    }

    /// Queues one message for its recipients. Without recipients nothing is queued.
    pub(super) fn add(
        &mut self,
        message: OutboxMessage,
        id: MessageId,
        body: Vec<u8>,
        recipients: &[DeviceKeys],
        step: &mut Step,
    ) {
        if recipients.is_empty() {
            return;
        }
        let sequence = message.sequence;
        debug_assert!(
            !self.messages.contains_key(&sequence),
            "a sequence number is used once"
        );
        let queued = Queued {
            id,
            kind: message.kind,
            first: message.first,
            reported: BTreeSet::new(),
            has_left: false,
            copies: 0,
        };
        self.messages.insert(sequence, queued);
        step.changes
            .push(Change::OutboxMessageAdded(message, OutboxBody(body)));
        for recipient in recipients {
            self.add_copy(sequence, *recipient);
            step.changes.push(Change::OutboxEntryAdded(OutboxEntry {
                sequence,
                recipient: *recipient,
            }));
        }
    }

    /// The copies that may go out now, lowest sequence number first and, within a message,
    /// the copy that goes first before the others. At most as many as there is room for.
    pub(super) fn ready(
        &self,
        now_ms: u64,
        holds_sync: impl Fn(&DeviceKeys) -> bool,
    ) -> Vec<Ready> {
        if self.is_version_refused(now_ms) {
            return Vec::new();
        }
        // One dial serves all: when a copy that waits for the connection is due, the others
        // that wait for it are tried along with it.
        let is_dial_due = self
            .lanes
            .values()
            .any(|lane| lane.is_unanswered && lane.has_head(&holds_sync) && lane.is_due(now_ms));
        let mut ready: Vec<(u64, bool, Ready)> = self
            .lanes
            .iter()
            .filter(|(_, lane)| {
                lane.pushing.is_none()
                    && (lane.is_due(now_ms) || (lane.is_unanswered && is_dial_due))
            })
            .filter_map(|(noise, lane)| {
                let sequence = lane.head(&holds_sync)?;
                let queued = self.messages.get(&sequence)?;
                if !self.is_turn_of(noise, sequence, queued) {
                    return None;
                }
                let goes_first = queued.first.as_ref() == Some(noise);
                let ready = Ready {
                    sequence,
                    recipient: lane.recipient,
                    kind: queued.kind,
                };
                Some((sequence, !goes_first, ready))
            })
            .collect();
        ready.sort_by_key(|(sequence, is_later, _)| (*sequence, *is_later));
        let room = timing::PUSHES_IN_FLIGHT_MAX.saturating_sub(self.in_flight.len());
        ready
            .into_iter()
            .take(room)
            .map(|(_, _, ready)| ready)
            .collect()
    }

    /// Notes that a copy is pushed now.
    pub(super) fn start(&mut self, ready: &Ready) -> PushId {
        self.last_push = self.last_push.saturating_add(1);
        let id = PushId(self.last_push);
        let recipient = ready.recipient.noise;
        if let Some(lane) = self.lanes.get_mut(&recipient) {
            debug_assert!(lane.pushing.is_none(), "one unanswered push per recipient");
            lane.pushing = Some(id);
        }
        let message = self.sync_id(ready.sequence);
        self.in_flight.insert(
            id,
            InFlight {
                recipient,
                sequence: ready.sequence,
                message,
            },
        );
        self.changed.extend(message);
        id
    }

    /// Takes the outcome of a push. One of an earlier identity or run is ignored.
    pub(super) fn handle_outcome(
        &mut self,
        push: PushId,
        outcome: PushOutcome,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
        step: &mut Step,
    ) {
        let Some(flight) = self.in_flight.remove(&push) else {
            return;
        };
        if let Some(lane) = self.lanes.get_mut(&flight.recipient) {
            lane.pushing = None;
        }
        let (recipient, sequence) = (flight.recipient, flight.sequence);
        let is_waiting = self
            .lanes
            .get(&recipient)
            .is_some_and(|lane| lane.contains(sequence));
        self.changed.extend(flight.message);
        match outcome {
            PushOutcome::Stored => {
                self.reset_backoff(&recipient);
                if let Some(queued) = self.messages.get_mut(&sequence) {
                    queued.has_left = true;
                }
                let state = DeliveryState::OnRelay { at_ms: now_ms };
                if is_waiting {
                    self.settle(&recipient, sequence, state, step);
                } else if let Some(message) = flight.message {
                    // Withdrawn too late: it is there all the same.
                    self.note_delivery(&recipient, message, state, step);
                }
            }
            PushOutcome::Refused(refusal) if refusal.is_permanent() => {
                self.reset_backoff(&recipient);
                // Nobody is told of a copy that was taken back meanwhile.
                if is_waiting {
                    let failure = failure_of(refusal);
                    self.fail(&recipient, sequence, failure, now_ms, step);
                }
            }
            PushOutcome::Refused(_) => self.postpone(&recipient, false, now_ms, rng),
            PushOutcome::Unanswered => self.postpone(&recipient, true, now_ms, rng),
            PushOutcome::VersionUnsupported { .. } => {
                self.refused_version_until_ms =
                    Some(now_ms.saturating_add(timing::VERSION_RETRY_MS));
            }
        }
        self.drop_idle_lane(&recipient);
    }

    /// Puts a lane off because its head couldn't be looked up.
    pub(super) fn postpone(
        &mut self,
        recipient: &NoisePublic,
        is_unanswered: bool,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        let Some(lane) = self.lanes.get_mut(recipient) else {
            return;
        };
        lane.retry_at_ms = now_ms.saturating_add(backoff_ms(lane.failures, rng));
        lane.failures = lane.failures.saturating_add(1);
        lane.is_unanswered = is_unanswered;
    }

    /// Removes a copy for good and says so, once per (message, reason).
    pub(super) fn fail(
        &mut self,
        recipient: &NoisePublic,
        sequence: u64,
        failure: SendFailure,
        now_ms: u64,
        step: &mut Step,
    ) {
        let Some(queued) = self.messages.get_mut(&sequence) else {
            return;
        };
        let id = queued.id;
        let is_new = queued.reported.insert(failure);
        self.settle(recipient, sequence, DeliveryState::Failed(failure), step);
        if !is_new {
            return;
        }
        let issue = DeliveryIssue::SendFailed {
            message: id,
            failure,
        };
        step.changes.push(Change::IssueAdded {
            at_ms: now_ms,
            issue: issue.clone(),
        });
        step.effects.push(Effect::Raise(issue));
        if self.messages.contains_key(&sequence) {
            step.changes
                .push(Change::OutboxFailureReported { sequence, failure });
        }
    }

    /// A connection is there: every copy may be tried at once.
    pub(super) fn clear_backoff(&mut self) {
        self.refused_version_until_ms = None;
        for lane in self.lanes.values_mut() {
            lane.clear_backoff();
        }
    }

    /// Removes Sync copies that are past their life, as many as fit in one step. One in flight
    /// stays until its answer. Returns whether those were all.
    pub(super) fn expire(&mut self, now_ms: u64, step: &mut Step) -> bool {
        let has_expired = |sequence: &u64| {
            let queued = self.messages.get(sequence);
            queued.is_some_and(|queued| is_expired(queued.kind, now_ms))
        };
        let copies = self.lanes.iter().flat_map(|(noise, lane)| {
            let flying = self.flying_sequence(lane);
            let expired = lane.sync.iter().filter(|sequence| has_expired(sequence));
            expired
                .filter(move |sequence| Some(**sequence) != flying)
                .map(|sequence| (*noise, *sequence))
        });
        let (copies, is_all) = as_many_as_fit(copies, self.room());
        self.removed = self.removed.saturating_add(copies.len());
        for (recipient, sequence) in copies {
            self.fail(&recipient, sequence, SendFailure::Expired, now_ms, step);
        }
        is_all
    }

    /// Gives up a copy whose turn it is, if that fits in this step; otherwise it stays and is due
    /// at once. Returns whether it is gone.
    pub(super) fn give_up(
        &mut self,
        copy: &Ready,
        failure: SendFailure,
        now_ms: u64,
        step: &mut Step,
    ) -> bool {
        if self.room() == 0 {
            return false;
        }
        self.removed = self.removed.saturating_add(1);
        self.fail(&copy.recipient.noise, copy.sequence, failure, now_ms, step);
        true
    }

    /// The step is over.
    pub(super) const fn end_step(&mut self) {
        self.removed = 0;
    }

    /// How many more copies may go by themselves in this step.
    const fn room(&self) -> usize {
        timing::COPIES_REMOVED_AT_ONCE_MAX.saturating_sub(self.removed)
    }

    /// Takes back Sync copies for recipients that `keeps` doesn't name, as many as fit in one
    /// step. Returns whether those were all.
    pub(super) fn withdraw_sync(
        &mut self,
        keeps: impl Fn(&DeviceKeys) -> bool,
        step: &mut Step,
    ) -> bool {
        let lanes = self.lanes.iter();
        let taken = lanes.filter(|(_, lane)| !keeps(&lane.recipient));
        let copies = taken.flat_map(|(noise, lane)| {
            let copies = lane.sync.iter();
            copies.map(|sequence| (*noise, *sequence))
        });
        let (copies, is_all) = as_many_as_fit(copies, self.room());
        self.removed = self.removed.saturating_add(copies.len());
        self.withdraw(copies, step);
        is_all
    }

    /// Takes back every Pair: there is one at most.
    pub(super) fn withdraw_pair(&mut self, step: &mut Step) {
        let is_pair = |sequence: &&u64| {
            let queued = self.messages.get(sequence);
            queued.is_some_and(|queued| queued.kind == OutboxKind::Pair)
        };
        let lanes = self.lanes.iter();
        let copies = lanes.flat_map(|(noise, lane)| {
            let pairs = lane.control.iter().filter(is_pair);
            pairs.map(|sequence| (*noise, *sequence))
        });
        let copies = copies.collect();
        self.withdraw(copies, step);
    }

    /// Whether the Pair that waits is in flight; `None` where none waits.
    pub(super) fn pair_in_flight(&self) -> Option<bool> {
        let is_pair = |queued: &Queued| queued.kind == OutboxKind::Pair;
        let waiting = self.messages.iter().find(|(_, queued)| is_pair(queued));
        let (sequence, _) = waiting?;
        Some(
            self.in_flight
                .values()
                .any(|push| push.sequence == *sequence),
        )
    }

    /// Takes back an app's message that was sent under these ids, unless a copy of it is in
    /// flight or was taken by the relay.
    pub(super) fn cancel(&mut self, ids: &[MessageId], step: &mut Step) {
        let is_it = |message: &MessageId| ids.contains(message);
        let queued = self.messages.iter().filter(|(_, queued)| is_it(&queued.id));
        let queued: Vec<(u64, bool)> = queued
            .map(|(sequence, queued)| (*sequence, queued.has_left))
            .collect();
        let is_flying = |flight: &InFlight| flight.message.as_ref().is_some_and(is_it);
        if queued.iter().any(|(_, has_left)| *has_left) || self.in_flight.values().any(is_flying) {
            return;
        }
        for (sequence, _) in queued {
            let lanes = self.lanes.iter();
            let holding = lanes.filter(|(_, lane)| lane.sync.contains(&sequence));
            let recipients: Vec<NoisePublic> = holding.map(|(noise, _)| *noise).collect();
            for recipient in recipients {
                self.settle(&recipient, sequence, DeliveryState::Withdrawn, step);
            }
        }
        for id in ids {
            self.changed.remove(id);
        }
    }

    /// Forgets everything without writing anything: the wipe of the store does that.
    pub(super) fn clear(&mut self) {
        *self = Self {
            last_push: self.last_push,
            ..Self::default()
        };
    }

    /// Own messages whose delivery states changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<MessageId> {
        std::mem::take(&mut self.changed)
    }

    /// Whether no copy waits.
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether the copy of this message for this recipient is in flight.
    pub(super) fn is_in_flight(&self, message: &MessageId, recipient: &NoisePublic) -> bool {
        self.lanes
            .get(recipient)
            .and_then(|lane| self.in_flight.get(&lane.pushing?))
            .is_some_and(|flight| flight.message == Some(*message))
    }

    /// When something becomes due without another input.
    pub(super) fn next_wakeup(&self, holds_sync: impl Fn(&DeviceKeys) -> bool) -> Option<u64> {
        if self.in_flight.len() >= timing::PUSHES_IN_FLIGHT_MAX {
            // The next answer makes room, and is an input itself.
            return None;
        }
        let due = self
            .lanes
            .iter()
            .filter(|(noise, lane)| {
                lane.pushing.is_none()
                    && lane.head(&holds_sync).is_some_and(|sequence| {
                        self.messages
                            .get(&sequence)
                            .is_some_and(|queued| self.is_turn_of(noise, sequence, queued))
                    })
            })
            .map(|(_, lane)| lane.retry_at_ms)
            .min()?;
        Some(due.max(self.refused_version_until_ms.unwrap_or(0)))
    }

    fn add_copy(&mut self, sequence: u64, recipient: DeviceKeys) {
        let Some(queued) = self.messages.get_mut(&sequence) else {
            return;
        };
        let lane = self
            .lanes
            .entry(recipient.noise)
            .or_insert_with(|| Lane::new(recipient));
        let copies = match queued.kind {
            OutboxKind::Sync { .. } => &mut lane.sync,
            OutboxKind::Pair | OutboxKind::Revoke | OutboxKind::GroupManifest => &mut lane.control,
        };
        if copies.insert(sequence) {
            queued.copies = queued.copies.saturating_add(1);
        }
        if queued.first == Some(recipient.noise) {
            self.firsts.insert(sequence, recipient.noise);
        }
    }

    /// Removes a copy, and its message with the last one.
    fn settle(
        &mut self,
        recipient: &NoisePublic,
        sequence: u64,
        state: DeliveryState,
        step: &mut Step,
    ) {
        let Some(lane) = self.lanes.get_mut(recipient) else {
            return;
        };
        if !lane.remove(sequence) {
            return;
        }
        if self.firsts.get(&sequence) == Some(recipient) {
            self.firsts.remove(&sequence);
        }
        step.changes.push(Change::OutboxEntryRemoved {
            sequence,
            recipient: *recipient,
        });
        if let Some(message) = self.sync_id(sequence) {
            self.note_delivery(recipient, message, state, step);
        }
        self.drop_idle_lane(recipient);
        let Some(queued) = self.messages.get_mut(&sequence) else {
            return;
        };
        queued.copies = queued.copies.saturating_sub(1);
        if queued.copies == 0 {
            self.messages.remove(&sequence);
            step.changes.push(Change::OutboxMessageRemoved { sequence });
        }
    }

    fn note_delivery(
        &mut self,
        recipient: &NoisePublic,
        message: MessageId,
        state: DeliveryState,
        step: &mut Step,
    ) {
        if let Some(lane) = self.lanes.get(recipient) {
            let member = lane.recipient.signing.member_id();
            step.changes.push(Change::DeliveryChanged {
                message,
                member,
                state,
            });
            self.changed.insert(message);
        }
    }

    fn drop_idle_lane(&mut self, recipient: &NoisePublic) {
        if self.lanes.get(recipient).is_some_and(Lane::is_idle) {
            self.lanes.remove(recipient);
        }
    }

    /// The app's message with this number, if it is one.
    fn sync_id(&self, sequence: u64) -> Option<MessageId> {
        let queued = self.messages.get(&sequence)?;
        matches!(queued.kind, OutboxKind::Sync { .. }).then_some(queued.id)
    }

    fn withdraw(&mut self, copies: Vec<(NoisePublic, u64)>, step: &mut Step) {
        for (recipient, sequence) in copies {
            // One in flight may be on the relay already; its answer corrects that.
            self.settle(&recipient, sequence, DeliveryState::Withdrawn, step);
        }
    }

    fn reset_backoff(&mut self, recipient: &NoisePublic) {
        if let Some(lane) = self.lanes.get_mut(recipient) {
            lane.clear_backoff();
        }
    }

    /// Whether the copy needn't wait for a newcomer to hear of its own admission. That of an
    /// earlier admission counts, too: the later manifest lists that newcomer as well.
    fn is_turn_of(&self, recipient: &NoisePublic, sequence: u64, queued: &Queued) -> bool {
        queued.kind != OutboxKind::GroupManifest
            || self
                .firsts
                .range(..=sequence)
                .all(|(_, first)| first == recipient || self.is_refused(first))
    }

    /// Whether the relay refused a recipient so often that nobody waits for it any more.
    fn is_refused(&self, recipient: &NoisePublic) -> bool {
        self.lanes.get(recipient).is_none_or(|lane| {
            !lane.is_unanswered && lane.failures >= timing::FIRST_COPY_REFUSALS_MAX
        })
    }

    fn flying_sequence(&self, lane: &Lane) -> Option<u64> {
        let push = lane.pushing?;
        self.in_flight.get(&push).map(|flight| flight.sequence)
    }

    fn is_version_refused(&self, now_ms: u64) -> bool {
        // A time further away than the interval means that the clock was set back.
        self.refused_version_until_ms.is_some_and(|until| {
            now_ms < until && until.saturating_sub(now_ms) <= timing::VERSION_RETRY_MS
        })
    }
}

impl Lane {
    const fn new(recipient: DeviceKeys) -> Self {
        Self {
            recipient,
            control: BTreeSet::new(),
            sync: BTreeSet::new(),
            pushing: None,
            failures: 0,
            is_unanswered: false,
            retry_at_ms: 0,
        }
    }

    /// The copy whose turn it is.
    fn head(&self, holds_sync: impl Fn(&DeviceKeys) -> bool) -> Option<u64> {
        let control = self.control.first().copied();
        let sync = self
            .sync
            .first()
            .copied()
            .filter(|_| !holds_sync(&self.recipient));
        control.into_iter().chain(sync).min()
    }

    fn has_head(&self, holds_sync: impl Fn(&DeviceKeys) -> bool) -> bool {
        self.pushing.is_none() && self.head(holds_sync).is_some()
    }

    const fn is_due(&self, now_ms: u64) -> bool {
        // A time further away than the longest delay means that the clock was set back.
        now_ms >= self.retry_at_ms
            || self.retry_at_ms.saturating_sub(now_ms) > timing::BACKOFF_MAX_MS
    }

    fn contains(&self, sequence: u64) -> bool {
        self.control.contains(&sequence) || self.sync.contains(&sequence)
    }

    fn remove(&mut self, sequence: u64) -> bool {
        self.control.remove(&sequence) || self.sync.remove(&sequence)
    }

    fn is_idle(&self) -> bool {
        self.control.is_empty() && self.sync.is_empty() && self.pushing.is_none()
    }

    const fn clear_backoff(&mut self) {
        self.failures = 0;
        self.is_unanswered = false;
        self.retry_at_ms = 0;
    }
}

/// The first copies, and whether those are all.
fn as_many_as_fit(
    mut copies: impl Iterator<Item = (NoisePublic, u64)>,
    room: usize,
) -> (Vec<(NoisePublic, u64)>, bool) {
    let first = copies.by_ref().take(room).collect();
    (first, copies.next().is_none())
}

/// Whether a copy is past its life: only Sync messages have one.
pub(super) const fn is_expired(kind: OutboxKind, now_ms: u64) -> bool {
    match kind {
        OutboxKind::Sync { sent_at_ms } => now_ms >= sent_at_ms.saturating_add(OUTBOX_LIFE_MS),
        OutboxKind::Pair | OutboxKind::Revoke | OutboxKind::GroupManifest => false,
    }
}

fn failure_of(refusal: Refusal) -> SendFailure {
    match refusal {
        Refusal::TooLarge => SendFailure::TooLarge,
        _ => SendFailure::Malformed,
    }
}

/// Doubles with every failure, moved at random, within the first and the longest delay.
fn backoff_ms(failures: u32, rng: &mut impl CryptoRngCore) -> u64 {
    let delay_ms = timing::backoff_ms(failures);
    let reach_ms = delay_ms.saturating_mul(timing::JITTER_PERCENT) / 100;
    let span_ms = reach_ms.saturating_mul(2).saturating_add(1);
    let moved_ms = u64::from(rng.next_u32()) % span_ms;
    delay_ms
        .saturating_sub(reach_ms)
        .saturating_add(moved_ms)
        .clamp(timing::BACKOFF_FIRST_MS, timing::BACKOFF_MAX_MS)
}

#[cfg(test)]
mod tests;
