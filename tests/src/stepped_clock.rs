//! The wall clock that a real program sees, moved.
//!
//! Debian's libfaketime stands between the program and the system's clock. Only the wall clock
//! moves: waits and timeouts of the program go on in real time, so nothing is waited for here.

use std::path::PathBuf;

use anyhow::Context as _;

/// Where Debian puts the library, below the folder of the processor's architecture.
const LIBRARY: &str = "faketime/libfaketime.so.1";

/// The minutes of a day.
pub const DAY: i32 = 24 * 60;

/// The variables that make a program believe that it is so many minutes later.
///
/// # Errors
///
/// When the library isn't installed; `make setup` installs it.
pub fn environment(minutes: i32) -> anyhow::Result<Vec<(String, String)>> {
    let library = library().context("libfaketime is missing; run `make setup`")?;
    let variables = [
        ("LD_PRELOAD", library.to_string_lossy().into_owned()),
        ("FAKETIME", format!("{minutes:+}m")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ];
    Ok(variables
        .map(|(name, value)| (name.to_owned(), value))
        .into())
}

fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let mut places = folders.flatten().map(|folder| folder.path().join(LIBRARY));
    places.find(|place| place.is_file())
}
