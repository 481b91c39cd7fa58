//! The version prefix and the handshake (specification 2.1 and 2.2).

use sealpost_protocol::address::RelayAddress;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{Said, Session, new_device};
use crate::raw_client::{DOORS, Door, PREFIX, RawClient, connect_to, read_to_end, record};

const UNSUPPORTED: &[u8] = b"unsupported 1..1\n";

async fn answer_to(relay: &RelayAddress, door: Door, first: &[u8]) -> Vec<u8> {
    let mut stream = connect_to(relay, door).await;
    stream.write_all(first).await.unwrap();
    read_to_end(&mut stream).await
}

pub(crate) async fn other_versions_and_other_protocols_are_told_what_is_spoken(
    relay: RelayAddress,
) {
    // A handshake behind the prefix, as a client of another version would send it.
    let next_version = [b"TSRL\x00\x02".as_slice(), &record(&[7; 48])].concat();
    let zero_version = b"TSRL\x00\x00".to_vec();
    // Clients from before there were versions start with a length.
    let unversioned = record(&[7; 32]);
    let web = b"GET / HTTP/1.1\r\nHost: relay.example\r\n\r\n".to_vec();
    let four_bytes = b"HELO".to_vec();
    let much = vec![b'x'; 250];
    for door in DOORS {
        for first in [
            &next_version,
            &zero_version,
            &unversioned,
            &web,
            &four_bytes,
            &much,
        ] {
            let answer = answer_to(&relay, door, first).await;
            assert_eq!(answer, UNSUPPORTED, "after {} bytes", first.len());
        }
    }
}

/// No byte of the prefix may be another one, and nothing behind it is looked at.
pub(crate) async fn every_byte_of_the_prefix_counts(relay: RelayAddress) {
    for door in DOORS {
        for (place, right) in PREFIX.into_iter().enumerate() {
            for wrong in [right ^ 1, right ^ 0x80, 0xff] {
                let mut first = PREFIX.to_vec();
                first[place] = wrong;
                first.extend(record(&[7; 48]));
                assert_eq!(answer_to(&relay, door, &first).await, UNSUPPORTED);
            }
        }
    }
}

/// The relay closes its half first, so that bytes on their way to it destroy nothing.
pub(crate) async fn the_answer_to_another_version_outlives_what_is_sent_behind(
    relay: RelayAddress,
) {
    for door in DOORS {
        let mut stream = connect_to(&relay, door).await;
        stream.write_all(b"TSRL\x00\x02").await.unwrap();
        let mut answer = vec![0; UNSUPPORTED.len()];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, UNSUPPORTED);
        assert_eq!(stream.read(&mut [0; 9]).await.unwrap(), 0, "a half-close");
        stream.write_all(&[7; 100]).await.unwrap();
    }
}

/// A device that half-closes behind too short a prefix still gets its answer.
pub(crate) async fn half_a_prefix_and_a_half_close_are_answered(relay: RelayAddress) {
    for door in DOORS {
        let mut stream = connect_to(&relay, door).await;
        stream.write_all(b"TSRL").await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(read_to_end(&mut stream).await, UNSUPPORTED);
    }
}

/// By the Noise library alone: names of the patterns, the prefix as prologue, empty payloads,
/// 32, 96 and 64 bytes, 48 and 48, and the key of the address.
pub(crate) async fn both_handshakes_are_those_of_the_specification(relay: RelayAddress) {
    RawClient::push(&relay).await;
    RawClient::receive(&relay, &new_device()).await;
}

/// A device that shook hands over other first bytes than it sent was tampered with.
pub(crate) async fn the_prefix_is_bound_into_the_handshake(relay: RelayAddress) {
    let hello = RawClient::push_hello_over(&relay, b"TSRL\x00\x02");
    let first = [PREFIX.as_slice(), &record(&hello)].concat();
    assert_eq!(answer_to(&relay, Door::Push, &first).await, b"");
}

pub(crate) async fn a_prefix_in_pieces_is_read_like_one_in_a_piece(relay: RelayAddress) {
    let mut stream = connect_to(&relay, Door::Receive).await;
    for byte in b"TSRL\x00\x09" {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(read_to_end(&mut stream).await, UNSUPPORTED);
}

pub(crate) async fn a_wrong_handshake_is_closed_without_a_word(relay: RelayAddress) {
    let hello = |bytes: usize| [PREFIX.as_slice(), &record(&vec![7; bytes])].concat();
    for (door, message) in [
        (Door::Push, hello(47)),
        (Door::Push, hello(49)),
        (Door::Push, hello(48)),
        (Door::Push, hello(65_535)),
        (Door::Receive, hello(31)),
        (Door::Receive, hello(33)),
        (Door::Receive, [PREFIX.as_slice(), &[0, 0]].concat()),
    ] {
        assert_eq!(answer_to(&relay, door, &message).await, b"");
    }
}

pub(crate) async fn the_third_message_must_prove_the_devices_key(relay: RelayAddress) {
    let mut stream = connect_to(&relay, Door::Receive).await;
    let hello = [PREFIX.as_slice(), &record(&[7; 32])].concat();
    stream.write_all(&hello).await.unwrap();
    let reply = crate::raw_client::read_record(&mut stream).await.unwrap();
    assert_eq!(reply.len(), 96);
    stream.write_all(&record(&[7; 64])).await.unwrap();
    assert_eq!(read_to_end(&mut stream).await, b"");
}

pub(crate) async fn a_client_with_another_relays_key_gets_no_session(relay: RelayAddress) {
    let other = new_device().public();
    let stream = connect_to(&relay, Door::Push).await;
    assert!(Session::push_on(stream, other).await.is_err());
    let stream = connect_to(&relay, Door::Receive).await;
    let received = Session::receive_on(stream, other, &new_device()).await;
    assert!(received.is_err());
}

/// Half-open connections and random bytes, with and without a prefix, are nobody else's
/// trouble. Each case is named by its seed.
pub(crate) async fn noise_of_the_other_kind_disturbs_nobody(relay: RelayAddress) {
    let mut crowd = Vec::new();
    for seed in 1..=120_u64 {
        let door = DOORS[(seed % 2) as usize];
        let mut stream = connect_to(&relay, door).await;
        let mut bytes = random_bytes(seed, (seed * seed % 500) as usize);
        if seed % 3 == 0 {
            bytes.splice(0..0, PREFIX);
        }
        // The relay may have closed by now, which is its right.
        let _ = stream.write_all(&bytes).await;
        crowd.push(stream);
    }
    let alice = new_device();
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
