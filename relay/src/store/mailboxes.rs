//! All mailboxes in memory without their Envelopes, and who watches them.
//!
//! Owns: what doors may know without asking the disk, and the news for watches. It mirrors the
//! database and is changed only after the commit; [`super::mailbox_table`] holds what the next
//! commit will say.
//!
//! Invariants:
//! - a watch is told of everything that is committed after its first frame, the latest state
//!   for all of it;
//! - at most `WATCHES_PER_DIRECTION_MAX` watches per direction, and in all what the caller allows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sealpost_protocol::link::key::{Direction, MailboxId};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::limits::{WATCH_FRAME_INTERVAL, WATCHES_PER_DIRECTION_MAX};
use crate::mailbox::{
    Change, DirectionHead, Going, Mailbox, MailboxAccess, MailboxIndex, MailboxSums, PageIndex,
    Refusal,
};

/// Mailboxes that a commit has changed, as they are afterwards.
pub(super) type Changed = BTreeMap<MailboxId, Option<Arc<Mailbox>>>;

/// What a watch is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchFrame {
    /// How the direction was when the watch began.
    State {
        /// The highest sequence ever stored.
        last: Option<u64>,
        /// Envelopes stored now.
        count: u32,
        /// When the mailbox was made, in Unix milliseconds.
        created_ms: u64,
    },
    /// Something was stored.
    Stored {
        /// The highest sequence ever stored.
        last: u64,
        /// Envelopes stored now.
        count: u32,
    },
    /// Something was pruned.
    Pruned {
        /// Envelopes stored now.
        count: u32,
    },
    /// The watch is over.
    Ended(WatchEnd),
}

/// Why a watch is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchEnd {
    /// The mailbox was erased.
    Erased,
    /// The mailbox's time was over.
    Expired,
    /// A later watch of the same direction has taken its place.
    Replaced,
    /// The relay stops.
    Stopping,
}

/// Why a watch doesn't begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WatchRefusal {
    /// The mailbox refuses it.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// There are as many as there may be.
    #[error("there are too many watches")]
    TooMany,
    /// The relay stops.
    #[error("the relay stops")]
    Stopping,
}

/// What a watch hasn't been told yet: the latest state stands for everything before it.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    stored: Option<(u64, u32)>,
    pruned: Option<u32>,
    end: Option<WatchEnd>,
}

/// One watch, as the mailboxes know it.
#[derive(Debug, Default)]
struct Seat {
    news: Mutex<News>,
    bell: Notify,
}

