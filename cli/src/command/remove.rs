//! `remove`: takes a member out of the group, for everybody.
//!
//! The others send it nothing from then on. What it has it keeps, and so it does with what
//! waits for it on the relay.

use sealpost_engine::core::error::EngineError;
use sealpost_engine::core::event::Member;

use super::leave::confirm;
use super::pair::push_out;
use crate::arguments::{Global, Remove};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::{Exit, Failure};
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::question::Question;
use crate::report::Report;

const REMOVE: Question = Question {
    code: "remove",
    text: "Remove this device from the group? It keeps what it has, and gets nothing more.",
    yes: "yes",
    no: "no",
};

pub(super) async fn run(global: &Global, remove: &Remove, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, remove.confirmed.group.group.as_deref()).await?;
    let outcome = remove_member(&group, remove, output).await;
    group.close().await;
    outcome
}

async fn remove_member(group: &OpenGroup, remove: &Remove, output: Output) -> Result<(), Failure> {
    let member = find(&group.engine.members(), &remove.member)?;
    output.say(&Report::Member {
        id: member.id.as_str().to_owned(),
        name: member.name.as_str().to_owned(),
        is_me: false,
    })?;
    confirm(&REMOVE, remove.confirmed.yes, output).await?;
    let removed = group.engine.remove(member.id.clone()).await;
    removed.map_err(engine_error)?;
    let told = push_out(group).await;
    output.say(&Report::Removed {
        id: member.id.as_str().to_owned(),
        name: member.name.as_str().to_owned(),
        told,
    })
}

/// The other member with this id, or the only one with this name: names are only labels.
fn find(others: &[Member], wanted: &str) -> Result<Member, Failure> {
    if let Some(member) = others.iter().find(|member| member.id.as_str() == wanted) {
        return Ok(member.clone());
    }
    let mut named = others
        .iter()
        .filter(|member| member.name.as_str() == wanted);
    match (named.next(), named.next()) {
        (Some(member), None) => Ok(member.clone()),
        (Some(_), Some(_)) => Err(ambiguous()),
        (None, _) => Err(engine_error(EngineError::MemberNotFound)),
    }
}

fn ambiguous() -> Failure {
    Failure::new(
        "member-ambiguous",
        Exit::Input,
        "It isn't clear which device is meant.",
        "More than one member has this name.",
        "Give its id; `sealpost members` shows it. Nothing was changed.",
    )
}
