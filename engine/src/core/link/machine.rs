//! The machine of one link: its inputs, and the order in which it asks.
//!
//! Owns what both halves share: the claim, the one request that is unanswered, the backoff,
//! and how the link ends. It asks the relay one thing at a time, so nothing overtakes.
//!
//! Invariants: what a step writes commits before what it asks is asked; without a claim in
//! this process nothing else is asked; a link that is over does nothing more.

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::{LINK_BODY_BYTES_MAX, LINK_COLLAPSE_BYTES_MAX};
use sealpost_protocol::link::key::{LinkKeys, Role};
use sealpost_protocol::link::payload::PayloadId;

use super::accepted::AcceptedIds;
use super::clock::ClockJump;
use super::condition::{LinkCondition, LinkError, RowProgress};
use super::outbox::LinkOutbox;
use super::receiving::Fetch;
use super::retry::{Retry, Verdict};
use super::sending::{Owed, Sending};
use super::step::{
    Answer, Done, EraseRow, Farewell, LinkChange, LinkEffect, LinkEvent, LinkRequest, LinkRow,
    LinkSnapshot, LinkStep, RequestId, RowFailure, RowKind,
};
use super::timing;
use super::watching::Watch;

/// The machine of one link.
pub struct Link {
    pub(super) role: Role,
    pub(super) keys: LinkKeys,
    pub(super) row: LinkRow,
    pub(super) outbox: LinkOutbox,
    pub(super) accepted: AcceptedIds,
    pub(super) sending: Sending,
    pub(super) owed: Owed,
    pub(super) fetch: Option<Fetch>,
    pub(super) wants_fetch: bool,
    /// Whether the own direction must be looked at: rows may be gone from it.
    pub(super) wants_head: bool,
    pub(super) is_turn_of_sending: bool,
    pub(super) restarts: u32,
    /// When the mailbox was claimed last; `None`: it isn't there, as far as is known.
    pub(super) claimed_at_ms: Option<u64>,
    /// Whether it is to be claimed before anything else.
    pub(super) needs_claim: bool,
    /// Whether a claim of this process made the mailbox.
    has_made_mailbox: bool,
    /// The mailbox's incarnation, as it was said last.
    created_ms: Option<u64>,
    asked: Option<(RequestId, Asked)>,
    last_request: u64,
    retry: Retry,
    /// How often in a row a claimed mailbox wasn't there.
    misses: u32,
    unreadable: u32,
    pub(super) watches: (Watch, Watch),
    /// On A, as long as B hasn't come over: until when it is waited for.
    pub(super) peer_due_ms: Option<u64>,
    /// Whether that is over, and the mailbox is looked into once more.
    pub(super) is_last_look: bool,
    pub(super) is_visible: bool,
    pub(super) is_peer_newer: bool,
    is_unanswered: bool,
    error: Option<LinkError>,
    pub(super) is_over: bool,
    pub(super) now_ms: u64,
    pub(super) is_row_changed: bool,
    pub(super) is_condition_changed: bool,
    pub(super) step: LinkStep,
}

/// What the unanswered request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Claim,
    Head,
    Page,
    Prune,
    Put,
}

/// Why something isn't queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// The body, or the key of the state, is too long.
    #[error("a link's message is too long")]
    TooLarge,
    /// Too much waits already.
    #[error("a link's outbox is full")]
    Full,
    /// The link is over.
    #[error("the link is over")]
    Ended,
}

/// A clock that goes back by no more than this is taken as it is.
const CLOCK_STEP_MS: u64 = 60_000;

impl Link {
    /// Builds the machine from what is stored. It does nothing before [`Link::start`].
    #[must_use]
    pub fn restore(snapshot: LinkSnapshot, now_ms: u64) -> Self {
        let keys = LinkKeys::derive(&snapshot.key, &snapshot.id);
        let row = snapshot.row;
        let is_alone = snapshot.role == Role::A && row.last_contact_ms.is_none();
        let mut owed = Owed::default();
        // Whether the last acknowledgement got out isn't known any more.
        owed.ack_at_ms = row
            .last_received
            .map(|_| now_ms.saturating_add(timing::ACK_DELAY_MS));
        Self {
            role: snapshot.role,
            keys,
            row,
            outbox: LinkOutbox::restore(snapshot.outbox),
            accepted: AcceptedIds::restore(snapshot.accepted),
            sending: Sending::default(),
            owed,
            fetch: None,
            wants_fetch: true,
            wants_head: true,
            is_turn_of_sending: false,
            restarts: 0,
            claimed_at_ms: None,
            needs_claim: true,
            has_made_mailbox: false,
            created_ms: None,
            asked: None,
            last_request: 0,
            retry: Retry::default(),
            misses: 0,
            unreadable: 0,
            watches: (Watch::default(), Watch::default()),
            peer_due_ms: is_alone.then(|| now_ms.saturating_add(timing::COMING_OVER_MS)),
            is_last_look: false,
            is_visible: true,
            is_peer_newer: false,
            is_unanswered: false,
            error: None,
            is_over: false,
            now_ms,
            is_row_changed: false,
            is_condition_changed: false,
            step: LinkStep::default(),
        }
    }