impl Seat {
    fn tell(&self, change: impl FnOnce(&mut News)) {
        change(&mut self.news.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.notify_one();
    }
}

/// The place of a direction's watches.
type Place = (MailboxId, Direction);

struct Shared {
    index: MailboxIndex,
    seats: BTreeMap<Place, Vec<Arc<Seat>>>,
    /// Invariant: the watches in `seats`.
    watches: usize,
    is_closed: bool,
}

/// The mailboxes as doors, sweeper and writer share them.
#[derive(Clone)]
pub(super) struct SharedMailboxes(Arc<Mutex<Shared>>);

impl SharedMailboxes {
    pub(super) fn new(index: MailboxIndex) -> Self {
        Self(Arc::new(Mutex::new(Shared {
            index,
            seats: BTreeMap::new(),
            watches: 0,
            is_closed: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what a commit has made durable, lets it be answered, and tells whoever
    /// watches.
    pub(super) fn publish(&self, changed: Changed, changes: &[Change], answer: impl FnOnce()) {
        let mut shared = self.lock();
        for (id, mailbox) in changed {
            shared.index.set(id, mailbox);
        }
        answer();
        for change in changes {
            shared.tell(change);
        }
    }

    pub(super) fn head(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        now_ms: u64,
    ) -> Result<DirectionHead, Refusal> {
        self.lock().index.head(access, direction, now_ms)
    }

    pub(super) fn page(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        bounds: (u64, usize),
        now_ms: u64,
    ) -> Result<PageIndex, Refusal> {
        self.lock().index.page(access, direction, bounds, now_ms)
    }

    pub(super) fn sums(&self) -> MailboxSums {
        self.lock().index.sums()
    }

    pub(super) fn ids(&self) -> Vec<MailboxId> {
        self.lock().index.ids()
    }

    pub(super) fn watches(&self) -> u64 {
        self.lock().watches as u64
    }

    /// Whether a mailbox is there, whoever asks.
    pub(super) fn holds(&self, mailbox: &MailboxId, now_ms: u64) -> bool {
        let shared = self.lock();
        let found = shared.index.get(mailbox);
        found.is_some_and(|mailbox| !mailbox.is_expired(now_ms))
    }

    /// Whether a mailbox is there whose time is over.
    pub(super) fn is_over(&self, mailbox: &MailboxId, now_ms: u64) -> bool {
        let shared = self.lock();
        let found = shared.index.get(mailbox);
        found.is_some_and(|mailbox| mailbox.is_expired(now_ms))
    }

    pub(super) fn expired(&self, now_ms: u64) -> Vec<MailboxId> {
        self.lock().index.expired(now_ms)
    }

    pub(super) fn watch(
        &self,
        access: &MailboxAccess,
        direction: Direction,
        watches_max: usize,
        now_ms: u64,
    ) -> Result<MailboxWatch, WatchRefusal> {
        let mut shared = self.lock();
        let head = shared.index.head(access, direction, now_ms)?;
        let place = (access.mailbox, direction);
        let seat = shared.sit_down(place, watches_max)?;
        let state = WatchFrame::State {
            last: head.last,
            count: head.count,
            created_ms: head.created_ms,
        };
        Ok(MailboxWatch {
            mailboxes: self.clone(),
            place,
            seat,
            first: Some(state),
            quiet: Quiet::default(),
            is_over: false,
        })
    }

    /// Ends every watch and refuses new ones.
    pub(super) fn close(&self) {
        let mut shared = self.lock();
        shared.is_closed = true;
        for seat in std::mem::take(&mut shared.seats).into_values().flatten() {
            seat.tell(|news| news.end = Some(WatchEnd::Stopping));
        }
        shared.watches = 0;
    }
}

impl Shared {
    /// A seat of the direction; the oldest makes room for a newer one.
    fn sit_down(&mut self, place: Place, watches_max: usize) -> Result<Arc<Seat>, WatchRefusal> {
        if self.is_closed {
            return Err(WatchRefusal::Stopping);
        }
        let seats = self.seats.entry(place).or_default();
        let is_replacing = seats.len() >= WATCHES_PER_DIRECTION_MAX;
        if !is_replacing && self.watches >= watches_max {
            if seats.is_empty() {
                self.seats.remove(&place);
            }
            return Err(WatchRefusal::TooMany);
        }
        if is_replacing {
            let oldest = seats.remove(0);
            oldest.tell(|news| news.end = Some(WatchEnd::Replaced));
        } else {
            self.watches = self.watches.saturating_add(1);
        }
        let seat = Arc::<Seat>::default();
        seats.push(Arc::clone(&seat));
        Ok(seat)
    }

    fn stand_up(&mut self, place: Place, seat: &Arc<Seat>) {
        let Some(seats) = self.seats.get_mut(&place) else {
            return;
        };
        let before = seats.len();
        seats.retain(|other| !Arc::ptr_eq(other, seat));
        let gone = before.saturating_sub(seats.len());
        if seats.is_empty() {
            self.seats.remove(&place);
        }
        self.watches = self.watches.saturating_sub(gone);
    }

    fn tell(&mut self, change: &Change) {
        match *change {
            Change::Created { .. } | Change::Touched { .. } => {}
            Change::Stored {
                mailbox, direction, ..
            } => self.tell_direction((mailbox, direction), |news, head| {
                news.stored = head.last.map(|last| (last, head.count));
            }),
            Change::Pruned {
                mailbox, direction, ..
            } => self.tell_direction((mailbox, direction), |news, head| {
                news.pruned = Some(head.count);
            }),
            Change::Gone { mailbox, going, .. } => {
                let end = match going {
                    Going::Erased => WatchEnd::Erased,
                    Going::Expired => WatchEnd::Expired,
                };
                for direction in Direction::ALL {
                    self.end((mailbox, direction), end);
                }
            }
        }
    }

    fn tell_direction(&self, place: Place, change: impl Fn(&mut News, DirectionHead)) {
        let (Some(seats), Some(mailbox)) = (self.seats.get(&place), self.index.get(&place.0))
        else {
            return;
        };
        let head = mailbox.head(place.1);
        for seat in seats {
            seat.tell(|news| change(news, head));
        }
    }

    fn end(&mut self, place: Place, end: WatchEnd) {
        let seats = self.seats.remove(&place).unwrap_or_default();
        self.watches = self.watches.saturating_sub(seats.len());
        for seat in seats {
            seat.tell(|news| news.end = Some(end));
        }
    }
}

/// When the next frame of each kind may come. They are counted apart: a device that prunes what
/// it has read must hear of the next Envelope at once.
#[derive(Clone, Copy, Debug, Default)]
struct Quiet {
    stored: Option<Instant>,
    pruned: Option<Instant>,
}

/// Tells what happens in a direction. Dropping it ends it.
pub struct MailboxWatch {
    mailboxes: SharedMailboxes,
    place: Place,
    seat: Arc<Seat>,
    first: Option<WatchFrame>,
    quiet: Quiet,
    is_over: bool,
}

impl MailboxWatch {
    /// The next frame; none after the end. At most ten of a kind a second, so one frame may stand
    /// for several events. May be dropped and called again without losing anything.
    pub async fn next(&mut self) -> Option<WatchFrame> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            if self.is_over {
                return None;
            }
            if let Some(end) = self.look(|news| news.end) {
                self.is_over = true;
                return Some(WatchFrame::Ended(end));
            }
            if let Some(frame) = self.take_news() {
                return Some(frame);
            }
            match self.next_due() {
                Some(due) => tokio::select! {
                    () = sleep_until(due) => {}
                    () = self.seat.bell.notified() => {}
                },
                None => self.seat.bell.notified().await,
            }
        }
    }

    fn look<T>(&self, read: impl FnOnce(&mut News) -> T) -> T {
        read(
            &mut self
                .seat
                .news
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// What may be told now.
    fn take_news(&mut self) -> Option<WatchFrame> {
        let now = Instant::now();
        let is_due = |quiet: Option<Instant>| quiet.is_none_or(|until| until <= now);
        let next = now.checked_add(WATCH_FRAME_INTERVAL);
        if is_due(self.quiet.stored)
            && let Some((last, count)) = self.look(|news| news.stored.take())
        {
            self.quiet.stored = next;
            return Some(WatchFrame::Stored { last, count });
        }
        if is_due(self.quiet.pruned)
            && let Some(count) = self.look(|news| news.pruned.take())
        {
            self.quiet.pruned = next;
            return Some(WatchFrame::Pruned { count });
        }
        None
    }

    /// When the first of the news that wait may be told.
    fn next_due(&self) -> Option<Instant> {
        let (has_stored, has_pruned) =
            self.look(|news| (news.stored.is_some(), news.pruned.is_some()));
        let stored = self.quiet.stored.filter(|_| has_stored);
        let pruned = self.quiet.pruned.filter(|_| has_pruned);
        stored.into_iter().chain(pruned).min()
    }
}

impl Drop for MailboxWatch {
    fn drop(&mut self) {
        self.mailboxes.lock().stand_up(self.place, &self.seat);
    }
}

impl std::fmt::Debug for MailboxWatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MailboxWatch(..)")
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::{MailboxStore as _, MemoryStore, PutRoom, StoreSettings, WriterPace};
    use super::*;
    use crate::limits::StoreLimits;
    use crate::mailbox::{Making, TokenDigest};

    const SIDE: Direction = Direction::AToB;

    fn access() -> MailboxAccess {
        MailboxAccess {
            mailbox: MailboxId::from_bytes([1; 16]),
            token: TokenDigest::from_bytes([2; 32]),
        }
    }

    async fn store() -> MemoryStore {
        let store = MemoryStore::new(StoreSettings {
            limits: StoreLimits::default(),
            life_ms: 1_000,
            pace: WriterPace::default(),
        });
        let claim = store.claim(access(), Making::Below(1), 1_000);
        assert!(claim.await.unwrap().is_new);
        store
    }

    async fn put(store: &MemoryStore, sequence: u64) {
        let envelope = (sequence, Bytes::from(vec![7; 400]));
        let stored = store.store(access(), SIDE, envelope, PutRoom::uncounted(), 1_000);
        assert!(stored.await.unwrap().is_new);
    }

    async fn prune(store: &MemoryStore, through: u64) {
        let pruned = store.prune(access(), SIDE, through, 1_000).await;
        assert_eq!(pruned.unwrap().count, 0);
    }

    /// A device that reads prunes, too. Its own pruning must not hold up what comes next.
    #[tokio::test(start_paused = true)]
    async fn frames_of_one_kind_keep_a_distance_and_the_kinds_do_not_wait_for_each_other() {
        let store = store().await;
        put(&store, 1).await;
        let mut watch = store.watch_direction(&access(), SIDE, 9, 1_000).unwrap();
        watch.next().await.unwrap();
        let begin = Instant::now();
        prune(&store, 1).await;
        let pruned = Some(WatchFrame::Pruned { count: 0 });
        assert_eq!(watch.next().await, pruned);
        put(&store, 2).await;
        let stored = |last, count| Some(WatchFrame::Stored { last, count });
        assert_eq!(watch.next().await, stored(2, 1));
        assert_eq!(
            begin.elapsed().as_millis(),
            0,
            "neither waits for the other"
        );
        for sequence in 3..=9 {
            put(&store, sequence).await;
        }
        assert_eq!(watch.next().await, stored(9, 8));
        assert_eq!(begin.elapsed(), WATCH_FRAME_INTERVAL);
        prune(&store, 9).await;
        assert_eq!(watch.next().await, pruned);
        assert_eq!(begin.elapsed(), WATCH_FRAME_INTERVAL);
        for sequence in 10..=12 {
            put(&store, sequence).await;
            prune(&store, sequence).await;
        }
        assert_eq!(watch.next().await, stored(12, 1));
        assert_eq!(watch.next().await, pruned);
        assert_eq!(begin.elapsed(), 2 * WATCH_FRAME_INTERVAL);
    }

    /// Whatever happens, ten of a kind a second.
    #[tokio::test(start_paused = true)]
    async fn no_second_has_more_than_ten_frames_of_a_kind() {
        let store = store().await;
        let mut watch = store.watch_direction(&access(), SIDE, 9, 1_000).unwrap();
        watch.next().await.unwrap();
        let begin = Instant::now();
        let mut frames = [0, 0];
        for sequence in 1.. {
            put(&store, sequence).await;
            prune(&store, sequence).await;
            match watch.next().await.unwrap() {
                WatchFrame::Stored { .. } => frames[0] += 1,
                WatchFrame::Pruned { .. } => frames[1] += 1,
                other => panic!("{other:?}"),
            }
            if begin.elapsed().as_millis() >= 1_000 {
                break;
            }
        }
        assert!(
            frames.iter().all(|count| (10..=11).contains(count)),
            "{frames:?}"
        );
    }
}
