//! `members`: the devices of a group.

use crate::arguments::{Global, InGroup};
use crate::device::Device;
use crate::failure::Failure;
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::report::Report;

pub(super) async fn run(global: &Global, group: &InGroup, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, group.group.as_deref()).await?;
    let others = group
        .engine
        .members()
        .into_iter()
        .map(|member| (member, false));
    let all = std::iter::once((group.engine.me(), true)).chain(others);
    let reports: Vec<_> = all
        .map(|(member, is_me)| Report::Member {
            id: member.id.as_str().to_owned(),
            name: member.name.as_str().to_owned(),
            is_me,
        })
        .collect();
    group.close().await;
    output.say_all(&reports)
}
