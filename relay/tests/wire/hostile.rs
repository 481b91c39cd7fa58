//! Clients that keep no rule, while honest ones go on: each test holds the relay in its
//! attack and sends blobs from one honest device to another meanwhile.

use std::io;
use std::time::Duration;

use sealpost_protocol::frame::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{PATIENCE, Said, Session, envelope, new_device, number_of};
use crate::raw_client::{DOORS, Door, PREFIX, RawClient, connect_to, record};
use crate::test_relay::{TestRelay, wait_until};

/// A deadline that ends within a test, and long enough for an honest handshake on a machine
/// that is busy.
const SHORT: Duration = Duration::from_secs(2);

/// Hostile clients of each kind.
const CROWD: usize = 40;

/// Blobs that must come through while an attack lasts.
const HONEST_BLOBS: u64 = 30;

/// Two honest devices: every blob is acknowledged and arrives, one by one and in order.
async fn assert_honest_go_on(relay: &TestRelay) {
    let alice = new_device();
    let mut sender = Session::push(relay).await;
    let mut receiver = Session::receive(relay, &alice).await;
    for number in 0..HONEST_BLOBS {
        let sent = envelope(number, 1_000);
        assert_eq!(sender.store(alice.public(), &sent).await, Said::Ack);
        let (id, delivered) = receiver.hear_blob().await;
        assert_eq!(delivered, sent);
        receiver.acknowledge(id).await;
    }
    receiver.assert_nothing_waits().await;
}

async fn wait_until_alone(relay: &TestRelay) {
    wait_until("the relay has got rid of them", || {
        relay.relay.numbers().connections == 0
    })
    .await;
}

/// A handshake that arrives byte by byte, for longer than its deadline.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_byte_by_byte_are_cut_off_and_hold_nobody_up() {
    let relay = TestRelay::start_with(|config| config.sessions.handshake = SHORT).await;
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        let door = DOORS[number % 2];
        let bytes = match door {
            Door::Push => [PREFIX.as_slice(), &record(&[7; 48])].concat(),
            Door::Receive => [PREFIX.as_slice(), &record(&[7; 32])].concat(),
        };
        let stream = connect_to(&relay, door).await;
        crowd.push(tokio::spawn(drip(stream, bytes)));
    }
    assert_honest_go_on(&relay).await;
    for dripping in crowd {
        let sent = dripping.await.unwrap();
        assert!(sent < 38, "cut off before the handshake was whole: {sent}");
    }
    wait_until_alone(&relay).await;
}

/// Sends a byte now and then until the other side has closed; the bytes that went out.
async fn drip(mut stream: TcpStream, bytes: Vec<u8>) -> usize {
    let mut sent = 0;
    for byte in bytes {
        let pause = tokio::time::sleep(SHORT / 10);
        let mut answer = [0; 100];
        tokio::select! {
            () = pause => {}
            _ = stream.read(&mut answer) => return sent,
        }
        if stream.write_all(&[byte]).await.is_err() {
            return sent;
        }
        sent += 1;
    }
    sent
}

/// Peers that went away without a word: nothing was sent, half a prefix, a handshake, a
/// session. Only deadlines can tell them from slow ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_that_fell_silent_are_let_go_and_hold_nobody_up() {
    let relay = TestRelay::start_with(|config| {
        config.sessions.handshake = SHORT;
        config.sessions.push_session = SHORT * 3;
        config.sessions.receive_idle = SHORT * 3;
    })
    .await;
    let mut silent = Vec::new();
    let mut sessions = Vec::new();
    for _ in 0..CROWD / 8 {
        for door in DOORS {
            silent.push(connect_to(&relay, door).await);
            let mut stream = connect_to(&relay, door).await;
            stream.write_all(b"TSR").await.unwrap();
            silent.push(stream);
        }
        sessions.push(RawClient::push(&relay).await);
        sessions.push(RawClient::receive(&relay, &new_device()).await);
    }
    assert_honest_go_on(&relay).await;
    wait_until_alone(&relay).await;
    drop((silent, sessions));
}

/// Connections that end in a reset, at every stage.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_reset_hold_nobody_up() {
    let relay = TestRelay::start().await;
    for number in 0..CROWD {
        let stream = match number % 4 {
            0 => connect_to(&relay, Door::Push).await,
            1 => connect_to(&relay, Door::Receive).await,
            2 => RawClient::push(&relay).await.stream,
            _ => {
                let mut client = RawClient::receive(&relay, &new_device()).await;
                client.send(&[0x07, 0, 0, 0, 0]).await.unwrap();
                client.stream
            }
        };
        // Without a FIN, and with whatever the relay has said thrown away.
        stream.set_zero_linger().unwrap();
        drop(stream);
    }
    assert_honest_go_on(&relay).await;
    wait_until_alone(&relay).await;
}

