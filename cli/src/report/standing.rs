//! How a group stands: its state and its delivery issues.

use sealpost_engine::history::StoredIssue;
use serde::Serialize;

use crate::explanation::issue_text;
use crate::terminal_text::one_line;
use sealpost_engine::utc;

/// A delivery issue that wasn't dismissed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct IssueReport {
    /// Its number, for `sealpost issues dismiss`.
    id: u64,
    /// Its stable code.
    issue: &'static str,
    /// When it happened.
    at_ms: u64,
    /// The message that it is about.
    message_id: Option<String>,
    /// The version that a held blob names.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    /// The span from which messages may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_ms: Option<(u64, u64)>,
}

impl IssueReport {
    /// What is said of an issue.
    pub(crate) fn new(stored: &StoredIssue) -> Self {
        Self {
            id: stored.id,
            issue: stored.issue.code(),
            at_ms: stored.at_ms,
            message_id: stored.issue.message().map(|id| id.to_text()),
            version: stored.issue.version(),
            missing_ms: stored.issue.missing_span(stored.at_ms),
        }
    }

    /// What a person reads.
    pub(super) fn to_text(&self) -> String {
        let (id, at) = (self.id, utc::to_text(self.at_ms));
        let message = self
            .message_id
            .as_ref()
            .map_or_else(String::new, |id| format!("\n    {id}"));
        let missing = self.missing_ms.map_or_else(String::new, |(from, until)| {
            let (from, until) = (utc::to_text(from), utc::to_text(until));
            format!("\n    {from} to {until}")
        });
        format!("{id}  {at}  {}{message}{missing}", issue_text(self.issue))
    }
}

/// Where this device stands in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StatusReport {
    pub(crate) number: u32,
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) status: &'static str,
    pub(crate) members: usize,
    pub(crate) unread: u64,
    /// Copies that the relay doesn't have yet, one per message and recipient.
    pub(crate) outbox_copies: u64,
    /// Delivery issues that were not dismissed.
    pub(crate) issues: u64,
    /// Whether texts stay here until the words of the join are compared.
    pub(crate) holds_texts: bool,
    pub(crate) relay_host: Option<String>,
    /// `answers`, `unreachable`, `relayVersionUnsupported` or `none`.
    pub(crate) relay: &'static str,
    /// Why it is unreachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) relay_reason: Option<&'static str>,
}

impl StatusReport {
    /// What a person reads.
    pub(super) fn to_text(&self) -> String {
        let Self {
            number,
            status,
            members,
            unread,
            outbox_copies,
            issues,
            relay,
            ..
        } = self;
        let name = one_line(&self.name);
        let host = self.relay_host.as_deref().map_or("", |host| host);
        let reason = self
            .relay_reason
            .map_or_else(String::new, |reason| format!(", {reason}"));
        let held = if self.holds_texts {
            "\n    Texts stay here until the words of the join are compared: `sealpost join`."
        } else {
            ""
        };
        format!(
            "{number}  {name}  {status}, {members} devices\n    \
             Relay: {} ({relay}{reason})\n    \
             {unread} unread, {outbox_copies} copies wait for the relay, {issues} delivery \
             issues{held}",
            one_line(host)
        )
    }
}

#[cfg(test)]
mod tests {
    use sealpost_engine::core::issue::DeliveryIssue;

    use super::*;

    #[test]
    fn an_issue_has_its_number_its_code_and_its_three_sentences() {
        let report = IssueReport::new(&StoredIssue {
            id: 7,
            at_ms: 1_790_812_800_000,
            issue: DeliveryIssue::HeldForUpgrade { version: 2 },
        });
        assert_eq!(
            serde_json::to_string(&report).unwrap(),
            r#"{"id":7,"issue":"heldForUpgrade","at_ms":1790812800000,"message_id":null,"version":2}"#
        );
        let text = report.to_text();
        assert!(
            text.starts_with("7  2026-10-01 00:00:00Z  Delivery issue: "),
            "{text}"
        );
        assert!(text.matches(". ").count() >= 2, "{text}");
    }
}
