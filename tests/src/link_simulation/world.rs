//! Two devices, a line, a relay, and what goes wrong with them.

use std::collections::BTreeSet;

use sealpost_engine::core::link::{Answer, LinkRequest, RowKind, WatchClose, WatchEvent};
use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, LinkKeys, Role};
use sealpost_protocol::link::payload::PayloadId;

use super::Row;
use super::account::History;
use super::device::{Device, Input};
use super::line::{Dice, ModelRelay};
use super::store::ModelStore;

/// Steps of a history while things go wrong.
const STEPS: u32 = 1_400;

/// The most steps until it has to be quiet.
const QUIET_STEPS: u32 = 60_000;

/// For so long it may take until everything has arrived when nothing goes wrong any more: the
/// slowest rule is the daily claim.
const QUIET_MS: u64 = 49 * 60 * 60 * 1_000;

/// Requests, and as many answers, that get lost, in per mille.
const LOSS_PER_MILLE: u64 = 100;

/// Copies of itself that the relay, and each device, has: the newest ones.
const COPIES: usize = 4;

/// A state's keys.
const KEYS: u64 = 3;

/// One history of the engine's machine.
pub(super) struct World {
    row: Row,
    dice: Dice,
    now_ms: u64,
    keys: LinkKeys,
    relay: ModelRelay,
    relay_copies: Vec<ModelRelay>,
    devices: [Device; 2],
    device_copies: [Vec<ModelStore>; 2],
    /// Everything that was ever durable in an outbox, by who queued it, in order.
    queued: [Vec<PayloadId>; 2],
    /// What a device had and lost by being set back.
    set_back: BTreeSet<PayloadId>,
    history: History,
    is_quiet: bool,
}

impl World {
    pub(super) fn new(row: Row, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let (key, id) = (
            LinkKey::generate(&mut dice.0),
            LinkId::generate(&mut dice.0),
        );
        let keys = LinkKeys::derive(&key, &id);
        let store = |role| ModelStore::new(key.clone(), id, role);
        let devices = [Role::A, Role::B].map(|role| Device::new(store(role), true));
        Self {
            row,
            dice,
            now_ms: 1_795_000_000_000,
            keys,
            relay: ModelRelay::default(),
            relay_copies: Vec::new(),
            devices,
            device_copies: [Vec::new(), Vec::new()],
            queued: [Vec::new(), Vec::new()],
            set_back: BTreeSet::new(),
            history: History::default(),
            is_quiet: false,
        }
    }

    pub(super) fn run(mut self) -> History {
        for _ in 0..STEPS {
            self.go_wrong();
            self.step();
        }
        self.is_quiet = true;
        for at in 0..2 {
            if self.devices[at].link.is_none() {
                self.devices[at].start(self.now_ms, &mut self.dice);
            }
            self.give(at, Input::Look(true));
        }
        let end_ms = self.now_ms + QUIET_MS;
        let mut steps = 0;
        while self.now_ms < end_ms && steps < QUIET_STEPS && !self.is_settled() {
            self.step();
            steps += 1;
        }
        self.judge()
    }

    /// Nothing waits, nothing is stored, nothing is on its way.
    fn is_settled(&self) -> bool {
        let is_idle = |device: &Device| {
            device.store.waiting() == 0 && device.request.is_none() && device.inbox.is_empty()
        };
        self.relay.slots() == 0 && self.devices.iter().all(is_idle)
    }

    /// One of the two devices does one thing.
    fn step(&mut self) {
        let at = usize::from(self.dice.happens(500));
        if self.devices[at].link.is_none() {
            if self.dice.happens(300) {
                self.devices[at].start(self.now_ms, &mut self.dice);
            }
        } else if let Some(input) = self.devices[at].inbox.pop_front() {
            self.give(at, input);
        } else if let Some((id, request)) = self.devices[at].request.take() {
            let answer = self.send(&request);
            self.devices[at].inbox.push_back(Input::Answer(id, answer));
        } else {
            self.pass_time(at);
        }
        self.note_queued(at);
    }

