//! `make sim-link`: the fault model of links, a line per row of its table.
//!
//! `--histories N` runs so many per row, `--first N` begins at a seed of one's own. Beside the
//! engine's rules stand those of the mailbox's first description. Fails where the engine's lose
//! anything, leave a slot taken or deliver twice in a row without restored devices.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, bail};
use sealpost_tests::link_simulation::{Row, Rules, run_many};
use sealpost_tests::terminal::say;

fn main() -> ExitCode {
    match simulate() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("The simulation can't run: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn simulate() -> anyhow::Result<bool> {
    let (mut histories, mut first) = (4_000, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().context("an option needs a value")?;
        match word.as_str() {
            "--histories" => histories = value.parse()?,
            "--first" => first = value.parse()?,
            _ => bail!("there is no option {word}"),
        }
    }
    let mut is_kept = true;
    for row in Row::ALL {
        for rules in [Rules::Product, Rules::Seed] {
            let begun = Instant::now();
            let account = run_many(row, rules, first, histories);
            let seconds = begun.elapsed().as_secs();
            say(&format!(
                "{}, {rules:?}: {} ({seconds} s)",
                row.name(),
                account.line()
            ));
            let may_lose = rules == Rules::Seed || row == Row::ClientsRestored;
            is_kept &= may_lose || (account.broken.is_empty() && account.sum.repeated == 0);
        }
    }
    Ok(is_kept)
}
