//! A device: one profile of the command-line client, in a folder of its own.
//!
//! The program is run with `--json` and the most verbose log. What it says on its output is
//! read as whole lines only: a line that was cut by a kill was never said.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::desktop::Desktop;
use crate::process::OwnedProcess;
use crate::program::Program;
use crate::stepped_clock;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folder of the data: of any script, with blanks, and long.
const DATA: &str = "\u{c6c5}\u{b514} äöü \u{7a7a} x, as long as names of people and of folders can \
    become when somebody puts a whole sentence there and then goes on to another one";

/// A device, whether a program runs for it or not.
#[derive(Debug)]
pub struct Device {
    program: PathBuf,
    folder: TempDir,
    profile: String,
    environment: Vec<(String, String)>,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// The objects on its output.
    pub said: Vec<Value>,
    /// The error object on its error output, if there was one.
    pub error: Option<Value>,
}

impl Device {
    /// A device with nothing in its folder yet.
    ///
    /// # Errors
    ///
    /// When the client can't be built or there is no temporary folder.
    pub fn bare(profile: &str) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("sealpost-device-")
            .tempdir()?;
        let program = Program::Client.built()?;
        Ok(Self {
            program,
            folder,
            profile: profile.to_owned(),
            environment: Vec::new(),
        })
    }

    /// A device called `name`, with its keys in a file.
    ///
    /// # Errors
    ///
    /// When it can't be made.
    pub fn new(profile: &str, name: &str) -> anyhow::Result<Self> {
        let device = Self::bare(profile)?;
        device.run_well(&["init", "--name", name, "--key-store", "file"])?;
        Ok(device)
    }

    /// A device called `name`, with its keys in a file behind a passphrase.
    ///
    /// # Errors
    ///
    /// When it can't be made.
    pub fn with_passphrase(profile: &str, name: &str, passphrase: &str) -> anyhow::Result<Self> {
        let mut device = Self::bare(profile)?;
        device.environment = vec![("SEALPOST_PASSPHRASE".to_owned(), passphrase.to_owned())];
        device.run_well(&["init", "--name", name, "--key-store", "passphrase"])?;
        Ok(device)
    }

    /// A device called `name` on a desktop, with its keys wherever the client puts them there.
    ///
    /// # Errors
    ///
    /// When it can't be made.
    pub fn on_desktop(desktop: &Desktop, profile: &str, name: &str) -> anyhow::Result<Self> {
        let mut device = Self::bare(profile)?;
        device.join_desktop(desktop);
        device.run_well(&["init", "--name", name])?;
        Ok(device)
    }

    /// Runs the device's programs on a desktop.
    pub fn join_desktop(&mut self, desktop: &Desktop) {
        let environment = desktop.environment();
        self.environment = environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
    }

    /// Takes the device off its desktop: no keychain can be reached from now on.
    pub fn leave_desktop(&mut self) {
        self.environment.clear();
    }

    /// Lets the device's next programs believe that it is so many minutes later.
    ///
    /// # Errors
    ///
    /// When the library for that is missing.
    pub fn step_clock(&mut self, minutes: i32) -> anyhow::Result<()> {
        self.environment
            .extend(stepped_clock::environment(minutes)?);
        Ok(())
    }

    /// The folder that holds the device's data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder that the programs are told to keep their data in.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join(DATA)
    }

    /// Everything that the device's programs have logged so far.
    ///
    /// # Errors
    ///
    /// When the log can't be read.
    pub fn log(&self) -> anyhow::Result<String> {
        let bytes = std::fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8(bytes).context("the log is no text")
    }

    /// A command of this device, ready to be changed and run.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--data-dir")
            .arg(self.data())
            .args(["--profile", &self.profile, "--json", "--log-level", "trace"])
            .args(arguments)
            .env_remove("SEALPOST_PASSPHRASE")
            .env_remove("SEALPOST_LOG")
            // The desktop of whoever runs the tests is none of their business.
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    ///
    /// When it can't be run, doesn't end in time, or says something that is no JSON.
    pub fn run(&self, arguments: &[&str]) -> anyhow::Result<Outcome> {
        let mut running = self.start(arguments)?;
        running.end_input();
        let status = running.process.wait(PATIENCE)?;
        let mut said = Vec::new();
        while let Some(object) = running.next(PATIENCE)? {
            said.push(object);
        }
        let error = running.error()?;
        Ok(Outcome {
            status,
            said,
            error,
        })
    }

    /// Runs a command that must succeed, and returns what it said.
    ///
    /// # Errors
    ///
    /// When it fails; the error holds what the program gave as its reason.
    pub fn run_well(&self, arguments: &[&str]) -> anyhow::Result<Vec<Value>> {
        let outcome = self.run(arguments)?;
        let verb = arguments.first().copied().unwrap_or_default();
        ensure!(
            outcome.status.success(),
            "`sealpost {verb}` failed: {}",
            outcome.error.unwrap_or_default()
        );
        Ok(outcome.said)
    }

    /// Starts a command that goes on.
    ///
    /// # Errors
    ///
    /// When it can't be started.
    pub fn start(&self, arguments: &[&str]) -> anyhow::Result<RunningCommand> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped());
        // Each run gets a file of its own, so that its error can be told from earlier ones.
        let error_path = self.folder.path().join(format!("errors-{}", unique()));
        let log = File::create(&error_path)?;
        command.stderr(log);
        let verb = arguments.first().copied().unwrap_or_default();
        let mut process = OwnedProcess::start(&format!("sealpost {verb}"), &mut command)?;
        let input = process.child().stdin.take();
        let output = process
            .child()
            .stdout
            .take()
            .context("the command has no output")?;
        let (sender, said) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output
                .read_until(b'\n', &mut line)
                .is_ok_and(|count| count > 0)
            {
                if line.last() != Some(&b'\n') || sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        Ok(RunningCommand {
            process,
            input,
            said,
            error_path,
            log_path: self.log_path(),
        })
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

/// A command that runs. Dropping it kills it.
#[derive(Debug)]
pub struct RunningCommand {
    process: OwnedProcess,
    input: Option<ChildStdin>,
    said: Receiver<Vec<u8>>,
    error_path: PathBuf,
    log_path: PathBuf,
}

impl RunningCommand {
    /// The next object that the command says; nothing when it has ended.
    ///
    /// # Errors
    ///
    /// When nothing was said in time, or no JSON.
    pub fn next(&mut self, patience: Duration) -> anyhow::Result<Option<Value>> {
        match self.said.recv_timeout(patience) {
            Ok(line) => serde_json::from_slice(&line)
                .map(Some)
                .with_context(|| format!("this is no JSON: {}", String::from_utf8_lossy(&line))),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => bail!("nothing was said for {patience:?}"),
        }
    }

    /// An object that was said already, without waiting.
    ///
    /// # Errors
    ///
    /// When it is no JSON.
    pub fn next_now(&mut self) -> anyhow::Result<Option<Value>> {
        match self.said.try_recv() {
            Ok(line) => Ok(Some(serde_json::from_slice(&line)?)),
            Err(_) => Ok(None),
        }
    }

    /// Waits for an object of the given type and passes the others by.
    ///
    /// # Errors
    ///
    /// When the command ends or takes too long without it.
    pub fn wait_for(&mut self, wanted: &str) -> anyhow::Result<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self
                .next(left)
                .with_context(|| format!("waiting for {wanted}"))?
            {
                Some(object) if object["type"] == wanted => return Ok(object),
                Some(_) => {}
                None => {
                    let error = self.error()?.unwrap_or_default();
                    bail!("the command ended before it said {wanted}: {error}");
                }
            }
        }
    }

    /// Types a line.
    ///
    /// # Errors
    ///
    /// When the command no longer reads.
    pub fn type_line(&mut self, line: &str) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the input has ended")?;
        writeln!(input, "{line}")?;
        Ok(input.flush()?)
    }

    /// Ends the input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Kills the command with SIGKILL. What it had said can still be read.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Asks the command to end and waits for it.
    ///
    /// # Errors
    ///
    /// When it doesn't end in time.
    pub fn terminate(&mut self) -> anyhow::Result<ExitStatus> {
        self.process.terminate(PATIENCE)
    }

    /// Waits for the command to end by itself.
    ///
    /// # Errors
    ///
    /// When it doesn't end in time.
    pub fn wait(&mut self) -> anyhow::Result<ExitStatus> {
        self.process.wait(PATIENCE)
    }

    /// What the command has logged so far.
    ///
    /// # Errors
    ///
    /// When its error output can't be read.
    pub fn logged(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(&self.error_path)?)
    }

    /// The error object that the command wrote, if it wrote one.
    ///
    /// # Errors
    ///
    /// When the error output can't be read.
    pub fn error(&self) -> anyhow::Result<Option<Value>> {
        Ok(self
            .logged()?
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|object| object["type"] == "error"))
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.process.kill();
        // The device's log is what all its programs logged.
        let logged = std::fs::read(&self.error_path).unwrap_or_default();
        let file = File::options()
            .create(true)
            .append(true)
            .open(&self.log_path);
        let _ = file.and_then(|mut file| file.write_all(&logged));
        let _ = std::fs::remove_file(&self.error_path);
    }
}

/// A number that no other call of this process gets.
fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Makes a group called `name` of two devices on a relay: the first invites, the second joins.
///
/// Returns the invitation, which a canary test needs.
///
/// # Errors
///
/// When any step fails, or the two sides show different words.
pub fn pair(host: &Device, guest: &Device, name: &str, relay: &str) -> anyhow::Result<String> {
    host.run_well(&["group", "new", name, "--relay", relay])?;
    let mut inviting = host.start(&["pair"])?;
    let invitation = inviting.wait_for("invitation")?;
    let link = invitation["link"]
        .as_str()
        .context("the invitation has no link")?
        .to_owned();
    let mut joining = guest.start(&["join", &link])?;
    joining.wait_for("question")?;
    joining.type_line("yes")?;
    let words = joining.wait_for("words")?;
    let request = inviting.wait_for("join_request")?;
    ensure!(
        request["words"] == words["words"],
        "the two sides show different words"
    );
    inviting.wait_for("question")?;
    inviting.type_line("yes")?;
    joining.type_line("same")?;
    inviting.wait_for("accepted")?;
    joining.wait_for("joined")?;
    ensure!(
        inviting.wait()?.success() && joining.wait()?.success(),
        "pairing failed at its end"
    );
    Ok(link)
}
