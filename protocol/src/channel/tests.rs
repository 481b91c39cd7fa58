//! The handshake vectors byte for byte, and what a hostile peer or path can do.

use super::*;
use crate::frame::Frame;
use crate::key::{NoisePublic, NoiseSecret};
use crate::limit::{ENVELOPE_BYTES_MAX, FRAME_BYTES_MAX, NOISE_MESSAGE_BYTES_MAX};
use crate::vectors::{self, Given};
use crate::version::PREFIX;

const RELAY: &str = "/inputs/relay/noise_private";
const NK_CLIENT: &str = "/inputs/nk_client_ephemeral_private";
const NK_RELAY: &str = "/inputs/nk_relay_ephemeral_private";
const XX_CLIENT: &str = "/inputs/xx_client_ephemeral_private";
const XX_RELAY: &str = "/inputs/xx_relay_ephemeral_private";

fn relay() -> NoiseSecret {
    vectors::noise_secret(RELAY)
}

fn device() -> NoiseSecret {
    vectors::device("b").noise
}

/// Takes the length from the front of what a handshake wrote.
fn message(written: &[u8]) -> Vec<u8> {
    let mut buffer = RecordBuffer::new();
    buffer.push(written);
    let message = buffer.next_record().unwrap().unwrap();
    assert!(buffer.is_empty());
    message
}

/// The same, of a client's first write, which starts with the prefix.
fn hello(written: &[u8]) -> Vec<u8> {
    message(written.strip_prefix(&PREFIX).unwrap())
}

fn push_channels() -> (Channel, Channel) {
    let (client, written) = push_start(&relay().public(), &mut Given::new(NK_CLIENT)).unwrap();
    let server = ExpectPushHello::new(&relay(), &mut Given::new(NK_RELAY)).unwrap();
    let (server, reply) = server.handle_hello(&hello(&written)).unwrap();
    (client.handle_reply(&message(&reply)).unwrap(), server)
}

fn receive_start_b() -> (ExpectReceiveReply, Vec<u8>) {
    receive_start(&device(), &relay().public(), &mut Given::new(XX_CLIENT)).unwrap()
}

fn receive_reply(relay: &NoiseSecret, hello: &[u8]) -> (ExpectReceiveFinish, Vec<u8>) {
    let server = ExpectReceiveHello::new(relay, &mut Given::new(XX_RELAY)).unwrap();
    server.handle_hello(hello).unwrap()
}

#[test]
fn the_push_vector_is_met() {
    let (client, written) = push_start(&relay().public(), &mut Given::new(NK_CLIENT)).unwrap();
    assert_eq!(
        written.first_chunk(),
        Some(&vectors::array::<6>("/inputs/prologue"))
    );
    assert_eq!(hello(&written), vectors::bytes("/noise_nk/message_1"));
    assert_eq!(hello(&written).len(), PUSH_HELLO_BYTES);
    let server = ExpectPushHello::new(&relay(), &mut Given::new(NK_RELAY)).unwrap();
    let (server, reply) = server.handle_hello(&hello(&written)).unwrap();
    assert_eq!(message(&reply), vectors::bytes("/noise_nk/message_2"));
    assert_eq!(message(&reply).len(), PUSH_REPLY_BYTES);
    let client = client.handle_reply(&message(&reply)).unwrap();
    let hash = vectors::bytes("/noise_nk/handshake_hash");
    assert_eq!(client.handshake_hash().as_slice(), hash);
    assert_eq!(server.handshake_hash().as_slice(), hash);
    let record = client.split().0.seal(&Frame::Heartbeat).unwrap();
    assert_eq!(
        message(&record),
        vectors::bytes("/noise_nk/first_client_heartbeat")
    );
    let opened = server.split().1.open(&message(&record)).unwrap();
    assert_eq!(Frame::decode(&opened), Ok(Frame::Heartbeat));
}

