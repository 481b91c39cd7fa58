//! A store without a disk, for tests: the same index, the Envelopes in a map.

mod mailboxes;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use sealpost_protocol::key::NoisePublic;
use tokio::sync::Notify;

use super::inboxes::{InboxWatch, Inboxes, Removed, SharedInboxes, Sums, Waiting};
use super::mailboxes::SharedMailboxes;
use super::{
    Blob, BlobId, Chunk, InboxStore, PutRefusal, PutRoom, PutTicket, Seconds, StoreFuture,
    StoreSettings,
};
use crate::mailbox::{MailboxIndex, MemoryMailboxes};

#[derive(Default)]
struct Envelopes {
    next_id: u64,
    stored: BTreeMap<u64, Bytes>,
    is_closed: bool,
}

/// A store that forgets everything with its value, under the same bounds.
pub struct MemoryStore {
    settings: StoreSettings,
    shared: SharedInboxes,
    envelopes: Mutex<Envelopes>,
    mailboxes: Mutex<MemoryMailboxes>,
    shared_mailboxes: SharedMailboxes,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(settings: StoreSettings) -> Self {
        let shared = SharedInboxes::new(Inboxes::new(settings.limits));
        Self {
            settings,
            shared,
            envelopes: Mutex::default(),
            mailboxes: Mutex::default(),
            shared_mailboxes: SharedMailboxes::new(MailboxIndex::new()),
        }
    }

    fn mailboxes(&self) -> MutexGuard<'_, MemoryMailboxes> {
        self.mailboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        self.envelopes().is_closed
    }

    fn envelopes(&self) -> MutexGuard<'_, Envelopes> {
        self.envelopes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, removed: impl IntoIterator<Item = Removed>) {
        let mut envelopes = self.envelopes();
        for removed in removed {
            envelopes.stored.remove(&removed.id);
        }
    }
}

impl InboxStore for MemoryStore {
    fn put(
        &self,
        recipient: NoisePublic,
        envelope: Bytes,
        room: PutRoom,
        now_ms: u64,
    ) -> Result<PutTicket, PutRefusal> {
        let (answer, ticket) = PutTicket::new(room);
        let mut envelopes = self.envelopes();
        if envelopes.is_closed {
            return Ok(ticket);
        }
        let bytes = u32::try_from(envelope.len()).map_err(|_| PutRefusal::Unavailable)?;
        let mut inboxes = self.shared.lock();
        for expired in inboxes.remove_expired_of(recipient, Seconds::at(now_ms)) {
            envelopes.stored.remove(&expired.id);
        }
        inboxes.reserve(recipient, bytes)?;
        envelopes.next_id += 1;
        let id = envelopes.next_id;
        envelopes.stored.insert(id, envelope.clone());
        let expires_at = Seconds::end_of_life(now_ms, self.settings.life_ms);
        inboxes.insert(
            recipient,
            Waiting {
                id,
                bytes,
                expires_at,
            },
            &envelope,
        );
        answer.tell(Ok(()));
        Ok(ticket)
    }

    fn delete_all(&self, device: NoisePublic, blobs: &[BlobId]) {
        for blob in blobs {
            let removed = self.shared.lock().remove(device, blob.as_u64());
            self.forget(removed);
        }
    }

    fn read(&self, device: NoisePublic, after: BlobId, now_ms: u64) -> StoreFuture<'_, Chunk> {
        let found = self.shared.lock().after(device, after, Seconds::at(now_ms));
        let through = found.last().map_or(after, |found| found.id);
        let envelopes = self.envelopes();
        let blob = |id: BlobId| {
            let envelope = envelopes.stored.get(&id.as_u64())?.clone();
            Some(Blob { id, envelope })
        };
        let blobs = found.iter().filter_map(|found| blob(found.id)).collect();
        Box::pin(async move { Ok(Chunk { blobs, through }) })
    }

    fn watch(&self, device: NoisePublic, bell: Arc<Notify>) -> InboxWatch {
        self.shared.watch(device, bell)
    }

    fn expire(&self, now_ms: u64) -> bool {
        let removed = self
            .shared
            .lock()
            .remove_expired(Seconds::at(now_ms), usize::MAX);
        self.forget(removed);
        false
    }

    fn sums(&self) -> Sums {
        self.shared.lock().sums()
    }

    fn first_expiry_ms(&self) -> Option<u64> {
        self.shared.lock().first_expiry_ms()
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.envelopes().is_closed = true;
        Box::pin(async { Ok(()) })
    }
}
