//! The relay's web door as it is run, over plain HTTP.
//!
//! Set up: the program itself with its own defaults for durability; rates are raised, because
//! one address here stands for many phones.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::StreamExt as _;
use hyper::Method;
use rand_core::{OsRng, RngCore as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Message, http};

use super::http::Connection;
use super::watching::{self, Watch};
use super::{Target, Writer};
use crate::queue::process::{self, Server, Start};

/// What is raised, so that bounds meant for one phone don't end the load.
const RAISED: [(&str, &str); 8] = [
    ("WEB_REQUEST_RATE", "1000000"),
    ("WEB_REQUEST_BURST", "1000000"),
    ("WEB_PUT_RATE", "1000000"),
    ("WEB_CREATION_RATE", "1000000"),
    ("WEB_MAX_MAILBOXES", "1000000"),
    ("WEB_MAX_CONNECTIONS_PER_ADDRESS", "4096"),
    ("STORE_MAX_BYTES", "1000000000000"),
    ("STORE_MIN_FREE_BYTES", "0"),
];

/// The running relay.
pub(super) struct Relay {
    port: u16,
}

impl Relay {
    pub(super) fn start(start: &Start<'_>) -> anyhow::Result<(Server, Self)> {
        let own = std::env::current_exe()?;
        let program = own.with_file_name("sealpost-relay");
        let port = process::free_port()?;
        let mut command = Command::new(program);
        command.args(["run", "--no-config", "--listen-health", "off"]);
        command.args(["--log", "error", "--listen-receive", "127.0.0.1:0"]);
        command.args(["--listen-push", "127.0.0.1:0"]);
        command.arg("--data-dir").arg(start.folder.join("sealpost"));
        command.env("TRUESEAL_RELAY_LISTEN_WEB", format!("127.0.0.1:{port}"));
        for (name, value) in RAISED {
            command.env(format!("TRUESEAL_RELAY_{name}"), value);
        }
        let mut server = Server::start(&command, start)?;
        server.wait_for(port)?;
        Ok((server, Self { port }))
    }
}

/// Names and opens one mailbox.
#[derive(Clone)]
struct Mailbox {
    path: String,
    token: String,
}

impl Mailbox {
    fn random() -> Self {
        let (mut id, mut token) = ([0; 16], [0; 32]);
        OsRng.fill_bytes(&mut id);
        OsRng.fill_bytes(&mut token);
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            path: format!("/v1/mailboxes/{hex}"),
            token: URL_SAFE_NO_PAD.encode(token),
        }
    }

    async fn connect(&self, port: u16) -> anyhow::Result<Slots> {
        Ok(Slots {
            connection: Connection::open(port, Some(&self.token)).await?,
            direction: format!("{}/a2b", self.path),
        })
    }

    async fn claim(&self, port: u16) -> anyhow::Result<Slots> {
        let mut slots = self.connect(port).await?;
        let claim = slots.connection.ask(Method::PUT, &self.path, Bytes::new());
        claim.await?;
        Ok(slots)
    }
}

/// One direction of a mailbox, over a connection of its own.
pub(super) struct Slots {
    connection: Connection,
    direction: String,
}

impl Writer for Slots {
    async fn put(&mut self, number: u64, body: &[u8]) -> anyhow::Result<()> {
        let path = format!("{}/{number}", self.direction);
        let body = Bytes::copy_from_slice(body);
        self.connection.ask(Method::PUT, &path, body).await?;
        Ok(())
    }

    async fn prune(&mut self, through: u64) -> anyhow::Result<()> {
        let path = format!("{}?through={through}", self.direction);
        self.connection
            .ask(Method::DELETE, &path, Bytes::new())
            .await?;
        Ok(())
    }
}

struct Watcher {
    socket: WebSocketStream<TcpStream>,
    slots: Slots,
}

impl Watcher {
    async fn open(port: u16, mailbox: &Mailbox) -> anyhow::Result<Self> {
        let url = format!("ws://127.0.0.1:{port}{}/a2b/watch", mailbox.path);
        let mut request = url.into_client_request()?;
        let bearer = http::HeaderValue::from_str(&format!("Bearer {}", mailbox.token))?;
        request.headers_mut().insert("authorization", bearer);
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (socket, _) = tokio_tungstenite::client_async(request, stream).await?;
        let mut watcher = Self {
            socket,
            slots: mailbox.connect(port).await?,
        };
        watcher.frame("state").await?;
        Ok(watcher)
    }

    /// Waits for a frame of a kind.
    async fn frame(&mut self, kind: &str) -> anyhow::Result<()> {
        loop {
            let frame = self.socket.next().await;
            let Message::Text(text) = frame.context("the watch ended")?? else {
                continue;
            };
            let frame: serde_json::Value = serde_json::from_str(&text)?;
            if frame.get("type").and_then(serde_json::Value::as_str) == Some(kind) {
                return Ok(());
            }
        }
    }
}

impl Watch for Watcher {
    async fn told(&mut self) -> anyhow::Result<()> {
        self.frame("stored").await
    }

    async fn fetch(&mut self, number: u64) -> anyhow::Result<()> {
        let path = format!("{}?after={}", self.slots.direction, number - 1);
        let page = self
            .slots
            .connection
            .ask(Method::GET, &path, Bytes::new())
            .await?;
        let page: serde_json::Value = serde_json::from_slice(&page)?;
        let first = page.pointer("/envelopes/0/seq");
        ensure!(
            first.and_then(serde_json::Value::as_u64) == Some(number),
            "the envelope isn't there"
        );
        Ok(())
    }
}

impl Target for Relay {
    const NAME: &'static str = "Sealpost relay";
    type Writer = Slots;

    async fn writer(&self) -> anyhow::Result<Slots> {
        Mailbox::random().claim(self.port).await
    }

    async fn watched(&self, body: &[u8], times: usize) -> anyhow::Result<Vec<Duration>> {
        let mailbox = Mailbox::random();
        let writer = mailbox.claim(self.port).await?;
        let watcher = Watcher::open(self.port, &mailbox).await?;
        watching::follow(writer, watcher, body, times).await
    }
}
