//! What each route answers, header by header (specification 4.1 to 4.10).

use sealpost_protocol::limit::LINK_MAILBOX_LIFE_MS;

use crate::client::Request;
use crate::door::{Door, MAILBOX, NOW_MS, OTHER_TOKEN, at, envelope, mailbox, token};

const LIFE_S: u64 = LINK_MAILBOX_LIFE_MS / 1_000;

#[tokio::test]
async fn a_claim_tells_when_it_was_made_and_when_it_ends() {
    let door = Door::open().await;
    let first = at(&[]).put().send(door.port).await;
    assert_eq!(first.said(), (201, ""));
    assert_eq!(first.number("x-relay-created"), Some(NOW_MS));
    assert_eq!(
        first.number("x-relay-expires"),
        Some(NOW_MS / 1_000 + LIFE_S)
    );
    assert_eq!(first.header("cache-control"), Some("no-store"));
    assert!(first.body.is_empty());
    door.clock.step(2_000);
    let second = at(&[]).put().send(door.port).await;
    assert_eq!(second.said(), (204, ""));
    assert_eq!(second.number("x-relay-created"), Some(NOW_MS));
    assert_eq!(
        second.number("x-relay-expires"),
        Some(NOW_MS / 1_000 + 2 + LIFE_S)
    );
    let path = format!("/v1/mailboxes/{MAILBOX}");
    let other = Request::new("PUT", &path).bearer(OTHER_TOKEN);
    assert_eq!(other.send(door.port).await.said(), (403, "wrong_token"));
}

#[tokio::test]
async fn a_head_has_every_header_and_no_body() {
    let door = Door::claimed().await;
    let fresh = door.head("a2b").await;
    assert_eq!(fresh.status, 200);
    assert_eq!(fresh.header("x-relay-last"), None);
    assert_eq!(fresh.number("x-relay-count"), Some(0));
    assert_eq!(fresh.header("x-relay-oldest"), None);
    assert_eq!(fresh.number("x-relay-created"), Some(NOW_MS));
    assert_eq!(
        fresh.number("x-relay-expires"),
        Some(NOW_MS / 1_000 + LIFE_S)
    );
    for sequence in [3, 9] {
        assert_eq!(door.store("a2b", sequence).await.said(), (201, ""));
    }
    let used = door.head("a2b").await;
    let numbers = ["x-relay-last", "x-relay-count", "x-relay-oldest"];
    assert_eq!(
        numbers.map(|name| used.number(name)),
        [Some(9), Some(2), Some(3)]
    );
    let absent = at(&["b2a"]).head().bearer("twice").send(door.port).await;
    assert_eq!(
        (absent.status, absent.header("x-relay-error")),
        (401, Some("unauthorized"))
    );
    assert!(absent.body.is_empty());
}

