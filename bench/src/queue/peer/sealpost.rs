//! Our relay as it is run, over real Noise sessions.
//!
//! Set up: the program itself with its own defaults for durability; quotas, rates and the
//! length of a push session are raised, because one sender here stands for hundreds. A
//! publisher is a push session that is used again, or a connection and handshake per push. A
//! consumer is the device's receive session, which acknowledges each blob.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use rand_core::OsRng;
use sealpost_protocol::channel::{self, Channel, Opener, RecordBuffer, Sealer};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};

use super::super::line::Line;
use super::super::load::Load;
use super::super::process::{self, Server, Start};
use super::{Consumer, InOrder, Mark, Peer, Publisher};

/// The relay's own key: any will do.
const RELAY_KEY: [u8; 32] = [0x42; 32];

/// What is raised, so that bounds meant for people don't end the load.
const RAISED: [(&str, &str); 8] = [
    ("PUSH_RATE", "1000000000"),
    ("PUSH_BURST", "1000000000"),
    ("INBOX_MAX_BLOBS", "1000000000"),
    ("INBOX_MAX_BYTES", "1000000000000"),
    ("STORE_MAX_BYTES", "1000000000000"),
    ("STORE_MIN_FREE_BYTES", "0"),
    ("PUSH_SESSION_TIMEOUT", "10m"),
    ("RECEIVE_IDLE_TIMEOUT", "10m"),
];

/// Our relay.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Sealpost {
    receive: u16,
    push: u16,
    key: NoisePublic,
    /// Whether each push has a connection of its own.
    is_fresh: bool,
}

impl Sealpost {
    pub(in super::super) fn start(
        start: &Start<'_>,
        program: &Path,
    ) -> anyhow::Result<(Server, Self)> {
        let (receive, push) = (process::free_port()?, process::free_port()?);
        let mut command = Command::new(program);
        command.args(["run", "--no-config", "--listen-health", "off"]);
        command.args(["--log", "error"]);
        command
            .arg("--listen-receive")
            .arg(format!("127.0.0.1:{receive}"));
        command
            .arg("--listen-push")
            .arg(format!("127.0.0.1:{push}"));
        command.arg("--data-dir").arg(start.folder.join("sealpost"));
        for (name, value) in RAISED {
            command.env(format!("TRUESEAL_RELAY_{name}"), value);
        }
        let hex: String = RELAY_KEY.iter().map(|byte| format!("{byte:02x}")).collect();
        command.env("TRUESEAL_RELAY_KEYPAIR_HEX", hex);
        let mut server = Server::start(&command, start)?;
        server.wait_for(push)?;
        let key = NoiseSecret::from_bytes(RELAY_KEY).public();
        Ok((
            server,
            Self {
                receive,
                push,
                key,
                is_fresh: false,
            },
        ))
    }

    /// The same relay with a connection and handshake per push.
    pub(in super::super) fn fresh(self) -> Self {
        Self {
            is_fresh: true,
            ..self
        }
    }
}

/// The device of an inbox.
fn device(number: u64) -> NoiseSecret {
    let mut bytes = [0x17; 32];
    if let Some(start) = bytes.first_chunk_mut() {
        *start = number.to_be_bytes();
    }
    NoiseSecret::from_bytes(bytes)
}

impl Peer for Sealpost {
    type Publisher = Push;
    type Consumer = Receive;

    fn publishers_per_inbox(&self, load: Load) -> usize {
        if self.is_fresh { load.window() } else { 1 }
    }

    async fn make(&self, _number: u64) -> anyhow::Result<()> {
        Ok(())
    }

    async fn clear(&self, _number: u64) -> anyhow::Result<()> {
        Ok(())
    }

    async fn publisher(&self, number: u64) -> anyhow::Result<Push> {
        let session = if self.is_fresh {
            None
        } else {
            Some(Session::push(*self).await?)
        };
        Ok(Push {
            relay: *self,
            session,
            recipient: device(number).public(),
            order: InOrder::default(),
        })
    }

    async fn consumer(&self, number: u64) -> anyhow::Result<Receive> {
        Ok(Receive {
            session: Session::receive(*self, &device(number)).await?,
            blobs: Vec::new(),
        })
    }
}

