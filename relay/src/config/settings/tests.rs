//! Settings of every source, their order and their faults.

use super::*;
use crate::config::WormholeConfig;
use crate::config::{Claims, Hosts, TlsFiles, WebConfig};
use crate::limits::WormholeLimits;
use crate::limits::{Rate, WebLimits};
use crate::wormhole::{Rules, Welcome};

fn from_file(text: &str) -> Result<Settings, ConfigError> {
    let mut settings = Settings::default();
    settings.read_file(text).map(|()| settings)
}

fn from_environment(variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let mut settings = Settings::default();
    let variables = variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    settings.read_environment(variables).map(|()| settings)
}

#[test]
fn an_empty_file_sets_nothing() {
    assert_eq!(from_file("").unwrap().config, Config::default());
}

#[test]
fn every_key_of_the_file_is_read() {
    let settings = from_file(FULL_FILE).unwrap();
    let config = settings.config;
    assert_eq!(settings.key_path, Some(PathBuf::from("/data/keypair.hex")));
    assert!(settings.store_path_is_set);
    assert_eq!(config.store_path, PathBuf::from("/data/inbox.db"));
    assert_eq!(config.listen_receive, everywhere(1));
    assert_eq!(config.listen_push, "127.0.0.1:2".parse().unwrap());
    assert_eq!(config.listen_health, None);
    assert_eq!(config.life_ms, 168 * 3_600_000);
    assert_eq!(config.reap_interval, Duration::from_secs(60));
    assert_eq!(config.shutdown_drain, Duration::from_secs(3));
    assert_eq!(config.sessions.body_bytes_max, 10_000);
    assert_eq!(config.sessions.connections_max, 11);
    assert_eq!(config.sessions.receive_sessions_per_key_max, 12);
    assert_eq!(config.sessions.push_rate.per_second, 13);
    assert_eq!(config.sessions.push_rate.burst, 14);
    assert_eq!(config.sessions.handshake, Duration::from_secs(1));
    assert_eq!(config.sessions.push_session, Duration::from_secs(2));
    assert_eq!(config.sessions.receive_idle, Duration::from_millis(1_500));
    assert_eq!(config.store.inbox_blobs_max, 15);
    assert_eq!(config.store.inbox_bytes_max, 70_000);
    assert_eq!(config.store.inboxes_max, 16);
    assert_eq!(config.store.total_bytes_max, 80_000);
    assert_eq!(config.store.disk_free_bytes_min, 17);
}

#[test]
fn every_key_of_the_web_door_is_read() {
    let config = from_file(FULL_FILE).unwrap().config;
    let rate = |count, seconds, burst| Rate {
        count,
        period: Duration::from_secs(seconds),
        burst,
    };
    let expected = WebConfig {
        listen: everywhere(3),
        claims: Claims::Local,
        hosts: Hosts::Listed(vec!["relay.example".into(), "192.0.2.1:8080".into()]),
        origins: vec!["https://example.org".into()],
        tls: Some(TlsFiles {
            cert: "/data/cert.pem".into(),
            key: "/data/key.pem".into(),
        }),
        page: false,
        behind_proxy: true,
        limits: WebLimits {
            connections_max: 20,
            connections_per_address_max: 21,
            request_rate: rate(22, 1, 23),
            put_rate: rate(24, 60, 24),
            failure_rate: rate(25, 60, 25),
            failure_pause: Duration::from_secs(26),
            creation_rate: rate(27, 3_600, 27),
            header_read: Duration::from_secs(28),
            body_read: Duration::from_secs(29),
            idle: Duration::from_secs(30),
            ..WebLimits::default()
        },
        wormhole: Some(expected_wormhole()),
    };
    assert_eq!(config.web, Some(expected));
    let mailboxes = config.mailboxes;
    assert_eq!((mailboxes.mailboxes_max, mailboxes.watches_max), (18, 19));
}

fn expected_wormhole() -> WormholeConfig {
    WormholeConfig {
        rules: Rules {
            life_ms: 31 * 60_000,
            usage_blur_ms: Some(3_600_000),
            limits: WormholeLimits {
                mailboxes_max: 32,
                messages_max: 33,
                bytes_max: 340_000,
                frame_bytes_max: 35_000,
            },
        },
        listing: false,
        welcome: Welcome {
            motd: Some("hello".into()),
            current_cli_version: Some("1.2.3".into()),
            error: Some("closed".into()),
        },
        any_origin: true,
    }
}

