//! The program `sealpost`, started by a test.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on has failed"
)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// The program while it runs.
pub(crate) struct Running {
    pub(crate) child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    /// Starts it with JSON on its output.
    pub(crate) fn start(folder: &Path, profile: &str, arguments: &[&str]) -> Self {
        Self::start_with(folder, profile, arguments, &[])
    }

    /// As [`Self::start`], in an environment with these variables.
    pub(crate) fn start_with(
        folder: &Path,
        profile: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sealpost"))
            .arg("--data-dir")
            .arg(folder)
            .args(["--json", "--profile", profile])
            .args(arguments)
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        Self { child, output }
    }

    /// The next object that is wanted.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
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

    /// Ends it the hard way, and returns what it had said and nobody had read.
    pub(crate) fn kill(mut self) -> Vec<Value> {
        self.child.kill().expect("it runs");
        let mut objects = Vec::new();
        let mut line = String::new();
        while self
            .output
            .read_line(&mut line)
            .is_ok_and(|bytes| bytes > 0)
        {
            // The last line may have been cut off.
            objects.extend(serde_json::from_str(&line).ok());
            line.clear();
        }
        objects
    }

    /// The next object of this type.
    #[track_caller]
    pub(crate) fn wait_for_type(&mut self, wanted: &str) -> Value {
        self.wait_for(|object| object["type"] == wanted)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A relay, and its address.
pub(crate) fn relay(folder: &Path) -> (Running, String) {
    let ports = ["--receive-port", "0", "--push-port", "0"];
    let run = ["relay", "run", "--host", "127.0.0.1"];
    let mut relay = Running::start(folder, "relay", &[&run[..], &ports[..]].concat());
    let address = relay.wait_for_type("relay_running")["address"].clone();
    let address = address.as_str().unwrap().to_owned();
    (relay, address)
}

/// A relay with a group on it, of the profiles `host` and `guest`.
pub(crate) fn paired(folder: &Path) -> Running {
    let (relay, address) = relay(folder);
    for profile in ["host", "guest"] {
        let init = Ended::run(folder, profile, &["init", "--key-store", "file"]);
        assert_eq!(init.exit, 0, "{init:?}");
    }
    let new = ["group", "new", "Home", "--relay", &address];
    assert_eq!(Ended::run(folder, "host", &new).exit, 0);
    let mut pair = Running::start(folder, "host", &["pair", "--accept"]);
    let link = pair.wait_for_type("invitation")["link"].clone();
    let join = Ended::run(folder, "guest", &["join", link.as_str().unwrap(), "--yes"]);
    assert_eq!(join.exit, 0, "{join:?}");
    pair.wait_for_type("accepted");
    assert!(pair.child.wait().unwrap().success());
    relay
}

/// What the program said and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: i32,
    pub(crate) said: Vec<Value>,
    pub(crate) errors: Vec<Value>,
}

impl Ended {
    /// Runs it to its end with JSON on both outputs.
    pub(crate) fn run(folder: &Path, profile: &str, arguments: &[&str]) -> Self {
        let output = Command::new(env!("CARGO_BIN_EXE_sealpost"))
            .arg("--data-dir")
            .arg(folder)
            .args(["--json", "--profile", profile])
            .args(arguments)
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        let objects = |bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .unwrap()
                .lines()
                .map(|line| serde_json::from_str(line).expect("each line is JSON"))
                .collect()
        };
        Self {
            exit: output.status.code().expect("it ends by itself"),
            said: objects(output.stdout),
            errors: objects(output.stderr),
        }
    }

    /// The code of the only error or note.
    #[track_caller]
    pub(crate) fn only_code(&self) -> &str {
        let [error] = self.errors.as_slice() else {
            panic!("not one error: {:?}", self.errors);
        };
        error["code"].as_str().unwrap()
    }
}
