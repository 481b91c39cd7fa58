//! NATS JetStream.
//!
//! Set up: `sync_interval: always`, without which an acknowledged message may be lost for two
//! minutes. Work-queue retention, so that an acknowledgement deletes; a durable push consumer
//! with explicit acknowledgement. Confirmations are JetStream's own publish acknowledgements.
//!
//! JetStream syncs once per message and doesn't group, so how many streams there are decides.
//! A stream per inbox lets their syncs run side by side, and is its best with a few inboxes;
//! one stream for all is what a relay with very many inboxes would have. Both are measured.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail};
use tokio_rustls::rustls::ClientConfig;

use super::super::certificate::Certificate;
use super::super::line::{Line, find_line_end};
use super::super::process::{self, Server, Start};
use super::{Consumer, Mark, Peer, Publisher};

/// NATS, plain or over TLS on the same port.
#[derive(Clone, Debug)]
pub(in super::super) struct Nats {
    port: u16,
    tls: Option<Arc<ClientConfig>>,
    /// Whether one stream has all inboxes.
    is_shared: bool,
}

/// The stream of all inboxes, where there is only one.
const SHARED: &str = "all";

/// Tells the connections' own subjects apart.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

impl Nats {
    pub(in super::super) fn start(
        start: &Start<'_>,
        certificate: &Certificate,
        program: &std::path::Path,
    ) -> anyhow::Result<(Server, Self)> {
        let folder = start.folder.join("nats");
        std::fs::create_dir_all(&folder)?;
        let port = process::free_port()?;
        let config = folder.join("nats.conf");
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\n\
             jetstream {{ store_dir: {:?}, sync_interval: always }}\n\
             tls {{ cert_file: {:?}, key_file: {:?} }}\n\
             allow_non_tls: true\n",
            folder.join("data"),
            certificate.certificate,
            certificate.key,
        );
        std::fs::write(&config, text)?;
        let mut command = Command::new(program);
        command.arg("-c").arg(&config);
        let mut server = Server::start(&command, start)?;
        server.wait_for(port)?;
        let nats = Self {
            port,
            tls: None,
            is_shared: false,
        };
        Ok((server, nats))
    }

    /// The same server with one stream for all inboxes.
    pub(in super::super) fn shared(&self) -> Self {
        Self {
            is_shared: true,
            ..self.clone()
        }
    }

    /// The same server over TLS.
    pub(in super::super) fn secured(&self, tls: &Arc<ClientConfig>) -> Self {
        Self {
            tls: Some(Arc::clone(tls)),
            ..self.clone()
        }
    }

    /// A connection, and the beginning of subjects that nobody else listens to.
    async fn open(&self) -> anyhow::Result<(Line, String)> {
        let mut line = Line::connect(self.port).await?;
        let info = line.next_text().await?;
        anyhow::ensure!(info.starts_with("INFO "), "not NATS");
        if let Some(config) = &self.tls {
            line = line.secured(config).await?;
        }
        let own = format!("_B.{}", CONNECTIONS.fetch_add(1, Ordering::Relaxed));
        let is_secured = self.tls.is_some();
        line.out.extend_from_slice(
            format!(
                "CONNECT {{\"verbose\":false,\"pedantic\":false,\"headers\":false,\
                 \"tls_required\":{is_secured},\"protocol\":1,\"lang\":\"rust\",\
                 \"version\":\"1\"}}\r\nSUB {own}.* 1\r\n"
            )
            .as_bytes(),
        );
        line.flush().await?;
        Ok((line, own))
    }

    async fn ask(&self, subject: &str, body: &str) -> anyhow::Result<()> {
        let (mut line, own) = self.open().await?;
        add_message(&mut line.out, subject, &format!("{own}.0"), body.as_bytes());
        line.flush().await?;
        let message = next_message(&mut line).await?;
        refuse_error(message.body(&line))?;
        Ok(())
    }
}

/// Where the messages of an inbox are, and what receives them.
struct Inbox {
    stream: String,
    subject: String,
    consumer: String,
}

impl Nats {
    fn inbox(&self, number: u64) -> Inbox {
        let (stream, subject) = if self.is_shared {
            (SHARED.to_owned(), format!("{SHARED}.{number}"))
        } else {
            (format!("inbox{number}"), format!("inbox{number}"))
        };
        Inbox {
            stream,
            subject,
            consumer: format!("device{number}"),
        }
    }
}

impl Peer for Nats {
    type Publisher = Sender;
    type Consumer = Receiver;

    async fn make(&self, number: u64) -> anyhow::Result<()> {
        let name = self.inbox(number).stream;
        let subjects = if self.is_shared {
            format!("{SHARED}.*")
        } else {
            name.clone()
        };
        let body = format!(
            "{{\"name\":\"{name}\",\"subjects\":[\"{subjects}\"],\"retention\":\"workqueue\",\
             \"storage\":\"file\",\"num_replicas\":1}}"
        );
        // Making one that is there, as it is, is no error.
        self.ask(&format!("$JS.API.STREAM.CREATE.{name}"), &body)
            .await
    }

    async fn clear(&self, number: u64) -> anyhow::Result<()> {
        let name = self.inbox(number).stream;
        if self.is_shared {
            // The consumers, and for the next load the messages, of the others go with it.
            let _ = self.ask(&format!("$JS.API.STREAM.DELETE.{name}"), "").await;
            return Ok(());
        }
        self.ask(&format!("$JS.API.STREAM.DELETE.{name}"), "").await
    }

