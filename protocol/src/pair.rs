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
use crate::limit::{END_TO_END_VERSION, HASH_BYTES};
use crate::name::DeviceName;
use crate::token::{PairingSecret, PairingToken};

const SHA256_BLOCK_BYTES: usize = 64;

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
        let mut bytes = Vec::with_capacity(97 + self.wire_name.0.len());
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
