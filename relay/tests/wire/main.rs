//! The relay over real sockets on the loopback interface.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on fails where it stands"
)]

mod client;
mod crash;
mod deadlines;
mod delivery;
mod frames;
mod greeting;
mod health;
mod lifecycle;
mod limits;
mod metrics;
mod program;
mod raw_client;
mod test_relay;
