//! The bodies of the four messages of a pairing, as JSON.
//!
//! Owns their fields and what is checked of each alone. The order of the messages is the
//! engine's. Keys, commitments and ids are base64url without padding; fields that aren't known
//! are passed over. Names are as they came: whoever shows one cleans it
//! ([`crate::name::clean`]). Section 8.3, amendment 18.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::payload::PayloadId;
use super::rotation::{Commitment, ExchangePublic};
use crate::base64url;
use crate::limit::HASH_BYTES;

/// B → A: who joins, and the commitment to its public key.
#[derive(Clone, PartialEq, Eq)]
pub struct Hello {
    /// B's name.
    pub name: String,
    /// What B runs on, for display.
    pub platform: String,
    /// The envelope versions that B reads.
    pub versions: Vec<u8>,
    /// What binds B to its public key.
    pub commitment: Commitment,
}

/// A → B: A's public key.
#[derive(Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The `hello` that it answers.
    pub to: PayloadId,
    /// A's public key.
    pub public: ExchangePublic,
}

/// B → A: the public key that B committed to.
#[derive(Clone, PartialEq, Eq)]
pub struct Reveal {
    /// B's public key.
    pub public: ExchangePublic,
}

/// A → B: A's person confirmed the digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Welcome {
    /// A's name.
    pub name: String,
    /// The proof over it ([`super::rotation::Rotation::confirmation`]).
    pub confirmation: [u8; HASH_BYTES],
}

#[derive(Serialize, Deserialize)]
struct WireHello {
    name: String,
    #[serde(default)]
    platform: String,
    #[serde(default)]
    versions: Vec<u8>,
    commit_b: String,
}

#[derive(Serialize, Deserialize)]
struct WireChallenge {
    to: String,
    pub_a: String,
}

#[derive(Serialize, Deserialize)]
struct WireReveal {
    pub_b: String,
}

#[derive(Serialize, Deserialize)]
struct WireWelcome {
    name: String,
    confirm: String,
}

/// A JSON object of texts and numbers always has bytes.
fn json(wire: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(wire).unwrap_or_default()
}

/// Implements that a message prints its own name and nothing else.
macro_rules! prints_its_name {
    ($($name:ident),*) => {
        $(impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        })*
    };
}

prints_its_name!(Hello, Challenge, Reveal, Welcome);

impl Hello {
    /// The body as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        json(&WireHello {
            name: self.name.clone(),
            platform: self.platform.clone(),
            versions: self.versions.clone(),
            commit_b: self.commitment.to_text(),
        })
    }

    /// Reads a body; `None` where it isn't one.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Self> {
        let wire: WireHello = serde_json::from_slice(body).ok()?;
        Some(Self {
            name: wire.name,
            platform: wire.platform,
            versions: wire.versions,
            commitment: Commitment::parse(&wire.commit_b)?,
        })
    }
}

impl Challenge {
    /// The body as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        json(&WireChallenge {
            to: self.to.to_text(),
            pub_a: self.public.to_text(),
        })
    }

    /// Reads a body; `None` where it isn't one.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Self> {
        let wire: WireChallenge = serde_json::from_slice(body).ok()?;
        Some(Self {
            to: PayloadId::parse(&wire.to)?,
            public: ExchangePublic::parse(&wire.pub_a)?,
        })
    }
}

impl Reveal {
    /// The body as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        json(&WireReveal {
            pub_b: self.public.to_text(),
        })
    }

    /// Reads a body; `None` where it isn't one.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Self> {
        let wire: WireReveal = serde_json::from_slice(body).ok()?;
        Some(Self {
            public: ExchangePublic::parse(&wire.pub_b)?,
        })
    }
}

impl Welcome {
    /// The body as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        json(&WireWelcome {
            name: self.name.clone(),
            confirm: base64url::encode(&self.confirmation),
        })
    }

    /// Reads a body; `None` where it isn't one.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Self> {
        let wire: WireWelcome = serde_json::from_slice(body).ok()?;
        Some(Self {
            name: wire.name,
            confirmation: base64url::decode(&wire.confirm)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::KEY_BYTES;

    fn public() -> ExchangePublic {
        ExchangePublic::from_bytes([0xff; KEY_BYTES])
    }

    const KEY_TEXT: &str = "__________________________________________8";

    #[test]
    fn each_body_has_its_bytes_and_is_read_back() {
        let hello = Hello {
            name: "Phone".to_owned(),
            platform: "Linux".to_owned(),
            versions: vec![1],
            commitment: Commitment::from_bytes([0xff; HASH_BYTES]),
        };
        let text = format!(
            r#"{{"name":"Phone","platform":"Linux","versions":[1],"commit_b":"{KEY_TEXT}"}}"#
        );
        assert_eq!(hello.encode(), text.as_bytes());
        assert_eq!(Hello::decode(text.as_bytes()), Some(hello));
        let challenge = Challenge {
            to: PayloadId::from_bytes([0; 16]),
            public: public(),
        };
        let text = format!(r#"{{"to":"AAAAAAAAAAAAAAAAAAAAAA","pub_a":"{KEY_TEXT}"}}"#);
        assert_eq!(challenge.encode(), text.as_bytes());
        assert_eq!(Challenge::decode(text.as_bytes()), Some(challenge));
        let reveal = Reveal { public: public() };
        let text = format!(r#"{{"pub_b":"{KEY_TEXT}"}}"#);
        assert_eq!(reveal.encode(), text.as_bytes());
        assert_eq!(Reveal::decode(text.as_bytes()), Some(reveal));
        let welcome = Welcome {
            name: "Desk".to_owned(),
            confirmation: [0xff; HASH_BYTES],
        };
        let text = format!(r#"{{"name":"Desk","confirm":"{KEY_TEXT}"}}"#);
        assert_eq!(welcome.encode(), text.as_bytes());
        assert_eq!(Welcome::decode(text.as_bytes()), Some(welcome));
    }

    #[test]
    fn what_is_no_body_is_refused_and_more_fields_are_passed_over() {
        for wrong in ["", "{}", "[]", "7", r#"{"pub_b":"AA"}"#, r#"{"pub_b":7}"#] {
            let wrong = wrong.as_bytes();
            assert!(Hello::decode(wrong).is_none());
            assert!(Challenge::decode(wrong).is_none());
            assert!(Reveal::decode(wrong).is_none());
            assert!(Welcome::decode(wrong).is_none());
        }
        let padded = format!(r#"{{"pub_b":"{KEY_TEXT}="}}"#);
        assert!(Reveal::decode(padded.as_bytes()).is_none());
        let more = format!(r#"{{"later":[1],"pub_b":"{KEY_TEXT}"}}"#);
        assert!(Reveal::decode(more.as_bytes()).is_some());
    }

    #[test]
    fn nothing_of_a_pairing_is_printed() {
        let welcome = Welcome {
            name: "secret".to_owned(),
            confirmation: [1; HASH_BYTES],
        };
        assert_eq!(format!("{welcome:?}"), "Welcome");
    }
}
