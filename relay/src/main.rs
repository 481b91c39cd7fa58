//! Relay.
fn main(){}
