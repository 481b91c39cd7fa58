//! The one thread that owns a group: its store, its keys and its machine.
//!
//! Owns the order of things. Inputs come through one channel; what belongs together is given
//! to the machine (`core::device`), drained into one step, committed in one transaction, and
//! only then answered and carried out. Holds no rule of delivery, pairing or membership.
//!
//! Invariants:
//! - nothing is pushed, acknowledged, answered or told before the commit it follows from;
//!   only the handler may be called for the next message while the record of the last one
//!   waits to share a commit;
//! - a commit that fails drops the machine and everything in flight, and a new machine is
//!   built from the store: what wasn't committed didn't happen;
//! - a change of identity goes key store, database, key store, so that either of them names
//!   keys that exist (amendment 11).

mod call;
mod group;
mod runs;
mod sessions;
mod start;
mod view;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::pairing_words::pairing_words;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

pub(crate) use self::call::{ActorHandle, wait_for};
use self::call::{Answer, Input, Query, Shared, StoredCall};
use self::group::Group;
use self::runs::Runs;
use self::sessions::Sessions;
pub(crate) use self::start::start;
use self::view::View;
pub(crate) use self::view::with_sending;
use crate::clock::Clock;
use crate::core::error::{EngineError, StorageFault};
use crate::core::event::Event;
use crate::core::issue::DeliveryIssue;
use crate::core::message::Message;
use crate::core::status::Connection;
use crate::core::step::{Change, Effect, HandlerRun, Step, WordsRequest};
use crate::session::Report;
use crate::store::Applied;

/// How many inputs may share one commit.
const INPUTS_AT_ONCE_MAX: usize = 64;

/// How long a run of the handler that was started ahead of the commit is waited for, and how
/// long an input may wait for others to share its commit.
const HANDLER_PATIENCE: Duration = Duration::from_millis(1);
const TURN_MAX: Duration = Duration::from_millis(10);

/// After how long without a write the store's log is given back.
const TIDY_AFTER: Duration = Duration::from_secs(5);

/// The clock is looked at this often at least: it may be set, or the computer may have slept.
pub(crate) const LOOK_AT_CLOCK: Duration = Duration::from_secs(10);

/// A time of day that moves by this much more or less than the process means that the
/// computer slept or its clock was set.
const JUMP_MIN: Duration = Duration::from_secs(20);

/// How long the group rests after its store failed, at first and at most.
pub(crate) const REST_FIRST_MS: u64 = 1_000;
pub(crate) const REST_MAX_MS: u64 = 60_000;

/// How long after a failed computation of pairing words the next one begins.
const WORDS_PAUSE: Duration = Duration::from_secs(2);

/// Computes pairing words; `None` where the memory for it isn't there.
type ComputeWords = fn(&WordsRequest) -> Option<[String; 4]>;

/// The end of the actor, with who waits for it.
struct End {
    closed: Option<oneshot::Sender<()>>,
}

/// The owner of one group.
struct Actor {
    inputs: Receiver<Input>,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    runtime: Handle,
    group: Group,
    relay: Option<RelayAddress>,
    sessions: Sessions,
    runs: Runs,
    /// Counts the machines that were built and the identities they had; reports for an earlier
    /// one are dropped.
    generation: u64,
    /// After the store failed: until when the group rests, and how often in a row it failed.
    /// Kept until something was really written, so that a disk that stays full is met at
    /// growing intervals.
    rest: Option<Rest>,
    jumps: ClockJumps,
    /// Whether a run of the handler was started ahead of the next commit.
    is_ahead: bool,
    /// Whether something was written without a sync, and no acknowledgement's commit is near.
    owes_sync: bool,
    /// When the log of the store is given back, unless something is written before.
    tidy_at: Option<Instant>,
    /// Words that nobody computes yet.
    words: VecDeque<WordsRequest>,
    /// Whether words are being computed.
    is_computing: bool,
    compute: ComputeWords,
    /// The machine is ahead of the store and can't be built anew yet, for this reason.
    stale: Option<StorageFault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) until_ms: u64,
    pub(crate) failures: u32,
}

