//! A device that was without its relay for longer than a relay keeps messages.

use sealpost_protocol::limit::RELAY_LIFE_MS_MAX;

use crate::core::issue::DeliveryIssue;
use crate::core::rig::{Post, Rig, issues};
use crate::core::timing::SWEEP_INTERVAL_MS;

#[test]
fn who_was_away_for_too_long_is_told_since_when_once_and_over_a_restart() {
    for (away_ms, is_too_long) in [(RELAY_LIFE_MS_MAX, false), (RELAY_LIFE_MS_MAX + 1, true)] {
        let mut post = Post::group(2);
        let rig = &mut post.rigs[1];
        rig.restart();
        rig.connect();
        let since_ms = rig.store.seen_ms.expect("it had its relay");
        rig.restart();
        rig.now_ms = since_ms + away_ms;
        assert_eq!(issues(&rig.drain()), [], "without a relay nothing is known");
        let told = issues(&rig.connect());
        let expected = [DeliveryIssue::AwayTooLong { since_ms }];
        assert_eq!(told, if is_too_long { &expected[..] } else { &[] });
        assert_eq!(rig.store.issues, told, "it is written, too");
        assert_eq!(rig.store.seen_ms, Some(rig.now_ms));
        rig.restart();
        assert_eq!(issues(&rig.connect()), []);
    }
}

#[test]
fn nobody_is_away_from_a_group_that_is_over_or_not_begun() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.connect();
    rig.device
        .handle_destroy(rig.now_ms)
        .expect("it is in a group");
    rig.drain();
    rig.device.handle_forget().expect("the group ends");
    rig.drain();
    assert_eq!(rig.store.seen_ms, None);
    rig.now_ms += 2 * RELAY_LIFE_MS_MAX;
    assert_eq!(issues(&rig.connect()), []);
    assert_eq!(rig.store.seen_ms, None);
}

const YEAR_MS: u64 = 365 * 86_400_000;

/// Lets a session stay up for a while, at the pace of its wake-ups.
fn stay(rig: &mut Rig, ms: u64) -> Vec<DeliveryIssue> {
    let until_ms = rig.now_ms + ms;
    let mut told = Vec::new();
    while rig.now_ms < until_ms {
        told.extend(issues(&rig.advance(60_000)));
    }
    told
}

#[test]
fn a_clock_that_was_behind_and_is_put_right_under_a_session_is_no_absence() {
    for hours in [0, 3] {
        let mut post = Post::group(2);
        let rig = &mut post.rigs[1];
        rig.connect();
        let seen_ms = rig.store.seen_ms.expect("it had its relay");
        let right_ms = rig.now_ms + SWEEP_INTERVAL_MS;
        // It starts with the clock of its battery, and reaches its relay before any time server.
        rig.now_ms = right_ms - 6 * YEAR_MS;
        rig.restart();
        assert_eq!(issues(&rig.connect()), []);
        assert_eq!(rig.store.seen_ms, Some(seen_ms), "it may be put right");
        assert_eq!(stay(rig, hours * SWEEP_INTERVAL_MS), []);
        rig.now_ms = right_ms + hours * SWEEP_INTERVAL_MS;
        assert_eq!(issues(&rig.advance(0)), [], "the session that stays");
        assert_eq!(issues(&rig.connect()), [], "the one that the shell begins");
        assert_eq!(rig.store.seen_ms, Some(rig.now_ms));
        rig.restart();
        assert_eq!(issues(&rig.connect()), []);
        assert_eq!(rig.store.issues, []);
    }
}

#[test]
fn a_clock_that_is_set_ahead_and_back_under_a_session_is_no_absence() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.connect();
    let seen_ms = rig.store.seen_ms;
    let right_ms = rig.now_ms;
    rig.now_ms += 6 * YEAR_MS;
    assert_eq!(stay(rig, SWEEP_INTERVAL_MS / 2), []);
    assert_eq!(rig.store.seen_ms, seen_ms, "it may be set back");
    rig.now_ms = right_ms + SWEEP_INTERVAL_MS / 2;
    assert_eq!(issues(&rig.advance(0)), []);
    assert_eq!(issues(&rig.connect()), []);
    rig.restart();
    assert_eq!(issues(&rig.connect()), []);
}

#[test]
fn who_slept_for_weeks_with_a_session_up_is_told_by_the_next_one() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.connect();
    let since_ms = rig.store.seen_ms.expect("it had its relay");
    rig.now_ms = since_ms + RELAY_LIFE_MS_MAX + 1;
    // The shell drains once before it hears that the session is dead.
    assert_eq!(issues(&rig.advance(0)), []);
    let told = issues(&rig.connect());
    assert_eq!(told, [DeliveryIssue::AwayTooLong { since_ms }]);
}
