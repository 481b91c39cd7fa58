//! The native door: Push Sessions and Receive Sessions over Noise (specification 2).
//!
//! Owns: what all its sessions share, accepting connections, the caps on them, and stopping in
//! order. Never does: decode an Envelope, or keep, log or compare a peer's address.
//!
//! Invariants:
//! - at most `connections_max` connections per port and `receive_sessions_per_key_max` Receive
//!   Sessions per device;
//! - pushes that are queued for a commit hold a bounded number of bytes, over all sessions,
//!   those that have ended included.

mod ending;
mod greeting;
mod push;
mod receive;
mod record_reader;
mod session_count;
mod wire;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::ending::Ending;
use self::session_count::SessionCount;
use crate::clock::Clock;
use crate::limits::{PushRates, SessionLimits};
use crate::listener::Acceptor;
use crate::metrics::DoorMetrics;
use crate::store::InboxStore;

/// Bytes of all pushes that are queued for a commit. A session that would go over it waits before
/// it reads on.
const PUSH_BYTES_IN_PROGRESS_MAX: usize = 32 * 1_024 * 1_024;

/// How long sessions get to notice that they are cancelled.
const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// What the sessions of the native door share.
pub(crate) struct NativeDoor {
    key: NoiseSecret,
    store: Arc<dyn InboxStore>,
    clock: Arc<dyn Clock>,
    limits: SessionLimits,
    rates: Mutex<PushRates>,
    push_room: Arc<Semaphore>,
    receive_sessions: SessionCount,
    metrics: DoorMetrics,
    /// Only names connections in the log.
    connection_number: AtomicU64,
    stops: Stops,
    push_tasks: TaskTracker,
    receive_tasks: TaskTracker,
}

/// The steps of stopping (specification 2.10).
struct Stops {
    /// No new connections.
    accepting: CancellationToken,
    /// No new pushes; those read are still committed and answered.
    pushing: CancellationToken,
    /// Nothing at all.
    everything: CancellationToken,
}

/// Which sessions a port serves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SessionKind {
    Push,
    Receive,
}

impl NativeDoor {
    pub(crate) fn new(
        key: NoiseSecret,
        store: Arc<dyn InboxStore>,
        clock: Arc<dyn Clock>,
        limits: SessionLimits,
    ) -> Arc<Self> {
        let stop = CancellationToken::new;
        Arc::new(Self {
            key,
            store,
            clock,
            limits,
            rates: Mutex::new(PushRates::new(limits.push_rate)),
            push_room: Arc::new(Semaphore::new(PUSH_BYTES_IN_PROGRESS_MAX)),
            receive_sessions: SessionCount::new(limits.receive_sessions_per_key_max),
            metrics: DoorMetrics::default(),
            connection_number: AtomicU64::new(0),
            stops: Stops {
                accepting: stop(),
                pushing: stop(),
                everything: stop(),
            },
            push_tasks: TaskTracker::new(),
            receive_tasks: TaskTracker::new(),
        })
    }

    /// Serves a port until the relay stops.
    pub(crate) fn serve(self: &Arc<Self>, kind: SessionKind, listener: TcpListener) {
        let door = Arc::clone(self);
        let tasks = match kind {
            SessionKind::Push => &self.push_tasks,
            SessionKind::Receive => &self.receive_tasks,
        };
        let sessions = tasks.clone();
        tasks.spawn(async move {
            let stopping = door.stops.accepting.clone();
            tokio::select! {
                () = stopping.cancelled() => {}
                () = door.accept_sessions(kind, Acceptor::new(listener), &sessions) => {}
            }
        });
    }

    async fn accept_sessions(
        self: &Arc<Self>,
        kind: SessionKind,
        mut acceptor: Acceptor,
        sessions: &TaskTracker,
    ) {
        let places = Arc::new(Semaphore::new(self.limits.connections_max));
        loop {
            let stream = acceptor.accept().await;
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                // Over the cap: the connection is closed and nothing is said.
                self.metrics.turn_away(kind);
                continue;
            };
            let door = Arc::clone(self);
            sessions.spawn(async move {
                let connection = Connection::enter(&door, kind);
                let ending = connection.run(&stream).await;
                door.metrics.close(kind, (&ending).into());
                tracing::debug!(conn = connection.number, %ending, "connection closed");
                drop(place);
            });
        }
    }

    /// Stops in the order of specification 2.10, but for the store.
    pub(crate) async fn stop(&self, drain: Duration) {
        self.stops.accepting.cancel();
        self.stops.pushing.cancel();
        self.push_tasks.close();
        self.receive_tasks.close();
        // What isn't answered by then is stored all the same, and pushed again by its sender.
        let _ = tokio::time::timeout(drain, self.push_tasks.wait()).await;
        self.cancel();
        let rest = async {
            self.push_tasks.wait().await;
            self.receive_tasks.wait().await;
        };
        let _ = tokio::time::timeout(CANCEL_GRACE, rest).await;
    }

    /// Ends everything at once.
    pub(crate) fn cancel(&self) {
        self.stops.accepting.cancel();
        self.stops.pushing.cancel();
        self.stops.everything.cancel();
    }

    /// Connections that are open on both ports.
    pub(crate) fn connections(&self) -> u64 {
        self.metrics.connections()
    }

    /// What was counted so far.
    pub(crate) fn metrics(&self) -> &DoorMetrics {
        &self.metrics
    }

    /// Receive Sessions past their handshake.
    pub(crate) fn receive_sessions(&self) -> u64 {
        self.receive_sessions.total()
    }

    /// Forgets the rates of recipients that have been silent.
    pub(crate) fn sweep(&self) {
        let now_ms = self.clock.now_ms();
        self.rates
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .sweep(now_ms);
    }

    fn take_push_token(&self, recipient: NoisePublic, now_ms: u64) -> bool {
        self.rates
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(recipient, now_ms)
    }
}

/// One connection, counted for as long as it lives.
struct Connection<'a> {
    door: &'a NativeDoor,
    kind: SessionKind,
    /// Names the connection in the log; nothing else does.
    number: u64,
}

impl<'a> Connection<'a> {
    fn enter(door: &'a NativeDoor, kind: SessionKind) -> Self {
        door.metrics.enter(kind);
        let number = door.connection_number.fetch_add(1, Ordering::Relaxed);
        Self { door, kind, number }
    }

    /// Runs the session until it ends or the relay stops. Small writes are answers that
    /// somebody waits for, so they aren't held back.
    async fn run(&self, stream: &TcpStream) -> Ending {
        if stream.set_nodelay(true).is_err() {
            return Ending::Disconnected;
        }
        // Boxed one by one: in one future, a session that idles for days would take the room of
        // the larger one that lives for seconds.
        let session: Pin<Box<dyn Future<Output = Ending> + Send + '_>> = match self.kind {
            SessionKind::Push => Box::pin(push::serve(self.door, stream)),
            SessionKind::Receive => Box::pin(receive::serve(self.door, stream)),
        };
        tokio::select! {
            ending = session => ending,
            () = self.door.stops.everything.cancelled() => Ending::Stopping,
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.door.metrics.leave(self.kind);
    }
}

/// Runs a handshake against its deadline; a stopping relay doesn't wait for one.
async fn before_deadline<T>(
    door: &NativeDoor,
    handshake: impl Future<Output = Result<T, Ending>>,
) -> Result<T, Ending> {
    tokio::select! {
        done = tokio::time::timeout(door.limits.handshake, handshake) => {
            done.unwrap_or(Err(Ending::HandshakeDeadline))
        }
        () = door.stops.pushing.cancelled() => Err(Ending::Stopping),
    }
}
