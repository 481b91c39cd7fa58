//! `members`: the devices of a group, and who came and went.

use sealpost_engine::core::event::Member;
use sealpost_engine::core::membership::Cohesion;
use sealpost_engine::history::PAGE_ROWS_MAX;

use crate::arguments::{Global, Members};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::Failure;
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::report::{MembershipReport, NoteReport, Report};

pub(super) async fn run(global: &Global, members: &Members, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, members.group.group.as_deref()).await?;
    let outcome = if members.history {
        history(&group, members, output).await
    } else {
        list(&group, output).await
    };
    group.close().await;
    outcome
}

/// All members in the order of their ids, then the list as a whole: what can be compared with
/// another device's.
async fn list(group: &OpenGroup, output: Output) -> Result<(), Failure> {
    let mut reports: Vec<_> = sorted_members(group)
        .into_iter()
        .map(|(member, is_me)| Report::Member {
            id: member.id.as_str().to_owned(),
            name: member.name.as_str().to_owned(),
            is_me,
        })
        .collect();
    reports.extend(membership(group).await?.map(Report::Membership));
    output.say_all(&reports)
}

/// The list of members as a whole; nothing outside a group.
pub(super) async fn membership(group: &OpenGroup) -> Result<Option<MembershipReport>, Failure> {
    let Some(manifest) = group.engine.manifest() else {
        return Ok(None);
    };
    let cohesion = group.engine.cohesion().await.map_err(engine_error)?;
    // A device that its own list lacks is no member for the others either.
    let lacks_me = matches!(cohesion, Some(Cohesion::Unlisted | Cohesion::AdmissionVoid));
    let ids = sorted_members(group)
        .into_iter()
        .filter(|(_, is_me)| !(*is_me && lacks_me))
        .map(|(member, _)| member.id.as_str().to_owned())
        .collect();
    let cohesion = cohesion.unwrap_or(Cohesion::Whole);
    Ok(Some(MembershipReport::new(manifest, ids, cohesion)))
}

/// All members with this device, in the order of their ids.
fn sorted_members(group: &OpenGroup) -> Vec<(Member, bool)> {
    let others = group.engine.members().into_iter();
    let others = others.map(|member| (member, false));
    let mut all: Vec<_> = others.chain([(group.engine.me(), true)]).collect();
    all.sort_by(|(a, _), (b, _)| a.id.as_str().cmp(b.id.as_str()));
    all
}

async fn history(group: &OpenGroup, members: &Members, output: Output) -> Result<(), Failure> {
    let mut left = members.limit.unwrap_or(usize::MAX);
    let mut before = members.before;
    while left > 0 {
        let page = group
            .engine
            .membership_history(before, left.min(PAGE_ROWS_MAX));
        let page = page.await.map_err(engine_error)?;
        let Some(last) = page.last() else { break };
        before = Some(last.position);
        left = left.saturating_sub(page.len());
        let lines: Vec<_> = page
            .into_iter()
            .map(|stored| Report::MembershipNote(NoteReport::of(stored)))
            .collect();
        output.say_all(&lines)?;
    }
    Ok(())
}
