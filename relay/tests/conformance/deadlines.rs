//! Deadlines, configured short.

use std::time::{Duration, Instant};

use sealpost_protocol::frame::Frame;
use tokio::io::AsyncWriteExt;

use crate::client::{Said, Session, device, envelope};
use crate::raw_client::{PREFIX, connect, read_to_end, record};
use crate::test_relay::TestRelay;

/// Later than this nobody would call it the deadline; the machine may be busy.
const SOON: Duration = Duration::from_secs(10);

/// A deadline within which an honest peer comes to speak, however busy the machine is.
const LONG_ENOUGH: Duration = Duration::from_millis(1_500);

pub(crate) async fn a_handshake_that_does_not_come_is_not_waited_for() {
    let limit = Duration::from_millis(200);
    let relay = TestRelay::start_with(|config| config.sessions.handshake = limit).await;
    let half_hello = [PREFIX.as_slice(), &record(&[7; 48])[..20]].concat();
    let hello = [PREFIX.as_slice(), &record(&[7; 32])].concat();
    for (port, first) in [
        (relay.push_port(), &b""[..]),
        (relay.push_port(), b"TS"),
        (relay.push_port(), &half_hello),
        (relay.receive_port(), b""),
        // The relay has answered, and the third message is missing.
        (relay.receive_port(), &hello),
    ] {
        let begin = Instant::now();
        let mut stream = connect(port).await;
        stream.write_all(first).await.unwrap();
        read_to_end(&mut stream).await;
        assert!(begin.elapsed() >= limit && begin.elapsed() < SOON);
    }
}

pub(crate) async fn a_slow_handshake_has_one_deadline_over_all_its_parts() {
    let limit = Duration::from_millis(400);
    let relay = TestRelay::start_with(|config| config.sessions.handshake = limit).await;
    let begin = Instant::now();
    let mut stream = connect(relay.push_port()).await;
    for byte in [PREFIX.as_slice(), &record(&[7; 48])].concat() {
        if stream.write_all(&[byte]).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    read_to_end(&mut stream).await;
    assert!(begin.elapsed() < SOON);
}

pub(crate) async fn a_push_session_ends_in_time_however_busy_it_is() {
    let limit = LONG_ENOUGH;
    let relay = TestRelay::start_with(|config| config.sessions.push_session = limit).await;
    let begin = Instant::now();
    let mut sender = Session::push(&relay).await;
    let mut stored = 0;
    while sender
        .say_push(device(1).public(), &envelope(stored, 100))
        .await
        .is_ok()
    {
        match sender.hear().await {
            Ok(answer) => assert_eq!(answer, Said::Ack),
            Err(_) => break,
        }
        stored += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(begin.elapsed() >= limit && begin.elapsed() < SOON);
    assert!(
        relay.relay.numbers().blobs >= stored,
        "what was acknowledged is there"
    );
}

pub(crate) async fn silence_closes_a_receive_session_and_a_heartbeat_keeps_it() {
    let limit = LONG_ENOUGH;
    let relay = TestRelay::start_with(|config| config.sessions.receive_idle = limit).await;
    let begin = Instant::now();
    let mut silent = Session::receive(&relay, &device(1)).await;
    let mut alive = Session::receive(&relay, &device(2)).await;
    let silence = async {
        silent.assert_closed().await;
        begin.elapsed()
    };
    let heartbeats = async {
        while begin.elapsed() < limit * 2 {
            alive.say(&Frame::Heartbeat).await.unwrap();
            assert_eq!(alive.hear().await.unwrap(), Said::Heartbeat);
            tokio::time::sleep(limit / 30).await;
        }
    };
    let (closed_after, ()) = tokio::join!(silence, heartbeats);
    assert!(closed_after >= limit && closed_after < SOON);
    alive.assert_nothing_waits().await;
}

/// Deliveries are the relay's own frames and don't count as a sign of life.
pub(crate) async fn blobs_do_not_keep_a_silent_device_connected() {
    let limit = LONG_ENOUGH;
    let relay = TestRelay::start_with(|config| config.sessions.receive_idle = limit).await;
    let alice = device(1);
    let mut silent = Session::receive(&relay, &alice).await;
    // The relay counts it from here on.
    silent.assert_nothing_waits().await;
    let mut sender = Session::push(&relay).await;
    let begin = Instant::now();
    let mut number = 0;
    while relay.relay.numbers().receive_sessions > 0 {
        sender.store(alice.public(), &envelope(number, 100)).await;
        number += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(begin.elapsed() < SOON);
    }
    assert_eq!(crate::client::number_of(&silent.hear_blob().await.1), 0);
}
