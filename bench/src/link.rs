//! The relay's mailboxes for phones, beside etcd, in one run.
//!
//! Owns: the load that both get and the table that comes out. Never does: touch a service of the
//! system; both servers are children of this process, with their data on the disk that is
//! measured.
//!
//! Why etcd: it answers a put over HTTP only once it is on the disk, shares one sync among the
//! puts that wait, tells who watches a key, and gives the value when it is asked for: the same
//! work, by a server that much depends on. ntfy, which people would name first, isn't packaged
//! for the systems that this runs on, and keeps its messages in memory or writes them without
//! waiting for the disk.
//!
//! How the comparison is kept fair:
//! - one connection per put in flight, each with a mailbox (a prefix of keys) of its own;
//! - what was put is pruned after every [`PRUNE_EVERY`] puts, in the time that is measured;
//! - both take turns within each round, and what is told are medians of the rounds.

mod etcd;
mod http;
mod relay;
mod watching;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rand_core::{OsRng, RngCore as _};
use tokio::task::JoinSet;

use self::etcd::Etcd;
use self::relay::Relay;
use crate::queue::process::Start;

/// Payloads of 300 B and 60 KiB, as the envelopes that carry them: padded to 256, and 50 more.
const SIZES: [(&str, usize); 2] = [("300 B", 562), ("60 KiB", 61_746)];

/// Puts at the same time.
const DEPTHS: [usize; 3] = [1, 16, 64];

/// Half of what a direction holds.
const PRUNE_EVERY: u64 = 32;

/// One connection that puts into a mailbox of its own.
trait Writer: Send + Sized + 'static {
    /// Stores a body under the next number; it is durable when this returns.
    fn put(&mut self, number: u64, body: &[u8]) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Deletes everything up to a number.
    fn prune(&mut self, through: u64) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// A server that is measured.
trait Target {
    /// Its name in the table.
    const NAME: &'static str;
    type Writer: Writer;

    /// A writer whose mailbox nobody used before.
    fn writer(&self) -> impl Future<Output = anyhow::Result<Self::Writer>>;

    /// The times from the begin of a put until whoever watches has fetched it.
    fn watched(
        &self,
        body: &[u8],
        times: usize,
    ) -> impl Future<Output = anyhow::Result<Vec<Duration>>>;
}

/// The knobs of a run.
struct Options {
    rounds: usize,
    seconds: Duration,
    folder: PathBuf,
}

impl Options {
    /// Reads `ROUNDS`, `SECONDS_EACH` and `BENCH_FOLDER`.
    fn read() -> anyhow::Result<Self> {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let seconds: f64 = text("SECONDS_EACH").map_or(Ok(3.0), |text| text.parse())?;
        Ok(Self {
            rounds: text("ROUNDS").map_or(Ok(3), |text| text.parse())?,
            seconds: Duration::try_from_secs_f64(seconds).context("SECONDS_EACH")?,
            folder: PathBuf::from(text("BENCH_FOLDER").unwrap_or("target".to_owned())),
        })
    }
}

/// What one server did under one load in one round.
struct Cell {
    per_second: f64,
    p50: f64,
    p99: f64,
}

/// Measures both servers and prints the table.
///
/// # Errors
///
/// Tells what keeps it from measuring.
pub fn run() -> anyhow::Result<()> {
    let options = Options::read()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(compare(&options))
}

async fn compare(options: &Options) -> anyhow::Result<()> {
    std::fs::create_dir_all(&options.folder)?;
    let folder = tempfile::Builder::new()
        .prefix("bench-link-")
        .tempdir_in(options.folder.canonicalize()?)?;
    let start = |name| Start {
        name,
        folder: folder.path(),
        is_traced: false,
    };
    let (_relay_server, relay) = Relay::start(&start("relay"))?;
    let (_etcd_server, etcd) = Etcd::start(&start("etcd"))?;
    say(&format!(
        "{:<24} {:<36} {:<36} {}",
        "put, durable before told",
        Relay::NAME,
        Etcd::NAME,
        "ratio of puts"
    ))?;
    for (size, bytes) in SIZES {
        let mut body = vec![0; bytes];
        OsRng.fill_bytes(&mut body);
        for depth in DEPTHS {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..options.rounds {
                ours.push(load(&relay, &body, depth, options.seconds).await?);
                theirs.push(load(&etcd, &body, depth, options.seconds).await?);
            }
            let ratios = ours.iter().zip(&theirs);
            let ratio = median(ratios.map(|(our, their)| our.per_second / their.per_second));
            say(&format!(
                "{:<24} {:<36} {:<36} {ratio:.2}",
                format!("{size}, {depth} in flight"),
                cells(&ours),
                cells(&theirs),
            ))?;
        }
    }
    watch(&relay, &etcd).await
}

/// How many puts are followed to whoever watches.
const WATCHED: usize = 100;

async fn watch(relay: &Relay, etcd: &Etcd) -> anyhow::Result<()> {
    let mut body = vec![0; SIZES[0].1];
    OsRng.fill_bytes(&mut body);
    let ours = relay.watched(&body, WATCHED).await?;
    let theirs = etcd.watched(&body, WATCHED).await?;
    let text = |times: Vec<Duration>| {
        let (p50, p99) = spread(times);
        format!("p50 {p50:.1} ms, p99 {p99:.1} ms")
    };
    say(&format!(
        "{:<24} {:<36} {:<36}",
        "put, frame, fetched",
        text(ours),
        text(theirs)
    ))
}

/// Puts as fast as they are answered, `depth` at a time.
async fn load<T: Target>(
    target: &T,
    body: &[u8],
    depth: usize,
    time: Duration,
) -> anyhow::Result<Cell> {
    let mut writers = Vec::new();
    for _ in 0..depth {
        writers.push(target.writer().await?);
    }
    let begin = Instant::now();
    let mut writing = JoinSet::new();
    for writer in writers {
        writing.spawn(write(writer, body.to_vec(), begin + time));
    }
    let mut times = Vec::new();
    while let Some(written) = writing.join_next().await {
        times.extend(written??);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let puts = u32::try_from(times.len()).unwrap_or(u32::MAX);
    let (p50, p99) = spread(times);
    Ok(Cell {
        per_second: f64::from(puts) / seconds,
        p50,
        p99,
    })
}

async fn write(
    mut writer: impl Writer,
    body: Vec<u8>,
    until: Instant,
) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    let mut number = 0;
    while Instant::now() < until {
        number += 1;
        let begin = Instant::now();
        writer.put(number, &body).await?;
        times.push(begin.elapsed());
        if number % PRUNE_EVERY == 0 {
            writer.prune(number).await?;
        }
    }
    Ok(times)
}

/// The median and the 99th of a hundred, in milliseconds.
fn spread(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |of_hundred: usize| {
        let time = times.get(times.len() * of_hundred / 100);
        time.map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
    };
    (at(50), at(99))
}

fn cells(cells: &[Cell]) -> String {
    let of = |value: fn(&Cell) -> f64| median(cells.iter().map(value));
    format!(
        "{:>6.0}/s p50 {:>5.1} p99 {:>5.1} ms",
        of(|cell| cell.per_second),
        of(|cell| cell.p50),
        of(|cell| cell.p99)
    )
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
