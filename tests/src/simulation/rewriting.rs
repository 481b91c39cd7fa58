//! What a person does to messages that are in the history: sends them once more, deletes them.

use std::collections::BTreeSet;

use sealpost_engine::core::message::DeliveryState;
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::message_id::MessageId;

use super::events::name;
use super::model::{Sent, Verdict};
use super::mutation::Mutation;
use super::world::{World, app_message};

impl World {
    /// Two messages whose calls are settled together: no row goes before the others.
    pub(super) fn send_two(&mut self, index: usize) -> Verdict {
        for _ in 0..2 {
            let sent = self.compose(index);
            let node = &mut self.nodes[index];
            let id = node
                .device
                .handle_send(sent.body.clone(), sent.sent_at_ms)
                .map_err(|error| format!("send fails: {error}"))?;
            node.sent_at_ms.push_back(sent.sent_at_ms);
            self.sending.push((id, sent));
        }
        self.step(index).map(|_| ())
    }

    /// Sends a message once more to those at which it failed.
    pub(super) fn retry(&mut self, index: usize) -> Verdict {
        let device = self.nodes[index].device_of;
        let Some((position, root)) = self.pick_own(index, true) else {
            return Ok(());
        };
        // Of a device that exists twice, each would send it.
        if self.model.is_copied(device) || !self.model.sent[&root].has_app_id {
            return Ok(());
        }
        let Some(mut handle) = self.nodes[index].disk.message_handle(position) else {
            return Ok(());
        };
        let recipients: BTreeSet<usize> = self
            .nodes
            .iter()
            .filter(|node| handle.failed.contains(&node.signing.member_id()))
            .map(|node| node.device_of)
            .collect();
        let mut sent = Sent {
            author: index,
            sent_at_ms: self.clock(index),
            again: Some((root, recipients)),
            ..self.model.sent[&root].clone()
        };
        // Often the cause is gone by then.
        if self.hits(700) {
            sent.malformed_at.clear();
        }
        if self.is(Mutation::RetryUnderNewAppMessageId) {
            self.sent += 1;
            handle.body = app_message(self.sent, "once more".to_owned());
        }
        let node = &mut self.nodes[index];
        let id = node
            .device
            .handle_retry(handle, sent.sent_at_ms)
            .map_err(|error| format!("retry fails: {error}"))?;
        self.note(|| format!("{index} sends {} once more as {}", name(&root), name(&id)));
        self.sending.push((id, sent));
        self.step(index).map(|_| ())
    }

    /// Deletes a message, be it an own one or another's.
    pub(super) fn delete(&mut self, index: usize) -> Verdict {
        let device = self.nodes[index].device_of;
        if self.model.is_copied(device) {
            return Ok(());
        }
        if self.hits(300) {
            return self.delete_received(index);
        }
        let Some((position, root)) = self.pick_own(index, false) else {
            return Ok(());
        };
        let Some(mut handle) = self.nodes[index].disk.message_handle(position) else {
            return Ok(());
        };
        let ids = self.model.ids(root);
        let has_left = self.has_left(index, position, &ids);
        if self.is(Mutation::DeletedThoughItLeft) {
            handle.has_left = false;
        }
        self.note(|| format!("{index} deletes {}, left: {has_left}", name(&root)));
        let node = &mut self.nodes[index];
        node.device.handle_delete_message(handle);
        if self.step(index)? && !has_left {
            self.model.note_taken_back(root);
            let node = &self.nodes[index];
            if ids.iter().any(|id| node.disk.is_queued(&node.signing, id)) {
                return Err("a deleted message goes on waiting".to_owned());
            }
        }
        Ok(())
    }

    /// Sent once more, it isn't shown again.
    fn delete_received(&mut self, index: usize) -> Verdict {
        let rows = self.nodes[index].disk.rows.iter();
        let received: Vec<(u64, MessageId)> = rows
            .filter(|(_, row)| !row.own)
            .map(|(position, row)| (*position, row.id))
            .collect();
        if received.is_empty() {
            return Ok(());
        }
        let (position, id) = received[self.below(received.len())];
        let Some(handle) = self.nodes[index].disk.message_handle(position) else {
            return Ok(());
        };
        self.note(|| format!("{index} deletes {}, another's", name(&id)));
        self.nodes[index].device.handle_delete_message(handle);
        self.step(index).map(|_| ())
    }

    /// Whether the author knows that a copy has left, or may have at this moment.
    fn has_left(&self, index: usize, position: u64, ids: &[MessageId]) -> bool {
        let node = &self.nodes[index];
        let mut deliveries = node.disk.deliveries.iter();
        let is_there = deliveries.any(|((of, _), state)| {
            *of == position && matches!(state, DeliveryState::OnRelay { .. })
        });
        let is_it = |envelope: &[u8]| {
            let known = self.known(envelope);
            known.is_some_and(|known| known.id.is_some_and(|id| ids.contains(&id)))
        };
        is_there || node.in_flight.iter().any(|push| is_it(&push.envelope))
    }

    /// An own message of the history; one that failed somewhere, or any.
    fn pick_own(&mut self, index: usize, has_failed: bool) -> Option<(u64, MessageId)> {
        let disk = &self.nodes[index].disk;
        let has_failed_at = |position: u64| {
            let mut deliveries = disk.deliveries.iter();
            deliveries.any(|((of, _), state)| {
                *of == position && matches!(state, DeliveryState::Failed(_))
            })
        };
        let own: Vec<(u64, MessageId)> = disk
            .rows
            .iter()
            .filter(|(position, row)| row.own && (!has_failed || has_failed_at(**position)))
            .map(|(position, row)| (*position, row.id))
            .collect();
        let picked = own.get(self.below(own.len())).copied()?;
        self.model.sent.contains_key(&picked.1).then_some(picked)
    }

    /// The device whose inbox it is.
    pub(super) fn device_at(&self, noise: NoisePublic) -> usize {
        let mut nodes = self.nodes.iter();
        let found = nodes.find(|node| node.noise == noise);
        found.map_or(usize::MAX, |node| node.device_of)
    }
}
