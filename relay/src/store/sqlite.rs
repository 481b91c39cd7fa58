//! The store of a relay on one machine: SQLite behind one writer thread.
//!
//! Owns: putting together the file, the index in memory, the writer and the readers. What
//! each of them guarantees is said in its own module.

mod mailbox_orders;
mod wormhole_orders;

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use sealpost_protocol::key::NoisePublic;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::disk::DiskFloor;
use super::inbox_table::{InboxTable, Put};
use super::inboxes::{InboxWatch, Inboxes, Removed, SharedInboxes, Sums};
use super::log::{Log, ReadGate};
use super::mailbox_table::MailboxTable;
use super::mailboxes::SharedMailboxes;
use super::reader::Readers;
use super::schema::{self, StoreOpenError};
use super::wormhole_table::WormholeTable;
use super::wormholes::SharedWormholes;
use super::writer::{Order, Write, Writer};
use super::{
    Blob, BlobId, Chunk, InboxStore, PutAnswer, PutRefusal, PutRoom, PutTicket, Seconds,
    StoreError, StoreFuture, StoreSettings,
};
use crate::metrics::StoreMetrics;

/// Expired blobs that are taken out in one step, so that nobody waits for the lock or the
/// writer for long.
const EXPIRED_AT_ONCE: usize = 4_096;

/// The store in one file. Close it before it is dropped, or what is queued may be lost; what
/// was answered is not.
pub struct SqliteStore {
    settings: StoreSettings,
    shared: SharedInboxes,
    shared_mailboxes: SharedMailboxes,
    shared_wormholes: SharedWormholes,
    orders: Sender<Order>,
    readers: Readers,
    metrics: Arc<StoreMetrics>,
    thread: Mutex<Option<JoinHandle<()>>>,
    ended: CancellationToken,
}

impl SqliteStore {
    /// Opens the store of `path`, making it if there is none, and reads what waits in it.
    /// `reset` drops everything in a store that is too old to be migrated, and has no effect on
    /// any other.
    ///
    /// # Errors
    ///
    /// Tells why it isn't opened; a file that was there is unchanged then.
    pub fn open(path: &Path, settings: StoreSettings, reset: bool) -> Result<Self, StoreOpenError> {
        let (mut connection, lock) = schema::open(path, reset)?;
        let mut inboxes = Inboxes::new(settings.limits);
        let inbox = InboxTable::load(&connection, &mut inboxes)?;
        let mailbox = MailboxTable::load(&connection)?;
        inboxes.set_mailbox_charge(mailbox.charged());
        let wormhole = WormholeTable::load(&connection)?;
        inboxes.set_wormhole_charge(wormhole.charged());
        schema::settle(&connection)?;
        let gate = ReadGate::default();
        let log = Log::new(&mut connection, gate.clone())?;
        let shared = SharedInboxes::new(inboxes);
        let shared_mailboxes = mailbox.shared();
        let shared_wormholes = SharedWormholes::new(wormhole.sums());
        let disk = DiskFloor::new(path, settings.limits.disk_free_bytes_min);
        let metrics = Arc::<StoreMetrics>::default();
        let readers = Readers::new(path.to_owned(), gate, Arc::clone(&metrics));
        let (orders, receiver) = mpsc::channel();
        let writer = Writer {
            connection,
            inbox,
            mailbox,
            wormhole,
            shared: shared.clone(),
            shared_mailboxes: shared_mailboxes.clone(),
            shared_wormholes: shared_wormholes.clone(),
            disk,
            log,
            metrics: Arc::clone(&metrics),
            orders: receiver,
            pace: settings.pace,
            is_failing: false,
            _lock: lock,
        };
        let ended = CancellationToken::new();
        let end = ended.clone().drop_guard();
        let thread = thread::Builder::new()
            .name("relay-writer".to_owned())
            .spawn(move || {
                // Dropped by a panic too.
                let _end = end;
                writer.run();
            })
            .map_err(|error| StoreOpenError::Thread(error.kind()))?;
        let thread = Mutex::new(Some(thread));
        Ok(Self {
            settings,
            shared,
            shared_mailboxes,
            shared_wormholes,
            orders,
            readers,
            metrics,
            thread,
            ended,
        })
    }

