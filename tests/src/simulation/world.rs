//! One history: devices, the relay, the network between them, and what each step must do.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use sealpost_engine::core::issue::{DeliveryIssue, Unreadable};
use sealpost_engine::core::message::Message;
use sealpost_engine::core::status::Connection;
use sealpost_engine::core::step::{
    Change, Effect, HandlerRun, Push, PushId, PushOutcome, SessionId, Step,
};
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::envelope::{MessageTag, Received};
use sealpost_protocol::limit::{APP_MESSAGE_ID_BYTES, HANDLER_ATTEMPTS_MAX, REPLAY_WINDOW_MS};
use sealpost_protocol::message_id::MessageId;
use sealpost_relay::store::BlobId;

use super::group::{START_MS, disks};
use super::model::{Known, Model, Sent, Verdict};
use super::mutation::Mutation;
use super::node::{Node, Run};
use super::plan::{Faults, Kind, Plan};
use super::relay::Relay;

pub(super) const HOUR_MS: u64 = 3_600_000;
pub(super) const DAY_MS: u64 = 24 * HOUR_MS;

/// Where an Envelope's version stands (field 7, behind the recipient's key).
pub(super) const VERSION_AT: usize = 35;
/// Where its ephemeral key stands, which names it whatever its version.
pub(super) const EPHEMERAL_AT: std::ops::Range<usize> = 38..70;

pub(super) struct World {
    pub(super) nodes: Vec<Node>,
    pub(super) relay: Relay,
    pub(super) model: Model,
    pub(super) rng: ChaCha8Rng,
    pub(super) plan: Plan,
    pub(super) faults: Faults,
    pub(super) mutation: Option<Mutation>,
    pub(super) now_ms: u64,
    pub(super) steps: u64,
    pub(super) sent: u64,
    /// What the step under way sends.
    pub(super) sending: Vec<(MessageId, Sent)>,
    /// Whether the group ends: from here on only its end is judged.
    pub(super) is_ending: bool,
    known: BTreeMap<Vec<u8>, Known>,
    pub(super) stored_at_ms: BTreeMap<Vec<u8>, Vec<u64>>,
    log: Option<Vec<String>>,
}

