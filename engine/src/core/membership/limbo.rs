//! What becomes of a key that is listed and that nobody with authority admitted.
//!
//! Such a key, in *limbo*, may be a puppet of a removed device; or a member whose admission is
//! still on its way; or a device of another part of the group that counts this one in and, for
//! want of a word, would do so for ever. So nobody is removed for being silent:
//!
//! - after half a day it is asked, once: it is sent the current manifest, which doesn't list it.
//!   Whoever counts the asker in answers with what speaks for it, and so is heard of;
//! - after a day a merge on a manifest that lists it removes it expressly, if it was heard of;
//! - a device that finds itself in limbo leaves after fifteen days, once it has been online for
//!   hours with nothing left to read. Nobody who could let it in has done so, and those who count
//!   it in may be unable to hear anybody else.
//!
//! The devices ask and close each at another time of a half day: two parts of a group that hold
//! each other in limbo would otherwise close each other at once, and nobody be left.
//!
//! Spec: membership rule, section 3.6.

use std::collections::BTreeSet;

use sealpost_protocol::key::{DeviceKeys, SigningPublic, SigningSecret};
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};

use super::bound::{
    ASK_AFTER_MS, CLOSE_AFTER_MS, CLOSE_SPREAD_MS, CLOSINGS_PER_DAY_MAX, DRAINED_STEP_MS,
    GIVE_UP_AFTER_MS, GIVE_UP_DRAINED_MS, PLEAS_MAX, QUESTIONS_PER_DAY_MAX,
};
use super::{IssueError, Leave, Membership, MembershipChange, MembershipEffect};

/// What to do about keys that have been in limbo for long.
pub(super) enum LimboStep {
    /// Remove those that a manifest lists with a merge on it.
    Close { parent: SignedManifest },
    /// Ask these whether they live.
    Ask { asked: Vec<DeviceKeys> },
}

impl Membership {
    /// Keeps since when each key is in limbo.
    pub(super) fn follow_limbo(&mut self, now_ms: u64) {
        let limbo = &self.standing.limbo;
        let known = &self.known.limbo_since;
        let ended: Vec<_> = known
            .keys()
            .filter(|key| !limbo.contains(key))
            .copied()
            .collect();
        let begun: Vec<_> = limbo
            .iter()
            .filter(|key| !known.contains_key(key))
            .copied()
            .collect();
        for key in ended {
            self.record(MembershipChange::LimboEnded { key });
        }
        for key in begun {
            self.record(MembershipChange::LimboStarted {
                key,
                since_ms: now_ms,
            });
        }
    }

    /// What has to be closed now.
    ///
    /// A removed device that invents puppets could otherwise cause a merge for each.
    pub(super) fn closing(&self, now_ms: u64) -> Option<LimboStep> {
        let closed = self.timer.closings.recent(now_ms);
        let room = CLOSINGS_PER_DAY_MAX.saturating_sub(closed);
        let due: BTreeSet<_> = self
            .closable()
            .filter(|(_, due_ms)| now_ms >= *due_ms)
            .map(|(key, _)| key)
            .collect();
        let parents = due.iter().filter_map(|key| self.closing_parent(key, &due));
        // One parent may list more than a day's worth, and a merge can't close a part of them:
        // it would list the rest. It is then closed on a day of its own.
        let mut fitting =
            parents.filter(|parent| closed == 0 || self.limbo_in(parent).count() <= room);
        fitting.next().map(|parent| LimboStep::Close { parent })
    }

    /// The limbo keys that are to be asked.
    ///
    /// Each question is many blobs, and a removed device may invent as many keys as it likes.
    pub(super) fn asking(&self, now_ms: u64) -> Option<LimboStep> {
        let room = QUESTIONS_PER_DAY_MAX.saturating_sub(self.timer.questions.recent(now_ms));
        let asked: Vec<_> = self
            .unasked()
            .filter(|(_, due_ms)| now_ms >= *due_ms)
            .filter_map(|(key, _)| Some(self.last_record(&key)?.keys))
            .take(room)
            .collect();
        (!asked.is_empty()).then_some(LimboStep::Ask { asked })
    }

