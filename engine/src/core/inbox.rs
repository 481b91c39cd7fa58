//! The inbox: blobs that were delivered and not decided yet, one at a time.
//!
//! Owns the queue of the Receive Session that is up, the one run of the message handler, and
//! the checks that need no group (appendix B down to the tag). What a tag means in which
//! status is [`super::device`]'s.
//!
//! Invariants:
//! - a blob is decided only after everything before it in its session is;
//! - every decided blob is acknowledged or held, after the commit that says which;
//! - a session that ends takes its blobs with it, for the relay delivers them again, but not
//!   the run of the handler: one that ends well afterwards is recorded all the same, and the
//!   blob that comes again is a duplicate;
//! - a run is abandoned only when its message is delivered again meanwhile (amendment 8), or
//!   when it doesn't come again and the run holds up what does: the relay may have let go of
//!   its blob. The message is here, so it is tried again from here;
//! - a message whose handler ended well, or gave up, is recorded before its blob is
//!   acknowledged, and never handed to the handler again while a copy of it could pass the
//!   Replay Window.
//!
//! Spec: 3.7, 3.8, 7.3, appendix B; seed "Sending and receiving", section Recipient.

use std::collections::{BTreeSet, VecDeque};

use sealpost_protocol::envelope::{OpenedEnvelope, Received};
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::limit::{HANDLER_ATTEMPTS_MAX, REPLAY_WINDOW_MS};
use sealpost_protocol::message_id::MessageId;

use super::issue::{DeliveryIssue, HandlerError, Unreadable};
use super::message::Message;
use super::step::{Change, Effect, HandlerRun, Lookup, LookupError, SessionId, Step};
use super::timing;

/// The inbox of one device.
#[derive(Default)]
pub(super) struct Inbox {
    session: Option<SessionId>,
    waiting: VecDeque<Blob>,
    /// How many of them, from the front, are known not to be the message at the handler.
    searched: usize,
    running: Option<Running>,
    last_run: u64,
    /// Messages recorded in the step that isn't committed yet.
    recorded: BTreeSet<MessageId>,
}

/// A delivered blob.
pub(super) struct Blob {
    pub(super) at: BlobRef,
    pub(super) envelope: Vec<u8>,
}

/// Where a blob is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlobRef {
    pub(super) session: SessionId,
    pub(super) blob: u64,
}

/// A message at its handler.
struct Running {
    run: HandlerRun,
    /// Where it is acknowledged; `None` once the session that delivered it is over.
    at: Option<BlobRef>,
    message: Message,
    attempts: u32,
    /// Set between two attempts.
    retry_at_ms: Option<u64>,
    /// Since when the run holds up the blobs of another session than its own.
    in_the_way_since_ms: Option<u64>,
}

/// What a blob turned out to be, before anything about the group is asked.
pub(super) enum Reading {
    /// It names a version above this one's.
    Newer { version: u32 },
    /// It can't be used.
    Unusable(Unreadable),
    /// Its bytes, signature and age are good.
    Opened(OpenedEnvelope),
}

/// A message whose handler is done with it.
pub(super) struct Handled {
    pub(super) message: Message,
    /// Where it is acknowledged, if the session that delivered it is still up.
    pub(super) at: Option<BlobRef>,
    /// The last error, if the handler gave up.
    pub(super) gave_up: Option<HandlerError>,
}

/// Reads a blob as far as that is possible without knowing the group.
pub(super) fn read(envelope: &[u8], secrets: &DeviceSecrets, now_ms: u64) -> Reading {
    let sealed = match Received::decode(envelope) {
        Err(_) => return Reading::Unusable(Unreadable::Malformed),
        Ok(Received::Newer { version }) => return Reading::Newer { version },
        Ok(Received::Older) => return Reading::Unusable(Unreadable::SenderOutdated),
        Ok(Received::Current(sealed)) => sealed,
    };
    let Ok(opened) = sealed.open(&secrets.noise) else {
        return Reading::Unusable(Unreadable::Malformed);
    };
    if opened.timestamp_ms < now_ms.saturating_sub(REPLAY_WINDOW_MS) {
        return Reading::Unusable(Unreadable::Expired);
    }
    Reading::Opened(opened)
}

/// The id of the message in an envelope, if there is one that can be opened.
fn message_id(envelope: &[u8], secrets: &DeviceSecrets) -> Option<MessageId> {
    let Ok(Received::Current(sealed)) = Received::decode(envelope) else {
        return None;
    };
    let opened = sealed.open(&secrets.noise).ok()?;
    Some(opened.message_id())
}

/// Until when the record of a handled message is needed: as long as a copy could still pass
/// the Replay Window.
pub(super) fn keep_until_ms(handled_at_ms: u64, timestamp_ms: u64) -> u64 {
    handled_at_ms
        .max(timestamp_ms)
        .saturating_add(REPLAY_WINDOW_MS)
}

