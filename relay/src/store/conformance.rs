//! What every store must do, run against each of them.
//!
//! A test here takes a fresh store with short limits and knows nothing of its kind.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sealpost_protocol::key::NoisePublic;
use tokio::sync::Notify;

use super::{
    Blob, BlobId, InboxStore, MemoryStore, PutRefusal, PutRoom, PutTicket, SqliteStore, StoreError,
    StoreSettings, WriterPace,
};
use crate::limits::StoreLimits;

const LIFE_MS: u64 = 60_000;
const NOW_MS: u64 = 1_800_000_000_000;

const SETTINGS: StoreSettings = StoreSettings {
    limits: StoreLimits {
        inbox_blobs_max: 200,
        inbox_bytes_max: 400_000,
        inboxes_max: 3,
        total_bytes_max: 500_000,
        disk_free_bytes_min: 0,
    },
    life_ms: LIFE_MS,
    pace: WriterPace {
        deletes_linger: Duration::from_millis(20),
        tidy_after: Duration::from_millis(20),
    },
};

fn device(byte: u8) -> NoisePublic {
    NoisePublic::from_bytes([byte; 32])
}

fn envelope(number: u64, bytes: usize) -> Bytes {
    let mut envelope = number.to_be_bytes().to_vec();
    envelope.resize(bytes.max(8), 0x5a);
    Bytes::from(envelope)
}

fn put_one(
    store: &dyn InboxStore,
    to: NoisePublic,
    envelope: Bytes,
    now_ms: u64,
) -> Result<PutTicket, PutRefusal> {
    store.put(to, envelope, PutRoom::uncounted(), now_ms)
}

async fn put(store: &dyn InboxStore, to: u8, number: u64) {
    put_at(store, to, number, NOW_MS).await;
}

async fn put_at(store: &dyn InboxStore, to: u8, number: u64, now_ms: u64) {
    let ticket = put_one(store, device(to), envelope(number, 20), now_ms).expect("there is room");
    ticket.outcome().await.expect("it is stored");
}

/// Everything a new session of `to` gets.
async fn read_all(store: &dyn InboxStore, to: u8, now_ms: u64) -> Vec<Blob> {
    read_after(store, to, BlobId::START, now_ms).await
}

async fn read_after(store: &dyn InboxStore, to: u8, after: BlobId, now_ms: u64) -> Vec<Blob> {
    let (mut cursor, mut blobs) = (after, Vec::new());
    loop {
        let chunk = store.read(device(to), cursor, now_ms).await.unwrap();
        if chunk.through == cursor {
            return blobs;
        }
        cursor = chunk.through;
        blobs.extend(chunk.blobs);
    }
}

fn numbers(blobs: &[Blob]) -> Vec<u64> {
    let number = |blob: &Blob| u64::from_be_bytes(blob.envelope[..8].try_into().unwrap());
    blobs.iter().map(number).collect()
}

async fn arrival_order_and_own_inbox_only(store: Arc<dyn InboxStore>) {
    for number in 0..150 {
        put(&*store, (number % 2) as u8, number).await;
    }
    let even = read_all(&*store, 0, NOW_MS).await;
    assert_eq!(numbers(&even), (0..150).step_by(2).collect::<Vec<_>>());
    assert!(even.is_sorted_by(|one, next| one.id < next.id));
    assert_eq!(read_all(&*store, 1, NOW_MS).await.len(), 75);
    assert!(read_all(&*store, 2, NOW_MS).await.is_empty());
    let rest = read_after(&*store, 0, even[70].id, NOW_MS).await;
    assert_eq!(rest, even[71..]);
}

async fn concurrent_puts_keep_each_senders_order(store: Arc<dyn InboxStore>) {
    let tickets: Vec<_> = (0..100)
        .map(|number| put_one(&*store, device(1), envelope(number, 20), NOW_MS).unwrap())
        .collect();
    for ticket in tickets {
        ticket.outcome().await.unwrap();
    }
    let blobs = read_all(&*store, 1, NOW_MS).await;
    assert_eq!(numbers(&blobs), (0..100).collect::<Vec<_>>());
}

