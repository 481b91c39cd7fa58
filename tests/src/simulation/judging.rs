//! What is judged while a history runs: each step against the model, each life against the
//! clock that counts it.

use std::collections::BTreeMap;

use sealpost_engine::core::issue::{DeliveryIssue, Unreadable};
use sealpost_engine::core::step::{Change, Effect, Step};
use sealpost_protocol::key::MemberId;
use sealpost_protocol::limit::{OUTBOX_LIFE_MS, RELAY_LIFE_MS_MAX};

use super::model::Verdict;
use super::mutation::Mutation;
use super::world::{EPHEMERAL_AT, World};

/// The relay counts lives in whole seconds, and ends none too early.
const RELAY_SECOND_MS: u64 = 1_000;

impl World {
    /// Compares a step with what the model expects of it.
    pub(super) fn judge(&mut self, index: usize, step: &Step) -> Verdict {
        let clock_ms = self.clock(index);
        let device = self.nodes[index].device_of;
        let mut reported = [0_i32; 2];
        let mut finished = BTreeMap::new();
        for change in &step.changes {
            match change {
                Change::MessageStored(row) if !row.own => {
                    self.model.judge_shown(row.id, device, &row.body)?;
                }
                Change::DeliveryChanged {
                    message,
                    member,
                    state,
                } => {
                    let reader = self.device_called(member);
                    self.model.note_told(*message, reader, *state);
                }
                // Its age was judged when it came; the handler may have taken weeks.
                Change::MessageHandled { id, .. } => {
                    let begun = self.nodes[index].begun.remove(id);
                    finished.insert(*id, begun);
                }
                Change::IssueAdded { issue, .. } => {
                    self.model.judge_issue(issue, device, clock_ms)?;
                    match issue {
                        DeliveryIssue::Unreadable(Unreadable::Expired) => reported[0] += 1,
                        DeliveryIssue::Unreadable(Unreadable::DroppedWhileHeld) => {
                            reported[1] += 1;
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let version = self.nodes[index].version;
        // How many blobs may have been found too old, or not, depending on when they came.
        let mut either = 0;
        for effect in &step.effects {
            let Effect::Acknowledge { session, blob } = effect else {
                continue;
            };
            let known = self.nodes[index]
                .taken
                .get(&(*session, *blob))
                .ok_or("a blob is acknowledged that was never delivered")?;
            // The first acknowledgement of a message that is done with is that of its run; any
            // other is that of a copy, which is judged as it comes. The run's may be as well,
            // where another session brought the message again.
            let run = known.id.and_then(|id| finished.remove(&id));
            let read_ms = if run.is_some() { 0 } else { clock_ms };
            if run.is_some_and(|begun| begun != Some(*session)) && known.is_aged(clock_ms) {
                either += 1;
            }
            match self.model.judge_acknowledged(known, version, read_ms)? {
                Some(Unreadable::Expired) => reported[0] -= 1,
                Some(_) => reported[1] -= 1,
                None => {}
            }
        }
        // A held blob that isn't of this session is let go without an acknowledgement.
        if !(0..=either).contains(&reported[0]) || reported[1] < 0 {
            return Err(format!("issues and acknowledgements differ: {reported:?}"));
        }
        Ok(())
    }

    /// The number of a device; one that doesn't exist where nobody is called so.
    fn device_called(&self, member: &MemberId) -> usize {
        let mut nodes = self.nodes.iter();
        let found = nodes.find(|node| node.signing.member_id() == *member);
        found.map_or(usize::MAX, |node| node.device_of)
    }

    /// A message must not leave its outbox after its life there.
    pub(super) fn judge_life(&self, index: usize, is_message: bool, sent_at_ms: u64) -> Verdict {
        // With another Replay Window the device was told another time.
        let clock_ms = if self.is(Mutation::OutboxLifeOneDayLonger) {
            self.clock(index)
        } else {
            self.drain_clock(index)
        };
        if is_message && clock_ms >= sent_at_ms.saturating_add(OUTBOX_LIFE_MS) {
            return Err("a message is pushed after its life in the outbox".to_owned());
        }
        Ok(())
    }

    /// A blob must not be delivered after its life on the relay.
    pub(super) fn judge_delivered(&self, envelope: &[u8]) -> Verdict {
        let last = self
            .stored_at_ms
            .get(&envelope[EPHEMERAL_AT])
            .and_then(|times| times.last().copied());
        let is_over = |at| self.now_ms >= at + RELAY_LIFE_MS_MAX + RELAY_SECOND_MS;
        if last.is_some_and(is_over) {
            return Err("the relay delivers a blob after its time".to_owned());
        }
        Ok(())
    }

    pub(super) fn note_outlived(&mut self, envelope: &[u8]) -> Verdict {
        let first = self
            .stored_at_ms
            .get(&envelope[EPHEMERAL_AT])
            .and_then(|times| times.first().copied());
        if first.is_some_and(|at| self.now_ms < at + RELAY_LIFE_MS_MAX) {
            return Err("the relay dropped a blob before its time".to_owned());
        }
        match self.known(envelope) {
            Some(known) if !self.is_ending => self.model.note_gone(&known, true),
            _ => Ok(()),
        }
    }
}
