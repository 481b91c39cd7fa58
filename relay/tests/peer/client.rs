//! Devices, as the protocol crate makes them.

use std::io;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::channel::{self, Opener, RecordBuffer, Sealer};
use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::raw_client::{Door, connect_to, socket_address};
use crate::test_relay::Reachable;

/// Nothing in these tests takes this long unless it is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A session after its handshake.
pub(crate) struct Session {
    stream: TcpStream,
    sealer: Sealer,
    opener: Opener,
    buffer: RecordBuffer,
}

/// What a relay says, as values of their own.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Said {
    Ack,
    Error(Refusal),
    Heartbeat,
    Deliver(u64, Vec<u8>),
}

impl Session {
    pub(crate) async fn push(relay: &impl Reachable) -> Self {
        let stream = connect_to(relay, Door::Push).await;
        let key = *relay.address().public_key();
        Self::push_on(stream, key).await.unwrap()
    }

    pub(crate) async fn push_to(port: u16, relay: NoisePublic) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        Self::push_on(stream, relay).await
    }

    /// A Push Session whose device expects that key of the relay.
    pub(crate) async fn push_on(mut stream: TcpStream, relay: NoisePublic) -> io::Result<Self> {
        let (state, hello) = channel::push_start(&relay, &mut OsRng).unwrap();
        stream.write_all(&hello).await?;
        let mut buffer = RecordBuffer::new();
        let reply = read_record(&mut stream, &mut buffer).await?;
        let channel = state.handle_reply(&reply).map_err(io::Error::other)?;
        let (sealer, opener) = channel.split();
        Ok(Self {
            stream,
            sealer,
            opener,
            buffer,
        })
    }

    pub(crate) async fn receive(relay: &impl Reachable, device: &NoiseSecret) -> Self {
        let stream = connect_to(relay, Door::Receive).await;
        let key = *relay.address().public_key();
        Self::receive_on(stream, key, device).await.unwrap()
    }

    pub(crate) async fn receive_from(
        port: u16,
        relay: NoisePublic,
        device: &NoiseSecret,
    ) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        Self::receive_on(stream, relay, device).await
    }

    /// A session whose device takes little before it reads.
    pub(crate) async fn receive_narrow(relay: &impl Reachable, device: &NoiseSecret) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16_384).unwrap();
        let address = socket_address(relay, Door::Receive).await;
        let stream = socket.connect(address).await.unwrap();
        let key = *relay.address().public_key();
        Self::receive_on(stream, key, device).await.unwrap()
    }

    /// A Receive Session whose device expects that key of the relay.
    pub(crate) async fn receive_on(
        mut stream: TcpStream,
        relay: NoisePublic,
        device: &NoiseSecret,
    ) -> io::Result<Self> {
        let (state, hello) = channel::receive_start(device, &relay, &mut OsRng).unwrap();
        stream.write_all(&hello).await?;
        let mut buffer = RecordBuffer::new();
        let reply = read_record(&mut stream, &mut buffer).await?;
        let (channel, finish) = state.handle_reply(&reply).map_err(io::Error::other)?;
        stream.write_all(&finish).await?;
        let (sealer, opener) = channel.split();
        Ok(Self {
            stream,
            sealer,
            opener,
            buffer,
        })
    }

    pub(crate) async fn say(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let record = self.sealer.seal(frame).unwrap();
        let written = tokio::time::timeout(PATIENCE, self.stream.write_all(&record)).await;
        written.expect("the relay reads")
    }

    pub(crate) async fn say_push(
        &mut self,
        recipient: NoisePublic,
        envelope: &[u8],
    ) -> io::Result<()> {
        self.say(&Frame::Push {
            recipient,
            envelope,
        })
        .await
    }

    pub(crate) async fn acknowledge(&mut self, blob_id: u64) {
        self.say(&Frame::DeliverAck { blob_id }).await.unwrap();
    }

    /// The next thing the relay says; an error once it has closed.
    pub(crate) async fn hear(&mut self) -> io::Result<Said> {
        let heard = async {
            let record = read_record(&mut self.stream, &mut self.buffer).await?;
            let frame = self.opener.open(&record).map_err(io::Error::other)?;
            Ok(match Frame::decode(&frame).map_err(io::Error::other)? {
                Frame::Ack => Said::Ack,
                Frame::Error(refusal) => Said::Error(refusal),
                Frame::Heartbeat => Said::Heartbeat,
                Frame::Deliver { blob_id, envelope } => Said::Deliver(blob_id, envelope.to_vec()),
                other => panic!("a relay never says {other:?}"),
            })
        };
        tokio::time::timeout(PATIENCE, heard)
            .await
            .expect("the relay says something")
    }

    /// Pushes one Envelope and waits for the answer.
    pub(crate) async fn store(&mut self, recipient: NoisePublic, envelope: &[u8]) -> Said {
        self.say_push(recipient, envelope).await.unwrap();
        self.hear().await.unwrap()
    }

    pub(crate) async fn hear_blob(&mut self) -> (u64, Vec<u8>) {
        match self.hear().await.unwrap() {
            Said::Deliver(id, envelope) => (id, envelope),
            other => panic!("a blob was expected, not {other:?}"),
        }
    }

    /// Checks that nothing was said before the echo of a heartbeat sent now.
    pub(crate) async fn assert_nothing_waits(&mut self) {
        self.say(&Frame::Heartbeat).await.unwrap();
        assert_eq!(self.hear().await.unwrap(), Said::Heartbeat);
    }

    pub(crate) async fn assert_closed(&mut self) {
        let error = self.hear().await.unwrap_err();
        let kinds = [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset];
        assert!(kinds.contains(&error.kind()), "{error}");
    }
}

pub(crate) async fn read_record(
    stream: &mut TcpStream,
    buffer: &mut RecordBuffer,
) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 65_537];
    loop {
        if let Some(record) = buffer.next_record().map_err(io::Error::other)? {
            return Ok(record);
        }
        match stream.read(&mut bytes).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => buffer.push(&bytes[..count]),
        }
    }
}

/// A device's key, made from a number.
pub(crate) fn device(number: u8) -> NoiseSecret {
    NoiseSecret::from_bytes([number; 32])
}

/// A device that no other test knows.
pub(crate) fn new_device() -> NoiseSecret {
    NoiseSecret::generate(&mut OsRng)
}

/// An Envelope that can be told from others.
pub(crate) fn envelope(number: u64, bytes: usize) -> Vec<u8> {
    let mut envelope = number.to_be_bytes().to_vec();
    envelope.resize(bytes.max(8), 0x5a);
    envelope
}

pub(crate) fn number_of(envelope: &[u8]) -> u64 {
    u64::from_be_bytes(envelope[..8].try_into().unwrap())
}
