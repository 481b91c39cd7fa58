//! The knobs of a run, out of the environment.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;

use super::load::{DEPTHS, Pace, SIZES};
use super::system::System;

/// What is run, and how.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) rounds: usize,
    pub(super) pace: Pace,
    /// Which queues, by parts of their names.
    pub(super) systems: Vec<System>,
    pub(super) sizes: Vec<usize>,
    pub(super) depths: Vec<usize>,
    /// Where the certificate and NATS are.
    pub(super) tools: PathBuf,
    /// On the disk that is measured.
    pub(super) folder: PathBuf,
    /// Where the tables go as Markdown, too.
    pub(super) markdown: Option<PathBuf>,
}

impl Options {
    /// Reads `ROUNDS`, `SECONDS_EACH`, `ONLY`, `SIZES`, `IN_FLIGHT` and `MARKDOWN`.
    pub(super) fn read() -> anyhow::Result<Self> {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let seconds: f64 = text("SECONDS_EACH").map_or(Ok(0.6), |text| text.parse())?;
        let run = Duration::try_from_secs_f64(seconds).context("SECONDS_EACH")?;
        let only = text("ONLY");
        let systems = System::ALL
            .into_iter()
            .filter(|system| {
                only.as_ref().is_none_or(|only| {
                    only.split(',')
                        .any(|part| system.name().contains(part.trim()))
                })
            })
            .collect();
        Ok(Self {
            rounds: text("ROUNDS").map_or(Ok(3), |text| text.parse())?,
            pace: Pace { warm: run / 5, run },
            systems,
            sizes: numbers(text("SIZES"), &SIZES)?,
            depths: numbers(text("IN_FLIGHT"), &DEPTHS)?,
            tools: PathBuf::from(text("BENCH_TOOLS").unwrap_or(".tools/bench".to_owned()))
                .canonicalize()
                .context("no tools; scripts/bench-peers fetches them")?,
            folder: PathBuf::from(text("BENCH_FOLDER").unwrap_or("target".to_owned())),
            markdown: text("MARKDOWN").map(PathBuf::from),
        })
    }
}

/// Those of `known` that a list of numbers names, or all.
fn numbers(text: Option<String>, known: &[usize]) -> anyhow::Result<Vec<usize>> {
    let Some(text) = text else {
        return Ok(known.to_vec());
    };
    let wanted: Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let wanted = wanted?;
    Ok(known
        .iter()
        .copied()
        .filter(|one| wanted.contains(one))
        .collect())
}
