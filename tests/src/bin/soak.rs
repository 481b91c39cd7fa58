//! `make soak`: many devices, one relay, SIGKILL every few seconds; nothing is lost.
//!
//! `SECONDS` says how long (60 without it), `SEED` repeats a plan. The last line is the
//! account; the exit code is a failure where anything is wrong with it.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use sealpost_tests::program::Program;
use sealpost_tests::soak::{Plan, run};
use sealpost_tests::stream_account::StreamTally;
use sealpost_tests::terminal::{conclude, narrator, seed_of_clock};

fn main() -> ExitCode {
    conclude("soak", soak(), StreamTally::is_exact)
}

fn soak() -> anyhow::Result<StreamTally> {
    let seconds = number("SECONDS")?.unwrap_or(60);
    let seed = number("SEED")?.unwrap_or_else(seed_of_clock);
    // The time is that of the soak, whatever is still to be built.
    Program::Relay.built()?;
    let mut tell = narrator();
    tell(&format!("seed {seed}, {seconds} s"));
    let plan = Plan {
        seed,
        time: Duration::from_secs(seconds),
        between_kills: [500, 4_000].map(Duration::from_millis),
    };
    run(&plan, &mut tell)
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