#[test]
fn the_receive_vector_is_met() {
    let (client, written) = receive_start_b();
    assert_eq!(written.first_chunk(), Some(&PREFIX));
    assert_eq!(hello(&written), vectors::bytes("/noise_xx/message_1"));
    assert_eq!(hello(&written).len(), RECEIVE_HELLO_BYTES);
    let (server, reply) = receive_reply(&relay(), &hello(&written));
    assert_eq!(message(&reply), vectors::bytes("/noise_xx/message_2"));
    assert_eq!(message(&reply).len(), RECEIVE_REPLY_BYTES);
    let (client, finish) = client.handle_reply(&message(&reply)).unwrap();
    assert_eq!(message(&finish), vectors::bytes("/noise_xx/message_3"));
    assert_eq!(message(&finish).len(), RECEIVE_FINISH_BYTES);
    let (server, inbox) = server.handle_finish(&message(&finish)).unwrap();
    assert_eq!(inbox, device().public());
    let hash = vectors::bytes("/noise_xx/handshake_hash");
    assert_eq!(client.handshake_hash().as_slice(), hash);
    assert_eq!(server.handshake_hash().as_slice(), hash);
    let record = client.split().0.seal(&Frame::Heartbeat).unwrap();
    assert_eq!(
        message(&record),
        vectors::bytes("/noise_xx/first_client_heartbeat")
    );
    let opened = server.split().1.open(&message(&record)).unwrap();
    assert_eq!(Frame::decode(&opened), Ok(Frame::Heartbeat));
}

#[test]
fn an_impostor_is_refused_before_it_learns_the_device() {
    let (client, written) = receive_start_b();
    let impostor = vectors::noise_secret(NK_RELAY);
    let (_, reply) = receive_reply(&impostor, &hello(&written));
    // The error is all there is: no third message was made.
    let refused = client.handle_reply(&message(&reply)).err();
    assert_eq!(refused, Some(HandshakeError::WrongRelayKey));

    let (_, written) = push_start(&relay().public(), &mut Given::new(NK_CLIENT)).unwrap();
    let server = ExpectPushHello::new(&impostor, &mut Given::new(NK_RELAY)).unwrap();
    assert_eq!(
        server.handle_hello(&hello(&written)).err(),
        Some(HandshakeError::Decryption)
    );
}

#[test]
fn a_changed_handshake_fails_at_every_byte() {
    let (_, written) = receive_start_b();
    let (_, reply) = receive_reply(&relay(), &hello(&written));
    let reply = message(&reply);
    for at in 0..reply.len() {
        let mut changed = reply.clone();
        changed[at] ^= 1;
        assert!(
            receive_start_b().0.handle_reply(&changed).is_err(),
            "byte {at}"
        );
    }
    let (client, _) = receive_start_b();
    let (_, finish) = client.handle_reply(&reply).unwrap();
    let finish = message(&finish);
    for at in 0..finish.len() {
        let mut changed = finish.clone();
        changed[at] ^= 1;
        let (server, _) = receive_reply(&relay(), &hello(&written));
        assert!(server.handle_finish(&changed).is_err(), "byte {at}");
    }
}

#[test]
fn a_message_of_another_length_is_refused() {
    for bytes in [
        0,
        1,
        PUSH_REPLY_BYTES - 1,
        PUSH_REPLY_BYTES + 1,
        NOISE_MESSAGE_BYTES_MAX,
    ] {
        let (client, _) = push_start(&relay().public(), &mut Given::new(NK_CLIENT)).unwrap();
        let refused = client.handle_reply(&vec![0; bytes]).err();
        let expected = PUSH_REPLY_BYTES;
        assert_eq!(refused, Some(HandshakeError::Length { bytes, expected }));
    }
    let (_, written) = receive_start_b();
    let (server, _) = receive_reply(&relay(), &hello(&written));
    let expected = RECEIVE_FINISH_BYTES;
    let refused = server.handle_finish(&[0; 63]).err();
    assert_eq!(
        refused,
        Some(HandshakeError::Length {
            bytes: 63,
            expected
        })
    );
}

#[test]
fn unusable_keys_are_refused() {
    let weak = NoisePublic::from_bytes([0; 32]);
    let refused = push_start(&weak, &mut Given::new(NK_CLIENT)).err();
    assert_eq!(refused, Some(HandshakeError::WeakKey));
    let refused = receive_start(&device(), &weak, &mut Given::new(XX_CLIENT)).err();
    assert_eq!(refused, Some(HandshakeError::WeakKey));
}

