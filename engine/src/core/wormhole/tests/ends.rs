//! How wormholes end: each way, with what the server is told.

use sealpost_protocol::wormhole::{Application, WormholeCode};

use super::super::step::{Start, WormholeEnd, WormholeEvent};
use super::super::{SendError, timing};
use super::door::Door;
use super::peer::{Peer, run, two};

fn guess(door: &mut Door, code: &str, seed: u64, others: &mut [&mut Peer]) -> Peer {
    let code = WormholeCode::parse(code).unwrap();
    let mut peer = Peer::new(Application::Transfer, Start::Code(code), seed);
    let mut all: Vec<&mut Peer> = others.iter_mut().map(|peer| &mut **peer).collect();
    all.push(&mut peer);
    run(door, &mut all, 0);
    peer
}

#[test]
fn the_same_code_leads_to_messages_in_both_directions_and_a_free_nameplate() {
    for is_ours in [true, false] {
        let (mut door, mut a, mut b) = two(is_ours);
        assert!(door.is_released);
        assert_eq!(a.machine.seed(), b.machine.seed());
        assert!(a.machine.seed().is_some());
        assert_eq!(a.say(&mut door, b"one", 0), Ok(0));
        assert_eq!(b.say(&mut door, b"two", 0), Ok(0));
        run(&mut door, &mut [&mut a, &mut b], 0);
        assert_eq!(a.store.arrived, [(0, b"two".to_vec())]);
        assert_eq!(b.store.arrived, [(0, b"one".to_vec())]);
        assert!(a.events.contains(&WormholeEvent::Stored { number: 0 }));
    }
}

#[test]
fn one_wrong_guess_spends_the_code_and_both_sides_say_so() {
    let mut door = Door::default();
    let mut a = Peer::new(Application::Transfer, Start::Allocate, 1);
    run(&mut door, &mut [&mut a], 0);
    let b = guess(&mut door, "4-wrong-guess-here", 2, &mut [&mut a]);
    for peer in [&a, &b] {
        assert_eq!(peer.end(), Some(WormholeEnd::WrongCode));
        let ended = WormholeEvent::Ended(WormholeEnd::WrongCode);
        assert_eq!(peer.events.iter().filter(|e| **e == ended).count(), 1);
        assert!(peer.store.is_removed && peer.store.arrived.is_empty());
    }
    assert_eq!(door.moods, ["scary", "scary"]);
    // The right code is of no use afterwards: a third side.
    let late = guess(&mut door, &a.code().unwrap().to_text(), 3, &mut []);
    assert_eq!(late.end(), Some(WormholeEnd::Crowded));
}

#[test]
fn three_sides_on_one_code_end_it_for_the_third_and_for_whoever_comes_back() {
    let (mut door, mut a, mut b) = two(true);
    let code = a.code().unwrap().to_text();
    let third = guess(&mut door, &code, 3, &mut [&mut a, &mut b]);
    assert_eq!(third.end(), Some(WormholeEnd::Crowded));
    for peer in [&mut a, &mut b] {
        peer.restart(&mut door, 0);
        run(&mut door, &mut [&mut *peer], 0);
        assert_eq!(peer.end(), Some(WormholeEnd::Crowded));
    }
}

#[test]
fn nobody_comes_in_time() {
    let mut door = Door::default();
    let mut a = Peer::new(Application::Transfer, Start::Allocate, 1);
    run(&mut door, &mut [&mut a], 0);
    let snapshot = super::super::step::WormholeSnapshot {
        row: a.store.row.clone().unwrap(),
        outbox: a.store.outbox.clone(),
    };
    let deadline_ms = Some(timing::CODE_LIFE_MS);
    a.machine = super::super::Wormhole::restore(snapshot, deadline_ms, 0);
    run(&mut door, &mut [&mut a], timing::CODE_LIFE_MS - 1);
    assert_eq!(a.end(), None);
    assert_eq!(
        a.machine.next_timer().map(|at| at <= timing::CODE_LIFE_MS),
        Some(true)
    );
    run(&mut door, &mut [&mut a], timing::CODE_LIFE_MS);
    assert_eq!(a.end(), Some(WormholeEnd::TimedOut));
    assert_eq!(door.moods, ["lonely"]);
    assert_eq!(a.say(&mut door, b"x", 0), Err(SendError::Ended));
}

#[test]
fn cancelling_leaves_at_once_and_done_only_behind_the_last_echo() {
    let (mut door, mut a, mut b) = two(true);
    a.say(&mut door, b"last", 0).unwrap();
    a.close(&mut door, WormholeEnd::Done, 0);
    assert!(door.moods.is_empty(), "the echo hasn't come yet");
    run(&mut door, &mut [&mut a, &mut b], 0);
    assert_eq!(door.moods, ["happy"]);
    assert_eq!(b.store.arrived.len(), 1);
    b.close(&mut door, WormholeEnd::Cancelled, 0);
    assert_eq!(door.moods, ["happy", "errory"]);
}

#[test]
fn a_server_that_is_not_to_be_used_is_left() {
    let mut rng_peer = Peer::new(Application::Transfer, Start::Allocate, 1);
    let mut door = Door::default();
    rng_peer.tick(&mut door, 0);
    let waiting = door.waiting(rng_peer.line.unwrap()).unwrap();
    waiting[0] = r#"{"type":"welcome","welcome":{"error":"closed for today"}}"#.to_owned();
    rng_peer.take(&mut door, 0, 0);
    let ended = WormholeEvent::Ended(WormholeEnd::Unwelcome);
    assert!(rng_peer.events.contains(&ended));
    assert!(rng_peer.store.is_removed);
}
