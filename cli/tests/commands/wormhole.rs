//! Texts and invitations by a code between two command-line clients, on a relay of our own.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::path::Path;

use crate::program::{Ended, Running};

/// A relay with a web door: its address, and where the door is.
fn relay(folder: &Path) -> (Running, String, String) {
    let arguments = [
        "relay",
        "run",
        "--host",
        "127.0.0.1",
        "--receive-port",
        "0",
        "--push-port",
        "0",
        "--web-port",
        "0",
    ];
    let mut relay = Running::start(folder, "relay", &arguments);
    let running = relay.wait_for_type("relay_running");
    let text = |name: &str| running[name].as_str().unwrap().to_owned();
    let (address, url) = (text("address"), text("web_url"));
    (relay, address, url)
}

fn init(folder: &Path, profile: &str, name: &str) {
    let init = ["init", "--name", name, "--key-store", "file"];
    assert_eq!(Ended::run(folder, profile, &init).exit, 0);
}

fn code(running: &mut Running) -> String {
    let code = running.wait_for_type("wormhole_code")["code"].clone();
    code.as_str().unwrap().to_owned()
}

#[test]
fn a_text_is_handed_over_by_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let (_relay, _, url) = relay(folder.path());
    let text = "grüß \"dich\"\nzwei";
    let send = ["wormhole", "send", text, "--relay", &url];
    let mut send = Running::start(folder.path(), "any", &send);
    let code = code(&mut send);
    let receive = ["wormhole", "receive", &code, "--relay", &url];
    let mut receive = Running::start(folder.path(), "other", &receive);
    assert_eq!(receive.wait_for_type("wormhole_text")["text"], text);
    send.wait_for_type("wormhole_received");
}

#[test]
fn one_wrong_guess_spends_a_code_and_both_sides_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let (_relay, _, url) = relay(folder.path());
    let send = ["wormhole", "send", "secret", "--relay", &url];
    let mut send = Running::start(folder.path(), "any", &send);
    let guess = format!("{}x", code(&mut send));
    let receive = ["wormhole", "receive", &guess, "--relay", &url];
    let receive = Ended::run(folder.path(), "other", &receive);
    assert_eq!((receive.exit, receive.only_code()), (4, "code-wrong"));
    assert_eq!(send.child.wait().unwrap().code(), Some(4));
}

#[test]
fn a_typed_code_leads_into_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let (_relay, address, url) = relay(folder.path());
    init(folder.path(), "anna", "Anna");
    init(folder.path(), "bert", "Bert");
    let new = ["group", "new", "Home", "--relay", &address];
    assert_eq!(Ended::run(folder.path(), "anna", &new).exit, 0);
    let pair = ["pair", "--code", "--no-qr", "--accept", "--web", &url];
    let mut pair = Running::start(folder.path(), "anna", &pair);
    let typed = code(&mut pair).replace('-', " ").to_uppercase();
    let join = ["join", &typed, "--web", &url, "--yes"];
    let mut join = Running::start(folder.path(), "bert", &join);
    pair.wait_for_type("code_used");
    pair.wait_for_type("accepted");
    assert_eq!(join.wait_for_type("joined")["members"], 1);
}

#[test]
fn what_is_wrong_with_a_code_is_said_before_it_is_tried() {
    let folder = tempfile::tempdir().unwrap();
    for (typed, expected) in [
        ("7", "code-no-words"),
        ("7 abbey cabin", "code-word-count"),
        ("7 abbey qqqqq cabin", "code-word"),
        ("7 abbey cabin bamboo", "web-needed"),
    ] {
        let ended = Ended::run(folder.path(), "any", &["join", typed]);
        assert_eq!((ended.exit, ended.only_code()), (3, expected), "{typed}");
    }
}
