//! Pairing through two real programs: what each side says when it doesn't go as it should,
//! and how it goes on from there.

use std::time::Duration;

use sealpost_tests::device_process::{Device, RunningCommand, pair};
use sealpost_tests::process::wait_until;
use sealpost_tests::relay_process::RelayProcess;
use serde_json::Value;

/// How long news may take from one device to the other.
const PATIENCE: Duration = Duration::from_secs(30);

/// A device with a group of its own on the relay.
fn host(relay: &RelayProcess) -> Device {
    let host = Device::new("host", "Host").expect("a device can be made");
    let address = relay.address().expect("the relay has an address");
    host.run_well(&["group", "new", "Group", "--relay", &address])
        .expect("a group can be made");
    host
}

fn guest(name: &str) -> Device {
    Device::new("guest", name).expect("a device can be made")
}

/// A running `pair` and its invitation.
fn invite(host: &Device, arguments: &[&str]) -> (RunningCommand, String) {
    let arguments: Vec<_> = ["pair"].iter().chain(arguments).copied().collect();
    let mut inviting = host.start(&arguments).expect("pairing can be started");
    let object = inviting.wait_for("invitation").expect("an invitation");
    let link = object["link"].as_str().expect("it has a link").to_owned();
    (inviting, link)
}

/// How a command ended: its exit code, and the code of its error.
fn ended(command: &mut RunningCommand) -> (Option<i32>, Value) {
    let status = command.wait().expect("it ends");
    let error = command.error().expect("its errors can be read");
    (status.code(), error.unwrap_or_default()["code"].clone())
}

/// Waits until the join says that it is so far.
fn wait_for_progress(joining: &mut RunningCommand, state: &str) -> Value {
    loop {
        let object = joining.wait_for("join_progress").expect("it says so");
        if object["state"] == state {
            return object;
        }
    }
}

fn groups(device: &Device) -> usize {
    device
        .run_well(&["group", "list"])
        .expect("a list of groups")
        .len()
}

fn members(device: &Device) -> usize {
    let said = device.run_well(&["members"]).expect("a list of members");
    let is_member = |object: &&Value| object["type"] == "member";
    said.iter().filter(is_member).count()
}

#[test]
fn a_cancelled_invitation_is_replaced_by_a_new_one() {
    let relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("Guest"));
    let (mut inviting, link) = invite(&host, &[]);
    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    assert_eq!(joining.wait_for("pending").unwrap()["on_relay"], true);
    wait_for_progress(&mut joining, "on_relay");
    inviting.wait_for("join_request").unwrap();

    let said = host.run_well(&["pair", "--cancel"]).unwrap();
    assert_eq!(said[0]["type"], "invitation_cancelled");
    assert_eq!(
        ended(&mut inviting),
        (Some(130), "pairing-cancelled".into())
    );
    let again = host.run(&["pair", "--cancel"]).unwrap();
    assert_eq!(again.status.code(), Some(9));
    assert_eq!(again.error.unwrap()["code"], "no-invitation-open");
    assert_eq!(members(&host), 1, "nobody was let in");

    // The joiner can't know; its person is given a new invitation, which replaces the old one.
    joining.terminate().unwrap();
    let (mut inviting, link) = invite(&host, &["--accept"]);
    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    joining.wait_for("joined").unwrap();
    inviting.wait_for("accepted").unwrap();
    assert!(joining.wait().unwrap().success());
    assert_eq!((groups(&guest), members(&guest)), (1, 2));
}

#[test]
fn an_expired_invitation_lets_nobody_in() {
    let relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("Guest"));
    let (mut inviting, link) = invite(&host, &["--accept", "--good-for", "1"]);
    assert_eq!(
        ended(&mut inviting),
        (Some(10), "invitation-expired".into())
    );

    let said = guest
        .run_well(&["join", &link, "--yes", "--no-wait"])
        .unwrap();
    assert_eq!(said.last().unwrap()["type"], "pending");
    // Its owner is told that somebody asked whom nobody expects.
    let mut reading = host.start(&["tail"]).unwrap();
    assert_eq!(reading.wait_for("issue").unwrap()["issue"], "unauthorized");
    reading.terminate().unwrap();
    assert_eq!(members(&host), 1);

    let said = guest.run_well(&["join", "--cancel"]).unwrap();
    assert_eq!(said[0]["type"], "cancelled");
    assert_eq!(groups(&guest), 0);
    let again = guest.run(&["join", "--cancel"]).unwrap();
    assert_eq!(again.error.unwrap()["code"], "no-join-waiting");
}

