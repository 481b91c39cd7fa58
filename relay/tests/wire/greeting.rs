//! The version prefix and the handshake (specification 2.1 and 2.2).

use tokio::io::AsyncWriteExt;

use crate::client::{Said, Session, device};
use crate::raw_client::{PREFIX, connect, read_to_end, record};
use crate::test_relay::TestRelay;

const UNSUPPORTED: &[u8] = b"unsupported 1..1\n";

async fn answer_to(port: u16, first: &[u8]) -> Vec<u8> {
    let mut stream = connect(port).await;
    stream.write_all(first).await.unwrap();
    read_to_end(&mut stream).await
}

#[tokio::test]
async fn other_versions_and_other_protocols_are_told_what_is_spoken() {
    let relay = TestRelay::start().await;
    // A handshake behind the prefix, as a client of another version would send it.
    let next_version = [b"TSRL\x00\x02".as_slice(), &record(&[7; 48])].concat();
    let zero_version = b"TSRL\x00\x00".to_vec();
    // Clients from before there were versions start with a length.
    let unversioned = record(&[7; 32]);
    let web = b"GET / HTTP/1.1\r\nHost: relay.example\r\n\r\n".to_vec();
    let four_bytes = b"HELO".to_vec();
    let much = vec![b'x'; 250];
    for port in [relay.push_port(), relay.receive_port()] {
        for first in [
            &next_version,
            &zero_version,
            &unversioned,
            &web,
            &four_bytes,
            &much,
        ] {
            let answer = answer_to(port, first).await;
            assert_eq!(answer, UNSUPPORTED, "after {} bytes", first.len());
        }
    }
}

#[tokio::test]
async fn a_prefix_in_pieces_is_read_like_one_in_a_piece() {
    let relay = TestRelay::start().await;
    let mut stream = connect(relay.receive_port()).await;
    for byte in b"TSRL\x00\x09" {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(read_to_end(&mut stream).await, UNSUPPORTED);
}

#[tokio::test]
async fn a_wrong_handshake_is_closed_without_a_word() {
    let relay = TestRelay::start().await;
    let hello = |bytes: usize| [PREFIX.as_slice(), &record(&vec![7; bytes])].concat();
    for (port, message) in [
        (relay.push_port(), hello(47)),
        (relay.push_port(), hello(49)),
        (relay.push_port(), hello(48)),
        (relay.push_port(), hello(65_535)),
        (relay.receive_port(), hello(31)),
        (relay.receive_port(), hello(33)),
        (relay.receive_port(), [PREFIX.as_slice(), &[0, 0]].concat()),
    ] {
        assert_eq!(answer_to(port, &message).await, b"");
    }
}

#[tokio::test]
async fn the_third_message_must_prove_the_devices_key() {
    let relay = TestRelay::start().await;
    let mut stream = connect(relay.receive_port()).await;
    let hello = [PREFIX.as_slice(), &record(&[7; 32])].concat();
    stream.write_all(&hello).await.unwrap();
    let reply = crate::raw_client::read_record(&mut stream).await.unwrap();
    assert_eq!(reply.len(), 96);
    stream.write_all(&record(&[7; 64])).await.unwrap();
    assert_eq!(read_to_end(&mut stream).await, b"");
    assert_eq!(relay.relay.numbers().receive_sessions, 0);
}

#[tokio::test]
async fn a_client_with_another_relays_key_gets_no_session() {
    let relay = TestRelay::start().await;
    let other = device(99).public();
    assert!(Session::push_to(relay.push_port(), other).await.is_err());
    let received = Session::receive_from(relay.receive_port(), other, &device(1)).await;
    assert!(received.is_err());
}

/// Half-open connections and random bytes, with and without a prefix, are nobody else's
/// trouble. Each case is named by its seed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn noise_of_the_other_kind_disturbs_nobody() {
    let relay = TestRelay::start().await;
    let mut crowd = Vec::new();
    for seed in 1..=120_u64 {
        let port = if seed % 2 == 0 {
            relay.push_port()
        } else {
            relay.receive_port()
        };
        let mut stream = connect(port).await;
        let mut bytes = random_bytes(seed, (seed * seed % 500) as usize);
        if seed % 3 == 0 {
            bytes.splice(0..0, PREFIX);
        }
        // The relay may have closed by now, which is its right.
        let _ = stream.write_all(&bytes).await;
        crowd.push(stream);
    }
    let alice = device(1);
    let mut sender = Session::push(&relay).await;
    let mut receiver = Session::receive(&relay, &alice).await;
    for number in 0..20 {
        let envelope = random_bytes(number + 1, 1_000);
        assert_eq!(sender.store(alice.public(), &envelope).await, Said::Ack);
        assert_eq!(receiver.hear_blob().await.1, envelope);
    }
}

/// Xorshift, so that a seed gives the same bytes everywhere.
fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..count).map(|_| next()).collect()
}
