//! Stores that are held by others, and stores that break while they are open.

use std::fs;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::*;
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
    let issues = actor.query(|store, _| store.issues(9)).await.unwrap();
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