#[test]
fn a_used_invitation_lets_no_second_device_in() {
    let relay = RelayProcess::start().unwrap();
    let (host, first) = (host(&relay), guest("First"));
    let second = Device::new("second", "Second").unwrap();
    let (mut inviting, link) = invite(&host, &["--accept"]);
    let mut joining = first.start(&["join", &link, "--yes"]).unwrap();
    joining.wait_for("joined").unwrap();
    inviting.wait_for("accepted").unwrap();
    assert!(inviting.wait().unwrap().success());
    assert!(joining.wait().unwrap().success());

    // The device that is in is told so; another one waits.
    let outcome = first.run(&["join", &link, "--yes"]).unwrap();
    assert_eq!(outcome.error.unwrap()["code"], "already-in-group");
    second
        .run_well(&["join", &link, "--yes", "--no-wait"])
        .unwrap();
    let mut reading = host.start(&["tail"]).unwrap();
    assert_eq!(reading.wait_for("issue").unwrap()["issue"], "unauthorized");
    reading.terminate().unwrap();
    assert_eq!(members(&host), 2);
    assert_eq!(
        second.run_well(&["group", "list"]).unwrap()[0]["status"],
        "pendingJoin"
    );
}

#[test]
fn a_code_that_is_not_understood_changes_nothing_whatever_it_is() {
    let relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("Guest"));
    let (_inviting, link) = invite(&host, &[]);
    let (address, token) = link.split_once('#').unwrap();
    let foreign = [
        // Another program's typed code.
        ("7-crossover-clockwork".to_owned(), "code-word-count"),
        ("hello".to_owned(), "invitation-unknown"),
        (
            "https://example.org/join#abc".to_owned(),
            "invitation-unknown",
        ),
        (address.to_owned(), "invitation-cut"),
        (format!("{address}#hello"), "code-prefix"),
        (format!("{link}?utm_source=x"), "code-appended"),
        (token.to_owned(), "relay-needed"),
        (cut_by_one(token).to_owned(), "code-length"),
    ];
    for (text, code) in foreign {
        let outcome = guest.run(&["join", &text, "--yes"]).unwrap();
        assert_eq!(outcome.status.code(), Some(3), "{code}");
        let error = outcome.error.unwrap();
        assert_eq!(error["code"], code);
        assert!(!error.to_string().contains(token), "it repeats the code");
    }
    let outcome = guest
        .run(&[
            "join",
            &link,
            "--relay",
            &address.replace("7", "6"),
            "--yes",
        ])
        .unwrap();
    assert_eq!(outcome.status.code(), Some(3));
    assert_eq!(groups(&guest), 0);
}

#[test]
fn an_own_invitation_is_refused_also_while_it_is_open() {
    let relay = RelayProcess::start().unwrap();
    let host = host(&relay);
    let (mut inviting, link) = invite(&host, &[]);
    // The profile belongs to the program that shows the invitation.
    let outcome = host.run(&["join", &link, "--yes"]).unwrap();
    assert_eq!(outcome.error.unwrap()["code"], "profile-in-use");
    inviting.kill();
    let outcome = host.run(&["join", &link, "--yes"]).unwrap();
    assert_eq!(outcome.error.unwrap()["code"], "code-own");
    assert_eq!(groups(&host), 1);
    // What the killed program left behind doesn't count as an open invitation.
    host.run_well(&["pair", "--cancel"]).unwrap();
    let again = host.run(&["pair", "--cancel"]).unwrap();
    assert_eq!(again.error.unwrap()["code"], "no-invitation-open");
}

