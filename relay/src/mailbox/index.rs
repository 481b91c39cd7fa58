//! All mailboxes of a relay without their Envelopes, and what a request does to them.
//!
//! Owns: who may claim, who may go on, when a mailbox is over, and the sums. Requests that
//! change something leave [`Change`]s, in order, for whoever makes them durable.
//!
//! Invariant: the sums are those of the mailboxes.

use std::collections::BTreeMap;
use std::sync::Arc;

use sealpost_protocol::limit;
use sealpost_protocol::link::key::{Direction, MailboxId};

use super::direction::SlotAnswer;
use super::{
    Change, Claimed, DirectionHead, DirectionSlots, EnvelopeDigest, Going, MailboxAccess, Making,
    PageIndex, Refusal, Stored, TokenDigest,
};

/// One mailbox.
#[derive(Clone, Debug)]
pub struct Mailbox {
    number: u64,
    token: TokenDigest,
    created_ms: u64,
    touched_ms: u64,
    directions: [DirectionSlots; 2],
}

impl Mailbox {
    /// A mailbox as it was written, empty.
    pub(crate) fn restore(
        number: u64,
        token: TokenDigest,
        created_ms: u64,
        touched_ms: u64,
    ) -> Self {
        Self {
            number,
            token,
            created_ms,
            touched_ms,
            directions: Default::default(),
        }
    }

    /// One of its sides.
    pub fn direction(&self, direction: Direction) -> &DirectionSlots {
        let [a_to_b, b_to_a] = &self.directions;
        match direction {
            Direction::AToB => a_to_b,
            Direction::BToA => b_to_a,
        }
    }

    pub(crate) fn direction_mut(&mut self, direction: Direction) -> &mut DirectionSlots {
        let [a_to_b, b_to_a] = &mut self.directions;
        match direction {
            Direction::AToB => a_to_b,
            Direction::BToA => b_to_a,
        }
    }

    /// Whether its time is over.
    pub fn is_expired(&self, now_ms: u64) -> bool {
        now_ms >= self.expires_ms()
    }

    /// Begins its life anew. By the clock of a computer that was set back meanwhile it is younger
    /// than it was, and would be over as soon as that is set right.
    fn touch(&mut self, now_ms: u64) {
        self.touched_ms = self.touched_ms.max(now_ms);
    }

    fn expires_ms(&self) -> u64 {
        self.touched_ms.saturating_add(limit::LINK_MAILBOX_LIFE_MS)
    }

    /// Rounded so that nobody is told an earlier moment than the true one.
    fn expires_s(&self) -> u64 {
        self.expires_ms().div_ceil(1_000)
    }

    /// What answers tell about one of its sides.
    pub fn head(&self, direction: Direction) -> DirectionHead {
        let slots = self.direction(direction);
        DirectionHead {
            last: slots.last(),
            count: slots.count(),
            oldest: slots.oldest(),
            created_ms: self.created_ms,
            expires_s: self.expires_s(),
        }
    }

    fn sums(&self) -> MailboxSums {
        let [one, other] = &self.directions;
        MailboxSums {
            mailboxes: 1,
            envelopes: u64::from(one.count()).saturating_add(other.count().into()),
            bytes: one.bytes().saturating_add(other.bytes()),
        }
    }
}

/// What is stored in mailboxes, in numbers that name nobody.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MailboxSums {
    /// Mailboxes.
    pub mailboxes: u64,
    /// Envelopes in them.
    pub envelopes: u64,
    /// Bytes of those Envelopes.
    pub bytes: u64,
}

impl MailboxSums {
    fn add(&mut self, more: Self) {
        self.mailboxes = self.mailboxes.saturating_add(more.mailboxes);
        self.envelopes = self.envelopes.saturating_add(more.envelopes);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }

    fn remove(&mut self, less: Self) {
        self.mailboxes = self.mailboxes.saturating_sub(less.mailboxes);
        self.envelopes = self.envelopes.saturating_sub(less.envelopes);
        self.bytes = self.bytes.saturating_sub(less.bytes);
    }
}

/// All of them. Cloning shares what isn't changed afterwards.
#[derive(Clone, Debug, Default)]
pub struct MailboxIndex {
    mailboxes: BTreeMap<MailboxId, Arc<Mailbox>>,
    sums: MailboxSums,
    /// The last number given, for a name that no earlier mailbox had.
    last_number: u64,
    changes: Vec<Change>,
}

impl MailboxIndex {
    /// No mailboxes.
    pub fn new() -> Self {
        Self::default()
    }

    /// What has to be written since the last time, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// What is stored.
    pub fn sums(&self) -> MailboxSums {
        self.sums
    }

