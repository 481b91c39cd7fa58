//! Frames that break the rules (specification 2.3): a generic Error, and a close at the 16th.

use sealpost_protocol::address::RelayAddress;
use tokio::io::AsyncWriteExt;

use crate::client::{Said, Session, new_device};
use crate::raw_client::RawClient;

/// Error, one byte, malformed.
const MALFORMED: &[u8] = &[0x05, 0, 0, 0, 1, 0x02];
const HEARTBEAT: &[u8] = &[0x03, 0, 0, 0, 0];
const ACK: &[u8] = &[0x04, 0, 0, 0, 0];

fn frame(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![tag];
    frame.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(body);
    frame
}

/// Bad on either kind of session.
fn bad_frames() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("nothing", vec![]),
        ("one byte", vec![0x01]),
        ("four bytes", vec![0x03, 0, 0, 0]),
        ("tag 0", frame(0x00, &[])),
        ("tag 7", frame(0x07, &[])),
        ("tag 255", frame(0xff, &[1, 2, 3])),
        ("a length too long", vec![0x03, 0, 0, 0, 1]),
        ("a length too short", vec![0x03, 0, 0, 0, 0, 9]),
        ("an immense length", vec![0x01, 0xff, 0xff, 0xff, 0xff]),
        ("a Deliver", frame(0x02, &[0; 40])),
        ("an Ack", frame(0x04, &[])),
        ("an Error", frame(0x05, &[0x11])),
        ("a Heartbeat with a body", frame(0x03, &[1])),
    ]
}

/// A Push of no Envelope to a device that doesn't exist.
fn push_to_somebody() -> Vec<u8> {
    frame(0x01, new_device().public().as_bytes())
}

fn bad_on_push() -> Vec<(&'static str, Vec<u8>)> {
    let mut frames = bad_frames();
    frames.push(("a Push of 31 bytes", frame(0x01, &[1; 31])));
    frames.push(("a Heartbeat", frame(0x03, &[])));
    frames.push(("a DeliverAck", frame(0x06, &[0; 8])));
    frames
}

fn bad_on_receive() -> Vec<(&'static str, Vec<u8>)> {
    let mut frames = bad_frames();
    frames.push(("a Push", frame(0x01, &[1; 40])));
    frames.push(("a DeliverAck of 7 bytes", frame(0x06, &[0; 7])));
    frames.push(("a DeliverAck of 9 bytes", frame(0x06, &[0; 9])));
    frames
}

pub(crate) async fn a_malformed_frame_on_a_push_session_is_answered_and_the_session_goes_on(
    relay: RelayAddress,
) {
    let push = push_to_somebody();
    for (what, bad) in bad_on_push() {
        let mut client = RawClient::push(&relay).await;
        client.send(&bad).await.unwrap();
        assert_eq!(client.read().await.unwrap(), MALFORMED, "{what}");
        client.send(&push).await.unwrap();
        assert_eq!(client.read().await.unwrap(), ACK, "after {what}");
    }
}

pub(crate) async fn a_malformed_frame_on_a_receive_session_is_answered_and_the_session_goes_on(
    relay: RelayAddress,
) {
    for (what, bad) in bad_on_receive() {
        let mut client = RawClient::receive(&relay, &new_device()).await;
        client.send(&bad).await.unwrap();
        assert_eq!(client.read().await.unwrap(), MALFORMED, "{what}");
        client.send(HEARTBEAT).await.unwrap();
        assert_eq!(client.read().await.unwrap(), HEARTBEAT, "after {what}");
    }
}

pub(crate) async fn the_sixteenth_malformed_frame_closes_a_push_session(relay: RelayAddress) {
    let mut client = RawClient::push(&relay).await;
    for _ in 0..15 {
        client.send(&frame(0x07, &[])).await.unwrap();
        assert_eq!(client.read().await.unwrap(), MALFORMED);
    }
    client.send(&push_to_somebody()).await.unwrap();
    assert_eq!(client.read().await.unwrap(), ACK);
    client.send(&frame(0x07, &[])).await.unwrap();
    assert_eq!(client.read().await.unwrap(), MALFORMED);
    client.assert_closed().await;
}

