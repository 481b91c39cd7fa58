//! A relay of a test's own with an open web port and a clock that the test steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sealpost_protocol::key::NoiseSecret;
use sealpost_protocol::limit::LINK_ENVELOPE_BYTES_MIN;
use sealpost_protocol::link::key::{LinkToken, MailboxId};
use sealpost_relay::{Clock, Config, Rate, Relay, WebConfig};
use tempfile::TempDir;

use crate::client::{Answer, Request};

pub(crate) const NOW_MS: u64 = 1_800_000_000_000;

/// The mailbox and the tokens of these tests.
pub(crate) const MAILBOX: &str = "000102030405060708090a0b0c0d0e0f";
pub(crate) const OTHER_MAILBOX: &str = "ff0102030405060708090a0b0c0d0e0f";
pub(crate) const TOKEN: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";
pub(crate) const OTHER_TOKEN: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI";

pub(crate) fn mailbox() -> MailboxId {
    MailboxId::parse(MAILBOX).unwrap()
}

pub(crate) fn token() -> LinkToken {
    LinkToken::parse(TOKEN).unwrap()
}

/// A clock that stands still until it is stepped.
#[derive(Debug)]
pub(crate) struct SteppedClock(AtomicU64);

impl SteppedClock {
    /// Sets it, forward or back.
    pub(crate) fn set(&self, ms: u64) {
        self.0.store(ms, Ordering::SeqCst);
    }

    pub(crate) fn step(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for SteppedClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A relay whose web door is open.
pub(crate) struct Door {
    pub(crate) relay: Relay,
    pub(crate) port: u16,
    pub(crate) clock: Arc<SteppedClock>,
    pub(crate) folder: TempDir,
}

/// On a free port of the loopback interface, and without rates: a clock that stands still
/// fills no bucket.
pub(crate) fn config() -> WebConfig {
    let mut config = WebConfig::server("127.0.0.1:0".parse().unwrap());
    for rate in [
        &mut config.limits.request_rate,
        &mut config.limits.put_rate,
        &mut config.limits.failure_rate,
        &mut config.limits.creation_rate,
    ] {
        *rate = Rate {
            burst: 1_000_000,
            ..*rate
        };
    }
    config
}

impl Door {
    pub(crate) async fn open() -> Self {
        Self::open_with(|_| ()).await
    }

    pub(crate) async fn open_with(change: impl FnOnce(&mut WebConfig)) -> Self {
        Self::open_relay(|_| (), change).await
    }

    pub(crate) async fn open_relay(
        change_relay: impl FnOnce(&mut Config),
        change: impl FnOnce(&mut WebConfig),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(SteppedClock(AtomicU64::new(NOW_MS)));
        let free = "127.0.0.1:0".parse().unwrap();
        let mut relay = Config {
            store_path: folder.path().join("inbox.db"),
            listen_receive: free,
            listen_push: free,
            listen_health: Some(free),
            ..Config::default()
        };
        relay.store.disk_free_bytes_min = 0;
        change_relay(&mut relay);
        let mut web = config();
        change(&mut web);
        let key = NoiseSecret::from_bytes([0x77; 32]);
        let timed = Arc::<SteppedClock>::clone(&clock);
        let relay = Relay::start(relay, key, timed).await.unwrap();
        let port = relay.open_web(web).unwrap();
        assert_eq!(relay.ports().web, Some(port));
        Self {
            relay,
            port,
            clock,
            folder,
        }
    }

    /// With a mailbox that was claimed.
    pub(crate) async fn claimed() -> Self {
        let door = Self::open().await;
        door.claim().await;
        door
    }

    pub(crate) async fn claim(&self) -> Answer {
        let answer = at(&[]).put().send(self.port).await;
        assert!(matches!(answer.status, 201 | 204), "{answer:?}");
        answer
    }

    pub(crate) async fn store(&self, direction: &str, sequence: u64) -> Answer {
        let put = at(&[direction, &sequence.to_string()]).put();
        put.body(&envelope(sequence)).send(self.port).await
    }

    pub(crate) async fn head(&self, direction: &str) -> Answer {
        at(&[direction]).head().send(self.port).await
    }
}

/// The smallest Envelope, and none that another number makes.
pub(crate) fn envelope(number: u64) -> Vec<u8> {
    let mut envelope = number.to_be_bytes().to_vec();
    envelope.resize(LINK_ENVELOPE_BYTES_MIN, 0x5a);
    envelope
}

/// A path below the mailbox.
pub(crate) fn at(parts: &[&str]) -> Path {
    Path(format!(
        "/v1/mailboxes/{}",
        [&[MAILBOX], parts].concat().join("/")
    ))
}

/// Makes requests with the mailbox's token.
pub(crate) struct Path(pub(crate) String);

impl Path {
    pub(crate) fn request(&self, method: &str) -> Request {
        Request::new(method, &self.0).bearer(TOKEN)
    }

    pub(crate) fn put(&self) -> Request {
        self.request("PUT")
    }

    pub(crate) fn get(&self) -> Request {
        self.request("GET")
    }

    pub(crate) fn head(&self) -> Request {
        self.request("HEAD")
    }

    pub(crate) fn delete(&self) -> Request {
        self.request("DELETE")
    }
}
