//! What leads the person to the app and through it: notifications, and the places in the
//! window that something outside of it points at.
//!
//! Owns the queue of destinations and the task that shows notifications in time. When there
//! is one is decided in [`crate::notification`].

use std::collections::VecDeque;
use std::sync::Weak;
use std::time::Duration;

use sealpost_engine::core::issue::DeliveryIssue;

use super::{Controller, Shared, State};
use crate::app_error::AppError;
use crate::notification::words::words;
use crate::notification::{Change, NewMessage, Subject};
use crate::view::{Arrived, DestinationView, Place, Showing};

use super::issues::needs_person;

/// Links that nobody has answered yet; what comes beyond them is dropped.
const DESTINATIONS_MAX: usize = 8;

/// The longest link that is taken, in bytes: far more than an invitation has.
const LINK_BYTES_MAX: usize = 4_096;

/// How many of the newest messages one notification is made from.
const NEW_MESSAGES_MAX: usize = 500;

/// The scheme of an invitation.
const LINK_SCHEME: &str = "trueseal:";

/// Where the window is asked to go, in order.
#[derive(Default)]
pub(super) struct Destinations {
    waiting: VecDeque<DestinationView>,
    last_id: u32,
}

impl Destinations {
    fn push(&mut self, place: Place, group: Option<String>, invitation: Option<String>) {
        // Where the window is led for the second time it need not be led twice.
        let is_known = self.waiting.back().is_some_and(|last| {
            (last.place, &last.group, &last.invitation) == (place, &group, &invitation)
        });
        if is_known || self.waiting.len() >= DESTINATIONS_MAX {
            return;
        }
        self.last_id = self.last_id.wrapping_add(1);
        self.waiting.push_back(DestinationView {
            id: self.last_id,
            place,
            group,
            invitation,
        });
    }

    pub(super) fn next(&self) -> Option<DestinationView> {
        self.waiting.front().cloned()
    }
}

/// Shows notifications when their time has come, until the app is gone.
pub(super) async fn run(app: Weak<Shared>) {
    /// The longest sleep: the app may be gone meanwhile.
    const SLEEP_MAX: Duration = Duration::from_secs(10);
    loop {
        let Some(shared) = app.upgrade() else { return };
        let controller = Controller { shared };
        let now_ms = controller.now_ms();
        let due_ms = controller.state().notifications.next_due_ms();
        let sleep = due_ms.map_or(SLEEP_MAX, |due| {
            Duration::from_millis(due.saturating_sub(now_ms)).min(SLEEP_MAX)
        });
        if !sleep.is_zero() {
            let rang = controller.shared.rang.notified();
            let _ = tokio::time::timeout(sleep, rang).await;
        }
        controller.show_notifications();
    }
}