    /// One mailbox as it is, expired or not.
    pub(crate) fn get(&self, mailbox: &MailboxId) -> Option<&Arc<Mailbox>> {
        self.mailboxes.get(mailbox)
    }

    /// Puts a mailbox in its place, or takes away the one that is there.
    pub(crate) fn set(&mut self, id: MailboxId, mailbox: Option<Arc<Mailbox>>) {
        let before = match mailbox {
            Some(mailbox) => {
                self.sums.add(mailbox.sums());
                self.last_number = self.last_number.max(mailbox.number);
                self.mailboxes.insert(id, mailbox)
            }
            None => self.mailboxes.remove(&id),
        };
        if let Some(before) = before {
            self.sums.remove(before.sums());
        }
    }

    /// The mailboxes whose time is over.
    pub fn expired(&self, now_ms: u64) -> Vec<MailboxId> {
        let is_over = |mailbox: &Arc<Mailbox>| mailbox.is_expired(now_ms);
        self.mailboxes
            .iter()
            .filter(|(_, mailbox)| is_over(mailbox))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Removes a mailbox whose time is over.
    pub fn expire(&mut self, mailbox: MailboxId, now_ms: u64) {
        let is_over = |mailbox: &Arc<Mailbox>| mailbox.is_expired(now_ms);
        if self.mailboxes.get(&mailbox).is_some_and(is_over) {
            self.remove(mailbox, Going::Expired);
        }
    }

    /// Claims a mailbox: makes it, or makes it live longer.
    ///
    /// # Errors
    ///
    /// Refuses whoever has another token, and a new mailbox where none may be made.
    pub fn claim(
        &mut self,
        access: &MailboxAccess,
        making: Making,
        now_ms: u64,
    ) -> Result<Claimed, Refusal> {
        let found = self.mailboxes.get(&access.mailbox);
        let has_ended = found.is_some_and(|mailbox| {
            mailbox.is_expired(now_ms) && mailbox.token.is_same(&access.token)
        });
        self.expire(access.mailbox, now_ms);
        match self.open(access, now_ms) {
            Err(Refusal::NoMailbox) => {
                match making {
                    Making::Closed if has_ended => return Err(Refusal::Ended),
                    Making::Closed => return Err(Refusal::ClaimsClosed),
                    Making::NoRoom => return Err(Refusal::NoRoom),
                    Making::Below(max) if self.sums.mailboxes >= max => {
                        return Err(Refusal::RelayFull);
                    }
                    Making::Below(_) => self.create(access, now_ms),
                }
                self.claimed(access, true, now_ms)
            }
            Err(refusal) => Err(refusal),
            Ok(_) => {
                self.change(access.mailbox, |mailbox| mailbox.touch(now_ms));
                self.claimed(access, false, now_ms)
            }
        }
    }

    fn claimed(
        &mut self,
        access: &MailboxAccess,
        is_new: bool,
        now_ms: u64,
    ) -> Result<Claimed, Refusal> {
        let mailbox = self.open(access, now_ms)?;
        let (number, token) = (mailbox.number, mailbox.token);
        let at_ms = mailbox.touched_ms;
        let claimed = Claimed {
            is_new,
            created_ms: mailbox.created_ms,
            expires_s: mailbox.expires_s(),
        };
        self.changes.push(if is_new {
            Change::Created {
                mailbox: access.mailbox,
                number,
                token,
                at_ms,
            }
        } else {
            Change::Touched { number, at_ms }
        });
        Ok(claimed)
    }

    fn create(&mut self, access: &MailboxAccess, now_ms: u64) {
        let number = self.last_number.saturating_add(1);
        let mailbox = Mailbox::restore(number, access.token, now_ms, now_ms);
        self.set(access.mailbox, Some(Arc::new(mailbox)));
    }

    /// The state of a direction.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, or it is another's.
    pub fn head(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal> {
        Ok(self.open(access, now_ms)?.head(direction))
    }

    /// Which Envelopes a page has: at most `limit` of those above `after`.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, or it is another's.
    pub fn page(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        (after, limit): (u64, usize),
        now_ms: u64,
    ) -> Result<PageIndex, Refusal> {
        let mailbox = self.open(access, now_ms)?;
        let limit = limit.min(limit::LINK_PAGE_ENVELOPES_MAX);
        let (slots, more) = mailbox.direction(direction).page(after, limit);
        Ok(PageIndex {
            head: mailbox.head(direction),
            more,
            slots,
            number: mailbox.number,
        })
    }

    /// Stores an Envelope under a sequence. `has_room` says whether the relay has room for it,
    /// and is asked last.
    ///
    /// # Errors
    ///
    /// The rules of specification 4.6.
    pub fn put(
        &mut self,
        access: &MailboxAccess,
        direction: Direction,
        (sequence, digest): (u64, EnvelopeDigest),
        has_room: impl FnOnce() -> bool,
        now_ms: u64,
    ) -> Result<Stored, Refusal> {
        self.expire(access.mailbox, now_ms);
        self.open(access, now_ms)?;
        let answered = self.change(access.mailbox, |mailbox| {
            let answer = mailbox
                .direction_mut(direction)
                .put(sequence, digest, has_room);
            if matches!(answer, SlotAnswer::Stored) {
                mailbox.touch(now_ms);
            }
            let row = (mailbox.number, mailbox.touched_ms);
            (answer, mailbox.head(direction), row)
        });
        let (answer, head, (number, at_ms)) = answered.ok_or(Refusal::NoMailbox)?;
        match answer {
            SlotAnswer::Stored => {
                self.changes.push(Change::Stored {
                    mailbox: access.mailbox,
                    number,
                    direction,
                    sequence,
                    digest,
                    at_ms,
                });
                Ok(Stored { is_new: true, head })
            }
            SlotAnswer::Repeated => Ok(Stored {
                is_new: false,
                head,
            }),
            SlotAnswer::OutOfRange => Err(Refusal::BadSequence),
            SlotAnswer::Taken => Err(Refusal::SequenceTaken(head)),
            SlotAnswer::Jump => Err(Refusal::SequenceJump),
            SlotAnswer::Full => Err(Refusal::DirectionFull(head)),
            SlotAnswer::NoRoom => Err(Refusal::NoRoom),
        }
    }

    /// Frees every slot of a direction up to `through`.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, or it is another's.
    pub fn prune(
        &mut self,
        access: &MailboxAccess,
        direction: Direction,
        through: u64,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal> {
        self.expire(access.mailbox, now_ms);
        self.open(access, now_ms)?;
        let pruned = self.change(access.mailbox, |mailbox| {
            let has_freed = mailbox.direction_mut(direction).prune(through);
            (has_freed, mailbox.head(direction), mailbox.number)
        });
        let (has_freed, head, number) = pruned.ok_or(Refusal::NoMailbox)?;
        if has_freed {
            self.changes.push(Change::Pruned {
                mailbox: access.mailbox,
                number,
                direction,
                through,
            });
        }
        Ok(head)
    }

    /// Removes a mailbox with everything in it. Its id is free then.
    ///
    /// # Errors
    ///
    /// There is no such mailbox, or it is another's.
    pub fn erase(&mut self, access: &MailboxAccess, now_ms: u64) -> Result<(), Refusal> {
        self.expire(access.mailbox, now_ms);
        self.open(access, now_ms)?;
        self.remove(access.mailbox, Going::Erased);
        Ok(())
    }

    /// Removes a mailbox that its relay knows to be of no link any more, like an erased one.
    pub fn forget(&mut self, mailbox: MailboxId) {
        self.remove(mailbox, Going::Erased);
    }

    /// Every mailbox, expired or not.
    pub(crate) fn ids(&self) -> Vec<MailboxId> {
        self.mailboxes.keys().copied().collect()
    }

    /// The mailbox, for whoever shows its token.
    fn open(&self, access: &MailboxAccess, now_ms: u64) -> Result<&Mailbox, Refusal> {
        let found = self.mailboxes.get(&access.mailbox);
        let alive = found.filter(|mailbox| !mailbox.is_expired(now_ms));
        let mailbox = alive.ok_or(Refusal::NoMailbox)?;
        if mailbox.token.is_same(&access.token) {
            Ok(mailbox)
        } else {
            Err(Refusal::WrongToken)
        }
    }

    fn remove(&mut self, mailbox: MailboxId, going: Going) {
        if let Some(gone) = self.mailboxes.remove(&mailbox) {
            self.sums.remove(gone.sums());
            self.changes.push(Change::Gone {
                mailbox,
                number: gone.number,
                going,
            });
        }
    }

    /// Runs `step` on one mailbox and keeps the sums right.
    fn change<T>(&mut self, id: MailboxId, step: impl FnOnce(&mut Mailbox) -> T) -> Option<T> {
        let mailbox = Arc::make_mut(self.mailboxes.get_mut(&id)?);
        let before = mailbox.sums();
        let result = step(mailbox);
        let after = mailbox.sums();
        self.sums.add(after);
        self.sums.remove(before);
        Some(result)
    }
}
