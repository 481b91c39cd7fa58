//! Bad input, each kind through the real programs: its own clear text, and nothing changed.
//!
//! The texts are compared whole, so that a change of one is a decision and not an accident.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sealpost_tests::device_process::{Device, RunningCommand};
use sealpost_tests::port::free_ports;
use sealpost_tests::process::wait_until;
use sealpost_tests::relay_process::RelayProcess;

/// A user who owns nothing, for what root may do anywhere.
const NOBODY: u32 = 65_534;

/// How long a program may be busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a person reads after a command, with its exit code in front.
fn read(command: &mut Command) -> String {
    let output = wait_until("a program that can be run", PATIENCE, || {
        match command.output() {
            // A copy of it is still open for writing in a process that another test just forked.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => None,
            outcome => Some(outcome.expect("the program can be run")),
        }
    })
    .expect("the program is not busy for long");
    let code = output
        .status
        .code()
        .map_or("killed".to_owned(), |code| code.to_string());
    let error = String::from_utf8(output.stderr).expect("errors are text");
    format!("exit code {code}\n{error}")
}

/// A command of the device as a person types it: no JSON, no log.
fn typed(device: &Device, arguments: &[&str]) -> Command {
    let json = device.command(arguments);
    let kept = json
        .get_args()
        .filter(|argument| *argument != "--json" && *argument != "trace");
    let mut command = Command::new(json.get_program());
    let kept: Vec<_> = kept.filter(|argument| *argument != "--log-level").collect();
    command.args(kept).stdin(Stdio::null());
    command
}

