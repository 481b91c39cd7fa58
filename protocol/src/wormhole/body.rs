//! What stands inside messages: the key exchange, the versions, and texts handed over.
//!
//! Owns their JSON. Fields that aren't known are passed over.

use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

/// The body of the `pake` message.
#[must_use]
pub fn pake(message: &[u8]) -> Vec<u8> {
    json!({ "pake_v1": hex::encode(message) })
        .to_string()
        .into_bytes()
}

/// Reads the body of a `pake` message.
#[must_use]
pub fn read_pake(body: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Pake {
        pake_v1: String,
    }
    let pake: Pake = serde_json::from_slice(body).ok()?;
    hex::decode(pake.pake_v1).ok()
}

/// The plaintext of the `version` message: this build says nothing of its own in it.
#[must_use]
pub fn version() -> Vec<u8> {
    json!({ "app_versions": {} }).to_string().into_bytes()
}

/// Whether this is the plaintext of a `version` message.
#[must_use]
pub fn is_version(plaintext: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(plaintext).is_ok()
}

/// What one side of a transfer says to the other.
#[derive(Clone, PartialEq, Eq)]
pub enum Transfer {
    /// Here is a text.
    Offer(Zeroizing<String>),
    /// Here is something that isn't a text: a file or a folder.
    OfferOfFiles,
    /// The text has arrived.
    Received,
    /// The other side won't, and says why.
    Refused(String),
    /// Nothing that this build has to act on.
    Other,
}

/// The answer that says that a text has arrived.
const RECEIVED: &str = "ok";

impl Transfer {
    /// The plaintext of the message.
    #[must_use]
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        #[derive(Serialize)]
        struct Message<'a> {
            message: &'a str,
        }
        #[derive(Serialize)]
        struct Offer<'a> {
            offer: Message<'a>,
        }
        let bytes = match self {
            Self::Offer(text) => {
                let message = Message { message: text };
                serde_json::to_vec(&Offer { offer: message }).unwrap_or_default()
            }
            Self::Received => json!({ "answer": { "message_ack": RECEIVED } })
                .to_string()
                .into_bytes(),
            Self::Refused(reason) => json!({ "error": reason }).to_string().into_bytes(),
            Self::OfferOfFiles | Self::Other => b"{}".to_vec(),
        };
        Zeroizing::new(bytes)
    }

    /// Reads the plaintext of a message; nothing if it isn't JSON.
    #[must_use]
    pub fn decode(plaintext: &[u8]) -> Option<Self> {
        let mut fields: Map<String, Value> = serde_json::from_slice(plaintext).ok()?;
        if let Some(Value::String(reason)) = fields.remove("error") {
            return Some(Self::Refused(reason));
        }
        if let Some(offer) = fields.remove("offer") {
            return Some(match offer {
                Value::Object(mut offer) => match offer.remove("message") {
                    Some(Value::String(text)) => Self::Offer(Zeroizing::new(text)),
                    _ => Self::OfferOfFiles,
                },
                _ => Self::OfferOfFiles,
            });
        }
        let answer = fields.get("answer").and_then(|a| a.get("message_ack"));
        Some(match answer.and_then(Value::as_str) {
            Some(RECEIVED) => Self::Received,
            _ => Self::Other,
        })
    }
}

impl fmt::Debug for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Offer(_) => "Offer",
            Self::OfferOfFiles => "OfferOfFiles",
            Self::Received => "Received",
            Self::Refused(_) => "Refused",
            Self::Other => "Other",
        })
    }
}

/// What the two sides of a pairing by typed code say to each other.
#[derive(Clone, PartialEq, Eq)]
pub enum Invite {
    /// The invitation, as text.
    Invitation(Zeroizing<String>),
    /// It has arrived and can be used.
    Received,
    /// It has arrived and can't be used.
    Unusable,
    /// Nothing that this build knows.
    Other,
}

impl Invite {
    /// The plaintext of the message.
    #[must_use]
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        #[derive(Serialize)]
        struct Invitation<'a> {
            invitation: &'a str,
        }
        let bytes = match self {
            Self::Invitation(text) => {
                serde_json::to_vec(&Invitation { invitation: text }).unwrap_or_default()
            }
            Self::Received => br#"{"received":true}"#.to_vec(),
            Self::Unusable => br#"{"received":false}"#.to_vec(),
            Self::Other => b"{}".to_vec(),
        };
        Zeroizing::new(bytes)
    }

    /// Reads the plaintext of a message.
    #[must_use]
    pub fn decode(plaintext: &[u8]) -> Self {
        let Ok(mut fields) = serde_json::from_slice::<Map<String, Value>>(plaintext) else {
            return Self::Other;
        };
        if let Some(Value::String(text)) = fields.remove("invitation") {
            return Self::Invitation(Zeroizing::new(text));
        }
        match fields.get("received").and_then(Value::as_bool) {
            Some(true) => Self::Received,
            Some(false) => Self::Unusable,
            None => Self::Other,
        }
    }
}

impl fmt::Debug for Invite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invitation(_) => "Invitation",
            Self::Received => "Received",
            Self::Unusable => "Unusable",
            Self::Other => "Other",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_exchange_is_read_back_and_nothing_else() {
        assert_eq!(read_pake(&pake(&[1, 2, 255])), Some(vec![1, 2, 255]));
        for wrong in [r#"{"pake_v1":"0"}"#, r#"{"pake_v1":7}"#, "{}", "[]", ""] {
            assert_eq!(read_pake(wrong.as_bytes()), None, "{wrong}");
        }
        assert!(is_version(&version()) && is_version(br#"{"can-dilate":["1"]}"#));
        assert!(!is_version(b"[]") && !is_version(b""));
    }

    #[test]
    fn transfers_look_as_every_client_expects() {
        let offer = Transfer::Offer(Zeroizing::new("grüß \"dich\"".to_owned()));
        assert_eq!(
            offer.encode().as_slice(),
            r#"{"offer":{"message":"grüß \"dich\""}}"#.as_bytes()
        );
        assert_eq!(
            Transfer::Received.encode().as_slice(),
            br#"{"answer":{"message_ack":"ok"}}"#
        );
        for message in [
            offer,
            Transfer::Received,
            Transfer::Refused("no".to_owned()),
        ] {
            assert_eq!(Transfer::decode(&message.encode()), Some(message));
        }
        let file = br#"{"offer":{"file":{"filename":"a","filesize":1}}}"#;
        assert_eq!(Transfer::decode(file), Some(Transfer::OfferOfFiles));
        let transit = br#"{"transit":{"abilities-v1":[]}}"#;
        assert_eq!(Transfer::decode(transit), Some(Transfer::Other));
        assert_eq!(Transfer::decode(b"\xff"), None);
    }

    #[test]
    fn invitations_are_read_back() {
        let text = Zeroizing::new("sealpost://relay#token".to_owned());
        for message in [
            Invite::Invitation(text),
            Invite::Received,
            Invite::Unusable,
            Invite::Other,
        ] {
            assert_eq!(Invite::decode(&message.encode()), message);
        }
        assert_eq!(Invite::decode(b"no"), Invite::Other);
        let invitation = Invite::Invitation(Zeroizing::new("secret".to_owned()));
        assert_eq!(format!("{invitation:?}"), "Invitation");
    }
}
