//! What happens in a history: by chance, by the script of its kind, and until all is quiet.

use sealpost_engine::core::issue::HandlerError;
use sealpost_engine::core::step::PushOutcome;
use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::message_id::MessageId;
use sealpost_relay::store::BlobId;
use sha2::{Digest as _, Sha256};

use super::model::Verdict;
use super::mutation::Mutation;
use super::plan::Kind;
use super::world::{HOUR_MS, VERSION_AT, World};

impl World {
    /// The whole history.
    pub(super) fn run(&mut self) -> Verdict {
        for index in 0..self.nodes.len() {
            self.connect(index)?;
        }
        match self.plan.kind {
            Kind::Flood => self.flood()?,
            Kind::Aged => self.age()?,
            Kind::Edge => self.live_to_the_edge()?,
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
        match self.below(44) {
            40 => self.send_two(index),
            41 | 42 => self.retry(index),
            43 => self.delete(index),
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
            38 | 39 if self.plan.kind == Kind::Copied => self.copy(index),
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
    pub(super) fn answer(&mut self, index: usize) -> Verdict {
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
        let device = self.device_at(recipient);
        if sent.is_some_and(|sent| sent.malformed_at.contains(&device)) {
            // The relay has become stricter after it took a copy.
            if self.hits(200) && self.relay.push(recipient, envelope, self.now_ms).is_ok() {
                self.note_stored(envelope)?;
                return Ok(PushOutcome::Unanswered);
            }
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
    pub(super) fn write_promised(&mut self) -> Verdict {
        for envelope in self.relay.write() {
            self.note_stored(&envelope)?;
        }
        Ok(())
    }

    /// The relay delivers one blob, or several that are decided in one step.
    pub(super) fn deliver(&mut self, index: usize) -> Verdict {
        let count = if self.hits(250) { 2 + self.below(4) } else { 1 };
        let mut has_more = true;
        for _ in 0..count {
            has_more = has_more && self.deliver_one(index)?;
        }
        self.step(index).map(|_| ())
    }

    /// Hands a device the next blob. Whether there was one.
    fn deliver_one(&mut self, index: usize) -> Result<bool, String> {
        let node = &self.nodes[index];
        if !node.is_up || node.is_cut {
            return Ok(false);
        }
        let next = if self.is(Mutation::OrderByTimestamp) {
            self.earliest_by_timestamp(index)
        } else {
            self.relay.next(node.noise, node.cursor, self.now_ms)
        };
        let Some((blob, mut envelope)) = next else {
            return Ok(false);
        };
        self.judge_delivered(&envelope)?;
        let known = self.known(&envelope);
        let device = self.nodes[index].device_of;
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
                self.model.fate(id, device)?.may_be_late = true;
            }
            node.taken.insert((node.session, blob.as_u64()), known);
        }
        let session = node.session;
        let is_newer = envelope[VERSION_AT] > 1;
        if is_newer && self.is(Mutation::NewerAcknowledged) {
            self.acknowledge(index, session, blob.as_u64())?;
            return Ok(true);
        }
        let told = self.describe(index, blob.as_u64());
        self.note(|| told);
        let node = &mut self.nodes[index];
        node.device.handle_deliver(session, blob.as_u64(), envelope);
        Ok(true)
    }

    /// A delivered blob, for the log.
    fn describe(&self, index: usize, blob: u64) -> String {
        let node = &self.nodes[index];
        let known = node.taken.get(&(node.session, blob));
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

    pub(super) fn finish_handler(&mut self, index: usize) -> Verdict {
        if self.nodes[index].runs.last().is_none_or(|run| run.is_hung) {
            return Ok(());
        }
        let Some(run) = self.nodes[index].runs.pop() else {
            return Ok(());
        };
        let device = self.nodes[index].device_of;
        let sent = self.model.sent.get(&run.message.id);
        let is_poison = sent.is_some_and(|sent| sent.poison.contains(&device));
        let mut fails = is_poison;
        let may_fail = !is_poison && self.may_fail(index, &run.message.id);
        if may_fail && self.hits(self.faults.fail_handler) {
            let failures = &mut self.nodes[index].chance_failures;
            *failures.entry(run.message.id).or_default() += 1;
            fails = true;
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
        if !has_failed {
            node.unrecorded.insert(run.message.id);
        }
        if self.hits(400) && self.run_ahead(index)? {
            return if self.sending.is_empty() {
                Ok(())
            } else {
                Err("a run rests on what isn't committed".to_owned())
            };
        }
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
        self.commit_ahead(index)?;
        if self.plan.kind == Kind::Days && self.hits(200) {
            let hours = self.below(6 * 24) as i64 - 3 * 24;
            self.nodes[index].skew_ms += hours * HOUR_MS.cast_signed();
            return Ok(());
        }
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
}

/// Enough of an id to tell messages of a log apart.
pub(super) fn name(id: &MessageId) -> String {
    Sha256::digest(id.as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub(super) fn set_version(envelope: &mut [u8], version: u8) {
    if let Some(byte) = envelope.get_mut(VERSION_AT) {
        *byte = version;
    }
}

pub(super) fn digest_of(envelope: &[u8]) -> [u8; 32] {
    Sha256::digest(envelope).into()
}
