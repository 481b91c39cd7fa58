//! How long a push takes until it is durable, against the disk it goes to.
//!
//! Everything is measured in one run on one disk, in rounds that take turns, because a shared
//! machine is slow and fast by the minute: only the ratios to F, the median of one append of
//! 300 bytes with fdatasync, mean anything. The clients run on the same cores and do the other
//! half of the cryptography.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that can't go on fails where it stands"
)]

mod open_relay;
mod session;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand_core::OsRng;
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use sealpost_relay::Relay;

use session::Session;

const ROUNDS: usize = 3;
const LATENCY_TURNS: usize = 10;
const LATENCY_RUN: Duration = Duration::from_millis(150);
const THROUGHPUT_RUN: Duration = Duration::from_millis(1_500);
const APPENDS: usize = 30;
const SMALL: usize = 300;

/// Pushes in flight, over how many sessions, of how many bytes.
const LOADS: [(usize, usize, usize); 6] = [
    (1, 1, SMALL),
    (16, 4, SMALL),
    (64, 8, SMALL),
    (256, 16, SMALL),
    (64, 8, 4_096),
    (64, 8, 60_000),
];

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut results = Results::default();
    for _ in 0..ROUNDS {
        runtime.block_on(measure(&mut results));
    }
    results.print(&idle_relay()).unwrap();
}

#[derive(Default)]
struct Results {
    appends: Vec<Duration>,
    acks: Vec<Duration>,
    delivers: Vec<Duration>,
    /// Pushes per second of each load, once per round.
    rates: [Vec<f64>; LOADS.len()],
}

async fn measure(results: &mut Results) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let relay = open_relay::start(folder.path()).await;
    for _ in 0..LATENCY_TURNS {
        append(folder.path(), &mut results.appends);
        measure_acks(&relay, &mut results.acks).await;
        append(folder.path(), &mut results.appends);
        measure_delivers(&relay, &mut results.delivers).await;
    }
    for (load, rates) in LOADS.iter().zip(&mut results.rates) {
        append(folder.path(), &mut results.appends);
        rates.push(measure_rate(&relay, *load).await);
    }
    relay.stop().await;
}

/// F: what any durable write costs at this moment.
fn append(folder: &Path, times: &mut Vec<Duration>) {
    let mut file: File = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("append"))
        .unwrap();
    for _ in 0..APPENDS {
        let begin = Instant::now();
        file.write_all(&[0x5a; SMALL]).unwrap();
        file.sync_data().unwrap();
        times.push(begin.elapsed());
    }
}

async fn measure_acks(relay: &Relay, times: &mut Vec<Duration>) {
    let mut session = Session::to_push(relay).await;
    let recipient = NoisePublic::from_bytes([1; 32]);
    let end = Instant::now() + LATENCY_RUN;
    while Instant::now() < end {
        let begin = Instant::now();
        session.push(recipient, &[0x5a; SMALL]).await;
        session.read().await;
        times.push(begin.elapsed());
    }
}

/// From a push to its arrival at a connected device, which acknowledges each.
async fn measure_delivers(relay: &Relay, times: &mut Vec<Duration>) {
    let device = NoiseSecret::generate(&mut OsRng);
    let mut receiver = Session::to_receive(relay, &device).await;
    let mut sender = Session::to_push(relay).await;
    let end = Instant::now() + LATENCY_RUN;
    while Instant::now() < end {
        let begin = Instant::now();
        sender.push(device.public(), &[0x5a; SMALL]).await;
        let frame = receiver.read().await;
        times.push(begin.elapsed());
        let Ok(Frame::Deliver { blob_id, .. }) = Frame::decode(&frame) else {
            panic!("a blob was expected");
        };
        receiver.write(&Frame::DeliverAck { blob_id }).await;
        sender.read().await;
    }
}

async fn measure_rate(relay: &Relay, (in_flight, sessions, bytes): (usize, usize, usize)) -> f64 {
    let begin = Instant::now();
    let mut tasks = Vec::new();
    for number in 0..sessions {
        let mut session = Session::to_push(relay).await;
        tasks.push(tokio::spawn(async move {
            let mut stored = 0_usize;
            let envelope = vec![0x5a; bytes];
            let recipient = |turn: usize| {
                NoisePublic::from_bytes([u8::try_from((number * 16 + turn) % 251).unwrap(); 32])
            };
            for turn in 0..in_flight / sessions {
                session.push(recipient(turn), &envelope).await;
            }
            while begin.elapsed() < THROUGHPUT_RUN {
                session.read().await;
                stored += 1;
                session.push(recipient(stored % 16), &envelope).await;
            }
            stored
        }));
    }
    let mut stored = 0;
    for task in tasks {
        stored += task.await.unwrap();
    }
    stored as f64 / begin.elapsed().as_secs_f64()
}

/// The memory of a relay that nobody uses, in words.
fn idle_relay() -> String {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sealpost-relay"))
        .args(["run", "--no-config", "--listen-receive", "127.0.0.1:0"])
        .args([
            "--listen-push",
            "127.0.0.1:0",
            "--listen-health",
            "127.0.0.1:0",
        ])
        .arg("--data-dir")
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let kib = status.ok().and_then(|status| {
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))?
            .to_owned();
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    });
    kib.map_or("not known on this system".to_owned(), |kib| {
        format!("{:.1} MiB", kib / 1_024.0)
    })
}

impl Results {
    fn print(mut self, idle: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let floor = percentile(&mut self.appends, 50);
        let ratio = |time: Duration| time.as_secs_f64() / floor.as_secs_f64();
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        writeln!(
            out,
            "\n{:<44}{:>10}{:>8}",
            "one after the other, 300 B", "ms", "x F"
        )?;
        let mut row = |name: &str, time: Duration| {
            writeln!(out, "{name:<44}{:>10.3}{:>8.1}", ms(time), ratio(time))
        };
        row("append + fdatasync, median (F)", floor)?;
        row("push -> Ack, p50", percentile(&mut self.acks, 50))?;
        row("push -> Ack, p99", percentile(&mut self.acks, 99))?;
        row("push -> Deliver, p50", percentile(&mut self.delivers, 50))?;
        row("push -> Deliver, p99", percentile(&mut self.delivers, 99))?;
        writeln!(
            out,
            "\n{:<44}{:>10}{:>8}",
            "many at once, acknowledged", "per s", "per F"
        )?;
        for ((in_flight, sessions, bytes), rates) in LOADS.iter().zip(&mut self.rates) {
            rates.sort_by(f64::total_cmp);
            let rate = rates.get(rates.len() / 2).copied().unwrap_or_default();
            let name = format!("{in_flight} in flight over {sessions} sessions, {bytes} B");
            writeln!(
                out,
                "{name:<44}{rate:>10.0}{:>8.1}",
                rate * floor.as_secs_f64()
            )?;
        }
        writeln!(out, "\nidle sealpost-relay, resident: {idle}")
    }
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let index = times.len().saturating_sub(1) * percent / 100;
    times.get(index).copied().unwrap_or_default()
}
