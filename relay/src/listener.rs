//! Ports: opening them, and telling why one can't be opened.
//!
//! Owns: sockets that accept. Never does: keep or format the address of a peer.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::start_error::StartError;

/// Connections that may wait to be accepted. The system cuts it to what it allows (4,096 on
/// Linux); what finds no room tries again only after a second.
const BACKLOG: i32 = 16_384;

/// The pause after a failed accept, such as when no file descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The shortest time between two warnings that accepting fails.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// One of the ports of a relay.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Port {
    /// Where Receive Sessions arrive.
    Receive,
    /// Where Push Sessions arrive.
    Push,
    /// Where the relay's health is asked for.
    Health,
    /// Where phones and browsers arrive.
    Web,
}

impl fmt::Display for Port {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Receive => "receive",
            Self::Push => "push",
            Self::Health => "health",
            Self::Web => "web",
        })
    }
}

/// Opens a port. The unspecified IPv6 address takes IPv4 connections too, and stands for the
/// unspecified IPv4 address on a machine without IPv6.
pub(crate) fn listen(port: Port, address: SocketAddr) -> Result<TcpListener, StartError> {
    let opened = match open(address) {
        Err(error) if is_everywhere(address) && is_without_ipv6(&error) => {
            open(SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port())))
        }
        opened => opened,
    };
    opened.map_err(|error| start_error(port, address.port(), error.kind()))
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if is_everywhere(address) {
        socket.set_only_v6(false)?;
    }
    // On Unix this only skips the wait after a restart; on Windows it would let another
    // program take the port over.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn is_everywhere(address: SocketAddr) -> bool {
    address.is_ipv6() && address.ip().is_unspecified()
}

fn is_without_ipv6(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported
    ) || error.raw_os_error() == Some(ADDRESS_FAMILY_NOT_SUPPORTED)
}

/// Has no [`io::ErrorKind`] of its own.
#[cfg(target_os = "linux")]
const ADDRESS_FAMILY_NOT_SUPPORTED: i32 = 97;
#[cfg(windows)]
const ADDRESS_FAMILY_NOT_SUPPORTED: i32 = 10_047;
#[cfg(not(any(target_os = "linux", windows)))]
const ADDRESS_FAMILY_NOT_SUPPORTED: i32 = 47;

fn start_error(port: Port, number: u16, kind: io::ErrorKind) -> StartError {
    match kind {
        io::ErrorKind::AddrInUse => StartError::PortInUse { port, number },
        io::ErrorKind::PermissionDenied => StartError::PortForbidden { port, number },
        io::ErrorKind::AddrNotAvailable => StartError::AddressUnavailable { port },
        kind => StartError::Listen { port, kind },
    }
}

/// The port a listener got.
pub(crate) fn number_of(port: Port, listener: &TcpListener) -> Result<u16, StartError> {
    let address = listener.local_addr();
    address
        .map(|address| address.port())
        .map_err(|error| StartError::Listen {
            port,
            kind: error.kind(),
        })
}

/// Accepts the connections of one port.
pub(crate) struct Acceptor {
    listener: TcpListener,
    warned_at: Option<Instant>,
}

impl Acceptor {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            warned_at: None,
        }
    }

    /// The next connection, however many attempts fail before: a relay that is out of file
    /// descriptors serves again as soon as one is free.
    pub(crate) async fn accept(&mut self) -> TcpStream {
        // The address of the peer ends here.
        self.accept_with_address().await.0
    }

    /// The same, with the address of the peer: the web door keeps rates on it, in memory.
    pub(crate) async fn accept_with_address(&mut self) -> (TcpStream, IpAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => return (stream, peer.ip()),
                Err(error) if is_of_one_connection(error.kind()) => {}
                Err(error) => {
                    if self.is_worth_a_warning(Instant::now()) {
                        let kind = error.kind();
                        tracing::warn!(%kind, "connections can't be accepted for now");
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// A relay at the edge of its file descriptors accepts one and fails at the next, for hours.
    fn is_worth_a_warning(&mut self, now: Instant) -> bool {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < WARNING_INTERVAL;
        if self.warned_at.is_some_and(is_recent) {
            return false;
        }
        self.warned_at = Some(now);
        true
    }
}

fn is_of_one_connection(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        kind,
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::everywhere;

    #[tokio::test]
    async fn one_port_takes_both_families() {
        let listener = listen(Port::Push, everywhere(0)).unwrap();
        let number = number_of(Port::Push, &listener).unwrap();
        for host in ["127.0.0.1", "::1"] {
            let connected = TcpStream::connect((host, number)).await;
            let is_missing = host == "::1" && std::fs::read("/proc/net/if_inet6").is_err();
            assert!(connected.is_ok() || is_missing, "{host}");
        }
    }

    #[tokio::test]
    async fn a_port_in_use_is_named() {
        let first = listen(Port::Receive, everywhere(0)).unwrap();
        let number = number_of(Port::Receive, &first).unwrap();
        for address in [
            everywhere(number),
            SocketAddr::from(([127, 0, 0, 1], number)),
        ] {
            let error = listen(Port::Push, address).unwrap_err();
            assert_eq!(
                error,
                StartError::PortInUse {
                    port: Port::Push,
                    number
                }
            );
        }
    }

    #[tokio::test]
    async fn a_port_that_fails_now_and_again_warns_once_a_minute() {
        let mut acceptor = Acceptor::new(listen(Port::Push, everywhere(0)).unwrap());
        let start = Instant::now();
        let warnings = (0..180)
            .filter(|second| acceptor.is_worth_a_warning(start + Duration::from_secs(*second)));
        assert_eq!(warnings.collect::<Vec<_>>(), [0, 60, 120]);
    }

    #[tokio::test]
    async fn an_address_of_another_machine_is_told() {
        let error = listen(Port::Push, "192.0.2.1:0".parse().unwrap()).unwrap_err();
        assert_eq!(error, StartError::AddressUnavailable { port: Port::Push });
    }
}
