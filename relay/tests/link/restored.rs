//! A relay whose database is the one of yesterday.

use std::path::Path;
use std::process::Command;

use crate::client::Request;
use crate::door::{Door, NOW_MS, OTHER_MAILBOX, TOKEN, at, mailbox, token};

const DAY_MS: u64 = 24 * 3_600_000;

/// A copy as an operator makes it, while the relay works.
fn back_up(door: &Door, copy: &Path) {
    let mut backup = Command::new(env!("CARGO_BIN_EXE_sealpost-relay"));
    backup.current_dir(door.folder.path()).env_clear();
    backup.args(["backup", "--data-dir", "."]).arg(copy);
    let output = backup.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

fn other(method: &str) -> Request {
    Request::new(method, &format!("/v1/mailboxes/{OTHER_MAILBOX}")).bearer(TOKEN)
}

/// Two mailboxes with an envelope in each direction; the copy; then a day on which one goes on
/// and the other one is erased; then the copy again, under an open door.
async fn restored() -> (Door, u64) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("inbox.db");
    let door = Door::claimed().await;
    let expires = door.claim().await.number("x-relay-expires").unwrap();
    assert_eq!(other("PUT").send(door.port).await.status, 201);
    door.store("a2b", 1).await;
    door.store("b2a", 1).await;
    back_up(&door, &copy);
    door.clock.step(DAY_MS);
    assert_eq!(door.claim().await.status, 204);
    for sequence in 2..=5 {
        assert_eq!(door.store("a2b", sequence).await.status, 201);
    }
    assert_eq!(
        at(&["b2a?through=1"]).delete().send(door.port).await.status,
        204
    );
    assert_eq!(other("DELETE").send(door.port).await.status, 204);
    let Door { relay, .. } = door;
    relay.stop().await;
    let path = copy.clone();
    let mut door = Door::open_relay(|config| config.store_path = path, |_| ()).await;
    door.clock.set(NOW_MS + DAY_MS);
    door.folder = folder;
    (door, expires)
}

/// The state is the one of yesterday, whole: the same `created`, the lower last sequence that
/// tells devices to send again, what was pruned since, and yesterday's end.
#[tokio::test]
async fn a_restored_mailbox_says_what_it_has() {
    let (door, expires) = restored().await;
    for direction in ["a2b", "b2a"] {
        let head = door.head(direction).await;
        assert_eq!(head.number("x-relay-last"), Some(1), "{direction}");
        assert_eq!(head.number("x-relay-count"), Some(1), "{direction}");
        assert_eq!(head.number("x-relay-created"), Some(NOW_MS));
        assert_eq!(head.number("x-relay-expires"), Some(expires));
    }
    let claimed = door.claim().await;
    assert_eq!(claimed.status, 204, "it is the same mailbox");
    assert_eq!(
        claimed.number("x-relay-expires"),
        Some(expires + DAY_MS / 1_000)
    );
    // What came after the copy is taken again, above every number that was used.
    assert_eq!(door.store("a2b", 9).await.status, 201);
    let page = at(&["a2b"]).get().send(door.port).await.json();
    assert_eq!(page["envelopes"].as_array().unwrap().len(), 2);
}

/// The mailbox that was erased since is there again, for good if nobody ends it. The process
/// that knows its links does, and the others keep what they have.
#[tokio::test]
async fn what_was_erased_since_the_copy_goes_when_the_process_says_what_it_knows() {
    let (door, _) = restored().await;
    assert_eq!(other("PUT").send(door.port).await.status, 204, "it is back");
    let mailboxes = door.relay.mailboxes();
    mailboxes.retain(&[mailbox()]).await.unwrap();
    let path = format!("/v1/mailboxes/{OTHER_MAILBOX}/a2b");
    let head = Request::new("HEAD", &path).bearer(TOKEN);
    assert_eq!(head.send(door.port).await.status, 404);
    assert_eq!(door.relay.numbers().mailbox_envelopes, 2);
    assert_eq!(door.head("a2b").await.number("x-relay-count"), Some(1));
    mailboxes.retain(&[mailbox()]).await.unwrap();
    assert!(mailboxes.claim(&mailbox(), &token()).await.is_ok());
    mailboxes.retain(&[]).await.unwrap();
    assert_eq!(door.relay.numbers().mailbox_envelopes, 0);
}
