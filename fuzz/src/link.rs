//! What a link reads from others: envelopes from a mailbox, payloads and the bodies of a
//! pairing from the other device, a code from a picture ("paired-mailbox/1" sections 7 and 8).

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng as _;
use sealpost_protocol::limit::LINK_PAYLOAD_BYTES_MAX;
use sealpost_protocol::link::code::PairingCode;
use sealpost_protocol::link::envelope::{open, seal};
use sealpost_protocol::link::feed::{FromDesktop, FromPhone};
use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, LinkKeys};
use sealpost_protocol::link::pairing::{Challenge, Hello, Reveal, Welcome};
use sealpost_protocol::link::payload::{Kind, Payload};

const SEQUENCE: u64 = 7;

fn keys() -> LinkKeys {
    LinkKeys::derive(&LinkKey::from_bytes([1; 32]), &LinkId::from_bytes([2; 16]))
}

/// Nothing that wasn't sealed opens, what is sealed opens as it was, and what can be read has
/// one meaning, however often it is written and read again.
pub(crate) fn run(bytes: &[u8]) {
    let keys = keys();
    let slot = bytes
        .get(2..10)
        .and_then(|field| field.try_into().ok())
        .map_or(SEQUENCE, u64::from_be_bytes);
    assert!(open(&keys, Direction::AToB, slot, None, bytes).is_err());

    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let sealed = seal(&keys, Direction::BToA, SEQUENCE, bytes, &mut rng);
    assert_eq!(sealed.is_ok(), bytes.len() <= LINK_PAYLOAD_BYTES_MAX);
    if let Ok(sealed) = sealed {
        let opened = open(&keys, Direction::BToA, SEQUENCE, None, &sealed);
        assert!(opened.is_ok_and(|opened| opened.payload == bytes));
    }

    read_payload(bytes);
    read_bodies(bytes);
    if let Ok(code) = std::str::from_utf8(bytes).map(PairingCode::parse) {
        let again = code.map(|code| (PairingCode::parse(&code.to_url()), code));
        assert!(again.is_err() || again.is_ok_and(|(again, code)| again == Ok(code)));
    }
}

fn read_payload(bytes: &[u8]) {
    let Ok(payload) = Payload::decode(bytes) else {
        return;
    };
    // A kind that isn't known has no word of its own; a longer way to write a header that was
    // read may not fit any more. The rest is read as it was written.
    if payload.header.kind != Kind::Unknown
        && let Ok(written) = payload.encode()
    {
        assert_eq!(Payload::decode(&written), Ok(payload));
    }
}

fn read_bodies(bytes: &[u8]) {
    if let Some(hello) = Hello::decode(bytes) {
        assert_eq!(Hello::decode(&hello.encode()), Some(hello));
    }
    if let Some(challenge) = Challenge::decode(bytes) {
        assert_eq!(Challenge::decode(&challenge.encode()), Some(challenge));
    }
    if let Some(reveal) = Reveal::decode(bytes) {
        assert_eq!(Reveal::decode(&reveal.encode()), Some(reveal));
    }
    if let Some(welcome) = Welcome::decode(bytes) {
        assert_eq!(Welcome::decode(&welcome.encode()), Some(welcome));
    }
    if let Some(body) = FromDesktop::decode(bytes).filter(|body| *body != FromDesktop::Unknown) {
        assert_eq!(FromDesktop::decode(&body.encode()), Some(body));
    }
    if let Some(body) = FromPhone::decode(bytes).filter(|body| *body != FromPhone::Unknown) {
        assert_eq!(FromPhone::decode(&body.encode()), Some(body));
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let header =
        br#"{"t":"msg","id":"p6enp6enp6enp6enp6enpw","ack":{"seq":17,"in":1},"ts":2,"k":"k"}"#;
    let length = u16::try_from(header.len()).unwrap_or(0).to_be_bytes();
    let payload = [&length[..], header, b"body"].concat();
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let other = LinkKeys::derive(&LinkKey::from_bytes([3; 32]), &LinkId::from_bytes([2; 16]));
    let foreign = seal(&other, Direction::AToB, SEQUENCE, &payload, &mut rng).unwrap_or_default();
    let key = "__________________________________________8";
    let code = format!(
        "http://192.168.1.20:48787/p#v=1&i=oKGio6SlpqeoqaqrrK2urw&k={key}&x=1795000300&n=B%C3%BCro"
    );
    let bodies = [
        format!(r#"{{"name":"P","platform":"L","versions":[1],"commit_b":"{key}"}}"#),
        format!(r#"{{"to":"AAAAAAAAAAAAAAAAAAAAAA","pub_a":"{key}"}}"#),
        format!(r#"{{"pub_b":"{key}"}}"#),
        format!(r#"{{"name":"D","confirm":"{key}"}}"#),
        r#"{"type":"text","group":"home","text":"hi"}"#.to_owned(),
        r#"{"type":"tail","group":"home","from":null,"messages":[]}"#.to_owned(),
    ];
    let mut seeds = vec![payload, foreign, code.into_bytes()];
    seeds.extend(bodies.map(String::into_bytes));
    seeds
}
