//! A running process that ends with the value that owns it.
//!
//! Each process leads a group of its own, and ending it ends the whole group: a web view's
//! helpers go with the window, and nothing is ever found by its name.
//!
//! Never does: touch a process that it didn't start.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How often a wait looks again.
const POLL: Duration = Duration::from_millis(5);

/// A process, and the group that it leads.
///
/// Dropping it kills the group and collects the process.
#[derive(Debug)]
pub struct OwnedProcess {
    name: String,
    child: Child,
    ended: Option<ExitStatus>,
}

impl OwnedProcess {
    /// Starts `command` at the head of a new process group.
    ///
    /// # Errors
    ///
    /// When the program can't be started.
    pub fn start(name: &str, command: &mut Command) -> anyhow::Result<Self> {
        let child = command
            .process_group(0)
            .spawn()
            .with_context(|| format!("{name} could not be started"))?;
        Ok(Self {
            name: name.to_owned(),
            child,
            ended: None,
        })
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether the process is still there.
    pub fn is_running(&mut self) -> bool {
        self.poll().is_none()
    }

    /// Asks the process to end (SIGTERM) and waits for it.
    ///
    /// # Errors
    ///
    /// When it is still running after `patience`.
    pub fn terminate(&mut self, patience: Duration) -> anyhow::Result<ExitStatus> {
        if self.poll().is_none() {
            // It may end between the look and the signal; waiting tells.
            let _ = kill_process(self.pid(), Signal::TERM);
        }
        self.wait(patience)
    }

    /// Waits for the process to end by itself.
    ///
    /// # Errors
    ///
    /// When it is still running after `patience`.
    pub fn wait(&mut self, patience: Duration) -> anyhow::Result<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.poll() {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                bail!("{} did not end within {patience:?}", self.name);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Kills the whole group with SIGKILL and collects the process.
    pub fn kill(&mut self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
        if self.ended.is_none() {
            self.ended = self.child.wait().ok();
        }
    }

    fn poll(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether a status says that the process was killed with SIGKILL.
#[must_use]
pub fn was_killed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::KILL.as_raw())
}

/// Whether any thread of the process still does something: a dead one that nobody collected
/// doesn't. Only when the last has ended are the files closed and the names on a bus free.
///
/// Asks for the state of the first thread and for their number in one read: a listing of the
/// threads leaves living ones out while others of the same process end.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    let stat = match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat,
        // Anything else, such as no free file, tells nothing of the process.
        Err(error) => {
            return !matches!(
                Errno::from_io_error(&error),
                Some(Errno::NOENT | Errno::SRCH)
            );
        }
    };
    // The name in brackets may hold anything: fields count from behind it (proc_pid_stat(5)).
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return false;
    };
    let mut fields = fields.split_whitespace();
    let has_ended = matches!(fields.next(), Some("Z" | "X") | None);
    let threads: u32 = fields.nth(16).and_then(|n| n.parse().ok()).unwrap_or(0);
    !has_ended || threads > 1
}

/// The first child of a process that runs a program.
#[must_use]
pub fn child_of(parent: u32, is_program: impl Fn(&Path) -> bool) -> Option<Pid> {
    std::fs::read_dir("/proc")
        .ok()?
        .flatten()
        .find_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in brackets may hold anything; the parent is the second field after it.
            let own_parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
            let runs = std::fs::read_link(entry.path().join("exe")).ok()?;
            let is_it = own_parent == parent.to_string() && is_program(&runs);
            is_it.then(|| Pid::from_raw(pid)).flatten()
        })
}

/// Waits until `probe` gives a value.
///
/// # Errors
///
/// When it gave none within `patience`; the error names `what` was waited for.
pub fn wait_until<T>(
    what: &str,
    patience: Duration,
    mut probe: impl FnMut() -> Option<T>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(value) = probe() {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            bail!("waited {patience:?} in vain for {what}");
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn dropping_ends_the_process_and_what_it_started() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 600 & echo $!; wait"])
            .stdout(Stdio::piped());
        let mut process = OwnedProcess::start("shell", &mut command).unwrap();
        let mut line = String::new();
        let pipe = process.child().stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(pipe), &mut line).unwrap();
        let grandchild: u32 = line.trim().parse().unwrap();
        assert!(is_alive(grandchild));
        drop(process);
        wait_until("the end of the grandchild", Duration::from_secs(5), || {
            (!is_alive(grandchild)).then_some(())
        })
        .unwrap();
    }

    #[test]
    fn a_process_that_ends_by_itself_keeps_its_status() {
        let mut process =
            OwnedProcess::start("shell", Command::new("sh").args(["-c", "exit 7"])).unwrap();
        assert_eq!(
            process.wait(Duration::from_secs(5)).unwrap().code(),
            Some(7)
        );
        process.kill();
        assert!(!process.is_running());
    }

    #[test]
    fn a_process_of_many_threads_that_ended_stays_ended() {
        let crowd = "import threading, time\n\
                     for _ in range(60): threading.Thread(target=time.sleep, args=(600,)).start()\n\
                     print(flush=True)";
        for _ in 0..5 {
            let mut command = Command::new("python3");
            command.args(["-c", crowd]).stdout(Stdio::piped());
            let mut process = OwnedProcess::start("crowd", &mut command).unwrap();
            let pipe = process.child().stdout.take().unwrap();
            std::io::BufRead::read_line(&mut std::io::BufReader::new(pipe), &mut String::new())
                .unwrap();
            assert!(is_alive(process.id()));
            // Not collected before the end: a dead process that nobody collected has ended.
            kill_process(process.pid(), Signal::KILL).unwrap();
            wait_until("the end of the crowd", Duration::from_secs(5), || {
                (!is_alive(process.id())).then_some(())
            })
            .unwrap();
            for _ in 0..100 {
                assert!(!is_alive(process.id()));
            }
        }
    }

    #[test]
    fn a_killed_process_says_so() {
        let mut process = OwnedProcess::start("sleep", Command::new("sleep").arg("600")).unwrap();
        process.kill();
        assert!(was_killed(process.wait(Duration::ZERO).unwrap()));
    }
}
