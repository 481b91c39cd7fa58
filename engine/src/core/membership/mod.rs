//! Who belongs to the group: rule R, membership that converges.
//!
//! Owns the known manifests of one group and everything that follows from them: the members
//! (the *view*), the current manifest (the *winner*), the manifests to issue and to send,
//! the merge timer. It is pure: no clock, no IO, no randomness of its own. It never opens
//! envelopes, never decides what becomes of messages, and never wipes anything.
//!
//! Membership is a two-phase set: removals only grow and win; additions come from whole
//! member lists of manifests whose issuer has authority. Whoever sees that the current
//! manifest doesn't state the view issues one merge, after a delay that depends on its rank.
//!
//! Invariants:
//! - every change of the rows is handed out by [`Membership::drain`], and a machine restored
//!   from the rows is equal to the one that goes on, but for the merge timer;
//! - an issued manifest states the issuer's whole view, plus or minus the change, and is in the
//!   rows of the same step; the one exception is a leave where the view lacks the device or is
//!   too long, which states its parent's list and may name keys that this device knows to be removed;
//! - parked manifests never influence view, winner or removals;
//! - nothing is ever sent to a device that no accepted manifest lists.
//!
//! Spec: the membership rule, section 3; issuing, leaving and wiping: TrueSeal 5.6.
//!
//! Where the rule's text leaves room, or stress runs showed more, this holds:
//! - a manifest that doesn't list its issuer is a leave, whatever its parent (step 4);
//! - the removals of one manifest are taken before a greater one is judged (step 4);
//! - where manifests differ in a member's noise key or name, the greatest decides (step 5);
//! - a member that was never sent a new manifest's parent gets it afterwards, and up to seven
//!   of its ancestors that it wasn't sent either, nearest first (3.4);
//! - a removal for which no manifest lists both devices issues a merge to build on (3.4);
//! - admitting a member again sends it a manifest by its admitter, issued anew if need be;
//! - a full table of parked manifests keeps out only what would be parked (3.5);
//! - nobody greets a device that it knows to be removed, and everybody a member whose own
//!   anchor, once it arrives, doesn't list this device (3.5);
//! - a device that is no member in its own view and leaves says so, on a manifest that nobody
//!   was sent, so that nobody who counts it in goes on doing so; its list is the view, so that it
//!   names no puppet, and on such a parent it removes nobody but itself (3.4);
//! - in an overfull group only leaves and the merge that mends it are issued; other changes
//!   wait for it (3.4);
//! - a newcomer is sent the child of a proof before the parent, so that it never takes the
//!   removed device for a member, not for a moment, and doesn't greet it (3.4);
//! - a merge closes only limbo keys that are all due, each device at another time (3.6);
//! - a key in limbo is asked before, and whoever counts the asker in answers (3.6);
//! - a device that is in limbo itself leaves after fifteen days (3.6);
//! - nothing is history that comes from an admitter which was removed, but what the anchor
//!   descends from is, whoever sends it (3.1);
//! - there are caps on the removals kept per key, and on the keys kept for a Revoke (3.8);
//! - a key's own leaves cut what it signed as others' removals do, so that a later one, or one
//!   that is dated back, names nobody new; none fills the cap on removals (3.8).
//!
//! | section | file |
//! |---|---|
//! | 3.1 data, 3.2 terms | `known` |
//! | 3.3 compute | `view`, `roll` |
//! | 3.4 issue | `issue` |
//! | 3.5 receive, hello | `receive`, `anchor` |
//! | 3.6 merge timer | `merge` |
//! | 3.6 keys in limbo | `limbo` |
//! | 3.8 bounds, compaction | `bound`, `compaction` |
//! | 4 what can't be repaired | `cohesion` |

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::{DeviceKeys, SigningPublic, SigningSecret};
use sealpost_protocol::manifest::{GroupId, Manifest, ManifestHash, Member, SignedManifest};

mod anchor;
mod bound;
mod change;
mod cohesion;
mod compaction;
mod history;
mod issue;
mod known;
mod limbo;
mod merge;
mod receive;
mod roll;
mod view;

