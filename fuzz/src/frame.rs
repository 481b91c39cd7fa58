//! Frames and refusals as they come out of a Noise message (specification 2.3 and 2.4).

use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::key::NoisePublic;

/// What is a frame has one encoding, and a refusal that isn't understood destroys nothing.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(frame) = Frame::decode(bytes) {
        let encoded = frame.encode();
        if let Frame::Error(refusal) = frame {
            // Any body that isn't known is a temporary internal error.
            assert_eq!(Frame::decode(&encoded), Ok(Frame::Error(refusal)));
        } else {
            assert_eq!(encoded, bytes);
        }
    }
    let refusal = Refusal::from_body(bytes);
    let is_known_permanent = matches!(bytes, [0x01 | 0x02]);
    assert_eq!(refusal.is_permanent(), is_known_permanent);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let recipient = NoisePublic::from_bytes([9; 32]);
    let frames = [
        Frame::Push {
            recipient,
            envelope: b"envelope",
        },
        Frame::Push {
            recipient,
            envelope: b"",
        },
        Frame::Deliver {
            blob_id: 77,
            envelope: b"envelope",
        },
        Frame::Heartbeat,
        Frame::Ack,
        Frame::Error(Refusal::InboxFull),
        Frame::DeliverAck { blob_id: u64::MAX },
    ];
    let mut seeds: Vec<_> = frames.iter().map(Frame::encode).collect();
    seeds.extend([
        vec![],
        vec![0x01, 0, 0, 0],
        vec![0x01, 0xff, 0xff, 0xff, 0xff],
        vec![0x03, 0, 0, 0, 0, 9],
        vec![0x05, 0, 0, 0, 2, 0x11, 0x11],
        vec![0x07, 0, 0, 0, 0],
    ]);
    seeds
}
