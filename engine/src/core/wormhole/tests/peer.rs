//! One side of a wormhole in the tests: the machine, what it has stored, and its connection.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng as _;

use super::super::step::{
    Start, WormholeChange, WormholeEffect, WormholeEnd, WormholeEvent, WormholeMessage,
    WormholeRow, WormholeSnapshot, WormholeStep,
};
use super::super::{SendError, Wormhole};
use super::door::Door;
use sealpost_protocol::wormhole::{Application, WormholeCode};

/// What outlives a crash.
#[derive(Default)]
pub(super) struct Store {
    pub(super) row: Option<WormholeRow>,
    pub(super) outbox: Vec<WormholeMessage>,
    pub(super) arrived: Vec<(u64, Vec<u8>)>,
    pub(super) is_removed: bool,
}

impl Store {
    fn commit(&mut self, changes: Vec<WormholeChange>) {
        for change in changes {
            match change {
                WormholeChange::Saved(row) => self.row = Some(*row),
                WormholeChange::Queued(message) => self.outbox.push(message),
                WormholeChange::Echoed { seqnum } => self.outbox.retain(|m| m.seqnum != seqnum),
                WormholeChange::Arrived { number, plaintext } => {
                    self.arrived.push((number, plaintext.to_vec()));
                }
                WormholeChange::Removed => self.is_removed = true,
            }
        }
    }
}

/// Where a crash cuts a step off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crash {
    BeforeCommit,
    BehindCommit,
}

pub(super) struct Peer {
    pub(super) machine: Wormhole,
    pub(super) store: Store,
    pub(super) events: Vec<WormholeEvent>,
    pub(super) line: Option<u32>,
    pub(super) rng: ChaCha12Rng,
    pub(super) crash: Option<Crash>,
    frames: u64,
}

impl Peer {
    pub(super) fn new(app: Application, start: Start, seed: u64) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let machine = Wormhole::new(app, start, None, 0, &mut rng);
        let mut peer = Self {
            machine,
            store: Store::default(),
            events: Vec::new(),
            line: None,
            rng,
            crash: None,
            frames: 0,
        };
        let step = peer.machine.drain();
        peer.store.commit(step.changes);
        peer
    }

    /// Commits and carries out; a crash may come between.
    pub(super) fn settle(&mut self, door: &mut Door, now_ms: u64) {
        let WormholeStep { changes, effects } = self.machine.drain();
        match self.crash.take() {
            Some(Crash::BeforeCommit) => return self.restart(door, now_ms),
            Some(Crash::BehindCommit) => {
                self.store.commit(changes);
                return self.restart(door, now_ms);
            }
            None => self.store.commit(changes),
        }
        for effect in effects {
            match effect {
                WormholeEffect::Connect => {
                    self.line = Some(door.connect());
                    self.machine.handle_connected(now_ms);
                }
                WormholeEffect::Disconnect => self.cut(door),
                WormholeEffect::Send(frame) => {
                    self.frames += 1;
                    if let Some(line) = self.line {
                        door.hear(line, &frame.encode(self.frames));
                    }
                }
                WormholeEffect::Tell(event) => self.events.push(event),
            }
        }
    }

    fn cut(&mut self, door: &mut Door) {
        if let Some(line) = self.line.take() {
            door.lose(line);
        }
    }

    /// The process ends and another one begins.
    pub(super) fn restart(&mut self, door: &mut Door, now_ms: u64) {
        self.cut(door);
        let row = self.store.row.clone().unwrap();
        let outbox = self.store.outbox.clone();
        let snapshot = WormholeSnapshot { row, outbox };
        self.machine = Wormhole::restore(snapshot, None, now_ms);
    }

    pub(super) fn lose(&mut self, door: &mut Door, now_ms: u64) {
        if self.line.is_some() {
            self.cut(door);
            self.machine.handle_lost(now_ms, &mut self.rng);
            self.settle(door, now_ms);
        }
    }

    pub(super) fn tick(&mut self, door: &mut Door, now_ms: u64) {
        self.machine.handle_timer(now_ms, &mut self.rng);
        self.settle(door, now_ms);
    }

    /// Takes the frame at a place of what waits for it; whether there was one.
    pub(super) fn take(&mut self, door: &mut Door, place: usize, now_ms: u64) -> bool {
        let Some(waiting) = self.line.and_then(|line| door.waiting(line)) else {
            return false;
        };
        if place >= waiting.len() {
            return false;
        }
        let text = waiting.remove(place);
        self.machine.handle_frame(&text, now_ms, &mut self.rng);
        self.settle(door, now_ms);
        true
    }

    pub(super) fn say(
        &mut self,
        door: &mut Door,
        text: &[u8],
        now_ms: u64,
    ) -> Result<u64, SendError> {
        let sent = self.machine.send(text, &mut self.rng);
        self.settle(door, now_ms);
        sent
    }

    pub(super) fn close(&mut self, door: &mut Door, end: WormholeEnd, now_ms: u64) {
        self.machine.close(end, now_ms, &mut self.rng);
        self.settle(door, now_ms);
    }

    pub(super) fn code(&self) -> Option<WormholeCode> {
        self.store.row.as_ref().and_then(|row| row.code.clone())
    }

    pub(super) fn end(&self) -> Option<WormholeEnd> {
        self.machine.row().end
    }
}

/// Lets everything that waits arrive, until nothing waits any more.
pub(super) fn run(door: &mut Door, peers: &mut [&mut Peer], now_ms: u64) {
    for _ in 0..10_000 {
        let mut is_quiet = true;
        for peer in peers.iter_mut() {
            peer.tick(door, now_ms);
            while peer.take(door, 0, now_ms) {
                is_quiet = false;
            }
        }
        if is_quiet {
            return;
        }
    }
    panic!("it never comes to rest");
}

/// Two sides that have the same code, and everything arrived.
pub(super) fn two(is_ours: bool) -> (Door, Peer, Peer) {
    let mut door = Door::new(is_ours);
    let mut a = Peer::new(Application::Transfer, Start::Allocate, 1);
    run(&mut door, &mut [&mut a], 0);
    let code = a.code().unwrap();
    let mut b = Peer::new(Application::Transfer, Start::Code(code), 2);
    run(&mut door, &mut [&mut a, &mut b], 0);
    (door, a, b)
}
