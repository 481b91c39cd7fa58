//! Receiving: the decision about one blob after another (appendix B).
//!
//! Spec: 3.9, 7.3, appendix B; amendments 7 and 8.

use sealpost_protocol::app_message::AppMessage;
use sealpost_protocol::envelope::{MessageTag, OpenedEnvelope};
use sealpost_protocol::key::MemberId;
use sealpost_protocol::manifest::SignedManifest;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::pair::PairBody;
use sha2::{Digest, Sha256};

use super::Device;
use crate::core::event::Event;
use crate::core::inbox::{self, Blob, BlobRef, Handled, Reading, acknowledge, reject};
use crate::core::issue::{DeliveryIssue, Unreadable};
use crate::core::message::{Message, NewMessage};
use crate::core::pairing::Asked;
use crate::core::run_marker::RunMarker;
use crate::core::status::{Ending, Phase};
use crate::core::step::{Change, Effect, Lookup, LookupError, StoredContent};

/// How a message relates to those that were here before.
enum Meeting {
    /// It is new.
    New,
    /// It was handled: a copy that the network or the relay repeated.
    Again,
    /// It was sent once more under another Message ID (amendment 15).
    SameContent,
    /// Its id belongs to a message that says something else.
    OtherContent,
}

const MALFORMED: DeliveryIssue = DeliveryIssue::Unreadable(Unreadable::Malformed);

impl Device {
    /// Decides blobs until one is at the handler or none waits. Without a handler nothing is
    /// decided, unless the group ends anyway.
    pub(super) fn decide_blobs(&mut self, now_ms: u64, lookup: &impl Lookup) {
        self.inbox.meet_again(&self.secrets, &mut self.step);
        while self.wants_receive_session()
            && let Some(blob) = self.inbox.take_next()
        {
            self.decide(&blob, now_ms, lookup);
        }
    }

    fn decide(&mut self, blob: &Blob, now_ms: u64, lookup: &impl Lookup) {
        let opened = match inbox::read(&blob.envelope, &self.secrets, now_ms) {
            Reading::Newer { version } => {
                let on_session = (blob.at.session, blob.at.blob);
                let digest = digest_of(&blob.envelope);
                self.held
                    .hold(digest, version, on_session, now_ms, &mut self.step);
                return;
            }
            Reading::Unusable(reason) => {
                self.release_held(&blob.envelope);
                let issue = DeliveryIssue::Unreadable(reason);
                reject(blob.at, issue, now_ms, &mut self.step);
                return;
            }
            Reading::Opened(opened) => opened,
        };
        self.release_held(&blob.envelope);
        match opened.tag {
            MessageTag::Pair => self.receive_pair(blob.at, &opened, now_ms),
            MessageTag::Sync => self.receive_sync(blob.at, opened, now_ms, lookup),
            MessageTag::Revoke => self.receive_revoke(blob.at, &opened, now_ms),
            MessageTag::GroupManifest => self.receive_manifest(blob.at, &opened, now_ms),
        }
    }

    /// Records what the handler made of a message, with its row in the same step.
    pub(super) fn finish_message(&mut self, handled: Handled, now_ms: u64) {
        let Handled {
            message,
            at,
            gave_up,
        } = handled;
        self.inbox
            .record(message.id, message.sent_at_ms, now_ms, &mut self.step);
        match gave_up {
            Some(error) => {
                let issue = DeliveryIssue::HandlerGaveUp {
                    message: message.id,
                    error,
                };
                inbox::raise(issue, now_ms, &mut self.step);
            }
            None => self.store_message(NewMessage {
                id: message.id,
                own: false,
                author: message.from.id,
                author_name: message.from.name,
                app_id: None,
                body: message.body,
                sent_at_ms: message.sent_at_ms,
                stored_at_ms: now_ms,
                recipients: Vec::new(),
            }),
        }
        if let Some(at) = at {
            acknowledge(at, &mut self.step);
        }
    }

    fn receive_sync(
        &mut self,
        at: BlobRef,
        opened: OpenedEnvelope,
        now_ms: u64,
        lookup: &impl Lookup,
    ) {
        let id = opened.message_id();
        if opened.author == self.keys.signing {
            self.receive_own(at, &opened, now_ms);
            return;
        }
        let Some(from) = self.member(&opened.author) else {
            reject(at, DeliveryIssue::Unauthorized, now_ms, &mut self.step);
            return;
        };
        if self.phase != Phase::Member {
            acknowledge(at, &mut self.step);
            return;
        }
        match self.meet(&id, &from.id, &opened, lookup) {
            Err(_) => self.inbox.restart_session(&mut self.step),
            Ok(Meeting::Again) => acknowledge(at, &mut self.step),
            Ok(Meeting::SameContent) => {
                self.inbox
                    .record(id, opened.timestamp_ms, now_ms, &mut self.step);
                acknowledge(at, &mut self.step);
            }
            Ok(Meeting::OtherContent) => {
                self.inbox
                    .record(id, opened.timestamp_ms, now_ms, &mut self.step);
                let issue = DeliveryIssue::IdReused { message: id };
                reject(at, issue, now_ms, &mut self.step);
            }
            Ok(Meeting::New) => {
                let message = Message {
                    id,
                    from,
                    sent_at_ms: opened.timestamp_ms,
                    body: opened.body,
                };
                self.inbox.run_handler(at, message, &mut self.step);
            }
        }
    }

    /// A message of one's own comes from this device or from a copy of it, and says which.
    fn receive_own(&mut self, at: BlobRef, opened: &OpenedEnvelope, now_ms: u64) {
        match RunMarker::of_body(&opened.body) {
            Some(marker) if self.runs.meet(marker, opened.sequence) => {
                let sequence = opened.sequence;
                if let Some(at) = self.runs.hold(marker, at, sequence, now_ms) {
                    acknowledge(at, &mut self.step);
                }
            }
            Some(_) => reject(at, DeliveryIssue::DeviceCopied, now_ms, &mut self.step),
            None => reject(at, DeliveryIssue::Unauthorized, now_ms, &mut self.step),
        }
    }

