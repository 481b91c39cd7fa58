//! One sealed envelope: what a relay stores in a slot.
//!
//! Owns the bytes of section 7.0 and the order of checks of 6.5. It has no state: which
//! sequence is next and which was accepted last are arguments.
//!
//! ```text
//!  0  u8   version = 1
//!  1  u8   flags = 0
//!  2  u64  sequence, 1 … 2^53-1
//! 10  24   nonce, random, new for every seal
//! 34  ..   XChaCha20-Poly1305 of the padded payload, then the tag
//! ```
//!
//! Invariants: the associated data binds version, mailbox, direction and sequence, so an
//! envelope can't be moved; the length says nothing but a multiple of 256; nonces need no
//! counter, so no copy and no restored backup ever repeats one.

use core::fmt;

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload as Sealed};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use rand_core::{CryptoRng, RngCore};
use thiserror::Error;
use zeroize::Zeroizing;

use super::key::{Direction, LinkKeys};
use crate::field_reader::FieldReader;
use crate::label;
use crate::limit::{
    LINK_ENVELOPE_BYTES_MAX, LINK_ENVELOPE_BYTES_MIN, LINK_ENVELOPE_VERSION, LINK_PADDING_BYTES,
    LINK_PAYLOAD_BYTES_MAX, LINK_SEQUENCE_MAX, TAG_BYTES,
};

const HEADER_BYTES: usize = 10;
const NONCE_BYTES: usize = 24;

/// What stands around the padded payload.
const OVERHEAD_BYTES: usize = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;

/// The byte between payload and padding.
const PADDING_MARK: u8 = 0x80;

/// An envelope that was opened: authentic, in its own slot, newer than what was accepted.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenedLinkEnvelope {
    /// Its number in its direction.
    pub sequence: u64,
    /// What the other device put in.
    pub payload: Vec<u8>,
}

impl fmt::Debug for OpenedLinkEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenedLinkEnvelope")
    }
}

/// Why nothing was sealed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SealError {
    /// The payload doesn't fit an envelope.
    #[error("a link's payload has {bytes} bytes, more than {LINK_PAYLOAD_BYTES_MAX}")]
    TooLong {
        /// The bytes that it has.
        bytes: usize,
    },
    /// No envelope carries that number.
    #[error("a link's sequence is out of range")]
    Sequence,
}

/// Why an envelope isn't accepted.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum OpenError {
    /// Not an envelope: its length, its flags or its padding.
    #[error("a link's envelope is malformed")]
    Malformed,
    /// Of another version of the protocol.
    #[error("a link's envelope has version {0}")]
    Version(u8),
    /// It says another number than that of the slot it was found in.
    #[error("a link's envelope is in another slot than its own")]
    SlotMismatch,
    /// It wasn't sealed by the other device for this mailbox, direction and number.
    #[error("a link's envelope isn't authentic")]
    Forged,
    /// Authentic, but not above what was accepted last.
    #[error("a link's envelope was already accepted or passed over")]
    Stale {
        /// Its number.
        sequence: u64,
        /// What the other device put in.
        payload: Vec<u8>,
    },
}

impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("Malformed"),
            Self::Version(version) => write!(f, "Version({version})"),
            Self::SlotMismatch => f.write_str("SlotMismatch"),
            Self::Forged => f.write_str("Forged"),
            Self::Stale { .. } => f.write_str("Stale"),
        }
    }
}

