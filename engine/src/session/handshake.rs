//! From a socket to an open channel: version prefix, Noise handshake, and what a failure
//! says about who is on the other side.

use rand_core::OsRng;
use sealpost_protocol::channel::{
    self, Channel, ExpectReceiveReply, HandshakeError, Opener, PUSH_REPLY_BYTES,
    RECEIVE_REPLY_BYTES, RecordBuffer, Reply, ReplyError, Sealer, reply,
};
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::SessionFault;
use super::record::RecordReader;
use super::timing::Timing;
use crate::core::status::ConnectFailure;

/// An open channel over a socket.
pub(crate) struct Open<R, W> {
    pub(crate) records: RecordReader<R>,
    pub(crate) writer: W,
    pub(crate) sealer: Sealer,
    pub(crate) opener: Opener,
}

/// Why a handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeFault {
    /// The other side closed without a byte: a relay that is full, one that was meant by
    /// another key (in a Push Session it can't even answer), or no relay at all.
    Silent,
    /// Anything that tells more.
    Known(SessionFault),
}

impl From<ConnectFailure> for HandshakeFault {
    fn from(failure: ConnectFailure) -> Self {
        Self::Known(failure.into())
    }
}

impl From<HandshakeError> for HandshakeFault {
    fn from(error: HandshakeError) -> Self {
        match error {
            HandshakeError::WrongRelayKey => ConnectFailure::WrongKey.into(),
            _ => ConnectFailure::SomethingElse.into(),
        }
    }
}

impl HandshakeFault {
    /// What to tell of it where nothing more is known about the silence.
    pub(crate) fn fault(self) -> SessionFault {
        match self {
            Self::Silent => ConnectFailure::Unavailable.into(),
            Self::Known(fault) => fault,
        }
    }
}

/// Opens a Push Session.
pub(crate) async fn open_push<R, W>(
    timing: &Timing,
    relay: &NoisePublic,
    reader: R,
    writer: W,
) -> Result<Open<R, W>, HandshakeFault>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    within(timing, async {
        let (expect, hello) = channel::push_start(relay, &mut OsRng)?;
        let mut exchange = Exchange { reader, writer };
        let (message, rest) = exchange.say(&hello, PUSH_REPLY_BYTES).await?;
        let channel = expect.handle_reply(&message).map_err(|error| match error {
            // A relay with another key can't make an answer that opens.
            HandshakeError::Decryption => ConnectFailure::WrongKey.into(),
            error => HandshakeFault::from(error),
        })?;
        Ok(exchange.finish(channel, rest))
    })
    .await
}

/// Opens a Receive Session.
pub(crate) async fn open_receive<R, W>(
    timing: &Timing,
    device: &NoiseSecret,
    relay: &NoisePublic,
    reader: R,
    writer: W,
) -> Result<Open<R, W>, HandshakeFault>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    within(timing, async {
        let greeted = greet(device, relay, reader, writer).await?;
        greeted.prove().await
    })
    .await
}

/// The first half of opening a Receive Session: what answers speaks this version. Has no
/// deadline of its own.
pub(crate) async fn greet<R, W>(
    device: &NoiseSecret,
    relay: &NoisePublic,
    reader: R,
    writer: W,
) -> Result<Greeted<R, W>, HandshakeFault>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (expect, hello) = channel::receive_start(device, relay, &mut OsRng)?;
    let mut exchange = Exchange { reader, writer };
    let (message, rest) = exchange.say(&hello, RECEIVE_REPLY_BYTES).await?;
    Ok(Greeted {
        exchange,
        expect,
        message,
        rest,
    })
}

