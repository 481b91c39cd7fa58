//! The shell of a wormhole: a connection to a mailbox server around [`crate::core::wormhole`].
//!
//! Owns the WebSocket and the one task that feeds the machine. Holds no rule of its own.
//! Nothing of a [`Meeting`] outlives its process: what it hands over is stored, or shown, by
//! whoever began it.
//!
//! Never logs a code, a nameplate, a side, an address or a text.

mod meeting;
mod socket;

pub use meeting::{Meeting, MeetingEvent};
