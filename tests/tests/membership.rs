//! Real programs: who is in a group after changes at the same time, and the end of a group.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that can't go on has failed, and says how far it came"
)]

use std::time::{Duration, Instant, SystemTime};

use sealpost_tests::device_process::{Device, RunningCommand, pair};
use sealpost_tests::relay_process::RelayProcess;
use sealpost_tests::stepped_clock::DAY;
use serde_json::{Value, json};

/// An agreement that takes longer never comes: one merge waits for 20 s at most here.
const PATIENCE: Duration = Duration::from_secs(120);

/// The moments of the kills: from the clock, or the one that `SEALPOST_MEMBERSHIP_SEED` repeats.
struct Moments(u64);

impl Moments {
    fn new() -> Self {
        let given = std::env::var("SEALPOST_MEMBERSHIP_SEED").ok();
        let seed = given.map_or_else(
            || {
                SystemTime::UNIX_EPOCH
                    .elapsed()
                    .unwrap()
                    .subsec_nanos()
                    .into()
            },
            |given| given.parse().expect("a number as the seed"),
        );
        println!("seed {seed}");
        Self(seed)
    }

    /// Waits for a moment that nobody can foresee.
    fn wait(&mut self, most_ms: u64) {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis((self.0 >> 33) % most_ms));
    }
}

fn of_type<'a>(said: &'a [Value], wanted: &str) -> Vec<&'a Value> {
    said.iter()
        .filter(|object| object["type"] == wanted)
        .collect()
}

/// Invites with `host`; returns the running command and the link.
fn invite(host: &Device) -> (RunningCommand, String) {
    let mut inviting = host.start(&["pair", "--accept", "--no-qr"]).unwrap();
    let link = inviting.wait_for("invitation").unwrap()["link"].clone();
    (inviting, link.as_str().unwrap().to_owned())
}

fn admit(host: &Device, guest: &Device) {
    let (mut inviting, link) = invite(host);
    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    inviting.wait_for("accepted").unwrap();
    joining.wait_for("joined").unwrap();
    assert!(inviting.wait().unwrap().success() && joining.wait().unwrap().success());
}

/// The names of the members, and the list as a whole.
fn members(device: &Device) -> (Vec<String>, Value) {
    let said = device.run_well(&["members"]).unwrap();
    let ids: Vec<_> = of_type(&said, "member")
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    let mut list = of_type(&said, "membership")
        .first()
        .map_or(Value::Null, |list| (*list).clone());
    if !list.is_null() {
        assert_eq!(list["members"], Value::Array(ids), "in the same order");
        assert_eq!(list["cohesion"], "whole");
    }
    list["cohesion"].take();
    let mut names: Vec<_> = of_type(&said, "member")
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    (names, list)
}

