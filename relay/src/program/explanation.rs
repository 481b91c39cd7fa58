//! Errors for people: what happened, why, and what to do.

use std::fmt;
use std::io;
use std::path::Path;

use sealpost_protocol::address::AddressError;
use sealpost_relay::key_file::KeyFileError;
use sealpost_relay::{CertificateError, ConfigError, Port, StartError, StoreOpenError};

/// The three parts. Unlike the library's errors it may name files.
#[derive(Debug)]
pub(crate) struct Explanation {
    what: String,
    why: String,
    advice: String,
}

impl Explanation {
    pub(crate) fn new(
        what: impl Into<String>,
        why: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            why: why.into(),
            advice: advice.into(),
        }
    }

    pub(crate) fn output(error: &io::Error) -> Self {
        Self::new(
            "The result could not be printed.",
            format!("standard output can't be written ({}).", error.kind()),
            "check where the output of this program goes.",
        )
    }

    pub(crate) fn runtime(error: &io::Error) -> Self {
        Self::new(
            "The relay did not start.",
            format!(
                "the system gives it no threads or signals ({}).",
                error.kind()
            ),
            "close other programs or raise the limits of this user, and start it again.",
        )
    }

    pub(crate) fn no_health_port() -> Self {
        Self::new(
            "The relay can't be asked how it is.",
            "its configuration has no fixed health port.",
            "set relay.listen_health, such as 127.0.0.1:7702.",
        )
    }

    pub(crate) fn no_health_answer(error: &io::Error) -> Self {
        Self::new(
            "The relay does not say how it is.",
            format!("the health port gives no answer ({}).", error.kind()),
            "check that the relay runs, and with the configuration that this command reads.",
        )
    }

    pub(crate) fn unwell() -> Self {
        Self::new(
            "The relay is running and can't serve.",
            "its store can't be read or written.",
            "look at its log, and at the free space and the rights of its data folder.",
        )
    }

    pub(crate) fn no_data_folder() -> Self {
        Self::new(
            "The relay does not know where to keep its key and its data.",
            "this user has no home folder.",
            "name a folder with --data-dir FOLDER.",
        )
    }

    pub(crate) fn data_folder_is_of_no_use() -> Self {
        Self::new(
            "The folder of --data-dir is not used, so nothing was done.",
            "the configuration names the key file and the store already.",
            "leave --data-dir out, or change relay.keypair_path and store.sqlite_path in the \
             configuration file or their variables in the environment.",
        )
    }

    pub(crate) fn ended() -> Self {
        Self::new(
            "The relay has stopped.",
            "its store has ended by itself and takes no more pushes.",
            "start it again: what was acknowledged is kept. Its log may say more; report what it \
             says.",
        )
    }

    pub(crate) fn config_file(path: &Path, error: &io::Error) -> Self {
        Self::new(
            format!(
                "The configuration file {} could not be read.",
                path.display()
            ),
            format!("{}.", error.kind()),
            "check the path given with --config, or leave it out to use the defaults.",
        )
    }

    pub(crate) fn config(error: &ConfigError) -> Self {
        let advice = match error {
            ConfigError::Syntax { .. } => "correct the line; texts need quotes in TOML.",
            ConfigError::UnknownKey { .. }
            | ConfigError::UnknownVariable { .. }
            | ConfigError::UnknownOption { .. } => "correct its name or remove it.",
            ConfigError::Invalid { .. } => "correct the value or remove it to use the default.",
        };
        Self::new(
            "The configuration is not used.",
            format!("{error}."),
            advice,
        )
    }

    pub(crate) fn key_file(path: &Path, error: KeyFileError) -> Self {
        let what = format!("The relay's key file {} could not be used.", path.display());
        let advice = match error {
            KeyFileError::Missing => "start the relay once, or check the path.",
            KeyFileError::Damaged => {
                "put the file back from your backup. If there is none, move it away and a new \
                 key is made; every device then needs the new address."
            }
            KeyFileError::Different => {
                "remove TRUESEAL_RELAY_KEYPAIR_HEX to use the file, or move the file away to \
                 use the variable."
            }
            KeyFileError::Read(_) | KeyFileError::Write(_) => {
                "give this user the right to read and write it, or name another folder with \
                 --data-dir."
            }
        };
        Self::new(what, format!("{error}."), advice)
    }

    pub(crate) fn certificate(error: CertificateError) -> Self {
        Self::new(
            "The certificate of the web port is not used.",
            format!("{error}."),
            "check web.tls_cert and web.tls_key: both are files in PEM, the chain with the \
             relay's own certificate first, and this user may read them.",
        )
    }

    pub(crate) fn address(error: AddressError) -> Self {
        Self::new(
            "There is no such relay address.",
            format!("{error}."),
            "give --host a name or an IP address without scheme, path and port.",
        )
    }

    pub(crate) fn start(store_path: &Path, error: &StartError) -> Self {
        let what = "The relay did not start.";
        match error {
            StartError::Config(error) => Self::config(error),
            StartError::PortInUse { port, .. } => {
                let option = option_of(*port);
                let advice = format!(
                    "stop the other program (perhaps another relay), or choose another port \
                     with {option} :PORT."
                );
                Self::new(what, format!("{error}."), advice)
            }
            StartError::PortForbidden { port, .. } => {
                let option = option_of(*port);
                Self::new(
                    what,
                    format!("{error}."),
                    format!("choose one above 1023 with {option} :PORT."),
                )
            }
            StartError::AddressUnavailable { port } | StartError::Listen { port, .. } => {
                let option = option_of(*port);
                let advice = format!("listen on every address with {option} :PORT.");
                Self::new(what, format!("{error}."), advice)
            }
            StartError::Certificate(error) => Self::certificate(*error),
            StartError::WebOpen => Self::new(
                what,
                format!("{error}."),
                "start it again; if it stays, report it.",
            ),
            StartError::Store(error) => Self::store(store_path, *error),
        }
    }

    fn store(path: &Path, error: StoreOpenError) -> Self {
        let what = format!(
            "The relay did not start; its data in {} is unchanged.",
            path.display()
        );
        let advice = match error {
            StoreOpenError::NotWritable(_) => {
                "give this user the right to write there, free some space, or name another \
                 folder with --data-dir."
            }
            StoreOpenError::InUse => {
                "stop the other relay, or name another folder with --data-dir."
            }
            StoreOpenError::Newer { .. } => "start a release at least as new as the last one.",
            StoreOpenError::Outdated { .. } => {
                "start once with --reset-store. That drops every message that still waits, and \
                 keeps the key."
            }
            StoreOpenError::Foreign => "name another folder with --data-dir.",
            StoreOpenError::Damaged => {
                "put the file back from a backup, or move it away and start with an empty store; \
                 messages that waited in it are then lost."
            }
            StoreOpenError::Panicked => "start it again; if it stays, report it.",
            StoreOpenError::Thread(_) | StoreOpenError::Database(_) => {
                "start it again; if it stays, move the file away and report the code."
            }
        };
        Self::new(what, format!("{error}."), advice)
    }
}

fn option_of(port: Port) -> &'static str {
    match port {
        Port::Receive => "--listen-receive",
        Port::Push => "--listen-push",
        Port::Health => "--listen-health",
        Port::Web => "--listen-web",
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.what)?;
        writeln!(formatter, "  Why: {}", self.why)?;
        write!(formatter, "  What to do: {}", self.advice)
    }
}
