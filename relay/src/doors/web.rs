//! The web door: one port for phones and browsers, HTTP or HTTPS.
//!
//! Owns: connections and how long they may take, the checks that every request passes first
//! (host, origin, rate), and who answers which path: `/v1/…` is the door of links, `/p` the
//! phone's page; exactly `/` and `/v1` belong to wormholes (amendment 22). Never does: log or
//! store an address, a path or a header.
//!
//! Invariants:
//! - a connection that says nothing, says it slowly or doesn't read ends in time, and holds
//!   nobody else up;
//! - addresses are in [`addresses`] and in memory only.

mod addresses;
mod body;
mod host;
mod stream;
mod tls;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderName, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use self::addresses::{AddressPlace, Addresses};
pub(super) use self::body::{BodyError, RequestBody};
use self::host::{From, Names, Stranger};
pub(super) use self::stream::Deadline;
use self::stream::{TimedStream, WebStream};
use self::tls::Tls;
use super::link::{self, EXPOSED, Problem};
use super::page;
use super::wormhole::{self, Wormholes};
use crate::clock::Clock;
use crate::config::{Claims, WebConfig};
use crate::in_process::Mailboxes;
use crate::limits::WebLimits;
use crate::listener::{Acceptor, Port, listen, number_of};
use crate::metrics::WebMetrics;
use crate::start_error::StartError;

pub use host::Authority;
pub use tls::{CertificateError, check_certificate};

/// Bytes of a request's header block.
const HEADER_BYTES_MAX: usize = 16 * 1_024;

/// Headers of a request.
const HEADERS_MAX: usize = 64;

/// How long requests in progress and watches get to end when the door closes.
const CLOSE_GRACE: std::time::Duration = std::time::Duration::from_secs(2);

/// How often the rates of silent addresses are forgotten.
const SWEEP_INTERVAL: std::time::Duration = std::time::Duration::from_secs(60);

/// What all connections of one open web port share.
pub(crate) struct WebDoor {
    mailboxes: Mailboxes,
    wormholes: Wormholes,
    clock: Arc<dyn Clock>,
    config: WebConfig,
    names: Names,
    addresses: Addresses,
    tls: Option<Tls>,
    metrics: Arc<WebMetrics>,
    stopping: CancellationToken,
    tasks: TaskTracker,
}

/// A request, as everybody who answers it needs it.
pub(super) struct Asked {
    /// Who asks.
    pub(super) address: IpAddr,
    /// The other end of the connection, which may be a proxy.
    pub(super) peer: SocketAddr,
    /// When.
    pub(super) at_ms: u64,
    /// Until when its connection lives.
    pub(super) deadline: Deadline,
}

/// A web port that is open and not served yet.
pub(crate) struct WebPort {
    listener: TcpListener,
    number: u16,
    tls: Option<Tls>,
    config: WebConfig,
}

impl WebPort {
    /// Everything about a web port that can fail.
    pub(crate) fn open(config: WebConfig) -> Result<Self, StartError> {
        config.check()?;
        let tls = config.tls.clone().map(Tls::open).transpose()?;
        let listener = listen(Port::Web, config.listen)?;
        let number = number_of(Port::Web, &listener)?;
        Ok(Self {
            listener,
            number,
            tls,
            config,
        })
    }
}

/// A web port that is served.
pub(crate) struct OpenDoor {
    door: Arc<WebDoor>,
    port: u16,
}

