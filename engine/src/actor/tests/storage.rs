//! Stores that are held by others, and stores that break while they are open.

use std::fs;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::*;
use crate::core::device::Device;
use crate::core::event::Member;
use crate::core::message::NewMessage;

/// As many as one page of the history has.
const MESSAGES: u64 = 1_000;

fn message(number: u64) -> NewMessage {
    let keys = DeviceSecrets::generate(&mut ChaCha20Rng::seed_from_u64(1)).keys();
    let author = Member {
        id: keys.signing.member_id(),
        name: DeviceName::derived(&keys.signing),
        keys,
    };
    let mut id = [0; 32];
    id[..8].copy_from_slice(&number.to_be_bytes());
    NewMessage {
        id: MessageId::from_bytes(id),
        own: false,
        author: author.id,
        author_name: author.name,
        app_id: None,
        body: vec![1; 300],
        sent_at_ms: number,
        stored_at_ms: number,
        recipients: Vec::new(),
    }
}

/// Makes a group with a long history and closes it. Returns its keys.
async fn make_history(home: &Home) -> DeviceKeys {
    let actor = home.open().await.unwrap();
    let me = actor.view().me.keys;
    rename(&actor, "kept".to_owned()).await.unwrap();
    actor.close().await;
    let history: Vec<_> = (0..MESSAGES)
        .map(|number| Change::MessageStored(message(number)))
        .collect();
    hold(home).apply(&history, None).unwrap();
    me
}

/// Opens the store as another program does.
fn hold(home: &Home) -> Store {
    let keys = home.group_keys();
    let first = keys.identities()[0].id;
    Store::open(&home.database(), keys.database_key(), &first).unwrap()
}

/// Damages pages in the middle of the file, in place, under whoever has it open.
#[cfg(unix)]
fn damage(home: &Home) {
    use std::os::unix::fs::FileExt as _;
    const PAGE_BYTES: u64 = 4_096;
    let file = fs::OpenOptions::new()
        .write(true)
        .open(home.database())
        .unwrap();
    let pages = file.metadata().unwrap().len() / PAGE_BYTES;
    assert!(pages > 80, "only {pages} pages");
    for page in (pages / 2)..(pages / 2 + 3) {
        file.write_all_at(&[0xa5; 64], page * PAGE_BYTES + 100)
            .unwrap();
    }
}

async fn history(actor: &ActorHandle) -> Result<Vec<u64>, EngineError> {
    let rows = actor.query(|store, _| store.messages_after(0, 10_000));
    Ok(rows.await?.iter().map(|row| row.sent_at_ms).collect())
}