#[test]
fn a_peer_cannot_force_a_shared_secret_of_nothing() {
    // An ephemeral key of low order, where the rest of the message would fit.
    let server = ExpectReceiveHello::new(&relay(), &mut Given::new(XX_RELAY)).unwrap();
    assert_eq!(
        server.handle_hello(&[0; 32]).err(),
        Some(HandshakeError::WeakKey)
    );
    let server = ExpectPushHello::new(&relay(), &mut Given::new(NK_RELAY)).unwrap();
    assert_eq!(
        server.handle_hello(&[0; 48]).err(),
        Some(HandshakeError::WeakKey)
    );
}

#[test]
fn the_prefix_is_part_of_the_handshake() {
    // A relay that was made to see another version: its prologue differs.
    let builder = snow::Builder::new(noise::PUSH_PATTERN.parse().unwrap());
    let relay_secret = relay();
    let mut server = builder
        .prologue(b"TSRL\0\x02")
        .unwrap()
        .local_private_key(relay_secret.as_bytes())
        .unwrap()
        .build_responder()
        .unwrap();
    let (_, written) = push_start(&relay().public(), &mut Given::new(NK_CLIENT)).unwrap();
    assert!(server.read_message(&hello(&written), &mut [0; 64]).is_err());
}

#[test]
fn frames_cross_in_both_directions_and_in_order() {
    let (client, server) = push_channels();
    let (mut client_sealer, mut client_opener) = client.split();
    let (mut server_sealer, mut server_opener) = server.split();
    for blob_id in 0..100 {
        let record = client_sealer.seal(&Frame::DeliverAck { blob_id }).unwrap();
        let opened = server_opener.open(&message(&record)).unwrap();
        assert_eq!(Frame::decode(&opened), Ok(Frame::DeliverAck { blob_id }));
        let frame = Frame::Deliver {
            blob_id,
            envelope: b"envelope",
        };
        let record = server_sealer.seal(&frame).unwrap();
        assert_eq!(
            Frame::decode(&client_opener.open(&message(&record)).unwrap()),
            Ok(frame)
        );
    }
}

#[test]
fn the_longest_frame_fits_and_one_byte_more_does_not() {
    let (client, server) = push_channels();
    let (mut sealer, mut opener) = (client.split().0, server.split().1);
    let envelope = vec![0x5a; ENVELOPE_BYTES_MAX + 1];
    let recipient = device().public();
    let longest = Frame::Push {
        recipient,
        envelope: &envelope[1..],
    };
    let too_long = Frame::Push {
        recipient,
        envelope: &envelope,
    };
    let refused = sealer.seal(&too_long);
    assert_eq!(
        refused,
        Err(ChannelError::FrameTooLong {
            bytes: FRAME_BYTES_MAX + 1
        })
    );
    // Nothing was sealed, so the next one is still the first.
    let record = sealer.seal(&longest).unwrap();
    assert_eq!(record.len(), 2 + NOISE_MESSAGE_BYTES_MAX);
    assert_eq!(
        Frame::decode(&opener.open(&message(&record)).unwrap()),
        Ok(longest)
    );
}

#[test]
fn the_longest_body_has_the_published_message_size() {
    let envelope = vec![0; vectors::number("/sizes/envelope")];
    let frame = Frame::Push {
        recipient: device().public(),
        envelope: &envelope,
    };
    let record = push_channels().0.split().0.seal(&frame).unwrap();
    assert_eq!(
        message(&record).len(),
        vectors::number("/sizes/noise_message")
    );
}

