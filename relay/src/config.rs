//! How a relay is set up.
//!
//! Owns: [`Config`], its defaults and its ceilings; the file and the environment are read in
//! [`settings`], durations in [`duration`]. Never does: open a file or a socket. Implements
//! specification 2.8 and 2.9 with amendments 5 and 6.
//!
//! Invariant: a lifetime or a body limit above the protocol's ceiling never starts a relay,
//! wherever it came from.

mod duration;
mod effective;
mod settings;
mod web;
mod wormhole;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use sealpost_protocol::limit;

use crate::limits::{MailboxLimits, SessionLimits, StoreLimits};

pub use duration::{DurationError, parse_duration};
pub use effective::effective_toml;
pub use settings::{Settings, SuppliedKey};
pub use web::{Claims, Hosts, TlsFiles, WebConfig};
pub use wormhole::WormholeConfig;

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
    /// Reported on the health endpoint. The relay writes the same to its log either way; the
    /// program `sealpost-relay` lets more of it through.
    pub dev_mode: bool,
    /// Drops the inboxes of a store that is older than this release can read.
    pub reset_store: bool,
    /// Bounds of connections.
    pub sessions: SessionLimits,
    /// Bounds of the store.
    pub store: StoreLimits,
    /// Bounds of mailboxes.
    pub mailboxes: MailboxLimits,
    /// Where phones and browsers arrive, if anywhere.
    pub web: Option<WebConfig>,
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
            mailboxes: MailboxLimits::default(),
            web: None,
        }
    }
}

impl Config {
    /// Checks what only the protocol may set and what would keep a relay from working, for
    /// configurations made in code.
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
        let sessions = &self.sessions;
        check_body(sessions.body_bytes_max as u64)
            .map_err(|reason| invalid("relay.max_body_bytes", reason))?;
        let (per_key, rate) = (sessions.receive_sessions_per_key_max, sessions.push_rate);
        for (setting, value, range) in [
            (
                "relay.max_connections",
                sessions.connections_max as u64,
                CONNECTIONS,
            ),
            (
                "relay.max_receive_sessions_per_key",
                per_key as u64,
                SESSIONS_PER_KEY,
            ),
            ("relay.push_rate", rate.per_second.into(), PUSH_RATE),
            ("relay.push_burst", rate.burst.into(), PUSH_RATE),
        ] {
            check_range(value, *range.start(), *range.end())
                .map_err(|reason| invalid(setting, reason))?;
        }
        for (setting, duration) in [
            ("relay.reap_interval", self.reap_interval),
            ("relay.handshake_timeout", sessions.handshake),
            ("relay.push_session_timeout", sessions.push_session),
            ("relay.receive_idle_timeout", sessions.receive_idle),
        ] {
            check_deadline(duration).map_err(|reason| invalid(setting, reason))?;
        }
        check_drain(self.shutdown_drain)
            .map_err(|reason| invalid("relay.shutdown_drain", reason))?;
        self.web.as_ref().map_or(Ok(()), WebConfig::check)
    }
}

/// The address that takes connections on every interface, IPv4 included.
pub fn everywhere(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port)
}

/// Concurrent connections per listener; a semaphore counts them.
const CONNECTIONS: RangeInclusive<u64> = 1..=1_000_000;

/// Receive Sessions per device.
const SESSIONS_PER_KEY: RangeInclusive<u64> = 1..=1_000;

/// Pushes per second, and at once.
const PUSH_RATE: RangeInclusive<u64> = 1..=1_000_000_000;

/// The longest that a stopping relay may wait (specification 2.10).
const SHUTDOWN_DRAIN_MAX: Duration = Duration::from_secs(10);

/// A duration that something waits for; none at all would close everything at once.
fn check_deadline(duration: Duration) -> Result<(), Reason> {
    let range = Duration::from_millis(1)..=Duration::from_hours(24);
    if range.contains(&duration) {
        Ok(())
    } else {
        Err(Reason::NotDeadline)
    }
}