    fn give(&mut self, at: usize, input: Input) {
        let may_crash = !self.is_quiet;
        self.devices[at].take(input, self.now_ms, &mut self.dice, may_crash);
    }

    /// A request over the line; watchers hear of what it changed.
    fn send(&mut self, request: &LinkRequest) -> Answer {
        self.history.requests += 1;
        self.now_ms += self.dice.below(40);
        if !self.is_quiet && self.dice.happens(LOSS_PER_MILLE) {
            return Answer::NoAnswer;
        }
        let answer = self.relay.perform(&self.keys, request, self.now_ms);
        if let Answer::Done(done) = &answer {
            let told = match request {
                LinkRequest::Put {
                    direction,
                    sequence,
                    ..
                } if done.is_new => Some((*direction, WatchEvent::Stored { last: *sequence })),
                LinkRequest::Prune { direction, .. } => Some((*direction, WatchEvent::Pruned)),
                _ => None,
            };
            if let Some((direction, event)) = told {
                self.tell_watchers(direction, event);
            }
        }
        let is_lost = !self.is_quiet && self.dice.happens(LOSS_PER_MILLE);
        if is_lost { Answer::NoAnswer } else { answer }
    }

    fn tell_watchers(&mut self, direction: Direction, event: WatchEvent) {
        for device in &mut self.devices {
            if device.watches.contains(&direction) {
                device.inbox.push_back(Input::Watch(direction, event));
            }
        }
    }

    /// Nothing to do: a message is queued, or time goes by until somebody has something to do.
    fn pass_time(&mut self, at: usize) {
        if !self.is_quiet && self.dice.happens(500) {
            let id = PayloadId::generate(&mut self.dice.0);
            let kind = if self.dice.happens(250) {
                let key = self.dice.below(KEYS);
                RowKind::State {
                    collapse: format!("key {key}"),
                }
            } else {
                RowKind::Msg
            };
            self.give(at, Input::Queue(kind, id));
            return;
        }
        let is_busy = |device: &Device| device.request.is_some() || !device.inbox.is_empty();
        if self.devices.iter().any(is_busy) {
            self.now_ms += self.dice.below(50);
        } else {
            let timer = |device: &Device| device.link.as_ref().and_then(|link| link.next_timer());
            let next = self.devices.iter().filter_map(timer).min();
            // A watch isn't silent as long as its relay lives: it beats.
            for device in &mut self.devices {
                for direction in device.watches.clone() {
                    device
                        .inbox
                        .push_back(Input::Watch(direction, WatchEvent::Beat));
                }
            }
            self.now_ms = next.map_or(self.now_ms + 1_000, |next| next.max(self.now_ms + 1));
        }
        self.run_timers();
    }

    fn run_timers(&mut self) {
        for at in 0..2 {
            let timer = self.devices[at]
                .link
                .as_ref()
                .and_then(|link| link.next_timer());
            if timer.is_some_and(|at_ms| at_ms <= self.now_ms) {
                self.give(at, Input::Timer);
            }
        }
    }

    /// Copies are made, and now and then something goes wrong that a row has.
    fn go_wrong(&mut self) {
        if self.dice.happens(30) {
            keep(&mut self.relay_copies, self.relay.clone());
            for at in 0..2 {
                let copy = self.devices[at].store.clone();
                keep(&mut self.device_copies[at], copy);
            }
        }
        if self.dice.happens(10) {
            let at = usize::from(self.dice.happens(500));
            self.give(at, Input::Online);
        }
        if self.dice.happens(10) {
            let at = usize::from(self.dice.happens(500));
            self.devices[at].disconnect();
        }
        if self.dice.happens(10) {
            // The phone goes into a pocket, or comes out of it.
            let is_watching = self.dice.happens(500);
            self.give(1, Input::Look(is_watching));
        }
        if self.row.vanishes() && self.dice.happens(6) {
            self.vanish();
        }
        if self.row.restores_relay() && self.dice.happens(6) {
            self.restore_relay();
        }
        if self.row.restores_clients() && self.dice.happens(4) {
            self.restore_client();
        }
    }

