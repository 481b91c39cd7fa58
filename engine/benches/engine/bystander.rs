//! What stands around the engines under measurement: a relay without limits, a group of two,
//! and a sender that fills an inbox faster than a person's device may.

use std::sync::Arc;

use rand_core::OsRng;
use sealpost_engine::keys::{GroupKeys, KeyItemName, KeyStore};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::channel::{self, Opener, RecordBuffer, Sealer};
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{DeviceSecrets, NoisePublic, NoiseSecret};
use sealpost_relay::{Config, Relay};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::BYTES;
use crate::devices::{Device, Home, pair};

/// Pushes of one session that wait for their answer.
const IN_FLIGHT: usize = 32;

/// A relay that takes what it is given.
pub(crate) struct OpenRelay {
    relay: Relay,
    _folder: TempDir,
}

impl OpenRelay {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = "127.0.0.1:0".parse().unwrap();
        let mut config = Config {
            store_path: folder.path().join("inbox.db"),
            listen_receive: free,
            listen_push: free,
            listen_health: None,
            ..Config::default()
        };
        config.sessions.push_rate.per_second = 1_000_000;
        config.sessions.push_rate.burst = 1_000_000;
        config.store.inbox_blobs_max = 1_000_000;
        config.store.inbox_bytes_max = 1 << 40;
        let key = NoiseSecret::generate(&mut OsRng);
        let clock = Arc::new(sealpost_relay::SystemClock);
        Self {
            relay: Relay::start(config, key, clock).await.unwrap(),
            _folder: folder,
        }
    }

    pub(crate) fn address(&self) -> RelayAddress {
        let ports = self.relay.ports();
        let key = self.relay.public_key();
        RelayAddress::new(key, "127.0.0.1", ports.receive, ports.push).unwrap()
    }

    pub(crate) fn blobs(&self) -> u64 {
        self.relay.numbers().blobs
    }

    /// Pushes what is sealed already, many at a time.
    pub(crate) async fn fill(&self, recipient: NoisePublic, envelopes: &[Vec<u8>]) {
        let mut session = PushSession::open(&self.relay).await;
        let mut answered = 0;
        for (sent, envelope) in envelopes.iter().enumerate() {
            if sent >= answered + IN_FLIGHT {
                session.await_ack().await;
                answered += 1;
            }
            session.push(recipient, envelope).await;
        }
        for _ in answered..envelopes.len() {
            session.await_ack().await;
        }
    }
}

/// Two devices in one group.
pub(crate) struct Pair {
    pub(crate) homes: [Home; 2],
    pub(crate) devices: [Device; 2],
}

impl Pair {
    pub(crate) async fn start(relay: &OpenRelay) -> Self {
        let homes = [Home::new("Laptop"), Home::new("Phone")];
        let address = || Some(relay.address());
        let devices = [
            homes[0].start(address()).await,
            homes[1].start(address()).await,
        ];
        pair(&devices[0], &devices[1]).await;
        // What pairing itself sends is out of the way before anything is measured.
        for device in &devices {
            while device.engine.outbox_copies().await.unwrap() > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
        Self { homes, devices }
    }
}

/// The keys of a device, as its key store holds them.
pub(crate) fn keys_of(home: &Home) -> GroupKeys {
    let options = home.options(None);
    let item = KeyItemName::group(&options.profile_id, &options.namespace);
    let item = home.keys.load(&item).unwrap().unwrap();
    GroupKeys::decode(&item, &options.profile_id).unwrap()
}

/// Messages of one device to another, sealed.
pub(crate) fn sealed(
    author: &DeviceSecrets,
    recipient: NoisePublic,
    first: u64,
    count: usize,
) -> Vec<Vec<u8>> {
    let numbers = (first..).take(count);
    let envelope = |sequence| {
        let sealing = Sealing {
            author: &author.signing,
            recipient: &recipient,
            sequence,
            timestamp_ms: first,
            tag: MessageTag::Sync,
            body: &body(),
        };
        seal(&sealing, &mut OsRng).unwrap()
    };
    numbers.map(envelope).collect()
}

/// A text whose body has the size that everything is measured with.
pub(crate) fn body() -> Vec<u8> {
    let text = |length| AppMessage::new(AppMessageKind::Text("x".repeat(length)), &mut OsRng);
    let frame = text(BYTES).encode().len() - BYTES;
    text(BYTES - frame).encode()
}

struct PushSession {
    stream: TcpStream,
    sealer: Sealer,
    opener: Opener,
    buffer: RecordBuffer,
    scratch: Vec<u8>,
}

impl PushSession {
    async fn open(relay: &Relay) -> Self {
        let port = relay.ports().push;
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (state, hello) = channel::push_start(&relay.public_key(), &mut OsRng).unwrap();
        stream.write_all(&hello).await.unwrap();
        let (mut buffer, mut scratch) = (RecordBuffer::new(), vec![0; 65_537]);
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

    async fn push(&mut self, recipient: NoisePublic, envelope: &[u8]) {
        let frame = Frame::Push {
            recipient,
            envelope,
        };
        let record = self.sealer.seal(&frame).unwrap();
        self.stream.write_all(&record).await.unwrap();
    }

    async fn await_ack(&mut self) {
        let record = read_record(&mut self.stream, &mut self.buffer, &mut self.scratch).await;
        let answer = self.opener.open(&record).unwrap();
        assert!(matches!(Frame::decode(&answer), Ok(Frame::Ack)));
    }
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