/// A push session, or many of one push each.
pub(in super::super) struct Push {
    relay: Sealpost,
    session: Option<Session>,
    recipient: NoisePublic,
    order: InOrder,
}

impl Publisher for Push {
    async fn publish(&mut self, body: &[u8]) -> anyhow::Result<()> {
        if self.session.is_none() {
            self.session = Some(Session::push(self.relay).await?);
        }
        let session = self.session.as_mut().context("no session")?;
        session.add(&Frame::Push {
            recipient: self.recipient,
            envelope: body,
        })
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        match &mut self.session {
            Some(session) => Ok(session.line.flush().await?),
            None => Ok(()),
        }
    }

    async fn confirmed(&mut self, into: &mut Vec<u64>) -> anyhow::Result<()> {
        let session = self.session.as_mut().context("no session")?;
        let order = &mut self.order;
        session
            .read(|frame| match frame {
                Frame::Ack => {
                    order.next(into);
                    Ok(())
                }
                other => bail!("the relay says {other:?}"),
            })
            .await?;
        if self.relay.is_fresh {
            self.session = None;
        }
        Ok(())
    }
}

/// A device's receive session.
pub(in super::super) struct Receive {
    session: Session,
    blobs: Vec<u64>,
}

impl Consumer for Receive {
    async fn receive(&mut self, into: &mut Vec<Mark>) -> anyhow::Result<()> {
        let blobs = &mut self.blobs;
        self.session
            .read(|frame| match frame {
                Frame::Deliver { blob_id, envelope } => {
                    blobs.push(blob_id);
                    into.push(Mark::read(envelope)?);
                    Ok(())
                }
                other => bail!("the relay says {other:?}"),
            })
            .await
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        for blob_id in self.blobs.drain(..) {
            self.session.add(&Frame::DeliverAck { blob_id })?;
        }
        Ok(self.session.line.flush().await?)
    }
}

/// A device's end of a session.
struct Session {
    line: Line,
    sealer: Sealer,
    opener: Opener,
    records: RecordBuffer,
}

impl Session {
    async fn push(relay: Sealpost) -> anyhow::Result<Self> {
        let mut line = Line::connect(relay.push).await?;
        let mut records = RecordBuffer::new();
        let (state, hello) = channel::push_start(&relay.key, &mut OsRng)?;
        line.out.extend_from_slice(&hello);
        line.flush().await?;
        let reply = next_record(&mut line, &mut records).await?;
        Ok(Self::new(line, records, state.handle_reply(&reply)?))
    }

    async fn receive(relay: Sealpost, device: &NoiseSecret) -> anyhow::Result<Self> {
        let mut line = Line::connect(relay.receive).await?;
        let mut records = RecordBuffer::new();
        let (state, hello) = channel::receive_start(device, &relay.key, &mut OsRng)?;
        line.out.extend_from_slice(&hello);
        line.flush().await?;
        let reply = next_record(&mut line, &mut records).await?;
        let (channel, finish) = state.handle_reply(&reply)?;
        line.out.extend_from_slice(&finish);
        line.flush().await?;
        Ok(Self::new(line, records, channel))
    }

    fn new(line: Line, records: RecordBuffer, channel: Channel) -> Self {
        let (sealer, opener) = channel.split();
        Self {
            line,
            sealer,
            opener,
            records,
        }
    }

    fn add(&mut self, frame: &Frame<'_>) -> anyhow::Result<()> {
        let record = self.sealer.seal(frame)?;
        self.line.out.extend_from_slice(&record);
        Ok(())
    }

    /// Waits for a frame, and gives it and all that came with it to `each`.
    async fn read(
        &mut self,
        mut each: impl FnMut(Frame<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut next = Some(next_record(&mut self.line, &mut self.records).await?);
        while let Some(record) = next {
            let frame = self.opener.open(&record)?;
            each(Frame::decode(&frame)?)?;
            next = self.records.next_record()?;
        }
        Ok(())
    }
}

async fn next_record(line: &mut Line, records: &mut RecordBuffer) -> anyhow::Result<Vec<u8>> {
    loop {
        if let Some(record) = records.next_record()? {
            return Ok(record);
        }
        line.fill().await?;
        records.push(line.arrived());
        line.take(line.arrived().len());
    }
}