    /// What was counted so far, and will be.
    pub(crate) fn metrics(&self) -> Arc<StoreMetrics> {
        Arc::clone(&self.metrics)
    }

    /// Is cancelled when the writer has ended, however that came.
    pub(crate) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// A store whose thread has ended, however that came, reads and never writes again.
    fn has_writer(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    fn order_expired(&self, expired: Vec<Removed>) {
        self.metrics.expired.add(expired.len() as u64);
        self.order_removal(expired);
    }

    fn order_removal(&self, removed: Vec<Removed>) {
        if !removed.is_empty() {
            // A closed writer leaves the rows, and the next start finds them again.
            let _ = self.orders.send(Order::Write(Write::Remove(removed)));
        }
    }
}

impl InboxStore for SqliteStore {
    fn put(
        &self,
        recipient: NoisePublic,
        envelope: Bytes,
        room: PutRoom,
        now_ms: u64,
    ) -> Result<PutTicket, PutRefusal> {
        let bytes = u32::try_from(envelope.len()).map_err(|_| PutRefusal::Unavailable)?;
        let mut inboxes = self.shared.lock();
        let expired = inboxes.remove_expired_of(recipient, Seconds::at(now_ms));
        let reserved = inboxes.reserve(recipient, bytes);
        drop(inboxes);
        self.order_expired(expired);
        reserved?;
        let (answer, ticket) = PutTicket::new(room);
        let expires_at = Seconds::end_of_life(now_ms, self.settings.life_ms);
        let put = Put {
            recipient,
            envelope,
            bytes,
            expires_at,
            answer,
        };
        if let Err(returned) = self.orders.send(Order::Write(Write::Put(put))) {
            self.shared.lock().release(recipient, bytes);
            tell_closed(returned.0);
        }
        Ok(ticket)
    }

    fn delete_all(&self, device: NoisePublic, blobs: &[BlobId]) {
        let mut inboxes = self.shared.lock();
        let removed = blobs
            .iter()
            .filter_map(|blob| inboxes.remove(device, blob.as_u64()))
            .collect();
        drop(inboxes);
        self.order_removal(removed);
    }

    fn read(&self, device: NoisePublic, after: BlobId, now_ms: u64) -> StoreFuture<'_, Chunk> {
        let found = self.shared.lock().after(device, after, Seconds::at(now_ms));
        Box::pin(async move {
            let through = found.last().map_or(after, |found| found.id);
            if found.iter().any(|found| found.envelope.is_none()) {
                return self.readers.fill(found).await;
            }
            let blobs = found.into_iter().filter_map(|found| {
                found.envelope.map(|envelope| Blob {
                    id: found.id,
                    envelope,
                })
            });
            Ok(Chunk {
                blobs: blobs.collect(),
                through,
            })
        })
    }

    fn watch(&self, device: NoisePublic, bell: Arc<Notify>) -> InboxWatch {
        self.shared.watch(device, bell)
    }

    fn expire(&self, now_ms: u64) -> bool {
        let now = Seconds::at(now_ms);
        let removed = self.shared.lock().remove_expired(now, EXPIRED_AT_ONCE);
        let is_more = removed.len() >= EXPIRED_AT_ONCE;
        self.order_expired(removed);
        is_more
    }

    fn sums(&self) -> Sums {
        self.shared.lock().sums()
    }

