//! A configuration as the file that would set all of it.
//!
//! Owns: how each value is written. Never does: write a secret. What it writes, [`super::Settings`]
//! reads back to the same configuration.

use std::path::Path;
use std::time::Duration;

use super::{Config, Hosts, TlsFiles, WebConfig, WormholeConfig};

/// Every setting of the file and its value, as TOML.
pub fn effective_toml(config: &Config, key_path: &Path) -> String {
    let mut text = "[relay]\n".to_owned();
    for (name, value) in relay_values(config, key_path) {
        text.push_str(&format!("{name} = {value}\n"));
    }
    text.push_str("\n[web]\n");
    for (name, value) in web_values(config) {
        text.push_str(&format!("{name} = {value}\n"));
    }
    text.push_str("\n[wormhole]\n");
    for (name, value) in wormhole_values(config) {
        text.push_str(&format!("{name} = {value}\n"));
    }
    text.push_str("\n[store]\n");
    let (store, path) = (&config.store, text_of(&config.store_path.to_string_lossy()));
    for (name, value) in [
        ("type", text_of("sqlite")),
        ("sqlite_path", path),
        ("max_bytes", store.total_bytes_max.to_string()),
        ("min_free_bytes", store.disk_free_bytes_min.to_string()),
    ] {
        text.push_str(&format!("{name} = {value}\n"));
    }
    text
}

fn relay_values(config: &Config, key_path: &Path) -> Vec<(&'static str, String)> {
    let (sessions, store) = (&config.sessions, &config.store);
    let health = config.listen_health;
    let health = health.map_or_else(|| "off".to_owned(), |address| address.to_string());
    let listen_web = config.web.as_ref().map(|web| web.listen);
    let listen_web = listen_web.map_or_else(|| "off".to_owned(), |address| address.to_string());
    let life = Duration::from_millis(config.life_ms);
    vec![
        ("keypair_path", text_of(&key_path.to_string_lossy())),
        (
            "listen_receive",
            text_of(&config.listen_receive.to_string()),
        ),
        ("listen_push", text_of(&config.listen_push.to_string())),
        ("listen_health", text_of(&health)),
        ("listen_web", text_of(&listen_web)),
        ("ttl", duration(life)),
        ("reap_interval", duration(config.reap_interval)),
        ("shutdown_drain", duration(config.shutdown_drain)),
        ("max_body_bytes", sessions.body_bytes_max.to_string()),
        ("max_connections", sessions.connections_max.to_string()),
        (
            "max_receive_sessions_per_key",
            sessions.receive_sessions_per_key_max.to_string(),
        ),
        ("push_rate", sessions.push_rate.per_second.to_string()),
        ("push_burst", sessions.push_rate.burst.to_string()),
        ("handshake_timeout", duration(sessions.handshake)),
        ("push_session_timeout", duration(sessions.push_session)),
        ("receive_idle_timeout", duration(sessions.receive_idle)),
        ("inbox_max_blobs", store.inbox_blobs_max.to_string()),
        ("inbox_max_bytes", store.inbox_bytes_max.to_string()),
        ("max_inboxes", store.inboxes_max.to_string()),
    ]
}

/// Of a door that isn't opened, what it would be by default.
fn web_values(config: &Config) -> Vec<(&'static str, String)> {
    let closed = WebConfig::server(config.listen_push);
    let (web, mailboxes) = (config.web.as_ref().unwrap_or(&closed), &config.mailboxes);
    let limits = &web.limits;
    let hosts = match &web.hosts {
        Hosts::Any => "any".to_owned(),
        Hosts::Listed(names) | Hosts::Own { names } => names.join(", "),
    };
    let origins = match web.origins.as_slice() {
        [] => "none".to_owned(),
        origins => origins.join(", "),
    };
    let file = |file: fn(&TlsFiles) -> &Path| {
        let file = web.tls.as_ref().map(file).unwrap_or(Path::new(""));
        text_of(&file.to_string_lossy())
    };
    let page = match (web.page, web.tls.is_some()) {
        (page, is_tls) if page == is_tls => "tls",
        (true, _) => "on",
        (false, _) => "off",
    };
    vec![
        ("hosts", text_of(&hosts)),
        ("origins", text_of(&origins)),
        ("claims", text_of(web.claims.as_str())),
        ("tls_cert", file(|tls| &tls.cert)),
        ("tls_key", file(|tls| &tls.key)),
        ("page", text_of(page)),
        ("behind_proxy", web.behind_proxy.to_string()),
        ("max_mailboxes", mailboxes.mailboxes_max.to_string()),
        ("max_watches", mailboxes.watches_max.to_string()),
        ("max_connections", limits.connections_max.to_string()),
        (
            "max_connections_per_address",
            limits.connections_per_address_max.to_string(),
        ),
        ("request_rate", limits.request_rate.count.to_string()),
        ("request_burst", limits.request_rate.burst.to_string()),
        ("put_rate", limits.put_rate.count.to_string()),
        ("failure_rate", limits.failure_rate.count.to_string()),
        ("failure_pause", duration(limits.failure_pause)),
        ("creation_rate", limits.creation_rate.count.to_string()),
        ("header_timeout", duration(limits.header_read)),
        ("body_timeout", duration(limits.body_read)),
        ("idle_timeout", duration(limits.idle)),
    ]
}

