//! The relay's program, its life and its crashes, over real sockets on the loopback interface.
//! What any relay must do is in the conformance suite.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on fails where it stands"
)]

mod backup;
mod crash;
#[cfg(target_os = "linux")]
mod full_disk;
mod health;
mod hostile;
mod lifecycle;
mod metrics;
mod packaging;
mod program;

#[path = "../peer/client.rs"]
mod client;
#[path = "../peer/raw_client.rs"]
#[expect(dead_code, reason = "the conformance suite uses all of it")]
mod raw_client;
#[path = "../peer/test_relay.rs"]
#[expect(dead_code, reason = "the conformance suite uses all of it")]
mod test_relay;
