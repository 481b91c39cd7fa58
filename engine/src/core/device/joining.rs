//! Pairing as the device acts on it: admitting, asking, entering a group.
//!
//! Spec: 4.4 to 4.7; amendments 3 and 13.

use rand_core::CryptoRngCore;
use sealpost_protocol::key::{DeviceKeys, SigningPublic};
use sealpost_protocol::manifest::{self, GroupId, SignedManifest};
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::pair::PairBody;
use sealpost_protocol::token::PairingToken;

use super::Device;
use crate::core::error::EngineError;
use crate::core::event::{Event, JoinProgress, JoinRequestId, Spent};
use crate::core::membership::{IssueError, Membership, has_room_before_anchor, is_anchor};
use crate::core::status::{Phase, StatusReason};
use crate::core::step::{BufferedManifest, Change, Effect, JoinRecord, OutboxKind, WordsTarget};

/// The side that admits.
impl Device {
    /// Opens a pairing window under a new secret; one that is open is closed.
    ///
    /// # Errors
    ///
    /// `notMember` while joining, or while a group ends.
    pub fn handle_start_pairing(
        &mut self,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Result<PairingToken, EngineError> {
        match self.phase {
            Phase::NotJoined | Phase::Member => {}
            Phase::PendingJoin | Phase::Ending(_) => {
                return Err(EngineError::NotMember {
                    status: self.status(),
                });
            }
        }
        let token = self.pairing.open(self.keys, now_ms, rng);
        self.tell(Event::PairingChanged);
        Ok(token)
    }

    /// Admits the device behind a request, creating the group if there is none, and closes
    /// the window.
    ///
    /// # Errors
    ///
    /// `pairingClosed` if the request isn't one of the open window; `removedBefore` or
    /// `keysMismatch` if its keys can't be admitted; `groupFull`; `storage` when the sequence
    /// numbers are used up.
    pub fn handle_accept(
        &mut self,
        request: JoinRequestId,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Result<(), EngineError> {
        let (keys, name) = self
            .pairing
            .requester(request)
            .ok_or(EngineError::PairingClosed)?;
        self.next_sequence(now_ms)?;
        match self.phase {
            Phase::NotJoined => self.create_group(keys, name, now_ms, rng)?,
            Phase::Member => self.admit(&keys, &name, now_ms)?,
            Phase::PendingJoin | Phase::Ending(_) => return Err(EngineError::PairingClosed),
        }
        self.pairing.close_accepted(keys);
        self.tell(Event::PairingChanged);
        self.tell_group_name(&[keys], now_ms);
        Ok(())
    }

    /// Dismisses a request; the device may not ask again in this window.
    pub fn handle_dismiss(&mut self, request: JoinRequestId) {
        if self.pairing.dismiss(request) {
            self.tell(Event::PairingChanged);
        }
    }

    /// Closes the window and spends its secret.
    pub fn handle_cancel_pairing(&mut self) {
        if self.pairing.close(Spent::Closed) {
            self.tell(Event::PairingChanged);
        }
    }

    /// Takes the pairing words that were computed.
    pub fn handle_words(&mut self, target: WordsTarget, words: [String; 4]) {
        match target {
            WordsTarget::Request(id) => {
                let membership = self.membership.as_ref();
                let own = (&self.keys, &self.name);
                let shown = self.pairing.set_request_words(id, words, |keys, name| {
                    look_alike(membership, own, keys, name)
                });
                if let Some(request) = shown {
                    self.tell(Event::JoinRequested(request));
                    self.tell(Event::PairingChanged);
                }
            }
            WordsTarget::Join(number) => {
                if self.pairing.set_join_words(number, words) {
                    self.tell(Event::PairingChanged);
                }
            }
        }
    }

    fn create_group(
        &mut self,
        keys: DeviceKeys,
        name: DeviceName,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Result<(), EngineError> {
        let me = manifest::Member {
            keys: self.keys,
            name: self.name.clone(),
        };
        let joiner = manifest::Member { keys, name };
        let group = GroupId::generate(rng);
        let membership = Membership::genesis(group, me, joiner, &self.secrets.signing, now_ms)
            .map_err(|error| Self::refusal_of(&error))?;
        self.membership = Some(membership);
        self.keep_group_name();
        self.set_phase(Phase::Member, Some(StatusReason::Created));
        self.carry_out_membership(Some(keys.noise), now_ms);
        Ok(())
    }

    fn admit(
        &mut self,
        keys: &DeviceKeys,
        name: &DeviceName,
        now_ms: u64,
    ) -> Result<(), EngineError> {
        let Some(membership) = &mut self.membership else {
            return Err(EngineError::PairingClosed);
        };
        membership
            .issue_admission(keys, name, &self.secrets.signing, now_ms)
            .map_err(|error| Self::refusal_of(&error))?;
        self.carry_out_membership(Some(keys.noise), now_ms);
        Ok(())
    }

    /// What the app is told when a manifest can't be issued.
    pub(super) const fn refusal_of(error: &IssueError) -> EngineError {
        match error {
            IssueError::GroupFull { max } => EngineError::GroupFull { max: *max },
            IssueError::TombsFull { max } => EngineError::GroupWornOut { max: *max },
            IssueError::MemberUnknown => EngineError::MemberNotFound,
            IssueError::NotListed => EngineError::NotListed,
            IssueError::NoParent => EngineError::ManifestAwaited,
            IssueError::VersionExhausted => EngineError::VersionsExhausted,
            IssueError::RemovedBefore => EngineError::RemovedBefore,
            IssueError::KeysMismatch => EngineError::KeysMismatch,
            IssueError::Manifest(_) => EngineError::PairingClosed,
        }
    }
}

/// The side that joins.
impl Device {
    /// Asks the device behind the token for admission. An unfinished join is replaced.
    ///
    /// # Errors
    ///
    /// `alreadyInGroup`, `invalidPairingToken` for this device's own token, or `storage` when
    /// the sequence numbers are used up.
    pub fn handle_join(&mut self, token: &PairingToken, now_ms: u64) -> Result<(), EngineError> {
        match self.phase {
            Phase::NotJoined | Phase::PendingJoin => {}
            Phase::Member | Phase::Ending(_) => return Err(EngineError::AlreadyInGroup),
        }
        let admitter = token.keys();
        if admitter.noise == self.keys.noise || admitter.signing == self.keys.signing {
            return Err(EngineError::InvalidPairingToken);
        }
        let sequence = self.next_sequence(now_ms)?;
        self.drop_join();
        let record = JoinRecord {
            admitter,
            secret: token.secret().clone(),
            confirmed: false,
            is_refused: false,
        };
        self.step.changes.push(Change::JoinSaved(record.clone()));
        self.pairing.join(record);
        self.set_phase(Phase::PendingJoin, None);
        let body = PairBody::new(token, &self.keys, self.name.clone()).encode();
        self.take_sequence(sequence);
        self.queue(sequence, OutboxKind::Pair, None, body, &[admitter]);
        self.want_join_words();
        self.tell(Event::PairingChanged);
        Ok(())
    }

    /// Gives up an unfinished join. Does nothing in any other status.
    ///
    /// The request may be on the relay, and accepted there: then a group lists keys that
    /// nobody uses, and once it has removed them it never takes them back. So the device goes
    /// on under fresh keys.
    pub fn handle_cancel_join(&mut self, rng: &mut impl CryptoRngCore) {
        if self.phase == Phase::PendingJoin {
            self.pairing.end_join();
            self.forget_group();
            self.set_phase(Phase::NotJoined, None);
            self.replace_identity(rng);
            self.tell(Event::PairingChanged);
        }
    }

    /// The person said that the words are the same on both screens: own messages may go out.
    pub fn handle_confirm_words(&mut self) {
        let Some(record) = self.pairing.confirm().cloned() else {
            return;
        };
        if self.phase == Phase::Member {
            self.pairing.end_join();
            self.step.changes.push(Change::JoinRemoved);
        } else {
            self.step.changes.push(Change::JoinSaved(record));
        }
        self.tell(Event::PairingChanged);
    }

    /// The person said that the words differ: cancels the join, or leaves the group that it
    /// led to. Does nothing once the words are confirmed in a group.
    ///
    /// # Errors
    ///
    /// As [`Device::handle_leave`].
    pub fn handle_refuse_words(
        &mut self,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Result<(), EngineError> {
        if self.phase == Phase::Member && self.pairing.join_record().is_some() {
            return self.handle_leave(now_ms);
        }
        self.handle_cancel_join(rng);
        Ok(())
    }

    /// Takes a manifest while the admission is awaited: the anchor, or one for later.
    pub(super) fn receive_before_admission(
        &mut self,
        author: SigningPublic,
        manifest: SignedManifest,
        now_ms: u64,
    ) {
        let Some(join) = self.pairing.join_record() else {
            return;
        };
        if is_anchor(&manifest, &author, &self.keys, &join.admitter.signing) {
            self.enter_group(manifest, now_ms);
            return;
        }
        let authors = self.buffered.iter().map(|kept| &kept.author);
        let has_room = has_room_before_anchor(authors, &author, &join.admitter.signing);
        let kept = BufferedManifest { author, manifest };
        if has_room && !self.buffered.contains(&kept) {
            self.step
                .changes
                .push(Change::ManifestBuffered(kept.clone()));
            self.buffered.push(kept);
        }
    }

    /// How far the own join has come.
    pub(super) fn join_progress(&self) -> JoinProgress {
        if self.phase != Phase::PendingJoin {
            return JoinProgress::Admitted;
        }
        match self.outbox.pair_in_flight() {
            Some(true) => JoinProgress::Sending,
            Some(false) => JoinProgress::Queued,
            None if self.pairing.is_join_refused() => JoinProgress::Refused,
            None => JoinProgress::OnRelay,
        }
    }

    /// Tells that the join has come further, or has been thrown back.
    pub(super) fn tell_join_progress(&mut self) {
        let progress = self.pairing.join_record().map(|_| self.join_progress());
        if self.told_progress != progress {
            self.told_progress = progress;
            self.tell(Event::PairingChanged);
        }
    }

    /// Starts the computation of the own join's words, unless they are known.
    pub(super) fn want_join_words(&mut self) {
        if let Some(request) = self.pairing.wanted_words(self.keys) {
            self.step.effects.push(Effect::ComputeWords(request));
        }
    }

    /// Pairing is over on both sides.
    pub(super) fn end_pairing(&mut self) {
        let was_open = self.pairing.close(Spent::Closed);
        let was_joining = self.pairing.end_join();
        if was_joining {
            self.step.changes.push(Change::JoinRemoved);
        }
        if was_open || was_joining {
            self.tell(Event::PairingChanged);
        }
    }

    fn enter_group(&mut self, anchor: SignedManifest, now_ms: u64) {
        let buffered = self.take_buffered();
        let membership = Membership::anchored(self.keys, anchor, buffered, now_ms);
        self.membership = Some(membership);
        self.give_way_with_group_name();
        self.outbox.withdraw_pair(&mut self.step);
        if self.pairing.join_record().is_none_or(|join| join.confirmed) {
            self.pairing.end_join();
            self.step.changes.push(Change::JoinRemoved);
        }
        self.set_phase(Phase::Member, Some(StatusReason::Joined));
        self.carry_out_membership(None, now_ms);
        self.tell(Event::PairingChanged);
    }

    /// Forgets the unfinished join with everything that belongs to it.
    fn drop_join(&mut self) {
        self.outbox.withdraw_pair(&mut self.step);
        self.take_buffered();
        if self.pairing.end_join() {
            self.step.changes.push(Change::JoinRemoved);
        }
    }

    fn take_buffered(&mut self) -> Vec<(SigningPublic, SignedManifest)> {
        if !self.buffered.is_empty() {
            self.step.changes.push(Change::BufferedManifestsRemoved);
        }
        let buffered = std::mem::take(&mut self.buffered);
        buffered
            .into_iter()
            .map(|kept| (kept.author, kept.manifest))
            .collect()
    }
}

/// The member, perhaps this device itself, whose name looks like that of a device that asks.
fn look_alike(
    membership: Option<&Membership>,
    (own_keys, own_name): (&DeviceKeys, &DeviceName),
    keys: &DeviceKeys,
    name: &DeviceName,
) -> Option<DeviceName> {
    let members = membership.into_iter().flat_map(|membership| {
        let view = membership.view().values();
        view.map(|member| (&member.keys, &member.name))
    });
    std::iter::once((own_keys, own_name))
        .chain(members)
        .find(|(of, called)| *of != keys && called.looks_like(name))
        .map(|(_, called)| called.clone())
}
