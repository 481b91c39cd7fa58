//! The relay over real sockets on the loopback interface.

mod client;
mod crash;
mod deadlines;
mod delivery;
mod frames;
mod greeting;
mod health;
mod lifecycle;
mod limits;
mod program;
mod raw_client;
mod test_relay;
