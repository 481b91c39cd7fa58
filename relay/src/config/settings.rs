//! Settings as operators give them: a TOML file, the environment, options of the command line.
//!
//! Owns: the one table of names, and how each value is read. Every source goes through the
//! same table, so no two of them can disagree about a range. Later sources win: file, then
//! environment, then options. Never does: read the file or the environment itself.

mod web;
mod wormhole;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::time::Duration;

use sealpost_protocol::key::NoiseSecret;
use toml::de::{DeTable, DeValue};

use self::web::WebDraft;
use super::{
    CONNECTIONS, Config, ConfigError, PUSH_RATE, Place, Reason, SESSIONS_PER_KEY, check_body,
    check_deadline, check_drain, check_life, check_range, everywhere, parse_duration,
};
use crate::key_file;

/// A configuration together with where the key comes from.
#[derive(Debug, Default)]
pub struct Settings {
    /// What the relay itself needs.
    pub config: Config,
    /// Whether the store's path was set and isn't the default.
    pub store_path_is_set: bool,
    /// The file that holds the relay's key.
    pub key_path: Option<PathBuf>,
    /// A key that the operator supplies instead of having one generated.
    pub supplied_key: Option<SuppliedKey>,
    web: WebDraft,
}

/// A relay key out of the environment.
#[derive(Debug)]
pub struct SuppliedKey(pub NoiseSecret);

impl Settings {
    /// Takes over what a configuration file sets.
    ///
    /// # Errors
    ///
    /// Names the line and the reason of the first thing that can't be used.
    pub fn read_file(&mut self, text: &str) -> Result<(), ConfigError> {
        let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            line: line_of(text, error.span()),
            message: error.message().to_owned(),
        })?;
        for (section, value) in document.get_ref() {
            let DeValue::Table(table) = value.get_ref() else {
                return Err(unknown_key(
                    text,
                    section.span(),
                    section.get_ref().to_string(),
                ));
            };
            for (key, value) in table {
                let name = format!("{}.{}", section.get_ref(), key.get_ref());
                let Some(setting) = all().find(|one| one.key == Some(name.as_str())) else {
                    return Err(unknown_key(text, key.span(), name));
                };
                let place = Place::Line(line_of(text, Some(key.span())));
                let scalar = scalar_text(value.get_ref())
                    .ok_or_else(|| setting.refuse(place.clone(), Reason::NotScalar))?;
                self.set(setting, place, &scalar)?;
            }
        }
        Ok(())
    }

    /// Takes over what the environment sets.
    ///
    /// # Errors
    ///
    /// Names the variable and the reason of the first thing that can't be used.
    pub fn read_environment(
        &mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        for (name, value) in variables {
            let name = name.to_string_lossy().into_owned();
            if !name.starts_with(VARIABLE_PREFIX) {
                continue;
            }
            match all().find(|one| one.variable == name) {
                Some(setting) => {
                    let place = Place::Variable(setting.variable);
                    match value.to_str() {
                        Some(value) => self.set(setting, place, value)?,
                        None => return Err(setting.refuse(place, Reason::NotText)),
                    }
                }
                None if is_service_link(&name) => {}
                None => return Err(ConfigError::UnknownVariable { name }),
            }
        }
        Ok(())
    }

    /// Takes over one option of the command line, by the key of its setting.
    ///
    /// # Errors
    ///
    /// Names the option and the reason.
    pub fn read_option(
        &mut self,
        option: &'static str,
        key: &str,
        value: &str,
    ) -> Result<(), ConfigError> {
        match all().find(|one| one.key == Some(key)) {
            Some(setting) => self.set(setting, Place::Option(option), value),
            None => Err(ConfigError::UnknownOption { name: option }),
        }
    }

    fn set(&mut self, setting: &Setting, place: Place, value: &str) -> Result<(), ConfigError> {
        (setting.apply)(self, value.trim()).map_err(|reason| setting.refuse(place, reason))?;
        self.config.web = self.web.config();
        Ok(())
    }
}

/// One thing an operator can set.
struct Setting {
    key: Option<&'static str>,
    variable: &'static str,
    apply: fn(&mut Settings, &str) -> Result<(), Reason>,
}

impl Setting {
    fn refuse(&self, place: Place, reason: Reason) -> ConfigError {
        ConfigError::Invalid {
            place,
            setting: self.key.unwrap_or(self.variable),
            reason,
        }
    }
}

const VARIABLE_PREFIX: &str = "TRUESEAL_RELAY_";

/// Shorthand for a row of [`SETTINGS`].
const fn setting(
    key: &'static str,
    variable: &'static str,
    apply: fn(&mut Settings, &str) -> Result<(), Reason>,
) -> Setting {
    Setting {
        key: Some(key),
        variable,
        apply,
    }
}

