//! The pure core of the engine: everything that can be subtly wrong, without doing any of it.
//!
//! Owns the machines of one group. Never reads a clock, draws randomness of its own, touches
//! a socket, a file or the database: time and randomness are arguments, look-ups go through
//! [`step::Lookup`], and what is to be done leaves as values ([`step::Step`]).
//!
//! | part | file |
//! |---|---|
//! | the whole machine, its inputs and questions | [`device`] |
//! | what goes out, when again | `outbox` |
//! | what comes in, one at a time | `inbox`, `held` |
//! | windows, requests, joins | `pairing` |
//! | who is a member | [`membership`] |
//! | how long there was no relay | `absence` |
//! | what the group is called | [`group_name`] |
//! | what a phone is shown, and what it sends | [`phone_feed`] |
//! | what each change means, in memory | [`rows`] |
//! | a link with a phone or another computer | [`link`] |
//! | a mailbox that two sides meet in by a code | [`wormhole`] |
//! | what crosses the edge | [`step`], [`event`], [`message`], [`issue`], [`error`], [`status`] |

mod absence;
pub mod device;
pub mod error;
pub mod event;
pub mod group_name;
mod held;
mod inbox;
pub mod issue;
pub mod link;
pub mod membership;
pub mod message;
mod outbox;
mod pairing;
pub mod phone_feed;
#[cfg(test)]
pub(crate) mod rig;
pub mod rows;
pub mod run_marker;
#[cfg(test)]
mod simulation;
pub mod status;
pub mod step;
pub mod timing;
pub mod wormhole;
