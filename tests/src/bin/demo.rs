//! `make demo`: two devices and a relay, everything killed on the way, nothing lost.
//!
//! Prints what happens and, as its last line, the account of both directions. Fails when the
//! account isn't exact. `--seed N` repeats the times of the kills.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use sealpost_tests::conversation::{Plan, run};
use sealpost_tests::delivery_account::Tally;
use sealpost_tests::program::Program;
use sealpost_tests::terminal::{conclude, narrator, seed_of_clock};

fn main() -> ExitCode {
    conclude("demo", demonstrate(), Tally::is_exact)
}

fn demonstrate() -> anyhow::Result<Tally> {
    let seed = seed()?;
    // The time is that of the demo, whatever is still to be built.
    Program::Client.built()?;
    Program::Relay.built()?;
    let mut tell = narrator();
    tell(&format!("seed {seed}"));
    let plan = Plan {
        seed,
        texts_each: 200,
        relay_kills: 2,
        device_kills_each: 1,
        shown_between_kills: 8,
        relay_away_max: Duration::from_millis(800),
    };
    let tally = run(&plan, &mut tell)?;
    tell("everything has stopped");
    Ok(tally)
}

/// The seed that was given, or one from the clock.
fn seed() -> anyhow::Result<u64> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        None => Ok(seed_of_clock()),
        Some("--seed") => {
            let seed = arguments.next().context("--seed needs a number")?;
            seed.parse().context("the seed must be a number")
        }
        Some(_) => bail!("usage: demo [--seed NUMBER]"),
    }
}
