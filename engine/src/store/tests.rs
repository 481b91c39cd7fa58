use std::fs;
use std::path::{Path, PathBuf};

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rusqlite::TransactionBehavior;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets};
use sealpost_protocol::manifest::{self, GroupId, Manifest, SignedManifest};
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::token::PairingSecret;

use super::*;
use crate::core::event::Member;
use crate::core::group_name::GroupName;
use crate::core::issue::{DeliveryIssue, SendFailure, Unreadable};
use crate::core::membership::{
    Attribution, KnownManifest, MembershipChange, MembershipSnapshot, Tomb,
};
use crate::core::message::{DeliveryState, NewMessage};
use crate::core::status::{Ending, Phase};
use crate::core::step::{
    BufferedManifest, Change, HeldBlob, JoinRecord, MembershipNote, OutboxBody, OutboxEntry,
    OutboxKind, OutboxMessage, Snapshot,
};

const KEY: [u8; 32] = [7; 32];
const FIRST: IdentityId = IdentityId::from_bytes([1; 16]);

pub(super) struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    pub(super) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join("trueseal_a.db")
    }

    pub(super) fn open(&self) -> Store {
        Store::open(&self.path(), &KEY, &FIRST).unwrap()
    }

    fn refused(&self, key: &[u8; 32]) -> OpenFault {
        Store::open(&self.path(), key, &FIRST).err().unwrap()
    }

    /// Every byte in the directory, by file.
    fn bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
            .into_iter()
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }
}

pub(super) fn secrets(seed: u64) -> DeviceSecrets {
    DeviceSecrets::generate(&mut ChaCha20Rng::seed_from_u64(seed))
}

pub(super) fn keys(seed: u64) -> DeviceKeys {
    secrets(seed).keys()
}

fn name(text: &str, version: u64) -> GroupName {
    let text = text.to_owned();
    GroupName { version, text }
}

fn member(seed: u64) -> Member {
    let keys = keys(seed);
    let name = DeviceName::derived(&keys.signing);
    Member {
        id: keys.signing.member_id(),
        name,
        keys,
    }
}

pub(super) fn snapshot(store: &Store) -> Snapshot {
    let secrets = secrets(1);
    let name = DeviceName::derived(&secrets.keys().signing);
    store.snapshot(secrets, name).unwrap()
}

pub(super) fn message(number: u8, own: bool, recipients: &[u64]) -> NewMessage {
    let author = member(if own { 1 } else { 2 });
    NewMessage {
        id: MessageId::from_bytes([number; 32]),
        own,
        author: author.id,
        author_name: author.name,
        app_id: Some([number; 16]),
        body: b"canary-body".to_vec(),
        sent_at_ms: 1_000 + u64::from(number),
        stored_at_ms: 2_000 + u64::from(number),
        recipients: recipients.iter().map(|&seed| member(seed)).collect(),
    }
}

fn outbox_message(sequence: u64) -> OutboxMessage {
    let kind = OutboxKind::Sync { sent_at_ms: 5 };
    OutboxMessage {
        sequence,
        kind,
        first: Some(keys(9).noise),
        reported: Vec::new(),
    }
}

/// A bit of everything that a machine may write before it is in a group.
pub(super) fn some_changes() -> Vec<Change> {
    let join = JoinRecord {
        admitter: keys(3),
        secret: PairingSecret::from_bytes([4; 32]),
        confirmed: true,
        is_refused: true,
    };
    let held = HeldBlob {
        digest: [5; 32],
        version: 9,
        order: 2,
        first_seen_ms: 77,
    };
    vec![
        Change::PhaseSaved(Phase::PendingJoin),
        Change::SequenceSaved(1_790_812_800_000),
        Change::JoinSaved(join),
        Change::OutboxMessageAdded(outbox_message(4), OutboxBody(b"canary-body".to_vec())),
        Change::OutboxEntryAdded(OutboxEntry {
            sequence: 4,
            recipient: keys(2),
        }),
        Change::OutboxEntryAdded(OutboxEntry {
            sequence: 4,
            recipient: keys(3),
        }),
        Change::OutboxFailureReported {
            sequence: 4,
            failure: SendFailure::TooLarge,
        },
        Change::OutboxFailureReported {
            sequence: 4,
            failure: SendFailure::Expired,
        },
        Change::MessageHandled {
            id: MessageId::from_bytes([8; 32]),
            keep_until_ms: u64::MAX,
        },
        Change::HeldBlobAdded(held),
        Change::GroupNamed {
            name: name("Home", 3),
            is_mine: true,
        },
    ]
}

