//! At the most verbose level, in development mode, the relay logs nothing that names a
//! device, a peer or a blob.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on fails where it stands"
)]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use rand_core::OsRng;
use sealpost_protocol::channel::{self, RecordBuffer};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::NoiseSecret;
use sealpost_relay::{Config, Relay, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tracing_subscriber::fmt::MakeWriter;

const CANARY: &[u8] = b"canary-in-an-envelope-0123456789";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// What the sessions used that must not be found.
struct Secrets {
    texts: Vec<String>,
}

impl Secrets {
    fn add_bytes(&mut self, bytes: &[u8]) {
        self.texts.push(hex::encode(bytes));
        self.texts.push(hex::encode_upper(&bytes[..8]));
        self.texts.push(hex::encode(&bytes[..8]));
        let list: Vec<String> = bytes.iter().take(6).map(u8::to_string).collect();
        self.texts.push(list.join(", "));
    }

    fn add_peer(&mut self, stream: &TcpStream) {
        self.texts
            .push(format!(":{}", stream.local_addr().unwrap().port()));
    }
}

#[tokio::test]
async fn nothing_identifying_is_logged_at_any_level() {
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_writer(log.clone())
        .init();
    let folder = tempfile::tempdir().unwrap();
    let key = NoiseSecret::generate(&mut OsRng);
    let device = NoiseSecret::generate(&mut OsRng);
    let mut secrets = Secrets { texts: Vec::new() };
    for bytes in [
        key.as_bytes(),
        key.public().as_bytes(),
        device.as_bytes(),
        device.public().as_bytes(),
    ] {
        secrets.add_bytes(bytes);
    }
    secrets.add_bytes(CANARY);
    secrets
        .texts
        .push(String::from_utf8(CANARY.to_vec()).unwrap());
    secrets.texts.push(folder.path().display().to_string());
    secrets.texts.extend([
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
        "localhost".to_owned(),
    ]);
    let free = "127.0.0.1:0".parse().unwrap();
    let config = Config {
        store_path: folder.path().join("inbox.db"),
        listen_receive: free,
        listen_push: free,
        listen_health: Some(free),
        dev_mode: true,
        ..Config::default()
    };
    let relay = Relay::start(config, key, Arc::new(SystemClock))
        .await
        .unwrap();
    use_relay(&relay, &device, &mut secrets).await;
    misuse_relay(&relay, &mut secrets).await;
    relay.stop().await;
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        text.contains("relay started") && text.contains("connection closed"),
        "{text}"
    );
    for secret in &secrets.texts {
        assert!(
            !text.contains(secret.as_str()),
            "{secret} is in the log:\n{text}"
        );
    }
}

async fn use_relay(relay: &Relay, device: &NoiseSecret, secrets: &mut Secrets) {
    let mut buffer = RecordBuffer::new();
    let mut stream = connect(relay.ports().push, secrets).await;
    let (state, hello) = channel::push_start(&relay.public_key(), &mut OsRng).unwrap();
    stream.write_all(&hello).await.unwrap();
    let reply = read_record(&mut stream, &mut buffer).await;
    let (mut sealer, _) = state.handle_reply(&reply).unwrap().split();
    let push = Frame::Push {
        recipient: device.public(),
        envelope: CANARY,
    };
    for frame in [push, Frame::Heartbeat] {
        stream
            .write_all(&sealer.seal(&frame).unwrap())
            .await
            .unwrap();
        read_record(&mut stream, &mut buffer).await;
    }
    drop(stream);

    let mut buffer = RecordBuffer::new();
    let mut stream = connect(relay.ports().receive, secrets).await;
    let (state, hello) = channel::receive_start(device, &relay.public_key(), &mut OsRng).unwrap();
    stream.write_all(&hello).await.unwrap();
    let reply = read_record(&mut stream, &mut buffer).await;
    let (channel, finish) = state.handle_reply(&reply).unwrap();
    stream.write_all(&finish).await.unwrap();
    let (mut sealer, mut opener) = channel.split();
    let record = read_record(&mut stream, &mut buffer).await;
    let frame = opener.open(&record).unwrap();
    let Ok(Frame::Deliver { blob_id, envelope }) = Frame::decode(&frame) else {
        panic!("a blob was expected");
    };
    assert_eq!(envelope, CANARY);
    for frame in [Frame::DeliverAck { blob_id }, Frame::Ack, Frame::Heartbeat] {
        stream
            .write_all(&sealer.seal(&frame).unwrap())
            .await
            .unwrap();
    }
    for _ in 0..2 {
        read_record(&mut stream, &mut buffer).await;
    }
}

/// Everything that ends with an error in the log.
async fn misuse_relay(relay: &Relay, secrets: &mut Secrets) {
    let ports = relay.ports();
    let first = [b"TSRL\x00\x09".to_vec(), b"GET / HTTP/1.1\r\n".to_vec(), {
        let mut hello = b"TSRL\x00\x01\x00\x30".to_vec();
        hello.extend_from_slice(&CANARY[..16].repeat(3));
        hello
    }];
    for port in [ports.push, ports.receive, ports.health.unwrap()] {
        for bytes in &first {
            let mut stream = connect(port, secrets).await;
            stream.write_all(bytes).await.unwrap();
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    }
    let mut stream = connect(ports.health.unwrap(), secrets).await;
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"));
}

async fn connect(port: u16, secrets: &mut Secrets) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    secrets.add_peer(&stream);
    stream
}

async fn read_record(stream: &mut TcpStream, buffer: &mut RecordBuffer) -> Vec<u8> {
    let mut bytes = [0; 4_096];
    loop {
        if let Some(record) = buffer.next_record().unwrap() {
            return record;
        }
        let count = stream.read(&mut bytes).await.unwrap();
        assert_ne!(count, 0, "the relay has closed");
        buffer.push(&bytes[..count]);
    }
}