impl Inbox {
    /// A session came up; one before it is over.
    pub(super) fn start_session(&mut self, session: SessionId) {
        self.end_any_session();
        self.session = Some(session);
    }

    /// The session ended, if it is the one that is up.
    pub(super) fn end_session(&mut self, session: SessionId) {
        if self.session == Some(session) {
            self.end_any_session();
        }
    }

    /// Whatever session is up is over for the inbox. The message at the handler stays there.
    pub(super) fn end_any_session(&mut self) {
        self.session = None;
        self.waiting.clear();
        self.searched = 0;
        if let Some(running) = &mut self.running {
            running.at = None;
            running.in_the_way_since_ms = None;
        }
    }

    /// Something couldn't be decided: the session ends so that nothing overtakes it.
    pub(super) fn restart_session(&mut self, step: &mut Step) {
        if let Some(session) = self.session {
            self.end_any_session();
            step.effects.push(Effect::RestartSession(session));
        }
    }

    /// Queues a delivered blob. One of a session that isn't up is dropped: it comes again.
    pub(super) fn add(&mut self, at: BlobRef, envelope: Vec<u8>) {
        if self.session == Some(at.session) {
            self.waiting.push_back(Blob { at, envelope });
        }
    }

    /// Looks among the blobs that came since for the message at the handler, delivered again
    /// after its session ended. Between two attempts it is waited for there; a run that goes
    /// on since then is taken to hang: it is abandoned, and the blob starts a new one. All
    /// that came together with the blob is known by now, an outcome of the run among it.
    pub(super) fn meet_again(&mut self, secrets: &DeviceSecrets, step: &mut Step) {
        let from = std::mem::replace(&mut self.searched, self.waiting.len());
        let Some(running) = self.running.as_mut().filter(|running| running.at.is_none()) else {
            return;
        };
        let id = running.message.id;
        let is_it = |blob: &Blob| message_id(&blob.envelope, secrets) == Some(id);
        let Some(place) = self.waiting.iter().skip(from).position(is_it) else {
            return;
        };
        if running.retry_at_ms.is_some() {
            let found = self.waiting.remove(from.saturating_add(place));
            running.at = found.map(|blob| blob.at);
            self.searched = self.waiting.len();
        } else {
            step.effects.push(Effect::AbandonHandler(running.run));
            self.running = None;
        }
    }

    /// Takes the next blob, unless a message is at the handler.
    pub(super) fn take_next(&mut self) -> Option<Blob> {
        if self.running.is_some() {
            return None;
        }
        self.searched = self.searched.saturating_sub(1);
        self.waiting.pop_front()
    }

    /// Hands a message to the handler.
    pub(super) fn run_handler(&mut self, at: BlobRef, message: Message, step: &mut Step) {
        debug_assert!(self.running.is_none(), "one run at a time");
        let run = self.next_run();
        step.effects.push(Effect::StartHandler {
            run,
            message: message.clone(),
        });
        self.running = Some(Running {
            run,
            at: Some(at),
            message,
            attempts: 1,
            retry_at_ms: None,
            in_the_way_since_ms: None,
        });
    }

    /// Takes the outcome of a run; a result if the message is done with. The outcome of an
    /// abandoned run is ignored.
    pub(super) fn handle_outcome(
        &mut self,
        run: HandlerRun,
        outcome: Result<(), HandlerError>,
        now_ms: u64,
    ) -> Option<Handled> {
        let running = self.running.as_mut()?;
        if running.run != run || running.retry_at_ms.is_some() {
            return None;
        }
        if outcome.is_err() && running.attempts < HANDLER_ATTEMPTS_MAX {
            let delay_ms = timing::handler_delay_ms(running.attempts);
            running.retry_at_ms = Some(now_ms.saturating_add(delay_ms));
            return None;
        }
        let Running { at, message, .. } = self.running.take()?;
        Some(Handled {
            message,
            at,
            gave_up: outcome.err(),
        })
    }

    /// There was no handler to start a run on: it starts with the next one.
    pub(super) fn handle_missing_handler(&mut self, run: HandlerRun) {
        let waits = |running: &&mut Running| running.run == run && running.retry_at_ms.is_none();
        if let Some(running) = self.running.as_mut().filter(waits) {
            running.attempts = running.attempts.saturating_sub(1);
            running.retry_at_ms = Some(0);
        }
    }

    /// Runs the handler again if its delay is over, or if it hangs and its blob doesn't come
    /// again. A result if that was the last attempt.
    pub(super) fn handle_wakeup(&mut self, now_ms: u64, step: &mut Step) -> Option<Handled> {
        let given_up = self.abandon_what_is_in_the_way(now_ms, step);
        self.retry(now_ms, step);
        if self.is_in_the_way()
            && let Some(running) = &mut self.running
        {
            running.in_the_way_since_ms.get_or_insert(now_ms);
        }
        given_up
    }

