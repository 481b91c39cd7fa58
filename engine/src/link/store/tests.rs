//! The store of links, without machines.

use std::fs;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, LinkToken, MailboxId, Role};
use sealpost_protocol::link::payload::PayloadId;

use super::apply::{EndRecord, Of};
use super::*;
use crate::core::link::{
    ArrivedRow, EraseRow, Farewell, LinkChange, LinkRow, NewLink, OutboxRow, RowFailure, RowKind,
    Stored,
};
use crate::link::info::{LinkContent, LinkProgress};
use crate::link::name::LinkName;

const KEY: [u8; 32] = [7; 32];
/// The link's own key, to be looked for in the file.
const LINK_KEY: [u8; 32] = *b"a link's key, easily recognised.";

fn id(number: u8) -> PayloadId {
    PayloadId::from_bytes([number; 16])
}

fn row(number: u8, kind: RowKind) -> OutboxRow {
    OutboxRow {
        position: u64::from(number),
        id: id(number),
        kind,
        body: vec![number; 3],
        queued_ms: 10,
        stored: None,
    }
}

fn of(position: Option<i64>, seed: u64) -> Of {
    Of {
        position,
        name: LinkName::generate(&mut ChaCha20Rng::seed_from_u64(seed)),
        relay: Some("http://192.0.2.1:7703".to_owned()),
        made_at_ms: 5,
    }
}

fn new_link() -> LinkChange {
    LinkChange::LinkAdded(Box::new(NewLink {
        key: LinkKey::from_bytes(LINK_KEY),
        id: LinkId::from_bytes([3; 16]),
        role: Role::B,
        peer_name: "Desk".to_owned(),
        peer_platform: "linux".to_owned(),
        row: LinkRow {
            floor: 9,
            is_established: true,
            ..LinkRow::default()
        },
        outbox: vec![row(1, RowKind::Msg)],
    }))
}

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn open(&self) -> LinkStore {
        LinkStore::open(&path(self.folder.path()), &KEY).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = fs::read(path(self.folder.path())).unwrap();
        let log = self.folder.path().join("links.db-wal");
        bytes.extend(fs::read(log).unwrap_or_default());
        bytes
    }
}

/// A store with a link in it.
fn with_link(folder: &Folder) -> (LinkStore, Of) {
    let mut store = folder.open();
    let nothing = EndRecord::Nothing;
    let position = store.apply(&of(None, 1), &[new_link()], &[], nothing);
    let position = position.unwrap();
    (store, of(position, 1))
}

#[test]
fn everything_of_a_link_is_read_back_as_it_was_written() {
    let folder = Folder::new();
    let (mut store, link) = with_link(&folder);
    let saved = LinkRow {
        last_received: Some(4),
        received_in: Some(1_795_000_000_000),
        floor: 12,
        is_established: true,
        unconfirmed_since_ms: Some(1),
        lost_since_ms: Some(2),
        last_contact_ms: Some(3),
    };
    let state = RowKind::State {
        collapse: "groups".to_owned(),
    };
    let stored = Stored {
        sequence: 12,
        created_ms: 1_795_000_000_000,
    };
    let changes = [
        LinkChange::RowSaved(saved),
        LinkChange::OutboxAdded(row(2, state.clone())),
        LinkChange::OutboxStored {
            id: id(1),
            stored: Some(stored),
        },
        LinkChange::Accepted { id: id(8) },
        LinkChange::Accepted { id: id(7) },
        LinkChange::AcceptedForgotten { id: id(8) },
        LinkChange::Accepted { id: id(9) },
    ];
    let nothing = EndRecord::Nothing;
    store.apply(&link, &changes, &[], nothing).unwrap();
    drop(store);
    let store = folder.open();
    let record = store.links().unwrap().remove(0);
    assert_eq!(record.name, link.name);
    assert_eq!(record.relay, link.relay);
    assert_eq!(record.peer_name, "Desk");
    let snapshot = store.snapshot(&record).unwrap().unwrap();
    assert_eq!((snapshot.role, snapshot.row), (Role::B, saved));
    assert_eq!(snapshot.key.as_bytes(), &LINK_KEY);
    assert_eq!(snapshot.accepted, [id(7), id(9)]);
    let first = OutboxRow {
        stored: Some(stored),
        ..row(1, RowKind::Msg)
    };
    assert_eq!(snapshot.outbox, [first, row(2, state)]);
    let sent = store.sent(record.position).unwrap();
    assert_eq!(sent[0].progress, LinkProgress::OnRelay);
    assert_eq!(sent[1].progress, LinkProgress::Waiting);
}

#[test]
fn what_arrives_waits_in_order_and_only_the_newest_state_of_a_key_does() {
    let folder = Folder::new();
    let (mut store, link) = with_link(&folder);
    let arrived = |number: u8, key: Option<&str>| {
        LinkChange::Arrived(ArrivedRow {
            id: id(number),
            kind: key.map_or(RowKind::Msg, |key| RowKind::State {
                collapse: key.to_owned(),
            }),
            body: vec![number],
            ts_ms: 1,
            arrived_ms: 2,
        })
    };
    let changes = [
        arrived(1, Some("k")),
        arrived(2, None),
        arrived(3, Some("k")),
        arrived(2, None),
    ];
    let nothing = EndRecord::Nothing;
    store.apply(&link, &changes, &[], nothing).unwrap();
    let position = link.position.unwrap();
    let found = store.arrived(position, 0, 10).unwrap();
    let bodies: Vec<_> = found.iter().map(|one| one.body[0]).collect();
    assert_eq!(bodies, [2, 3]);
    let key = "k".to_owned();
    assert_eq!(found[1].content, LinkContent::State { key });
    assert_eq!(store.arrived_count(position), Ok(2));
    assert_eq!(store.handled(position, &id(2)), Ok(true));
    assert_eq!(store.handled(position, &id(2)), Ok(false));
    let after = store.arrived(position, found[1].position, 10).unwrap();
    assert!(after.is_empty());
}

