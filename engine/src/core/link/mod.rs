//! The Link: two paired devices and their mailbox, without doing any of it.
//!
//! Owns the rules of sections 6, 7 and 8 of "paired-mailbox/1" (and amendments 16 to 20): when
//! the mailbox is claimed, what is sent under which number, what counts as received, what is
//! pruned, asked again, given up. Never reads a clock, draws randomness, or touches a socket or
//! a table.
//!
//! | part | file |
//! |---|---|
//! | what crosses the edge | [`step`], `pairing::step` |
//! | delays and bounds | [`timing`] |

pub mod pairing;
pub mod step;
pub mod timing;

pub use step::{
    Answer, ArrivedRow, Done, EraseRow, Farewell, LinkChange, LinkEffect, LinkEvent, LinkRequest,
    LinkRow, LinkSnapshot, LinkStep, NewLink, OutboxRow, PageEnvelope, Refused, RefusedError,
    RelayHeaders, RequestId, RowFailure, RowKind, Stored, WatchClose, WatchEvent,
};
