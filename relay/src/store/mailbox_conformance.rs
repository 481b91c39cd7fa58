//! What the mailboxes of every store must do, run against each of them (specification
//! "paired-mailbox/1" 4 and 11).
//!
//! A test here takes a fresh store and knows nothing of its kind.

mod histories;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sealpost_protocol::limit::{
    LINK_ENVELOPE_BYTES_MAX, LINK_ENVELOPE_BYTES_MIN, LINK_JUMP_MAX, LINK_MAILBOX_LIFE_MS,
    LINK_SEQUENCE_MAX,
};
use sealpost_protocol::link::key::{Direction, MailboxId};

use super::{
    MailboxError, MailboxStore, MailboxWatch, MemoryStore, PutRoom, SqliteStore, StoreSettings,
    WatchEnd, WatchFrame, WatchRefusal, WriterPace,
};
use crate::limits::StoreLimits;
use crate::mailbox::{
    Claimed, DirectionHead, MailboxAccess, MailboxSums, Making, Page, Refusal, Stored, TokenDigest,
};

const NOW_MS: u64 = 1_800_000_000_000;
const A2B: Direction = Direction::AToB;
const B2A: Direction = Direction::BToA;

/// Bytes of the largest Envelope that a test stores, and room for two directions of them.
const SETTINGS: StoreSettings = StoreSettings {
    limits: StoreLimits {
        inbox_blobs_max: 200,
        inbox_bytes_max: 400_000,
        inboxes_max: 3,
        total_bytes_max: 300_000,
        disk_free_bytes_min: 0,
    },
    life_ms: 60_000,
    pace: WriterPace {
        deletes_linger: Duration::from_millis(20),
        tidy_after: Duration::from_millis(20),
    },
};

type Store = Arc<dyn MailboxStore>;
type Outcome<T> = Result<T, MailboxError>;

/// A mailbox and a token, each told apart by a byte.
fn access(mailbox: u8, token: u8) -> MailboxAccess {
    MailboxAccess {
        mailbox: MailboxId::from_bytes([mailbox; 16]),
        token: TokenDigest::from_bytes([token; 32]),
    }
}

const MINE: fn() -> MailboxAccess = || access(1, 1);
const NOT_MINE: fn() -> MailboxAccess = || access(1, 2);

/// An Envelope that no other number makes.
fn envelope(number: u64) -> Bytes {
    let mut envelope = number.to_be_bytes().to_vec();
    envelope.resize(LINK_ENVELOPE_BYTES_MIN, 0x5a);
    Bytes::from(envelope)
}

async fn claim(store: &Store, access: MailboxAccess, now_ms: u64) -> Outcome<Claimed> {
    store.claim(access, Making::Below(3), now_ms).await
}

async fn claimed(store: Store) -> Store {
    claim(&store, MINE(), NOW_MS).await.unwrap();
    store
}

async fn put(store: &Store, direction: Direction, sequence: u64) -> Outcome<Stored> {
    put_at(store, direction, (sequence, envelope(sequence)), NOW_MS).await
}

async fn put_at(
    store: &Store,
    direction: Direction,
    envelope: (u64, Bytes),
    now_ms: u64,
) -> Outcome<Stored> {
    let room = PutRoom::uncounted();
    store.store(MINE(), direction, envelope, room, now_ms).await
}

async fn put_all(store: &Store, direction: Direction, sequences: std::ops::RangeInclusive<u64>) {
    for sequence in sequences {
        assert!(put(store, direction, sequence).await.unwrap().is_new);
    }
}

async fn page(store: &Store, after: u64, limit: usize) -> Page {
    let page = store.page(&MINE(), A2B, (after, limit), NOW_MS);
    page.await.unwrap()
}

fn head(store: &Store, direction: Direction) -> DirectionHead {
    store.head(&MINE(), direction, NOW_MS).unwrap()
}

fn sequences(page: &Page) -> Vec<u64> {
    page.envelopes
        .iter()
        .map(|(sequence, _)| *sequence)
        .collect()
}

fn refused<T: std::fmt::Debug>(outcome: Outcome<T>) -> Refusal {
    match outcome {
        Err(MailboxError::Refused(refusal)) => refusal,
        other => panic!("a refusal was expected: {other:?}"),
    }
}

