//! Sending: own messages into the outbox, and out of it as sealed envelopes.
//!
//! Spec: 3.4, 7.2.

use rand_core::CryptoRngCore;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::{DeviceKeys, NoisePublic};
use sealpost_protocol::message_id::MessageId;

use super::Device;
use crate::core::error::EngineError;
use crate::core::event::Event;
use crate::core::issue::SendFailure;
use crate::core::message::{MessageHandle, NewMessage};
use crate::core::outbox::{Ready, is_expired};
use crate::core::status::Phase;
use crate::core::step::{Change, Effect, Lookup, OutboxKind, OutboxMessage, Push, PushId};

impl Device {
    /// Takes a message for every other member.
    ///
    /// # Errors
    ///
    /// `payloadTooLarge`, `notMember`, or `storage` when the sequence numbers are used up.
    pub fn handle_send(&mut self, body: Vec<u8>, now_ms: u64) -> Result<MessageId, EngineError> {
        if body.len() > self.body_bytes_max {
            return Err(EngineError::PayloadTooLarge {
                max: self.body_bytes_max,
            });
        }
        if self.phase != Phase::Member {
            return Err(EngineError::NotMember {
                status: self.status(),
            });
        }
        let sequence = self.next_sequence(now_ms)?;
        let id = self.take_sequence(sequence);
        let recipients = self.members();
        let keys: Vec<DeviceKeys> = recipients.iter().map(|member| member.keys).collect();
        let me = self.me();
        let row = NewMessage {
            id,
            own: true,
            author: me.id,
            author_name: me.name,
            app_id: None,
            body: body.clone(),
            sent_at_ms: now_ms,
            stored_at_ms: now_ms,
            recipients,
        };
        self.store_message(row);
        self.queue(
            sequence,
            OutboxKind::Sync { sent_at_ms: now_ms },
            None,
            body,
            &keys,
        );
        Ok(id)
    }

    /// Sends a message of the history once more, to those recipients at which it failed. It
    /// keeps the id in its body, so that nobody is shown it twice (amendment 15).
    ///
    /// # Errors
    ///
    /// `notMember`; `memberNotFound` where it failed at none of the present members; `storage`
    /// when the sequence numbers are used up.
    pub fn handle_retry(
        &mut self,
        message: MessageHandle,
        now_ms: u64,
    ) -> Result<MessageId, EngineError> {
        if self.phase != Phase::Member {
            return Err(EngineError::NotMember {
                status: self.status(),
            });
        }
        let mut recipients = self.members();
        recipients.retain(|member| message.failed.contains(&member.id));
        if recipients.is_empty() {
            return Err(EngineError::MemberNotFound);
        }
        let sequence = self.next_sequence(now_ms)?;
        let id = self.take_sequence(sequence);
        let keys: Vec<DeviceKeys> = recipients.iter().map(|member| member.keys).collect();
        self.step.changes.push(Change::MessageResent {
            position: message.position,
            id,
            members: recipients.into_iter().map(|member| member.id).collect(),
        });
        let kind = OutboxKind::Sync { sent_at_ms: now_ms };
        self.queue(sequence, kind, None, message.body, &keys);
        for id in message.ids {
            self.tell(Event::MessageChanged { id });
        }
        Ok(id)
    }

    /// Deletes a message of the history. Copies that wait are taken back only if none has left:
    /// otherwise some members would get it and others not, and nobody could say who.
    pub fn handle_delete_message(&mut self, message: MessageHandle) {
        let position = message.position;
        self.step.changes.push(Change::MessageDeleted { position });
        if !message.has_left {
            self.outbox.cancel(&message.ids, &mut self.step);
        }
        for id in message.ids {
            self.tell(Event::MessageChanged { id });
        }
    }

    /// Writes a row of the history, or takes the group's name from a body that holds one.
    pub(super) fn store_message(&mut self, mut row: NewMessage) {
        match AppMessage::decode(&row.body) {
            Ok(AppMessage {
                kind: AppMessageKind::GroupName { name, version },
                ..
            }) => {
                // No row: what the group is called is no part of the conversation.
                if !row.own {
                    self.take_group_name(&name, version);
                }
                return;
            }
            Ok(decoded) => row.app_id = Some(decoded.id),
            // Kept as it is: a later version may be able to show it.
            Err(_) => row.app_id = None,
        }
        let id = row.id;
        self.step.changes.push(Change::MessageStored(row));
        self.step.effects.push(Effect::TellMessageStored(id));
    }

