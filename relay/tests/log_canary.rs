//! At the most verbose level, in development mode, the relay logs nothing that names a
//! device, a peer or a blob.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on fails where it stands"
)]

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::channel::{self, Opener, RecordBuffer, Sealer};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::NoiseSecret;
use sealpost_protocol::link::key::{LinkToken, MailboxId};
use sealpost_relay::{Config, Hosts, Relay, StartError, SystemClock, WebConfig};
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
#[derive(Default)]
struct Secrets {
    texts: Vec<String>,
    /// Keys and Envelopes, of which no part may be found either.
    bytes: Vec<Vec<u8>>,
    /// Numbers that may not stand in the log by themselves: ports, sizes, ids of blobs.
    numbers: Vec<u64>,
}

/// The shortest part of a key that would tell devices apart.
const PART_BYTES: usize = 4;

/// Bytes of a key that are looked for in base64. Fewer letters than these eight make would
/// now and then stand in a log by chance.
const LETTERS_BYTES: usize = 6;

impl Secrets {
    fn add_bytes(&mut self, bytes: &[u8]) {
        self.bytes.push(bytes.to_vec());
    }

    fn add_peer(&mut self, stream: &TcpStream) {
        let port = stream.local_addr().unwrap().port();
        self.numbers.push(port.into());
    }

    /// The first secret that stands in the text, however it was printed.
    fn find_in(&self, text: &str) -> Option<String> {
        let lower = text.to_lowercase();
        let found = self
            .texts
            .iter()
            .find(|secret| lower.contains(&secret.to_lowercase()));
        if let Some(secret) = found {
            return Some(secret.clone());
        }
        let numbers = numbers_of(text);
        if let Some(number) = self.numbers.iter().find(|number| numbers.contains(number)) {
            return Some(number.to_string());
        }
        self.bytes.iter().find_map(|bytes| {
            let parts = bytes.windows(PART_BYTES).flat_map(forms_of);
            let found = parts.into_iter().find(|form| lower.contains(form));
            let mut groups = bytes.windows(LETTERS_BYTES).map(letters_of);
            found.or_else(|| groups.find(|letters| text.contains(letters)))
        })
    }
}

/// A part in hex and as a list of numbers.
fn forms_of(part: &[u8]) -> [String; 2] {
    let list: Vec<String> = part.iter().map(u8::to_string).collect();
    [hex::encode(part), list.join(", ")]
}

/// The eight letters of base64 that six bytes make; both alphabets agree on most of them.
fn letters_of(part: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = part
        .iter()
        .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let letter = |place: u32| ALPHABET[(bits >> (42 - 6 * place) & 63) as usize];
    (0..8).map(|place| char::from(letter(place))).collect()
}

/// The numbers that stand in a text by themselves. Times of day and counters of connections
/// are cut off before.
fn numbers_of(text: &str) -> BTreeSet<u64> {
    let lines = text.lines().map(|line| {
        let rest = line.split_once(' ').map_or(line, |(_time, rest)| rest);
        rest.split_once("conn=")
            .map_or(rest.to_owned(), |(before, after)| {
                let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{before}{after}")
            })
    });
    lines
        .flat_map(|line| {
            line.split(|c: char| !c.is_ascii_digit())
                .filter_map(|digits| digits.parse().ok())
                .collect::<Vec<u64>>()
        })
        .collect()
}

/// The finder of this test finds what it is for.
#[test]
fn every_way_to_print_a_secret_is_noticed() {
    let mut secrets = Secrets::default();
    let key = [0xde, 0xad, 0xbe, 0xef, 0x17, 0x2a, 0x99, 0x01];
    secrets.add_bytes(&key);
    secrets.numbers.push(54_321);
    for text in [
        "t key=deadbeef",
        "t key=BEEF172A..",
        "t [190, 239, 23, 42]",
        "t 3q2+7xcqmQE=",
        "t peer 10.0.0.1:54321 conn=7",
        "t conn=7 size=54321",
    ] {
        assert!(secrets.find_in(text).is_some(), "{text}");
    }
    let harmless = "2026-11-30T07:54:32.154321Z DEBUG conn=54321 connection closed ending=idle";
    assert_eq!(secrets.find_in(harmless), None);
}

