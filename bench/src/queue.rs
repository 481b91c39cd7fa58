//! The relay beside the durable queues that a user could run instead, in one run.
//!
//! Owns: the load that every queue gets ([`load`], [`cell`]), what speaks to each of them
//! ([`peer`] over the network, [`local`] in a process of its own), and the tables and goals
//! that come out. Never does: touch a service of the system; every server is a child of this
//! process with its data under the build folder, on the disk that is measured.
//!
//! How the comparison is kept fair:
//! - every queue stores a message durably before it confirms it, hands it to a connected
//!   consumer and deletes it after that consumer's acknowledgement;
//! - a message is in flight from its publication until both its confirmation and its delivery
//!   are seen, so nobody's backlog can grow unseen;
//! - the bodies are random bytes, as ciphertext is: nothing gains by compressing them;
//! - queues take turns within each round, so that all see the same minutes of the machine;
//! - the clients of the peers are written for this and do nothing but encode and count, so
//!   that they leave more of the two cores to their servers than a client library would.
//!
//! How each queue is set up, and why, stands at the top of its module.

mod cell;
mod certificate;
mod goals;
mod line;
mod load;
mod local;
mod options;
mod peer;
pub(crate) mod process;
mod run;
mod system;
mod table;

pub use run::run;