#[test]
fn what_was_written_is_read_back_after_a_restart() {
    let home = Home::new();
    home.open().apply(&some_changes(), None).unwrap();
    let store = home.open();
    let read = snapshot(&store);
    assert_eq!(read.phase, Phase::PendingJoin);
    assert_eq!(read.last_sequence, 1_790_812_800_000);
    assert_eq!(
        (read.group_name, read.gave_name),
        (Some(name("Home", 3)), true)
    );
    let join = read.join.unwrap();
    assert_eq!((join.admitter, join.confirmed), (keys(3), true));
    assert_eq!(join.secret.as_bytes(), &[4; 32]);
    let reported = vec![SendFailure::TooLarge, SendFailure::Expired];
    assert_eq!(
        read.outbox_messages,
        vec![OutboxMessage {
            reported,
            ..outbox_message(4)
        }]
    );
    let mut recipients: Vec<_> = read.outbox_entries.iter().map(|e| e.recipient).collect();
    recipients.sort();
    let mut expected = vec![keys(2), keys(3)];
    expected.sort();
    assert_eq!(recipients, expected);
    assert_eq!(read.held.len(), 1);
    assert_eq!((read.held[0].version, read.held[0].order), (9, 2));
    assert!(read.membership.is_none());
    assert!(store.is_handled(&MessageId::from_bytes([8; 32])).unwrap());
    assert!(!store.is_handled(&MessageId::from_bytes([9; 32])).unwrap());
    assert_eq!(store.outbox_body(4).unwrap().unwrap(), b"canary-body");
    assert_eq!(store.outbox_body(5).unwrap(), None);
    assert_eq!(store.identity().unwrap(), FIRST);
}

#[test]
fn nothing_of_a_step_remains_when_its_commit_did_not_happen() {
    let home = Home::new();
    let mut store = home.open();
    store.apply(&[Change::SequenceSaved(1)], None).unwrap();
    let before = snapshot(&store).last_sequence;
    // The second change of this step can't be written, so the first must not be either.
    let replaced = Change::IdentityReplaced(secrets(5));
    store
        .apply(&[Change::SequenceSaved(2), replaced], None)
        .unwrap_err();
    assert_eq!(snapshot(&store).last_sequence, before);
    // A crash between the writes and the commit.
    let transaction = store
        .connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    transaction
        .execute("UPDATE device SET last_sequence = 3", [])
        .unwrap();
    drop(transaction);
    drop(store);
    assert_eq!(snapshot(&home.open()).last_sequence, before);
}

#[test]
fn a_process_that_dies_in_a_transaction_leaves_the_last_commit() {
    let home = Home::new();
    let copy = Home::new();
    let mut store = home.open();
    store.apply(&[Change::SequenceSaved(1)], None).unwrap();
    let transaction = store
        .connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    transaction
        .execute("UPDATE device SET last_sequence = 2", [])
        .unwrap();
    // What is on the disk at this moment is what a killed process leaves.
    for (path, bytes) in home.bytes() {
        fs::write(copy.directory.path().join(path.file_name().unwrap()), bytes).unwrap();
    }
    assert_eq!(snapshot(&copy.open()).last_sequence, 1);
}

#[test]
fn a_newer_store_is_refused_and_not_one_byte_of_it_changes() {
    let home = Home::new();
    let store = home.open();
    store
        .connection
        .execute("UPDATE store_version SET version = version + 1", [])
        .unwrap();
    set_config(
        &store.connection,
        DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
        true,
    )
    .unwrap();
    drop(store);
    let before = home.bytes();
    assert!(
        before
            .iter()
            .any(|(path, bytes)| is_wal(path) && !bytes.is_empty())
    );
    let newer = OpenFault::TooNew {
        found: schema::VERSION + 1,
        known: schema::VERSION,
    };
    assert_eq!(home.refused(&KEY), newer);
    assert_eq!(home.bytes(), before);
}

fn is_wal(path: &Path) -> bool {
    path.to_str().unwrap().ends_with("-wal")
}

