//! Our store alone, as the native door uses it.

use std::collections::VecDeque;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use sealpost_protocol::key::NoisePublic;
use sealpost_relay::store::{
    BlobId, InboxStore, InboxWatch, PutRoom, PutTicket, SqliteStore, StoreSettings, WriterPace,
};
use sealpost_relay::{Clock, StoreLimits, SystemClock};
use tokio::sync::Notify;

use super::super::peer::{Consumer, InOrder, Mark, Peer, Publisher};

/// How long blobs may stay: longer than any run.
const LIFE_MS: u64 = 24 * 3_600 * 1_000;

/// Our store.
#[derive(Clone)]
pub(in super::super) struct Store(Arc<SqliteStore>);

impl Store {
    pub(in super::super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let settings = StoreSettings {
            limits: StoreLimits {
                inbox_blobs_max: u64::MAX,
                inbox_bytes_max: u64::MAX,
                inboxes_max: u64::MAX,
                total_bytes_max: u64::MAX,
                disk_free_bytes_min: 0,
            },
            life_ms: LIFE_MS,
            pace: WriterPace {
                // Not while another queue is measured.
                tidy_after: Duration::from_secs(3_600),
                ..WriterPace::default()
            },
        };
        let store = SqliteStore::open(&folder.join("store.db"), settings, false)?;
        Ok(Self(Arc::new(store)))
    }
}

fn device(number: u64) -> NoisePublic {
    let mut bytes = [0x17; 32];
    if let Some(start) = bytes.first_chunk_mut() {
        *start = number.to_be_bytes();
    }
    NoisePublic::from_bytes(bytes)
}

impl Peer for Store {
    type Publisher = Putter;
    type Consumer = Taker;

    async fn make(&self, _number: u64) -> anyhow::Result<()> {
        Ok(())
    }

    async fn clear(&self, number: u64) -> anyhow::Result<()> {
        let mut after = BlobId::START;
        loop {
            let chunk = self.0.read(device(number), after, SystemClock.now_ms());
            let chunk = chunk.await?;
            if chunk.blobs.is_empty() {
                return Ok(());
            }
            after = chunk.through;
            for blob in chunk.blobs {
                self.0.delete(device(number), blob.id);
            }
        }
    }

    async fn publisher(&self, number: u64) -> anyhow::Result<Putter> {
        Ok(Putter {
            store: Arc::clone(&self.0),
            device: device(number),
            first: None,
            waiting: VecDeque::new(),
            order: InOrder::default(),
        })
    }

    async fn consumer(&self, number: u64) -> anyhow::Result<Taker> {
        let bell = Arc::new(Notify::new());
        Ok(Taker {
            _watch: self.0.watch(device(number), Arc::clone(&bell)),
            store: Arc::clone(&self.0),
            device: device(number),
            bell,
            after: BlobId::START,
            taken: Vec::new(),
        })
    }
}

type Outcome = Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>>;

/// Pushes, without a session.
pub(in super::super) struct Putter {
    store: Arc<SqliteStore>,
    device: NoisePublic,
    /// The oldest that isn't durable, while it is waited for.
    first: Option<Outcome>,
    waiting: VecDeque<PutTicket>,
    order: InOrder,
}

impl Publisher for Putter {
    async fn publish(&mut self, body: &[u8]) -> anyhow::Result<()> {
        let body = Bytes::copy_from_slice(body);
        let put = self.store.put(
            self.device,
            body,
            PutRoom::uncounted(),
            SystemClock.now_ms(),
        );
        match put {
            Ok(ticket) => self.waiting.push_back(ticket),
            Err(refusal) => bail!("the store refuses: {refusal:?}"),
        }
        Ok(())
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    async fn confirmed(&mut self, into: &mut Vec<u64>) -> anyhow::Result<()> {
        if self.first.is_none() {
            let ticket = self.waiting.pop_front().context("nothing is waiting")?;
            self.first = Some(Box::pin(async { Ok(ticket.outcome().await?) }));
        }
        let first = self.first.as_mut().context("nothing is waiting")?;
        first.await?;
        self.first = None;
        self.order.next(into);
        while let Some(outcome) = self.waiting.front_mut().and_then(PutTicket::try_outcome) {
            outcome?;
            self.waiting.pop_front();
            self.order.next(into);
        }
        Ok(())
    }
}

/// A receive session, without the session.
pub(in super::super) struct Taker {
    store: Arc<SqliteStore>,
    device: NoisePublic,
    bell: Arc<Notify>,
    _watch: InboxWatch,
    after: BlobId,
    taken: Vec<BlobId>,
}

impl Consumer for Taker {
    async fn receive(&mut self, into: &mut Vec<Mark>) -> anyhow::Result<()> {
        loop {
            let chunk = self
                .store
                .read(self.device, self.after, SystemClock.now_ms())
                .await?;
            self.after = chunk.through;
            for blob in chunk.blobs {
                into.push(Mark::read(&blob.envelope)?);
                self.taken.push(blob.id);
            }
            if !into.is_empty() {
                return Ok(());
            }
            self.bell.notified().await;
        }
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        for id in self.taken.drain(..) {
            self.store.delete(self.device, id);
        }
        Ok(())
    }
}