pub use anchor::{has_room_before_anchor, is_anchor};
pub use bound::BUFFERED_MANIFESTS_MAX;
pub use change::{AdmissionDropReason, Attribution, MembershipChange, MembershipEffect};
pub use cohesion::Cohesion;
pub use issue::{IssueError, Leave};
pub use known::{KnownManifest, MembershipSnapshot, Tomb};
pub use receive::ManifestRefused;

use merge::MergeTimer;
use view::Standing;

/// The membership machine of one group.
///
/// - `genesis`, `anchored`, `restore` make one;
/// - `handle_*` tell it what happened, `issue_*` what the person wants;
/// - after each of these, `drain` it fully, commit the changes, then act on the effects.
#[derive(Clone, Debug)]
pub struct Membership {
    me: DeviceKeys,
    /// Invariant: in `known`, and its root.
    root: SignedManifest,
    known: MembershipSnapshot,
    /// Invariant: between calls, what `view::compute` says of `known`.
    standing: Standing,
    timer: MergeTimer,
    /// What each member was answered with in this run, by the hashes.
    answers: BTreeMap<SigningPublic, Vec<ManifestHash>>,
    /// True once this device left by itself, as nobody counted it in.
    gave_up: bool,
    /// True once this device issued its leave: its own removal is then no news.
    leaves: bool,
    changes: Vec<MembershipChange>,
    effects: Vec<MembershipEffect>,
}

/// Why rows can't be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The first manifest of the group is not among the rows.
    #[error("the first manifest of the group is missing")]
    RootMissing,
}

