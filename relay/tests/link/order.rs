//! Which answer comes first where several fit (specification 4.3, amendments 19 and 22).

use crate::client::Request;
use crate::door::{Door, MAILBOX, OTHER_MAILBOX, OTHER_TOKEN, TOKEN, envelope};
use sealpost_relay::Hosts;

/// Each request has one mistake less than the one before.
#[tokio::test]
async fn the_first_mistake_is_the_one_that_is_told() {
    let door = Door::open_with(|web| {
        web.hosts = Hosts::Listed(vec!["relay.test".to_owned()]);
    })
    .await;
    door.claim().await;
    let path = |mailbox: &str, rest: &str| format!("/v1/mailboxes/{mailbox}{rest}");
    let foreign = |request: Request| request.header("Origin", "https://evil.test");
    let steps = [
        (
            foreign(Request::new("POST", &path("XY", "/a2b/0"))).host(Some("evil.test")),
            (421, "bad_host"),
        ),
        (
            foreign(Request::new("POST", &path("XY", "/a2b/0"))),
            (403, "origin_denied"),
        ),
        (
            Request::new("POST", &path("XY", "/a2b/0")),
            (405, "method_not_allowed"),
        ),
        (
            Request::new("PUT", &path("XY", "/a2b/0")),
            (400, "bad_request"),
        ),
        (
            Request::new("PUT", &path(OTHER_MAILBOX, "/a2b/1")),
            (401, "unauthorized"),
        ),
        (
            Request::new("PUT", &path(OTHER_MAILBOX, "/a2b/1")).bearer(OTHER_TOKEN),
            (404, "no_mailbox"),
        ),
        (
            Request::new("PUT", &path(MAILBOX, "/a2b/1")).bearer(OTHER_TOKEN),
            (403, "wrong_token"),
        ),
        (
            Request::new("PUT", &path(MAILBOX, "/a2b/1"))
                .bearer(TOKEN)
                .body(&[7; 65_537]),
            (413, "envelope_too_large"),
        ),
        (
            Request::new("PUT", &path(MAILBOX, "/a2b/1"))
                .bearer(TOKEN)
                .body(&[7; 305]),
            (400, "bad_envelope"),
        ),
        (
            Request::new("PUT", &path(MAILBOX, "/a2b/1"))
                .bearer(TOKEN)
                .body(&envelope(1)),
            (201, ""),
        ),
    ];
    for (request, expected) in steps {
        assert_eq!(
            request.send(door.port).await.said(),
            expected,
            "{request:?}"
        );
    }
}

