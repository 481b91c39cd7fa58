//! The group's name as the device acts on it: giving one, taking one, telling newcomers.
//!
//! Which of two names the group has is [`GroupName`]'s to say. A name goes to everybody when
//! it is given, and later to each newcomer: from whoever admits it, and from whoever gave the
//! name, which the admitter may not have heard of yet.
//!
//! Amendment 15.

use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::key::DeviceKeys;
use sealpost_protocol::limit::APP_MESSAGE_ID_BYTES;
use sealpost_protocol::manifest::Member;
use sealpost_protocol::message_id::MessageId;

use super::Device;
use crate::core::error::EngineError;
use crate::core::event::Event;
use crate::core::group_name::GroupName;
use crate::core::membership::Attribution;
use crate::core::status::Phase;
use crate::core::step::{Change, OutboxKind};

impl Device {
    /// Gives the group another name, for everybody.
    ///
    /// # Errors
    ///
    /// `groupNameEmpty` where nothing visible is left of it when it is cleaned, or `storage`
    /// when the sequence numbers are used up.
    pub fn handle_rename_group(&mut self, text: &str, now_ms: u64) -> Result<(), EngineError> {
        let known = self.group_name.as_ref();
        let name = GroupName::given(text, known).ok_or(EngineError::GroupNameEmpty)?;
        if known.is_some_and(|known| known.version > 0 && known.text == name.text) {
            return Ok(());
        }
        self.next_sequence(now_ms)?;
        self.set_group_name(name, true);
        let others: Vec<DeviceKeys> = self.members().iter().map(|other| other.keys).collect();
        self.tell_group_name(&others, now_ms);
        Ok(())
    }

    /// Takes the name that a member gives the group, if it goes before the one here.
    pub(super) fn take_group_name(&mut self, text: &str, version: u64) {
        let received = GroupName::received(text, version);
        if let Some(name) = received.filter(|name| Some(name) > self.group_name.as_ref()) {
            self.set_group_name(name, false);
        }
    }

    /// Makes a name that is left from earlier the name of a group that begins here.
    pub(super) fn keep_group_name(&mut self) {
        let left = self.group_name.as_ref().filter(|name| name.version == 0);
        if let Some(name) = left.and_then(|left| GroupName::given(&left.text, Some(left))) {
            self.set_group_name(name, true);
        }
    }

    /// Lets every name of the group that this device enters go before the one here.
    pub(super) fn give_way_with_group_name(&mut self) {
        if let Some(name) = self.group_name.clone().filter(|name| name.version > 0) {
            self.set_group_name(name.left_over(), false);
        }
    }

    /// Tells members what the group is called here.
    pub(super) fn tell_group_name(&mut self, recipients: &[DeviceKeys], now_ms: u64) {
        let Some(name) = self.group_name.clone().filter(|name| name.version > 0) else {
            return;
        };
        if recipients.is_empty() || self.phase != Phase::Member {
            return;
        }
        if let Ok(sequence) = self.next_sequence(now_ms) {
            let id = self.take_sequence(sequence);
            let body = AppMessage {
                id: app_id(&id),
                kind: AppMessageKind::GroupName {
                    name: name.text,
                    version: name.version,
                },
                via: None,
            };
            let kind = OutboxKind::Sync { sent_at_ms: now_ms };
            self.queue(sequence, kind, None, body.encode(), recipients);
        }
    }

    /// Whether a newcomer may not hear the group's name from whoever let it in: that one may
    /// not have heard of it yet.
    pub(super) fn has_to_tell_name(&self, newcomer: &Member, by: Option<&Attribution>) -> bool {
        let me = self.keys.signing;
        self.gave_name && newcomer.keys.signing != me && by.is_none_or(|by| by.issuer != me)
    }

    fn set_group_name(&mut self, name: GroupName, is_mine: bool) {
        let is_news = self.group_name.as_ref().map(|known| &known.text) != Some(&name.text);
        self.step.changes.push(Change::GroupNamed {
            name: name.clone(),
            is_mine,
        });
        self.group_name = Some(name);
        self.gave_name = is_mine;
        if is_news {
            self.tell(Event::GroupRenamed);
        }
    }
}

/// The id of a name among the messages of the app: no other message has its Message ID.
fn app_id(id: &MessageId) -> [u8; APP_MESSAGE_ID_BYTES] {
    let mut short = [0; APP_MESSAGE_ID_BYTES];
    for (to, from) in short.iter_mut().zip(id.as_bytes()) {
        *to = *from;
    }
    short
}
