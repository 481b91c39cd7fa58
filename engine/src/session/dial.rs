//! The one way from a relay address to a socket.
//!
//! Looks the host up, tries all its addresses, a new one a quarter of a second after the one
//! before, and takes the first that answers. Tells apart a name that isn't found, a computer
//! that refuses, and silence.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::timing::{DIAL_ADDRESSES_MAX, Timing};
use crate::core::status::ConnectFailure;

/// Connects to `port` of `host`.
pub(crate) async fn dial(
    timing: &Timing,
    host: &str,
    port: u16,
) -> Result<TcpStream, ConnectFailure> {
    timeout(timing.dial, connect(timing, host, port))
        .await
        .unwrap_or(Err(ConnectFailure::NoAnswer))
}

async fn connect(timing: &Timing, host: &str, port: u16) -> Result<TcpStream, ConnectFailure> {
    reach(timing, look_up(host, port).await?).await
}

/// The addresses of `host`, one at least.
pub(crate) async fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, ConnectFailure> {
    let found = lookup_host((host, port)).await;
    let addresses: Vec<SocketAddr> = found
        .map_err(|_| ConnectFailure::NameNotFound)?
        .take(DIAL_ADDRESSES_MAX)
        .collect();
    if addresses.is_empty() {
        return Err(ConnectFailure::NameNotFound);
    }
    Ok(addresses)
}

/// Connects to the first of these addresses that answers.
pub(crate) async fn reach(
    timing: &Timing,
    addresses: Vec<SocketAddr>,
) -> Result<TcpStream, ConnectFailure> {
    let stream = first_of(addresses, timing.dial_stagger).await?;
    // Small frames must not wait for each other; without it a session is slow, not wrong.
    drop(stream.set_nodelay(true));
    Ok(stream)
}

/// The first address that answers, or what the most telling of them said.
async fn first_of(
    addresses: Vec<SocketAddr>,
    stagger: Duration,
) -> Result<TcpStream, ConnectFailure> {
    let mut tries = JoinSet::new();
    for (place, address) in (0_u32..).zip(addresses) {
        tries.spawn(async move {
            sleep(stagger.saturating_mul(place)).await;
            TcpStream::connect(address).await
        });
    }
    let mut failure = ConnectFailure::NoAnswer;
    while let Some(tried) = tries.join_next().await {
        match tried {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                failure = ConnectFailure::Refused;
            }
            _ => {}
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_listener_is_reached_and_a_closed_port_refuses() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        dial(&Timing::default(), "127.0.0.1", port).await.unwrap();
        dial(&Timing::default(), "localhost", port).await.unwrap();
        drop(listener);
        assert_eq!(
            dial(&Timing::default(), "127.0.0.1", port)
                .await
                .unwrap_err(),
            ConnectFailure::Refused
        );
    }

    #[tokio::test]
    async fn a_name_that_nobody_has_is_not_found() {
        let failure = dial(&Timing::default(), "sealpost-test.invalid", 7700)
            .await
            .unwrap_err();
        assert_eq!(failure, ConnectFailure::NameNotFound);
    }

    #[tokio::test]
    async fn an_address_that_refuses_does_not_keep_from_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let good = listener.local_addr().unwrap();
        let closed = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        first_of(vec![closed, good], Duration::ZERO).await.unwrap();
        assert_eq!(
            first_of(vec![closed], Duration::ZERO).await.unwrap_err(),
            ConnectFailure::Refused
        );
    }
}
