//! The health endpoint: whether this relay serves, and which Transport Version it speaks.
//!
//! Owns: `/healthz` (specification 2.10), answered only after the store has read something.
//! Never does: say anything about a device, an inbox or a connection.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use sealpost_protocol::version::Unsupported;
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};

use crate::listener::accept;
use crate::store::InboxStore;

#[derive(Clone)]
struct Health {
    store: Arc<dyn InboxStore>,
    dev_mode: bool,
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
    store: Arc<dyn InboxStore>,
    dev_mode: bool,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let health = Health { store, dev_mode };
    let router = Router::new()
        .route("/healthz", get(report))
        .with_state(health);
    let server = axum::serve(HealthListener(listener), router).with_graceful_shutdown(stop);
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

/// Accepts as the other ports do, and knows no peer.
struct HealthListener(TcpListener);

impl axum::serve::Listener for HealthListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        (accept(&self.0).await, NO_ADDRESS)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(NO_ADDRESS)
    }
}

/// Stands where the framework wants an address.
const NO_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
