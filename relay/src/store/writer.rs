//! The one thread that writes: group commit.
//!
//! Owns: the writing connection and the order of all commits. Everything that is queued goes
//! into one transaction, and every put in it is answered after that transaction's commit.
//! Deletes are in no hurry: they ride along with the next puts, or go alone after a short
//! while. When nothing is queued, deleted space goes back to the file system.
//!
//! Never does: answer before the commit, read for a session, wait for a session.
//!
//! A later door adds a variant to [`Write`], a field to [`Batch`] and a table to [`Writer`];
//! the thread, the batching and the failure handling stay as they are.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;
use super::disk::DiskFloor;
use super::free_space::{self, SLICE_LOG_BYTES};
use super::inbox_table::{Applied, InboxBatch, InboxTable, Put};
use super::inboxes::{Removed, SharedInboxes};
use super::log::Log;
use super::mailbox_table::{MailboxBatch, MailboxOrder, MailboxTable};
use super::mailboxes::SharedMailboxes;
use super::schema::StoreLock;
use super::wormhole_table::{WormholeBatch, WormholeOrder, WormholeTable};
use super::wormholes::SharedWormholes;
use crate::limits::charged_bytes;
use crate::metrics::StoreMetrics;
use crate::wormhole::Rules;

/// Bytes after which a batch is committed even if more is queued.
const BATCH_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// Writes after which a batch is committed even if more is queued.
const BATCH_WRITES_MAX: usize = 4_096;

/// The longest wait for as many puts as the last batch had.
const GATHER_MAX: Duration = Duration::from_micros(300);

/// Slices given back at a time while pushes are refused.
const SLICES_FOR_ROOM: u32 = 16;

/// How often the pause before another look doubles while something keeps the log from being
/// emptied: up to a minute with the default pace.
const PAUSE_DOUBLINGS_MAX: u32 = 5;

/// How long the writer puts off what nobody waits for.
#[derive(Clone, Copy, Debug)]
pub struct WriterPace {
    /// The longest that deletes wait for puts to ride along with.
    pub deletes_linger: Duration,
    /// The silence after which space is given back.
    pub tidy_after: Duration,
}

impl Default for WriterPace {
    fn default() -> Self {
        Self {
            deletes_linger: Duration::from_millis(500),
            tidy_after: Duration::from_secs(2),
        }
    }
}

/// One change, of whichever door.
pub(super) enum Write {
    /// Stores a blob, and is waited for.
    Put(Put),
    /// Deletes blobs, and isn't.
    Remove(Vec<Removed>),
    /// Asks a mailbox for something, at a moment.
    Mailbox(MailboxOrder, u64),
    /// A command to a wormhole mailbox, under these rules, at a moment.
    Wormhole(Box<(WormholeOrder, Rules, u64)>),
}

/// What the writer is told.
pub(super) enum Order {
    Write(Write),
    Close,
}

/// Everything that goes into one transaction.
#[derive(Default)]
struct Batch {
    inbox: InboxBatch,
    mailboxes: MailboxBatch,
    wormholes: WormholeBatch,
    bytes: usize,
    /// Deletes that have failed before. They neither fill the batch nor make it urgent, or
    /// every put would get a commit of its own that repeats them all.
    retried: usize,
}

impl Batch {
    /// Deletes to try again after a while.
    fn retry(removed: Vec<Removed>) -> Self {
        let retried = removed.len();
        let inbox = InboxBatch {
            puts: Vec::new(),
            removed,
        };
        Self {
            inbox,
            retried,
            ..Self::default()
        }
    }

    fn add(&mut self, write: Write) {
        match write {
            Write::Put(put) => {
                self.bytes = self.bytes.saturating_add(put.envelope.len());
                self.inbox.puts.push(put);
            }
            Write::Remove(removed) => self.inbox.removed.extend(removed),
            Write::Mailbox(order, now_ms) => self.mailboxes.add(order, now_ms),
            Write::Wormhole(order) => self.wormholes.add(*order),
        }
    }

