//! The stand-alone relay, in a folder of its own and on ports that stay the same.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

use crate::port::free_ports;
use crate::process::{OwnedProcess, wait_until};
use crate::program::Program;
use crate::stepped_clock;

/// How long the relay may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(20);

/// Settings for [`RelayProcess::start_with`] of a relay that takes whatever it is given, where
/// the limits would refuse the load that something is about.
pub const LIMITS_OFF: [(&str, &str); 5] = [
    ("TRUESEAL_RELAY_PUSH_RATE", "1000000000"),
    ("TRUESEAL_RELAY_PUSH_BURST", "1000000000"),
    ("TRUESEAL_RELAY_INBOX_MAX_BLOBS", "1000000000"),
    ("TRUESEAL_RELAY_INBOX_MAX_BYTES", "1000000000000"),
    ("TRUESEAL_RELAY_STORE_MIN_FREE_BYTES", "0"),
];

/// A relay, whether it runs at the moment or not.
#[derive(Debug)]
pub struct RelayProcess {
    program: PathBuf,
    folder: TempDir,
    ports: [u16; 3],
    environment: Vec<(String, String)>,
    process: Option<OwnedProcess>,
}

impl RelayProcess {
    /// Starts a relay with an empty store.
    ///
    /// # Errors
    ///
    /// When it can't be built or doesn't come up.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(&[])
    }

    /// Starts a relay with an empty store and further variables in its environment.
    ///
    /// # Errors
    ///
    /// When it can't be built or doesn't come up.
    pub fn start_with(settings: &[(&'static str, &'static str)]) -> anyhow::Result<Self> {
        let program = Program::Relay.built()?;
        let folder = tempfile::Builder::new()
            .prefix("sealpost-relay-")
            .tempdir()?;
        let mut relay = Self {
            program,
            folder,
            ports: free_ports()?,
            environment: settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            process: None,
        };
        relay.resume()?;
        Ok(relay)
    }

    /// Starts the relay again on its store and its ports, and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it doesn't come up.
    pub fn resume(&mut self) -> anyhow::Result<()> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log_path())?;
        let mut command = self.command(&["run", "--log", "trace"]);
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut process = OwnedProcess::start("sealpost-relay", &mut command)?;
        wait_until("the relay", PATIENCE, || {
            let answers = |port| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
            // A relay that ended will not answer; the log says why.
            let is_over = !process.is_running();
            (is_over || self.ports.iter().all(|port| answers(*port))).then_some(())
        })?;
        let log = self.log().unwrap_or_default();
        ensure!(process.is_running(), "the relay ended at once:\n{log}");
        self.process = Some(process);
        Ok(())
    }

    /// Lets the relay believe, from its next start on, that it is so many minutes later.
    ///
    /// # Errors
    ///
    /// When the library for that is missing.
    pub fn step_clock(&mut self, minutes: i32) -> anyhow::Result<()> {
        self.environment
            .extend(stepped_clock::environment(minutes)?);
        Ok(())
    }

    /// Kills the relay with SIGKILL.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Asks the relay to stop and waits for it.
    ///
    /// # Errors
    ///
    /// When it doesn't stop in time, or not well.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        let mut process = self.process.take().context("the relay doesn't run")?;
        let status = process.terminate(PATIENCE)?;
        ensure!(status.success(), "the relay stopped badly: {status}");
        Ok(())
    }

    /// The relay's address, as its own program prints it.
    ///
    /// # Errors
    ///
    /// When the program fails.
    pub fn address(&self) -> anyhow::Result<String> {
        let [receive, push, _] = self.ports.map(|port| port.to_string());
        let arguments = [
            "address",
            "--host",
            "127.0.0.1",
            "--receive-port",
            &receive,
            "--push-port",
            &push,
        ];
        let output = self.command(&arguments).output()?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// The ports for receiving, for pushing and for health checks.
    #[must_use]
    pub const fn ports(&self) -> [u16; 3] {
        self.ports
    }

    /// The process id of the running relay.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(OwnedProcess::id)
    }

    /// The folder with the relay's key and store.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Everything that the relay has logged so far.
    ///
    /// # Errors
    ///
    /// When the log can't be read.
    pub fn log(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.log_path())?)
    }

    /// A command of the relay's program, set up for this relay by its environment alone.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let [receive, push, health] = self.ports.map(|port| format!("127.0.0.1:{port}"));
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .env(
                "TRUESEAL_RELAY_KEYPAIR_PATH",
                self.folder.path().join("keypair.hex"),
            )
            .env(
                "TRUESEAL_RELAY_STORE_SQLITE_PATH",
                self.folder.path().join("inbox.db"),
            )
            .env("TRUESEAL_RELAY_LISTEN_RECEIVE", receive)
            .env("TRUESEAL_RELAY_LISTEN_PUSH", push)
            .env("TRUESEAL_RELAY_LISTEN_HEALTH", health);
        command
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}