const SETTINGS: &[Setting] = &[
    setting(
        "relay.keypair_path",
        "TRUESEAL_RELAY_KEYPAIR_PATH",
        |to, text| path(text).map(|path| to.key_path = Some(path)),
    ),
    setting(
        "relay.listen_receive",
        "TRUESEAL_RELAY_LISTEN_RECEIVE",
        |to, text| address(text).map(|address| to.config.listen_receive = address),
    ),
    setting(
        "relay.listen_push",
        "TRUESEAL_RELAY_LISTEN_PUSH",
        |to, text| address(text).map(|address| to.config.listen_push = address),
    ),
    setting(
        "relay.listen_health",
        "TRUESEAL_RELAY_LISTEN_HEALTH",
        |to, text| {
            if text == "off" {
                to.config.listen_health = None;
                return Ok(());
            }
            address(text).map(|address| to.config.listen_health = Some(address))
        },
    ),
    setting("relay.ttl", "TRUESEAL_RELAY_TTL", |to, text| {
        let life_ms = u64::try_from(duration(text)?.as_millis()).unwrap_or(u64::MAX);
        check_life(life_ms).map(|()| to.config.life_ms = life_ms)
    }),
    setting(
        "relay.reap_interval",
        "TRUESEAL_RELAY_REAP_INTERVAL",
        |to, text| deadline(text).map(|interval| to.config.reap_interval = interval),
    ),
    setting(
        "relay.max_body_bytes",
        "TRUESEAL_RELAY_MAX_BODY_BYTES",
        |to, text| {
            let bytes = number(text, 0, u64::MAX)?;
            check_body(bytes)?;
            size(bytes).map(|bytes| to.config.sessions.body_bytes_max = bytes)
        },
    ),
    setting(
        "relay.max_connections",
        "TRUESEAL_RELAY_MAX_CONNECTIONS",
        |to, text| {
            let connections = size(number_in(text, CONNECTIONS)?)?;
            to.config.sessions.connections_max = connections;
            Ok(())
        },
    ),
    setting(
        "relay.max_receive_sessions_per_key",
        "TRUESEAL_RELAY_MAX_RECEIVE_SESSIONS_PER_KEY",
        |to, text| {
            let sessions = size(number_in(text, SESSIONS_PER_KEY)?)?;
            to.config.sessions.receive_sessions_per_key_max = sessions;
            Ok(())
        },
    ),
    setting("relay.push_rate", "TRUESEAL_RELAY_PUSH_RATE", |to, text| {
        rate(text).map(|rate| to.config.sessions.push_rate.per_second = rate)
    }),
    setting(
        "relay.push_burst",
        "TRUESEAL_RELAY_PUSH_BURST",
        |to, text| rate(text).map(|burst| to.config.sessions.push_rate.burst = burst),
    ),
    setting(
        "relay.handshake_timeout",
        "TRUESEAL_RELAY_HANDSHAKE_TIMEOUT",
        |to, text| deadline(text).map(|limit| to.config.sessions.handshake = limit),
    ),
    setting(
        "relay.push_session_timeout",
        "TRUESEAL_RELAY_PUSH_SESSION_TIMEOUT",
        |to, text| deadline(text).map(|limit| to.config.sessions.push_session = limit),
    ),
    setting(
        "relay.receive_idle_timeout",
        "TRUESEAL_RELAY_RECEIVE_IDLE_TIMEOUT",
        |to, text| deadline(text).map(|limit| to.config.sessions.receive_idle = limit),
    ),
    setting(
        "relay.shutdown_drain",
        "TRUESEAL_RELAY_SHUTDOWN_DRAIN",
        |to, text| {
            let drain = duration(text)?;
            check_drain(drain).map(|()| to.config.shutdown_drain = drain)
        },
    ),
    setting(
        "relay.inbox_max_blobs",
        "TRUESEAL_RELAY_INBOX_MAX_BLOBS",
        |to, text| number(text, 1, COUNT_MAX).map(|blobs| to.config.store.inbox_blobs_max = blobs),
    ),
    setting(
        "relay.inbox_max_bytes",
        "TRUESEAL_RELAY_INBOX_MAX_BYTES",
        |to, text| {
            number(text, 65_536, BYTES_MAX).map(|bytes| to.config.store.inbox_bytes_max = bytes)
        },
    ),
    setting(
        "relay.max_inboxes",
        "TRUESEAL_RELAY_MAX_INBOXES",
        |to, text| number(text, 1, COUNT_MAX).map(|inboxes| to.config.store.inboxes_max = inboxes),
    ),
    setting("store.type", "TRUESEAL_RELAY_STORE_TYPE", |_, text| {
        if text == "sqlite" {
            Ok(())
        } else {
            Err(Reason::UnknownStore)
        }
    }),
    setting(
        "store.sqlite_path",
        "TRUESEAL_RELAY_STORE_SQLITE_PATH",
        |to, text| {
            to.config.store_path = path(text)?;
            to.store_path_is_set = true;
            Ok(())
        },
    ),
    setting(
        "store.max_bytes",
        "TRUESEAL_RELAY_STORE_MAX_BYTES",
        |to, text| {
            number(text, 65_536, BYTES_MAX).map(|bytes| to.config.store.total_bytes_max = bytes)
        },
    ),
    setting(
        "store.min_free_bytes",
        "TRUESEAL_RELAY_STORE_MIN_FREE_BYTES",
        |to, text| {
            number(text, 0, BYTES_MAX).map(|bytes| to.config.store.disk_free_bytes_min = bytes)
        },
    ),
    Setting {
        key: None,
        variable: "TRUESEAL_RELAY_DEV",
        apply: |to, text| switch(text).map(|on| to.config.dev_mode = on),
    },
    Setting {
        key: None,
        variable: "TRUESEAL_RELAY_RESET_STORE",
        apply: |to, text| switch(text).map(|on| to.config.reset_store = on),
    },
    Setting {
        key: None,
        variable: "TRUESEAL_RELAY_KEYPAIR_HEX",
        apply: |to, text| {
            let key = key_file::parse(text).ok_or(Reason::NotKey)?;
            to.supplied_key = Some(SuppliedKey(key));
            Ok(())
        },
    },
];

