//! Names and origins (specification 9.6).

use sealpost_relay::Hosts;

use crate::client::Request;
use crate::door::{Door, TOKEN, at};

async fn asked(door: &Door, host: Option<&str>) -> u16 {
    let info = Request::new("GET", "/v1/info").host(host);
    info.send(door.port).await.status
}

#[tokio::test]
async fn a_relay_in_an_app_answers_to_its_own_addresses_and_names() {
    let door = Door::open_with(|web| {
        web.hosts = Hosts::Own {
            names: vec!["sealpost-abc.local".to_owned()],
        };
    })
    .await;
    for ours in [
        "127.0.0.1",
        "127.0.0.1:48787",
        "localhost",
        "LOCALHOST:80",
        "sealpost-abc.local",
        "Sealpost-ABC.local.",
        "[::ffff:127.0.0.1]:1",
    ] {
        assert_eq!(asked(&door, Some(ours)).await, 200, "{ours}");
    }
    for others in [
        "evil.test",
        "127.0.0.2",
        "127.0.0.1.evil.test",
        "[::1]",
        "sealpost-abc.local.evil.test",
        "sealpost-abc.local:x",
        "a b",
        "",
        "[127.0.0.1]",
    ] {
        let info = Request::new("GET", "/v1/info").host(Some(others));
        assert_eq!(
            info.send(door.port).await.said(),
            (421, "bad_host"),
            "{others}"
        );
    }
    assert_eq!(asked(&door, None).await, 421);
    let twice = Request::new("GET", "/v1/info")
        .host(Some("localhost"))
        .header("Host", "localhost");
    assert!(matches!(twice.send(door.port).await.status, 400 | 421));
}

#[tokio::test]
async fn configured_names_are_the_only_ones() {
    let door = Door::open_with(|web| {
        web.hosts = Hosts::Listed(vec!["relay.test".to_owned(), "192.0.2.1:8080".to_owned()]);
    })
    .await;
    for (host, status) in [
        ("relay.test", 200),
        ("relay.test:7703", 200),
        ("192.0.2.1:8080", 200),
        ("192.0.2.1", 421),
        ("192.0.2.1:8081", 421),
        ("127.0.0.1", 421),
        ("localhost", 421),
    ] {
        assert_eq!(asked(&door, Some(host)).await, status, "{host}");
    }
    let anywhere = Door::open().await;
    for host in [Some("whatever.test"), Some("127.0.0.1:1"), None] {
        assert_eq!(asked(&anywhere, host).await, 200);
    }
}

#[tokio::test]
async fn pages_of_this_relay_may_use_it_and_those_of_others_may_not() {
    let door = Door::claimed().await;
    let from = |host: &str, origin: &str| {
        let head = at(&["a2b"]).get().host(Some(host));
        head.header("Origin", origin)
    };
    for (host, origin) in [
        ("192.0.2.1:48787", "http://192.0.2.1:48787"),
        ("relay.test", "https://relay.test"),
        ("relay.test:443", "https://relay.test"),
        ("relay.test", "http://relay.test:80"),
        ("RELAY.test", "https://relay.TEST"),
        ("[::1]:7", "http://[::1]:7"),
    ] {
        let answer = from(host, origin).send(door.port).await;
        assert_eq!(answer.status, 200, "{origin} at {host}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    for (host, origin) in [
        ("192.0.2.1:48787", "http://192.0.2.1"),
        ("relay.test", "https://evil.test"),
        ("relay.test", "https://relay.test:8443"),
        ("relay.test", "https://relay.test.evil.test"),
        ("relay.test", "https://relay.test/"),
        ("relay.test", "file://relay.test"),
        ("relay.test", "null"),
        ("relay.test", ""),
    ] {
        let answer = from(host, origin).send(door.port).await;
        assert_eq!(answer.said(), (403, "origin_denied"), "{origin} at {host}");
    }
}

#[tokio::test]
async fn an_origin_that_is_allowed_by_name_may_read_the_answers() {
    let site = "https://phone.example";
    let door = Door::open_with(|web| web.origins = vec![site.to_owned()]).await;
    door.claim().await;
    let preflight = Request::new("OPTIONS", &at(&["a2b", "1"]).0)
        .header("Origin", site)
        .header("Access-Control-Request-Method", "PUT")
        .send(door.port)
        .await;
    assert_eq!(preflight.status, 204);
    for (name, value) in [
        ("access-control-allow-origin", site),
        ("access-control-allow-methods", "GET, HEAD, PUT, DELETE"),
        (
            "access-control-allow-headers",
            "Authorization, Content-Type",
        ),
        ("access-control-max-age", "600"),
        ("vary", "Origin"),
    ] {
        assert_eq!(preflight.header(name), Some(value));
    }
    assert_eq!(preflight.header("access-control-allow-credentials"), None);
    for token in [TOKEN, "wrong"] {
        let path = at(&["a2b"]).0;
        let answer = Request::new("GET", &path)
            .bearer(token)
            .header("Origin", site);
        let answer = answer.send(door.port).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(site));
        let exposed = answer.header("access-control-expose-headers").unwrap();
        for name in [
            "X-Relay-Last",
            "X-Relay-More",
            "X-Relay-Error",
            "Retry-After",
        ] {
            assert!(exposed.contains(name), "{name}");
        }
    }
    let other = at(&["a2b"])
        .get()
        .header("Origin", "https://phone.example.evil.test");
    assert_eq!(other.send(door.port).await.status, 403);
}
