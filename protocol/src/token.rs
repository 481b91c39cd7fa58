//! The pairing token: the admitter's keys and a single-use secret, carried out of band.
//!
//! Owns the token's text and the secret's type. It says nothing about relays (see
//! [`crate::invitation`]) and nothing about time: a token lives as long as the pairing window
//! it came from. Specification section 4.2.
//!
//! Invariants: the keys of a token are usable ones; the secret is wiped when dropped; neither
//! type prints anything of itself.

use core::fmt;

use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::field_reader::FieldReader;
use crate::key::{DeviceKeys, NoisePublic, SigningPublic};
use crate::limit::KEY_BYTES;
use crate::secret::secret_bytes;
use crate::{base64url, label};

/// What every token's text starts with.
pub const TEXT_PREFIX: &str = "tsp1_";

/// The length of every token's text.
pub const TEXT_CHARS: usize = 139;

const PAYLOAD_BYTES: usize = 3 * KEY_BYTES;
const CHECK_BYTES: usize = 4;

/// The random secret of one pairing window.
#[derive(Clone)]
pub struct PairingSecret([u8; KEY_BYTES]);

secret_bytes!(PairingSecret);

/// What one device shows and another scans, types or pastes.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingToken {
    keys: DeviceKeys,
    secret: PairingSecret,
}

impl PairingToken {
    /// Makes the token of a pairing window.
    #[must_use]
    pub fn new(keys: DeviceKeys, secret: PairingSecret) -> Self {
        Self { keys, secret }
    }

    /// Reads a token's text. White space around it is ignored, nothing else is.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the text, without any of it.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(TokenError::Empty);
        }
        let encoded = text.strip_prefix(TEXT_PREFIX).ok_or(TokenError::Prefix)?;
        if let Some(wrong) = encoded.chars().find(|c| !is_token_char(*c)) {
            let is_appended = matches!(wrong, '?' | '&' | '#' | '%' | '/');
            return Err(if is_appended {
                TokenError::Appended
            } else {
                TokenError::Character
            });
        }
        if text.len() != TEXT_CHARS {
            return Err(TokenError::Length { chars: text.len() });
        }
        let bytes = base64url::decode::<{ PAYLOAD_BYTES + CHECK_BYTES }>(encoded)
            .map(Zeroizing::new)
            .ok_or(TokenError::Character)?;
        Self::decode(&bytes)
    }

    /// The token as 139 characters of text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut bytes = Zeroizing::new(Vec::with_capacity(PAYLOAD_BYTES + CHECK_BYTES));
        bytes.extend_from_slice(&self.keys.to_bytes());
        bytes.extend_from_slice(self.secret.as_bytes());
        let check = check(&bytes);
        bytes.extend_from_slice(&check);
        format!("{TEXT_PREFIX}{}", base64url::encode(&bytes))
    }

    /// The keys of the device that showed the token.
    #[must_use]
    pub fn keys(&self) -> DeviceKeys {
        self.keys
    }

    /// The secret that a joiner proves to know.
    #[must_use]
    pub fn secret(&self) -> &PairingSecret {
        &self.secret
    }

    fn decode(bytes: &[u8; PAYLOAD_BYTES + CHECK_BYTES]) -> Result<Self, TokenError> {
        let (payload, given) = bytes.split_at(PAYLOAD_BYTES);
        if check(payload) != given {
            return Err(TokenError::Check);
        }
        let mut fields = FieldReader::new(payload);
        let (Some(noise), Some(signing), Some(secret)) =
            (fields.array(), fields.array(), fields.array())
        else {
            return Err(TokenError::Character);
        };
        let keys = DeviceKeys {
            noise: NoisePublic::from_bytes(noise),
            signing: SigningPublic::from_bytes(signing),
        };
        if keys.are_weak() {
            return Err(TokenError::WeakKey);
        }
        Ok(Self {
            keys,
            secret: PairingSecret::from_bytes(secret),
        })
    }
}

impl fmt::Debug for PairingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairingToken")
    }
}