#[test]
fn a_dismissed_device_does_not_ask_again_and_another_is_let_in() {
    let relay = RelayProcess::start().unwrap();
    let (host, first) = (host(&relay), guest("First"));
    let second = Device::new("second", "Second").unwrap();
    let (mut inviting, link) = invite(&host, &[]);
    let mut joining = first.start(&["join", &link, "--yes"]).unwrap();
    wait_for_progress(&mut joining, "on_relay");
    let request = inviting.wait_for("join_request").unwrap();
    assert_eq!(request["name"], "First");
    inviting.wait_for("question").unwrap();
    inviting.type_line("no").unwrap();
    assert_eq!(inviting.wait_for("dismissed").unwrap()["name"], "First");
    // It asks once more with the same invitation, as a new program.
    joining.terminate().unwrap();
    let mut joining = first.start(&["join", &link, "--yes"]).unwrap();
    wait_for_progress(&mut joining, "on_relay");

    let mut other = second.start(&["join", &link, "--yes"]).unwrap();
    let request = inviting.wait_for("join_request").unwrap();
    assert_eq!(request["name"], "Second", "the first isn't shown again");
    inviting.wait_for("question").unwrap();
    inviting.type_line("yes").unwrap();
    other.wait_for("joined").unwrap();
    inviting.wait_for("accepted").unwrap();
    assert_eq!(ended(&mut inviting).0, Some(0));
    joining.terminate().unwrap();
    assert_eq!(members(&host), 2);
}

#[test]
fn pairing_goes_on_after_both_programs_were_killed() {
    let relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("Guest"));
    let (mut inviting, link) = invite(&host, &[]);
    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    wait_for_progress(&mut joining, "on_relay");
    inviting.wait_for("join_request").unwrap();
    inviting.kill();
    joining.kill();
    // The window went with its program; the join did not.
    let listed = guest.run_well(&["group", "list"]).unwrap();
    assert_eq!(listed[0]["status"], "pendingJoin");
    let (mut inviting, link) = invite(&host, &[]);
    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    let words = joining.wait_for("words").unwrap();
    let request = inviting.wait_for("join_request").unwrap();
    assert_eq!(request["words"], words["words"]);
    joining.kill();
    inviting.wait_for("question").unwrap();
    inviting.type_line("yes").unwrap();
    inviting.wait_for("accepted").unwrap();
    assert!(inviting.wait().unwrap().success());
    let mut joining = guest.start(&["join", "--yes"]).unwrap();
    joining.wait_for("joined").unwrap();
    assert!(joining.wait().unwrap().success());
    assert_eq!((members(&host), members(&guest)), (2, 2));
    assert_eq!(groups(&guest), 1);
}

#[test]
fn an_admission_that_the_relay_did_not_get_goes_out_later() {
    let mut relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("Guest"));
    let (mut inviting, link) = invite(&host, &[]);
    guest
        .run_well(&["join", &link, "--yes", "--no-wait"])
        .unwrap();
    inviting.wait_for("question").unwrap();
    relay.stop().unwrap();
    inviting.type_line("yes").unwrap();
    assert_eq!(inviting.wait_for("accepted").unwrap()["delivered"], false);
    inviting.kill();
    relay.resume().unwrap();
    let mut reading = host.start(&["tail"]).unwrap();
    let mut joining = guest.start(&["join", "--yes"]).unwrap();
    joining.wait_for("joined").unwrap();
    reading.terminate().unwrap();
    assert_eq!((members(&host), members(&guest)), (2, 2));
}

#[test]
fn a_joiner_is_told_that_no_relay_is_reached_and_when_it_is() {
    let mut relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("Guest"));
    let (mut inviting, link) = invite(&host, &[]);
    guest
        .run_well(&["join", &link, "--yes", "--no-wait"])
        .unwrap();
    inviting.wait_for("join_request").unwrap();
    inviting.kill();
    relay.stop().unwrap();
    // A new invitation, of a relay that has gone meanwhile.
    let (_inviting, link) = invite(&host, &["--accept"]);
    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    assert_eq!(joining.wait_for("pending").unwrap()["on_relay"], false);
    let queued = wait_for_progress(&mut joining, "queued");
    assert_eq!(queued["reason"], "refused");
    relay.resume().unwrap();
    wait_for_progress(&mut joining, "on_relay");
    joining.wait_for("joined").unwrap();
    assert!(joining.wait().unwrap().success());
}