#[tokio::test]
async fn nothing_identifying_is_logged_at_any_level() {
    let log = Log::default();
    // Coloured letters would stand between a name and its value.
    tracing_subscriber::fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .init();
    let folder = tempfile::tempdir().unwrap();
    let key = NoiseSecret::generate(&mut OsRng);
    let device = NoiseSecret::generate(&mut OsRng);
    let mut secrets = Secrets::default();
    for bytes in [
        key.as_bytes(),
        key.public().as_bytes(),
        device.as_bytes(),
        device.public().as_bytes(),
    ] {
        secrets.add_bytes(bytes);
    }
    secrets.add_bytes(CANARY);
    // The Envelope, the body and the frame around it, and both messages.
    let envelope_bytes = envelope().len() as u64;
    for around in [0, 32, 32 + 5, 32 + 5 + 16, 8 + 5, 8 + 5 + 16] {
        secrets.numbers.push(envelope_bytes + around);
    }
    secrets
        .texts
        .push(String::from_utf8(CANARY.to_vec()).unwrap());
    secrets.texts.push(folder.path().display().to_string());
    secrets.texts.extend([
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
        "localhost".to_owned(),
    ]);
    let relay = start(folder.path(), key.clone()).await.unwrap();
    use_relay(&relay, &device, &mut secrets).await;
    use_web_door(&relay, &mut secrets).await;
    misuse_relay(&relay, &device, &mut secrets).await;
    break_disk(folder.path(), &relay, &device, &mut secrets).await;
    relay.stop().await;
    std::fs::write(folder.path().join("inbox.db"), b"no store at all").unwrap();
    let refused = start(folder.path(), key).await;
    assert!(refused.is_err(), "a store that is no store");
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for event in EVENTS {
        assert!(text.contains(event), "{event} isn't in the log:\n{text}");
    }
    if let Some(secret) = secrets.find_in(&text) {
        panic!("{secret} is in the log:\n{text}");
    }
}

/// What was brought about, so that the search for secrets has something to search.
const EVENTS: [&str; 17] = [
    "relay started",
    "closed by the device",
    "connection lost",
    "transport version not supported",
    "handshake deadline",
    "handshake failed",
    "malformed record",
    "channel failed",
    "push session deadline",
    "too many malformed frames",
    "too many sessions of one device",
    "waiting messages can't be read",
    "store failed",
    "relay not started",
    "web port opened",
    "web port closed",
    "web port not opened",
];

async fn start(folder: &Path, key: NoiseSecret) -> Result<Relay, StartError> {
    let free = "127.0.0.1:0".parse().unwrap();
    let mut config = Config {
        store_path: folder.join("inbox.db"),
        listen_receive: free,
        listen_push: free,
        listen_health: Some(free),
        dev_mode: true,
        ..Config::default()
    };
    config.sessions.handshake = Duration::from_millis(1_500);
    config.sessions.push_session = Duration::from_secs(4);
    config.store.disk_free_bytes_min = 0;
    Relay::start(config, key, Arc::new(SystemClock)).await
}

/// Lets a blob wait and ruins the disk below it, so that it can't be delivered.
async fn break_disk(folder: &Path, relay: &Relay, device: &NoiseSecret, secrets: &mut Secrets) {
    let mut sender = push_session(relay, secrets).await;
    push(&mut sender, device).await;
    for name in ["inbox.db", "inbox.db-wal"] {
        let path = folder.join(name);
        let bytes = std::fs::metadata(&path).unwrap().len();
        std::fs::write(&path, vec![0x5a; usize::try_from(bytes).unwrap()]).unwrap();
    }
    // Another device would find nothing to read.
    let mut receiver = receive_session(relay, device, secrets).await;
    receiver.hear_the_end().await;
    push(&mut sender, device).await;
}

/// Of a size that no other number in a log has.
fn envelope() -> Vec<u8> {
    CANARY.repeat(271)
}

async fn push(session: &mut Session, device: &NoiseSecret) {
    let push = Frame::Push {
        recipient: device.public(),
        envelope: &envelope(),
    };
    session.say(&push).await;
    session.hear().await;
}

/// A session as a device has it.
struct Session {
    stream: TcpStream,
    sealer: Sealer,
    opener: Opener,
    buffer: RecordBuffer,
}

impl Session {
    async fn say(&mut self, frame: &Frame<'_>) {
        let record = self.sealer.seal(frame).unwrap();
        self.stream.write_all(&record).await.unwrap();
    }

