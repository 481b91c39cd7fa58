//! The one way from a relay address to a socket.
//!
//! Looks the host up, tries all its addresses, a new one a quarter of a second after the one
//! before, and takes the first that answers. Tells apart a name that isn't found, a computer
//! that refuses, and silence. Notices when the way to the other side has changed.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::timing::{DIAL_ADDRESSES_MAX, LOOK_AT_WAY, Timing};
use crate::core::status::ConnectFailure;

/// A connection that was dialled.
pub(crate) struct Line {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) way: Option<Way>,
}

impl Line {
    fn new(stream: TcpStream) -> Self {
        let way = Way::of(&stream);
        let (reader, writer) = stream.into_split();
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
            way,
        }
    }
}

/// From which address of this computer a connection goes to which one of the other.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    from: SocketAddr,
    to: SocketAddr,
}

impl Way {
    /// The way of a connection; `None` where the system would choose another one even now, so
    /// that a change of it couldn't be told.
    pub(crate) fn of(stream: &TcpStream) -> Option<Self> {
        let (from, to) = (stream.local_addr().ok()?, stream.peer_addr().ok()?);
        let way = Self { from, to };
        (!way.has_moved()).then_some(way)
    }

    /// One that the system wouldn't take.
    #[cfg(test)]
    pub(crate) fn moved() -> Self {
        let (from, to) = ([127, 0, 0, 2], [127, 0, 0, 1]);
        Self {
            from: (from, 1).into(),
            to: (to, 1).into(),
        }
    }

    /// Whether the system would now go from another address: the network has changed, and the
    /// connection is dead without anybody saying so. Nothing is sent. A network that is gone
    /// says nothing: it may come back as it was.
    pub(crate) fn has_moved(self) -> bool {
        let any: SocketAddr = match self.to {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let chosen = UdpSocket::bind(any).and_then(|socket| {
            socket.connect(self.to)?;
            socket.local_addr()
        });
        chosen.is_ok_and(|chosen| chosen.ip() != self.from.ip())
    }
}

/// Ends once the network has changed under a session.
pub(crate) async fn moved(way: Option<Way>) {
    let Some(way) = way else {
        return std::future::pending().await;
    };
    // Never at once: a network that goes to and fro must not be called all the time.
    sleep(LOOK_AT_WAY).await;
    while !way.has_moved() {
        sleep(LOOK_AT_WAY).await;
    }
    tracing::debug!("the network changed");
}

/// What makes connections: the network, or what a test plays.
#[derive(Clone)]
pub(crate) enum Dialler {
    /// The network.
    Network,
    /// A test.
    #[cfg(test)]
    Played(std::sync::Arc<dyn Fn() -> Result<Line, ConnectFailure> + Send + Sync>),
}

impl Dialler {
    /// Connects to `port` of `host`.
    pub(crate) async fn dial(
        &self,
        timing: &Timing,
        host: &str,
        port: u16,
    ) -> Result<Line, ConnectFailure> {
        match self {
            Self::Network => dial(timing, host, port).await.map(Line::new),
            #[cfg(test)]
            Self::Played(play) => play(),
        }
    }
}

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
    first_by(addresses, stagger, TcpStream::connect).await
}

async fn first_by<T, F>(
    addresses: Vec<SocketAddr>,
    stagger: Duration,
    connect: impl Fn(SocketAddr) -> F,
) -> Result<T, ConnectFailure>
where
    T: Send + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    let mut tries = JoinSet::new();
    for (place, address) in (0_u32..).zip(addresses) {
        let connected = connect(address);
        tries.spawn(async move {
            sleep(stagger.saturating_mul(place)).await;
            connected.await
        });
    }
    let mut failure = ConnectFailure::NoAnswer;
    while let Some(tried) = tries.join_next().await {
        match tried {
            Ok(Ok(reached)) => return Ok(reached),
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

    #[tokio::test(start_paused = true)]
    async fn addresses_are_tried_one_after_another_and_silence_holds_none_up() {
        let mut tried = Vec::new();
        let begun = tokio::time::Instant::now();
        let stagger = Timing::default().dial_stagger;
        let (told, mut tries) = tokio::sync::mpsc::unbounded_channel();
        let addresses: Vec<SocketAddr> =
            (1..=4).map(|last| ([127, 0, 0, last], 1).into()).collect();
        let connect = move |address: SocketAddr| {
            let told = told.clone();
            async move {
                told.send((address, begun.elapsed())).unwrap();
                // All but the last are silent.
                if address.ip() != std::net::IpAddr::from([127, 0, 0, 4]) {
                    std::future::pending::<()>().await;
                }
                Ok(address)
            }
        };
        let reached = first_by(addresses.clone(), stagger, connect).await;
        assert_eq!(reached, Ok(addresses[3]));
        while let Ok(one) = tries.try_recv() {
            tried.push(one);
        }
        let expected: Vec<_> = addresses
            .into_iter()
            .zip(0_u32..)
            .map(|(address, place)| (address, stagger * place))
            .collect();
        assert_eq!(tried, expected);
    }

    #[tokio::test]
    async fn a_connection_knows_when_the_system_would_go_from_elsewhere() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = listener.local_addr().unwrap();
        let stream = TcpStream::connect(to).await.unwrap();
        let way = Way::of(&stream).unwrap();
        assert!(!way.has_moved());
        let from = SocketAddr::from(([127, 0, 0, 2], 1));
        assert!(Way { from, ..way }.has_moved());
        // One that chose its address itself is never said to have moved.
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((([127, 0, 0, 2]), 0).into()).unwrap();
        let bound = socket.connect(to).await.unwrap();
        assert!(Way::of(&bound).is_none());
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
        // The other family, and a network that can't be reached.
        let closed_6 = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), closed.port());
        let nowhere = SocketAddr::new(Ipv4Addr::BROADCAST.into(), closed.port());
        for first in [closed_6, nowhere] {
            first_of(vec![first, good], Duration::ZERO).await.unwrap();
        }
        assert_eq!(
            first_of(vec![closed], Duration::ZERO).await.unwrap_err(),
            ConnectFailure::Refused
        );
    }
}
