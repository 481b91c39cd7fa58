//! A relay inside a process: starting it, asking it, stopping it.
//!
//! Owns: the order of both. Starting opens the ports first and the store second, so that a
//! port in use is told before anything on disk is touched; stopping follows the four steps of
//! specification 2.10.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sealpost_protocol::address::{AddressError, RelayAddress};
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::config::{Config, WebConfig};
use crate::doors::native::{NativeDoor, SessionKind};
use crate::doors::web::{OpenDoor, WebPort};
use crate::doors::wormhole::Wormholes;
use crate::health::{self, Health};
use crate::in_process::Mailboxes;
use crate::limits::HealthLimits;
use crate::listener::{Port, listen, number_of};
use crate::metrics::{Source, WebMetrics};
use crate::start_error::StartError;
use crate::store::{
    InboxStore, MailboxStore, SqliteStore, StoreOpenError, StoreSettings, WriterPace,
};

/// A running relay. Dropping it ends it at once; [`Relay::stop`] ends it in order.
pub struct Relay {
    public_key: NoisePublic,
    ports: Ports,
    drain: Duration,
    door: Arc<NativeDoor>,
    store: Arc<dyn InboxStore>,
    mailboxes: Mailboxes,
    wormholes: Wormholes,
    web: Mutex<Option<OpenDoor>>,
    web_metrics: Arc<WebMetrics>,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
    /// Cancelled when the store writes no more.
    ended: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

/// The ports a relay got.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ports {
    /// Where Receive Sessions arrive.
    pub receive: u16,
    /// Where Push Sessions arrive.
    pub push: u16,
    /// Where `/healthz` and `/metrics` answer, if anywhere.
    pub health: Option<u16>,
    /// Where phones and browsers arrive, while that is open.
    pub web: Option<u16>,
}

/// What a relay holds and does, in numbers that name nobody.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Numbers {
    /// Open connections on the receive and push ports.
    pub connections: u64,
    /// Devices that are connected to receive, once per session.
    pub receive_sessions: u64,
    /// Blobs that wait.
    pub blobs: u64,
    /// Bytes of their Envelopes.
    pub bytes: u64,
    /// Inboxes in which something waits.
    pub inboxes: u64,
    /// When the first of the inboxes' oldest blobs expires, in Unix milliseconds. When it
    /// arrived isn't stored, and can't be told from this once the lifetime has been changed.
    pub first_expiry_ms: Option<u64>,
    /// Open connections on the web port.
    pub web_connections: u64,
    /// Mailboxes of links.
    pub mailboxes: u64,
    /// Envelopes that wait in them.
    pub mailbox_envelopes: u64,
    /// Bytes of those.
    pub mailbox_bytes: u64,
    /// Watches of them.
    pub watches: u64,
    /// Wormhole mailboxes.
    pub wormhole_mailboxes: u64,
    /// Messages that wait in them.
    pub wormhole_messages: u64,
    /// Bytes of those.
    pub wormhole_bytes: u64,
    /// Connections that have one of them open.
    pub wormhole_openings: u64,
}

/// How often the rates of silent recipients are forgotten.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The pause between two shares of expired blobs, for pushes to come through.
const REAP_PAUSE: Duration = Duration::from_millis(20);

impl Relay {
    /// Starts a relay and returns once it listens.
    ///
    /// # Errors
    ///
    /// Tells which port can't be opened, or why the store can't. Nothing is left running.
    pub async fn start(
        config: Config,
        key: NoiseSecret,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        Self::open(config, key, clock)
            .await
            .inspect_err(|error| tracing::error!(%error, "relay not started"))
    }

