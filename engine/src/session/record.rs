//! Noise messages off a socket.

use sealpost_protocol::channel::{RecordBuffer, RecordError};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::core::status::ConnectFailure;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Cuts what arrives into Noise messages.
pub(crate) struct RecordReader<R> {
    reader: R,
    buffer: RecordBuffer,
    chunk: Vec<u8>,
}

/// Why there is no next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadFault {
    /// The other side closed, or the network did.
    Lost,
    /// What arrives can't be cut into messages.
    Malformed,
}

impl From<RecordError> for ReadFault {
    fn from(_: RecordError) -> Self {
        Self::Malformed
    }
}

impl From<ReadFault> for ConnectFailure {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Lost => Self::Lost,
            ReadFault::Malformed => Self::SomethingElse,
        }
    }
}

impl<R: AsyncRead + Unpin> RecordReader<R> {
    /// Reads on from what a handshake left over.
    pub(crate) fn new(reader: R, buffer: RecordBuffer) -> Self {
        Self {
            reader,
            buffer,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    /// The next message. Loses nothing when it is cancelled.
    pub(crate) async fn next(&mut self) -> Result<Vec<u8>, ReadFault> {
        loop {
            if let Some(record) = self.buffer.next_record()? {
                return Ok(record);
            }
            let count = self
                .reader
                .read(&mut self.chunk)
                .await
                .map_err(|_| ReadFault::Lost)?;
            match self.chunk.get(..count) {
                Some(read) if count > 0 => self.buffer.push(read),
                _ => return Err(ReadFault::Lost),
            }
        }
    }
}
