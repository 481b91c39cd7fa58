//! Mailboxes of links, for doors and for the relay's own process.
//!
//! Owns: the moment of each request, the bound on Envelopes that are queued for a commit, and
//! who may make a mailbox. Works whether a web port is open or not.

use std::sync::Arc;

use bytes::Bytes;
use sealpost_protocol::link::key::{Direction, LinkToken, MailboxId};
use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::limits::{MailboxLimits, charged_bytes};
use crate::mailbox::{
    Claimed, DirectionHead, MailboxAccess, MailboxSums, Making, Page, PageIndex, Refusal, Stored,
};
use crate::store::{MailboxError, MailboxStore, MailboxWatch, StoreError, WatchRefusal};

/// Bytes of all Envelopes that are queued for a commit. A request that would go over it waits.
const BYTES_IN_PROGRESS_MAX: usize = 32 * 1_024 * 1_024;

/// A relay's mailboxes, to its own process. Cloning is cheap.
#[derive(Clone)]
pub struct Mailboxes {
    store: Arc<dyn MailboxStore>,
    clock: Arc<dyn Clock>,
    limits: MailboxLimits,
    room: Arc<Semaphore>,
}

impl Mailboxes {
    pub(crate) fn new(
        store: Arc<dyn MailboxStore>,
        clock: Arc<dyn Clock>,
        limits: MailboxLimits,
    ) -> Self {
        Self {
            store,
            clock,
            limits,
            room: Arc::new(Semaphore::new(BYTES_IN_PROGRESS_MAX)),
        }
    }

    /// Claims a mailbox, and makes it where there is none.
    ///
    /// # Errors
    ///
    /// Another token owns it, or there is no room for another mailbox.
    pub async fn claim(
        &self,
        mailbox: &MailboxId,
        token: &LinkToken,
    ) -> Result<Claimed, MailboxError> {
        let access = MailboxAccess::new(mailbox, token);
        self.claim_as(access, true).await
    }

    pub(crate) async fn claim_as(
        &self,
        access: MailboxAccess,
        may_make: bool,
    ) -> Result<Claimed, MailboxError> {
        let now_ms = self.writing_ms()?;
        let making = if may_make {
            Making::Below(self.limits.mailboxes_max)
        } else {
            Making::Closed
        };
        self.store.claim(access, making, now_ms).await
    }

    /// The state of a direction.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, or it is another's.
    pub fn head(
        &self,
        mailbox: &MailboxId,
        token: &LinkToken,
        direction: Direction,
    ) -> Result<DirectionHead, Refusal> {
        self.head_as(&MailboxAccess::new(mailbox, token), direction)
    }

    pub(crate) fn head_as(
        &self,
        access: &MailboxAccess,
        direction: Direction,
    ) -> Result<DirectionHead, Refusal> {
        self.store.head(access, direction, self.clock.now_ms())
    }

    /// At most 16 of the Envelopes above `after`, ascending.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, it is another's, or it can't be read.
    pub async fn page(
        &self,
        mailbox: &MailboxId,
        token: &LinkToken,
        direction: Direction,
        after: u64,
    ) -> Result<Page, MailboxError> {
        let bounds = (after, usize::MAX);
        self.page_as(&MailboxAccess::new(mailbox, token), direction, bounds)
            .await
    }

    pub(crate) fn page_index_as(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
    ) -> Result<PageIndex, Refusal> {
        let now_ms = self.clock.now_ms();
        self.store.page_index(access, direction, bounds, now_ms)
    }

    pub(crate) async fn page_as(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
    ) -> Result<Page, MailboxError> {
        let now_ms = self.clock.now_ms();
        self.store.page(access, direction, bounds, now_ms).await
    }

    /// Stores an Envelope under a sequence.
    ///
    /// # Errors
    ///
    /// The rules of specification 4.6, or the store can't write.
    pub async fn put(
        &self,
        mailbox: &MailboxId,
        token: &LinkToken,
        direction: Direction,
        sequence: u64,
        envelope: Bytes,
    ) -> Result<Stored, MailboxError> {
        let access = MailboxAccess::new(mailbox, token);
        self.put_as(access, direction, (sequence, envelope)).await
    }

