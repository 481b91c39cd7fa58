//! Asks a relay whether it is the one that an address names, before anything is stored.
//!
//! Starts the handshake of a Receive Session with a key made for the moment and ends it as
//! soon as the relay has shown its own key, so the relay learns nothing about this device.
//! Never decides what follows: an unreachable relay is no reason not to queue a request.

use std::time::Duration;

use rand_core::OsRng;
use sealpost_engine::core::status::{ConnectFailure, Connection};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::channel::{
    ExpectReceiveReply, HandshakeError, RECEIVE_REPLY_BYTES, RecordBuffer, Reply, receive_start,
    reply,
};
use sealpost_protocol::key::NoiseSecret;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// How long looking up, connecting and answering may take together.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes read at a time; the whole answer fits.
const READ_BYTES: usize = 256;

/// How the relay at `address` answers: [`Connection::Connected`] when it is the right one.
pub(crate) async fn probe(address: &RelayAddress) -> Connection {
    match timeout(PATIENCE, ask(address)).await {
        Ok(Ok(())) => Connection::Connected,
        Ok(Err(connection)) => connection,
        Err(_) => failed(ConnectFailure::NoAnswer),
    }
}

async fn ask(address: &RelayAddress) -> Result<(), Connection> {
    let mut stream = connect(address).await?;
    let key_of_the_moment = NoiseSecret::generate(&mut OsRng);
    let (expected, hello) = receive_start(&key_of_the_moment, address.public_key(), &mut OsRng)
        .map_err(|_| failed(ConnectFailure::WrongKey))?;
    stream
        .write_all(&hello)
        .await
        .map_err(|_| failed(ConnectFailure::SomethingElse))?;
    read_answer(&mut stream, expected).await
}

async fn connect(address: &RelayAddress) -> Result<TcpStream, Connection> {
    let places = lookup_host((address.host(), address.receive_port()))
        .await
        .map_err(|_| failed(ConnectFailure::NameNotFound))?;
    let mut last = ConnectFailure::NameNotFound;
    for place in places {
        match TcpStream::connect(place).await {
            Ok(stream) => return Ok(stream),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                last = ConnectFailure::Refused;
            }
            Err(_) => last = ConnectFailure::NoAnswer,
        }
    }
    Err(failed(last))
}

async fn read_answer(
    stream: &mut TcpStream,
    expected: ExpectReceiveReply,
) -> Result<(), Connection> {
    let mut seen = Vec::new();
    loop {
        let mut bytes = [0; READ_BYTES];
        let count = stream.read(&mut bytes).await.unwrap_or_default();
        seen.extend(bytes.iter().take(count));
        match reply::parse(&seen, count == 0) {
            Ok(Reply::Unsupported(versions)) => {
                let (min, max) = (versions.min, versions.max);
                return Err(Connection::RelayVersionUnsupported { min, max });
            }
            Ok(Reply::Incomplete) => {}
            Ok(Reply::Handshake) => {
                if let Some(message) = first_message(&seen)? {
                    return match expected.handle_reply(&message) {
                        Ok(_) => Ok(()),
                        Err(HandshakeError::WrongRelayKey) => Err(failed(ConnectFailure::WrongKey)),
                        Err(_) => Err(failed(ConnectFailure::SomethingElse)),
                    };
                }
            }
            Err(_) => return Err(failed(ConnectFailure::SomethingElse)),
        }
        if count == 0 {
            return Err(failed(ConnectFailure::SomethingElse));
        }
    }
}

fn first_message(seen: &[u8]) -> Result<Option<Vec<u8>>, Connection> {
    let mut records = RecordBuffer::new();
    records.push(seen);
    records
        .next_record_of(RECEIVE_REPLY_BYTES)
        .map_err(|_| failed(ConnectFailure::SomethingElse))
}

const fn failed(failure: ConnectFailure) -> Connection {
    Connection::Disconnected(Some(failure))
}

#[cfg(test)]
mod tests {
    use sealpost_protocol::channel::ExpectReceiveHello;
    use sealpost_protocol::version::PREFIX_BYTES;
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one connection: after `skip` bytes of greeting with what `answer` makes of it.
    async fn serve(answer: impl FnOnce(Vec<u8>) -> Vec<u8> + Send + 'static) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut hello = vec![0; PREFIX_BYTES + 2 + 32];
            stream.read_exact(&mut hello).await.unwrap();
            stream.write_all(&answer(hello)).await.unwrap();
        });
        port
    }

    fn relay_answer(secret: NoiseSecret) -> impl FnOnce(Vec<u8>) -> Vec<u8> {
        move |hello| {
            let hello = hello.get(PREFIX_BYTES + 2..).unwrap();
            let expected = ExpectReceiveHello::new(&secret, &mut OsRng).unwrap();
            expected.handle_hello(hello).unwrap().1
        }
    }

    fn address(secret: &NoiseSecret, port: u16) -> RelayAddress {
        RelayAddress::new(secret.public(), "127.0.0.1", port, port).unwrap()
    }

    #[tokio::test]
    async fn the_right_relay_is_told_from_every_other_answer() {
        let secret = NoiseSecret::from_bytes([7; 32]);
        let port = serve(relay_answer(secret.clone())).await;
        assert_eq!(probe(&address(&secret, port)).await, Connection::Connected);

        let port = serve(relay_answer(NoiseSecret::from_bytes([8; 32]))).await;
        let connection = probe(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::WrongKey));

        let port = serve(|_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
        let connection = probe(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::SomethingElse));

        let port = serve(|_| Vec::new()).await;
        let connection = probe(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::SomethingElse));
    }

    #[tokio::test]
    async fn a_port_where_nothing_listens_is_refused() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let secret = NoiseSecret::from_bytes([7; 32]);
        let connection = probe(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::Refused));
    }
}