impl Actor {
    /// Runs until the group is closed.
    fn run(mut self) {
        self.settle(Vec::new());
        let end = loop {
            let first = match self.wait() {
                Ok(input) => Some(input),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break End { closed: None },
            };
            if let Some(end) = self.turn(first) {
                break end;
            }
        };
        self.shared.end();
        self.runs.abandon_all();
        self.sessions.end();
        // The store is free before anybody is told that the group is closed.
        drop(self.group);
        if let Some(closed) = end.closed {
            // Nobody waits for it any more: that is fine.
            let _ = closed.send(());
        }
    }

    /// Waits for an input. Where none waits already, nobody minds if what followed the last
    /// `send` is synced; the next one finds it done.
    fn wait(&mut self) -> Result<Input, RecvTimeoutError> {
        if self.owes_sync {
            if let Ok(input) = self.inputs.try_recv() {
                return Ok(input);
            }
            self.owes_sync = false;
            self.group.store.sync_log();
        }
        self.inputs.recv_timeout(self.patience())
    }

    /// Takes an input and those that wait behind it, and settles them together.
    fn turn(&mut self, first: Option<Input>) -> Option<End> {
        if !self.rests() {
            self.revive();
        }
        if self.jumps.has_jumped(Instant::now(), self.clock.now_ms()) {
            tracing::debug!("the clock jumped; starting the sessions afresh");
            self.sessions.renew();
        }
        let begun = Instant::now();
        let mut answers = Vec::new();
        let mut next = first;
        let mut taken = 0;
        while let Some(input) = next {
            match input {
                Input::Abandon => return Some(End { closed: None }),
                Input::Close(closed) => {
                    self.settle(answers);
                    return Some(End {
                        closed: Some(closed),
                    });
                }
                // These see what is committed, and so all that was called before them.
                Input::Query(query) => {
                    self.revive();
                    self.settle(std::mem::take(&mut answers));
                    self.ask(query);
                }
                Input::StoredCall(call) => {
                    self.revive();
                    // Even while the group rests: what the machine knows has to be in the store.
                    answers.push(Box::new(drop));
                    self.settle(std::mem::take(&mut answers));
                    answers.extend(self.feed_stored(call));
                }
                Input::SetRelay(relay, answer) => {
                    self.revive();
                    self.settle(std::mem::take(&mut answers));
                    answer(self.set_relay(relay));
                }
                Input::IssueListener => self.tell_issues(),
                input => answers.extend(self.feed(input)),
            }
            taken += 1;
            // One that is taken out of the channel is lost unless it is fed, too.
            let has_room = taken < INPUTS_AT_ONCE_MAX && begun.elapsed() < TURN_MAX;
            let may_wait = answers.is_empty();
            next = has_room.then(|| self.next_input(may_wait)).flatten();
        }
        let now_ms = self.clock.now_ms();
        if self
            .group
            .device
            .next_wakeup()
            .is_some_and(|due| due <= now_ms)
        {
            self.group.device.handle_wakeup(now_ms, &mut OsRng);
        }
        self.settle(answers);
        self.tidy();
        None
    }

    /// The next input that shares the commit: one that waits or, while nobody waits for an
    /// answer, the outcome of a run that is started ahead.
    fn next_input(&mut self, may_wait: bool) -> Option<Input> {
        if let Ok(input) = self.inputs.try_recv() {
            return Some(input);
        }
        if !may_wait || !(self.run_ahead() || self.is_ahead) {
            return None;
        }
        self.inputs.recv_timeout(HANDLER_PATIENCE).ok()
    }

