//! Which notifications there are, and when.
//!
//! Owns the decision only: time is an argument, nothing here shows anything and nothing here
//! has words (those are in [`words`]). A group has one notification at most, which counts up
//! while messages come in a burst; all delivery issues that need the person share one.
//!
//! Invariants:
//! - nothing is said of a group whose newest messages the person is looking at;
//! - a burst costs one notification at once and then one change each [`BURST_MS`];
//! - what was read, or muted, is never shown later; what is shown is withdrawn once read;
//! - the text of a message is kept only where the person chose to see it in notifications.

mod answers;
pub mod board;
pub mod words;

use std::collections::BTreeMap;

use crate::view::NotificationPrivacy;

/// The shortest time between two changes of one notification.
const BURST_MS: u64 = 3_000;

/// How many authors of one burst are told apart.
const AUTHORS_MAX: usize = 8;

/// What a notification is about; there is one for each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// New messages in a group.
    Group(String),
    /// Delivery issues.
    Issues,
}

/// A message that was stored.
#[derive(Clone)]
pub struct NewMessage {
    /// The group.
    pub group: String,
    /// Where it stands in the group.
    pub position: u64,
    /// Who wrote it.
    pub author: String,
    /// What it says; nothing when this version can't show it.
    pub text: Option<String>,
}

/// What a notification says, before it has words.
#[derive(Clone, PartialEq, Eq)]
pub struct Summary {
    /// How many messages or issues.
    pub count: u64,
    /// Who wrote them, in the order of their last message.
    pub authors: Vec<String>,
    /// The newest text, where the person chose to see it.
    pub text: Option<String>,
    /// Whether the newest message can't be shown by this version.
    pub is_unknown: bool,
}

/// What has to be done to the notifications of the system.
#[derive(Clone, PartialEq, Eq)]
pub enum Change {
    /// Show or replace the one about a subject.
    Show(Subject, Summary),
    /// Take the one about a subject away.
    Withdraw(Subject),
}

/// The notifications of the app.
#[derive(Default)]
pub struct Notifications {
    privacy: NotificationPrivacy,
    muted_until_ms: u64,
    looked_at: Option<String>,
    looks_at_issues: bool,
    is_focused: bool,
    entries: BTreeMap<Subject, Entry>,
    /// What was withdrawn and not yet taken away from the screen.
    withdrawn: Vec<Subject>,
}

/// The notification about one subject.
struct Entry {
    summary: Summary,
    /// The newest position that it speaks of; zero for issues.
    position: u64,
    /// When it was last shown; not yet if nothing.
    shown_at_ms: Option<u64>,
    /// Whether it says less than there is.
    is_old: bool,
}

impl Notifications {
    /// Takes over what the person chose. What says more than is allowed now is withdrawn.
    /// A new mute silences what was to be shown, too.
    pub fn choose(&mut self, privacy: NotificationPrivacy, muted_until_ms: Option<u64>) {
        let muted_until_ms = muted_until_ms.unwrap_or_default();
        let is_quieter = muted_until_ms > self.muted_until_ms || self.privacy != privacy;
        self.muted_until_ms = muted_until_ms;
        self.privacy = privacy;
        if is_quieter {
            self.withdraw_all();
        }
    }

    /// Takes over what the person looks at: the group whose newest messages the window shows,
    /// or the delivery issues, and whether the window has the keyboard.
    pub fn handle_look(&mut self, group: Option<String>, issues: bool, is_focused: bool) {
        self.looked_at = group;
        self.looks_at_issues = issues;
        self.is_focused = is_focused;
        if issues && is_focused {
            self.handle_issues_seen();
        }
        if let (Some(group), true) = (self.looked_at.clone(), is_focused) {
            self.withdraw(&Subject::Group(group));
        }
    }

