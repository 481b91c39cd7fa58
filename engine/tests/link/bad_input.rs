//! Envelopes that aren't what they should be, and stores that can't be used.

use std::fs;

use sealpost_engine::core::error::StorageFault;
use sealpost_engine::core::link::{Answer, LinkRequest, PageEnvelope};
use sealpost_engine::keys::{KeyItem, KeyItemName, KeyStore as _, KeyStoreError};
use sealpost_engine::link::{LinkAddress, Links, LinksOpenError};
use sealpost_protocol::limit::{LINK_ENVELOPE_BYTES_MIN, LINK_PAGE_ENVELOPES_MAX};
use sealpost_protocol::link::key::{Direction, LinkToken};

use super::rig::{
    Home, Pair, TestRelay, info, nothing_left, numbered, received, send, send_all, state, trouble,
    until,
};

async fn put(
    relay: &TestRelay,
    mailbox: &LinkAddress,
    direction: Direction,
    (sequence, envelope): (u64, Vec<u8>),
) -> Answer {
    let put = LinkRequest::Put {
        direction,
        sequence,
        envelope,
    };
    relay.ask(mailbox, put).await
}

/// Everything that lies in a direction.
async fn page(relay: &TestRelay, mailbox: &LinkAddress, direction: Direction) -> Vec<PageEnvelope> {
    let after = 0;
    match relay
        .ask(mailbox, LinkRequest::Page { direction, after })
        .await
    {
        Answer::Done(done) => done.envelopes,
        other => panic!("{other:?}"),
    }
}

async fn last(relay: &TestRelay, mailbox: &LinkAddress, direction: Direction) -> u64 {
    match relay.ask(mailbox, LinkRequest::Head(direction)).await {
        Answer::Done(done) => done.headers.last.unwrap_or(0),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_envelope_in_the_right_slot_is_passed_over_and_removed() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    let mailbox = pair.mailbox();
    let next = last(&relay, &mailbox, Direction::AToB).await + 1;
    let foreign = (next, vec![1; LINK_ENVELOPE_BYTES_MIN]);
    put(&relay, &mailbox, Direction::AToB, foreign).await;
    send(&pair.a, &pair.on_a, "after it").await;
    assert_eq!(pair.received_by_b(1).await, ["after it"]);
    assert_eq!(state(&pair.b, &pair.on_b), "active");
    pair.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_that_was_moved_or_copied_arrives_once() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    let mailbox = pair.mailbox();
    pair.b.close().await;
    send(&pair.a, &pair.on_a, "once").await;
    let mut found = Vec::new();
    while found.is_empty() {
        found = page(&relay, &mailbox, Direction::AToB).await;
    }
    pair.a.close().await;
    let newest = found.pop().unwrap();
    // To the slot behind it, and into the other direction.
    let behind = (newest.sequence + 1, newest.envelope.clone());
    put(&relay, &mailbox, Direction::AToB, behind).await;
    let sequence = last(&relay, &mailbox, Direction::BToA).await + 1;
    put(
        &relay,
        &mailbox,
        Direction::BToA,
        (sequence, newest.envelope),
    )
    .await;
    let (a, b) = (
        pair.homes.0.open(&relay).await,
        pair.homes.1.open(&relay).await,
    );
    assert_eq!(received(&b, &pair.on_b, 1).await, ["once"]);
    send(&a, &pair.on_a, "still works").await;
    send(&b, &pair.on_b, "both ways").await;
    assert_eq!(received(&b, &pair.on_b, 1).await, ["still works"]);
    assert_eq!(received(&a, &pair.on_a, 1).await, ["both ways"]);
    assert!(nothing_left(&b, &pair.on_b).await && nothing_left(&a, &pair.on_a).await);
    a.close().await;
    b.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_nothing_but_damaged_envelopes_ends_and_is_removed() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    let mailbox = pair.mailbox();
    until("B is done", || info(&pair.a, &pair.on_a).waiting == 0).await;
    pair.b.close().await;
    let next = last(&relay, &mailbox, Direction::AToB).await + 1;
    for slot in 0..u64::try_from(LINK_PAGE_ENVELOPES_MAX).unwrap() {
        // Some with a header that can be read, some without.
        let mut damaged = vec![u8::try_from(slot % 3).unwrap(); LINK_ENVELOPE_BYTES_MIN];
        damaged[2..10].copy_from_slice(&(next + slot).to_be_bytes());
        let damaged = (next + slot, damaged);
        put(&relay, &mailbox, Direction::AToB, damaged).await;
    }
    send_all(&pair.a, &pair.on_a, "a", 3).await;
    let b = pair.homes.1.open(&relay).await;
    assert_eq!(received(&b, &pair.on_b, 3).await, numbered("a", 3));
    loop {
        if page(&relay, &mailbox, Direction::AToB).await.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    b.close().await;
    pair.a.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_token_is_an_error_of_the_pairing_that_stops_the_link_and_loses_nothing() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    let mailbox = pair.mailbox();
    pair.close().await;
    let other = LinkAddress {
        token: LinkToken::from_bytes([9; 32]),
        ..mailbox.clone()
    };
    relay.ask(&mailbox, LinkRequest::Erase).await;
    relay.ask(&other, LinkRequest::Claim).await;
    let a = pair.homes.0.open(&relay).await;
    until("A is refused", || trouble(&a, &pair.on_a) == "wrongToken").await;
    send(&a, &pair.on_a, "kept").await;
    assert_eq!(info(&a, &pair.on_a).waiting, 1);
    a.close().await;
    // Whoever took it lets go: at the next start it works again.
    relay.ask(&other, LinkRequest::Erase).await;
    let a = pair.homes.0.open(&relay).await;
    let b = pair.homes.1.open(&relay).await;
    assert_eq!(received(&b, &pair.on_b, 1).await, ["kept"]);
    a.close().await;
    b.close().await;
}

async fn open(home: &Home) -> Result<(), LinksOpenError> {
    let links = Links::open(home.options()).await?;
    links.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_that_can_not_be_used_are_told_apart_and_left_alone() {
    let home = Home::new();
    open(&home).await.unwrap();
    let database = home.directory.path().join("links.db");
    let good = fs::read(&database).unwrap();
    // Nothing in it can be read without the key, not even that it is a database.
    assert!(!good.starts_with(b"SQLite"));
    let name = KeyItemName::links(&home.profile_id);
    let item = home.keys.load(&name).unwrap().unwrap();

    home.keys.remove(&name).unwrap();
    assert_eq!(open(&home).await, Err(LinksOpenError::KeyMissing));
    let wrong = KeyItem::from_links_key(&home.profile_id, &[9; 32]);
    home.keys.save(&name, &wrong).unwrap();
    let damaged = LinksOpenError::Storage(StorageFault::Damaged);
    assert_eq!(open(&home).await, Err(damaged));
    assert_eq!(fs::read(&database).unwrap(), good, "not one byte changes");
    home.keys.save(&name, &item).unwrap();
    home.keys.fail_with(Some(KeyStoreError::Locked));
    let locked = LinksOpenError::KeyStore(KeyStoreError::Locked);
    assert_eq!(open(&home).await, Err(locked));
    home.keys.fail_with(None);

    fs::write(&database, vec![7; 8_192]).unwrap();
    assert_eq!(open(&home).await, Err(damaged));
    assert_eq!(fs::read(&database).unwrap(), vec![7; 8_192]);
    fs::write(&database, &good).unwrap();
    open(&home).await.unwrap();
}
