//! `issues`: lists the delivery issues of a group, or dismisses them.

use crate::arguments::{Global, Issues, IssuesCommand};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::{Exit, Failure};
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::report::{IssueReport, Report};

pub(super) async fn run(global: &Global, issues: &Issues, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, issues.group.as_deref()).await?;
    let outcome = answer(&group, issues.command.as_ref(), output).await;
    group.close().await;
    outcome
}

async fn answer(
    group: &OpenGroup,
    command: Option<&IssuesCommand>,
    output: Output,
) -> Result<(), Failure> {
    match command {
        None => {
            let listed = group.engine.delivery_issues(usize::MAX);
            let listed = listed.await.map_err(engine_error)?;
            let reports: Vec<Report> = listed
                .iter()
                .rev()
                .map(|stored| Report::DeliveryIssue(IssueReport::new(stored)))
                .collect();
            output.say_all(&reports)
        }
        Some(IssuesCommand::Dismiss { id: Some(id), .. }) => dismiss(group, *id).await,
        Some(IssuesCommand::Dismiss { .. }) => {
            let dismissed = group.engine.dismiss_all_issues();
            dismissed.await.map_err(engine_error)
        }
    }
}

async fn dismiss(group: &OpenGroup, id: u64) -> Result<(), Failure> {
    let dismissed = group.engine.dismiss_issue(id).await;
    if dismissed.map_err(engine_error)? {
        return Ok(());
    }
    Err(Failure::new(
        "issue-unknown",
        Exit::Input,
        "There is no such delivery issue.",
        "No issue of this group has this number; it may be dismissed already.",
        "`sealpost issues` shows the numbers. Nothing was dismissed.",
    ))
}
