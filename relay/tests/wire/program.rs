//! The program `sealpost-relay`: options, texts, files, signals.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use sealpost_protocol::address::RelayAddress;
use tempfile::TempDir;

use crate::client::{Said, Session, device};

/// The program with an environment of its own and free ports.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealpost-relay"));
    command.current_dir(folder).env_clear().env("HOME", folder);
    command
}

pub(crate) fn run_command(folder: &Path) -> Command {
    let mut command = command(folder);
    command.args(["run", "--data-dir", "data", "--listen-health", "off"]);
    command.args([
        "--listen-receive",
        "127.0.0.1:0",
        "--listen-push",
        "127.0.0.1:0",
    ]);
    command
}

/// A running program and what it printed when it was ready.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) output: BufReader<std::process::ChildStdout>,
    pub(crate) receive_port: u16,
    pub(crate) push_port: u16,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (mut receive_port, mut push_port) = (0, 0);
        let mut line = String::new();
        while !line.starts_with("Stop it with") {
            line.clear();
            assert_ne!(
                output.read_line(&mut line).unwrap(),
                0,
                "the relay has not started"
            );
            let number = || line.rsplit(' ').next().unwrap().trim().parse().unwrap();
            if line.contains("Receive port:") {
                receive_port = number();
            } else if line.contains("Push port:") {
                push_port = number();
            }
        }
        Self {
            child,
            output,
            receive_port,
            push_port,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn succeed(output: Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The error text; its three parts are checked for every failure.
pub(crate) fn fail(output: Output) -> String {
    assert!(!output.status.success());
    let error = text(&output.stderr);
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 3, "{error}");
    assert!(lines[1].starts_with("  Why: "), "{error}");
    assert!(lines[2].starts_with("  What to do: "), "{error}");
    error
}

#[test]
fn the_address_parses_and_carries_the_printed_key() {
    let folder = folder();
    let mut address = command(folder.path());
    address.args(["address", "--host", "relay.example"]);
    let printed = succeed(address.output().unwrap());
    let address = RelayAddress::parse(printed.trim()).unwrap();
    assert_eq!(
        (address.receive_port(), address.push_port()),
        (7_700, 7_701)
    );
    let mut pubkey = command(folder.path());
    let printed = succeed(pubkey.arg("pubkey").output().unwrap());
    assert_eq!(printed.trim(), hex::encode(address.public_key().as_bytes()));
}

#[test]
fn ports_of_the_address_can_be_given_and_a_bad_host_is_explained() {
    let folder = folder();
    let mut address = command(folder.path());
    address.args(["address", "--data-dir", "data", "--host", "2001:db8::1"]);
    address.args(["--receive-port", "1", "--push-port", "2"]);
    let printed = succeed(address.output().unwrap());
    let address = RelayAddress::parse(printed.trim()).unwrap();
    assert_eq!(address.host(), "2001:db8::1");
    assert_eq!((address.receive_port(), address.push_port()), (1, 2));
    for host in [
        "",
        "http://relay.example",
        "relay.example:7700",
        "relay example",
    ] {
        let mut address = command(folder.path());
        address.args(["address", "--data-dir", "data", "--host", host]);
        assert!(fail(address.output().unwrap()).contains("no such relay address"));
    }
}

#[test]
fn a_port_in_use_is_explained() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let number = taken.local_addr().unwrap().port();
    for (option, name) in [("--listen-receive", "receive"), ("--listen-push", "push")] {
        let mut run = command(folder.path());
        run.args(["run", "--data-dir", "data", "--listen-health", "off"]);
        for other in ["--listen-receive", "--listen-push"] {
            let port = if other == option { number } else { 0 };
            run.args([other, &format!("127.0.0.1:{port}")]);
        }
        let error = fail(run.output().unwrap());
        assert!(
            error.contains(&format!("the {name} port {number} is in use")),
            "{error}"
        );
        assert!(error.contains(option), "{error}");
    }
}

#[test]
fn a_data_folder_that_cannot_be_written_is_explained() {
    let folder = folder();
    std::fs::write(folder.path().join("data"), b"a file").unwrap();
    let error = fail(run_command(folder.path()).output().unwrap());
    assert!(error.contains("--data-dir"), "{error}");
    assert_eq!(
        std::fs::read(folder.path().join("data")).unwrap(),
        b"a file"
    );
}