pub(crate) async fn the_sixteenth_malformed_frame_closes_a_receive_session(relay: RelayAddress) {
    let mut client = RawClient::receive(&relay, &new_device()).await;
    for _ in 0..15 {
        client.send(&frame(0x07, &[])).await.unwrap();
        assert_eq!(client.read().await.unwrap(), MALFORMED);
    }
    client.send(HEARTBEAT).await.unwrap();
    assert_eq!(client.read().await.unwrap(), HEARTBEAT);
    client.send(&frame(0x07, &[])).await.unwrap();
    assert_eq!(client.read().await.unwrap(), MALFORMED);
    client.assert_closed().await;
}

/// Everything the strikes are owed arrives, although more comes in behind them.
pub(crate) async fn a_flood_of_malformed_frames_gets_sixteen_answers(relay: RelayAddress) {
    let mut clients = [
        RawClient::push(&relay).await,
        RawClient::receive(&relay, &new_device()).await,
    ];
    for client in &mut clients {
        for _ in 0..24 {
            client.send(&frame(0x07, &[])).await.unwrap();
        }
        for _ in 0..16 {
            assert_eq!(client.read().await.unwrap(), MALFORMED);
        }
        client.assert_closed().await;
    }
}

/// The relay routes on the first 32 bytes and looks at nothing else.
pub(crate) async fn a_push_of_nothing_but_a_key_and_any_bytes_behind_one_are_stored(
    relay: RelayAddress,
) {
    let alice = new_device();
    let mut client = RawClient::push(&relay).await;
    let mut body = alice.public().as_bytes().to_vec();
    client.send(&frame(0x01, &body)).await.unwrap();
    assert_eq!(client.read().await.unwrap(), ACK);
    body.extend_from_slice(&[0xff; 33]);
    client.send(&frame(0x01, &body)).await.unwrap();
    assert_eq!(client.read().await.unwrap(), ACK);
    let mut session = Session::receive(&relay, &alice).await;
    assert_eq!(session.hear_blob().await.1, b"");
    assert_eq!(session.hear_blob().await.1, [0xff; 33]);
}

pub(crate) async fn a_heartbeat_is_echoed_as_it_is(relay: RelayAddress) {
    let mut session = Session::receive(&relay, &new_device()).await;
    for _ in 0..300 {
        session
            .say(&sealpost_protocol::frame::Frame::Heartbeat)
            .await
            .unwrap();
    }
    for _ in 0..300 {
        assert_eq!(session.hear().await.unwrap(), Said::Heartbeat);
    }
}

pub(crate) async fn records_that_are_no_noise_messages_close_the_session(relay: RelayAddress) {
    let records: [&[u8]; 4] = [
        &[0, 0],
        &[0, 3, 1, 2, 3],
        &[
            0, 21, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        ],
        &[0xff, 0xff],
    ];
    for bytes in records {
        let clients = [
            RawClient::push(&relay).await,
            RawClient::receive(&relay, &new_device()).await,
        ];
        for mut client in clients {
            client.stream.write_all(bytes).await.unwrap();
            if bytes == [0xff, 0xff] {
                client.stream.write_all(&vec![0; 65_535]).await.unwrap();
            }
            client.assert_closed().await;
        }
    }
}

pub(crate) async fn a_repeated_record_closes_the_session(relay: RelayAddress) {
    let mut client = RawClient::receive(&relay, &new_device()).await;
    let message = client.seal(HEARTBEAT);
    let record = crate::raw_client::record(&message);
    client.stream.write_all(&record).await.unwrap();
    assert_eq!(client.read().await.unwrap(), HEARTBEAT);
    client.stream.write_all(&record).await.unwrap();
    client.assert_closed().await;
}

pub(crate) async fn frames_that_arrive_byte_by_byte_are_put_together(relay: RelayAddress) {
    let mut client = RawClient::receive(&relay, &new_device()).await;
    let message = client.seal(HEARTBEAT);
    for byte in crate::raw_client::record(&message) {
        client.stream.write_all(&[byte]).await.unwrap();
        client.stream.flush().await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(client.read().await.unwrap(), HEARTBEAT);
}