    async fn hear(&mut self) -> Vec<u8> {
        let record = read_record(&mut self.stream, &mut self.buffer).await;
        self.opener.open(&record).unwrap()
    }

    /// Everything until the relay has closed.
    async fn hear_the_end(&mut self) {
        let _ = self.stream.read_to_end(&mut Vec::new()).await;
    }
}

async fn push_session(relay: &Relay, secrets: &mut Secrets) -> Session {
    let mut buffer = RecordBuffer::new();
    let mut stream = connect(relay.ports().push, secrets).await;
    let (state, hello) = channel::push_start(&relay.public_key(), &mut OsRng).unwrap();
    stream.write_all(&hello).await.unwrap();
    let reply = read_record(&mut stream, &mut buffer).await;
    let (sealer, opener) = state.handle_reply(&reply).unwrap().split();
    Session {
        stream,
        sealer,
        opener,
        buffer,
    }
}

async fn receive_session(relay: &Relay, device: &NoiseSecret, secrets: &mut Secrets) -> Session {
    let mut buffer = RecordBuffer::new();
    let mut stream = connect(relay.ports().receive, secrets).await;
    let (state, hello) = channel::receive_start(device, &relay.public_key(), &mut OsRng).unwrap();
    stream.write_all(&hello).await.unwrap();
    let reply = read_record(&mut stream, &mut buffer).await;
    let (channel, finish) = state.handle_reply(&reply).unwrap();
    stream.write_all(&finish).await.unwrap();
    let (sealer, opener) = channel.split();
    Session {
        stream,
        sealer,
        opener,
        buffer,
    }
}

async fn use_relay(relay: &Relay, device: &NoiseSecret, secrets: &mut Secrets) {
    let mut session = push_session(relay, secrets).await;
    // Others' blobs come first, so that the id of the device's own is no number of the log's.
    for _ in 0..76 {
        push(&mut session, &NoiseSecret::generate(&mut OsRng)).await;
    }
    push(&mut session, device).await;
    session.say(&Frame::Heartbeat).await;
    session.hear().await;
    drop(session);

    let mut session = receive_session(relay, device, secrets).await;
    let frame = session.hear().await;
    let Ok(Frame::Deliver {
        blob_id,
        envelope: delivered,
    }) = Frame::decode(&frame)
    else {
        panic!("a blob was expected");
    };
    assert_eq!(delivered, envelope());
    secrets.numbers.push(blob_id);
    for frame in [Frame::DeliverAck { blob_id }, Frame::Ack, Frame::Heartbeat] {
        session.say(&frame).await;
    }
    for _ in 0..2 {
        session.hear().await;
    }
}

/// Claims, stores, watches, erases and misuses a mailbox, over a port that is opened and closed.
async fn use_web_door(relay: &Relay, secrets: &mut Secrets) {
    let free = "127.0.0.1:0".parse().unwrap();
    let mut config = WebConfig::server(free);
    config.limits.header_read = Duration::from_millis(300);
    config.hosts = Hosts::Listed(vec!["canary-host.example".to_owned()]);
    let port = relay.open_web(config).unwrap();
    let token = LinkToken::generate(&mut OsRng);
    let mailbox = MailboxId::from_bytes(rand_bytes());
    secrets.add_bytes(token.as_bytes());
    secrets.add_bytes(&token.digest());
    secrets.add_bytes(mailbox.as_bytes());
    let text = token.to_text();
    secrets.texts.extend([
        text.to_string(),
        mailbox.to_hex(),
        "canary-host".to_owned(),
        "canary-query".to_owned(),
        "canary-origin".to_owned(),
    ]);
    secrets.numbers.extend([port.into(), WEB_SEQUENCE]);
    for (request, status) in web_requests(&mailbox, &text) {
        let mut stream = connect(port, secrets).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        let answered = stream.read_exact(&mut answer).await;
        let answer = answered.map_or(String::new(), |_| String::from_utf8_lossy(&answer).into());
        assert_eq!(answer.trim_start_matches("HTTP/1.1 "), status, "{request}");
        if status == "101" {
            let _ = stream.read(&mut [0; 512]).await;
        }
    }
    relay.close_web().await;
    assert!(
        relay
            .open_web(WebConfig::server("192.0.2.1:0".parse().unwrap()))
            .is_err()
    );
}

