//! How a relay is set up.
//!
//! Owns: [`Config`], its defaults and its ceilings; the file and the environment are read in
//! [`settings`], durations in [`duration`]. Never does: open a file or a socket. Implements
//! specification 2.8 and 2.9 with amendments 5 and 6.
//!
//! Invariant: a lifetime or a body limit above the protocol's ceiling never starts a relay,
//! wherever it came from.

mod duration;
mod settings;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use sealpost_protocol::limit;

use crate::limits::{SessionLimits, StoreLimits};

pub use duration::{DurationError, parse_duration};
pub use settings::{Settings, SuppliedKey};

/// Everything a relay needs to know but its key and its clock.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Config {
    /// The database file. Its folder is made when it doesn't exist.
    pub store_path: PathBuf,
    /// Where Receive Sessions arrive. Port 0 takes a free one; the unspecified IPv6 address
    /// takes IPv4 connections too.
    pub listen_receive: SocketAddr,
    /// Where Push Sessions arrive.
    pub listen_push: SocketAddr,
    /// Where `/healthz` answers, if anywhere.
    pub listen_health: Option<SocketAddr>,
    /// How long a blob is kept, at most 30 days.
    pub life_ms: u64,
    /// How often expired blobs are deleted.
    pub reap_interval: Duration,
    /// How long a stopping relay waits for writes in progress.
    pub shutdown_drain: Duration,
    /// Reported on the health endpoint; changes nothing that is logged.
    pub dev_mode: bool,
    /// Drops the inboxes of a store that is older than this release can read.
    pub reset_store: bool,
    /// Bounds of connections.
    pub sessions: SessionLimits,
    /// Bounds of the store.
    pub store: StoreLimits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            store_path: PathBuf::from("inbox.db"),
            listen_receive: everywhere(limit::RECEIVE_PORT),
            listen_push: everywhere(limit::PUSH_PORT),
            listen_health: Some(everywhere(limit::HEALTH_PORT)),
            life_ms: limit::RELAY_LIFE_MS_MAX,
            reap_interval: Duration::from_secs(3_600),
            shutdown_drain: Duration::from_secs(10),
            dev_mode: false,
            reset_store: false,
            sessions: SessionLimits::default(),
            store: StoreLimits::default(),
        }
    }
}

impl Config {
    /// Checks what only the protocol may set, for configurations made in code.
    ///
    /// # Errors
    ///
    /// Names the first setting that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let invalid = |setting, reason| ConfigError::Invalid {
            place: Place::Code,
            setting,
            reason,
        };
        check_life(self.life_ms).map_err(|reason| invalid("relay.ttl", reason))?;
        check_body(self.sessions.body_bytes_max as u64)
            .map_err(|reason| invalid("relay.max_body_bytes", reason))
    }
}

/// The address that takes connections on every interface, IPv4 included.
pub fn everywhere(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port)
}

fn check_life(life_ms: u64) -> Result<(), Reason> {
    if life_ms > limit::RELAY_LIFE_MS_MAX {
        return Err(Reason::LifeAboveCeiling);
    }
    check_range(life_ms, 1_000, u64::MAX).map_err(|_| Reason::DurationTooShort { seconds_min: 1 })
}

fn check_body(bytes: u64) -> Result<(), Reason> {
    if bytes > limit::BODY_BYTES_MAX as u64 {
        return Err(Reason::BodyAboveCeiling {
            max: limit::BODY_BYTES_MAX as u64,
        });
    }
    check_range(
        bytes,
        limit::BODY_BYTES_LIMIT_MIN as u64,
        limit::BODY_BYTES_MAX as u64,
    )
}

fn check_range(value: u64, min: u64, max: u64) -> Result<(), Reason> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(Reason::OutOfRange { min, max })
    }
}