    /// Starts the handler on the next message before what was handled is committed: one
    /// commit per message would make a full inbox as slow as the disk.
    fn run_ahead(&mut self) -> bool {
        if self.stale.is_some() || self.rests() {
            return false;
        }
        let (group, now_ms) = (&mut self.group, self.clock.now_ms());
        let Some((run, message)) = group.device.run_ahead(now_ms, &group.store) else {
            return false;
        };
        self.start_run(run, message);
        self.sessions
            .release_places(self.group.device.inbox_waiting());
        self.is_ahead = true;
        true
    }

    fn start_run(&mut self, run: HandlerRun, message: Message) {
        let (runtime, shared) = (&self.runtime, &self.shared);
        if !self
            .runs
            .start(runtime, shared, self.generation, run, message)
        {
            self.group.device.handle_handler_missing(run);
        }
    }

    /// Once nothing was written for a while, does step by step what waited for that, and gives
    /// the log of the store back, so that a group in the tray neither holds space nor writes.
    fn tidy(&mut self) {
        if self.tidy_at.is_none_or(|due| due > Instant::now()) {
            return;
        }
        // One that fails is taken up again after the next write.
        let is_done = self.group.store.tidy_step().unwrap_or(true);
        self.tidy_at = (!is_done).then(Instant::now);
        if is_done {
            self.group.store.truncate_log();
        }
    }

    /// Gives one input to the machine; a call leaves its answer for after the commit.
    fn feed(&mut self, input: Input) -> Option<Answer> {
        if matches!(input, Input::Call(_)) {
            // Somebody who asks is worth a try at any time.
            self.revive();
        }
        let now_ms = self.clock.now_ms();
        let device = &mut self.group.device;
        match input {
            Input::Call(call) => return Some(call(device, now_ms, &mut OsRng)),
            Input::HandlerSet(is_set) => device.handle_handler_set(is_set),
            Input::HandlerDone {
                generation,
                run,
                outcome,
            } if generation == self.generation && self.runs.finish(run) => {
                device.handle_handler_outcome(run, outcome, now_ms);
            }
            Input::Words {
                generation,
                request,
                words,
            } => self.take_words(generation, request, words),
            Input::Session { generation, report } if generation == self.generation => {
                self.feed_report(report, now_ms);
            }
            Input::Reconnect => {
                self.sessions.hurry();
                device.handle_reconnect();
            }
            // Of a machine that is gone, or only meant to wake this one.
            _ => {}
        }
        None
    }

    /// Asks something of the store.
    fn ask(&mut self, query: Query) {
        let written = self.group.store.rows_written();
        let fault = query(&self.group.store, &self.group.device);
        if self.group.store.rows_written() != written {
            self.tidy_at = Instant::now().checked_add(TIDY_AFTER);
        }
        if let Some(fault) = fault {
            self.meet_fault(fault);
        }
    }

    /// Gives the machine a call with what the store holds; nothing else waits to be written.
    fn feed_stored(&mut self, call: StoredCall) -> Option<Answer> {
        let now_ms = self.clock.now_ms();
        match call(&self.group.store, &mut self.group.device, now_ms) {
            Ok(answer) => Some(answer),
            Err(fault) => {
                self.meet_fault(fault);
                None
            }
        }
    }

    /// A question showed what is wrong with the store.
    fn meet_fault(&mut self, fault: StorageFault) {
        if fault == StorageFault::Damaged && self.stale.is_none() {
            self.rebuild(fault);
        }
    }

    fn feed_report(&mut self, report: Report, now_ms: u64) {
        let device = &mut self.group.device;
        match report {
            Report::Connection(connection) => device.handle_connection(connection),
            Report::Started(session) => {
                device.handle_session_started(session);
                device.handle_look_for_copy();
            }
            Report::Ended(session, connection) => {
                device.handle_session_ended(session, connection);
            }
            Report::Delivered {
                session,
                blob,
                envelope,
                place,
            } => {
                self.sessions.take_place(place);
                device.handle_deliver(session, blob, envelope);
            }
            Report::BadFrame => device.handle_bad_frame(now_ms),
            Report::Pushed(push, outcome) => {
                device.handle_push_outcome(push, outcome, now_ms, &mut OsRng);
            }
        }
    }

