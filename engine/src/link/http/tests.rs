//! The HTTP transport against doors that a test plays.

use std::sync::Mutex;
use std::time::Duration;

use sealpost_protocol::link::key::{LinkToken, MailboxId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;
use crate::core::link::{Refused, RefusedError};

fn address() -> LinkAddress {
    LinkAddress {
        mailbox: MailboxId::from_bytes([0xab; 16]),
        token: LinkToken::from_bytes([0xff; 32]),
    }
}

const TOKEN: &str = "__________________________________________8";

/// A door that answers each request on a connection with the next of its answers, and closes
/// the connection after the last one. Returns what it was asked, connection by connection.
async fn door(connections: Vec<Vec<&'static str>>) -> (RelayUrl, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mail", listener.local_addr().unwrap());
    let (told, asked) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for answers in connections {
            let (mut stream, _) = listener.accept().await.unwrap();
            for answer in answers {
                let head = read_head(&mut stream).await;
                told.send(head).unwrap();
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
        std::future::pending::<()>().await;
    });
    (RelayUrl::parse(&url).unwrap(), asked)
}

/// The head of a request; none of the tests' requests has a body that matters.
async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

const MADE: &str = "HTTP/1.1 204 No Content\r\nX-Relay-Created: 7\r\n\r\n";

#[tokio::test]
async fn a_request_has_its_path_and_the_token_in_a_header_only() {
    let (url, mut asked) = door(vec![vec![MADE; 4]]).await;
    let transport = HttpTransport::new(url);
    let direction = Direction::BToA;
    let requests = [
        (LinkRequest::Claim, "PUT", ""),
        (LinkRequest::Erase, "DELETE", ""),
        (
            LinkRequest::Page {
                direction,
                after: 41,
            },
            "GET",
            "/b2a?after=41&limit=16",
        ),
        (
            LinkRequest::Prune {
                direction,
                through: 9,
            },
            "DELETE",
            "/b2a?through=9",
        ),
    ];
    for (request, method, path) in requests {
        drop(transport.perform(address(), request).await);
        let head = asked.recv().await.unwrap();
        let mailbox = "ab".repeat(16);
        let line = format!("{method} /mail/v1/mailboxes/{mailbox}{path} HTTP/1.1\r\n");
        assert!(head.starts_with(&line), "{head}");
        assert!(!line.contains(TOKEN));
        let lower = head.to_ascii_lowercase();
        assert!(lower.contains("\r\nauthorization: bearer "), "{head}");
        assert_eq!(head.matches(TOKEN).count(), 1);
    }
}

#[tokio::test]
async fn a_connection_is_kept_and_one_that_was_closed_meanwhile_costs_nothing() {
    let refused =
        "HTTP/1.1 404 Not Found\r\nX-Relay-Error: no_mailbox\r\nContent-Length: 0\r\n\r\n";
    let (url, mut asked) = door(vec![vec![MADE, MADE], vec![refused]]).await;
    let transport = HttpTransport::new(url);
    for _ in 0..2 {
        let answer = transport
            .perform(address(), LinkRequest::Claim)
            .await
            .unwrap();
        assert!(matches!(answer, Answer::Done(done) if done.headers.created_ms == Some(7)));
    }
    // The door has closed the connection; the third request goes over a new one.
    let answer = transport.perform(address(), LinkRequest::Claim).await;
    let expected = Refused {
        status: 404,
        error: RefusedError::NoMailbox,
        last: None,
        retry_after_s: None,
    };
    assert_eq!(answer, Ok(Answer::Refused(expected)));
    for _ in 0..3 {
        asked.recv().await.unwrap();
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_and_one_where_something_else_does_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let transport = HttpTransport::new(RelayUrl::parse(&url).unwrap());
    let answer = transport.perform(address(), LinkRequest::Claim).await;
    assert_eq!(answer, Err(LinkFailure::Refused));
    let (url, _asked) = door(vec![vec!["220 mail.example ESMTP\r\n"]]).await;
    let transport = HttpTransport::new(url);
    let answer = transport.perform(address(), LinkRequest::Claim).await;
    assert_eq!(answer, Err(LinkFailure::SomethingElse));
}

#[tokio::test]
async fn a_watch_that_is_refused_or_broken_says_that_it_is_closed() {
    let refused = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
    let broken = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    for answer in [refused, broken] {
        let (url, mut asked) = door(vec![vec![answer]]).await;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&heard);
        let sink: WatchSink = Arc::new(move |event| told.lock().unwrap().push(event));
        let transport = HttpTransport::new(url);
        transport.watch(address(), Direction::AToB, sink).await;
        let closed = WatchEvent::Closed(WatchClose::Other);
        assert_eq!(*heard.lock().unwrap(), [closed]);
        let head = asked.recv().await.unwrap();
        assert!(head.contains("/a2b/watch HTTP/1.1\r\n"), "{head}");
        assert_eq!(head.matches(TOKEN).count(), 1);
    }
}

/// A paused clock goes on by itself once everybody waits.
#[tokio::test(start_paused = true)]
async fn a_watch_that_says_nothing_for_75_seconds_is_lost_and_a_beat_keeps_it() {
    let (near, far) = tokio::io::duplex(1_024);
    let begun = tokio::time::Instant::now();
    let server = tokio::spawn(async move {
        let mut socket = tokio_tungstenite::WebSocketStream::from_raw_socket(
            far,
            tokio_tungstenite::tungstenite::protocol::Role::Server,
            None,
        )
        .await;
        use futures_util::SinkExt as _;
        use tokio_tungstenite::tungstenite::Message;
        tokio::time::sleep(Duration::from_secs(70)).await;
        let beat = Message::text(r#"{"type":"beat"}"#);
        socket.send(beat).await.unwrap();
        std::future::pending::<()>().await;
    });
    let mut socket = Socket::over(Box::new(near)).await;
    assert!(matches!(socket.next().await, Heard::Text(_)));
    assert!(matches!(socket.next().await, Heard::Lost));
    assert_eq!(begun.elapsed(), Duration::from_secs(145));
    server.abort();
}