/// A Receive Session of which the other side has shown its version and not yet its key.
pub(crate) struct Greeted<R, W> {
    exchange: Exchange<R, W>,
    expect: ExpectReceiveReply,
    message: Vec<u8>,
    rest: RecordBuffer,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Greeted<R, W> {
    /// Checks the relay's key, and shows the device's own only to the right one.
    pub(crate) async fn prove(mut self) -> Result<Open<R, W>, HandshakeFault> {
        let (channel, finish) = self.expect.handle_reply(&self.message)?;
        self.exchange.write(&finish).await?;
        Ok(self.exchange.finish(channel, self.rest))
    }
}

/// Asks the receive port of a relay which key it has, and shows it none: the first half of a
/// handshake under a key that is thrown away.
pub(crate) async fn probe<R, W>(
    timing: &Timing,
    relay: &NoisePublic,
    reader: R,
    writer: W,
) -> Result<(), HandshakeFault>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    within(timing, async {
        let nobody = NoiseSecret::generate(&mut OsRng);
        let greeted = greet(&nobody, relay, reader, writer).await?;
        greeted.expect.handle_reply(&greeted.message)?;
        Ok(())
    })
    .await
}

async fn within<T>(
    timing: &Timing,
    handshake: impl Future<Output = Result<T, HandshakeFault>>,
) -> Result<T, HandshakeFault> {
    timeout(timing.handshake, handshake)
        .await
        .unwrap_or_else(|_| Err(ConnectFailure::NoAnswer.into()))
}

/// The two directions of a socket during a handshake.
struct Exchange<R, W> {
    reader: R,
    writer: W,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Exchange<R, W> {
    /// Sends a message and reads the answer of `expected` bytes, and what came after it.
    async fn say(
        &mut self,
        hello: &[u8],
        expected: usize,
    ) -> Result<(Vec<u8>, RecordBuffer), HandshakeFault> {
        self.write(hello).await?;
        let mut records = RecordBuffer::new();
        let first = self.read_reply().await?;
        records.push(&first);
        loop {
            let record = records.next_record_of(expected);
            if let Some(record) = record.map_err(|_| ConnectFailure::SomethingElse)? {
                return Ok((record, records));
            }
            let mut chunk = [0; 256];
            records.push(
                self.read(&mut chunk)
                    .await?
                    .ok_or(ConnectFailure::SomethingElse)?,
            );
        }
    }

    /// Reads until it is clear that this is a handshake, and returns what was read.
    async fn read_reply(&mut self) -> Result<Vec<u8>, HandshakeFault> {
        let mut bytes = Vec::new();
        let mut ended = false;
        loop {
            match reply::parse(&bytes, ended) {
                Ok(Reply::Handshake) => return Ok(bytes),
                Ok(Reply::Unsupported(range)) => {
                    let (min, max) = (range.min, range.max);
                    return Err(HandshakeFault::Known(SessionFault::Unsupported {
                        min,
                        max,
                    }));
                }
                Ok(Reply::Incomplete) => {}
                Err(ReplyError::Closed) => return Err(HandshakeFault::Silent),
                Err(ReplyError::Foreign) => return Err(ConnectFailure::SomethingElse.into()),
            }
            let mut chunk = [0; 256];
            match self.read(&mut chunk).await? {
                Some(read) => bytes.extend_from_slice(read),
                None => ended = true,
            }
        }
    }

    /// Reads what there is; `None` at the end.
    async fn read<'a>(&mut self, chunk: &'a mut [u8]) -> Result<Option<&'a [u8]>, HandshakeFault> {
        // A connection that is reset says as little as one that is closed.
        let count = self.reader.read(chunk).await.unwrap_or(0);
        Ok(chunk.get(..count).filter(|read| !read.is_empty()))
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), HandshakeFault> {
        self.writer
            .write_all(bytes)
            .await
            .map_err(|_| HandshakeFault::Silent)
    }

    fn finish(self, channel: Channel, rest: RecordBuffer) -> Open<R, W> {
        let (sealer, opener) = channel.split();
        let records = RecordReader::new(self.reader, rest);
        Open {
            records,
            writer: self.writer,
            sealer,
            opener,
        }
    }
}