    /// Drains the machine, commits, answers and carries out.
    fn settle(&mut self, mut answers: Vec<Answer>) {
        self.is_ahead = false;
        if let Some(fault) = self.stale {
            answers
                .into_iter()
                .for_each(|answer| answer(Err(fault.into())));
            return;
        }
        let now_ms = self.clock.now_ms();
        if answers.is_empty() && self.rests() {
            return;
        }
        if !answers.is_empty()
            && let Some(step) = self.group.device.drain_sends()
            && !self.settle_sends(step, std::mem::take(&mut answers))
        {
            return;
        }
        let step = self
            .group
            .device
            .drain(now_ms, &mut OsRng, &self.group.store);
        match self.group.commit(&step) {
            Ok(applied) => {
                self.owes_sync &= !applied.has_written;
                self.note_write(&applied);
                self.show();
                for answer in answers {
                    answer(Ok(()));
                }
                // Acknowledgements go before a goal that ends their session, and pushes after
                // the one that says where to.
                self.acknowledge(&step);
                if step.restarts_identity() {
                    self.start_sessions().retire();
                }
                self.aim();
                self.carry_out(step, &applied);
            }
            Err(fault) => {
                for answer in answers {
                    answer(Err(fault.into()));
                }
                self.rebuild(fault);
            }
        }
    }

    /// Answers what was sent as soon as it is durable, before anything is sealed. Returns
    /// whether the machine goes on.
    fn settle_sends(&mut self, step: Step, mut answers: Vec<Answer>) -> bool {
        // Else the commit of its acknowledgement would come right after and sync it along.
        let is_offline = self.group.device.connection() != Connection::Connected;
        let store = &mut self.group.store;
        let committed = match store.begin_send(&step.changes) {
            Ok(true) => {
                for answer in answers.drain(..) {
                    answer(Ok(()));
                }
                self.owes_sync = is_offline;
                store.finish_send(&step.changes)
            }
            Ok(false) => store.apply(&step.changes, None),
            Err(fault) => Err(fault),
        };
        let fault = committed.as_ref().err().copied();
        for answer in answers {
            answer(fault.map_or(Ok(()), |fault| Err(fault.into())));
        }
        match committed {
            Ok(applied) => {
                self.note_write(&applied);
                self.carry_out(step, &applied);
                true
            }
            Err(fault) => {
                self.rebuild(fault);
                false
            }
        }
    }

    fn note_write(&mut self, applied: &Applied) {
        if applied.has_written {
            self.rest = None;
            self.tidy_at = Instant::now().checked_add(TIDY_AFTER);
        }
    }

    /// Brings the public view up to date with the machine.
    fn show(&self) {
        let view = View::of(&self.group.device, self.relay.clone());
        self.shared.set_view(view);
    }

    /// Brings the goals of the sessions up to date with the machine.
    fn aim(&mut self) {
        let device = &self.group.device;
        self.sessions.release_places(device.inbox_waiting());
        self.sessions.aim(self.relay.as_ref(), device);
    }

    fn acknowledge(&self, step: &Step) {
        for effect in &step.effects {
            if let Effect::Acknowledge { session, blob } = effect {
                self.sessions.acknowledge(*session, *blob);
            }
        }
    }

    fn carry_out(&mut self, step: Step, applied: &Applied) {
        let written: Vec<DeliveryIssue> =
            step.changes.into_iter().filter_map(written_issue).collect();
        let mut has_stored_issue = false;
        for effect in step.effects {
            match effect {
                Effect::Tell(event) => self.shared.notices.tell(event),
                Effect::Raise(issue) if written.contains(&issue) => has_stored_issue = true,
                Effect::Raise(issue) => self.shared.notices.raise(issue),
                Effect::TellMessageStored(id) => {
                    let found = applied.stored.iter().find(|(stored, _)| *stored == id);
                    if let Some(&(_, position)) = found {
                        self.shared.notices.tell(Event::MessageStored { position });
                    }
                }
                Effect::RestartSession(session) => self.sessions.restart(session),
                Effect::Push(push) => self.sessions.push(push),
                Effect::StartHandler { run, message } => self.start_run(run, message),
                Effect::AbandonHandler(run) => self.runs.abandon(run),
                Effect::ComputeWords(request) => {
                    self.words.push_back(request);
                    self.compute_words();
                }
                // Done before the others.
                Effect::RestartIdentity | Effect::Acknowledge { .. } => {}
            }
        }
        if has_stored_issue {
            self.tell_issues();
        }
    }

