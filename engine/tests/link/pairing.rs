//! From a code to a link, and every way in which it comes to nothing.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sealpost_engine::clock::SteppedClock;
use sealpost_engine::link::{LinkFailure, LinkPlace, LinkTrouble, Links, LinksError, RelayUrl};
use sealpost_protocol::limit::LINK_PAIRING_MS;
use sealpost_protocol::link::code::CodeError;
use sealpost_relay::Claims;
use tokio::time::timeout;

use super::rig::{
    Home, Pair, ShiftedClock, TestRelay, begin, digits, info, options, send, state, until, url,
};

const YEAR_MS: u64 = 365 * 24 * 3_600 * 1_000;

/// A clock that goes on by this isn't one that was set.
const STEP_MS: u64 = 5_000;

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

fn end(links: &Links, name: &sealpost_engine::link::LinkName) -> &'static str {
    match info(links, name).state {
        sealpost_engine::link::LinkState::Ended(end) => end.code(),
        _ => "",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_has_a_key_that_the_code_does_not_open_and_the_code_is_worthless_after() {
    let relay = TestRelay::start().await;
    let (a, b) = (Home::new(), Home::new());
    let (a, b, late) = (a.open(&relay).await, b.open(&relay).await, Home::new());
    let (on_a, on_b) = begin(&relay, &a, &b).await;
    let code_mailbox = a.known_mailboxes().remove(0);
    a.confirm_digits(&on_a).await.unwrap();
    // B has not confirmed: nothing is there yet.
    assert_eq!(state(&b, &on_b), "pairing");
    b.confirm_digits(&on_b).await.unwrap();
    until("A has it", || state(&a, &on_a) == "active").await;
    let mailboxes = a.known_mailboxes();
    assert_eq!(mailboxes.len(), 1);
    assert_ne!(mailboxes[0], code_mailbox);
    until("the code's mailbox is erased", || {
        a.erasing() == 0 && b.erasing() == 0
    })
    .await;
    let head = sealpost_engine::core::link::LinkRequest::Head(
        sealpost_protocol::link::key::Direction::AToB,
    );
    let answer = relay.ask(&code_mailbox, head).await;
    assert!(matches!(
        answer,
        sealpost_engine::core::link::Answer::Refused(refused) if refused.status == 404
    ));
    let late = late.open(&relay).await;
    for links in [&a, &b, &late] {
        links.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_taken_back_after_five_minutes_and_is_expired_for_who_comes_later() {
    let relay = TestRelay::start().await;
    let clock = Arc::new(SteppedClock::new(now_ms()));
    let home_a = Home::with_clock(Arc::clone(&clock) as _);
    let (a, b) = (home_a.open(&relay).await, Home::new());
    let b = b.open(&relay).await;
    let on_a = a.start_pairing(options(&relay)).await.unwrap().name;
    until("the code is shown", || url(&a, &on_a).is_some()).await;
    let code = url(&a, &on_a).unwrap();
    clock.advance(LINK_PAIRING_MS - 1);
    a.hurry();
    assert_eq!(state(&a, &on_a), "pairing");
    clock.advance(1);
    a.hurry();
    until("it is over", || end(&a, &on_a) == "expired").await;
    until("its mailbox is erased", || a.erasing() == 0).await;
    let on_b = b.join(&code, "Phone").await.unwrap();
    until("B is told", || end(&b, &on_b) == "expired").await;
    until("what B made is erased", || b.erasing() == 0).await;
    assert_eq!(relay.running().numbers().mailboxes, 0);
    a.dismiss(&on_a).await.unwrap();
    assert!(a.list().is_empty());
    a.close().await;
    b.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_phone_on_one_code_ends_the_pairing_for_all() {
    let relay = TestRelay::start().await;
    let homes = [Home::new(), Home::new(), Home::new()];
    let (a, b) = (homes[0].open(&relay).await, homes[1].open(&relay).await);
    let c = homes[2].open(&relay).await;
    let on_a = a.start_pairing(options(&relay)).await.unwrap().name;
    until("the code is shown", || url(&a, &on_a).is_some()).await;
    let code = url(&a, &on_a).unwrap();
    let on_b = b.join(&code, "Phone").await.unwrap();
    until("digits", || digits(&a, &on_a).is_some()).await;
    assert_eq!(
        url(&a, &on_a),
        None,
        "the code is hidden after the first contact"
    );
    let on_c = c.join(&code, "Other").await.unwrap();
    until("A ends it", || end(&a, &on_a) == "twoDevices").await;
    until("B ends it", || state(&b, &on_b) == "ended").await;
    until("C ends it", || state(&c, &on_c) == "ended").await;
    assert_eq!(a.confirm_digits(&on_a).await, Err(LinksError::NotPairing));
    until("it is erased", || relay.running().numbers().mailboxes == 0).await;
    for links in [&a, &b, &c] {
        links.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_on_either_side_ends_it_on_both_and_erases_everything() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new(), Home::new());
    let (a, b) = (home_a.open(&relay).await, home_b.open(&relay).await);
    let (on_a, on_b) = begin(&relay, &a, &b).await;
    a.cancel_pairing(&on_a).await.unwrap();
    assert_eq!(state(&a, &on_a), "gone");
    until("B is told", || end(&b, &on_b) == "peerCancelled").await;
    let (on_a, on_b) = begin(&relay, &a, &b).await;
    b.cancel_pairing(&on_b).await.unwrap();
    until("A is told", || end(&a, &on_a) == "peerCancelled").await;
    until("all is erased", || relay.running().numbers().mailboxes == 0).await;
    a.close().await;
    b.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_that_a_stop_cut_short_leaves_nothing_behind() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new(), Home::new());
    let (a, b) = (home_a.open(&relay).await, home_b.open(&relay).await);
    let (_, on_b) = begin(&relay, &a, &b).await;
    a.close().await;
    let a = home_a.open(&relay).await;
    assert!(a.list().is_empty());
    until("B is told", || end(&b, &on_b) == "peerCancelled").await;
    until("all is erased", || relay.running().numbers().mailboxes == 0).await;
    a.close().await;
    b.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_after_the_digits_were_confirmed_leaves_no_link_that_nobody_comes_to() {
    let relay = TestRelay::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let home_a = Home::with_clock(Arc::clone(&clock) as _);
    let (a, b) = (home_a.open(&relay).await, Home::new().open(&relay).await);
    let (on_a, on_b) = begin(&relay, &a, &b).await;
    a.confirm_digits(&on_a).await.unwrap();
    a.close().await;
    let a = home_a.open(&relay).await;
    until("B is told", || end(&b, &on_b) == "peerCancelled").await;
    // It may have come over just before: for now it is one that wasn't heard of.
    assert_eq!(state(&a, &on_a), "unconfirmed");
    assert_eq!(info(&a, &on_a).last_contact_ms, None);
    // Time goes by, in steps that aren't those of a clock that is set.
    let pass = async {
        while state(&a, &on_a) != "gone" {
            clock.shift(STEP_MS);
            a.outbox(&on_a).await.unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(Duration::from_secs(60), pass).await.unwrap();
    until("all is erased", || relay.running().numbers().mailboxes == 0).await;
    a.close().await;
    b.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clocks_that_are_a_year_apart_change_nothing() {
    let relay = TestRelay::start().await;
    let ahead = Arc::new(SteppedClock::new(now_ms() + YEAR_MS));
    let homes = (Home::new(), Home::with_clock(ahead));
    let pair = Pair::make_of(&relay, homes).await;
    send(&pair.a, &pair.on_a, "to the future").await;
    send(&pair.b, &pair.on_b, "from the future").await;
    assert_eq!(pair.received_by_b(1).await, ["to the future"]);
    assert_eq!(pair.received_by_a(1).await, ["from the future"]);
    pair.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_without_its_fragment_and_other_texts_are_refused_before_anything_is_made() {
    let home = Home::new();
    let links = Links::open(home.options()).await.unwrap();
    for (text, error) in [
        ("http://192.0.2.1:7703/p", CodeError::NoFragment),
        ("http://192.0.2.1:7703/p#", CodeError::NoFragment),
        ("http://192.0.2.1:7703/p#v=2", CodeError::Version),
        ("http://192.0.2.1:7703/p#v=1&i=x", CodeError::Id),
        ("tsp1_abc", CodeError::Address),
        ("", CodeError::Empty),
    ] {
        let refused = links.join(text, "Phone").await;
        assert_eq!(refused, Err(LinksError::Code(error)), "{text}");
    }
    assert!(links.list().is_empty());
    assert_eq!(links.erasing(), 0);
    links.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_is_away_or_makes_no_mailboxes_is_told_apart() {
    let relay = TestRelay::start_with(Claims::Local).await;
    let home = Home::new();
    let links = home.open(&relay).await;
    let on_a = links.start_pairing(options(&relay)).await.unwrap().name;
    until("it is refused", || end(&links, &on_a) == "claimsClosed").await;
    let mut elsewhere = options(&relay);
    elsewhere.place = LinkPlace::At(RelayUrl::parse("http://127.0.0.1:1").unwrap());
    let on_a = links.start_pairing(elsewhere).await.unwrap().name;
    let refused = Some(LinkTrouble::NotReached(LinkFailure::Refused));
    until("nobody listens", || info(&links, &on_a).trouble == refused).await;
    links.set_here(None);
    let on_a = links.start_pairing(options(&relay)).await.unwrap().name;
    let off = Some(LinkTrouble::NotReached(LinkFailure::RelayOff));
    until("it is off", || info(&links, &on_a).trouble == off).await;
    links.close().await;
}
