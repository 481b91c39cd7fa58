//! The health endpoint (specification 2.10).

use tokio::io::AsyncWriteExt;

use crate::raw_client::{connect, read_to_end};
use crate::test_relay::TestRelay;

async fn ask(relay: &TestRelay, method: &str, path: &str) -> String {
    let mut stream = connect(relay.relay.ports().health.unwrap()).await;
    let request = format!("{method} {path} HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    String::from_utf8(read_to_end(&mut stream).await).unwrap()
}

#[tokio::test]
async fn a_serving_relay_says_so() {
    let relay = TestRelay::start().await;
    let answer = ask(&relay, "GET", "/healthz").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let expected = r#"{"status":"ok","transport_version":{"min":1,"max":1},"dev_mode":false}"#;
    assert_eq!(body, expected);
}

#[tokio::test]
async fn development_mode_is_reported() {
    let relay = TestRelay::start_with(|config| config.dev_mode = true).await;
    assert!(
        ask(&relay, "GET", "/healthz")
            .await
            .ends_with(r#""dev_mode":true}"#)
    );
}

#[tokio::test]
async fn only_get_and_head_of_one_path_are_answered() {
    let relay = TestRelay::start().await;
    let head = ask(&relay, "HEAD", "/healthz").await;
    assert!(
        head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    for path in [
        "/",
        "/metric",
        "/metrics/",
        "/healthz/",
        "/healthz/x",
        "/HEALTHZ",
    ] {
        assert!(
            ask(&relay, "GET", path).await.starts_with("HTTP/1.1 404 "),
            "{path}"
        );
    }
    for method in ["POST", "PUT", "DELETE"] {
        assert!(
            ask(&relay, method, "/healthz")
                .await
                .starts_with("HTTP/1.1 405 "),
            "{method}"
        );
    }
}
