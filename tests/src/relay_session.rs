//! A device's session with a relay, without the engine: raw pushes and raw deliveries.

use std::io;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::channel::{self, Opener, RecordBuffer, Sealer};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Bytes that are read at a time.
const READ_BYTES: usize = 65_536;

/// How long a relay may take for a handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// A session after its handshake. Any error means that the connection is of no more use.
pub struct RelaySession {
    stream: TcpStream,
    sealer: Sealer,
    opener: Opener,
    buffer: RecordBuffer,
    bytes: Vec<u8>,
}

impl RelaySession {
    /// Opens a Push Session.
    ///
    /// # Errors
    ///
    /// When nobody answers, or not in the right way.
    pub async fn push(port: u16, relay: NoisePublic) -> io::Result<Self> {
        in_time(async {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
            let (state, hello) =
                channel::push_start(&relay, &mut OsRng).map_err(io::Error::other)?;
            stream.write_all(&hello).await?;
            let mut buffer = RecordBuffer::new();
            let mut bytes = vec![0; READ_BYTES];
            let reply = next_record(&mut stream, &mut buffer, &mut bytes).await?;
            let channel = state.handle_reply(&reply).map_err(io::Error::other)?;
            Ok(Self::new(stream, channel, buffer, bytes))
        })
        .await
    }

    /// Opens a Receive Session.
    ///
    /// # Errors
    ///
    /// When nobody answers, or not in the right way.
    pub async fn receive(port: u16, relay: NoisePublic, device: &NoiseSecret) -> io::Result<Self> {
        in_time(async {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
            let (state, hello) =
                channel::receive_start(device, &relay, &mut OsRng).map_err(io::Error::other)?;
            stream.write_all(&hello).await?;
            let mut buffer = RecordBuffer::new();
            let mut bytes = vec![0; READ_BYTES];
            let reply = next_record(&mut stream, &mut buffer, &mut bytes).await?;
            let (channel, finish) = state.handle_reply(&reply).map_err(io::Error::other)?;
            stream.write_all(&finish).await?;
            Ok(Self::new(stream, channel, buffer, bytes))
        })
        .await
    }

    fn new(
        stream: TcpStream,
        channel: channel::Channel,
        buffer: RecordBuffer,
        bytes: Vec<u8>,
    ) -> Self {
        let (sealer, opener) = channel.split();
        Self {
            stream,
            sealer,
            opener,
            buffer,
            bytes,
        }
    }

    /// Sends one frame.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub async fn say(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let record = self.sealer.seal(frame).map_err(io::Error::other)?;
        self.stream.write_all(&record).await
    }

    /// The next frame, as plain bytes for [`Frame::decode`]. May be dropped before it is done.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub async fn hear(&mut self) -> io::Result<Vec<u8>> {
        let record = next_record(&mut self.stream, &mut self.buffer, &mut self.bytes).await?;
        self.opener.open(&record).map_err(io::Error::other)
    }
}

async fn in_time<T>(handshake: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(HANDSHAKE_MAX, handshake)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn next_record(
    stream: &mut TcpStream,
    buffer: &mut RecordBuffer,
    bytes: &mut [u8],
) -> io::Result<Vec<u8>> {
    loop {
        if let Some(record) = buffer.next_record().map_err(io::Error::other)? {
            return Ok(record);
        }
        match stream.read(bytes).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => buffer.push(bytes.get(..count).unwrap_or_default()),
        }
    }
}