    /// Handles a message of another device.
    pub fn handle_message(&mut self, message: NewMessage, now_ms: u64) {
        let is_seen = self.is_focused && self.looked_at.as_ref() == Some(&message.group);
        if is_seen || self.is_muted(now_ms) {
            return;
        }
        let text = match self.privacy {
            NotificationPrivacy::WhoAndText => message.text.clone(),
            NotificationPrivacy::Nothing | NotificationPrivacy::Who => None,
        };
        let entry = self.entry(Subject::Group(message.group));
        // A message that comes twice is one message.
        if message.position <= entry.position {
            return;
        }
        entry.position = message.position;
        entry.summary.count += 1;
        entry.summary.is_unknown = message.text.is_none();
        entry.summary.text = text;
        entry
            .summary
            .authors
            .retain(|author| *author != message.author);
        entry.summary.authors.push(message.author);
        if entry.summary.authors.len() > AUTHORS_MAX {
            entry.summary.authors.remove(0);
        }
        entry.is_old = true;
    }

    /// Handles a delivery issue that needs the person.
    pub fn handle_issue(&mut self, now_ms: u64) {
        let is_seen = self.is_focused && self.looks_at_issues;
        if is_seen || self.is_muted(now_ms) {
            return;
        }
        let entry = self.entry(Subject::Issues);
        entry.summary.count += 1;
        entry.is_old = true;
    }

    /// Handles that everything up to a position was read, or that a message was deleted.
    pub fn handle_read(&mut self, group: &str, position: u64) {
        let subject = Subject::Group(group.to_owned());
        if self
            .entries
            .get(&subject)
            .is_some_and(|entry| entry.position <= position)
        {
            self.withdraw(&subject);
        }
    }

    /// Handles that a message is gone: a notification may repeat its text no longer.
    pub fn handle_deleted(&mut self, group: &str) {
        self.withdraw(&Subject::Group(group.to_owned()));
    }

    /// Handles that the person looks at the list of delivery issues.
    pub fn handle_issues_seen(&mut self) {
        self.withdraw(&Subject::Issues);
    }

    /// Handles that the person answered a notification, or the system took it away.
    pub fn handle_gone(&mut self, subject: &Subject) {
        self.entries.remove(subject);
    }

    /// Withdraws everything, for an app that locks or ends.
    pub fn withdraw_all(&mut self) {
        let subjects: Vec<Subject> = self.entries.keys().cloned().collect();
        for subject in subjects {
            self.withdraw(&subject);
        }
    }

    /// What has to be done now.
    pub fn take_due(&mut self, now_ms: u64) -> Vec<Change> {
        let withdrawn = std::mem::take(&mut self.withdrawn);
        let mut changes: Vec<Change> = withdrawn.into_iter().map(Change::Withdraw).collect();
        for (subject, entry) in &mut self.entries {
            if entry.due_at_ms().is_some_and(|due| due <= now_ms) {
                entry.shown_at_ms = Some(now_ms);
                entry.is_old = false;
                changes.push(Change::Show(subject.clone(), entry.summary.clone()));
            }
        }
        changes
    }

    /// When there is something to do next.
    pub fn next_due_ms(&self) -> Option<u64> {
        if !self.withdrawn.is_empty() {
            return Some(0);
        }
        self.entries.values().filter_map(Entry::due_at_ms).min()
    }

    /// Whether nothing is shown now.
    pub fn is_muted(&self, now_ms: u64) -> bool {
        now_ms < self.muted_until_ms
    }

    fn entry(&mut self, subject: Subject) -> &mut Entry {
        self.entries.entry(subject).or_insert_with(|| Entry {
            summary: Summary {
                count: 0,
                authors: Vec::new(),
                text: None,
                is_unknown: false,
            },
            position: 0,
            shown_at_ms: None,
            is_old: false,
        })
    }

    fn withdraw(&mut self, subject: &Subject) {
        let entry = self.entries.remove(subject);
        if entry.is_some_and(|entry| entry.shown_at_ms.is_some()) {
            self.withdrawn.push(subject.clone());
        }
    }
}

impl Entry {
    /// When it has to be shown; never when it says all there is.
    fn due_at_ms(&self) -> Option<u64> {
        let earliest = |shown: u64| shown.saturating_add(BURST_MS);
        self.is_old.then(|| self.shown_at_ms.map_or(0, earliest))
    }
}

#[cfg(test)]
mod tests;