#[test]
fn a_relay_can_be_without_a_wormhole_door() {
    let text = "[wormhole]\non = false\nmotd = \"x\"\n[relay]\nlisten_web = \":1\"\n";
    let web = from_file(text).unwrap().config.web.unwrap();
    assert_eq!(web.wormhole, None);
    for short in ["59s", "1h1ns1"] {
        let text = format!("[wormhole]\nmailbox_life = \"{short}\"\n");
        assert!(from_file(&text).is_err(), "{short}");
    }
}

/// A relay that the internet reaches serves the page only with a certificate
/// (amendment 21).
#[test]
fn the_page_needs_a_certificate_unless_somebody_says_otherwise() {
    let page = |rest: &str| {
        let text = format!("[web]\n{rest}[relay]\nlisten_web = \":1\"\n");
        from_file(&text).unwrap().config.web.unwrap().page
    };
    let tls = "tls_cert = \"a\"\ntls_key = \"b\"\n";
    assert!(!page(""));
    assert!(page(tls));
    assert!(page("page = \"on\"\n"));
    assert!(!page(&format!("{tls}page = \"off\"\n")));
    assert_eq!(
        from_file(&format!("[web]\n{tls}")).unwrap().config.web,
        None
    );
}

const FULL_FILE: &str = r#"
[relay]
keypair_path = "/data/keypair.hex"
listen_receive = ":1"
listen_push = "127.0.0.1:2"
listen_health = "off"
listen_web = ":3"
ttl = "168h"
reap_interval = "1m"
max_body_bytes = 10_000
max_connections = 11
max_receive_sessions_per_key = 12
push_rate = 13
push_burst = 14
handshake_timeout = "1s"
push_session_timeout = "2s"
receive_idle_timeout = "1.5s"
shutdown_drain = "3s"
inbox_max_blobs = 15
inbox_max_bytes = 70000
max_inboxes = 16

[wormhole]
on = true
mailbox_life = "31m"
listing = false
motd = "hello"
current_cli_version = "1.2.3"
welcome_error = "closed"
usage = "1h"
max_mailboxes = 32
max_messages = 33
max_bytes = 340000
max_frame_bytes = 35000

[store]
type = "sqlite"
sqlite_path = "/data/inbox.db"
max_bytes = 80000
min_free_bytes = 17

[web]
hosts = "relay.example, 192.0.2.1:8080"
origins = "https://example.org"
claims = "local"
tls_cert = "/data/cert.pem"
tls_key = "/data/key.pem"
page = "off"
behind_proxy = true
max_mailboxes = 18
max_watches = 19
max_connections = 20
max_connections_per_address = 21
request_rate = 22
request_burst = 23
put_rate = 24
failure_rate = 25
failure_pause = "26s"
creation_rate = 27
header_timeout = "28s"
body_timeout = "29s"
idle_timeout = "30s"
"#;

#[test]
fn the_full_file_has_every_setting() {
    for key in all().filter_map(|setting| setting.key) {
        let (_, name) = key.split_once('.').unwrap();
        assert!(FULL_FILE.contains(&format!("\n{name} = ")), "{key}");
    }
}

#[test]
fn names_stand_once() {
    let all: Vec<_> = all().collect();
    for (index, setting) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            assert_ne!(setting.variable, other.variable);
            assert!(setting.key.is_none() || setting.key != other.key);
        }
    }
}

#[test]
fn the_environment_wins_over_the_file() {
    let mut settings = from_file("[relay]\nttl = \"1h\"\n").unwrap();
    let variable = ("TRUESEAL_RELAY_TTL".into(), "2h".into());
    settings.read_environment([variable].into_iter()).unwrap();
    assert_eq!(settings.config.life_ms, 2 * 3_600_000);
    settings.read_option("--ttl", "relay.ttl", "3h").unwrap();
    assert_eq!(settings.config.life_ms, 3 * 3_600_000);
}

#[test]
fn unknown_keys_are_named_with_their_line() {
    let cases = [
        ("[relay]\nttl = \"1h\"\ntlt = \"1h\"\n", 3, "relay.tlt"),
        ("\n\n[rely]\nttl = \"1h\"\n", 4, "rely.ttl"),
        ("ttl = \"1h\"\n", 1, "ttl"),
    ];
    for (text, line, key) in cases {
        let expected = ConfigError::UnknownKey {
            line,
            key: key.into(),
        };
        assert_eq!(from_file(text).unwrap_err(), expected);
    }
}

#[test]
fn a_key_of_earlier_releases_says_what_replaced_it() {
    let error = from_file("[relay]\nmax_envelope_bytes = 1\n").unwrap_err();
    assert!(error.to_string().contains("relay.max_body_bytes"));
    for (variable, replaced) in [
        (
            "TRUESEAL_RELAY_MAX_ENVELOPE_BYTES",
            "TRUESEAL_RELAY_MAX_BODY_BYTES",
        ),
        ("TRUESEAL_RELAY_STORE_POSTGRES_DSN", "SQLite"),
    ] {
        let text = from_environment(&[(variable, "1")])
            .unwrap_err()
            .to_string();
        assert!(text.contains(replaced), "{text}");
    }
}

