//! Telling the window what changed.
//!
//! Owns the pace: news come together in one view at most every [`PACE`], so that two
//! thousand messages in a row cost the window a few updates and not two thousand. The first
//! change after a quiet time is told at once.

use std::collections::BTreeSet;
use std::sync::Weak;
use std::time::Duration;

use sealpost_engine::core::event::{AdmissionDropped, Event, Spent};
use sealpost_engine::core::status::StatusReason as EngineReason;
use sealpost_engine::engine::Engine;
use sealpost_protocol::message_id::MessageId;

use super::{Controller, Shared, blocking};
use crate::settings::Settings as _;
use crate::view::{
    AppView, DroppedAdmissionView, DroppedReason, MessagesChanged, SpentCode, StaleRequestView,
    StatusReason,
};

/// The shortest time between two views.
const PACE: Duration = Duration::from_millis(50);

/// How long it waits for news at most before it looks whether the app is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// More changed rows than this are told as "all".
const CHANGED_IDS_MAX: usize = 256;

/// The rows of a group's messages that the window has not been told of.
#[derive(Default)]
pub(super) struct ChangedRows {
    from: Option<u64>,
    /// The first row that is new, and not only changed.
    stored_from: Option<u64>,
    /// Rows whose position has to be looked up.
    ids: BTreeSet<MessageId>,
}

impl ChangedRows {
    fn add_position(&mut self, position: u64) {
        self.from = Some(self.from.map_or(position, |from| from.min(position)));
    }

    fn add_id(&mut self, id: MessageId) {
        if self.ids.len() < CHANGED_IDS_MAX {
            self.ids.insert(id);
        } else {
            self.add_position(0);
        }
    }
}

/// Tells the window until the app is gone.
pub(super) async fn run(app: Weak<Shared>) {
    let mut last = None;
    loop {
        let Some(shared) = app.upgrade() else { return };
        let wait = tokio::time::timeout(PATIENCE, shared.changed.notified());
        if wait.await.is_ok() {
            let controller = Controller { shared };
            controller.tell(&mut last).await;
            drop(controller);
            tokio::time::sleep(PACE).await;
        }
    }
}

impl Controller {
    /// Listens to what a group's engine says.
    pub(super) fn listen(&self, group: &str, engine: &Engine) {
        let (app, name) = (self.downgrade(), group.to_owned());
        // Dropping a subscription ends nothing; closing the engine does.
        let _ = engine.on_event(move |event| {
            if let Some(shared) = app.upgrade() {
                Self { shared }.handle_event(&name, event);
            }
        });
        let (app, name) = (self.downgrade(), group.to_owned());
        let _ = engine.on_delivery_issue(move |issue| {
            if let Some(shared) = app.upgrade() {
                Self { shared }.handle_issue(&name, &issue);
            }
        });
        // The engine itself writes the history, in one transaction with the dedup record.
        // There is nothing to do here, but without a handler it would not receive.
        let handler = engine.on_message(|_| Box::pin(async { Ok(()) }));
        debug_assert!(handler.is_ok(), "an engine is listened to once");
    }

    pub(super) fn handle_event(&self, group: &str, event: Event) {
        let mut state = self.state();
        match event {
            Event::MessageStored { position } => {
                state.phones.note_rows(group, None);
                if let Some(group) = state.groups.get_mut(group) {
                    group.changes = group.changes.wrapping_add(1);
                }
                let rows = state.changed_rows.entry(group.to_owned()).or_default();
                rows.add_position(position);
                let first = rows.stored_from.map_or(position, |from| from.min(position));
                rows.stored_from = Some(first);
            }
            Event::MessageChanged { id } => {
                state.phones.note_rows(group, Some(id));
                state
                    .changed_rows
                    .entry(group.to_owned())
                    .or_default()
                    .add_id(id);
            }
            Event::StatusChanged {
                reason: Some(reason),
                ..
            } => {
                drop(state);
                return self.note_status_reason(group, reason.into());
            }
            Event::MembersChanged(_) => {
                if let Some(group) = state.groups.get_mut(group) {
                    group.members_known = false;
                    // How it holds together is asked for with the counting.
                    group.changes = group.changes.wrapping_add(1);
                }
            }
            Event::StaleRequest { name, spent } => {
                if let Some(group) = state.groups.get_mut(group) {
                    group.stale_request = Some(StaleRequestView {
                        name: name.as_str().to_owned(),
                        spent: spent.into(),
                    });
                }
            }
            Event::AdmissionDropped { name, reason } => {
                if let Some(group) = state.groups.get_mut(group) {
                    group.dropped_admission = Some(DroppedAdmissionView {
                        name: name.as_str().to_owned(),
                        reason: reason.into(),
                    });
                }
            }
            Event::StatusChanged { reason: None, .. }
            | Event::JoinRequested(_)
            | Event::ConnectionChanged(_)
            | Event::PairingChanged
            | Event::GroupRenamed => {}
        }
        drop(state);
        self.changed();
    }