/// What is asked of the web port and how that ends; nothing where it is cut off.
fn web_requests(mailbox: &MailboxId, token: &str) -> Vec<(String, &'static str)> {
    let path = format!("/v1/mailboxes/{}", mailbox.to_hex());
    let slot = format!("{path}/a2b/{WEB_SEQUENCE}");
    let host = "Host: canary-host.example\r\n";
    let bearer = format!("{host}Authorization: Bearer {token}\r\n");
    let body = |bytes: usize| format!("Content-Length: {bytes}\r\n\r\n{}", "c".repeat(bytes));
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let protocol = format!("Sec-WebSocket-Protocol: mailbox.watch.v1, bearer.{token}\r\n");
    let origin = "Origin: https://canary-origin.example\r\n";
    let other = "Host: other-canary-host.example\r\n";
    let v = "HTTP/1.1\r\n";
    vec![
        (format!("PUT {path} {v}{bearer}{}", body(0)), "201"),
        (format!("PUT {slot} {v}{bearer}{}", body(31_337)), "201"),
        (format!("PUT {slot} {v}{bearer}{}", body(31_338)), "409"),
        (format!("HEAD {path}/a2b {v}{bearer}\r\n"), "200"),
        (
            format!("GET {path}/a2b?after=1&canary-query {v}{bearer}\r\n"),
            "200",
        ),
        (
            format!("GET {path}/a2b/watch {v}{host}{upgrade}{protocol}\r\n"),
            "101",
        ),
        (format!("GET {path}/a2b/watch {v}{bearer}\r\n"), "400"),
        (
            format!("DELETE {path}/a2b?through={WEB_SEQUENCE} {v}{bearer}\r\n"),
            "204",
        ),
        (format!("GET {path}/a2b {v}{host}\r\n"), "401"),
        (format!("POST {path}/a2b {v}{bearer}\r\n"), "405"),
        (format!("GET {path}/a2b {v}{other}\r\n"), "421"),
        (format!("GET {path}/a2b {v}{bearer}{origin}\r\n"), "403"),
        (format!("GET {path}/a2b {v}{bearer}"), ""),
        (format!("{path} canary-query\r\n\r\n"), "400"),
        (format!("DELETE {path} {v}{bearer}\r\n"), "204"),
    ]
}

/// A sequence of no other number in a log.
const WEB_SEQUENCE: u64 = 7_654_321;

fn rand_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    rand_core::RngCore::fill_bytes(&mut OsRng, &mut bytes);
    bytes
}

/// Everything that ends with an error in the log.
async fn misuse_relay(relay: &Relay, device: &NoiseSecret, secrets: &mut Secrets) {
    let ports = relay.ports();
    let first = [
        b"TSRL\x00\x09".to_vec(),
        b"GET / HTTP/1.1\r\n".to_vec(),
        [b"TSRL\x00\x01\x00\x30".as_slice(), &CANARY[..16].repeat(3)].concat(),
        b"TSRL\x00\x01\x00\x00".to_vec(),
    ];
    for port in [ports.push, ports.receive, ports.health.unwrap()] {
        for bytes in &first {
            let mut stream = connect(port, secrets).await;
            stream.write_all(bytes).await.unwrap();
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    }
    let mut silent = connect(ports.push, secrets).await;
    let _ = silent.read_to_end(&mut Vec::new()).await;
    misuse_sessions(relay, device, secrets).await;
    let mut stream = connect(ports.health.unwrap(), secrets).await;
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"));
}

async fn misuse_sessions(relay: &Relay, device: &NoiseSecret, secrets: &mut Secrets) {
    let mut struck = push_session(relay, secrets).await;
    for _ in 0..16 {
        struck.say(&Frame::Heartbeat).await;
    }
    struck.hear_the_end().await;
    for bytes in [
        &[0_u8, 0] as &[u8],
        &[
            0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
    ] {
        let mut garbled = receive_session(relay, device, secrets).await;
        garbled.stream.write_all(bytes).await.unwrap();
        garbled.hear_the_end().await;
    }
    let mut sessions = Vec::new();
    for _ in 0..5 {
        let mut session = receive_session(relay, device, secrets).await;
        session.say(&Frame::Heartbeat).await;
        session.hear().await;
        sessions.push(session);
    }
    let reset = push_session(relay, secrets).await;
    reset.stream.set_zero_linger().unwrap();
    drop(reset);
    // Silent until its time is up.
    push_session(relay, secrets).await.hear_the_end().await;
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
