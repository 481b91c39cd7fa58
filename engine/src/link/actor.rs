//! The one thread that owns the links of a profile: their store, their key and their machines.
//!
//! Owns the order of things. Inputs come through one channel; what a machine makes of one is
//! drained into a step, committed in one transaction, and only then answered and carried out.
//! Holds no rule of delivery or pairing.
//!
//! Invariants:
//! - nothing is sent, answered or told before the commit that it follows from;
//! - a commit that fails drops the machine and everything in flight, and a new machine is
//!   built from the store: what wasn't committed didn't happen;
//! - what was asked or watched for a machine that is gone is dropped when it reports.

mod call;
mod calls;
mod entry;
mod erasing;
mod pairing;
mod settle;
mod start;
#[cfg(test)]
mod tests;
mod traffic;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rand_core::OsRng;
use sealpost_protocol::link::key::Direction;
use tokio::sync::oneshot;

pub(super) use self::call::ActorHandle;
use self::call::{Input, Shared};
use self::entry::Entry;
use self::erasing::Erasing;
use self::pairing::PairingEntry;
pub(super) use self::start::start;
use self::traffic::{Traffic, Ways};
use super::name::LinkName;
use super::store::LinkStore;
use super::transport::{LinkFailure, LinkTransport};
use crate::actor::{ClockJumps, LOOK_AT_CLOCK, Rest};
use crate::clock::Clock;
use crate::core::link::pairing::LinkPairing;
use crate::core::link::{Answer, ClockJump, RequestId, WatchClose, WatchEvent};

/// How many inputs are taken before the timers are looked at.
const INPUTS_AT_ONCE_MAX: usize = 64;

/// A timer that is due again at once waits so long, so that no fault can keep the thread busy.
const TIMER_MIN: Duration = Duration::from_millis(5);

/// How many links there may be: as many as the relay inside the app has mailboxes for, less
/// those that a pairing takes besides.
const LINKS_MAX: usize = 24;

/// The owner of the links.
pub(super) struct Actor {
    inputs: Receiver<Input>,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    store: LinkStore,
    ways: Ways,
    links: BTreeMap<LinkName, Entry>,
    /// Those that are being paired. A link that a pairing made has the same name.
    pairings: BTreeMap<LinkName, PairingEntry>,
    erasing: Vec<Erasing>,
    is_watching: bool,
    /// After the store failed: until when machines aren't built anew.
    rest: Option<Rest>,
    /// How often in a row the store failed.
    failures: u32,
    jumps: ClockJumps,
}

/// Whose number a report carries.
enum Whose {
    Link(LinkName),
    Pairing(LinkName),
    Erasing(usize),
    Nobody,
}

impl Actor {
    /// Runs until the links are closed.
    fn run(mut self) {
        let closed = loop {
            let first = match self.inputs.recv_timeout(self.patience()) {
                Ok(input) => Some(input),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break None,
            };
            if let Some(end) = self.turn(first) {
                break end;
            }
        };
        self.shared.listeners.close();
        self.links.clear();
        self.pairings.clear();
        self.erasing.clear();
        // The store is free before anybody is told that the links are closed.
        drop(self.store);
        if let Some(closed) = closed {
            // Nobody waits for it any more: that is fine.
            let _ = closed.send(());
        }
    }

    /// How long an input may be waited for.
    fn patience(&self) -> Duration {
        let now_ms = self.now_ms();
        let links = self.links.values().filter_map(Entry::next_timer);
        let pairings = self.pairings.values().filter_map(PairingEntry::next_timer);
        let erasing = self.erasing.iter().filter_map(Erasing::next_timer);
        let rest = self.rest.map(|rest| rest.until_ms);
        let next = links.chain(pairings).chain(erasing).chain(rest).min();
        next.map_or(LOOK_AT_CLOCK, |due_ms| {
            let wait = Duration::from_millis(due_ms.saturating_sub(now_ms));
            wait.clamp(TIMER_MIN, LOOK_AT_CLOCK)
        })
    }