    fn is_empty(&self) -> bool {
        let is_empty = self.inbox.puts.is_empty() && self.inbox.removed.is_empty();
        is_empty && self.mailboxes.is_empty() && self.wormholes.is_empty()
    }

    /// Writes that somebody waits for.
    fn waited_for(&self) -> usize {
        let puts = self.inbox.puts.len();
        puts.saturating_add(self.mailboxes.waited_for())
            .saturating_add(self.wormholes.len())
    }

    /// Writes that make the store larger.
    fn additions(&self) -> usize {
        let puts = self.inbox.puts.len();
        puts.saturating_add(self.mailboxes.additions())
            .saturating_add(self.wormholes.additions())
    }

    fn has_deletes(&self) -> bool {
        let has_deletes = !self.inbox.removed.is_empty() || self.mailboxes.has_deletes();
        has_deletes || self.wormholes.len() > self.wormholes.additions()
    }

    fn bytes(&self) -> usize {
        let mailboxes = self
            .mailboxes
            .bytes()
            .saturating_add(self.wormholes.bytes());
        self.bytes.saturating_add(mailboxes)
    }

    fn is_urgent(&self) -> bool {
        self.waited_for() > 0 || self.is_full()
    }

    fn is_full(&self) -> bool {
        let writes = self
            .inbox
            .puts
            .len()
            .saturating_add(self.inbox.removed.len())
            .saturating_add(self.mailboxes.len())
            .saturating_add(self.wormholes.len())
            .saturating_sub(self.retried);
        self.bytes() >= BATCH_BYTES_MAX || writes >= BATCH_WRITES_MAX
    }
}

/// How much free space there may be to give back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tidiness {
    /// Nothing was written since the last look.
    Tidy,
    /// Something was.
    Dirty,
    /// A slice was given back and there is more.
    Tidying,
    /// The log couldn't be emptied, so many times in a row.
    Hindered(u32),
}

/// The thread's state.
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) inbox: InboxTable,
    pub(super) mailbox: MailboxTable,
    pub(super) wormhole: WormholeTable,
    pub(super) shared: SharedInboxes,
    pub(super) shared_mailboxes: SharedMailboxes,
    pub(super) shared_wormholes: SharedWormholes,
    pub(super) disk: DiskFloor,
    pub(super) log: Log,
    pub(super) metrics: Arc<StoreMetrics>,
    pub(super) orders: Receiver<Order>,
    pub(super) pace: WriterPace,
    /// Whether the last commit failed, so that a full disk is logged once and not per push.
    pub(super) is_failing: bool,
    /// Held until the last commit is done, even if whoever opened the store is gone by then.
    pub(super) _lock: StoreLock,
}

/// What [`Writer::collect`] came back with.
enum Collected {
    Batch(Batch),
    Silence,
    Closed(Batch),
}

impl Writer {
    /// Runs until the store closes.
    pub(super) fn run(mut self) {
        let mut pending = Batch::default();
        let mut waited_last = 0;
        let mut tidiness = Tidiness::Dirty;
        loop {
            match self.collect(pending, waited_last, tidiness) {
                Collected::Batch(batch) => {
                    waited_last = batch.waited_for();
                    tidiness = Tidiness::Dirty;
                    let has_deletes = batch.has_deletes();
                    pending = self.commit(batch);
                    self.tend(has_deletes && pending.is_empty());
                }
                Collected::Silence => {
                    tidiness = self.tidy(tidiness);
                    pending = Batch::default();
                }
                Collected::Closed(batch) => {
                    if !batch.is_empty() {
                        self.commit(batch);
                    }
                    return;
                }
            }
        }
    }

