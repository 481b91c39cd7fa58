//! The Envelope: one signed message, sealed for one recipient.
//!
//! Owns the outer protobuf, the sealed layout, the signature and Addressed Encryption. It
//! doesn't decide whether an author may send something, whether a message is too old or was
//! seen before. Specification sections 3.1 to 3.5.
//!
//! Invariants of an [`OpenedEnvelope`]: it was addressed to the key it was opened with, its
//! author signed every field of it for that recipient, and its numbers fit a database.

mod sealed;
mod wire;

use core::fmt;

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use hkdf::Hkdf;
use rand_core::{CryptoRng, RngCore};
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::key::{NoisePublic, NoiseSecret, SigningPublic, SigningSecret};
use crate::label;
use crate::limit::{
    BODY_BYTES_MAX, END_TO_END_VERSION, ENVELOPE_BYTES_MAX, KEY_BYTES, SEQUENCE_MAX,
};
use crate::message_id::MessageId;

pub use wire::{EnvelopeError, Received, SealedEnvelope};

/// Version, ephemeral key and recipient key: what every step of sealing is bound to.
const CONTEXT_BYTES: usize = 2 + 2 * KEY_BYTES;

/// What kind of message an Envelope carries. Values are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MessageTag {
    /// A request to be admitted.
    Pair = 1,
    /// What an app sends.
    Sync = 2,
    /// The group is destroyed.
    Revoke = 3,
    /// A list of members.
    GroupManifest = 4,
}

impl MessageTag {
    /// The kind with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Pair),
            2 => Some(Self::Sync),
            3 => Some(Self::Revoke),
            4 => Some(Self::GroupManifest),
            _ => None,
        }
    }

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// What is to be sealed.
#[derive(Clone, Copy)]
pub struct Sealing<'a> {
    /// Who signs.
    pub author: &'a SigningSecret,
    /// For whom it is.
    pub recipient: &'a NoisePublic,
    /// The author's number for the message, the same in the copies for all recipients.
    pub sequence: u64,
    /// When it was sent, in Unix milliseconds.
    pub timestamp_ms: u64,
    /// What it is.
    pub tag: MessageTag,
    /// Its content.
    pub body: &'a [u8],
}

impl fmt::Debug for Sealing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing")
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

/// Seals one message for one recipient, under a fresh ephemeral key.
///
/// # Errors
///
/// The caller asks for something that no receiver would accept.
pub fn seal(
    sealing: &Sealing<'_>,
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<Vec<u8>, SealError> {
    sealing.check()?;
    let ephemeral = NoiseSecret::generate(rng);
    let ephemeral_public = ephemeral.public();
    let shared = ephemeral
        .agree(sealing.recipient)
        .ok_or(SealError::WeakRecipient)?;
    let context = context(&ephemeral_public, sealing.recipient);
    let plaintext = sealed::encode(sealing, &context);
    let ciphertext = cipher(&shared, &context)
        .encrypt(
            &Nonce::default(),
            Payload {
                msg: &plaintext,
                aad: &aad(&context),
            },
        )
        .map_err(|_| SealError::BodyTooLarge {
            bytes: sealing.body.len(),
        })?;
    let envelope = wire::encode(sealing.recipient, &ephemeral_public, ciphertext);
    if envelope.len() > ENVELOPE_BYTES_MAX {
        return Err(SealError::BodyTooLarge {
            bytes: sealing.body.len(),
        });
    }
    Ok(envelope)
}

impl Sealing<'_> {
    fn check(&self) -> Result<(), SealError> {
        let bytes = self.body.len();
        if bytes > body_bytes_max(self.tag) {
            return Err(match self.tag {
                MessageTag::Revoke => SealError::RevokeWithBody,
                MessageTag::Pair | MessageTag::Sync | MessageTag::GroupManifest => {
                    SealError::BodyTooLarge { bytes }
                }
            });
        }
        if self.sequence > SEQUENCE_MAX {
            return Err(SealError::Sequence);
        }
        if self.timestamp_ms > SEQUENCE_MAX {
            return Err(SealError::Timestamp);
        }
        Ok(())
    }
}

/// Why a message can't be sealed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SealError {
    /// The body is above its limit.
    #[error("a body of {bytes} bytes is too large")]
    BodyTooLarge {
        /// The bytes of the body.
        bytes: usize,
    },
    /// A Revoke says everything by being one.
    #[error("a revoke can't have a body")]
    RevokeWithBody,
    /// The sequence is used up.
    #[error("the sequence is above its limit")]
    Sequence,
    /// The timestamp is above its limit.
    #[error("the timestamp is above its limit")]
    Timestamp,
    /// The recipient's key gives no secrecy.
    #[error("the recipient's key is unusable")]
    WeakRecipient,
}

