//! The fault model of links (specification 13.3): 400 histories per row of its table.
//!
//! `SEALPOST_LINK_HISTORIES=n` sets how many, `SEALPOST_LINK_FIRST=n` from which seed on.
//! `make sim-link` runs for long.

use sealpost_tests::link_simulation::{Account, Row, Rules, run_many};

/// Histories per row in a normal test run.
const HISTORIES: u64 = 400;

/// The first seed: the same histories in every run, so that a red test says something new.
const FIRST_SEED: u64 = 1;

fn from_environment(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn account(row: Row, rules: Rules) -> Account {
    let histories = from_environment("SEALPOST_LINK_HISTORIES", HISTORIES).max(1);
    let first = from_environment("SEALPOST_LINK_FIRST", FIRST_SEED);
    run_many(row, rules, first, histories)
}

/// Nothing lost, nothing stuck, nothing twice, and enough happened to say so.
fn assert_nothing_lost(row: Row) {
    let account = account(row, Rules::Product);
    let line = account.line();
    assert!(account.broken.is_empty(), "{}: {line}", row.name());
    assert_eq!(account.sum.lost, 0, "{}: {line}", row.name());
    assert_eq!(account.sum.repeated, 0, "{}: {line}", row.name());
    assert!(account.sum.sent > 20 * account.histories, "{line}");
    assert!(account.sum.crashes > account.histories, "{line}");
}

#[test]
fn nothing_is_lost_when_requests_are_lost_and_devices_crash() {
    assert_nothing_lost(Row::Plain);
}

#[test]
fn nothing_is_lost_when_the_mailbox_vanishes() {
    assert_nothing_lost(Row::Vanishing);
}

#[test]
fn nothing_is_lost_when_the_relay_is_restored() {
    assert_nothing_lost(Row::RelayRestored);
}

#[test]
fn nothing_is_lost_when_the_mailbox_vanishes_and_the_relay_is_restored() {
    assert_nothing_lost(Row::Both);
}

/// What a device had, and lost by being set back to a copy without it, is gone. Of the rest
/// nothing is, but for what a device wrote under numbers of its past while the relay had been
/// set back as well: the other device can't tell it from what it has long had.
#[test]
fn hardly_more_than_a_device_forgot_is_lost_when_devices_are_restored() {
    let account = account(Row::ClientsRestored, Rules::Product);
    let (line, sum) = (account.line(), &account.sum);
    assert_eq!((sum.stuck, sum.waiting, sum.failed), (0, 0, 0), "{line}");
    assert!(sum.set_back > 0, "{line}");
    assert!(sum.lost - sum.set_back <= sum.sent / 1_000, "{line}");
}

/// The rules of the first description, through the same faults: what the model is worth.
#[test]
fn the_first_descriptions_rules_lose_messages_and_leave_slots_taken() {
    let plain = account(Row::Plain, Rules::Seed);
    assert_eq!(plain.sum.lost, 0, "{}", plain.line());
    for row in [
        Row::Vanishing,
        Row::RelayRestored,
        Row::Both,
        Row::ClientsRestored,
    ] {
        let account = account(row, Rules::Seed);
        assert!(account.sum.lost > account.histories, "{}", account.line());
        assert!(account.sum.stuck > 0, "{}", account.line());
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for rules in [Rules::Product, Rules::Seed] {
        let [one, other] = [0; 2].map(|_| run_many(Row::ClientsRestored, rules, 7, 3).line());
        assert_eq!(one, other);
    }
}