    /// Waits for something to commit, then takes what else is queued.
    fn collect(&self, mut batch: Batch, waited_last: usize, tidiness: Tidiness) -> Collected {
        let mut linger_until = None;
        while !batch.is_urgent() {
            let order = match (batch.is_empty(), tidiness) {
                (true, Tidiness::Tidy) => self
                    .orders
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
                (true, Tidiness::Dirty) => self.orders.recv_timeout(self.pace.tidy_after),
                (true, Tidiness::Tidying) => self.orders.recv_timeout(Duration::ZERO),
                (true, Tidiness::Hindered(times)) => {
                    let pause = 1_u32 << times.min(PAUSE_DOUBLINGS_MAX);
                    self.orders
                        .recv_timeout(self.pace.tidy_after.saturating_mul(pause))
                }
                (false, _) => {
                    let until =
                        linger_until.get_or_insert_with(|| deadline(self.pace.deletes_linger));
                    self.orders.recv_timeout(time_until(*until))
                }
            };
            match order {
                Ok(Order::Write(write)) => batch.add(write),
                Ok(Order::Close) | Err(RecvTimeoutError::Disconnected) => {
                    return Collected::Closed(batch);
                }
                Err(RecvTimeoutError::Timeout) if batch.is_empty() => return Collected::Silence,
                Err(RecvTimeoutError::Timeout) => return Collected::Batch(batch),
            }
        }
        self.gather(batch, waited_last)
    }

    /// Takes everything queued. After a batch of several, waits a moment for as many again:
    /// they are on their way, and one sync for all is cheaper than one for the first.
    fn gather(&self, mut batch: Batch, waited_last: usize) -> Collected {
        let gather_until = deadline(GATHER_MAX);
        while !batch.is_full() {
            let order = match self.orders.try_recv() {
                Ok(order) => order,
                Err(_) if waited_last > 1 && batch.waited_for() < waited_last => {
                    match self.orders.recv_timeout(time_until(gather_until)) {
                        Ok(order) => order,
                        Err(_) => break,
                    }
                }
                Err(_) => break,
            };
            match order {
                Order::Write(write) => batch.add(write),
                Order::Close => return Collected::Closed(batch),
            }
        }
        Collected::Batch(batch)
    }

    /// Commits a batch and answers it. Returns the deletes that have to be tried again.
    fn commit(&mut self, mut batch: Batch) -> Batch {
        if let Some(error) = self.hindrance_of_puts(&batch) {
            self.note_failure(error);
            let mailboxes = std::mem::take(&mut batch.mailboxes).without_additions(error);
            let wormholes = std::mem::take(&mut batch.wormholes).without_additions(error);
            batch = Batch::retry(batch.inbox.failed(error, &self.shared));
            if !self.log.has_room_for_deletes(&self.connection) {
                mailboxes.fail(error);
                wormholes.fail(error);
                return batch;
            }
            batch.mailboxes = mailboxes;
            batch.wormholes = wormholes;
            if batch.is_empty() {
                return batch;
            }
        }
        let (waited_for, additions) = (batch.waited_for(), batch.additions());
        let begin = Instant::now();
        match self.write(&mut batch) {
            Ok(applied) => {
                self.metrics.commit(waited_for, begin.elapsed());
                if additions > 0 && std::mem::take(&mut self.is_failing) {
                    tracing::info!("writes to the store succeed again");
                }
                self.inbox.committed(batch.inbox, applied, &self.shared);
                self.mailbox
                    .committed(batch.mailboxes, &self.shared_mailboxes, &self.shared);
                self.wormhole
                    .committed(batch.wormholes, &self.shared_wormholes, &self.shared);
                Batch::default()
            }
            Err(error) => {
                let error = StoreError::from(error);
                self.note_failure(error);
                self.mailbox.failed(batch.mailboxes, error, &self.shared);
                self.wormhole.failed(batch.wormholes, error, &self.shared);
                self.make_room();
                Batch::retry(batch.inbox.failed(error, &self.shared))
            }
        }
    }

