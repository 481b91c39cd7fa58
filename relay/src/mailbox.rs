//! The rules of paired-device mailboxes: what each request is answered and what it changes.
//!
//! Owns: claiming, storing, paging, pruning, erasing and expiry (specification
//! "paired-mailbox/1", section 4, with amendments 16 and 17), on values. The database's writer,
//! the store of the tests and the model of faults run the same functions. Never does: read a
//! clock, look into an Envelope, write anything; what has to be written comes out as
//! [`Change`]s.
//!
//! Invariants:
//! - only a stored Envelope and a claim extend a mailbox's life, and nothing shortens it: a clock
//!   that was set back must not end what was there before;
//! - `last` of a direction never falls while its mailbox lives, whatever is pruned;
//! - an expired mailbox is answered like one that never was, but where claims are closed: there
//!   the first claim that finds it is told that it may come back. So reading removes none;
//! - a mailbox answers nobody but the holder of its token.

mod direction;
mod index;
mod memory;

use std::fmt;

use sealpost_protocol::limit;
use sealpost_protocol::link::key::{Direction, LinkToken, MailboxId};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

pub use direction::DirectionSlots;
pub use index::{Mailbox, MailboxIndex, MailboxSums};
pub use memory::MemoryMailboxes;

/// What a relay keeps of a token: its SHA-256.
#[derive(Clone, Copy)]
pub struct TokenDigest([u8; limit::HASH_BYTES]);

impl TokenDigest {
    /// The digest of a token.
    pub fn of(token: &LinkToken) -> Self {
        Self(token.digest())
    }

    /// A stored digest.
    pub const fn from_bytes(bytes: [u8; limit::HASH_BYTES]) -> Self {
        Self(bytes)
    }

    /// The digest, for storing it.
    pub const fn as_bytes(&self) -> &[u8; limit::HASH_BYTES] {
        &self.0
    }

    /// Whether both are of the same token, in constant time.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenDigest(..)")
    }
}

/// The mailbox that a request names, and the token that it shows for it.
#[derive(Clone, Copy, Debug)]
pub struct MailboxAccess {
    /// The mailbox.
    pub mailbox: MailboxId,
    /// What is shown for it.
    pub token: TokenDigest,
}

impl MailboxAccess {
    /// Access by a token.
    pub fn new(mailbox: &MailboxId, token: &LinkToken) -> Self {
        Self {
            mailbox: *mailbox,
            token: TokenDigest::of(token),
        }
    }
}

/// What the rules need to know of an Envelope: its length and its SHA-256.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EnvelopeDigest {
    bytes: u32,
    hash: [u8; limit::HASH_BYTES],
}

impl EnvelopeDigest {
    /// Measures an Envelope.
    ///
    /// # Errors
    ///
    /// Refuses one that is too large or too small to be one.
    pub fn of(envelope: &[u8]) -> Result<Self, Refusal> {
        if envelope.len() > limit::LINK_ENVELOPE_BYTES_MAX {
            return Err(Refusal::EnvelopeTooLarge);
        }
        if envelope.len() < limit::LINK_ENVELOPE_BYTES_MIN {
            return Err(Refusal::BadEnvelope);
        }
        let bytes = u32::try_from(envelope.len()).map_err(|_| Refusal::EnvelopeTooLarge)?;
        let hash = Sha256::digest(envelope).into();
        Ok(Self { bytes, hash })
    }

    /// A stored digest.
    pub const fn from_parts(bytes: u32, hash: [u8; limit::HASH_BYTES]) -> Self {
        Self { bytes, hash }
    }

    /// The Envelope's length.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The Envelope's SHA-256.
    pub const fn hash(&self) -> &[u8; limit::HASH_BYTES] {
        &self.hash
    }
}

