//! The few envelopes of a pairing: one page after the other, one PUT after the other.
//!
//! Simpler than a link's: nothing is pruned, because the whole mailbox goes at the end, and
//! nothing is kept over a restart. Envelopes that aren't authentic are passed over.

use std::collections::VecDeque;

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::LINK_LAST_MAX;
use sealpost_protocol::link::envelope;
use sealpost_protocol::link::key::Role;
use sealpost_protocol::link::payload::{Header, Kind, Payload, PayloadId};

use super::super::step::{Done, LinkRequest};
use super::step::PairingFailure;
use super::{Asked, LinkPairing};

/// What was read, and what is to be written.
#[derive(Default)]
pub(super) struct Mail {
    pub(super) wants_fetch: bool,
    pub(super) wants_head: bool,
    /// Whether another device has written where only this one should.
    pub(super) is_shared: bool,
    /// The last slot that was looked at.
    cursor: u64,
    /// The last sequence that was accepted.
    accepted: Option<u64>,
    /// The last sequence of the own direction.
    last: u64,
    /// Sealed, under their numbers; the front one is being put.
    outgoing: VecDeque<(u64, Vec<u8>)>,
}

impl Mail {
    /// Another device was quicker with this number: looks where it can be said instead.
    pub(super) fn look_again(&mut self) {
        self.outgoing.clear();
        self.is_shared = true;
        self.wants_head = true;
    }

    /// What to ask next.
    pub(super) fn next(&mut self, role: Role) -> Option<(Asked, LinkRequest)> {
        if self.wants_head {
            return Some((Asked::Head, LinkRequest::Head(role.writes())));
        }
        if let Some((sequence, envelope)) = self.outgoing.front() {
            let request = LinkRequest::Put {
                direction: role.writes(),
                sequence: *sequence,
                envelope: envelope.clone(),
            };
            return Some((Asked::Put, request));
        }
        self.wants_fetch.then(|| {
            let (direction, after) = (role.reads(), self.cursor);
            (Asked::Page, LinkRequest::Page { direction, after })
        })
    }
}

impl LinkPairing {
    /// Seals a message of the pairing; returns its id.
    pub(super) fn post(
        &mut self,
        kind: Kind,
        body: Vec<u8>,
        rng: &mut impl CryptoRngCore,
    ) -> Option<PayloadId> {
        let id = PayloadId::generate(rng);
        let header = Header {
            kind,
            id,
            ack: None,
            ts_ms: self.now_ms,
            collapse: None,
        };
        let payload = Payload { header, body }.encode().ok()?;
        let sequence = self.mail.last.saturating_add(1);
        let direction = self.role.writes();
        let sealed = envelope::seal(&self.keys, direction, sequence, &payload, rng).ok()?;
        self.mail.last = sequence;
        self.mail.outgoing.push_back((sequence, sealed));
        Some(id)
    }

    pub(super) fn take_stored(&mut self) {
        self.mail.outgoing.pop_front();
    }

    /// The HEAD before B's `hello`: whatever lies there is another device's. B says `hello`
    /// all the same, so that A learns of it.
    pub(super) fn take_head(&mut self, last: Option<u64>, rng: &mut impl CryptoRngCore) {
        self.mail.wants_head = false;
        self.mail.last = last.unwrap_or(0);
        self.mail.is_shared |= self.mail.last > 0;
        if self.mail.last > LINK_LAST_MAX {
            self.fail(PairingFailure::Refused);
        } else {
            self.say_hello(rng);
        }
    }

    pub(super) fn take_page(&mut self, done: &Done, rng: &mut impl CryptoRngCore) {
        self.mail.wants_fetch = false;
        let before = self.mail.cursor;
        let direction = self.role.reads();
        for found in &done.envelopes {
            if found.sequence <= self.mail.cursor {
                continue;
            }
            self.mail.cursor = found.sequence;
            let after = self.mail.accepted;
            let slot = found.sequence;
            let opened = envelope::open(&self.keys, direction, slot, after, &found.envelope);
            let Ok(opened) = opened else { continue };
            self.mail.accepted = Some(opened.sequence);
            if let Ok(payload) = Payload::decode(&opened.payload) {
                let Payload { header, body } = payload;
                self.take_payload(header.kind, header.id, &body, rng);
            }
            if self.is_over() {
                return;
            }
        }
        let has_more = done.headers.more != Some(0);
        self.mail.wants_fetch = has_more && self.mail.cursor > before;
    }
}