async fn envelopes_come_back_as_they_were(store: Arc<dyn InboxStore>) {
    let sent: Vec<Bytes> = [0, 1, 300, 65_482]
        .map(|bytes| Bytes::from(vec![0xc3; bytes]))
        .into();
    for envelope in &sent {
        let ticket = put_one(&*store, device(1), envelope.clone(), NOW_MS).unwrap();
        ticket.outcome().await.unwrap();
    }
    let blobs = read_all(&*store, 1, NOW_MS).await;
    let received: Vec<Bytes> = blobs.into_iter().map(|blob| blob.envelope).collect();
    assert_eq!(received, sent);
}

async fn only_the_owner_deletes(store: Arc<dyn InboxStore>) {
    put(&*store, 1, 10).await;
    put(&*store, 1, 11).await;
    put(&*store, 2, 20).await;
    let first = read_all(&*store, 1, NOW_MS).await[0].id;
    store.delete(device(2), first);
    store.delete(device(3), first);
    store.delete(device(1), BlobId::from_u64(u64::MAX));
    store.delete(device(1), BlobId::START);
    assert_eq!(numbers(&read_all(&*store, 1, NOW_MS).await), [10, 11]);
    store.delete(device(1), first);
    store.delete(device(1), first);
    assert_eq!(numbers(&read_all(&*store, 1, NOW_MS).await), [11]);
    assert_eq!(numbers(&read_all(&*store, 2, NOW_MS).await), [20]);
}

async fn ids_are_not_given_again(store: Arc<dyn InboxStore>) {
    put(&*store, 1, 1).await;
    let first = read_all(&*store, 1, NOW_MS).await[0].id;
    store.delete(device(1), first);
    put(&*store, 1, 2).await;
    assert!(read_all(&*store, 1, NOW_MS).await[0].id > first);
}

async fn a_full_inbox_takes_no_more_until_something_leaves(store: Arc<dyn InboxStore>) {
    for number in 0..200 {
        put(&*store, 1, number).await;
    }
    let refused = put_one(&*store, device(1), envelope(200, 20), NOW_MS);
    assert_eq!(refused.unwrap_err(), PutRefusal::InboxFull);
    put(&*store, 2, 0).await;
    let first = read_all(&*store, 1, NOW_MS).await[0].id;
    store.delete(device(1), first);
    put(&*store, 1, 200).await;
}

async fn bytes_are_bounded_per_inbox_and_in_total(store: Arc<dyn InboxStore>) {
    let large = || Bytes::from(vec![0; 60_000]);
    for _ in 0..6 {
        let ticket = put_one(&*store, device(1), large(), NOW_MS).unwrap();
        ticket.outcome().await.unwrap();
    }
    let refused = put_one(&*store, device(1), large(), NOW_MS);
    assert_eq!(refused.unwrap_err(), PutRefusal::InboxFull);
    for _ in 0..2 {
        let ticket = put_one(&*store, device(2), large(), NOW_MS).unwrap();
        ticket.outcome().await.unwrap();
    }
    let refused = put_one(&*store, device(2), large(), NOW_MS);
    assert_eq!(refused.unwrap_err(), PutRefusal::Unavailable);
    assert_eq!(store.sums().bytes, 480_000);
}

async fn inboxes_are_bounded_and_an_emptied_one_makes_room(store: Arc<dyn InboxStore>) {
    for to in 1..=3 {
        put(&*store, to, 1).await;
    }
    let watch = store.watch(device(5), Arc::new(Notify::new()));
    put(&*store, 5, 1).await;
    let connected = read_all(&*store, 5, NOW_MS).await[0].id;
    store.delete(device(5), connected);
    drop(watch);
    let refused = put_one(&*store, device(4), envelope(1, 20), NOW_MS);
    assert_eq!(refused.unwrap_err(), PutRefusal::Unavailable);
    let only = read_all(&*store, 1, NOW_MS).await[0].id;
    store.delete(device(1), only);
    put(&*store, 4, 1).await;
    assert_eq!(store.sums().inboxes, 3);
}

