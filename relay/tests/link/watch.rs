//! Watches over WebSocket (specification 5).

use std::time::Duration;

use sealpost_protocol::limit::LINK_MAILBOX_LIFE_MS;
use sealpost_protocol::link::key::Direction;
use sealpost_relay::store::{WatchEnd, WatchFrame};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Request as Handshake;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::door::{Door, MAILBOX, NOW_MS, OTHER_TOKEN, TOKEN, at, mailbox, token};

type Socket = WebSocketStream<TcpStream>;

fn handshake(door: &Door, direction: &str) -> Handshake {
    let port = door.port;
    let url = format!("ws://127.0.0.1:{port}/v1/mailboxes/{MAILBOX}/{direction}/watch");
    url.into_client_request().unwrap()
}

fn with(mut handshake: Handshake, name: &'static str, value: &str) -> Handshake {
    handshake.headers_mut().insert(name, value.parse().unwrap());
    handshake
}

async fn open(door: &Door, handshake: Handshake) -> Result<(Socket, Option<String>), u16> {
    let stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
    match tokio_tungstenite::client_async(handshake, stream).await {
        Ok((socket, answer)) => {
            let protocol = answer.headers().get("sec-websocket-protocol");
            let protocol = protocol.map(|protocol| protocol.to_str().unwrap().to_owned());
            Ok((socket, protocol))
        }
        Err(Error::Http(answer)) => Err(answer.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

async fn watch(door: &Door, direction: &str) -> Socket {
    let handshake = handshake(door, direction);
    let bearer = format!("Bearer {TOKEN}");
    let opened = open(door, with(handshake, "authorization", &bearer)).await;
    opened.unwrap().0
}

/// The next thing that isn't a ping.
async fn next(socket: &mut Socket) -> Option<Message> {
    loop {
        let message = futures_util_next(socket).await?;
        if !matches!(message, Message::Ping(_)) {
            return Some(message);
        }
    }
}

async fn futures_util_next(socket: &mut Socket) -> Option<Message> {
    use futures_util::StreamExt as _;
    socket.next().await?.ok()
}

async fn frame(socket: &mut Socket) -> serde_json::Value {
    match next(socket).await {
        Some(Message::Text(text)) => serde_json::from_str(&text).unwrap(),
        other => panic!("a frame was expected: {other:?}"),
    }
}

async fn close(socket: &mut Socket) -> (u16, String) {
    loop {
        match next(socket).await {
            Some(Message::Close(Some(close))) => {
                return (close.code.into(), close.reason.to_string());
            }
            Some(Message::Text(_)) => {}
            other => panic!("a close was expected: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_watch_tells_what_happens_in_its_direction() {
    let door = Door::claimed().await;
    door.store("a2b", 41).await;
    let mut socket = watch(&door, "a2b").await;
    let state = serde_json::json!({"type": "state", "last": 41, "count": 1, "created": NOW_MS});
    assert_eq!(frame(&mut socket).await, state);
    let mut other = watch(&door, "b2a").await;
    let empty = serde_json::json!({"type": "state", "last": null, "count": 0, "created": NOW_MS});
    assert_eq!(frame(&mut other).await, empty);
    door.store("a2b", 42).await;
    let stored = serde_json::json!({"type": "stored", "last": 42, "count": 2});
    assert_eq!(frame(&mut socket).await, stored);
    at(&["a2b?through=42"]).delete().send(door.port).await;
    let pruned = serde_json::json!({"type": "pruned", "count": 0});
    assert_eq!(frame(&mut socket).await, pruned);
    assert_eq!(door.relay.numbers().watches, 2);
}

/// A browser offers two subprotocols; the one with the token is never echoed.
#[tokio::test]
async fn a_browser_shows_its_token_as_a_subprotocol_that_is_not_echoed() {
    let door = Door::claimed().await;
    let offered = format!("mailbox.watch.v1, bearer.{TOKEN}");
    let handshake = with(handshake(&door, "b2a"), "sec-websocket-protocol", &offered);
    let (mut socket, protocol) = open(&door, handshake).await.unwrap();
    assert_eq!(protocol.as_deref(), Some("mailbox.watch.v1"));
    assert_eq!(frame(&mut socket).await["type"], "state");
}

#[tokio::test]
async fn a_watch_that_may_not_begin_is_refused_before_it_is_one() {
    let door = Door::claimed().await;
    let plain = || handshake(&door, "a2b");
    let other = |token: &str| with(plain(), "authorization", &format!("Bearer {token}"));
    assert_eq!(open(&door, plain()).await.err(), Some(401));
    assert_eq!(open(&door, other(OTHER_TOKEN)).await.err(), Some(403));
    let twice = format!("mailbox.watch.v1, bearer.{TOKEN}, bearer.{TOKEN}");
    let twice = with(plain(), "sec-websocket-protocol", &twice);
    assert_eq!(open(&door, twice).await.err(), Some(401));
    let foreign = with(other(TOKEN), "origin", "https://evil.test");
    assert_eq!(open(&door, foreign).await.err(), Some(403));
    let origin = format!("http://127.0.0.1:{}", door.port);
    let own = with(other(TOKEN), "origin", &origin);
    assert!(open(&door, own).await.is_ok());
    assert_eq!(
        at(&["a2b", "watch"]).get().send(door.port).await.said(),
        (400, "bad_request")
    );
    at(&[]).delete().send(door.port).await;
    assert_eq!(open(&door, other(TOKEN)).await.err(), Some(404));
}

#[tokio::test]
async fn erasing_closes_the_watches_of_both_directions_with_1000_erased() {
    let door = Door::claimed().await;
    let mut sockets = [watch(&door, "a2b").await, watch(&door, "b2a").await];
    at(&[]).delete().send(door.port).await;
    for socket in &mut sockets {
        assert_eq!(close(socket).await, (1000, "erased".to_owned()));
    }
}

#[tokio::test]
async fn every_other_end_has_another_code() {
    let door = Door::claimed().await;
    let mut oldest = watch(&door, "a2b").await;
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(watch(&door, "a2b").await);
    }
    assert_eq!(close(&mut oldest).await, (4409, "replaced".to_owned()));
    let mut socket = watch(&door, "b2a").await;
    let closing = door.relay.close_web();
    let (closed, ()) = tokio::join!(close(&mut socket), closing);
    assert_eq!(closed, (1001, "going away".to_owned()));
}

/// Found by the beat, long before the next sweep. A watch makes no life longer.
#[tokio::test]
async fn a_watch_whose_mailbox_expires_is_told_so() {
    let door = Door::open_with(|web| web.limits.watch_beat = Duration::from_millis(20)).await;
    door.claim().await;
    door.clock.step(1_000);
    let mut socket = watch(&door, "a2b").await;
    frame(&mut socket).await;
    assert_eq!(frame(&mut socket).await["type"], "beat");
    door.clock.step(LINK_MAILBOX_LIFE_MS - 1_000);
    assert_eq!(close(&mut socket).await, (4410, "expired".to_owned()));
}

/// A computer that slept for so long that the mailboxes of its phones are over: whatever a phone
/// does first, it is told to come back, and the program behind the relay hears of it.
#[tokio::test]
async fn a_phone_that_wakes_before_its_desktop_does_is_not_lost() {
    let door = Door::open_with(|web| {
        web.claims = sealpost_relay::Claims::Local;
        web.limits.watch_beat = Duration::from_millis(20);
    })
    .await;
    let mailboxes = door.relay.mailboxes();
    mailboxes.claim(&mailbox(), &token()).await.unwrap();
    let mut desktop = mailboxes
        .watch(&mailbox(), &token(), Direction::BToA)
        .unwrap();
    desktop.next().await.unwrap();
    let mut phone = watch(&door, "a2b").await;
    door.clock.step(LINK_MAILBOX_LIFE_MS);
    assert_eq!(close(&mut phone).await, (4410, "expired".to_owned()));
    assert_eq!(door.head("a2b").await.said(), (404, "no_mailbox"));
    assert_eq!(door.store("b2a", 1).await.said(), (404, "no_mailbox"));
    let early = at(&[]).put().send(door.port).await;
    assert_eq!(early.said(), (503, "unavailable"));
    assert_eq!(early.number("retry-after"), Some(30));
    let told = WatchFrame::Ended(WatchEnd::Expired);
    assert_eq!(desktop.next().await, Some(told));
    mailboxes.claim(&mailbox(), &token()).await.unwrap();
    assert_eq!(at(&[]).put().send(door.port).await.status, 204);
}

#[tokio::test]
async fn one_watch_too_many_is_closed_with_1013() {
    let door = Door::open_relay(|config| config.mailboxes.watches_max = 1, |_| ()).await;
    door.claim().await;
    let mut first = watch(&door, "a2b").await;
    let mut second = watch(&door, "b2a").await;
    assert_eq!(close(&mut second).await.0, 1013);
    assert_eq!(frame(&mut first).await["type"], "state");
}

#[tokio::test]
async fn a_watch_beats_and_pings_and_ends_when_nobody_answers() {
    let door = Door::open_with(|web| web.limits.watch_beat = Duration::from_millis(20)).await;
    door.claim().await;
    let mut socket = watch(&door, "a2b").await;
    frame(&mut socket).await;
    // Reading answers pings, so it goes on.
    for _ in 0..6 {
        assert_eq!(frame(&mut socket).await["type"], "beat");
    }
    // Without reading there are no answers.
    let wait = async {
        while door.relay.numbers().watches > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
    assert!(waited.is_ok(), "the watch of somebody who is gone stays");
}

/// A process that stood still for longer than its beats takes nobody for gone.
#[tokio::test]
async fn beats_that_were_missed_do_not_come_at_once() {
    let beat = Duration::from_millis(20);
    let door = Door::open_with(|web| web.limits.watch_beat = beat).await;
    door.claim().await;
    let mut socket = watch(&door, "a2b").await;
    frame(&mut socket).await;
    for _ in 0..3 {
        // The relay runs on this thread, too.
        std::thread::sleep(10 * beat);
        assert_eq!(frame(&mut socket).await["type"], "beat");
    }
    assert_eq!(door.relay.numbers().watches, 1);
}

#[tokio::test]
async fn the_other_side_has_nothing_to_say() {
    use futures_util::SinkExt as _;
    let door = Door::claimed().await;
    let mut socket = watch(&door, "a2b").await;
    for said in [
        Message::text("x".repeat(1_024)),
        Message::binary(vec![7; 10]),
    ] {
        socket.send(said).await.unwrap();
    }
    frame(&mut socket).await;
    door.store("a2b", 1).await;
    assert_eq!(frame(&mut socket).await["type"], "stored");
    socket.send(Message::text("x".repeat(1_025))).await.unwrap();
    let (code, _) = close(&mut socket).await;
    assert_eq!(CloseCode::from(code), CloseCode::Size, "1009");
    let mut chatty = watch(&door, "a2b").await;
    for _ in 0..100 {
        // It may be closed in the middle of them.
        let _ = chatty.send(Message::text("again")).await;
    }
    assert_eq!(close(&mut chatty).await.0, 1013);
}