/// Every file of a folder with its content, but for the lock, which holds who locked it.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)
            .expect("the folder can be read")
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("lock") {
                let bytes = std::fs::read(&path).expect("the file can be read");
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// An invitation to a group on the relay, and the running command that holds it open: with
/// `--accept` it lets anybody in, with another flag it waits for an answer.
fn invitation(relay: &RelayProcess, accepting: &str) -> (Device, RunningCommand, String) {
    let host = Device::new("host", "Host").expect("a device can be made");
    let address = relay.address().expect("the relay has an address");
    host.run_well(&["group", "new", "Group", "--relay", &address])
        .expect("a group can be made");
    let mut inviting = host
        .start(&["pair", accepting])
        .expect("pairing can be started");
    let object = inviting
        .wait_for("invitation")
        .expect("there is an invitation");
    let link = object["link"].as_str().expect("it has a link").to_owned();
    (host, inviting, link)
}

/// The text with another letter or digit at a place.
fn with_another_at(text: &str, place: usize) -> String {
    let another = |letter: char| if letter == '0' { '1' } else { '0' };
    text.chars()
        .enumerate()
        .map(|(at, letter)| if at == place { another(letter) } else { letter })
        .collect()
}

#[test]
fn a_pairing_token_with_one_letter_changed() {
    let relay = RelayProcess::start().unwrap();
    let (_host, _inviting, link) = invitation(&relay, "--accept");
    let guest = Device::new("guest", "Guest").unwrap();
    let before = content(&guest.data());
    let broken = with_another_at(&link, link.len() - 20);
    assert_eq!(
        read(&mut typed(&guest, &["join", &broken, "--yes"])),
        "exit code 3\n\
         Error: The pairing code has a mistake in it.\n\
         Why:   At least one character is not what was sent: the check inside the code doesn't fit.\n\
         To do: Copy the whole invitation again, or have it sent again. Nothing was changed on this device.\n\
         \x20      (code-check)\n"
    );
    assert!(content(&guest.data()) == before, "the data was changed");
}

#[test]
fn an_invitation_wrapped_over_three_lines_is_understood() {
    let relay = RelayProcess::start().unwrap();
    let (_host, mut inviting, link) = invitation(&relay, "--accept");
    let guest = Device::new("guest", "Guest").unwrap();
    let third = link.len() / 3;
    let (first, rest) = link.split_at(third);
    let (second, last) = rest.split_at(third);
    let wrapped = format!("> <{first}\r\n  {second}\n{last}>\n");
    let wrapped = wrapped.trim_start_matches("> ");
    let mut joining = guest.start(&["join", wrapped, "--yes"]).unwrap();
    joining.wait_for("joined").unwrap();
    inviting.wait_for("accepted").unwrap();
}

#[test]
fn a_relay_address_with_a_wrong_key() {
    let relay = RelayProcess::start().unwrap();
    let right = relay.address().unwrap();
    // The last digit but one of the key: still a key, but of no relay.
    let wrong = with_another_at(&right, right.find('@').unwrap() - 2);
    let device = Device::new("device", "Device").unwrap();
    let before = content(&device.data());
    assert_eq!(
        read(&mut typed(
            &device,
            &["group", "new", "Group", "--relay", &wrong]
        )),
        "exit code 8\n\
         Error: This is not the relay that the address names.\n\
         Why:   A relay answers there, but it doesn't hold the key in the address. The address may be mistyped, the relay newly set up, or somebody may be in between.\n\
         To do: Ask whoever runs the relay for its address. Nothing was sent to this relay.\n\
         \x20      (relay-wrong-key)\n"
    );
    // An invitation that leads there is refused the same way, before anything is sent.
    let (_host, _inviting, link) = invitation(&relay, "--accept");
    let wrong = link.replace(&right, &wrong);
    let error = device
        .run(&["join", &wrong, "--yes"])
        .unwrap()
        .error
        .unwrap();
    assert_eq!(error["code"], "relay-wrong-key");
    assert!(content(&device.data()) == before, "the data was changed");
    assert_eq!(device.run_well(&["group", "list"]).unwrap().len(), 0);
}

#[test]
fn a_second_program_on_one_profile() {
    let relay = RelayProcess::start().unwrap();
    let (host, inviting, _) = invitation(&relay, "--accept");
    let text = read(&mut typed(&host, &["messages"]));
    let pid = text
        .split("process ")
        .nth(1)
        .unwrap()
        .split(')')
        .next()
        .unwrap();
    assert!(pid.parse::<u32>().is_ok(), "{text}");
    assert_eq!(
        text.replace(pid, "PID"),
        "exit code 5\n\
         Error: The profile host is in use.\n\
         Why:   Another program has it open (process PID).\n\
         To do: Close that program, or use another profile with --profile. Nothing was changed.\n\
         \x20      (profile-in-use)\n"
    );
    // Whoever held it is not disturbed, and its end frees the profile, however it ended.
    drop(inviting);
    host.run_well(&["messages"]).unwrap();
}

#[test]
fn a_port_that_is_in_use() {
    let device = Device::new("device", "Device").unwrap();
    let [port, other] = free_ports().unwrap();
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let (port, other) = (port.to_string(), other.to_string());
    let arguments = [
        "relay",
        "run",
        "--receive-port",
        &port,
        "--push-port",
        &other,
    ];
    assert_eq!(
        read(&mut typed(&device, &arguments)).replace(&port, "PORT"),
        "exit code 8\n\
         Error: The relay can't start: port PORT is in use.\n\
         Why:   Another program listens on its receive port.\n\
         To do: End that program, or choose another port with --receive-port.\n\
         \x20      (port-in-use)\n"
    );
    drop(taken);

    let relay = RelayProcess::start().unwrap();
    let before = std::fs::read(relay.folder().join("keypair.hex")).unwrap();
    let mut second = relay.command(&["run"]);
    let text = read(&mut second);
    assert!(!text.starts_with("exit code 0"), "{text}");
    assert!(text.contains(&relay.ports()[0].to_string()), "{text}");
    assert_eq!(
        std::fs::read(relay.folder().join("keypair.hex")).unwrap(),
        before
    );
}

#[test]
fn a_data_directory_that_cannot_be_written() {
    let device = Device::bare("device").unwrap();
    let text = "exit code 6\n\
                Error: The data directory can't be written.\n\
                Why:   WHY\n\
                To do: Make it writable for you, or name another one with --data-dir. Nothing was changed.\n\
                \x20      (data-not-writable)\n";

    // A file where a folder is expected: also root can't write there.
    std::fs::write(device.data(), "a file").unwrap();
    assert_eq!(
        read(&mut typed(&device, &["init", "--key-store", "file"])),
        text.replace("WHY", "A part of its path is not a folder.")
    );
    assert_eq!(std::fs::read(device.data()).unwrap(), b"a file");

    // A folder of somebody else. Root may write it, so the program runs as nobody.
    std::fs::remove_file(device.data()).unwrap();
    std::fs::create_dir(device.data()).unwrap();
    std::fs::set_permissions(device.folder(), Permissions::from_mode(0o755)).unwrap();
    let mut command = typed(&device, &["init", "--key-store", "file"]);
    // The build folder may be closed to others; a copy outside of it is not.
    let open_folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(open_folder.path(), Permissions::from_mode(0o755)).unwrap();
    let program = open_folder.path().join("sealpost");
    std::fs::copy(command.get_program(), &program).unwrap();
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY);
    } else {
        let read_only = Permissions::from_mode(0o500);
        std::fs::set_permissions(device.data(), read_only).unwrap();
    }
    assert_eq!(
        read(&mut command),
        text.replace("WHY", "This user may not write there.")
    );
    assert_eq!(content(device.folder()), BTreeMap::new());
}

