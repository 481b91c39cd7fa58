//! What happens in a history: by chance, by the script of its kind, and until all is quiet.

use sealpost_engine::core::issue::HandlerError;
use sealpost_engine::core::message::DeliveryState;
use sealpost_engine::core::status::Status;
use sealpost_engine::core::step::PushOutcome;
use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::limit::{HANDLER_ATTEMPTS_MAX, REPLAY_WINDOW_MS};
use sealpost_protocol::message_id::MessageId;
use sealpost_relay::store::BlobId;
use sha2::{Digest as _, Sha256};

use super::model::Verdict;
use super::mutation::Mutation;
use super::node::Backup;
use super::plan::{Faults, Kind};
use super::world::{DAY_MS, HOUR_MS, World};

/// Rounds after which a history that goes on is taken never to end.
const ROUNDS_MAX: usize = 3_000;

impl World {
    /// The whole history.
    pub(super) fn run(&mut self) -> Verdict {
        for index in 0..self.nodes.len() {
            self.connect(index)?;
        }
        match self.plan.kind {
            Kind::Flood => self.flood()?,
            Kind::Aged => self.age()?,
            _ => {}
        }
        for _ in 0..self.plan.events {
            self.happen()?;
        }
        self.settle()?;
        self.judge_end()?;
        if self.plan.kind == Kind::Destroyed {
            self.destroy()?;
        }
        Ok(())
    }

    fn happen(&mut self) -> Verdict {
        let index = self.below(self.nodes.len());
        match self.below(40) {
            0..=2 => self.send(index),
            3..=11 => self.answer(index),
            12..=20 => self.deliver(index),
            21..=26 => self.finish_handler(index),
            27 | 28 => self.connect(index),
            29 => self.cut(index),
            30 => self.arrive_late(),
            31 | 32 => {
                let ms = self.below(20_000) as u64;
                self.wait(ms)
            }
            33 => self.switch_network(index),
            34 => self.step_clock(index),
            35 => self.restart_relay(),
            36 if matches!(self.plan.kind, Kind::Days | Kind::Rewound) => {
                let hours = 1 + self.below(15 * 24) as u64;
                self.wait(hours * HOUR_MS)
            }
            37 if self.plan.kind == Kind::Upgrade => self.upgrade(index),
            38 if self.plan.kind == Kind::Rewound => self.back_up_or_rewind(index),
            _ => self.write_promised(),
        }
    }

    pub(super) fn send(&mut self, index: usize) -> Verdict {
        let mut sent = self.compose(index);
        let node = &mut self.nodes[index];
        if let Some(reused_ms) = node.reused_ms.pop_front() {
            sent.sent_at_ms = reused_ms;
        }
        node.sent_at_ms.push_back(sent.sent_at_ms);
        let id = node
            .device
            .handle_send(sent.body.clone(), sent.sent_at_ms)
            .map_err(|error| format!("send fails: {error}"))?;
        self.note(|| format!("{index} sends {}", name(&id)));
        self.sending.push((id, sent));
        self.step(index).map(|_| ())
    }

    /// The relay answers one push, or doesn't.
    fn answer(&mut self, index: usize) -> Verdict {
        if self.nodes[index].in_flight.is_empty() {
            return Ok(());
        }
        let which = self.below(self.nodes[index].in_flight.len());
        let push = self.nodes[index].in_flight.remove(which);
        let outcome = self.outcome(index, push.recipient, &push.envelope)?;
        let place = self
            .known(&push.envelope)
            .and_then(|known| Some((self.model.sent.get(&known.id?)?.place, known.recipient)));
        self.note(|| format!("{index} pushes {place:?}: {outcome:?}"));
        let is_temporary =
            matches!(outcome, PushOutcome::Refused(refusal) if !refusal.is_permanent());
        let outcome = match (self.mutation, outcome) {
            (Some(Mutation::SilenceCountsAsAck), PushOutcome::Unanswered) => PushOutcome::Stored,
            (Some(Mutation::RetryAfterPermanentRefusal), PushOutcome::Refused(_)) => {
                PushOutcome::Refused(Refusal::Unavailable)
            }
            (Some(Mutation::RefusedCopyOvertaken), _) if is_temporary => {
                self.relay.late.push((push.recipient, push.envelope));
                PushOutcome::Stored
            }
            (Some(Mutation::TwoPushesUnanswered), PushOutcome::Unanswered) => {
                self.relay.late.push((push.recipient, push.envelope));
                PushOutcome::Stored
            }
            (_, outcome) => outcome,
        };
        let clock_ms = self.clock(index);
        let node = &mut self.nodes[index];
        node.device
            .handle_push_outcome(push.id, outcome, clock_ms, &mut node.rng);
        self.step(index).map(|_| ())
    }

