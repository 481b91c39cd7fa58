//! Whatever bytes or text arrive, every decoder answers with a value or a typed error.
//!
//! Three kinds of input: arbitrary bytes, valid encodings with a few bytes changed, cut or
//! repeated, and arbitrary text made of the characters that matter. What a decoder accepts is
//! encoded again, so that accepted nonsense would show as well.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::channel::{
    self, ExpectPushHello, ExpectReceiveHello, RecordBuffer, RecordError, reply,
};
use sealpost_protocol::envelope::{MessageTag, Received, Sealing, seal};
use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::invitation::Invitation;
use sealpost_protocol::key::{DeviceSecrets, MemberId, NoisePublic, NoiseSecret};
use sealpost_protocol::limit::NAME_BYTES_MAX;
use sealpost_protocol::manifest::{GroupId, Manifest, Member, SignedManifest};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::{self, DeviceName};
use sealpost_protocol::pair::PairBody;
use sealpost_protocol::token::{PairingSecret, PairingToken};
use sealpost_protocol::version::{PREFIX, Unsupported, check_prefix};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([7; 32])
}

fn device() -> DeviceSecrets {
    DeviceSecrets::generate(&mut rng())
}

fn token() -> PairingToken {
    PairingToken::new(device().keys(), PairingSecret::from_bytes([9; 32]))
}

fn relay_address() -> RelayAddress {
    RelayAddress::new(
        NoiseSecret::from_bytes([5; 32]).public(),
        "relay.example",
        1,
        2,
    )
    .unwrap()
}

fn envelope() -> Vec<u8> {
    let device = device();
    let sealing = Sealing {
        author: &device.signing,
        recipient: &device.noise.public(),
        sequence: 1,
        timestamp_ms: 2,
        tag: MessageTag::Sync,
        body: b"hello",
    };
    seal(&sealing, &mut rng()).unwrap()
}

fn manifest() -> Vec<u8> {
    let device = device();
    let name = DeviceName::derived(&device.signing.public());
    let members = vec![Member {
        keys: device.keys(),
        name,
    }];
    let manifest = Manifest::new(GroupId::from_bytes([3; 32]), 1, None, members).unwrap();
    manifest.sign(&device.signing).encode()
}

fn pair_body() -> Vec<u8> {
    let joiner = device().keys();
    PairBody::new(&token(), &joiner, DeviceName::derived(&joiner.signing)).encode()
}

fn app_message() -> Vec<u8> {
    AppMessage {
        id: [1; 16],
        kind: AppMessageKind::Text("hello".to_owned()),
        via: DeviceName::of_phone("Moto"),
    }
    .encode()
}

/// One thing that happens to bytes on their way.
#[derive(Clone, Debug)]
enum Damage {
    Change(Index, u8),
    Cut(Index),
    Insert(Index, Vec<u8>),
    Remove(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Change(at, byte)),
        1 => any::<Index>().prop_map(Damage::Cut),
        1 => (any::<Index>(), vec(any::<u8>(), 1..40)).prop_map(|(at, b)| Damage::Insert(at, b)),
        1 => any::<Index>().prop_map(Damage::Remove),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: Vec<Damage>) -> Vec<u8> {
    for damage in damages {
        let places = bytes.len().max(1);
        match damage {
            Damage::Change(at, byte) => {
                if let Some(place) = bytes.get_mut(at.index(places)) {
                    *place = byte;
                }
            }
            Damage::Cut(at) => bytes.truncate(at.index(places)),
            Damage::Insert(at, more) => {
                let at = at.index(places).min(bytes.len());
                bytes.splice(at..at, more);
            }
            Damage::Remove(at) if !bytes.is_empty() => {
                bytes.remove(at.index(places));
            }
            Damage::Remove(_) => {}
        }
    }
    bytes
}

/// Arbitrary bytes, or a valid encoding with some damage.
fn hostile(valid: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..300),
        vec(damage(), 0..4).prop_map(move |damages| damaged(valid.clone(), damages)),
    ]
}

/// Arbitrary text, text of telling characters, or a valid text with some of them put in.
fn hostile_text(valid: String) -> impl Strategy<Value = String> {
    let telling = "[a-z0-9A-F:/@?#&=%.<>\" \\[\\]\r\n_-]{0,60}";
    prop_oneof![
        any::<String>(),
        telling.prop_map(|text| text),
        (any::<Index>(), telling, any::<bool>()).prop_map(move |(at, text, is_cut)| {
            let mut valid = valid.clone();
            let at = at.index(valid.len());
            if is_cut {
                valid.truncate(at);
            }
            valid.insert_str(at, &text);
            valid
        }),
    ]
}

