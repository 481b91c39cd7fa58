//! Asks a relay whether it is the one that an address names, before anything is stored.
//!
//! Starts the handshake of a Receive Session with a key made for the moment and ends it as
//! soon as the relay has shown its own key, so the relay learns nothing about this device.
//! Never decides what follows: an unreachable relay is no reason not to queue a request.

use sealpost_protocol::address::RelayAddress;
use tokio::time::timeout;

use crate::core::status::{ConnectFailure, Connection};
use crate::session::SessionFault;
use crate::session::dial::dial;
use crate::session::handshake::{HandshakeFault, probe};
use crate::session::timing::{PROBE_MAX, Timing};

/// How the relay at `address` answers: [`Connection::Connected`] when it is the right one.
/// Takes a few seconds at most.
pub async fn probe_relay(address: &RelayAddress) -> Connection {
    match timeout(PROBE_MAX, ask(address)).await {
        Ok(Ok(())) => Connection::Connected,
        Ok(Err(fault)) => fault.connection(),
        Err(_) => failed(ConnectFailure::NoAnswer),
    }
}

async fn ask(address: &RelayAddress) -> Result<(), SessionFault> {
    let timing = Timing::default();
    let stream = dial(&timing, address.host(), address.receive_port()).await?;
    let (reader, writer) = stream.into_split();
    let asked = probe(&timing, address.public_key(), reader, writer).await;
    asked.map_err(|fault| match fault {
        // Who asks is about to trust what is there: nothing shows that it is a relay.
        HandshakeFault::Silent => ConnectFailure::SomethingElse.into(),
        HandshakeFault::Known(fault) => fault,
    })
}

const fn failed(failure: ConnectFailure) -> Connection {
    Connection::Disconnected(Some(failure))
}

#[cfg(test)]
mod tests {
    use rand_core::OsRng;
    use sealpost_protocol::channel::ExpectReceiveHello;
    use sealpost_protocol::key::NoiseSecret;
    use sealpost_protocol::version::PREFIX_BYTES;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
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
        assert_eq!(
            probe_relay(&address(&secret, port)).await,
            Connection::Connected
        );

        let port = serve(relay_answer(NoiseSecret::from_bytes([8; 32]))).await;
        let connection = probe_relay(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::WrongKey));

        let port = serve(|_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
        let connection = probe_relay(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::SomethingElse));

        let port = serve(|_| Vec::new()).await;
        let connection = probe_relay(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::SomethingElse));
    }

    #[tokio::test]
    async fn a_port_where_nothing_listens_is_refused() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let secret = NoiseSecret::from_bytes([7; 32]);
        let connection = probe_relay(&address(&secret, port)).await;
        assert_eq!(connection, failed(ConnectFailure::Refused));
    }
}
