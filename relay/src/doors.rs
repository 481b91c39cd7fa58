//! The ways into a relay. Each door speaks one protocol and shares the store with the others.

pub(crate) mod native;
