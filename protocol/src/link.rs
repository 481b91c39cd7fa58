//! The bytes of paired-device links: two devices, one secret, one mailbox on a relay.
//!
//! Owns what both devices of a link derive, seal, open, encode and compare: keys and ids
//! ([`key`]), the sealed envelope ([`envelope`]), what is inside it ([`payload`]), the code
//! that a phone scans ([`code`]), the exchange that replaces the scanned key ([`rotation`])
//! and its messages ([`pairing`]), and the bodies that desktop and phone send each other
//! ([`feed`]). It never decides when something is sent or whether it counts: that is the
//! engine's `core::link`.
//!
//! Specification: "paired-mailbox/1", sections 3, 7 and 8, and amendments 16 to 20. The name
//! is part of the key derivation and so never changes.

pub mod code;
pub mod envelope;
pub mod feed;
pub mod key;
pub mod pairing;
pub mod payload;
pub mod rotation;
#[cfg(test)]
mod vectors;
