//! Issuing manifests: admit, remove, leave, and the one place that signs.
//!
//! Every manifest states the issuer's whole view, plus or minus the change, and goes to
//! everybody that it or its parent lists, before its parent where that one is missing.
//! Spec: membership rule, section 3.4.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::{DeviceKeys, SigningPublic, SigningSecret};
use sealpost_protocol::limit::{GROUP_MEMBERS_MAX, MANIFEST_VERSION_MAX};
use sealpost_protocol::manifest::{Manifest, ManifestError, Member, SignedManifest};
use sealpost_protocol::name::DeviceName;

use super::bound::{ANCESTORS_MAX, TOMBS_MAX, UNSENT_ANCESTORS_MAX};
use super::view::rank;
use super::{Membership, MembershipChange};

/// Why a manifest can't be issued. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// This device is not a member in its own view.
    #[error("this device is not listed in the group at the moment")]
    NotListed,
    /// No known manifest can carry the change; a later one will.
    #[error("no known manifest can carry the change at the moment")]
    NoParent,
    /// The group has no room.
    #[error("the group is full: {max} members")]
    GroupFull {
        /// The most members a group can have.
        max: usize,
    },
    /// The group has removed so many devices that it admits nobody any more.
    #[error("the group has removed {max} devices and admits nobody any more")]
    TombsFull {
        /// The most removed devices a group can have and still grow.
        max: usize,
    },
    /// The device was removed once; it can only come back with new keys.
    #[error("the device was removed from the group and can't come back with these keys")]
    RemovedBefore,
    /// One of the two keys belongs to another member.
    #[error("one of the device's keys belongs to another member")]
    KeysMismatch,
    /// The device to remove is not another member.
    #[error("the device is not another member of the group")]
    MemberUnknown,
    /// No version is left.
    #[error("the group has no manifest version left")]
    VersionExhausted,
    /// The member list is not a valid one.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

/// How a leave begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The others are told: push the queued manifests, then wipe.
    Issued,
    /// There is nobody to tell: wipe at once.
    Alone,
}

