//! Mailboxes of links without a disk.

use std::collections::BTreeMap;

use bytes::Bytes;
use sealpost_protocol::link::key::{Direction, MailboxId};

use super::super::{
    MailboxError, MailboxFuture, MailboxStore, MailboxWatch, PutRoom, StoreError, WatchRefusal,
};
use super::MemoryStore;
use crate::limits::charged_bytes;
use crate::mailbox::{
    Claimed, DirectionHead, MailboxAccess, MailboxSums, Making, MemoryMailboxes, Page, PageIndex,
    Refusal, Stored,
};

impl MemoryStore {
    /// Runs one request and tells the watches what it has changed.
    fn run<T>(
        &self,
        mailbox: MailboxId,
        request: impl FnOnce(&mut MemoryMailboxes) -> Result<T, Refusal>,
    ) -> Result<T, MailboxError> {
        let mut mailboxes = self.mailboxes();
        if self.is_closed() {
            return Err(StoreError::Closed.into());
        }
        // One that refuses may have removed what was over.
        let answer = request(&mut mailboxes);
        let index = mailboxes.index();
        let sums = index.sums();
        let changed = BTreeMap::from([(mailbox, index.get(&mailbox).cloned())]);
        self.shared
            .lock()
            .set_mailbox_charge(charged_bytes(sums.envelopes, sums.bytes));
        self.shared_mailboxes
            .publish(changed, mailboxes.changes(), || {});
        Ok(answer?)
    }
}

fn told<'a, T: Send + 'a>(answer: Result<T, MailboxError>) -> MailboxFuture<'a, T> {
    Box::pin(async move { answer })
}

impl MailboxStore for MemoryStore {
    fn claim(
        &self,
        access: MailboxAccess,
        making: Making,
        now_ms: u64,
    ) -> MailboxFuture<'_, Claimed> {
        self.make_place(making, now_ms);
        told(self.run(access.mailbox, |all| all.claim(&access, making, now_ms)))
    }

    fn head(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal> {
        self.mailboxes().head(access, direction, now_ms)
    }

    fn page_index(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> Result<PageIndex, Refusal> {
        self.mailboxes()
            .page_index(access, direction, bounds, now_ms)
    }

    fn page(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> MailboxFuture<'_, Page> {
        let page = self.mailboxes().page(access, direction, bounds, now_ms);
        told(page.map_err(MailboxError::from))
    }

    fn store(
        &self,
        access: MailboxAccess,
        direction: Direction,
        (sequence, envelope): (u64, Bytes),
        _room: PutRoom,
        now_ms: u64,
    ) -> MailboxFuture<'_, Stored> {
        let charge = charged_bytes(1, envelope.len() as u64);
        told(self.run(access.mailbox, |all| {
            let has_room = || self.shared.lock().take_room(charge);
            let put = (sequence, &envelope);
            all.put(&access, direction, put, has_room, now_ms)
        }))
    }

    fn prune(
        &self,
        access: MailboxAccess,
        direction: Direction,
        through: u64,
        now_ms: u64,
    ) -> MailboxFuture<'_, DirectionHead> {
        told(self.run(access.mailbox, |all| {
            all.prune(&access, direction, through, now_ms)
        }))
    }

    fn erase(&self, access: MailboxAccess, now_ms: u64) -> MailboxFuture<'_, ()> {
        told(self.run(access.mailbox, |all| all.erase(&access, now_ms)))
    }

    fn watch_direction(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        watches_max: usize,
        now_ms: u64,
    ) -> Result<MailboxWatch, WatchRefusal> {
        self.shared_mailboxes
            .watch(access, direction, watches_max, now_ms)
    }

    fn holds(&self, mailbox: &MailboxId, now_ms: u64) -> bool {
        self.shared_mailboxes.holds(mailbox, now_ms)
    }

    fn is_over(&self, mailbox: &MailboxId, now_ms: u64) -> bool {
        self.shared_mailboxes.is_over(mailbox, now_ms)
    }

    fn forget(&self, mailbox: MailboxId, _now_ms: u64) -> MailboxFuture<'_, ()> {
        told(self.run(mailbox, |all| {
            all.forget(mailbox);
            Ok(())
        }))
    }

    fn mailbox_ids(&self) -> Vec<MailboxId> {
        self.shared_mailboxes.ids()
    }

    fn expire_mailboxes(&self, now_ms: u64) {
        for mailbox in self.shared_mailboxes.expired(now_ms) {
            // Closed or not, there is nobody to tell.
            let _ = self.run(mailbox, |all| {
                all.expire(mailbox, now_ms);
                Ok(())
            });
        }
    }

    fn mailbox_sums(&self) -> (MailboxSums, u64) {
        (
            self.shared_mailboxes.sums(),
            self.shared_mailboxes.watches(),
        )
    }

    fn end_watches(&self) {
        self.shared_mailboxes.close();
    }
}