    fn outcome(
        &mut self,
        index: usize,
        recipient: NoisePublic,
        envelope: &[u8],
    ) -> Result<PushOutcome, String> {
        if self.nodes[index].is_cut {
            return Ok(PushOutcome::Unanswered);
        }
        let sent = self
            .known(envelope)
            .and_then(|known| self.model.sent.get(&known.id?));
        if sent.is_some_and(|sent| sent.is_malformed) {
            return Ok(PushOutcome::Refused(Refusal::Malformed));
        }
        if self.hits(self.faults.refuse) {
            let refusals = [Refusal::Unavailable, Refusal::InternalError];
            return Ok(PushOutcome::Refused(refusals[self.below(2)]));
        }
        if self.hits(self.faults.lose) {
            // On its way for good, or only for long.
            if self.hits(500) {
                self.relay.late.push((recipient, envelope.to_vec()));
            }
            return Ok(PushOutcome::Unanswered);
        }
        if self.is(Mutation::RelayAcksBeforeCommit) {
            self.relay
                .promise(recipient, envelope.to_vec(), self.now_ms);
            return Ok(PushOutcome::Stored);
        }
        let copies = 1 + usize::from(self.hits(self.faults.repeat));
        for copy in 0..copies {
            match self.relay.push(recipient, envelope, self.now_ms) {
                Ok(()) => self.note_stored(envelope)?,
                Err(refusal) if copy == 0 => return Ok(PushOutcome::Refused(refusal)),
                Err(_) => {}
            }
        }
        if self.hits(self.faults.lose) {
            return Ok(PushOutcome::Unanswered);
        }
        Ok(PushOutcome::Stored)
    }

    /// The relay writes what a mutation made it promise.
    fn write_promised(&mut self) -> Verdict {
        for envelope in self.relay.write() {
            self.note_stored(&envelope)?;
        }
        Ok(())
    }

    fn deliver(&mut self, index: usize) -> Verdict {
        let node = &self.nodes[index];
        if !node.is_up || node.is_cut {
            return Ok(());
        }
        let next = if self.is(Mutation::OrderByTimestamp) {
            self.earliest_by_timestamp(index)
        } else {
            self.relay.next(node.noise, node.cursor, self.now_ms)
        };
        let Some((blob, mut envelope)) = next else {
            return Ok(());
        };
        let known = self.known(&envelope);
        let node = &mut self.nodes[index];
        node.cursor = blob.max(node.cursor);
        node.overtaken.insert(blob.as_u64());
        if let Some(known) = known {
            if known.version <= node.version {
                // A device that speaks the version reads it as its own.
                set_version(&mut envelope, 1);
            } else if let Some(id) = known.id
                && !self.is_ending
            {
                // Held blobs are handled out of their order.
                self.model.fate(id, index)?.may_be_late = true;
            }
            node.taken.insert(blob.as_u64(), known);
        }
        let session = node.session;
        let told = self.describe(index, blob.as_u64());
        self.note(|| told);
        let node = &mut self.nodes[index];
        node.device.handle_deliver(session, blob.as_u64(), envelope);
        self.step(index).map(|_| ())
    }

    /// A delivered blob, for the log.
    fn describe(&self, index: usize, blob: u64) -> String {
        let known = self.nodes[index].taken.get(&blob);
        let Some(id) = known.and_then(|known| known.id) else {
            return format!("{index} is delivered {blob}");
        };
        let place = self
            .model
            .sent
            .get(&id)
            .map(|sent| (sent.author, sent.place));
        format!("{index} is delivered {blob}: {} {place:?}", name(&id))
    }

    /// What a mutation delivers next: by the senders' times.
    fn earliest_by_timestamp(&self, index: usize) -> Option<(BlobId, Vec<u8>)> {
        let node = &self.nodes[index];
        self.relay
            .waiting(node.noise, self.now_ms)
            .into_iter()
            .filter(|(blob, _)| !node.overtaken.contains(blob))
            .min_by_key(|(blob, envelope)| {
                let stamped = self.known(envelope).map_or(0, |known| known.timestamp_ms);
                (stamped, *blob)
            })
            .map(|(blob, envelope)| (BlobId::from_u64(blob), envelope))
    }

