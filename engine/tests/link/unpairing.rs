//! Unpairing while the other device is there, while the relay is away, and while the other
//! device is away (paired mailbox, 6.7).

use std::sync::Arc;

use sealpost_engine::core::link::{Answer, Refused};
use sealpost_engine::core::link::{LinkRequest, RefusedError};
use sealpost_engine::link::{LinkEnd, LinkState, Links, LinksError};
use sealpost_relay::{Claims, WebConfig};

use super::rig::{Home, Pair, ShiftedClock, TestRelay, info, send, state, until};

/// No byte of the link's key is left in the database and its log.
fn database(pair: &Pair) -> Vec<u8> {
    let folder = pair.homes.0.directory.path();
    let mut bytes = std::fs::read(folder.join("links.db")).unwrap();
    bytes.extend(std::fs::read(folder.join("links.db-wal")).unwrap_or_default());
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn online_both_sides_lose_their_keys_and_the_other_is_told_who_did_it() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    send(&pair.a, &pair.on_a, "the last").await;
    until("it arrived", || info(&pair.b, &pair.on_b).arrived == 1).await;
    pair.a.unpair(&pair.on_a).await.unwrap();
    assert_eq!(state(&pair.a, &pair.on_a), "gone");
    until("B is told", || {
        info(&pair.b, &pair.on_b).state == LinkState::Ended(LinkEnd::ByPeer)
    })
    .await;
    let ended = info(&pair.b, &pair.on_b);
    assert_eq!(ended.peer_name, "Desk");
    // What had arrived is still there for the program.
    let arrived = pair.b.arrived(&pair.on_b, 0, 10).await.unwrap();
    assert_eq!(arrived[0].body, b"the last");
    let sent = pair.b.send(
        &pair.on_b,
        sealpost_engine::link::LinkContent::Message,
        Vec::new(),
        None,
    );
    assert_eq!(sent.await, Err(LinksError::Ended));
    // It stays ended over a restart, until the person has seen it.
    pair.b.close().await;
    let b = pair.homes.1.open(&relay).await;
    assert_eq!(state(&b, &pair.on_b), "ended");
    b.dismiss(&pair.on_b).await.unwrap();
    assert!(b.list().is_empty());
    until("the mailbox is gone", || {
        relay.running().numbers().mailboxes == 0
    })
    .await;
    b.close().await;
    pair.a.close().await;
    assert!(!database(&pair).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn offline_the_keys_go_at_once_and_the_mailbox_when_the_relay_is_back() {
    let mut relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    relay.stop().await;
    pair.a.unpair(&pair.on_a).await.unwrap();
    assert_eq!(state(&pair.a, &pair.on_a), "gone");
    assert_eq!(pair.a.erasing(), 1);
    // A stop loses nothing of what is left to do.
    pair.a.close().await;
    let a = pair.homes.0.open(&relay).await;
    assert!(a.list().is_empty());
    assert_eq!(a.erasing(), 1);
    relay.resume().await;
    a.hurry();
    pair.b.hurry();
    until("it is erased", || a.erasing() == 0).await;
    // B may have made it anew in between: then it has to ask its person.
    until("B is told", || {
        matches!(state(&pair.b, &pair.on_b), "ended" | "unconfirmed")
    })
    .await;
    a.close().await;
    pair.b.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_right_gives_up_neither_an_erase_nor_what_waits() {
    let mut relay = TestRelay::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let homes = || (Home::new(), Home::with_clock(Arc::clone(&clock) as _));
    let mut pair = Pair::make_of(&relay, homes()).await;
    let mut other = Pair::make_of(&relay, homes()).await;
    relay.stop().await;
    send(&pair.b, &pair.on_b, "still there").await;
    other.b.unpair(&other.on_b).await.unwrap();
    clock.shift(3 * 366 * 24 * 3_600_000);
    // Whatever comes next looks at the clock, and so does a start.
    for _ in 0..2 {
        let rows = pair.b.outbox(&pair.on_b).await.unwrap();
        assert_eq!(rows[0].progress.code(), "waiting");
        assert!(other.b.outbox(&other.on_b).await.is_err());
        assert_eq!(other.b.erasing(), 1);
        pair.reopen(&relay).await;
        other.reopen(&relay).await;
    }
    relay.resume().await;
    for links in [&pair.a, &pair.b, &other.b] {
        links.hurry();
    }
    assert_eq!(pair.received_by_a(1).await, ["still there"]);
    until("it is erased", || other.b.erasing() == 0).await;
    pair.close().await;
    other.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_slept_doubts_the_link_on_an_open_relay() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    pair.b.close().await;
    pair.a.unpair(&pair.on_a).await.unwrap();
    until("it is erased", || pair.a.erasing() == 0).await;
    let b = pair.homes.1.open(&relay).await;
    until("B doubts", || state(&b, &pair.on_b) == "unconfirmed").await;
    assert!(info(&b, &pair.on_b).last_contact_ms.is_some());
    b.unpair(&pair.on_b).await.unwrap();
    assert!(b.list().is_empty());
    until("it is erased again", || b.erasing() == 0).await;
    assert_eq!(relay.running().numbers().mailboxes, 0);
    b.close().await;
    pair.a.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_slept_knows_that_the_link_is_lost_on_a_relay_of_one_owner() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    pair.b.close().await;
    pair.a.unpair(&pair.on_a).await.unwrap();
    until("it is erased", || pair.a.erasing() == 0).await;
    // From here on only the relay's own process makes mailboxes.
    relay.running().close_web().await;
    let listen = ([127, 0, 0, 1], relay.url().port()).into();
    let door = WebConfig {
        claims: Claims::Local,
        ..WebConfig::server(listen)
    };
    relay.running().open_web(door).unwrap();
    let b = pair.homes.1.open(&relay).await;
    until("B has lost it", || state(&b, &pair.on_b) == "lost").await;
    // The key is kept until the person says otherwise (amendment 16).
    send(&b, &pair.on_b, "waits").await;
    assert_eq!(info(&b, &pair.on_b).waiting, 1);
    b.unpair(&pair.on_b).await.unwrap();
    assert!(b.list().is_empty());
    b.close().await;
    pair.a.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailbox_of_somebody_else_is_never_erased_in_its_place() {
    let relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    let mailbox = pair.mailbox();
    pair.close().await;
    let mut other = mailbox.clone();
    other.token = sealpost_protocol::link::key::LinkToken::from_bytes([9; 32]);
    relay.ask(&mailbox, LinkRequest::Erase).await;
    relay.ask(&other, LinkRequest::Claim).await;
    let a = pair.homes.0.open(&relay).await;
    until("A is refused", || {
        super::rig::trouble(&a, &pair.on_a) == "wrongToken"
    })
    .await;
    a.unpair(&pair.on_a).await.unwrap();
    until("it is crossed off", || a.erasing() == 0).await;
    let answer = relay.ask(&mailbox, LinkRequest::Erase).await;
    let expected = RefusedError::WrongToken;
    assert!(matches!(answer, Answer::Refused(Refused { error, .. }) if error == expected));
    a.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_never_had_a_link_has_no_database_and_no_key() {
    let home = Home::new();
    assert!(!Links::exist(home.directory.path()));
    assert!(home.keys.is_empty());
    let links = Links::open(home.options()).await.unwrap();
    assert!(links.list().is_empty() && links.known_mailboxes().is_empty());
    links.close().await;
    assert!(Links::exist(home.directory.path()));
}
