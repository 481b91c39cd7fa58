//! RabbitMQ quorum queues.
//!
//! Set up: one node; a durable quorum queue per inbox, persistent messages and publisher
//! confirms, which a quorum queue gives once its log is synced. The consumer prefetches 256
//! messages and acknowledges what it got with one frame. No plugins, no statistics.

use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, bail};
use tokio_rustls::rustls::ClientConfig;

use super::super::certificate::Certificate;
use super::super::line::Line;
use super::super::process::{self, Server, Start};
use super::{Consumer, Mark, Peer, Publisher};

/// Frames may be this long: one for any body here.
const FRAME_BYTES: u32 = 131_072;
const METHOD: u8 = 1;
const HEADER: u8 = 2;
const BODY: u8 = 3;
const FRAME_END: u8 = 0xce;

/// Classes and methods of AMQP 0-9-1.
type Method = (u16, u16);
const START: Method = (10, 10);
const TUNE: Method = (10, 30);
const CONNECTION_OPEN_OK: Method = (10, 41);
const CHANNEL_OPEN_OK: Method = (20, 11);
const QUEUE_DECLARE_OK: Method = (50, 11);
const QUEUE_DELETE_OK: Method = (50, 41);
const QOS_OK: Method = (60, 11);
const CONSUME_OK: Method = (60, 21);
const DELIVER: Method = (60, 60);
const ACK: Method = (60, 80);
const CONFIRM_OK: Method = (85, 11);

/// RabbitMQ, plain or over TLS.
#[derive(Clone, Debug)]
pub(in super::super) struct RabbitMq {
    port: u16,
    tls_port: u16,
    tls: Option<Arc<ClientConfig>>,
}

/// The server and the name service that Erlang wants, which mustn't be the system's.
pub(in super::super) struct Servers {
    pub(in super::super) rabbitmq: Server,
    _names: Server,
}