    async fn publisher(&self, number: u64) -> anyhow::Result<Sender> {
        let (line, own) = self.open().await?;
        Ok(Sender {
            line,
            own,
            subject: self.inbox(number).subject,
            next: 0,
        })
    }

    async fn consumer(&self, number: u64) -> anyhow::Result<Receiver> {
        let Inbox {
            stream,
            subject,
            consumer,
        } = self.inbox(number);
        let (mut line, own) = self.open().await?;
        // JetStream sees no interest in a subject that only a wildcard covers.
        line.out
            .extend_from_slice(format!("SUB {own}d 2\r\n").as_bytes());
        let body = format!(
            "{{\"stream_name\":\"{stream}\",\"config\":{{\"durable_name\":\"{consumer}\",\
             \"filter_subject\":\"{subject}\",\
             \"deliver_subject\":\"{own}d\",\"ack_policy\":\"explicit\",\
             \"max_ack_pending\":10000}}}}"
        );
        let subject = format!("$JS.API.CONSUMER.DURABLE.CREATE.{stream}.{consumer}");
        add_message(
            &mut line.out,
            &subject,
            &format!("{own}.0"),
            body.as_bytes(),
        );
        line.flush().await?;
        let answer = next_message(&mut line).await?;
        refuse_error(answer.body(&line))?;
        line.take(answer.bytes);
        Ok(Receiver {
            line,
            replies: Vec::new(),
        })
    }
}

pub(in super::super) struct Sender {
    line: Line,
    own: String,
    subject: String,
    next: u64,
}

impl Publisher for Sender {
    async fn publish(&mut self, body: &[u8]) -> anyhow::Result<()> {
        let reply = format!("{}.{}", self.own, self.next);
        self.next += 1;
        add_message(&mut self.line.out, &self.subject, &reply, body);
        Ok(())
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.line.flush().await?)
    }

    async fn confirmed(&mut self, into: &mut Vec<u64>) -> anyhow::Result<()> {
        let mut next = Some(next_message(&mut self.line).await?);
        while let Some(message) = next {
            refuse_error(message.body(&self.line))?;
            let number = message.subject.rsplit_once('.').context("a subject")?.1;
            into.push(number.parse()?);
            self.line.take(message.bytes);
            next = Message::parse(&mut self.line)?;
        }
        Ok(())
    }
}

pub(in super::super) struct Receiver {
    line: Line,
    replies: Vec<String>,
}

impl Consumer for Receiver {
    async fn receive(&mut self, into: &mut Vec<Mark>) -> anyhow::Result<()> {
        let mut next = Some(next_message(&mut self.line).await?);
        while let Some(message) = next {
            into.push(Mark::read(message.body(&self.line))?);
            self.line.take(message.bytes);
            self.replies.push(message.reply.context("no reply")?);
            next = Message::parse(&mut self.line)?;
        }
        Ok(())
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        for reply in self.replies.drain(..) {
            let text = format!("PUB {reply} 4\r\n+ACK\r\n");
            self.line.out.extend_from_slice(text.as_bytes());
        }
        Ok(self.line.flush().await?)
    }
}

fn add_message(out: &mut Vec<u8>, subject: &str, reply: &str, body: &[u8]) {
    out.extend_from_slice(format!("PUB {subject} {reply} {}\r\n", body.len()).as_bytes());
    out.extend_from_slice(body);
    out.extend_from_slice(b"\r\n");
}

fn refuse_error(body: &[u8]) -> anyhow::Result<()> {
    let text = String::from_utf8_lossy(body);
    anyhow::ensure!(!text.contains("\"error\""), "NATS says {text}");
    Ok(())
}

async fn next_message(line: &mut Line) -> anyhow::Result<Message> {
    loop {
        if let Some(message) = Message::parse(line)? {
            return Ok(message);
        }
        // Answers to pings.
        line.flush().await?;
        line.fill().await?;
    }
}

/// A message at the front of what has arrived.
struct Message {
    subject: String,
    reply: Option<String>,
    start: usize,
    length: usize,
    /// All of it, to be taken.
    bytes: usize,
}

impl Message {
    fn body<'a>(&self, line: &'a Line) -> &'a [u8] {
        let body = line.arrived().get(self.start..self.start + self.length);
        body.unwrap_or_default()
    }

    fn parse(line: &mut Line) -> anyhow::Result<Option<Self>> {
        loop {
            let Some(end) = find_line_end(line.arrived()) else {
                return Ok(None);
            };
            let head = line.arrived().get(..end).unwrap_or_default();
            let head = std::str::from_utf8(head)?.to_owned();
            let words: Vec<&str> = head.split_whitespace().collect();
            let (subject, reply, length) = match words.as_slice() {
                ["MSG", subject, _, length] => (*subject, None, *length),
                ["MSG", subject, _, reply, length] => (*subject, Some(*reply), *length),
                ["PING"] => {
                    line.out.extend_from_slice(b"PONG\r\n");
                    line.take(end + 2);
                    continue;
                }
                ["PONG" | "+OK"] | ["INFO", ..] => {
                    line.take(end + 2);
                    continue;
                }
                _ => bail!("NATS says {head}"),
            };
            let length: usize = length.parse()?;
            let start = end + 2;
            let bytes = start + length + 2;
            return Ok((line.arrived().len() >= bytes).then(|| Self {
                subject: subject.to_owned(),
                reply: reply.map(str::to_owned),
                start,
                length,
                bytes,
            }));
        }
    }
}
