//! What the measurements share.

pub mod idle;

pub mod queue;
