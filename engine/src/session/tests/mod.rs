//! Sessions against a relay that does what a test tells it.

mod played;
mod played_push;
mod push;
mod receive;

use std::sync::Arc;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::channel::{
    ExpectPushHello, ExpectReceiveHello, Opener, PUSH_HELLO_BYTES, RECEIVE_FINISH_BYTES,
    RECEIVE_HELLO_BYTES, RecordBuffer, Sealer,
};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::version::PREFIX;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::record::{ReadFault, RecordReader};
use super::timing::Timing;
use super::*;

/// What hasn't happened by then never will.
const SOON: Duration = Duration::from_secs(20);

/// Delays that a test can wait for.
fn short() -> Timing {
    Timing {
        reconnect_first: Duration::from_millis(1),
        reconnect_max: Duration::from_millis(2),
        reconnect_hopeless_max: Duration::from_millis(2),
        ..Timing::default()
    }
}

/// A reporter and where its reports arrive.
fn reports() -> (Reporter, UnboundedReceiver<Report>) {
    let (sent, arrives) = unbounded_channel();
    let report: Reporter = Arc::new(move |report| {
        let _ = sent.send(report);
    });
    (report, arrives)
}

async fn next(reports: &mut UnboundedReceiver<Report>) -> Report {
    timeout(SOON, reports.recv())
        .await
        .expect("a report")
        .expect("a session")
}

/// Both ports of a relay, played by a test.
pub(crate) struct FakeRelay {
    pub(crate) key: NoiseSecret,
    pub(crate) receive: TcpListener,
    pub(crate) push: TcpListener,
}

impl FakeRelay {
    pub(crate) async fn new() -> Self {
        Self {
            key: NoiseSecret::generate(&mut OsRng),
            receive: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            push: TcpListener::bind("127.0.0.1:0").await.unwrap(),
        }
    }

    pub(crate) fn address(&self) -> RelayAddress {
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let (receive, push) = (port(&self.receive), port(&self.push));
        RelayAddress::new(self.key.public(), "127.0.0.1", receive, push).unwrap()
    }

    /// The same place under a key that it doesn't have.
    pub(crate) fn address_with_another_key(&self) -> RelayAddress {
        let key = NoiseSecret::generate(&mut OsRng).public();
        let address = self.address();
        RelayAddress::new(
            key,
            "127.0.0.1",
            address.receive_port(),
            address.push_port(),
        )
        .unwrap()
    }

    pub(crate) async fn accept_receive(&self) -> RelaySide {
        let mut raw = Raw::accept(&self.receive).await;
        let expect = ExpectReceiveHello::new(&self.key, &mut OsRng).unwrap();
        let hello = raw.hello(RECEIVE_HELLO_BYTES).await;
        let (expect, answer) = expect.handle_hello(&hello).unwrap();
        raw.stream.write_all(&answer).await.unwrap();
        let finish = raw.message(RECEIVE_FINISH_BYTES).await;
        let (channel, _) = expect.handle_finish(&finish).unwrap();
        RelaySide::new(raw, channel.split())
    }

    /// Answers one caller who means another relay, and sees that it shows no key.
    pub(crate) async fn accept_and_see_no_key(&self) {
        let mut raw = Raw::accept(&self.receive).await;
        let expect = ExpectReceiveHello::new(&self.key, &mut OsRng).unwrap();
        let hello = raw.hello(RECEIVE_HELLO_BYTES).await;
        let (_, answer) = expect.handle_hello(&hello).unwrap();
        raw.stream.write_all(&answer).await.unwrap();
        let mut rest = Vec::new();
        raw.stream.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty(), "an impostor learns nothing of the device");
    }

    pub(crate) async fn accept_push(&self) -> RelaySide {
        let mut raw = Raw::accept(&self.push).await;
        let expect = ExpectPushHello::new(&self.key, &mut OsRng).unwrap();
        let hello = raw.hello(PUSH_HELLO_BYTES).await;
        let (channel, answer) = expect.handle_hello(&hello).unwrap();
        raw.stream.write_all(&answer).await.unwrap();
        RelaySide::new(raw, channel.split())
    }
}

/// A connection before its handshake is done.
struct Raw {
    stream: TcpStream,
}

impl Raw {
    async fn accept(listener: &TcpListener) -> Self {
        let (stream, _) = timeout(SOON, listener.accept())
            .await
            .expect("a caller")
            .unwrap();
        Self { stream }
    }

    async fn hello(&mut self, bytes: usize) -> Vec<u8> {
        let mut prefix = [0; PREFIX.len()];
        self.stream.read_exact(&mut prefix).await.unwrap();
        assert_eq!(prefix, PREFIX);
        self.message(bytes).await
    }

    async fn message(&mut self, bytes: usize) -> Vec<u8> {
        let length = timeout(SOON, self.stream.read_u16())
            .await
            .expect("a message")
            .unwrap();
        assert_eq!(usize::from(length), bytes);
        let mut message = vec![0; bytes];
        self.stream.read_exact(&mut message).await.unwrap();
        message
    }
}

/// The relay's end of an open session.
pub(crate) struct RelaySide {
    records: RecordReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    sealer: Sealer,
    opener: Opener,
}

impl RelaySide {
    fn new(raw: Raw, (sealer, opener): (Sealer, Opener)) -> Self {
        let (reader, writer) = raw.stream.into_split();
        Self {
            records: RecordReader::new(reader, RecordBuffer::new()),
            writer,
            sealer,
            opener,
        }
    }

    pub(crate) async fn send(&mut self, frame: &Frame<'_>) {
        let record = self.sealer.seal(frame).unwrap();
        self.writer.write_all(&record).await.unwrap();
    }

    /// The next frame, still encoded; an error when the device has closed.
    pub(crate) async fn read(&mut self) -> Result<Vec<u8>, ReadFault> {
        let record = timeout(SOON, self.records.next()).await.expect("a frame")?;
        Ok(self.opener.open(&record).unwrap())
    }

    /// The next frame that is no heartbeat.
    pub(crate) async fn read_order(&mut self) -> Vec<u8> {
        loop {
            let plain = self.read().await.unwrap();
            if !matches!(Frame::decode(&plain).unwrap(), Frame::Heartbeat) {
                return plain;
            }
        }
    }
}
