//! Cuts a byte stream into Noise messages by their two-byte lengths.
//!
//! Invariant: it never holds more than what was pushed into it and not yet taken out; a
//! caller that takes out all messages after each read holds less than one message more.

use bytes::{Buf as _, BytesMut};
use thiserror::Error;

/// Bytes that arrived and aren't taken out yet.
#[derive(Default)]
pub struct RecordBuffer {
    bytes: BytesMut,
}

impl RecordBuffer {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes out the next message, without its length; `None` until all of it has arrived.
    ///
    /// # Errors
    ///
    /// A length of zero, which no message has. Nothing can be taken out after that.
    pub fn next_record(&mut self) -> Result<Option<Vec<u8>>, RecordError> {
        let Some(length) = self.next_length()? else {
            return Ok(None);
        };
        if self.bytes.len() < length.saturating_add(2) {
            return Ok(None);
        }
        self.bytes.advance(2);
        Ok(Some(self.bytes.split_to(length).to_vec()))
    }

    /// Takes out a message whose length is known beforehand, as in a handshake.
    ///
    /// # Errors
    ///
    /// Another length, as soon as it is seen and before the message is waited for.
    pub fn next_record_of(&mut self, expected: usize) -> Result<Option<Vec<u8>>, RecordError> {
        match self.next_length()? {
            Some(bytes) if bytes != expected => Err(RecordError::Length { bytes, expected }),
            _ => self.next_record(),
        }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn next_length(&self) -> Result<Option<usize>, RecordError> {
        match self
            .bytes
            .first_chunk::<2>()
            .map(|length| u16::from_be_bytes(*length))
        {
            None => Ok(None),
            Some(0) => Err(RecordError::Empty),
            Some(length) => Ok(Some(usize::from(length))),
        }
    }
}

impl core::fmt::Debug for RecordBuffer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RecordBuffer")
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// Why a stream can't be cut. The connection is closed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum RecordError {
    /// A length of zero.
    #[error("a message of no bytes")]
    Empty,
    /// A length that can't occur at this place.
    #[error("a message of {bytes} bytes, not {expected}")]
    Length {
        /// The length announced.
        bytes: usize,
        /// The length expected.
        expected: usize,
    },
}
