//! The body of a `Pair` message: a joiner's keys and name, with proof that it saw the token.
//!
//! Owns the body's bytes and the proof. Whether a window is open, and whether the Envelope's
//! author is the signing key in the body, is for the caller to check. Specification section
//! 4.3.

use hmac::digest::generic_array::GenericArray;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::field_reader::FieldReader;
use crate::key::{DeviceKeys, NoisePublic, SigningPublic};
use crate::label;
use crate::limit::{END_TO_END_VERSION, HASH_BYTES, KEY_BYTES};
use crate::name::DeviceName;
use crate::token::{PairingSecret, PairingToken};

const SHA256_BLOCK_BYTES: usize = 64;

/// Keys, proof and the longest name that its length byte allows.
const BODY_BYTES_MAX: usize = 2 * KEY_BYTES + HASH_BYTES + 1 + 255;

/// A joiner's request to be admitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PairBody {
    /// The keys that ask to be admitted.
    pub keys: DeviceKeys,
    /// The joiner's name, cleaned.
    pub name: DeviceName,
    proof: Proof,
    /// The name as it was sent: the proof covers these bytes, also where cleaning changed them.
    wire_name: WireName,
}

#[derive(Clone, PartialEq, Eq)]
struct Proof([u8; HASH_BYTES]);

#[derive(Clone, PartialEq, Eq)]
struct WireName(Vec<u8>);

impl PairBody {
    /// Makes the request of `joiner` under the token it was shown.
    #[must_use]
    pub fn new(token: &PairingToken, joiner: &DeviceKeys, name: DeviceName) -> Self {
        let wire_name = WireName(name.as_str().as_bytes().to_vec());
        let mac = proof_mac(token.secret(), &token.keys(), joiner, &wire_name.0);
        let proof = Proof(mac.finalize().into_bytes().into());
        Self {
            keys: *joiner,
            name,
            proof,
            wire_name,
        }
    }

    /// The body as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BODY_BYTES_MAX);
        bytes.extend_from_slice(&self.keys.to_bytes());
        bytes.extend_from_slice(&self.proof.0);
        bytes.push(length_byte(&self.wire_name.0));
        bytes.extend_from_slice(&self.wire_name.0);
        bytes
    }

    /// Reads a body. A name that can't be shown is replaced by the derived one.
    ///
    /// # Errors
    ///
    /// The body isn't exactly of that shape, or a key in it gives no security.
    pub fn decode(bytes: &[u8]) -> Result<Self, PairError> {
        let mut fields = FieldReader::new(bytes);
        let malformed = PairError::Length { bytes: bytes.len() };
        let noise = NoisePublic::from_bytes(fields.array().ok_or(malformed)?);
        let signing = SigningPublic::from_bytes(fields.array().ok_or(malformed)?);
        let proof = fields.array().ok_or(malformed)?;
        let name_bytes = usize::from(fields.u8().ok_or(malformed)?);
        let name = fields.bytes(name_bytes).ok_or(malformed)?;
        if !fields.is_empty() {
            return Err(malformed);
        }
        let keys = DeviceKeys { noise, signing };
        if keys.are_weak() {
            return Err(PairError::WeakKey);
        }
        Ok(Self {
            keys,
            name: DeviceName::clean(core::str::from_utf8(name).unwrap_or_default(), &signing),
            proof: Proof(proof),
            wire_name: WireName(name.to_vec()),
        })
    }

    /// Whether whoever made this knew the secret of `admitter`'s window; in constant time.
    #[must_use]
    pub fn is_proven(&self, admitter: &DeviceKeys, secret: &PairingSecret) -> bool {
        proof_mac(secret, admitter, &self.keys, &self.wire_name.0)
            .verify_slice(&self.proof.0)
            .is_ok()
    }
}

impl core::fmt::Debug for Proof {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Proof")
    }
}

impl core::fmt::Debug for WireName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("WireName")
    }
}

/// Why bytes aren't the body of a `Pair`.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PairError {
    /// The fields don't fill the body exactly.
    #[error("a pair body of {bytes} bytes doesn't add up")]
    Length {
        /// The bytes that there are.
        bytes: usize,
    },
    /// One of the keys gives no security.
    #[error("a pair body carries an unusable key")]
    WeakKey,
}

