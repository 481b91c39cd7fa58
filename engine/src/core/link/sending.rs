//! Sending: the next number, what is sealed under it, what its answer means (specification
//! 6.3 and 7.2).
//!
//! Invariants: the floor is durable before the PUT that needs it; a repeated PUT carries the
//! same bytes under the same number; a pending envelope belongs to one row and is dropped as
//! soon as another one is next; a full direction is never tried in a loop.

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::LINK_LAST_MAX;
use sealpost_protocol::link::envelope;
use sealpost_protocol::link::payload::{Ack, Header, Kind, Payload, PayloadId};

use super::machine::{Asked, Link};
use super::outbox::is_acknowledged;
use super::step::{Done, LinkEvent, LinkRequest, RelayHeaders, RowFailure, RowKind, Stored};
use super::timing;

/// What the process knows about the direction that it writes.
#[derive(Default)]
pub(super) struct Sending {
    /// What the last HEAD or PUT said; `None`: ask first.
    pub(super) known: Option<Known>,
    /// What is sealed and not yet answered.
    pub(super) pending: Option<Pending>,
    /// How often in a row the number was taken.
    taken: u32,
    /// Whether the relay refused a number as too far ahead, once.
    is_jump_asked: bool,
    /// Nothing is sent until then: too many numbers were taken.
    pub(super) paused_until_ms: Option<u64>,
    /// Nothing is sent until then, or until something says that there is room.
    pub(super) blocked_until_ms: Option<u64>,
    /// What the other device said last that it has.
    pub(super) acknowledged: Option<Ack>,
    /// Where this side's last acknowledgement lies.
    ack_stored: Option<Stored>,
}

/// The state of the direction that this side writes.
#[derive(Clone, Copy)]
pub(super) struct Known {
    last: u64,
    count: u64,
    created_ms: u64,
}

/// One sealed envelope.
pub(super) struct Pending {
    owner: Owner,
    sequence: u64,
    envelope: Vec<u8>,
    /// The acknowledgement inside.
    ack: Option<Ack>,
}

/// What an envelope was sealed for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Row(PayloadId),
    Ack,
    Resync,
}

/// What this side owes the other one besides its rows. Memory only.
#[derive(Default)]
pub(super) struct Owed {
    /// An acknowledgement, not before then.
    pub(super) ack_at_ms: Option<u64>,
    /// Whether the other device shall send again.
    pub(super) needs_resync: bool,
    resynced_at_ms: Option<u64>,
}

impl Owed {
    fn is_resync_due(&self, now_ms: u64) -> bool {
        self.needs_resync && self.resync_at_ms().is_none_or(|at_ms| at_ms <= now_ms)
    }

    fn resync_at_ms(&self) -> Option<u64> {
        Some(
            self.resynced_at_ms?
                .saturating_add(timing::RESYNC_INTERVAL_MS),
        )
    }

    /// The clock was set back.
    pub(super) fn rebase(&mut self, now_ms: u64) {
        self.resynced_at_ms = self.resynced_at_ms.map(|_| now_ms);
        self.ack_at_ms = self.ack_at_ms.map(|_| now_ms);
    }
}

impl Link {
    /// Asks for what the sender needs next; whether there was something to ask.
    pub(super) fn send_next(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) -> bool {
        if self.is_held_back(now_ms) {
            return false;
        }
        let owner = self.next_owner(now_ms);
        if self.wants_head && !self.outbox.is_empty() {
            self.sending.known = None;
        }
        let must_look = self.wants_head && self.outbox.has_stored();
        if owner.is_none() && !must_look {
            // Whatever is known now is old when there is something to send again.
            self.sending.known = None;
            return false;
        }
        let Some(known) = self.sending.known else {
            self.wants_head = false;
            let direction = self.role.writes();
            self.ask(Asked::Head, LinkRequest::Head(direction));
            return true;
        };
        let Some(owner) = owner else {
            return false;
        };
        if owner == Owner::Ack && known.count >= timing::ACK_ENVELOPES_MAX {
            self.owed.ack_at_ms = Some(now_ms.saturating_add(timing::ACK_ROOM_MS));
            self.sending.known = None;
            return false;
        }
        self.put(owner, known, now_ms, rng)
    }

    fn is_held_back(&self, now_ms: u64) -> bool {
        let sending = &self.sending;
        let is_ahead = |until_ms: Option<u64>| until_ms.is_some_and(|until_ms| until_ms > now_ms);
        is_ahead(sending.blocked_until_ms) || is_ahead(sending.paused_until_ms)
    }

    fn next_owner(&self, now_ms: u64) -> Option<Owner> {
        if let Some(row) = self.outbox.next_unsent() {
            return Some(Owner::Row(row.id));
        }
        if self.owed.is_resync_due(now_ms) {
            return Some(Owner::Resync);
        }
        let is_ack_due = self.owed.ack_at_ms.is_some_and(|at_ms| at_ms <= now_ms);
        is_ack_due.then_some(Owner::Ack)
    }