impl World {
    pub(super) fn new(seed: u64, mutation: Option<Mutation>, keeps_log: bool) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let plan = Plan::draw(&mut rng);
        Self::of_plan(plan, rng, mutation, keeps_log)
    }

    /// The devices and the relay of a plan, before anything happens.
    pub(super) fn of_plan(
        mut plan: Plan,
        mut rng: ChaCha8Rng,
        mutation: Option<Mutation>,
        keeps_log: bool,
    ) -> Self {
        match mutation {
            Some(Mutation::RelayLifeTooShort) => plan.relay.life_ms -= DAY_MS,
            Some(Mutation::RelayLifeTooLong) => plan.relay.life_ms += DAY_MS,
            _ => {}
        }
        let nodes = disks(plan.devices)
            .into_iter()
            .enumerate()
            .map(|(device, mut disk)| {
                disk.forgets_app_ids = mutation == Some(Mutation::AppMessageIdsForgotten);
                // The group was paired at the true time; for a restored store see `step_clock`.
                let least = if plan.kind == Kind::Rewound { 0 } else { -5 };
                let skew_days = i64::from(rng.next_u32() % 11) + least;
                let skew_ms = skew_days * DAY_MS.cast_signed();
                let own = ChaCha8Rng::seed_from_u64(rng.next_u64());
                Node::new(device, disk, own, skew_ms, START_MS)
            })
            .collect();
        Self {
            nodes,
            relay: Relay::new(plan.relay),
            model: Model::default(),
            rng,
            faults: plan.faults,
            plan,
            mutation,
            now_ms: START_MS,
            steps: 0,
            sent: 0,
            sending: Vec::new(),
            is_ending: false,
            known: BTreeMap::new(),
            stored_at_ms: BTreeMap::new(),
            log: keeps_log.then(Vec::new),
        }
    }

    pub(super) fn take_log(&mut self) -> Vec<String> {
        self.log.take().unwrap_or_default()
    }

    pub(super) fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            let line = line();
            log.push(format!("{} {line}", self.now_ms - START_MS));
        }
    }

    /// Whether devices decide by another time than they keep: markers would wait for days.
    pub(super) fn moves_a_life(&self) -> bool {
        matches!(
            self.mutation,
            Some(
                Mutation::ReplayWindowOneDayLonger
                    | Mutation::ReplayWindowOneDayShorter
                    | Mutation::OutboxLifeOneDayLonger
                    | Mutation::OutboxLifeOneDayShorter
            )
        )
    }

    pub(super) fn is(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// What the device's clock shows.
    pub(super) fn clock(&self, index: usize) -> u64 {
        self.now_ms.saturating_add_signed(self.nodes[index].skew_ms)
    }

    /// What the device is told when it decides.
    pub(super) fn drain_clock(&self, index: usize) -> u64 {
        let clock_ms = self.clock(index);
        match self.mutation {
            Some(Mutation::ReplayWindowOneDayLonger | Mutation::OutboxLifeOneDayLonger) => {
                clock_ms - DAY_MS
            }
            Some(Mutation::ReplayWindowOneDayShorter) => clock_ms + DAY_MS,
            _ => clock_ms,
        }
    }

    pub(super) fn hits(&mut self, per_mille: u32) -> bool {
        self.rng.next_u32() % 1_000 < per_mille
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        let drawn = usize::try_from(self.rng.next_u32()).expect("32 bits fit");
        drawn % count.max(1)
    }

    /// Drains a device, commits and does what it asks for, if it isn't stopped on the way.
    /// Returns whether the step was committed.
    pub(super) fn step(&mut self, index: usize) -> Result<bool, String> {
        self.steps += 1;
        if !self.sending.is_empty()
            && let Some(step) = self.nodes[index].device.drain_sends()
            && !self.settle_sends(index, step)?
        {
            return Ok(false);
        }
        let clock_ms = self.drain_clock(index);
        let node = &mut self.nodes[index];
        node.is_ahead = false;
        node.unrecorded.clear();
        let step = node.device.drain(clock_ms, &mut node.rng, &node.disk);
        self.note(|| format!("{index} {step:?}"));
        let acks_early = self.is(Mutation::AckBeforeCommit);
        if acks_early {
            for effect in &step.effects {
                if let Effect::Acknowledge { session, blob } = effect {
                    self.acknowledge(index, *session, *blob)?;
                }
            }
        }
        let sending = std::mem::take(&mut self.sending);
        if self.hits(self.faults.crash) {
            if self.is(Mutation::SendReturnsBeforeCommit) {
                self.note_sent(sending)?;
            }
            self.crash(index)?;
            return Ok(false);
        }
        self.note_sent(sending)?;
        if !self.is_ending {
            self.judge(index, &step)?;
        }
        self.commit(index, step.changes);
        let mut drops_held = false;
        for effect in step.effects {
            if self.hits(self.faults.crash / 2) {
                self.crash(index)?;
                return Ok(true);
            }
            if let Effect::Raise(issue) = &effect {
                drops_held = *issue == DeliveryIssue::Unreadable(Unreadable::DroppedWhileHeld);
            }
            if drops_held
                && self.is(Mutation::HeldOverflowDropsNewest)
                && let Effect::Acknowledge { .. } = effect
            {
                let newest = self.nodes[index].cursor.as_u64();
                self.acknowledge(index, self.nodes[index].session, newest)?;
                continue;
            }
            self.act(index, effect)?;
        }
        Ok(true)
    }

    /// Commits what `send` was asked and nothing else waits with, and answers it: by one row
    /// and then the others where it is one message. Returns whether the machine goes on.
    fn settle_sends(&mut self, index: usize, step: Step) -> Result<bool, String> {
        self.note(|| format!("{index} sends {step:?}"));
        let sending = std::mem::take(&mut self.sending);
        if self.hits(self.faults.crash) {
            if self.is(Mutation::SendReturnsBeforeCommit) {
                self.note_sent(sending)?;
            }
            self.crash(index)?;
            return Ok(false);
        }
        let is_one = sending.len() == 1;
        self.note_sent(sending)?;
        if !is_one {
            self.commit(index, step.changes);
            return Ok(true);
        }
        let is_unsynced = self.is(Mutation::SentRowNotSynced);
        let node = &mut self.nodes[index];
        node.write(!is_unsynced);
        node.disk.begin_send(&step.changes);
        // Answered. The rest is synced with the commit after it.
        if self.hits(self.faults.crash * 2) {
            self.crash(index)?;
            return Ok(false);
        }
        let node = &mut self.nodes[index];
        node.write(false);
        node.disk.finish_sends_left();
        if self.hits(self.faults.crash) {
            self.crash(index)?;
            return Ok(false);
        }
        Ok(true)
    }

    fn note_sent(&mut self, sending: Vec<(MessageId, Sent)>) -> Verdict {
        for (id, sent) in sending {
            let author = self.nodes[sent.author].device_of;
            let goes_to = |device: &usize| match &sent.again {
                Some((_, recipients)) => recipients.contains(device),
                None => *device != author,
            };
            let recipients: Vec<usize> = (0..self.plan.devices).filter(goes_to).collect();
            self.model.note_sent(id, sent, &recipients)?;
        }
        Ok(())
    }

    fn commit(&mut self, index: usize, mut changes: Vec<Change>) {
        let clock_ms = self.clock(index);
        if changes.is_empty() {
            // The store writes nothing, and so it syncs nothing either.
            return;
        }
        let without_sync = self.is(Mutation::CommitWithoutSync) && self.hits(700);
        let node = &mut self.nodes[index];
        node.write(!without_sync);
        match self.mutation {
            Some(Mutation::SuccessNotRecorded) => {
                changes.retain(|change| !matches!(change, Change::MessageHandled { .. }));
            }
            Some(Mutation::DedupKeptOneDay) => {
                for change in &mut changes {
                    if let Change::MessageHandled { keep_until_ms, .. } = change {
                        *keep_until_ms = clock_ms + DAY_MS;
                    }
                }
            }
            Some(Mutation::IssueRecordedAfterAck) => {
                changes.retain(|change| !matches!(change, Change::IssueAdded { .. }));
            }
            Some(Mutation::SharedCommitKeepsLastRecord) => keep_last_record(&mut changes),
            Some(Mutation::HandlersSendNotWritten) => {
                let is_handled = |change: &Change| matches!(change, Change::MessageHandled { .. });
                if changes.iter().any(is_handled) {
                    changes.retain(|change| {
                        !matches!(
                            change,
                            Change::OutboxMessageAdded(..) | Change::OutboxEntryAdded(_)
                        )
                    });
                }
            }
            _ => {}
        }
        node.disk.commit(changes);
    }

    /// The device stops and starts again from its disk.
    pub(super) fn crash(&mut self, index: usize) -> Verdict {
        self.note(|| format!("{index} stops"));
        for push in std::mem::take(&mut self.nodes[index].in_flight) {
            // What was written to the socket may still arrive.
            if self.hits(500) {
                self.relay.late.push((push.recipient, push.envelope));
            }
        }
        if self.is(Mutation::NewSequenceAtReseal) {
            self.nodes[index].disk.renumber();
        }
        if self.is(Mutation::ControlExpires) && self.is_ending && self.plan.kind == Kind::Destroyed
        {
            self.nodes[index].disk.drop_control();
        }
        // The program alone stops, or the computer, with what it hadn't synced.
        if self.nodes[index].synced.is_some() && self.hits(300) {
            self.nodes[index].synced = None;
        }
        let now_ms = self.now_ms;
        let is_noted = !self.is(Mutation::RunNotNoted);
        let mutation = self.mutation;
        let is_full = self.nodes[index].disk.has_sends_left() && self.hits(300);
        self.nodes[index].restart(now_ms, is_full, mutation);
        self.nodes[index].begin_run(is_noted);
        let faults = std::mem::replace(&mut self.faults, Faults::NONE);
        let done = self.step(index);
        self.faults = faults;
        done.map(|_| ())
    }

    fn act(&mut self, index: usize, effect: Effect) -> Verdict {
        match effect {
            Effect::Push(push) => self.take_push(index, push),
            Effect::Acknowledge { session, blob } => {
                if self.is(Mutation::AckBeforeCommit) {
                    return Ok(());
                }
                self.acknowledge(index, session, blob)
            }
            Effect::StartHandler { run, message } => self.start_handler(index, run, message),
            Effect::AbandonHandler(run) => {
                if self.is(Mutation::HungRunGoesOn) {
                    return Ok(());
                }
                let node = &mut self.nodes[index];
                for gone in node.runs.iter().filter(|known| known.run == run) {
                    let id = gone.message.id;
                    node.begun.remove(&id);
                    // It counts as an attempt where the message is tried again from memory.
                    *node.chance_failures.entry(id).or_default() += 1;
                }
                node.runs.retain(|known| known.run != run);
                Ok(())
            }
            Effect::RestartIdentity => {
                let node = &mut self.nodes[index];
                node.is_up = false;
                node.noise = node.device.keys().noise;
                Ok(())
            }
            Effect::RestartSession(_) => Err("a look-up failed".to_owned()),
            Effect::Raise(issue) => {
                if self.is(Mutation::IssueRecordedAfterAck) {
                    self.nodes[index].disk.issues.push(issue);
                }
                Ok(())
            }
            Effect::ComputeWords(_) | Effect::Tell(_) | Effect::TellMessageStored(_) => Ok(()),
        }
    }

    fn start_handler(&mut self, index: usize, run: HandlerRun, message: Message) -> Verdict {
        let device = self.nodes[index].device_of;
        if !self.is_ending && !self.model.is_copied(device) {
            self.model.judge_run(message.id, device)?;
        }
        let is_hung = self.hits(self.faults.hang) && self.may_fail(index, &message.id);
        let runs_one_at_a_time = self.is(Mutation::HungRunGoesOn);
        let oldest_ms = self.clock(index).saturating_sub(REPLAY_WINDOW_MS);
        let node = &mut self.nodes[index];
        // One that is tried again may have grown old meanwhile.
        let is_first = !node.begun.contains_key(&message.id)
            && !node.chance_failures.contains_key(&message.id);
        if is_first && message.sent_at_ms < oldest_ms {
            return Err("a message is handled that is too old".to_owned());
        }
        if node.unrecorded.contains(&message.id) {
            return Err("the handler runs again before its record is written".to_owned());
        }
        if runs_one_at_a_time && node.runs.iter().any(|run| run.is_hung) {
            return Ok(());
        }
        node.begun.entry(message.id).or_insert(node.session);
        node.runs.push(Run {
            run,
            message,
            is_hung,
        });
        Ok(())
    }

    /// Of five attempts not all may come to nothing by chance.
    pub(super) fn may_fail(&self, index: usize, message: &MessageId) -> bool {
        let failures = self.nodes[index].chance_failures.get(message);
        failures.is_none_or(|count| count + 1 < HANDLER_ATTEMPTS_MAX)
    }

    /// Lets the handler run on the next message before what it took is committed. Whether it
    /// does.
    pub(super) fn run_ahead(&mut self, index: usize) -> Result<bool, String> {
        let clock_ms = self.drain_clock(index);
        let node = &mut self.nodes[index];
        let Some((run, message)) = node.device.run_ahead(clock_ms, &node.disk) else {
            return Ok(false);
        };
        node.is_ahead = true;
        self.note(|| format!("{index} runs ahead"));
        self.start_handler(index, run, message)?;
        Ok(true)
    }

    /// Commits what waits for a shared commit, before anything takes time.
    pub(super) fn commit_ahead(&mut self, index: usize) -> Verdict {
        if self.nodes[index].is_ahead {
            self.step(index)?;
        }
        Ok(())
    }

    /// Puts a sealed envelope on the wire, in the version that the device speaks.
    fn take_push(&mut self, index: usize, mut push: Push) -> Verdict {
        let to = self
            .nodes
            .iter()
            .position(|node| node.noise == push.recipient);
        if let Some(to) = to {
            let Ok(Received::Current(sealed)) = Received::decode(&push.envelope) else {
                return Err("a device seals what can't be read".to_owned());
            };
            let opened = sealed
                .open(&self.nodes[to].device.secrets().noise)
                .map_err(|_| "a device seals what can't be opened")?;
            // What a device sends to itself marks its run, and is nobody's message.
            let is_message = opened.tag == MessageTag::Sync && push.id != PushId::UNTRACKED;
            let version = self.nodes[index].version;
            self.judge_life(index, is_message, opened.timestamp_ms)?;
            let known = Known {
                id: is_message.then(|| opened.message_id()),
                recipient: to,
                timestamp_ms: opened.timestamp_ms,
                version,
            };
            if let Some(id) = known.id
                && !self.is_ending
            {
                self.model.judge_pushed(id, to)?;
            }
            push.envelope[VERSION_AT] = version;
            self.known
                .insert(push.envelope[EPHEMERAL_AT].to_vec(), known);
        }
        self.nodes[index].in_flight.push(push);
        Ok(())
    }

    pub(super) fn known(&self, envelope: &[u8]) -> Option<Known> {
        self.known.get(envelope.get(EPHEMERAL_AT)?).cloned()
    }

    /// The relay has stored a copy.
    pub(super) fn note_stored(&mut self, envelope: &[u8]) -> Verdict {
        let now_ms = self.now_ms;
        self.stored_at_ms
            .entry(envelope[EPHEMERAL_AT].to_vec())
            .or_default()
            .push(now_ms);
        match self.known(envelope) {
            Some(known) if !self.is_ending => self.model.note_stored(&known),
            _ => Ok(()),
        }
    }

    /// An acknowledgement on its way to the relay.
    pub(super) fn acknowledge(&mut self, index: usize, session: SessionId, blob: u64) -> Verdict {
        let is_lost = self.hits(self.faults.lose);
        let node = &self.nodes[index];
        if !node.is_up || node.is_cut || session != node.session || is_lost {
            return Ok(());
        }
        let before = BlobId::from_u64(blob.saturating_sub(1));
        let found = self.relay.next(node.noise, before, self.now_ms);
        self.relay.delete(node.noise, blob);
        let Some((_, envelope)) = found.filter(|(id, _)| id.as_u64() == blob) else {
            return Ok(());
        };
        match self.known(&envelope) {
            Some(known) if !self.is_ending => self.model.note_gone(&known, false),
            _ => Ok(()),
        }
    }

    /// Lets time pass: lives end, timers fire.
    pub(super) fn wait(&mut self, ms: u64) -> Verdict {
        for index in 0..self.nodes.len() {
            self.commit_ahead(index)?;
        }
        if ms > 30_000 {
            // Nothing stays on a wire for longer than a Push Session.
            for index in 0..self.nodes.len() {
                self.hang_up(index)?;
            }
            while !self.relay.late.is_empty() {
                self.arrive_late()?;
            }
        }
        self.pass(ms)?;
        for index in 0..self.nodes.len() {
            let mut clock_ms = self.clock(index);
            if self.is(Mutation::OutboxLifeOneDayShorter) {
                clock_ms += DAY_MS;
            }
            let node = &mut self.nodes[index];
            node.device.handle_wakeup(clock_ms, &mut node.rng);
            self.step(index)?;
        }
        Ok(())
    }

    /// The true time moves on, and the relay lets go what has expired.
    fn pass(&mut self, ms: u64) -> Verdict {
        let before_ms = self.now_ms;
        self.now_ms += ms;
        if self.relay.first_expiry_ms() > self.now_ms {
            return Ok(());
        }
        let lists_before: Vec<_> = self
            .nodes
            .iter()
            .map(|node| self.relay.waiting(node.noise, before_ms))
            .collect();
        self.relay.expire(self.now_ms);
        for (index, before) in lists_before.into_iter().enumerate() {
            let after = self.relay.waiting(self.nodes[index].noise, self.now_ms);
            for (blob, envelope) in before {
                if !after.contains_key(&blob) {
                    self.note_outlived(&envelope)?;
                }
            }
        }
        Ok(())
    }

    /// Push Sessions end with what is unanswered on them.
    fn hang_up(&mut self, index: usize) -> Verdict {
        for push in std::mem::take(&mut self.nodes[index].in_flight) {
            if !self.nodes[index].is_cut && self.hits(500) {
                self.relay.late.push((push.recipient, push.envelope));
            }
            let clock_ms = self.clock(index);
            let node = &mut self.nodes[index];
            node.device.handle_push_outcome(
                push.id,
                PushOutcome::Unanswered,
                clock_ms,
                &mut node.rng,
            );
        }
        self.step(index).map(|_| ())
    }

    /// A push whose sender stopped waiting reaches the relay.
    pub(super) fn arrive_late(&mut self) -> Verdict {
        if self.relay.late.is_empty() {
            return Ok(());
        }
        let which = self.below(self.relay.late.len());
        let (recipient, envelope) = self.relay.late.remove(which);
        if self.relay.push(recipient, &envelope, self.now_ms).is_ok() {
            self.note_stored(&envelope)?;
        }
        Ok(())
    }

    /// A Receive Session comes up, where the network lets it.
    pub(super) fn connect(&mut self, index: usize) -> Verdict {
        if self.nodes[index].is_cut {
            return Ok(());
        }
        self.note(|| format!("{index} connects"));
        let looks_for_copies = !self.is(Mutation::NoLookForCopies) && !self.moves_a_life();
        let node = &mut self.nodes[index];
        node.is_up = true;
        node.cursor = BlobId::START;
        node.overtaken.clear();
        node.session.0 += 1;
        node.device.handle_session_started(node.session);
        if looks_for_copies {
            node.device.handle_look_for_copy();
        }
        self.step(index).map(|_| ())
    }

    pub(super) fn cut(&mut self, index: usize) -> Verdict {
        let node = &mut self.nodes[index];
        node.is_up = false;
        let ended = Connection::Disconnected(None);
        node.device.handle_session_ended(node.session, ended);
        self.step(index).map(|_| ())
    }

    /// What a device sends, as the model knows it.
    pub(super) fn compose(&mut self, index: usize) -> Sent {
        self.sent += 1;
        let mut text = format!("message {}", self.sent);
        let is_large = self.hits(20);
        if is_large {
            let bytes = self.plan.relay.body_bytes_max + 1_000;
            text.extend(std::iter::repeat_n('.', bytes));
        }
        let is_malformed = !is_large && self.hits(25);
        // An id in the body would hide that a record is missing, so not all have one.
        let has_app_id = is_large || is_malformed || self.hits(300);
        let mut poison = BTreeSet::new();
        let mut malformed_at = BTreeSet::new();
        for reader in 0..self.plan.devices {
            if reader != self.nodes[index].device_of && self.hits(30) {
                poison.insert(reader);
            }
            if is_malformed && self.hits(700) {
                malformed_at.insert(reader);
            }
        }
        let body = if has_app_id {
            app_message(self.sent, text)
        } else {
            text.into_bytes()
        };
        Sent {
            author: index,
            place: 0,
            sent_at_ms: self.clock(index),
            body,
            is_large,
            malformed_at,
            has_app_id,
            again: None,
            poison,
            others: Vec::new(),
        }
    }
}

/// The body of a message with an id of its own.
pub(super) fn app_message(number: u64, text: String) -> Vec<u8> {
    let mut id = [0; APP_MESSAGE_ID_BYTES];
    id[..8].copy_from_slice(&number.to_be_bytes());
    let kind = AppMessageKind::Text(text);
    AppMessage {
        id,
        kind,
        via: None,
    }
    .encode()
}

/// What a mutation leaves of the records that share a commit.
fn keep_last_record(changes: &mut Vec<Change>) {
    let is_record = |change: &Change| matches!(change, Change::MessageHandled { .. });
    let records = changes.iter().filter(|change| is_record(change)).count();
    let mut seen = 0;
    changes.retain(|change| {
        seen += usize::from(is_record(change));
        !is_record(change) || seen == records
    });
}
