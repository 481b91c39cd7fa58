//! A relay and devices in one process, for the tests of whole engines.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on has failed"
)]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand_core::OsRng;
use sealpost_engine::clock::{Clock, SystemClock};
use sealpost_engine::core::event::Event;
use sealpost_engine::core::status::Status;
use sealpost_engine::history::Content;
use sealpost_engine::keys::{KeyItemName, KeyStore, MemoryStore};
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::ProfileId;
use sealpost_engine::{Engine, OpenError, OpenOptions};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::NoiseSecret;
use sealpost_relay::{Config, Relay};

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

/// A relay that can be stopped and started again on the same ports with the same store.
pub(crate) struct TestRelay {
    directory: tempfile::TempDir,
    key: NoiseSecret,
    clock: Arc<dyn sealpost_relay::Clock>,
    ports: (u16, u16),
    relay: Option<Relay>,
}

impl TestRelay {
    /// Starts one on free ports.
    pub(crate) async fn start() -> Self {
        Self::start_with(Arc::new(sealpost_relay::SystemClock)).await
    }

    /// Starts one on free ports that takes the time from that clock.
    pub(crate) async fn start_with(clock: Arc<dyn sealpost_relay::Clock>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let key = NoiseSecret::generate(&mut OsRng);
        let mut relay = Self {
            directory,
            key,
            clock,
            ports: (0, 0),
            relay: None,
        };
        relay.resume().await;
        relay
    }

    /// Starts it again.
    pub(crate) async fn resume(&mut self) {
        let config = Config {
            store_path: self.directory.path().join("inbox.db"),
            listen_receive: ([127, 0, 0, 1], self.ports.0).into(),
            listen_push: ([127, 0, 0, 1], self.ports.1).into(),
            listen_health: None,
            ..Config::default()
        };
        let clock = Arc::clone(&self.clock);
        let relay = Relay::start(config, self.key.clone(), clock).await.unwrap();
        self.ports = (relay.ports().receive, relay.ports().push);
        self.relay = Some(relay);
    }

    /// Stops it.
    pub(crate) async fn stop(&mut self) {
        self.relay.take().unwrap().stop().await;
    }

    /// How many blobs wait.
    pub(crate) fn blobs(&self) -> u64 {
        self.relay.as_ref().unwrap().numbers().blobs
    }

    /// Its address.
    pub(crate) fn address(&self) -> RelayAddress {
        RelayAddress::new(self.key.public(), "127.0.0.1", self.ports.0, self.ports.1).unwrap()
    }
}

/// What of a device survives its process.
pub(crate) struct Home {
    directory: tempfile::TempDir,
    name: String,
    profile_id: ProfileId,
    /// Its keys.
    pub(crate) keys: Arc<MemoryStore>,
    /// What time it is for it.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Home {
    /// A device that was never started.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            name: name.to_owned(),
            profile_id: ProfileId::generate(&mut OsRng),
            keys: Arc::new(MemoryStore::new()),
            clock: Arc::new(SystemClock),
        }
    }

    /// A copy of a closed device's directory, with keys of its own or the same key store.
    pub(crate) fn copy(&self, with_keys: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let copy = Self {
            directory,
            name: self.name.clone(),
            profile_id: self.profile_id,
            keys: Arc::clone(&self.keys),
            clock: Arc::clone(&self.clock),
        };
        std::fs::copy(self.database(), copy.database()).unwrap();
        if !with_keys {
            return copy;
        }
        let item = KeyItemName::group(&self.profile_id, &Namespace::parse("group").unwrap());
        let keys = Arc::new(MemoryStore::new());
        keys.save(&item, &self.keys.load(&item).unwrap().unwrap())
            .unwrap();
        Self { keys, ..copy }
    }

    /// Where its database stands.
    pub(crate) fn database(&self) -> PathBuf {
        self.directory.path().join("trueseal_group.db")
    }

    /// What its engine is opened with.
    pub(crate) fn options(&self, relay: Option<RelayAddress>) -> OpenOptions {
        let key_store: Arc<dyn KeyStore> = Arc::<MemoryStore>::clone(&self.keys);
        OpenOptions {
            directory: self.directory.path().to_owned(),
            namespace: Namespace::parse("group").unwrap(),
            profile_id: self.profile_id,
            relay,
            device_name: self.name.clone(),
            key_store,
            clock: Arc::clone(&self.clock),
            max_payload_bytes: None,
        }
    }

    /// Opens its engine and nothing else.
    pub(crate) async fn try_open(&self, relay: Option<RelayAddress>) -> Result<Engine, OpenError> {
        Engine::open(self.options(relay)).await
    }

    /// Starts the device: engine, message handler, listener of events.
    pub(crate) async fn start(&self, relay: Option<RelayAddress>) -> Device {
        let engine = self.try_open(relay).await.unwrap();
        let handled = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&handled);
        let handler = engine.on_message(move |message| {
            // The group's name comes this way, too.
            if let Some(text) = Content::of(&message.body).text() {
                seen.lock().unwrap().push(text.to_owned());
            }
            Box::pin(async { Ok(()) })
        });
        handler.unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        engine.on_event(move |event| seen.lock().unwrap().push(event));
        Device {
            engine,
            handled,
            events,
        }
    }
}

/// A running device.
pub(crate) struct Device {
    /// Its engine.
    pub(crate) engine: Engine,
    handled: Arc<Mutex<Vec<String>>>,
    events: Arc<Mutex<Vec<Event>>>,
}

/// SQLCipher takes itself down when the process of the tests ends, under whatever thread still
/// uses a store: so none is left behind.
impl Drop for Device {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| runtime.block_on(self.engine.close()));
    }
}

impl Device {
    /// The texts that the handler was given, in order.
    pub(crate) fn handled(&self) -> Vec<String> {
        self.handled.lock().unwrap().clone()
    }

    /// Whether such an event was told.
    pub(crate) fn was_told(&self, is_it: impl FnMut(&Event) -> bool) -> bool {
        self.events.lock().unwrap().iter().any(is_it)
    }

    /// The texts of the history, in order: all, and those of others.
    pub(crate) async fn history(&self) -> (Vec<String>, Vec<String>) {
        let rows = self.engine.messages_after(0, 1_000).await.unwrap();
        let text =
            |row: &sealpost_engine::history::StoredMessage| row.content.text().unwrap().to_owned();
        let others = rows.iter().filter(|row| !row.own).map(text).collect();
        (rows.iter().map(text).collect(), others)
    }

    /// Waits until the history holds `count` messages of others.
    pub(crate) async fn until_received(&self, count: usize) {
        let wait = async {
            while self.history().await.1.len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait)
            .await
            .expect("messages arrive");
    }
}

/// Pairs two devices: `admitter` shows a token, `joiner` takes it, both people say yes.
pub(crate) async fn pair(admitter: &Device, joiner: &Device) {
    let token = admitter.engine.start_pairing().await.unwrap();
    joiner.engine.join(token).await.unwrap();
    let request = || {
        admitter
            .engine
            .pairing()
            .window
            .and_then(|window| window.requests.first().cloned())
    };
    until("a request arrives", || request().is_some()).await;
    let request = request().unwrap();
    let words = || joiner.engine.pairing().join.and_then(|join| join.words);
    until("the joiner knows its words", || words().is_some()).await;
    assert_eq!(Some(request.words), words(), "both screens show the same");
    admitter.engine.accept(request.id).await.unwrap();
    until("the joiner is a member", || {
        joiner.engine.status() == Status::Member
    })
    .await;
    joiner.engine.confirm_words().await.unwrap();
    assert_eq!(admitter.engine.status(), Status::Member);
}