impl OpenDoor {
    /// Serves a port until it is closed.
    pub(crate) fn serve(
        port: WebPort,
        (mailboxes, wormholes): (Mailboxes, Wormholes),
        clock: Arc<dyn Clock>,
        metrics: Arc<WebMetrics>,
    ) -> Self {
        let mut limits = port.config.limits;
        if port.config.behind_proxy {
            // All connections are the proxy's.
            limits.connections_per_address_max = limits.connections_max;
        }
        let door = Arc::new(WebDoor {
            mailboxes,
            wormholes,
            clock,
            names: Names::new(&port.config),
            addresses: Addresses::new(limits),
            config: port.config,
            tls: port.tls,
            metrics,
            stopping: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        let accepting = Arc::clone(&door).accept(port.listener);
        door.spawn(accepting);
        door.spawn(Arc::clone(&door).tend());
        if let Some(wormhole) = &door.config.wormhole {
            door.spawn(door.wormholes.clone().prune(wormhole.rules));
        }
        Self {
            door,
            port: port.number,
        }
    }

    /// The port's number.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Closes the port, lets requests in progress end, and tells watches that they end.
    pub(crate) async fn close(self) {
        self.door.stopping.cancel();
        self.door.tasks.close();
        let _ = timeout(CLOSE_GRACE, self.door.tasks.wait()).await;
    }

    /// Ends everything at once.
    pub(crate) fn cancel(&self) {
        self.door.stopping.cancel();
    }
}

impl WebDoor {
    pub(super) fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    pub(super) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    pub(super) fn claims(&self) -> Claims {
        self.config.claims
    }

    pub(super) fn limits(&self) -> &WebLimits {
        &self.config.limits
    }

    pub(super) fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// A watch outlives its request; closing the door waits for it.
    pub(super) fn count_watch(&self) -> TaskTrackerToken {
        self.tasks.token()
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping.clone();
        self.tasks.spawn(async move {
            let _ = stopping.run_until_cancelled(work).await;
        });
    }

    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let mut acceptor = Acceptor::new(listener);
        let places = Arc::new(Semaphore::new(self.config.limits.connections_max));
        loop {
            let (stream, address) = acceptor.accept_with_address().await;
            // Over a cap: the connection is closed and nothing is said.
            let place = Arc::clone(&places).try_acquire_owned().ok();
            let place = place.and_then(|place| Some((place, self.addresses.connect(address)?)));
            let Some(place) = place else {
                self.metrics.turn_away();
                continue;
            };
            let door = Arc::clone(&self);
            self.tasks.spawn(door.connection(stream, address, place));
        }
    }

    /// What is due now and then.
    async fn tend(self: Arc<Self>) {
        let mut since_look = std::time::Duration::ZERO;
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            self.addresses.sweep(self.now_ms());
            since_look = since_look.saturating_add(SWEEP_INTERVAL);
            if self.tls.is_some() && since_look >= tls::LOOK_INTERVAL {
                since_look = std::time::Duration::ZERO;
                let door = Arc::clone(&self);
                let renewing = move || door.tls.as_ref().map(Tls::renew);
                let _ = tokio::task::spawn_blocking(renewing).await;
            }
        }
    }

