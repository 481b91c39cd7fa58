//! Wormhole mailboxes in the database: commands go to the writer, replays to the readers.

use rusqlite::params;
use tokio::sync::oneshot;

use super::super::StoreError;
use super::super::whole::Whole;
use super::super::wormhole_shelf::{MESSAGE_COLUMNS, message_of};
use super::super::wormhole_table::{WormholeOrder, WormholeSums};
use super::super::wormholes::Visitor;
use super::super::writer::{Order, Write};
use super::{SqliteStore, tell_closed};
use crate::limits::BLOB_OVERHEAD_BYTES;
use crate::wormhole::{Answer, AppId, Message, Outcome, Request, Rules, Side};

/// Bytes of messages that are read at once for a replay. One message may be larger.
const CHUNK_BYTES_MAX: u64 = 256 * 1_024;

/// Messages of a mailbox in order of arrival, and where the next ones start.
pub(crate) struct Replay {
    pub(crate) messages: Vec<Message>,
    /// Nothing if these were the last.
    pub(crate) next: Option<u64>,
}

impl SqliteStore {
    /// A connection that has nothing open yet.
    pub(crate) fn visitor(&self) -> Visitor {
        self.shared_wormholes.visitor()
    }

    /// Does what a connection asks for, and answers once it is durable. What that sends to
    /// the connection itself is in its queue by then.
    pub(crate) async fn ask_wormhole(
        &self,
        visitor: &Visitor,
        who: (AppId, Side),
        request: Request,
        (rules, now_ms): (Rules, u64),
    ) -> Result<Answer<Outcome>, StoreError> {
        let (answer, outcome) = oneshot::channel();
        let order = WormholeOrder::Ask {
            who,
            request,
            seat: visitor.seat(),
            answer,
        };
        self.order_wormhole(order, rules, now_ms);
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Prunes some of the mailboxes whose time is over; whether there may be more.
    pub(crate) async fn prune_wormholes(
        &self,
        rules: Rules,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let (answer, outcome) = oneshot::channel();
        self.order_wormhole(WormholeOrder::Prune { answer }, rules, now_ms);
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }

    /// The messages of a mailbox whose arrival is in a range, the first of them.
    pub(crate) async fn replay_wormhole(
        &self,
        mailbox: u64,
        (from, below): (u64, u64),
    ) -> Result<Replay, StoreError> {
        let read = self.readers.run(move |connection| {
            let sql = format!(
                "SELECT {MESSAGE_COLUMNS}, arrival FROM wormhole_messages
                 WHERE mailbox = ?1 AND arrival >= ?2 AND arrival < ?3 ORDER BY arrival"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![Whole(mailbox), Whole(from), Whole(below)])?;
            let (mut messages, mut bytes, mut next) = (Vec::new(), 0_u64, None);
            while let Some(row) = rows.next()? {
                let arrival: Whole = row.get("arrival")?;
                if bytes >= CHUNK_BYTES_MAX {
                    next = Some(arrival.0);
                    break;
                }
                let message = message_of(row)?;
                bytes = bytes
                    .saturating_add(message.bytes())
                    .saturating_add(BLOB_OVERHEAD_BYTES);
                messages.push(message);
            }
            Ok(Replay { messages, next })
        });
        read.await
    }

    /// What is stored, and how many connections have a mailbox open.
    pub(crate) fn wormhole_sums(&self) -> (WormholeSums, u64) {
        self.shared_wormholes.sums()
    }

    fn order_wormhole(&self, order: WormholeOrder, rules: Rules, now_ms: u64) {
        let order = Order::Write(Write::Wormhole(Box::new((order, rules, now_ms))));
        if let Err(returned) = self.orders.send(order) {
            tell_closed(returned.0);
        }
    }
}