impl Controller {
    /// Keeps which group's newest messages the window shows, or whether it shows the delivery
    /// issues.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub fn showing(&self, args: &Showing) -> Result<(), AppError> {
        let mut state = self.state();
        state.shown_group.clone_from(&args.group);
        state.shows_issues = args.issues;
        self.note_look(state);
        Ok(())
    }

    /// Keeps whether the window has the keyboard.
    pub fn handle_focus(&self, is_focused: bool) {
        self.note_use();
        let mut state = self.state();
        state.is_focused = is_focused;
        self.note_look(state);
    }

    fn note_look(&self, mut state: std::sync::MutexGuard<'_, State>) {
        let (group, is_focused) = (state.shown_group.clone(), state.is_focused);
        let issues = state.shows_issues;
        state.notifications.handle_look(group, issues, is_focused);
        drop(state);
        self.shared.rang.notify_one();
    }

    /// Handles that the window has gone where it was asked to go.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub fn arrived(&self, args: &Arrived) -> Result<(), AppError> {
        let mut state = self.state();
        state.destinations.waiting.retain(|one| one.id != args.id);
        drop(state);
        self.changed();
        Ok(())
    }

    /// Shows the window at a place.
    pub fn lead_to(&self, place: Place, group: Option<String>) {
        self.state().destinations.push(place, group, None);
        self.changed();
        self.show();
    }

    /// Opens a link that another program handed over. What is not an invitation by its
    /// looks only shows the window; the window reads the rest.
    pub fn open_invitation(&self, link: &str) {
        let link = link.trim();
        let begins = link.get(..LINK_SCHEME.len());
        let is_ours = begins.is_some_and(|scheme| scheme.eq_ignore_ascii_case(LINK_SCHEME));
        if is_ours && link.len() <= LINK_BYTES_MAX {
            let invitation = Some(link.to_owned());
            let mut state = self.state();
            state.destinations.push(Place::Join, None, invitation);
            drop(state);
            self.changed();
        }
        self.show();
    }

    /// Handles a click on a notification.
    pub fn answer_notification(&self, subject: Subject) {
        self.state().notifications.handle_gone(&subject);
        match subject {
            Subject::Group(group) => self.lead_to(Place::Group, Some(group)),
            Subject::Issues => self.lead_to(Place::Issues, None),
        }
    }

    /// Handles that a notification is gone without an answer.
    pub fn forget_notification(&self, subject: &Subject) {
        self.state().notifications.handle_gone(subject);
    }

    /// Leads to the pairing code of a group that admits devices: of the only one, or of the
    /// first; without any the window shows how to begin.
    pub async fn lead_to_pairing(&self) {
        let view = self.view().await;
        let group = view.groups.into_iter().find(|group| group.admits());
        match group {
            Some(group) => self.lead_to(Place::Pair, Some(group.id)),
            None => self.show(),
        }
    }

    /// Handles a delivery issue of a group.
    pub(super) fn handle_issue(&self, group: &str, issue: &DeliveryIssue) {
        let now_ms = self.now_ms();
        let mut state = self.state();
        if let Some(group) = state.groups.get_mut(group) {
            group.issue_count = group.issue_count.saturating_add(1);
        }
        if needs_person(issue) && state.is_unlocked() {
            state.notifications.handle_issue(now_ms);
        }
        drop(state);
        self.shared.rang.notify_one();
        self.changed();
    }

    /// Handles that messages were stored from a position on.
    pub(super) async fn handle_stored(&self, group: &str, from: u64) {
        let Ok(engine) = self.engine(group) else {
            return;
        };
        let stored = engine.messages_after(from.saturating_sub(1), NEW_MESSAGES_MAX);
        let Ok(stored) = stored.await else { return };
        let now_ms = self.now_ms();
        let mut state = self.state();
        // The app was locked while they were read.
        if !state.is_unlocked() {
            return;
        }
        for row in stored {
            if let Some(group) = state.groups.get_mut(group) {
                let known = group.members.entry(row.author.clone()).or_default();
                known.last_message_at_ms = Some(row.stored_at_ms);
                if !row.own {
                    let clock = &mut group.clock;
                    clock.handle(&row.author, row.sent_at_ms, row.stored_at_ms);
                }
            }
            if row.own {
                continue;
            }
            let message = NewMessage {
                group: group.to_owned(),
                position: row.position,
                text: row.content.text().map(str::to_owned),
                author: row.author_name,
            };
            state.notifications.handle_message(message, now_ms);
        }
        drop(state);
        self.shared.rang.notify_one();
    }

    pub(super) fn show_notifications(&self) {
        let now_ms = self.now_ms();
        let mut state = self.state();
        if !state.is_unlocked() {
            state.notifications.withdraw_all();
        }
        let changes = state.notifications.take_due(now_ms);
        if changes.is_empty() {
            return;
        }
        let privacy = state.preferences.notifications;
        let catalogue = self.shared.setup.catalogue.get();
        for change in changes {
            match change {
                Change::Withdraw(subject) => self.window().withdraw(&subject),
                Change::Show(subject, summary) => {
                    let name = group_name(&state, &subject);
                    let words = words(&catalogue, privacy, &subject, &name, &summary);
                    self.window().notify(&subject, &words);
                }
            }
        }
    }

    /// Takes the notification of what was read away.
    pub(super) fn note_read(&self, group: &str, position: u64) {
        self.state().notifications.handle_read(group, position);
        self.shared.rang.notify_one();
    }

    /// Takes the notification of the delivery issues away once there are none.
    pub(super) fn note_dismissed(&self) {
        let mut state = self.state();
        if state.groups.values().all(|group| group.issue_count == 0) {
            state.notifications.handle_issues_seen();
        }
        drop(state);
        self.shared.rang.notify_one();
    }

    /// Forgets a group that is gone.
    pub(super) fn forget_subject(&self, group: &str) {
        self.state().notifications.handle_deleted(group);
        self.shared.rang.notify_one();
    }

    /// Takes every notification away, before the app locks or ends.
    pub(super) fn withdraw_notifications(&self) {
        self.state().notifications.withdraw_all();
        self.show_notifications();
    }
}

fn group_name(state: &State, subject: &Subject) -> String {
    let Subject::Group(group) = subject else {
        return String::new();
    };
    let group = state.groups.get(group);
    let name = group.and_then(|group| group.engine.group_name());
    name.unwrap_or_default()
}
