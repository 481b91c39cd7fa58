//! Both handshakes, on both sides (specification 2.2). The first byte says which message is
//! taken; the rest is the message.
//!
//! The random numbers are fixed, so that the one true message of each kind is among the seeds
//! and the search also reaches what lies behind it.

use sealpost_protocol::channel::{
    Channel, ExpectPushHello, ExpectReceiveHello, RecordBuffer, push_start, receive_start,
};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::version::PREFIX;

use crate::seeded::{device_key, relay_key, rng};

const AT_RELAY: u8 = 1;
const AT_DEVICE: u8 = 2;

/// Which message the bytes are taken for.
const PUSH_HELLO: u8 = 0;
const PUSH_REPLY: u8 = 1;
const RECEIVE_HELLO: u8 = 2;
const RECEIVE_REPLY: u8 = 3;
const RECEIVE_FINISH: u8 = 4;
const RECORDS_OF_A_PUSHER: u8 = 5;
const KINDS: u8 = 6;

pub(crate) fn run(bytes: &[u8]) {
    let Some((kind, message)) = bytes.split_first() else {
        return;
    };
    match kind % KINDS {
        PUSH_HELLO => {
            let Ok((channel, reply)) = push_responder().handle_hello(message) else {
                return;
            };
            assert_eq!(reply.len(), 50, "a length and 48 bytes");
            assert_speaks(channel);
        }
        PUSH_REPLY => {
            let (state, _) = start_push();
            // Nobody but the relay can answer, and it answers in one way.
            if let Ok(channel) = state.handle_reply(message) {
                assert_eq!(message, seed(PUSH_REPLY));
                assert_speaks(channel);
            }
        }
        RECEIVE_HELLO => {
            if let Ok((state, reply)) = receive_responder().handle_hello(message) {
                assert_eq!(reply.len(), 98, "a length and 96 bytes");
                assert!(state.handle_finish(message).is_err());
            }
        }
        RECEIVE_REPLY => {
            let (state, _) = start_receive();
            if let Ok((channel, finish)) = state.handle_reply(message) {
                assert_eq!(message, seed(RECEIVE_REPLY));
                assert_eq!(finish.len(), 66, "a length and 64 bytes");
                assert_speaks(channel);
            }
        }
        RECEIVE_FINISH => finish_receive(message),
        _ => open_records(message),
    }
}

fn finish_receive(message: &[u8]) {
    let hello = seed(RECEIVE_HELLO);
    let Ok((state, _)) = receive_responder().handle_hello(&hello) else {
        panic!("the true hello is taken");
    };
    if let Ok((channel, device)) = state.handle_finish(message) {
        assert_eq!(message, seed(RECEIVE_FINISH));
        assert_eq!(device, device_key().public());
        assert_speaks(channel);
    }
}

/// Records on a relay's side of a session whose handshake is done: only those that the device
/// made are opened.
fn open_records(bytes: &[u8]) {
    let Ok((channel, _)) = push_responder().handle_hello(&seed(PUSH_HELLO)) else {
        panic!("the true hello is taken");
    };
    let (_, mut opener) = channel.split();
    let mut buffer = RecordBuffer::new();
    buffer.push(bytes);
    let mut opened = 0;
    while let Ok(Some(record)) = buffer.next_record() {
        match opener.open(&record) {
            Ok(frame) => {
                assert_eq!(Frame::decode(&frame), Ok(Frame::Heartbeat));
                opened += 1;
            }
            Err(_) => {
                assert!(opener.open(&record).is_err(), "what failed stays failed");
                break;
            }
        }
    }
    assert!(opened <= RECORDS, "a record is opened once");
}

/// A channel that came out of a handshake can be used.
fn assert_speaks(channel: Channel) {
    let (mut sealer, _) = channel.split();
    let Ok(record) = sealer.seal(&Frame::Heartbeat) else {
        panic!("a channel seals");
    };
    assert_eq!(record.len(), 2 + 5 + 16);
}

fn push_responder() -> ExpectPushHello {
    let Ok(state) = ExpectPushHello::new(&relay_key(), &mut rng(AT_RELAY)) else {
        panic!("a relay can wait for a hello");
    };
    state
}

fn receive_responder() -> ExpectReceiveHello {
    let Ok(state) = ExpectReceiveHello::new(&relay_key(), &mut rng(AT_RELAY)) else {
        panic!("a relay can wait for a hello");
    };
    state
}

fn start_push() -> (sealpost_protocol::channel::ExpectPushReply, Vec<u8>) {
    let Ok(started) = push_start(&relay_key().public(), &mut rng(AT_DEVICE)) else {
        panic!("a device can start");
    };
    started
}

fn start_receive() -> (sealpost_protocol::channel::ExpectReceiveReply, Vec<u8>) {
    let started = receive_start(&device_key(), &relay_key().public(), &mut rng(AT_DEVICE));
    let Ok(started) = started else {
        panic!("a device can start");
    };
    started
}

/// The true message of a kind.
fn seed(kind: u8) -> Vec<u8> {
    match kind {
        PUSH_HELLO => message_of(start_push().1.strip_prefix(&PREFIX).unwrap_or_default()),
        RECEIVE_HELLO => message_of(start_receive().1.strip_prefix(&PREFIX).unwrap_or_default()),
        PUSH_REPLY => {
            let Ok((_, reply)) = push_responder().handle_hello(&seed(PUSH_HELLO)) else {
                panic!("the true hello is taken");
            };
            message_of(&reply)
        }
        RECEIVE_REPLY => {
            let Ok((_, reply)) = receive_responder().handle_hello(&seed(RECEIVE_HELLO)) else {
                panic!("the true hello is taken");
            };
            message_of(&reply)
        }
        RECEIVE_FINISH => {
            let Ok((_, finish)) = start_receive().0.handle_reply(&seed(RECEIVE_REPLY)) else {
                panic!("the true reply is taken");
            };
            message_of(&finish)
        }
        _ => heartbeats(),
    }
}

/// Records in the seed of a session.
const RECORDS: usize = 3;

fn heartbeats() -> Vec<u8> {
    let Ok(channel) = start_push().0.handle_reply(&seed(PUSH_REPLY)) else {
        panic!("the true reply is taken");
    };
    let (mut sealer, _) = channel.split();
    let records = (0..RECORDS).filter_map(|_| sealer.seal(&Frame::Heartbeat).ok());
    records.flatten().collect()
}

fn message_of(record: &[u8]) -> Vec<u8> {
    record.get(2..).unwrap_or_default().to_vec()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = (0..KINDS)
        .map(|kind| with_kind(kind, &seed(kind)))
        .collect();
    // Points of low order: nobody can be talked to with them.
    seeds.push(with_kind(PUSH_HELLO, &[0; 48]));
    seeds.push(with_kind(RECEIVE_HELLO, &[0; 32]));
    seeds.push(with_kind(RECORDS_OF_A_PUSHER, &[0, 0]));
    seeds
}

fn with_kind(kind: u8, message: &[u8]) -> Vec<u8> {
    let mut seed = vec![kind];
    seed.extend_from_slice(message);
    seed
}
