//! Groups whose database another program holds at the moment.
//!
//! Owns which those are and when they are tried again: every few seconds, until the other
//! program lets go of them or the app closes. Meanwhile the failure says so. Anything else
//! that keeps a group from opening is not tried again.

use std::sync::Weak;
use std::time::Duration;

use sealpost_engine::core::error::StorageFault;
use sealpost_engine::engine::OpenError;
use sealpost_engine::namespace::Namespace;

use super::{Controller, Shared, Stage};
use crate::app_error::AppError;

/// How often they are tried. Each try itself waits for the other program for a moment.
const INTERVAL: Duration = Duration::from_secs(3);

const HELD: OpenError = OpenError::Storage(StorageFault::InUse);

/// Tries until the app is gone.
pub(super) async fn run(app: Weak<Shared>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let Some(shared) = app.upgrade() else { return };
        Controller { shared }.reopen_groups().await;
    }
}

impl Controller {
    /// Keeps why a group couldn't be opened.
    pub(super) fn note_unopened(&self, namespace: Namespace, error: OpenError) {
        let mut state = self.state();
        if error == HELD {
            state.held_elsewhere.insert(namespace);
        }
        state.failure = Some(error.into());
    }

    /// Tries the groups that another program held.
    pub(super) async fn reopen_groups(&self) {
        if self.state().held_elsewhere.is_empty() {
            return;
        }
        let _lifecycle = self.shared.lifecycle.lock().await;
        let held = self.state().held_elsewhere.clone();
        for namespace in held {
            let opened = {
                let state = self.state();
                match (&state.stage, state.profile.clone(), state.key_store.clone()) {
                    (Stage::Open | Stage::Failed(_), Some(profile), Some(keys)) => {
                        Some((profile, keys))
                    }
                    _ => None,
                }
            };
            let Some((profile, keys)) = opened else {
                return;
            };
            let opened = self
                .open_group(&profile, &keys, namespace.clone(), None)
                .await;
            let error = opened.err();
            if error != Some(HELD) {
                self.state().held_elsewhere.remove(&namespace);
                self.settle_failure(error.map(AppError::from));
            }
        }
    }

    /// Shows the groups that are open by now where nothing but a failure was shown.
    pub(super) fn show_what_is_open(&self) {
        let mut state = self.state();
        if let Stage::Failed(error) = &state.stage
            && !state.groups.is_empty()
        {
            state.failure = Some(error.clone());
            state.stage = Stage::Open;
        }
        drop(state);
        self.changed();
    }

    /// Shows what is open by now, and of the failures what is still so.
    fn settle_failure(&self, fresh: Option<AppError>) {
        let mut state = self.state();
        let shown = match &state.stage {
            Stage::Failed(error) => Some(error.clone()),
            _ => state.failure.clone(),
        };
        let is_over = state.held_elsewhere.is_empty() && shown == Some(HELD.into());
        let failure = fresh.or(shown.filter(|_| !is_over));
        match (&state.stage, state.groups.is_empty(), &failure) {
            (Stage::Failed(_), true, Some(error)) => state.stage = Stage::Failed(error.clone()),
            (Stage::Failed(_), _, _) => {
                state.stage = Stage::Open;
                state.failure = failure;
            }
            _ => state.failure = failure,
        }
        drop(state);
        self.changed();
    }
}