async fn expired_blobs_are_not_delivered_not_counted_and_deleted(store: Arc<dyn InboxStore>) {
    for number in 0..200 {
        put_at(&*store, 1, number, NOW_MS).await;
    }
    let last_moment = NOW_MS + LIFE_MS - 1;
    let after = NOW_MS + LIFE_MS;
    assert_eq!(read_all(&*store, 1, last_moment).await.len(), 200);
    assert!(read_all(&*store, 1, after).await.is_empty());
    let refused = put_one(&*store, device(1), envelope(0, 20), last_moment);
    assert_eq!(refused.unwrap_err(), PutRefusal::InboxFull);
    put_at(&*store, 1, 200, after).await;
    assert_eq!(numbers(&read_all(&*store, 1, after).await), [200]);
    put_at(&*store, 2, 1, NOW_MS).await;
    assert_eq!(store.sums().inboxes, 2);
    while store.expire(after) {}
    assert_eq!(store.sums().inboxes, 1);
    assert_eq!(store.sums().blobs, 1);
    while store.expire(after + LIFE_MS) {}
    assert_eq!(store.sums().blobs, 0);
    assert_eq!(store.first_expiry_ms(), None);
}

async fn a_bell_rings_on_every_insert_of_its_inbox_only(store: Arc<dyn InboxStore>) {
    let bell = Arc::new(Notify::new());
    let other = Arc::new(Notify::new());
    let watch = store.watch(device(1), Arc::clone(&bell));
    let _other = store.watch(device(2), Arc::clone(&other));
    put(&*store, 1, 1).await;
    bell.notified().await;
    put(&*store, 1, 2).await;
    bell.notified().await;
    assert!(!is_ringing(&other));
    drop(watch);
    put(&*store, 1, 3).await;
    assert!(!is_ringing(&bell));
}

fn is_ringing(bell: &Notify) -> bool {
    let mut waiting = std::pin::pin!(bell.notified());
    waiting.as_mut().enable()
}

async fn watched_and_unwatched_blobs_read_alike(store: Arc<dyn InboxStore>) {
    put(&*store, 1, 1).await;
    let _watch = store.watch(device(1), Arc::new(Notify::new()));
    put(&*store, 1, 2).await;
    let both = read_all(&*store, 1, NOW_MS).await;
    assert_eq!(numbers(&both), [1, 2]);
    store.delete(device(1), both[1].id);
    assert_eq!(numbers(&read_all(&*store, 1, NOW_MS).await), [1]);
}

async fn sums_follow_what_is_stored(store: Arc<dyn InboxStore>) {
    assert_eq!(store.sums().blobs, 0);
    put(&*store, 1, 1).await;
    put(&*store, 1, 2).await;
    put(&*store, 2, 3).await;
    let sums = store.sums();
    assert_eq!((sums.blobs, sums.bytes, sums.inboxes), (3, 60, 2));
    assert_eq!(store.first_expiry_ms(), Some(NOW_MS + LIFE_MS));
    store.check().await.unwrap();
}

async fn a_closed_store_says_so(store: Arc<dyn InboxStore>) {
    put(&*store, 1, 1).await;
    store.close().await.unwrap();
    let ticket = put_one(&*store, device(1), envelope(2, 20), NOW_MS).unwrap();
    assert_eq!(ticket.outcome().await, Err(StoreError::Closed));
}

/// One test per store and requirement.
macro_rules! conformance {
    ($($requirement:ident),* $(,)?) => {
        mod memory {
            use super::*;
            $(#[tokio::test]
            async fn $requirement() {
                super::$requirement(Arc::new(MemoryStore::new(SETTINGS))).await;
            })*
        }
        mod sqlite {
            use super::*;
            $(#[tokio::test]
            async fn $requirement() {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("inbox.db");
                let store = SqliteStore::open(&path, SETTINGS, false).unwrap();
                super::$requirement(Arc::new(store)).await;
            })*
        }
    };
}

conformance!(
    a_bell_rings_on_every_insert_of_its_inbox_only,
    a_closed_store_says_so,
    a_full_inbox_takes_no_more_until_something_leaves,
    arrival_order_and_own_inbox_only,
    bytes_are_bounded_per_inbox_and_in_total,
    concurrent_puts_keep_each_senders_order,
    envelopes_come_back_as_they_were,
    expired_blobs_are_not_delivered_not_counted_and_deleted,
    ids_are_not_given_again,
    inboxes_are_bounded_and_an_emptied_one_makes_room,
    only_the_owner_deletes,
    sums_follow_what_is_stored,
    watched_and_unwatched_blobs_read_alike,
);
