//! Frames in and out of a finished channel, one cipher for each direction.

use core::fmt;
use std::sync::Arc;

use snow::{HandshakeState, StatelessTransportState};
use thiserror::Error;

use super::handshake::{HandshakeError, length_prefix};
use crate::frame::Frame;
use crate::limit::{FRAME_BYTES_MAX, HASH_BYTES, NOISE_MESSAGE_BYTES_MAX, TAG_BYTES};

/// A finished handshake.
pub struct Channel {
    transport: StatelessTransportState,
    handshake_hash: [u8; HASH_BYTES],
}

impl Channel {
    pub(super) fn new(state: HandshakeState) -> Result<Self, HandshakeError> {
        let handshake_hash = state
            .get_handshake_hash()
            .try_into()
            .map_err(|_| HandshakeError::State)?;
        let transport = state.into_stateless_transport_mode()?;
        Ok(Self {
            transport,
            handshake_hash,
        })
    }

    /// A hash over the whole handshake, the same on both sides.
    #[must_use]
    pub fn handshake_hash(&self) -> &[u8; HASH_BYTES] {
        &self.handshake_hash
    }

    /// Splits the channel into its two directions.
    #[must_use]
    pub fn split(self) -> (Sealer, Opener) {
        let transport = Arc::new(self.transport);
        let sealer = Sealer {
            transport: Arc::clone(&transport),
            nonce: 0,
        };
        (
            sealer,
            Opener {
                transport,
                nonce: Some(0),
            },
        )
    }
}

/// Seals frames. What it gives is written in the order it was given.
pub struct Sealer {
    transport: Arc<StatelessTransportState>,
    nonce: u64,
}

impl Sealer {
    /// Seals one frame: a Noise message with its length, ready to be written.
    ///
    /// # Errors
    ///
    /// The frame is longer than a Noise message, and nothing was sealed; or the channel is
    /// used up.
    pub fn seal(&mut self, frame: &Frame<'_>) -> Result<Vec<u8>, ChannelError> {
        let mut record = Vec::new();
        self.seal_into(frame, &mut record)?;
        Ok(record)
    }

    /// Seals one frame and appends it to others, so that several go out in one write.
    ///
    /// # Errors
    ///
    /// As [`Self::seal`]; `records` is then as it was.
    pub fn seal_into(
        &mut self,
        frame: &Frame<'_>,
        records: &mut Vec<u8>,
    ) -> Result<(), ChannelError> {
        let frame = frame.encode();
        if frame.len() > FRAME_BYTES_MAX {
            return Err(ChannelError::FrameTooLong { bytes: frame.len() });
        }
        let message_bytes = frame.len().saturating_add(TAG_BYTES);
        let prefix = length_prefix(message_bytes)
            .ok_or(ChannelError::FrameTooLong { bytes: frame.len() })?;
        let (before, length_end) = (records.len(), records.len().saturating_add(prefix.len()));
        records.extend_from_slice(&prefix);
        records.resize(length_end.saturating_add(message_bytes), 0);
        let message = records.get_mut(length_end..).unwrap_or_default();
        let written = self.transport.write_message(self.nonce, &frame, message);
        if written.ok() != Some(message_bytes) {
            records.truncate(before);
            return Err(ChannelError::Exhausted);
        }
        self.nonce = self.nonce.saturating_add(1);
        Ok(())
    }
}

/// Opens what arrives, in the order it arrives.
pub struct Opener {
    transport: Arc<StatelessTransportState>,
    /// None once something didn't fit: a stream that lost a byte can't be found again.
    nonce: Option<u64>,
}

impl Opener {
    /// Opens one Noise message, given without its length; the frame is to be decoded.
    ///
    /// # Errors
    ///
    /// The message isn't the peer's next one. The channel is of no more use.
    pub fn open(&mut self, message: &[u8]) -> Result<Vec<u8>, ChannelError> {
        let nonce = self.nonce.take().ok_or(ChannelError::Closed)?;
        let plain_bytes = message.len().checked_sub(TAG_BYTES);
        let plain_bytes = plain_bytes
            .filter(|_| message.len() <= NOISE_MESSAGE_BYTES_MAX)
            .ok_or(ChannelError::Length {
                bytes: message.len(),
            })?;
        let mut frame = vec![0; plain_bytes];
        self.transport
            .read_message(nonce, message, &mut frame)
            .map_err(|_| ChannelError::Decryption)?;
        self.nonce = nonce.checked_add(1);
        Ok(frame)
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Channel")
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer")
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

/// Why a frame can't be sealed or a message can't be opened.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ChannelError {
    /// The frame doesn't fit a Noise message.
    #[error("a frame of {bytes} bytes doesn't fit a message")]
    FrameTooLong {
        /// The bytes of the frame.
        bytes: usize,
    },
    /// The direction has no numbers left.
    #[error("the channel is used up")]
    Exhausted,
    /// A message too short or too long to be one.
    #[error("a message can't have {bytes} bytes")]
    Length {
        /// The bytes that it has.
        bytes: usize,
    },
    /// The message was changed, repeated or left out.
    #[error("a message can't be decrypted")]
    Decryption,
    /// An earlier message failed.
    #[error("the channel has failed before")]
    Closed,
}
