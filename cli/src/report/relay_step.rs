//! A step of a relay's test.

use sealpost_engine::relay_test::{RelayStep, RelayStepFailure, RelayStepState};
use serde::Serialize;

/// A step that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RelayStepReport {
    /// Its stable name.
    step: &'static str,
    /// `ok`, `failed` or `skipped`.
    state: &'static str,
    /// How long it took; nothing when it was skipped.
    took_ms: Option<u64>,
    /// The stable name of why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    #[serde(skip)]
    words: &'static str,
}

impl RelayStepReport {
    /// What is said of a step; nothing while it runs.
    pub(crate) fn new(step: RelayStep, state: RelayStepState) -> Option<Self> {
        let (state, took, failure) = match state {
            RelayStepState::Running => return None,
            RelayStepState::Passed { took } => ("ok", Some(took), None),
            RelayStepState::Failed { took, failure } => ("failed", Some(took), Some(failure)),
            RelayStepState::Skipped => ("skipped", None, None),
        };
        Some(Self {
            step: step.code(),
            state,
            took_ms: took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            failure: failure.map(RelayStepFailure::code),
            words: words(step),
        })
    }

    /// What a person reads.
    pub(super) fn to_text(&self) -> String {
        let Self { words, state, .. } = self;
        let took = self
            .took_ms
            .map_or_else(String::new, |took| format!("  {took} ms"));
        format!("{words:<24}{state}{took}")
    }
}

const fn words(step: RelayStep) -> &'static str {
    match step {
        RelayStep::LookUp => "Look its name up",
        RelayStep::Connect => "Connect to it",
        RelayStep::Protocol => "See that it is a relay",
        RelayStep::Key => "See that it is this one",
        RelayStep::Push => "Send to oneself",
        RelayStep::Receive => "Get it back",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_step_that_ended_is_a_line_and_an_object() {
        let took = Duration::from_millis(12);
        let failure = RelayStepFailure::NotDelivered;
        let failed = RelayStepState::Failed { took, failure };
        let report = RelayStepReport::new(RelayStep::Receive, failed).unwrap();
        assert_eq!(report.to_text(), "Get it back             failed  12 ms");
        assert_eq!(
            serde_json::to_string(&report).unwrap(),
            r#"{"step":"receive","state":"failed","took_ms":12,"failure":"notDelivered"}"#
        );
        assert_eq!(
            RelayStepReport::new(RelayStep::Key, RelayStepState::Running),
            None
        );
    }
}
