//! The relay's store: inboxes of blobs that wait for their devices.
//!
//! Owns: what a door may ask of a store ([`InboxStore`], [`MailboxStore`]) and the two
//! implementations, [`SqliteStore`] and, for tests and simulations, [`MemoryStore`]; both pass
//! the suites in `conformance` and `mailbox_conformance`. Never does: look into an Envelope,
//! know which device pushed, or remember a deleted blob.
//!
//! Invariants (specification 2.7, and 4.6 of "paired-mailbox/1"):
//! - a put, of either kind, is answered only after the commit that contains it;
//! - ids grow in arrival order and are never given twice, not even over restarts;
//! - a blob is deleted only on behalf of the device whose inbox holds it, or when it expires;
//! - no more than ids and sizes of waiting blobs are in memory, plus a bounded number of
//!   fresh Envelopes for devices that are connected.

mod backup;
#[cfg(test)]
mod conformance;
mod disk;
mod free_space;
mod fresh;
#[cfg(test)]
mod hostile;
mod inbox_table;
mod inboxes;
mod log;
#[cfg(test)]
mod mailbox_conformance;
mod mailbox_table;
mod mailboxes;
mod memory;
mod migration;
mod reader;
mod schema;
mod sqlite;
mod whole;
#[cfg(test)]
mod wormhole_histories;
mod wormhole_shelf;
mod wormhole_table;
mod wormholes;
mod writer;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::link::key::{Direction, MailboxId};
use tokio::sync::{Notify, OwnedSemaphorePermit, oneshot};

use crate::mailbox::{
    Claimed, DirectionHead, MailboxAccess, MailboxSums, Making, Page, PageIndex, Refusal, Stored,
};

pub use backup::{BackupError, BackupProgress, back_up};
pub use inboxes::{InboxWatch, Sums};
pub use mailboxes::{MailboxWatch, WatchEnd, WatchFrame, WatchRefusal};
pub use memory::MemoryStore;
pub use schema::StoreOpenError;
pub use sqlite::SqliteStore;
pub use wormhole_table::WormholeSums;
pub(crate) use wormholes::Visitor;
pub use writer::WriterPace;

/// What the native door needs of a store. Every method may be called from any thread, and
/// none of them waits for the disk but in the future that it returns.
pub trait InboxStore: Send + Sync + 'static {
    /// Queues an Envelope for `recipient`. The ticket tells when it is durable; the room is
    /// taken for as long as the store holds the Envelope in memory for it.
    ///
    /// # Errors
    ///
    /// Tells which bound leaves no room; nothing is queued then.
    fn put(
        &self,
        recipient: NoisePublic,
        envelope: Bytes,
        room: PutRoom,
        now_ms: u64,
    ) -> Result<PutTicket, PutRefusal>;

    /// Deletes a blob of `device`'s own inbox; any other id is ignored.
    fn delete(&self, device: NoisePublic, blob: BlobId) {
        self.delete_all(device, &[blob]);
    }

    /// The same with several at once.
    fn delete_all(&self, device: NoisePublic, blobs: &[BlobId]);

    /// The next blobs of `device` after `after` in arrival order, a chunk of them. A bell of
    /// [`Self::watch`] rings when there may be more than there were.
    fn read(&self, device: NoisePublic, after: BlobId, now_ms: u64) -> StoreFuture<'_, Chunk>;

    /// Rings `bell` on every insert into `device`'s inbox, for as long as the watch lives.
    fn watch(&self, device: NoisePublic, bell: Arc<Notify>) -> InboxWatch;

    /// Deletes a share of what has expired; true if there may be more.
    fn expire(&self, now_ms: u64) -> bool;

    /// What is stored, in numbers. Takes no time, however much that is.
    fn sums(&self) -> Sums;

    /// When the first of the inboxes' oldest blobs expires, in Unix milliseconds. Looks at
    /// every inbox.
    fn first_expiry_ms(&self) -> Option<u64>;

    /// Reads something small, to show that the store answers, and a blob that couldn't be read
    /// before; tells whether it can write.
    fn check(&self) -> StoreFuture<'_, ()>;

    /// Writes what is queued and closes; later puts are answered with
    /// [`StoreError::Closed`].
    fn close(&self) -> StoreFuture<'_, ()>;
}