    /// Tells the listeners of issues what no listener was told.
    fn tell_issues(&self) {
        while self.shared.notices.has_issue_listener() {
            let Ok(issues) = self.group.store.untold_issues() else {
                return;
            };
            let Some(last) = issues.last().map(|issue| issue.id) else {
                return;
            };
            for stored in issues {
                self.shared.notices.raise(stored.issue);
            }
            // If it fails they are told again, which is better than not at all.
            if self.group.store.mark_told(last).is_err() {
                return;
            }
        }
    }

    /// Starts the next computation of words that are still of use, unless one goes on: each
    /// takes tens of MiB, and strangers ask for them.
    fn compute_words(&mut self) {
        if self.is_computing {
            return;
        }
        let device = &self.group.device;
        let Some(request) = std::iter::from_fn(|| self.words.pop_front())
            .find(|request| device.wants_words(request.target))
        else {
            return;
        };
        self.is_computing = true;
        let (shared, generation) = (Arc::clone(&self.shared), self.generation);
        let compute = self.compute;
        self.runtime.spawn_blocking(move || {
            let words = compute(&request);
            shared.input(Input::Words {
                generation,
                request,
                words,
            });
        });
    }

    /// A computation ended. One that failed is done again after those that wait.
    fn take_words(&mut self, generation: u64, request: WordsRequest, words: Option<[String; 4]>) {
        self.is_computing = false;
        if generation == self.generation {
            match words {
                Some(words) => self.group.device.handle_words(request.target, words),
                None if self.group.device.wants_words(request.target) => {
                    self.words.push_back(request);
                }
                None => {}
            }
        }
        self.compute_words();
    }

    fn set_relay(&mut self, relay: RelayAddress) -> Result<(), EngineError> {
        if let Some(fault) = self.stale {
            return Err(fault.into());
        }
        self.group.store.set_relay(&relay)?;
        self.relay = Some(relay);
        self.show();
        self.aim();
        Ok(())
    }

    /// Builds a new machine from the store, and rests before it may do anything.
    fn rebuild(&mut self, fault: StorageFault) {
        self.take_rest();
        tracing::warn!(%fault, "a step could not be written; starting over from the store");
        if fault == StorageFault::Damaged {
            self.group.want_repair();
        }
        self.runs.abandon_all();
        self.start_sessions().end();
        self.stale = Some(fault);
        self.revive();
    }

    /// Starts sessions afresh and returns those before; nothing that was begun by now reaches
    /// the machine any more.
    fn start_sessions(&mut self) -> Sessions {
        self.words.clear();
        self.generation = self.generation.saturating_add(1);
        let fresh = Sessions::start(&self.runtime, &self.shared, self.generation);
        std::mem::replace(&mut self.sessions, fresh)
    }

    /// Builds the machine anew if the one there is ahead of the store.
    fn revive(&mut self) {
        if self.stale.is_none() {
            return;
        }
        let now_ms = self.clock.now_ms();
        let repaired = self.group.repair(now_ms);
        match repaired.and_then(|()| self.group.restore(now_ms)) {
            Ok(()) => {
                self.stale = None;
                let has_handler = self.shared.handler().is_some();
                self.group.device.handle_handler_set(has_handler);
                self.show();
                // The sessions are gone, and so may be an open window: no step says so.
                let connection = self.group.device.connection();
                let notices = &self.shared.notices;
                notices.tell(Event::ConnectionChanged(connection));
                notices.tell(Event::PairingChanged);
                // A store that was repaired says so.
                self.tell_issues();
            }
            Err(fault) => {
                self.stale = Some(fault);
                if !self.rests() {
                    self.take_rest();
                }
            }
        }
    }

