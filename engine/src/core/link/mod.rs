//! The Link: two paired devices and their mailbox, without doing any of it.
//!
//! Owns the rules of sections 6, 7 and 8 of "paired-mailbox/1" (and amendments 16 to 20): when
//! the mailbox is claimed, what is sent under which number, what counts as received, what is
//! pruned, asked again, given up. Never reads a clock, draws randomness of its own, or touches
//! a socket or a table.
//!
//! | part | file |
//! |---|---|
//! | the machine of a link: inputs, claim, how it ends | `machine` |
//! | sending and acknowledging; the rows that wait | `sending`, `outbox` |
//! | receiving and pruning; what was accepted before | `receiving`, `accepted` |
//! | a clock that was set | `clock` |
//! | watches | `watching` |
//! | what an answer means for the next try | `retry` |
//! | erasing the mailbox of a link that is over | `erasure` |
//! | from a scanned code to a link | [`pairing`] |
//! | what crosses the edge; delays and bounds | [`step`], [`timing`] |

mod accepted;
mod clock;
mod condition;
mod erasure;
mod machine;
mod outbox;
pub mod pairing;
mod receiving;
mod retry;
mod sending;
pub mod step;
#[cfg(test)]
mod tests;
pub mod timing;
mod watching;

pub use clock::ClockJump;
pub use condition::{LinkCondition, LinkError, RowProgress};
pub use erasure::Erasure;
pub use machine::{Link, QueueError};
pub use step::{
    Answer, ArrivedRow, Done, EraseRow, Farewell, LinkChange, LinkEffect, LinkEvent, LinkRequest,
    LinkRow, LinkSnapshot, LinkStep, NewLink, OutboxRow, PageEnvelope, Refused, RefusedError,
    RelayHeaders, RequestId, RowFailure, RowKind, Stored, WatchClose, WatchEvent,
};