/// What the door of links needs of a store. Changes are answered after their commit; the rules
/// are those of [`crate::mailbox`].
pub trait MailboxStore: Send + Sync + 'static {
    /// Claims a mailbox.
    fn claim(
        &self,
        access: MailboxAccess,
        making: Making,
        now_ms: u64,
    ) -> MailboxFuture<'_, Claimed>;

    /// The state of a direction.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, or it is another's.
    fn head(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal>;

    /// What [`Self::page`] would answer, without the Envelopes.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, or it is another's.
    fn page_index(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> Result<PageIndex, Refusal>;

    /// At most so many of the Envelopes above `after`, ascending.
    fn page(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> MailboxFuture<'_, Page>;

    /// Stores an Envelope under a sequence. The room is taken for as long as the store holds
    /// the Envelope in memory for it.
    fn store(
        &self,
        access: MailboxAccess,
        direction: Direction,
        envelope: (u64, Bytes),
        room: PutRoom,
        now_ms: u64,
    ) -> MailboxFuture<'_, Stored>;

    /// Frees the slots up to `through`.
    fn prune(
        &self,
        access: MailboxAccess,
        direction: Direction,
        through: u64,
        now_ms: u64,
    ) -> MailboxFuture<'_, DirectionHead>;

    /// Removes a mailbox with everything in it.
    fn erase(&self, access: MailboxAccess, now_ms: u64) -> MailboxFuture<'_, ()>;

    /// Tells what happens in a direction from now on; refuses more than `watches_max` watches
    /// of the whole store.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, it is another's, or there are too many watches.
    fn watch_direction(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        watches_max: usize,
        now_ms: u64,
    ) -> Result<MailboxWatch, WatchRefusal>;

    /// Whether there is such a mailbox, whoever asks.
    fn holds(&self, mailbox: &MailboxId, now_ms: u64) -> bool;

    /// Whether a mailbox is still there though its time is over.
    fn is_over(&self, mailbox: &MailboxId, now_ms: u64) -> bool;

    /// Removes a mailbox that is of no link any more, whoever owned it.
    fn forget(&self, mailbox: MailboxId, now_ms: u64) -> MailboxFuture<'_, ()>;

    /// Every mailbox, expired or not.
    fn mailbox_ids(&self) -> Vec<MailboxId>;

    /// Before a claim: mailboxes that are over and not swept yet take no place from one that
    /// would be made.
    fn make_place(&self, making: Making, now_ms: u64) {
        if matches!(making, Making::Below(max) if self.mailbox_sums().0.mailboxes >= max) {
            self.expire_mailboxes(now_ms);
        }
    }

    /// Removes the mailboxes whose time is over.
    fn expire_mailboxes(&self, now_ms: u64);

    /// What is stored, and how many watches there are.
    fn mailbox_sums(&self) -> (MailboxSums, u64);

    /// Ends every watch, because the relay stops.
    fn end_watches(&self);
}

/// What a mailbox answers later.
pub type MailboxFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, MailboxError>> + Send + 'a>>;

/// Why a request to a mailbox fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MailboxError {
    /// The rules refuse it.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The store can't do it. It may be tried again.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The relay doesn't know what time it is.
    #[error("the clock of this computer isn't set")]
    NoClock,
}

/// What a store answers later.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Names one blob to the device that it waits for. Opaque on the wire.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub struct BlobId(u64);

impl BlobId {
    /// Before the first blob.
    pub const START: Self = Self(0);

    /// The number that a device gave back.
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }

    /// The number that a device is told.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BlobId(..)")
    }
}

/// One stored Envelope.
#[derive(Clone, Eq, PartialEq)]
pub struct Blob {
    /// Its name and its place in the order of arrival.
    pub id: BlobId,
    /// What was put, byte for byte.
    pub envelope: Bytes,
}

impl fmt::Debug for Blob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Blob(..)")
    }
}

/// Some blobs of an inbox, in arrival order.
#[derive(Debug)]
pub struct Chunk {
    /// What was found, perhaps nothing.
    pub blobs: Vec<Blob>,
    /// Everything up to here has been looked at: the last of `blobs`, or a later one that was
    /// deleted meanwhile, or where the read started if nothing waits. What can't be read is
    /// behind it, and fails the next read.
    pub through: BlobId,
}

