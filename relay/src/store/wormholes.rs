//! Who has which wormhole mailbox open, and what they haven't been sent yet.
//!
//! Owns: the seats of connections and their queues. A seat is taken when the commit of its
//! `open` is done, and everything that commits after that is queued for it: nothing slips
//! between the replay and the first live message, and nothing comes twice.
//!
//! Invariants:
//! - a queue is bounded, and so are all together; a connection whose queue is full is cut, and
//!   gets everything again when it opens the mailbox next time;
//! - whoever is answered finds what the commands before have caused in its queue.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::wormhole_table::{Done, Kept, WormholeOrder, WormholeSums};
use crate::limits::{BLOB_OVERHEAD_BYTES, WORMHOLE_QUEUE_BYTES_MAX, WORMHOLE_QUEUES_BYTES_MAX};
use crate::wormhole::{Audience, Message, Outcome, Side};

#[derive(Default)]
struct Queue {
    messages: VecDeque<Arc<Message>>,
    bytes: u64,
    /// It was full, and the connection is to be cut.
    is_cut: bool,
}

/// One connection, as the store knows it.
#[derive(Default)]
pub(super) struct Seat {
    queue: Mutex<Queue>,
    bell: Notify,
    /// The mailbox in which it has a place; nought for none. Changed under the lock of all seats.
    mailbox: AtomicU64,
    /// The connection has ended. Changed under the same lock.
    is_gone: AtomicBool,
    /// Bytes in all queues.
    total: Arc<AtomicU64>,
}

