//! Histories that failed once, step by step: what a seed can't keep, since every change of
//! what is drawn gives it another history.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use sealpost_engine::core::issue::DeliveryIssue;
use sealpost_engine::core::status::Status;

use super::plan::{Faults, Kind, Plan};
use super::relay::RelayPlan;
use super::world::{DAY_MS, World};

fn world(kind: Kind, devices: usize, faults: Faults, relay: RelayPlan) -> World {
    let plan = Plan {
        kind,
        devices,
        events: 0,
        faults,
        relay,
    };
    let mut world = World::of_plan(plan, ChaCha8Rng::seed_from_u64(1), None, false);
    for index in 0..devices {
        world.connect(index).expect("it connects");
    }
    world
}

/// Seed 1,883,272,091,029,885: a copy is as old as it is when it is looked at, even where its
/// message is finished in the same step, and was young enough when its handler began.
#[test]
fn a_copy_that_waited_behind_its_message_for_weeks_is_too_old() {
    let faults = Faults {
        repeat: 1_000,
        ..Faults::NONE
    };
    let mut world = world(Kind::Busy, 2, faults, RelayPlan::default());
    world.send(0).expect("it is sent");
    world.faults = Faults {
        repeat: 1_000,
        ..Faults::NONE
    };
    for _ in 0..4 {
        world.answer(0).expect("it is stored, and again");
    }
    for _ in 0..4 {
        world.deliver(1).expect("both are delivered");
    }
    assert_eq!(world.nodes[1].runs.len(), 1, "one is at the handler");
    world.wait(61 * DAY_MS).expect("the handler takes its time");
    world.finish_handler(1).expect("it ends well");
    world.commit_ahead(1).expect("it is recorded");
    let codes: Vec<_> = world.nodes[1]
        .disk
        .issues
        .iter()
        .map(|issue| issue.code())
        .collect();
    assert!(codes.contains(&"unreadable.expired"), "{codes:?}");
    world.settle().expect("all is quiet");
    world.judge_end().expect("nothing is lost");
}

/// Seed 1,883,272,091,027,280: a Revoke for a device that is gone waits while its inbox is
/// full, which nobody empties any more. The relay does, after 30 days.
#[test]
fn the_end_of_a_group_outlasts_a_full_inbox_that_nobody_reads() {
    let relay = RelayPlan {
        inbox_blobs_max: 4,
        ..RelayPlan::default()
    };
    let mut world = world(Kind::Destroyed, 3, Faults::NONE, relay);
    world.is_ending = true;
    world.nodes[1].is_cut = true;
    world.cut(1).expect("it is away");
    let clock_ms = world.clock(0);
    world.nodes[0]
        .device
        .handle_destroy(clock_ms)
        .expect("it is a member");
    world.step(0).expect("it is told");
    let gone = world.nodes[2].noise;
    for _ in 0..20 {
        for index in [0, 2] {
            world.answer(index).expect("it is stored");
            world.deliver(index).expect("it is delivered");
        }
    }
    assert_eq!(world.nodes[2].device.status(), Status::NotJoined);
    while world.relay.push(gone, b"to nobody", world.now_ms).is_ok() {}
    let before_ms = world.now_ms;
    world.settle().expect("it ends in the end");
    let days = (world.now_ms - before_ms) / DAY_MS;
    assert!((29..=32).contains(&days), "after {days} days");
    let is_over = |status| status == Status::NotJoined;
    assert!(world.nodes.iter().all(|node| is_over(node.device.status())));
}

/// Seed 1,883,284,398,159,197: a profile that was copied while it ran knows the run of the
/// original, which counts as it does. The original's marker displaced the copy's own under the
/// same number, which was acknowledged before the original had read it; and the copy took the
/// original's for one of an earlier run.
#[test]
fn a_copy_of_a_running_device_is_noticed_whose_marker_has_the_number_of_its_own() {
    let mut world = world(Kind::Copied, 2, Faults::NONE, RelayPlan::default());
    for index in 0..2 {
        world.answer(index).expect("its marker is stored");
    }
    world.copy(0).expect("it is copied");
    world
        .connect(0)
        .expect("it connects anew in the same moment");
    for index in [2, 0] {
        world.answer(index).expect("its marker is stored");
        world.deliver(2).expect("the copy reads it");
    }
    for _ in 0..10 {
        for index in [0, 2] {
            world.answer(index).expect("it is stored");
            world.deliver(index).expect("it is delivered");
        }
        world.wait(1_000).expect("time passes");
    }
    world.judge_end().expect("one of the two says so");
}

/// The original of a copy goes on with a clock that is behind, and so under numbers far below
/// the copy's. Each of the two hears of the other all the same.
#[test]
fn a_copy_notices_the_original_whose_clock_is_behind() {
    let mut world = world(Kind::Copied, 2, Faults::NONE, RelayPlan::default());
    for index in 0..2 {
        world.answer(index).expect("its marker is stored");
        world.deliver(index).expect("it reads it");
    }
    world.wait(60_000).expect("time passes");
    world.copy(0).expect("it is copied");
    world.nodes[0].skew_ms -= DAY_MS.cast_signed();
    for _ in 0..20 {
        for index in [2, 0] {
            world.answer(index).expect("it is stored");
            world.deliver(index).expect("it is delivered");
        }
        world.wait(1_000).expect("time passes");
    }
    for index in [0, 2] {
        let issues = &world.nodes[index].disk.issues;
        assert_eq!(issues, &[DeliveryIssue::DeviceCopied], "{index}");
    }
}