#[test]
fn a_wrong_key_and_a_damaged_file_are_faults_and_never_a_reset() {
    let home = Home::new();
    home.open().apply(&some_changes(), None).unwrap();
    let good = home.bytes();
    assert_eq!(
        home.refused(&[8; 32]),
        OpenFault::Storage(StorageFault::Damaged)
    );
    assert_eq!(home.bytes(), good);
    let mut bytes = fs::read(home.path()).unwrap();
    bytes[..4096].fill(0xa5);
    fs::write(home.path(), &bytes).unwrap();
    assert_eq!(
        home.refused(&KEY),
        OpenFault::Storage(StorageFault::Damaged)
    );
    assert_eq!(fs::read(home.path()).unwrap(), bytes);
    fs::write(home.path(), "a text").unwrap();
    assert_eq!(
        home.refused(&KEY),
        OpenFault::Storage(StorageFault::Damaged)
    );
    assert_eq!(fs::read(home.path()).unwrap(), b"a text");
}

#[test]
fn a_store_without_a_version_is_damaged_and_an_unfinished_one_is_finished() {
    let home = Home::new();
    let store = home.open();
    store
        .connection
        .execute("DELETE FROM store_version", [])
        .unwrap();
    drop(store);
    assert_eq!(
        home.refused(&KEY),
        OpenFault::Storage(StorageFault::Damaged)
    );

    let home = Home::new();
    fs::write(home.path(), "").unwrap();
    assert!(!Store::exists(&home.path()).unwrap());
    assert_eq!(snapshot(&home.open()).phase, Phase::NotJoined);
    assert!(Store::exists(&home.path()).unwrap());
}

#[test]
fn a_second_opener_is_refused_while_the_first_holds_it() {
    let home = Home::new();
    let first = home.open();
    assert_eq!(home.refused(&KEY), OpenFault::Storage(StorageFault::InUse));
    drop(first);
    home.open();
}

#[test]
fn a_directory_that_is_not_there_is_a_fault_and_is_not_made() {
    let home = Home::new();
    let path = home.directory.path().join("gone/trueseal_a.db");
    let refused = Store::open(&path, &KEY, &FIRST).err().unwrap();
    assert_eq!(refused, OpenFault::Storage(StorageFault::Unavailable));
    assert!(home.bytes().is_empty());
}

