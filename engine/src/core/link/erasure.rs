//! Erasing a mailbox of a link that is over (specification 6.7).
//!
//! Owns one row of the erase queue: first the sealed `bye`, then the erase, tried for 30 days.
//! It needs no key of the link: what it puts was sealed before the key was forgotten.

use rand_core::CryptoRngCore;

use super::clock::ClockJump;
use super::retry::{Retry, Verdict};
use super::step::{Answer, EraseRow, LinkChange, LinkEffect, LinkRequest, LinkStep, RequestId};
use super::timing;

/// One erasure under way.
pub struct Erasure {
    row: EraseRow,
    has_said_bye: bool,
    asked: Option<RequestId>,
    last_request: u64,
    retry: Retry,
    is_over: bool,
    now_ms: u64,
    step: LinkStep,
}

impl Erasure {
    /// Begins.
    #[must_use]
    pub fn start(row: EraseRow, now_ms: u64) -> Self {
        let mut erasure = Self {
            has_said_bye: row.bye.is_none(),
            row,
            asked: None,
            last_request: 0,
            retry: Retry::default(),
            is_over: false,
            now_ms,
            step: LinkStep::default(),
        };
        erasure.pump(now_ms);
        erasure
    }

    /// The relay answered, or didn't.
    pub fn handle_answer(
        &mut self,
        id: RequestId,
        answer: Answer,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        self.now_ms = now_ms;
        if self.asked.take_if(|asked| *asked == id).is_none() {
            return;
        }
        match Verdict::from(answer) {
            Verdict::Backoff | Verdict::Unreadable => {
                self.retry.fail(timing::BACKOFF_MAX_MS, now_ms, rng);
            }
            Verdict::Wait(wait_ms) => self.retry.wait_as_asked(wait_ms, now_ms, rng),
            Verdict::Configuration => self.retry.wait(timing::CONFIGURATION_RETRY_MS, now_ms),
            // Nothing is left to erase, or it isn't this link's to erase.
            Verdict::NoMailbox | Verdict::WrongToken | Verdict::Unauthorized => self.end(),
            // The bye is a courtesy: whatever else became of it, the erase is next.
            _ if !self.has_said_bye => {
                self.has_said_bye = true;
                self.retry.reset();
            }
            _ => self.end(),
        }
        self.pump(now_ms);
    }

    /// The network is back, or a time that [`Erasure::next_timer`] named has come.
    pub fn handle_timer(&mut self, now_ms: u64, is_online_again: bool) {
        if is_online_again || now_ms < self.now_ms {
            self.retry.hurry();
        }
        self.now_ms = now_ms;
        self.pump(now_ms);
    }

    /// The clock was set: the row is as old as before.
    pub fn handle_clock_jump(&mut self, jump: ClockJump) {
        if jump.is_far() && !self.is_over {
            self.row.queued_ms = jump.rebase(self.row.queued_ms);
            let row = self.row.clone();
            self.step.changes.push(LinkChange::EraseQueued(row));
        }
    }

    fn pump(&mut self, now_ms: u64) {
        let life_ms = self.row.queued_ms.saturating_add(timing::ERASE_LIFE_MS);
        if life_ms <= now_ms && !self.is_over {
            self.end();
        }
        if self.is_over || self.asked.is_some() || self.retry.until(now_ms).is_some() {
            return;
        }
        self.last_request = self.last_request.saturating_add(1);
        let id = RequestId(self.last_request);
        self.asked = Some(id);
        let request = match &self.row.bye {
            Some(bye) if !self.has_said_bye => LinkRequest::Put {
                direction: bye.direction,
                sequence: bye.sequence,
                envelope: bye.envelope.clone(),
            },
            _ => LinkRequest::Erase,
        };
        self.step.effects.push(LinkEffect::Request { id, request });
    }

    fn end(&mut self) {
        self.is_over = true;
        let mailbox = self.row.mailbox;
        self.step.changes.push(LinkChange::EraseRemoved { mailbox });
        self.step.effects.push(LinkEffect::Forget);
    }

    /// What to write and what to do since the last drain.
    pub fn drain(&mut self) -> LinkStep {
        std::mem::take(&mut self.step)
    }

    /// When [`Erasure::handle_timer`] is to be called, in Unix ms.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        let is_waiting = !self.is_over && self.asked.is_none();
        is_waiting.then(|| self.retry.until(self.now_ms).unwrap_or(self.now_ms))
    }
}

impl std::fmt::Debug for Erasure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Erasure")
    }
}
