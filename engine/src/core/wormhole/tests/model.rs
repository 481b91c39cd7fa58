//! Random histories: connections are lost, frames doubled and swapped, processes end between
//! any two things they do. Whatever happens, each message arrives once, and in order.

use proptest::prelude::*;
use sealpost_protocol::wormhole::{Application, WormholeKey};

use super::super::step::{Start, WormholeEnd};
use super::door::Door;
use super::peer::{Crash, Peer, run};

/// One thing that happens, to the side that the number says.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Say(usize),
    Take(usize),
    TakeSecond(usize),
    Double(usize),
    Lose(usize),
    Crash(usize, bool),
    Wait,
}

fn happening() -> impl Strategy<Value = Happening> {
    let side = 0..2_usize;
    prop_oneof![
        3 => side.clone().prop_map(Happening::Say),
        8 => side.clone().prop_map(Happening::Take),
        2 => side.clone().prop_map(Happening::TakeSecond),
        1 => side.clone().prop_map(Happening::Double),
        1 => side.clone().prop_map(Happening::Lose),
        1 => (side, any::<bool>()).prop_map(|(side, early)| Happening::Crash(side, early)),
        3 => Just(Happening::Wait),
    ]
}

struct World {
    door: Door,
    peers: [Peer; 2],
    said: [Vec<Vec<u8>>; 2],
    now_ms: u64,
}

impl World {
    fn step(&mut self, happening: Happening) {
        let Self { door, peers, .. } = self;
        match happening {
            Happening::Say(side) => self.say(side),
            Happening::Take(side) => {
                peers[side].take(door, 0, self.now_ms);
            }
            // Only a message may overtake, and only a message: a `pong` is a barrier.
            Happening::TakeSecond(side) if is_swappable(&mut peers[side], door) => {
                peers[side].take(door, 1, self.now_ms);
            }
            Happening::Double(side) => {
                let waiting = peers[side].line.and_then(|line| door.waiting(line));
                if let Some(waiting) = waiting
                    && let Some(first) = waiting.first().filter(|f| is_message(f)).cloned()
                {
                    waiting.insert(0, first);
                }
            }
            Happening::Lose(side) => peers[side].lose(door, self.now_ms),
            Happening::Crash(side, is_early) => {
                peers[side].crash = Some(if is_early {
                    Crash::BeforeCommit
                } else {
                    Crash::BehindCommit
                });
                peers[side].take(door, 0, self.now_ms);
                // Nothing came: it crashes while it does nothing.
                peers[side].settle(door, self.now_ms);
            }
            Happening::TakeSecond(_) | Happening::Wait => {
                self.now_ms += 700;
                for peer in peers {
                    peer.tick(door, self.now_ms);
                }
            }
        }
    }

    fn say(&mut self, side: usize) {
        let text = format!("{side} says {}", self.said[side].len()).into_bytes();
        let peer = &mut self.peers[side];
        if peer.say(&mut self.door, &text, self.now_ms).is_ok() {
            self.said[side].push(text);
        }
    }

    /// Both sides get everything, and everything is compared.
    fn check(mut self) {
        for _ in 0..200 {
            self.now_ms += 61_000;
            let [a, b] = &mut self.peers;
            run(&mut self.door, &mut [a, b], self.now_ms);
        }
        let [a, b] = &self.peers;
        for (reader, said) in [(a, &self.said[1]), (b, &self.said[0])] {
            assert_eq!(reader.end(), None);
            let arrived: Vec<_> = reader.store.arrived.iter().map(|row| &row.1).collect();
            assert_eq!(arrived, said.iter().collect::<Vec<_>>());
            let numbers: Vec<_> = reader.store.arrived.iter().map(|row| row.0).collect();
            assert_eq!(numbers, (0..said.len() as u64).collect::<Vec<_>>());
            assert!(reader.store.outbox.is_empty(), "every echo came");
        }
        if self.door.is_ours {
            assert_eq!(self.door.stored, [], "everything was acknowledged");
        }
        let (mut door, [mut a, mut b]) = (self.door, self.peers);
        a.close(&mut door, WormholeEnd::Done, self.now_ms);
        b.close(&mut door, WormholeEnd::Done, self.now_ms);
        run(&mut door, &mut [&mut a, &mut b], self.now_ms);
        assert_eq!(door.moods, ["happy", "happy"]);
        assert!(a.store.is_removed && b.store.is_removed);
    }
}

fn is_message(text: &str) -> bool {
    text.contains(r#""type":"message""#)
}

fn is_swappable(peer: &mut Peer, door: &mut Door) -> bool {
    let waiting = peer.line.and_then(|line| door.waiting(line));
    waiting.is_some_and(|frames| frames.len() >= 2 && frames.iter().take(2).all(|f| is_message(f)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Two sides that meet by a code, at a server of either kind.
    #[test]
    fn by_code_every_message_arrives_once_and_in_order(
        is_ours in any::<bool>(),
        happenings in prop::collection::vec(happening(), 0..120),
    ) {
        let mut door = Door::new(is_ours);
        let mut a = Peer::new(Application::Transfer, Start::Allocate, 1);
        run(&mut door, &mut [&mut a], 0);
        let start = Start::Code(a.code().unwrap());
        let b = Peer::new(Application::Transfer, start, 2);
        let said = [Vec::new(), Vec::new()];
        let mut world = World { door, peers: [a, b], said, now_ms: 0 };
        for happening in happenings {
            world.step(happening);
        }
        world.check();
    }

    /// Two sides that have a seed.
    #[test]
    fn by_seed_every_message_arrives_once_and_in_order(
        happenings in prop::collection::vec(happening(), 0..200),
    ) {
        let seed = || Start::Seed(WormholeKey::from_bytes([5; 32]));
        let peers = [1, 2].map(|number| Peer::new(Application::Lasting, seed(), number));
        let said = [Vec::new(), Vec::new()];
        let mut world = World { door: Door::new(true), peers, said, now_ms: 0 };
        for happening in happenings {
            world.step(happening);
        }
        world.check();
    }
}
