//! Backups there and back, a restore that is killed, and what is read of a damaged group.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::program::{Ended, Running, paired};

/// Two groups of `host`, one with messages; and a file with the passphrase.
fn two_groups(folder: &Path) -> (Running, PathBuf) {
    let relay = paired(folder);
    let status = Ended::run(folder, "host", &["group", "list"]);
    assert_eq!(status.said.len(), 1);
    for text in ["one", "two", "three"] {
        assert_eq!(Ended::run(folder, "host", &["send", text]).exit, 0);
    }
    let passphrase = folder.join("passphrase");
    fs::write(&passphrase, "four plain words\n").unwrap();
    (relay, passphrase)
}

fn with_passphrase(
    folder: &Path,
    profile: &str,
    command: &str,
    file: &Path,
    passphrase: &Path,
) -> Ended {
    let (file, passphrase) = (file.to_str().unwrap(), passphrase.to_str().unwrap());
    let arguments = [command, file, "--passphrase-file", passphrase];
    Ended::run(folder, profile, &arguments)
}

fn texts(said: &[Value]) -> Vec<&str> {
    let messages = said.iter().filter(|object| object["type"] == "message");
    messages
        .map(|object| object["text"].as_str().unwrap())
        .collect()
}

#[test]
fn a_backup_comes_back_in_another_profile_and_says_what_it_is_to_be_let_in_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_relay, passphrase) = two_groups(folder);
    let file = folder.join("host.sealpost-backup");
    let made = with_passphrase(folder, "host", "backup", &file, &passphrase);
    assert_eq!(made.exit, 0, "{made:?}");
    assert_eq!(made.said[0]["groups"], 1);
    assert_eq!(made.said[0]["messages"], 3);
    let clear = fs::read(&file).unwrap();
    assert!(!clear.windows(5).any(|bytes| bytes == b"three"));

    let init = Ended::run(folder, "new", &["init", "--key-store", "file"]);
    assert_eq!(init.exit, 0, "{init:?}");
    let wrong = folder.join("wrong");
    fs::write(&wrong, "four other words\n").unwrap();
    let refused = with_passphrase(folder, "new", "restore", &file, &wrong);
    assert_eq!(
        (refused.exit, refused.only_code()),
        (3, "backup-passphrase")
    );
    let refused = with_passphrase(folder, "new", "restore", &wrong, &passphrase);
    assert_eq!((refused.exit, refused.only_code()), (3, "backup-foreign"));
    let cut = folder.join("cut");
    fs::write(&cut, &clear[..clear.len() - 1]).unwrap();
    let refused = with_passphrase(folder, "new", "restore", &cut, &passphrase);
    assert_eq!((refused.exit, refused.only_code()), (3, "backup-cut-off"));
    assert!(
        Ended::run(folder, "new", &["group", "list"])
            .said
            .is_empty()
    );

    let restored = with_passphrase(folder, "new", "restore", &file, &passphrase);
    assert_eq!(restored.exit, 0, "{restored:?}");
    assert_eq!(restored.said[0]["messages"], 3);
    let listed = Ended::run(folder, "new", &["group", "list"]);
    assert_eq!(listed.said[0]["name"], "Home");
    assert_eq!(listed.said[0]["status"], "notJoined");
    let messages = Ended::run(folder, "new", &["messages"]);
    assert_eq!(texts(&messages.said), ["one", "two", "three"]);
    // It is no member: nobody is told anything, and nothing goes anywhere.
    let send = Ended::run(folder, "new", &["send", "four"]);
    assert_eq!((send.exit, send.only_code()), (9, "not-a-member"));
    let id = |profile: &str| {
        let members = Ended::run(folder, profile, &["members"]);
        let me = members.said.iter().find(|member| member["is_me"] == true);
        me.unwrap()["id"].as_str().unwrap().to_owned()
    };
    assert_ne!(id("host"), id("new"), "no second copy of a device");
}

