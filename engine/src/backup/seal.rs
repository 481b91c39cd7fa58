//! The bytes of a backup: a head, then parts that are sealed one by one.
//!
//! Owns encryption and order. The key comes from the passphrase and a salt that each file has
//! for itself, so it seals one stream only; each part carries its number and whether it is the
//! last one, and both are in its nonce. A part that was changed, moved, left out or added
//! shows, and each of these has an error of its own. The head carries a proof of the key, so
//! that a wrong passphrase is told from damage.
//!
//! Bytes: `docs/backup.md`. Integers are big-endian.

use std::io::{self, Read, Write};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use rand_core::{CryptoRng, RngCore};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::BackupError;
use crate::keys::passphrase::{Cost, NoKey, SALT_BYTES, derive};

/// What a backup begins with.
pub(super) const MAGIC: &[u8; 8] = b"SPBACKUP";

/// The format that this version writes.
pub const FORMAT: u16 = 1;

const CHECK_LABEL: &[u8] = b"sealpost backup head check v1";
const CHECK_BYTES: usize = 8;
const TAG_BYTES: usize = 16;

/// What the check covers: all that stands before it.
const COVERED_BYTES: usize = MAGIC.len() + 2 + 12 + SALT_BYTES;
/// What the proof covers.
const UNPROVEN_BYTES: usize = COVERED_BYTES + CHECK_BYTES;
pub(super) const HEAD_BYTES: usize = UNPROVEN_BYTES + TAG_BYTES;

/// A file may come from anywhere: more than this is not paid for it.
const COST_MAX: Cost = Cost {
    memory_kib: 256 * 1024,
    passes: 8,
    lanes: 4,
};

/// Bytes of text in each part but the last, which may have fewer.
pub(super) const PART_BYTES: usize = 64 * 1024;

/// Number, whether it is the last one, and how many bytes follow.
pub(super) const PART_HEAD_BYTES: usize = 8 + 1 + 4;

/// The nonce of the proof; the first byte of a part's is 0 or 1.
const PROOF_NONCE: [u8; 12] = [0xff; 12];

/// Writes what is given to it in sealed parts.
pub(super) struct Sealer<W: Write> {
    to: W,
    cipher: ChaCha20Poly1305,
    head: [u8; HEAD_BYTES],
    number: u64,
    text: Zeroizing<Vec<u8>>,
}