async fn the_first_claim_makes_it_and_others_of_its_token_do_not(store: Store) {
    let first = claim(&store, MINE(), NOW_MS).await.unwrap();
    let second = claim(&store, MINE(), NOW_MS + 5).await.unwrap();
    assert_eq!((first.is_new, second.is_new), (true, false));
    assert_eq!((first.created_ms, second.created_ms), (NOW_MS, NOW_MS));
    let life_s = LINK_MAILBOX_LIFE_MS / 1_000;
    assert_eq!(first.expires_s, NOW_MS / 1_000 + life_s);
    assert_eq!(second.expires_s, NOW_MS / 1_000 + life_s + 1);
    let other = claim(&store, NOT_MINE(), NOW_MS).await;
    assert_eq!(refused(other), Refusal::WrongToken);
    assert!(store.holds(&MINE().mailbox, NOW_MS));
    assert!(!store.holds(&access(2, 1).mailbox, NOW_MS));
}

async fn nothing_is_there_before_a_claim(store: Store) {
    let no_mailbox = Refusal::NoMailbox;
    assert_eq!(store.head(&MINE(), A2B, NOW_MS), Err(no_mailbox));
    assert_eq!(refused(put(&store, A2B, 1).await), no_mailbox);
    let page = store.page(&MINE(), A2B, (0, 16), NOW_MS).await;
    assert_eq!(refused(page), no_mailbox);
    let pruned = store.prune(MINE(), A2B, 1, NOW_MS).await;
    assert_eq!(refused(pruned), no_mailbox);
    assert_eq!(refused(store.erase(MINE(), NOW_MS).await), no_mailbox);
    let watch = store.watch_direction(&MINE(), A2B, 9, NOW_MS);
    assert_eq!(watch.unwrap_err(), WatchRefusal::Refused(no_mailbox));
}

async fn another_token_gets_nothing(store: Store) {
    let store = claimed(store).await;
    put(&store, A2B, 1).await.unwrap();
    let wrong = Refusal::WrongToken;
    assert_eq!(store.head(&NOT_MINE(), A2B, NOW_MS), Err(wrong));
    let room = PutRoom::uncounted();
    let put = store.store(NOT_MINE(), A2B, (2, envelope(2)), room, NOW_MS);
    assert_eq!(refused(put.await), wrong);
    let page = store.page(&NOT_MINE(), A2B, (0, 16), NOW_MS).await;
    assert_eq!(refused(page), wrong);
    let pruned = store.prune(NOT_MINE(), A2B, 1, NOW_MS).await;
    assert_eq!(refused(pruned), wrong);
    assert_eq!(refused(store.erase(NOT_MINE(), NOW_MS).await), wrong);
    let watch = store.watch_direction(&NOT_MINE(), A2B, 9, NOW_MS);
    assert_eq!(watch.unwrap_err(), WatchRefusal::Refused(wrong));
    assert_eq!(head(&store, A2B).count, 1);
}

async fn a_claim_makes_none_where_none_may_be_made(store: Store) {
    let closed = store.claim(MINE(), Making::Closed, NOW_MS).await;
    assert_eq!(refused(closed), Refusal::ClaimsClosed);
    claim(&store, MINE(), NOW_MS).await.unwrap();
    let known = store.claim(MINE(), Making::Closed, NOW_MS).await.unwrap();
    assert!(!known.is_new);
    for mailbox in 2..=3 {
        claim(&store, access(mailbox, 1), NOW_MS).await.unwrap();
    }
    let full = claim(&store, access(4, 1), NOW_MS).await;
    assert_eq!(refused(full), Refusal::RelayFull);
    assert!(!claim(&store, MINE(), NOW_MS).await.unwrap().is_new);
    store.erase(access(2, 1), NOW_MS).await.unwrap();
    assert!(claim(&store, access(4, 1), NOW_MS).await.unwrap().is_new);
}

