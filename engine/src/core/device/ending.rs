//! The end of a group for this device: left, removed, destroyed, and the wipe after it.
//!
//! A group ends in two steps. First the end is made durable together with the messages that
//! tell the others of it, and nothing but those goes out any more. When the last of them is
//! done with, everything is wiped in one transaction whose last write is the new identity.
//! The message history stays (amendment 9).
//!
//! Spec: 5.6, 5.7, 8; membership rule 3.7.

use rand_core::CryptoRngCore;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, SigningPublic};

use super::Device;
use crate::core::absence::Absence;
use crate::core::error::EngineError;
use crate::core::event::Event;
use crate::core::group_name::GroupName;
use crate::core::held::HeldBlobs;
use crate::core::status::{Ending, Phase};
use crate::core::step::{Change, Effect, OutboxKind};

impl Device {
    /// Starts the end of the group for everybody.
    ///
    /// # Errors
    ///
    /// `notMember` outside a group. Does nothing while it is being destroyed already.
    pub fn handle_destroy(&mut self, now_ms: u64) -> Result<(), EngineError> {
        match self.phase {
            Phase::NotJoined | Phase::PendingJoin => Err(EngineError::NotMember {
                status: self.status(),
            }),
            Phase::Ending(Ending::Destroyed) => Ok(()),
            Phase::Member
            | Phase::Ending(Ending::Left | Ending::Removed | Ending::Void | Ending::Full) => {
                self.begin_destroying(None, now_ms);
                Ok(())
            }
        }
    }

    /// Forgets a group whose end can't be told to the others, because its relay is gone for
    /// good (amendment 9).
    ///
    /// # Errors
    ///
    /// `notMember` unless the group is ending.
    pub fn handle_forget(&mut self) -> Result<(), EngineError> {
        if !matches!(self.phase, Phase::Ending(_)) {
            return Err(EngineError::NotMember {
                status: self.status(),
            });
        }
        self.is_forgotten = true;
        Ok(())
    }

    /// Makes the destruction durable and queues a Revoke for every other member of the view,
    /// but not back to where it came from.
    pub(super) fn begin_destroying(&mut self, from: Option<&SigningPublic>, now_ms: u64) {
        let recipients: Vec<DeviceKeys> = self
            .members()
            .into_iter()
            .map(|member| member.keys)
            .filter(|keys| Some(&keys.signing) != from)
            .collect();
        self.begin_ending(Ending::Destroyed);
        self.queue_control(OutboxKind::Revoke, None, Vec::new(), &recipients, now_ms);
    }

    /// From here on no Sync goes out and none reaches the handler.
    pub(super) fn begin_ending(&mut self, ending: Ending) {
        self.set_phase(Phase::Ending(ending), None);
        self.withdraws = true;
        self.inbox.discard_running(&mut self.step);
        self.end_pairing();
    }

    /// Wipes everything once nothing waits in the outbox.
    pub(super) fn finish_ending(&mut self, rng: &mut impl CryptoRngCore) {
        if let Phase::Ending(ending) = self.phase
            && (self.is_forgotten || self.outbox.is_empty())
        {
            self.wipe(ending, rng);
        }
    }

    fn wipe(&mut self, ending: Ending, rng: &mut impl CryptoRngCore) {
        self.forget_group();
        self.set_phase(Phase::NotJoined, Some(ending.reason()));
        self.tell(Event::MembersChanged(Vec::new()));
        self.replace_identity(rng);
    }

    /// Forgets all that belongs to a group or to a join, here and in the store.
    pub(super) fn forget_group(&mut self) {
        self.outbox.clear();
        self.inbox.end_any_session();
        self.held = HeldBlobs::default();
        self.membership = None;
        self.buffered.clear();
        self.bodies.clear();
        self.last_sequence = 0;
        self.is_forgotten = false;
        self.wants_leave = false;
        self.absence = Absence::default();
        self.group_name = self.group_name.take().map(GroupName::left_over);
        self.gave_name = false;
        self.step.changes.push(Change::GroupWiped);
    }

    /// Goes on under fresh keys. One that was replaced within the step never comes into use.
    pub(super) fn replace_identity(&mut self, rng: &mut impl CryptoRngCore) {
        self.secrets = DeviceSecrets::generate(rng);
        self.keys = self.secrets.keys();
        let changes = &mut self.step.changes;
        changes.retain(|change| !matches!(change, Change::IdentityReplaced(_)));
        changes.push(Change::IdentityReplaced(self.secrets.clone()));
        self.step.effects.push(Effect::RestartIdentity);
    }
}