impl Seat {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: &Arc<Message>) {
        let bytes = message.bytes().saturating_add(BLOB_OVERHEAD_BYTES);
        let mut queue = self.lock();
        let with_this_one = queue.bytes.saturating_add(bytes);
        let total = self.total.load(Ordering::Relaxed).saturating_add(bytes);
        let is_full = with_this_one > WORMHOLE_QUEUE_BYTES_MAX || total > WORMHOLE_QUEUES_BYTES_MAX;
        // Whoever has read everything so far gets the next one, however large.
        if queue.is_cut || (is_full && !queue.messages.is_empty()) {
            queue.is_cut = true;
        } else {
            queue.messages.push_back(Arc::clone(message));
            queue.bytes = with_this_one;
            self.total.fetch_add(bytes, Ordering::Relaxed);
        }
        drop(queue);
        self.bell.notify_one();
    }

    fn pop(&self) -> Option<Result<Arc<Message>, QueueFull>> {
        let mut queue = self.lock();
        if queue.is_cut {
            return Some(Err(QueueFull));
        }
        let message = queue.messages.pop_front()?;
        let bytes = message.bytes().saturating_add(BLOB_OVERHEAD_BYTES);
        queue.bytes = queue.bytes.saturating_sub(bytes);
        self.total.fetch_sub(bytes, Ordering::Relaxed);
        Some(Ok(message))
    }

    fn clear(&self) {
        let mut queue = self.lock();
        queue.messages.clear();
        let bytes = std::mem::take(&mut queue.bytes);
        self.total.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A connection that reads too slowly for what it is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the connection doesn't read what it is sent")]
pub(crate) struct QueueFull;

/// A seat and whose it is.
type Sitter = (Side, Arc<Seat>);

#[derive(Default)]
struct Shared {
    seats: BTreeMap<u64, Vec<Sitter>>,
    sums: WormholeSums,
}

impl Shared {
    fn stand_up(&mut self, seat: &Arc<Seat>) {
        let mailbox = seat.mailbox.swap(0, Ordering::Relaxed);
        if let Some(sitters) = self.seats.get_mut(&mailbox) {
            sitters.retain(|(_, one)| !Arc::ptr_eq(one, seat));
            if sitters.is_empty() {
                self.seats.remove(&mailbox);
            }
        }
    }
}

/// The seats as connections and the writer share them.
#[derive(Clone, Default)]
pub(super) struct SharedWormholes {
    shared: Arc<Mutex<Shared>>,
    total: Arc<AtomicU64>,
}

impl SharedWormholes {
    pub(super) fn new(sums: WormholeSums) -> Self {
        let shared = Self::default();
        shared.lock().sums = sums;
        shared
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that has nothing open.
    pub(super) fn visitor(&self) -> Visitor {
        let seat = Seat {
            total: Arc::clone(&self.total),
            ..Seat::default()
        };
        Visitor {
            wormholes: self.clone(),
            seat: Arc::new(seat),
        }
    }

    /// The mailboxes that somebody has open.
    pub(super) fn opened(&self) -> BTreeSet<u64> {
        self.lock().seats.keys().copied().collect()
    }

    /// What is stored, and how many connections have a mailbox open.
    pub(super) fn sums(&self) -> (WormholeSums, u64) {
        let shared = self.lock();
        let sitters = shared.seats.values().map(Vec::len).sum::<usize>();
        (shared.sums, sitters as u64)
    }

    /// Goes through what was committed, in its order: seats are taken and left, messages
    /// queued, and each command answered after that.
    pub(super) fn publish(&self, kept: Vec<Kept>, sums: WormholeSums) {
        let mut shared = self.lock();
        shared.sums = sums;
        for Kept { order, done } in kept {
            match (order, done) {
                (
                    WormholeOrder::Ask {
                        who,
                        request: _,
                        seat,
                        answer,
                    },
                    Done::Asked(outcome, added),
                ) => {
                    shared.note(&who.1, &seat, &outcome);
                    if let Some(added) = added {
                        shared.deliver(added.mailbox, added.message, added.audience);
                    }
                    // Whoever asked may have gone; what is done is done all the same.
                    let _ = answer.send(Ok(outcome));
                }
                (WormholeOrder::Prune { answer }, Done::Pruned(may_be_more)) => {
                    let _ = answer.send(Ok(may_be_more));
                }
                // An order is kept with what it came to.
                (order, _) => order.fail(super::StoreError::Damaged),
            }
        }
    }
}

impl Shared {
    fn note(&mut self, side: &Side, seat: &Arc<Seat>, outcome: &crate::wormhole::Answer<Outcome>) {
        match outcome {
            Ok(Outcome::Opened(opening)) if !seat.is_gone.load(Ordering::Relaxed) => {
                // In one place at a time, or it would be left behind in the first one.
                self.stand_up(seat);
                seat.mailbox.store(opening.number, Ordering::Relaxed);
                let sitters = self.seats.entry(opening.number).or_default();
                sitters.push((side.clone(), Arc::clone(seat)));
            }
            Ok(Outcome::Closed) => self.stand_up(seat),
            _ => {}
        }
    }

    fn deliver(&self, mailbox: u64, message: Message, audience: Audience) {
        let message = Arc::new(message);
        for (side, seat) in self.seats.get(&mailbox).into_iter().flatten() {
            if audience == Audience::Everybody || *side == message.side {
                seat.push(&message);
            }
        }
    }
}

/// A connection's end of its seat.
pub(crate) struct Visitor {
    wormholes: SharedWormholes,
    seat: Arc<Seat>,
}

impl Visitor {
    pub(super) fn seat(&self) -> Arc<Seat> {
        Arc::clone(&self.seat)
    }

    /// The next message if there is one.
    pub(crate) fn try_next(&self) -> Option<Result<Arc<Message>, QueueFull>> {
        self.seat.pop()
    }

    /// Waits for the next message.
    pub(crate) async fn next(&self) -> Result<Arc<Message>, QueueFull> {
        loop {
            let rung = self.seat.bell.notified();
            if let Some(message) = self.seat.pop() {
                return message;
            }
            rung.await;
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        let mut shared = self.wormholes.lock();
        shared.stand_up(&self.seat);
        self.seat.is_gone.store(true, Ordering::Relaxed);
        drop(shared);
        self.seat.clear();
    }
}

impl std::fmt::Debug for Visitor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Visitor(..)")
    }
}