impl<W: Write> Sealer<W> {
    /// Writes the head. Takes about a second and 64 MiB.
    pub(super) fn start(
        to: W,
        passphrase: &str,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Self, BackupError> {
        Self::start_at(Cost::USUAL, to, passphrase, rng)
    }

    pub(super) fn start_at(
        cost: Cost,
        mut to: W,
        passphrase: &str,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Self, BackupError> {
        let mut salt = [0; SALT_BYTES];
        rng.fill_bytes(&mut salt);
        let key = derive(passphrase, cost, &salt).map_err(|_| BackupError::NoMemory)?;
        let cipher = ChaCha20Poly1305::new(Key::from_slice(key.as_ref()));
        let mut head = Vec::with_capacity(HEAD_BYTES);
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(&FORMAT.to_be_bytes());
        for number in [cost.memory_kib, cost.passes, cost.lanes] {
            head.extend_from_slice(&number.to_be_bytes());
        }
        head.extend_from_slice(&salt);
        head.extend_from_slice(&check(&head));
        let proof = proof(&cipher, &head)?;
        head.extend_from_slice(&proof);
        to.write_all(&head)
            .map_err(|error| BackupError::of_writing(&error))?;
        Ok(Self {
            to,
            cipher,
            head: head.try_into().map_err(|_| BackupError::Damaged)?,
            number: 0,
            text: Zeroizing::new(Vec::with_capacity(PART_BYTES)),
        })
    }

    /// Adds text. A full part goes when more comes, so that the last one is known as such.
    pub(super) fn write(&mut self, mut text: &[u8]) -> Result<(), BackupError> {
        while !text.is_empty() {
            if self.text.len() == PART_BYTES {
                self.write_part(false)?;
            }
            let room = PART_BYTES.saturating_sub(self.text.len()).min(text.len());
            let (now, later) = text.split_at_checked(room).unwrap_or((text, &[]));
            self.text.extend_from_slice(now);
            text = later;
        }
        Ok(())
    }

    /// Writes the last part and gives the writer back.
    pub(super) fn finish(mut self) -> Result<W, BackupError> {
        self.write_part(true)?;
        Ok(self.to)
    }

    fn write_part(&mut self, is_last: bool) -> Result<(), BackupError> {
        let length = self.text.len().saturating_add(TAG_BYTES);
        let part = PartHead {
            number: self.number,
            is_last,
            length: u32::try_from(length).unwrap_or(u32::MAX),
        };
        let head = part.to_bytes();
        let payload = Payload {
            msg: &self.text,
            aad: &[&self.head[..], &head].concat(),
        };
        let sealed = self
            .cipher
            .encrypt(Nonce::from_slice(&part.nonce()), payload)
            .map_err(|_| BackupError::Damaged)?;
        self.to
            .write_all(&head)
            .and_then(|()| self.to.write_all(&sealed))
            .map_err(|error| BackupError::of_writing(&error))?;
        self.number = self.number.saturating_add(1);
        self.text.clear();
        Ok(())
    }
}

/// Reads sealed parts and gives out what was written.
pub(super) struct Opener<R: Read> {
    from: R,
    cipher: ChaCha20Poly1305,
    head: [u8; HEAD_BYTES],
    number: u64,
    is_last: bool,
    text: Zeroizing<Vec<u8>>,
    taken: usize,
}

impl<R: Read> Opener<R> {
    /// Reads the head. Takes as long and as much as it says, within limits.
    pub(super) fn start(mut from: R, passphrase: &str) -> Result<Self, BackupError> {
        let head = read_head(&mut from)?;
        let (cost, salt) = cost_and_salt(&head)?;
        let key = derive(passphrase, cost, &salt).map_err(|error| match error {
            NoKey::Cost => BackupError::Damaged,
            NoKey::Memory => BackupError::NoMemory,
        })?;
        let cipher = ChaCha20Poly1305::new(Key::from_slice(key.as_ref()));
        let (unproven, found) = head
            .split_at_checked(UNPROVEN_BYTES)
            .ok_or(BackupError::Damaged)?;
        let payload = Payload {
            msg: found,
            aad: unproven,
        };
        cipher
            .decrypt(Nonce::from_slice(&PROOF_NONCE), payload)
            .map_err(|_| BackupError::WrongPassphrase)?;
        Ok(Self {
            from,
            cipher,
            head,
            number: 0,
            is_last: false,
            text: Zeroizing::new(Vec::new()),
            taken: 0,
        })
    }

    /// Fills `into` with the next text.
    pub(super) fn read(&mut self, mut into: &mut [u8]) -> Result<(), BackupError> {
        while !into.is_empty() {
            if self.taken == self.text.len() {
                self.read_part()?;
                continue;
            }
            let left = self.text.get(self.taken..).unwrap_or_default();
            let count = left.len().min(into.len());
            let (now, later) = into.split_at_mut(count);
            now.copy_from_slice(left.get(..count).unwrap_or_default());
            self.taken = self.taken.saturating_add(count);
            into = later;
        }
        Ok(())
    }

    /// Makes sure that everything was read and nothing stands behind it.
    pub(super) fn finish(mut self) -> Result<(), BackupError> {
        if !self.is_last && self.taken == self.text.len() {
            // Of nothing at all there is one part, too.
            self.read_part()?;
        }
        if !self.is_last || self.taken < self.text.len() {
            // More follows than there should be, sealed by the right key.
            return Err(BackupError::Damaged);
        }
        match self.from.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(BackupError::Appended),
            Err(error) => Err(BackupError::of_reading(&error)),
        }
    }

    fn read_part(&mut self) -> Result<(), BackupError> {
        if self.is_last {
            // The text ends where a record isn't complete: nobody who has the key wrote that.
            return Err(BackupError::Damaged);
        }
        let mut head = [0; PART_HEAD_BYTES];
        fill(&mut self.from, &mut head)?;
        let part = PartHead::of_bytes(head)?;
        let mut sealed = vec![0; part.length as usize];
        fill(&mut self.from, &mut sealed)?;
        let payload = Payload {
            msg: &sealed,
            aad: &[&self.head[..], &head].concat(),
        };
        let text = self
            .cipher
            .decrypt(Nonce::from_slice(&part.nonce()), payload)
            .map_err(|_| BackupError::Damaged)?;
        // It is one of this file; only now its number means something.
        if part.number != self.number {
            return Err(BackupError::Reordered);
        }
        self.number = self.number.saturating_add(1);
        self.is_last = part.is_last;
        self.text = Zeroizing::new(text);
        self.taken = 0;
        Ok(())
    }
}

struct PartHead {
    number: u64,
    is_last: bool,
    /// Bytes that follow, tag included.
    length: u32,
}

impl PartHead {
    fn to_bytes(&self) -> [u8; PART_HEAD_BYTES] {
        let mut bytes = [0; PART_HEAD_BYTES];
        let fields = self.number.to_be_bytes().into_iter();
        let fields = fields.chain([u8::from(self.is_last)]);
        let fields = fields.chain(self.length.to_be_bytes());
        bytes
            .iter_mut()
            .zip(fields)
            .for_each(|(to, from)| *to = from);
        bytes
    }

