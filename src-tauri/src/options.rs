//! The command line of the app.
//!
//! Owns the flags and their defaults. It opens nothing.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Parser, ValueEnum};
use sealpost_protocol::limit;
use tracing::Level;

/// The name of the app's folder, the same as `identifier` in tauri.conf.json.
pub const IDENTIFIER: &str = "app.sealpost.desktop";

/// The product's name, which is the same in all languages.
pub const PRODUCT_NAME: &str = "Sealpost";

/// The profile that is opened when none is named.
pub const DEFAULT_PROFILE: &str = "default";

/// Private messages between a person's own devices and small groups.
#[derive(Clone, Parser)]
#[command(name = "sealpost-app", version = VERSIONS.as_str(), about, disable_help_subcommand = true)]
pub struct Options {
    /// Opens another profile; each has its own device, groups and relay
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PROFILE)]
    pub profile: String,

    /// Keeps the profiles in this folder
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// Starts in the tray, without showing the window
    #[arg(long)]
    pub hidden: bool,

    /// What invitations name as this computer; the relay then listens at that address only
    /// if it is an address of this computer itself, such as 127.0.0.1
    #[arg(long, value_name = "HOST", env = "SEALPOST_RELAY_HOST")]
    pub relay_host: Option<String>,

    /// An invitation: opens the form that joins a group with it
    #[arg(value_name = "INVITATION")]
    pub invitation: Option<String>,

    /// How much is written to the error output; never anything that identifies somebody
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Warn)]
    pub log_level: LogLevel,
}

impl Options {
    /// The folder of the profiles; nothing when the system names no home.
    pub fn data_dir(&self) -> Option<PathBuf> {
        self.data_dir.clone().or_else(|| {
            let directories = directories::BaseDirs::new()?;
            // On Windows this is the folder that doesn't roam: a database must not.
            Some(directories.data_local_dir().join(IDENTIFIER))
        })
    }
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Faults of the program and losses of data.
    Error,
    /// What is unusual but works.
    Warn,
    /// Start, stop and recovery.
    Info,
    /// Decisions.
    Debug,
    /// Every frame.
    Trace,
}

impl LogLevel {
    /// The level as the tracing library has it; nothing for `off`.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::Error => Some(Level::ERROR),
            Self::Warn => Some(Level::WARN),
            Self::Info => Some(Level::INFO),
            Self::Debug => Some(Level::DEBUG),
            Self::Trace => Some(Level::TRACE),
        }
    }
}

/// What `--version` says.
static VERSIONS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} (Transport {}, End-to-End {})",
        env!("CARGO_PKG_VERSION"),
        limit::TRANSPORT_VERSION,
        limit::END_TO_END_VERSION,
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_like_the_app() {
        let conf: serde_json::Value =
            serde_json::from_str(include_str!("../../tauri.conf.json")).expect("it is JSON");
        assert_eq!(conf["identifier"], IDENTIFIER);
    }

    #[test]
    fn the_packages_register_the_scheme_of_invitations() {
        let conf: serde_json::Value =
            serde_json::from_str(include_str!("../../tauri.conf.json")).expect("it is JSON");
        // The bundler reads it; the desktop then starts the app with the link as argument.
        let schemes = &conf["plugins"]["deep-link"]["desktop"]["schemes"];
        assert_eq!(*schemes, serde_json::json!(["trueseal"]));
        let options = Options::parse_from(["sealpost-app", "trueseal://x#y"]);
        assert_eq!(options.invitation.as_deref(), Some("trueseal://x#y"));
        assert!(Options::try_parse_from(["sealpost-app", "trueseal:a", "trueseal:b"]).is_err());
    }

    #[test]
    fn nothing_is_loaded_from_anywhere_but_the_app_itself() {
        let conf: serde_json::Value =
            serde_json::from_str(include_str!("../../tauri.conf.json")).expect("it is JSON");
        let security = &conf["app"]["security"];
        let policy = security["csp"].as_object().expect("a policy by directive");
        assert_eq!(policy["default-src"], "'none'");
        for (directive, sources) in policy {
            for source in sources.as_str().expect("sources").split(' ') {
                let known = ["'none'", "'self'", "data:", "ipc:", "http://ipc.localhost"];
                assert!(known.contains(&source), "{directive} {source}");
            }
        }
        assert_eq!(policy["script-src"], "'self'");
        assert_eq!(conf["app"]["withGlobalTauri"], false);
        assert_eq!(security["capabilities"], serde_json::json!(["main-window"]));
    }

    #[test]
    fn flags_are_read() {
        let options = Options::parse_from([
            "sealpost-app",
            "--profile",
            "work",
            "--data-dir",
            "/somewhere",
            "--hidden",
            "--relay-host",
            "127.0.0.1",
            "--log-level",
            "trace",
        ]);
        assert_eq!(options.profile, "work");
        assert_eq!(options.data_dir(), Some(PathBuf::from("/somewhere")));
        assert!(options.hidden);
        assert_eq!(options.relay_host.as_deref(), Some("127.0.0.1"));
        assert_eq!(options.log_level.level(), Some(Level::TRACE));
    }
}
