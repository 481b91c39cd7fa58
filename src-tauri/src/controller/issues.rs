//! The delivery issues of all groups in one list.
//!
//! Owns the order (newest first over all groups) and the one action that each issue has.
//! What is an issue is the engine's decision.

use std::collections::BTreeMap;

use sealpost_engine::core::issue::{DeliveryIssue, SendFailure, Unreadable};
use sealpost_engine::engine::Engine;
use sealpost_engine::history::{PAGE_ROWS_MAX, StoredIssue};

use super::Controller;
use super::membership::page_rows;
use crate::app_error::{AppError, ErrorArgument};
use crate::view::{IssueAction, IssueIn, IssuePage, IssueView, ReadIssues};

impl Controller {
    /// The delivery issues of all groups, newest first.
    ///
    /// # Errors
    ///
    /// `storage`.
    pub async fn delivery_issues(&self, args: ReadIssues) -> Result<IssuePage, AppError> {
        let skipped = usize::try_from(args.before.unwrap_or_default()).unwrap_or(PAGE_ROWS_MAX);
        let end = skipped.saturating_add(page_rows(args.limit));
        let mut found: Vec<(String, Engine, StoredIssue)> = Vec::new();
        for (group, engine) in self.engines() {
            for issue in engine.delivery_issues(end.saturating_add(1)).await? {
                found.push((group.clone(), engine.clone(), issue));
            }
        }
        // Two issues of one moment stay in the order in which they were raised.
        found.sort_by_key(|(_, _, issue)| std::cmp::Reverse((issue.at_ms, issue.id)));
        let next = (found.len() > end).then(|| u64::try_from(end).unwrap_or(u64::MAX));
        let mut issues = Vec::new();
        for (group, engine, issue) in found.into_iter().take(end).skip(skipped) {
            issues.push(issue_view(group, &engine, &issue).await);
        }
        Ok(IssuePage { issues, next })
    }

    /// Takes an issue off the list.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn dismiss_issue(&self, args: IssueIn) -> Result<(), AppError> {
        let engine = self.engine(&args.group)?;
        engine.dismiss_issue(args.issue).await?;
        self.count_issues(&args.group, &engine).await;
        self.note_dismissed();
        self.changed();
        Ok(())
    }

    /// Counts a group's issues anew; their number is asked for with every view.
    pub(super) async fn count_issues(&self, group: &str, engine: &Engine) {
        let count = engine.issue_count().await;
        if let (Ok(count), Some(group)) = (count, self.state().groups.get_mut(group)) {
            group.issue_count = count;
        }
    }
}

/// Shows an issue with the message that it is about, as far as that is still there.
async fn issue_view(group: String, engine: &Engine, stored: &StoredIssue) -> IssueView {
    let message = match stored.issue.message() {
        Some(id) => engine.message(*id).await.ok().flatten(),
        None => None,
    };
    let mut args = BTreeMap::new();
    if let Some(version) = stored.issue.version() {
        args.insert("version", ErrorArgument::Number(version.into()));
    }
    if let Some((from, until)) = stored.issue.missing_span(stored.at_ms) {
        args.insert("missingFrom", ErrorArgument::Number(from));
        args.insert("missingUntil", ErrorArgument::Number(until));
    }
    let text = message.as_ref().and_then(|message| message.content.text());
    IssueView {
        group,
        group_name: engine.group_name().unwrap_or_default(),
        id: stored.id,
        code: stored.issue.code().to_owned(),
        args,
        at_ms: stored.at_ms,
        message_id: stored.issue.message().map(|id| id.to_text()),
        position: message.as_ref().map(|message| message.position),
        action: action(&stored.issue, text.is_some()),
        text: text.map(str::to_owned),
    }
}

/// The one thing to do about an issue. Without its message there is nothing to send again.
fn action(issue: &DeliveryIssue, has_text: bool) -> IssueAction {
    match issue {
        DeliveryIssue::SendFailed { failure, .. } if has_text => match failure {
            SendFailure::Expired => IssueAction::Retry,
            SendFailure::TooLarge | SendFailure::Malformed => IssueAction::CopyText,
        },
        DeliveryIssue::HeldForUpgrade { .. }
        | DeliveryIssue::Unreadable(Unreadable::DroppedWhileHeld) => IssueAction::Update,
        _ => IssueAction::Dismiss,
    }
}

/// Whether an issue needs a person. What anybody can cause with a few bytes, and what nobody
/// here can mend, stays in the list without calling for anyone.
pub(super) fn needs_person(issue: &DeliveryIssue) -> bool {
    !matches!(
        issue,
        DeliveryIssue::Unreadable(Unreadable::Malformed | Unreadable::Expired)
            | DeliveryIssue::Unauthorized
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_anybody_can_cause_calls_for_nobody() {
        assert!(!needs_person(&DeliveryIssue::Unauthorized));
        assert!(!needs_person(&DeliveryIssue::Unreadable(
            Unreadable::Malformed
        )));
        assert!(needs_person(&DeliveryIssue::DeviceCopied));
        assert!(needs_person(&DeliveryIssue::HeldForUpgrade { version: 2 }));
    }

    #[test]
    fn each_issue_has_the_action_that_helps() {
        let held = DeliveryIssue::HeldForUpgrade { version: 2 };
        assert_eq!(action(&held, false), IssueAction::Update);
        assert_eq!(
            action(&DeliveryIssue::StoreRepaired, false),
            IssueAction::Dismiss
        );
    }
}