#[test]
fn what_fails_is_set_aside_with_its_reason_in_the_same_transaction() {
    let folder = Folder::new();
    let (mut store, link) = with_link(&folder);
    let removed = [LinkChange::OutboxRemoved { id: id(1) }];
    let failures = [(id(1), RowFailure::Expired)];
    let nothing = EndRecord::Nothing;
    store.apply(&link, &removed, &failures, nothing).unwrap();
    let position = link.position.unwrap();
    let sent = store.sent(position).unwrap();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].progress, LinkProgress::Failed(RowFailure::Expired));
    assert_eq!(store.dismiss_failed(position, &id(1)), Ok(true));
    assert!(store.sent(position).unwrap().is_empty());
}

#[test]
fn of_a_link_that_is_over_no_key_stays_in_the_file_or_its_log() {
    for end in [EndRecord::Nothing, EndRecord::WhatArrived] {
        let folder = Folder::new();
        let path = path(folder.folder.path());
        let (mut store, link) = with_link(&folder);
        assert_eq!(key_rows(&store), 1);
        let erase = EraseRow {
            mailbox: MailboxId::from_bytes([4; 16]),
            token: LinkToken::from_bytes([5; 32]),
            queued_ms: 6,
            bye: Some(Farewell {
                direction: Direction::BToA,
                sequence: 7,
                envelope: vec![8],
            }),
        };
        let changes = [
            LinkChange::EraseQueued(erase.clone()),
            LinkChange::Forgotten,
        ];
        store.apply(&link, &changes, &[], end).unwrap();
        assert_eq!(key_rows(&store), 0);
        let left = usize::from(end == EndRecord::WhatArrived);
        assert_eq!(store.links().unwrap().len(), left);
        let erasing = store.erasing().unwrap();
        assert_eq!(erasing[0].relay, link.relay);
        assert_eq!(erasing[0].row, erase);
        // What was written before is gone from the log as well.
        let log = folder.folder.path().join("links.db-wal");
        assert_eq!(fs::metadata(&log).unwrap().len(), 0);
        assert!(path.exists());
        assert_eq!(store.rebase_erase(&erase.mailbox, 9), Ok(true));
        assert_eq!(store.erasing().unwrap()[0].row.queued_ms, 9);
        assert_eq!(store.remove_erase(&erase.mailbox), Ok(true));
        assert_eq!(store.rebase_erase(&erase.mailbox, 9), Ok(false));
        assert!(store.erasing().unwrap().is_empty());
    }
}

fn key_rows(store: &LinkStore) -> i64 {
    let count = "SELECT count(*) FROM link WHERE key IS NOT NULL";
    store
        .connection
        .query_row(count, [], |row| row.get(0))
        .unwrap()
}

#[test]
fn nothing_of_a_link_can_be_read_in_the_file() {
    let folder = Folder::new();
    let (store, _) = with_link(&folder);
    store.truncate_log();
    drop(store);
    let bytes = folder.bytes();
    for secret in [&LINK_KEY[..], b"Desk", b"192.0.2.1", b"CREATE TABLE"] {
        let is_there = bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!is_there);
    }
}

#[test]
fn a_newer_version_is_refused_with_both_named_and_not_one_byte_changes() {
    let folder = Folder::new();
    let store = folder.open();
    let newer = "UPDATE store_version SET version = 99";
    store.connection.execute(newer, []).unwrap();
    drop(store);
    let before = folder.bytes();
    let refused = LinkStore::open(&path(folder.folder.path()), &KEY).err();
    let known = schema::VERSION;
    assert_eq!(refused, Some(OpenFault::TooNew { found: 99, known }));
    assert_eq!(folder.bytes(), before);
}

#[test]
fn a_wrong_key_damage_and_another_holder_are_faults_and_never_a_reset() {
    let folder = Folder::new();
    let store = folder.open();
    let place = path(folder.folder.path());
    let in_use = LinkStore::open(&place, &KEY).err();
    assert_eq!(in_use, Some(OpenFault::Storage(StorageFault::InUse)));
    drop(store);
    let damaged = Some(OpenFault::Storage(StorageFault::Damaged));
    assert_eq!(LinkStore::open(&place, &[8; 32]).err(), damaged);
    let good = fs::read(&place).unwrap();
    fs::write(&place, &good[..good.len() / 2]).unwrap();
    assert!(LinkStore::open(&place, &KEY).is_err());
    fs::write(&place, [1; 4_096]).unwrap();
    assert_eq!(LinkStore::open(&place, &KEY).err(), damaged);
    fs::write(&place, &good).unwrap();
    folder.open();
}

#[test]
fn a_step_that_can_not_be_written_whole_is_not_written_at_all() {
    let folder = Folder::new();
    let (mut store, link) = with_link(&folder);
    let taken = [
        LinkChange::OutboxAdded(row(5, RowKind::Msg)),
        // Under a name that is taken: this fails.
        new_link(),
    ];
    let nothing = EndRecord::Nothing;
    assert!(store.apply(&link, &taken, &[], nothing).is_err());
    let record = store.links().unwrap().remove(0);
    let snapshot = store.snapshot(&record).unwrap().unwrap();
    assert_eq!(snapshot.outbox, [row(1, RowKind::Msg)]);
}
