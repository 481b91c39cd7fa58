//! The door of wormholes: a mailbox server that existing magic-wormhole clients use unchanged
//! (specification "Mailbox server over WebSocket"; amendments 6 and 22).
//!
//! Owns: exactly `/` and `/v1` of the web port, what a connection is told first, and pruning.
//! Never does: decide about a mailbox (that is [`crate::wormhole`]), log a name, a side, a
//! message or an address.

mod incoming;
mod session;

use std::net::IpAddr;
use std::sync::Arc;

use axum::RequestPartsExt as _;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderName, SERVER};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use self::session::Session;
use super::web::{Asked, WebDoor};
use crate::clock::Clock;
use crate::config::WormholeConfig;
use crate::limits::WORMHOLE_PRUNE_INTERVAL;
use crate::store::{SqliteStore, WormholeSums};
use crate::wormhole::{Address, Rules};

/// The path of the WebSocket.
const SOCKET: &str = "/v1";

/// The name by which clients and upstream's tests know such a server.
const SERVER_NAME: &str = concat!(
    "Magic Wormhole Mailbox (Sealpost ",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// What a person sees who opens the address in a browser.
const GREETING: &str = "This is a Sealpost relay. Magic Wormhole clients connect to /v1.\n";

/// Bytes of a connection's read and write buffers; most connections are idle.
const BUFFER_BYTES: usize = 1_024;

const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
const REAL_PORT: HeaderName = HeaderName::from_static("x-real-port");

/// A relay's wormhole mailboxes, as its doors reach them.
#[derive(Clone)]
pub(crate) struct Wormholes {
    store: Arc<SqliteStore>,
    clock: Arc<dyn Clock>,
}

impl Wormholes {
    pub(crate) fn new(store: Arc<SqliteStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// What is stored, and how many connections have a mailbox open.
    pub(crate) fn sums(&self) -> (WormholeSums, u64) {
        self.store.wormhole_sums()
    }

    /// The same, for whoever asks again and again.
    pub(crate) fn counter(&self) -> Box<dyn Fn() -> (WormholeSums, u64) + Send + Sync> {
        let wormholes = self.clone();
        Box::new(move || wormholes.sums())
    }

    /// Prunes at once and then again and again.
    pub(crate) async fn prune(self, rules: Rules) {
        loop {
            // Without a clock everything would look old, or nothing.
            while self.clock.is_set() {
                let now_ms = self.clock.now_ms();
                match self.store.prune_wormholes(rules, now_ms).await {
                    Ok(true) => {}
                    Ok(false) | Err(_) => break,
                }
            }
            tokio::time::sleep(WORMHOLE_PRUNE_INTERVAL).await;
        }
    }
}

/// Whether a path is this door's.
pub(super) fn is_path(path: &str) -> bool {
    path == "/" || path == SOCKET
}

/// Answers a request for one of the door's two paths.
pub(super) async fn answer(
    door: &WebDoor,
    (wormholes, config): (&Wormholes, &WormholeConfig),
    asked: &Asked,
    parts: Parts,
) -> Response<Body> {
    let is_reading = parts.method == Method::GET || parts.method == Method::HEAD;
    let mut answer = match parts.uri.path() {
        _ if !is_reading => {
            let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "");
            let allowed = HeaderValue::from_static("GET, HEAD");
            answer.headers_mut().insert(ALLOW, allowed);
            answer
        }
        SOCKET => connect(door, (wormholes, config), asked, parts).await,
        _ => text(StatusCode::OK, GREETING),
    };
    let name = HeaderValue::from_static(SERVER_NAME);
    answer.headers_mut().insert(SERVER, name);
    answer
}

fn text(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}

async fn connect(
    door: &WebDoor,
    (wormholes, config): (&Wormholes, &WormholeConfig),
    asked: &Asked,
    mut parts: Parts,
) -> Response<Body> {
    let address = address_of(&parts.headers, asked);
    let Ok(upgrade) = parts.extract::<WebSocketUpgrade>().await else {
        return text(StatusCode::BAD_REQUEST, "A WebSocket is expected here.\n");
    };
    let frame_bytes_max = config.rules.limits.frame_bytes_max;
    let session = Session::new(wormholes.clone(), config, door.stopping());
    let welcome = config.welcome.text(Some(address), door.now_ms());
    asked.deadline.watch();
    let served = door.count_watch();
    let upgrade = upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(frame_bytes_max)
        .max_frame_size(frame_bytes_max);
    let answer = upgrade.on_upgrade(move |socket| async move {
        session.serve(socket, welcome).await;
        drop(served);
    });
    answer.map(Body::new)
}

/// Where a client is. A proxy on this computer may tell (section 1); a port that can't be read
/// is left out.
fn address_of(headers: &HeaderMap, asked: &Asked) -> Address {
    let told = |name: &HeaderName| headers.get(name)?.to_str().ok();
    let real = told(&REAL_IP).and_then(|ip| ip.trim().parse::<IpAddr>().ok());
    match real {
        Some(ip) if asked.peer.ip().to_canonical().is_loopback() => Address {
            ip,
            port: told(&REAL_PORT).and_then(|port| port.trim().parse().ok()),
        },
        _ => Address {
            ip: asked.address,
            port: Some(asked.peer.port()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::web::Deadline;
    use super::*;

    fn address(peer: &str, ip: &'static str, port: &'static str) -> (String, Option<u16>) {
        let peer: std::net::SocketAddr = peer.parse().unwrap();
        let asked = Asked {
            address: peer.ip(),
            peer,
            at_ms: 0,
            deadline: Deadline::new(Duration::from_secs(1)),
        };
        let mut headers = HeaderMap::new();
        headers.insert(REAL_IP, HeaderValue::from_static(ip));
        headers.insert(REAL_PORT, HeaderValue::from_static(port));
        let address = address_of(&headers, &asked);
        (address.ip.to_string(), address.port)
    }

    #[tokio::test]
    async fn only_a_proxy_on_this_computer_may_say_where_a_client_is() {
        let told = ("192.0.2.1".to_owned(), Some(9));
        assert_eq!(address("127.0.0.1:7", "192.0.2.1", "9"), told);
        assert_eq!(address("[::1]:7", "192.0.2.1", "9"), told);
        let without = ("192.0.2.1".to_owned(), None);
        assert_eq!(address("127.0.0.1:7", "192.0.2.1", "x"), without);
        let own = ("127.0.0.1".to_owned(), Some(7));
        assert_eq!(address("127.0.0.1:7", "x", "9"), own);
        let stranger = ("198.51.100.1".to_owned(), Some(7));
        assert_eq!(address("198.51.100.1:7", "192.0.2.1", "9"), stranger);
    }
}