    /// Begins a rest that is longer than the one before.
    fn take_rest(&mut self) {
        let failures = self.rest.map_or(0, |rest| rest.failures);
        let pause = REST_FIRST_MS
            .saturating_mul(1 << failures.min(10))
            .min(REST_MAX_MS);
        self.rest = Some(Rest {
            until_ms: self.clock.now_ms().saturating_add(pause),
            failures: failures.saturating_add(1),
        });
    }

    fn rests(&self) -> bool {
        let now_ms = self.clock.now_ms();
        self.rest.is_some_and(|rest| rest.lasts(now_ms))
    }

    /// How long to wait for an input.
    fn patience(&self) -> Duration {
        let now_ms = self.clock.now_ms();
        let due = match self.rest {
            Some(rest) if rest.lasts(now_ms) => Some(rest.until_ms),
            _ => self.group.device.next_wakeup(),
        };
        // Never zero: a clock that stands still must not make this thread spin.
        let wait = due.map(|due| Duration::from_millis(due.saturating_sub(now_ms).max(1)));
        let tidy = self.tidy_at.map(|due| {
            due.saturating_duration_since(Instant::now())
                .max(HANDLER_PATIENCE)
        });
        [wait, tidy]
            .into_iter()
            .flatten()
            .fold(LOOK_AT_CLOCK, Duration::min)
    }
}

/// Notices that the computer slept, or that its clock was set: the time of day went on, or
/// back, and this process didn't.
pub(crate) struct ClockJumps {
    seen: Instant,
    seen_ms: u64,
}

impl ClockJumps {
    pub(crate) fn new(now: Instant, now_ms: u64) -> Self {
        Self {
            seen: now,
            seen_ms: now_ms,
        }
    }

    /// Whether it jumped since the last look.
    pub(crate) fn has_jumped(&mut self, now: Instant, now_ms: u64) -> bool {
        self.jumped_by(now, now_ms).is_some()
    }

    /// By how many milliseconds it jumped since the last look, if it did.
    pub(crate) fn jumped_by(&mut self, now: Instant, now_ms: u64) -> Option<i64> {
        let awake = now.saturating_duration_since(self.seen);
        let awake_ms = u64::try_from(awake.as_millis()).unwrap_or(u64::MAX);
        let expected_ms = self.seen_ms.saturating_add(awake_ms);
        (self.seen, self.seen_ms) = (now, now_ms);
        let has_jumped = Duration::from_millis(now_ms.abs_diff(expected_ms)) >= JUMP_MIN;
        has_jumped.then(|| signed(now_ms).saturating_sub(signed(expected_ms)))
    }
}

fn signed(at_ms: u64) -> i64 {
    i64::try_from(at_ms).unwrap_or(i64::MAX)
}

impl Rest {
    /// Whether it isn't over. A clock that was set back must not make it longer.
    pub(crate) const fn lasts(self, now_ms: u64) -> bool {
        now_ms < self.until_ms && self.until_ms - now_ms <= REST_MAX_MS
    }
}

fn words_of(request: &WordsRequest) -> Option<[String; 4]> {
    match pairing_words(&request.admitter, &request.joiner, &request.secret) {
        Ok(words) => Some(words.as_array().map(str::to_owned)),
        Err(error) => {
            // Too little memory at the moment: trying at once would be no better.
            tracing::error!(%error, "no pairing words");
            std::thread::sleep(WORDS_PAUSE);
            None
        }
    }
}

fn written_issue(change: Change) -> Option<DeliveryIssue> {
    match change {
        Change::IssueAdded { issue, .. } => Some(issue),
        _ => None,
    }
}
