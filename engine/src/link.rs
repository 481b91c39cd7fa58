//! The shell of the links: what stands around the machines of [`crate::core::link`].
//!
//! Owns the links of a profile as a program uses them: their encrypted store, their key, the
//! way to their relays and the one thread that keeps the order of things. Holds no rule of
//! delivery or pairing. Paired mailbox, sections 5 to 8, amendments 11 and 16 to 18.
//!
//! - [`Links`]: the calls;
//! - [`LinkTransport`]: the way to a relay, over HTTP ([`HttpTransport`]) or within a process.
//!
//! Never logs a name, an id, a key, a token, an address or what a mailbox is called.

mod actor;
mod error;
mod event;
mod http;
mod info;
mod links;
mod name;
mod relay_url;
mod store;
mod transport;

pub use error::{LinksError, LinksOpenError};
pub use event::{LinksEvent, LinksEvents};
pub use http::HttpTransport;
pub(crate) use http::line;
pub use info::{
    Arrived, LinkContent, LinkEnd, LinkInfo, LinkPlace, LinkProgress, LinkState, LinkTrouble,
    PairingInfo, PairingStarted, PairingUrl, SentRow,
};
pub use links::{Links, LinksOptions, PairingOptions};
pub use name::LinkName;
pub use relay_url::{RelayUrl, RelayUrlError};
pub use transport::{LinkAddress, LinkFailure, LinkTransport, WatchSink};