async fn a_fresh_direction_has_no_last_and_a_used_one_keeps_it(store: Store) {
    let store = claimed(store).await;
    let fresh = head(&store, A2B);
    assert_eq!((fresh.last, fresh.count, fresh.oldest), (None, 0, None));
    assert_eq!(fresh.created_ms, NOW_MS);
    put_all(&store, A2B, 1..=3).await;
    let used = head(&store, A2B);
    assert_eq!((used.last, used.count, used.oldest), (Some(3), 3, Some(1)));
    let pruned = store.prune(MINE(), A2B, 2, NOW_MS).await.unwrap();
    assert_eq!(
        (pruned.last, pruned.count, pruned.oldest),
        (Some(3), 1, Some(3))
    );
    for through in [3, LINK_SEQUENCE_MAX, 1] {
        let pruned = store.prune(MINE(), A2B, through, NOW_MS).await.unwrap();
        assert_eq!((pruned.last, pruned.count), (Some(3), 0), "{through}");
    }
    assert_eq!(
        head(&store, B2A).last,
        None,
        "the other side is another one"
    );
}

async fn the_same_bytes_are_stored_once_however_often_they_come(store: Store) {
    let store = claimed(store).await;
    put_all(&store, A2B, 1..=64).await;
    for sequence in [1, 30, 64] {
        let again = put(&store, A2B, sequence).await.unwrap();
        assert!(!again.is_new, "{sequence} while the direction is full");
        assert_eq!(again.head.last, Some(64));
    }
    store.prune(MINE(), A2B, 64, NOW_MS).await.unwrap();
    assert!(!put(&store, A2B, 64).await.unwrap().is_new, "after pruning");
    assert_eq!(head(&store, A2B).count, 0);
    let older = refused(put(&store, A2B, 63).await);
    assert!(matches!(older, Refusal::SequenceTaken(head) if head.last == Some(64)));
}

async fn a_sequence_is_given_to_one_envelope(store: Store) {
    let store = claimed(store).await;
    put(&store, A2B, 5).await.unwrap();
    for sequence in [5, 4, 1] {
        let other = put_at(&store, A2B, (sequence, envelope(99)), NOW_MS).await;
        let taken = refused(other);
        assert!(matches!(taken, Refusal::SequenceTaken(head) if head.last == Some(5)));
    }
    for sequence in [0, LINK_SEQUENCE_MAX + 1, u64::MAX] {
        assert_eq!(
            refused(put(&store, A2B, sequence).await),
            Refusal::BadSequence
        );
    }
}

async fn the_sixty_fifth_finds_no_slot(store: Store) {
    let store = claimed(store).await;
    put_all(&store, A2B, 1..=64).await;
    let full = refused(put(&store, A2B, 65).await);
    assert!(matches!(full, Refusal::DirectionFull(head)
        if head.last == Some(64) && head.count == 64));
    put(&store, B2A, 1).await.unwrap();
    store.prune(MINE(), A2B, 1, NOW_MS).await.unwrap();
    assert!(put(&store, A2B, 65).await.unwrap().is_new);
}

async fn lengths_and_jumps_have_bounds(store: Store) {
    let store = claimed(store).await;
    let sized = |bytes| Bytes::from(vec![7; bytes]);
    for (bytes, refusal) in [
        (0, Refusal::BadEnvelope),
        (LINK_ENVELOPE_BYTES_MIN - 1, Refusal::BadEnvelope),
        (LINK_ENVELOPE_BYTES_MAX + 1, Refusal::EnvelopeTooLarge),
    ] {
        let outcome = put_at(&store, A2B, (1, sized(bytes)), NOW_MS).await;
        assert_eq!(refused(outcome), refusal, "{bytes}");
    }
    // Any number may be the first.
    let first = LINK_SEQUENCE_MAX - 2 * LINK_JUMP_MAX;
    let largest = (first, sized(LINK_ENVELOPE_BYTES_MAX));
    put_at(&store, A2B, largest, NOW_MS).await.unwrap();
    let far = put(&store, A2B, first + LINK_JUMP_MAX + 1).await;
    assert_eq!(refused(far), Refusal::SequenceJump);
    put(&store, A2B, first + LINK_JUMP_MAX).await.unwrap();
    put(&store, B2A, LINK_SEQUENCE_MAX).await.unwrap();
}

async fn pages_are_ascending_clamped_and_tell_the_rest(store: Store) {
    let store = claimed(store).await;
    for sequence in (10..=400).step_by(10) {
        put(&store, A2B, sequence).await.unwrap();
    }
    let first = page(&store, 0, 1_000).await;
    assert_eq!(
        sequences(&first),
        (10..=160).step_by(10).collect::<Vec<_>>()
    );
    assert_eq!((first.more, first.head.last), (24, Some(400)));
    assert_eq!(first.envelopes[3], (40, envelope(40)));
    let second = page(&store, 155, 2).await;
    assert_eq!((sequences(&second), second.more), (vec![160, 170], 23));
    let last = page(&store, 390, 16).await;
    assert_eq!((sequences(&last), last.more), (vec![400], 0));
    for after in [400, LINK_SEQUENCE_MAX] {
        let beyond = page(&store, after, 16).await;
        assert_eq!((sequences(&beyond), beyond.more), (vec![], 0));
    }
    assert_eq!(head(&store, A2B).count, 40, "reading removes nothing");
}

