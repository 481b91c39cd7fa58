//! All inboxes in memory: ids, sizes and lifetimes of what waits, never the Envelopes.
//!
//! Owns: quotas, arrival order, who is rung on an insert. It mirrors the database and is
//! changed only after the commit. Pure but for the bells it rings: the clock is an argument.
//!
//! Invariants:
//! - ids of an inbox ascend;
//! - an inbox that holds nothing, reserves nothing and is watched by nobody has no entry;
//! - the totals are the sums over all entries.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use sealpost_protocol::key::NoisePublic;
use tokio::sync::Notify;

use super::fresh::FreshBlobs;
use super::{BlobId, PutRefusal, Seconds};
use crate::limits::{StoreLimits, charged_bytes};

/// Blobs and bytes of one chunk of [`Inboxes::after`]. The bytes bound what a session holds
/// while its device doesn't read.
const CHUNK_BLOBS_MAX: usize = 64;
const CHUNK_BYTES_MAX: usize = 65_536;

/// One blob without its Envelope, 16 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Waiting {
    pub(super) id: u64,
    pub(super) bytes: u32,
    pub(super) expires_at: Seconds,
}

/// A blob that has left its inbox and must leave the database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Removed {
    pub(super) recipient: NoisePublic,
    pub(super) id: u64,
    pub(super) bytes: u32,
}

/// A blob to deliver, with its Envelope if that is still in memory.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) id: BlobId,
    pub(super) envelope: Option<Bytes>,
}

/// What is stored, in numbers that name nobody.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sums {
    /// Blobs that wait.
    pub blobs: u64,
    /// Bytes of their Envelopes.
    pub bytes: u64,
    /// Inboxes in which something waits or is about to.
    pub inboxes: u64,
}

/// One device's queue.
#[derive(Default)]
struct Inbox {
    /// Invariant: ids ascend.
    waiting: VecDeque<Waiting>,
    bytes: u64,
    /// Invariant: no blob expires earlier. Lifetimes may have changed since the first arrived,
    /// so that isn't always the front.
    first_expiry: Option<Seconds>,
    /// Puts on their way to the disk count against the quota too.
    reserved_blobs: u64,
    reserved_bytes: u64,
    bells: Vec<Arc<Notify>>,
}

impl Inbox {
    fn blobs(&self) -> u64 {
        self.waiting.len() as u64
    }

    fn is_filled(&self) -> bool {
        !self.waiting.is_empty() || self.reserved_blobs > 0
    }

    fn is_watched(&self) -> bool {
        !self.bells.is_empty()
    }

    fn is_idle(&self) -> bool {
        !self.is_filled() && !self.is_watched()
    }

    fn may_have_expired(&self, now: Seconds) -> bool {
        self.first_expiry.is_some_and(|first| first <= now)
    }

    fn remove_expired(&mut self, now: Seconds, mut tell: impl FnMut(Waiting)) {
        let bytes = &mut self.bytes;
        self.waiting.retain(|waiting| {
            let is_expired = waiting.expires_at <= now;
            if is_expired {
                *bytes = bytes.saturating_sub(u64::from(waiting.bytes));
                tell(*waiting);
            }
            !is_expired
        });
        self.first_expiry = self.waiting.iter().map(|waiting| waiting.expires_at).min();
    }

    /// Gives memory back once most of a large queue has been drained: what a stranger has
    /// filled mustn't cost memory for as long as one blob of it stays. Halving keeps the copying
    /// in proportion to what was drained.
    fn shrink(&mut self) {
        let (blobs, capacity) = (self.waiting.len(), self.waiting.capacity());
        if capacity > CHUNK_BLOBS_MAX && blobs.saturating_mul(4) < capacity {
            self.waiting.shrink_to(blobs.saturating_mul(2));
        }
    }
}

/// All queues of the relay.
pub(super) struct Inboxes {
    limits: StoreLimits,
    inboxes: BTreeMap<NoisePublic, Inbox>,
    fresh: FreshBlobs,
    blobs: u64,
    bytes: u64,
    reserved_blobs: u64,
    reserved_bytes: u64,
    filled: u64,
    /// What the mailboxes of links are charged with, against the bound of the whole relay
    /// (amendment 6).
    mailbox_charge: u64,
    /// The same of wormhole mailboxes.
    wormhole_charge: u64,
}

