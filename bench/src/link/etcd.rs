//! etcd, through its JSON door.
//!
//! Set up: one member, as it comes: every put is written to its log and synced before it is
//! answered. A mailbox is a prefix of keys; pruning deletes a range of them.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::body::Incoming;
use rand_core::{OsRng, RngCore as _};
use serde_json::{Value, json};

use super::http::Connection;
use super::watching::{self, Watch};
use super::{Target, Writer};
use crate::queue::process::{self, Server, Start};

/// The running etcd.
pub(super) struct Etcd {
    port: u16,
}

impl Etcd {
    pub(super) fn start(start: &Start<'_>) -> anyhow::Result<(Server, Self)> {
        let (port, peers) = (process::free_port()?, process::free_port()?);
        let clients = format!("http://127.0.0.1:{port}");
        let peers = format!("http://127.0.0.1:{peers}");
        let mut command = Command::new("etcd");
        command.args(["--name", "one", "--logger", "zap", "--log-level", "error"]);
        command.arg("--data-dir").arg(start.folder.join("etcd"));
        command.args(["--listen-client-urls", &clients]);
        command.args(["--advertise-client-urls", &clients]);
        command.args(["--listen-peer-urls", &peers]);
        command.args(["--initial-advertise-peer-urls", &peers]);
        command.args(["--initial-cluster", &format!("one={peers}")]);
        let mut server = Server::start(&command, start).context("etcd isn't installed")?;
        server.wait_for(port)?;
        Ok((server, Self { port }))
    }

    async fn keys(&self, prefix: u64) -> anyhow::Result<Keys> {
        Ok(Keys {
            connection: Connection::open(self.port, None).await?,
            prefix,
        })
    }
}

/// The keys of one mailbox, over a connection of their own.
pub(super) struct Keys {
    connection: Connection,
    prefix: u64,
}

impl Keys {
    /// Keys in the order of their numbers.
    fn key(&self, number: u64) -> String {
        STANDARD.encode(format!("{:016x}/{number:016x}", self.prefix))
    }

    async fn ask(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let body = Bytes::from(serde_json::to_vec(body)?);
        let answer = self.connection.ask(Method::POST, path, body).await?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl Writer for Keys {
    async fn put(&mut self, number: u64, body: &[u8]) -> anyhow::Result<()> {
        let put = json!({ "key": self.key(number), "value": STANDARD.encode(body) });
        self.ask("/v3/kv/put", &put).await?;
        Ok(())
    }

    async fn prune(&mut self, through: u64) -> anyhow::Result<()> {
        let range = json!({ "key": self.key(0), "range_end": self.key(through + 1) });
        self.ask("/v3/kv/deleterange", &range).await?;
        Ok(())
    }
}

struct Watcher {
    notes: Incoming,
    keys: Keys,
}

impl Watcher {
    async fn open(etcd: &Etcd, prefix: u64) -> anyhow::Result<Self> {
        let mut connection = Connection::open(etcd.port, None).await?;
        let keys = etcd.keys(prefix).await?;
        let create = json!({ "create_request": {
            "key": keys.key(0),
            "range_end": keys.key(u64::MAX),
            "filters": ["NODELETE"],
        } });
        let create = Bytes::from(serde_json::to_vec(&create)?);
        let answer = connection.begin(Method::POST, "/v3/watch", create).await?;
        let mut watcher = Self {
            notes: answer.into_body(),
            keys,
        };
        watcher.note().await?;
        Ok(watcher)
    }

    async fn note(&mut self) -> anyhow::Result<()> {
        let frame = self.notes.frame().await.context("the watch ended")??;
        ensure!(frame.is_data(), "the watch ended");
        Ok(())
    }
}

impl Watch for Watcher {
    async fn told(&mut self) -> anyhow::Result<()> {
        self.note().await
    }

    async fn fetch(&mut self, number: u64) -> anyhow::Result<()> {
        let range = json!({ "key": self.keys.key(number) });
        let answer = self.keys.ask("/v3/kv/range", &range).await?;
        ensure!(
            answer.pointer("/kvs/0/value").is_some(),
            "the value isn't there"
        );
        Ok(())
    }
}

impl Target for Etcd {
    const NAME: &'static str = "etcd";
    type Writer = Keys;

    async fn writer(&self) -> anyhow::Result<Keys> {
        self.keys(OsRng.next_u64()).await
    }

    async fn watched(&self, body: &[u8], times: usize) -> anyhow::Result<Vec<Duration>> {
        let prefix = OsRng.next_u64();
        let writer = self.keys(prefix).await?;
        let watcher = Watcher::open(self, prefix).await?;
        watching::follow(writer, watcher, body, times).await
    }
}
