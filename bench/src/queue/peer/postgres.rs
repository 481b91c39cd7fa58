//! A queue in a table of PostgreSQL.
//!
//! Set up: `synchronous_commit on` and `fsync on` as by default; 256 MiB of shared buffers and
//! room for the log so that no checkpoint falls into a load for its size. A transaction per
//! message over prepared statements; up to 64 connections publish, since PostgreSQL commits a
//! group only across connections, and what is more in flight is pipelined on them. Bodies are
//! stored outside the row and uncompressed where they are large, as fits ciphertext.
//!
//! In its favour: the consumer is told of new rows by the publishers within the measuring
//! process, at no cost to the server (`NOTIFY` takes a lock that undoes group commit), and its
//! deletes don't wait for the disk, as ours don't; a lost one is only a second delivery.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::sync::Notify;
use tokio_rustls::rustls::ClientConfig;

use super::super::certificate::Certificate;
use super::super::line::Line;
use super::super::load::Load;
use super::super::process::{self, Server, Start};
use super::{Consumer, InOrder, Mark, Peer, Publisher};

/// Connections that publish, at most.
const PUBLISHERS_MAX: usize = 64;
/// It takes no longer to get ready unless it is broken.
const PATIENCE: Duration = Duration::from_secs(60);
/// Rows per read.
const ROWS: usize = 256;
/// What the table and its index are made with.
const SCHEMA: &str = "CREATE TABLE queue (id bigserial PRIMARY KEY, inbox bigint NOT NULL, \
     body bytea NOT NULL); ALTER TABLE queue ALTER COLUMN body SET STORAGE EXTERNAL; \
     CREATE INDEX queue_inbox ON queue (inbox, id)";

/// PostgreSQL, plain or over TLS on the same port.
#[derive(Clone, Debug)]
pub(in super::super) struct Postgres {
    port: u16,
    tls: Option<Arc<ClientConfig>>,
    bells: Arc<Mutex<BTreeMap<u64, Arc<Notify>>>>,
}

impl Postgres {
    pub(in super::super) async fn start(
        start: &Start<'_>,
        certificate: &Certificate,
    ) -> anyhow::Result<(Server, Self)> {
        let folder = start.folder.join("postgres");
        std::fs::create_dir_all(&folder)?;
        let port = process::free_port()?;
        let programs = programs()?;
        let key = folder.join("key.pem");
        std::fs::copy(&certificate.key, &key)?;
        let is_root = rustix::process::getuid().is_root();
        if is_root {
            let mut command = Command::new("chown");
            run(command.arg("-R").arg("postgres").arg(&folder))?;
        }
        let data = folder.join("data");
        let mut make = as_postgres(is_root, &programs.join("initdb"));
        make.args(["--auth", "trust", "--username", "bench", "--no-sync"]);
        run(make.arg("--pgdata").arg(&data))?;
        let mut command = as_postgres(is_root, &programs.join("postgres"));
        command.arg("-D").arg(&data);
        let port_text = port.to_string();
        let folder_text = folder.display().to_string();
        for (name, value) in [
            ("listen_addresses", "127.0.0.1"),
            ("port", port_text.as_str()),
            ("unix_socket_directories", folder_text.as_str()),
            ("ssl", "on"),
            (
                "ssl_cert_file",
                &certificate.certificate.display().to_string(),
            ),
            ("ssl_key_file", &key.display().to_string()),
            ("fsync", "on"),
            ("synchronous_commit", "on"),
            ("shared_buffers", "256MB"),
            ("max_wal_size", "8GB"),
            ("checkpoint_timeout", "1h"),
            ("max_connections", "200"),
        ] {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let mut server = Server::start(&command, start)?;
        server.wait_for(port)?;
        let postgres = Self {
            port,
            tls: None,
            bells: Arc::default(),
        };
        // It listens before it is ready.
        let end = Instant::now() + PATIENCE;
        while postgres.query("SELECT 1").await.is_err() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        postgres.query(SCHEMA).await?;
        Ok((server, postgres))
    }

    /// The same server over TLS.
    pub(in super::super) fn secured(&self, tls: &Arc<ClientConfig>) -> Self {
        Self {
            tls: Some(Arc::clone(tls)),
            ..self.clone()
        }
    }

    async fn open(&self) -> anyhow::Result<Line> {
        let mut line = Line::connect(self.port).await?;
        if let Some(config) = &self.tls {
            line.out.extend_from_slice(&8_u32.to_be_bytes());
            line.out.extend_from_slice(&80_877_103_u32.to_be_bytes());
            line.flush().await?;
            while line.arrived().is_empty() {
                line.fill().await?;
            }
            anyhow::ensure!(line.arrived().first() == Some(&b'S'), "no TLS");
            line = line.secured(config).await?;
        }
        let mut body = 196_608_u32.to_be_bytes().to_vec();
        body.extend_from_slice(b"user\0bench\0database\0postgres\0\0");
        let length = u32::try_from(body.len() + 4)?;
        line.out.extend_from_slice(&length.to_be_bytes());
        line.out.extend_from_slice(&body);
        ready(&mut line).await?;
        Ok(line)
    }

    async fn query(&self, text: &str) -> anyhow::Result<()> {
        let mut line = self.open().await?;
        add_query(&mut line.out, text)?;
        ready(&mut line).await
    }

    fn bell(&self, number: u64) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(number).or_default())
    }

    /// Forgets the bell of an inbox, and tells whether there is none left.
    fn is_last_bell(&self, number: u64) -> bool {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.remove(&number);
        bells.is_empty()
    }
}

