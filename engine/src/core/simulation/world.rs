//! One history: devices, the relay, and what happens to them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sealpost_protocol::frame::Refusal;
use sealpost_protocol::message_id::MessageId;

use super::relay::Relay;
use crate::core::issue::{DeliveryIssue, HandlerError};
use crate::core::message::DeliveryState;
use crate::core::rig::{Post, Rig, Store, words};
use crate::core::status::{Connection, Status};
use crate::core::step::{Effect, HandlerRun, Push, PushOutcome, WordsTarget};

/// How often what goes wrong, in per mille.
#[derive(Clone, Copy, Debug)]
pub(super) struct Faults {
    crash: u32,
    lose: u32,
    repeat: u32,
    refuse: u32,
    fail_handler: u32,
}

impl Faults {
    pub(super) const ALL: Self = Self {
        crash: 15,
        lose: 120,
        repeat: 50,
        refuse: 80,
        fail_handler: 50,
    };
    pub(super) const NO_CRASHES: Self = Self {
        crash: 0,
        ..Self::ALL
    };
    const NONE: Self = Self {
        crash: 0,
        lose: 0,
        repeat: 0,
        refuse: 0,
        fail_handler: 0,
    };
}

/// How the group loses members in the middle of a history.
#[derive(Clone, Copy, Debug)]
pub(super) enum Departure {
    /// The second device leaves.
    Leave,
    /// The first device removes the second.
    Remove,
    /// The second device destroys the group.
    Destroy,
}

impl Departure {
    /// Which devices are in no group afterwards.
    const fn takes(self, index: usize) -> bool {
        match self {
            Self::Leave | Self::Remove => index == 1,
            Self::Destroy => true,
        }
    }
}

/// A device with what its shell would hold.
struct Node {
    rig: Rig,
    is_up: bool,
    /// The last blob that the relay delivered in this session.
    cursor: u64,
    in_flight: Vec<Push>,
    runs: Vec<HandlerRun>,
    words: Vec<WordsTarget>,
}

pub(super) struct World {
    nodes: Vec<Node>,
    relay: Relay,
    rng: ChaCha8Rng,
    faults: Faults,
    sent: u32,
    departed: Option<Departure>,
    /// What every step asked for, in order.
    log: Vec<String>,
    /// Whether the log is kept.
    is_logged: bool,
}

/// Stores of a group, made once: pairing costs more than a whole history.
fn group(members: usize) -> Vec<Store> {
    static GROUPS: OnceLock<BTreeMap<usize, Vec<Store>>> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| {
        let stores = |post: Post| post.rigs.into_iter().map(|rig| rig.store).collect();
        (2..=3)
            .map(|count| (count, stores(Post::group(count))))
            .collect()
    });
    groups[&members].clone()
}

