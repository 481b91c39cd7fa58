//! The health endpoint: whether this relay serves, which Transport Version it speaks, and what
//! it has counted.
//!
//! Owns: `/healthz` (specification 2.10), answered only after the store has read something, and
//! `/metrics`.
//! Never does: say anything about a device, an inbox or a connection.
//!
//! Invariant: no more connections than [`HealthLimits`] says, each with one deadline over
//! everything that it asks, so that nobody keeps the relay from its file descriptors.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use sealpost_protocol::version::Unsupported;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

use crate::limits::HealthLimits;
use crate::listener::Acceptor;
use crate::metrics;
use crate::store::InboxStore;

/// What the endpoint answers from.
#[derive(Clone)]
pub(crate) struct Health {
    pub(crate) store: Arc<dyn InboxStore>,
    pub(crate) metrics: Arc<metrics::Source>,
    pub(crate) dev_mode: bool,
}

#[derive(Serialize)]
struct Report {
    status: &'static str,
    transport_version: Versions,
    dev_mode: bool,
}

#[derive(Serialize)]
struct Versions {
    min: u16,
    max: u16,
}

/// Serves the endpoint until `stop` is done.
pub(crate) async fn serve(
    listener: TcpListener,
    health: Health,
    limits: HealthLimits,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let router = Router::new()
        .route("/healthz", get(report))
        .route("/metrics", get(numbers))
        .with_state(health);
    let listener = HealthListener {
        acceptor: Acceptor::new(listener),
        places: Arc::new(Semaphore::new(limits.connections_max)),
        limits,
    };
    let server = axum::serve(listener, router).with_graceful_shutdown(stop);
    if let Err(error) = server.await {
        let kind = error.kind();
        tracing::warn!(%kind, "the health endpoint has ended");
    }
}

async fn report(State(health): State<Health>) -> (StatusCode, Json<Report>) {
    let (code, status) = match health.store.check().await {
        Ok(()) => (StatusCode::OK, "ok"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
    };
    let Unsupported { min, max } = Unsupported::HERE;
    let transport_version = Versions { min, max };
    (
        code,
        Json(Report {
            status,
            transport_version,
            dev_mode: health.dev_mode,
        }),
    )
}

async fn numbers(State(health): State<Health>) -> Response {
    // It asks the file system, which may keep it waiting.
    let page = tokio::task::spawn_blocking(move || health.metrics.page()).await;
    match page {
        Ok(page) => ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], page).into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Accepts as the other ports do, and knows no peer. Over the cap, connections wait for their
/// turn, which comes within a deadline.
struct HealthListener {
    acceptor: Acceptor,
    places: Arc<Semaphore>,
    limits: HealthLimits,
}

impl axum::serve::Listener for HealthListener {
    type Io = HealthStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HealthStream, SocketAddr) {
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let stream = HealthStream {
            stream: self.acceptor.accept().await,
            deadline: Box::pin(sleep(self.limits.deadline)),
            _place: place,
        };
        (stream, NO_ADDRESS)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(NO_ADDRESS)
    }
}

/// Stands where the framework wants an address.
const NO_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// A connection that fails once its time is over.
struct HealthStream {
    stream: TcpStream,
    deadline: Pin<Box<Sleep>>,
    /// None only where the places are closed, which nobody does.
    _place: Option<OwnedSemaphorePermit>,
}

impl HealthStream {
    /// Runs `step` unless the time is over, and is woken when it is.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        step: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match self.deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => step(Pin::new(&mut self.stream), context),
        }
    }
}

impl AsyncRead for HealthStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.in_time(context, |stream, context| stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for HealthStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(context, |stream, context| stream.poll_shutdown(context))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use sealpost_protocol::key::NoiseSecret;

    use crate::clock::SystemClock;
    use crate::config::everywhere;
    use crate::doors::native::NativeDoor;
    use crate::in_process::Mailboxes;
    use crate::limits::{MailboxLimits, SessionLimits, StoreLimits};
    use crate::listener::{Port, listen, number_of};
    use crate::store::{MemoryStore, StoreSettings, WriterPace};

    fn start(limits: HealthLimits) -> u16 {
        let settings = StoreSettings {
            limits: StoreLimits::default(),
            life_ms: 1_000,
            pace: WriterPace::default(),
        };
        let listener = listen(Port::Health, everywhere(0)).unwrap();
        let port = number_of(Port::Health, &listener).unwrap();
        let store = Arc::new(MemoryStore::new(settings));
        let mailboxes = Mailboxes::new(
            Arc::<MemoryStore>::clone(&store),
            Arc::new(SystemClock),
            MailboxLimits::default(),
        );
        let store: Arc<dyn InboxStore> = store;
        let key = NoiseSecret::from_bytes([1; 32]);
        let clock = Arc::new(SystemClock);
        let door = NativeDoor::new(key, Arc::clone(&store), clock, SessionLimits::default());
        let metrics = metrics::Source {
            door,
            store: Arc::clone(&store),
            mailboxes,
            wormholes: Box::new(Default::default),
            web: Arc::default(),
            commits: Arc::default(),
            store_path: "nowhere".into(),
            started_at_ms: 0,
        };
        let health = Health {
            store,
            metrics: Arc::new(metrics),
            dev_mode: false,
        };
        let stop = std::future::pending();
        tokio::spawn(serve(listener, health, limits, stop));
        port
    }

    async fn connect(port: u16) -> TcpStream {
        TcpStream::connect(("127.0.0.1", port)).await.unwrap()
    }

    async fn ask(stream: &mut TcpStream) -> String {
        let request = b"GET /healthz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n";
        let mut answer = String::new();
        // A connection whose time is over may end in any way.
        if stream.write_all(request).await.is_ok() {
            let _ = stream.read_to_string(&mut answer).await;
        }
        answer
    }

    #[tokio::test]
    async fn whoever_says_nothing_or_only_half_of_it_loses_the_place_in_time() {
        let port = start(HealthLimits {
            connections_max: 3,
            deadline: Duration::from_millis(50),
        });
        let mut crowd = Vec::new();
        for said in [
            "",
            "GET /heal",
            "GET /healthz HTTP/1.1\r\nHost: relay\r\n\r\n",
        ] {
            let mut stream = connect(port).await;
            stream.write_all(said.as_bytes()).await.unwrap();
            crowd.push(stream);
        }
        // Nobody leaves of themselves. On a busy machine one who comes late may be too slow
        // for the deadline, too, and asks again.
        let served = async {
            while !ask(&mut connect(port).await)
                .await
                .starts_with("HTTP/1.1 200 ")
            {}
        };
        let served = tokio::time::timeout(Duration::from_secs(30), served).await;
        assert!(served.is_ok(), "the places stay taken");
        for mut stream in crowd {
            // However it ends, it ends.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    }

    #[tokio::test]
    async fn connections_over_the_cap_wait_for_their_turn() {
        let port = start(HealthLimits {
            connections_max: 1,
            deadline: Duration::from_secs(3_600),
        });
        let first = connect(port).await;
        let mut second = connect(port).await;
        let mut asking = Box::pin(ask(&mut second));
        let early = tokio::time::timeout(Duration::from_millis(50), &mut asking).await;
        assert!(early.is_err(), "the only place is taken");
        drop(first);
        assert!(asking.await.starts_with("HTTP/1.1 200 "));
    }
}
