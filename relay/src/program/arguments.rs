//! The options of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Stores messages for devices that are apart, without being able to read them.
#[derive(Debug, Parser)]
#[command(name = "sealpost-relay", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the relay until it is stopped with Ctrl+C or SIGTERM
    Run(RunOptions),
    /// Print the relay's public key
    Pubkey(Place),
    /// Print the address that devices need, for a host name or IP address of this machine
    Address(AddressOptions),
    /// Check the configuration without starting anything, and print what it comes to
    CheckConfig(Place),
    /// Ask a running relay on this machine whether it is well
    Health(Place),
    /// Copy the waiting messages to a new file, while the relay runs or not
    Backup(BackupOptions),
}

/// Where configuration, key and data are.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Place {
    /// Configuration file [default: relay.toml in this folder, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Read no configuration file, only the environment
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
    /// Folder for the key and the data, where the configuration doesn't name both files
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Where devices connect to receive, as ADDRESS:PORT or :PORT [default: :7700]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_receive: Option<String>,
    /// Where devices connect to send [default: :7701]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_push: Option<String>,
    /// Where /healthz answers, or "off" [default: :7702]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_health: Option<String>,
    /// Where phones and browsers connect, or "off" [default: off]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_web: Option<String>,
    /// Report development mode on the health endpoint and log decisions
    #[arg(long)]
    pub(crate) dev: bool,
    /// Drop all inboxes of a store that is too old for this release; otherwise no effect
    #[arg(long)]
    pub(crate) reset_store: bool,
    /// How much is logged: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<tracing::level_filters::LevelFilter>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct AddressOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// The name or IP address under which devices reach this machine
    #[arg(long, value_name = "HOST")]
    pub(crate) host: String,
    /// The receive port as devices see it [default: the configured one]
    #[arg(long, value_name = "PORT")]
    pub(crate) receive_port: Option<u16>,
    /// The push port as devices see it [default: the configured one]
    #[arg(long, value_name = "PORT")]
    pub(crate) push_port: Option<u16>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct BackupOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Where the copy goes; the file must not exist yet
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_options_are_consistent() {
        Arguments::command().debug_assert();
    }
}
