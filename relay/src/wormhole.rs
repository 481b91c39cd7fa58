//! The rules of wormhole mailboxes: what each command is answered and what it changes.
//!
//! Owns: nameplates, two-sided mailboxes, acknowledgement, pruning and usage records
//! (specification "Mailbox server over WebSocket", sections 2 to 8 and 12), on rows that a
//! [`Shelf`] keeps; and what one connection may say when ([`Connection`]). The database's
//! writer runs them inside its transaction, the model test and the fuzz target on a
//! [`MemoryShelf`]. Never does: read a clock, a socket or the system's randomness; send
//! anything.
//!
//! Invariants:
//! - a mailbox has two sides at most; once a third has asked, nobody enters it any more;
//! - a message is delivered to whoever opens the mailbox until it is retired, and a numbered
//!   one that was retired is never stored again;
//! - the two forms of acknowledgement never touch each other's data.
//!
//! To retire a message is to let the relay forget it, not to recall it: copies may be on their
//! way.

mod ack;
mod connection;
mod frame;
mod memory;
mod memory_server;
mod nameplate;
mod reply;
mod rules;
mod shelf;
mod usage;

#[cfg(test)]
mod edge_tests;
#[cfg(test)]
mod model_tests;

use std::fmt;
use std::sync::Arc;

pub use ack::{ABILITIES, Retire, SEQNUMS};
pub use connection::{Bound, Connection, Outcome, Reaction, Request, Then};
pub use frame::{Fields, Frame, NotAnObject};
pub use memory::MemoryShelf;
pub use memory_server::MemoryServer;
pub use nameplate::Nameplate;
pub use reply::{Address, Reply, Welcome, error_text, message_text};
pub use rules::{Added, Answer, Audience, Opening, Refusal, Rules};
pub use shelf::{MailboxRow, MailboxSide, NameplateRow, NameplateSide, Shelf};
pub use usage::{Client, Times, Usage, UsageResult};

/// Bytes of the texts that name something: app, side, mailbox, phase, and the id of a message.
pub const NAME_BYTES_MAX: usize = 256;

/// Defines texts that clients choose, whose `Debug` prints a fixed word.
macro_rules! client_text {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text as a client gave it.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text, letter for letter.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )+};
}

client_text! {
    /// The application that a connection belongs to. Nothing is shared between two of them.
    AppId,
    /// One of a mailbox's two clients; the same over all its connections.
    Side,
    /// A mailbox within its application.
    MailboxName,
    /// What a message is, to the clients.
    Phase,
    /// What a message says. Opaque.
    Body,
    /// The `id` of the command that added a message, as JSON.
    CommandId,
    /// How a client says it has fared.
    Mood,
}

/// The number that a client gives to a message (section 12.5).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Seqnum(u64);

impl Seqnum {
    /// The largest that JavaScript counts exactly.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// A number that isn't above [`Self::MAX`].
    pub fn new(number: u64) -> Option<Self> {
        (number <= Self::MAX.0).then_some(Self(number))
    }

    /// The number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// A message of a mailbox.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Who has added it.
    pub side: Side,
    /// What it is.
    pub phase: Phase,
    /// What it says.
    pub body: Body,
    /// The `id` of the command that has added it.
    pub id: CommandId,
    /// When that came, in Unix milliseconds.
    pub received_ms: u64,
    /// Its number, if its author counts.
    pub seqnum: Option<Seqnum>,
}

impl Message {
    /// Bytes of its texts, as counted against the bounds.
    pub fn bytes(&self) -> u64 {
        let texts = [
            self.side.as_str(),
            self.phase.as_str(),
            self.body.as_str(),
            self.id.as_str(),
        ];
        let lengths = texts.iter().map(|text| text.len() as u64);
        lengths.fold(0, u64::saturating_add)
    }
}
