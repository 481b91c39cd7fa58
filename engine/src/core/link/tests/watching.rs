use sealpost_protocol::link::key::{Direction, Role};

use super::super::*;
use super::rig::*;

#[test]
fn a_watch_is_open_while_somebody_looks() {
    let mut rig = Rig::new();
    assert_eq!(rig.b.watches, [Direction::AToB]);
    rig.tell(Role::B, |link, now_ms, rng| {
        link.set_visible(false, now_ms, rng)
    });
    assert!(rig.b.watches.is_empty());
    rig.send(Role::A, "one");
    rig.advance(HOUR_MS);
    assert!(rig.b.texts().is_empty());
    rig.tell(Role::B, |link, now_ms, rng| {
        link.set_visible(true, now_ms, rng)
    });
    rig.run();
    assert_eq!(rig.b.texts(), ["one"]);
    assert_eq!(rig.b.watches, [Direction::AToB]);
}

#[test]
fn every_close_has_its_meaning() {
    for (close, opens_after_ms) in [
        (WatchClose::GoingAway, SECOND_MS),
        (WatchClose::Other, SECOND_MS),
        (WatchClose::Expired, SECOND_MS),
        (WatchClose::OverLimit, 30 * SECOND_MS),
    ] {
        let mut rig = Rig::new();
        let claims = rig.b.claims();
        rig.close_watches(close);
        rig.run();
        assert!(rig.b.watches.is_empty(), "{close:?}");
        if opens_after_ms > SECOND_MS {
            rig.advance(opens_after_ms - SECOND_MS);
            assert!(rig.b.watches.is_empty(), "{close:?}");
        }
        rig.advance(SECOND_MS + 1);
        assert_eq!(rig.b.watches, [Direction::AToB], "{close:?}");
        let is_claimed = rig.b.claims() > claims;
        assert_eq!(is_claimed, close == WatchClose::Expired, "{close:?}");
        assert!(!rig.b.is_forgotten);
    }
}

#[test]
fn a_watch_that_was_pushed_out_waits_until_somebody_looks() {
    let mut rig = Rig::new();
    rig.close_watches(WatchClose::Replaced);
    rig.advance(DAY_MS);
    assert!(rig.b.watches.is_empty());
    rig.tell(Role::B, |link, now_ms, rng| {
        link.set_visible(false, now_ms, rng);
        link.set_visible(true, now_ms, rng);
    });
    assert_eq!(rig.b.watches, [Direction::AToB]);
}

#[test]
fn code_and_reason_make_an_erase_and_nothing_else_does() {
    assert_eq!(WatchClose::parse(1000, "erased"), WatchClose::Erased);
    for (code, reason, close) in [
        (1000, "", WatchClose::Other),
        (1000, "bye", WatchClose::Other),
        (1001, "erased", WatchClose::GoingAway),
        (1006, "", WatchClose::Other),
        (1011, "erased", WatchClose::Other),
        (1013, "", WatchClose::OverLimit),
        (4409, "replaced", WatchClose::Replaced),
        (4410, "expired", WatchClose::Expired),
    ] {
        assert_eq!(WatchClose::parse(code, reason), close);
    }
}

#[test]
fn a_silent_watch_is_dropped_after_75_seconds() {
    let mut rig = Rig::new();
    let silent_ms = rig.b.link().next_timer().unwrap();
    assert_eq!(silent_ms, rig.now_ms + 75 * SECOND_MS);
    rig.now_ms = silent_ms;
    rig.tell(Role::B, |link, now_ms, rng| link.handle_timer(now_ms, rng));
    // Closed and, because it was open until now, opened again at once.
    assert_eq!(rig.b.watches, [Direction::AToB]);
    assert_eq!(rig.b.link().next_timer(), Some(silent_ms + 75 * SECOND_MS));
}

#[test]
fn a_watch_that_is_refused_backs_off_to_half_a_minute() {
    let mut rig = Rig::new();
    for _ in 0..12 {
        rig.close_watches(WatchClose::Other);
        rig.run();
        let watches = rig.b.watches.len();
        rig.advance(31 * SECOND_MS);
        assert_eq!((watches, rig.b.watches.len()), (0, 1));
    }
}

#[test]
fn a_new_incarnation_that_a_frame_tells_of_is_looked_at() {
    let mut rig = Rig::new();
    rig.b.crash();
    rig.send(Role::A, "one");
    rig.vanish();
    let claimed = rig.perform(&LinkRequest::Claim);
    let Answer::Done(claimed) = claimed else {
        panic!("claimed")
    };
    let created_ms = claimed.headers.created_ms;
    rig.tell(Role::A, |link, now_ms, rng| {
        let state = WatchEvent::State {
            last: None,
            count: 0,
            created_ms,
        };
        link.handle_watch(Direction::BToA, state, now_ms, rng);
    });
    rig.run();
    rig.start(Role::B);
    rig.run();
    assert_eq!(rig.b.texts(), ["one"]);
}

#[test]
fn frames_of_a_watch_that_is_closed_do_nothing() {
    let mut rig = Rig::new();
    rig.tell(Role::B, |link, now_ms, rng| {
        link.set_visible(false, now_ms, rng)
    });
    let asked = rig.b.asked.len();
    rig.tell(Role::B, |link, now_ms, rng| {
        let erased = WatchEvent::Closed(WatchClose::Erased);
        link.handle_watch(Direction::AToB, erased, now_ms, rng);
        let stored = WatchEvent::Stored { last: 7 };
        link.handle_watch(Direction::AToB, stored, now_ms, rng);
    });
    assert_eq!(rig.b.asked.len(), asked);
    assert!(!rig.b.is_forgotten);
}
