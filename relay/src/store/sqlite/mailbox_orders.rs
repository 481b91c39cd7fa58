//! Mailboxes of links in the database: changes go to the writer, reads to memory and readers.

use bytes::Bytes;
use sealpost_protocol::link::key::{Direction, MailboxId};
use tokio::sync::oneshot;

use super::super::mailbox_table::{Answer, MailboxOrder};
use super::super::writer::{Order, Write};
use super::super::{
    MailboxError, MailboxFuture, MailboxStore, MailboxWatch, PutRoom, StoreError, WatchRefusal,
};
use super::{SqliteStore, tell_closed};
use crate::mailbox::{
    Claimed, DirectionHead, EnvelopeDigest, MailboxAccess, MailboxSums, Making, Page, PageIndex,
    Refusal, Stored,
};

impl SqliteStore {
    fn order_mailbox(&self, order: MailboxOrder, now_ms: u64) {
        let order = Order::Write(Write::Mailbox(order, now_ms));
        if let Err(returned) = self.orders.send(order) {
            tell_closed(returned.0);
        }
    }

    /// Queues what `order` makes and waits for its answer.
    fn ask<T: Send + 'static>(
        &self,
        order: impl FnOnce(Answer<T>) -> MailboxOrder,
        now_ms: u64,
    ) -> MailboxFuture<'_, T> {
        let (answer, outcome) = Answer::new();
        self.order_mailbox(order(answer), now_ms);
        Box::pin(wait_for(outcome))
    }
}

async fn wait_for<T>(
    outcome: oneshot::Receiver<Result<T, MailboxError>>,
) -> Result<T, MailboxError> {
    let closed = || MailboxError::Store(StoreError::Closed);
    outcome.await.unwrap_or_else(|_| Err(closed()))
}

impl MailboxStore for SqliteStore {
    fn claim(
        &self,
        access: MailboxAccess,
        making: Making,
        now_ms: u64,
    ) -> MailboxFuture<'_, Claimed> {
        self.make_place(making, now_ms);
        self.ask(
            |answer| MailboxOrder::Claim {
                access,
                making,
                answer,
            },
            now_ms,
        )
    }

    fn head(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal> {
        self.shared_mailboxes.head(access, direction, now_ms)
    }

    fn page_index(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> Result<PageIndex, Refusal> {
        self.shared_mailboxes
            .page(access, direction, bounds, now_ms)
    }

    fn page(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> MailboxFuture<'_, Page> {
        let page = self.page_index(access, direction, bounds, now_ms);
        Box::pin(async move {
            let page = page?;
            let mut envelopes = Vec::new();
            if let (Some((first, _)), Some((last, _))) = (page.slots.first(), page.slots.last()) {
                let slots = (page.number, direction);
                envelopes = self.readers.envelopes(slots, (*first, *last)).await?;
            }
            Ok(Page {
                head: page.head,
                more: page.more,
                envelopes,
            })
        })
    }

    fn store(
        &self,
        access: MailboxAccess,
        direction: Direction,
        (sequence, envelope): (u64, Bytes),
        room: PutRoom,
        now_ms: u64,
    ) -> MailboxFuture<'_, Stored> {
        let digest = match EnvelopeDigest::of(&envelope) {
            Ok(digest) => digest,
            Err(refusal) => return Box::pin(async move { Err(refusal.into()) }),
        };
        self.ask(
            |answer| MailboxOrder::Store {
                access,
                direction,
                sequence,
                digest,
                envelope,
                room,
                answer,
            },
            now_ms,
        )
    }

    fn prune(
        &self,
        access: MailboxAccess,
        direction: Direction,
        through: u64,
        now_ms: u64,
    ) -> MailboxFuture<'_, DirectionHead> {
        self.ask(
            |answer| MailboxOrder::Prune {
                access,
                direction,
                through,
                answer,
            },
            now_ms,
        )
    }

    fn erase(&self, access: MailboxAccess, now_ms: u64) -> MailboxFuture<'_, ()> {
        self.ask(|answer| MailboxOrder::Erase { access, answer }, now_ms)
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

    fn forget(&self, mailbox: MailboxId, now_ms: u64) -> MailboxFuture<'_, ()> {
        self.ask(|answer| MailboxOrder::Forget { mailbox, answer }, now_ms)
    }

    fn mailbox_ids(&self) -> Vec<MailboxId> {
        self.shared_mailboxes.ids()
    }

    fn expire_mailboxes(&self, now_ms: u64) {
        for mailbox in self.shared_mailboxes.expired(now_ms) {
            self.order_mailbox(MailboxOrder::Expire { mailbox }, now_ms);
        }
    }

    fn mailbox_sums(&self) -> (MailboxSums, u64) {
        let mailboxes = &self.shared_mailboxes;
        (mailboxes.sums(), mailboxes.watches())
    }

    fn end_watches(&self) {
        self.shared_mailboxes.close();
    }
}
