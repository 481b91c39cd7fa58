//! What the measurements share.

pub mod idle;
