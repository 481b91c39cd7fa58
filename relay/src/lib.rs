//! The Sealpost relay: it stores blobs durably and forwards them, and never decrypts one.
//!
//! The same code is the server program `sealpost-relay` and the relay inside the app. A
//! [`Relay`] is started with a [`Config`], a key (see [`key_file`]) and a [`Clock`], and runs
//! on the tokio runtime it was started on.
//!
//! Where to read on: `doors::native` for sessions, `store` for what durable means, `limits`
//! for who may use how much.

mod clock;
mod config;
mod doors;
mod folder;
mod health;
pub mod key_file;
mod limits;
mod listener;
mod metrics;
mod relay;
mod start_error;
pub mod store;

pub use clock::{Clock, SystemClock};
pub use config::{
    Config, ConfigError, DurationError, Place, Reason, Settings, SuppliedKey, effective_toml,
    everywhere, parse_duration,
};
pub use limits::{BLOB_OVERHEAD_BYTES, PushRate, PushRates, SessionLimits, StoreLimits};
pub use listener::Port;
pub use relay::{Numbers, Ports, Relay};
pub use start_error::StartError;
pub use store::StoreOpenError;
