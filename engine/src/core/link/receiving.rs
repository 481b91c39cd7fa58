//! Receiving: pages, what counts, what is pruned (specification 6.4 and 7.2).
//!
//! The cursor is the relay's slot number and moves past everything that was looked at; what is
//! durable moves only with what was authenticated. The headers of the first page are checked
//! the way 6.4 checks a HEAD, which saves the HEAD.

use sealpost_protocol::limit::{LINK_LAST_MAX, LINK_SEQUENCE_MAX};
use sealpost_protocol::link::envelope::{self, OpenError};
use sealpost_protocol::link::payload::{Ack, Kind, Payload};

use super::machine::{Asked, Link};
use super::step::{
    ArrivedRow, Done, LinkChange, LinkEffect, LinkEvent, LinkRequest, PageEnvelope, RelayHeaders,
    RowKind,
};
use super::timing;

/// How often in a row a mailbox may become another one under a fetch.
const RESTARTS_MAX: u32 = 3;

/// One fetch: from the last accepted sequence to the end of what there is.
pub(super) struct Fetch {
    /// The last slot that was looked at.
    cursor: u64,
    /// The incarnation that is being looked at; `None` before the first page.
    created_ms: Option<Option<u64>>,
    /// The highest slot that was seen.
    seen: Option<u64>,
    /// Envelopes that couldn't be accepted.
    refused: u64,
    /// What the pages are over and prune through.
    prune: Option<u64>,
}

impl Link {
    /// Asks for what a fetch needs next; whether there was something to ask.
    pub(super) fn fetch_next(&mut self) -> bool {
        if self.fetch.is_none() && self.wants_fetch {
            self.wants_fetch = false;
            self.fetch = Some(Fetch {
                cursor: self.row.last_received.unwrap_or(0),
                created_ms: None,
                seen: None,
                refused: 0,
                prune: None,
            });
        }
        let Some(fetch) = &self.fetch else {
            return false;
        };
        let direction = self.role.reads();
        match fetch.prune {
            Some(through) => self.ask(Asked::Prune, LinkRequest::Prune { direction, through }),
            None => {
                let after = fetch.cursor;
                self.ask(Asked::Page, LinkRequest::Page { direction, after });
            }
        }
        true
    }

    /// Looks at a page.
    pub(super) fn take_page(&mut self, done: &Done, now_ms: u64) {
        let Some(mut fetch) = self.fetch.take() else {
            return;
        };
        let headers = done.headers;
        let last = headers.last.unwrap_or(0);
        if last > LINK_LAST_MAX {
            self.misbehaves(now_ms);
            return;
        }
        self.note_created(headers.created_ms);
        match fetch.created_ms {
            None => {
                fetch.created_ms = Some(headers.created_ms);
                let is_other = headers.created_ms != self.row.received_in;
                if fetch.cursor > 0 && (last < fetch.cursor || is_other) {
                    // The mailbox started anew: look at everything.
                    fetch.cursor = 0;
                    self.fetch = Some(fetch);
                    return;
                }
            }
            Some(created_ms) if created_ms != headers.created_ms => {
                self.restart_fetch(now_ms);
                return;
            }
            Some(_) => {}
        }
        self.take_envelopes(fetch, done, last, now_ms);
    }

    fn take_envelopes(&mut self, mut fetch: Fetch, done: &Done, last: u64, now_ms: u64) {
        let mut has_moved = false;
        for found in &done.envelopes {
            let slot = found.sequence;
            if slot <= fetch.cursor || slot > last || slot > LINK_SEQUENCE_MAX {
                self.misbehaves(now_ms);
                return;
            }
            fetch.cursor = slot;
            fetch.seen = fetch.seen.max(Some(slot));
            has_moved = true;
            self.take_envelope(&mut fetch, found, done.headers.created_ms, now_ms);
            if self.is_over {
                return;
            }
        }
        if done.headers.more == Some(0) || !has_moved {
            self.end_pages(fetch, done.headers, last);
        } else {
            self.fetch = Some(fetch);
        }
    }