    fn of_bytes(bytes: [u8; PART_HEAD_BYTES]) -> Result<Self, BackupError> {
        let [n0, n1, n2, n3, n4, n5, n6, n7, last, l0, l1, l2, l3] = bytes;
        let part = Self {
            number: u64::from_be_bytes([n0, n1, n2, n3, n4, n5, n6, n7]),
            is_last: last == 1,
            length: u32::from_be_bytes([l0, l1, l2, l3]),
        };
        let text = (part.length as usize).checked_sub(TAG_BYTES);
        let fits = match text {
            // Only the last one may be short: an endless row of empty ones has no end.
            Some(text) if part.is_last => text <= PART_BYTES,
            Some(text) => text == PART_BYTES,
            None => false,
        };
        if fits && last <= 1 {
            Ok(part)
        } else {
            Err(BackupError::Damaged)
        }
    }

    fn nonce(&self) -> [u8; 12] {
        let [n0, n1, n2, n3, n4, n5, n6, n7] = self.number.to_be_bytes();
        let last = u8::from(self.is_last);
        [last, 0, 0, 0, n0, n1, n2, n3, n4, n5, n6, n7]
    }
}

fn read_head(from: &mut impl Read) -> Result<[u8; HEAD_BYTES], BackupError> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    from.take(HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .map_err(|error| BackupError::of_reading(&error))?;
    let format = head.strip_prefix(MAGIC).ok_or(BackupError::NotABackup)?;
    let format = format.first_chunk().ok_or(BackupError::Truncated)?;
    let format = u16::from_be_bytes(*format);
    if format > FORMAT {
        return Err(BackupError::TooNew {
            found: format,
            known: FORMAT,
        });
    }
    head.try_into().map_err(|_| BackupError::Truncated)
}

fn cost_and_salt(head: &[u8; HEAD_BYTES]) -> Result<(Cost, [u8; SALT_BYTES]), BackupError> {
    let parsed = || {
        let (covered, rest) = head.split_at_checked(COVERED_BYTES)?;
        if *rest.first_chunk::<CHECK_BYTES>()? != check(covered) {
            return None;
        }
        let rest = covered.get(MAGIC.len() + 2..)?;
        let (memory_kib, rest) = rest.split_first_chunk()?;
        let (passes, rest) = rest.split_first_chunk()?;
        let (lanes, rest) = rest.split_first_chunk()?;
        let cost = Cost {
            memory_kib: u32::from_be_bytes(*memory_kib),
            passes: u32::from_be_bytes(*passes),
            lanes: u32::from_be_bytes(*lanes),
        };
        cost.is_within(COST_MAX)
            .then_some((cost, *rest.first_chunk()?))
    };
    parsed().ok_or(BackupError::Damaged)
}

/// Finds damage in the head; it keeps nobody from changing anything.
fn check(covered: &[u8]) -> [u8; CHECK_BYTES] {
    let digest = Sha256::new()
        .chain_update(CHECK_LABEL)
        .chain_update([0])
        .chain_update(covered)
        .finalize();
    let mut check = [0; CHECK_BYTES];
    check
        .iter_mut()
        .zip(digest)
        .for_each(|(to, from)| *to = from);
    check
}

fn proof(cipher: &ChaCha20Poly1305, unproven: &[u8]) -> Result<Vec<u8>, BackupError> {
    let payload = Payload {
        msg: &[],
        aad: unproven,
    };
    cipher
        .encrypt(Nonce::from_slice(&PROOF_NONCE), payload)
        .map_err(|_| BackupError::Damaged)
}

fn fill(from: &mut impl Read, into: &mut [u8]) -> Result<(), BackupError> {
    from.read_exact(into)
        .map_err(|error: io::Error| BackupError::of_reading(&error))
}