#[test]
fn a_profile_that_was_never_made() {
    let device = Device::bare("misspelt").unwrap();
    assert_eq!(
        read(&mut typed(&device, &["messages"])),
        "exit code 5\n\
         Error: There is no profile called misspelt.\n\
         Why:   None was made in this data directory.\n\
         To do: Make it with `sealpost init`, or check --profile and --data-dir.\n\
         \x20      (profile-missing)\n"
    );
    assert_eq!(content(device.folder()), BTreeMap::new());
}

#[test]
fn scripts_get_the_same_as_one_object() {
    let device = Device::new("device", "Device").unwrap();
    let outcome = device.run(&["join", "hello", "--yes"]).unwrap();
    assert_eq!(outcome.status.code(), Some(3));
    assert_eq!(outcome.said.len(), 0);
    let error = outcome.error.unwrap();
    assert_eq!(error["type"], "error");
    assert_eq!(error["code"], "invitation-unknown");
    for part in ["what", "why", "action"] {
        assert!(error[part].as_str().unwrap().ends_with('.'), "{error}");
    }
    let outcome = device.run(&["send"]).unwrap();
    assert_eq!(
        (outcome.status.code(), &outcome.error.unwrap()["code"]),
        (Some(2), &"usage".into())
    );
}

#[test]
fn an_invitation_of_this_device_itself() {
    let relay = RelayProcess::start().unwrap();
    let (host, inviting, link) = invitation(&relay, "--accept");
    drop(inviting);
    let error = host.run(&["join", &link, "--yes"]).unwrap().error.unwrap();
    assert_eq!(error["code"], "code-own");
    assert_eq!(host.run_well(&["group", "list"]).unwrap().len(), 1);
}

#[test]
fn words_that_differ_leave_nothing_behind() {
    let relay = RelayProcess::start().unwrap();
    let (_host, _inviting, link) = invitation(&relay, "--no-qr");
    let guest = Device::new("guest", "Guest").unwrap();
    let mut joining = guest.start(&["join", &link]).unwrap();
    for (question, answer) in [("relay", "yes"), ("words", "different")] {
        assert_eq!(joining.wait_for("question").unwrap()["question"], question);
        joining.type_line(answer).unwrap();
    }
    assert_eq!(joining.wait().unwrap().code(), Some(4));
    assert_eq!(joining.error().unwrap().unwrap()["code"], "words-different");
    assert_eq!(guest.run_well(&["group", "list"]).unwrap().len(), 0);
}