#[tokio::test]
async fn a_path_with_other_methods_names_them() {
    let door = Door::claimed().await;
    let mailbox = format!("/v1/mailboxes/{MAILBOX}");
    for (path, allowed) in [
        ("/v1/info".to_owned(), "GET"),
        (mailbox.clone(), "PUT, DELETE"),
        (format!("{mailbox}/a2b"), "HEAD, GET, DELETE"),
        (format!("{mailbox}/a2b/1"), "PUT"),
        (format!("{mailbox}/a2b/watch"), "GET"),
    ] {
        for method in ["POST", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            let answer = Request::new(method, &path)
                .bearer(TOKEN)
                .send(door.port)
                .await;
            assert_eq!(
                answer.said(),
                (405, "method_not_allowed"),
                "{method} {path}"
            );
            assert_eq!(answer.header("allow"), Some(allowed));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_before_anybody_looks_at_the_token() {
    let door = Door::claimed().await;
    let mailbox = format!("/v1/mailboxes/{MAILBOX}");
    let requests = [
        ("PUT", "/v1/mailboxes/000102030405060708090A0B0C0D0E0F"),
        ("PUT", "/v1/mailboxes/00"),
        ("PUT", &format!("{mailbox}00")),
        ("PUT", &format!("{mailbox}%30")),
        ("HEAD", &format!("{mailbox}/A2B")),
        ("GET", &format!("{mailbox}/c2d")),
        ("PUT", &format!("{mailbox}/a2b/0")),
        ("PUT", &format!("{mailbox}/a2b/01")),
        ("PUT", &format!("{mailbox}/a2b/+1")),
        ("PUT", &format!("{mailbox}/a2b/-1")),
        ("PUT", &format!("{mailbox}/a2b/1.0")),
        ("PUT", &format!("{mailbox}/a2b/9007199254740992")),
        ("PUT", &format!("{mailbox}/a2b/18446744073709551617")),
        ("PUT", &format!("{mailbox}/a2b/")),
        ("GET", &format!("{mailbox}/a2b?after=-1")),
        ("GET", &format!("{mailbox}/a2b?after=")),
        ("GET", &format!("{mailbox}/a2b?after=1&after=2")),
        ("GET", &format!("{mailbox}/a2b?limit=0")),
        ("GET", &format!("{mailbox}/a2b?limit=x")),
        ("DELETE", &format!("{mailbox}/a2b")),
        ("DELETE", &format!("{mailbox}/a2b?through=0")),
        ("DELETE", &format!("{mailbox}/a2b?through=9007199254740992")),
    ];
    for (method, path) in requests {
        let answer = Request::new(method, path).send(door.port).await;
        let code = answer.header("x-relay-error");
        assert_eq!(
            (answer.status, code),
            (400, Some("bad_request")),
            "{method} {path}"
        );
    }
    for path in [
        "/v1/",
        "/v1/mailboxes",
        "/v2/info",
        "/v1/info/",
        "/x",
        &format!("{mailbox}/a2b/1/2"),
    ] {
        let answer = Request::new("GET", path)
            .bearer(TOKEN)
            .send(door.port)
            .await;
        assert_eq!(answer.said(), (404, "not_found"), "{path}");
    }
}

#[tokio::test]
async fn a_token_is_one_header_of_forty_three_characters() {
    let door = Door::claimed().await;
    let path = format!("/v1/mailboxes/{MAILBOX}/a2b");
    let with = |value: &str| Request::new("GET", &path).header("Authorization", value);
    let short = TOKEN.strip_prefix('A').unwrap();
    for value in [
        String::new(),
        "Bearer".to_owned(),
        TOKEN.to_owned(),
        format!("Basic {TOKEN}"),
        format!("Bearer {TOKEN}="),
        format!("Bearer {TOKEN} {TOKEN}"),
        format!("Bearer {short}"),
        format!("Bearer {short}!"),
        // The last two bits of the last character stand for nothing, and are nought.
        format!("Bearer {}F", TOKEN.strip_suffix('E').unwrap()),
    ] {
        let answer = with(&value).send(door.port).await;
        assert_eq!(answer.said(), (401, "unauthorized"), "{value}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let twice = with(&format!("Bearer {TOKEN}")).bearer(TOKEN);
    assert_eq!(twice.send(door.port).await.status, 401);
    let offered =
        Request::new("GET", &path).header("Sec-WebSocket-Protocol", &format!("bearer.{TOKEN}"));
    assert_eq!(
        offered.send(door.port).await.status,
        401,
        "only for a watch"
    );
    let any_case = with(&format!("bEARER {TOKEN}"));
    assert_eq!(any_case.send(door.port).await.status, 200);
}

/// Exactly these two belong to another door, with a rule of its own for origins.
#[tokio::test]
async fn the_two_paths_of_wormholes_are_none_of_this_doors() {
    let door = Door::open_with(|web| web.page = true).await;
    for path in ["/", "/v1"] {
        for method in ["GET", "POST"] {
            let answer = Request::new(method, path)
                .header("Origin", "https://evil.test")
                .send(door.port)
                .await;
            let code = answer.header("x-relay-error").unwrap_or_default();
            let of_this_door = ["origin_denied", "method_not_allowed", "unauthorized"];
            assert!(!of_this_door.contains(&code), "{method} {path}: {code}");
        }
    }
    let beside = Request::new("GET", "/v1/").header("Origin", "https://evil.test");
    assert_eq!(beside.send(door.port).await.said(), (403, "origin_denied"));
}