/// Seals a payload under its number, with a nonce of its own.
///
/// # Errors
///
/// The payload is too long, or the number is 0 or above 2^53-1.
pub fn seal(
    keys: &LinkKeys,
    direction: Direction,
    sequence: u64,
    payload: &[u8],
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<Vec<u8>, SealError> {
    if payload.len() > LINK_PAYLOAD_BYTES_MAX {
        let bytes = payload.len();
        return Err(SealError::TooLong { bytes });
    }
    if !is_sequence(sequence) {
        return Err(SealError::Sequence);
    }
    let mut nonce = [0; NONCE_BYTES];
    rng.fill_bytes(&mut nonce);
    seal_with(keys, direction, sequence, payload, nonce)
}

/// Apart from its generator, so that the cipher is compiled in this crate.
fn seal_with(
    keys: &LinkKeys,
    direction: Direction,
    sequence: u64,
    payload: &[u8],
    nonce: [u8; NONCE_BYTES],
) -> Result<Vec<u8>, SealError> {
    let header = header(sequence);
    let sealed = Sealed {
        msg: &padded(payload),
        aad: &associated_data(keys, direction, &header),
    };
    let ciphertext = cipher(keys, direction)
        .encrypt(XNonce::from_slice(&nonce), sealed)
        .map_err(|_| SealError::TooLong {
            bytes: payload.len(),
        })?;
    Ok([header.as_slice(), &nonce, &ciphertext].concat())
}

/// Opens what was found in a slot, given the number that was accepted last (`None`: nothing
/// yet). Every number above it is accepted: gaps are normal.
///
/// # Errors
///
/// Names the first check that failed; the check against `after` comes last, so that an
/// authentic old envelope can be told from a forged one.
pub fn open(
    keys: &LinkKeys,
    direction: Direction,
    slot: u64,
    after: Option<u64>,
    bytes: &[u8],
) -> Result<OpenedLinkEnvelope, OpenError> {
    let parts = Parts::read(bytes)?;
    if parts.sequence != slot {
        return Err(OpenError::SlotMismatch);
    }
    let sealed = Sealed {
        msg: parts.ciphertext,
        aad: &associated_data(keys, direction, &parts.header),
    };
    let padded = cipher(keys, direction)
        .decrypt(XNonce::from_slice(&parts.nonce), sealed)
        .map(Zeroizing::new)
        .map_err(|_| OpenError::Forged)?;
    let payload = unpadded(&padded).ok_or(OpenError::Malformed)?.to_vec();
    let sequence = parts.sequence;
    if after.is_some_and(|after| sequence <= after) {
        return Err(OpenError::Stale { sequence, payload });
    }
    Ok(OpenedLinkEnvelope { sequence, payload })
}

/// What can be read without a key.
struct Parts<'a> {
    header: [u8; HEADER_BYTES],
    sequence: u64,
    nonce: [u8; NONCE_BYTES],
    ciphertext: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, OpenError> {
        let is_length = (LINK_ENVELOPE_BYTES_MIN..=LINK_ENVELOPE_BYTES_MAX).contains(&bytes.len())
            && bytes
                .len()
                .checked_sub(OVERHEAD_BYTES)
                .is_some_and(|padded| padded.is_multiple_of(LINK_PADDING_BYTES));
        if !is_length {
            return Err(OpenError::Malformed);
        }
        let mut fields = FieldReader::new(bytes);
        let header = fields.array::<HEADER_BYTES>().ok_or(OpenError::Malformed)?;
        let nonce = fields.array::<NONCE_BYTES>().ok_or(OpenError::Malformed)?;
        let mut inside = FieldReader::new(&header);
        let (Some(version), Some(flags), Some(sequence)) = (inside.u8(), inside.u8(), inside.u64())
        else {
            return Err(OpenError::Malformed);
        };
        if version != LINK_ENVELOPE_VERSION {
            return Err(OpenError::Version(version));
        }
        if flags != 0 || !is_sequence(sequence) {
            return Err(OpenError::Malformed);
        }
        Ok(Self {
            header,
            sequence,
            nonce,
            ciphertext: fields.rest(),
        })
    }
}

const fn is_sequence(sequence: u64) -> bool {
    sequence > 0 && sequence <= LINK_SEQUENCE_MAX
}

fn header(sequence: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let (front, number) = header.split_at_mut(2);
    front.copy_from_slice(&[LINK_ENVELOPE_VERSION, 0]);
    number.copy_from_slice(&sequence.to_be_bytes());
    header
}

fn cipher(keys: &LinkKeys, direction: Direction) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(keys.envelope_key(direction).into())
}

fn associated_data(keys: &LinkKeys, direction: Direction, header: &[u8; HEADER_BYTES]) -> Vec<u8> {
    [
        label::LINK_ENVELOPE,
        keys.mailbox().as_bytes(),
        &[direction.byte()],
        header,
    ]
    .concat()
}

fn padded(payload: &[u8]) -> Zeroizing<Vec<u8>> {
    let length = payload
        .len()
        .saturating_add(1)
        .next_multiple_of(LINK_PADDING_BYTES);
    // The whole length at once: a vector that grows would leave copies behind.
    let mut padded = Zeroizing::new(Vec::with_capacity(length));
    padded.extend_from_slice(payload);
    padded.push(PADDING_MARK);
    padded.resize(length, 0);
    padded
}

/// The payload in front of the padding. Padding beyond the shortest is accepted: a writer may
/// hide more of a size than it has to.
fn unpadded(padded: &[u8]) -> Option<&[u8]> {
    let end = padded.iter().rposition(|byte| *byte != 0)?;
    let (payload, rest) = padded.split_at_checked(end)?;
    (rest.first() == Some(&PADDING_MARK)).then_some(payload)
}

#[cfg(test)]
mod tests;
