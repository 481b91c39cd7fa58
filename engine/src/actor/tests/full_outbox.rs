//! What takes a full outbox away does so in steps: the group goes on in between, and the log of
//! its store stays small.

use sealpost_protocol::limit::OUTBOX_LIFE_MS;
use sealpost_protocol::message_id::MessageId;

use super::*;
use crate::core::device::{Device, Settings};
use crate::core::issue::SendFailure;
use crate::core::message::{DeliveryState, NewMessage};
use crate::core::rig::Post;
use crate::core::step::{OutboxBody, OutboxEntry, OutboxKind, OutboxMessage};
use crate::core::timing::COPIES_REMOVED_AT_ONCE_MAX;

const ROWS: u64 = 6_000;
const BODY_BYTES: usize = 3_000;

/// The outbox alone is larger than this several times over.
const LOG_BYTES_MAX: u64 = 6 * 1_024 * 1_024;

/// A copy takes four rows with it, and an issue of its own at most.
const ROWS_WRITTEN_AT_ONCE_MAX: i64 = 6 * COPIES_REMOVED_AT_ONCE_MAX as i64;

/// A device in a group of two, with as many messages for the other as there are rows.
fn full_actor(home: &Home) -> Actor {
    full_actor_of(home, 2, |_| NOW_MS)
}

/// A device in a group of several, with as many messages for each other as there are rows, each
/// sent when that says.
fn full_actor_of(home: &Home, devices: usize, sent_at_ms: fn(u64) -> u64) -> Actor {
    let mut actor = still_actor(home);
    let rig = Post::group(devices).rigs.remove(0);
    let peers = rig.device.members();
    let me = rig.device.me();
    let mut snapshot = rig.store.snapshot();
    for first in (1..=ROWS).step_by(500) {
        let mut changes = Vec::new();
        for sequence in first..first + 500 {
            let message = OutboxMessage {
                sequence,
                kind: OutboxKind::Sync {
                    sent_at_ms: sent_at_ms(sequence),
                },
                first: None,
                reported: Vec::new(),
            };
            let entries = peers.iter().map(|peer| OutboxEntry {
                sequence,
                recipient: peer.keys,
            });
            let entries: Vec<_> = entries.collect();
            snapshot.outbox_messages.push(message.clone());
            snapshot.outbox_entries.extend(entries.clone());
            let body = OutboxBody(vec![7; BODY_BYTES]);
            changes.push(Change::MessageStored(NewMessage {
                id: MessageId::derive(&me.keys.signing, sequence),
                own: true,
                author: me.id.clone(),
                author_name: me.name.clone(),
                app_id: None,
                body: b"text".to_vec(),
                sent_at_ms: NOW_MS,
                stored_at_ms: NOW_MS,
                recipients: peers.clone(),
            }));
            changes.push(Change::OutboxMessageAdded(message, body));
            changes.extend(entries.into_iter().map(Change::OutboxEntryAdded));
        }
        actor.group.store.apply(&changes, None).unwrap();
    }
    let device = Device::restore(snapshot, Settings::default(), NOW_MS);
    actor.group.device = device.unwrap();
    actor.turn(None);
    actor.group.store.truncate_log();
    actor
}

fn log_bytes(home: &Home) -> u64 {
    let mut log = home.database().into_os_string();
    log.push("-wal");
    std::fs::metadata(log).unwrap().len()
}

fn states(store: &Store) -> Vec<DeliveryState> {
    let (mut found, mut position) = (Vec::new(), 0);
    while let page = store.messages_after(position, 1_000).unwrap()
        && !page.is_empty()
    {
        position = page.last().map_or(position, |row| row.position);
        found.extend(
            page.into_iter()
                .flat_map(|row| row.deliveries)
                .map(|delivery| delivery.state),
        );
    }
    found
}