impl Membership {
    /// Admits a device. For a member it repeats what the member may have missed.
    ///
    /// The newcomer is sent the manifest first, then history: its nearest ancestors and
    /// proofs of the last removals; only then everybody else gets the manifest.
    ///
    /// # Errors
    ///
    /// See [`IssueError`].
    pub fn issue_admission(
        &mut self,
        keys: &DeviceKeys,
        name: &DeviceName,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<(), IssueError> {
        self.check_listed()?;
        if self.is_member(keys)? {
            return self.repeat_admission(keys, secret, now_ms);
        }
        self.check_room(&keys.signing)?;
        let mut members = self.view().clone();
        let newcomer = Member {
            keys: *keys,
            name: name.clone(),
        };
        members.insert(keys.signing, newcomer);
        let parent = self.parent_listing(None).ok_or(IssueError::NoParent)?;
        let (manifest, recipients) = self.sign(&parent, members, secret)?;
        self.welcome(keys, &manifest);
        self.spread(&manifest, recipients, Some(keys));
        self.keep_issued(manifest, now_ms);
        Ok(())
    }

    /// Removes another member.
    ///
    /// # Errors
    ///
    /// See [`IssueError`].
    pub fn issue_removal(
        &mut self,
        key: &SigningPublic,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<(), IssueError> {
        self.check_listed()?;
        if *key == self.me.signing || !self.view().contains_key(key) {
            return Err(IssueError::MemberUnknown);
        }
        if self.parent_listing(Some(key)).is_none() {
            // Two that were admitted side by side: no manifest lists both yet.
            self.issue_merge(None, self.view().clone(), secret, now_ms)?;
        }
        let parent = self.parent_listing(Some(key)).ok_or(IssueError::NoParent)?;
        let mut members = self.view().clone();
        members.remove(key);
        self.issue_merge(Some(parent), members, secret, now_ms)
    }

    /// Leaves the group. The device stays in `leaving` until everything is pushed.
    ///
    /// # Errors
    ///
    /// See [`IssueError`].
    pub fn issue_leave(
        &mut self,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<Leave, IssueError> {
        let mut members = self.view().clone();
        let is_listed = members.remove(&self.me.signing).is_some();
        if is_listed && members.is_empty() {
            return Ok(Leave::Alone);
        }
        if !is_listed || members.len() > GROUP_MEMBERS_MAX {
            self.leaves = true;
            let left = self.issue_restating_leave(secret, now_ms);
            self.leaves = matches!(left, Ok(Leave::Issued));
            return left;
        }
        let parent = self.parent_listing(None).ok_or(IssueError::NoParent)?;
        let (manifest, recipients) = self.sign(&parent, members, secret)?;
        self.leaves = true;
        self.spread(&manifest, recipients, None);
        self.keep_issued(manifest, now_ms);
        Ok(Leave::Issued)
    }

    /// Leaves where the view without this device can't be stated: it is too long, or lacks this
    /// device anyway, which leaves for whoever counts it in all the same. It rests on a manifest
    /// that nobody knows, so that it removes nobody else, and names nobody but members: a puppet
    /// that it named would be taken in by those who let this device in.
    pub(super) fn issue_restating_leave(
        &mut self,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<Leave, IssueError> {
        let me = self.me.signing;
        let parent = self.unsent_parent(secret);
        let Some(parent) = parent.filter(|_| !self.is_removed()) else {
            let is_alone = !self.is_listed();
            return is_alone.then_some(Leave::Alone).ok_or(IssueError::NoParent);
        };
        let others = parent.members().iter();
        let others = others.filter(|member| member.keys.signing != me);
        let members: BTreeMap<_, _> = others
            .map(|member| (member.keys.signing, member.clone()))
            .collect();
        if members.is_empty() {
            return Ok(Leave::Alone);
        }
        let (manifest, mut recipients) = self.sign(&parent, members, secret)?;
        let others = self.view().keys().chain(&self.standing.limbo);
        let others = others.filter(|key| **key != me);
        recipients.extend(others.filter_map(|key| Some(self.last_record(key)?.keys)));
        self.spread(&manifest, recipients, None);
        self.keep_issued(manifest, now_ms);
        Ok(Leave::Issued)
    }

    /// A manifest that nobody is sent: this device beside its view. On a parent that nobody
    /// knows, a leave removes nobody else whatever it lists.
    fn unsent_parent(&self, secret: &SigningSecret) -> Option<SignedManifest> {
        let me = self.last_record(&self.me.signing)?;
        let others = self.view().iter();
        let others = others.filter(|(key, _)| **key != self.me.signing);
        let mut members: BTreeMap<_, _> = others
            .take(GROUP_MEMBERS_MAX.saturating_sub(1))
            .map(|(key, member)| (*key, member.clone()))
            .collect();
        members.insert(self.me.signing, me);
        let (unsent, _) = self.sign(&self.root, members, secret).ok()?;
        Some(unsent)
    }

    /// Issues a manifest for everybody, on a given parent or on the one for a plain change.
    pub(super) fn issue_merge(
        &mut self,
        parent: Option<SignedManifest>,
        members: BTreeMap<SigningPublic, Member>,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<(), IssueError> {
        let parent = parent.or_else(|| self.parent_listing(None));
        let parent = parent.ok_or(IssueError::NoParent)?;
        let (manifest, recipients) = self.sign(&parent, members, secret)?;
        self.spread(&manifest, recipients, None);
        self.keep_issued(manifest, now_ms);
        Ok(())
    }

    fn check_listed(&self) -> Result<(), IssueError> {
        self.is_listed().then_some(()).ok_or(IssueError::NotListed)
    }

    fn check_room(&self, key: &SigningPublic) -> Result<(), IssueError> {
        if self.known.tombs.contains_key(key) {
            return Err(IssueError::RemovedBefore);
        }
        if self.view().len() >= GROUP_MEMBERS_MAX {
            return Err(IssueError::GroupFull {
                max: GROUP_MEMBERS_MAX,
            });
        }
        if self.known.tombs.len() >= TOMBS_MAX {
            return Err(IssueError::TombsFull { max: TOMBS_MAX });
        }
        Ok(())
    }

    /// Whether these are the keys of a member; half of them is an error.
    fn is_member(&self, keys: &DeviceKeys) -> Result<bool, IssueError> {
        let mut holders = self.view().values();
        let holder = holders
            .find(|member| member.keys.signing == keys.signing || member.keys.noise == keys.noise);
        match holder {
            Some(member) if member.keys != *keys => Err(IssueError::KeysMismatch),
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    /// A joiner takes only a manifest of its admitter, and has dropped what came before.
    fn repeat_admission(
        &mut self,
        keys: &DeviceKeys,
        secret: &SigningSecret,
        now_ms: u64,
    ) -> Result<(), IssueError> {
        let is_mine = *self.current().issuer() == self.me.signing;
        if is_mine && self.states_view(self.current()) {
            self.welcome(keys, &self.current().clone());
            return Ok(());
        }
        let parent = self.parent_listing(None).ok_or(IssueError::NoParent)?;
        let (manifest, recipients) = self.sign(&parent, self.view().clone(), secret)?;
        self.welcome(keys, &manifest);
        self.spread(&manifest, recipients, Some(keys));
        self.keep_issued(manifest, now_ms);
        Ok(())
    }

    /// The parent of a new manifest: tip, else winner, else the greatest accepted one.
    ///
    /// It must list this device and the target, and no key in limbo: leaving that one out
    /// would remove it, and its real admission may still be on the way.
    pub(super) fn parent_listing(&self, target: Option<&SigningPublic>) -> Option<SignedManifest> {
        [self.tip(), self.current()]
            .into_iter()
            .chain(self.accepted_descending())
            .find(|manifest| {
                manifest.lists(&self.me.signing)
                    && target.is_none_or(|key| manifest.lists(key))
                    && !self.standing.limbo.iter().any(|key| manifest.lists(key))
            })
            .cloned()
    }

    /// The accepted manifests, greatest first.
    pub(super) fn accepted_descending(&self) -> impl Iterator<Item = &SignedManifest> {
        let accepted = self.standing.accepted.iter();
        let mut accepted: Vec<_> = accepted
            .filter_map(|hash| Some((hash, self.known.manifest(hash)?)))
            .collect();
        accepted.sort_by_key(|(hash, manifest)| rank(hash, manifest));
        accepted.into_iter().rev().map(|(_, manifest)| manifest)
    }

    /// Signs a manifest; returns it with its recipients: everybody it or its parent lists.
    fn sign(
        &self,
        parent: &SignedManifest,
        members: BTreeMap<SigningPublic, Member>,
        secret: &SigningSecret,
    ) -> Result<(SignedManifest, BTreeSet<DeviceKeys>), IssueError> {
        let version = self.standing.version.saturating_add(1);
        if version > MANIFEST_VERSION_MAX {
            return Err(IssueError::VersionExhausted);
        }
        if members.len() > GROUP_MEMBERS_MAX {
            // The merge that makes room comes first; it is due already.
            return Err(IssueError::NoParent);
        }
        let listed = parent.members().iter().chain(members.values());
        let recipients = listed
            .map(|member| member.keys)
            .filter(|keys| keys.signing != self.me.signing)
            .collect();
        let members = members.into_values().collect();
        let manifest = Manifest::new(self.group_id(), version, Some(parent.hash()), members)?;
        let manifest = manifest.sign(secret);
        debug_assert_eq!(*manifest.issuer(), self.me.signing, "with the own key");
        Ok((manifest, recipients))
    }

    /// Sends a newcomer its manifest and the history that it can't know.
    fn welcome(&mut self, keys: &DeviceKeys, manifest: &SignedManifest) {
        let ancestors = self.known.ancestors(manifest, ANCESTORS_MAX).into_iter();
        let proofs = self.known.proofs(self.view()).into_iter();
        let history = ancestors.chain(proofs.flat_map(|(parent, child)| [child, parent]));
        let mut sent = BTreeSet::from([manifest.hash()]);
        let history: Vec<_> = history
            .filter(|known| sent.insert(known.hash()))
            .cloned()
            .collect();
        self.send(*keys, manifest.clone());
        for known in history {
            self.send(*keys, known);
        }
    }

    /// Sends a manifest to its recipients, but for a newcomer that has been welcomed.
    ///
    /// A member that was never sent the parent gets it as well, and what that rests on: on a
    /// parent that it doesn't know or can't judge, the manifest would remove nobody there. As
    /// for a newcomer, the removal goes before what lists the removed device, so that it is
    /// never taken for a member, not for a moment.
    fn spread(
        &mut self,
        manifest: &SignedManifest,
        recipients: BTreeSet<DeviceKeys>,
        welcomed: Option<&DeviceKeys>,
    ) {
        for keys in recipients {
            if Some(&keys) == welcomed {
                continue;
            }
            self.send(keys, manifest.clone());
            if manifest.lists(&keys.signing) {
                for ancestor in self.unsent_ancestors(manifest, &keys.signing) {
                    self.send(keys, ancestor);
                }
            }
        }
    }

    /// The ancestors, nearest first, back to the first one that a member was sent.
    pub(super) fn unsent_ancestors(
        &self,
        manifest: &SignedManifest,
        key: &SigningPublic,
    ) -> Vec<SignedManifest> {
        let ancestors = self.known.ancestors(manifest, UNSENT_ANCESTORS_MAX);
        ancestors
            .into_iter()
            .take_while(|ancestor| !self.was_sent(ancestor, key))
            .cloned()
            .collect()
    }

    /// Whether an issuer sent its manifest to this key: everybody that it or its parent lists.
    fn was_sent(&self, manifest: &SignedManifest, key: &SigningPublic) -> bool {
        let parent = self.known.parent(manifest);
        manifest.lists(key) || parent.is_some_and(|parent| parent.lists(key))
    }

    fn keep_issued(&mut self, manifest: SignedManifest, now_ms: u64) {
        self.record(MembershipChange::ManifestStored {
            manifest,
            trusted: false,
        });
        self.settle(now_ms);
    }

    /// Whether a manifest lists exactly the members, as they are recorded.
    pub(super) fn states_view(&self, manifest: &SignedManifest) -> bool {
        manifest.members().iter().eq(self.view().values())
    }
}
