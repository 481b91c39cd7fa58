//! What the tests of the core share: a store in memory, a device with its shell reduced to
//! the commit, and a relay reduced to its inboxes.
//!
//! Nothing here decides anything; the rules under test are the real ones.

mod post;
mod shell;
mod store;

pub(crate) use post::Post;
pub(crate) use shell::{Rig, SECOND_MS, START_MS, acknowledged, issues, pushes, words};
pub(crate) use store::Store;