impl World {
    pub(super) fn new(seed: u64, members: usize, newcomers: usize, faults: Faults) -> Self {
        let mut nodes: Vec<Node> = group(members)
            .into_iter()
            .zip(1..)
            .map(|(store, number)| Node::new(Rig::with_store(seed ^ (number << 40), store)))
            .collect();
        for number in 0..newcomers {
            let number = u64::try_from(number).expect("a small number");
            nodes.push(Node::new(Rig::new(seed ^ (number + 1) << 50, "newcomer")));
        }
        let mut world = Self {
            nodes,
            relay: Relay::default(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            faults,
            sent: 0,
            departed: None,
            log: Vec::new(),
            is_logged: false,
        };
        for index in 0..world.nodes.len() {
            world.connect(index);
        }
        world
    }

    /// Lets things happen at random.
    pub(super) fn run(&mut self, events: usize) {
        for _ in 0..events {
            let index = self.below(self.nodes.len());
            match self.below(32) {
                0..=2 => self.send(index),
                3..=10 => self.answer(index),
                11..=18 => self.deliver(index),
                19..=23 => self.finish_handler(index),
                24 => self.connect(index),
                25 => self.cut(index),
                26 => self.arrive_late(),
                27 | 28 => {
                    let ms = u64::from(self.rng.next_u32() % 20_000);
                    self.wait(ms);
                }
                _ => self.pair_any(),
            }
        }
    }

    /// Lets members go, until that is durable.
    pub(super) fn depart(&mut self, departure: Departure) {
        self.departed = Some(departure);
        let index = match departure {
            Departure::Leave | Departure::Destroy => 1,
            Departure::Remove => 0,
        };
        let target = self.nodes[1].rig.device.me().id;
        loop {
            let before = self.nodes[index].rig.store.sequence;
            let rig = &mut self.nodes[index].rig;
            match departure {
                Departure::Leave => rig.device.handle_leave(rig.now_ms),
                Departure::Remove => rig.device.handle_remove(&target, rig.now_ms),
                Departure::Destroy => rig.device.handle_destroy(rig.now_ms),
            }
            .expect("it may");
            self.step(index);
            if self.nodes[index].rig.store.sequence != before {
                return;
            }
        }
    }

    /// The faults end; everything that is under way comes to its end.
    pub(super) fn settle(&mut self) {
        self.faults = Faults::NONE;
        for index in 0..self.nodes.len() {
            self.connect(index);
        }
        for _ in 0..2_000 {
            for index in 0..self.nodes.len() {
                if self.departed.is_none() {
                    self.pair(index);
                }
                self.answer(index);
                self.deliver(index);
                self.finish_handler(index);
            }
            self.arrive_late();
            if self.is_quiet() {
                return;
            }
            self.wait(1_000);
        }
        panic!("it never gets quiet");
    }

    pub(super) fn check(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            assert_eq!(node.rig.store.repeats, 0, "no row is written twice");
            let states = node.rig.store.deliveries.values();
            if self.is_gone(index) {
                assert_eq!(node.rig.device.status(), Status::NotJoined);
                assert!(
                    states
                        .into_iter()
                        .all(|state| *state != DeliveryState::Waiting)
                );
                continue;
            }
            assert_eq!(node.rig.device.status(), Status::Member);
            assert_eq!(node.rig.device.members().len(), self.remaining() - 1);
            for state in states {
                let is_withdrawn = *state == DeliveryState::Withdrawn && self.departed.is_some();
                let is_on_relay = matches!(state, DeliveryState::OnRelay { .. });
                assert!(is_on_relay || is_withdrawn, "{state:?}");
            }
            for issue in &node.rig.store.issues {
                // A repeated Pair meets a closed window; nothing else is ever out of order.
                assert!(
                    matches!(
                        issue,
                        DeliveryIssue::HandlerGaveUp { .. } | DeliveryIssue::Unauthorized
                    ),
                    "{issue:?}"
                );
            }
        }
        for author in 0..self.nodes.len() {
            for reader in 0..self.nodes.len() {
                if author != reader && !self.is_gone(author) && !self.is_gone(reader) {
                    self.check_pair(author, reader);
                }
            }
        }
    }

    /// Keeps a log from here on.
    pub(super) const fn keep_log(&mut self) {
        self.is_logged = true;
    }

    pub(super) fn log(&self) -> &[String] {
        &self.log
    }

    /// Every message of the author for the reader is there, once, in order.
    fn check_pair(&self, author: usize, reader: usize) {
        let me = self.nodes[reader].rig.device.me().id;
        let from = self.nodes[author].rig.device.me().id;
        let store = &self.nodes[reader].rig.store;
        let gave_up: Vec<MessageId> = store
            .issues
            .iter()
            .filter_map(|issue| match issue {
                DeliveryIssue::HandlerGaveUp { message, .. } => Some(*message),
                _ => None,
            })
            .collect();
        let sent: Vec<MessageId> = self.nodes[author]
            .rig
            .store
            .rows
            .values()
            .filter(|row| row.own && row.recipients.iter().any(|to| to.id == me))
            .map(|row| row.id)
            .filter(|id| !gave_up.contains(id))
            .collect();
        let shown: Vec<MessageId> = store
            .rows
            .values()
            .filter(|row| !row.own && row.author == from)
            .map(|row| row.id)
            .collect();
        assert_eq!(shown.len(), sent.len(), "from {author} to {reader}");
        assert_eq!(shown, sent, "from {author} to {reader}");
    }

    fn send(&mut self, index: usize) {
        self.sent += 1;
        let body = format!("message {}", self.sent).into_bytes();
        let rig = &mut self.nodes[index].rig;
        if rig.device.handle_send(body, rig.now_ms).is_ok() {
            self.step(index);
        }
    }

