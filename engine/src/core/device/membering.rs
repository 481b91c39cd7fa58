//! Membership as the device acts on it: removing, leaving, and whatever the rule asks for.
//!
//! Spec: membership rule 3.4 to 3.7; TrueSeal 5.6.

use rand_core::CryptoRngCore;
use sealpost_protocol::key::{DeviceKeys, MemberId, NoisePublic, SigningPublic};
use sealpost_protocol::manifest::{Member, SignedManifest};

use super::Device;
use crate::core::error::EngineError;
use crate::core::event::AdmissionDropped;
use crate::core::event::Event;
use crate::core::issue::DeliveryIssue;
use crate::core::membership::{AdmissionDropReason, Attribution, Membership, MembershipEffect};
use crate::core::status::{Ending, Phase};
use crate::core::step::{Change, MembershipNote, OutboxKind};

/// A manifest and who it goes to: one message of the outbox.
struct Letter {
    manifest: SignedManifest,
    recipients: Vec<DeviceKeys>,
}

impl Device {
    /// Removes another member.
    ///
    /// # Errors
    ///
    /// `notMember` outside a group, `memberNotFound` for an unknown id and for the own one.
    pub fn handle_remove(&mut self, member: &MemberId, now_ms: u64) -> Result<(), EngineError> {
        let not_member = EngineError::NotMember {
            status: self.status(),
        };
        let Some(membership) = self
            .membership
            .as_mut()
            .filter(|_| self.phase == Phase::Member)
        else {
            return Err(not_member);
        };
        let key = member.signing_key().ok_or(EngineError::MemberNotFound)?;
        membership
            .issue_removal(&key, &self.secrets.signing, now_ms)
            .map_err(|error| Self::refusal_of(&error))?;
        self.carry_out_membership(None, now_ms);
        Ok(())
    }

    /// Leaves the group. Does nothing while leaving.
    ///
    /// # Errors
    ///
    /// `notMember` outside a group; `manifestAwaited` while every known manifest that lists this
    /// device lists a key in limbo too, in which case the device leaves by itself when another
    /// one arrives, after a restart as well.
    pub fn handle_leave(&mut self, now_ms: u64) -> Result<(), EngineError> {
        match self.phase {
            Phase::Ending(Ending::Left | Ending::Removed | Ending::Void | Ending::Full) => {
                return Ok(());
            }
            Phase::NotJoined | Phase::PendingJoin | Phase::Ending(Ending::Destroyed) => {
                return Err(EngineError::NotMember {
                    status: self.status(),
                });
            }
            Phase::Member => {}
        }
        if let Some(membership) = &mut self.membership {
            let issued = membership
                .issue_leave(&self.secrets.signing, now_ms)
                .map_err(|error| Self::refusal_of(&error));
            self.want_leave(issued == Err(EngineError::ManifestAwaited));
            issued?;
        }
        // Alone, the outbox is empty and the wipe follows in the same step.
        self.begin_ending(Ending::Left);
        self.carry_out_membership(None, now_ms);
        Ok(())
    }

    /// Keeps in mind whether the person wants to leave as soon as that can be.
    pub(super) fn want_leave(&mut self, wants_leave: bool) {
        if self.wants_leave != wants_leave {
            self.wants_leave = wants_leave;
            self.step.changes.push(Change::LeaveWanted(wants_leave));
        }
    }

    /// Leaves if that was wanted before it was possible.
    fn retry_leave(&mut self, now_ms: u64) {
        if self.wants_leave && self.phase == Phase::Member {
            // One that can't be made yet is tried again with the next manifest.
            let _ = self.handle_leave(now_ms);
        }
    }

    /// Takes a manifest as a member.
    pub(super) fn receive_as_member(
        &mut self,
        author: &SigningPublic,
        manifest: SignedManifest,
        now_ms: u64,
    ) -> Result<(), DeliveryIssue> {
        if let Some(membership) = &mut self.membership {
            membership
                .handle_manifest(author, manifest, now_ms)
                .map_err(|_| DeliveryIssue::Unauthorized)?;
        }
        self.carry_out_membership(None, now_ms);
        self.retry_leave(now_ms);
        Ok(())
    }

    /// Lets the merge timer see the time and whether the inbox is drained, and carries out
    /// what it asks for.
    pub(super) fn fire_membership_timer(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        let is_drained = self.inbox.is_up() && self.inbox.waiting() == 0;
        let Some(membership) = self
            .membership
            .as_mut()
            .filter(|_| self.phase == Phase::Member)
        else {
            return;
        };
        let is_due = membership.next_timer().is_some_and(|due| due <= now_ms);
        if is_due || is_drained != self.was_drained {
            self.was_drained = is_drained;
            membership.handle_timer(now_ms, is_drained, &self.secrets.signing, rng);
            self.carry_out_membership(None, now_ms);
            self.retry_leave(now_ms);
        }
    }

