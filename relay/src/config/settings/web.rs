//! The settings of the web door.

use super::{Reason, Setting, Settings, address, deadline, number_in, path, setting, size, switch};
use crate::config::web::{CREATIONS_PERIOD, PUTS_PERIOD, RATE};
use crate::config::{CONNECTIONS, Claims, Hosts, TlsFiles, WebConfig, WormholeConfig, everywhere};
use crate::limits::Rate;
use sealpost_protocol::limit;

/// When the page is served.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Page {
    /// Where this relay speaks TLS (amendment 21).
    #[default]
    WithTls,
    On,
    Off,
}

/// The web door as it has been set so far. Whether there is one is decided at the end: its
/// settings may come before its port.
#[derive(Debug)]
pub(super) struct WebDraft {
    is_on: bool,
    /// Whether it has the wormhole door.
    pub(super) has_wormhole: bool,
    config: WebConfig,
    page: Page,
    cert: Option<std::path::PathBuf>,
    key: Option<std::path::PathBuf>,
}

impl Default for WebDraft {
    fn default() -> Self {
        Self {
            is_on: false,
            has_wormhole: true,
            config: WebConfig::server(everywhere(limit::WEB_PORT)),
            page: Page::default(),
            cert: None,
            key: None,
        }
    }
}

impl WebDraft {
    /// The door, if it is to be opened.
    pub(super) fn config(&self) -> Option<WebConfig> {
        let tls = match (&self.cert, &self.key) {
            (None, None) => None,
            (cert, key) => Some(TlsFiles {
                cert: cert.clone().unwrap_or_default(),
                key: key.clone().unwrap_or_default(),
            }),
        };
        let page = match self.page {
            Page::WithTls => tls.is_some(),
            Page::On => true,
            Page::Off => false,
        };
        self.is_on.then(|| WebConfig {
            tls,
            page,
            wormhole: self.config.wormhole.clone().filter(|_| self.has_wormhole),
            ..self.config.clone()
        })
    }

    /// The wormhole door, whether there is one or not.
    pub(super) fn wormhole(&mut self) -> &mut WormholeConfig {
        self.config.wormhole.get_or_insert_default()
    }
}

/// Shorthand for the numbers that are counts.
fn rate(text: &str) -> Result<u32, Reason> {
    let value = number_in(text, RATE)?;
    u32::try_from(value).map_err(|_| Reason::NotNumber)
}

/// So many in a period, and as many at once.
fn even(text: &str, period: std::time::Duration) -> Result<Rate, Reason> {
    rate(text).map(|count| Rate {
        count,
        period,
        burst: count,
    })
}