/// Tells when a put is durable.
#[derive(Debug)]
pub struct PutTicket(oneshot::Receiver<Result<(), StoreError>>);

impl PutTicket {
    fn new(room: PutRoom) -> (PutAnswer, Self) {
        let (sender, receiver) = oneshot::channel();
        (PutAnswer { sender, room }, Self(receiver))
    }

    /// Waits for the commit.
    ///
    /// # Errors
    ///
    /// Tells why it isn't stored. It may be put again.
    pub async fn outcome(self) -> Result<(), StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }

    /// The outcome if it is known by now.
    pub fn try_outcome(&mut self) -> Option<Result<(), StoreError>> {
        match self.0.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(oneshot::error::TryRecvError::Empty) => None,
            Err(oneshot::error::TryRecvError::Closed) => Some(Err(StoreError::Closed)),
        }
    }
}

/// A share of the memory that puts on their way to the disk may take. It goes with the put and
/// not with whoever waits for the outcome: a session that doesn't read its answers keeps none,
/// and one that has ended frees none before its Envelopes are gone.
#[derive(Debug)]
pub struct PutRoom(#[expect(dead_code, reason = "held, not used")] Option<OwnedSemaphorePermit>);

impl PutRoom {
    /// Room that nobody counts.
    pub fn uncounted() -> Self {
        Self(None)
    }
}

impl From<OwnedSemaphorePermit> for PutRoom {
    fn from(permit: OwnedSemaphorePermit) -> Self {
        Self(Some(permit))
    }
}

/// The store's end of a [`PutTicket`]. Dropping it unanswered counts as closed.
#[derive(Debug)]
struct PutAnswer {
    sender: oneshot::Sender<Result<(), StoreError>>,
    room: PutRoom,
}

impl PutAnswer {
    fn tell(self, outcome: Result<(), StoreError>) {
        drop(self.room);
        // A session that has ended no longer listens, and its blob is stored all the same.
        let _ = self.sender.send(outcome);
    }
}

/// Why a put isn't even queued.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PutRefusal {
    /// The inbox has no room.
    InboxFull,
    /// The relay has no room.
    Unavailable,
}

/// Why a store doesn't do what it is asked. Carries no path and no content.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum StoreError {
    /// The store is closed or closing.
    #[error("the store is closed")]
    Closed,
    /// The disk has no room.
    #[error("the disk is full")]
    DiskFull,
    /// Another program reads the database for so long that nothing more can be written.
    #[error("another program keeps the database open, and its log is full")]
    LogFull,
    /// The disk can't be read or written.
    #[error("the disk doesn't answer")]
    Io,
    /// The database contradicts itself.
    #[error("the database is damaged")]
    Damaged,
    /// Anything else that SQLite reports, with its extended code.
    #[error("the database reports code {0}")]
    Database(i32),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let rusqlite::Error::SqliteFailure(failure, _) = error else {
            // Everything else is about the shape of a row, so the rows aren't ours.
            return Self::Damaged;
        };
        match failure.code {
            ErrorCode::DiskFull => Self::DiskFull,
            ErrorCode::SystemIoFailure | ErrorCode::ReadOnly | ErrorCode::CannotOpen => Self::Io,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged,
            _ => Self::Database(failure.extended_code),
        }
    }
}

/// Bounds and lifetimes that a store is opened with.
#[derive(Clone, Copy, Debug)]
pub struct StoreSettings {
    /// How much may be stored.
    pub limits: crate::limits::StoreLimits,
    /// How long a blob waits at most, in milliseconds.
    pub life_ms: u64,
    /// What the writer puts off.
    pub pace: WriterPace,
}

/// A moment in whole Unix seconds, as stored.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Seconds(u32);

impl Seconds {
    fn at(now_ms: u64) -> Self {
        Self(u32::try_from(now_ms / 1_000).unwrap_or(u32::MAX))
    }

    /// The end of a life that starts now, rounded so that no blob lives shorter than promised.
    fn end_of_life(now_ms: u64, life_ms: u64) -> Self {
        let end_ms = now_ms.saturating_add(life_ms);
        Self(u32::try_from(end_ms.div_ceil(1_000)).unwrap_or(u32::MAX))
    }

    fn as_ms(self) -> u64 {
        u64::from(self.0).saturating_mul(1_000)
    }
}
