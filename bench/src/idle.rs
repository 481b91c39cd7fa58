//! `bench-idle`: what the relay costs while nothing happens, and what is left after much has.
//!
//! Owns: the order of the parts and what they share. Each part starts a relay of its own, the
//! program that a user would run, on an empty folder on this disk, and measures it from
//! outside: memory and processor time as the kernel counts them, files as they lie there.
//!
//! The devices run in this process, on the same cores.

mod devices;
mod files;
mod process;
mod sessions;
mod table;
mod waiting;

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::table::Table;

/// Devices that are connected at the same time.
const DEVICES: usize = 10_000;

/// Open files beside the connections: the database, the log, the standard streams.
const OTHER_FILES: u64 = 200;

/// The longest wait for anything that should take seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// Measures everything and prints the table.
///
/// # Errors
///
/// Tells what couldn't be measured; a goal that is missed is no error.
pub fn run() -> Result<()> {
    raise_file_limit()?;
    let program = std::env::current_exe()?;
    let folder = program.parent().context("a program lies in a folder")?;
    let relay = folder.join("sealpost-relay");
    ensure!(
        relay.exists(),
        "{} is missing; `make bench-idle` builds it",
        relay.display()
    );
    let runtime = tokio::runtime::Runtime::new()?;
    let table = runtime.block_on(measure(&relay, folder))?;
    runtime.shutdown_background();
    table.print(&mut io::stdout().lock())?;
    Ok(())
}

async fn measure(relay: &Path, folder: &Path) -> Result<Table> {
    let mut table = Table::default();
    sessions::measure_idle(relay, folder, &mut table).await?;
    sessions::measure_storm(relay, folder, &mut table).await?;
    files::measure(relay, folder, &mut table).await?;
    waiting::measure(relay, folder, &mut table).await?;
    Ok(table)
}

/// One line about what is being done, beside the table.
fn tell(text: &str) -> Result<()> {
    Ok(writeln!(io::stderr().lock(), "bench-idle: {text}")?)
}

/// Both this process and the relay need a file for each connection; the relay inherits the
/// limit and raises its own.
fn raise_file_limit() -> Result<()> {
    let needed = DEVICES as u64 + OTHER_FILES;
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Some(maximum) = maximum.filter(|maximum| *maximum < needed) {
        bail!(
            "this user may open {maximum} files and {DEVICES} connections need {needed}: raise \
             the hard limit (`ulimit -Hn`, or nofile in /etc/security/limits.conf)"
        );
    }
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).context("the limit of open files can't be raised")
}
