//! Runs of the message handler.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::call::{Input, MessageHandler, Shared};
use crate::core::issue::HandlerError;
use crate::core::message::Message;
use crate::core::step::HandlerRun;

/// The runs that have neither finished nor been abandoned.
#[derive(Default)]
pub(super) struct Runs {
    running: BTreeMap<HandlerRun, AbortHandle>,
}

impl Runs {
    /// Starts a run and reports its outcome as an input. False without a handler: nothing
    /// started then.
    pub(super) fn start(
        &mut self,
        runtime: &Handle,
        shared: &Arc<Shared>,
        generation: u64,
        run: HandlerRun,
        message: Message,
    ) -> bool {
        let Some(handler) = shared.handler() else {
            return false;
        };
        let task = runtime.spawn(async move { call(handler, message).await });
        self.running.insert(run, task.abort_handle());
        let shared = Arc::clone(shared);
        runtime.spawn(async move {
            let outcome = match task.await {
                Ok(outcome) => outcome,
                Err(ended) if ended.is_cancelled() => return,
                Err(_) => Err(HandlerError::new("the message handler panicked")),
            };
            shared.input(Input::HandlerDone {
                generation,
                run,
                outcome,
            });
        });
        true
    }

    /// Takes a finished run off the list; false if it was abandoned.
    pub(super) fn finish(&mut self, run: HandlerRun) -> bool {
        self.running.remove(&run).is_some()
    }

    /// Cancels a run.
    pub(super) fn abandon(&mut self, run: HandlerRun) {
        if let Some(task) = self.running.remove(&run) {
            task.abort();
        }
    }

    /// Cancels every run.
    pub(super) fn abandon_all(&mut self) {
        for task in std::mem::take(&mut self.running).into_values() {
            task.abort();
        }
    }
}

// Inside the task, so that a handler that panics before its first await is caught as well.
async fn call(handler: MessageHandler, message: Message) -> Result<(), HandlerError> {
    handler(message).await
}