impl Peer for Postgres {
    type Publisher = Inserter;
    type Consumer = Selector;

    fn publishers_per_inbox(&self, load: Load) -> usize {
        load.window().min(PUBLISHERS_MAX / load.inboxes())
    }

    async fn make(&self, _number: u64) -> anyhow::Result<()> {
        Ok(())
    }

    async fn clear(&self, number: u64) -> anyhow::Result<()> {
        // Only the last inbox leaves the table empty and fresh for the next load.
        if self.is_last_bell(number) {
            self.query("TRUNCATE queue").await?;
        }
        Ok(())
    }

    async fn publisher(&self, number: u64) -> anyhow::Result<Inserter> {
        let mut line = self.open().await?;
        let insert = "INSERT INTO queue (inbox, body) VALUES ($1, $2)";
        add_parse(&mut line.out, insert)?;
        add_frame(&mut line.out, b'S', &[])?;
        ready(&mut line).await?;
        Ok(Inserter {
            line,
            inbox: number,
            order: InOrder::default(),
            bell: self.bell(number),
        })
    }

    async fn consumer(&self, number: u64) -> anyhow::Result<Selector> {
        let mut line = self.open().await?;
        add_query(&mut line.out, "SET synchronous_commit = off")?;
        ready(&mut line).await?;
        let mut deleting = self.open().await?;
        add_query(&mut deleting.out, "SET synchronous_commit = off")?;
        ready(&mut deleting).await?;
        let select =
            format!("SELECT id, body FROM queue WHERE inbox = $1 ORDER BY id LIMIT {ROWS}");
        add_parse(&mut line.out, &select)?;
        add_frame(&mut line.out, b'S', &[])?;
        ready(&mut line).await?;
        add_parse(&mut deleting.out, "DELETE FROM queue WHERE id = ANY($1)")?;
        add_frame(&mut deleting.out, b'S', &[])?;
        ready(&mut deleting).await?;
        Ok(Selector {
            line,
            deleting,
            inbox: number,
            bell: self.bell(number),
            ids: Vec::new(),
        })
    }
}

pub(in super::super) struct Inserter {
    line: Line,
    inbox: u64,
    order: InOrder,
    bell: Arc<Notify>,
}

impl Publisher for Inserter {
    async fn publish(&mut self, body: &[u8]) -> anyhow::Result<()> {
        add_execute(&mut self.line.out, &[&self.inbox.to_be_bytes(), body])
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.line.flush().await?)
    }

    async fn confirmed(&mut self, into: &mut Vec<u64>) -> anyhow::Result<()> {
        let mut is_confirmed = false;
        while !is_confirmed {
            while let Some((kind, bytes)) = next_frame(&self.line)? {
                self.line.take(bytes);
                if kind == b'Z' {
                    self.order.next(into);
                    is_confirmed = true;
                }
            }
            if !is_confirmed {
                self.line.fill().await?;
            }
        }
        self.bell.notify_one();
        Ok(())
    }
}

pub(in super::super) struct Selector {
    line: Line,
    deleting: Line,
    inbox: u64,
    bell: Arc<Notify>,
    ids: Vec<[u8; 8]>,
}

