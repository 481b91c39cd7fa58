//! `compare`: the codes that show whether two members hold each other's real keys.
//!
//! Unlike the four words of a pairing they have no time limit: they follow from the keys of
//! both devices and from nothing else.

use sealpost_protocol::pairing_words::compare_code;

use crate::arguments::{Global, InGroup};
use crate::device::Device;
use crate::failure::{Exit, Failure};
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::report::Report;

pub(super) async fn run(global: &Global, group: &InGroup, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, group.group.as_deref()).await?;
    let own = group.engine.me().keys;
    let reports: Vec<_> = group
        .engine
        .members()
        .into_iter()
        .map(|member| Report::CompareCode {
            id: member.id.as_str().to_owned(),
            name: member.name.as_str().to_owned(),
            code: compare_code(&own, &member.keys),
        })
        .collect();
    group.close().await;
    if reports.is_empty() {
        return Err(nobody_else());
    }
    output.say_all(&reports)
}

fn nobody_else() -> Failure {
    Failure::new(
        "nobody-to-compare",
        Exit::Group,
        "There is nobody to compare with.",
        "No other device is in the group.",
        "Invite one with `sealpost pair`.",
    )
}
