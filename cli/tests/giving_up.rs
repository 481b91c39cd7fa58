//! What giving up and skipping leave behind, with a relay that runs in the same program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(folder: &Path, profile: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sealpost"))
            .arg("--data-dir")
            .arg(folder)
            .args(["--json", "--profile", profile])
            .args(arguments)
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        Self { child, output }
    }

    #[track_caller]
    fn wait_for(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut line = String::new();
        while self
            .output
            .read_line(&mut line)
            .expect("the output is text")
            > 0
        {
            let object: Value = serde_json::from_str(&line).expect("each line is JSON");
            if is_wanted(&object) {
                return object;
            }
            line.clear();
        }
        panic!("the command ended before it said what was wanted");
    }

    #[track_caller]
    fn wait_for_type(&mut self, wanted: &str) -> Value {
        self.wait_for(|object| object["type"] == wanted)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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
