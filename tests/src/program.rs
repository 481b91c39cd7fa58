//! The built programs of the workspace.
//!
//! Builds what is asked for with the same cargo, profile and target folder that built the
//! caller. Where `SEALPOST_PROGRAMS_BUILT` is set, as in `make test`, everything has been
//! built with the whole workspace's feature set, and a second set would cost minutes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

use anyhow::{Context as _, bail, ensure};

/// Says that the programs are built already.
const BUILT_VARIABLE: &str = "SEALPOST_PROGRAMS_BUILT";

/// The programs that tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The desktop app.
    App,
    /// The command-line client.
    Client,
    /// The stand-alone relay.
    Relay,
}

impl Program {
    /// The file name of the program.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::App => "sealpost-app",
            Self::Client => "sealpost",
            Self::Relay => "sealpost-relay",
        }
    }

    /// Builds the program where needed and returns its path.
    ///
    /// # Errors
    ///
    /// When the build fails.
    pub fn built(self) -> anyhow::Result<PathBuf> {
        match self {
            _ if std::env::var_os(BUILT_VARIABLE).is_some() => {}
            Self::App => build_app()?,
            Self::Client | Self::Relay => build_headless()?,
        }
        let path = target_folder()?.join(self.file_name());
        ensure!(
            path.is_file(),
            "the build left no program called {}",
            self.file_name()
        );
        Ok(path)
    }
}

/// The top folder of the workspace.
#[must_use]
pub fn workspace_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or_else(|| Path::new("."))
}

/// The folder of the running program's own build, `target/debug` in most cases.
///
/// # Errors
///
/// When the caller doesn't run from a target folder.
pub fn target_folder() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own
        .ancestors()
        .skip(1)
        .find(|folder| !folder.ends_with("deps"))
        .context("the test program has no target folder")?;
    Ok(folder.to_owned())
}

/// Builds the relay and the command-line client, once per process.
fn build_headless() -> anyhow::Result<()> {
    static OUTCOME: OnceLock<Result<(), String>> = OnceLock::new();
    let outcome = OUTCOME.get_or_init(|| {
        cargo_build(&[
            "-p",
            "sealpost-cli",
            "-p",
            "sealpost-relay",
            "-p",
            "sealpost-tests",
        ])
        .map_err(|error| format!("{error:#}"))
    });
    outcome.clone().map_err(anyhow::Error::msg)
}

/// Builds the interface and then the app that embeds it, once per process.
fn build_app() -> anyhow::Result<()> {
    static OUTCOME: OnceLock<Result<(), String>> = OnceLock::new();
    let outcome = OUTCOME.get_or_init(|| {
        build_interface()
            .and_then(|()| cargo_build(&["-p", "sealpost", "--bin", "sealpost-app"]))
            .map_err(|error| format!("{error:#}"))
    });
    outcome.clone().map_err(anyhow::Error::msg)
}

/// Runs `npm run build` when the built interface is missing or older than its sources.
fn build_interface() -> anyhow::Result<()> {
    let top = workspace_folder();
    let built = modified(&top.join("ui/dist/index.html"));
    let newest = ["ui", "locales", "package.json", "vite.config.ts"]
        .iter()
        .filter_map(|part| newest_source(&top.join(part)))
        .max();
    if built.is_some() && built >= newest {
        return Ok(());
    }
    if !top.join("node_modules").is_dir() {
        npm(&["ci"])?;
    }
    npm(&["run", "build"])
}

fn npm(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("npm");
    let status = command
        .args(arguments)
        .current_dir(workspace_folder())
        .status();
    let status = status.context("npm could not be started")?;
    ensure!(status.success(), "npm {} failed", arguments.join(" "));
    Ok(())
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata()
        .and_then(|metadata| metadata.modified())
        .ok()
}

/// The newest change below `path`, built files and packages left out.
fn newest_source(path: &Path) -> Option<SystemTime> {
    let own = modified(path);
    let Ok(entries) = std::fs::read_dir(path) else {
        return own;
    };
    // A folder's own time changes when a build writes into it, so only files count.
    entries
        .flatten()
        .filter(|entry| entry.file_name() != "dist" && entry.file_name() != "node_modules")
        .filter_map(|entry| newest_source(&entry.path()))
        .max()
}

fn cargo_build(arguments: &[&str]) -> anyhow::Result<()> {
    let folder = target_folder()?;
    let profile = folder
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("debug");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .arg("build")
        .arg("--quiet")
        .args(arguments)
        .current_dir(workspace_folder());
    if profile != "debug" {
        command.args(["--profile", profile]);
    }
    if let Some(target) = folder.parent() {
        command.arg("--target-dir").arg(target);
    }
    // What cargo set for the test itself must not reach the build, or it starts anew.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    let status = command.status().context("cargo could not be started")?;
    if !status.success() {
        bail!("cargo build {} failed", arguments.join(" "));
    }
    Ok(())
}