    /// Begins: claims, fetches, sends.
    pub fn start(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.enter(now_ms);
        self.pump(now_ms, rng);
    }

    /// Queues something for the other device. With an id of its own it can be queued again
    /// after a crash without being delivered twice; one that waits already is left as it is.
    ///
    /// # Errors
    ///
    /// Nothing was queued.
    pub fn queue(
        &mut self,
        (kind, body): (RowKind, Vec<u8>),
        id: Option<PayloadId>,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Result<PayloadId, QueueError> {
        self.enter(now_ms);
        if self.is_over {
            return Err(QueueError::Ended);
        }
        let is_key_short = match &kind {
            RowKind::Msg => true,
            RowKind::State { collapse } => collapse.len() <= LINK_COLLAPSE_BYTES_MAX,
        };
        if body.len() > LINK_BODY_BYTES_MAX || !is_key_short {
            return Err(QueueError::TooLarge);
        }
        let id = id.unwrap_or_else(|| PayloadId::generate(rng));
        if self.outbox.holds(&id) {
            return Ok(id);
        }
        if self.outbox.len() >= timing::OUTBOX_ROWS_MAX {
            return Err(QueueError::Full);
        }
        self.outbox.add((id, kind, body), now_ms, &mut self.step);
        self.is_condition_changed = true;
        self.pump(now_ms, rng);
        Ok(id)
    }

    /// The network is back, or the person wants it now.
    pub fn handle_online(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.enter(now_ms);
        self.hurry();
        self.pump(now_ms, rng);
    }

    /// Somebody looks, or nobody does any more. Somebody does at first.
    pub fn set_visible(&mut self, is_visible: bool, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.enter(now_ms);
        if is_visible && !self.is_visible {
            self.hurry();
        }
        self.is_visible = is_visible;
        self.pump(now_ms, rng);
    }

    fn hurry(&mut self) {
        self.retry.hurry();
        self.hurry_watches();
        self.unblock();
        self.sending.paused_until_ms = None;
        self.wants_fetch = true;
        self.doubt_relay();
    }

    /// A time that [`Link::next_timer`] named has come.
    pub fn handle_timer(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.enter(now_ms);
        for id in self.outbox.expired(now_ms) {
            let reason = RowFailure::Expired;
            let event = LinkEvent::RowFailed { id, reason };
            self.outbox.remove(&id, event, &mut self.step);
            self.is_condition_changed = true;
        }
        if self.peer_due_ms.is_some_and(|due_ms| due_ms <= now_ms) && !self.is_last_look {
            self.is_last_look = true;
            self.wants_fetch = true;
        }
        if self.is_reclaim_due(now_ms) {
            self.needs_claim = true;
            self.doubt_relay();
        }
        if self
            .sending
            .blocked_until_ms
            .is_some_and(|at_ms| at_ms <= now_ms)
        {
            self.unblock();
        }
        self.pump(now_ms, rng);
    }

    /// The clock was set, or the computer slept. Has to come before [`Link::handle_timer`] hears
    /// of the new time.
    pub fn handle_clock_jump(&mut self, jump: ClockJump) {
        self.enter(jump.now_ms);
        if jump.is_far() {
            self.outbox.rebase(jump, &mut self.step);
        }
        let due_ms = jump.now_ms.saturating_add(timing::COMING_OVER_MS);
        self.peer_due_ms = self.peer_due_ms.map(|_| due_ms);
    }

    fn is_reclaim_due(&self, now_ms: u64) -> bool {
        self.claimed_at_ms
            .is_some_and(|at_ms| at_ms.saturating_add(timing::RECLAIM_MS) <= now_ms)
    }

    /// The relay answered, or didn't.
    pub fn handle_answer(
        &mut self,
        id: RequestId,
        answer: Answer,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        self.enter(now_ms);
        let Some((_, asked)) = self.asked.take_if(|(asked, _)| *asked == id) else {
            return;
        };
        let is_unanswered = answer == Answer::NoAnswer;
        self.is_condition_changed |= is_unanswered != self.is_unanswered;
        self.is_unanswered = is_unanswered;
        match Verdict::from(answer) {
            Verdict::Done(done) => self.take_done(asked, &done, now_ms),
            Verdict::Backoff => self.back_off(asked, now_ms, rng),
            Verdict::Wait(wait_ms) => {
                self.retry.wait_as_asked(wait_ms, now_ms, rng);
                self.give_up(asked);
            }
            Verdict::Unreadable => {
                self.unreadable = self.unreadable.saturating_add(1);
                self.back_off(asked, now_ms, rng);
                if self.unreadable >= timing::UNREADABLE_MAX {
                    self.set_error(Some(LinkError::Misbehaves));
                }
            }
            Verdict::Configuration => {
                self.set_error(Some(LinkError::Configuration));
                self.retry.wait(timing::CONFIGURATION_RETRY_MS, now_ms);
                self.give_up(asked);
            }
            Verdict::WrongToken => self.set_error(Some(LinkError::WrongToken)),
            Verdict::Unauthorized => self.set_error(Some(LinkError::Unauthorized)),
            Verdict::NoMailbox => self.miss(asked, now_ms, rng),
            Verdict::ClaimsClosed => self.lose(asked, now_ms),
            verdict => self.take_refusal(asked, &verdict, now_ms),
        }
        self.pump(now_ms, rng);
    }

    fn take_done(&mut self, asked: Asked, done: &Done, now_ms: u64) {
        if asked == Asked::Claim && self.misses > 0 {
            // A mailbox that can be claimed and isn't there is no success.
            self.retry.hurry();
        } else {
            self.retry.reset();
        }
        self.unreadable = 0;
        if self.error.is_some_and(|error| !error.stops()) {
            self.set_error(None);
        }
        if asked != Asked::Claim {
            self.misses = 0;
        }
        match asked {
            Asked::Claim => self.take_claimed(done, now_ms),
            Asked::Head => self.take_head(done.headers, now_ms),
            Asked::Page => self.take_page(done, now_ms),
            Asked::Prune => self.end_fetch(),
            Asked::Put => self.take_stored(done),
        }
    }

    fn take_claimed(&mut self, done: &Done, now_ms: u64) {
        self.claimed_at_ms = Some(now_ms);
        self.needs_claim = false;
        self.has_made_mailbox |= done.is_new;
        if done.is_new && self.row.is_established {
            // It had vanished: expired, erased, or the relay lost its data.
            self.row.unconfirmed_since_ms.get_or_insert(now_ms);
            self.is_row_changed = true;
            self.is_condition_changed = true;
            self.sending.known = None;
            self.wants_head = true;
            self.wants_fetch = true;
        }
        self.note_created(done.headers.created_ms);
        if !self.row.is_established || self.row.lost_since_ms.is_some() {
            self.row.is_established = true;
            self.row.lost_since_ms = None;
            self.is_row_changed = true;
            self.is_condition_changed = true;
        }
    }

    /// A refusal that depends on what was asked.
    fn take_refusal(&mut self, asked: Asked, verdict: &Verdict, now_ms: u64) {
        match (asked, verdict) {
            (Asked::Put, Verdict::Taken(last)) => self.take_taken(*last, now_ms),
            (Asked::Put, Verdict::Jump) => self.take_jump(),
            (Asked::Put, Verdict::TooLarge) => self.fail_pending(RowFailure::TooLarge),
            (Asked::Put, Verdict::Refused) => self.fail_pending(RowFailure::Malformed),
            (Asked::Put, Verdict::Full) => self.block(now_ms),
            (_, Verdict::Refused) => self.set_error(Some(LinkError::Refused)),
            // An answer to another question: the relay misbehaves.
            _ => {
                self.misbehaves(now_ms);
                self.give_up(asked);
            }
        }
    }

    fn back_off(&mut self, asked: Asked, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.retry.fail(timing::BACKOFF_MAX_MS, now_ms, rng);
        self.doubt_relay();
        self.give_up(asked);
    }

    /// What isn't answered is asked again from where it is safe. A pending envelope stays, so
    /// that the same bytes go under the same number.
    fn give_up(&mut self, asked: Asked) {
        if asked == Asked::Prune {
            // The next fetch prunes as well; without it a full direction would stay full.
            self.fetch = None;
            self.wants_fetch = true;
        }
    }

    /// The mailbox isn't there: claims it, once; then waits.
    fn miss(&mut self, asked: Asked, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if asked == Asked::Prune {
            self.end_fetch();
        }
        self.claimed_at_ms = None;
        self.needs_claim = true;
        self.sending.pending = None;
        self.fetch = None;
        self.wants_fetch = true;
        self.doubt_relay();
        self.misses = self.misses.saturating_add(1);
        if self.misses > 1 {
            self.retry.fail(timing::BACKOFF_MAX_MS, now_ms, rng);
        }
    }

    /// The relay has no mailbox for this link and makes none. The key stays: only the close
    /// frame, a `bye` or the person ends a link (amendment 16).
    fn lose(&mut self, asked: Asked, now_ms: u64) {
        if asked != Asked::Claim {
            self.misbehaves(now_ms);
            return;
        }
        if self.row.lost_since_ms.is_none() {
            self.row.lost_since_ms = Some(now_ms);
            self.is_row_changed = true;
            self.is_condition_changed = true;
        }
        self.retry.wait(timing::LOST_RECLAIM_MS, now_ms);
    }

    /// The relay answers what can't be: nothing of it is kept, and it is tried rarely.
    pub(super) fn misbehaves(&mut self, now_ms: u64) {
        self.set_error(Some(LinkError::Misbehaves));
        self.fetch = None;
        self.wants_fetch = true;
        self.retry.wait(timing::CONFIGURATION_RETRY_MS, now_ms);
    }

    fn set_error(&mut self, error: Option<LinkError>) {
        self.is_condition_changed |= self.error != error;
        self.error = error;
    }

    /// The relay may have less than it had: looks before anything is sent.
    pub(super) const fn doubt_relay(&mut self) {
        self.wants_head = true;
    }

    /// The incarnation of the mailbox, as an answer says it.
    pub(super) fn note_created(&mut self, created_ms: Option<u64>) {
        if created_ms.is_none() || created_ms == self.created_ms {
            return;
        }
        if self.created_ms.is_some() {
            self.sending.known = None;
            self.wants_head = true;
            self.wants_fetch = true;
        }
        self.created_ms = created_ms;
    }

    /// The person unpairs: everything of the link goes, whether the relay can be reached or
    /// not. What is left to do, without the key, is in the erase queue.
    pub fn unpair(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.enter(now_ms);
        if self.is_over {
            return;
        }
        let direction = self.role.writes();
        let bye = self.sealed_bye(now_ms, rng);
        let bye = bye.map(|(sequence, envelope)| Farewell {
            direction,
            sequence,
            envelope,
        });
        self.queue_erase(bye, now_ms);
        self.end();
    }

    fn queue_erase(&mut self, bye: Option<Farewell>, now_ms: u64) {
        self.step.changes.push(LinkChange::EraseQueued(EraseRow {
            mailbox: self.keys.mailbox(),
            token: self.keys.token().clone(),
            queued_ms: now_ms,
            bye,
        }));
    }

    /// The mailbox was erased by the other device. Where this one has claimed it anew before it
    /// heard of that, it erases what it made.
    pub(super) fn end_by_close(&mut self, now_ms: u64) {
        if self.has_made_mailbox {
            self.queue_erase(None, now_ms);
        }
        self.end_by_peer();
    }

    /// B never came over, and isn't on its way: this side's process ended in the middle of the
    /// pairing, and B was told that the pairing had ended. The link goes, as it does where the
    /// pairing runs out.
    pub(super) fn end_alone(&mut self) {
        self.queue_erase(None, self.now_ms);
        self.end();
    }

    fn end_by_peer(&mut self) {
        self.step
            .effects
            .push(LinkEffect::Tell(LinkEvent::PeerUnpaired));
        self.end();
    }

    /// The other device said `bye`, which means the same (amendment 19). Erasing twice does no
    /// harm, and the other device may be gone before it gets to it.
    pub(super) fn end_by_bye(&mut self, now_ms: u64) {
        self.queue_erase(None, now_ms);
        self.end_by_peer();
    }

    fn end(&mut self) {
        self.is_over = true;
        self.asked = None;
        self.step.changes.push(LinkChange::Forgotten);
        self.step.effects.push(LinkEffect::Forget);
    }

    /// Every input passes here first.
    pub(super) fn enter(&mut self, now_ms: u64) {
        if now_ms.saturating_add(CLOCK_STEP_MS) < self.now_ms {
            // The clock was set back: nothing may wait for the time that it showed.
            self.retry.hurry();
            self.claimed_at_ms = self.claimed_at_ms.map(|_| now_ms);
            self.sending.blocked_until_ms = self.sending.blocked_until_ms.map(|_| now_ms);
            self.sending.paused_until_ms = None;
            self.owed.rebase(now_ms);
            let due_ms = now_ms.saturating_add(timing::COMING_OVER_MS);
            self.peer_due_ms = self.peer_due_ms.map(|_| due_ms);
            self.watches.0.rebase(now_ms);
            self.watches.1.rebase(now_ms);
        }
        self.now_ms = now_ms;
    }

    /// Asks the next thing, if there is one and nothing is unanswered.
    pub(super) fn pump(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if self.is_over {
            return;
        }
        self.pump_watches(now_ms);
        let waits = self.retry.until(now_ms).is_some();
        if self.asked.is_some() || self.is_stopped() || waits {
            return;
        }
        if self.needs_claim {
            self.ask(Asked::Claim, LinkRequest::Claim);
        } else if self.is_turn_of_sending {
            if !self.send_next(now_ms, rng) {
                self.fetch_next();
            }
        } else if !self.fetch_next() {
            self.send_next(now_ms, rng);
        }
    }

    /// Asks the relay something.
    pub(super) fn ask(&mut self, asked: Asked, request: LinkRequest) {
        self.last_request = self.last_request.saturating_add(1);
        let id = RequestId(self.last_request);
        self.asked = Some((id, asked));
        self.step.effects.push(LinkEffect::Request { id, request });
    }

    fn is_stopped(&self) -> bool {
        self.error.is_some_and(LinkError::stops)
    }

    pub(super) fn is_standing_still(&self) -> bool {
        self.is_stopped() || self.row.lost_since_ms.is_some()
    }

    /// What to write and what to do since the last drain.
    pub fn drain(&mut self) -> LinkStep {
        let mut step = std::mem::take(&mut self.step);
        if std::mem::take(&mut self.is_row_changed) && !self.is_over {
            step.changes.push(LinkChange::RowSaved(self.row));
        }
        if std::mem::take(&mut self.is_condition_changed) && !self.is_over {
            step.effects
                .push(LinkEffect::Tell(LinkEvent::ConditionChanged));
        }
        step
    }

    /// When [`Link::handle_timer`] is to be called, in Unix ms; a time that is over means now.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        if self.is_over {
            return None;
        }
        let now_ms = self.now_ms;
        let mut next = vec![self.outbox.next_expiry(), self.next_watch_timer(now_ms)];
        next.push(self.peer_due_ms.filter(|_| !self.is_last_look));
        if self.asked.is_none() && !self.is_stopped() {
            let retry = self.retry.until(now_ms);
            let is_work_left = self.needs_claim || self.wants_fetch;
            let work = is_work_left || self.fetch.is_some();
            let reclaim = self
                .claimed_at_ms
                .map(|at_ms| at_ms.saturating_add(timing::RECLAIM_MS));
            let soonest = [
                work.then_some(now_ms),
                self.next_send_timer(now_ms),
                reclaim,
            ];
            let soonest = soonest.into_iter().flatten().min();
            next.push(soonest.map(|at_ms| at_ms.max(retry.unwrap_or(0))));
        }
        next.into_iter().flatten().min()
    }

    /// How the link stands.
    #[must_use]
    pub fn condition(&self) -> LinkCondition {
        LinkCondition {
            is_blocked: self.sending.blocked_until_ms.is_some(),
            unconfirmed_since_ms: self.row.unconfirmed_since_ms,
            lost_since_ms: self.row.lost_since_ms,
            last_contact_ms: self.row.last_contact_ms,
            error: self.error,
            is_peer_newer: self.is_peer_newer,
            is_unanswered: self.is_unanswered,
            waiting: self.outbox.len(),
        }
    }

    /// What waits for the other device, oldest first, and how far it is.
    pub fn outbox(&self) -> impl Iterator<Item = (PayloadId, RowProgress)> {
        self.outbox.rows().map(|row| {
            let progress = match row.stored {
                None => RowProgress::Queued,
                Some(_) if self.outbox.is_collected(&row.id) => RowProgress::Collected,
                Some(_) => RowProgress::Stored,
            };
            (row.id, progress)
        })
    }

    /// What follows from the link's key: its mailbox, and the token for it.
    #[must_use]
    pub const fn keys(&self) -> &LinkKeys {
        &self.keys
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Link")
    }
}