    /// Whether a run that outlived its session holds up the blobs of the one that is up.
    fn is_in_the_way(&self) -> bool {
        let is_left_over =
            |running: &Running| running.at.is_none() && running.retry_at_ms.is_none();
        self.is_up() && !self.waiting.is_empty() && self.running.as_ref().is_some_and(is_left_over)
    }

    fn abandon_what_is_in_the_way(&mut self, now_ms: u64, step: &mut Step) -> Option<Handled> {
        let is_in_the_way = self.is_in_the_way();
        let running = self.running.as_mut().filter(|_| is_in_the_way)?;
        let since_ms = running.in_the_way_since_ms?;
        if since_ms > now_ms {
            // The clock was set back.
            running.in_the_way_since_ms = Some(now_ms);
        }
        if now_ms.saturating_sub(since_ms) < timing::RUN_IN_THE_WAY_MS {
            return None;
        }
        step.effects.push(Effect::AbandonHandler(running.run));
        running.in_the_way_since_ms = None;
        if running.attempts < HANDLER_ATTEMPTS_MAX {
            running.retry_at_ms = Some(now_ms);
            return None;
        }
        let Running { at, message, .. } = self.running.take()?;
        Some(Handled {
            message,
            at,
            gave_up: Some(HandlerError::new("it doesn't come to an end")),
        })
    }

    fn retry(&mut self, now_ms: u64, step: &mut Step) {
        let Some(running) = &self.running else { return };
        let Some(retry_at_ms) = running.retry_at_ms else {
            return;
        };
        // A delay longer than the longest one means that the clock was set back.
        let is_due = now_ms >= retry_at_ms
            || retry_at_ms.saturating_sub(now_ms) > timing::HANDLER_DELAY_MAX_MS;
        if !is_due {
            return;
        }
        let run = self.next_run();
        if let Some(running) = &mut self.running {
            running.run = run;
            running.attempts = running.attempts.saturating_add(1);
            running.retry_at_ms = None;
            step.effects.push(Effect::StartHandler {
                run,
                message: running.message.clone(),
            });
        }
    }

    /// Gives up the message at the handler without a record and acknowledges its blob: the
    /// group ends, and what is left of it is discarded.
    pub(super) fn discard_running(&mut self, step: &mut Step) {
        if let Some(running) = self.running.take() {
            if running.retry_at_ms.is_none() {
                step.effects.push(Effect::AbandonHandler(running.run));
            }
            if let Some(at) = running.at {
                acknowledge(at, step);
            }
        }
    }

    /// Records a message as handled.
    pub(super) fn record(
        &mut self,
        id: MessageId,
        timestamp_ms: u64,
        now_ms: u64,
        step: &mut Step,
    ) {
        let keep_until_ms = keep_until_ms(now_ms, timestamp_ms);
        self.recorded.insert(id);
        step.changes
            .push(Change::MessageHandled { id, keep_until_ms });
    }

    /// Whether a message was handled, in the store or in the step under way.
    pub(super) fn is_handled(
        &self,
        id: &MessageId,
        lookup: &impl Lookup,
    ) -> Result<bool, LookupError> {
        Ok(self.recorded.contains(id) || lookup.is_handled(id)?)
    }

    /// The step is handed out, so what it recorded is in the store before the next input.
    pub(super) fn forget_recorded(&mut self) {
        self.recorded.clear();
    }

    /// Blobs that aren't decided yet.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
            .len()
            .saturating_add(usize::from(self.running.is_some()))
    }

    /// Whether a session is up.
    pub(super) const fn is_up(&self) -> bool {
        self.session.is_some()
    }

    /// When the handler runs again, or is looked at because it holds up a session.
    pub(super) fn next_wakeup(&self) -> Option<u64> {
        let running = self.running.as_ref()?;
        if self.is_in_the_way() {
            let patience_ms = timing::RUN_IN_THE_WAY_MS;
            let since_ms = running.in_the_way_since_ms;
            return Some(since_ms.map_or(0, |since_ms| since_ms.saturating_add(patience_ms)));
        }
        running.retry_at_ms
    }

    const fn next_run(&mut self) -> HandlerRun {
        self.last_run = self.last_run.saturating_add(1);
        HandlerRun(self.last_run)
    }
}

/// Acknowledges a blob once the step is durable.
pub(super) fn acknowledge(at: BlobRef, step: &mut Step) {
    step.effects.push(Effect::Acknowledge {
        session: at.session,
        blob: at.blob,
    });
}

/// Records a rejection, then acknowledges the blob (amendment 7).
pub(super) fn reject(at: BlobRef, issue: DeliveryIssue, now_ms: u64, step: &mut Step) {
    raise(issue, now_ms, step);
    acknowledge(at, step);
}

/// Records and raises an issue.
pub(super) fn raise(issue: DeliveryIssue, now_ms: u64, step: &mut Step) {
    step.changes.push(Change::IssueAdded {
        at_ms: now_ms,
        issue: issue.clone(),
    });
    step.effects.push(Effect::Raise(issue));
}

#[cfg(test)]
mod tests;
