//! The store of a relay on one machine: SQLite behind one writer thread.
//!
//! Owns: putting together the file, the index in memory, the writer and the readers. What
//! each of them guarantees is said in its own module.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use sealpost_protocol::key::NoisePublic;
use tokio::sync::Notify;

use super::disk::DiskFloor;
use super::inbox_table::{InboxTable, Put};
use super::inboxes::{InboxWatch, Inboxes, Removed, SharedInboxes, Sums};
use super::reader::Readers;
use super::schema::{self, StoreLock, StoreOpenError};
use super::writer::{Order, Write, Writer};
use super::{
    Blob, BlobId, Chunk, InboxStore, PutAnswer, PutRefusal, PutTicket, Seconds, StoreError,
    StoreFuture, StoreSettings,
};

/// Expired blobs that are taken out in one step, so that nobody waits for the lock or the
/// writer for long.
const EXPIRED_AT_ONCE: usize = 4_096;

/// See the module.
pub(crate) struct SqliteStore {
    settings: StoreSettings,
    shared: SharedInboxes,
    orders: Sender<Order>,
    readers: Readers,
    thread: Mutex<Option<JoinHandle<()>>>,
    _lock: StoreLock,
}

impl SqliteStore {
    /// Opens the store of `path`, making it if there is none, and reads what waits in it.
    pub(crate) fn open(
        path: &Path,
        settings: StoreSettings,
        reset: bool,
    ) -> Result<Self, StoreOpenError> {
        let (connection, lock) = schema::open(path, reset)?;
        let mut inboxes = Inboxes::new(settings.limits);
        let inbox = InboxTable::load(&connection, &mut inboxes)?;
        let shared = SharedInboxes::new(inboxes);
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        let disk = DiskFloor::new(folder, settings.limits.disk_free_bytes_min);
        let (orders, receiver) = mpsc::channel();
        let writer = Writer {
            connection,
            inbox,
            shared: shared.clone(),
            disk,
            orders: receiver,
            is_failing: false,
        };
        let thread = thread::Builder::new()
            .name("relay-writer".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| StoreOpenError::Thread(error.kind()))?;
        let readers = Readers::new(path.to_owned());
        let thread = Mutex::new(Some(thread));
        Ok(Self {
            settings,
            shared,
            orders,
            readers,
            thread,
            _lock: lock,
        })
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
        now_ms: u64,
    ) -> Result<PutTicket, PutRefusal> {
        let bytes = u32::try_from(envelope.len()).map_err(|_| PutRefusal::Unavailable)?;
        let mut inboxes = self.shared.lock();
        let expired = inboxes.remove_expired_of(recipient, Seconds::at(now_ms));
        let reserved = inboxes.reserve(recipient, bytes);
        drop(inboxes);
        self.order_removal(expired);
        reserved?;
        let (answer, ticket) = PutTicket::new();
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

    fn delete(&self, device: NoisePublic, blob: BlobId) {
        let removed = self.shared.lock().remove(device, blob.as_u64());
        self.order_removal(removed.into_iter().collect());
    }

    fn read(&self, device: NoisePublic, after: BlobId, now_ms: u64) -> StoreFuture<'_, Chunk> {
        let found = self.shared.lock().after(device, after, Seconds::at(now_ms));
        Box::pin(async move {
            let through = found.last().map_or(after, |found| found.id);
            if found.iter().any(|found| found.envelope.is_none()) {
                let blobs = self.readers.fill(found).await?;
                return Ok(Chunk { blobs, through });
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
        self.order_removal(removed);
        is_more
    }

    fn sums(&self) -> Sums {
        self.shared.lock().sums()
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.readers.check())
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
    if let Order::Write(Write::Put(Put { answer, .. })) = order {
        PutAnswer::tell(answer, Err(StoreError::Closed));
    }
}