/// Why a text isn't a pairing token.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TokenError {
    /// There is no text.
    #[error("the pairing token is empty")]
    Empty,
    /// The text starts with something else.
    #[error("the pairing token doesn't start as one")]
    Prefix,
    /// Something was appended, as link trackers do.
    #[error("something was appended to the pairing token")]
    Appended,
    /// There is a character that a token doesn't contain.
    #[error("the pairing token contains a wrong character")]
    Character,
    /// A part is missing, or there is too much.
    #[error("the pairing token has {chars} characters, not {TEXT_CHARS}")]
    Length {
        /// The characters that there are.
        chars: usize,
    },
    /// The check doesn't fit: a character was changed.
    #[error("the check of the pairing token doesn't fit")]
    Check,
    /// One of its keys gives no security.
    #[error("the pairing token carries an unusable key")]
    WeakKey,
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn check(payload: &[u8]) -> [u8; CHECK_BYTES] {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(label::PAIRING_TOKEN)
        .chain_update(payload)
        .finalize()
        .into();
    let mut check = [0; CHECK_BYTES];
    check.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    fn token() -> PairingToken {
        let secret = PairingSecret::from_bytes(vectors::array("/inputs/pairing_secret"));
        PairingToken::new(vectors::device("a").keys(), secret)
    }

    #[test]
    fn the_vector_is_met() {
        let text = vectors::text("/pairing/token");
        assert_eq!(token().to_text(), text);
        assert_eq!(text.len(), vectors::number("/pairing/token_chars"));
        assert_eq!(text.len(), TEXT_CHARS);
        assert_eq!(PairingToken::parse(&text), Ok(token()));
        assert_eq!(PairingToken::parse(&format!(" \r\n{text}\t")), Ok(token()));
    }

    #[test]
    fn each_fault_is_named() {
        let text = vectors::text("/pairing/token");
        let parse = PairingToken::parse;
        assert_eq!(parse(" \n"), Err(TokenError::Empty));
        assert_eq!(
            parse(&text.replace("tsp1_", "tsp2_")),
            Err(TokenError::Prefix)
        );
        assert_eq!(
            parse(&text.replace("tsp1_", "TSP1_")),
            Err(TokenError::Prefix)
        );
        assert_eq!(parse(&text.replace('u', "v")), Err(TokenError::Check));
        assert_eq!(parse(&text.replace('-', "+")), Err(TokenError::Character));
        assert_eq!(parse(&text.replace('-', " ")), Err(TokenError::Character));
        assert_eq!(parse(&text.replace('-', "ü")), Err(TokenError::Character));
        for appended in ["?fbid=1", "&utm_source=x", "%3F", "#top", "/"] {
            assert_eq!(
                parse(&format!("{text}{appended}")),
                Err(TokenError::Appended)
            );
        }
        let short = text.strip_suffix('A').unwrap();
        assert_eq!(
            parse(short),
            Err(TokenError::Length {
                chars: TEXT_CHARS - 1
            })
        );
        let long = format!("{text}A");
        assert_eq!(
            parse(&long),
            Err(TokenError::Length {
                chars: TEXT_CHARS + 1
            })
        );
        // The last character carries two bits of nothing, which have to be zero.
        assert_eq!(parse(&format!("{short}B")), Err(TokenError::Character));
    }

    #[test]
    fn a_token_with_a_weak_key_is_refused() {
        let DeviceKeys { noise, signing } = vectors::device("a").keys();
        let zero = [0; 32];
        for keys in [
            DeviceKeys {
                noise: zero.into(),
                signing,
            },
            DeviceKeys {
                noise,
                signing: zero.into(),
            },
        ] {
            let text = PairingToken::new(keys, PairingSecret::from_bytes(zero)).to_text();
            assert_eq!(PairingToken::parse(&text), Err(TokenError::WeakKey));
        }
    }

    #[test]
    fn nothing_of_a_token_is_printed() {
        assert_eq!(
            format!("{:?} {:?}", token(), token().secret()),
            "PairingToken PairingSecret"
        );
    }
}
