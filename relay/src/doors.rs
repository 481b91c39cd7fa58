//! The ways into a relay. Each door speaks one protocol and shares the store with the others.

pub(crate) mod link;
pub(crate) mod native;
mod page;
pub(crate) mod web;
pub(crate) mod wormhole;