proptest! {
    #[test]
    fn frames(bytes in hostile(Frame::Deliver { blob_id: 1, envelope: b"envelope" }.encode())) {
        if let Ok(frame) = Frame::decode(&bytes) {
            // A refusal that isn't understood is the one thing that doesn't come back as it was.
            if frame != Frame::Error(Refusal::InternalError) {
                prop_assert_eq!(frame.encode(), bytes);
            }
        }
    }

    #[test]
    fn envelopes(bytes in hostile(envelope())) {
        if let Ok(Received::Current(sealed)) = Received::decode(&bytes)
            && let Ok(opened) = sealed.open(&device().noise)
        {
            // Only fields that mean nothing can have been added.
            prop_assert_eq!(opened.body, b"hello");
            prop_assert_eq!(opened.sequence, 1);
        }
    }

    #[test]
    fn manifests(bytes in hostile(manifest())) {
        if let Ok(decoded) = SignedManifest::decode(&bytes) {
            prop_assert_eq!(decoded.encode(), manifest());
        }
    }

    #[test]
    fn pair_bodies(bytes in hostile(pair_body())) {
        if let Ok(decoded) = PairBody::decode(&bytes) {
            let is_proven = decoded.is_proven(&token().keys(), token().secret());
            prop_assert_eq!(is_proven, bytes == pair_body());
            prop_assert!(name::clean(decoded.name.as_str()).is_some());
            prop_assert_eq!(decoded.encode(), bytes);
        }
    }

    #[test]
    fn app_messages(bytes in hostile(app_message())) {
        if let Ok(decoded) = AppMessage::decode(&bytes) {
            prop_assert_eq!(AppMessage::decode(&decoded.encode()), Ok(decoded));
        }
    }

    #[test]
    fn tokens(text in hostile_text(token().to_text())) {
        if let Ok(decoded) = PairingToken::parse(&text) {
            prop_assert_eq!(decoded.to_text(), text.trim_ascii());
        }
    }

    #[test]
    fn addresses(text in hostile_text(relay_address().to_text())) {
        if let Ok(decoded) = RelayAddress::parse(&text) {
            prop_assert_eq!(RelayAddress::parse(&decoded.to_text()), Ok(decoded));
        }
    }

    #[test]
    fn invitations(text in hostile_text(format!(
        "{}#{}", relay_address().to_text(), token().to_text()
    ))) {
        if let Ok(decoded) = Invitation::parse(&text) {
            // Nothing that is put into a link can change the token it carries.
            prop_assert_eq!(decoded.token, token());
        }
    }

    #[test]
    fn short_texts(text in any::<String>()) {
        prop_assert!(MemberId::parse(&text).is_none_or(|id| id.as_str() == text));
        prop_assert!(MessageId::parse(&text).is_none_or(|id| id.to_text() == text));
    }

    #[test]
    fn unsupported_replies(bytes in hostile(Unsupported { min: 2, max: 300 }.encode())) {
        if let Some(decoded) = Unsupported::parse(&bytes) {
            let encoded = decoded.encode();
            prop_assert_eq!(encoded.trim_ascii_end(), bytes.strip_suffix(b"\n").unwrap_or(&bytes));
        }
        for is_end_of_stream in [false, true] {
            let _ = reply::parse(&bytes, is_end_of_stream);
        }
    }

    #[test]
    fn prefixes(bytes: [u8; 6]) {
        prop_assert_eq!(check_prefix(&bytes).is_ok(), bytes == PREFIX);
    }

    #[test]
    fn record_buffers(chunks in vec(vec(0_u8..4, 0..20), 0..20)) {
        let mut buffer = RecordBuffer::new();
        let (mut pushed, mut taken) = (0, 0);
        for chunk in &chunks {
            buffer.push(chunk);
            pushed += chunk.len();
            loop {
                match buffer.next_record() {
                    Ok(Some(record)) => {
                        prop_assert!(!record.is_empty());
                        taken += 2 + record.len();
                    }
                    Ok(None) => break,
                    Err(error) => {
                        prop_assert_eq!(error, RecordError::Empty);
                        return Ok(());
                    }
                }
            }
            prop_assert!(taken <= pushed);
        }
        prop_assert_eq!(buffer.is_empty(), taken == pushed);
    }

    #[test]
    fn handshakes(bytes in vec(any::<u8>(), 0..120), relay: [u8; 32]) {
        let relay = NoiseSecret::from_bytes(relay);
        let (push, _) = channel::push_start(&relay.public(), &mut rng()).unwrap();
        prop_assert!(push.handle_reply(&bytes).is_err());
        let device = device().noise;
        let (receive, _) = channel::receive_start(&device, &relay.public(), &mut rng()).unwrap();
        prop_assert!(receive.handle_reply(&bytes).is_err());
        let hello = ExpectPushHello::new(&relay, &mut rng()).unwrap();
        prop_assert!(hello.handle_hello(&bytes).is_err());
        let hello = ExpectReceiveHello::new(&relay, &mut rng()).unwrap();
        if let Ok((finish, _)) = hello.handle_hello(&bytes) {
            prop_assert!(finish.handle_finish(&bytes).is_err());
        }
    }

    #[test]
    fn names(raw in any::<String>(), owner: [u8; 32]) {
        let cleaned = DeviceName::clean(&raw, &owner.into());
        prop_assert!((1..=NAME_BYTES_MAX).contains(&cleaned.as_str().len()));
        // Cleaning what is clean changes nothing: every device shows the same.
        prop_assert_eq!(DeviceName::clean(cleaned.as_str(), &owner.into()), cleaned);
    }

    #[test]
    fn names_of_odd_characters(
        raw in "[a \\p{M}\\p{Cf}\\p{Z}\\p{Cc}\\u{1100}-\\u{11ff}\\u{0bc6}\\u{0bbe}\\u{ac00}\u{3164}]{0,40}",
    ) {
        if let Some(cleaned) = name::clean(&raw) {
            prop_assert_eq!(name::clean(&cleaned), Some(cleaned));
        }
    }

    #[test]
    fn weak_noise_keys_never_panic(bytes: [u8; 32]) {
        let _ = NoisePublic::from_bytes(bytes).is_low_order();
    }
}