fn proof_mac(
    secret: &PairingSecret,
    admitter: &DeviceKeys,
    joiner: &DeviceKeys,
    name: &[u8],
) -> Hmac<Sha256> {
    // A key of one block, which HMAC makes of every shorter key by adding zeros.
    let mut block = Zeroizing::new([0; SHA256_BLOCK_BYTES]);
    block
        .iter_mut()
        .zip(secret.as_bytes())
        .for_each(|(to, from)| *to = *from);
    let mut mac = Hmac::<Sha256>::new(GenericArray::from_slice(block.as_slice()));
    mac.update(label::PAIR_PROOF);
    mac.update(&END_TO_END_VERSION.to_be_bytes());
    mac.update(&admitter.to_bytes());
    mac.update(&joiner.to_bytes());
    mac.update(&[length_byte(name)]);
    mac.update(name);
    mac
}

/// The length of a name that is known to fit one byte.
fn length_byte(name: &[u8]) -> u8 {
    u8::try_from(name.len()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    fn token() -> PairingToken {
        PairingToken::parse(&vectors::text("/pairing/token")).unwrap()
    }

    fn body() -> PairBody {
        let joiner = vectors::member("b");
        PairBody::new(&token(), &joiner.keys, joiner.name)
    }

    #[test]
    fn the_vector_is_met() {
        assert_eq!(body().proof.0.as_slice(), vectors::bytes("/pairing/proof"));
        assert_eq!(body().encode(), vectors::bytes("/pairing/body"));
        let read = PairBody::decode(&vectors::bytes("/pairing/body")).unwrap();
        assert_eq!(read, body());
        assert_eq!(read.name.as_str(), "QuietHeron");
        assert!(read.is_proven(&token().keys(), token().secret()));
    }

    #[test]
    fn a_proof_fits_one_window_one_admitter_and_one_joiner() {
        let (keys, token) = (token().keys(), token());
        let spent = PairingSecret::from_bytes([0xbc; 32]);
        assert!(!body().is_proven(&keys, &spent));
        assert!(!body().is_proven(&vectors::device("b").keys(), token.secret()));
        let other = PairBody { keys, ..body() };
        assert!(!other.is_proven(&keys, token.secret()));
        let mut renamed = vectors::bytes("/pairing/body");
        *renamed.last_mut().unwrap() = b'm';
        let renamed = PairBody::decode(&renamed).unwrap();
        assert!(!renamed.is_proven(&keys, token.secret()));
    }

    #[test]
    fn a_name_that_cannot_be_shown_is_replaced_and_still_proven() {
        let joiner = vectors::device("b").keys();
        for wire_name in [&b""[..], b"\xff\xfe", "\u{202e}\u{200b}".as_bytes()] {
            let mac = proof_mac(token().secret(), &token().keys(), &joiner, wire_name);
            let mut bytes = joiner.to_bytes().to_vec();
            bytes.extend_from_slice(&mac.finalize().into_bytes());
            bytes.push(length_byte(wire_name));
            bytes.extend_from_slice(wire_name);
            let read = PairBody::decode(&bytes).unwrap();
            assert_eq!(read.name, DeviceName::derived(&joiner.signing));
            assert!(read.is_proven(&token().keys(), token().secret()));
            assert_eq!(read.encode(), bytes);
        }
    }

    #[test]
    fn bytes_that_do_not_add_up_are_refused() {
        let whole = vectors::bytes("/pairing/body");
        for bytes in 0..whole.len() {
            let cut = whole.get(..bytes).unwrap();
            assert_eq!(PairBody::decode(cut), Err(PairError::Length { bytes }));
        }
        let long = [whole.as_slice(), &[0]].concat();
        assert_eq!(
            PairBody::decode(&long),
            Err(PairError::Length { bytes: long.len() })
        );
    }

    #[test]
    fn weak_keys_are_refused() {
        for key in 0..2 {
            let mut bytes = vectors::bytes("/pairing/body");
            bytes
                .iter_mut()
                .skip(32 * key)
                .take(32)
                .for_each(|byte| *byte = 0);
            assert_eq!(PairBody::decode(&bytes), Err(PairError::WeakKey));
        }
    }

    #[test]
    fn nothing_of_a_request_is_printed() {
        assert_eq!(
            format!("{:?}", body()),
            "PairBody { keys: DeviceKeys { noise: NoisePublic, signing: SigningPublic }, \
             name: DeviceName, proof: Proof, wire_name: WireName }"
        );
    }
}
