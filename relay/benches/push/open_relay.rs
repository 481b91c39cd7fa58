//! A relay that takes what it is given, where limits would be what is measured.

use std::path::Path;
use std::sync::Arc;

use rand_core::OsRng;
use sealpost_protocol::key::NoiseSecret;
use sealpost_relay::{Config, Relay, SystemClock};

/// Starts it on free ports, with its store in `folder`.
pub(crate) async fn start(folder: &Path) -> Relay {
    let free = "127.0.0.1:0".parse().unwrap();
    let mut config = Config {
        store_path: folder.join("inbox.db"),
        listen_receive: free,
        listen_push: free,
        listen_health: None,
        ..Config::default()
    };
    config.sessions.push_rate.per_second = 1_000_000;
    config.sessions.push_rate.burst = 1_000_000;
    config.store.inbox_blobs_max = 1_000_000;
    config.store.inbox_bytes_max = 1 << 40;
    let key = NoiseSecret::generate(&mut OsRng);
    let relay = Relay::start(config, key, Arc::new(SystemClock));
    relay.await.unwrap()
}
