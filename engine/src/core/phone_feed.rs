//! What a phone is shown of this device's groups, and what becomes of what it sends.
//!
//! Owns the decisions between the history of the groups and the link to one phone: which
//! states and pages go out when, how much of them, and what a message of the phone leads to.
//! It reads no history and no link: the shell hands in what stands there, and carries out
//! what comes back. Specification: paired mailbox 7.3; bodies: [`sealpost_protocol::link::feed`].
//!
//! | part | file |
//! |---|---|
//! | the pages: which messages, and how large | `page` |
//! | what waits to go, and whether there is room | `states` |
//! | what comes from the phone | `request` |
//! | which groups a phone sees | `sharing` |
//!
//! Invariants:
//! - a body has at most [`BODY_BYTES_MAX`] bytes, whatever the messages hold;
//! - never more than [`ROWS_MAX`] states wait to be collected, so a phone in a drawer never
//!   fills its 64 slots, and what it finds there at the end is the newest;
//! - of a group that isn't shared nothing goes out, and nothing of the phone goes in;
//! - a message of the phone that is handled twice does what it does once.

mod page;
mod request;
mod sharing;
mod states;
#[cfg(test)]
mod tests;

pub use page::{TAIL_MESSAGES_MAX, changed, history, message, tail};
pub use request::{Action, Refusal, Standing, read};
pub use sharing::Sharing;
pub use states::{Outgoing, PhoneFeed, WaitingRow};

/// The largest body that the feed makes: room for more than a screen, and small enough that
/// full slots stay a few megabytes.
pub const BODY_BYTES_MAX: usize = 48 * 1024;

/// The most bytes that one text takes in a body, as JSON. What is longer is cut, and the whole
/// stays on this device.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;

/// The most messages in the answer to one request for older ones.
pub const HISTORY_MESSAGES_MAX: usize = 50;

/// How many rows may wait to be collected before states are held back: half of the slots, so
/// that answers always find room.
pub const ROWS_MAX: usize = 32;

/// How many states of one kind may wait to be collected. A phone that looks says every five
/// seconds what it has; in between, one that is live gets this many.
pub const ROWS_OF_A_KEY_MAX: usize = 6;
