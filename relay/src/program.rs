//! The subcommands.

pub(crate) mod address;
pub(crate) mod arguments;
pub(crate) mod backup;
pub(crate) mod check_config;
pub(crate) mod explanation;
pub(crate) mod health;
pub(crate) mod run;
mod setup;

use std::fmt::Display;
use std::io::{self, Write};

use self::explanation::Explanation;

/// Prints one line to standard output.
fn print(line: impl Display) -> Result<(), Explanation> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .map_err(|error| Explanation::output(&error))
}