    fn finish_handler(&mut self, index: usize) -> Verdict {
        if self.nodes[index].runs.last().is_none_or(|run| run.is_hung) {
            return Ok(());
        }
        let Some(run) = self.nodes[index].runs.pop() else {
            return Ok(());
        };
        let sent = self.model.sent.get(&run.message.id);
        let is_poison = sent.is_some_and(|sent| sent.poison.contains(&index));
        let mut fails = is_poison;
        if !is_poison && self.hits(self.faults.fail_handler) {
            // Of five attempts not all may fail by chance.
            let failures = self.nodes[index]
                .chance_failures
                .entry(run.message.id)
                .or_default();
            *failures += 1;
            fails = *failures < HANDLER_ATTEMPTS_MAX;
        }
        let has_failed = fails && !self.is(Mutation::HandlerFailureIgnored);
        let outcome = if has_failed {
            Err(HandlerError::new("failed"))
        } else {
            Ok(())
        };
        // A handler may send.
        if !fails && !self.is_ending && self.hits(50) {
            let sent = self.compose(index);
            let node = &mut self.nodes[index];
            if let Ok(id) = node.device.handle_send(sent.body.clone(), sent.sent_at_ms) {
                self.sending.push((id, sent));
            }
        }
        let clock_ms = self.clock(index);
        let node = &mut self.nodes[index];
        node.device
            .handle_handler_outcome(run.run, outcome, clock_ms);
        self.step(index).map(|_| ())
    }

    fn switch_network(&mut self, index: usize) -> Verdict {
        if self.nodes[index].is_cut {
            self.nodes[index].is_cut = false;
            return self.connect(index);
        }
        self.nodes[index].is_cut = true;
        self.cut(index)
    }

    /// Somebody sets a clock.
    fn step_clock(&mut self, index: usize) -> Verdict {
        // A store restored while the clock is behind its own numbers uses some of them again.
        // Readers say so (`idReused`), which has tests of its own.
        let back = if self.plan.kind == Kind::Rewound {
            0
        } else {
            180
        };
        let minutes = self.below(240) as i64 - back;
        self.nodes[index].skew_ms += minutes * 60_000;
        Ok(())
    }

    fn restart_relay(&mut self) -> Verdict {
        self.relay.crash();
        for index in 0..self.nodes.len() {
            self.cut(index)?;
        }
        Ok(())
    }

    /// The device's program is replaced by one that speaks the newer version.
    fn upgrade(&mut self, index: usize) -> Verdict {
        let node = &self.nodes[index];
        if node.version == 2 {
            return Ok(());
        }
        // It reads the same bytes; here they stand for them with the version turned back.
        let mut names = Vec::new();
        for (_, mut envelope) in self.relay.waiting(node.noise, self.now_ms) {
            let held = digest_of(&envelope);
            set_version(&mut envelope, 1);
            names.push((held, digest_of(&envelope)));
        }
        let node = &mut self.nodes[index];
        node.version = 2;
        for (held, read) in names {
            if let Some(mut row) = node.disk.held.remove(&held) {
                row.digest = read;
                node.disk.held.insert(read, row);
            }
        }
        self.crash(index)
    }

    /// Keeps a copy of a store, or puts the one that is kept back in its place.
    fn back_up_or_rewind(&mut self, index: usize) -> Verdict {
        let Some(backup) = self.nodes[index].backup.take() else {
            let shown = self.model.shown_to(index);
            let place = self.model.place();
            let node = &mut self.nodes[index];
            node.sent_at_ms.clear();
            node.backup = Some(Backup {
                disk: node.disk.clone(),
                shown,
                place,
            });
            return Ok(());
        };
        self.note(|| format!("{index} is restored"));
        // That takes a while: a clock never shows the same millisecond again.
        let ms = 1 + self.below(60_000) as u64;
        self.wait(ms)?;
        self.model.rewind(index, &backup.shown, backup.place);
        let node = &mut self.nodes[index];
        node.disk = backup.disk;
        node.synced = None;
        self.crash(index)?;
        if self.is(Mutation::SequenceReusedAfterRestore) {
            let node = &mut self.nodes[index];
            node.reused_ms = std::mem::take(&mut node.sent_at_ms);
        }
        Ok(())
    }

    /// A device that isn't upgraded gets more newer blobs than it may hold.
    fn flood(&mut self) -> Verdict {
        let faults = std::mem::replace(&mut self.faults, Faults::NONE);
        self.upgrade(0)?;
        self.connect(0)?;
        for _ in 0..100 + self.below(8) {
            self.send(0)?;
            self.answer(0)?;
            self.deliver(1)?;
        }
        self.faults = faults;
        Ok(())
    }