    async fn open(
        config: Config,
        key: NoiseSecret,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        config.check()?;
        let listeners = Listeners::open(&config)?;
        let ports = listeners.ports()?;
        let public_key = key.public();
        let store = open_store(&config).await?;
        let (commits, ended) = (store.metrics(), store.ended());
        let store = Arc::new(store);
        let mailbox_store: Arc<dyn MailboxStore> = Arc::<SqliteStore>::clone(&store);
        let mailboxes = Mailboxes::new(mailbox_store, Arc::clone(&clock), config.mailboxes);
        let wormholes = Wormholes::new(Arc::clone(&store), Arc::clone(&clock));
        let store: Arc<dyn InboxStore> = store;
        let web_metrics = Arc::<WebMetrics>::default();
        let started_at_ms = clock.now_ms();
        let door = NativeDoor::new(key, Arc::clone(&store), Arc::clone(&clock), config.sessions);
        let stop = CancellationToken::new();
        let (reaped, interval) = (Arc::clone(&store), config.reap_interval);
        let reaper = reap(reaped, mailboxes.clone(), Arc::clone(&clock), interval);
        let mut tasks = vec![
            spawn_until(&stop, reaper),
            spawn_until(&stop, sweep(Arc::clone(&door))),
        ];
        if let Some(listener) = listeners.health {
            let stopped = stop.clone().cancelled_owned();
            let source = Source {
                door: Arc::clone(&door),
                store: Arc::clone(&store),
                mailboxes: mailboxes.clone(),
                wormholes: wormholes.counter(),
                web: Arc::clone(&web_metrics),
                commits,
                store_path: config.store_path,
                started_at_ms,
            };
            let health = Health {
                store: Arc::clone(&store),
                metrics: Arc::new(source),
                dev_mode: config.dev_mode,
            };
            let serving = health::serve(listener, health, HealthLimits::default(), stopped);
            tasks.push(tokio::spawn(serving));
        }
        let web = listeners.web.map(|port| {
            let doors = (mailboxes.clone(), wormholes.clone());
            OpenDoor::serve(port, doors, Arc::clone(&clock), Arc::clone(&web_metrics))
        });
        door.serve(SessionKind::Receive, listeners.receive);
        door.serve(SessionKind::Push, listeners.push);
        tracing::info!("relay started");
        let drain = config.shutdown_drain;
        Ok(Self {
            public_key,
            ports,
            drain,
            door,
            store,
            mailboxes,
            wormholes,
            web: Mutex::new(web),
            web_metrics,
            clock,
            stop,
            ended,
            tasks,
        })
    }

    /// The ports it listens on.
    pub fn ports(&self) -> Ports {
        let web = self.web().as_ref().map(OpenDoor::port);
        Ports { web, ..self.ports }
    }

    /// The mailboxes of links, for this process. They work while no web port is open, and
    /// whatever comes from here counts as local.
    pub fn mailboxes(&self) -> Mailboxes {
        self.mailboxes.clone()
    }

    /// Opens the web port and tells its number. Inside an app, claim the mailboxes of all known
    /// links first: a phone that comes earlier would take its link for lost (amendment 16).
    ///
    /// # Errors
    ///
    /// Tells why it can't be opened, or that it is open.
    pub fn open_web(&self, config: WebConfig) -> Result<u16, StartError> {
        let mut web = self.web();
        if web.is_some() {
            return Err(StartError::WebOpen);
        }
        let clock = Arc::clone(&self.clock);
        let doors = (self.mailboxes.clone(), self.wormholes.clone());
        let metrics = Arc::clone(&self.web_metrics);
        let opened = WebPort::open(config);
        let opened = opened.inspect_err(|error| tracing::warn!(%error, "web port not opened"))?;
        let open = OpenDoor::serve(opened, doors, clock, metrics);
        let port = open.port();
        *web = Some(open);
        tracing::info!("web port opened");
        Ok(port)
    }

    /// Closes the web port; nothing happens if it isn't open. Requests in progress are
    /// answered, watches are told that the relay goes away.
    pub async fn close_web(&self) {
        let open = self.web().take();
        if let Some(open) = open {
            open.close().await;
            tracing::info!("web port closed");
        }
    }

    fn web(&self) -> std::sync::MutexGuard<'_, Option<OpenDoor>> {
        self.web.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key that devices know it by.
    pub fn public_key(&self) -> NoisePublic {
        self.public_key
    }

    /// What it holds at this moment.
    pub fn numbers(&self) -> Numbers {
        let sums = self.store.sums();
        let (mailboxes, watches) = self.mailboxes.sums();
        let (wormholes, wormhole_openings) = self.wormholes.sums();
        Numbers {
            connections: self.door.connections(),
            receive_sessions: self.door.receive_sessions(),
            blobs: sums.blobs,
            bytes: sums.bytes,
            inboxes: sums.inboxes,
            first_expiry_ms: self.store.first_expiry_ms(),
            web_connections: self.web_metrics.open(),
            mailboxes: mailboxes.mailboxes,
            mailbox_envelopes: mailboxes.envelopes,
            mailbox_bytes: mailboxes.bytes,
            watches,
            wormhole_mailboxes: wormholes.mailboxes,
            wormhole_messages: wormholes.messages,
            wormhole_bytes: wormholes.bytes,
            wormhole_openings,
        }
    }