/// A device that takes nothing of what waits for it: what the relay holds for it is a chunk,
/// not the inbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn devices_that_never_read_hold_nobody_up_and_little_memory() {
    let relay = TestRelay::start().await;
    let hoarder = new_device();
    let mut sender = Session::push(&relay).await;
    for number in 0..INBOX_BLOBS {
        let blob = envelope(number, INBOX_BLOB_BYTES);
        assert_eq!(sender.store(hoarder.public(), &blob).await, Said::Ack);
    }
    let before = resident_bytes();
    let mut sessions = Vec::new();
    for _ in 0..4 {
        let mut session = Session::receive_narrow(&relay, &hoarder).await;
        session.say(&Frame::Heartbeat).await.unwrap();
        sessions.push(session);
    }
    assert_honest_go_on(&relay).await;
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let grown = after.saturating_sub(before);
        let inboxes = 4 * INBOX_BLOBS * INBOX_BLOB_BYTES as u64;
        assert!(
            grown < inboxes / 2,
            "{grown} bytes more for {inboxes} that wait"
        );
    }
    // They were only slow: one that reads at last gets everything.
    let mut session = sessions.pop().unwrap();
    let mut number = 0;
    while number < INBOX_BLOBS {
        match session.hear().await.unwrap() {
            Said::Deliver(_, envelope) => {
                assert_eq!(number_of(&envelope), number);
                number += 1;
            }
            other => assert_eq!(other, Said::Heartbeat),
        }
    }
}

/// What waits in the inbox of a device that doesn't read: 18 MB.
const INBOX_BLOBS: u64 = 300;
const INBOX_BLOB_BYTES: usize = 60_000;

/// What this process, relay and clients, holds in memory, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1_024)
}

/// Pushes whose answers are never read: the relay stops reading instead of remembering.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pushers_that_never_read_their_answers_are_stopped_and_hold_nobody_up() {
    let relay = TestRelay::start_with(|config| {
        config.sessions.push_session = Duration::from_secs(5);
        config.sessions.push_rate.burst = 1_000_000;
        config.store.inbox_blobs_max = 1_000_000;
    })
    .await;
    let mut crowd = Vec::new();
    for _ in 0..4 {
        let session = RawClient::push(&relay).await;
        crowd.push(tokio::spawn(push_without_reading(session)));
    }
    assert_honest_go_on(&relay).await;
    for pushing in crowd {
        let ended = tokio::time::timeout(PATIENCE, pushing).await;
        assert!(ended.unwrap().unwrap().is_err(), "it was cut off");
    }
    wait_until_alone(&relay).await;
}

async fn push_without_reading(mut session: RawClient) -> io::Result<()> {
    let mut push = vec![0x01, 0, 0, 0, 32];
    push.extend_from_slice(new_device().public().as_bytes());
    loop {
        session.send(&push).await?;
    }
}

/// All places of one port are taken: the other one serves, and so do sessions that are in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_on_one_port_leaves_the_other_and_those_who_are_in() {
    let relay = TestRelay::start_with(|config| config.sessions.connections_max = CROWD).await;
    for flooded in DOORS {
        let alice = new_device();
        let mut sender = Session::push(&relay).await;
        let mut receiver = Session::receive(&relay, &alice).await;
        let mut crowd = Vec::new();
        // Each of them is in the way until the relay has closed what is over its cap.
        for _ in 0..CROWD * 4 {
            crowd.push(connect_to(&relay, flooded).await);
        }
        let mut over = connect_to(&relay, flooded).await;
        assert!(!matches!(over.read(&mut [0; 1]).await, Ok(1..)), "closed");
        for number in 0..HONEST_BLOBS {
            let sent = envelope(number, 300);
            assert_eq!(sender.store(alice.public(), &sent).await, Said::Ack);
            assert_eq!(receiver.hear_blob().await.1, sent);
        }
        match flooded {
            Door::Push => drop(Session::receive(&relay, &new_device()).await),
            Door::Receive => drop(Session::push(&relay).await),
        }
        drop((crowd, over, sender, receiver));
        wait_until_alone(&relay).await;
    }
    assert_honest_go_on(&relay).await;
}

/// Frames that are refused are cheap to send; those who send them are sent away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_malformed_frames_and_heartbeats_hold_nobody_up() {
    let relay = TestRelay::start().await;
    let mut crowd = Vec::new();
    for number in 0..CROWD / 2 {
        let device = new_device();
        let client = match number % 2 {
            0 => RawClient::push(&relay).await,
            _ => RawClient::receive(&relay, &device).await,
        };
        crowd.push(tokio::spawn(send_until_closed(client, &[0x03, 0, 0, 0, 1])));
    }
    let beating = RawClient::receive(&relay, &new_device()).await;
    let beating = tokio::spawn(send_until_closed(beating, &[0x03, 0, 0, 0, 0]));
    assert_honest_go_on(&relay).await;
    for client in crowd {
        let ended = tokio::time::timeout(PATIENCE, client).await;
        assert!(ended.unwrap().unwrap().is_err(), "sent away");
    }
    beating.abort();
}

/// Never reads what the relay says to it.
async fn send_until_closed(mut client: RawClient, frame: &'static [u8]) -> io::Result<()> {
    loop {
        client.send(frame).await?;
        tokio::task::yield_now().await;
    }
}
