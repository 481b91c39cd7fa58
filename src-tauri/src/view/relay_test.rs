//! The test of a relay, as the window shows it while it runs.

use serde::Serialize;
use ts_rs::TS;

/// The answer of `test_relay`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayTestStarted {
    /// Names the run in the events that follow.
    pub run: u32,
}

/// The payload of the event `relay-test`: all steps of a run as they are now.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayTestView {
    /// The run.
    pub run: u32,
    /// The steps, in the order in which they are taken.
    pub steps: Vec<RelayTestStep>,
    /// Whether nothing will change any more.
    pub done: bool,
}

/// One step of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayTestStep {
    /// What is tested.
    pub name: RelayTestStepName,
    /// How far it is.
    pub state: RelayTestState,
    /// How long it took.
    pub ms: Option<u32>,
    /// What is wrong; its sentences stand under `relay-test-<code>`.
    pub code: Option<&'static str>,
}

/// What a step tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RelayTestStepName {
    /// Whether the relay's name leads to an address.
    LookUp,
    /// Whether something answers there.
    Connect,
    /// Whether it speaks a version of this app.
    Protocol,
    /// Whether it is the relay whose key the address names.
    Key,
    /// Whether it takes a message.
    Push,
    /// Whether it hands the message out.
    Receive,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RelayTestState {
    /// An earlier step is not done yet.
    Waiting,
    /// On the way.
    Running,
    /// All is well.
    Ok,
    /// Something is wrong.
    Failed,
    /// Can't be tested here, or an earlier step failed.
    Skipped,
}