/// Why a configuration is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The file isn't TOML.
    #[error("line {line} of the configuration file can't be read: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What the TOML reader says.
        message: String,
    },
    /// A key of the file that no setting has.
    #[error("line {line} of the configuration file sets `{key}`, which is not a setting{}", hint(.key))]
    UnknownKey {
        /// The line, from 1.
        line: usize,
        /// The key as it stands there.
        key: String,
    },
    /// An environment variable that looks like a setting and isn't one.
    #[error("the environment variable {name} is not a setting")]
    UnknownVariable {
        /// Its name.
        name: String,
    },
    /// A value that can't be used.
    #[error("{place} sets {setting}: {reason}")]
    Invalid {
        /// Where it stands.
        place: Place,
        /// Its key in the file, or its variable where it has no key.
        setting: &'static str,
        /// What is wrong with it.
        reason: Reason,
    },
}

/// What to write instead of a key of earlier releases.
fn hint(key: &str) -> &'static str {
    match key {
        "relay.max_envelope_bytes" => {
            "; the limit is set in body bytes now, as relay.max_body_bytes"
        }
        "store.postgres_dsn" => "; this release stores in SQLite only",
        _ => "",
    }
}

/// Where a setting stands.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Place {
    /// In the configuration file.
    #[error("line {0} of the configuration file")]
    Line(usize),
    /// In the environment.
    #[error("the environment variable {0}")]
    Variable(&'static str),
    /// On the command line.
    #[error("the option {0}")]
    Option(&'static str),
    /// In a program that uses this library.
    #[error("the program")]
    Code,
}

/// What is wrong with a value. The value itself is never repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Reason {
    /// Neither a text nor a whole number nor true or false.
    #[error("a text or a whole number is expected")]
    NotScalar,
    /// Not a whole number.
    #[error("a whole number is expected")]
    NotNumber,
    /// A number outside of its range.
    #[error("it must be from {min} to {max}")]
    OutOfRange {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// Not a duration.
    #[error("{0}")]
    NotDuration(DurationError),
    /// A duration below its floor.
    #[error("it must be {seconds_min} s or longer")]
    DurationTooShort {
        /// Smallest, in seconds.
        seconds_min: u64,
    },
    /// A time limit of nothing, or of more than a day.
    #[error("a time limit from 1ms to 24h is expected")]
    NotDeadline,
    /// A lifetime above 30 days.
    #[error("blobs live 720h (30 days) at most; the protocol doesn't allow more")]
    LifeAboveCeiling,
    /// A body limit above the protocol's.
    #[error("the protocol's limit of {max} bytes can be lowered but not raised")]
    BodyAboveCeiling {
        /// The protocol's limit.
        max: u64,
    },
    /// Not an address to listen on.
    #[error("an IP address and a port are expected, such as 127.0.0.1:7700, [::1]:7700 or :7700")]
    NotAddress,
    /// Not 0 or 1.
    #[error("1, true, 0 or false is expected")]
    NotSwitch,
    /// An empty text where a path is expected.
    #[error("a path is expected")]
    EmptyPath,
    /// A store this release doesn't have.
    #[error("this release has one store, sqlite")]
    UnknownStore,
    /// Not 64 hex digits.
    #[error("64 hex digits are expected")]
    NotKey,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_days_start_and_one_second_more_does_not() {
        let config = Config {
            life_ms: 30 * 24 * 3_600_000,
            ..Config::default()
        };
        assert_eq!(config.check(), Ok(()));
        let config = Config {
            life_ms: config.life_ms + 1_000,
            ..config
        };
        assert!(matches!(
            config.check(),
            Err(ConfigError::Invalid {
                setting: "relay.ttl",
                reason: Reason::LifeAboveCeiling,
                ..
            })
        ));
    }

    #[test]
    fn a_body_limit_can_only_be_lowered() {
        let with = |body_bytes_max| Config {
            sessions: SessionLimits {
                body_bytes_max,
                ..SessionLimits::default()
            },
            ..Config::default()
        };
        assert_eq!(with(61_440).check(), Ok(()));
        assert_eq!(with(8_192).check(), Ok(()));
        assert!(with(61_441).check().is_err());
        assert!(with(8_191).check().is_err());
    }
}