    /// Messages that wait with their sender, then on the relay, and are read by a clock that
    /// makes them about as old as the Replay Window.
    fn age(&mut self) -> Verdict {
        let on_relay_ms = 29 * DAY_MS;
        let in_outbox_ms = self.below(29 * 24) as u64 * HOUR_MS;
        let off_hours = self.below(90) as i64 - 45;
        let age_ms = REPLAY_WINDOW_MS.saturating_add_signed(off_hours * HOUR_MS.cast_signed());
        let skew_ms = age_ms - on_relay_ms - in_outbox_ms;
        self.nodes[0].skew_ms = self.nodes[1].skew_ms - skew_ms.cast_signed();
        let faults = std::mem::replace(&mut self.faults, Faults::NONE);
        self.nodes[1].is_cut = true;
        self.cut(1)?;
        self.nodes[0].is_cut = true;
        self.cut(0)?;
        for _ in 0..3 {
            self.send(0)?;
        }
        self.answer(0)?;
        self.wait(in_outbox_ms)?;
        self.nodes[0].is_cut = false;
        self.connect(0)?;
        for _ in 0..12 {
            self.answer(0)?;
            self.wait(100)?;
        }
        self.wait(on_relay_ms)?;
        self.nodes[1].is_cut = false;
        self.connect(1)?;
        for _ in 0..6 {
            self.deliver(1)?;
            self.finish_handler(1)?;
        }
        self.faults = faults;
        Ok(())
    }

    /// The faults end; everything that is under way comes to its end.
    fn settle(&mut self) -> Verdict {
        self.faults = Faults::NONE;
        self.write_promised()?;
        for index in 0..self.nodes.len() {
            self.nodes[index].is_cut = false;
            self.upgrade(index)?;
            self.connect(index)?;
        }
        for _ in 0..ROUNDS_MAX {
            for index in 0..self.nodes.len() {
                if !self.nodes[index].is_up {
                    self.connect(index)?;
                }
                self.answer(index)?;
                self.deliver(index)?;
                self.finish_handler(index)?;
            }
            self.arrive_late()?;
            self.write_promised()?;
            if self.is_quiet() {
                return Ok(());
            }
            self.wait(1_000)?;
        }
        Err("it never gets quiet".to_owned())
    }

    fn is_quiet(&self) -> bool {
        self.relay.late.is_empty()
            && self.nodes.iter().all(|node| {
                node.in_flight.is_empty()
                    && node.runs.is_empty()
                    && node.disk.entries.is_empty()
                    && node.device.inbox_waiting() == 0
                    && self
                        .relay
                        .next(node.noise, BlobId::START, self.now_ms)
                        .is_none()
            })
    }

    fn judge_end(&self) -> Verdict {
        let ids: Vec<_> = self.nodes.iter().map(|node| node.device.me().id).collect();
        self.model.judge_end(|sent, id, reader| {
            self.nodes[sent.author]
                .disk
                .deliveries
                .get(&(id, ids[reader].clone()))
                .copied()
        })?;
        for (index, node) in self.nodes.iter().enumerate() {
            for ((message, _), state) in &node.disk.deliveries {
                let DeliveryState::Failed(failure) = state else {
                    continue;
                };
                let count = node
                    .disk
                    .issues
                    .iter()
                    .filter(|issue| {
                        issue.message() == Some(message)
                            && issue.code() == format!("sendFailed.{}", failure.code())
                    })
                    .count();
                if count != 1 {
                    return Err(format!(
                        "device {index} says {count} times that a send failed"
                    ));
                }
            }
        }
        self.judge_given_up()
    }

    /// Every message that was given up has its issue in the store, once.
    fn judge_given_up(&self) -> Verdict {
        for ((id, reader), fate) in &self.model.fates {
            let issues = &self.nodes[*reader].disk.issues;
            let count = issues
                .iter()
                .filter(|issue| issue.code() == "handlerGaveUp" && issue.message() == Some(id))
                .count();
            if count != usize::from(fate.has_given_up) {
                return Err(format!(
                    "device {reader} says {count} times that the handler gave up"
                ));
            }
        }
        Ok(())
    }

    /// The group ends while the relay is away for longer than an outbox keeps messages.
    fn destroy(&mut self) -> Verdict {
        self.is_ending = true;
        for index in 0..self.nodes.len() {
            self.nodes[index].is_cut = true;
            self.cut(index)?;
        }
        let clock_ms = self.clock(0);
        self.nodes[0]
            .device
            .handle_destroy(clock_ms)
            .map_err(|error| format!("destroy fails: {error}"))?;
        self.step(0)?;
        self.answer(0)?;
        self.wait(DAY_MS * 40)?;
        self.crash(0)?;
        self.settle()?;
        if self
            .nodes
            .iter()
            .any(|node| node.device.status() != Status::NotJoined)
        {
            return Err("a destroyed group goes on at one of its devices".to_owned());
        }
        Ok(())
    }
}

/// Enough of an id to tell messages of a log apart.
fn name(id: &MessageId) -> String {
    Sha256::digest(id.as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn set_version(envelope: &mut [u8], version: u8) {
    if let Some(byte) = envelope.get_mut(super::world::VERSION_AT) {
        *byte = version;
    }
}

fn digest_of(envelope: &[u8]) -> [u8; 32] {
    Sha256::digest(envelope).into()
}
