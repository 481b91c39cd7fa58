//! A relay whose clock is wrong for a while: nothing that was answered with 201 is lost by it.

use crate::client::Request;
use crate::door::{Door, NOW_MS, OTHER_MAILBOX, TOKEN, at};

const DAY_MS: u64 = 24 * 3_600_000;
const YEAR_MS: u64 = 365 * DAY_MS;

fn sequences(page: &serde_json::Value) -> Vec<u64> {
    let envelopes = page["envelopes"].as_array().unwrap().iter();
    envelopes.map(|one| one["seq"].as_u64().unwrap()).collect()
}

/// Devices claim, store and read as ever while the clock is a year back, or an hour. When it is
/// right again everything is there, from before and from then, and ends when it would have.
#[tokio::test]
async fn what_was_stored_outlives_a_clock_that_was_set_back() {
    for back_ms in [3_600_000, 31 * DAY_MS, YEAR_MS] {
        let door = Door::claimed().await;
        let expires = door.store("a2b", 1).await.number("x-relay-expires");
        door.clock.set(NOW_MS - back_ms);
        let claimed = door.claim().await;
        assert_eq!(
            (claimed.status, claimed.number("x-relay-expires")),
            (204, expires)
        );
        let stored = door.store("a2b", 2).await;
        assert_eq!(
            (stored.status, stored.number("x-relay-expires")),
            (201, expires)
        );
        let page = at(&["a2b"]).get().send(door.port).await;
        assert_eq!(sequences(&page.json()), [1, 2]);
        // It says itself when nothing more than that counts.
        door.clock.set(NOW_MS + 30 * DAY_MS - 1);
        let page = at(&["a2b"]).get().send(door.port).await;
        assert_eq!(page.status, 200, "set back by {back_ms} ms");
        assert_eq!(sequences(&page.json()), [1, 2]);
        door.clock.step(1);
        assert_eq!(door.head("a2b").await.status, 404);
    }
}

/// The same with a restart in between: what is written says the same as what was answered.
#[tokio::test]
async fn a_restart_in_the_wrong_time_changes_nothing() {
    let door = Door::claimed().await;
    door.store("a2b", 1).await;
    door.clock.set(NOW_MS - YEAR_MS);
    let expires = door.claim().await.number("x-relay-expires");
    door.store("b2a", 1).await;
    let Door { relay, folder, .. } = door;
    relay.stop().await;
    let path = folder.path().join("inbox.db");
    let door = Door::open_relay(|config| config.store_path = path, |_| ()).await;
    for direction in ["a2b", "b2a"] {
        let head = door.head(direction).await;
        assert_eq!((head.status, head.number("x-relay-count")), (200, Some(1)));
        assert_eq!(head.number("x-relay-expires"), expires, "{direction}");
    }
    drop(folder);
}

/// A mailbox that is made while the clock is a year back ends as soon as it is right, with what
/// is in it: its devices find that it is gone, and claim it again.
#[tokio::test]
async fn a_mailbox_made_in_the_wrong_time_is_made_again() {
    let door = Door::open().await;
    door.clock.set(NOW_MS - YEAR_MS);
    let made = door.claim().await;
    assert_eq!(
        (made.status, made.number("x-relay-created")),
        (201, Some(NOW_MS - YEAR_MS))
    );
    door.store("a2b", 1).await;
    door.clock.set(NOW_MS);
    assert_eq!(door.head("a2b").await.said().0, 404);
    let again = door.claim().await;
    assert_eq!(
        (again.status, again.number("x-relay-created")),
        (201, Some(NOW_MS))
    );
    assert_eq!(door.store("a2b", 1).await.status, 201);
}

/// A clock that leaps a year ahead ends what nobody claims meanwhile; one that isn't touched
/// then is as it was once the clock is right.
#[tokio::test]
async fn a_clock_ahead_ends_only_what_is_looked_at() {
    let door = Door::claimed().await;
    door.store("a2b", 1).await;
    let other = Request::new("PUT", &format!("/v1/mailboxes/{OTHER_MAILBOX}")).bearer(TOKEN);
    assert_eq!(other.send(door.port).await.status, 201);
    door.clock.set(NOW_MS + YEAR_MS);
    let again = other.send(door.port).await;
    assert_eq!(again.number("x-relay-created"), Some(NOW_MS + YEAR_MS));
    door.clock.set(NOW_MS);
    assert_eq!(door.head("a2b").await.number("x-relay-count"), Some(1));
    assert_eq!(other.send(door.port).await.status, 204);
}