    /// The relay answers one push, or doesn't.
    fn answer(&mut self, index: usize) {
        if self.nodes[index].in_flight.is_empty() {
            return;
        }
        let which = self.below(self.nodes[index].in_flight.len());
        let push = self.nodes[index].in_flight.remove(which);
        let outcome = if self.hits(self.faults.refuse) {
            PushOutcome::Refused(Refusal::RateLimited)
        } else if self.hits(self.faults.lose) {
            // On its way for good, or only for long.
            if self.hits(500) {
                self.relay.late.push((push.recipient, push.envelope));
            }
            PushOutcome::Unanswered
        } else {
            let copies = 1 + usize::from(self.hits(self.faults.repeat));
            for _ in 0..copies {
                self.relay.store(push.recipient, push.envelope.clone());
            }
            if self.hits(self.faults.lose) {
                PushOutcome::Unanswered
            } else {
                PushOutcome::Stored
            }
        };
        let rig = &mut self.nodes[index].rig;
        rig.device
            .handle_push_outcome(push.id, outcome, rig.now_ms, &mut rig.rng);
        self.step(index);
    }

    fn deliver(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        if !node.is_up {
            return;
        }
        let Some((blob, envelope)) = self.relay.next(&node.rig.noise(), node.cursor) else {
            return;
        };
        node.cursor = blob;
        node.rig
            .device
            .handle_deliver(node.rig.session, blob, envelope);
        self.step(index);
    }

    fn finish_handler(&mut self, index: usize) {
        while let Some(target) = self.nodes[index].words.pop() {
            self.nodes[index].rig.device.handle_words(target, words());
            self.step(index);
        }
        let Some(run) = self.nodes[index].runs.pop() else {
            return;
        };
        let outcome = if self.hits(self.faults.fail_handler) {
            Err(HandlerError::new("failed"))
        } else {
            Ok(())
        };
        let rig = &mut self.nodes[index].rig;
        rig.device.handle_handler_outcome(run, outcome, rig.now_ms);
        self.step(index);
    }

    fn connect(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        node.is_up = true;
        node.cursor = 0;
        node.rig.session.0 += 1;
        node.rig.device.handle_handler_set(true);
        node.rig.device.handle_session_started(node.rig.session);
        self.step(index);
    }

    fn cut(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        node.is_up = false;
        let ended = Connection::Disconnected(None);
        node.rig
            .device
            .handle_session_ended(node.rig.session, ended);
        self.step(index);
    }

    fn arrive_late(&mut self) {
        if !self.relay.late.is_empty() {
            let which = self.below(self.relay.late.len());
            let (recipient, envelope) = self.relay.late.remove(which);
            self.relay.store(recipient, envelope);
        }
    }

    fn wait(&mut self, ms: u64) {
        for index in 0..self.nodes.len() {
            let rig = &mut self.nodes[index].rig;
            rig.now_ms += ms;
            rig.device.handle_wakeup(rig.now_ms, &mut rig.rng);
            self.step(index);
            // A device that stopped meanwhile has its first sweep before it.
            let is_fresh =
                self.nodes[index].rig.device.next_wakeup() == Some(self.nodes[index].rig.now_ms);
            if !is_fresh {
                self.nodes[index].rig.check_wakeup();
            }
        }
    }

    fn pair_any(&mut self) {
        if self.departed.is_some() {
            return;
        }
        let outside: Vec<usize> = (0..self.nodes.len())
            .filter(|index| {
                let device = &self.nodes[*index].rig.device;
                device.status() != Status::Member || device.pairing().join.is_some()
            })
            .collect();
        if !outside.is_empty() {
            let which = self.below(outside.len());
            self.pair(outside[which]);
        }
    }

