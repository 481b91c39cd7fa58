//! A relay and paired devices in one process, over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on has failed"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand_core::OsRng;
use sealpost_engine::clock::{Clock, SystemClock};
use sealpost_engine::core::link::pairing::PairingPhase;
use sealpost_engine::core::link::{Answer, LinkRequest};
use sealpost_engine::keys::MemoryStore;
use sealpost_engine::link::{
    HttpTransport, LinkAddress, LinkContent, LinkInfo, LinkName, LinkPlace, LinkState,
    LinkTransport as _, Links, LinksOptions, PairingOptions, RelayUrl,
};
use sealpost_engine::profile::ProfileId;
use sealpost_protocol::key::NoiseSecret;
use sealpost_protocol::link::payload::PayloadId;
use sealpost_relay::{Claims, Config, Rate, Relay, WebConfig, WebLimits};

/// A condition that hasn't come true by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `condition` holds.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect(what);
}

/// A relay with a web door that can be stopped and started again on the same port.
pub(crate) struct TestRelay {
    directory: tempfile::TempDir,
    key: NoiseSecret,
    port: u16,
    claims: Claims,
    relay: Option<Relay>,
}

impl TestRelay {
    pub(crate) async fn start() -> Self {
        Self::start_with(Claims::Open).await
    }

    pub(crate) async fn start_with(claims: Claims) -> Self {
        let mut relay = Self {
            directory: tempfile::tempdir().unwrap(),
            key: NoiseSecret::generate(&mut OsRng),
            port: 0,
            claims,
            relay: None,
        };
        relay.resume().await;
        relay
    }

    /// Starts it again.
    pub(crate) async fn resume(&mut self) {
        let many = Rate {
            count: 100_000,
            period: Duration::from_secs(1),
            burst: 100_000,
        };
        let limits = WebLimits {
            request_rate: many,
            put_rate: many,
            failure_rate: many,
            creation_rate: many,
            ..WebLimits::default()
        };
        let config = Config {
            store_path: self.store(),
            listen_receive: ([127, 0, 0, 1], 0).into(),
            listen_push: ([127, 0, 0, 1], 0).into(),
            listen_health: None,
            web: Some(WebConfig {
                claims: self.claims,
                limits,
                ..WebConfig::server(([127, 0, 0, 1], self.port).into())
            }),
            ..Config::default()
        };
        let clock = Arc::new(sealpost_relay::SystemClock);
        let relay = Relay::start(config, self.key.clone(), clock).await.unwrap();
        self.port = relay.ports().web.unwrap();
        self.relay = Some(relay);
    }

    pub(crate) async fn stop(&mut self) {
        self.relay.take().unwrap().stop().await;
    }

    pub(crate) fn running(&self) -> &Relay {
        self.relay.as_ref().unwrap()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.directory.path().join("inbox.db")
    }

    /// Removes what it had stored; it is stopped.
    pub(crate) fn lose_store(&self) {
        for name in ["inbox.db", "inbox.db-wal", "inbox.db-shm"] {
            let path = self.directory.path().join(name);
            if path.exists() {
                std::fs::remove_file(path).unwrap();
            }
        }
    }

    pub(crate) fn url(&self) -> RelayUrl {
        RelayUrl::parse(&format!("http://127.0.0.1:{}", self.port)).unwrap()
    }

    /// Plays a device that has the token, or another program.
    pub(crate) async fn ask(&self, address: &LinkAddress, request: LinkRequest) -> Answer {
        let transport = HttpTransport::new(self.url());
        transport.perform(address.clone(), request).await.unwrap()
    }
}

/// A clock that goes, and is set by the test.
#[derive(Default)]
pub(crate) struct ShiftedClock(AtomicU64);

impl ShiftedClock {
    pub(crate) fn shift(&self, by_ms: u64) {
        self.0.fetch_add(by_ms, Ordering::SeqCst);
    }
}

impl Clock for ShiftedClock {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms() + self.0.load(Ordering::SeqCst)
    }
}

/// What of a device survives its process.
pub(crate) struct Home {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) profile_id: ProfileId,
    pub(crate) keys: Arc<MemoryStore>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    pub(crate) fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            profile_id: ProfileId::generate(&mut OsRng),
            keys: Arc::new(MemoryStore::new()),
            clock,
        }
    }

    pub(crate) fn options(&self) -> LinksOptions {
        LinksOptions {
            directory: self.directory.path().to_owned(),
            profile_id: self.profile_id,
            key_store: Arc::clone(&self.keys) as _,
            clock: Arc::clone(&self.clock),
        }
    }

    /// Opens its links. Those on "the relay in this program" go to that relay.
    pub(crate) async fn open(&self, relay: &TestRelay) -> Links {
        let links = Links::open(self.options()).await.unwrap();
        links.set_here(Some(Arc::new(HttpTransport::new(relay.url()))));
        links
    }
}