impl RabbitMq {
    pub(in super::super) fn start(
        start: &Start<'_>,
        certificate: &Certificate,
    ) -> anyhow::Result<(Servers, Self)> {
        let folder = start.folder.join("rabbitmq");
        std::fs::create_dir_all(&folder)?;
        let ports = [(); 4].map(|()| process::free_port());
        let [Ok(port), Ok(tls_port), Ok(names_port), Ok(node_port)] = ports else {
            bail!("no free ports");
        };
        let mut names = Command::new("epmd");
        names.args(["-port", &names_port.to_string(), "-address", "127.0.0.1"]);
        let names = Server::start(
            &names,
            &Start {
                name: "epmd",
                is_traced: false,
                ..*start
            },
        )?;
        let text = format!(
            "listeners.tcp.1 = 127.0.0.1:{port}\nlisteners.ssl.1 = 127.0.0.1:{tls_port}\n\
             ssl_options.cacertfile = {certificate}\nssl_options.certfile = {certificate}\n\
             ssl_options.keyfile = {key}\nssl_options.verify = verify_none\n\
             ssl_options.fail_if_no_peer_cert = false\ndisk_free_limit.absolute = 50MB\n\
             collect_statistics_interval = 60000\nlog.console.level = warning\n",
            certificate = certificate.certificate.display(),
            key = certificate.key.display(),
        );
        std::fs::write(folder.join("rabbitmq.conf"), text)?;
        std::fs::write(folder.join("plugins"), "[].")?;
        std::fs::write(folder.join("environment"), "")?;
        let mut command = Command::new("/usr/lib/rabbitmq/bin/rabbitmq-server");
        command
            .env("HOME", &folder)
            .env("ERL_EPMD_PORT", names_port.to_string())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODENAME", format!("bench{port}@localhost"))
            .env("RABBITMQ_DIST_PORT", node_port.to_string())
            .env("RABBITMQ_CONF_ENV_FILE", folder.join("environment"))
            .env("RABBITMQ_CONFIG_FILE", folder.join("rabbitmq.conf"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
            .env("RABBITMQ_MNESIA_BASE", folder.join("data"))
            .env("RABBITMQ_LOG_BASE", folder.join("log"))
            .env("RABBITMQ_PID_FILE", folder.join("pid"));
        let mut rabbitmq = Server::start(&command, start)?;
        rabbitmq.wait_for(port)?;
        rabbitmq.wait_for(tls_port)?;
        let servers = Servers {
            rabbitmq,
            _names: names,
        };
        Ok((
            servers,
            Self {
                port,
                tls_port,
                tls: None,
            },
        ))
    }

    /// The same server over TLS.
    pub(in super::super) fn secured(&self, tls: &Arc<ClientConfig>) -> Self {
        Self {
            tls: Some(Arc::clone(tls)),
            ..self.clone()
        }
    }

    /// A connection with a channel.
    async fn open(&self) -> anyhow::Result<Line> {
        let port = if self.tls.is_some() {
            self.tls_port
        } else {
            self.port
        };
        let mut line = Line::open(port, self.tls.as_ref()).await?;
        line.out.extend_from_slice(b"AMQP\0\0\x09\x01");
        expect(&mut line, START).await?;
        let mut login = long(0_u32);
        login.extend_from_slice(&short("PLAIN"));
        login.extend_from_slice(&long(12_u32));
        login.extend_from_slice(b"\0guest\0guest");
        login.extend_from_slice(&short("en_US"));
        add_method(&mut line.out, 0, (10, 11), &login)?;
        expect(&mut line, TUNE).await?;
        let mut tune = 2_047_u16.to_be_bytes().to_vec();
        tune.extend_from_slice(&long(FRAME_BYTES));
        tune.extend_from_slice(&[0, 0]);
        add_method(&mut line.out, 0, (10, 31), &tune)?;
        add_method(
            &mut line.out,
            0,
            (10, 40),
            &[&short("/")[..], &[0, 0]].concat(),
        )?;
        expect(&mut line, CONNECTION_OPEN_OK).await?;
        add_method(&mut line.out, 1, (20, 10), &[0])?;
        expect(&mut line, CHANNEL_OPEN_OK).await?;
        Ok(line)
    }
}

fn queue(number: u64) -> Vec<u8> {
    short(&format!("inbox{number}"))
}

impl Peer for RabbitMq {
    type Publisher = Sender;
    type Consumer = Receiver;

    async fn make(&self, number: u64) -> anyhow::Result<()> {
        let mut line = self.open().await?;
        let mut kind = short("x-queue-type");
        kind.push(b'S');
        kind.extend_from_slice(&long(6_u32));
        kind.extend_from_slice(b"quorum");
        // Two reserved bytes, the name, the bit for durable, a table of one entry.
        let table = long(u32::try_from(kind.len())?);
        let body = [&[0, 0][..], &queue(number), &[0b10], &table, &kind].concat();
        add_method(&mut line.out, 1, (50, 10), &body)?;
        expect(&mut line, QUEUE_DECLARE_OK).await
    }

    async fn clear(&self, number: u64) -> anyhow::Result<()> {
        let mut line = self.open().await?;
        let body = [&[0, 0][..], &queue(number), &[0]].concat();
        add_method(&mut line.out, 1, (50, 40), &body)?;
        expect(&mut line, QUEUE_DELETE_OK).await
    }

    async fn publisher(&self, number: u64) -> anyhow::Result<Sender> {
        let mut line = self.open().await?;
        add_method(&mut line.out, 1, (85, 10), &[0])?;
        expect(&mut line, CONFIRM_OK).await?;
        Ok(Sender {
            line,
            publish: [&[0, 0][..], &short(""), &queue(number), &[0]].concat(),
            confirmed: 0,
            early: Vec::new(),
        })
    }

    async fn consumer(&self, number: u64) -> anyhow::Result<Receiver> {
        let mut line = self.open().await?;
        add_method(&mut line.out, 1, (60, 10), &[0, 0, 0, 0, 1, 0, 0])?;
        expect(&mut line, QOS_OK).await?;
        let body = [&[0, 0][..], &queue(number), &short(""), &[0], &long(0_u32)].concat();
        add_method(&mut line.out, 1, (60, 20), &body)?;
        expect(&mut line, CONSUME_OK).await?;
        Ok(Receiver { line, last: None })
    }
}

pub(in super::super) struct Sender {
    line: Line,
    /// The method's arguments, which are the same for every message.
    publish: Vec<u8>,
    /// How many are confirmed without a gap.
    confirmed: u64,
    /// Numbers that were confirmed before earlier ones.
    early: Vec<u64>,
}

impl Publisher for Sender {
    async fn publish(&mut self, body: &[u8]) -> anyhow::Result<()> {
        let out = &mut self.line.out;
        add_method(out, 1, (60, 40), &self.publish)?;
        let mut header = vec![0, 60, 0, 0];
        header.extend_from_slice(&u64::try_from(body.len())?.to_be_bytes());
        // The one property is the delivery mode, and 2 is persistent.
        header.extend_from_slice(&[0x10, 0, 2]);
        add_frame(out, HEADER, 1, &header)?;
        add_frame(out, BODY, 1, body)
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.line.flush().await?)
    }

    async fn confirmed(&mut self, into: &mut Vec<u64>) -> anyhow::Result<()> {
        let before = into.len();
        while into.len() == before {
            while let Some(frame) = Frame::parse(&self.line)? {
                if frame.method(&self.line) == Some(ACK) {
                    let body = frame.body(&self.line);
                    let tag = u64_at(body, 4)?;
                    let is_multiple = body.get(12).is_some_and(|bits| bits & 1 == 1);
                    self.confirm(tag - 1, is_multiple, into);
                } else {
                    frame.refuse_close(&self.line)?;
                }
                self.line.take(frame.bytes);
            }
            if into.len() == before {
                self.line.fill().await?;
            }
        }
        Ok(())
    }
}

impl Sender {
    fn confirm(&mut self, number: u64, is_multiple: bool, into: &mut Vec<u64>) {
        let first = if is_multiple { self.confirmed } else { number };
        for number in first..=number {
            if !self.early.contains(&number) {
                into.push(number);
                self.early.push(number);
            }
        }
        while let Some(at) = self.early.iter().position(|early| *early == self.confirmed) {
            self.early.swap_remove(at);
            self.confirmed += 1;
        }
    }
}

pub(in super::super) struct Receiver {
    line: Line,
    /// The last tag that isn't acknowledged.
    last: Option<u64>,
}

impl Consumer for Receiver {
    async fn receive(&mut self, into: &mut Vec<Mark>) -> anyhow::Result<()> {
        let before = into.len();
        while into.len() == before {
            while let Some(frame) = Frame::parse(&self.line)? {
                let body = frame.body(&self.line);
                if frame.method(&self.line) == Some(DELIVER) {
                    let name = usize::from(*body.get(4).context("no name")?);
                    self.last = Some(u64_at(body, 5 + name)?);
                } else if frame.kind == BODY {
                    into.push(Mark::read(body)?);
                } else {
                    frame.refuse_close(&self.line)?;
                }
                self.line.take(frame.bytes);
            }
            if into.len() == before {
                self.line.fill().await?;
            }
        }
        Ok(())
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        if let Some(tag) = self.last.take() {
            let body = [&tag.to_be_bytes()[..], &[1]].concat();
            add_method(&mut self.line.out, 1, ACK, &body)?;
        }
        Ok(self.line.flush().await?)
    }
}

/// Sends what is queued and waits for one method.
async fn expect(line: &mut Line, method: Method) -> anyhow::Result<()> {
    line.flush().await?;
    loop {
        while let Some(frame) = Frame::parse(line)? {
            let said = frame.method(line);
            frame.refuse_close(line)?;
            line.take(frame.bytes);
            if said == Some(method) {
                return Ok(());
            }
        }
        line.fill().await?;
    }
}

/// A frame at the front of what has arrived.
struct Frame {
    kind: u8,
    /// All of it, to be taken.
    bytes: usize,
}

impl Frame {
    fn parse(line: &Line) -> anyhow::Result<Option<Self>> {
        let Some([kind, _, _, length @ ..]) = line.arrived().first_chunk::<7>() else {
            return Ok(None);
        };
        let bytes = usize::try_from(u32::from_be_bytes(*length))? + 8;
        Ok((line.arrived().len() >= bytes).then_some(Self { kind: *kind, bytes }))
    }

