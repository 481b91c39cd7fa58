//! The machine of one wormhole: a mailbox that two sides meet in by a code, or keep for weeks.
//!
//! Owns when what is asked of a mailbox server, what its answers mean, the numbers of messages
//! and what is held until its turn. Never opens a connection and never waits: frames, the time
//! and randomness are arguments. Specification "Mailbox server over WebSocket", sections 10, 12
//! and 14; amendments 23 and 24.
//!
//! | part | file |
//! |---|---|
//! | inputs, and how a wormhole ends | [`machine`] |
//! | one connection: what is sent on it, in which order | `connection` |
//! | what comes in, one at a time and in order | `receiving` |
//! | what crosses between machine and shell | [`step`] |
//!
//! Invariants: a message of the peer is acknowledged only behind the commit of its effects; an
//! own message is sent again bit for bit until its echo came; one attempt at a code.

mod connection;
pub mod machine;
mod receiving;
pub mod step;
#[cfg(test)]
mod tests;
pub mod timing;

pub use machine::{SendError, Wormhole};
pub use step::{
    Start, WormholeChange, WormholeEffect, WormholeEnd, WormholeEvent, WormholeMessage,
    WormholeRow, WormholeSnapshot, WormholeStep,
};
