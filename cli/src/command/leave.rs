//! `leave` and `forget`: the end of a group on this device.
//!
//! Leaving is durable at once and over when the relay has the news for the others; until
//! then `leave` goes on with it. `forget` ends the waiting, for a relay that is gone for good.

use sealpost_engine::core::status::Status;

use super::pair::push_out;
use crate::arguments::{Confirmed, Global};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::{Exit, Failure};
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::question::{Answer, Lines, Question};
use crate::report::Report;

const LEAVE: Question = Question {
    code: "leave",
    text: "Leave this group? Only another member can let this device in again.",
    yes: "yes",
    no: "no",
};
/// The group may come apart, and nothing can repair that (amendment 2).
const LEAVE_SOON: Question = Question {
    code: "leave_soon",
    text: "A device was let in only minutes ago. If another member leaves now as well, the \
           devices that both have let in never hear of each other. It is safer to wait ten \
           minutes. Leave this group all the same? Only another member can let this device in \
           again.",
    yes: "yes",
    no: "no",
};
const LEFT_SOON: &str = "A device was let in only minutes ago. If another member leaves now as \
                         well, the group can come apart.";
const FORGET: Question = Question {
    code: "forget",
    text: "Stop telling the others? Those who don't know yet go on listing this device.",
    yes: "yes",
    no: "no",
};

const FORGET_DESTROYING: Question = Question {
    code: "forget",
    text: "Stop telling the others that the group is over? Those who don't know yet go on with it.",
    yes: "yes",
    no: "no",
};

pub(super) async fn run(global: &Global, leave: &Confirmed, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, leave.group.group.as_deref()).await?;
    let outcome = leave_group(&group, leave.yes, output).await;
    group.close().await;
    outcome
}

async fn leave_group(group: &OpenGroup, yes: bool, output: Output) -> Result<(), Failure> {
    // Who has left already is not asked again.
    if group.engine.status() == Status::Member {
        let warning = group.engine.leaving_warning().await.map_err(engine_error)?;
        match warning {
            Some(_) if yes => output.note(LEAVE_SOON.code, LEFT_SOON),
            Some(_) => confirm(&LEAVE_SOON, yes, output).await?,
            None => confirm(&LEAVE, yes, output).await?,
        }
    }
    group.engine.leave().await.map_err(engine_error)?;
    let told = push_out(group).await;
    output.say(&left(group, told))
}

/// How far leaving got.
pub(super) fn left(group: &OpenGroup, told: bool) -> Report {
    let group = group.namespace.as_str().to_owned();
    Report::Left { group, told }
}

pub(super) async fn forget(
    global: &Global,
    forget: &Confirmed,
    output: Output,
) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, forget.group.group.as_deref()).await?;
    let outcome = forget_group(&group, forget.yes, output).await;
    group.close().await;
    outcome
}

async fn forget_group(group: &OpenGroup, yes: bool, output: Output) -> Result<(), Failure> {
    let question = match group.engine.status() {
        Status::Leaving => &FORGET,
        Status::Destroying => &FORGET_DESTROYING,
        Status::NotJoined | Status::PendingJoin | Status::Member => return Err(not_leaving()),
    };
    confirm(question, yes, output).await?;
    group.engine.forget().await.map_err(engine_error)?;
    let group = group.namespace.as_str().to_owned();
    output.say(&Report::Forgotten { group })
}

/// Asks before something that can't be undone, unless the answer was given beforehand.
pub(super) async fn confirm(question: &Question, yes: bool, output: Output) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let mut lines = Lines::of_input();
    loop {
        output.ask(question)?;
        let Some(line) = lines.next().await else {
            return Err(unconfirmed("The input has ended."));
        };
        match question.understand(&line) {
            Answer::Yes => return Ok(()),
            Answer::No => return Err(unconfirmed("The answer was no.")),
            Answer::Unclear => {}
        }
    }
}

fn unconfirmed(why: &'static str) -> Failure {
    Failure::new(
        "not-confirmed",
        Exit::Refused,
        "Nothing was done.",
        why,
        "Answer with yes, or give --yes, if you mean it.",
    )
}

fn not_leaving() -> Failure {
    Failure::new(
        "not-leaving",
        Exit::Group,
        "This device is not about to leave the group.",
        "Only a leaving that waits for the relay can be forgotten.",
        "Leave first, with `sealpost leave`. Nothing was changed.",
    )
}
