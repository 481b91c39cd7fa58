//! Processes that are measured: started, watched in `/proc`, stopped.
//!
//! CPU time and memory are those of a process and all its descendants, because PostgreSQL
//! serves each connection with a process of its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A tick of the times in `/proc/PID/stat`, which Linux fixes at a hundredth of a second.
const TICK: Duration = Duration::from_millis(10);
/// The system calls that make data durable; one line of the trace is one of them.
const SYNC_CALLS: &str =
    "trace=fsync,fdatasync,msync,sync_file_range,syncfs,sync,openat,io_uring_setup";
/// Nothing takes this long to start unless it is broken.
const PATIENCE: Duration = Duration::from_secs(60);
/// After this a server that was asked to end is made to.
const GRACE: Duration = Duration::from_secs(5);

/// A server that this process has started. Dropped, it ends with all its children.
pub(crate) struct Server {
    child: Child,
    pub(crate) probe: Probe,
}

/// Where to look for what a process uses.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) pid: u32,
    /// The trace of its synchronous calls, in the runs that count them.
    pub(crate) trace: Option<PathBuf>,
}

/// What a process tree has used so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    pub(crate) resident_bytes: u64,
    pub(crate) syncs: u64,
}

/// How a server is to be started.
pub(crate) struct Start<'a> {
    /// Its name, for its log.
    pub(crate) name: &'a str,
    /// Where its log and its trace go.
    pub(crate) folder: &'a Path,
    /// Whether its synchronous calls are counted, which slows it down.
    pub(crate) is_traced: bool,
}

impl Server {
    /// Starts `command`, which ends with this process whatever happens to it.
    pub(crate) fn start(command: &Command, start: &Start<'_>) -> anyhow::Result<Self> {
        Self::start_with(command, start, Stdio::null(), None)
    }

    /// Starts `command` with its own input, and output if it is given.
    pub(crate) fn start_with(
        command: &Command,
        start: &Start<'_>,
        input: Stdio,
        output: Option<Stdio>,
    ) -> anyhow::Result<Self> {
        let trace = start
            .is_traced
            .then(|| start.folder.join(format!("{}.trace", start.name)));
        let log = File::create(start.folder.join(format!("{}.log", start.name)))?;
        let mut whole = Command::new("setpriv");
        whole.args(["--pdeathsig", "KILL", "--"]);
        if let Some(trace) = &trace {
            whole.args(["strace", "-f", "--seccomp-bpf", "-qq", "-e", "signal=none"]);
            whole.args(["-e", SYNC_CALLS, "-o"]).arg(trace);
        }
        whole.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                whole.env(name, value);
            }
        }
        let child = whole
            .stdin(input)
            .stdout(output.map_or_else(|| log.try_clone().map(Stdio::from), Ok)?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} can't be started", start.name))?;
        let pid = child.id();
        Ok(Self {
            child,
            probe: Probe { pid, trace },
        })
    }

    /// The child's ends of its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether it still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until something accepts connections on `port`.
    pub(crate) fn wait_for(&mut self, port: u16) -> anyhow::Result<()> {
        let end = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if !self.is_running() {
                bail!("ended at once");
            }
            if Instant::now() > end {
                bail!("didn't open its port");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let tree = tree(self.probe.pid);
        signal(&tree, Signal::TERM);
        let end = Instant::now() + GRACE;
        while Instant::now() < end && tree.iter().any(|pid| is_alive(*pid)) {
            // Also takes the end of the child away, which would else count as alive.
            let _ = self.child.try_wait();
            std::thread::sleep(Duration::from_millis(20));
        }
        signal(&tree, Signal::KILL);
        let _ = self.child.wait();
    }
}

fn signal(processes: &[u32], signal: Signal) {
    for pid in processes.iter().filter(|pid| is_alive(**pid)) {
        if let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

impl Probe {
    /// What this very process uses.
    pub(crate) fn own(trace: Option<PathBuf>) -> Self {
        Self {
            pid: std::process::id(),
            trace,
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        let tree = tree(self.pid);
        // In this order, since the later ones take longer to tell.
        Usage {
            cpu: tree.iter().copied().map(cpu).sum(),
            syncs: self.trace.as_deref().map_or(0, count_syncs),
            resident_bytes: tree.iter().copied().filter_map(resident).sum(),
        }
    }
}

/// What a line of `/proc/PID/stat` says that is of use here.
struct Stat {
    parent: u32,
    threads: u64,
    /// Its own user and system time.
    own: u64,
    /// The same of children that have ended.
    ended: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may hold anything; fields are counted behind it.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            parent: u32::try_from(number(1)?).ok()?,
            threads: number(17)?,
            own: number(11)? + number(12)?,
            ended: number(13)? + number(14)?,
        })
    }
}

/// The CPU time of one process and of its children that have ended.
fn cpu(pid: u32) -> Duration {
    let Some(stat) = Stat::read(pid) else {
        return Duration::ZERO;
    };
    let of_ticks = |ticks: u64| TICK * u32::try_from(ticks).unwrap_or(u32::MAX);
    // Whole ticks would make nothing of dozens of processes that each do a little. The
    // scheduler's own account is exact, but leaves out threads that have ended.
    let exact = (stat.threads == 1).then(|| run_time(pid)).flatten();
    of_ticks(stat.ended) + exact.unwrap_or_else(|| of_ticks(stat.own))
}

/// How long the first thread of a process has run.
fn run_time(pid: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// A process and its descendants, the root first.
fn tree(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if let Some(stat) = Stat::read(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.get(pid).into_iter().flatten());
        next += 1;
    }
    found
}

/// Memory that is resident and not a mapping of a file or shared with other processes'
/// counts: PostgreSQL's buffers would otherwise count once per process.
fn resident(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1_024)
}

/// Counts the calls that made data durable: syncs, and files opened so that each write is one.
fn count_syncs(trace: &Path) -> u64 {
    let text = fs::read(trace).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let count = text
        .lines()
        .filter(|line| is_sync(line) && !line.contains("<... "))
        .count();
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn is_sync(line: &str) -> bool {
    if line.contains("openat(") {
        return line.contains("O_SYNC") || line.contains("O_DSYNC");
    }
    [
        "sync(",
        "datasync(",
        "msync(",
        "sync_file_range(",
        "syncfs(",
    ]
    .iter()
    .any(|call| line.contains(call))
}

/// A port of loopback that nobody listens on at this moment.
pub(crate) fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_make_data_durable_count() {
        assert!(is_sync("812 fdatasync(7) = 0"));
        assert!(is_sync("812 fsync(7 <unfinished ...>"));
        assert!(is_sync("812 openat(AT_FDCWD, \"a\", O_WRONLY|O_SYNC) = 7"));
        assert!(!is_sync("812 openat(AT_FDCWD, \"a.sync\", O_RDONLY) = 7"));
    }

    #[test]
    fn a_child_belongs_to_the_tree() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        assert!(tree(std::process::id()).contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