async fn an_erased_mailbox_is_free_for_any_token(store: Store) {
    let store = claimed(store).await;
    put_all(&store, A2B, 1..=3).await;
    store.erase(MINE(), NOW_MS).await.unwrap();
    assert_eq!(store.head(&MINE(), A2B, NOW_MS), Err(Refusal::NoMailbox));
    let again = claim(&store, NOT_MINE(), NOW_MS + 1).await.unwrap();
    assert_eq!((again.is_new, again.created_ms), (true, NOW_MS + 1));
    let fresh = store.head(&NOT_MINE(), A2B, NOW_MS + 1).unwrap();
    assert_eq!((fresh.last, fresh.count), (None, 0));
    assert_eq!(store.head(&MINE(), A2B, NOW_MS), Err(Refusal::WrongToken));
}

async fn an_envelope_buys_thirty_days_and_not_a_moment_more(store: Store) {
    let store = claimed(store).await;
    put_at(&store, A2B, (1, envelope(1)), NOW_MS + 1_000)
        .await
        .unwrap();
    let end = NOW_MS + 1_000 + LINK_MAILBOX_LIFE_MS;
    assert!(store.head(&MINE(), A2B, end - 1).is_ok());
    assert_eq!(store.head(&MINE(), A2B, end), Err(Refusal::NoMailbox));
    assert_eq!(
        refused(store.prune(MINE(), A2B, 1, end).await),
        Refusal::NoMailbox
    );
}

/// A clock that is a year off when a device claims or stores takes nothing from the mailbox once
/// it is set right.
async fn a_clock_that_was_set_back_shortens_no_life(store: Store) {
    let year_ms = 365 * 24 * 3_600_000;
    let store = claimed(store).await;
    put_all(&store, A2B, 1..=2).await;
    let wrong = NOW_MS - year_ms;
    let claimed = claim(&store, MINE(), wrong).await.unwrap();
    let expires_s = (NOW_MS + LINK_MAILBOX_LIFE_MS) / 1_000;
    assert_eq!((claimed.is_new, claimed.expires_s), (false, expires_s));
    let stored = put_at(&store, A2B, (3, envelope(3)), wrong).await.unwrap();
    assert_eq!((stored.is_new, stored.head.expires_s), (true, expires_s));
    let end = NOW_MS + LINK_MAILBOX_LIFE_MS;
    store.expire_mailboxes(end - 1);
    let page = store.page(&MINE(), A2B, (0, 16), end - 1).await.unwrap();
    assert_eq!(sequences(&page), [1, 2, 3]);
    assert_eq!(store.head(&MINE(), A2B, end), Err(Refusal::NoMailbox));
}

/// A mailbox that was made while the clock was wrong ends early or late, and can be claimed.
async fn a_mailbox_of_a_wrong_clock_is_no_lasting_harm(store: Store) {
    let year_ms = 365 * 24 * 3_600_000;
    claim(&store, MINE(), NOW_MS - year_ms).await.unwrap();
    assert_eq!(store.head(&MINE(), A2B, NOW_MS), Err(Refusal::NoMailbox));
    let again = claim(&store, MINE(), NOW_MS).await.unwrap();
    assert_eq!((again.is_new, again.created_ms), (true, NOW_MS));
    let ahead = claim(&store, access(2, 1), NOW_MS + year_ms).await.unwrap();
    let set_right = claim(&store, access(2, 1), NOW_MS).await.unwrap();
    assert_eq!((ahead.is_new, set_right.is_new), (true, false));
    assert_eq!(set_right.expires_s, ahead.expires_s);
}

