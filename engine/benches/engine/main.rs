//! What the engine promises about time and space, against the disk it stands on.
//!
//! Everything is measured in one run on one disk, in rounds that take turns, because a shared
//! machine is slow and fast by the minute: beside F, the median of one append of 300 bytes
//! with fdatasync in the same turns, a time by itself means little.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that can't go on fails where it stands"
)]

mod bystander;
mod catch_up;
#[expect(dead_code, reason = "the tests of whole engines use more of it")]
#[path = "../../tests/pairing/devices.rs"]
mod devices;
mod log_size;
#[path = "../../../relay/benches/push/open_relay.rs"]
mod open_relay;
mod report;
mod sending;
#[expect(dead_code, reason = "the relay's own measurement receives, too")]
#[path = "../../../relay/benches/push/session.rs"]
mod session;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use report::Report;

const ROUNDS: usize = 3;

/// The size of a message, and of what F appends.
const BYTES: usize = 300;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Where temporary files usually go may be memory, which is no disk to measure.
    tempfile::env::override_temp_dir(folder).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut report = Report::default();
    runtime.block_on(async {
        if is_wanted("send") {
            sending::measure(&mut report).await;
        }
        if is_wanted("catch-up") {
            catch_up::measure(&mut report).await;
        }
        if is_wanted("log") {
            log_size::measure(&mut report).await;
        }
    });
    report.print().unwrap();
    if report.has_missed() {
        std::process::exit(1);
    }
}

/// Whether a part is measured: all are, unless `ONLY` names some.
fn is_wanted(part: &str) -> bool {
    std::env::var("ONLY").map_or(true, |only| only.split(',').any(|name| name == part))
}

/// Says how far the run is.
fn progress(what: &str) {
    let line = writeln!(std::io::stderr().lock(), "  {what}");
    line.unwrap();
}

/// F: what any durable write costs at this moment.
fn append(folder: &Path, times: &mut Vec<Duration>) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("append"))
        .unwrap();
    let begin = Instant::now();
    file.write_all(&[0x5a; BYTES]).unwrap();
    file.sync_data().unwrap();
    times.push(begin.elapsed());
}

fn median(times: &mut [Duration]) -> Duration {
    percentile(times, 50)
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let index = times.len().saturating_sub(1) * percent / 100;
    times.get(index).copied().unwrap_or_default()
}