    fn body<'a>(&self, line: &'a Line) -> &'a [u8] {
        line.arrived().get(7..self.bytes - 1).unwrap_or_default()
    }

    fn method(&self, line: &Line) -> Option<Method> {
        let [a, b, c, d] = *self.body(line).first_chunk::<4>()?;
        let method = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        (self.kind == METHOD).then_some(method)
    }

    /// Connection and channel are closed with a reason, and a message can be refused.
    fn refuse_close(&self, line: &Line) -> anyhow::Result<()> {
        if matches!(self.method(line), Some((10, 50) | (20, 40) | (60, 120))) {
            bail!("RabbitMQ says {}", String::from_utf8_lossy(self.body(line)));
        }
        Ok(())
    }
}

fn u64_at(body: &[u8], at: usize) -> anyhow::Result<u64> {
    let bytes = body.get(at..at + 8).context("too short")?;
    Ok(u64::from_be_bytes(bytes.try_into()?))
}

fn short(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    [&[length], text.as_bytes()].concat()
}

fn long(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

fn add_method(out: &mut Vec<u8>, channel: u16, method: Method, body: &[u8]) -> anyhow::Result<()> {
    let head = [method.0.to_be_bytes(), method.1.to_be_bytes()].concat();
    add_frame(out, METHOD, channel, &[&head, body].concat())
}

fn add_frame(out: &mut Vec<u8>, kind: u8, channel: u16, body: &[u8]) -> anyhow::Result<()> {
    out.push(kind);
    out.extend_from_slice(&channel.to_be_bytes());
    out.extend_from_slice(&u32::try_from(body.len())?.to_be_bytes());
    out.extend_from_slice(body);
    out.push(FRAME_END);
    Ok(())
}
