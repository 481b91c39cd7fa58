//! What is inside an envelope: a small header that the Link reads, and a body for the app.
//!
//! Owns the bytes of section 7.1: `u16be header length ‖ header, JSON ‖ body`. It never looks
//! into a body. A header field that isn't known is passed over, a kind that isn't known is
//! [`Kind::Unknown`]: it is accepted and does nothing.

use core::fmt;

use rand_core::{CryptoRng, RngCore};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::key::id_bytes;
use crate::base64url;
use crate::field_reader::FieldReader;
use crate::limit::{
    LINK_COLLAPSE_BYTES_MAX, LINK_HEADER_BYTES_MAX, LINK_ID_BYTES, LINK_PAYLOAD_BYTES_MAX,
    LINK_SEQUENCE_MAX,
};

/// Names a payload through every repetition of it: made once, kept through every new seal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PayloadId([u8; LINK_ID_BYTES]);

id_bytes!(PayloadId);

impl PayloadId {
    /// Draws a new id.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut bytes = [0; LINK_ID_BYTES];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// The id as 22 characters of base64url.
    #[must_use]
    pub fn to_text(&self) -> String {
        base64url::encode(&self.0)
    }

    /// Reads what [`PayloadId::to_text`] gave; any other text is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base64url::decode(text).map(Self)
    }
}

/// What a payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Pairing: B's name and commitment.
    Hello,
    /// Pairing: A's public key.
    Challenge,
    /// Pairing: the public key that B committed to.
    Reveal,
    /// Pairing: A's person confirmed.
    Welcome,
    /// A message of the app: delivered once, in order.
    Msg,
    /// A state of the app: only the newest under its collapse key matters.
    State,
    /// Says what was received, and nothing else.
    Ack,
    /// Asks for everything that wasn't acknowledged.
    Resync,
    /// The other device ends the link.
    Bye,
    /// Something that this build doesn't know.
    Unknown,
}

const KINDS: [(Kind, &str); 9] = [
    (Kind::Hello, "hello"),
    (Kind::Challenge, "challenge"),
    (Kind::Reveal, "reveal"),
    (Kind::Welcome, "welcome"),
    (Kind::Msg, "msg"),
    (Kind::State, "state"),
    (Kind::Ack, "ack"),
    (Kind::Resync, "resync"),
    (Kind::Bye, "bye"),
];

impl Kind {
    /// The kind as in a header; that of an unknown one is `unknown`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let known = KINDS.iter().find(|(kind, _)| *kind == self);
        known.map_or("unknown", |(_, text)| text)
    }

    fn parse(text: &str) -> Self {
        let known = KINDS.iter().find(|(_, known)| *known == text);
        known.map_or(Self::Unknown, |(kind, _)| *kind)
    }
}

/// What the sender of a payload had accepted when it sealed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The last sequence that it accepted.
    pub sequence: u64,
    /// The incarnation of the mailbox that it accepted it in, in Unix ms.
    pub created_ms: u64,
}

/// The part of a payload that the Link reads.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// The same through every repetition.
    pub id: PayloadId,
    /// What the sender had accepted.
    pub ack: Option<Ack>,
    /// The sender's clock, in Unix ms; for display and never trusted.
    pub ts_ms: u64,
    /// A newer `state` with the same key replaces this one.
    pub collapse: Option<String>,
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Everything that one envelope carries.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload {
    /// For the Link.
    pub header: Header,
    /// For the app, or for the pairing.
    pub body: Vec<u8>,
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// Why a payload has no bytes, or bytes are no payload.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PayloadError {
    /// The header is longer than 2,048 bytes, or its collapse key is too long.
    #[error("the header of a link's payload is too long")]
    HeaderTooLong,
    /// Header and body together don't fit an envelope.
    #[error("a link's payload has {bytes} bytes, more than {LINK_PAYLOAD_BYTES_MAX}")]
    TooLong {
        /// The bytes that it has.
        bytes: usize,
    },
    /// The bytes end within the header.
    #[error("a link's payload ends within its header")]
    Truncated,
    /// The header isn't JSON of the right shape.
    #[error("the header of a link's payload isn't valid")]
    Header,
}