/// Lets everything happen that is due. Returns the number of turns.
fn run_down(home: &Home, actor: &mut Actor) -> usize {
    let is_due = |actor: &Actor| actor.group.device.next_wakeup() <= Some(home.clock.now_ms());
    let mut turns = 0;
    while turns == 0 || is_due(actor) {
        let before = actor.group.store.rows_written();
        actor.turn(None);
        assert_eq!(actor.stale, None);
        let written = actor.group.store.rows_written() - before;
        assert!(
            written <= ROWS_WRITTEN_AT_ONCE_MAX,
            "{written} rows at once"
        );
        let log = log_bytes(home);
        assert!(log <= LOG_BYTES_MAX, "a log of {log} bytes");
        turns += 1;
    }
    turns
}

fn check_taken(actor: &Actor, turns: usize, expected: DeliveryState, in_flight: usize) {
    let rows = usize::try_from(ROWS).unwrap();
    assert!(turns >= rows / COPIES_REMOVED_AT_ONCE_MAX, "{turns} turns");
    let states = states(&actor.group.store);
    let taken = states.iter().filter(|state| **state == expected);
    assert_eq!(taken.count(), rows - in_flight);
}

#[tokio::test]
async fn copies_for_a_removed_member_are_taken_back_in_steps() {
    let home = Home::new();
    let mut actor = full_actor(&home);
    let device = &mut actor.group.device;
    let peer = device.members().remove(0).id;
    device.handle_remove(&peer, NOW_MS).unwrap();
    let turns = run_down(&home, &mut actor);
    check_taken(&actor, turns, DeliveryState::Withdrawn, 0);
}

#[tokio::test]
async fn a_group_that_is_left_or_destroyed_takes_its_messages_back_in_steps() {
    for ends_for_all in [false, true] {
        let home = Home::new();
        let mut actor = full_actor(&home);
        let device = &mut actor.group.device;
        if ends_for_all {
            device.handle_destroy(NOW_MS).unwrap();
        } else {
            device.handle_leave(NOW_MS).unwrap();
        }
        let turns = run_down(&home, &mut actor);
        check_taken(&actor, turns, DeliveryState::Withdrawn, 0);
        // What tells the other of it waits, and nothing else.
        assert_eq!(actor.group.store.outbox_copies(), Ok(1));
    }
}

#[tokio::test]
async fn messages_that_grew_old_together_expire_in_steps() {
    let home = Home::new();
    let mut actor = full_actor(&home);
    home.clock.advance(OUTBOX_LIFE_MS);
    let turns = run_down(&home, &mut actor);
    // One is in flight, and stays until its answer.
    let expired = DeliveryState::Failed(SendFailure::Expired);
    check_taken(&actor, turns, expired, 1);
    assert_eq!(actor.group.store.issue_count(), Ok(ROWS - 1));
}

#[tokio::test]
async fn what_goes_for_different_reasons_at_once_shares_the_steps() {
    let home = Home::new();
    // The first ones are in flight and young.
    let mut actor = full_actor_of(&home, 4, |sequence| NOW_MS + sequence % 2);
    home.clock.advance(OUTBOX_LIFE_MS);
    let device = &mut actor.group.device;
    let peer = device.members().remove(0).id;
    device.handle_remove(&peer, home.clock.now_ms()).unwrap();
    let turns = run_down(&home, &mut actor);
    let half = usize::try_from(ROWS).unwrap() / 2;
    let states = states(&actor.group.store);
    assert_eq!(states.len(), 6 * half);
    let count = |state| states.iter().filter(|other| **other == state).count();
    let withdrawn = count(DeliveryState::Withdrawn);
    let expired = count(DeliveryState::Failed(SendFailure::Expired));
    // What is too old for the one who is gone may go as either.
    assert!(withdrawn >= half && expired >= 2 * half);
    assert_eq!(withdrawn + expired, 4 * half);
    assert!(
        turns >= 4 * half / COPIES_REMOVED_AT_ONCE_MAX,
        "{turns} turns"
    );
}
