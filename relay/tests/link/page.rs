//! The phone's page: its headers, and where it isn't served (specification 9.4, amendment 21).

use crate::client::Request;
use crate::door::Door;

#[tokio::test]
async fn the_page_may_load_nothing_from_elsewhere_and_tell_nobody_where_it_was() {
    let door = Door::open_with(|web| web.page = true).await;
    for path in ["/p", "/p/index.html"] {
        let page = Request::new("GET", path).send(door.port).await;
        assert_eq!(page.status, 200);
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        let policy = page.header("content-security-policy").unwrap();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.split("; ").any(|one| one == rule), "{rule}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"));
        assert!(
            page.body.starts_with(b"<!doctype html>") || page.body.starts_with(b"<!DOCTYPE html>")
        );
    }
    let head = Request::new("HEAD", "/p").send(door.port).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    let posted = Request::new("POST", "/p").send(door.port).await;
    assert_eq!(posted.said(), (405, "method_not_allowed"));
    assert_eq!(posted.header("allow"), Some("GET, HEAD"));
}

#[tokio::test]
async fn nothing_else_can_be_read_under_its_path() {
    let door = Door::open_with(|web| web.page = true).await;
    for path in [
        "/p/",
        "/px",
        "/p/../Cargo.toml",
        "/p/%2e%2e/inbox.db",
        "/p//index.html",
        "/p/nothing.js",
    ] {
        let answer = Request::new("GET", path).send(door.port).await;
        assert_eq!(answer.said(), (404, "not_found"), "{path}");
    }
}

#[tokio::test]
async fn a_server_without_a_certificate_serves_no_page() {
    let door = Door::open().await;
    let page = Request::new("GET", "/p").send(door.port).await;
    assert_eq!(page.said(), (404, "not_found"));
}
