//! A relay of a test's own, in this process.

use std::sync::Arc;
use std::time::Duration;

use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::NoiseSecret;
use sealpost_relay::{Config, Relay, StartError, SystemClock};
use tempfile::TempDir;

use crate::client::PATIENCE;

/// A relay that peers can talk to: one of a test's own, or one that somebody runs.
pub(crate) trait Reachable {
    fn address(&self) -> &RelayAddress;
}

impl Reachable for RelayAddress {
    fn address(&self) -> &RelayAddress {
        self
    }
}

impl Reachable for TestRelay {
    fn address(&self) -> &RelayAddress {
        &self.address
    }
}

pub(crate) struct TestRelay {
    pub(crate) relay: Relay,
    address: RelayAddress,
    pub(crate) folder: Arc<TempDir>,
}

/// The key of every relay in these tests.
pub(crate) fn relay_key() -> NoiseSecret {
    NoiseSecret::from_bytes([0x77; 32])
}

/// A configuration on free ports of the loopback interface.
pub(crate) fn config_in(folder: &TempDir) -> Config {
    let free = "127.0.0.1:0".parse().unwrap();
    let mut config = Config {
        store_path: folder.path().join("inbox.db"),
        listen_receive: free,
        listen_push: free,
        listen_health: Some(free),
        ..Config::default()
    };
    config.store.disk_free_bytes_min = 0;
    config
}

impl TestRelay {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| ()).await
    }

    pub(crate) async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::start_in(folder, change).await.unwrap()
    }

    pub(crate) async fn start_in(
        folder: Arc<TempDir>,
        change: impl FnOnce(&mut Config),
    ) -> Result<Self, StartError> {
        let mut config = config_in(&folder);
        change(&mut config);
        let relay = Relay::start(config, relay_key(), Arc::new(SystemClock)).await?;
        let address = relay.address("127.0.0.1").unwrap();
        Ok(Self {
            relay,
            address,
            folder,
        })
    }

    /// Stops it and starts another one on the same data.
    pub(crate) async fn restart(self) -> Self {
        self.relay.stop().await;
        Self::start_in(self.folder, |_| ()).await.unwrap()
    }

    pub(crate) fn push_port(&self) -> u16 {
        self.relay.ports().push
    }

    pub(crate) fn receive_port(&self) -> u16 {
        self.relay.ports().receive
    }
}

/// Waits for something that comes soon, and fails by name if it doesn't.
pub(crate) async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    assert!(waited.is_ok(), "waited in vain until {what}");
}