    /// Queues a control message. Without sequence numbers left nothing can be sent.
    pub(super) fn queue_control(
        &mut self,
        kind: OutboxKind,
        first: Option<NoisePublic>,
        body: Vec<u8>,
        recipients: &[DeviceKeys],
        now_ms: u64,
    ) {
        if recipients.is_empty() {
            return;
        }
        if let Ok(sequence) = self.next_sequence(now_ms) {
            self.take_sequence(sequence);
            self.queue(sequence, kind, first, body, recipients);
        }
    }

    pub(super) fn queue(
        &mut self,
        sequence: u64,
        kind: OutboxKind,
        first: Option<NoisePublic>,
        body: Vec<u8>,
        recipients: &[DeviceKeys],
    ) {
        let id = MessageId::derive(&self.keys.signing, sequence);
        let message = OutboxMessage {
            sequence,
            kind,
            first,
            reported: Vec::new(),
        };
        self.bodies.insert(sequence, body.clone());
        self.outbox
            .add(message, id, body, recipients, &mut self.step);
    }

    /// Seals every copy that may go out now. Of those that turn out to be too old only as many
    /// are given up as still fit in the step; the next are due at once.
    pub(super) fn push_ready(
        &mut self,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
        lookup: &impl Lookup,
    ) {
        let mut has_room = true;
        while has_room {
            let ready = self.outbox.ready(now_ms, |to| self.holds_sync(to));
            if ready.is_empty() {
                return;
            }
            for copy in ready {
                has_room &= self.push(&copy, now_ms, rng, lookup);
            }
        }
    }

    /// Sends the marker of this run to this device itself, if it is wanted.
    pub(super) fn push_marker(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if self.phase != Phase::Member {
            return;
        }
        let Some(marker) = self.runs.take_due() else {
            return;
        };
        let Ok(sequence) = self.next_sequence(now_ms) else {
            return;
        };
        self.take_sequence(sequence);
        let sealing = Sealing {
            author: &self.secrets.signing,
            recipient: &self.keys.noise,
            sequence,
            timestamp_ms: now_ms,
            tag: MessageTag::Sync,
            body: &marker.to_body(),
        };
        if let Ok(envelope) = seal(&sealing, rng) {
            self.runs.sent(sequence);
            self.step.effects.push(Effect::Push(Push {
                id: PushId::UNTRACKED,
                recipient: self.keys.noise,
                envelope,
            }));
        }
    }

    /// Seals one copy; afterwards it is in flight, put off, or gone. Returns `false` where it is
    /// to go and no more fit in this step.
    fn push(
        &mut self,
        copy: &Ready,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
        lookup: &impl Lookup,
    ) -> bool {
        let recipient = copy.recipient.noise;
        if is_expired(copy.kind, now_ms) {
            let failure = SendFailure::Expired;
            return self.outbox.give_up(copy, failure, now_ms, &mut self.step);
        }
        if !self.bodies.contains_key(&copy.sequence)
            && let Ok(Some(body)) = lookup.outbox_body(copy.sequence)
        {
            self.bodies.insert(copy.sequence, body);
        }
        let Some(body) = self.bodies.get(&copy.sequence) else {
            // The store can't be read just now. The copy is never given up for that.
            self.outbox.postpone(&recipient, false, now_ms, rng);
            return true;
        };
        let (tag, timestamp_ms) = stamp(copy.kind, now_ms);
        let sealing = Sealing {
            author: &self.secrets.signing,
            recipient: &recipient,
            sequence: copy.sequence,
            timestamp_ms,
            tag,
            body,
        };
        match seal(&sealing, rng) {
            Ok(envelope) => {
                let id = self.outbox.start(copy);
                self.step.effects.push(Effect::Push(Push {
                    id,
                    recipient,
                    envelope,
                }));
                true
            }
            Err(_) => self
                .outbox
                .give_up(copy, SendFailure::Malformed, now_ms, &mut self.step),
        }
    }
}

/// A Sync keeps the time of its `send`; control messages are stamped at each seal.
const fn stamp(kind: OutboxKind, now_ms: u64) -> (MessageTag, u64) {
    match kind {
        OutboxKind::Pair => (MessageTag::Pair, now_ms),
        OutboxKind::Sync { sent_at_ms } => (MessageTag::Sync, sent_at_ms),
        OutboxKind::Revoke => (MessageTag::Revoke, now_ms),
        OutboxKind::GroupManifest => (MessageTag::GroupManifest, now_ms),
    }
}