    /// Puts what is pending for this owner, sealing it first where nothing is.
    fn put(
        &mut self,
        owner: Owner,
        known: Known,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> bool {
        self.sending
            .pending
            .take_if(|pending| pending.owner != owner);
        if self.sending.pending.is_none() {
            let sequence = known.last.max(self.row.floor).saturating_add(1);
            let Some(pending) = self.sealed(owner, sequence, now_ms, rng) else {
                self.misbehaves(now_ms);
                return false;
            };
            self.row.floor = sequence;
            self.is_row_changed = true;
            self.sending.pending = Some(pending);
        }
        let Some(pending) = &self.sending.pending else {
            return false;
        };
        let request = LinkRequest::Put {
            direction: self.role.writes(),
            sequence: pending.sequence,
            envelope: pending.envelope.clone(),
        };
        self.ask(Asked::Put, request);
        true
    }

    /// `None` where the number space is used up; bodies and keys were checked when queued.
    fn sealed(
        &self,
        owner: Owner,
        sequence: u64,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Option<Pending> {
        let ack = self.current_ack();
        let (header, body) = match owner {
            Owner::Row(id) => {
                let row = self.outbox.row(&id)?;
                let (kind, collapse) = match &row.kind {
                    RowKind::Msg => (Kind::Msg, None),
                    RowKind::State { collapse } => (Kind::State, Some(collapse.clone())),
                };
                let ts_ms = row.queued_ms;
                let header = Header {
                    kind,
                    id,
                    ack,
                    ts_ms,
                    collapse,
                };
                (header, row.body.clone())
            }
            Owner::Ack => (plain_header(Kind::Ack, ack, now_ms, rng), Vec::new()),
            Owner::Resync => (plain_header(Kind::Resync, ack, now_ms, rng), Vec::new()),
        };
        let payload = Payload { header, body }.encode().ok()?;
        let direction = self.role.writes();
        let envelope = envelope::seal(&self.keys, direction, sequence, &payload, rng).ok()?;
        Some(Pending {
            owner,
            sequence,
            envelope,
            ack,
        })
    }

    /// A sealed `bye` under the next number, for when the link ends here.
    pub(super) fn sealed_bye(
        &self,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Option<(u64, Vec<u8>)> {
        let last = self.sending.known.map_or(0, |known| known.last);
        let sequence = last.max(self.row.floor).saturating_add(1);
        let header = plain_header(Kind::Bye, self.current_ack(), now_ms, rng);
        let body = Vec::new();
        let payload = Payload { header, body }.encode().ok()?;
        let direction = self.role.writes();
        let sealed = envelope::seal(&self.keys, direction, sequence, &payload, rng).ok()?;
        Some((sequence, sealed))
    }

    fn current_ack(&self) -> Option<Ack> {
        Some(Ack {
            sequence: self.row.last_received?,
            created_ms: self.row.received_in.unwrap_or(0),
        })
    }

    /// An acknowledgement is owed, not before then.
    pub(super) fn owe_ack(&mut self, at_ms: u64) {
        let earlier = self.owed.ack_at_ms.map_or(at_ms, |other| other.min(at_ms));
        self.owed.ack_at_ms = Some(earlier);
    }

    /// The HEAD of the own direction.
    pub(super) fn take_head(&mut self, headers: RelayHeaders, now_ms: u64) {
        let last = headers.last.unwrap_or(0);
        if last > LINK_LAST_MAX {
            self.misbehaves(now_ms);
            return;
        }
        self.note_created(headers.created_ms);
        let created_ms = headers.created_ms.unwrap_or(0);
        self.sending.known = Some(Known {
            last,
            count: headers.count.unwrap_or(0),
            created_ms,
        });
        self.outbox.requeue_lost(created_ms, last, &mut self.step);
        self.note_collected(headers);
        let is_ack_lost = self
            .sending
            .ack_stored
            .is_some_and(|stored| stored.created_ms != created_ms || stored.sequence > last);
        if is_ack_lost {
            self.sending.ack_stored = None;
            self.owe_ack(now_ms);
        }
    }

    fn note_collected(&mut self, headers: RelayHeaders) {
        if headers.count.is_some() {
            let created_ms = headers.created_ms.unwrap_or(0);
            let place = (headers.oldest, headers.count);
            self.outbox
                .note_collected(created_ms, place, &mut self.step);
        }
    }

    /// The relay has what was put: stored now, or by an earlier try.
    pub(super) fn take_stored(&mut self, done: &Done) {
        let Some(pending) = self.sending.pending.take() else {
            return;
        };
        let headers = done.headers;
        let before = self.sending.known.map_or(0, |known| known.created_ms);
        let created_ms = headers.created_ms.unwrap_or(before);
        self.note_created(headers.created_ms);
        let stored = Stored {
            sequence: pending.sequence,
            created_ms,
        };
        if let Some(known) = &mut self.sending.known {
            known.last = known.last.max(pending.sequence);
            known.count = headers.count.unwrap_or(known.count.saturating_add(1));
        }
        self.sending.taken = 0;
        self.sending.is_jump_asked = false;
        self.sending.paused_until_ms = None;
        self.settle(&pending, stored);
        self.note_collected(headers);
        self.is_turn_of_sending = false;
    }

    fn settle(&mut self, pending: &Pending, stored: Stored) {
        match pending.owner {
            Owner::Row(id) => {
                self.outbox.mark_stored(&id, stored, &mut self.step);
                // The other device may have had it before its answer came.
                let acknowledged = self.sending.acknowledged;
                if let Some(ack) = acknowledged.filter(|ack| is_acknowledged(stored, *ack)) {
                    self.outbox.acknowledge(ack, &mut self.step);
                }
            }
            Owner::Resync => {
                self.owed.needs_resync = false;
                self.owed.resynced_at_ms = Some(self.now_ms);
            }
            Owner::Ack => {}
        }
        if pending.ack.is_some() && pending.ack == self.current_ack() {
            self.owed.ack_at_ms = None;
            self.sending.ack_stored = Some(stored);
        } else if pending.owner == Owner::Ack && pending.ack.is_none() {
            self.owed.ack_at_ms = None;
        }
    }

    /// The number is taken: another instance of this side wrote meanwhile. Looks again and
    /// continues from there, under a new nonce, a few times.
    pub(super) fn take_taken(&mut self, last: Option<u64>, now_ms: u64) {
        if last.is_some_and(|last| last > LINK_LAST_MAX) {
            self.misbehaves(now_ms);
            return;
        }
        self.sending.pending = None;
        self.sending.known = None;
        self.sending.taken = self.sending.taken.saturating_add(1);
        if self.sending.taken >= timing::TAKEN_ATTEMPTS_MAX {
            self.sending.taken = 0;
            self.sending.paused_until_ms = Some(now_ms.saturating_add(timing::TAKEN_PAUSE_MS));
        }
    }

    /// The number is too far ahead: looks once more, then gives the row up.
    pub(super) fn take_jump(&mut self) {
        let is_second = std::mem::replace(&mut self.sending.is_jump_asked, true);
        if is_second {
            self.sending.is_jump_asked = false;
            self.fail_pending(RowFailure::Malformed);
        } else {
            self.sending.pending = None;
            self.sending.known = None;
        }
    }

    /// The relay never takes this one.
    pub(super) fn fail_pending(&mut self, reason: RowFailure) {
        let Some(pending) = self.sending.pending.take() else {
            return;
        };
        match pending.owner {
            Owner::Row(id) => {
                let event = LinkEvent::RowFailed { id, reason };
                self.outbox.remove(&id, event, &mut self.step);
                self.is_condition_changed = true;
            }
            Owner::Ack => self.owed.ack_at_ms = None,
            Owner::Resync => self.owed.needs_resync = false,
        }
    }

    /// The direction is full.
    pub(super) fn block(&mut self, now_ms: u64) {
        self.sending.blocked_until_ms = Some(now_ms.saturating_add(timing::BLOCKED_MS));
        self.sending.known = None;
        self.is_condition_changed = true;
    }

    /// Something says that there may be room again.
    pub(super) fn unblock(&mut self) {
        if self.sending.blocked_until_ms.take().is_some() {
            self.sending.known = None;
            self.is_condition_changed = true;
        }
    }

    /// When the sender has something to do by itself.
    pub(super) fn next_send_timer(&self, now_ms: u64) -> Option<u64> {
        let sending = &self.sending;
        let held_until = sending.blocked_until_ms.max(sending.paused_until_ms);
        let row = self.outbox.next_unsent().map(|_| now_ms);
        let resync = self.owed.needs_resync;
        let resync = resync.then(|| self.owed.resync_at_ms().unwrap_or(now_ms));
        let looks = (self.wants_head && self.outbox.has_stored()).then_some(now_ms);
        let due = [row, resync, looks, self.owed.ack_at_ms]
            .into_iter()
            .flatten();
        due.min().map(|due_ms| due_ms.max(held_until.unwrap_or(0)))
    }
}

fn plain_header(kind: Kind, ack: Option<Ack>, now_ms: u64, rng: &mut impl CryptoRngCore) -> Header {
    Header {
        kind,
        id: PayloadId::generate(rng),
        ack,
        ts_ms: now_ms,
        collapse: None,
    }
}