fn check_drain(duration: Duration) -> Result<(), Reason> {
    if duration <= SHUTDOWN_DRAIN_MAX {
        Ok(())
    } else {
        Err(Reason::DrainTooLong {
            seconds_max: SHUTDOWN_DRAIN_MAX.as_secs(),
        })
    }
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
    #[error("the environment variable {name} is not a setting{}", hint(.name))]
    UnknownVariable {
        /// Its name.
        name: String,
    },
    /// An option that no setting belongs to.
    #[error("the option {name} is not a setting")]
    UnknownOption {
        /// Its name.
        name: &'static str,
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

/// What to write instead of a name of earlier releases.
fn hint(name: &str) -> &'static str {
    match name {
        "relay.max_envelope_bytes" => {
            "; the limit is set in body bytes now, as relay.max_body_bytes"
        }
        "TRUESEAL_RELAY_MAX_ENVELOPE_BYTES" => {
            "; the limit is set in body bytes now, as TRUESEAL_RELAY_MAX_BODY_BYTES"
        }
        "store.postgres_dsn" | "TRUESEAL_RELAY_STORE_POSTGRES_DSN" => {
            "; this release stores in SQLite only"
        }
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
    /// Not text at all.
    #[error("a text in UTF-8 is expected")]
    NotText,
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
    /// A stopping relay would be waited for too long.
    #[error("a stopping relay waits {seconds_max} s at most")]
    DrainTooLong {
        /// Largest, in seconds.
        seconds_max: u64,
    },
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
    /// Neither of the two policies.
    #[error("open or local is expected")]
    NotClaims,
    /// Not a list of hosts.
    #[error("any, or hosts between commas such as relay.example, 192.0.2.1:7703, are expected")]
    NotHosts,
    /// Not a list of origins.
    #[error("none, or origins between commas such as https://example.org, are expected")]
    NotOrigins,
    /// Not a choice of when to serve the page.
    #[error("tls, on or off is expected")]
    NotPage,
    /// A certificate without its key, or a key without its certificate.
    #[error("web.tls_cert and web.tls_key go together")]
    HalfTls,
    /// A store this release doesn't have.
    #[error("this release has one store, sqlite; postgres was an experiment of another program")]
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
    fn what_would_keep_a_relay_from_working_does_not_start_one() {
        type Change = fn(&mut Config);
        let changes: [(&str, Change); 12] = [
            ("relay.max_connections", |c| c.sessions.connections_max = 0),
            ("relay.max_connections", |c| {
                c.sessions.connections_max = usize::MAX;
            }),
            ("relay.max_receive_sessions_per_key", |c| {
                c.sessions.receive_sessions_per_key_max = 0;
            }),
            ("relay.push_rate", |c| c.sessions.push_rate.per_second = 0),
            ("relay.push_burst", |c| c.sessions.push_rate.burst = 0),
            ("relay.push_burst", |c| {
                c.sessions.push_rate.burst = u32::MAX
            }),
            ("relay.reap_interval", |c| c.reap_interval = Duration::ZERO),
            ("relay.reap_interval", |c| c.reap_interval = Duration::MAX),
            ("relay.handshake_timeout", |c| {
                c.sessions.handshake = Duration::ZERO;
            }),
            ("relay.push_session_timeout", |c| {
                c.sessions.push_session = Duration::ZERO;
            }),
            ("relay.receive_idle_timeout", |c| {
                c.sessions.receive_idle = Duration::MAX;
            }),
            ("relay.shutdown_drain", |c| {
                c.shutdown_drain = Duration::from_millis(10_001);
            }),
        ];
        assert_eq!(Config::default().check(), Ok(()));
        for (expected, change) in changes {
            let mut config = Config::default();
            change(&mut config);
            match config.check() {
                Err(ConfigError::Invalid { setting, .. }) => assert_eq!(setting, expected),
                other => panic!("{expected}: {other:?}"),
            }
        }
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