    /// Takes note of what changed this device's place in a group. Called by the engine, which
    /// waits for no file: what is to be kept of it is written before the window is told.
    fn note_status_reason(&self, group: &str, reason: StatusReason) {
        let mut state = self.state();
        if let Some(group) = state.groups.get_mut(group) {
            group.status_reason = Some(reason);
        }
        let end = Some(reason).filter(|reason| reason.is_end());
        state.unkept_ends.insert(group.to_owned(), end);
        drop(state);
        self.changed();
    }

    /// Keeps how groups ended, so that it is known after a restart too: the engine then says
    /// no more than that the device is in no group.
    pub(super) async fn keep_group_ends(&self) {
        let ends = std::mem::take(&mut self.state().unkept_ends);
        let profile = self.state().profile.clone().filter(|_| !ends.is_empty());
        let Some(profile) = profile else { return };
        // What can't be kept is still shown until the app ends.
        let _ = blocking(move || {
            for (group, end) in ends {
                let _ = profile.set_group_end(&group, end);
            }
        })
        .await;
    }

    /// Tells the window and the tray all that changed since the last view.
    async fn tell(&self, last: &mut Option<AppView>) {
        let changed_rows = std::mem::take(&mut self.state().changed_rows);
        for (group, rows) in &changed_rows {
            if let Some(from) = rows.stored_from {
                self.handle_stored(group, from).await;
            }
        }
        self.learn_members().await;
        let view = self.snapshot().await;
        self.keep_group_ends().await;
        self.shared.phones_rang.notify_one();
        self.window().update_tray(view.tray());
        if last.as_ref() != Some(&view) {
            self.window().emit_view(&view);
            *last = Some(view);
        }
        for (group, rows) in changed_rows {
            if let Some(from) = self.lowest_position(&group, rows).await {
                self.window()
                    .emit_messages(&MessagesChanged { group, from });
            }
        }
    }

    async fn lowest_position(&self, group: &str, rows: ChangedRows) -> Option<u64> {
        let engine = self.engine(group).ok()?;
        let mut from = rows.from;
        for id in rows.ids {
            if let Ok(Some(message)) = engine.message(id).await {
                from = Some(from.map_or(message.position, |from| from.min(message.position)));
            }
        }
        from
    }
}

impl StatusReason {
    /// Whether the device was in the group before and isn't any more.
    fn is_end(self) -> bool {
        match self {
            Self::Left
            | Self::Removed
            | Self::AdmissionVoid
            | Self::GroupFull
            | Self::Destroyed
            | Self::StoreReset
            | Self::Restored => true,
            Self::Created | Self::Joined => false,
        }
    }
}

impl From<Spent> for SpentCode {
    fn from(spent: Spent) -> Self {
        match spent {
            Spent::Accepted => Self::Accepted,
            Spent::Closed => Self::Closed,
        }
    }
}

impl From<AdmissionDropped> for DroppedReason {
    fn from(reason: AdmissionDropped) -> Self {
        match reason {
            AdmissionDropped::GroupFull => Self::GroupFull,
            AdmissionDropped::Removed => Self::Removed,
        }
    }
}

impl From<EngineReason> for StatusReason {
    fn from(reason: EngineReason) -> Self {
        match reason {
            EngineReason::Created => Self::Created,
            EngineReason::Joined => Self::Joined,
            EngineReason::Left => Self::Left,
            EngineReason::Removed => Self::Removed,
            EngineReason::AdmissionVoid => Self::AdmissionVoid,
            EngineReason::GroupFull => Self::GroupFull,
            EngineReason::Destroyed => Self::Destroyed,
            EngineReason::StoreReset => Self::StoreReset,
        }
    }
}