#[test]
fn different_words_leave_the_group_that_had_let_this_device_in() {
    let relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("Guest"));
    let (mut inviting, link) = invite(&host, &["--accept"]);
    let mut joining = guest.start(&["join", &link]).unwrap();
    assert_eq!(joining.wait_for("question").unwrap()["question"], "relay");
    joining.type_line("yes").unwrap();
    inviting.wait_for("accepted").unwrap();
    wait_for_progress(&mut joining, "admitted");
    joining.type_line("different").unwrap();
    assert_eq!(joining.wait_for("left").unwrap()["told"], true);
    assert_eq!(ended(&mut joining), (Some(4), "words-different".into()));
    assert_eq!(groups(&guest), 0, "nothing of it stays");
    assert!(inviting.wait().unwrap().success());
    wait_until("the other device sees it leave", PATIENCE, || {
        let mut reading = host.start(&["tail"]).expect("it can be started");
        reading.wait_for("connection").expect("it connects");
        reading.wait_for("connection").expect("it is connected");
        reading.terminate().expect("it ends");
        (members(&host) == 1).then_some(())
    })
    .unwrap();
}

#[test]
fn a_join_that_ends_with_this_device_outside_says_so() {
    let relay = RelayProcess::start().unwrap();
    for (end, code) in [
        (&["remove", "Guest", "--yes"][..], "join-removed"),
        (&["group", "destroy", "--yes"], "join-destroyed"),
    ] {
        let (host, guest) = (host(&relay), guest("Guest"));
        let (mut inviting, link) = invite(&host, &["--accept"]);
        let mut joining = guest.start(&["join", &link]).unwrap();
        assert_eq!(joining.wait_for("question").unwrap()["question"], "relay");
        joining.type_line("yes").unwrap();
        inviting.wait_for("accepted").unwrap();
        wait_for_progress(&mut joining, "admitted");
        assert!(inviting.wait().unwrap().success());
        // Its person hasn't compared the words yet.
        host.run_well(end).unwrap();
        assert_eq!(ended(&mut joining), (Some(9), code.into()));
    }
}

#[test]
fn a_name_like_that_of_a_member_is_pointed_out() {
    let relay = RelayProcess::start().unwrap();
    let (host, guest) = (host(&relay), guest("H\u{43e}st"));
    let (mut inviting, link) = invite(&host, &[]);
    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    let request = inviting.wait_for("join_request").unwrap();
    assert_eq!(request["name"], "H\u{43e}st");
    assert_eq!(request["looks_like"], "Host");
    joining.terminate().unwrap();
    inviting.terminate().unwrap();
}

#[test]
fn two_members_compare_the_same_code() {
    let relay = RelayProcess::start().unwrap();
    let (host, guest) = (Device::new("host", "Host").unwrap(), guest("Guest"));
    let nobody = guest.run(&["compare"]).unwrap();
    assert_eq!(nobody.error.unwrap()["code"], "group-none");
    pair(&host, &guest, "Group", &relay.address().unwrap()).unwrap();
    let codes = [&host, &guest].map(|device| device.run_well(&["compare"]).unwrap());
    assert_eq!((codes[0].len(), codes[1].len()), (1, 1));
    assert_eq!(codes[0][0]["code"], codes[1][0]["code"]);
    let digits = codes[0][0]["code"].as_str().unwrap();
    let digits = digits.bytes().filter(u8::is_ascii_digit).count();
    assert_eq!(digits, 30, "more than 80 bits");
    assert_eq!(codes[0][0]["name"], "Guest");
}

/// Without its last character.
fn cut_by_one(token: &str) -> &str {
    let mut characters = token.chars();
    characters.next_back();
    characters.as_str()
}

#[test]
fn devices_whose_clocks_differ_pair_and_write_to_each_other() {
    const HOUR: i32 = 60;
    for minutes in [-25 * HOUR, -10, 10, 25 * HOUR] {
        let relay = RelayProcess::start().unwrap();
        let host = Device::new("host", "Host").unwrap();
        let mut guest = guest("Guest");
        guest.step_clock(minutes).unwrap();
        pair(&host, &guest, "Group", &relay.address().unwrap()).unwrap();
        for (from, to) in [(&host, &guest), (&guest, &host)] {
            let text = format!("apart by {minutes} minutes");
            from.run_well(&["send", &text, "--wait", "20"]).unwrap();
            let mut reading = to.start(&["tail"]).unwrap();
            assert_eq!(reading.wait_for("message").unwrap()["text"], text.as_str());
            reading.terminate().unwrap();
            drop(reading);
            let issues = to.run_well(&["issues"]).unwrap();
            assert!(issues.is_empty(), "{issues:?}");
        }
    }
}
