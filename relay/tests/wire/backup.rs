//! `sealpost-relay backup`, while its relay works, and what a relay makes of the copy.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sealpost_protocol::key::NoisePublic;
use sealpost_relay::key_file;

use crate::client::{Said, Session, device, envelope, number_of};
use crate::program::{Running, command, fail, run_command, succeed};

const TO: u8 = 1;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_a_working_relay_is_restored_and_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut run(folder.path()));
    let key = key_of(folder.path());
    push(running.push_port, key, 0..100).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let pushing = tokio::spawn(push_until(running.push_port, key, Arc::clone(&is_over)));
    let printed = succeed(backup(folder.path(), "copy.db"));
    assert!(printed.starts_with("Copied "), "{printed}");
    is_over.store(true, Ordering::Relaxed);
    let pushed_beside = pushing.await.unwrap();
    assert!(pushed_beside > 100, "nothing was pushed beside the backup");
    running.child.kill().unwrap();
    running.child.wait().unwrap();

    let restored = folder.path().join("restored");
    fs::create_dir(&restored).unwrap();
    fs::create_dir(restored.join("data")).unwrap();
    fs::copy(
        folder.path().join("copy.db"),
        restored.join("data/inbox.db"),
    )
    .unwrap();
    let key_path = "data/keypair.hex";
    fs::copy(folder.path().join(key_path), restored.join(key_path)).unwrap();
    let running = Running::start(&mut run(&restored));
    assert_eq!(key_of(&restored), key);
    let mut session = Session::receive_from(running.receive_port, key, &device(TO))
        .await
        .unwrap();
    for number in 0..100 {
        let (id, envelope) = session.hear_blob().await;
        assert_eq!(number_of(&envelope), number);
        session.acknowledge(id).await;
    }
}

#[test]
fn a_backup_that_cannot_be_made_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    assert!(fail(backup(folder.path(), "copy.db")).contains("there is no store yet"));
    drop(Running::start(&mut run(folder.path())));
    succeed(backup(folder.path(), "copy.db"));
    let before = fs::read(folder.path().join("copy.db")).unwrap();
    let error = fail(backup(folder.path(), "copy.db"));
    assert!(error.contains("a file of that name already"), "{error}");
    assert_eq!(fs::read(folder.path().join("copy.db")).unwrap(), before);
    let error = fail(backup(folder.path(), "nowhere/copy.db"));
    assert!(error.contains("the copy can't be written"), "{error}");
}

fn run(folder: &Path) -> std::process::Command {
    let mut command = run_command(folder);
    command
        .env("TRUESEAL_RELAY_PUSH_RATE", "1000000")
        .env("TRUESEAL_RELAY_PUSH_BURST", "1000000")
        .env("TRUESEAL_RELAY_INBOX_MAX_BLOBS", "10000000");
    command
}

fn key_of(folder: &Path) -> NoisePublic {
    key_file::load(&folder.join("data/keypair.hex"))
        .unwrap()
        .public()
}

fn backup(folder: &Path, file: &str) -> std::process::Output {
    let mut command = command(folder);
    command.args(["backup", "--data-dir", "data", file]);
    command.output().unwrap()
}

async fn push(port: u16, relay: NoisePublic, numbers: std::ops::Range<u64>) {
    let mut session = Session::push_to(port, relay).await.unwrap();
    for number in numbers {
        let envelope = envelope(number, 300);
        let answer = session.store(device(TO).public(), &envelope).await;
        assert_eq!(answer, Said::Ack);
    }
}

/// Pushes until it is told to stop, and how many are stored by then.
async fn push_until(port: u16, relay: NoisePublic, is_over: Arc<AtomicBool>) -> u64 {
    let mut session = Session::push_to(port, relay).await.unwrap();
    let mut pushed = 0;
    while pushed <= 100 || !is_over.load(Ordering::Relaxed) {
        let envelope = envelope(1_000 + pushed, 4_000);
        let answer = session.store(device(TO).public(), &envelope).await;
        assert_eq!(answer, Said::Ack, "a backup holds no push up");
        pushed += 1;
    }
    pushed
}
