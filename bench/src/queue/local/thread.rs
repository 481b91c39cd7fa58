//! One thread that writes what many producers queue: the bare log, and SQLite without a group.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::peer::{Consumer, InOrder, Mark, Peer, Publisher};

/// The most that the log writes at once, as our store does.
const BATCH_BYTES: usize = 16 * 1_024 * 1_024;
/// The longest that the log waits for more after a group, as our store does.
const GATHER_MAX: Duration = Duration::from_micros(300);
/// The silence after which it doesn't.
const GATHER_GAP: Duration = Duration::from_micros(40);

/// Something that makes bodies durable.
pub(in super::super) trait Writer: Send + 'static {
    /// Whether it gains by larger groups.
    const IS_GROUPED: bool;

    /// Makes the first of `bodies` durable, and tells how many.
    fn write(&mut self, bodies: &[Job]) -> anyhow::Result<usize>;

    /// Drops what there is.
    fn empty(&mut self) -> anyhow::Result<()>;
}

/// A body on its way to the disk. Without a body it asks to drop everything.
pub(in super::super) struct Job {
    inbox: u64,
    body: Option<Vec<u8>>,
    answer: oneshot::Sender<()>,
}

/// A thread and its queue.
#[derive(Clone)]
pub(in super::super) struct Thread(mpsc::Sender<Job>);

impl Thread {
    pub(in super::super) fn start(mut writer: impl Writer) -> Self {
        let (sender, jobs) = mpsc::channel();
        std::thread::spawn(move || serve(&mut writer, &jobs));
        Self(sender)
    }

    fn add(&self, inbox: u64, body: Option<Vec<u8>>) -> anyhow::Result<oneshot::Receiver<()>> {
        let (answer, outcome) = oneshot::channel();
        let job = Job {
            inbox,
            body,
            answer,
        };
        self.0.send(job).ok().context("the thread has failed")?;
        Ok(outcome)
    }
}

fn serve<W: Writer>(writer: &mut W, jobs: &mpsc::Receiver<Job>) -> anyhow::Result<()> {
    let mut waiting = Vec::new();
    let mut last = 1;
    while let Ok(job) = jobs.recv() {
        waiting.push(job);
        if W::IS_GROUPED && last > 1 {
            gather(jobs, &mut waiting);
        }
        last = waiting.len();
        while !waiting.is_empty() {
            waiting.extend(jobs.try_iter());
            let is_reset = waiting.first().is_some_and(|job| job.body.is_none());
            let count = if is_reset {
                writer.empty()?;
                1
            } else {
                writer.write(&waiting)?
            };
            for job in waiting.drain(..count) {
                let _ = job.answer.send(());
            }
        }
    }
    Ok(())
}

/// Waits for those who were just answered and come again, or they would be split into two
/// groups that take turns.
fn gather(jobs: &mpsc::Receiver<Job>, waiting: &mut Vec<Job>) {
    let end = Instant::now() + GATHER_MAX;
    while Instant::now() < end {
        match jobs.recv_timeout(GATHER_GAP) {
            Ok(job) => waiting.push(job),
            Err(_) => return,
        }
    }
}

/// An append-only file, with one fdatasync for all that wait: the physical limit.
pub(in super::super) struct Log {
    file: File,
    batch: Vec<u8>,
}

impl Log {
    pub(in super::super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("append.log");
        let file = File::options().create(true).append(true).open(path)?;
        Ok(Self {
            file,
            batch: Vec::new(),
        })
    }
}

impl Writer for Log {
    const IS_GROUPED: bool = true;

    fn write(&mut self, jobs: &[Job]) -> anyhow::Result<usize> {
        self.batch.clear();
        let mut count = 0;
        for body in jobs.iter().map_while(|job| job.body.as_ref()) {
            if count > 0 && self.batch.len() + body.len() > BATCH_BYTES {
                break;
            }
            self.batch.extend_from_slice(body);
            count += 1;
        }
        self.file.write_all(&self.batch)?;
        self.file.sync_data()?;
        Ok(count)
    }

    fn empty(&mut self) -> anyhow::Result<()> {
        Ok(self.file.set_len(0)?)
    }
}

/// SQLite as our store sets it up, with a transaction for each push.
pub(in super::super) struct OneByOne {
    connection: Connection,
}

impl OneByOne {
    pub(in super::super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let connection = Connection::open(folder.join("one-by-one.db"))?;
        connection.execute_batch(
            "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;
             PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA wal_autocheckpoint = 1000; PRAGMA temp_store = MEMORY;
             CREATE TABLE blob (id INTEGER PRIMARY KEY, inbox INTEGER NOT NULL,
                 expires_at INTEGER NOT NULL, envelope BLOB NOT NULL) STRICT;",
        )?;
        Ok(Self { connection })
    }
}

impl Writer for OneByOne {
    const IS_GROUPED: bool = false;

    fn write(&mut self, jobs: &[Job]) -> anyhow::Result<usize> {
        let Some((job, body)) = jobs.first().and_then(|job| Some((job, job.body.as_ref()?))) else {
            bail!("nothing to write");
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        // Outside a transaction a statement is one by itself.
        self.connection
            .prepare_cached("INSERT INTO blob (inbox, expires_at, envelope) VALUES (?1, ?2, ?3)")?
            .execute((i64::try_from(job.inbox)?, i64::try_from(now)?, body))?;
        Ok(1)
    }

    fn empty(&mut self) -> anyhow::Result<()> {
        self.connection.execute("DELETE FROM blob", ())?;
        Ok(())
    }
}

impl Peer for Thread {
    type Publisher = Producer;
    type Consumer = Nobody;

    async fn make(&self, _number: u64) -> anyhow::Result<()> {
        Ok(())
    }

    async fn clear(&self, number: u64) -> anyhow::Result<()> {
        Ok(self.add(number, None)?.await?)
    }

    async fn publisher(&self, number: u64) -> anyhow::Result<Producer> {
        Ok(Producer {
            thread: self.clone(),
            inbox: number,
            waiting: VecDeque::new(),
            order: InOrder::default(),
        })
    }

    async fn consumer(&self, _number: u64) -> anyhow::Result<Nobody> {
        bail!("nothing here delivers")
    }
}

pub(in super::super) struct Producer {
    thread: Thread,
    inbox: u64,
    waiting: VecDeque<oneshot::Receiver<()>>,
    order: InOrder,
}

impl Publisher for Producer {
    async fn publish(&mut self, body: &[u8]) -> anyhow::Result<()> {
        let outcome = self.thread.add(self.inbox, Some(body.to_vec()))?;
        self.waiting.push_back(outcome);
        Ok(())
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    async fn confirmed(&mut self, into: &mut Vec<u64>) -> anyhow::Result<()> {
        let first = self.waiting.front_mut().context("nothing is waiting")?;
        first.await?;
        self.waiting.pop_front();
        self.order.next(into);
        while let Some(Ok(())) = self.waiting.front_mut().map(oneshot::Receiver::try_recv) {
            self.waiting.pop_front();
            self.order.next(into);
        }
        Ok(())
    }
}

/// The consumer of what delivers nothing.
pub(in super::super) enum Nobody {}

impl Consumer for Nobody {
    async fn receive(&mut self, _into: &mut Vec<Mark>) -> anyhow::Result<()> {
        match *self {}
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        match *self {}
    }
}
