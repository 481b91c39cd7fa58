//! What has no network: our store alone, and what it is held against.
//!
//! Each runs in a process of its own, which is this program again ([`worker`]), so that its
//! CPU time, memory and syncs can be told from those of the clients. Its CPU time includes the
//! producers', which do nothing but queue and wait.

pub(super) mod store;
pub(super) mod thread;
pub(super) mod worker;
