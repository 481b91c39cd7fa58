//! `make soak`: many devices, one relay, SIGKILL every few seconds; nothing is lost.
//!
//! `SECONDS` says how long (60 without it), `SEED` repeats a plan. The last line is the
//! account; the exit code is a failure where anything is wrong with it.

use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use sealpost_tests::program::Program;
use sealpost_tests::soak::{Plan, run};
use sealpost_tests::stream_account::StreamTally;

fn main() -> ExitCode {
    match soak() {
        Ok(tally) => {
            say(&tally.to_string());
            if tally.is_exact() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            say(&format!("The soak failed: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn soak() -> anyhow::Result<StreamTally> {
    let seconds = number("SECONDS")?.unwrap_or(60);
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let seed = number("SEED")?.unwrap_or(now.subsec_nanos().into());
    // The time is that of the soak, whatever is still to be built.
    Program::Relay.built()?;
    let start = Instant::now();
    let mut tell = |text: &str| say(&format!("{:6.2} s  {text}", start.elapsed().as_secs_f64()));
    tell(&format!("seed {seed}, {seconds} s"));
    let plan = Plan {
        seed,
        time: Duration::from_secs(seconds),
        between_kills: [500, 4_000].map(Duration::from_millis),
    };
    run(&plan, &mut tell)
}

fn say(line: &str) {
    // Nobody may be reading any more, which is no reason to stop.
    let _ = writeln!(stdout().lock(), "{line}");
}

/// What the environment sets, if it sets anything.
fn number(variable: &str) -> anyhow::Result<Option<u64>> {
    match std::env::var(variable) {
        Ok(text) if !text.is_empty() => {
            let number = text.parse();
            number
                .with_context(|| format!("{variable} must be a number"))
                .map(Some)
        }
        _ => Ok(None),
    }
}