/// Where only the relay's process makes mailboxes, the first claim that finds one over is told
/// to come back: the process may not have noticed yet.
async fn one_that_is_over_may_come_back_where_claims_are_closed(store: Store) {
    let store = claimed(store).await;
    let end = NOW_MS + LINK_MAILBOX_LIFE_MS;
    let stranger = store.claim(access(2, 1), Making::Closed, end).await;
    assert_eq!(refused(stranger), Refusal::ClaimsClosed);
    let mut watch = watch(&store, A2B);
    watch.next().await.unwrap();
    // Whatever was read before, of which devices learn that they have to claim.
    assert_eq!(store.head(&MINE(), A2B, end), Err(Refusal::NoMailbox));
    let page = store.page(&MINE(), A2B, (0, 16), end).await;
    assert_eq!(refused(page), Refusal::NoMailbox);
    let late = store.watch_direction(&MINE(), A2B, 6, end);
    assert!(late.is_err() && !store.holds(&MINE().mailbox, end));
    assert!(store.is_over(&MINE().mailbox, end) && !store.is_over(&MINE().mailbox, end - 1));
    assert!(!store.is_over(&access(9, 1).mailbox, end), "it never was");
    let ended = store.claim(MINE(), Making::Closed, end).await;
    assert_eq!(refused(ended), Refusal::Ended);
    let told = WatchFrame::Ended(WatchEnd::Expired);
    assert_eq!(watch.next().await, Some(told), "the process hears of it");
    assert!(claim(&store, MINE(), end).await.unwrap().is_new);
    store.erase(MINE(), end).await.unwrap();
    let erased = store.claim(MINE(), Making::Closed, end).await;
    assert_eq!(refused(erased), Refusal::ClaimsClosed);
    claim(&store, MINE(), end).await.unwrap();
    let over = end + LINK_MAILBOX_LIFE_MS;
    let other = store.claim(NOT_MINE(), Making::Closed, over).await;
    assert_eq!(refused(other), Refusal::ClaimsClosed, "not with this token");
}

async fn a_claim_of_what_is_there_needs_no_room(store: Store) {
    let store = claimed(store).await;
    let new = store.claim(access(2, 1), Making::NoRoom, NOW_MS).await;
    assert_eq!(refused(new), Refusal::NoRoom);
    let known = store.claim(MINE(), Making::NoRoom, NOW_MS + 9_000).await;
    let expires_s = (NOW_MS + 9_000 + LINK_MAILBOX_LIFE_MS) / 1_000;
    assert_eq!(known.unwrap().expires_s, expires_s);
}

async fn mailboxes_that_are_over_take_no_place(store: Store) {
    for mailbox in 1..=3 {
        claim(&store, access(mailbox, 1), NOW_MS).await.unwrap();
    }
    claim(&store, access(3, 1), NOW_MS + 1).await.unwrap();
    let end = NOW_MS + LINK_MAILBOX_LIFE_MS;
    let full = claim(&store, access(4, 1), end - 1).await;
    assert_eq!(refused(full), Refusal::RelayFull);
    // Nothing has swept.
    assert!(claim(&store, access(4, 1), end).await.unwrap().is_new);
    assert_eq!(store.mailbox_sums().0.mailboxes, 2);
    assert!(!claim(&store, access(3, 1), end).await.unwrap().is_new);
}

async fn a_forgotten_mailbox_is_gone_like_an_erased_one(store: Store) {
    let store = claimed(store).await;
    put_all(&store, A2B, 1..=2).await;
    claim(&store, access(2, 1), NOW_MS).await.unwrap();
    assert_eq!(
        store.mailbox_ids(),
        [MINE().mailbox, access(2, 1).mailbox],
        "both are named"
    );
    let mut watch = watch(&store, A2B);
    watch.next().await.unwrap();
    store.forget(MINE().mailbox, NOW_MS).await.unwrap();
    store.forget(access(9, 1).mailbox, NOW_MS).await.unwrap();
    let end = WatchFrame::Ended(WatchEnd::Erased);
    assert_eq!(watch.next().await, Some(end));
    let left = MailboxSums {
        mailboxes: 1,
        ..MailboxSums::default()
    };
    assert_eq!(store.mailbox_sums(), (left, 0));
    assert_eq!(store.head(&MINE(), A2B, NOW_MS), Err(Refusal::NoMailbox));
}