impl Membership {
    /// Creates a group: version 1 with this device and the first one it admits.
    ///
    /// # Errors
    ///
    /// If the member list is not a valid one, as when two members share a key.
    pub fn genesis(
        group_id: GroupId,
        me: Member,
        first: Member,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<Self, IssueError> {
        let my_keys = me.keys;
        let first_keys = first.keys;
        let root = Manifest::new(group_id, 1, None, vec![me, first])?.sign(secret);
        let mut membership = Self::rooted(my_keys, root.clone());
        membership.send(first_keys, root);
        membership.settle(now_ms);
        Ok(membership)
    }

    /// Enters a group with its anchor, the manifest for which [`is_anchor`] holds.
    ///
    /// `buffered` are the manifests, with their Envelope authors, that arrived before it.
    #[must_use]
    pub fn anchored(
        me: DeviceKeys,
        anchor: SignedManifest,
        buffered: Vec<(SigningPublic, SignedManifest)>,
        now_ms: u64,
    ) -> Self {
        let mut membership = Self::rooted(me, anchor);
        membership.take_buffered(buffered);
        membership.settle(now_ms);
        membership
    }

    /// Goes on from the rows. Drain it: what a newer version of the rule finds is a change.
    ///
    /// # Errors
    ///
    /// If the rows don't hold the group's first manifest.
    pub fn restore(
        me: DeviceKeys,
        known: MembershipSnapshot,
        now_ms: u64,
    ) -> Result<Self, RestoreError> {
        let root = known.root().ok_or(RestoreError::RootMissing)?.clone();
        let mut membership = Self::bare(me, root, known);
        let (standing, _) = view::compute(&membership.known, &me.signing);
        membership.standing = standing;
        membership.settle(now_ms);
        Ok(membership)
    }

    fn rooted(me: DeviceKeys, root: SignedManifest) -> Self {
        let mut membership = Self::bare(me, root.clone(), MembershipSnapshot::default());
        membership.record(MembershipChange::RootSet { hash: root.hash() });
        membership.record(MembershipChange::ManifestStored {
            manifest: root,
            trusted: false,
        });
        membership
    }

    fn bare(me: DeviceKeys, root: SignedManifest, known: MembershipSnapshot) -> Self {
        Self {
            me,
            root,
            known,
            standing: Standing::default(),
            timer: MergeTimer::default(),
            answers: BTreeMap::new(),
            gave_up: false,
            leaves: false,
            changes: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Hands out the changes to commit and the effects to act on after it.
    #[must_use]
    pub fn drain(&mut self) -> (Vec<MembershipChange>, Vec<MembershipEffect>) {
        (
            std::mem::take(&mut self.changes),
            std::mem::take(&mut self.effects),
        )
    }

    /// The members, this device included while the others count it in.
    #[must_use]
    pub const fn view(&self) -> &BTreeMap<SigningPublic, Member> {
        &self.standing.view
    }

    /// Whether this device is a member in its own view.
    ///
    /// While it is not, without being removed, its messages are held: others would drop them.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.view().contains_key(&self.me.signing)
    }

    /// Whether a manifest removed this device, its own leave included.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.known.tombs.contains_key(&self.me.signing)
    }

    /// Whether this device left by itself, because it was in limbo for long.
    #[must_use]
    pub const fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// The current manifest: the greatest one by a member.
    #[must_use]
    pub fn current(&self) -> &SignedManifest {
        let winner = self.standing.winner;
        winner
            .and_then(|hash| self.known.manifest(&hash))
            .unwrap_or(&self.root)
    }

    /// The greatest manifest that counts, whether or not its issuer is still a member.
    #[must_use]
    pub fn tip(&self) -> &SignedManifest {
        let tip = self.standing.tip;
        tip.and_then(|hash| self.known.manifest(&hash))
            .unwrap_or(&self.root)
    }

    /// The group.
    #[must_use]
    pub fn group_id(&self) -> GroupId {
        self.root.group_id()
    }

    /// Keys that accepted manifests list, that nobody removed, and that nobody with
    /// authority admitted.
    #[must_use]
    pub const fn limbo(&self) -> &BTreeSet<SigningPublic> {
        &self.standing.limbo
    }

    /// Whether any manifest this device ever accepted lists the key: who may revoke.
    #[must_use]
    pub fn has_ever_held(&self, key: &SigningPublic) -> bool {
        self.known.held.contains(key)
    }

    /// The rows as they stand; what the drained changes add up to.
    #[must_use]
    pub const fn snapshot(&self) -> &MembershipSnapshot {
        &self.known
    }

    /// The only way to change the rows.
    fn record(&mut self, change: MembershipChange) {
        self.known.apply(&change);
        self.changes.push(change);
    }

    fn send(&mut self, to: DeviceKeys, manifest: SignedManifest) {
        self.effects.push(MembershipEffect::Send { to, manifest });
    }

    /// Brings everything that follows from the rows up to date; after every change of them.
    fn settle(&mut self, now_ms: u64) {
        let before = std::mem::take(&mut self.standing);
        let was_removed = self.is_removed();
        self.recompute(now_ms);
        self.remember_listed(&before);
        if self.compact() {
            self.recompute(now_ms);
        }
        self.follow_limbo(now_ms);
        self.tell_history(&before, was_removed, now_ms);
        self.greet_newcomers(&before);
        self.follow_merge_need(now_ms);
    }

    fn recompute(&mut self, now_ms: u64) {
        let (standing, removals) = view::compute(&self.known, &self.me.signing);
        for (key, removal) in removals {
            self.record(MembershipChange::RemovalStored {
                key,
                removal,
                since_ms: now_ms,
            });
        }
        self.standing = standing;
    }

    /// Keeps who was ever listed, also for when the manifest is folded away.
    fn remember_listed(&mut self, before: &Standing) {
        let fresh = self.standing.accepted.difference(&before.accepted);
        let listed: BTreeSet<_> = fresh
            .filter_map(|hash| self.known.manifest(hash))
            .flat_map(|manifest| manifest.members().iter().map(|m| m.keys.signing))
            .filter(|key| !self.known.held.contains(key))
            .collect();
        let room = bound::KEYS_HELD_MAX.saturating_sub(self.known.held.len());
        for key in listed.into_iter().take(room) {
            self.record(MembershipChange::KeyHeld { key });
        }
    }
}

#[cfg(test)]
mod tests;
