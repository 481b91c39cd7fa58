//! A peer that keeps no rule, built on the Noise library alone: a second opinion on the bytes
//! of prefix, handshake and frames, and able to send any of them wrong.

use std::io;
use std::net::SocketAddr;

use sealpost_protocol::key::NoiseSecret;
use snow::{Builder, HandshakeState, TransportState};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::PATIENCE;
use crate::test_relay::Reachable;

pub(crate) const PREFIX: [u8; 6] = *b"TSRL\x00\x01";

pub(crate) struct RawClient {
    pub(crate) stream: TcpStream,
    noise: TransportState,
}

impl RawClient {
    pub(crate) async fn push(relay: &impl Reachable) -> Self {
        let mut noise = push_initiator(relay, &PREFIX);
        let mut stream = connect_to(relay, Door::Push).await;
        let hello = next_message(&mut noise);
        assert_eq!(hello.len(), 48);
        send_first(&mut stream, &hello).await;
        read_message(&mut noise, &read_record(&mut stream).await.unwrap(), 48);
        Self {
            stream,
            noise: noise.into_transport_mode().unwrap(),
        }
    }

    /// The first message of a Push Session that is bound to other first bytes.
    pub(crate) fn push_hello_over(relay: &impl Reachable, prologue: &[u8]) -> Vec<u8> {
        next_message(&mut push_initiator(relay, prologue))
    }

    pub(crate) async fn receive(relay: &impl Reachable, device: &NoiseSecret) -> Self {
        let mut noise = builder("Noise_XX_25519_ChaChaPoly_BLAKE2s", &PREFIX)
            .local_private_key(device.as_bytes())
            .unwrap()
            .build_initiator()
            .unwrap();
        let mut stream = connect_to(relay, Door::Receive).await;
        let hello = next_message(&mut noise);
        assert_eq!(hello.len(), 32);
        send_first(&mut stream, &hello).await;
        read_message(&mut noise, &read_record(&mut stream).await.unwrap(), 96);
        assert_eq!(
            noise.get_remote_static().unwrap(),
            relay.address().public_key().as_bytes()
        );
        let finish = next_message(&mut noise);
        assert_eq!(finish.len(), 64);
        stream.write_all(&record(&finish)).await.unwrap();
        Self {
            stream,
            noise: noise.into_transport_mode().unwrap(),
        }
    }

    /// Encrypts and sends any bytes as a frame.
    pub(crate) async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let message = self.seal(frame);
        self.stream.write_all(&record(&message)).await
    }

    pub(crate) fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        let mut message = vec![0; frame.len() + 16];
        let count = self.noise.write_message(frame, &mut message).unwrap();
        assert_eq!(count, message.len());
        message
    }

    /// The bytes of the next frame; an error once the relay has closed.
    pub(crate) async fn read(&mut self) -> io::Result<Vec<u8>> {
        let message = read_record(&mut self.stream).await?;
        let mut frame = vec![0; message.len() - 16];
        self.noise
            .read_message(&message, &mut frame)
            .map_err(io::Error::other)?;
        Ok(frame)
    }

    pub(crate) async fn assert_closed(&mut self) {
        assert!(self.read().await.is_err());
    }
}

fn push_initiator(relay: &impl Reachable, prologue: &[u8]) -> HandshakeState {
    builder("Noise_NK_25519_ChaChaPoly_BLAKE2s", prologue)
        .remote_public_key(relay.address().public_key().as_bytes())
        .unwrap()
        .build_initiator()
        .unwrap()
}

fn builder<'a>(pattern: &str, prologue: &'a [u8]) -> Builder<'a> {
    Builder::new(pattern.parse().unwrap())
        .prologue(prologue)
        .unwrap()
}

fn next_message(noise: &mut HandshakeState) -> Vec<u8> {
    let mut message = vec![0; 200];
    let count = noise.write_message(&[], &mut message).unwrap();
    message.truncate(count);
    message
}

fn read_message(noise: &mut HandshakeState, message: &[u8], bytes: usize) {
    assert_eq!(message.len(), bytes);
    let payload = noise.read_message(message, &mut [0; 200]).unwrap();
    assert_eq!(payload, 0, "handshake payloads are empty");
}

async fn send_first(stream: &mut TcpStream, hello: &[u8]) {
    let mut bytes = PREFIX.to_vec();
    bytes.extend(record(hello));
    stream.write_all(&bytes).await.unwrap();
}

pub(crate) fn record(message: &[u8]) -> Vec<u8> {
    let mut record = u16::try_from(message.len()).unwrap().to_be_bytes().to_vec();
    record.extend_from_slice(message);
    record
}

/// One of the two ports that devices come to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Door {
    Push,
    Receive,
}

pub(crate) const DOORS: [Door; 2] = [Door::Push, Door::Receive];

/// A connection to a port of this machine.
pub(crate) async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

pub(crate) async fn connect_to(relay: &impl Reachable, door: Door) -> TcpStream {
    let address = socket_address(relay, door).await;
    TcpStream::connect(address).await.unwrap()
}

/// The first address that the relay's host stands for.
pub(crate) async fn socket_address(relay: &impl Reachable, door: Door) -> SocketAddr {
    let address = relay.address();
    let port = match door {
        Door::Push => address.push_port(),
        Door::Receive => address.receive_port(),
    };
    let host = address.host().trim_matches(['[', ']']);
    let mut found = tokio::net::lookup_host((host, port)).await.unwrap();
    found.next().unwrap()
}

pub(crate) async fn read_record(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let read = async {
        let mut message = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut message).await?;
        Ok(message)
    };
    tokio::time::timeout(PATIENCE, read)
        .await
        .expect("the relay says something")
}

/// Everything until the relay closes.
pub(crate) async fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let ended = tokio::time::timeout(PATIENCE, read)
        .await
        .expect("the relay closes");
    // A reset is a close too; what came before it is kept.
    let _ = ended;
    bytes
}
