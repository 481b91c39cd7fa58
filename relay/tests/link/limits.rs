//! Rates and caps (specification 4.11, amendment 6).

use std::time::Duration;

use sealpost_protocol::limit::LINK_ENVELOPE_BYTES_MIN;
use sealpost_relay::{Claims, Rate, WebLimits};

use crate::client::Request;
use crate::door::{Door, MAILBOX, OTHER_TOKEN, TOKEN, at, envelope, mailbox, token};

const MINUTE: Duration = Duration::from_secs(60);

fn other_mailbox(number: u32) -> String {
    format!("/v1/mailboxes/{number:032x}")
}

fn claim_of(number: u32) -> Request {
    Request::new("PUT", &other_mailbox(number)).bearer(TOKEN)
}

#[tokio::test]
async fn an_address_that_asks_too_much_waits_and_is_told_how_long() {
    let usual = WebLimits::default().request_rate;
    let door = Door::open_with(|web| web.limits.request_rate = usual).await;
    let info = Request::new("GET", "/v1/info");
    for _ in 0..90 {
        assert_eq!(info.send(door.port).await.status, 200);
    }
    let one_more = info.send(door.port).await;
    assert_eq!(one_more.said(), (429, "rate_limited"));
    assert_eq!(one_more.number("retry-after"), Some(1));
    door.clock.step(34);
    assert_eq!(info.send(door.port).await.status, 200);
    assert_eq!(info.send(door.port).await.status, 429);
    // The relay's own process has no address.
    assert!(
        door.relay
            .mailboxes()
            .claim(&mailbox(), &token())
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn whoever_guesses_is_answered_nothing_for_a_minute() {
    let usual = WebLimits::default().failure_rate;
    let door = Door::open_with(|web| web.limits.failure_rate = usual).await;
    door.claim().await;
    let path = format!("/v1/mailboxes/{MAILBOX}/a2b");
    let guesses = [
        Request::new("HEAD", &path),
        Request::new("HEAD", &path).bearer(OTHER_TOKEN),
        Request::new("HEAD", &format!("{}/a2b", other_mailbox(7))).bearer(TOKEN),
    ];
    for guess in guesses.iter().cycle().take(21) {
        assert!(matches!(
            guess.send(door.port).await.status,
            401 | 403 | 404
        ));
    }
    let waiting = at(&["a2b"]).get().send(door.port).await;
    assert_eq!(waiting.said(), (429, "rate_limited"), "whatever is asked");
    assert_eq!(waiting.number("retry-after"), Some(60));
    door.clock.step(59_999);
    assert_eq!(door.head("a2b").await.status, 429);
    door.clock.step(1);
    assert_eq!(door.head("a2b").await.status, 200);
}

#[tokio::test]
async fn a_direction_takes_so_many_envelopes_a_minute() {
    let usual = WebLimits::default().put_rate;
    let door = Door::open_with(|web| web.limits.put_rate = usual).await;
    door.claim().await;
    for sequence in 1..=120 {
        assert_eq!(door.store("a2b", sequence).await.status, 201);
        if sequence == 60 {
            let pruned = at(&["a2b?through=60"]).delete().send(door.port).await;
            assert_eq!(pruned.status, 204);
        }
    }
    let one_more = door.store("a2b", 121).await;
    assert_eq!(one_more.said(), (429, "rate_limited"));
    assert_eq!(one_more.number("retry-after"), Some(1));
    assert_eq!(door.store("b2a", 1).await.status, 201);
    door.clock.step(500);
    assert_eq!(door.store("a2b", 121).await.status, 201);
}

#[tokio::test]
async fn an_address_makes_so_many_mailboxes_an_hour_and_claims_them_as_often_as_it_likes() {
    let usual = WebLimits::default().creation_rate;
    let door = Door::open_with(|web| web.limits.creation_rate = usual).await;
    for number in 0..10 {
        assert_eq!(claim_of(number).send(door.port).await.status, 201);
    }
    let eleventh = claim_of(10).send(door.port).await;
    assert_eq!(eleventh.said(), (429, "rate_limited"));
    assert_eq!(eleventh.number("retry-after"), Some(360));
    assert_eq!(claim_of(0).send(door.port).await.status, 204);
    door.clock.step(360_000);
    assert_eq!(claim_of(10).send(door.port).await.status, 201);
}

#[tokio::test]
async fn a_relay_has_so_many_mailboxes_and_no_more() {
    let door = Door::open_relay(|config| config.mailboxes.mailboxes_max = 2, |_| ()).await;
    for number in 0..2 {
        assert_eq!(claim_of(number).send(door.port).await.status, 201);
    }
    let full = claim_of(2).send(door.port).await;
    assert_eq!(full.said(), (503, "relay_full"));
    assert_eq!(full.number("retry-after"), Some(3_600));
    assert_eq!(claim_of(1).send(door.port).await.status, 204);
    let erased = Request::new("DELETE", &other_mailbox(1)).bearer(TOKEN);
    assert_eq!(erased.send(door.port).await.status, 204);
    assert_eq!(claim_of(2).send(door.port).await.status, 201);
}

#[tokio::test]
async fn only_the_relays_process_makes_mailboxes_where_claims_are_local() {
    let door = Door::open_with(|web| web.claims = Claims::Local).await;
    let claim = at(&[]).put();
    assert_eq!(claim.send(door.port).await.said(), (404, "claims_closed"));
    door.relay
        .mailboxes()
        .claim(&mailbox(), &token())
        .await
        .unwrap();
    assert_eq!(claim.send(door.port).await.status, 204);
    let info = Request::new("GET", "/v1/info").send(door.port).await;
    assert_eq!(info.json()["claims"], "local");
    assert_eq!(at(&[]).delete().send(door.port).await.status, 204);
    assert_eq!(claim.send(door.port).await.said(), (404, "claims_closed"));
}

/// One bound of bytes for every door: a full relay refuses an envelope and takes it once
/// something has left.
#[tokio::test]
async fn a_full_relay_takes_no_envelope_until_something_leaves() {
    let charge = LINK_ENVELOPE_BYTES_MIN as u64 + 256;
    let full = |config: &mut sealpost_relay::Config| config.store.total_bytes_max = 2 * charge;
    let door = Door::open_relay(full, |_| ()).await;
    door.claim().await;
    for sequence in 1..=2 {
        assert_eq!(door.store("a2b", sequence).await.status, 201);
    }
    let third = door.store("a2b", 3).await;
    assert_eq!(third.said(), (503, "unavailable"));
    assert!(third.number("retry-after").is_some());
    assert_eq!(
        door.store("a2b", 2).await.status,
        204,
        "it is stored already"
    );
    let pruned = at(&["a2b?through=1"]).delete().send(door.port).await;
    assert_eq!(pruned.status, 204);
    assert_eq!(door.store("a2b", 3).await.status, 201);
}

/// The floor of free disk is one for all doors, too; what makes room is done all the same.
#[tokio::test]
async fn a_disk_below_its_floor_takes_nothing_and_lets_everything_go() {
    let door = Door::claimed().await;
    door.store("a2b", 1).await;
    door.relay.close_web().await;
    let Door { relay, folder, .. } = door;
    relay.stop().await;
    let path = folder.path().join("inbox.db");
    let floor = |config: &mut sealpost_relay::Config| {
        config.store_path = path;
        config.store.disk_free_bytes_min = 1 << 60;
    };
    let door = Door::open_relay(floor, |_| ()).await;
    assert_eq!(door.store("a2b", 2).await.said(), (503, "unavailable"));
    let claim = claim_of(7).send(door.port).await;
    assert_eq!(claim.said(), (503, "unavailable"));
    // Every device claims its own mailbox before it asks for anything else.
    door.clock.step(5_000);
    let own = door.claim().await;
    assert_eq!(own.status, 204);
    assert_eq!(own.number("x-relay-expires"), Some(1_802_592_005));
    assert_eq!(at(&["a2b"]).get().send(door.port).await.status, 200);
    let pruned = at(&["a2b?through=1"]).delete().send(door.port).await;
    assert_eq!(pruned.status, 204);
    assert_eq!(at(&[]).delete().send(door.port).await.status, 204);
    drop(folder);
}

/// Behind a proxy everybody has the proxy's address, so the door believes what it tells.
#[tokio::test]
async fn behind_a_proxy_each_client_has_a_rate_of_its_own() {
    let one = Rate {
        count: 1,
        period: MINUTE,
        burst: 1,
    };
    for is_behind in [true, false] {
        let door = Door::open_with(|web| {
            web.behind_proxy = is_behind;
            web.limits.request_rate = one;
        })
        .await;
        let from =
            |address: &str| Request::new("GET", "/v1/info").header("X-Forwarded-For", address);
        assert_eq!(
            from("192.0.2.9, 198.51.100.1").send(door.port).await.status,
            200
        );
        let expected = if is_behind { 200 } else { 429 };
        let other = from("192.0.2.9, 198.51.100.2").send(door.port).await;
        assert_eq!(other.status, expected);
        let again = from("203.0.113.7, 198.51.100.1").send(door.port).await;
        assert_eq!(
            again.status, 429,
            "what the client itself claims doesn't count"
        );
    }
}

#[tokio::test]
async fn an_address_holds_so_many_connections() {
    let door = Door::open_with(|web| web.limits.connections_per_address_max = 2).await;
    let info = Request::new("GET", "/v1/info");
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", door.port))
            .await
            .unwrap();
        assert_eq!(info.send_on(&mut stream).await.status, 200);
        held.push(stream);
    }
    let mut third = tokio::net::TcpStream::connect(("127.0.0.1", door.port))
        .await
        .unwrap();
    let end = tokio::io::AsyncReadExt::read(&mut third, &mut [0; 1]).await;
    assert!(matches!(end, Ok(0) | Err(_)), "closed, and nothing said");
    drop(held.pop());
    loop {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", door.port))
            .await
            .unwrap();
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, info.head().as_bytes()).await;
        if crate::client::read_answer(&mut stream, false)
            .await
            .is_some()
        {
            break;
        }
    }
}