impl Inboxes {
    pub(super) fn new(limits: StoreLimits) -> Self {
        Self {
            limits,
            inboxes: BTreeMap::new(),
            fresh: FreshBlobs::default(),
            blobs: 0,
            bytes: 0,
            reserved_blobs: 0,
            reserved_bytes: 0,
            filled: 0,
            mailbox_charge: 0,
            wormhole_charge: 0,
        }
    }

    /// Takes room for an Envelope of a mailbox; false if the relay has none.
    pub(super) fn take_room(&mut self, charge: u64) -> bool {
        let has_room = self.has_room_for(charge);
        if has_room {
            self.mailbox_charge = self.mailbox_charge.saturating_add(charge);
        }
        has_room
    }

    /// The same for a wormhole mailbox or a message of one.
    pub(super) fn take_wormhole_room(&mut self, charge: u64) -> bool {
        let has_room = self.has_room_for(charge);
        if has_room {
            self.wormhole_charge = self.wormhole_charge.saturating_add(charge);
        }
        has_room
    }

    fn has_room_for(&self, charge: u64) -> bool {
        let blobs = self.blobs.saturating_add(self.reserved_blobs);
        let bytes = self.bytes.saturating_add(self.reserved_bytes);
        let charges = [self.doors_charge(), charge];
        let total = charges
            .into_iter()
            .fold(charged_bytes(blobs, bytes), u64::saturating_add);
        total <= self.limits.total_bytes_max
    }

    /// What the other doors' mailboxes hold.
    fn doors_charge(&self) -> u64 {
        self.mailbox_charge.saturating_add(self.wormhole_charge)
    }

    /// What the mailboxes hold, after a commit or one that failed.
    pub(super) fn set_mailbox_charge(&mut self, charge: u64) {
        self.mailbox_charge = charge;
    }

    /// The same of wormhole mailboxes.
    pub(super) fn set_wormhole_charge(&mut self, charge: u64) {
        self.wormhole_charge = charge;
    }

    /// Reserves room for one blob. Whoever reserves must [`Self::insert`] or
    /// [`Self::release`].
    pub(super) fn reserve(&mut self, recipient: NoisePublic, bytes: u32) -> Result<(), PutRefusal> {
        let bytes = u64::from(bytes);
        let inbox = self.inboxes.get(&recipient);
        let with_this_one = |blobs: [u64; 2], others: [u64; 2]| {
            let blobs = blobs.into_iter().fold(1, u64::saturating_add);
            let bytes = others.into_iter().fold(bytes, u64::saturating_add);
            (blobs, charged_bytes(blobs, bytes))
        };
        let (blobs, charged) = inbox.map_or_else(
            || with_this_one([0; 2], [0; 2]),
            |inbox| {
                with_this_one(
                    [inbox.blobs(), inbox.reserved_blobs],
                    [inbox.bytes, inbox.reserved_bytes],
                )
            },
        );
        if blobs > self.limits.inbox_blobs_max || charged > self.limits.inbox_bytes_max {
            return Err(PutRefusal::InboxFull);
        }
        let (_, charged) = with_this_one(
            [self.blobs, self.reserved_blobs],
            [self.bytes, self.reserved_bytes],
        );
        let is_new = !inbox.is_some_and(Inbox::is_filled);
        let is_watched = inbox.is_some_and(Inbox::is_watched);
        let charged = charged.saturating_add(self.doors_charge());
        if charged > self.limits.total_bytes_max_for(is_watched)
            || (is_new && self.filled >= self.limits.inboxes_max_for(is_watched))
        {
            return Err(PutRefusal::Unavailable);
        }
        self.change(recipient, |inbox| {
            inbox.reserved_blobs = inbox.reserved_blobs.saturating_add(1);
            inbox.reserved_bytes = inbox.reserved_bytes.saturating_add(bytes);
        });
        Ok(())
    }