    async fn connection(
        self: Arc<Self>,
        stream: TcpStream,
        address: IpAddr,
        place: (OwnedSemaphorePermit, AddressPlace),
    ) {
        let open = self.metrics.enter();
        let limits = self.config.limits;
        let (Ok(local), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else {
            return;
        };
        if stream.set_nodelay(true).is_err() {
            return;
        }
        let stream = match &self.tls {
            None => WebStream::Plain(stream),
            Some(tls) => {
                let accepting = tls.acceptor().accept(stream);
                match timeout(limits.header_read, accepting).await {
                    Ok(Ok(stream)) => WebStream::Tls(stream),
                    Ok(Err(_)) | Err(_) => return,
                }
            }
        };
        let deadline = Deadline::new(limits.header_read);
        let stream = TimedStream::new(stream, deadline.clone(), (place, open));
        let door = Arc::clone(&self);
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (door, deadline) = (Arc::clone(&door), deadline.clone());
            async move {
                deadline.begin_body(limits.body_read);
                let at_ms = door.now_ms();
                let (parts, body) = request.into_parts();
                let body = RequestBody::new(body);
                let asked = Asked {
                    address: door.client_of(&parts.headers, address),
                    peer,
                    at_ms,
                    deadline,
                };
                let answer = door.answer(&asked, local.ip(), parts, body).await;
                asked.deadline.answered(limits.idle);
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // The stream sees to it, and doesn't count the time between two requests.
            .header_read_timeout(None)
            .max_buf_size(HEADER_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            // However it ends, there is nobody to tell.
            _ = connection.as_mut() => {}
            () = self.stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                let _ = timeout(CLOSE_GRACE, connection).await;
            }
        }
    }

    /// The address that rates are kept for: behind a proxy, the last one that it tells.
    fn client_of(&self, headers: &HeaderMap, address: IpAddr) -> IpAddr {
        let forwarded = || {
            let value = headers.get_all(FORWARDED_FOR).into_iter().next_back()?;
            let last = value.to_str().ok()?.rsplit(',').next()?;
            last.trim().parse().ok()
        };
        let forwarded = self.config.behind_proxy.then(forwarded).flatten();
        forwarded.unwrap_or(address)
    }

    async fn answer(
        &self,
        asked: &Asked,
        local: IpAddr,
        parts: Parts,
        body: RequestBody,
    ) -> Response<Body> {
        let path = parts.uri.path();
        let wormhole = self.config.wormhole.as_ref();
        let wormhole = wormhole.filter(|_| wormhole::is_path(path));
        let from = match self.names.check(&parts.headers, local) {
            // The wormhole door has its own rule for origins (amendment 22).
            Err(Stranger::OriginDenied) if wormhole.is_some_and(|one| one.any_origin) => {
                Ok(From::Here)
            }
            from => from,
        };
        let answered = match (&from, wormhole) {
            (Err(Stranger::BadHost), _) => Err(Problem::BadHost),
            (Err(Stranger::OriginDenied), _) => Err(Problem::OriginDenied),
            (Ok(_), Some(config)) => {
                let place = (&self.wormholes, config);
                Ok(wormhole::answer(self, place, asked, parts).await)
            }
            (Ok(from), None) => self.answer_known(asked, from, parts, body).await,
        };
        let mut answer = answered.unwrap_or_else(|problem| {
            if problem.is_failure() {
                self.addresses.fail(asked.address, asked.at_ms);
            }
            problem.answer()
        });
        self.metrics.answer(answer.status());
        if let Ok(From::Elsewhere(origin)) = from {
            allow_elsewhere(answer.headers_mut(), origin);
        }
        answer
    }

    /// Answers a request that calls the relay by its name and comes from where it may.
    async fn answer_known(
        &self,
        asked: &Asked,
        from: &From,
        parts: Parts,
        body: RequestBody,
    ) -> Result<Response<Body>, Problem> {
        let taken = self.addresses.take_request(asked.address, asked.at_ms);
        taken.map_err(Problem::RateLimited)?;
        let path = parts.uri.path();
        if path.starts_with(link::BASE) {
            let is_elsewhere = matches!(from, From::Elsewhere(_));
            if is_elsewhere && parts.method == Method::OPTIONS {
                return Ok(preflight());
            }
            return link::answer(self, asked, parts, body).await;
        }
        if self.config.page {
            return page::answer(&parts.method, path);
        }
        Err(Problem::NotFound)
    }
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whether a WebSocket has failed because a message was larger than it may be.
pub(super) fn is_too_large(error: &axum::Error) -> bool {
    use tokio_tungstenite::tungstenite::Error as SocketError;
    let inner = std::error::Error::source(error);
    let socket_error = inner.and_then(|inner| inner.downcast_ref::<SocketError>());
    matches!(socket_error, Some(SocketError::Capacity(_)))
}

/// Lets a page of another site read an answer.
fn allow_elsewhere(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED),
    );
    headers.insert(VARY, HeaderValue::from_static("Origin"));
}

/// What a browser asks before it lets a page of another site send a request.
fn preflight() -> Response<Body> {
    let mut answer = link::empty(StatusCode::NO_CONTENT);
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, PUT, DELETE"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type"),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}
