//! The lists beside the messages, as the window shows them: who came and went, delivery
//! issues, what a search found.
//!
//! Owns the shapes. Each list comes in pages; `next` of a page is handed back as `before`
//! for the page after it and means nothing else to the window.

use std::collections::BTreeMap;

use serde::Serialize;
use ts_rs::TS;

use crate::app_error::ErrorArgument;

/// A page of a group's membership history, newest first.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryPage {
    /// The lines.
    pub entries: Vec<HistoryEntry>,
    /// Where the next page begins; null at the end.
    #[ts(type = "number | null")]
    pub next: Option<u64>,
}

/// One line of a group's membership history.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// When this device learned of it.
    #[ts(type = "number")]
    pub at_ms: u64,
    /// The version of the group's list of members that says so.
    #[ts(type = "number | null")]
    pub version: Option<u64>,
    /// What happened.
    pub kind: HistoryKind,
    /// Whom it happened to; empty where it concerns the whole group.
    pub who: String,
    /// Whether that is this device.
    pub who_is_me: bool,
    /// Who did it; empty where that isn't known.
    pub by: String,
    /// Whether that is this device.
    pub by_is_me: bool,
}

/// What a line of the membership history says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum HistoryKind {
    /// This device started the group.
    Created,
    /// This device was admitted.
    Joined,
    /// A device was admitted.
    Added,
    /// A device was removed by another one.
    Removed,
    /// A device left.
    Left,
    /// A device changed its name.
    Renamed,
    /// The group was destroyed.
    Destroyed,
}

/// A page of the delivery issues of all groups, newest first.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct IssuePage {
    /// The issues.
    pub issues: Vec<IssueView>,
    /// Where the next page begins; null at the end.
    #[ts(type = "number | null")]
    pub next: Option<u64>,
}

/// One delivery issue.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct IssueView {
    /// The group.
    pub group: String,
    /// Its name on this device.
    pub group_name: String,
    /// Names the issue within its group.
    #[ts(type = "number")]
    pub id: u64,
    /// The stable code; its sentences stand under `issue-<code>`, with a dash for each dot.
    pub code: String,
    /// The numbers that the sentences need.
    #[ts(type = "Record<string, string | number>")]
    pub args: BTreeMap<&'static str, ErrorArgument>,
    /// When it happened.
    #[ts(type = "number")]
    pub at_ms: u64,
    /// The message that it is about, where it is about one.
    pub message_id: Option<String>,
    /// Where that message stands in its group, while it is there.
    #[ts(type = "number | null")]
    pub position: Option<u64>,
    /// The text of that message, while it is there and can be shown.
    pub text: Option<String>,
    /// The one thing to do about it.
    pub action: IssueAction,
}

/// The one thing to do about a delivery issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum IssueAction {
    /// Send the message again.
    Retry,
    /// Copy the text of the message, to send it in parts or by another way.
    CopyText,
    /// Update this app.
    Update,
    /// Take it off the list.
    Dismiss,
}

/// A page of what a search found, newest first.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage {
    /// The messages.
    pub hits: Vec<SearchHit>,
    /// Where the next page begins; null at the end.
    #[ts(type = "number | null")]
    pub next: Option<u64>,
}

/// A message that a search found.
#[derive(Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The group.
    pub group: String,
    /// Its name on this device.
    pub group_name: String,
    /// Where the message stands in its group.
    #[ts(type = "number")]
    pub position: u64,
    /// Who wrote it.
    pub author_name: String,
    /// Whether this device wrote it.
    pub own: bool,
    /// The part of the text around what was found. Plain text, never markup.
    pub snippet: String,
    /// What was found within the snippet.
    pub matches: Vec<MatchRange>,
    /// When this device stored it.
    #[ts(type = "number")]
    pub at_ms: u64,
}

/// A part of a snippet, counted in UTF-16 code units as JavaScript does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MatchRange {
    /// Where it begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}