    /// Gives back the room of a put that failed.
    pub(super) fn release(&mut self, recipient: NoisePublic, bytes: u32) {
        self.change(recipient, |inbox| {
            inbox.reserved_blobs = inbox.reserved_blobs.saturating_sub(1);
            inbox.reserved_bytes = inbox.reserved_bytes.saturating_sub(u64::from(bytes));
        });
    }

    /// Turns a reservation into a waiting blob and rings.
    pub(super) fn insert(&mut self, recipient: NoisePublic, waiting: Waiting, envelope: &Bytes) {
        let is_watched = self.change(recipient, |inbox| {
            inbox.reserved_blobs = inbox.reserved_blobs.saturating_sub(1);
            inbox.reserved_bytes = inbox
                .reserved_bytes
                .saturating_sub(u64::from(waiting.bytes));
            inbox.append(waiting);
            for bell in &inbox.bells {
                bell.notify_one();
            }
            inbox.is_watched()
        });
        if is_watched {
            self.fresh.insert(waiting.id, envelope.clone());
        }
    }

    /// Fills an inbox with what the database held at start, ids ascending.
    pub(super) fn restore(&mut self, recipient: NoisePublic, waiting: VecDeque<Waiting>) {
        self.change(recipient, |inbox| inbox.fill(waiting));
    }

    /// Takes a blob out of `recipient`'s inbox; nothing if it isn't there.
    pub(super) fn remove(&mut self, recipient: NoisePublic, id: u64) -> Option<Removed> {
        self.inboxes.get(&recipient)?;
        let waiting = self.change(recipient, |inbox| {
            let index = inbox
                .waiting
                .binary_search_by_key(&id, |waiting| waiting.id)
                .ok()?;
            let waiting = inbox.waiting.remove(index)?;
            inbox.bytes = inbox.bytes.saturating_sub(u64::from(waiting.bytes));
            inbox.shrink();
            Some(waiting)
        })?;
        self.fresh.remove(id);
        Some(Removed {
            recipient,
            id,
            bytes: waiting.bytes,
        })
    }

    /// Takes the expired blobs of one inbox, so that they don't count.
    pub(super) fn remove_expired_of(
        &mut self,
        recipient: NoisePublic,
        now: Seconds,
    ) -> Vec<Removed> {
        let is_due = |inbox: &Inbox| inbox.may_have_expired(now);
        if self.inboxes.get(&recipient).is_some_and(is_due) {
            return self.expire_inbox(recipient, now);
        }
        Vec::new()
    }

    /// Takes expired blobs of whole inboxes until `enough` are taken; all of them if fewer.
    pub(super) fn remove_expired(&mut self, now: Seconds, enough: usize) -> Vec<Removed> {
        let due = self
            .inboxes
            .iter()
            .filter(|(_, inbox)| inbox.may_have_expired(now));
        let due: Vec<NoisePublic> = due.map(|(recipient, _)| *recipient).take(enough).collect();
        let mut removed = Vec::new();
        for recipient in due {
            if removed.len() >= enough {
                break;
            }
            removed.append(&mut self.expire_inbox(recipient, now));
        }
        removed
    }

    fn expire_inbox(&mut self, recipient: NoisePublic, now: Seconds) -> Vec<Removed> {
        let mut removed = Vec::new();
        self.change(recipient, |inbox| {
            inbox.remove_expired(now, |gone| {
                removed.push(Removed {
                    recipient,
                    id: gone.id,
                    bytes: gone.bytes,
                })
            });
            inbox.shrink();
        });
        for gone in &removed {
            self.fresh.remove(gone.id);
        }
        removed
    }

    pub(super) fn watch(&mut self, device: NoisePublic, bell: Arc<Notify>) {
        self.change(device, |inbox| inbox.bells.push(bell));
    }

    fn unwatch(&mut self, device: NoisePublic, bell: &Arc<Notify>) {
        self.change(device, |inbox| {
            inbox.bells.retain(|other| !Arc::ptr_eq(other, bell))
        });
    }