    pub(super) fn take_limbo_step(
        &mut self,
        step: LimboStep,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<(), IssueError> {
        match step {
            LimboStep::Close { parent } => {
                let closed = self.limbo_in(&parent).count();
                self.issue_merge(Some(parent), self.view().clone(), secret, now_ms)?;
                self.timer.closings.remember(closed, now_ms);
            }
            LimboStep::Ask { asked } => {
                self.timer.questions.remember(asked.len(), now_ms);
                self.ask(asked);
            }
        }
        Ok(())
    }

    /// Tells keys in limbo who the members are. Whoever counts this device in will answer.
    fn ask(&mut self, asked: Vec<DeviceKeys>) {
        let current = self.current().clone();
        for keys in asked {
            let ancestors = self.unsent_ancestors(&current, &keys.signing);
            let anchor = self.root.parent().is_some().then(|| self.root.clone());
            self.send(keys, current.clone());
            for manifest in ancestors.into_iter().chain(anchor) {
                self.send(keys, manifest);
            }
            self.record(MembershipChange::HelloSent { key: keys.signing });
        }
    }

    /// Answers a member that seems not to count this device in, with the greatest manifest of
    /// each issuer that lists it, and with the own anchor.
    ///
    /// What speaks for this device goes before what makes it heard of. Each of the manifests
    /// that a question consists of may be one, and so may each of an answer: the same answer is
    /// not given twice.
    pub(super) fn answer(&mut self, author: &SigningPublic, hash: &ManifestHash, is_news: bool) {
        let is_greeted = self.known.hello_sent.contains(author);
        let asker = self.view().get(author).map(|member| member.keys);
        let Some(keys) =
            asker.filter(|_| (is_news || !is_greeted) && self.is_question(author, hash))
        else {
            return;
        };
        let mut issuers = BTreeSet::from([self.me.signing]);
        let pleas: Vec<_> = self
            .accepted_descending()
            .filter(|plea| plea.lists(&self.me.signing) && **plea != self.root)
            .filter(|plea| issuers.insert(*plea.issuer()))
            .take(PLEAS_MAX)
            .cloned()
            .collect();
        let answer: Vec<_> = pleas.iter().map(SignedManifest::hash).collect();
        if self.answers.get(author) == Some(&answer) {
            return;
        }
        self.answers.insert(*author, answer);
        for manifest in pleas.into_iter().chain([self.root.clone()]) {
            self.send(keys, manifest);
        }
        if !is_greeted {
            self.record(MembershipChange::HelloSent { key: *author });
        }
    }

    /// Whether a manifest that somebody sent is that one's last word, no greeting, and neither
    /// lists this device nor removes it: whoever counts it in sends it nothing of that kind.
    fn is_question(&self, author: &SigningPublic, hash: &ManifestHash) -> bool {
        let me = &self.me.signing;
        let Some(known) = self
            .known
            .manifests
            .get(hash)
            .filter(|known| !known.trusted)
        else {
            return false;
        };
        let manifest = &known.manifest;
        let last = self.known.seen.get(author);
        let last = last.and_then(|hash| self.known.manifest(hash));
        let last = last.map_or(0, SignedManifest::version);
        let lists_me = |manifest: &SignedManifest| manifest.lists(me);
        let is_greeting = self.known.hello.get(author) == Some(hash);
        manifest.version() > last
            && !is_greeting
            && self.standing.accepted.contains(hash)
            && !lists_me(manifest)
            && !self.known.parent(manifest).is_some_and(lists_me)
            && author != me
            && !self.is_removed()
    }

    /// The limbo keys that can be closed, and when they are.
    ///
    /// A key that sent a manifest which a merge can build on lives, and can hear of its removal.
    /// One that sent nothing may be admitted by something that is on its way for as long as its
    /// author is offline: no time would be long enough.
    fn closable(&self) -> impl Iterator<Item = (SigningPublic, u64)> {
        let heard = self.limbo_after(CLOSE_AFTER_MS);
        heard.filter(|(key, _)| self.letters_of(key).next().is_some())
    }

    /// The limbo keys that this device never wrote to, and when it does.
    fn unasked(&self) -> impl Iterator<Item = (SigningPublic, u64)> {
        let limbo = self.limbo_after(ASK_AFTER_MS);
        limbo.filter(|(key, _)| !self.known.hello_sent.contains(key))
    }

    /// The other keys in limbo, and when they will have been there for so long.
    fn limbo_after(&self, wait_ms: u64) -> impl Iterator<Item = (SigningPublic, u64)> {
        let wait_ms = wait_ms.saturating_add(self.spread_ms());
        let limbo = self.known.limbo_since.iter();
        let others = limbo.filter(|(key, _)| **key != self.me.signing);
        others.map(move |(key, since_ms)| (*key, since_ms.saturating_add(wait_ms)))
    }

    /// This device's place in the half day over which the devices spread.
    fn spread_ms(&self) -> u64 {
        let bytes = self.me.signing.as_bytes().iter().take(8);
        let number = bytes.fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        number.checked_rem(CLOSE_SPREAD_MS).unwrap_or(0)
    }

    /// The record of a key in the greatest accepted manifest that lists it.
    pub(super) fn last_record(&self, key: &SigningPublic) -> Option<Member> {
        let mut records = self.accepted_descending();
        records.find_map(|manifest| manifest.member(key)).cloned()
    }

    /// The accepted manifests that a key sent as hello and seen.
    fn letters_of(&self, key: &SigningPublic) -> impl Iterator<Item = &SignedManifest> {
        let letters = [self.known.hello.get(key), self.known.seen.get(key)];
        letters
            .into_iter()
            .flatten()
            .filter(|hash| self.standing.accepted.contains(hash))
            .filter_map(|hash| self.known.manifest(hash))
    }

    /// A manifest that lists this device and the key, and no limbo key that isn't due: the
    /// merge removes every limbo key that its parent lists.
    fn closing_parent(
        &self,
        key: &SigningPublic,
        due: &BTreeSet<SigningPublic>,
    ) -> Option<SignedManifest> {
        self.letters_of(key)
            .chain(self.accepted_descending())
            .filter(|manifest| manifest.lists(&self.me.signing) && manifest.lists(key))
            .find(|manifest| self.limbo_in(manifest).all(|limbo| due.contains(&limbo)))
            .cloned()
    }

    pub(super) fn limbo_in(
        &self,
        manifest: &SignedManifest,
    ) -> impl Iterator<Item = SigningPublic> {
        let limbo = self.standing.limbo.iter();
        limbo.filter(|key| manifest.lists(key)).copied()
    }

    /// When something is to be done about a limbo key next, after the time told last.
    pub(super) fn next_limbo_step(&self) -> Option<u64> {
        let now_ms = self.timer.now_ms;
        if !self.is_listed() {
            return self.next_give_up_look().filter(|due_ms| *due_ms > now_ms);
        }
        let room_ms = self.timer.closings.room_ms();
        let closings = self.closable().map(|(_, due_ms)| due_ms.max(room_ms));
        let room_ms = self.timer.questions.room_ms();
        let questions = self.unasked().map(|(_, due_ms)| due_ms.max(room_ms));
        let steps = closings.chain(questions);
        steps.filter(|due_ms| *due_ms > now_ms).min()
    }

    /// When this device leaves at the earliest, if it is in limbo itself.
    fn gives_up_ms(&self) -> Option<u64> {
        let since_ms = self.known.limbo_since.get(&self.me.signing)?;
        (!self.is_removed()).then(|| since_ms.saturating_add(GIVE_UP_AFTER_MS))
    }

    /// When to look again whether this device leaves.
    fn next_give_up_look(&self) -> Option<u64> {
        let look_ms = self.timer.now_ms.saturating_add(DRAINED_STEP_MS);
        self.gives_up_ms().map(|due_ms| due_ms.max(look_ms))
    }

    /// Leaves if nobody has let this device in for long, and nothing on its way to it can.
    pub(super) fn give_up_if_due(&mut self, secret: &SigningSecret, now_ms: u64) {
        let is_due = self.gives_up_ms().is_some_and(|due_ms| now_ms >= due_ms);
        if !is_due || self.timer.drained_ms < GIVE_UP_DRAINED_MS {
            return;
        }
        self.gave_up = true;
        // Nobody else is left, or nothing to build on: then nobody can be told.
        if !matches!(
            self.issue_restating_leave(secret, now_ms),
            Ok(Leave::Issued)
        ) {
            self.effects.push(MembershipEffect::Removed);
        }
    }
}