#[test]
fn the_file_is_private_encrypted_and_durable() {
    let home = Home::new();
    let mut store = home.open();
    store.apply(&some_changes(), None).unwrap();
    let pragma = |name: &str| -> String {
        let read = |row: &rusqlite::Row<'_>| row.get_ref(0).map(|value| format!("{value:?}"));
        store
            .connection
            .pragma_query_value(None, name, read)
            .unwrap()
    };
    assert!(pragma("journal_mode").contains("119, 97, 108"), "wal");
    for (name, value) in [
        ("synchronous", 2),
        ("secure_delete", 1),
        ("foreign_keys", 1),
    ] {
        assert_eq!(pragma(name), format!("Integer({value})"), "{name}");
    }
    for (path, bytes) in home.bytes() {
        let found = bytes.windows(6).any(|window| window == b"canary");
        assert!(!found, "readable at rest");
        assert!(!bytes.starts_with(b"SQLite format"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
    }
}

#[test]
fn a_message_is_stored_once_under_either_of_its_ids() {
    let home = Home::new();
    let mut store = home.open();
    let first = message(1, false, &[]);
    let again = NewMessage {
        body: b"other".to_vec(),
        ..first.clone()
    };
    let same_app_id = NewMessage {
        id: MessageId::from_bytes([2; 32]),
        ..first.clone()
    };
    let steps = [first, again, same_app_id].map(Change::MessageStored);
    let applied = store.apply(&steps, None).unwrap();
    assert_eq!(applied.stored, vec![(MessageId::from_bytes([1; 32]), 1)]);
    assert_eq!(store.messages_after(0, 10).unwrap().len(), 1);
}

#[test]
fn pages_are_in_order_from_both_ends() {
    let home = Home::new();
    let mut store = home.open();
    let changes: Vec<_> = (1..=5)
        .map(|number| Change::MessageStored(message(number, number == 3, &[2])))
        .collect();
    store.apply(&changes, None).unwrap();
    let positions = |found: Vec<crate::history::StoredMessage>| -> Vec<u64> {
        found.iter().map(|message| message.position).collect()
    };
    assert_eq!(positions(store.messages_after(0, 2).unwrap()), [1, 2]);
    assert_eq!(positions(store.messages_after(4, 9).unwrap()), [5]);
    assert_eq!(positions(store.messages_before(None, 2).unwrap()), [4, 5]);
    assert_eq!(
        positions(store.messages_before(Some(3), 9).unwrap()),
        [1, 2]
    );
    assert!(store.messages_before(Some(1), 9).unwrap().is_empty());
    assert_eq!(
        store
            .message(&MessageId::from_bytes([4; 32]))
            .unwrap()
            .unwrap()
            .position,
        4
    );
    assert_eq!(
        store.message(&MessageId::from_bytes([9; 32])).unwrap(),
        None
    );
    assert_eq!(store.unread().unwrap(), 4, "own messages need no reading");
    store.mark_read(4).unwrap();
    store.mark_read(2).unwrap();
    assert_eq!(store.unread().unwrap(), 1, "reading never goes back");
    store.mark_read(u64::MAX).unwrap();
    assert_eq!(store.unread().unwrap(), 0);
    let later = Change::MessageStored(message(6, false, &[]));
    store.apply(&[later], None).unwrap();
    assert_eq!(store.unread().unwrap(), 1, "nor beyond the last message");
}

#[test]
fn deliveries_move_on_their_own_and_are_withdrawn_by_a_wipe() {
    let home = Home::new();
    let mut store = home.open();
    let moved = |seed, state| Change::DeliveryChanged {
        message: MessageId::from_bytes([1; 32]),
        member: member(seed).id,
        state,
    };
    let changes = [
        Change::MessageStored(message(1, true, &[2, 3, 4])),
        moved(2, DeliveryState::OnRelay { at_ms: 99 }),
        moved(3, DeliveryState::Failed(SendFailure::Expired)),
        moved(9, DeliveryState::OnRelay { at_ms: 1 }),
    ];
    store.apply(&changes, None).unwrap();
    let states = |store: &Store| -> Vec<DeliveryState> {
        let found = store.messages_after(0, 1).unwrap();
        found[0]
            .deliveries
            .iter()
            .map(|delivery| delivery.state)
            .collect()
    };
    let mut expected = [
        DeliveryState::OnRelay { at_ms: 99 },
        DeliveryState::Failed(SendFailure::Expired),
        DeliveryState::Waiting,
    ];
    assert_eq!(states(&store), expected);
    store.apply(&[Change::GroupWiped], None).unwrap();
    expected[2] = DeliveryState::Withdrawn;
    assert_eq!(states(&store), expected);
}

#[test]
fn a_wipe_takes_the_group_and_leaves_what_the_person_read() {
    let home = Home::new();
    let mut store = home.open();
    store.apply(&some_changes(), None).unwrap();
    let issue = DeliveryIssue::Unreadable(Unreadable::Expired);
    let fresh = IdentityId::from_bytes([2; 16]);
    let changes = [
        Change::PhaseSaved(Phase::Ending(Ending::Removed)),
        Change::MessageStored(message(1, false, &[])),
        Change::IssueAdded {
            at_ms: 3,
            issue: issue.clone(),
        },
        Change::PhaseSaved(Phase::NotJoined),
        Change::GroupWiped,
        Change::IdentityReplaced(secrets(6)),
    ];
    store.apply(&changes, Some(&fresh)).unwrap();
    let read = snapshot(&store);
    assert_eq!((read.phase, read.last_sequence), (Phase::NotJoined, 0));
    assert!(read.join.is_none() && read.outbox_messages.is_empty() && read.held.is_empty());
    assert_eq!(
        (read.group_name, read.gave_name),
        (Some(name("Home", 0)), false)
    );
    assert!(!store.is_handled(&MessageId::from_bytes([8; 32])).unwrap());
    assert_eq!(store.messages_after(0, 9).unwrap().len(), 1);
    assert_eq!(store.issues(None, 9).unwrap()[0].issue, issue);
    assert_eq!(store.identity().unwrap(), fresh);
}

#[test]
fn issues_are_kept_until_told_and_listed_until_dismissed() {
    let home = Home::new();
    let mut store = home.open();
    let issue = |failure| {
        let message = MessageId::from_bytes([1; 32]);
        Change::IssueAdded {
            at_ms: 5,
            issue: DeliveryIssue::SendFailed { message, failure },
        }
    };
    store.apply(&SendFailure::ALL.map(issue), None).unwrap();
    drop(store);
    let store = home.open();
    let untold = store.untold_issues().unwrap();
    assert_eq!(untold.len(), 3);
    store.mark_told(untold[1].id).unwrap();
    assert_eq!(store.untold_issues().unwrap(), untold[2..]);
    let listed = store.issues(None, 2).unwrap();
    assert_eq!(listed[0], untold[2], "newest first");
    store.remove_issue(untold[2].id).unwrap();
    assert_eq!(store.issues(None, 9).unwrap().len(), 2);
}

#[test]
fn old_dedup_rows_go_and_young_ones_stay() {
    let home = Home::new();
    let mut store = home.open();
    let handled = |number, keep_until_ms| Change::MessageHandled {
        id: MessageId::from_bytes([number; 32]),
        keep_until_ms,
    };
    let changes = [
        handled(1, 10),
        handled(2, 11),
        handled(2, 5),
        Change::HandledPurged { before_ms: 11 },
    ];
    store.apply(&changes, None).unwrap();
    assert!(!store.is_handled(&MessageId::from_bytes([1; 32])).unwrap());
    assert!(store.is_handled(&MessageId::from_bytes([2; 32])).unwrap());
}

#[test]
fn the_relay_is_kept() {
    let home = Home::new();
    let store = home.open();
    assert!(store.relay().unwrap().is_none());
    let relay = RelayAddress::new(keys(7).noise, "relay.example", 7700, 7701).unwrap();
    store.set_relay(&relay).unwrap();
    drop(store);
    assert!(home.open().relay().unwrap() == Some(relay));
}

#[test]
fn the_wal_file_does_not_grow_without_end() {
    let home = Home::new();
    let mut store = home.open();
    for round in 0..200_u64 {
        let body = OutboxBody(vec![0; 61_440]);
        let added = Change::OutboxMessageAdded(outbox_message(round), body);
        store.apply(&[added], None).unwrap();
        store
            .apply(&[Change::OutboxMessageRemoved { sequence: round }], None)
            .unwrap();
    }
    let wal = home
        .bytes()
        .into_iter()
        .find(|(path, _)| is_wal(path))
        .unwrap();
    assert!(wal.1.len() < 64 * 1024 * 1024, "{} bytes", wal.1.len());
    drop(store);
    assert!(
        !home
            .bytes()
            .iter()
            .any(|(path, bytes)| is_wal(path) && !bytes.is_empty())
    );
}

fn manifest(version: u64, seeds: &[u64]) -> SignedManifest {
    let members = seeds.iter().map(|&seed| listed(seed)).collect();
    let group = GroupId::generate(&mut ChaCha20Rng::seed_from_u64(1));
    let manifest = Manifest::new(group, version, None, members).unwrap();
    manifest.sign(&secrets(1).signing)
}

fn listed(seed: u64) -> manifest::Member {
    let member = member(seed);
    manifest::Member {
        keys: member.keys,
        name: member.name,
    }
}

/// Every kind of row of the membership rule, and what takes it away again.
fn membership_changes(root: &SignedManifest, other: &SignedManifest) -> Vec<Change> {
    use MembershipChange as M;
    let key = |seed| keys(seed).signing;
    let stored = |manifest: &SignedManifest, trusted| {
        let manifest = manifest.clone();
        M::ManifestStored { manifest, trusted }
    };
    let gone = manifest(9, &[1, 9]);
    let changes = vec![
        M::RootSet { hash: root.hash() },
        stored(root, false),
        stored(root, true),
        stored(root, false),
        stored(other, false),
        stored(&gone, false),
        M::ManifestDeleted { hash: gone.hash() },
        M::RemovalStored {
            key: key(3),
            removal: root.hash(),
            since_ms: 20,
        },
        M::RemovalStored {
            key: key(3),
            removal: other.hash(),
            since_ms: 20,
        },
        M::HelloStored {
            key: key(2),
            manifest: root.hash(),
        },
        M::HelloStored {
            key: key(2),
            manifest: other.hash(),
        },
        M::HelloStored {
            key: key(4),
            manifest: other.hash(),
        },
        M::HelloDeleted { key: key(4) },
        M::SeenStored {
            key: key(2),
            manifest: other.hash(),
        },
        M::SeenStored {
            key: key(4),
            manifest: other.hash(),
        },
        M::SeenDeleted { key: key(4) },
        M::LimboStarted {
            key: key(5),
            since_ms: 30,
        },
        M::LimboStarted {
            key: key(6),
            since_ms: 31,
        },
        M::LimboEnded { key: key(6) },
        M::BaseMemberStored { member: listed(7) },
        M::HelloSent { key: key(2) },
        M::KeyHeld { key: key(2) },
        M::KeyHeld { key: key(2) },
    ];
    changes.into_iter().map(Change::Membership).collect()
}

#[test]
fn the_membership_rule_finds_its_rows_again() {
    let home = Home::new();
    let (root, other) = (manifest(1, &[1, 2]), manifest(2, &[1, 2, 3]));
    let key = |seed| keys(seed).signing;
    let mut store = home.open();
    store
        .apply(&[Change::PhaseSaved(Phase::Member)], None)
        .unwrap();
    store
        .apply(&membership_changes(&root, &other), None)
        .unwrap();
    drop(store);
    let mut store = home.open();
    let read = snapshot(&store).membership.unwrap();
    let known = |manifest: &SignedManifest, trusted| {
        let manifest = manifest.clone();
        (manifest.hash(), KnownManifest { manifest, trusted })
    };
    let expected = MembershipSnapshot {
        root: Some(root.hash()),
        manifests: [known(&root, true), known(&other, false)].into(),
        tombs: [(
            key(3),
            Tomb {
                since_ms: 20,
                removals: [root.hash(), other.hash()].into(),
            },
        )]
        .into(),
        hello: [(key(2), other.hash())].into(),
        seen: [(key(2), other.hash())].into(),
        limbo_since: [(key(5), 30)].into(),
        base: [(key(7), listed(7))].into(),
        hello_sent: [key(2)].into(),
        held: [key(2)].into(),
    };
    assert_eq!(read, expected);
    store.apply(&[Change::GroupWiped], None).unwrap();
    let read = snapshot(&store).membership.unwrap();
    assert_eq!(read, MembershipSnapshot::default());
}

#[test]
fn manifests_that_wait_for_the_admission_keep_their_order() {
    let home = Home::new();
    let mut store = home.open();
    let buffered: Vec<_> = [3, 1, 2]
        .map(|version| BufferedManifest {
            author: keys(version).signing,
            manifest: manifest(version, &[1, version + 1]),
        })
        .into();
    let changes: Vec<_> = buffered
        .iter()
        .cloned()
        .map(Change::ManifestBuffered)
        .collect();
    store.apply(&changes, None).unwrap();
    assert_eq!(snapshot(&store).buffered, buffered);
    store
        .apply(&[Change::BufferedManifestsRemoved], None)
        .unwrap();
    assert!(snapshot(&store).buffered.is_empty());
}

#[test]
fn who_came_and_went_is_listed_in_pages_within_a_bound_and_outlives_the_group() {
    let home = Home::new();
    let mut store = home.open();
    let note = |seen_ms| MembershipNote {
        is_added: seen_ms % 2 == 0,
        member: manifest::Member {
            keys: keys(2),
            name: member(2).name,
        },
        is_me: seen_ms % 4 == 0,
        by_me: seen_ms % 5 == 0,
        by: (seen_ms % 3 == 0).then(|| Attribution {
            issuer: keys(3).signing,
            name: (seen_ms % 6 == 0).then(|| member(3).name),
            version: seen_ms,
        }),
        seen_ms,
    };
    let kept = u64::try_from(membership::NOTES_MAX).unwrap();
    let notes: Vec<_> = (1..=kept + 7)
        .map(|number| Change::MembershipNoted(note(number)))
        .collect();
    store.apply(&notes, None).unwrap();
    let page = |store: &Store, before| {
        let read = store.membership_history(before, 5).unwrap();
        let last = read.last().map(|stored| stored.position);
        let notes: Vec<_> = read.into_iter().map(|stored| stored.note).collect();
        (notes, last)
    };
    let expected = |from: u64, to: u64| (from..=to).rev().map(note).collect::<Vec<_>>();
    let (newest, last) = page(&store, None);
    assert_eq!(newest, expected(kept + 3, kept + 7));
    assert_eq!(page(&store, last).0, expected(kept - 2, kept + 2));
    let (oldest, last) = page(&store, Some(11));
    assert_eq!(oldest, expected(8, 10));
    assert_eq!(page(&store, last).0, Vec::new());
    let count: i64 = store
        .connection
        .query_row("SELECT count(*) FROM membership_note", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, membership::NOTES_MAX);
    store.apply(&[Change::GroupWiped], None).unwrap();
    assert_eq!(page(&store, None).0, newest, "as the messages do");
}
