//! The outer Envelope: what a relay could read, were it to look.

use core::fmt;

use prost::Message as _;
use thiserror::Error;

use crate::key::NoisePublic;
use crate::limit::{END_TO_END_VERSION, KEY_BYTES};

/// What arrived, told apart by its End-to-End Version before anything else of it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// The version spoken here.
    Current(SealedEnvelope),
    /// A newer version: it stays on the relay until this device is upgraded.
    Newer {
        /// The version. It isn't authenticated.
        version: u32,
    },
    /// An older version: its sender has to be upgraded.
    Older,
}

impl Received {
    /// Reads an Envelope.
    ///
    /// # Errors
    ///
    /// The bytes aren't an Envelope; all cases count as malformed.
    pub fn decode(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        // First only the version, with every other field skipped: another version may well
        // have given them another type.
        let version = WireVersion::decode(bytes)
            .map_err(|_| EnvelopeError::Protobuf)?
            .version;
        let current = u32::from(END_TO_END_VERSION);
        if version > current {
            return Ok(Self::Newer { version });
        }
        if version < current {
            return Ok(Self::Older);
        }
        let wire = WireEnvelope::decode(bytes).map_err(|_| EnvelopeError::Protobuf)?;
        Ok(Self::Current(SealedEnvelope {
            recipient: key(&wire.recipient_pub)?,
            ephemeral: key(&wire.ephemeral_pub)?,
            ciphertext: wire.ciphertext,
        }))
    }
}

/// An Envelope of the current version, not yet opened.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedEnvelope {
    pub(super) recipient: NoisePublic,
    pub(super) ephemeral: NoisePublic,
    pub(super) ciphertext: Vec<u8>,
}

impl SealedEnvelope {
    /// The key that it says it is addressed to; opening checks it.
    #[must_use]
    pub fn recipient(&self) -> &NoisePublic {
        &self.recipient
    }
}

impl fmt::Debug for SealedEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealedEnvelope")
    }
}

/// Why bytes aren't an Envelope.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EnvelopeError {
    /// Not protobuf.
    #[error("an envelope isn't valid protobuf")]
    Protobuf,
    /// A key has another length.
    #[error("an envelope carries a key of {bytes} bytes")]
    KeyLength {
        /// The bytes that it has.
        bytes: usize,
    },
}

pub(super) fn encode(
    recipient: &NoisePublic,
    ephemeral: &NoisePublic,
    ciphertext: Vec<u8>,
) -> Vec<u8> {
    WireEnvelope {
        recipient_pub: recipient.as_bytes().to_vec(),
        version: u32::from(END_TO_END_VERSION),
        ephemeral_pub: ephemeral.as_bytes().to_vec(),
        ciphertext,
    }
    .encode_to_vec()
}

/// Numbers 1, 2, 4, 5 and 6 belonged to an earlier format and stay unused: its Envelopes read
/// as version 0.
#[derive(Clone, PartialEq, prost::Message)]
struct WireEnvelope {
    #[prost(bytes = "vec", tag = "3")]
    recipient_pub: Vec<u8>,
    #[prost(uint32, tag = "7")]
    version: u32,
    #[prost(bytes = "vec", tag = "8")]
    ephemeral_pub: Vec<u8>,
    #[prost(bytes = "vec", tag = "9")]
    ciphertext: Vec<u8>,
}

/// The one field that every version has in the same place.
#[derive(Clone, PartialEq, prost::Message)]
struct WireVersion {
    #[prost(uint32, tag = "7")]
    version: u32,
}

fn key(bytes: &[u8]) -> Result<NoisePublic, EnvelopeError> {
    let bytes: [u8; KEY_BYTES] = bytes
        .try_into()
        .map_err(|_| EnvelopeError::KeyLength { bytes: bytes.len() })?;
    Ok(NoisePublic::from_bytes(bytes))
}
