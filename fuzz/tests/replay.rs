//! Everything that a search started from or has found, once more.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on fails where it stands"
)]

use std::path::{Path, PathBuf};

use sealpost_fuzz::{TARGETS, target};

/// All corpora together; a repository is no place for more.
const CORPORA_BYTES_MAX: u64 = 200 * 1_024;

fn replay(name: &str) {
    let target = target(name).unwrap();
    for seed in (target.seeds)() {
        (target.run)(&seed);
    }
    let files = corpus_of(name);
    assert!(!files.is_empty(), "{name} has a corpus");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_owned();
        let ran = std::panic::catch_unwind(|| (target.run)(&bytes));
        assert!(ran.is_ok(), "{} breaks a rule", name.display());
    }
}

#[test]
fn prefixes_are_replayed() {
    replay("prefix");
}

#[test]
fn handshakes_are_replayed() {
    replay("handshake");
}

#[test]
fn frames_are_replayed() {
    replay("frame");
}

#[test]
fn records_are_replayed() {
    replay("record");
}

#[test]
fn stores_are_replayed() {
    replay("store_opener");
}

#[test]
fn wormholes_are_replayed() {
    replay("wormhole");
}

#[test]
fn web_requests_are_replayed() {
    replay("web_request");
}

#[test]
fn what_a_link_reads_is_replayed() {
    replay("link");
}

#[test]
fn corpora_belong_to_targets_and_are_small() {
    let mut bytes = 0;
    for folder in std::fs::read_dir(corpora()).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(target(&name).is_some(), "{name} is a target");
        for file in corpus_of(&name) {
            bytes += file.metadata().unwrap().len();
        }
    }
    assert!(
        TARGETS
            .iter()
            .all(|target| !corpus_of(target.name).is_empty())
    );
    assert!(bytes <= CORPORA_BYTES_MAX, "{bytes} bytes of corpora");
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn corpus_of(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpora().join(name)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
