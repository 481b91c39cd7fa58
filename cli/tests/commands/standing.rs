//! What a device says of itself while its relay is away, and after its data was restored.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Ended, paired};

fn host(folder: &Path, arguments: &[&str]) -> Ended {
    Ended::run(folder, "host", arguments)
}

#[test]
fn a_text_for_a_relay_that_is_away_is_told_by_exit_code_and_status() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let relay = paired(folder);
    let status = host(folder, &["status"]);
    assert_eq!(status.exit, 0, "{status:?}");
    let [status] = status.said.as_slice() else {
        panic!("one group has one line: {status:?}");
    };
    assert_eq!(
        (&status["type"], &status["status"]),
        (&"group_status".into(), &"member".into())
    );
    assert_eq!(
        (&status["relay"], &status["members"]),
        (&"answers".into(), &2.into())
    );
    assert_eq!(
        (&status["outbox_copies"], &status["issues"]),
        (&0.into(), &0.into())
    );

    drop(relay);
    // Without --wait it is enough that the text is stored; what keeps it is a note.
    let sent = host(folder, &["send", "one"]);
    assert_eq!((sent.exit, sent.only_code()), (0, "relay-refused"));
    assert_eq!(sent.said[0]["type"], "queued");
    // With it, the text is stored as well, and the wait was in vain.
    let sent = host(folder, &["send", "two", "--wait", "0"]);
    assert_eq!((sent.exit, sent.only_code()), (10, "still-waiting"));
    assert_eq!(sent.said[0]["type"], "queued");
    let action = sent.errors[0]["action"].as_str().unwrap();
    assert!(action.starts_with("Don't send it again"), "{action}");

    let status = host(folder, &["status", "--group", "1"]);
    assert_eq!(
        (status.exit, &status.said[0]["outbox_copies"]),
        (0, &2.into())
    );
    assert_eq!(status.said[0]["relay"], "unreachable");
    assert_eq!(status.said[0]["relay_reason"], "refused");
}

fn database(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder.join("host")).unwrap();
    let mut paths = files.map(|entry| entry.unwrap().path());
    paths
        .find(|path| path.extension().is_some_and(|end| end == "db"))
        .unwrap()
}

#[test]
fn an_issue_is_listed_with_its_code_until_it_is_dismissed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _relay = paired(folder);
    assert!(host(folder, &["issues"]).said.is_empty());
    // The data of yesterday is put back under keys that were used since.
    let database = database(folder);
    let yesterday = fs::read(&database).unwrap();
    assert_eq!(host(folder, &["send", "lost"]).exit, 0);
    fs::write(&database, yesterday).unwrap();

    let listed = host(folder, &["issues"]);
    let [issue] = listed.said.as_slice() else {
        panic!("not one issue: {listed:?}");
    };
    assert_eq!(issue["type"], "delivery_issue");
    assert_eq!(issue["issue"], "storeRestored");
    assert!(issue["at_ms"].is_u64());
    let id = issue["id"].to_string();
    let unknown = host(folder, &["issues", "dismiss", "999"]);
    assert_eq!((unknown.exit, unknown.only_code()), (3, "issue-unknown"));
    assert_eq!(host(folder, &["issues"]).said.len(), 1);
    assert_eq!(host(folder, &["issues", "dismiss", &id]).exit, 0);
    assert!(host(folder, &["issues"]).said.is_empty());
    assert_eq!(host(folder, &["issues", "dismiss", "--all"]).exit, 0);
    let none = host(folder, &["issues", "dismiss"]);
    assert_eq!((none.exit, none.only_code()), (2, "usage"));
}
