//! Mailboxes with their Envelopes, in memory: the same rules without a disk.
//!
//! For tests and for the model of faults, which copies and restores them as a whole.

use std::collections::BTreeMap;

use bytes::Bytes;
use sealpost_protocol::link::key::{Direction, MailboxId};

use super::{
    Change, Claimed, DirectionHead, EnvelopeDigest, MailboxAccess, MailboxIndex, MailboxSums,
    Making, Page, PageIndex, Refusal, Stored,
};

/// All mailboxes of a relay.
#[derive(Clone, Default)]
pub struct MemoryMailboxes {
    index: MailboxIndex,
    envelopes: BTreeMap<(u64, Direction, u64), Bytes>,
    /// What the last request has changed.
    changes: Vec<Change>,
}

impl MemoryMailboxes {
    /// No mailboxes.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is stored.
    pub fn sums(&self) -> MailboxSums {
        self.index.sums()
    }

    /// See [`MailboxIndex::claim`].
    ///
    /// # Errors
    ///
    /// See there.
    pub fn claim(
        &mut self,
        access: &MailboxAccess,
        making: Making,
        now_ms: u64,
    ) -> Result<Claimed, Refusal> {
        let claimed = self.index.claim(access, making, now_ms);
        self.apply(&Bytes::new());
        claimed
    }

    /// See [`MailboxIndex::head`].
    ///
    /// # Errors
    ///
    /// See there.
    pub fn head(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal> {
        self.index.head(access, direction, now_ms)
    }

    /// See [`MailboxIndex::page`].
    ///
    /// # Errors
    ///
    /// See there.
    pub fn page_index(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> Result<PageIndex, Refusal> {
        self.index.page(access, direction, bounds, now_ms)
    }

    /// The Envelopes of [`Self::page_index`].
    ///
    /// # Errors
    ///
    /// See there.
    pub fn page(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        (after, limit): (u64, usize),
        now_ms: u64,
    ) -> Result<Page, Refusal> {
        let page = self.index.page(access, direction, (after, limit), now_ms)?;
        let envelope = |(sequence, _): &(u64, u32)| {
            let key = (page.number, direction, *sequence);
            Some((*sequence, self.envelopes.get(&key)?.clone()))
        };
        Ok(Page {
            head: page.head,
            more: page.more,
            envelopes: page.slots.iter().filter_map(envelope).collect(),
        })
    }

    /// See [`MailboxIndex::put`]; the length is checked first.
    ///
    /// # Errors
    ///
    /// See there.
    pub fn put(
        &mut self,
        access: &MailboxAccess,
        direction: Direction,
        (sequence, envelope): (u64, &Bytes),
        has_room: impl FnOnce() -> bool,
        now_ms: u64,
    ) -> Result<Stored, Refusal> {
        let digest = EnvelopeDigest::of(envelope)?;
        let put = (sequence, digest);
        let stored = self.index.put(access, direction, put, has_room, now_ms);
        self.apply(envelope);
        stored
    }

    /// See [`MailboxIndex::prune`].
    ///
    /// # Errors
    ///
    /// See there.
    pub fn prune(
        &mut self,
        access: &MailboxAccess,
        direction: Direction,
        through: u64,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal> {
        let head = self.index.prune(access, direction, through, now_ms);
        self.apply(&Bytes::new());
        head
    }

    /// See [`MailboxIndex::erase`].
    ///
    /// # Errors
    ///
    /// See there.
    pub fn erase(&mut self, access: &MailboxAccess, now_ms: u64) -> Result<(), Refusal> {
        let erased = self.index.erase(access, now_ms);
        self.apply(&Bytes::new());
        erased
    }

    /// See [`MailboxIndex::forget`].
    pub fn forget(&mut self, mailbox: MailboxId) {
        self.index.forget(mailbox);
        self.apply(&Bytes::new());
    }

    /// Removes a mailbox whose time is over.
    pub fn expire(&mut self, mailbox: MailboxId, now_ms: u64) {
        self.index.expire(mailbox, now_ms);
        self.apply(&Bytes::new());
    }

    /// The mailboxes whose time is over.
    pub fn expired(&self, now_ms: u64) -> Vec<MailboxId> {
        self.index.expired(now_ms)
    }

    /// Everything but the Envelopes.
    pub(crate) fn index(&self) -> &MailboxIndex {
        &self.index
    }

    /// What the last request has changed.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Does to the Envelopes what the last request did to the index.
    fn apply(&mut self, envelope: &Bytes) {
        self.changes = self.index.take_changes();
        for change in &self.changes {
            match *change {
                Change::Created { .. } | Change::Touched { .. } => {}
                Change::Stored {
                    number,
                    direction,
                    sequence,
                    ..
                } => {
                    let key = (number, direction, sequence);
                    self.envelopes.insert(key, envelope.clone());
                }
                Change::Pruned {
                    number,
                    direction,
                    through,
                    ..
                } => self.envelopes.retain(|(of, side, sequence), _| {
                    (*of, *side) != (number, direction) || *sequence > through
                }),
                Change::Gone { number, .. } => {
                    self.envelopes.retain(|(of, ..), _| *of != number);
                }
            }
        }
    }
}