#[derive(Serialize, Deserialize)]
struct WireHeader {
    t: String,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ack: Option<WireAck>,
    #[serde(default)]
    ts: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    k: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct WireAck {
    seq: u64,
    #[serde(rename = "in")]
    created: u64,
}

impl Payload {
    /// The payload as bytes.
    ///
    /// # Errors
    ///
    /// It doesn't fit an envelope.
    pub fn encode(&self) -> Result<Vec<u8>, PayloadError> {
        let header = self.header.encode()?;
        let length = u16::try_from(header.len()).map_err(|_| PayloadError::HeaderTooLong)?;
        let payload = [&length.to_be_bytes()[..], &header, &self.body].concat();
        if payload.len() > LINK_PAYLOAD_BYTES_MAX {
            let bytes = payload.len();
            return Err(PayloadError::TooLong { bytes });
        }
        Ok(payload)
    }

    /// Reads a payload.
    ///
    /// # Errors
    ///
    /// The bytes are no payload.
    pub fn decode(bytes: &[u8]) -> Result<Self, PayloadError> {
        let mut fields = FieldReader::new(bytes);
        let length = fields.array().map(u16::from_be_bytes).map(usize::from);
        let length = length.ok_or(PayloadError::Truncated)?;
        if length > LINK_HEADER_BYTES_MAX {
            return Err(PayloadError::HeaderTooLong);
        }
        let header = fields.bytes(length).ok_or(PayloadError::Truncated)?;
        Ok(Self {
            header: Header::decode(header)?,
            body: fields.rest().to_vec(),
        })
    }
}

impl Header {
    fn encode(&self) -> Result<Vec<u8>, PayloadError> {
        let wire = WireHeader {
            t: self.kind.as_str().to_owned(),
            id: self.id.to_text(),
            ack: self.ack.map(|ack| WireAck {
                seq: ack.sequence,
                created: ack.created_ms,
            }),
            ts: self.ts_ms,
            k: self.collapse.clone(),
        };
        let header = serde_json::to_vec(&wire).map_err(|_| PayloadError::Header)?;
        let is_short = header.len() <= LINK_HEADER_BYTES_MAX && is_collapse_short(&wire.k);
        is_short
            .then_some(header)
            .ok_or(PayloadError::HeaderTooLong)
    }

