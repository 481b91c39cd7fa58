use sealpost_protocol::limit::LINK_SLOTS;
use sealpost_protocol::link::key::{Direction, Role};

use super::rig::*;

/// Two devices that wrote more than a direction holds while neither of them looked.
fn full_both_ways(more: usize) -> Rig {
    let mut rig = Rig::new();
    for role in [Role::A, Role::B] {
        rig.tell(role, |link, now_ms, rng| {
            link.set_visible(false, now_ms, rng);
        });
    }
    for n in 0..LINK_SLOTS + more {
        rig.send(Role::A, &format!("a{n}"));
        rig.send(Role::B, &format!("b{n}"));
    }
    for direction in Direction::ALL {
        assert_eq!(rig.head(direction).count as usize, LINK_SLOTS);
    }
    rig
}

#[test]
fn both_directions_full_are_not_tried_in_a_loop_and_resume_without_a_timer() {
    const MORE: usize = 3;
    let mut rig = full_both_ways(MORE);
    for role in [Role::A, Role::B] {
        let device = rig.device(role);
        assert!(device.link().condition().is_blocked, "{role:?}");
        assert_eq!(device.puts().len(), LINK_SLOTS + 1, "{role:?}");
    }
    let now_ms = rig.now_ms;
    for role in [Role::A, Role::B] {
        rig.tell(role, |link, now_ms, rng| {
            link.set_visible(true, now_ms, rng);
        });
    }
    rig.run();
    assert_eq!(rig.now_ms, now_ms);
    for (role, from) in [(Role::A, "b"), (Role::B, "a")] {
        let expected: Vec<_> = (0..LINK_SLOTS + MORE)
            .map(|n| format!("{from}{n}"))
            .collect();
        assert_eq!(rig.device(role).texts(), expected);
        assert!(!rig.device(role).link().condition().is_blocked, "{role:?}");
    }
    rig.advance(MINUTE_MS);
    for role in [Role::A, Role::B] {
        assert!(rig.device(role).snapshot.outbox.is_empty(), "{role:?}");
    }
}

#[test]
fn both_directions_full_outlast_an_end_of_both_processes() {
    let mut rig = full_both_ways(1);
    rig.a.crash();
    rig.b.crash();
    rig.start(Role::A);
    rig.start(Role::B);
    rig.advance(MINUTE_MS);
    for role in [Role::A, Role::B] {
        assert_eq!(rig.device(role).arrived.len(), LINK_SLOTS + 1, "{role:?}");
        assert!(rig.device(role).snapshot.outbox.is_empty(), "{role:?}");
    }
}
