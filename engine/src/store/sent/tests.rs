use super::*;
use crate::core::step::Snapshot;
use crate::history::StoredMessage;
use crate::store::tests::{Home, message, snapshot};

/// What `send` leaves behind, for some recipients.
fn send(number: u8, recipients: &[u64]) -> Vec<Change> {
    let mut row = message(number, true, recipients);
    row.stored_at_ms = row.sent_at_ms;
    changes_of(u64::from(number), row)
}

/// Everything that the changes lead to.
fn outcome(store: &Store) -> (Vec<StoredMessage>, String, Vec<Option<Vec<u8>>>) {
    let Snapshot {
        last_sequence,
        outbox_messages,
        outbox_entries,
        ..
    } = snapshot(store);
    let bodies = (0..10).map(|sequence| {
        use crate::core::step::Lookup as _;
        store.outbox_body(sequence).unwrap()
    });
    let bodies = bodies.collect();
    let queued = format!("{last_sequence} {outbox_messages:?} {outbox_entries:?}");
    (store.messages_after(0, 100).unwrap(), queued, bodies)
}

fn synchronous(store: &Store) -> i64 {
    let read = |row: &Row<'_>| row.get(0);
    store
        .connection
        .pragma_query_value(None, "synchronous", read)
        .unwrap()
}

const FULL: i64 = 2;

#[test]
fn a_send_is_the_same_by_the_short_way_and_after_a_stop_in_the_middle_of_it() {
    for recipients in [&[][..], &[3], &[3, 4, 5]] {
        let expected = {
            let home = Home::new();
            let mut store = home.open();
            store.apply(&send(1, recipients), None).unwrap();
            store.apply(&send(2, recipients), None).unwrap();
            outcome(&store)
        };
        let home = Home::new();
        let mut store = home.open();
        let first = send(1, recipients);
        assert!(store.begin_send(&first).unwrap());
        assert!(store.messages_after(0, 100).unwrap().is_empty());
        let applied = store.finish_send(&first).unwrap();
        assert_eq!(applied.stored, [(message(1, true, &[]).id, 1)]);
        assert!(store.begin_send(&send(2, recipients)).unwrap());
        // The power goes: what was never synced may be gone, what was answered is there.
        drop(store);
        let store = home.open();
        assert_eq!(outcome(&store), expected);
        drop(store);
        assert_eq!(outcome(&home.open()), expected, "written once");
    }
}

#[test]
fn only_one_send_and_nothing_else_takes_the_short_way() {
    let home = Home::new();
    let mut store = home.open();
    let two = [send(1, &[3]), send(2, &[3])]
        .into_iter()
        .flatten()
        .collect();
    let mut other = message(3, false, &[]);
    other.stored_at_ms = other.sent_at_ms;
    let received = vec![Change::SequenceSaved(3), Change::MessageStored(other)];
    let mut with_more = send(4, &[3]);
    with_more.push(Change::HandledPurged { before_ms: 1 });
    let mut without_copy = send(5, &[3, 4]);
    without_copy.pop();
    let mut other_body = send(6, &[3]);
    if let Some(Change::OutboxMessageAdded(_, body)) = other_body.get_mut(2) {
        body.0.push(0);
    }
    for changes in [
        two,
        received,
        with_more,
        without_copy,
        other_body,
        Vec::new(),
    ] {
        assert!(!store.begin_send(&changes).unwrap());
        assert!(store.sends_left().unwrap().is_empty());
    }
}

#[test]
fn every_other_commit_is_synced_whatever_becomes_of_the_rest() {
    let home = Home::new();
    let mut store = home.open();
    assert_eq!(synchronous(&store), FULL);
    let first = send(1, &[3]);
    store.begin_send(&first).unwrap();
    assert_eq!(synchronous(&store), FULL);
    store.finish_send(&first).unwrap();
    assert_eq!(synchronous(&store), FULL);
    let second = send(2, &[3]);
    store.begin_send(&second).unwrap();
    store.hide_tables(true);
    store.finish_send(&second).unwrap_err();
    assert_eq!(synchronous(&store), FULL);
    store.finish_sends_left().unwrap_err();
    store.hide_tables(false);
    // Before the machine is built anew, all of it is there.
    store.finish_sends_left().unwrap();
    assert_eq!(store.messages_after(0, 100).unwrap().len(), 2);
    assert_eq!(snapshot(&store).last_sequence, 2);
}