    fn decode(bytes: &[u8]) -> Result<Self, PayloadError> {
        let wire: WireHeader = serde_json::from_slice(bytes).map_err(|_| PayloadError::Header)?;
        if !is_collapse_short(&wire.k) {
            return Err(PayloadError::HeaderTooLong);
        }
        Ok(Self {
            kind: Kind::parse(&wire.t),
            id: PayloadId::parse(&wire.id).ok_or(PayloadError::Header)?,
            ack: wire
                .ack
                .filter(|ack| ack.seq <= LINK_SEQUENCE_MAX)
                .map(|ack| Ack {
                    sequence: ack.seq,
                    created_ms: ack.created,
                }),
            ts_ms: wire.ts,
            collapse: wire.k,
        })
    }
}

fn is_collapse_short(key: &Option<String>) -> bool {
    key.as_ref()
        .is_none_or(|key| key.len() <= LINK_COLLAPSE_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limit::LINK_BODY_BYTES_MAX;

    fn payload() -> Payload {
        Payload {
            header: Header {
                kind: Kind::Msg,
                id: PayloadId::from_bytes([0xa7; LINK_ID_BYTES]),
                ack: Some(Ack {
                    sequence: 17,
                    created_ms: 1_795_000_000_000,
                }),
                ts_ms: 1_795_000_001_234,
                collapse: Some("tail:home".to_owned()),
            },
            body: b"hello".to_vec(),
        }
    }

    fn with_header(header: &str) -> Vec<u8> {
        let length = u16::try_from(header.len()).unwrap().to_be_bytes();
        [&length[..], header.as_bytes(), b"body"].concat()
    }

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let header = r#"{"t":"msg","id":"p6enp6enp6enp6enp6enpw","ack":{"seq":17,"in":1795000000000},"ts":1795000001234,"k":"tail:home"}"#;
        let bytes = [&[0, 112][..], header.as_bytes(), b"hello"].concat();
        assert_eq!(header.len(), 112);
        assert_eq!(payload().encode(), Ok(bytes.clone()));
        assert_eq!(Payload::decode(&bytes), Ok(payload()));
    }

    #[test]
    fn what_is_not_there_is_not_written() {
        let mut short = payload();
        short.header.ack = None;
        short.header.collapse = None;
        let bytes = short.encode().unwrap();
        let header = r#"{"t":"msg","id":"p6enp6enp6enp6enp6enpw","ts":1795000001234}"#;
        assert_eq!(&bytes[2..bytes.len() - 5], header.as_bytes());
        assert_eq!(Payload::decode(&bytes), Ok(short));
    }

    #[test]
    fn every_kind_has_a_word_and_others_are_accepted_as_unknown() {
        for (kind, text) in KINDS {
            assert_eq!(kind.as_str(), text);
            assert_eq!(Kind::parse(text), kind);
        }
        let later = with_header(r#"{"t":"wave","id":"p6enp6enp6enp6enp6enpw","z":[1]}"#);
        let later = Payload::decode(&later).unwrap();
        assert_eq!((later.header.kind, later.header.ts_ms), (Kind::Unknown, 0));
        assert_eq!(later.body, b"body");
    }

    #[test]
    fn an_acknowledgement_out_of_range_is_none() {
        let header =
            r#"{"t":"ack","id":"p6enp6enp6enp6enp6enpw","ack":{"seq":9007199254740992,"in":1}}"#;
        assert_eq!(
            Payload::decode(&with_header(header)).unwrap().header.ack,
            None
        );
    }

    #[test]
    fn what_is_no_payload_is_refused() {
        for (bytes, error) in [
            (vec![], PayloadError::Truncated),
            (vec![0], PayloadError::Truncated),
            (vec![0, 5, b'{'], PayloadError::Truncated),
            (vec![0, 0], PayloadError::Header),
            (vec![0xff, 0xff], PayloadError::HeaderTooLong),
            (vec![8, 1], PayloadError::HeaderTooLong),
            (with_header("{}"), PayloadError::Header),
            (
                with_header(r#"{"t":"msg","id":"short"}"#),
                PayloadError::Header,
            ),
            (
                with_header(r#"{"t":1,"id":"p6enp6enp6enp6enp6enpw"}"#),
                PayloadError::Header,
            ),
            (
                with_header(r#"{"t":"msg","id":"p6enp6enp6enp6enp6enpw","ts":-1}"#),
                PayloadError::Header,
            ),
            (
                with_header(r#"{"t":"msg","id":"p6enp6enp6enp6enp6enpw","ack":7}"#),
                PayloadError::Header,
            ),
        ] {
            assert_eq!(Payload::decode(&bytes), Err(error));
        }
    }

    #[test]
    fn what_does_not_fit_an_envelope_is_refused() {
        let mut payload = payload();
        payload.header.collapse = Some("k".repeat(LINK_COLLAPSE_BYTES_MAX + 1));
        assert_eq!(payload.encode(), Err(PayloadError::HeaderTooLong));
        payload.header.collapse = Some("\u{1}".repeat(LINK_COLLAPSE_BYTES_MAX));
        payload.body = vec![0; LINK_BODY_BYTES_MAX];
        let bytes = payload.encode().expect("any header leaves room for a body");
        assert_eq!(Payload::decode(&bytes), Ok(payload.clone()));
        payload.body = vec![0; LINK_PAYLOAD_BYTES_MAX];
        assert!(matches!(
            payload.encode(),
            Err(PayloadError::TooLong { .. })
        ));
    }

    #[test]
    fn nothing_of_a_payload_is_printed() {
        let printed = format!("{:?} {:?}", payload(), payload().header.id);
        assert_eq!(
            printed,
            "Payload { header: Header { kind: Msg, .. }, .. } PayloadId"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Payload::decode(&bytes);
        }

        #[test]
        fn arbitrary_headers_do_not_panic(header in ".{0,200}") {
            let _ = Payload::decode(&with_header(&header));
        }
    }
}