    /// Runs `step` on one inbox and keeps totals and entries right, whatever it does.
    fn change<T>(&mut self, recipient: NoisePublic, step: impl FnOnce(&mut Inbox) -> T) -> T {
        let inbox = self.inboxes.entry(recipient).or_default();
        let before = (
            inbox.blobs(),
            inbox.bytes,
            inbox.is_filled(),
            inbox.reserved_blobs,
            inbox.reserved_bytes,
        );
        let result = step(inbox);
        let adjust = |total: &mut u64, from: u64, to: u64| {
            *total = total.saturating_sub(from).saturating_add(to);
        };
        adjust(&mut self.blobs, before.0, inbox.blobs());
        adjust(&mut self.bytes, before.1, inbox.bytes);
        adjust(
            &mut self.filled,
            u64::from(before.2),
            u64::from(inbox.is_filled()),
        );
        adjust(&mut self.reserved_blobs, before.3, inbox.reserved_blobs);
        adjust(&mut self.reserved_bytes, before.4, inbox.reserved_bytes);
        if inbox.is_idle() {
            self.inboxes.remove(&recipient);
        }
        result
    }

    /// The next chunk of `device`'s inbox after `after`, without what has expired.
    pub(super) fn after(&self, device: NoisePublic, after: BlobId, now: Seconds) -> Vec<Found> {
        let Some(inbox) = self.inboxes.get(&device) else {
            return Vec::new();
        };
        let start = inbox
            .waiting
            .partition_point(|waiting| waiting.id <= after.as_u64());
        let mut bytes = 0_usize;
        let mut found = Vec::new();
        let live = inbox
            .waiting
            .range(start..)
            .filter(|waiting| waiting.expires_at > now);
        for waiting in live.take(CHUNK_BLOBS_MAX) {
            bytes = bytes.saturating_add(waiting.bytes as usize);
            if bytes > CHUNK_BYTES_MAX && !found.is_empty() {
                break;
            }
            let envelope = self.fresh.find(waiting.id);
            found.push(Found {
                id: BlobId::from_u64(waiting.id),
                envelope,
            });
        }
        found
    }

    /// Takes as long for a million inboxes as for one: whoever asks holds everybody up.
    pub(super) fn sums(&self) -> Sums {
        Sums {
            blobs: self.blobs,
            bytes: self.bytes,
            inboxes: self.filled,
        }
    }

    /// When the first of the inboxes' oldest blobs expires. Looks at every inbox.
    pub(super) fn first_expiry_ms(&self) -> Option<u64> {
        let fronts = self
            .inboxes
            .values()
            .filter_map(|inbox| inbox.waiting.front());
        fronts.map(|waiting| waiting.expires_at.as_ms()).min()
    }
}

impl Inbox {
    fn fill(&mut self, waiting: VecDeque<Waiting>) {
        self.bytes = waiting.iter().map(|waiting| u64::from(waiting.bytes)).sum();
        self.first_expiry = waiting.iter().map(|waiting| waiting.expires_at).min();
        self.waiting = waiting;
    }

    fn append(&mut self, waiting: Waiting) {
        debug_assert!(
            self.waiting.back().is_none_or(|last| last.id < waiting.id),
            "ids of an inbox ascend"
        );
        self.bytes = self.bytes.saturating_add(u64::from(waiting.bytes));
        let first = self.first_expiry.unwrap_or(waiting.expires_at);
        self.first_expiry = Some(first.min(waiting.expires_at));
        self.waiting.push_back(waiting);
    }
}

/// The inboxes as doors, reaper and writer share them.
#[derive(Clone)]
pub(super) struct SharedInboxes(Arc<Mutex<Inboxes>>);

impl SharedInboxes {
    pub(super) fn new(inboxes: Inboxes) -> Self {
        Self(Arc::new(Mutex::new(inboxes)))
    }

    /// A thread that panicked under the lock has left totals that may be off by one blob,
    /// which is no reason to stop delivering.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inboxes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn watch(&self, device: NoisePublic, bell: Arc<Notify>) -> InboxWatch {
        self.lock().watch(device, Arc::clone(&bell));
        InboxWatch {
            inboxes: self.clone(),
            device,
            bell,
        }
    }
}

/// Keeps a bell in place; dropping it takes the bell away.
pub struct InboxWatch {
    inboxes: SharedInboxes,
    device: NoisePublic,
    bell: Arc<Notify>,
}

