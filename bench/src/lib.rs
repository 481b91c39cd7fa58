//! What the measurements share.

pub mod idle;

pub mod link;

pub mod queue;
