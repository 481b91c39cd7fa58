//! What is done with the data at the moment: a backup, a restore or an export.
//!
//! Owns how far each is and how it is stopped. A work is known from the moment it is asked for,
//! also while it waits for what is opened or closed, so that whoever closes everything stops it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use sealpost_engine::backup::{BackupError, Progress};

use super::{Controller, State, blocking};
use crate::app_error::AppError;
use crate::view::{DataWork, DataWorkView};

/// How often the window is told how far it is.
const TELL_INTERVAL: Duration = Duration::from_millis(250);

/// What is done with the data at the moment, and the backup that was chosen for it.
#[derive(Default)]
pub(super) struct DataDesk {
    works: BTreeMap<u64, (DataWork, Progress)>,
    begun: u64,
    pub(super) chosen: Option<PathBuf>,
}

impl DataDesk {
    /// The oldest one: those behind it wait for it.
    pub(super) fn view(&self) -> Option<DataWorkView> {
        let (kind, progress) = self.works.values().next()?;
        let (done, total) = progress.so_far();
        Some(DataWorkView {
            kind: *kind,
            done,
            total,
        })
    }
}

/// A work that was asked for, known until this is dropped.
pub(super) struct Begun {
    controller: Controller,
    number: u64,
    progress: Progress,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.controller.state().data.works.remove(&self.number);
        self.controller.changed();
    }
}

impl Controller {
    /// Ends the work with the data that is on its way; nothing of it stays.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub fn cancel_data_work(&self) -> Result<(), AppError> {
        self.state().cancel_data_work();
        Ok(())
    }

    /// Makes a work known.
    pub(super) fn begin(&self, kind: DataWork) -> Begun {
        let progress = Progress::default();
        let mut state = self.state();
        let number = state.data.begun;
        state.data.begun = number.wrapping_add(1);
        state.data.works.insert(number, (kind, progress.clone()));
        drop(state);
        self.changed();
        Begun {
            controller: self.clone(),
            number,
            progress,
        }
    }

    /// Does it off the threads that serve the window and tells how far it is. `None` when it
    /// was cancelled.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        begun: &Begun,
        work: impl FnOnce(&Progress) -> Result<T, BackupError> + Send + 'static,
    ) -> Result<Option<T>, AppError> {
        let progress = begun.progress.clone();
        let mut ticks = tokio::time::interval(TELL_INTERVAL);
        let mut work = std::pin::pin!(blocking(move || {
            // Cancelled while it waited: not even the key is derived.
            progress.check()?;
            work(&progress)
        }));
        let outcome = loop {
            tokio::select! {
                outcome = &mut work => break outcome,
                _ = ticks.tick() => self.changed(),
            }
        };
        match outcome? {
            Ok(done) => Ok(Some(done)),
            Err(BackupError::Cancelled) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl State {
    /// Stops what is done with the data, for what closes everything.
    pub(super) fn cancel_data_work(&self) {
        for (_, progress) in self.data.works.values() {
            progress.cancel();
        }
    }
}