    /// Brings a newcomer one step nearer to the group: the first device admits it.
    fn pair(&mut self, index: usize) {
        if self.nodes[index].rig.device.status() == Status::Member {
            self.nodes[index].rig.device.handle_confirm_words();
            self.step(index);
            return;
        }
        let admitter = &mut self.nodes[0].rig;
        match admitter.device.pairing().window {
            None => {
                let token = admitter
                    .device
                    .handle_start_pairing(admitter.now_ms, &mut admitter.rng)
                    .expect("a member may");
                self.step(0);
                let joiner = &mut self.nodes[index].rig;
                joiner
                    .device
                    .handle_join(&token, joiner.now_ms)
                    .expect("not in a group");
                self.step(index);
            }
            Some(window) => {
                let status = self.nodes[index].rig.device.status();
                let asks_again = status != Status::PendingJoin || self.below(10) == 0;
                if let Some(request) = window.requests.first() {
                    let admitter = &mut self.nodes[0].rig;
                    admitter
                        .device
                        .handle_accept(request.id, admitter.now_ms, &mut admitter.rng)
                        .expect("the request is open");
                    self.step(0);
                } else if asks_again {
                    let joiner = &mut self.nodes[index].rig;
                    joiner
                        .device
                        .handle_join(&window.token, joiner.now_ms)
                        .expect("no group");
                    self.step(index);
                }
            }
        }
    }

    /// Drains a device and does what it asks for, if it isn't stopped on the way.
    fn step(&mut self, index: usize) {
        let step = self.nodes[index].rig.take_step();
        if self.is_logged {
            self.log.push(format!("{index} {step:?}"));
        }
        if self.hits(self.faults.crash) {
            self.crash(index);
            return;
        }
        self.nodes[index].rig.store.commit(step.changes);
        for effect in step.effects {
            if self.hits(self.faults.crash / 2) {
                self.crash(index);
                return;
            }
            self.act(index, effect);
        }
    }

    /// The device stops and starts again from its store.
    fn crash(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        for push in node.in_flight.drain(..) {
            // What was written to the socket may still arrive.
            if self.rng.next_u32().is_multiple_of(2) {
                self.relay.late.push((push.recipient, push.envelope));
            }
        }
        let effects = {
            node.is_up = false;
            node.runs.clear();
            node.words.clear();
            node.rig.restart()
        };
        for effect in effects {
            self.act(index, effect);
        }
    }

    fn act(&mut self, index: usize, effect: Effect) {
        let is_lost = self.hits(self.faults.lose);
        let node = &mut self.nodes[index];
        match effect {
            Effect::Push(push) => node.in_flight.push(push),
            Effect::Acknowledge { session, blob } => {
                if node.is_up && session == node.rig.session && !is_lost {
                    self.relay.delete(&node.rig.noise(), blob);
                }
            }
            Effect::StartHandler { run, .. } => node.runs.push(run),
            Effect::AbandonHandler(run) => node.runs.retain(|known| *known != run),
            Effect::ComputeWords(request) => node.words.push(request.target),
            Effect::RestartIdentity => node.is_up = false,
            Effect::RestartSession(_) => panic!("no look-up fails in this world"),
            Effect::Tell(_) | Effect::Raise(_) | Effect::TellMessageStored(_) => {}
        }
    }

    fn is_quiet(&self) -> bool {
        self.relay.late.is_empty()
            && self.nodes.iter().enumerate().all(|(index, node)| {
                let is_settled = if self.is_gone(index) {
                    node.rig.device.status() == Status::NotJoined
                } else {
                    node.rig.device.status() == Status::Member
                        && node.rig.device.members().len() + 1 == self.remaining()
                        && self.relay.waiting(&node.rig.noise()) == 0
                };
                is_settled
                    && node.in_flight.is_empty()
                    && node.runs.is_empty()
                    && node.rig.store.entries.is_empty()
                    && node.rig.device.inbox_waiting() == 0
            })
    }

    fn is_gone(&self, index: usize) -> bool {
        self.departed
            .is_some_and(|departure| departure.takes(index))
    }

    fn remaining(&self) -> usize {
        (0..self.nodes.len())
            .filter(|index| !self.is_gone(*index))
            .count()
    }

    fn hits(&mut self, per_mille: u32) -> bool {
        self.rng.next_u32() % 1_000 < per_mille
    }

    fn below(&mut self, count: usize) -> usize {
        let drawn = usize::try_from(self.rng.next_u32()).expect("32 bits fit");
        drawn % count
    }
}

impl Node {
    const fn new(rig: Rig) -> Self {
        Self {
            rig,
            is_up: false,
            cursor: 0,
            in_flight: Vec::new(),
            runs: Vec::new(),
            words: Vec::new(),
        }
    }
}