    fn take_envelope(
        &mut self,
        fetch: &mut Fetch,
        found: &PageEnvelope,
        created_ms: Option<u64>,
        now_ms: u64,
    ) {
        let (direction, after) = (self.role.reads(), self.row.last_received);
        match envelope::open(
            &self.keys,
            direction,
            found.sequence,
            after,
            &found.envelope,
        ) {
            Ok(opened) => {
                self.row.last_received = Some(opened.sequence);
                self.row.received_in = created_ms;
                self.row.last_contact_ms = Some(now_ms);
                if self.row.unconfirmed_since_ms.take().is_some() {
                    self.is_condition_changed = true;
                }
                self.is_row_changed = true;
                self.unblock();
                match Payload::decode(&opened.payload) {
                    Ok(payload) => self.accept(payload, now_ms),
                    Err(_) => fetch.refused = fetch.refused.saturating_add(1),
                }
            }
            Err(OpenError::Stale { payload, .. }) => self.note_stale(&payload),
            Err(error) => {
                if matches!(error, OpenError::Version(_)) && !self.is_peer_newer {
                    self.is_peer_newer = true;
                    self.is_condition_changed = true;
                }
                fetch.refused = fetch.refused.saturating_add(1);
            }
        }
    }

    /// Authentic, but not above what was accepted. One with a message that never came says
    /// that the other device counts too low, and must send it again.
    fn note_stale(&mut self, payload: &[u8]) {
        let Ok(payload) = Payload::decode(payload) else {
            return;
        };
        let is_for_app = matches!(payload.header.kind, Kind::Msg | Kind::State);
        if is_for_app && !self.accepted.knows(&payload.header.id) {
            self.owed.needs_resync = true;
        }
    }

    fn accept(&mut self, payload: Payload, now_ms: u64) {
        let header = payload.header;
        if let Some(ack) = header.ack {
            self.take_ack(ack);
        }
        match header.kind {
            Kind::Msg | Kind::State => {
                self.owe_ack(now_ms.saturating_add(timing::ACK_DELAY_MS));
                if self.accepted.accept(header.id, &mut self.step) {
                    let kind = match (header.kind, header.collapse) {
                        (Kind::State, Some(collapse)) => RowKind::State { collapse },
                        _ => RowKind::Msg,
                    };
                    self.step.changes.push(LinkChange::Arrived(ArrivedRow {
                        id: header.id,
                        kind,
                        body: payload.body,
                        ts_ms: header.ts_ms,
                        arrived_ms: now_ms,
                    }));
                    self.step
                        .effects
                        .push(LinkEffect::Tell(LinkEvent::Arrived(header.id)));
                }
            }
            Kind::Resync => {
                self.outbox.requeue_all(&mut self.step);
                self.sending.known = None;
            }
            Kind::Bye => self.end_by_bye(now_ms),
            Kind::Ack
            | Kind::Hello
            | Kind::Challenge
            | Kind::Reveal
            | Kind::Welcome
            | Kind::Unknown => {}
        }
    }

    /// The other device says up to where it has everything.
    ///
    /// A number above all that this side remembers to have tried says that this side was set
    /// back to an older copy of itself: what it wrote since then may lie under numbers that the
    /// other device has long had, and so isn't covered. Everything is sent again; ids make
    /// that safe.
    fn take_ack(&mut self, ack: Ack) {
        if ack.sequence > LINK_LAST_MAX {
            return;
        }
        if ack.sequence > self.row.floor {
            self.row.floor = ack.sequence;
            self.outbox.requeue_all(&mut self.step);
            self.sending.known = None;
            return;
        }
        self.sending.acknowledged = Some(ack);
        self.outbox.acknowledge(ack, &mut self.step);
    }

    fn end_pages(&mut self, mut fetch: Fetch, headers: RelayHeaders, last: u64) {
        if fetch.refused > 0 {
            let count = fetch.refused;
            self.step
                .effects
                .push(LinkEffect::Tell(LinkEvent::EnvelopesRefused { count }));
        }
        let accepted = self.row.last_received.filter(|accepted| *accepted <= last);
        let through = fetch.seen.max(accepted).unwrap_or(0);
        let is_left = headers.oldest.is_some_and(|oldest| oldest <= through);
        if through > 0 && (fetch.seen.is_some() || is_left) {
            fetch.prune = Some(through);
            self.fetch = Some(fetch);
        } else {
            self.end_fetch();
        }
    }

    /// The fetch is complete.
    pub(super) fn end_fetch(&mut self) {
        self.fetch = None;
        self.restarts = 0;
        self.is_turn_of_sending = true;
        if self.row.last_contact_ms.is_some() {
            self.peer_due_ms = None;
        } else if self.is_last_look {
            self.end_alone();
        }
    }

    /// The mailbox became another one in the middle: begin again, but not for ever.
    fn restart_fetch(&mut self, now_ms: u64) {
        self.restarts = self.restarts.saturating_add(1);
        self.wants_fetch = true;
        if self.restarts > RESTARTS_MAX {
            self.restarts = 0;
            self.misbehaves(now_ms);
        }
    }
}
