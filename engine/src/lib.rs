//! The Sealpost client engine: one group, its keys, its messages, its relay.
//!
//! Owns everything between a program's call and the bytes of `sealpost-protocol`. The rules
//! of delivery, pairing and membership are pure machines in [`core`]; around them stands a
//! shell that owns sockets, the database, the key store, threads and the clock, and holds no
//! rule of its own.
//!
//! The way of an input: a call or a frame reaches the group's one actor thread; the machine
//! turns it into a step; its writes are committed in one transaction; only then is anything
//! pushed, acknowledged or told.
//!
//! Never logs a name, a key, an address, an id that lasts, or a text, at any level.

mod actor;
pub mod backup;
pub mod clock;
pub mod core;
mod durable_file;
pub mod engine;
pub mod export;
mod folding;
pub mod history;
pub mod keys;
pub mod link;
pub mod namespace;
mod notices;
pub mod profile;
mod relay_probe;
pub mod relay_test;
mod session;
mod store;
pub mod subscription;
pub mod utc;
pub mod wormhole;

pub use engine::{BoxFuture, Engine, OpenError, OpenOptions, Versions, versions};
pub use relay_probe::probe_relay;
pub use relay_test::test_relay;
pub use subscription::Subscription;