/// Why a mailbox doesn't do what it is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Unclaimed, erased or expired.
    #[error("there is no such mailbox")]
    NoMailbox,
    /// Nobody but this process may make one.
    #[error("mailboxes are claimed in the relay's own process only")]
    ClaimsClosed,
    /// Its time was over, and nobody but this process may make it again.
    #[error("the mailbox has ended, and the relay's own process may make it again")]
    Ended,
    /// Another token owns it.
    #[error("another token owns the mailbox")]
    WrongToken,
    /// The relay has as many mailboxes as it may have.
    #[error("there is no room for another mailbox")]
    RelayFull,
    /// The relay holds as many bytes as it may hold, or its disk does.
    #[error("there is no room for anything more")]
    NoRoom,
    /// Shorter than any envelope.
    #[error("the body is too short for an envelope")]
    BadEnvelope,
    /// Larger than any envelope.
    #[error("the body is too large for an envelope")]
    EnvelopeTooLarge,
    /// Nought, or more than JavaScript counts exactly.
    #[error("the sequence is out of range")]
    BadSequence,
    /// Not above the last one stored.
    #[error("the sequence is not above the last one stored")]
    SequenceTaken(DirectionHead),
    /// Too far above the last one stored.
    #[error("the sequence is too far above the last one stored")]
    SequenceJump,
    /// Every slot is taken.
    #[error("the direction has no free slot")]
    DirectionFull(DirectionHead),
}

/// The state of a direction, as every answer about it tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DirectionHead {
    /// The highest sequence ever stored in it, pruned or not.
    pub last: Option<u64>,
    /// Envelopes stored now.
    pub count: u32,
    /// The lowest stored sequence.
    pub oldest: Option<u64>,
    /// When the claim came that made this mailbox, in Unix milliseconds.
    pub created_ms: u64,
    /// When the mailbox expires if nothing more happens, in Unix seconds.
    pub expires_s: u64,
}

/// A claim that succeeded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Claimed {
    /// Whether this claim has made the mailbox.
    pub is_new: bool,
    /// When the claim came that made it, in Unix milliseconds.
    pub created_ms: u64,
    /// When it expires if nothing more happens, in Unix seconds.
    pub expires_s: u64,
}

/// A put that succeeded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stored {
    /// False if the same bytes were stored under this sequence before.
    pub is_new: bool,
    /// The direction afterwards.
    pub head: DirectionHead,
}

/// Which Envelopes a page has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageIndex {
    /// The direction.
    pub head: DirectionHead,
    /// Envelopes beyond this page.
    pub more: u32,
    /// The sequences on it, ascending, and the lengths of their Envelopes.
    pub slots: Vec<(u64, u32)>,
    /// Names the mailbox in the store.
    pub(crate) number: u64,
}

/// A page of a direction.
#[derive(Clone, Eq, PartialEq)]
pub struct Page {
    /// The direction.
    pub head: DirectionHead,
    /// Envelopes beyond this page.
    pub more: u32,
    /// Sequences and Envelopes, ascending.
    pub envelopes: Vec<(u64, bytes::Bytes)>,
}

impl fmt::Debug for Page {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Page(..)")
    }
}

/// Whether a claim may make a mailbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Making {
    /// It may, while there are fewer than so many.
    Below(u64),
    /// It may not.
    Closed,
    /// It may not, because nothing more can be written. One that is there lives longer all the
    /// same: whoever can't claim can't take away either, and the disk would stay full.
    NoRoom,
}

/// Why a mailbox is gone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Going {
    /// One of its devices has erased it.
    Erased,
    /// Its time was over.
    Expired,
}

/// What a request has changed, and has to be written.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// A new mailbox.
    Created {
        /// Its name on the wire.
        mailbox: MailboxId,
        /// Its name in the store.
        number: u64,
        /// Who owns it.
        token: TokenDigest,
        /// The moment.
        at_ms: u64,
    },
    /// A mailbox lives longer.
    Touched {
        /// Its name in the store.
        number: u64,
        /// The moment that its life counts from.
        at_ms: u64,
    },
    /// The Envelope of the request takes a slot. The mailbox lives longer, too.
    Stored {
        /// The mailbox.
        mailbox: MailboxId,
        /// Its name in the store.
        number: u64,
        /// Which side.
        direction: Direction,
        /// The slot.
        sequence: u64,
        /// The Envelope.
        digest: EnvelopeDigest,
        /// The moment that its life counts from.
        at_ms: u64,
    },
    /// Slots are free again.
    Pruned {
        /// The mailbox.
        mailbox: MailboxId,
        /// Its name in the store.
        number: u64,
        /// Which side.
        direction: Direction,
        /// The last of them.
        through: u64,
    },
    /// A mailbox is gone with everything in it.
    Gone {
        /// The mailbox.
        mailbox: MailboxId,
        /// Its name in the store.
        number: u64,
        /// Why.
        going: Going,
    },
}
