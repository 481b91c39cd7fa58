//! Wormhole mailboxes as the writer sees them.
//!
//! Owns: running the rules of [`crate::wormhole`] inside the transaction that makes their
//! changes durable, the numbers that are given out, and the sums. Never does: commit, or answer
//! before the commit. The rows themselves are on disk only.
//!
//! Invariants:
//! - what a failed transaction has counted is forgotten with it;
//! - answers and messages go out in the order in which the commands came.

use rand_core::OsRng;
use rusqlite::{Connection, Transaction};
use tokio::sync::oneshot;

use super::inboxes::SharedInboxes;
use super::whole::Whole;
use super::wormhole_shelf::SqlShelf;
use super::wormholes::{Seat, SharedWormholes};
use super::{StoreError, StoreOpenError};
use crate::limits::charged_bytes;
use crate::wormhole::{Added, Answer, AppId, Outcome, Request, Rules, Side};

/// Statements that are kept prepared; the rules use about forty.
const STATEMENTS_KEPT: usize = 96;

/// One command of a connection, or a pass of pruning.
pub(super) enum WormholeOrder {
    /// Is waited for.
    Ask {
        who: (AppId, Side),
        request: Request,
        seat: std::sync::Arc<Seat>,
        answer: oneshot::Sender<Result<Answer<Outcome>, StoreError>>,
    },
    /// Is waited for; the answer is whether there may be more to prune.
    Prune {
        answer: oneshot::Sender<Result<bool, StoreError>>,
    },
}

impl WormholeOrder {
    /// Whether it may make the store larger.
    fn is_addition(&self) -> bool {
        match self {
            Self::Ask { request, .. } => !matches!(
                request,
                Request::List | Request::Release(_) | Request::Retire(..) | Request::Close(..)
            ),
            Self::Prune { .. } => false,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Ask {
                request: Request::Add(_, message),
                ..
            } => usize::try_from(message.bytes()).unwrap_or(usize::MAX),
            Self::Ask { .. } | Self::Prune { .. } => 0,
        }
    }

    /// Answers that it can't be done.
    pub(super) fn fail(self, error: StoreError) {
        match self {
            Self::Ask { answer, .. } => {
                let _ = answer.send(Err(error));
            }
            Self::Prune { answer } => {
                let _ = answer.send(Err(error));
            }
        }
    }
}

/// A command that was run, and is told once the commit is done.
pub(super) struct Kept {
    pub(super) order: WormholeOrder,
    pub(super) done: Done,
}

/// What it came to.
pub(super) enum Done {
    Asked(Answer<Outcome>, Option<Added>),
    Pruned(bool),
}

/// The commands that share one transaction.
#[derive(Default)]
pub(super) struct WormholeBatch {
    orders: std::collections::VecDeque<(WormholeOrder, Rules, u64)>,
    bytes: usize,
    kept: Vec<Kept>,
    /// The counters before the first of them.
    before: Option<Counters>,
}

impl WormholeBatch {
    pub(super) fn add(&mut self, order: (WormholeOrder, Rules, u64)) {
        self.bytes = self.bytes.saturating_add(order.0.bytes());
        self.orders.push_back(order);
    }

    pub(super) fn len(&self) -> usize {
        self.orders.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Orders that may make the store larger.
    pub(super) fn additions(&self) -> usize {
        let additions = self.orders.iter().filter(|(order, ..)| order.is_addition());
        additions.count()
    }

    /// Answers those that may make the store larger, and keeps the others.
    pub(super) fn without_additions(self, error: StoreError) -> Self {
        let mut rest = Self::default();
        for (order, rules, now_ms) in self.orders {
            if order.is_addition() {
                order.fail(error);
            } else {
                rest.add((order, rules, now_ms));
            }
        }
        rest
    }

    /// Answers all of them.
    pub(super) fn fail(self, error: StoreError) {
        for kept in self.kept {
            kept.order.fail(error);
        }
        for (order, ..) in self.orders {
            order.fail(error);
        }
    }
}

/// What is stored, in numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WormholeSums {
    /// Mailboxes.
    pub mailboxes: u64,
    /// Messages in them.
    pub messages: u64,
    /// Bytes of those.
    pub bytes: u64,
}

/// What was given out and what is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    pub(super) sums: WormholeSums,
    pub(super) next_arrival: u64,
    next_number: u64,
}