/// Lets devices run until they all show the same list of `count` members, and returns it.
fn agree(devices: &[&Device], count: usize) -> Value {
    let deadline = Instant::now() + PATIENCE;
    let mut running: Vec<_> = devices
        .iter()
        .map(|device| (device.start(&["tail", "--members"]).unwrap(), Value::Null))
        .collect();
    loop {
        for (tail, last) in &mut running {
            while let Some(object) = tail.next_now().unwrap() {
                if object["type"] == "membership" {
                    *last = object;
                }
            }
        }
        let list = |last: &Value| json!([last["version"], last["hash"], last["members"]]);
        let first = list(&running[0].1);
        let is_full = first[2]
            .as_array()
            .is_some_and(|members| members.len() == count);
        if is_full && running.iter().all(|(_, last)| list(last) == first) {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "the lists stay apart: {:?}",
            running.iter().map(|(_, last)| last).collect::<Vec<_>>()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    for (tail, _) in &mut running {
        tail.terminate().unwrap();
    }
    drop(running);
    let lists: Vec<_> = devices.iter().map(|device| members(device).1).collect();
    if lists.iter().all(|list| *list == lists[0]) {
        return lists[0].clone();
    }
    // Another manifest was on its way.
    agree(devices, count)
}

/// Lets a device leave; goes on with it until the others can hear of it.
fn leave(device: &Device) {
    loop {
        let outcome = device.run(&["leave", "--yes"]).unwrap();
        let is_told = of_type(&outcome.said, "left")
            .iter()
            .any(|left| left["told"] == true);
        let code = outcome.error.map(|error| error["code"].clone());
        if is_told || code.is_some_and(|code| code == "not-a-member") {
            return;
        }
    }
}

#[test]
fn two_admissions_and_a_leave_at_the_same_time_end_in_one_list_though_all_three_are_killed() {
    let mut moments = Moments::new();
    let relay = RelayProcess::start().unwrap();
    let address = relay.address().unwrap();
    let device = |name: &str| Device::new(&name.to_lowercase(), name).unwrap();
    let [a, b, c, d, e] = ["Ash", "Birch", "Cedar", "Dogwood", "Elm"].map(device);
    let start = Instant::now();
    pair(&a, &b, "Trees", &address).unwrap();
    admit(&a, &c);
    agree(&[&a, &b, &c], 3);
    println!("the group is made after {:?}", start.elapsed());

    let (mut by_a, link_of_a) = invite(&a);
    let (mut by_b, link_of_b) = invite(&b);
    let mut joining_d = d.start(&["join", &link_of_a, "--yes"]).unwrap();
    let mut joining_e = e.start(&["join", &link_of_b, "--yes"]).unwrap();
    by_a.wait_for("join_request").unwrap();
    let mut leaving = c.start(&["leave", "--yes"]).unwrap();
    moments.wait(40);
    by_a.kill();
    by_b.wait_for("join_request").unwrap();
    moments.wait(40);
    by_b.kill();
    moments.wait(150);
    leaving.kill();
    drop((by_a, by_b, leaving));

    // What did not come about is done again, as people would.
    for (host, guest, joining, name) in [
        (&a, &d, &mut joining_d, "Dogwood"),
        (&b, &e, &mut joining_e, "Elm"),
    ] {
        let is_admitted = members(host).0.iter().any(|one| one == name);
        println!("{name} was let in before the kill: {is_admitted}");
        if !is_admitted {
            joining.kill();
            admit(host, guest);
        }
    }
    leave(&c);
    drop((joining_d, joining_e));
    let list = agree(&[&a, &b, &d, &e], 4);
    println!("they agree after {:?}", start.elapsed());
    for device in [&a, &b, &d, &e] {
        let (names, of_device) = members(device);
        assert_eq!(names, ["Ash", "Birch", "Dogwood", "Elm"]);
        assert_eq!(of_device, list);
    }
    let groups = c.run_well(&["group", "list"]).unwrap();
    assert_eq!(groups[0]["status"], "notJoined");
    let history = a.run_well(&["members", "--history"]).unwrap();
    let told = |what: &str, name: &str| {
        let is_it = |line: &&Value| line["what"] == what && line["name"] == name;
        history.iter().filter(is_it).count()
    };
    assert_eq!(told("left", "Cedar"), 1);
    assert_eq!([told("added", "Dogwood"), told("added", "Elm")], [1, 1]);
    let newest = a
        .run_well(&["members", "--history", "--limit", "1"])
        .unwrap();
    assert_eq!(newest[..], history[..1]);
}

#[test]
fn a_group_is_renamed_left_with_a_question_and_destroyed_with_its_limits_told() {
    let relay = RelayProcess::start().unwrap();
    let a = Device::new("a", "Ash").unwrap();
    let b = Device::new("b", "Birch").unwrap();
    pair(&a, &b, "Trees", &relay.address().unwrap()).unwrap();

    let renamed = a
        .run_well(&["group", "rename", " For\u{202e}est "])
        .unwrap();
    assert_eq!(renamed[0]["name"], "Forest");
    assert_eq!(renamed[0]["told"], true);
    let refused = a.run(&["group", "rename", "\u{200b}"]).unwrap();
    assert_eq!(refused.error.unwrap()["code"], "group-name-empty");
    a.run_well(&["send", "do you see the name?", "--wait", "20"])
        .unwrap();
    let mut reading = b.start(&["tail"]).unwrap();
    reading.wait_for("message").unwrap();
    reading.terminate().unwrap();
    let groups = b.run_well(&["group", "list"]).unwrap();
    assert_eq!(groups[0]["name"], "Forest");

    // Somebody was let in a moment ago: this is asked first.
    let mut leaving = b.start(&["leave"]).unwrap();
    assert_eq!(
        leaving.wait_for("question").unwrap()["question"],
        "leave_soon"
    );
    leaving.type_line("no").unwrap();
    assert!(!leaving.wait().unwrap().success());
    drop(leaving);
    assert_eq!(members(&a), members(&b));

    let unanswered = a.run(&["group", "destroy"]).unwrap();
    assert_eq!(
        unanswered.said[0]["type"], "destroy_limits",
        "before the question"
    );
    assert_eq!(unanswered.said[0]["devices"], 1);
    assert_eq!(unanswered.said[0]["cannot"].as_array().unwrap().len(), 4);
    assert_eq!(unanswered.said[1]["question"], "destroy");
    assert_eq!(unanswered.error.unwrap()["code"], "not-confirmed");
    let destroyed = a.run_well(&["group", "destroy", "--yes"]).unwrap();
    assert_eq!(destroyed[0]["type"], "destroy_limits");
    assert_eq!(destroyed[1]["told"], true);
    let mut reading = b.start(&["tail"]).unwrap();
    while reading.wait_for("status").unwrap()["reason"] != "destroyed" {}
    reading.terminate().unwrap();
    for device in [&a, &b] {
        assert_eq!(members(device).1["version"], Value::Null);
        let groups = device.run_well(&["group", "list"]).unwrap();
        assert_eq!(groups[0]["status"], "notJoined");
        assert_eq!(
            groups[0]["name"], "Forest",
            "what was read can be read still"
        );
    }
}

#[test]
fn an_end_that_the_relay_does_not_learn_of_goes_on_later_or_is_forgotten() {
    let mut relay = RelayProcess::start().unwrap();
    let a = Device::new("a", "Ash").unwrap();
    let b = Device::new("b", "Birch").unwrap();
    pair(&a, &b, "Trees", &relay.address().unwrap()).unwrap();
    relay.kill();
    let status =
        |device: &Device| device.run_well(&["group", "list"]).unwrap()[0]["status"].clone();

    let left = b.run_well(&["leave", "--yes"]).unwrap();
    assert_eq!(left[0]["told"], false);
    assert_eq!(status(&b), "leaving");
    let unanswered = b.run(&["forget"]).unwrap();
    assert_eq!(unanswered.said[0]["question"], "forget");
    assert_eq!(unanswered.error.unwrap()["code"], "not-confirmed");
    assert_eq!(status(&b), "leaving");
    let forgotten = b.run_well(&["forget", "--yes"]).unwrap();
    assert_eq!(forgotten[0]["type"], "forgotten");
    assert_eq!(status(&b), "notJoined");

    let destroyed = a.run_well(&["group", "destroy", "--yes"]).unwrap();
    assert_eq!(of_type(&destroyed, "destroyed")[0]["told"], false);
    assert_eq!(status(&a), "destroying");
    relay.resume().unwrap();
    let destroyed = a.run_well(&["group", "destroy"]).unwrap();
    assert_eq!(destroyed.len(), 1, "nothing is asked again");
    assert_eq!(destroyed[0]["told"], true);
    assert_eq!(status(&a), "notJoined");
}

/// The device's own id, which follows from its keys.
fn own_id(device: &Device) -> String {
    let said = device.run_well(&["members"]).unwrap();
    let me = of_type(&said, "member");
    let me = me.iter().find(|one| one["is_me"] == true);
    me.expect("a device has keys")["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_device_that_was_offline_for_29_days_is_wiped_by_the_destroy_command() {
    const AWAY: i32 = 29 * DAY;
    let mut relay = RelayProcess::start().unwrap();
    let a = Device::new("a", "Ash").unwrap();
    let mut b = Device::new("b", "Birch").unwrap();
    pair(&a, &b, "Trees", &relay.address().unwrap()).unwrap();
    a.run_well(&["send", "remember this", "--wait", "20"])
        .unwrap();
    let mut reading = b.start(&["tail"]).unwrap();
    reading.wait_for("message").unwrap();
    reading.terminate().unwrap();
    drop(reading);
    let before = own_id(&b);

    let destroyed = a.run_well(&["group", "destroy", "--yes"]).unwrap();
    let said: Vec<_> = destroyed.iter().map(|line| &line["type"]).collect();
    assert_eq!(
        said,
        ["destroy_limits", "destroyed"],
        "what it can't do comes first"
    );
    assert_eq!(destroyed[1]["told"], true);
    relay.stop().unwrap();

    relay.step_clock(AWAY).unwrap();
    b.step_clock(AWAY).unwrap();
    relay.resume().unwrap();
    let mut reading = b.start(&["tail"]).unwrap();
    while reading.wait_for("status").unwrap()["reason"] != "destroyed" {}
    reading.terminate().unwrap();
    drop(reading);
    let groups = b.run_well(&["group", "list"]).unwrap();
    assert_eq!(groups[0]["status"], "notJoined");
    assert_ne!(own_id(&b), before, "its keys are new");
    let kept = b.run_well(&["messages"]).unwrap();
    assert_eq!(kept[0]["text"], "remember this", "the history stays");
}

#[test]
fn a_device_that_was_away_for_31_days_is_a_member_still_and_is_told_what_may_be_missing() {
    const AWAY: i32 = 31 * DAY;
    let mut relay = RelayProcess::start().unwrap();
    let a = Device::new("a", "Ash").unwrap();
    let mut b = Device::new("b", "Birch").unwrap();
    pair(&a, &b, "Trees", &relay.address().unwrap()).unwrap();
    let read_until = |device: &Device, text: &str| {
        let mut reading = device.start(&["tail"]).unwrap();
        let mut texts = Vec::new();
        while texts.last().is_none_or(|last| last != text) {
            texts.push(reading.wait_for("message").unwrap()["text"].clone());
        }
        reading.terminate().unwrap();
        texts
    };
    a.run_well(&["send", "before", "--wait", "20"]).unwrap();
    read_until(&b, "before");
    a.run_well(&["send", "too early", "--wait", "20"]).unwrap();
    relay.stop().unwrap();

    relay.step_clock(AWAY).unwrap();
    b.step_clock(AWAY).unwrap();
    relay.resume().unwrap();
    a.run_well(&["send", "in time", "--wait", "20"]).unwrap();
    assert_eq!(read_until(&b, "in time"), ["before", "in time"]);
    assert_eq!(members(&b).0, ["Ash", "Birch"]);
    let issues = b.run_well(&["issues"]).unwrap();
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert_eq!(issues[0]["issue"], "awayTooLong");
    let at = |place: usize| issues[0]["missing_ms"][place].as_u64().unwrap();
    let day_ms = u64::try_from(DAY).unwrap() * 60_000;
    assert!(
        (day_ms / 2..=day_ms * 3 / 2).contains(&(at(1) - at(0))),
        "about a day"
    );
    let status = b.run_well(&["status"]).unwrap();
    assert_eq!(status[0]["issues"], 1, "it is said once");
}
