//! The real program on a disk that is full, and on one that fails.
//!
//! The disk is a small one in memory, in namespaces of the program's own, so that no rights
//! are needed where the system lets everybody make such. Linux only.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::NoisePublic;
use sealpost_relay::key_file;

use crate::client::{PATIENCE, Said, Session, device, envelope, number_of};
use crate::program::{Running, run_command};

const TO: u8 = 1;
const ENVELOPE_BYTES: usize = 60_000;
const UNAVAILABLE: Said = Said::Error(Refusal::Unavailable);

/// Bytes that the relay leaves free, and bytes of the disk.
const FLOOR: u64 = 4 << 20;
const DISK: u64 = 24 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_loses_nothing_is_drained_and_takes_pushes_again() {
    for floor in [FLOOR, 0] {
        let folder = tempfile::tempdir().unwrap();
        let Some(disk) = SmallDisk::start(folder.path(), floor) else {
            return;
        };
        let stored = disk.fill().await;
        assert!(stored * ENVELOPE_BYTES as u64 > DISK / 4, "{stored} fit");
        // The floor holds the relay back. Somebody else takes what it leaves.
        let ballast = disk.folder.join("ballast");
        let taken = take_all_space(&ballast);
        assert!(taken + 65_536 > floor, "{taken} bytes were left");
        assert_eq!(disk.push(stored).await, UNAVAILABLE);
        disk.drain(stored).await;
        fs::remove_file(&ballast).unwrap();
        disk.push_until_stored(0).await;
        assert!(
            disk.fill().await > stored / 2,
            "deleted space is used again"
        );
    }
}

/// Writes fail as on a disk that went read-only under a running program, which can't be done
/// to a disk in memory while files on it are open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_takes_no_writes_for_a_while_needs_no_restart() {
    let folder = tempfile::tempdir().unwrap();
    // A program that writes beyond the limit is ended, unless it was told to live.
    let through = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
    let running = Running::start(&mut run_through(folder.path(), 0, &through));
    let disk = SmallDisk::of(running, folder.path().join("data"));
    let limit = |bytes: &str| {
        let limit = format!("--fsize={bytes}:unlimited");
        let pid = disk.running.child.id().to_string();
        let set = Command::new("prlimit")
            .args(["--pid", &pid, &limit])
            .status();
        assert!(set.unwrap().success());
    };
    assert_eq!(disk.push(0).await, Said::Ack);
    limit("0");
    assert_eq!(disk.push(1).await, UNAVAILABLE);
    disk.drain(1).await;
    limit("unlimited");
    disk.push_until_stored(0).await;
    disk.drain(1).await;
}

/// A relay and the disk that it writes to.
struct SmallDisk {
    running: Running,
    folder: PathBuf,
    key: NoisePublic,
}

impl SmallDisk {
    /// None where the system gives this user no disk of its own.
    fn start(folder: &Path, floor: u64) -> Option<Self> {
        let namespaces = ["unshare", "--user", "--map-root-user", "--mount"];
        let mount = format!("mount -t tmpfs -o size={DISK},mode=700 tmpfs data && exec \"$@\"");
        fs::create_dir(folder.join("data")).unwrap();
        let [program, options @ ..] = namespaces;
        let mut probe = Command::new(program);
        probe.args(options).args(["sh", "-c", &mount, "sh", "true"]);
        let can_mount = probe.current_dir(folder).output();
        if !can_mount.is_ok_and(|probed| probed.status.success()) {
            let skipped = "NOT RUN: this system gives users no mount namespaces, so nothing was \
                shown about a full disk\n";
            stderr().write_all(skipped.as_bytes()).unwrap();
            return None;
        }
        let through: Vec<&str> = namespaces
            .into_iter()
            .chain(["sh", "-c", &mount, "sh"])
            .collect();
        let running = Running::start(&mut run_through(folder, floor, &through));
        // The disk exists for the program alone, and this is the way into its view.
        let root = PathBuf::from(format!("/proc/{}/root", running.child.id()));
        let data = folder.join("data");
        let data = root.join(data.strip_prefix("/").unwrap());
        Some(Self::of(running, data))
    }

    fn of(running: Running, folder: PathBuf) -> Self {
        let key = key_file::load(&folder.join("keypair.hex"))
            .unwrap()
            .public();
        Self {
            running,
            folder,
            key,
        }
    }

    async fn sender(&self) -> Session {
        Session::push_to(self.running.push_port, self.key)
            .await
            .unwrap()
    }

    async fn push(&self, number: u64) -> Said {
        push(&mut self.sender().await, number).await
    }

    /// Pushes until there is no room, and how many were stored.
    async fn fill(&self) -> u64 {
        let mut sender = self.sender().await;
        for number in 0.. {
            match push(&mut sender, number).await {
                Said::Ack => {}
                refused => {
                    assert_eq!(refused, UNAVAILABLE);
                    return number;
                }
            }
        }
        unreachable!("the disk is small")
    }

    async fn push_until_stored(&self, number: u64) {
        let begin = Instant::now();
        while self.push(number).await != Said::Ack {
            assert!(begin.elapsed() < PATIENCE, "pushes are still refused");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Takes and acknowledges everything that was stored.
    async fn drain(&self, stored: u64) {
        let port = self.running.receive_port;
        let mut session = Session::receive_from(port, self.key, &device(TO))
            .await
            .unwrap();
        for number in 0..stored {
            let (id, envelope) = session.hear_blob().await;
            assert_eq!(number_of(&envelope), number);
            session.acknowledge(id).await;
        }
        session.assert_nothing_waits().await;
    }
}

async fn push(sender: &mut Session, number: u64) -> Said {
    let envelope = envelope(number, ENVELOPE_BYTES);
    sender.store(device(TO).public(), &envelope).await
}

/// The program, started by another one that ends in it.
fn run_through(folder: &Path, floor: u64, through: &[&str]) -> Command {
    let run = run_command(folder);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let [first, rest @ ..] = through else {
        panic!("a program was expected")
    };
    let mut command = Command::new(first);
    command.current_dir(folder).env_clear().env("PATH", path);
    command
        .env("TRUESEAL_RELAY_STORE_MIN_FREE_BYTES", floor.to_string())
        .env("TRUESEAL_RELAY_PUSH_RATE", "1000000")
        .env("TRUESEAL_RELAY_PUSH_BURST", "1000000");
    command.args(rest).arg(run.get_program());
    command.args(run.get_args().collect::<Vec<&OsStr>>());
    command
}

/// Writes a file until the disk has no room, and how large it became.
fn take_all_space(file: &Path) -> u64 {
    let mut file = File::create(file).unwrap();
    while file.write_all(&[0x5a; 4_096]).is_ok() {}
    file.metadata().unwrap().len()
}
