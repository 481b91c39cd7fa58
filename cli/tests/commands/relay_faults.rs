//! Relays that can't be used, each told by its own name, from the socket to the exit code.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use crate::program::{Ended, relay};

/// A key that no relay of these tests has.
const KEY: &str = "38ab664bd86f77d7e66bdd9ae0792913a94fd8b33a1260027e4b46c1f4884c67";
/// The exit code for a relay that can't be used.
const RELAY: i32 = 8;
/// The six steps of a test.
const STEPS: [&str; 6] = ["lookUp", "connect", "protocol", "key", "push", "receive"];

fn address(host: &str, receive_port: u16, push_port: u16) -> String {
    format!("trueseal://{KEY}@{host}:{receive_port}?push={push_port}")
}

/// A port on which every caller gets these bytes once it has said something.
fn answering(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // A caller that has gone in between asks again or has had enough.
            let _ = stream.read(&mut [0; 40]);
            let _ = stream.write_all(bytes);
        }
    });
    port
}

/// A port where nothing listens.
fn closed() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// The same place under another key.
fn with_another_key(address: &str) -> String {
    let place = address.split_once('@').unwrap().1;
    format!("trueseal://{KEY}@{place}")
}

/// Tests the relay at `address`, which fails in `step` under this code, and returns the three
/// sentences.
fn test_fails(folder: &Path, address: &str, step: &str, code: &str) -> [String; 3] {
    let ended = Ended::run(folder, "p", &["relay", "test", address]);
    assert_eq!((ended.exit, ended.only_code()), (RELAY, code));
    let failed = STEPS.iter().position(|one| *one == step).unwrap();
    for (place, (said, step)) in ended.said.iter().zip(STEPS).enumerate() {
        let state = match place.cmp(&failed) {
            std::cmp::Ordering::Less => "ok",
            std::cmp::Ordering::Equal => "failed",
            std::cmp::Ordering::Greater => "skipped",
        };
        assert_eq!(
            (&said["step"], &said["state"]),
            (&step.into(), &state.into())
        );
        assert_eq!(said["took_ms"].is_u64(), place <= failed);
    }
    assert_eq!(ended.said.len(), STEPS.len());
    ["what", "why", "action"].map(|part| ended.errors[0][part].as_str().unwrap().to_owned())
}

#[test]
fn each_fault_of_a_relay_has_its_step_its_code_and_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_relay, right) = relay(folder);
    let page = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let newer = answering(b"unsupported 2..2\n");
    let faults = [
        (
            address("nobody.invalid", 1, 1),
            "lookUp",
            "relay-name-not-found",
        ),
        (
            address("127.0.0.1", closed(), 1),
            "connect",
            "relay-refused",
        ),
        // No connection can be made to a broadcast address: nothing leaves this computer.
        (
            address("255.255.255.255", 1, 1),
            "connect",
            "relay-no-answer",
        ),
        (
            address("127.0.0.1", page, page),
            "protocol",
            "relay-something-else",
        ),
        (
            address("127.0.0.1", newer, newer),
            "protocol",
            "relay-version",
        ),
        (with_another_key(&right), "key", "relay-wrong-key"),
    ];
    let mut texts: Vec<String> = faults
        .iter()
        .flat_map(|(address, step, code)| test_fails(folder, address, step, code))
        .collect();
    let (host, _) = right.rsplit_once("?push=").unwrap();
    let push_closed = format!("{host}?push={}", closed());
    texts.extend(test_fails(
        folder,
        &push_closed,
        "push",
        "relay-push-refused",
    ));
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count, "two faults share a sentence");
}

#[test]
fn a_relay_that_works_passes_every_step() {
    let folder = tempfile::tempdir().unwrap();
    let (_relay, right) = relay(folder.path());
    let ended = Ended::run(folder.path(), "p", &["relay", "test", &right]);
    assert_eq!((ended.exit, ended.errors.len()), (0, 0));
    let steps: Vec<_> = ended.said.iter().map(|said| &said["step"]).collect();
    assert_eq!(steps, STEPS);
    assert!(ended.said.iter().all(|said| said["state"] == "ok"));
}

#[test]
fn a_group_on_a_relay_that_is_not_the_one_meant_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_relay, right) = relay(folder);
    let init = Ended::run(folder, "p", &["init", "--key-store", "file"]);
    assert_eq!(init.exit, 0);
    let made = |address: &str| Ended::run(folder, "p", &["group", "new", "x", "--relay", address]);
    let newer = address("127.0.0.1", answering(b"unsupported 2..2\n"), 1);
    for (address, code) in [
        (with_another_key(&right), "relay-wrong-key"),
        (newer, "relay-version"),
    ] {
        let refused = made(&address);
        assert_eq!((refused.exit, refused.only_code()), (RELAY, code));
        assert_eq!(Ended::run(folder, "p", &["group", "list"]).said.len(), 0);
    }
    // One that can't be reached may come back: it is told, and the group is made.
    for (address, code) in [
        (address("nobody.invalid", 1, 1), "relay-name-not-found"),
        (address("127.0.0.1", closed(), 1), "relay-refused"),
        (address("255.255.255.255", 1, 1), "relay-no-answer"),
        (
            address(
                "127.0.0.1",
                answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
                1,
            ),
            "relay-something-else",
        ),
    ] {
        let group = made(&address);
        assert_eq!((group.exit, group.only_code()), (0, code));
    }
    // Without an address, it is the group's relay that is tested.
    let tested = Ended::run(folder, "p", &["relay", "test", "--group", "2"]);
    assert_eq!((tested.exit, tested.only_code()), (RELAY, "relay-refused"));
}