    /// Whether a message was here before, under its id or under the one in its body.
    fn meet(
        &self,
        id: &MessageId,
        author: &MemberId,
        opened: &OpenedEnvelope,
        lookup: &impl Lookup,
    ) -> Result<Meeting, LookupError> {
        if self.inbox.is_handled(id, lookup)? {
            let stored = match self.stored_in_step(|row| row.id == *id) {
                Some(stored) => Some(stored),
                None => lookup.stored_message(id)?,
            };
            // Without a row there is nothing to compare: the handler gave it up, say.
            let is_other = stored.is_some_and(|stored| {
                stored.body != opened.body || stored.sent_at_ms != opened.timestamp_ms
            });
            return Ok(if is_other {
                Meeting::OtherContent
            } else {
                Meeting::Again
            });
        }
        let Ok(AppMessage { id: app_id, .. }) = AppMessage::decode(&opened.body) else {
            return Ok(Meeting::New);
        };
        let is_it = |row: &NewMessage| row.author == *author && row.app_id == Some(app_id);
        let stored = match self.stored_in_step(is_it) {
            Some(stored) => Some(stored),
            None => lookup.stored_app_message(author, &app_id)?,
        };
        Ok(match stored {
            // Shown once, and not again because the person deleted it.
            None if lookup.is_deleted(author, &app_id)? => Meeting::SameContent,
            None => Meeting::New,
            Some(stored) if stored.body == opened.body => Meeting::SameContent,
            Some(_) => Meeting::OtherContent,
        })
    }

    /// A row of the step that isn't in the store yet.
    fn stored_in_step(&self, is_it: impl Fn(&NewMessage) -> bool) -> Option<StoredContent> {
        self.step.changes.iter().find_map(|change| match change {
            Change::MessageStored(row) if is_it(row) => Some(StoredContent {
                sent_at_ms: row.sent_at_ms,
                body: row.body.clone(),
            }),
            _ => None,
        })
    }

    fn receive_pair(&mut self, at: BlobRef, opened: &OpenedEnvelope, now_ms: u64) {
        let Ok(body) = PairBody::decode(&opened.body) else {
            reject(at, MALFORMED, now_ms, &mut self.step);
            return;
        };
        let is_own = body.keys.noise == self.keys.noise || body.keys.signing == self.keys.signing;
        let may_ask = body.keys.signing == opened.author && !is_own && !self.is_half_known(&body);
        let asked = if may_ask {
            let is_member = self.view().any(|member| member.keys == body.keys);
            self.pairing.handle_pair(body, is_member)
        } else {
            Asked::Refused
        };
        match asked {
            Asked::New(words) => {
                self.step.effects.push(Effect::ComputeWords(words));
                acknowledge(at, &mut self.step);
            }
            Asked::Known => acknowledge(at, &mut self.step),
            Asked::Stale { name, spent } => {
                self.tell(Event::StaleRequest { name, spent });
                reject(at, DeliveryIssue::Unauthorized, now_ms, &mut self.step);
            }
            Asked::Refused => reject(at, DeliveryIssue::Unauthorized, now_ms, &mut self.step),
        }
    }

    fn receive_manifest(&mut self, at: BlobRef, opened: &OpenedEnvelope, now_ms: u64) {
        let Ok(manifest) = SignedManifest::decode(&opened.body) else {
            reject(at, MALFORMED, now_ms, &mut self.step);
            return;
        };
        match self.phase {
            Phase::NotJoined => {
                reject(at, DeliveryIssue::Unauthorized, now_ms, &mut self.step);
            }
            Phase::PendingJoin => {
                self.receive_before_admission(opened.author, manifest, now_ms);
                acknowledge(at, &mut self.step);
            }
            Phase::Member => {
                let verdict = self.receive_as_member(&opened.author, manifest, now_ms);
                match verdict {
                    Ok(()) => acknowledge(at, &mut self.step),
                    Err(issue) => reject(at, issue, now_ms, &mut self.step),
                }
            }
            // What the group becomes is of no interest to a device that goes.
            Phase::Ending(_) => acknowledge(at, &mut self.step),
        }
    }

    fn receive_revoke(&mut self, at: BlobRef, opened: &OpenedEnvelope, now_ms: u64) {
        let is_held = match (self.phase, &self.membership) {
            // Ignored because of the status, whoever sent it (spec 5.7).
            (Phase::NotJoined | Phase::PendingJoin, _) | (_, None) => {
                acknowledge(at, &mut self.step);
                return;
            }
            (_, Some(membership)) => membership.has_ever_held(&opened.author),
        };
        if !is_held {
            reject(at, DeliveryIssue::Unauthorized, now_ms, &mut self.step);
            return;
        }
        if self.phase != Phase::Ending(Ending::Destroyed) {
            self.begin_destroying(Some(&opened.author), now_ms);
        }
        acknowledge(at, &mut self.step);
    }

    /// Whether exactly one of the two keys belongs to a member (amendment 13).
    fn is_half_known(&self, body: &PairBody) -> bool {
        self.view().any(|member| {
            (member.keys.noise == body.keys.noise) != (member.keys.signing == body.keys.signing)
        })
    }

    fn release_held(&mut self, envelope: &[u8]) {
        if !self.held.is_empty() {
            self.held.release(&digest_of(envelope), &mut self.step);
        }
    }
}

fn digest_of(envelope: &[u8]) -> [u8; 32] {
    Sha256::digest(envelope).into()
}
