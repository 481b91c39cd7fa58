//! The end of a history: the faults cease, and what must have come of it all is judged.

use std::collections::BTreeMap;

use sealpost_engine::core::issue::DeliveryIssue;
use sealpost_engine::core::message::DeliveryState;
use sealpost_relay::store::BlobId;

use super::model::Verdict;
use super::plan::Faults;
use super::world::{DAY_MS, World};

/// Rounds of a second after which a history that goes on is taken never to end.
const ROUNDS_MAX: usize = 3_000;

/// Rounds of a second after which only a full inbox that nobody reads any more can hold up the
/// end of a group. Revokes are tried for ever (spec 5.7), so the group ends when the relay lets
/// go of what is in that inbox.
const ENDING_ROUNDS: usize = 1_000;

/// Days in which the relay has let go of everything. From then on each day, which is a round,
/// takes one copy for that inbox.
const ENDING_DAYS: usize = 31;

impl World {
    /// The faults end; everything that is under way comes to its end.
    pub(super) fn settle(&mut self) -> Verdict {
        self.faults = Faults::NONE;
        self.write_promised()?;
        let has_newer = self.nodes.iter().any(|node| node.version > 1);
        for index in 0..self.nodes.len() {
            self.nodes[index].is_cut = false;
            if has_newer {
                self.upgrade(index)?;
            }
            self.connect(index)?;
        }
        let copies: usize = self.nodes.iter().map(|node| node.disk.entries.len()).sum();
        let rounds = if self.is_ending {
            ENDING_ROUNDS + ENDING_DAYS + copies
        } else {
            ROUNDS_MAX
        };
        for round in 0..rounds {
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
            let is_patient = self.is_ending && round >= ENDING_ROUNDS;
            self.wait(if is_patient { DAY_MS } else { 1_000 })?;
        }
        Err("it never gets quiet".to_owned())
    }

    fn is_quiet(&self) -> bool {
        self.relay.late.is_empty()
            && self.nodes.iter().all(|node| {
                !node.is_ahead
                    && node.in_flight.is_empty()
                    && node.runs.is_empty()
                    && node.disk.entries.is_empty()
                    && !node.disk.has_sends_left()
                    && node.device.inbox_waiting() == 0
                    && self
                        .relay
                        .next(node.noise, BlobId::START, self.now_ms)
                        .is_none()
            })
    }

    pub(super) fn judge_end(&self) -> Verdict {
        let ids: Vec<_> = self.nodes.iter().map(|node| node.device.me().id).collect();
        self.model.judge_end(|sent, id, reader| {
            let disk = &self.nodes[sent.author].disk;
            let position = disk.position(&id)?;
            disk.deliveries
                .get(&(position, ids[reader].clone()))
                .copied()
        })?;
        self.judge_failed()?;
        self.judge_given_up()?;
        self.judge_copies()
    }

    /// Every message that failed has its issue in the store, once under each of its ids.
    fn judge_failed(&self) -> Verdict {
        for (index, node) in self.nodes.iter().enumerate() {
            let mut said = BTreeMap::new();
            for issue in &node.disk.issues {
                if let DeliveryIssue::SendFailed { message, failure } = issue {
                    *said.entry((*message, *failure)).or_insert(0_usize) += 1;
                }
            }
            let says =
                |count: usize| format!("device {index} says {count} times that a send failed");
            if let Some(count) = said.values().find(|count| **count > 1) {
                return Err(says(*count));
            }
            for ((position, _), state) in &node.disk.deliveries {
                let DeliveryState::Failed(failure) = state else {
                    continue;
                };
                let handle = node.disk.message_handle(*position);
                let ids = handle.map(|handle| handle.ids).unwrap_or_default();
                if !ids.iter().any(|id| said.contains_key(&(*id, *failure))) {
                    return Err(says(0));
                }
            }
        }
        Ok(())
    }

    /// Where a device exists twice, one of the two says so.
    fn judge_copies(&self) -> Verdict {
        let is_told = |device: usize| {
            self.nodes.iter().any(|node| {
                node.device_of == device && node.disk.issues.contains(&DeliveryIssue::DeviceCopied)
            })
        };
        let copy = self.nodes.get(self.plan.devices);
        if copy.is_some_and(|copy| !is_told(copy.device_of)) && !self.moves_a_life() {
            return Err("a device exists twice, and neither says so".to_owned());
        }
        Ok(())
    }

    /// Every message that was given up has its issue in the store, once.
    fn judge_given_up(&self) -> Verdict {
        for ((id, reader), fate) in &self.model.fates {
            if self.model.is_copied(*reader) || !self.model.sent[id].others.is_empty() {
                continue;
            }
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
}