impl Drop for InboxWatch {
    fn drop(&mut self) {
        self.inboxes.lock().unwatch(self.device, &self.bell);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::BLOB_OVERHEAD_BYTES;

    fn key(byte: u8) -> NoisePublic {
        NoisePublic::from_bytes([byte; 32])
    }

    fn waiting(id: u64, bytes: u32, expires_at: u32) -> Waiting {
        Waiting {
            id,
            bytes,
            expires_at: Seconds(expires_at),
        }
    }

    fn ids(found: &[Found]) -> Vec<u64> {
        found.iter().map(|found| found.id.as_u64()).collect()
    }

    #[test]
    fn reservations_count_against_the_quota_and_come_back() {
        let limits = StoreLimits {
            inbox_blobs_max: 2,
            ..StoreLimits::default()
        };
        let mut inboxes = Inboxes::new(limits);
        assert_eq!(inboxes.reserve(key(1), 1), Ok(()));
        assert_eq!(inboxes.reserve(key(1), 1), Ok(()));
        assert_eq!(inboxes.reserve(key(1), 1), Err(PutRefusal::InboxFull));
        assert_eq!(inboxes.reserve(key(2), 1), Ok(()));
        inboxes.release(key(1), 1);
        assert_eq!(inboxes.reserve(key(1), 1), Ok(()));
    }

    #[test]
    fn inboxes_and_total_bytes_have_caps_of_their_own() {
        let limits = StoreLimits {
            inboxes_max: 1,
            total_bytes_max: 10 + 2 * BLOB_OVERHEAD_BYTES,
            ..StoreLimits::default()
        };
        let mut inboxes = Inboxes::new(limits);
        assert_eq!(inboxes.reserve(key(1), 6), Ok(()));
        assert_eq!(inboxes.reserve(key(2), 1), Err(PutRefusal::Unavailable));
        assert_eq!(inboxes.reserve(key(1), 5), Err(PutRefusal::Unavailable));
        assert_eq!(inboxes.reserve(key(1), 4), Ok(()));
    }

    #[test]
    fn a_chunk_holds_at_least_one_blob_and_then_ends_at_its_bound() {
        let mut inboxes = Inboxes::new(StoreLimits::default());
        let blobs = [
            waiting(1, 70_000, 100),
            waiting(2, 40_000, 100),
            waiting(3, 40_000, 100),
        ];
        inboxes.restore(key(1), blobs.into());
        let now = Seconds(0);
        assert_eq!(ids(&inboxes.after(key(1), BlobId::START, now)), [1]);
        assert_eq!(ids(&inboxes.after(key(1), BlobId::from_u64(1), now)), [2]);
        assert_eq!(ids(&inboxes.after(key(1), BlobId::from_u64(2), now)), [3]);
        assert!(inboxes.after(key(1), BlobId::from_u64(3), now).is_empty());
    }

    #[test]
    fn expired_blobs_are_neither_found_nor_counted() {
        let mut inboxes = Inboxes::new(StoreLimits {
            inbox_blobs_max: 2,
            ..StoreLimits::default()
        });
        inboxes.restore(key(1), [waiting(1, 1, 10), waiting(2, 1, 20)].into());
        assert_eq!(ids(&inboxes.after(key(1), BlobId::START, Seconds(10))), [2]);
        assert_eq!(inboxes.reserve(key(1), 1), Err(PutRefusal::InboxFull));
        let removed = inboxes.remove_expired_of(key(1), Seconds(10));
        assert_eq!(
            removed,
            [Removed {
                recipient: key(1),
                id: 1,
                bytes: 1
            }]
        );
        assert_eq!(inboxes.reserve(key(1), 1), Ok(()));
    }

    #[test]
    fn empty_envelopes_cost_something_everywhere() {
        let in_inbox = StoreLimits {
            inbox_bytes_max: 3 * BLOB_OVERHEAD_BYTES,
            ..StoreLimits::default()
        };
        let in_total = StoreLimits {
            total_bytes_max: 3 * BLOB_OVERHEAD_BYTES,
            ..StoreLimits::default()
        };
        for (limits, refusal) in [
            (in_inbox, PutRefusal::InboxFull),
            (in_total, PutRefusal::Unavailable),
        ] {
            let mut inboxes = Inboxes::new(limits);
            for id in 1..=3 {
                assert_eq!(inboxes.reserve(key(1), 0), Ok(()));
                if id < 3 {
                    inboxes.insert(key(1), waiting(id, 0, 100), &Bytes::new());
                }
            }
            assert_eq!(inboxes.reserve(key(1), 0), Err(refusal));
            inboxes.release(key(1), 0);
            assert_eq!(inboxes.reserve(key(1), 0), Ok(()));
        }
    }

    #[test]
    fn strangers_who_fill_the_inboxes_do_not_cut_connected_devices_off() {
        let mut inboxes = Inboxes::new(StoreLimits {
            inboxes_max: 4,
            ..StoreLimits::default()
        });
        let refused = Err(PutRefusal::Unavailable);
        for byte in 10..14 {
            assert_eq!(inboxes.reserve(key(byte), 1), Ok(()));
        }
        assert_eq!(inboxes.reserve(key(1), 1), refused);
        for byte in 1..3 {
            inboxes.watch(key(byte), Arc::new(Notify::new()));
        }
        assert_eq!(inboxes.reserve(key(1), 1), Ok(()));
        assert_eq!(inboxes.reserve(key(2), 1), refused, "their share ends too");
        inboxes.release(key(1), 1);
        assert_eq!(inboxes.reserve(key(2), 1), Ok(()));
    }

    #[test]
    fn strangers_who_use_up_the_bytes_do_not_cut_connected_devices_off() {
        let mut inboxes = Inboxes::new(StoreLimits {
            total_bytes_max: 8 * BLOB_OVERHEAD_BYTES,
            ..StoreLimits::default()
        });
        let refused = Err(PutRefusal::Unavailable);
        for byte in 10..18 {
            assert_eq!(inboxes.reserve(key(byte), 0), Ok(()));
        }
        assert_eq!(inboxes.reserve(key(1), 0), refused);
        inboxes.watch(key(1), Arc::new(Notify::new()));
        assert_eq!(inboxes.reserve(key(1), 0), Ok(()));
        assert_eq!(inboxes.reserve(key(1), 0), Ok(()));
        assert_eq!(inboxes.reserve(key(1), 0), refused, "their share ends too");
        assert_eq!(inboxes.reserve(key(10), 0), refused);
    }

    #[test]
    fn expired_blobs_behind_one_that_lives_longer_do_not_count() {
        let mut inboxes = Inboxes::new(StoreLimits {
            inbox_blobs_max: 2,
            ..StoreLimits::default()
        });
        inboxes.restore(key(1), [waiting(1, 1, 1_000), waiting(2, 1, 10)].into());
        assert_eq!(inboxes.remove_expired_of(key(1), Seconds(9)), []);
        assert_eq!(inboxes.remove_expired_of(key(1), Seconds(10)).len(), 1);
        assert_eq!(inboxes.reserve(key(1), 1), Ok(()));
        inboxes.release(key(1), 1);
        assert_eq!(inboxes.remove_expired_of(key(1), Seconds(999)), []);
        assert_eq!(inboxes.remove_expired_of(key(1), Seconds(1_000)).len(), 1);
    }

    /// However the queue is drained, and however much of it stays.
    #[test]
    fn a_drained_inbox_keeps_memory_for_what_waits_and_not_for_what_waited() {
        let mut inboxes = Inboxes::new(StoreLimits::default());
        inboxes.restore(key(1), (1..=10_000).map(|id| waiting(id, 0, 100)).collect());
        let capacity = |inboxes: &Inboxes| inboxes.inboxes[&key(1)].waiting.capacity();
        for id in 1..10_000 {
            inboxes.remove(key(1), id).unwrap();
            let most = CHUNK_BLOBS_MAX.max(4 * (10_000 - id as usize));
            assert!(capacity(&inboxes) <= most, "{id}");
        }
        let blobs = (1..=10_000).map(|id| waiting(id, 0, if id == 5_000 { 100 } else { 10 }));
        inboxes.restore(key(2), blobs.collect());
        inboxes.remove_expired_of(key(2), Seconds(10));
        assert_eq!(inboxes.inboxes[&key(2)].waiting.len(), 1);
        assert!(inboxes.inboxes[&key(2)].waiting.capacity() <= CHUNK_BLOBS_MAX);
    }

    #[test]
    fn an_idle_inbox_leaves_no_entry() {
        let shared = SharedInboxes::new(Inboxes::new(StoreLimits::default()));
        let watch = shared.watch(key(1), Arc::new(Notify::new()));
        assert_eq!(shared.lock().inboxes.len(), 1);
        drop(watch);
        assert_eq!(shared.lock().inboxes.len(), 0);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put { key: u8, bytes: u32, fails: bool },
        Remove { key: u8, id: u64 },
        Expire { now: u32 },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0_u8..4, 0_u32..50, any::<bool>())
                .prop_map(|(key, bytes, fails)| Step::Put { key, bytes, fails }),
            3 => (0_u8..4, 0_u64..60).prop_map(|(key, id)| Step::Remove { key, id }),
            1 => (0_u32..80).prop_map(|now| Step::Expire { now }),
        ];
        prop::collection::vec(step, 0..120)
    }

    proptest! {
        /// Totals, quotas and contents agree with a list of (recipient, id, bytes).
        #[test]
        fn totals_agree_with_a_plain_list(steps in steps()) {
            let limits = StoreLimits {
                inbox_blobs_max: 8, inbox_bytes_max: 1_700, total_bytes_max: 3_400, inboxes_max: 3,
                ..StoreLimits::default()
            };
            let charge = |bytes: u32| bytes + BLOB_OVERHEAD_BYTES as u32;
            let mut inboxes = Inboxes::new(limits);
            let mut model: Vec<(u8, u64, u32, u32)> = Vec::new();
            let mut next_id = 1;
            for step in steps {
                match step {
                    Step::Put { key: byte, bytes, fails } => {
                        let mine = model.iter().filter(|row| row.0 == byte);
                        let (count, sum) =
                            mine.fold((0, 0), |(count, sum), row| (count + 1, sum + charge(row.2)));
                        let total: u32 = model.iter().map(|row| charge(row.2)).sum();
                        let others = (0..4)
                            .filter(|other| model.iter().any(|row| row.0 == *other))
                            .count();
                        let expected = if count >= 8 || sum + charge(bytes) > 1_700 {
                            Err(PutRefusal::InboxFull)
                        } else if total + charge(bytes) > 3_400 || (count == 0 && others >= 3) {
                            Err(PutRefusal::Unavailable)
                        } else {
                            Ok(())
                        };
                        prop_assert_eq!(inboxes.reserve(key(byte), bytes), expected);
                        if expected.is_ok() && fails {
                            inboxes.release(key(byte), bytes);
                        } else if expected.is_ok() {
                            let expires = next_id as u32 % 70;
                            let row = waiting(next_id, bytes, expires);
                            inboxes.insert(key(byte), row, &Bytes::new());
                            model.push((byte, next_id, bytes, expires));
                            next_id += 1;
                        }
                    }
                    Step::Remove { key: byte, id } => {
                        let index = model.iter().position(|row| row.0 == byte && row.1 == id);
                        let removed = inboxes.remove(key(byte), id);
                        prop_assert_eq!(removed.is_some(), index.is_some());
                        if let Some(index) = index {
                            model.remove(index);
                        }
                    }
                    Step::Expire { now } => {
                        let removed = inboxes.remove_expired(Seconds(now), usize::MAX);
                        let before = model.len();
                        model.retain(|row| row.3 > now);
                        prop_assert_eq!(removed.len(), before - model.len());
                    }
                }
                let sums = inboxes.sums();
                prop_assert_eq!(sums.blobs, model.len() as u64);
                prop_assert_eq!(sums.bytes, model.iter().map(|row| u64::from(row.2)).sum::<u64>());
                prop_assert_eq!((inboxes.reserved_blobs, inboxes.reserved_bytes), (0, 0));
                for byte in 0..4 {
                    let found = inboxes.after(key(byte), BlobId::START, Seconds(0));
                    let expected: Vec<u64> = model
                        .iter()
                        .filter(|row| row.0 == byte && row.3 > 0)
                        .map(|row| row.1)
                        .collect();
                    prop_assert_eq!(ids(&found), expected);
                }
            }
        }
    }
}
