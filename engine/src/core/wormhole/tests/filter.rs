//! The re-ordering filter, and what a server's memory tells.

use sealpost_protocol::wormhole::{Application, WormholeKey};

use super::super::step::{Start, WormholeEnd, WormholeEvent};
use super::super::timing;
use super::door::Door;
use super::peer::{Peer, run};

fn lasting() -> (Door, Peer, Peer) {
    let mut door = Door::new(true);
    let seed = || Start::Seed(WormholeKey::from_bytes([5; 32]));
    let mut a = Peer::new(Application::Lasting, seed(), 1);
    let mut b = Peer::new(Application::Lasting, seed(), 2);
    run(&mut door, &mut [&mut a, &mut b], 0);
    (door, a, b)
}

fn say(door: &mut Door, peer: &mut Peer, count: usize) {
    for number in 0..count {
        let text = format!("message {number}");
        peer.say(door, text.as_bytes(), 0).unwrap();
    }
}

#[test]
fn a_mailbox_of_acknowledged_messages_is_empty() {
    let (mut door, mut a, mut b) = lasting();
    for _ in 0..10 {
        say(&mut door, &mut a, 1_000);
        run(&mut door, &mut [&mut a, &mut b], 0);
        assert_eq!(door.stored, []);
    }
    assert_eq!(b.store.arrived.len(), 10_000);
    assert_eq!(door.acked.len(), 1);
}

#[test]
fn too_many_held_messages_are_dropped_and_fetched_again() {
    let (mut door, mut a, mut b) = lasting();
    let count = timing::HELD_MESSAGES_MAX + 24;
    b.lose(&mut door, 0);
    while a.store.arrived.is_empty() && door.stored.len() < count {
        say(&mut door, &mut a, 100);
        run(&mut door, &mut [&mut a], 0);
    }
    b.tick(&mut door, 100_000);
    // The first message comes last: welcome, then ack and opened, then messages.
    while b.take(&mut door, 0, 100_000) {
        let Some(waiting) = b.line.and_then(|line| door.waiting(line)) else {
            break;
        };
        if waiting
            .first()
            .is_some_and(|f| f.contains(r#""seqnum":0,"#) || f.contains("\"seqnum\":0}"))
        {
            let first = waiting.remove(0);
            let end = waiting.iter().position(|f| f.contains("pong"));
            waiting.insert(end.unwrap_or(waiting.len()), first);
        }
    }
    assert!(b.store.arrived.is_empty() && b.line.is_none());
    run(&mut door, &mut [&mut a, &mut b], 300_000);
    assert_eq!(b.store.arrived.len(), door_count(&a));
    assert!(!b.machine.is_holding());
}

fn door_count(a: &Peer) -> usize {
    usize::try_from(a.store.row.as_ref().unwrap().next_number).unwrap()
}

#[test]
fn what_a_forgetful_server_lost_is_said_on_both_sides() {
    let (mut door, mut a, mut b) = lasting();
    say(&mut door, &mut a, 2);
    run(&mut door, &mut [&mut a, &mut b], 0);
    b.lose(&mut door, 0);
    say(&mut door, &mut a, 3);
    run(&mut door, &mut [&mut a], 0);
    a.lose(&mut door, 0);
    door.forget();
    run(&mut door, &mut [&mut a, &mut b], 100_000);
    assert!(a.events.contains(&WormholeEvent::Forgotten));
    a.say(&mut door, b"after", 100_000).unwrap();
    run(&mut door, &mut [&mut a, &mut b], 100_000);
    assert!(b.events.contains(&WormholeEvent::Missed { count: 3 }));
    let numbers: Vec<_> = b.store.arrived.iter().map(|row| row.0).collect();
    assert_eq!(numbers, [0, 1, 5]);
}

#[test]
fn a_state_that_was_set_back_stops() {
    let (mut door, mut a, mut b) = lasting();
    let old = a.store.row.clone();
    let old_b = b.store.row.clone();
    say(&mut door, &mut a, 2);
    run(&mut door, &mut [&mut a, &mut b], 0);
    for (peer, old) in [(&mut a, old), (&mut b, old_b)] {
        peer.store.row = old;
        peer.store.row.as_mut().unwrap().peer = peer.machine.row().peer.clone();
        peer.restart(&mut door, 0);
        run(&mut door, &mut [&mut *peer], 0);
        assert_eq!(peer.end(), Some(WormholeEnd::SetBack));
    }
}

#[test]
fn a_silent_server_is_left_and_found_again() {
    let (mut door, mut a, mut b) = lasting();
    let silent = a.machine.next_timer().unwrap();
    assert_eq!(silent, timing::PING_INTERVAL_MS);
    a.machine.handle_timer(timing::SILENCE_MS, &mut a.rng);
    a.settle(&mut door, timing::SILENCE_MS);
    assert_eq!(a.line, None);
    run(&mut door, &mut [&mut a, &mut b], 2 * timing::SILENCE_MS);
    assert!(a.line.is_some());
}