/// Every setting.
fn all() -> impl Iterator<Item = &'static Setting> {
    let doors = web::SETTINGS.iter().chain(wormhole::SETTINGS);
    SETTINGS.iter().chain(doors)
}

/// The key, where there is one, and the variable of every setting.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = (Option<&'static str>, &'static str)> {
    all().map(|setting| (setting.key, setting.variable))
}

const COUNT_MAX: u64 = 1_000_000_000;
const BYTES_MAX: u64 = 1 << 50;

fn number(text: &str, min: u64, max: u64) -> Result<u64, Reason> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Reason::NotNumber);
    }
    let value = text.parse().map_err(|_| Reason::OutOfRange { min, max })?;
    check_range(value, min, max).map(|()| value)
}

fn number_in(text: &str, range: RangeInclusive<u64>) -> Result<u64, Reason> {
    number(text, *range.start(), *range.end())
}

fn size(value: u64) -> Result<usize, Reason> {
    usize::try_from(value).map_err(|_| Reason::NotNumber)
}

fn rate(text: &str) -> Result<u32, Reason> {
    let value = number_in(text, PUSH_RATE)?;
    u32::try_from(value).map_err(|_| Reason::NotNumber)
}

fn duration(text: &str) -> Result<Duration, Reason> {
    parse_duration(text).map_err(Reason::NotDuration)
}

fn deadline(text: &str) -> Result<Duration, Reason> {
    let duration = duration(text)?;
    check_deadline(duration).map(|()| duration)
}

fn path(text: &str) -> Result<PathBuf, Reason> {
    if text.is_empty() {
        Err(Reason::EmptyPath)
    } else {
        Ok(PathBuf::from(text))
    }
}

fn address(text: &str) -> Result<SocketAddr, Reason> {
    if let Some(port) = text.strip_prefix(':') {
        let port = number(port, 0, u64::from(u16::MAX)).map_err(|_| Reason::NotAddress)?;
        return u16::try_from(port)
            .map(everywhere)
            .map_err(|_| Reason::NotAddress);
    }
    text.parse().map_err(|_| Reason::NotAddress)
}

fn switch(text: &str) -> Result<bool, Reason> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" | "" => Ok(false),
        _ => Err(Reason::NotSwitch),
    }
}

/// Variables that container schedulers add for a service called `trueseal-relay`.
fn is_service_link(name: &str) -> bool {
    let rest = name.strip_prefix(VARIABLE_PREFIX).unwrap_or_default();
    rest == "PORT"
        || rest.starts_with("PORT_")
        || rest == "SERVICE_HOST"
        || rest.starts_with("SERVICE_PORT")
}

fn scalar_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Boolean(value) => Some(value.to_string()),
        DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    }
}

fn unknown_key(text: &str, span: Range<usize>, key: String) -> ConfigError {
    ConfigError::UnknownKey {
        line: line_of(text, Some(span)),
        key,
    }
}

/// The line, from 1, in which a span of the file starts.
fn line_of(text: &str, span: Option<Range<usize>>) -> usize {
    let start = span.map_or(0, |span| span.start);
    let breaks = text
        .bytes()
        .take(start)
        .filter(|byte| *byte == b'\n')
        .count();
    breaks.saturating_add(1)
}

#[cfg(test)]
mod tests;