/// Two paired devices. A's mailbox is on "the relay in its program", so that the test knows it.
pub(crate) struct Pair {
    pub(crate) homes: (Home, Home),
    pub(crate) a: Links,
    pub(crate) b: Links,
    pub(crate) on_a: LinkName,
    pub(crate) on_b: LinkName,
}

/// Begins a pairing: both screens show the digits.
pub(crate) async fn begin(relay: &TestRelay, a: &Links, b: &Links) -> (LinkName, LinkName) {
    let started = a.start_pairing(options(relay)).await.unwrap();
    let on_a = started.name;
    until("the code is shown", || url(a, &on_a).is_some()).await;
    let on_b = b.join(&url(a, &on_a).unwrap(), "Phone").await.unwrap();
    until("digits on both", || {
        digits(a, &on_a).is_some() && digits(b, &on_b).is_some()
    })
    .await;
    (on_a, on_b)
}

pub(crate) fn options(relay: &TestRelay) -> PairingOptions {
    PairingOptions {
        place: LinkPlace::Here,
        shown_url: relay.url(),
        my_name: "Desk".to_owned(),
    }
}

impl Pair {
    pub(crate) async fn make(relay: &TestRelay) -> Self {
        Self::make_of(relay, (Home::new(), Home::new())).await
    }

    pub(crate) async fn make_of(relay: &TestRelay, homes: (Home, Home)) -> Self {
        let (a, b) = (homes.0.open(relay).await, homes.1.open(relay).await);
        let (on_a, on_b) = begin(relay, &a, &b).await;
        assert_eq!(digits(&a, &on_a), digits(&b, &on_b));
        b.confirm_digits(&on_b).await.unwrap();
        a.confirm_digits(&on_a).await.unwrap();
        until("A has the link", || state(&a, &on_a) == "active").await;
        until("B heard of A", || state(&b, &on_b) == "active").await;
        Self {
            homes,
            a,
            b,
            on_a,
            on_b,
        }
    }

    /// A's mailbox.
    pub(crate) fn mailbox(&self) -> LinkAddress {
        self.a.known_mailboxes().remove(0)
    }

    pub(crate) async fn close(&self) {
        self.a.close().await;
        self.b.close().await;
    }

    /// Both start again.
    pub(crate) async fn reopen(&mut self, relay: &TestRelay) {
        self.close().await;
        self.a = self.homes.0.open(relay).await;
        self.b = self.homes.1.open(relay).await;
    }

    /// What B gets from here on, until it has as many.
    pub(crate) async fn received_by_b(&self, count: usize) -> Vec<String> {
        received(&self.b, &self.on_b, count).await
    }

    pub(crate) async fn received_by_a(&self, count: usize) -> Vec<String> {
        received(&self.a, &self.on_a, count).await
    }
}

pub(crate) fn info(links: &Links, name: &LinkName) -> LinkInfo {
    links.info(name).expect("the link is there")
}

pub(crate) fn state(links: &Links, name: &LinkName) -> &'static str {
    links.info(name).map_or("gone", |link| link.state.code())
}

pub(crate) fn trouble(links: &Links, name: &LinkName) -> &'static str {
    let link = links.info(name);
    link.and_then(|link| link.trouble)
        .map_or("", |trouble| trouble.code())
}

pub(crate) fn url(links: &Links, name: &LinkName) -> Option<String> {
    match links.info(name)?.state {
        LinkState::Pairing(pairing) => Some(pairing.url?.as_str().to_owned()),
        _ => None,
    }
}

pub(crate) fn digits(links: &Links, name: &LinkName) -> Option<String> {
    match links.info(name)?.state {
        LinkState::Pairing(pairing) if pairing.phase == PairingPhase::Comparing => pairing.digits,
        _ => None,
    }
}

pub(crate) async fn send(links: &Links, name: &LinkName, text: &str) -> PayloadId {
    let body = text.as_bytes().to_vec();
    let sent = links.send(name, LinkContent::Message, body, None).await;
    sent.unwrap()
}

pub(crate) async fn send_all(links: &Links, name: &LinkName, prefix: &str, count: usize) {
    for text in numbered(prefix, count) {
        send(links, name, &text).await;
    }
}

pub(crate) fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix} {n}")).collect()
}

/// Takes what arrives, marking it as handled, until there are `count` texts.
pub(crate) async fn received(links: &Links, name: &LinkName, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    let wait = async {
        while texts.len() < count {
            for arrived in links.arrived(name, 0, 100).await.unwrap() {
                texts.push(String::from_utf8(arrived.body).unwrap());
                links.handled(name, arrived.id).await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    assert!(waited.is_ok(), "got {} of {count}", texts.len());
    texts
}

/// Nothing more arrives that wasn't handled.
pub(crate) async fn nothing_left(links: &Links, name: &LinkName) -> bool {
    links.arrived(name, 0, 1).await.unwrap().is_empty()
}
