//! Work with the data that may take long: a backup, a restore or an export.
//!
//! Owns that it shows how far it is and ends when the program is told to, with nothing of it
//! left: it is asked to stop, and waited for.

use std::time::Duration;

use sealpost_engine::backup::Progress;

use crate::failure::Failure;
use crate::interrupt::interrupted;
use crate::output::Output;

/// How often it is shown how far it is; what ends before is never shown.
const SHOW_INTERVAL: Duration = Duration::from_secs(1);

/// Does it off the threads of the groups.
pub(crate) async fn run<T: Send + 'static>(
    output: Output,
    work: impl FnOnce(&Progress) -> T + Send + 'static,
) -> Result<T, Failure> {
    let progress = Progress::default();
    let given = progress.clone();
    // Before anything is begun: an end that comes then must not leave a part of it.
    let mut told = std::pin::pin!(interrupted());
    let mut task = tokio::task::spawn_blocking(move || work(&given));
    let mut is_told = false;
    let mut ticks = tokio::time::interval(SHOW_INTERVAL);
    ticks.tick().await;
    let mut shown = false;
    let outcome = loop {
        tokio::select! {
            outcome = &mut task => break outcome,
            () = &mut told, if !is_told => {
                is_told = true;
                progress.cancel();
            }
            _ = ticks.tick() => shown |= output.progress(progress.so_far()),
        }
    };
    if shown {
        output.end_progress();
    }
    outcome.map_err(|_| Failure::bug("The work ended early.", "A thread broke off"))
}
