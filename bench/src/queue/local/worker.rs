//! A process for what has no network: it reads loads from its input and answers with numbers.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use super::super::cell::{self, Cell, Spread};
use super::super::load::{Load, Pace};
use super::super::process::{Probe, Server, Start};
use super::store::Store;
use super::thread::{Log, OneByOne, Thread};

/// The first argument of a process that is a worker.
pub(in super::super) const WORKER: &str = "worker";

/// What a worker measures.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Kind {
    /// The bare log.
    Log,
    /// SQLite with a transaction per push.
    OneByOne,
    /// Our store.
    Store,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Log, Self::OneByOne, Self::Store];

    fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::OneByOne => "one-by-one",
            Self::Store => "store",
        }
    }
}

/// A worker that runs.
pub(in super::super) struct Worker {
    server: Server,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    pub(in super::super) fn start(start: &Start<'_>, kind: Kind) -> anyhow::Result<Self> {
        let folder = start.folder.join(start.name);
        std::fs::create_dir_all(&folder)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(WORKER).arg(kind.name()).arg(&folder);
        if start.is_traced {
            command.arg(start.folder.join(format!("{}.trace", start.name)));
        }
        let mut server = Server::start_with(&command, start, Stdio::piped(), Some(Stdio::piped()))?;
        let child = server.child();
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self {
            server,
            input,
            output,
        })
    }

    /// Has it run a load.
    pub(in super::super) fn measure(&mut self, load: Load, pace: Pace) -> anyhow::Result<Cell> {
        writeln!(
            self.input,
            "{} {} {} {} {}",
            load.bytes,
            load.in_flight,
            u8::from(load.is_online),
            pace.warm.as_micros(),
            pace.run.as_micros()
        )?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        if !self.server.is_running() {
            bail!("the worker has ended");
        }
        let numbers: Result<Vec<f64>, _> = answer.split_whitespace().map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[rate, a, b, c, d, e, f, cpu, syncs, resident]) => Ok(Cell {
                per_second: rate,
                confirm: spread(a, b, c),
                deliver: spread(d, e, f),
                cpu,
                syncs,
                resident_bytes: resident,
            }),
            _ => bail!("the worker says {answer}"),
        }
    }
}

fn spread(p50: f64, p99: f64, worst: f64) -> Spread {
    Spread { p50, p99, worst }
}

/// Is a worker until its input ends.
pub(in super::super) async fn work(
    mut arguments: impl Iterator<Item = String>,
) -> anyhow::Result<()> {
    let kind = arguments.next().context("no kind")?;
    let kind = Kind::ALL.into_iter().find(|one| one.name() == kind);
    let folder = PathBuf::from(arguments.next().context("no folder")?);
    let probe = Probe::own(arguments.next().map(PathBuf::from));
    let queue = Queue::open(kind.context("an unknown kind")?, &folder)?;
    let mut line = String::new();
    while std::io::stdin().lock().read_line(&mut line)? > 0 {
        let numbers: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
        let &[bytes, in_flight, is_online, warm, run] = numbers?.as_slice() else {
            bail!("not a load");
        };
        let load = Load {
            bytes: usize::try_from(bytes)?,
            in_flight: usize::try_from(in_flight)?,
            is_online: is_online == 1,
        };
        let pace = Pace {
            warm: Duration::from_micros(warm),
            run: Duration::from_micros(run),
        };
        let cell = match &queue {
            Queue::Thread(thread) => cell::measure(thread, load, pace, &probe).await?,
            Queue::Store(store) => cell::measure(store, load, pace, &probe).await?,
        };
        let (confirm, deliver) = (cell.confirm, cell.deliver);
        let mut out = std::io::stdout().lock();
        for number in [
            cell.per_second,
            confirm.p50,
            confirm.p99,
            confirm.worst,
            deliver.p50,
            deliver.p99,
            deliver.worst,
            cell.cpu,
            cell.syncs,
            cell.resident_bytes,
        ] {
            write!(out, "{number} ")?;
        }
        writeln!(out)?;
        out.flush()?;
        line.clear();
    }
    Ok(())
}

enum Queue {
    Thread(Thread),
    Store(Store),
}

impl Queue {
    fn open(kind: Kind, folder: &Path) -> anyhow::Result<Self> {
        Ok(match kind {
            Kind::Log => Self::Thread(Thread::start(Log::open(folder)?)),
            Kind::OneByOne => Self::Thread(Thread::start(OneByOne::open(folder)?)),
            Kind::Store => Self::Store(Store::open(folder)?),
        })
    }
}
