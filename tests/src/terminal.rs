//! What the programs of this crate say at their terminal.

use std::fmt::Display;
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Says one line.
pub fn say(line: &str) {
    // Nobody may be reading any more, which is no reason to stop.
    let _ = writeln!(stdout().lock(), "{line}");
}

/// Says lines, each with the time since now.
pub fn narrator() -> impl FnMut(&str) {
    let start = Instant::now();
    move |text| say(&format!("{:6.2} s  {text}", start.elapsed().as_secs_f64()))
}

/// A seed that the last run didn't have.
#[must_use]
pub fn seed_of_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.subsec_nanos().into())
}

/// Says the account of a run, or why there is none, as its last line. The code is a success
/// only where `is_right` says so of the account.
pub fn conclude<T: Display>(
    run: &str,
    account: anyhow::Result<T>,
    is_right: impl FnOnce(&T) -> bool,
) -> ExitCode {
    match account {
        Ok(account) => {
            say(&account.to_string());
            if is_right(&account) {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            say(&format!("The {run} failed: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
