//! Stress histories of membership alone: the devices agree, and a planted fault is noticed.
//!
//! `SEALPOST_HISTORIES=n` sets how many histories of the common scenarios are run, and large
//! groups accordingly. `make sim-membership` runs for long.

use sealpost_tests::membership_simulation::{
    Account, Admission, Failure, Fault, Rule, Scenario, Traffic, run, run_many, run_told,
};

/// Histories of a scenario in a normal test run.
const HISTORIES: u64 = 60;

/// Histories in which a planted fault must show.
const HISTORIES_PER_FAULT: u64 = 20;

/// The first seed: the same histories in every run, so that a red test says something new.
const FIRST_SEED: u64 = 1;

fn histories() -> u64 {
    let text = std::env::var("SEALPOST_HISTORIES").ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(HISTORIES)
}

fn scenario(id: &str) -> &'static Scenario {
    Scenario::find(id).expect("a scenario")
}

fn account(id: &str, histories: u64) -> Account {
    let seeds = FIRST_SEED..FIRST_SEED + histories.max(1);
    run_many(scenario(id), Rule::Product, seeds, Fault::None)
}

fn assert_goal(id: &str, histories: u64) -> Account {
    let account = account(id, histories);
    let goal = scenario(id).goal;
    assert!(account.meets(goal), "{id}: {account} {:?}", account.seeds);
    account
}

#[test]
fn admissions_alone_never_break_the_rule() {
    assert_goal("s1", histories());
}

#[test]
fn removed_passive_devices_never_break_the_rule() {
    assert_goal("s2", histories());
}

#[test]
fn removed_acting_devices_and_leaves_never_break_the_rule() {
    assert_goal("s3", histories());
}

#[test]
fn joiners_that_act_at_once_hardly_ever_break_the_rule() {
    assert_goal("s4", 2 * histories());
}

#[test]
fn crashes_and_repeated_blobs_hardly_ever_break_the_rule() {
    assert_goal("crashes", histories());
}

#[test]
fn a_group_in_which_most_are_removed_agrees() {
    assert_goal("exact", histories());
}

#[test]
fn a_large_group_agrees() {
    assert_goal("big", histories() / 50);
}

#[test]
fn an_overfull_group_agrees_on_who_stays() {
    let account = assert_goal("overflow", histories() / 20);
    assert!(account.dropped > 0, "somebody had to go");
}

#[test]
fn a_removed_device_brings_nobody_in_once_all_know() {
    for id in ["known", "month", "puppets", "jumps", "parents"] {
        let account = assert_goal(id, histories() / 4);
        assert!(account.histories > 0, "{id} had an occasion");
    }
}

/// Also for those who haven't heard yet it brings nobody in for good in most cases; it does in
/// some, which shows that what it signs is worth something.
#[test]
fn a_removed_device_lists_puppets_while_its_removal_spreads() {
    let account = account("at-once", histories());
    assert!(account.puppets > 0, "{account}");
    assert!(account.puppets * 2 < account.histories, "{account}");
}

/// For a member that came later the month begins when it came.
#[test]
fn a_month_later_a_removed_device_hardly_removes_anybody() {
    let account = account("month", histories() / 4);
    let removed = account.of(Failure::WrongWipe);
    assert!(removed * 20 <= account.histories, "{removed} in {account}");
}

#[test]
fn the_published_rule_breaks_its_promise_in_the_same_histories() {
    let seeds = FIRST_SEED..FIRST_SEED + histories();
    let account = run_many(scenario("exact"), Rule::Published, seeds, Fault::None);
    assert!(account.violations * 2 > account.histories, "{account}");
}

/// Checks that a planted fault breaks so many of a hundred histories.
fn assert_found(fault: Fault, percent: u64) {
    let histories = match fault {
        // They never come to rest, which takes long.
        Fault::NoRemovalEdges => 2,
        _ => HISTORIES_PER_FAULT,
    };
    let seeds = FIRST_SEED..FIRST_SEED + histories;
    let account = run_many(scenario("s4"), Rule::Product, seeds, fault);
    let least = account.histories * percent / 100;
    assert!(account.violations >= least.max(1), "{fault:?}: {account}");
}

#[test]
fn it_is_noticed_that_removals_have_no_edges() {
    assert_found(Fault::NoRemovalEdges, 50);
}

#[test]
fn it_is_noticed_that_nobody_merges() {
    assert_found(Fault::NobodyMerges, 50);
}

#[test]
fn it_is_noticed_that_one_member_is_dropped() {
    assert_found(Fault::ForgottenMember, 90);
}

#[test]
fn it_is_noticed_that_removals_are_silent() {
    assert_found(Fault::SilentRemovals, 50);
}

#[test]
fn it_is_noticed_that_removed_issuers_count() {
    let seeds = FIRST_SEED..FIRST_SEED + HISTORIES_PER_FAULT;
    let fault = Fault::RemovedIssuersCount;
    let account = run_many(scenario("known"), Rule::Product, seeds, fault);
    assert!(account.puppets * 2 > account.histories, "{account}");
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let told = || run_told(scenario("crashes"), Rule::Product, FIRST_SEED);
    let journal = told().journal;
    assert!(!journal.is_empty());
    assert_eq!(journal, told().journal);
    let untold = run(scenario("crashes"), Rule::Product, FIRST_SEED, Fault::None);
    assert_eq!(untold.verdict, told().verdict);
}

/// The manifest to everybody else, its one ancestor to the newcomer, and the newcomer's
/// greeting to everybody but its admitter: not more than 2.2 times what the published rule
/// sends to a quiet group of 32.
#[test]
fn a_quiet_admission_costs_twice_the_members() {
    for (members, blobs) in [(3, 4), (9, 16), (17, 32), (32, 62)] {
        let traffic = Traffic::of(Admission::New(members), Rule::Product);
        assert_eq!(traffic.blobs, blobs, "into a group of {members}");
        let published = Traffic::of(Admission::New(members), Rule::Published);
        assert_eq!(published.blobs, members - 1, "into a group of {members}");
        if members == 32 {
            assert!(traffic.blobs * 10 <= published.blobs * 22);
            assert!(traffic.bytes * 10 <= published.bytes * 22);
        }
    }
}

/// Besides, the newcomer is sent four ancestors and the proofs of sixteen removals: not more
/// than 3.2 times what the published rule sends.
#[test]
fn an_admission_into_an_old_group_costs_three_times_the_members() {
    let traffic = Traffic::of(Admission::Old, Rule::Product);
    let published = Traffic::of(Admission::Old, Rule::Published);
    assert_eq!((traffic.blobs, published.blobs), (31 + 30 + 4 + 32, 31));
    assert!(traffic.blobs * 10 <= published.blobs * 32);
    assert!(traffic.bytes * 10 <= published.bytes * 32);
}