impl SealedEnvelope {
    /// Opens the Envelope and verifies its signature.
    ///
    /// # Errors
    ///
    /// Every one of them means that the Envelope is malformed; the case is for counting only.
    pub fn open(&self, secret: &NoiseSecret) -> Result<OpenedEnvelope, OpenError> {
        if self.recipient != secret.public() {
            return Err(OpenError::OtherRecipient);
        }
        let shared = secret
            .agree(&self.ephemeral)
            .ok_or(OpenError::WeakEphemeral)?;
        let context = context(&self.ephemeral, &self.recipient);
        let plaintext = cipher(&shared, &context)
            .decrypt(
                &Nonce::default(),
                Payload {
                    msg: &self.ciphertext,
                    aad: &aad(&context),
                },
            )
            .map(Zeroizing::new)
            .map_err(|_| OpenError::Decryption)?;
        sealed::decode(&plaintext, &context)
    }
}

/// A message that was decrypted and whose signature fits.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenedEnvelope {
    /// Who signed it.
    pub author: SigningPublic,
    /// The author's number for it.
    pub sequence: u64,
    /// When the author says it was sent, in Unix milliseconds.
    pub timestamp_ms: u64,
    /// What it is.
    pub tag: MessageTag,
    /// Its content.
    pub body: Vec<u8>,
}

impl OpenedEnvelope {
    /// The message's identifier.
    #[must_use]
    pub fn message_id(&self) -> MessageId {
        MessageId::derive(&self.author, self.sequence)
    }
}

impl fmt::Debug for OpenedEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedEnvelope")
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

/// Why an Envelope of the current version can't be opened.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum OpenError {
    /// It is addressed to another key.
    #[error("an envelope is addressed to another device")]
    OtherRecipient,
    /// Its ephemeral key gives no secrecy.
    #[error("an envelope carries an unusable key")]
    WeakEphemeral,
    /// The ciphertext doesn't fit key and associated data.
    #[error("an envelope can't be decrypted")]
    Decryption,
    /// The fields don't fill the plaintext exactly.
    #[error("a sealed message of {bytes} bytes doesn't add up")]
    Layout {
        /// The bytes of the plaintext.
        bytes: usize,
    },
    /// More parents than allowed.
    #[error("a sealed message names {parents} parents")]
    Parents {
        /// The parents named.
        parents: u8,
    },
    /// The signature isn't the author's.
    #[error("a sealed message isn't signed by its author")]
    Signature,
    /// The sequence is above its limit.
    #[error("a sealed message has a sequence above the limit")]
    Sequence,
    /// The timestamp is above its limit.
    #[error("a sealed message has a timestamp above the limit")]
    Timestamp,
    /// A kind of message that doesn't exist.
    #[error("message tag {tag} is unknown")]
    UnknownTag {
        /// The tag.
        tag: u8,
    },
    /// A body that this kind of message can't have.
    #[error("a message can't have a body of {bytes} bytes")]
    Body {
        /// The bytes of the body.
        bytes: usize,
    },
}

/// The longest body of each kind. What isn't an app's is limited by the frame alone.
const fn body_bytes_max(tag: MessageTag) -> usize {
    match tag {
        MessageTag::Sync => BODY_BYTES_MAX,
        MessageTag::Revoke => 0,
        MessageTag::Pair | MessageTag::GroupManifest => ENVELOPE_BYTES_MAX,
    }
}

fn context(ephemeral: &NoisePublic, recipient: &NoisePublic) -> [u8; CONTEXT_BYTES] {
    let mut context = [0; CONTEXT_BYTES];
    let fields = END_TO_END_VERSION
        .to_be_bytes()
        .into_iter()
        .chain(*ephemeral.as_bytes())
        .chain(*recipient.as_bytes());
    context
        .iter_mut()
        .zip(fields)
        .for_each(|(to, from)| *to = from);
    context
}

fn aad(context: &[u8; CONTEXT_BYTES]) -> Vec<u8> {
    [label::ENVELOPE_AAD, context].concat()
}

/// The key of one Envelope.
fn derive_key(
    shared: &[u8; KEY_BYTES],
    context: &[u8; CONTEXT_BYTES],
) -> Zeroizing<[u8; KEY_BYTES]> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    let info: [&[u8]; 2] = [label::ADDRESSED_ENCRYPTION, context];
    // Expanding fails only above 255 hashes of output; this is one.
    let expanded = Hkdf::<Sha256>::new(None, shared).expand_multi_info(&info, key.as_mut_slice());
    debug_assert!(expanded.is_ok(), "one hash of output");
    key
}

/// The cipher of one Envelope. Its key is used once, so the nonce is zero.
fn cipher(shared: &[u8; KEY_BYTES], context: &[u8; CONTEXT_BYTES]) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(Key::from_slice(derive_key(shared, context).as_slice()))
}

#[cfg(test)]
mod tests;
