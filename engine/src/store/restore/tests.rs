use sealpost_protocol::key::MemberId;
use sealpost_protocol::message_id::MessageId;

use super::*;
use crate::core::issue::DeliveryIssue;
use crate::core::message::{DeliveryState, NewMessage};
use crate::core::rows::Rows;
use crate::core::step::Change;
use crate::store::tests::{Home, keys, message, secrets, snapshot, some_changes};

/// What a machine is built from, and what a person sees.
fn compare(store: &Store, rows: &Rows, after: &str) {
    let (found, expected) = (snapshot(store), rows.snapshot());
    let standing = |of: &Snapshot| {
        let times = (of.seen_ms, of.last_sequence);
        (of.phase, of.wants_leave, times)
    };
    assert_eq!(standing(&found), standing(&expected), "{after}");
    assert_eq!(found.group_name, expected.group_name, "{after}");
    assert_eq!(found.gave_name, expected.gave_name, "{after}");
    let join = |of: &Snapshot| {
        let join = of.join.clone()?;
        let secret = *join.secret.as_bytes();
        Some((join.admitter, secret, join.confirmed, join.is_refused))
    };
    assert_eq!(join(&found), join(&expected), "{after}");
    assert_eq!(found.buffered, expected.buffered, "{after}");
    assert_eq!(found.held, expected.held, "{after}");
    assert_eq!(found.outbox_messages, expected.outbox_messages, "{after}");
    let entries = |of: &Snapshot| {
        let entries = of.outbox_entries.iter();
        let mut entries: Vec<_> = entries.map(|of| (of.sequence, of.recipient)).collect();
        entries.sort();
        entries
    };
    assert_eq!(entries(&found), entries(&expected), "{after}");
    let history = store.messages_after(0, 100).unwrap();
    // In the same order; only the disk leaves numbers out.
    let ids: Vec<MessageId> = history.iter().map(|row| row.id).collect();
    let expected: Vec<MessageId> = rows.rows.values().map(|row| row.id).collect();
    assert_eq!(ids, expected, "{after}");
    for row in history {
        for delivery in row.deliveries {
            let state = rows.delivery(&row.id, &delivery.member);
            assert_eq!(Some(delivery.state), state, "{after}");
        }
    }
    assert_eq!(store.issue_count(), Ok(rows.issues.len() as u64), "{after}");
}

/// One batch after another, each with what it does.
fn batches() -> Vec<(&'static str, Vec<Change>)> {
    let (mine, theirs, last) = (
        message(1, true, &[3, 4]),
        message(2, false, &[]),
        message(3, true, &[4]),
    );
    let [three, four] = [3, 4].map(|seed| keys(seed).signing.member_id());
    let changed = |member: &MemberId, state| Change::DeliveryChanged {
        message: mine.id,
        member: member.clone(),
        state,
    };
    let failed = DeliveryState::Failed(SendFailure::TooLarge);
    let resent = MessageId::from_bytes([77; 32]);
    let issue = DeliveryIssue::Unauthorized;
    let stored = |row: &NewMessage| Change::MessageStored(row.clone());
    vec![
        ("a bit of everything", some_changes()),
        ("a wish to leave", vec![Change::LeaveWanted(true)]),
        ("a look at the relay", vec![Change::SeenSaved(9)]),
        ("messages", vec![stored(&mine), stored(&theirs)]),
        ("the same again", vec![stored(&mine), stored(&theirs)]),
        (
            "deliveries",
            vec![
                changed(&three, failed),
                changed(&four, DeliveryState::OnRelay { at_ms: 5 }),
            ],
        ),
        (
            "a retry, of what failed alone",
            vec![Change::MessageResent {
                position: 1,
                id: resent,
                members: vec![three.clone(), four],
            }],
        ),
        (
            "an answer to it",
            vec![Change::DeliveryChanged {
                message: resent,
                member: three,
                state: failed,
            }],
        ),
        ("an issue", vec![Change::IssueAdded { at_ms: 1, issue }]),
        ("a deletion", vec![Change::MessageDeleted { position: 2 }]),
        ("what comes after it", vec![stored(&theirs), stored(&last)]),
        (
            "one copy less",
            vec![Change::OutboxEntryRemoved {
                sequence: 4,
                recipient: keys(2).noise,
            }],
        ),
        ("a smaller number", vec![Change::SequenceSaved(7)]),
        ("no join", vec![Change::JoinRemoved]),
        (
            "the end",
            vec![Change::GroupWiped, Change::PhaseSaved(Phase::NotJoined)],
        ),
    ]
}

/// The tests of the machines and the simulation rest on rows in memory.
#[test]
fn a_change_means_on_the_disk_what_it_means_in_memory() {
    let home = Home::new();
    let mut store = home.open();
    let name = snapshot(&store).name;
    let mut rows = Rows::new(secrets(1), name);
    for (after, changes) in batches() {
        store.apply(&changes, None).unwrap();
        rows.write(changes);
        compare(&store, &rows, after);
    }
    assert!(
        rows.deliveries
            .values()
            .any(|state| *state == DeliveryState::Withdrawn)
    );
}
