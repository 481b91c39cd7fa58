//! A device whose disk is full.
//!
//! The disk is a small one in memory, in namespaces of the test's own, so that no rights are
//! needed where the system lets everybody make such. Linux only.

#![cfg(target_os = "linux")]
use std::io::{Write as _, stderr};
use std::process::Command;

use serde_json::Value;

use crate::program::paired;

/// What happens on the small disk. Each command's output stands behind its name.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=8m,mode=700 tmpfs small || exit 99
cp -r host small || exit 98
run() { name=$1; shift; echo "== $name"; "$SEALPOST" --data-dir small --profile host --json "$@" 2>&1; }
run roomy send before
export SEALPOST_BACKUP_PASSPHRASE='four plain words'
run backup backup small/kept
cp small/kept before
head -c 20000000 /dev/zero > small/ballast 2> /dev/null
run read messages
run no_backup backup small/kept
cmp small/kept before || exit 97
ls small | grep part && exit 96
run no_restore restore before
ls small/host | grep restore && exit 95
TMPDIR=. run exported export
run refused send "$(head -c 60000 /dev/zero | tr '\0' x)"
run read_again messages
truncate -s -40960 small/ballast
run tight_restore restore before
ls small/host | grep restore && exit 95
rm small/ballast
run restored restore before
run sent send --group 1 after
run all messages --group 1
"#;

#[test]
fn a_device_on_a_full_disk_opens_shows_what_it_has_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let _relay = paired(folder.path());
    let ran = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .arg(format!("mkdir small\n{SCRIPT}"))
        .current_dir(folder.path())
        .env("SEALPOST", env!("CARGO_BIN_EXE_sealpost"))
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .output();
    let code = ran.as_ref().ok().and_then(|ran| ran.status.code());
    assert!(code != Some(97), "the earlier backup is not what it was");
    assert!(code != Some(96), "half a backup is left");
    assert!(code != Some(95), "half a restore is left");
    let Some(ran) = ran.ok().filter(|ran| ran.status.success()) else {
        let skipped = "NOT RUN: this system gives users no mount namespaces, so nothing was \
                       shown about a full disk\n";
        stderr().write_all(skipped.as_bytes()).unwrap();
        return;
    };
    let output = String::from_utf8(ran.stdout).unwrap();
    let said = |name: &str| -> Vec<Value> {
        let (_, rest) = output.split_once(&format!("== {name}\n")).expect(&output);
        rest.lines()
            .take_while(|line| !line.starts_with("== "))
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    };
    let texts = |name: &str| -> Vec<String> {
        said(name)
            .iter()
            .map(|message| message["text"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(said("roomy")[0]["type"], "queued");
    assert_eq!(texts("read"), ["before"]);
    assert_eq!(said("backup")[0]["messages"], 1);
    let no_backup = said("no_backup");
    assert_eq!(no_backup.len(), 1, "{no_backup:?}");
    assert_eq!(no_backup[0]["code"], "disk-full");
    // Without any room, and with room for the begin of it.
    for name in ["no_restore", "tight_restore"] {
        let refused = said(name);
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert_eq!(refused[0]["code"], "disk-full", "{name}");
    }
    assert_eq!(said("restored")[0]["messages"], 1);
    assert_eq!(said("exported")[1]["text"], "before");
    let refused = said("refused");
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0]["code"], "data-full");
    assert_eq!(
        texts("read_again"),
        ["before"],
        "what was refused is not there"
    );
    assert_eq!(said("sent")[0]["type"], "queued", "nothing had to be done");
    assert_eq!(texts("all"), ["before", "after"]);
}