    /// Takes an input and those that wait behind it, and what is due. Returns who closes the
    /// links, if somebody does.
    fn turn(&mut self, first: Option<Input>) -> Option<Option<oneshot::Sender<()>>> {
        self.look_at_clock(self.now_ms());
        let mut next = first;
        let mut taken = 0;
        while let Some(input) = next {
            match input {
                Input::Close(closed) => return Some(Some(closed)),
                Input::Abandon => return Some(None),
                input => self.take(input),
            }
            self.shared.listeners.publish();
            taken += 1;
            let has_room = taken < INPUTS_AT_ONCE_MAX;
            next = has_room.then(|| self.inputs.try_recv().ok()).flatten();
        }
        self.revive();
        self.look_at_timers();
        self.shared.listeners.publish();
        None
    }

    /// Notices a clock that jumped, before anything is measured by it.
    fn look_at_clock(&mut self, now_ms: u64) {
        let Some(by_ms) = self.jumps.jumped_by(Instant::now(), now_ms) else {
            return;
        };
        tracing::debug!("the clock jumped; trying the links afresh");
        let jump = ClockJump { by_ms, now_ms };
        for entry in self.links.values_mut() {
            if let Some(link) = entry.machine.link() {
                link.handle_clock_jump(jump);
            }
        }
        self.rebase_erasing(jump);
        self.hurry();
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Call(call) => {
                // Somebody who asks is worth a try at any time.
                self.rest = None;
                self.revive();
                call(self);
            }
            Input::Answered { run, id, outcome } => self.take_answer(run, id, outcome),
            Input::Watched { watch, event } => self.take_watch(watch, event),
            Input::WatchEnded { watch } => {
                self.take_watch(watch, WatchEvent::Closed(WatchClose::Other));
            }
            Input::Here(transport) => self.set_here(transport),
            Input::Hurry => self.hurry(),
            Input::Watching(is_watching) => self.set_watching(is_watching),
            Input::Close(_) | Input::Abandon => {}
        }
    }

    fn take_answer(&mut self, run: u64, id: RequestId, outcome: Result<Answer, LinkFailure>) {
        let now_ms = self.now_ms();
        let (failure, answer) = match outcome {
            Ok(answer) => (None, answer),
            Err(failure) => (Some(failure), Answer::NoAnswer),
        };
        match self.whose(run) {
            Whose::Link(name) => {
                let Some(entry) = self.links.get_mut(&name) else {
                    return;
                };
                entry.failure = failure;
                if let Some(link) = entry.machine.link() {
                    link.handle_answer(id, answer, now_ms, &mut OsRng);
                }
                self.settle_or_rest(&name);
            }
            Whose::Pairing(name) => self.answer_pairing(&name, (id, answer), failure),
            Whose::Erasing(place) => self.take_erased(place, id, answer),
            Whose::Nobody => {}
        }
    }

    fn whose(&self, run: u64) -> Whose {
        let mut links = self.links.iter();
        if let Some((name, _)) = links.find(|(_, entry)| entry.run == run) {
            return Whose::Link(name.clone());
        }
        let mut pairings = self.pairings.iter();
        if let Some((name, _)) = pairings.find(|(_, entry)| entry.run == run) {
            return Whose::Pairing(name.clone());
        }
        let place = self.erasing.iter().position(|one| one.run == run);
        place.map_or(Whose::Nobody, Whose::Erasing)
    }

    fn take_watch(&mut self, watch: u64, event: WatchEvent) {
        let is_closed = matches!(event, WatchEvent::Closed(_));
        let watched = |traffic: &mut Traffic| {
            let direction = traffic.watched(watch)?;
            if is_closed {
                traffic.close_watch(direction);
            }
            Some(direction)
        };
        let mut links = self.links.iter_mut();
        let link = links.find_map(|(name, entry)| {
            watched(&mut entry.traffic).map(|direction| (name.clone(), direction))
        });
        if let Some((name, direction)) = link {
            self.feed_watch(&name, direction, event);
            return;
        }
        let mut pairings = self.pairings.iter_mut();
        let pairing =
            pairings.find_map(|(name, entry)| watched(&mut entry.traffic).map(|_| name.clone()));
        if let Some(name) = pairing {
            self.watch_pairing(&name, event);
        }
    }

    fn feed_watch(&mut self, name: &LinkName, direction: Direction, event: WatchEvent) {
        let now_ms = self.now_ms();
        let entry = self.links.get_mut(name);
        if let Some(link) = entry.and_then(|entry| entry.machine.link()) {
            link.handle_watch(direction, event, now_ms, &mut OsRng);
            self.settle_or_rest(name);
        }
    }

    fn set_here(&mut self, transport: Option<Arc<dyn LinkTransport>>) {
        let is_on = transport.is_some();
        self.ways.set_here(transport);
        if is_on {
            self.hurry_those(|relay| relay.is_none());
            return;
        }
        // The relay has gone, and its watches with it.
        let gone = WatchEvent::Closed(WatchClose::GoingAway);
        for name in self.names_where(|entry| entry.relay().is_none()) {
            let Some(entry) = self.links.get_mut(&name) else {
                continue;
            };
            for direction in entry.traffic.close_watches() {
                self.feed_watch(&name, direction, gone);
            }
        }
        let names: Vec<_> = self.pairings.keys().cloned().collect();
        for name in names {
            let Some(entry) = self.pairings.get_mut(&name) else {
                continue;
            };
            let is_here = entry.of.relay.is_none();
            if is_here && !entry.traffic.close_watches().is_empty() {
                self.watch_pairing(&name, gone);
            }
        }
    }

    /// Everything that waits is tried at once, over new connections.
    fn hurry(&mut self) {
        self.ways.renew();
        self.rest = None;
        self.hurry_those(|_| true);
    }

    /// Tries at once what waits for a relay that is meant.
    fn hurry_those(&mut self, is_meant: impl Fn(Option<&str>) -> bool) {
        let now_ms = self.now_ms();
        for name in self.names_where(|entry| is_meant(entry.relay())) {
            let entry = self.links.get_mut(&name);
            if let Some(link) = entry.and_then(|entry| entry.machine.link()) {
                link.handle_online(now_ms, &mut OsRng);
                self.settle_or_rest(&name);
            }
        }
        let pairings = self.pairings.iter();
        let meant = pairings.filter(|(_, entry)| is_meant(entry.of.relay.as_deref()));
        let names: Vec<_> = meant.map(|(name, _)| name.clone()).collect();
        for name in names {
            self.feed_pairing(&name, LinkPairing::handle_online);
        }
        self.hurry_erasing(|erasing| is_meant(erasing.relay.as_deref()));
    }

    fn set_watching(&mut self, is_watching: bool) {
        self.is_watching = is_watching;
        let now_ms = self.now_ms();
        for name in self.names_where(|_| true) {
            let entry = self.links.get_mut(&name);
            if let Some(link) = entry.and_then(|entry| entry.machine.link()) {
                link.set_visible(is_watching, now_ms, &mut OsRng);
                self.settle_or_rest(&name);
            }
        }
    }

    fn look_at_timers(&mut self) {
        let now_ms = self.now_ms();
        // What the clock makes old is given up below: not by a clock that was just set.
        self.look_at_clock(now_ms);
        let is_due = |entry: &Entry| entry.next_timer().is_some_and(|due| due <= now_ms);
        for name in self.names_where(is_due) {
            let entry = self.links.get_mut(&name);
            if let Some(link) = entry.and_then(|entry| entry.machine.link()) {
                link.handle_timer(now_ms, &mut OsRng);
                self.settle_or_rest(&name);
            }
        }
        let pairings = self.pairings.iter();
        let due = pairings.filter(|(_, entry)| entry.next_timer().is_some_and(|due| due <= now_ms));
        let names: Vec<_> = due.map(|(name, _)| name.clone()).collect();
        for name in names {
            self.feed_pairing(&name, LinkPairing::handle_timer);
        }
        self.look_at_erasing(now_ms);
    }

    fn names_where(&self, is_meant: impl Fn(&Entry) -> bool) -> Vec<LinkName> {
        let meant = self.links.iter().filter(|(_, entry)| is_meant(entry));
        meant.map(|(name, _)| name.clone()).collect()
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }
}