    /// Writes what the rule changed and does what it asks for. `first` hears of its
    /// admission before anybody else does (spec 4.6).
    pub(super) fn carry_out_membership(&mut self, first: Option<NoisePublic>, now_ms: u64) {
        let Some(membership) = &mut self.membership else {
            return;
        };
        let (changes, effects) = membership.drain();
        self.step
            .changes
            .extend(changes.into_iter().map(Change::Membership));
        let mut letters = Vec::new();
        let mut unnamed = Vec::new();
        let mut is_removed = false;
        for effect in effects {
            match effect {
                MembershipEffect::Send { to, manifest } => add_letter(&mut letters, to, manifest),
                MembershipEffect::ViewChanged => self.follow_view(),
                MembershipEffect::MemberAdded {
                    member,
                    by,
                    seen_ms,
                } => {
                    if self.has_to_tell_name(&member, by.as_ref()) {
                        unnamed.push(member.keys);
                    }
                    self.note(true, member, by, seen_ms);
                }
                MembershipEffect::MemberRemoved {
                    member,
                    by,
                    seen_ms,
                } => self.note(false, member, by, seen_ms),
                MembershipEffect::Removed => is_removed = true,
                MembershipEffect::AdmissionDropped { name, reason } => {
                    let reason = match reason {
                        AdmissionDropReason::GroupFull => AdmissionDropped::GroupFull,
                    };
                    self.tell(Event::AdmissionDropped { name, reason });
                }
            }
        }
        for letter in letters {
            let first = first.filter(|first| letter.recipients.iter().any(|to| to.noise == *first));
            let body = letter.manifest.encode();
            self.queue_control(
                OutboxKind::GroupManifest,
                first,
                body,
                &letter.recipients,
                now_ms,
            );
        }
        self.tell_group_name(&unnamed, now_ms);
        if is_removed && self.phase == Phase::Member {
            let ending = self.membership.as_ref().map_or(Ending::Removed, ending_of);
            self.begin_ending(ending);
        }
    }

    fn note(&mut self, is_added: bool, member: Member, by: Option<Attribution>, seen_ms: u64) {
        let me = self.keys.signing;
        let note = MembershipNote {
            is_added,
            is_me: member.keys.signing == me,
            by_me: by.as_ref().is_some_and(|by| by.issuer == me),
            member,
            by,
            seen_ms,
        };
        self.step.changes.push(Change::MembershipNoted(note));
    }

    /// The members changed: nothing more is sent to those that were removed.
    fn follow_view(&mut self) {
        self.tell(Event::MembersChanged(self.members()));
        self.withdraws = true;
    }

    /// Takes back what goes to nobody any more, a part in each step: where the group ends for
    /// this device all that the app sent, else what was meant for members that were removed.
    /// None of it goes out meanwhile ([`Device::holds_sync`]), after a restart neither.
    pub(super) fn withdraw_some(&mut self) {
        let Some(membership) = self.membership.as_ref().filter(|_| self.withdraws) else {
            self.withdraws = false;
            return;
        };
        let is_ending = matches!(self.phase, Phase::Ending(_));
        let tombs = &membership.snapshot().tombs;
        let keeps = |to: &DeviceKeys| !is_ending && !tombs.contains_key(&to.signing);
        self.withdraws = !self.outbox.withdraw_sync(keeps, &mut self.step);
    }
}

/// Why this device is no member any more, as far as it can know.
fn ending_of(membership: &Membership) -> Ending {
    if membership.gave_up() || membership.is_admission_void() {
        Ending::Void
    } else if membership.is_admission_dropped() {
        Ending::Full
    } else {
        Ending::Removed
    }
}

/// Adds a manifest for a recipient to the letter that holds it, unless the recipient has got
/// a later one since: the order per recipient is the order of the rule.
fn add_letter(letters: &mut Vec<Letter>, to: DeviceKeys, manifest: SignedManifest) {
    let hash = manifest.hash();
    let since = letters
        .iter()
        .rposition(|letter| letter.recipients.contains(&to))
        .map_or(0, |position| position.saturating_add(1));
    let found = letters
        .iter_mut()
        .skip(since)
        .find(|letter| letter.manifest.hash() == hash);
    match found {
        Some(letter) => letter.recipients.push(to),
        None => letters.push(Letter {
            manifest,
            recipients: vec![to],
        }),
    }
}