    fn vanish(&mut self) {
        self.relay.vanish(&self.keys, self.now_ms);
        self.now_ms += 1_000;
        // The close frame arrives or the connection is gone without one.
        let close = if self.dice.happens(500) {
            WatchClose::Expired
        } else {
            WatchClose::Other
        };
        for device in &mut self.devices {
            device
                .inbox
                .retain(|input| !matches!(input, Input::Watch(..)));
            for direction in std::mem::take(&mut device.watches) {
                let closed = WatchEvent::Closed(close);
                device.inbox.push_back(Input::Watch(direction, closed));
            }
        }
    }

    /// The relay stops, and another one starts from the copy: every connection ends.
    fn restore_relay(&mut self) {
        if self.relay_copies.is_empty() {
            return;
        }
        let at = self.dice.below(self.relay_copies.len() as u64);
        self.relay = self.relay_copies[usize::try_from(at).unwrap_or(0)].clone();
        for device in &mut self.devices {
            device.disconnect();
        }
    }

    /// A device is set back: what it queued or got since then is gone with it.
    fn restore_client(&mut self) {
        let at = usize::from(self.dice.happens(500));
        if self.device_copies[at].is_empty() {
            return;
        }
        let which = self.dice.below(self.device_copies[at].len() as u64);
        let copy = self.device_copies[at][usize::try_from(which).unwrap_or(0)].clone();
        let device = &mut self.devices[at];
        device.crash();
        let held = |store: &ModelStore| -> BTreeSet<PayloadId> {
            store.arrived.iter().chain(&store.queued).copied().collect()
        };
        let gone = held(&device.store);
        self.set_back.extend(gone.difference(&held(&copy)));
        device.store = copy;
    }

    /// At most one is queued in a step.
    fn note_queued(&mut self, at: usize) {
        let last = self.devices[at].store.queued.last().copied();
        let is_noted = |id: &PayloadId| self.queued[at].contains(id);
        if let Some(last) = last.filter(|last| !is_noted(last)) {
            self.queued[at].push(last);
        }
    }

    fn judge(mut self) -> History {
        self.history.is_settled = self.is_settled();
        self.history.stuck = self.relay.slots();
        for at in 0..2 {
            let device = &self.devices[at];
            self.history.crashes += device.crashes;
            self.history.failed += device.failed;
            self.history.waiting += device.store.waiting() as u64;
            let reader = &self.devices[1 - at].store;
            let arrived: BTreeSet<_> = reader.arrived.iter().copied().collect();
            self.history.repeated += (reader.arrived.len() - arrived.len()) as u64;
            self.history.sent += self.queued[at].len() as u64;
            for id in &self.queued[at] {
                if arrived.contains(id) || device.store.superseded.contains(id) {
                    continue;
                }
                self.history.lost += 1;
                self.history.set_back += u64::from(self.set_back.contains(id));
            }
            if self.row == Row::Plain {
                self.history.reordered += out_of_order(&self.queued[at], &reader.arrived);
            }
        }
        self.history
    }
}

/// How many of `arrived` come before one that was queued before them.
fn out_of_order(queued: &[PayloadId], arrived: &[PayloadId]) -> u64 {
    let place = |id: &PayloadId| queued.iter().position(|other| other == id);
    let places: Vec<_> = arrived.iter().filter_map(place).collect();
    let falls = |pair: &&[usize]| pair[1] < pair[0];
    places.windows(2).filter(falls).count() as u64
}

fn keep<T>(copies: &mut Vec<T>, copy: T) {
    copies.push(copy);
    if copies.len() > COPIES {
        copies.remove(0);
    }
}
