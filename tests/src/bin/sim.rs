//! `make sim`: simulated histories until the time is up.
//!
//! `--seconds N` runs that long, `--first N` begins at a seed of one's own, `--seed N` runs
//! one history and prints its log. Says every ten seconds how far it is; the last line is the
//! account. A history that fails is named by its seed.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use sealpost_tests::simulation::{run, run_logged};
use sealpost_tests::terminal::say;

const PROGRESS: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    match simulate() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("The simulation can't run: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// What the options ask for.
struct Options {
    seconds: u64,
    first: u64,
    single: Option<u64>,
}

fn options() -> anyhow::Result<Options> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut options = Options {
        seconds: 60,
        // Other histories each time; the numbers are printed.
        first: now << 20,
        single: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().context("an option needs a number")?.parse()?;
        match word.as_str() {
            "--seconds" => options.seconds = number,
            "--first" => options.first = number,
            "--seed" => options.single = Some(number),
            _ => bail!("there is no option {word}"),
        }
    }
    Ok(options)
}

/// Runs until the time is up; returns the number of histories that failed.
fn simulate() -> anyhow::Result<u64> {
    let options = options()?;
    if let Some(seed) = options.single {
        let history = run_logged(seed);
        for line in &history.log {
            say(line);
        }
        say(&format!("seed {seed}: {:?}", history.violation));
        return Ok(u64::from(history.violation.is_some()));
    }
    let start = Instant::now();
    let end = start + Duration::from_secs(options.seconds);
    let next = AtomicU64::new(options.first);
    let steps = AtomicU64::new(0);
    let violations = AtomicU64::new(0);
    let said_at = Mutex::new(start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while Instant::now() < end {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let history = run(seed);
                    steps.fetch_add(history.steps, Ordering::Relaxed);
                    if let Some(violation) = history.violation {
                        violations.fetch_add(1, Ordering::Relaxed);
                        say(&format!("seed {seed}: {violation}"));
                    }
                    let mut said_at = said_at.lock().unwrap_or_else(PoisonError::into_inner);
                    if said_at.elapsed() >= PROGRESS {
                        *said_at = Instant::now();
                        let count = next.load(Ordering::Relaxed) - options.first;
                        let seconds = start.elapsed().as_secs();
                        say(&format!("{seconds:5} s  {count} histories"));
                    }
                }
            });
        }
    });
    let histories = next.into_inner() - options.first;
    let violations = violations.into_inner();
    say(&format!(
        "seeds {} to {}",
        options.first,
        (options.first + histories).saturating_sub(1)
    ));
    say(&format!(
        "{histories} histories, {} steps, {violations} violations",
        steps.into_inner()
    ));
    Ok(violations)
}
