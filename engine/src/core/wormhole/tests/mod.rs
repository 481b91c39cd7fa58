//! Tests of the wormhole client: against a small model of a mailbox server, with everything
//! that may go wrong on the way.

mod door;
mod ends;
mod filter;
mod model;
mod peer;