impl Consumer for Selector {
    async fn receive(&mut self, into: &mut Vec<Mark>) -> anyhow::Result<()> {
        loop {
            add_execute(&mut self.line.out, &[&self.inbox.to_be_bytes()])?;
            self.line.flush().await?;
            loop {
                let Some((kind, bytes)) = next_frame(&self.line)? else {
                    self.line.fill().await?;
                    continue;
                };
                if kind == b'D' {
                    let frame = self.line.arrived().get(..bytes).unwrap_or_default();
                    // Kind, length, number of columns, length of the id, id, length, body.
                    let id = frame.get(11..19).context("no id")?;
                    into.push(Mark::read(frame.get(23..).unwrap_or_default())?);
                    self.ids.push(id.try_into()?);
                }
                self.line.take(bytes);
                if kind == b'Z' {
                    break;
                }
            }
            if !self.ids.is_empty() {
                return Ok(());
            }
            self.bell.notified().await;
        }
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        // An array of one dimension without nulls, of type bigint, counted from 1.
        let mut array = Vec::new();
        for number in [1, 0, 20, u32::try_from(self.ids.len())?, 1] {
            array.extend_from_slice(&number.to_be_bytes());
        }
        for id in self.ids.drain(..) {
            array.extend_from_slice(&8_u32.to_be_bytes());
            array.extend_from_slice(&id);
        }
        add_execute(&mut self.deleting.out, &[&array])?;
        // Before the next read, which would find them again.
        ready(&mut self.deleting).await
    }
}

/// Sends what is queued and waits until the server is ready for more.
async fn ready(line: &mut Line) -> anyhow::Result<()> {
    line.flush().await?;
    loop {
        while let Some((kind, bytes)) = next_frame(line)? {
            line.take(bytes);
            if kind == b'Z' {
                return Ok(());
            }
        }
        line.fill().await?;
    }
}

/// The kind and the whole length of the next frame, if it is all there.
fn next_frame(line: &Line) -> anyhow::Result<Option<(u8, usize)>> {
    let arrived = line.arrived();
    let Some([kind, length @ ..]) = arrived.first_chunk::<5>() else {
        return Ok(None);
    };
    let bytes = usize::try_from(u32::from_be_bytes(*length))? + 1;
    let Some(frame) = arrived.get(..bytes) else {
        return Ok(None);
    };
    if *kind == b'E' {
        let text = String::from_utf8_lossy(frame).replace('\0', " ");
        bail!("PostgreSQL says {text}");
    }
    Ok(Some((*kind, bytes)))
}

fn add_frame(out: &mut Vec<u8>, kind: u8, body: &[u8]) -> anyhow::Result<()> {
    out.push(kind);
    out.extend_from_slice(&u32::try_from(body.len() + 4)?.to_be_bytes());
    out.extend_from_slice(body);
    Ok(())
}

fn add_query(out: &mut Vec<u8>, text: &str) -> anyhow::Result<()> {
    add_frame(out, b'Q', &[text.as_bytes(), b"\0"].concat())
}

/// Prepares the one statement of a connection.
fn add_parse(out: &mut Vec<u8>, text: &str) -> anyhow::Result<()> {
    add_frame(out, b'P', &[b"s\0", text.as_bytes(), b"\0\0\0"].concat())
}

/// Binds values in binary to the statement and runs it, in a transaction of its own.
fn add_execute(out: &mut Vec<u8>, values: &[&[u8]]) -> anyhow::Result<()> {
    let mut body = b"\0s\0\0\x01\0\x01".to_vec();
    body.extend_from_slice(&u16::try_from(values.len())?.to_be_bytes());
    for value in values {
        body.extend_from_slice(&u32::try_from(value.len())?.to_be_bytes());
        body.extend_from_slice(value);
    }
    body.extend_from_slice(b"\0\x01\0\x01");
    add_frame(out, b'B', &body)?;
    add_frame(out, b'E', b"\0\0\0\0\0")?;
    add_frame(out, b'S', &[])
}

/// PostgreSQL refuses to run as root.
fn as_postgres(is_root: bool, program: &Path) -> Command {
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid",
        "postgres",
        "--regid",
        "postgres",
        "--init-groups",
    ]);
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{errors}");
    Ok(())
}

/// The newest of Debian's, or those in the path.
fn programs() -> anyhow::Result<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|folder| folder.join("postgres").exists())
        .collect();
    found.sort();
    found.pop().context("PostgreSQL isn't installed")
}