#[tokio::test]
async fn a_page_is_json_that_curl_can_read() {
    let door = Door::claimed().await;
    for sequence in 1..=20 {
        door.store("a2b", sequence).await;
    }
    let page = at(&["a2b?after=2&limit=2"]).get().send(door.port).await;
    assert_eq!(page.said(), (200, ""));
    assert_eq!(page.header("content-type"), Some("application/json"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.number("x-relay-more"), Some(16));
    assert_eq!(page.number("x-relay-last"), Some(20));
    let envelopes = page.json();
    let envelopes = envelopes["envelopes"].as_array().unwrap();
    assert_eq!(envelopes.len(), 2);
    assert_eq!(envelopes[0]["seq"], 3);
    let data = envelopes[0]["data"].as_str().unwrap();
    assert!(data.starts_with("AAAAAAAAAANaWlpa"), "{data}");
    assert_eq!(data.len(), (envelope(3).len() * 4).div_ceil(3));
    let clamped = at(&["a2b?limit=1000"]).get().send(door.port).await;
    assert_eq!(clamped.json()["envelopes"].as_array().unwrap().len(), 16);
    assert_eq!(clamped.number("x-relay-more"), Some(4));
    let last = at(&["a2b?after=16"]).get().send(door.port).await;
    assert_eq!(last.number("x-relay-more"), Some(0));
    let none = at(&["b2a"]).get().send(door.port).await;
    assert_eq!(none.body, br#"{"envelopes":[]}"#);
}

#[tokio::test]
async fn a_put_tells_the_last_and_a_repeated_one_stores_nothing() {
    let door = Door::claimed().await;
    let first = door.store("a2b", 1).await;
    assert_eq!(
        (first.said(), first.number("x-relay-last")),
        ((201, ""), Some(1))
    );
    let again = door.store("a2b", 1).await;
    assert_eq!(
        (again.said(), again.number("x-relay-last")),
        ((204, ""), Some(1))
    );
    let taken = at(&["a2b", "1"])
        .put()
        .body(&envelope(2))
        .send(door.port)
        .await;
    assert_eq!(taken.said(), (409, "sequence_taken"));
    assert_eq!(taken.number("x-relay-last"), Some(1));
    assert_eq!(taken.json()["last"], 1);
    let jump = at(&["a2b", "16777218"])
        .put()
        .body(&envelope(2))
        .send(door.port)
        .await;
    assert_eq!(jump.said(), (400, "sequence_jump"));
    let pruned = at(&["a2b?through=1"]).delete().send(door.port).await;
    assert_eq!(
        (pruned.said(), pruned.number("x-relay-last")),
        ((204, ""), Some(1))
    );
    let after = door.store("a2b", 1).await;
    assert_eq!(after.status, 204, "the same bytes after they were pruned");
    assert_eq!(door.head("a2b").await.number("x-relay-count"), Some(0));
}

#[tokio::test]
async fn a_full_direction_says_so_and_knows_what_it_has() {
    let door = Door::claimed().await;
    for sequence in 1..=64 {
        assert_eq!(door.store("a2b", sequence).await.status, 201);
    }
    let full = door.store("a2b", 65).await;
    assert_eq!(full.said(), (507, "direction_full"));
    assert_eq!(full.number("x-relay-last"), Some(64));
    assert_eq!(full.number("x-relay-count"), Some(64));
    assert_eq!(door.store("a2b", 64).await.status, 204);
    assert_eq!(door.store("a2b", 1).await.status, 204);
    assert_eq!(door.store("b2a", 1).await.status, 201);
}

#[tokio::test]
async fn an_erased_mailbox_is_gone_and_free() {
    let door = Door::claimed().await;
    door.store("a2b", 1).await;
    assert_eq!(at(&[]).delete().send(door.port).await.said(), (204, ""));
    for request in [
        at(&[]).delete(),
        at(&["a2b?through=1"]).delete(),
        at(&["a2b"]).get(),
    ] {
        assert_eq!(request.send(door.port).await.said(), (404, "no_mailbox"));
    }
    let path = format!("/v1/mailboxes/{MAILBOX}");
    let other = Request::new("PUT", &path).bearer(OTHER_TOKEN);
    assert_eq!(other.send(door.port).await.status, 201);
    assert_eq!(
        door.claim_as_before().await,
        (403, "wrong_token".to_owned())
    );
}

impl Door {
    async fn claim_as_before(&self) -> (u16, String) {
        let answer = at(&[]).put().send(self.port).await;
        let (status, code) = answer.said();
        (status, code.to_owned())
    }
}

#[tokio::test]
async fn thirty_days_end_to_the_millisecond() {
    let door = Door::claimed().await;
    door.clock.step(1_000);
    door.store("a2b", 1).await;
    door.clock.step(LINK_MAILBOX_LIFE_MS - 1);
    let foreign = Request::new("PUT", &at(&[]).0).bearer(OTHER_TOKEN);
    let taken = at(&["a2b", "1"]).put().body(&envelope(2));
    // Nothing of this is a claim or an envelope that is stored.
    for _ in 0..2 {
        at(&["a2b"]).get().send(door.port).await;
        at(&["a2b?through=1"]).delete().send(door.port).await;
        assert_eq!(door.store("a2b", 1).await.status, 204);
        assert_eq!(taken.send(door.port).await.status, 409);
        assert_eq!(foreign.send(door.port).await.status, 403);
        let head = door.head("a2b").await;
        assert_eq!(head.number("x-relay-last"), Some(1));
        assert_eq!(
            head.number("x-relay-expires"),
            Some(NOW_MS / 1_000 + 1 + LIFE_S)
        );
    }
    door.clock.step(1);
    assert_eq!(door.head("a2b").await.status, 404);
    assert_eq!(door.store("a2b", 2).await.said(), (404, "no_mailbox"));
    let again = door.claim().await;
    assert_eq!(again.status, 201);
    assert_eq!(door.head("a2b").await.header("x-relay-last"), None);
}

#[tokio::test]
async fn the_protocol_and_its_limits_are_told_to_everybody() {
    let door = Door::open().await;
    let info = Request::new("GET", "/v1/info").send(door.port).await;
    assert_eq!(info.said(), (200, ""));
    let info = info.json();
    assert_eq!(info["protocol"], "paired-mailbox/1");
    assert_eq!((&info["slots"], &info["page"]), (&64.into(), &16.into()));
    assert_eq!(info["envelope_bytes_max"], 65_536);
    assert_eq!(info["life_seconds"], 2_592_000);
}

/// The relay's own process and the port are two ways to the same mailboxes.
#[tokio::test]
async fn the_process_and_the_port_share_mailboxes_and_the_port_may_close() {
    let door = Door::open().await;
    let here = door.relay.mailboxes();
    assert!(here.claim(&mailbox(), &token()).await.unwrap().is_new);
    assert_eq!(door.claim().await.status, 204);
    door.store("a2b", 1).await;
    let direction = sealpost_protocol::link::key::Direction::AToB;
    let page = here.page(&mailbox(), &token(), direction, 0).await.unwrap();
    assert_eq!(page.envelopes[0].1, envelope(1));
    door.relay.close_web().await;
    assert_eq!(door.relay.ports().web, None);
    let refused = tokio::net::TcpStream::connect(("127.0.0.1", door.port)).await;
    assert!(refused.is_err(), "the port is closed");
    let pruned = here
        .prune(&mailbox(), &token(), direction, 1)
        .await
        .unwrap();
    assert_eq!(pruned.count, 0);
    let port = door.relay.open_web(crate::door::config()).unwrap();
    assert_eq!(
        at(&["a2b"]).head().send(port).await.number("x-relay-last"),
        Some(1)
    );
    let twice = door.relay.open_web(crate::door::config());
    assert!(twice.is_err(), "it is open");
    let numbers = door.relay.numbers();
    assert_eq!((numbers.mailboxes, numbers.mailbox_envelopes), (1, 0));
    here.erase(&mailbox(), &token()).await.unwrap();
    door.relay.stop().await;
}
