use std::fs;

use super::*;
use crate::core::message::NewMessage;
use crate::core::step::{Change, Lookup as _, OutboxBody, OutboxEntry, OutboxKind, OutboxMessage};
use crate::store::tests::{Home, keys, message, snapshot};

const ROWS: u64 = 6_000;
const BODY_BYTES: usize = 3_000;

/// The outbox alone is larger than this several times over.
const LOG_BYTES_MAX: u64 = 6 * 1_024 * 1_024;

fn log_bytes(home: &Home) -> u64 {
    let mut path = home.path().into_os_string();
    path.push("-wal");
    fs::metadata(path).unwrap().len()
}

/// One message for each row, with one copy.
fn queued(sequence: u64) -> [Change; 3] {
    let mut row = message(0, true, &[3]);
    let mut id = [0; 32];
    id[..8].copy_from_slice(&sequence.to_le_bytes());
    row.id = sealpost_protocol::message_id::MessageId::from_bytes(id);
    row.app_id = None;
    let added = OutboxMessage {
        sequence,
        kind: OutboxKind::Sync { sent_at_ms: 1 },
        first: None,
        reported: Vec::new(),
    };
    let recipient = keys(3);
    [
        Change::MessageStored(row),
        Change::OutboxMessageAdded(added, OutboxBody(vec![7; BODY_BYTES])),
        Change::OutboxEntryAdded(OutboxEntry {
            sequence,
            recipient,
        }),
    ]
}

fn fill(store: &mut Store) {
    for first in (1..=ROWS).step_by(500) {
        let changes: Vec<Change> = (first..first + 500).flat_map(queued).collect();
        store.apply(&changes, None).unwrap();
    }
}

fn tables(store: &Store) -> i64 {
    store
        .connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .unwrap()
}

fn states(store: &Store) -> Vec<DeliveryState> {
    let mut found = Vec::new();
    while let page = store.messages_after(found.len() as u64, 1_000).unwrap()
        && !page.is_empty()
    {
        found.extend(page.into_iter().map(|row| row.deliveries[0].state));
    }
    found
}

/// Whether nothing is left to do.
fn step(store: &Store) -> Result<bool, StorageFault> {
    Ok(store.clear_step()? && store.withdraw_step()?)
}

#[test]
fn a_full_outbox_goes_in_steps_that_a_stop_only_delays_and_the_log_stays_small() {
    let home = Home::new();
    let mut store = home.open();
    fill(&mut store);
    store.truncate_log();
    let before = tables(&store);
    store.apply(&[Change::GroupWiped], None).unwrap();
    let mut largest = log_bytes(&home);
    // Over at once, as far as anybody can see.
    assert!(snapshot(&store).outbox_messages.is_empty());
    assert_eq!(store.outbox_copies().unwrap(), 0);
    let withdrawn = vec![DeliveryState::Withdrawn; usize::try_from(ROWS).unwrap()];
    assert_eq!(states(&store), withdrawn);
    // The next group begins before the last one is cleared away.
    let next = ROWS / 2;
    let mut changes = queued(next);
    if let Change::MessageStored(row) = &mut changes[0] {
        row.id = sealpost_protocol::message_id::MessageId::from_bytes([255; 32]);
    }
    store.apply(&changes, None).unwrap();
    let mut steps = 0;
    while !step(&store).unwrap() {
        largest = largest.max(log_bytes(&home));
        steps += 1;
        if steps % 10 == 0 {
            drop(store);
            store = home.open();
        }
    }
    assert!(steps > 30, "{steps}");
    assert!(largest <= LOG_BYTES_MAX, "{largest}");
    assert_eq!(tables(&store), before);
    let rows = states(&store);
    assert_eq!(rows[..withdrawn.len()], withdrawn);
    assert_eq!(rows[withdrawn.len()..], [DeliveryState::Waiting]);
    let left = snapshot(&store);
    assert_eq!(left.outbox_entries.len(), 1);
    assert_eq!(left.outbox_messages[0].sequence, next);
    // A second end of a group meets nothing of the first.
    store.apply(&[Change::GroupWiped], None).unwrap();
    while !step(&store).unwrap() {}
    assert_eq!(tables(&store), before);
    assert!(step(&store).unwrap());
}

