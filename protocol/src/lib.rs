//! Every wire format, identifier, limit and label of Sealpost, and the Noise channel.
//!
//! This crate owns bytes and the cryptography over them. It never opens a socket or a file,
//! reads no clock and draws no randomness of its own: the time and the random generator are
//! arguments, so every result can be repeated.
//!
//! Invariants that hold everywhere in it:
//!
//! - no input from outside makes a function panic; a decoder answers with a typed error;
//! - `Debug` of a key, name, address, token or text prints a fixed word, and the `Display` of
//!   every error carries numbers and fixed words only;
//! - secrets are wiped from memory when they are dropped;
//! - a type whose only constructor checks something is the proof that it was checked
//!   ([`manifest::SignedManifest`], [`envelope::OpenedEnvelope`], [`name::DeviceName`]).
//!
//! The byte formats are described in `docs/wire/`, one page each. "Specification" in the
//! modules means the protocol specification named there.
//!
//! # Examples
//!
//! ```
//! use rand_core::OsRng;
//! use sealpost_protocol::envelope::{MessageTag, Received, Sealing, seal};
//! use sealpost_protocol::key::DeviceSecrets;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (alice, bob) = (DeviceSecrets::generate(&mut OsRng), DeviceSecrets::generate(&mut OsRng));
//! let sealing = Sealing {
//!     author: &alice.signing,
//!     recipient: &bob.keys().noise,
//!     sequence: 1,
//!     timestamp_ms: 1_790_812_800_000,
//!     tag: MessageTag::Sync,
//!     body: b"hello",
//! };
//! let bytes = seal(&sealing, &mut OsRng)?;
//!
//! let Received::Current(envelope) = Received::decode(&bytes)? else {
//!     return Err("another version".into());
//! };
//! let opened = envelope.open(&bob.noise)?;
//! assert_eq!(opened.author, alice.keys().signing);
//! assert_eq!(opened.body, b"hello");
//! # Ok(())
//! # }
//! ```

#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unreachable
    )
)]

mod base64url;
mod field_reader;
mod secret;
#[cfg(test)]
mod vectors;

pub mod address;
pub mod app_message;
pub mod channel;
pub mod envelope;
pub mod frame;
pub mod invitation;
pub mod key;
pub mod label;
pub mod limit;
pub mod link;
pub mod manifest;
pub mod message_id;
pub mod name;
pub mod pair;
pub mod pairing_words;
pub mod token;
pub mod version;
pub mod wormhole;