    /// Why the puts of a batch can't even be tried.
    fn hindrance_of_puts(&self, batch: &Batch) -> Option<StoreError> {
        let has_puts = batch.additions() > 0;
        let has_room = || {
            let bytes = charged_bytes(batch.additions() as u64, batch.bytes() as u64);
            self.disk.has_room_for(bytes, self.log.bytes())
        };
        if has_puts && !has_room() && !(self.make_room() && has_room()) {
            return Some(StoreError::DiskFull);
        }
        let has_room = if has_puts {
            self.log.has_room_for_puts(&self.connection)
        } else {
            self.log.has_room_for_deletes(&self.connection)
        };
        (!has_room).then_some(StoreError::LogFull)
    }

    fn write(&mut self, batch: &mut Batch) -> rusqlite::Result<Applied> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let applied = self.inbox.apply(&transaction, &batch.inbox)?;
        self.mailbox
            .apply(&transaction, &mut batch.mailboxes, &self.shared)?;
        let sharers = (&self.shared_wormholes, &self.shared);
        self.wormhole
            .apply(&transaction, &mut batch.wormholes, sharers)?;
        transaction.commit()?;
        Ok(applied)
    }

    fn note_failure(&mut self, error: StoreError) {
        self.metrics.failures.add(1);
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(%error, "writes to the store fail for now");
        }
    }

    /// What is due between two commits, whether it succeeds or not.
    fn tend(&self, has_freed: bool) {
        self.log.keep_short(&self.connection);
        if has_freed && free_space::is_pressing(&self.connection).unwrap_or(false) {
            self.give_back_slice();
        }
    }

    /// Gives a slice of free pages back, and empties the log after the last one: only then the
    /// file gets shorter, and a relay in silence leaves nothing that a crash would have to redo.
    fn tidy(&self, tidiness: Tidiness) -> Tidiness {
        if self.give_back_slice() {
            return Tidiness::Tidying;
        }
        match tidiness {
            _ if self.log.empty(&self.connection) => Tidiness::Tidy,
            Tidiness::Hindered(times) => Tidiness::Hindered(times.saturating_add(1)),
            _ => Tidiness::Hindered(1),
        }
    }

    /// Gives back what can be given back now: silence may not come while pushes are refused,
    /// and a full disk has room for deletes only once the log is gone. True if the log is.
    /// While another program keeps it, slices would only make it longer.
    fn make_room(&self) -> bool {
        if !self.log.empty(&self.connection) {
            return false;
        }
        let slices = (0..SLICES_FOR_ROOM).take_while(|_| {
            self.log.keep_short(&self.connection)
                && free_space::give_back_slice(&self.connection).unwrap_or(false)
        });
        slices.count() == 0 || self.log.empty(&self.connection)
    }

    /// Gives one slice back; false if there is none, or no room to do it.
    fn give_back_slice(&self) -> bool {
        let has_room = self.log.keep_short(&self.connection)
            && (self.disk.has_room_for(SLICE_LOG_BYTES, self.log.bytes())
                || self.log.empty(&self.connection));
        if !has_room {
            return false;
        }
        free_space::give_back_slice(&self.connection).unwrap_or_else(|error| {
            let error = StoreError::from(error);
            tracing::debug!(%error, "free pages stay for now");
            false
        })
    }
}

fn deadline(after: Duration) -> Option<Instant> {
    Instant::now().checked_add(after)
}

fn time_until(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::ZERO, |end| {
        end.saturating_duration_since(Instant::now())
    })
}

