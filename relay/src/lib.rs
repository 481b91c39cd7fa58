//! The Sealpost relay: it stores blobs durably and forwards them, and never decrypts one.
//!
//! The same code is the server program `sealpost-relay` and the relay inside the app. A
//! [`Relay`] is started with a [`Config`], a key (see [`key_file`]) and a [`Clock`], and runs
//! on the tokio runtime it was started on.
//!
//! Where to read on: `doors::native` for sessions, `doors::web` and `doors::link` for phones,
//! [`mailbox`] for the rules of their mailboxes, `store` for what durable means, `limits` for
//! who may use how much.

mod clock;
mod config;
mod doors;
mod folder;
mod health;
mod in_process;
pub mod key_file;
mod limits;
mod listener;
pub mod mailbox;
mod metrics;
mod relay;
mod start_error;
pub mod store;
pub mod wormhole;

pub use clock::{Clock, SystemClock};
pub use config::{
    Claims, Config, ConfigError, DurationError, Hosts, Place, Reason, Settings, SuppliedKey,
    TlsFiles, WebConfig, WormholeConfig, effective_toml, everywhere, parse_duration,
};
pub use doors::link::{
    DirectionRequest, MailboxRequest, Route, RouteError, WATCH_PROTOCOL, bearer_of_header,
    bearer_of_protocols,
};
pub use doors::web::{Authority, CertificateError, check_certificate};
pub use in_process::Mailboxes;
pub use limits::{
    BLOB_OVERHEAD_BYTES, MailboxLimits, PushRate, PushRates, Rate, Rates, SessionLimits,
    StoreLimits, WebLimits, WormholeLimits,
};
pub use listener::Port;
pub use relay::{Numbers, Ports, Relay};
pub use start_error::StartError;
pub use store::StoreOpenError;