/// Whoever restores a backup into another folder must not get the old store with the key and
/// the paths of its configuration.
#[test]
fn a_data_folder_that_would_change_nothing_is_refused() {
    let folder = folder();
    let paths = [
        ("TRUESEAL_RELAY_KEYPAIR_PATH", "data/keypair.hex"),
        ("TRUESEAL_RELAY_STORE_SQLITE_PATH", "data/inbox.db"),
    ];
    // The one that would go on running comes last.
    let arguments: [&[&str]; 6] = [
        &["pubkey"],
        &["address", "--host", "relay.example"],
        &["check-config"],
        &["health"],
        &["backup", "copy.db"],
        &["run"],
    ];
    for arguments in arguments {
        let mut both = command(folder.path());
        both.args(arguments).args(["--data-dir", "restored"]);
        let error = fail(both.envs(paths).output().unwrap());
        assert!(error.contains("--data-dir is not used"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut one = command(folder.path());
    one.args(["check-config", "--data-dir", "restored"]);
    let printed = succeed(one.envs([paths[0]]).output().unwrap());
    assert!(printed.contains("restored/inbox.db"), "{printed}");
}

#[test]
fn a_second_relay_on_the_same_data_is_explained() {
    let folder = folder();
    let _first = Running::start(&mut run_command(folder.path()));
    let error = fail(run_command(folder.path()).output().unwrap());
    assert!(
        error.contains("another relay uses this data folder"),
        "{error}"
    );
}

#[test]
fn a_damaged_key_file_is_explained_and_kept() {
    let folder = folder();
    let path = folder.path().join("data/keypair.hex");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "not a key").unwrap();
    let error = fail(run_command(folder.path()).output().unwrap());
    assert!(error.contains("64 hex digits"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"not a key");
}

#[test]
fn a_key_out_of_the_environment_is_written_and_a_different_one_refused() {
    let folder = folder();
    let key = "7".repeat(64);
    let pubkey = |hex: &str| {
        let mut pubkey = command(folder.path());
        pubkey.args(["pubkey", "--data-dir", "data"]);
        pubkey
            .env("TRUESEAL_RELAY_KEYPAIR_HEX", hex)
            .output()
            .unwrap()
    };
    succeed(pubkey(&key));
    let path = folder.path().join("data/keypair.hex");
    assert_eq!(std::fs::read_to_string(path).unwrap().trim(), key);
    succeed(pubkey(&key));
    assert!(fail(pubkey(&"8".repeat(64))).contains("another key"));
    assert!(!fail(pubkey("secret-but-wrong")).contains("secret-but-wrong"));
}

#[test]
fn check_config_names_line_and_reason_and_makes_nothing() {
    let folder = folder();
    let check = |text: &str| {
        std::fs::write(folder.path().join("relay.toml"), text).unwrap();
        let mut check = command(folder.path());
        check
            .args(["check-config", "--data-dir", "data"])
            .output()
            .unwrap()
    };
    assert!(succeed(check("[relay]\nttl = \"720h\"\n")).contains("can be used"));
    let error = fail(check("[relay]\nttl = \"721h\"\n"));
    assert!(
        error.contains("line 2 of the configuration file sets relay.ttl"),
        "{error}"
    );
    let error = fail(check("[relay]\n\nlisten = 1\n"));
    assert!(
        error.contains("line 3") && error.contains("relay.listen"),
        "{error}"
    );
    let web = |rest: &str| check(&format!("[relay]\nlisten_web = \":0\"\n[web]\n{rest}"));
    assert!(succeed(web("")).contains("listen_web = \"[::]:0\""));
    let error = fail(web("tls_cert = \"nowhere.pem\"\n"));
    assert!(error.contains("go together"), "{error}");
    let error = fail(web("tls_cert = \"nowhere.pem\"\ntls_key = \"key.pem\"\n"));
    assert!(error.contains("web.tls_cert can't be read"), "{error}");
    assert!(!folder.path().join("data").exists());
}

#[test]
fn a_named_configuration_file_that_is_missing_is_explained() {
    let folder = folder();
    let mut check = command(folder.path());
    check.args(["check-config", "--config", "nowhere.toml"]);
    assert!(fail(check.output().unwrap()).contains("nowhere.toml"));
}

/// Connections that no descriptor is left for don't end the relay; it serves again as soon as
/// others are closed.
#[cfg(unix)]
#[tokio::test]
async fn a_relay_out_of_file_descriptors_recovers() {
    let folder = folder();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 40; exec \"$@\"", "sh"]);
    let run = run_command(folder.path());
    limited.arg(run.get_program()).args(run.get_args());
    limited
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path());
    let running = Running::start(&mut limited);
    let mut crowd = Vec::new();
    for _ in 0..60 {
        crowd.push(crate::raw_client::connect(running.push_port).await);
    }
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    drop(crowd);
    let key = folder.path().join("data/keypair.hex");
    let key = sealpost_relay::key_file::load(&key).unwrap().public();
    let mut sender = Session::push_to(running.push_port, key).await.unwrap();
    assert_eq!(sender.store(device(1).public(), b"served").await, Said::Ack);
}

/// Whoever started it may have closed the other end of both outputs.
#[cfg(unix)]
#[test]
fn a_signal_stops_it_in_order_even_if_nobody_listens() {
    let folder = folder();
    let mut running = Running::start(run_command(folder.path()).stderr(Stdio::piped()));
    drop(running.child.stderr.take());
    let id = running.child.id().to_string();
    // Replaces the reading end, and with it closes it.
    running.output = BufReader::new(
        Command::new("true")
            .stdout(Stdio::piped())
            .spawn()
            .map(|mut other| other.stdout.take().unwrap())
            .unwrap(),
    );
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    assert!(running.child.wait().unwrap().success());
    let log = folder.path().join("data/inbox.db-wal");
    assert!(!log.exists(), "a closed store has no log left");
}

#[cfg(unix)]
#[test]
fn a_signal_stops_it_in_order() {
    for signal in ["-TERM", "-INT"] {
        let folder = folder();
        let mut running = Running::start(&mut run_command(folder.path()));
        let id = running.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        assert!(running.child.wait().unwrap().success());
        let rest: Vec<String> = running
            .output
            .by_ref()
            .lines()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rest.last().unwrap(), "Stopped.", "{signal}");
        let log = folder.path().join("data/inbox.db-wal");
        assert!(!log.exists(), "a closed store has no log left");
    }
}