    pub(crate) async fn put_as(
        &self,
        access: MailboxAccess,
        direction: Direction,
        (sequence, envelope): (u64, Bytes),
    ) -> Result<Stored, MailboxError> {
        let bytes = charged_bytes(1, envelope.len() as u64);
        let bytes = u32::try_from(bytes).map_err(|_| Refusal::EnvelopeTooLarge)?;
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await;
        let room = room.map_err(|_| StoreError::Closed)?;
        let now_ms = self.writing_ms()?;
        let put = (sequence, envelope);
        self.store
            .store(access, direction, put, room.into(), now_ms)
            .await
    }

    /// Frees the slots up to `through`.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, it is another's, or the store can't write.
    pub async fn prune(
        &self,
        mailbox: &MailboxId,
        token: &LinkToken,
        direction: Direction,
        through: u64,
    ) -> Result<DirectionHead, MailboxError> {
        let access = MailboxAccess::new(mailbox, token);
        self.prune_as(access, direction, through).await
    }

    pub(crate) async fn prune_as(
        &self,
        access: MailboxAccess,
        direction: Direction,
        through: u64,
    ) -> Result<DirectionHead, MailboxError> {
        let now_ms = self.clock.now_ms();
        self.store.prune(access, direction, through, now_ms).await
    }

    /// Removes a mailbox with everything in it.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, it is another's, or the store can't write.
    pub async fn erase(&self, mailbox: &MailboxId, token: &LinkToken) -> Result<(), MailboxError> {
        self.erase_as(MailboxAccess::new(mailbox, token)).await
    }

    pub(crate) async fn erase_as(&self, access: MailboxAccess) -> Result<(), MailboxError> {
        self.store.erase(access, self.clock.now_ms()).await
    }

    /// Removes every mailbox but these: for a process that knows each link there is. A store that
    /// was restored from an older copy has those again that were erased since.
    ///
    /// # Errors
    ///
    /// The store can't write. What is still there may be removed by another call.
    pub async fn retain(&self, known: &[MailboxId]) -> Result<(), MailboxError> {
        let now_ms = self.clock.now_ms();
        let mut others = self.store.mailbox_ids();
        others.retain(|mailbox| !known.contains(mailbox));
        let forget = |mailbox| self.store.forget(mailbox, now_ms);
        // Queued together, so that they share a commit.
        let going: Vec<_> = others.into_iter().map(forget).collect();
        for gone in going {
            gone.await?;
        }
        Ok(())
    }

    /// Tells what happens in a direction from now on.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, it is another's, or there are too many watches.
    pub fn watch(
        &self,
        mailbox: &MailboxId,
        token: &LinkToken,
        direction: Direction,
    ) -> Result<MailboxWatch, WatchRefusal> {
        self.watch_as(&MailboxAccess::new(mailbox, token), direction)
    }

    pub(crate) fn watch_as(
        &self,
        access: &MailboxAccess,
        direction: Direction,
    ) -> Result<MailboxWatch, WatchRefusal> {
        let now_ms = self.clock.now_ms();
        self.store
            .watch_direction(access, direction, self.limits.watches_max, now_ms)
    }

    /// Whether there is such a mailbox, whoever asks.
    pub(crate) fn holds(&self, mailbox: &MailboxId) -> bool {
        self.store.holds(mailbox, self.clock.now_ms())
    }

    /// Whether a mailbox is still there though its time is over.
    pub(crate) fn is_over(&self, mailbox: &MailboxId) -> bool {
        self.store.is_over(mailbox, self.clock.now_ms())
    }

    /// What is stored, and how many watches there are.
    pub(crate) fn sums(&self) -> (MailboxSums, u64) {
        self.store.mailbox_sums()
    }

    /// Removes the mailboxes whose time is over.
    pub(crate) fn expire(&self) {
        self.store.expire_mailboxes(self.clock.now_ms());
    }

    /// Ends every watch, because the relay stops.
    pub(crate) fn end_watches(&self) {
        self.store.end_watches();
    }

    /// The moment for something that starts a life. A computer that has lost its clock would
    /// start lives that are over as soon as it is set.
    fn writing_ms(&self) -> Result<u64, MailboxError> {
        if self.clock.is_set() {
            Ok(self.clock.now_ms())
        } else {
            Err(MailboxError::NoClock)
        }
    }
}

impl std::fmt::Debug for Mailboxes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Mailboxes(..)")
    }
}
