//! The incoming side of a session: Noise messages out of a socket.
//!
//! Owns: the bytes between two messages. Invariant: while a session is idle it holds none.

use sealpost_protocol::channel::RecordBuffer;
use tokio::net::TcpStream;

use super::ending::Ending;
use super::wire;

/// See the module.
pub(super) struct RecordReader<'a> {
    stream: &'a TcpStream,
    buffer: RecordBuffer,
}

impl<'a> RecordReader<'a> {
    /// Reads from `stream`, of which `first` was read already.
    pub(super) fn new(stream: &'a TcpStream, first: &[u8]) -> Self {
        let mut buffer = RecordBuffer::new();
        buffer.push(first);
        Self { stream, buffer }
    }

    /// The next message.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, Ending> {
        loop {
            if let Some(record) = self.buffer.next_record()? {
                self.release();
                return Ok(record);
            }
            self.read_more().await?;
        }
    }

    /// The next message if all of it has been read already; doesn't touch the socket.
    pub(super) fn next_read(&mut self) -> Result<Option<Vec<u8>>, Ending> {
        let record = self.buffer.next_record()?;
        self.release();
        Ok(record)
    }

    /// The next message, whose length is known.
    pub(super) async fn next_of(&mut self, bytes: usize) -> Result<Vec<u8>, Ending> {
        loop {
            if let Some(record) = self.buffer.next_record_of(bytes)? {
                self.release();
                return Ok(record);
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<(), Ending> {
        let buffer = &mut self.buffer;
        match wire::read(self.stream, |bytes| buffer.push(bytes)).await? {
            0 => Err(Ending::Closed),
            _ => Ok(()),
        }
    }

    /// Gives the memory back that a large message has left behind.
    fn release(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = RecordBuffer::new();
        }
    }
}
