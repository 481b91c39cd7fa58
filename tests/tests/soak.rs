//! A short soak: many devices, several kills, nothing lost.

use std::time::Duration;

use sealpost_tests::soak::{Plan, run};

#[test]
fn a_relay_under_load_survives_every_kill() {
    let plan = Plan {
        seed: 7,
        time: Duration::from_secs(4),
        between_kills: [300, 1_200].map(Duration::from_millis),
    };
    let tally = run(&plan, &mut |line| println!("{line}")).unwrap();
    assert!(tally.is_exact(), "{tally}");
    assert!(tally.acknowledged > 50, "{tally}");
}