#[test]
fn a_restore_that_is_killed_brings_all_of_it_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_relay, passphrase) = two_groups(folder);
    let file = folder.join("host.sealpost-backup");
    // Of what came back another backup is made: more groups to be cut short.
    let mut groups = 0;
    while groups < 4 {
        let made = with_passphrase(folder, "host", "backup", &file, &passphrase);
        groups = made.said[0]["groups"].as_u64().unwrap();
        if groups < 4 {
            let restored = with_passphrase(folder, "host", "restore", &file, &passphrase);
            assert_eq!(restored.exit, 0, "{restored:?}");
        }
    }
    let (mut nothing, mut all) = (0, 0);
    // From the first moment at which something of it is there to well after the end.
    let mut delay = Duration::from_micros(500);
    while all < 2 {
        let profile = format!("new-{}", delay.as_micros());
        let mut running = start_restore(folder, &profile, &file, &passphrase);
        until_there(&mut running, &folder.join(&profile).join("restore.new"));
        std::thread::sleep(delay);
        match killed(running, folder, &profile) {
            0 => nothing += 1,
            found if found == groups => all += 1,
            found => panic!("{found} of {groups} groups after {delay:?}"),
        }
        delay = delay.mul_f64(1.6);
        assert!(delay < Duration::from_secs(60), "it never ends");
    }
    assert!(nothing > 0, "it was never killed in time");
    // And while what counts already is put in place.
    let mut hits = 0;
    for round in 0..20 {
        let profile = format!("ready-{round}");
        let ready = folder.join(&profile).join("restore.ready");
        let mut running = start_restore(folder, &profile, &file, &passphrase);
        until_there(&mut running, &ready);
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        hits += u32::from(ready.exists());
        assert_eq!(killed(running, folder, &profile), groups);
        if hits == 2 {
            break;
        }
    }
    assert!(hits > 0, "it was never killed while it was put in place");
}

fn start_restore(folder: &Path, profile: &str, file: &Path, passphrase: &Path) -> Running {
    Ended::run(folder, profile, &["init", "--key-store", "file"]);
    let (file, passphrase) = (file.to_str().unwrap(), passphrase.to_str().unwrap());
    let arguments = ["restore", file, "--passphrase-file", passphrase];
    Running::start(folder, profile, &arguments)
}

/// Waits for a path, or for the end of the program.
fn until_there(running: &mut Running, path: &Path) {
    while !path.exists() && running.child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// Kills it and says how many groups are there at the next start, of which nothing is left.
fn killed(mut running: Running, folder: &Path, profile: &str) -> u64 {
    // It may have ended.
    let _ = running.child.kill();
    running.child.wait().unwrap();
    let listed = Ended::run(folder, profile, &["group", "list"]);
    assert_eq!(listed.exit, 0, "{listed:?}");
    let left = fs::read_dir(folder.join(profile)).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with("restore")));
    listed.said.len() as u64
}

#[cfg(unix)]
#[test]
fn a_backup_that_is_interrupted_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_relay, passphrase) = two_groups(folder);
    let out = folder.join("out");
    fs::create_dir(&out).unwrap();
    let file = out.join("host.sealpost-backup");
    let arguments = [
        "backup",
        file.to_str().unwrap(),
        "--passphrase-file",
        passphrase.to_str().unwrap(),
    ];
    let mut running = Running::start(folder, "host", &arguments);
    while fs::read_dir(&out).unwrap().count() == 0 {
        assert!(running.child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let number = running.child.id().to_string();
    let told = std::process::Command::new("kill")
        .args(["-INT", &number])
        .status();
    assert!(told.unwrap().success());
    let ended = running.child.wait().unwrap();
    assert_eq!(ended.code(), Some(130));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn what_is_readable_of_a_damaged_group_is_printed_and_the_group_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _relay = paired(folder);
    let long = "x".repeat(3_000);
    for number in 0..12 {
        let text = format!("{number} {long}");
        assert_eq!(Ended::run(folder, "host", &["send", &text]).exit, 0);
    }
    let whole = Ended::run(folder, "host", &["export"]);
    assert_eq!(whole.exit, 0, "{whole:?}");
    assert_eq!(whole.said[0]["type"], "export");
    assert_eq!(whole.said[0]["complete"], true);
    assert_eq!(texts(&whole.said).len(), 12);
    let entries = fs::read_dir(folder.join("host")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let database = paths
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "db"))
        .unwrap();
    let good = fs::read(&database).unwrap();
    let (mut least, mut rounds) = (12, 0);
    // Each fourth page: one of them has a message on it, or leads to some.
    for page in (8..good.len() / 4_096).step_by(4) {
        let mut bytes = good.clone();
        bytes[page * 4_096 + 100..][..64].fill(0xa5);
        fs::write(&database, &bytes).unwrap();
        let read = Ended::run(folder, "host", &["export", "--group", "1"]);
        assert_eq!(read.exit, 0, "{read:?}");
        assert!(fs::read(&database).unwrap() == bytes, "page {page}");
        let read = texts(&read.said).len();
        least = least.min(read);
        rounds += 1;
    }
    assert!(rounds > 3 && least < 12, "{rounds} {least}");
    // Without its first page nothing of it can be read; that is said.
    let mut bytes = good;
    bytes[100..164].fill(0xa5);
    fs::write(&database, &bytes).unwrap();
    let read = Ended::run(folder, "host", &["export"]);
    assert_eq!((read.exit, read.only_code()), (6, "data-damaged"));
}