    /// Resolves when this relay can store nothing any more, for a reason that isn't a full disk
    /// and doesn't pass. Whoever runs it should stop it then and start another.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        self.ended.clone().cancelled_owned()
    }

    /// The address to give to devices, if they reach this machine as `host`.
    ///
    /// # Errors
    ///
    /// Tells what is wrong with the host.
    pub fn address(&self, host: &str) -> Result<RelayAddress, AddressError> {
        RelayAddress::new(self.public_key, host, self.ports.receive, self.ports.push)
    }

    /// Stops: no new connections, then writes in progress are committed and answered, then
    /// all sessions end, then the store is closed.
    pub async fn stop(mut self) {
        self.stop.cancel();
        self.mailboxes.end_watches();
        self.close_web().await;
        self.door.stop(self.drain).await;
        for task in self.tasks.drain(..) {
            task.abort();
            let _ = task.await;
        }
        if let Err(error) = self.store.close().await {
            tracing::error!(%error, "the store has not closed in order");
        }
        tracing::info!("relay stopped");
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.cancel();
        self.door.cancel();
        if let Some(web) = self.web().as_ref() {
            web.cancel();
        }
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Relay")
            .field("ports", &self.ports())
            .finish_non_exhaustive()
    }
}

/// The sockets of a relay that is about to start.
struct Listeners {
    receive: TcpListener,
    push: TcpListener,
    health: Option<TcpListener>,
    web: Option<WebPort>,
}

impl Listeners {
    fn open(config: &Config) -> Result<Self, StartError> {
        let health = config
            .listen_health
            .map(|address| listen(Port::Health, address));
        Ok(Self {
            receive: listen(Port::Receive, config.listen_receive)?,
            push: listen(Port::Push, config.listen_push)?,
            health: health.transpose()?,
            web: config.web.clone().map(WebPort::open).transpose()?,
        })
    }

    fn ports(&self) -> Result<Ports, StartError> {
        let health = self
            .health
            .as_ref()
            .map(|listener| number_of(Port::Health, listener));
        Ok(Ports {
            receive: number_of(Port::Receive, &self.receive)?,
            push: number_of(Port::Push, &self.push)?,
            health: health.transpose()?,
            web: None,
        })
    }
}

async fn open_store(config: &Config) -> Result<SqliteStore, StoreOpenError> {
    let path = config.store_path.clone();
    let settings = StoreSettings {
        limits: config.store,
        life_ms: config.life_ms,
        pace: WriterPace::default(),
    };
    let reset = config.reset_store;
    let opening = tokio::task::spawn_blocking(move || SqliteStore::open(&path, settings, reset));
    opening.await.unwrap_or(Err(StoreOpenError::Panicked))
}

fn spawn_until(
    stop: &CancellationToken,
    work: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    let stop = stop.clone();
    tokio::spawn(async move {
        let _ = stop.run_until_cancelled(work).await;
    })
}

/// Deletes what has expired, at start and then at every interval.
async fn reap(
    store: Arc<dyn InboxStore>,
    mailboxes: Mailboxes,
    clock: Arc<dyn Clock>,
    interval: Duration,
) {
    loop {
        mailboxes.expire();
        while store.expire(clock.now_ms()) {
            tokio::time::sleep(REAP_PAUSE).await;
        }
        tokio::time::sleep(interval).await;
    }
}

async fn sweep(door: Arc<NativeDoor>) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        door.sweep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[tokio::test]
    async fn a_relay_whose_store_writes_no_more_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let anywhere = "127.0.0.1:0".parse().unwrap();
        let config = Config {
            listen_receive: anywhere,
            listen_push: anywhere,
            listen_health: None,
            store_path: folder.path().join("inbox.db"),
            ..Config::default()
        };
        let key = NoiseSecret::from_bytes([7; 32]);
        let relay = Relay::start(config, key, Arc::new(SystemClock));
        let relay = relay.await.unwrap();
        let mut ended = Box::pin(relay.ended());
        let now = std::future::poll_fn(|context| {
            std::task::Poll::Ready(ended.as_mut().poll(context).is_ready())
        });
        assert!(!now.await, "a running relay has not ended");
        relay.store.close().await.unwrap();
        ended.await;
        relay.stop().await;
    }
}