/// Touched by a claim and by an Envelope that is stored, and by nothing else.
async fn thirty_days_after_the_last_touch_it_is_gone(store: Store) {
    let store = claimed(store).await;
    let last_moment = NOW_MS + LINK_MAILBOX_LIFE_MS - 1;
    put_at(&store, A2B, (1, envelope(1)), NOW_MS + 1_000)
        .await
        .unwrap();
    let end = last_moment + 1_000;
    // None of these counts.
    put_at(&store, A2B, (1, envelope(1)), end).await.unwrap();
    put_at(&store, A2B, (1, envelope(2)), end)
        .await
        .unwrap_err();
    store.prune(MINE(), A2B, 1, end).await.unwrap();
    store.page(&MINE(), A2B, (0, 16), end).await.unwrap();
    assert_eq!(store.head(&MINE(), A2B, end).unwrap().last, Some(1));
    // A claim of the last moment does.
    assert!(!claim(&store, MINE(), end).await.unwrap().is_new);
    assert!(
        store
            .head(&MINE(), A2B, end + LINK_MAILBOX_LIFE_MS - 1)
            .is_ok()
    );
    let after = end + LINK_MAILBOX_LIFE_MS;
    assert_eq!(store.head(&MINE(), A2B, after), Err(Refusal::NoMailbox));
    let again = claim(&store, MINE(), after).await.unwrap();
    assert_eq!((again.is_new, again.created_ms), (true, after));
    assert_eq!(store.head(&MINE(), A2B, after).unwrap().last, None);
}

async fn sweeping_removes_what_is_over_and_nothing_else(store: Store) {
    let store = claimed(store).await;
    put_all(&store, A2B, 1..=2).await;
    claim(&store, access(2, 1), NOW_MS + 1).await.unwrap();
    let sums = |mailboxes, envelopes| MailboxSums {
        mailboxes,
        envelopes,
        bytes: envelopes * LINK_ENVELOPE_BYTES_MIN as u64,
    };
    assert_eq!(store.mailbox_sums(), (sums(2, 2), 0));
    let end = NOW_MS + LINK_MAILBOX_LIFE_MS;
    store.expire_mailboxes(end - 1);
    let other = claim(&store, access(2, 1), NOW_MS + 2).await.unwrap();
    assert_eq!((other.is_new, store.mailbox_sums().0), (false, sums(2, 2)));
    store.expire_mailboxes(end);
    // What is answered after it was ordered after it.
    claim(&store, access(2, 1), NOW_MS + 3).await.unwrap();
    assert_eq!(store.mailbox_sums().0, sums(1, 0));
}

/// One bound for all doors (amendment 6).
async fn envelopes_count_against_the_bytes_of_the_whole_relay(store: Store) {
    let store = claimed(store).await;
    let large = |sequence| (sequence, Bytes::from(vec![7; 60_000]));
    for sequence in 1..=4 {
        put_at(&store, A2B, large(sequence), NOW_MS).await.unwrap();
    }
    let full = put_at(&store, B2A, large(1), NOW_MS).await;
    assert_eq!(refused(full), Refusal::NoRoom);
    put(&store, B2A, 1).await.unwrap();
    store.prune(MINE(), A2B, 1, NOW_MS).await.unwrap();
    put_at(&store, B2A, large(2), NOW_MS).await.unwrap();
}

fn watch(store: &Store, direction: Direction) -> MailboxWatch {
    let watch = store.watch_direction(&MINE(), direction, 6, NOW_MS);
    watch.unwrap()
}

async fn a_watch_tells_its_direction_and_no_other(store: Store) {
    let store = claimed(store).await;
    put(&store, A2B, 7).await.unwrap();
    let mut watch = watch(&store, A2B);
    let state = WatchFrame::State {
        last: Some(7),
        count: 1,
        created_ms: NOW_MS,
    };
    assert_eq!(watch.next().await, Some(state));
    put(&store, B2A, 1).await.unwrap();
    put(&store, A2B, 7).await.unwrap();
    put(&store, A2B, 8).await.unwrap();
    let stored = WatchFrame::Stored { last: 8, count: 2 };
    assert_eq!(watch.next().await, Some(stored));
    store.prune(MINE(), A2B, 8, NOW_MS).await.unwrap();
    let pruned = WatchFrame::Pruned { count: 0 };
    assert_eq!(watch.next().await, Some(pruned));
}

