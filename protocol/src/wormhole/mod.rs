//! The client's side of a magic-wormhole mailbox: its frames, codes and keys.
//!
//! Owns the bytes that cross between this program, the mailbox server and the peer. What is
//! done with them, and when, is decided elsewhere. Specification "Mailbox server over
//! WebSocket", sections 2, 12 and 14; `docs/wire/wormhole.md`.
//!
//! Invariants: a code, a key, a side and a text never print themselves; no input from outside
//! makes anything here panic.

pub mod application;
pub mod body;
pub mod code;
pub mod frame;
pub mod key;
pub mod phase;
pub mod side;

pub use application::Application;
pub use code::{Nameplate, WormholeCode};
pub use key::{PakeSecret, WormholeKey};
pub use phase::Phase;
pub use side::Side;
