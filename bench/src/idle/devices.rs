//! Devices as the relay sees them: sessions over TCP with nothing behind them.

use anyhow::{Context as _, Result, bail};
use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::channel::{self, Opener, RecordBuffer, Sealer};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One session of either kind.
pub(super) struct Session {
    stream: TcpStream,
    buffer: RecordBuffer,
    sealer: Sealer,
    opener: Opener,
}

impl Session {
    /// Connects as a device that takes what waits for it.
    pub(super) async fn receive(relay: &RelayAddress, device: &NoiseSecret) -> Result<Self> {
        let (state, hello) = channel::receive_start(device, relay.public_key(), &mut OsRng)?;
        let mut stream = connect(relay, relay.receive_port(), &hello).await?;
        let mut buffer = RecordBuffer::new();
        let reply = next_record(&mut stream, &mut buffer).await?;
        let (channel, finish) = state.handle_reply(&reply)?;
        stream.write_all(&finish).await?;
        let (sealer, opener) = channel.split();
        Ok(Self {
            stream,
            buffer,
            sealer,
            opener,
        })
    }

    /// Connects as somebody who pushes.
    pub(super) async fn push(relay: &RelayAddress) -> Result<Self> {
        let (state, hello) = channel::push_start(relay.public_key(), &mut OsRng)?;
        let mut stream = connect(relay, relay.push_port(), &hello).await?;
        let mut buffer = RecordBuffer::new();
        let reply = next_record(&mut stream, &mut buffer).await?;
        let (sealer, opener) = state.handle_reply(&reply)?.split();
        Ok(Self {
            stream,
            buffer,
            sealer,
            opener,
        })
    }

    /// Says something and waits for the echo: only then both sides have shaken hands.
    pub(super) async fn echo(&mut self) -> Result<()> {
        self.write(&[Frame::Heartbeat]).await?;
        match Frame::decode(&self.read().await?)? {
            Frame::Heartbeat => Ok(()),
            _ => bail!("a heartbeat isn't echoed"),
        }
    }

    /// Writes frames at once.
    pub(super) async fn write(&mut self, frames: &[Frame<'_>]) -> Result<()> {
        let mut records = Vec::new();
        for frame in frames {
            self.sealer.seal_into(frame, &mut records)?;
        }
        Ok(self.stream.write_all(&records).await?)
    }

    /// The next frame.
    pub(super) async fn read(&mut self) -> Result<Vec<u8>> {
        let record = next_record(&mut self.stream, &mut self.buffer).await?;
        Ok(self.opener.open(&record)?)
    }

    /// Pushes one envelope to each of `recipients` at once and waits until all are stored.
    pub(super) async fn push_to(
        &mut self,
        recipients: &[NoisePublic],
        envelope: &[u8],
    ) -> Result<()> {
        let frames = recipients.iter().map(|recipient| Frame::Push {
            recipient: *recipient,
            envelope,
        });
        self.write(&frames.collect::<Vec<_>>()).await?;
        for _ in recipients {
            match Frame::decode(&self.read().await?)? {
                Frame::Ack => {}
                Frame::Error(refusal) => bail!("a push is refused: {refusal:?}"),
                _ => bail!("a push is answered by something else"),
            }
        }
        Ok(())
    }

    /// Takes the next blobs, all that have arrived, and acknowledges them at once. Returns
    /// how many.
    pub(super) async fn take_some(&mut self) -> Result<usize> {
        let mut frames = vec![self.read().await?];
        while let Some(record) = self.buffer.next_record()? {
            frames.push(self.opener.open(&record)?);
        }
        let mut acks = Vec::new();
        for frame in &frames {
            match Frame::decode(frame)? {
                Frame::Deliver { blob_id, .. } => acks.push(Frame::DeliverAck { blob_id }),
                _ => bail!("a blob was expected"),
            }
        }
        self.write(&acks).await?;
        Ok(acks.len())
    }
}

async fn connect(relay: &RelayAddress, port: u16, hello: &[u8]) -> Result<TcpStream> {
    let mut stream = TcpStream::connect((relay.host(), port))
        .await
        .context("a connection is refused")?;
    stream.set_nodelay(true)?;
    stream.write_all(hello).await?;
    Ok(stream)
}

async fn next_record(stream: &mut TcpStream, buffer: &mut RecordBuffer) -> Result<Vec<u8>> {
    let mut bytes = [0; 4_096];
    loop {
        if let Some(record) = buffer.next_record()? {
            return Ok(record);
        }
        // Nothing is held while nothing comes: ten thousand devices share this process.
        let count = stream.read(&mut bytes).await?;
        match bytes.get(..count) {
            Some([]) | None => bail!("the relay has closed a connection"),
            Some(arrived) => buffer.push(arrived),
        }
    }
}