#[test]
fn invalid_values_are_named_with_line_and_reason() {
    let cases = [
        ("[relay]\nttl = \"721h\"", Reason::LifeAboveCeiling),
        ("[relay]\nttl = \"720h0m1s\"", Reason::LifeAboveCeiling),
        (
            "[relay]\nmax_body_bytes = 61441",
            Reason::BodyAboveCeiling { max: 61_440 },
        ),
        (
            "[relay]\nmax_body_bytes = 8191",
            Reason::OutOfRange {
                min: 8_192,
                max: 61_440,
            },
        ),
        ("[relay]\nmax_connections = -1", Reason::NotNumber),
        ("[relay]\nmax_connections = 0x10", Reason::NotScalar),
        ("[relay]\nmax_connections = [1]", Reason::NotScalar),
        ("[relay]\nlisten_push = \"localhost:1\"", Reason::NotAddress),
        ("[relay]\nlisten_push = \":70000\"", Reason::NotAddress),
        ("[relay]\nhandshake_timeout = \"0s\"", Reason::NotDeadline),
        (
            "[relay]\nshutdown_drain = \"11s\"",
            Reason::DrainTooLong { seconds_max: 10 },
        ),
        ("[relay]\nkeypair_path = \"\"", Reason::EmptyPath),
        ("[store]\ntype = \"postgres\"", Reason::UnknownStore),
        ("[web]\nclaims = \"all\"", Reason::NotClaims),
        ("[web]\nhosts = \"http://relay\"", Reason::NotHosts),
        ("[web]\norigins = \"relay.example\"", Reason::NotOrigins),
        ("[web]\npage = \"yes\"", Reason::NotPage),
    ];
    for (text, expected) in cases {
        match from_file(text) {
            Err(ConfigError::Invalid { place, reason, .. }) => {
                assert_eq!((place, reason), (Place::Line(2), expected), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_file_that_is_not_toml_names_its_line() {
    let error = from_file("[relay]\nttl = \n").unwrap_err();
    assert!(
        matches!(error, ConfigError::Syntax { line: 2, .. }),
        "{error}"
    );
}

#[test]
fn unknown_variables_are_refused_but_not_those_of_schedulers() {
    let error = from_environment(&[("TRUESEAL_RELAY_TLT", "1h")]).unwrap_err();
    assert_eq!(
        error,
        ConfigError::UnknownVariable {
            name: "TRUESEAL_RELAY_TLT".into()
        }
    );
    let links = [
        ("TRUESEAL_RELAY_SERVICE_HOST", "10.0.0.1"),
        ("TRUESEAL_RELAY_SERVICE_PORT_PUSH", "7701"),
        ("TRUESEAL_RELAY_PORT", "tcp://10.0.0.1:7700"),
        ("TRUESEAL_RELAY_PORT_7700_TCP", "tcp://10.0.0.1:7700"),
        ("HOME", "/root"),
    ];
    assert_eq!(from_environment(&links).unwrap().config, Config::default());
}

#[cfg(unix)]
#[test]
fn values_that_are_no_text_are_refused_and_those_of_others_are_not_looked_at() {
    use std::os::unix::ffi::OsStringExt;
    let broken = || OsString::from_vec(vec![b'1', 0xff]);
    let read =
        |name: OsString| Settings::default().read_environment([(name, broken())].into_iter());
    for setting in all() {
        let error = read(setting.variable.into()).unwrap_err();
        assert_eq!(
            error,
            setting.refuse(Place::Variable(setting.variable), Reason::NotText)
        );
    }
    assert_eq!(read("HOME".into()), Ok(()));
    let mut name = b"TRUESEAL_RELAY_".to_vec();
    name.push(0xff);
    let error = read(OsString::from_vec(name)).unwrap_err();
    assert!(matches!(error, ConfigError::UnknownVariable { .. }));
}

#[test]
fn an_option_without_a_setting_is_called_an_option() {
    let error = Settings::default().read_option("--tlt", "relay.tlt", "1h");
    let text = error.unwrap_err().to_string();
    assert!(text.contains("the option --tlt"), "{text}");
}

#[test]
fn values_are_never_repeated() {
    let secret = "zz11223344556677";
    let error = from_environment(&[("TRUESEAL_RELAY_KEYPAIR_HEX", secret)]).unwrap_err();
    assert!(!error.to_string().contains(secret));
    assert!(!format!("{error:?}").contains(secret));
}