#[test]
fn what_was_handled_goes_at_once_and_fits_in_half_a_log() {
    const HANDLED: u32 = 300_000;
    const HALF_A_LOG: u64 = 32 * 1_024 * 1_024;
    let home = Home::new();
    let mut store = home.open();
    let fill = format!(
        "WITH RECURSIVE number (n) AS
             (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {HANDLED})
         INSERT INTO handled (id, keep_until_ms) SELECT randomblob(32), n FROM number;"
    );
    store.connection.execute_batch(&fill).unwrap();
    store.truncate_log();
    let pages = |store: &Store| -> i64 {
        let pages = store
            .connection
            .pragma_query_value(None, "page_count", |row| row.get(0));
        pages.unwrap()
    };
    assert!(pages(&store) > 3_000, "{} pages", pages(&store));
    store.apply(&[Change::GroupWiped], None).unwrap();
    assert!(log_bytes(&home) <= HALF_A_LOG, "{}", log_bytes(&home));
    let is_empty = "SELECT NOT EXISTS (SELECT 1 FROM handled)";
    let is_empty: bool = store
        .connection
        .query_row(is_empty, [], |row| row.get(0))
        .unwrap();
    assert!(is_empty);
}

#[test]
fn an_outbox_that_is_half_gone_or_in_the_way_keeps_nothing_else_from_going() {
    let home = Home::new();
    let mut store = home.open();
    let before = tables(&store);
    for group in 0..3 {
        for sequence in 0..10 {
            store.apply(&queued(100 * group + sequence), None).unwrap();
        }
        store.apply(&[Change::GroupWiped], None).unwrap();
    }
    let aside = store.outboxes_aside().unwrap();
    assert_eq!(aside.len(), 3);
    // One lost a table to a stop between the two, one can't be cleared.
    let entries = aside[1].replacen("outbox_message", "outbox_entry", 1);
    let block = format!(
        "DROP TABLE {entries};
         CREATE TRIGGER block BEFORE DELETE ON {} BEGIN SELECT raise(ABORT, 'no'); END;",
        aside[0]
    );
    store.connection.execute_batch(&block).unwrap();
    let mut steps = 0;
    let stuck = loop {
        match store.tidy_step() {
            Ok(false) => steps += 1,
            end => break end,
        }
        assert!(steps < 100);
    };
    stuck.unwrap_err();
    assert_eq!(store.outboxes_aside().unwrap(), aside[..1]);
    assert!(store.withdraw_step().unwrap(), "done already");
    assert!(store.index_step().unwrap(), "done already");
    let free = "DROP TRIGGER block";
    store.connection.execute_batch(free).unwrap();
    while !store.tidy_step().unwrap() {}
    assert_eq!(tables(&store), before);
}

#[test]
fn what_was_deleted_of_others_is_known_until_the_group_ends() {
    let home = Home::new();
    let mut store = home.open();
    let (mine, theirs) = (message(1, true, &[3]), message(2, false, &[]));
    let without_id = NewMessage {
        app_id: None,
        ..message(3, false, &[])
    };
    let kept = message(4, false, &[]);
    let rows = [&mine, &theirs, &without_id, &kept];
    let stored = rows.map(|row| Change::MessageStored(row.clone()));
    store.apply(&stored, None).unwrap();
    let deleted = [1, 2, 3].map(|position| Change::MessageDeleted { position });
    store.apply(&deleted, None).unwrap();
    drop(store);
    let mut store = home.open();
    let known = |store: &Store, row: &NewMessage| {
        store.is_deleted(&row.author, &row.app_id.unwrap()).unwrap()
    };
    assert!(known(&store, &theirs));
    assert!(!store.is_deleted(&mine.author, &[2; 16]).unwrap());
    assert!(!known(&store, &mine) && !known(&store, &kept));
    store.apply(&[Change::GroupWiped], None).unwrap();
    assert!(!known(&store, &theirs));
}