impl Counters {
    pub(super) fn take_number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number = number.saturating_add(1);
        number
    }

    pub(super) fn take_arrival(&mut self) -> u64 {
        let arrival = self.next_arrival;
        self.next_arrival = arrival.saturating_add(1);
        arrival
    }

    pub(super) fn add_mailbox(&mut self) {
        self.sums.mailboxes = self.sums.mailboxes.saturating_add(1);
    }

    pub(super) fn remove_mailbox(&mut self) {
        self.sums.mailboxes = self.sums.mailboxes.saturating_sub(1);
    }

    pub(super) fn add_message(&mut self, bytes: u64) {
        self.sums.messages = self.sums.messages.saturating_add(1);
        self.sums.bytes = self.sums.bytes.saturating_add(bytes);
    }

    pub(super) fn remove(&mut self, messages: u64, bytes: u64) {
        self.sums.messages = self.sums.messages.saturating_sub(messages);
        self.sums.bytes = self.sums.bytes.saturating_sub(bytes);
    }

    /// What it counts against the bounds of the whole relay.
    fn charged(&self) -> u64 {
        let WormholeSums {
            mailboxes,
            messages,
            bytes,
        } = self.sums;
        charged_bytes(mailboxes.saturating_add(messages), bytes)
    }
}

/// The writer's part.
pub(super) struct WormholeTable {
    counters: Counters,
}

impl WormholeTable {
    /// Counts what is there.
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreOpenError> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        let number = |sql: &str| {
            let number = connection.query_row(sql, [], |row| row.get::<_, Whole>(0));
            number.map(|number| number.0)
        };
        let sums = WormholeSums {
            mailboxes: number("SELECT count(*) FROM wormhole_mailboxes")?,
            messages: number("SELECT coalesce(sum(messages), 0) FROM wormhole_mailboxes")?,
            bytes: number("SELECT coalesce(sum(bytes), 0) FROM wormhole_mailboxes")?,
        };
        let last_arrival = number("SELECT coalesce(max(arrival), 0) FROM wormhole_messages")?;
        let last_number = number(
            "SELECT max(coalesce((SELECT max(id) FROM wormhole_mailboxes), 0),
                coalesce((SELECT max(id) FROM wormhole_nameplates), 0))",
        )?;
        Ok(Self {
            counters: Counters {
                sums,
                next_arrival: last_arrival.saturating_add(1),
                next_number: last_number.saturating_add(1),
            },
        })
    }

    pub(super) fn charged(&self) -> u64 {
        self.counters.charged()
    }

    pub(super) fn sums(&self) -> WormholeSums {
        self.counters.sums
    }

    /// Runs the commands of a batch in the open transaction. Those that aren't run when
    /// something fails stay in the batch, to be answered.
    pub(super) fn apply(
        &mut self,
        transaction: &Transaction<'_>,
        batch: &mut WormholeBatch,
        (shared, inboxes): (&SharedWormholes, &SharedInboxes),
    ) -> rusqlite::Result<()> {
        batch.before = Some(self.counters);
        while let Some((order, rules, now_ms)) = batch.orders.pop_front() {
            let mut shelf = SqlShelf {
                transaction,
                counters: &mut self.counters,
                inboxes,
            };
            let done = match &order {
                WormholeOrder::Ask { who, request, .. } => {
                    let who = (&who.0, &who.1);
                    rules
                        .run(&mut shelf, who, request.clone(), now_ms, &mut OsRng)
                        .map(|(answer, added)| Done::Asked(answer, added))
                }
                WormholeOrder::Prune { .. } => rules
                    .prune(&mut shelf, &shared.opened(), now_ms)
                    .map(Done::Pruned),
            };
            match done {
                Ok(done) => batch.kept.push(Kept { order, done }),
                Err(error) => {
                    batch.orders.push_front((order, rules, now_ms));
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Tells what a commit has made durable.
    pub(super) fn committed(
        &self,
        batch: WormholeBatch,
        shared: &SharedWormholes,
        inboxes: &SharedInboxes,
    ) {
        if batch.kept.is_empty() {
            return;
        }
        inboxes.lock().set_wormhole_charge(self.charged());
        shared.publish(batch.kept, self.sums());
    }

    /// Takes back what a transaction that failed has counted, and says so to everybody.
    pub(super) fn failed(
        &mut self,
        mut batch: WormholeBatch,
        error: StoreError,
        inboxes: &SharedInboxes,
    ) {
        if let Some(before) = batch.before.take() {
            self.counters.sums = before.sums;
            inboxes.lock().set_wormhole_charge(self.charged());
        }
        batch.fail(error);
    }
}