/// All connections come from the proxy, so its address is no reason to turn one away.
#[tokio::test]
async fn a_proxy_holds_as_many_connections_as_there_may_be() {
    let door = Door::open_with(|web| {
        web.behind_proxy = true;
        web.limits.connections_per_address_max = 1;
    })
    .await;
    let info = Request::new("GET", "/v1/info");
    let mut held = Vec::new();
    for _ in 0..5 {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", door.port))
            .await
            .unwrap();
        assert_eq!(info.send_on(&mut stream).await.status, 200);
        held.push(stream);
    }
}

/// Many at once share commits, and each is answered for itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_envelopes_in_flight_are_answered_each_for_itself() {
    let door = Door::open().await;
    let mailboxes = door.relay.mailboxes();
    let mut tasks = Vec::new();
    for number in 0..8 {
        assert_eq!(claim_of(number).send(door.port).await.status, 201);
        let port = door.port;
        tasks.push(tokio::spawn(async move {
            let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .unwrap();
            for sequence in 1..=64 {
                let path = format!("{}/a2b/{sequence}", other_mailbox(number));
                let put = Request::new("PUT", &path)
                    .bearer(TOKEN)
                    .body(&envelope(sequence));
                assert_eq!(put.send_on(&mut stream).await.status, 201);
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    drop(mailboxes);
    assert_eq!(door.relay.numbers().mailbox_envelopes, 512);
}
