//! `group destroy`: the end of a group for everybody.
//!
//! What it can't do is said before the question, and with `--yes` in its place. It is durable
//! at once, and over when the relay has the news for each of the others; until then the same
//! command goes on with it, without asking again.

use sealpost_engine::core::status::Status;

use super::leave::confirm;
use super::pair::push_out;
use crate::arguments::{Confirmed, Global};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::Failure;
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::question::Question;
use crate::report::{DestroyLimits, Report};

const DESTROY: Question = Question {
    code: "destroy",
    text: "Destroy this group, for everybody?",
    yes: "yes",
    no: "no",
};

pub(super) async fn run(
    global: &Global,
    destroy: &Confirmed,
    output: Output,
) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, destroy.group.group.as_deref()).await?;
    let outcome = destroy_group(&group, destroy.yes, output).await;
    group.close().await;
    outcome
}

async fn destroy_group(group: &OpenGroup, yes: bool, output: Output) -> Result<(), Failure> {
    if matches!(group.engine.status(), Status::Member | Status::Leaving) {
        let limits = DestroyLimits::new(group.engine.members().len());
        output.say(&Report::DestroyLimits(limits))?;
        confirm(&DESTROY, yes, output).await?;
    }
    group.engine.destroy_group().await.map_err(engine_error)?;
    let told = push_out(group).await;
    let group = group.namespace.as_str().to_owned();
    output.say(&Report::Destroyed { group, told })
}
