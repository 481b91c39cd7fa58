//! A device that was without its relay for longer than a relay keeps messages.

use sealpost_protocol::limit::RELAY_LIFE_MS_MAX;

use crate::core::issue::DeliveryIssue;
use crate::core::rig::{Post, issues};

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