/// A store with one message whose rest finds no room.
fn left_on_a_full_disk(home: &Home) -> Store {
    let mut store = home.open();
    let large = large(send(1, &[3]));
    assert!(store.begin_send(&large).unwrap());
    store.fill_disk(true);
    assert_eq!(store.finish_send(&large).err(), Some(StorageFault::Full));
    store
}

/// With a body that needs pages of its own.
fn large(mut changes: Vec<Change>) -> Vec<Change> {
    for change in &mut changes {
        match change {
            Change::MessageStored(row) => row.body = vec![7; 50_000],
            Change::OutboxMessageAdded(_, body) => body.0 = vec![7; 50_000],
            _ => {}
        }
    }
    changes
}

fn ids(store: &Store) -> Vec<MessageId> {
    let rows = store.messages_after(0, 100).unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

#[test]
fn what_was_left_goes_before_every_other_write_or_fails_it() {
    let issue = crate::core::issue::DeliveryIssue::Unauthorized;
    let others = [
        vec![Change::IssueAdded { at_ms: 1, issue }],
        vec![Change::MessageStored(message(9, false, &[]))],
        vec![Change::GroupWiped],
        send(2, &[3]),
    ];
    for other in others {
        let home = Home::new();
        let mut store = left_on_a_full_disk(&home);
        let write = |store: &mut Store| match store.begin_send(&other)? {
            true => store.finish_send(&other).map(drop),
            false => store.apply(&other, None).map(drop),
        };
        assert_eq!(write(&mut store), Err(StorageFault::Full));
        assert!(ids(&store).is_empty());
        store.fill_disk(false);
        write(&mut store).unwrap();
        assert!(store.sends_left().unwrap().is_empty());
        assert_eq!(ids(&store)[0], message(1, true, &[]).id, "in order");
        let expected = outcome(&store);
        drop(store);
        assert_eq!(outcome(&home.open()), expected, "nothing is left");
    }
}

#[test]
fn a_machine_that_is_built_meanwhile_knows_of_what_was_left() {
    let home = Home::new();
    let mut store = left_on_a_full_disk(&home);
    let (_, before, bodies) = outcome(&store);
    assert_eq!(snapshot(&store).last_sequence, 1);
    assert_eq!(bodies[1].as_ref().map(Vec::len), Some(50_000));
    store.fill_disk(false);
    store.finish_sends_left().unwrap();
    let (_, after, bodies_after) = outcome(&store);
    assert_eq!((before, bodies), (after, bodies_after));
}

#[test]
fn what_was_left_neither_sets_the_numbers_back_nor_outlives_the_group() {
    let home = Home::new();
    let mut store = home.open();
    store.begin_send(&send(1, &[3])).unwrap();
    // As an earlier program let it come to: later numbers before it.
    store.has_left = false;
    store.apply(&send(2, &[3]), None).unwrap();
    drop(store);
    let mut store = home.open();
    assert_eq!(snapshot(&store).last_sequence, 2);
    store.begin_send(&send(3, &[3])).unwrap();
    store.has_left = false;
    store.apply(&[Change::GroupWiped], None).unwrap();
    drop(store);
    let store = home.open();
    let left = snapshot(&store);
    assert_eq!((left.last_sequence, left.outbox_messages.len()), (0, 0));
}

#[test]
fn what_followed_a_send_can_be_synced_by_itself() {
    let home = Home::new();
    let mut store = home.open();
    // Without a log there is nothing to sync.
    store.truncate_log();
    store.sync_log();
    let first = send(1, &[3]);
    store.begin_send(&first).unwrap();
    store.finish_send(&first).unwrap();
    durable_file::sync(&log_of(&home.path())).unwrap();
    store.sync_log();
}