/// Of a door that there isn't, what it would be by default.
fn wormhole_values(config: &Config) -> Vec<(&'static str, String)> {
    let set = config.web.as_ref().map(|web| &web.wormhole);
    let default = WormholeConfig::default();
    let wormhole = set.and_then(Option::as_ref).unwrap_or(&default);
    let (rules, welcome) = (&wormhole.rules, &wormhole.welcome);
    let words = |words: &Option<String>| text_of(words.as_deref().unwrap_or_default());
    let milliseconds = |ms| duration(Duration::from_millis(ms));
    let usage = rules.usage_blur_ms;
    vec![
        ("on", set.is_none_or(Option::is_some).to_string()),
        ("mailbox_life", milliseconds(rules.life_ms)),
        ("listing", wormhole.listing.to_string()),
        ("motd", words(&welcome.motd)),
        ("current_cli_version", words(&welcome.current_cli_version)),
        ("welcome_error", words(&welcome.error)),
        ("usage", usage.map_or_else(|| text_of("off"), milliseconds)),
        ("max_mailboxes", rules.limits.mailboxes_max.to_string()),
        ("max_messages", rules.limits.messages_max.to_string()),
        ("max_bytes", rules.limits.bytes_max.to_string()),
        ("max_frame_bytes", rules.limits.frame_bytes_max.to_string()),
    ]
}

fn text_of(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// In the largest unit that needs no fraction.
fn duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    let units = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
    ];
    let fits = |unit: &&(u128, &str)| nanoseconds > 0 && nanoseconds.is_multiple_of(unit.0);
    let (unit, name) = units.iter().find(fits).unwrap_or(&(1, "ns"));
    text_of(&format!("{}{name}", nanoseconds / unit))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::super::settings::names;
    use super::super::{Claims, Settings};
    use super::*;

    fn read(text: &str) -> Settings {
        let mut settings = Settings::default();
        settings.read_file(text).unwrap();
        settings
    }

    #[test]
    fn what_is_written_reads_back_and_names_every_key() {
        let config = Config {
            store_path: PathBuf::from("a \"quoted\" folder/inbox.db"),
            listen_health: None,
            reap_interval: Duration::from_millis(1_500),
            shutdown_drain: Duration::ZERO,
            web: Some(WebConfig {
                hosts: Hosts::Listed(vec!["a.example".into(), "[::1]:3".into()]),
                origins: vec!["https://b.example".into()],
                claims: Claims::Local,
                tls: Some(TlsFiles {
                    cert: "a \"quoted\" cert".into(),
                    key: "key".into(),
                }),
                behind_proxy: true,
                ..WebConfig::server("127.0.0.1:9".parse().unwrap())
            }),
            ..Config::default()
        };
        let text = effective_toml(&config, Path::new("key"));
        let settings = read(&text);
        assert_eq!(settings.config, config);
        assert_eq!(settings.key_path, Some(PathBuf::from("key")));
        for key in names().filter_map(|(key, _)| key) {
            let (_, name) = key.split_once('.').unwrap();
            assert!(text.contains(&format!("\n{name} = ")), "{key}");
        }
    }

    const EXAMPLE: &str = include_str!("../../../packaging/relay.toml");

    #[test]
    fn the_example_file_changes_nothing_but_its_paths() {
        let settings = read(EXAMPLE);
        assert_eq!(
            settings.key_path,
            Some("/var/lib/sealpost-relay/keypair.hex".into())
        );
        let expected = Config {
            store_path: "/var/lib/sealpost-relay/inbox.db".into(),
            ..Config::default()
        };
        assert_eq!(settings.config, expected);
    }

    #[test]
    fn the_examples_comments_are_the_defaults_and_name_every_key() {
        let shown = |line: &&str| {
            line.strip_prefix("# ")
                .is_some_and(|rest| rest.contains(" = "))
        };
        let lines: Vec<&str> = EXAMPLE.lines().collect();
        let all: Vec<&str> = lines
            .iter()
            .map(|line| {
                if shown(line) {
                    line.trim_start_matches("# ")
                } else {
                    line
                }
            })
            .collect();
        let text = all.join("\n");
        let settings = read(&text);
        let defaults = Config {
            store_path: settings.config.store_path.clone(),
            ..Config::default()
        };
        assert_eq!(settings.config, defaults);
        for key in names().filter_map(|(key, _)| key) {
            let (_, name) = key.split_once('.').unwrap();
            assert!(text.contains(&format!("\n{name} = ")), "{key}");
        }
    }

    /// The table of the operators' page: every key with its variable and its default.
    #[test]
    fn the_page_names_every_setting_and_its_default() {
        let page = include_str!("../../../docs/operating.md");
        let mut file = BTreeMap::new();
        for row in page
            .lines()
            .filter(|line| line.contains("| `TRUESEAL_RELAY_"))
        {
            let cells: Vec<&str> = row
                .split('|')
                .map(|cell| cell.trim().trim_matches('`'))
                .collect();
            let (section, name) = cells[1].split_once('.').unwrap();
            assert!(
                names().any(|names| names == (Some(cells[1]), cells[2])),
                "{row}"
            );
            if cells[3] != "in the data folder" {
                let line = format!("{name} = \"{}\"\n", cells[3]);
                file.entry(section).or_insert_with(Vec::new).push(line);
            }
        }
        let text: Vec<String> = file
            .iter()
            .map(|(section, lines)| format!("[{section}]\n{}", lines.concat()))
            .collect();
        assert_eq!(read(&text.concat()).config, Config::default());
        for (key, variable) in names() {
            assert!(page.contains(&format!("`{variable}`")), "{variable}");
            assert!(
                key.is_none_or(|key| page.contains(&format!("| `{key}` |"))),
                "{key:?}"
            );
        }
    }
}
