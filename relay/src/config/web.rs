//! How the web door is set up.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::WormholeConfig;
use super::{CONNECTIONS, ConfigError, Place, Reason, check_deadline, check_range};
use crate::limits::{Rate, WebLimits};

/// Everything the web door needs to know. See [`crate::Relay::open_web`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WebConfig {
    /// Where phones and browsers arrive. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may make a mailbox.
    pub claims: Claims,
    /// Which names a request may call this relay.
    pub hosts: Hosts,
    /// Origins of pages elsewhere that may use this relay, such as `https://example.org`.
    pub origins: Vec<String>,
    /// The certificate to speak TLS with.
    pub tls: Option<TlsFiles>,
    /// Whether the phone's page is served.
    pub page: bool,
    /// How the wormhole door is set up, if there is one.
    pub wormhole: Option<WormholeConfig>,
    /// Whether a proxy in front of it tells the addresses of clients (`X-Forwarded-For`).
    pub behind_proxy: bool,
    /// Bounds.
    pub limits: WebLimits,
}

impl WebConfig {
    /// The door of a server: anybody may make a mailbox, and no page without TLS.
    pub fn server(listen: SocketAddr) -> Self {
        Self {
            listen,
            claims: Claims::Open,
            hosts: Hosts::Any,
            origins: Vec::new(),
            tls: None,
            page: false,
            wormhole: Some(WormholeConfig::default()),
            behind_proxy: false,
            limits: WebLimits::default(),
        }
    }

    /// The door of a relay inside an app, for its owner's phones: only the app makes mailboxes,
    /// and only this computer's own addresses and `names` are answered.
    pub fn bundled(listen: SocketAddr, names: Vec<String>) -> Self {
        Self {
            claims: Claims::Local,
            hosts: Hosts::Own { names },
            page: true,
            wormhole: Some(WormholeConfig::bundled()),
            ..Self::server(listen)
        }
    }
}

impl WebConfig {
    /// Checks what would keep the door from working.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let invalid = |setting, reason| ConfigError::Invalid {
            place: Place::Code,
            setting,
            reason,
        };
        let is_half = |tls: &TlsFiles| {
            [&tls.cert, &tls.key]
                .iter()
                .any(|file| file.as_os_str().is_empty())
        };
        if self.tls.as_ref().is_some_and(is_half) {
            return Err(invalid("web.tls_cert", Reason::HalfTls));
        }
        let limits = &self.limits;
        for (setting, connections) in [
            ("web.max_connections", limits.connections_max),
            (
                "web.max_connections_per_address",
                limits.connections_per_address_max,
            ),
        ] {
            check_range(connections as u64, *CONNECTIONS.start(), *CONNECTIONS.end())
                .map_err(|reason| invalid(setting, reason))?;
        }
        for (setting, rate) in [
            ("web.request_rate", limits.request_rate),
            ("web.put_rate", limits.put_rate),
            ("web.failure_rate", limits.failure_rate),
            ("web.creation_rate", limits.creation_rate),
        ] {
            check_rate(rate).map_err(|reason| invalid(setting, reason))?;
        }
        for (setting, duration) in [
            ("web.header_timeout", limits.header_read),
            ("web.body_timeout", limits.body_read),
            ("web.idle_timeout", limits.idle),
            ("web.failure_pause", limits.failure_pause),
            ("web.watch_beat", limits.watch_beat),
        ] {
            check_deadline(duration).map_err(|reason| invalid(setting, reason))?;
        }
        Ok(())
    }
}

/// What `web.put_rate` and `web.failure_rate` are counted in.
pub(super) const PUTS_PERIOD: Duration = Duration::from_secs(60);

/// What `web.creation_rate` is counted in.
pub(super) const CREATIONS_PERIOD: Duration = Duration::from_secs(3_600);

/// Tokens of a rate.
pub(super) const RATE: std::ops::RangeInclusive<u64> = 1..=1_000_000;

fn check_rate(rate: Rate) -> Result<(), Reason> {
    for tokens in [rate.count, rate.burst] {
        check_range(tokens.into(), *RATE.start(), *RATE.end())?;
    }
    check_deadline(rate.period)
}

/// Who may make a mailbox (specification "paired-mailbox/1" 4.4, amendment 16).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Claims {
    /// Whoever reaches the relay.
    Open,
    /// Only the relay's own process.
    Local,
}

impl Claims {
    /// The word for it in the configuration and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Local => "local",
        }
    }
}

/// Which names a request may call this relay: a page that calls it by another name would have
/// made the browser believe that the relay is part of that page's site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Hosts {
    /// Any: a container doesn't know what it is called outside.
    Any,
    /// These, with or without a port.
    Listed(Vec<String>),
    /// The address that the request arrived at, `localhost`, and these names.
    Own {
        /// Names of this computer, such as one that ends with `.local`.
        names: Vec<String>,
    },
}

/// A certificate and its key, both in PEM.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsFiles {
    /// The chain, the relay's own certificate first.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}