/// Names between commas; none for `word`.
fn names(text: &str, word: &str) -> Vec<String> {
    if text == word {
        return Vec::new();
    }
    let names = text.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn file(text: &str) -> Result<Option<std::path::PathBuf>, Reason> {
    if text.is_empty() {
        return Ok(None);
    }
    path(text).map(Some)
}

fn set_claims(to: &mut Settings, text: &str) -> Result<(), Reason> {
    to.web.config.claims = match text {
        "open" => Claims::Open,
        "local" => Claims::Local,
        _ => return Err(Reason::NotClaims),
    };
    Ok(())
}

fn set_hosts(to: &mut Settings, text: &str) -> Result<(), Reason> {
    let listed = names(text, "any");
    if listed
        .iter()
        .any(|name| crate::doors::web::Authority::parse(name).is_none())
    {
        return Err(Reason::NotHosts);
    }
    to.web.config.hosts = if listed.is_empty() {
        Hosts::Any
    } else {
        Hosts::Listed(listed)
    };
    Ok(())
}

fn set_origins(to: &mut Settings, text: &str) -> Result<(), Reason> {
    let origins = names(text, "none");
    let is_origin = |origin: &String| {
        let site = origin
            .strip_prefix("https://")
            .or_else(|| origin.strip_prefix("http://"));
        site.and_then(crate::doors::web::Authority::parse).is_some()
    };
    if !origins.iter().all(is_origin) {
        return Err(Reason::NotOrigins);
    }
    to.web.config.origins = origins;
    Ok(())
}

fn set_page(to: &mut Settings, text: &str) -> Result<(), Reason> {
    to.web.page = match text {
        "tls" => Page::WithTls,
        "on" => Page::On,
        "off" => Page::Off,
        _ => return Err(Reason::NotPage),
    };
    Ok(())
}

pub(super) const SETTINGS: &[Setting] = &[
    setting(
        "relay.listen_web",
        "TRUESEAL_RELAY_LISTEN_WEB",
        |to, text| {
            to.web.is_on = text != "off";
            if to.web.is_on {
                to.web.config.listen = address(text)?;
            }
            Ok(())
        },
    ),
    setting("web.hosts", "TRUESEAL_RELAY_WEB_HOSTS", set_hosts),
    setting("web.origins", "TRUESEAL_RELAY_WEB_ORIGINS", set_origins),
    setting("web.claims", "TRUESEAL_RELAY_WEB_CLAIMS", set_claims),
    setting("web.tls_cert", "TRUESEAL_RELAY_WEB_TLS_CERT", |to, text| {
        file(text).map(|file| to.web.cert = file)
    }),
    setting("web.tls_key", "TRUESEAL_RELAY_WEB_TLS_KEY", |to, text| {
        file(text).map(|file| to.web.key = file)
    }),
    setting("web.page", "TRUESEAL_RELAY_WEB_PAGE", set_page),
    setting(
        "web.behind_proxy",
        "TRUESEAL_RELAY_WEB_BEHIND_PROXY",
        |to, text| switch(text).map(|is_behind| to.web.config.behind_proxy = is_behind),
    ),
    setting(
        "web.max_mailboxes",
        "TRUESEAL_RELAY_WEB_MAX_MAILBOXES",
        |to, text| {
            number_in(text, RATE).map(|mailboxes| to.config.mailboxes.mailboxes_max = mailboxes)
        },
    ),
    setting(
        "web.max_watches",
        "TRUESEAL_RELAY_WEB_MAX_WATCHES",
        |to, text| {
            let watches = size(number_in(text, RATE)?)?;
            to.config.mailboxes.watches_max = watches;
            Ok(())
        },
    ),
    setting(
        "web.max_connections",
        "TRUESEAL_RELAY_WEB_MAX_CONNECTIONS",
        |to, text| {
            let connections = size(number_in(text, CONNECTIONS)?)?;
            to.web.config.limits.connections_max = connections;
            Ok(())
        },
    ),
    setting(
        "web.max_connections_per_address",
        "TRUESEAL_RELAY_WEB_MAX_CONNECTIONS_PER_ADDRESS",
        |to, text| {
            let connections = size(number_in(text, CONNECTIONS)?)?;
            to.web.config.limits.connections_per_address_max = connections;
            Ok(())
        },
    ),
    setting(
        "web.request_rate",
        "TRUESEAL_RELAY_WEB_REQUEST_RATE",
        |to, text| rate(text).map(|count| to.web.config.limits.request_rate.count = count),
    ),
    setting(
        "web.request_burst",
        "TRUESEAL_RELAY_WEB_REQUEST_BURST",
        |to, text| rate(text).map(|burst| to.web.config.limits.request_rate.burst = burst),
    ),
    setting("web.put_rate", "TRUESEAL_RELAY_WEB_PUT_RATE", |to, text| {
        even(text, PUTS_PERIOD).map(|rate| to.web.config.limits.put_rate = rate)
    }),
    setting(
        "web.failure_rate",
        "TRUESEAL_RELAY_WEB_FAILURE_RATE",
        |to, text| even(text, PUTS_PERIOD).map(|rate| to.web.config.limits.failure_rate = rate),
    ),
    setting(
        "web.failure_pause",
        "TRUESEAL_RELAY_WEB_FAILURE_PAUSE",
        |to, text| deadline(text).map(|pause| to.web.config.limits.failure_pause = pause),
    ),
    setting(
        "web.creation_rate",
        "TRUESEAL_RELAY_WEB_CREATION_RATE",
        |to, text| {
            even(text, CREATIONS_PERIOD).map(|rate| to.web.config.limits.creation_rate = rate)
        },
    ),
    setting(
        "web.header_timeout",
        "TRUESEAL_RELAY_WEB_HEADER_TIMEOUT",
        |to, text| deadline(text).map(|limit| to.web.config.limits.header_read = limit),
    ),
    setting(
        "web.body_timeout",
        "TRUESEAL_RELAY_WEB_BODY_TIMEOUT",
        |to, text| deadline(text).map(|limit| to.web.config.limits.body_read = limit),
    ),
    setting(
        "web.idle_timeout",
        "TRUESEAL_RELAY_WEB_IDLE_TIMEOUT",
        |to, text| deadline(text).map(|limit| to.web.config.limits.idle = limit),
    ),
];