#[cfg(test)]
mod free_space_tests;
#[cfg(test)]
mod mailbox_tests;

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::{self, Sender};

    use bytes::Bytes;
    use sealpost_protocol::key::NoisePublic;
    use tokio::sync::Semaphore;

    use super::super::inboxes::Inboxes;
    use super::super::log::ReadGate;
    use super::super::schema::{self, BUSY_TIMEOUT};
    use super::super::{PutRoom, PutTicket, Seconds};
    use super::*;
    use crate::limits::StoreLimits;

    const RECIPIENT: NoisePublic = NoisePublic::from_bytes([1; 32]);

    pub(super) fn writer(path: &Path) -> (Writer, Sender<Order>) {
        let (mut connection, lock) = schema::open(path, false).unwrap();
        let log = Log::new(&mut connection, ReadGate::default()).unwrap();
        let mut inboxes = Inboxes::new(StoreLimits::default());
        let inbox = InboxTable::load(&connection, &mut inboxes).unwrap();
        let mailbox = MailboxTable::load(&connection).unwrap();
        let wormhole = WormholeTable::load(&connection).unwrap();
        let (sender, orders) = mpsc::channel();
        let writer = Writer {
            connection,
            inbox,
            shared: SharedInboxes::new(inboxes),
            shared_mailboxes: mailbox.shared(),
            mailbox,
            shared_wormholes: SharedWormholes::new(wormhole.sums()),
            wormhole,
            disk: DiskFloor::new(path, 0),
            log,
            metrics: Arc::default(),
            orders,
            pace: WriterPace {
                deletes_linger: Duration::from_millis(1),
                tidy_after: Duration::from_millis(1),
            },
            is_failing: false,
            _lock: lock,
        };
        (writer, sender)
    }

    pub(super) fn put(writer: &Writer, bytes: usize) -> (Write, PutTicket) {
        put_with(writer, bytes, PutRoom::uncounted())
    }

    fn put_with(writer: &Writer, bytes: usize, room: PutRoom) -> (Write, PutTicket) {
        let count = u32::try_from(bytes).unwrap();
        writer.shared.lock().reserve(RECIPIENT, count).unwrap();
        let (answer, ticket) = PutTicket::new(room);
        let put = Put {
            recipient: RECIPIENT,
            envelope: Bytes::from(vec![7; bytes]),
            bytes: count,
            expires_at: Seconds(u32::MAX),
            answer,
        };
        (Write::Put(put), ticket)
    }

    pub(super) fn batch_of(write: Write) -> Batch {
        let mut batch = Batch::default();
        batch.add(write);
        batch
    }

    #[test]
    fn everything_queued_goes_into_one_batch() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, orders) = writer(&folder.path().join("inbox.db"));
        let mut tickets = Vec::new();
        for _ in 0..100 {
            let (write, ticket) = put(&writer, 300);
            orders.send(Order::Write(write)).unwrap();
            tickets.push(ticket);
        }
        let collected = writer.collect(Batch::default(), 0, Tidiness::Tidy);
        let Collected::Batch(batch) = collected else {
            panic!("a batch was expected")
        };
        assert_eq!(batch.inbox.puts.len(), 100);
        assert!(
            tickets[0].try_outcome().is_none(),
            "nothing is answered before the commit"
        );
    }

    /// Neither a session that has ended nor one that doesn't read its answers has a say in it.
    #[test]
    fn memory_is_taken_for_as_long_as_an_envelope_is_queued() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, orders) = writer(&folder.path().join("inbox.db"));
        let memory = Arc::new(Semaphore::new(1_000));
        for floor in [0, 1 << 60] {
            let room = || Arc::clone(&memory).try_acquire_many_owned(400).unwrap();
            let (unheard, ticket) = put_with(&writer, 400, room().into());
            drop(ticket);
            let (unread, _ticket) = put_with(&writer, 400, room().into());
            orders.send(Order::Write(unheard)).unwrap();
            orders.send(Order::Write(unread)).unwrap();
            assert_eq!(memory.available_permits(), 200);
            let Collected::Batch(batch) = writer.collect(Batch::default(), 0, Tidiness::Tidy)
            else {
                panic!("a batch was expected")
            };
            assert_eq!(memory.available_permits(), 200);
            writer.disk = DiskFloor::new(&folder.path().join("inbox.db"), floor);
            writer.commit(batch);
            assert_eq!(memory.available_permits(), 1_000, "stored or refused");
        }
    }

    #[test]
    fn a_batch_ends_at_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, orders) = writer(&folder.path().join("inbox.db"));
        for _ in 0..300 {
            let (write, _) = put(&writer, 65_000);
            orders.send(Order::Write(write)).unwrap();
        }
        let collected = writer.collect(Batch::default(), 300, Tidiness::Tidy);
        let Collected::Batch(batch) = collected else {
            panic!("a batch was expected")
        };
        assert!(batch.bytes >= BATCH_BYTES_MAX && batch.bytes < BATCH_BYTES_MAX + 65_000);
    }

    #[test]
    fn deletes_ride_along_with_puts() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, orders) = writer(&folder.path().join("inbox.db"));
        writer.pace.deletes_linger = Duration::from_secs(3_600);
        let removed = Removed {
            recipient: RECIPIENT,
            id: 1,
            bytes: 1,
        };
        orders
            .send(Order::Write(Write::Remove(vec![removed])))
            .unwrap();
        let (write, _ticket) = put(&writer, 300);
        orders.send(Order::Write(write)).unwrap();
        let collected = writer.collect(Batch::default(), 0, Tidiness::Tidy);
        let Collected::Batch(batch) = collected else {
            panic!("a batch was expected")
        };
        assert_eq!((batch.inbox.puts.len(), batch.inbox.removed.len()), (1, 1));
    }

    #[test]
    fn a_reader_that_stays_does_not_hold_the_writer_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let (mut writer, _orders) = writer(&path);
        let reader = schema::open_reader(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM meta").unwrap();
        let (write, _ticket) = put(&writer, 300);
        writer.commit(batch_of(write));
        let begin = Instant::now();
        assert!(!writer.log.empty(&writer.connection));
        assert!(begin.elapsed() < BUSY_TIMEOUT / 2);
        let patience: u32 = writer
            .connection
            .query_row("PRAGMA busy_timeout", [], |row| row.get(0))
            .unwrap();
        assert_eq!(u128::from(patience), BUSY_TIMEOUT.as_millis());
    }

    fn rows(writer: &Writer) -> u32 {
        let rows = "SELECT count(*) FROM blobs";
        writer
            .connection
            .query_row(rows, [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn a_foreign_reader_that_stays_bounds_the_log_and_not_for_longer_than_it_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let (mut writer, _orders) = writer(&path);
        let (write, _ticket) = put(&writer, 300);
        writer.commit(batch_of(write));
        let (puts, deletes) = (1 << 20, (1 << 20) + 65_536);
        writer.log.bound(puts, deletes);
        let reader = schema::open_reader(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM meta").unwrap();
        let refused = (0..100).find_map(|_| {
            let (write, mut ticket) = put(&writer, 60_000);
            writer.commit(batch_of(write));
            writer.log.keep_short(&writer.connection);
            ticket.try_outcome().unwrap().err()
        });
        assert_eq!(refused, Some(StoreError::LogFull));
        let stored = rows(&writer);
        let log = std::fs::metadata(schema::log_path(&path)).unwrap().len();
        assert!(log < deletes + 65_536, "{log}");
        let waiting =
            writer
                .shared
                .lock()
                .after(RECIPIENT, super::super::BlobId::START, Seconds(0));
        let mut batch = Batch::default();
        for found in &waiting {
            let removed = writer.shared.lock().remove(RECIPIENT, found.id.as_u64());
            batch.add(Write::Remove(removed.into_iter().collect()));
        }
        assert!(
            writer.commit(batch).is_empty(),
            "deletes have room of their own"
        );
        assert!(rows(&writer) < stored);
        drop(reader);
        let (write, mut ticket) = put(&writer, 60_000);
        writer.commit(batch_of(write));
        assert_eq!(ticket.try_outcome(), Some(Ok(())));
        assert!(!writer.is_failing);
    }

    #[test]
    fn deletes_that_failed_leave_a_batch_room_for_puts() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, orders) = writer(&folder.path().join("inbox.db"));
        let removed = |id| Removed {
            recipient: RECIPIENT,
            id,
            bytes: 1,
        };
        let retry = Batch::retry((0..5_000).map(removed).collect());
        assert!(!retry.is_urgent());
        for _ in 0..100 {
            let (write, _) = put(&writer, 300);
            orders.send(Order::Write(write)).unwrap();
        }
        let Collected::Batch(batch) = writer.collect(retry, 0, Tidiness::Dirty) else {
            panic!("a batch was expected")
        };
        let sizes = (batch.inbox.puts.len(), batch.inbox.removed.len());
        assert_eq!(sizes, (100, 5_000));
    }

    #[test]
    fn silence_empties_the_log_and_then_the_writer_sleeps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let (mut writer, _orders) = writer(&path);
        let (write, _ticket) = put(&writer, 300);
        writer.commit(batch_of(write));
        let log = || std::fs::metadata(schema::log_path(&path)).unwrap().len();
        assert_ne!(log(), 0);
        let reader = schema::open_reader(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM meta").unwrap();
        assert_eq!(writer.tidy(Tidiness::Dirty), Tidiness::Hindered(1));
        assert_eq!(writer.tidy(Tidiness::Hindered(1)), Tidiness::Hindered(2));
        drop(reader);
        assert_eq!(writer.tidy(Tidiness::Hindered(2)), Tidiness::Tidy);
        assert_eq!(log(), 0);
    }

    #[test]
    fn a_full_disk_is_answered_and_recovered_from() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, _orders) = writer(&folder.path().join("inbox.db"));
        let (write, mut stored) = put(&writer, 300);
        assert!(writer.commit(batch_of(write)).is_empty());
        assert_eq!(stored.try_outcome(), Some(Ok(())));
        let limit = |writer: &Writer, pages: u32| {
            let pragma = format!("PRAGMA max_page_count = {pages}");
            writer
                .connection
                .query_row(&pragma, [], |_| Ok(()))
                .unwrap();
        };
        limit(&writer, 10);
        let (write, mut refused) = put(&writer, 60_000);
        let mut batch = batch_of(write);
        let id = writer
            .shared
            .lock()
            .after(RECIPIENT, super::super::BlobId::START, Seconds(0));
        let removed = writer
            .shared
            .lock()
            .remove(RECIPIENT, id[0].id.as_u64())
            .unwrap();
        batch.add(Write::Remove(vec![removed]));
        let retry = writer.commit(batch);
        assert_eq!(refused.try_outcome(), Some(Err(StoreError::DiskFull)));
        assert_eq!(retry.inbox.removed, [removed], "the delete is tried again");
        assert!(!retry.is_urgent() && writer.is_failing);
        assert_eq!(
            writer.shared.lock().sums().blobs,
            0,
            "nothing is left reserved or stored"
        );
        limit(&writer, 1 << 30);
        let (write, mut stored) = put(&writer, 60_000);
        let mut batch = retry;
        batch.add(write);
        assert!(writer.commit(batch).is_empty());
        assert_eq!(stored.try_outcome(), Some(Ok(())));
        assert!(!writer.is_failing);
        let rows = "SELECT count(*) FROM blobs";
        let count: u32 = writer
            .connection
            .query_row(rows, [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 1);
    }

    #[test]
    fn below_the_floor_of_free_space_puts_are_refused_and_deletes_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, _orders) = writer(&folder.path().join("inbox.db"));
        let (write, _) = put(&writer, 300);
        writer.commit(batch_of(write));
        writer.disk = DiskFloor::new(&folder.path().join("inbox.db"), 1 << 60);
        let (write, mut refused) = put(&writer, 300);
        let mut batch = batch_of(write);
        let id = writer
            .shared
            .lock()
            .after(RECIPIENT, super::super::BlobId::START, Seconds(0));
        let removed = writer
            .shared
            .lock()
            .remove(RECIPIENT, id[0].id.as_u64())
            .unwrap();
        batch.add(Write::Remove(vec![removed]));
        assert!(writer.commit(batch).is_empty());
        assert_eq!(refused.try_outcome(), Some(Err(StoreError::DiskFull)));
        let rows = "SELECT count(*) FROM blobs";
        let count: u32 = writer
            .connection
            .query_row(rows, [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 0);
    }
}
