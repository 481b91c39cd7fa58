//! A device's end of a session, without the engine: as fast as the relay is.

use rand_core::OsRng;
use sealpost_protocol::channel::{self, Opener, RecordBuffer, Sealer};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use sealpost_relay::Relay;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A device's end of a session with a relay of this process.
pub(crate) struct Session {
    stream: TcpStream,
    sealer: Sealer,
    opener: Opener,
    buffer: RecordBuffer,
    scratch: Vec<u8>,
}

impl Session {
    pub(crate) async fn to_push(relay: &Relay) -> Self {
        let mut stream = connect(relay.ports().push).await;
        let (state, hello) = channel::push_start(&relay.public_key(), &mut OsRng).unwrap();
        stream.write_all(&hello).await.unwrap();
        let mut buffer = RecordBuffer::new();
        let mut scratch = vec![0; 65_537];
        let reply = read_record(&mut stream, &mut buffer, &mut scratch).await;
        let (sealer, opener) = state.handle_reply(&reply).unwrap().split();
        Self {
            stream,
            sealer,
            opener,
            buffer,
            scratch,
        }
    }

    pub(crate) async fn to_receive(relay: &Relay, device: &NoiseSecret) -> Self {
        let mut stream = connect(relay.ports().receive).await;
        let (state, hello) =
            channel::receive_start(device, &relay.public_key(), &mut OsRng).unwrap();
        stream.write_all(&hello).await.unwrap();
        let mut buffer = RecordBuffer::new();
        let mut scratch = vec![0; 65_537];
        let reply = read_record(&mut stream, &mut buffer, &mut scratch).await;
        let (channel, finish) = state.handle_reply(&reply).unwrap();
        stream.write_all(&finish).await.unwrap();
        let (sealer, opener) = channel.split();
        Self {
            stream,
            sealer,
            opener,
            buffer,
            scratch,
        }
    }

    pub(crate) async fn push(&mut self, recipient: NoisePublic, envelope: &[u8]) {
        self.write(&Frame::Push {
            recipient,
            envelope,
        })
        .await;
    }

    pub(crate) async fn write(&mut self, frame: &Frame<'_>) {
        let record = self.sealer.seal(frame).unwrap();
        self.stream.write_all(&record).await.unwrap();
    }

    pub(crate) async fn read(&mut self) -> Vec<u8> {
        let record = read_record(&mut self.stream, &mut self.buffer, &mut self.scratch).await;
        self.opener.open(&record).unwrap()
    }
}

async fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

async fn read_record(
    stream: &mut TcpStream,
    buffer: &mut RecordBuffer,
    scratch: &mut [u8],
) -> Vec<u8> {
    loop {
        if let Some(record) = buffer.next_record().unwrap() {
            return record;
        }
        let count = stream.read(scratch).await.unwrap();
        assert_ne!(count, 0, "the relay has closed");
        buffer.push(scratch.get(..count).unwrap_or_default());
    }
}
