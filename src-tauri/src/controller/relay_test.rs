//! The test of a relay in named steps.
//!
//! Owns the number of a run and what the window is told of it. The steps themselves are the
//! engine's. Clocks are not compared: nothing that a relay says on the wire has a time in it.

use sealpost_engine::relay_test::{RelayStep, RelayStepReport, RelayStepState};
use sealpost_engine::test_relay;

use super::Controller;
use super::group::read_address;
use crate::app_error::{AppError, AppErrorCode};
use crate::view::{
    RelayTestStarted, RelayTestState, RelayTestStep, RelayTestStepName, RelayTestView, TestRelay,
};

impl Controller {
    /// Begins to test a relay; what becomes of it comes in events. A new test ends an older
    /// one.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `relay-address-invalid`; `relay-needed` for a group without a relay.
    pub fn test_relay(&self, args: &TestRelay) -> Result<RelayTestStarted, AppError> {
        let address = match args {
            TestRelay::Group { group } => {
                let relay = self.engine(group)?.relay();
                relay.ok_or(AppErrorCode::RelayNeeded)?
            }
            TestRelay::Address { address } => read_address(address)?,
        };
        let mut state = self.state();
        state.relay_tests = state.relay_tests.wrapping_add(1);
        let run = state.relay_tests;
        drop(state);
        let controller = self.clone();
        tokio::spawn(async move {
            let mut view = beginning(run);
            let told = controller.clone();
            // The result is in the steps already.
            let _ = test_relay(&address, |report| {
                take(&mut view, report);
                told.tell_relay_test(&view);
            })
            .await;
            finish(&mut view);
            controller.tell_relay_test(&view);
        });
        Ok(RelayTestStarted { run })
    }

    /// Tells the window, unless a newer test has begun.
    fn tell_relay_test(&self, view: &RelayTestView) {
        if self.state().relay_tests == view.run {
            self.window().emit_relay_test(view);
        }
    }
}

fn beginning(run: u32) -> RelayTestView {
    let names = [
        RelayTestStepName::LookUp,
        RelayTestStepName::Connect,
        RelayTestStepName::Protocol,
        RelayTestStepName::Key,
        RelayTestStepName::Push,
        RelayTestStepName::Receive,
    ];
    RelayTestView {
        run,
        steps: names.map(waiting).to_vec(),
        done: false,
    }
}

fn waiting(name: RelayTestStepName) -> RelayTestStep {
    RelayTestStep {
        name,
        state: RelayTestState::Waiting,
        ms: None,
        code: None,
    }
}

/// Takes over what the engine says of a step.
fn take(view: &mut RelayTestView, report: RelayStepReport) {
    let name = match report.step {
        RelayStep::LookUp => RelayTestStepName::LookUp,
        RelayStep::Connect => RelayTestStepName::Connect,
        RelayStep::Protocol => RelayTestStepName::Protocol,
        RelayStep::Key => RelayTestStepName::Key,
        RelayStep::Push => RelayTestStepName::Push,
        RelayStep::Receive => RelayTestStepName::Receive,
    };
    let Some(step) = view.steps.iter_mut().find(|step| step.name == name) else {
        return;
    };
    let (state, took, code) = match report.state {
        RelayStepState::Running => (RelayTestState::Running, None, None),
        RelayStepState::Passed { took } => (RelayTestState::Ok, Some(took), None),
        RelayStepState::Failed { took, failure } => {
            (RelayTestState::Failed, Some(took), Some(failure.code()))
        }
        RelayStepState::Skipped => (RelayTestState::Skipped, None, None),
    };
    step.state = state;
    step.ms = took.map(|took| u32::try_from(took.as_millis()).unwrap_or(u32::MAX));
    step.code = code;
}

/// What was not reached will not be reached any more.
fn finish(view: &mut RelayTestView) {
    view.done = true;
    for step in &mut view.steps {
        if matches!(
            step.state,
            RelayTestState::Waiting | RelayTestState::Running
        ) {
            step.state = RelayTestState::Skipped;
        }
    }
}
