//! What giving up and skipping leave behind, with a relay that runs in the same program.

use std::io::Write as _;

use crate::program::Running;

#[test]
fn a_join_that_led_into_the_group_is_cancelled_by_leaving() {
    let folder = tempfile::tempdir().unwrap();
    let run = |profile, arguments: &[&str]| Running::start(folder.path(), profile, arguments);
    for profile in ["host", "guest"] {
        let init = ["init", "--name", profile, "--key-store", "file"];
        run(profile, &init).wait_for_type("profile");
    }
    let ports = ["--receive-port", "0", "--push-port", "0"];
    let mut relay = run(
        "relay",
        &[&["relay", "run", "--host", "127.0.0.1"], &ports[..]].concat(),
    );
    let address = relay.wait_for_type("relay_running")["address"].clone();
    let new = ["group", "new", "Home", "--relay", address.as_str().unwrap()];
    run("host", &new).wait_for_type("group");
    let mut pair = run("host", &["pair", "--accept"]);
    let link = pair.wait_for_type("invitation")["link"].clone();

    let mut join = run("guest", &["join", link.as_str().unwrap(), "--no-wait"]);
    join.wait_for_type("question");
    join.child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"yes\n")
        .unwrap();
    assert_eq!(join.wait_for_type("pending")["on_relay"], true);
    assert!(join.child.wait().unwrap().success());
    pair.wait_for_type("accepted");
    drop(pair);
    let mut tail = run("guest", &["tail"]);
    tail.wait_for(|object| object["type"] == "status" && object["status"] == "member");
    drop(tail);

    let mut cancel = run("guest", &["join", "--cancel"]);
    assert_eq!(cancel.wait_for(|_| true)["type"], "left");
    assert!(cancel.child.wait().unwrap().success());
    let mut again = run("guest", &["join", "--cancel"]);
    assert_eq!(again.child.wait().unwrap().code(), Some(9));
}