async fn one_frame_stands_for_many_events(store: Store) {
    let store = claimed(store).await;
    let mut watch = watch(&store, A2B);
    watch.next().await.unwrap();
    for last in [20, 40] {
        put_all(&store, A2B, last - 19..=last).await;
        let end = |frame| matches!(frame, Some(WatchFrame::Stored { last: at, .. }) if at == last);
        // The last one may be answered a moment before it is told.
        let mut frames = 1;
        while !end(watch.next().await) {
            frames += 1;
        }
        assert!(frames <= 2, "{frames} frames for 20 events");
        store.prune(MINE(), A2B, last - 1, NOW_MS).await.unwrap();
        let pruned = WatchFrame::Pruned { count: 1 };
        assert_eq!(watch.next().await, Some(pruned));
    }
}

async fn erasing_ends_the_watches_of_both_directions(store: Store) {
    let store = claimed(store).await;
    let mut watches = [watch(&store, A2B), watch(&store, B2A)];
    store.erase(MINE(), NOW_MS).await.unwrap();
    for watch in &mut watches {
        watch.next().await.unwrap();
        let end = WatchFrame::Ended(WatchEnd::Erased);
        assert_eq!(watch.next().await, Some(end));
        assert_eq!(watch.next().await, None);
    }
    assert_eq!(store.mailbox_sums().1, 0);
}

async fn a_watch_ends_with_its_mailboxs_time(store: Store) {
    let store = claimed(store).await;
    let mut watch = watch(&store, A2B);
    watch.next().await.unwrap();
    store.expire_mailboxes(NOW_MS + LINK_MAILBOX_LIFE_MS);
    let end = WatchFrame::Ended(WatchEnd::Expired);
    assert_eq!(watch.next().await, Some(end));
}

async fn a_fifth_watch_takes_the_place_of_the_oldest(store: Store) {
    let store = claimed(store).await;
    let mut watches: Vec<_> = (0..5).map(|_| watch(&store, A2B)).collect();
    let mut oldest = watches.remove(0);
    oldest.next().await.unwrap();
    let end = WatchFrame::Ended(WatchEnd::Replaced);
    assert_eq!(oldest.next().await, Some(end));
    assert_eq!(store.mailbox_sums().1, 4);
    let others = [watch(&store, B2A), watch(&store, B2A)];
    let too_many = store.watch_direction(&MINE(), B2A, 6, NOW_MS);
    assert_eq!(too_many.unwrap_err(), WatchRefusal::TooMany);
    drop((others, oldest));
    assert_eq!(store.mailbox_sums().1, 4);
    store.end_watches();
    for watch in &mut watches {
        watch.next().await.unwrap();
        let end = WatchFrame::Ended(WatchEnd::Stopping);
        assert_eq!(watch.next().await, Some(end));
    }
    let late = store.watch_direction(&MINE(), A2B, 6, NOW_MS);
    assert_eq!(late.unwrap_err(), WatchRefusal::Stopping, "no limit");
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
    a_claim_of_what_is_there_needs_no_room,
    a_clock_that_was_set_back_shortens_no_life,
    a_forgotten_mailbox_is_gone_like_an_erased_one,
    a_mailbox_of_a_wrong_clock_is_no_lasting_harm,
    mailboxes_that_are_over_take_no_place,
    one_that_is_over_may_come_back_where_claims_are_closed,
    a_claim_makes_none_where_none_may_be_made,
    a_fifth_watch_takes_the_place_of_the_oldest,
    a_fresh_direction_has_no_last_and_a_used_one_keeps_it,
    a_sequence_is_given_to_one_envelope,
    a_watch_ends_with_its_mailboxs_time,
    a_watch_tells_its_direction_and_no_other,
    an_envelope_buys_thirty_days_and_not_a_moment_more,
    an_erased_mailbox_is_free_for_any_token,
    another_token_gets_nothing,
    envelopes_count_against_the_bytes_of_the_whole_relay,
    erasing_ends_the_watches_of_both_directions,
    lengths_and_jumps_have_bounds,
    nothing_is_there_before_a_claim,
    one_frame_stands_for_many_events,
    pages_are_ascending_clamped_and_tell_the_rest,
    sweeping_removes_what_is_over_and_nothing_else,
    the_first_claim_makes_it_and_others_of_its_token_do_not,
    the_same_bytes_are_stored_once_however_often_they_come,
    the_sixty_fifth_finds_no_slot,
    thirty_days_after_the_last_touch_it_is_gone,
);