async fn issues(actor: &ActorHandle) -> Vec<DeliveryIssue> {
    let issues = actor.query(|store, _| store.issues(None, 9)).await.unwrap();
    issues.into_iter().map(|stored| stored.issue).collect()
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn damage_under_an_open_group_is_said_and_repaired_and_costs_what_it_hit() {
    let home = Home::new();
    let me = make_history(&home).await;
    let actor = home.open().await.unwrap();
    let (told, tells) = mpsc::channel();
    let _subscription = actor.listen_to_issues(move |issue| told.send(issue).unwrap());
    damage(&home);
    let damaged = Err(EngineError::Storage(StorageFault::Damaged));
    assert_eq!(history(&actor).await, damaged);
    // The same group goes on: nobody has to start anything again.
    let kept = history(&actor).await.unwrap();
    assert!(kept.is_sorted());
    let lost = usize::try_from(MESSAGES).unwrap() - kept.len();
    assert!((1..100).contains(&lost), "{lost} rows are lost");
    let repaired = DeliveryIssue::StoreRepaired;
    assert_eq!(tells.recv_timeout(SOON).unwrap(), repaired);
    rename(&actor, "after".to_owned()).await.unwrap();
    actor.close().await;
    let actor = home.open().await.unwrap();
    assert_eq!(actor.view().me.keys, me);
    assert_eq!(actor.view().group_name.as_deref(), Some("after"));
    assert_eq!(history(&actor).await.unwrap(), kept);
    // The copy of the store is no other device's, and once is enough.
    assert_eq!(issues(&actor).await, [repaired]);
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_that_shows_again_is_repaired_at_the_next_start_and_not_for_ever() {
    let home = Home::new();
    let me = make_history(&home).await;
    let actor = home.open().await.unwrap();
    let copies = || {
        let entries = fs::read_dir(home.directory.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| name.to_string_lossy().contains(".damaged-"))
            .count()
    };
    let whole = usize::try_from(MESSAGES).unwrap();
    for _ in 0..5 {
        let asked = actor.query(|_, _| Err::<(), _>(StorageFault::Damaged));
        let damaged = Err(EngineError::Storage(StorageFault::Damaged));
        assert_eq!(asked.await, damaged);
        assert_eq!(history(&actor).await.unwrap().len(), whole);
        assert_eq!(copies(), 1);
    }
    actor.close().await;
    for _ in 0..2 {
        let actor = home.open().await.unwrap();
        assert_eq!(actor.view().me.keys, me);
        assert_eq!(actor.view().group_name.as_deref(), Some("kept"));
        actor.close().await;
        assert_eq!(copies(), 2, "asked for once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_another_program_holds_is_in_use_and_whole_when_it_lets_go() {
    let home = Home::new();
    let me = make_history(&home).await;
    let holder = hold(&home);
    let before = fs::read(home.database()).unwrap();
    for _ in 0..3 {
        let in_use = OpenError::Storage(StorageFault::InUse);
        assert_eq!(home.open().await.err(), Some(in_use));
    }
    assert!(fs::read(home.database()).unwrap() == before, "left alone");
    drop(holder);
    let actor = home.open().await.unwrap();
    assert_eq!(actor.view().me.keys, me);
    assert_eq!(
        history(&actor).await.unwrap().len(),
        usize::try_from(MESSAGES).unwrap()
    );
    assert_eq!(issues(&actor).await, []);
}

/// A store of an earlier version than this.
const FLOOR: u32 = 2;

/// Makes a group whose store is below the floor, and returns its keys.
async fn make_outdated(home: &Home) -> DeviceKeys {
    let me = make_history(home).await;
    let keys = home.group_keys();
    Store::set_version(&home.database(), keys.database_key(), FLOOR - 1);
    me
}

fn open_above_floor(home: &Home) -> Result<Group, OpenError> {
    Group::open_above(FLOOR, &options(home), NOW_MS)
}

#[tokio::test]
async fn a_store_below_the_floor_starts_afresh_under_another_identity_and_says_so() {
    let home = Home::new();
    let me = make_outdated(&home).await;
    let group = open_above_floor(&home).unwrap();
    assert!(group.is_reset);
    let (inputs, inputs_of) = mpsc::channel();
    let runtime = Handle::current();
    let actor = Actor::of(group, options(&home), runtime, inputs, inputs_of).unwrap();
    // Nobody listens yet: it waits for the first who does.
    let (told, tells) = mpsc::channel();
    let _subscription = actor
        .shared
        .notices
        .listen(move |event| told.send(event).unwrap());
    let Event::StatusChanged { status, reason } = tells.recv_timeout(SOON).unwrap() else {
        panic!("the reset comes first");
    };
    let reset = crate::core::status::StatusReason::StoreReset;
    assert_eq!((status, reason), (Status::NotJoined, Some(reset)));
    let fresh = actor.group.device.keys();
    assert!(fresh.noise != me.noise && fresh.signing != me.signing);
    assert_eq!(actor.group.device.status(), Status::NotJoined);
    assert_eq!(actor.group.store.messages_after(0, 9).unwrap(), []);
    assert_eq!(home.group_keys().identities().len(), 1);
    drop(actor);
    // Once: from here on it is a store like any other.
    let group = open_above_floor(&home).unwrap();
    assert!(!group.is_reset);
    assert_eq!(group.device.keys(), fresh);
    drop(group);
    let actor = home.open().await.unwrap();
    assert_eq!(actor.view().me.keys, fresh);
    // And listed until somebody has seen it.
    assert_eq!(issues(&actor).await, [DeliveryIssue::StoreReset]);
}

#[tokio::test]
async fn a_reset_that_is_cut_short_is_done_at_the_next_start() {
    // After the first of the three writes.
    let home = Home::new();
    make_outdated(&home).await;
    let mut keys = home.group_keys();
    let in_use = keys.identities()[0].id;
    let secrets = DeviceSecrets::generate(&mut OsRng);
    keys.add_identity(&in_use, secrets.clone(), &mut OsRng);
    home.save_keys(&keys);
    let group = open_above_floor(&home).unwrap();
    assert!(group.is_reset);
    assert_ne!(group.device.keys(), secrets.keys(), "that one never was");
    drop(group);
    // After the second: the store names the fresh one.
    let home = Home::new();
    make_outdated(&home).await;
    let mut keys = home.group_keys();
    let in_use = keys.identities()[0].id;
    let fresh = keys.add_identity(&in_use, secrets.clone(), &mut OsRng);
    home.save_keys(&keys);
    Store::reset(FLOOR, &home.database(), keys.database_key(), &fresh, NOW_MS).unwrap();
    let group = open_above_floor(&home).unwrap();
    let untold = group.store.untold_issues().unwrap();
    assert_eq!(untold[0].issue, DeliveryIssue::StoreReset);
    assert_eq!(group.device.keys(), secrets.keys());
    assert_eq!(home.group_keys().identities().len(), 1);
}

#[tokio::test]
async fn nothing_is_reset_without_its_key_or_above_the_floor() {
    let home = Home::new();
    let me = make_outdated(&home).await;
    let keys = home.group_keys();
    let first = keys.identities()[0].id;
    let before = fs::read(home.database()).unwrap();
    let damaged = crate::store::OpenFault::Storage(StorageFault::Damaged);
    let wrong_key = Store::reset(FLOOR, &home.database(), &[7; 32], &first, NOW_MS);
    assert_eq!(wrong_key, Err(damaged));
    home.save_keys(&GroupKeys::generate(&mut OsRng));
    let refused = open_above_floor(&home).err();
    assert_eq!(refused, Some(OpenError::Storage(StorageFault::Damaged)));
    assert!(fs::read(home.database()).unwrap() == before, "left alone");
    // Where the floor is lower, it is none below it.
    let key = keys.database_key();
    Store::reset(FLOOR - 1, &home.database(), key, &first, NOW_MS).unwrap_err();
    assert!(fs::read(home.database()).unwrap() == before, "left alone");
    home.save_keys(&keys);
    Store::set_version(&home.database(), key, Store::VERSION);
    let actor = home.open().await.unwrap();
    assert_eq!(actor.view().me.keys, me);
    assert_eq!(history(&actor).await.unwrap().len(), 1_000);
}

#[tokio::test]
async fn what_follows_an_offline_send_is_synced_once_nobody_waits() {
    let home = Home::new();
    let mut actor = still_member(&home);
    actor
        .group
        .device
        .handle_connection(Connection::Disconnected(None));
    // What else is due writes, and syncs, by itself.
    let (call, _answer) = sending_call(b"none");
    actor.turn(Some(call));
    let (call, _answer) = sending_call(b"one");
    actor.turn(Some(call));
    assert!(actor.owes_sync);
    let (call, _answer) = sending_call(b"two");
    actor.shared.input(call);
    let next = actor.wait().unwrap();
    assert!(actor.owes_sync, "the next one goes first");
    actor.turn(Some(next));
    assert!(actor.owes_sync);
    // Nobody waits: not for long, so that the test doesn't either.
    actor.tidy_at = Some(Instant::now());
    assert!(actor.wait().is_err());
    assert!(!actor.owes_sync);
    // The commit of an acknowledgement is near where there is a relay.
    let device = &mut actor.group.device;
    device.handle_connection(Connection::Connected);
    let (call, _answer) = sending_call(b"three");
    actor.turn(Some(call));
    assert!(!actor.owes_sync);
}

#[tokio::test]
async fn a_refused_call_whose_wish_could_not_be_kept_says_so() {
    let home = Home::new();
    let actor = home.open().await.unwrap();
    // Enough rows to need another page, and a refusal, as of a leave that has to wait.
    fn refuse(device: &mut Device, now_ms: u64) -> Result<(), EngineError> {
        (0..200).for_each(|_| device.handle_bad_frame(now_ms));
        Err(EngineError::ManifestAwaited)
    }
    for is_full in [true, false] {
        fill_disk(&actor, is_full).await;
        let expected = if is_full {
            EngineError::Storage(StorageFault::Full)
        } else {
            EngineError::ManifestAwaited
        };
        let called = actor.call(|device, now_ms, _| refuse(device, now_ms)).await;
        assert_eq!(called, Err(expected));
        let called = actor
            .call_with(|_| Ok(()), |device, (), now_ms| refuse(device, now_ms))
            .await;
        assert_eq!(called, Err(expected));
    }
}