    fn first_expiry_ms(&self) -> Option<u64> {
        self.shared.lock().first_expiry_ms()
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.readers.check().await?;
            if self.has_writer() {
                Ok(())
            } else {
                Err(StoreError::Closed)
            }
        })
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let _ = self.orders.send(Order::Close);
            self.readers.close();
            let thread = self
                .thread
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let joined = tokio::task::spawn_blocking(move || thread.map(JoinHandle::join)).await;
            match joined {
                Ok(None | Some(Ok(()))) => Ok(()),
                Ok(Some(Err(_))) | Err(_) => Err(StoreError::Closed),
            }
        })
    }
}

fn tell_closed(order: Order) {
    match order {
        Order::Write(Write::Put(Put { answer, .. })) => {
            PutAnswer::tell(answer, Err(StoreError::Closed));
        }
        Order::Write(Write::Mailbox(order, _)) => order.fail(StoreError::Closed),
        Order::Write(Write::Wormhole(order)) => order.0.fail(StoreError::Closed),
        Order::Write(Write::Remove(_)) | Order::Close => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;
    use crate::limits::StoreLimits;
    use crate::store::WriterPace;

    const SETTINGS: StoreSettings = StoreSettings {
        limits: StoreLimits {
            inbox_blobs_max: 1_000_000,
            inbox_bytes_max: 1 << 40,
            inboxes_max: 1_000_000,
            total_bytes_max: 1 << 40,
            disk_free_bytes_min: 0,
        },
        life_ms: 1_000_000,
        pace: WriterPace {
            deletes_linger: Duration::from_millis(10),
            tidy_after: Duration::from_millis(10),
        },
    };

    fn open(path: &Path) -> SqliteStore {
        SqliteStore::open(path, SETTINGS, false).unwrap()
    }

    fn device(byte: u8) -> NoisePublic {
        NoisePublic::from_bytes([byte; 32])
    }

    async fn put_all(store: &SqliteStore, to: u8, count: usize, bytes: usize) {
        let put = |_| {
            store
                .put(
                    device(to),
                    Bytes::from(vec![7; bytes]),
                    PutRoom::uncounted(),
                    0,
                )
                .unwrap()
        };
        let tickets: Vec<_> = (0..count).map(put).collect();
        for ticket in tickets {
            ticket.outcome().await.unwrap();
        }
    }

    async fn ids(store: &SqliteStore, to: u8) -> Vec<BlobId> {
        let (mut cursor, mut ids) = (BlobId::START, Vec::new());
        loop {
            let chunk = store.read(device(to), cursor, 0).await.unwrap();
            if chunk.through == cursor {
                return ids;
            }
            cursor = chunk.through;
            ids.extend(chunk.blobs.iter().map(|blob| blob.id));
        }
    }

    /// What the rows of `recipients` say: key, blobs, bytes.
    fn recipient_rows(path: &Path) -> Vec<([u8; 32], u64, u64)> {
        let connection = rusqlite::Connection::open(path).unwrap();
        let mut statement = connection
            .prepare("SELECT key, blobs, bytes FROM recipients ORDER BY key")
            .unwrap();
        let rows = statement.query_map([], |row| {
            Ok((
                row.get(0)?,
                row.get::<_, u32>(1)?.into(),
                row.get::<_, u32>(2)?.into(),
            ))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    #[tokio::test]
    async fn ids_of_deleted_blobs_are_not_given_again_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let store = open(&path);
        put_all(&store, 1, 3, 10).await;
        let before = ids(&store, 1).await;
        for id in &before {
            store.delete(device(1), *id);
        }
        store.close().await.unwrap();
        drop(store);
        let store = open(&path);
        assert_eq!(store.sums().blobs, 0);
        put_all(&store, 1, 1, 10).await;
        assert!(ids(&store, 1).await[0] > before[2]);
    }

    #[tokio::test]
    async fn a_store_without_its_writer_does_not_pass_for_a_working_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder.path().join("inbox.db"));
        store.check().await.unwrap();
        store.orders.send(Order::Close).unwrap();
        let begin = Instant::now();
        while store.has_writer() {
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert!(begin.elapsed() < Duration::from_secs(10));
        }
        assert_eq!(store.check().await, Err(StoreError::Closed));
    }

    #[tokio::test]
    async fn deletes_are_committed_without_a_put_to_ride_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let store = open(&path);
        put_all(&store, 1, 1, 10).await;
        store.delete(device(1), ids(&store, 1).await[0]);
        let begin = Instant::now();
        while !recipient_rows(&path).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert!(
                begin.elapsed() < Duration::from_secs(10),
                "the delete never came"
            );
        }
    }

    #[tokio::test]
    async fn deleted_space_goes_back_to_the_file_system() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let store = open(&path);
        put_all(&store, 1, 400, 60_000).await;
        let files = || {
            let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
            bytes(&path) + bytes(&schema::log_path(&path))
        };
        let peak = files();
        assert!(peak > 20_000_000);
        for id in ids(&store, 1).await {
            store.delete(device(1), id);
        }
        let begin = Instant::now();
        while files() > peak / 20 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(
                begin.elapsed() < Duration::from_secs(30),
                "{} of {peak}",
                files()
            );
        }
    }

    /// The log starts over only at a moment without a reader, so reads mustn't overlap for long.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_log_stays_bounded_while_somebody_always_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let store = Arc::new(open(&path));
        put_all(&store, 1, 64, 60_000).await;
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { while ids(&store, 1).await.len() == 64 {} })
            })
            .collect();
        for _ in 0..30 {
            put_all(&store, 2, 64, 60_000).await;
            let log = std::fs::metadata(schema::log_path(&path)).unwrap();
            assert!(log.len() <= 32 << 20, "{} bytes", log.len());
        }
        store.delete(device(1), ids(&store, 1).await[0]);
        for reader in readers {
            reader.await.unwrap();
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put { to: u8, bytes: usize },
        Delete { to: u8, index: usize },
        Expire { now_ms: u64 },
        Restart,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (0_u8..3, 0_usize..3_000).prop_map(|(to, bytes)| Step::Put { to, bytes }),
            4 => (0_u8..3, 0_usize..6).prop_map(|(to, index)| Step::Delete { to, index }),
            1 => (900_000_u64..1_100_000).prop_map(|now_ms| Step::Expire { now_ms }),
            1 => Just(Step::Restart),
        ];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Any history leaves what a plain list has, in memory and on disk.
        #[test]
        fn histories_agree_with_a_plain_list(steps in steps()) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(check_history(steps));
        }
    }

    async fn check_history(steps: Vec<Step>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let mut store = open(&path);
        let mut model: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put { to, bytes } => {
                    put_all(&store, to, 1, bytes).await;
                    model.entry(to).or_default().push(bytes);
                }
                Step::Delete { to, index } => {
                    if let Some(id) = ids(&store, to).await.get(index) {
                        store.delete(device(to), *id);
                        model.entry(to).or_default().remove(index);
                    }
                }
                Step::Expire { now_ms } => {
                    while store.expire(now_ms) {}
                    if now_ms >= SETTINGS.life_ms {
                        model.clear();
                    }
                }
                Step::Restart => {
                    store.close().await.unwrap();
                    drop(store);
                    store = open(&path);
                }
            }
        }
        let mut rows = Vec::new();
        for to in 0..3 {
            let expected = model.remove(&to).unwrap_or_default();
            let chunk = store.read(device(to), BlobId::START, 0).await.unwrap();
            let lengths: Vec<_> = chunk.blobs.iter().map(|blob| blob.envelope.len()).collect();
            assert_eq!(lengths, expected[..lengths.len()]);
            assert_eq!(ids(&store, to).await.len(), expected.len());
            if !expected.is_empty() {
                let bytes = expected.iter().sum::<usize>() as u64;
                rows.push(([to; 32], expected.len() as u64, bytes));
            }
        }
        store.close().await.unwrap();
        assert_eq!(recipient_rows(&path), rows);
    }
}