#[test]
fn a_channel_that_failed_stays_failed() {
    let (client, server) = push_channels();
    let (mut sealer, mut opener) = (client.split().0, server.split().1);
    let first = message(&sealer.seal(&Frame::Heartbeat).unwrap());
    let second = message(&sealer.seal(&Frame::Heartbeat).unwrap());
    assert_eq!(opener.open(&second), Err(ChannelError::Decryption));
    assert_eq!(opener.open(&first), Err(ChannelError::Closed));

    let mut opener = push_channels().1.split().1;
    assert!(opener.open(&first).is_ok());
    assert_eq!(opener.open(&first), Err(ChannelError::Decryption));

    for bytes in [0, 15, NOISE_MESSAGE_BYTES_MAX + 1] {
        let mut opener = push_channels().1.split().1;
        assert_eq!(
            opener.open(&vec![0; bytes]),
            Err(ChannelError::Length { bytes })
        );
    }
    // A tag and nothing else is a message, though not a frame.
    let mut opener = push_channels().1.split().1;
    assert_eq!(opener.open(&[0; 16]), Err(ChannelError::Decryption));
}

#[test]
fn a_stream_is_cut_wherever_it_breaks() {
    let (client, server) = push_channels();
    let (mut sealer, mut opener) = (client.split().0, server.split().1);
    let mut stream = sealer.seal(&Frame::Heartbeat).unwrap();
    stream.extend(sealer.seal(&Frame::DeliverAck { blob_id: 1 }).unwrap());
    let mut buffer = RecordBuffer::new();
    let mut frames = 0;
    for byte in &stream {
        buffer.push(core::slice::from_ref(byte));
        while let Some(record) = buffer.next_record().unwrap() {
            assert!(Frame::decode(&opener.open(&record).unwrap()).is_ok());
            frames += 1;
        }
    }
    assert_eq!((frames, buffer.is_empty()), (2, true));
}

#[test]
fn impossible_lengths_are_seen_at_once() {
    let mut buffer = RecordBuffer::new();
    buffer.push(&[0]);
    assert_eq!(buffer.next_record(), Ok(None));
    buffer.push(&[0, 7]);
    assert_eq!(buffer.next_record(), Err(RecordError::Empty));
    assert_eq!(buffer.next_record(), Err(RecordError::Empty));

    let mut buffer = RecordBuffer::new();
    buffer.push(&[0, 0x31]);
    let refused = RecordError::Length {
        bytes: 49,
        expected: 48,
    };
    assert_eq!(buffer.next_record_of(48), Err(refused));
    assert_eq!(buffer.next_record_of(49), Ok(None));
}

#[test]
fn a_reply_is_told_apart_by_its_first_byte() {
    use crate::version::Unsupported;
    let parse = reply::parse;
    assert_eq!(parse(b"", false), Ok(Reply::Incomplete));
    assert_eq!(parse(b"", true), Err(ReplyError::Closed));
    assert_eq!(parse(&[0], false), Ok(Reply::Handshake));
    assert_eq!(parse(b"HTTP/1.1", false), Err(ReplyError::Foreign));
    assert_eq!(parse(b"unsupported 1..", false), Ok(Reply::Incomplete));
    assert_eq!(parse(b"unsupported 1..", true), Err(ReplyError::Foreign));
    let answer = Reply::Unsupported(Unsupported { min: 1, max: 12 });
    assert_eq!(parse(b"unsupported 1..12", false), Ok(Reply::Incomplete));
    assert_eq!(parse(b"unsupported 1..12", true), Ok(answer));
    assert_eq!(parse(b"unsupported 1..12\n", false), Ok(answer));
    assert_eq!(parse(b"unsupported 1..12\nand more", false), Ok(answer));
    assert_eq!(parse(b"unsure\n", false), Err(ReplyError::Foreign));
    assert_eq!(parse(&[b'u'; 64], false), Ok(Reply::Incomplete));
    assert_eq!(parse(&[b'u'; 65], false), Err(ReplyError::Foreign));
}

#[test]
fn nothing_of_a_state_is_printed() {
    let (client, written) = receive_start_b();
    let (server, _) = receive_reply(&relay(), &hello(&written));
    let (channel, _) = push_channels();
    let printed = format!(
        "{client:?} {server:?} {channel:?} {:?}",
        push_channels().1.split()
    );
    assert_eq!(
        printed,
        "ExpectReceiveReply ExpectReceiveFinish Channel (Sealer, Opener)"
    );
}
