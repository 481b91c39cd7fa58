//! One relay as a process, and what the kernel says of it.
//!
//! Owns: starting it, stopping it, and ending it when the measurement ends early.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use sealpost_protocol::address::RelayAddress;
use tempfile::TempDir;

use super::PATIENCE;

/// A folder for the relays of one part, gone when the part is over.
pub(super) struct Place {
    program: PathBuf,
    folder: TempDir,
}

impl Place {
    /// An empty folder on the disk of `folder`.
    pub(super) fn new(program: &Path, folder: &Path) -> Result<Self> {
        Ok(Self {
            program: program.to_owned(),
            folder: TempDir::new_in(folder)?,
        })
    }

    /// Starts a relay on what lies in the folder. Its bounds are far above what one
    /// measurement needs: who asks for much here is always the same.
    pub(super) fn start(&self) -> Result<RelayProcess> {
        let began = Instant::now();
        let child = Command::new(&self.program)
            .args(["run", "--no-config", "--log", "warn", "--data-dir"])
            .arg(self.folder.path())
            .args(["--listen-receive", "127.0.0.1:0"])
            .args(["--listen-push", "127.0.0.1:0", "--listen-health", "off"])
            .env("TRUESEAL_RELAY_MAX_CONNECTIONS", "20000")
            .env("TRUESEAL_RELAY_PUSH_RATE", "1000000")
            .env("TRUESEAL_RELAY_PUSH_BURST", "1000000")
            .env("TRUESEAL_RELAY_PUSH_SESSION_TIMEOUT", "1h")
            .env("TRUESEAL_RELAY_RECEIVE_IDLE_TIMEOUT", "1h")
            .env("TRUESEAL_RELAY_INBOX_MAX_BLOBS", "1000000")
            .env("TRUESEAL_RELAY_INBOX_MAX_BYTES", "100000000000")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the relay can't be started")?;
        let mut process = RelayProcess {
            child,
            began,
            address: None,
            database: None,
        };
        process.read_start()?;
        Ok(process)
    }
}

/// A running relay. Dropping it kills it.
pub(super) struct RelayProcess {
    child: Child,
    began: Instant,
    address: Option<RelayAddress>,
    database: Option<PathBuf>,
}

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// What is its own, in memory.
    pub(super) private: u64,
    /// All that is in memory, shared or not.
    pub(super) resident: u64,
}

/// A file and its log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Files {
    pub(super) database: u64,
    pub(super) log: u64,
}

impl RelayProcess {
    /// Reads the lines that a relay prints when it has started.
    fn read_start(&mut self) -> Result<()> {
        let out = self
            .child
            .stdout
            .take()
            .context("the output was asked for")?;
        let mut lines = BufReader::new(out).lines();
        while self.address.is_none() {
            let line = lines.next().context("the relay has ended")??;
            let line = line.trim();
            if let Some(path) = line.strip_prefix("Data:") {
                self.database = Some(PathBuf::from(path.trim()));
            }
            if let Some(address) = line.strip_prefix("Address:") {
                let address = address.trim().replace("@HOST:", "@127.0.0.1:");
                self.address = Some(RelayAddress::parse(&address)?);
            }
        }
        // What it still prints has to go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(())
    }

    pub(super) fn address(&self) -> Result<&RelayAddress> {
        self.address.as_ref().context("a relay names its address")
    }

    /// Since it was started.
    pub(super) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn memory(&self) -> Result<Memory> {
        let path = format!("/proc/{}/smaps_rollup", self.child.id());
        let text = std::fs::read_to_string(path).context("the kernel doesn't tell memory")?;
        let sum = |names: &[&str]| {
            let values = text.lines().filter_map(|line| {
                let (name, value) = line.split_once(':')?;
                let kib: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
                names.contains(&name).then_some(kib.saturating_mul(1_024))
            });
            values.sum()
        };
        Ok(Memory {
            private: sum(&["Private_Clean", "Private_Dirty"]),
            resident: sum(&["Rss"]),
        })
    }

    /// Processor time so far, in clock ticks of the kernel.
    pub(super) fn ticks(&self) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may hold spaces; user and system time are fields 14 and 15.
        let (_, rest) = text.rsplit_once(')').context("a line of another form")?;
        let times = rest.split_whitespace().skip(11).take(2);
        Ok(times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
    }

    pub(super) fn files(&self) -> Result<Files> {
        let database = self.database.as_ref().context("a relay names its file")?;
        let mut log = database.clone().into_os_string();
        log.push("-wal");
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
        Ok(Files {
            database: length(database),
            log: length(Path::new(&log)),
        })
    }

    /// Stops it in order, as a service manager would.
    pub(super) fn stop(mut self) -> Result<()> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM)?;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the relay ended with {status}");
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("the relay doesn't stop")
    }
}

impl Drop for RelayProcess {
    fn drop(&mut self) {
        // Of no effect on one that has been stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
