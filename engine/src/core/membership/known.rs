//! The rows that membership rests on, and the questions about descent they answer.
//!
//! Owns [`MembershipSnapshot`]: the known manifests and what is remembered about keys
//! (membership rule, section 3.1). It never judges a manifest; that is `view`'s.
//!
//! Invariants:
//! - it changes only through [`MembershipSnapshot::apply`], so the machine in memory and a
//!   machine restored from its written changes can't differ;
//! - a tomb, a removal in it and a held key are never deleted.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};

use super::bound::PROVEN_KEYS_MAX;
use super::change::MembershipChange;

/// Everything durable about the membership of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembershipSnapshot {
    /// The first manifest held: the genesis, or the anchor of a device that joined.
    pub root: Option<ManifestHash>,
    /// The known manifests, accepted or parked.
    pub manifests: BTreeMap<ManifestHash, KnownManifest>,
    /// The removed keys, for the life of the group.
    pub tombs: BTreeMap<SigningPublic, Tomb>,
    /// The first manifest each device sent that admitted it.
    pub hello: BTreeMap<SigningPublic, ManifestHash>,
    /// The last manifest from each device that lists it and this device.
    pub seen: BTreeMap<SigningPublic, ManifestHash>,
    /// Since when each key is in limbo, Unix ms.
    pub limbo_since: BTreeMap<SigningPublic, u64>,
    /// Members folded in by compaction.
    pub base: BTreeMap<SigningPublic, Member>,
    /// Keys that this device wrote to of its own accord: with its anchor, or to ask.
    pub hello_sent: BTreeSet<SigningPublic>,
    /// Keys that a manifest ever held lists.
    pub held: BTreeSet<SigningPublic>,
}

/// One known manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownManifest {
    /// The manifest.
    pub manifest: SignedManifest,
    /// True for history received from the admitter: accepted whatever its parent.
    pub trusted: bool,
}

/// What is remembered of a removed key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tomb {
    /// When this device first saw the key removed, Unix ms.
    pub since_ms: u64,
    /// The manifests that removed it. Invariant: never empty.
    pub removals: BTreeSet<ManifestHash>,
}

/// How one manifest lies to another, as far as the known parents tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descent {
    /// It is the other, or descends from it.
    From,
    /// It is known not to.
    NotFrom,
    /// A missing parent hides it.
    Unknown,
}

impl MembershipSnapshot {
    /// Takes one change; the only way in.
    pub fn apply(&mut self, change: &MembershipChange) {
        match change {
            MembershipChange::RootSet { hash } => self.root = Some(*hash),
            MembershipChange::ManifestStored { manifest, trusted } => {
                let known = KnownManifest {
                    manifest: manifest.clone(),
                    trusted: *trusted,
                };
                self.manifests.insert(manifest.hash(), known);
            }
            MembershipChange::ManifestDeleted { hash } => {
                self.manifests.remove(hash);
            }
            MembershipChange::RemovalStored {
                key,
                removal,
                since_ms,
            } => {
                let tomb = self.tombs.entry(*key).or_insert_with(|| Tomb {
                    since_ms: *since_ms,
                    removals: BTreeSet::new(),
                });
                tomb.removals.insert(*removal);
            }
            MembershipChange::HelloStored { key, manifest } => {
                self.hello.insert(*key, *manifest);
            }
            MembershipChange::HelloDeleted { key } => {
                self.hello.remove(key);
            }
            MembershipChange::SeenStored { key, manifest } => {
                self.seen.insert(*key, *manifest);
            }
            MembershipChange::SeenDeleted { key } => {
                self.seen.remove(key);
            }
            MembershipChange::LimboStarted { key, since_ms } => {
                self.limbo_since.insert(*key, *since_ms);
            }
            MembershipChange::LimboEnded { key } => {
                self.limbo_since.remove(key);
            }
            MembershipChange::BaseMemberStored { member } => {
                self.base.insert(member.keys.signing, member.clone());
            }
            MembershipChange::HelloSent { key } => {
                self.hello_sent.insert(*key);
            }
            MembershipChange::KeyHeld { key } => {
                self.held.insert(*key);
            }
        }
    }

    /// The known manifest with this hash.
    pub fn manifest(&self, hash: &ManifestHash) -> Option<&SignedManifest> {
        self.manifests.get(hash).map(|known| &known.manifest)
    }

    /// The first manifest held.
    pub fn root(&self) -> Option<&SignedManifest> {
        self.manifest(&self.root?)
    }

    /// The parent of a manifest, if known.
    pub(super) fn parent(&self, manifest: &SignedManifest) -> Option<&SignedManifest> {
        self.manifest(&manifest.parent()?)
    }

    /// A manifest and its ancestors, as far as the parents are known.
    pub(super) fn lineage(&self, of: &ManifestHash) -> BTreeSet<ManifestHash> {
        let mut lineage = BTreeSet::new();
        let mut next = Some(*of);
        while let Some(hash) = next {
            if !lineage.insert(hash) {
                break;
            }
            next = self.manifest(&hash).and_then(SignedManifest::parent);
        }
        lineage
    }

    /// The known ancestors of a manifest, nearest first.
    pub(super) fn ancestors(&self, manifest: &SignedManifest, most: usize) -> Vec<&SignedManifest> {
        std::iter::successors(self.parent(manifest), |nearer| self.parent(nearer))
            .take(most)
            .collect()
    }

    /// How `descendant` lies to `ancestor`.
    ///
    /// Versions grow along a lineage, so a walk that has come down to the ancestor's
    /// version, or would with one more step, without meeting it can't meet it any more.
    pub(super) fn descent(&self, descendant: &ManifestHash, ancestor: &ManifestHash) -> Descent {
        let Some(floor) = self.manifest(ancestor).map(SignedManifest::version) else {
            return Descent::Unknown;
        };
        let mut hash = *descendant;
        let mut visited = BTreeSet::new();
        while hash != *ancestor {
            let Some(manifest) = self.manifest(&hash) else {
                return Descent::Unknown;
            };
            let may_descend = manifest.version() > floor.saturating_add(1);
            match manifest.parent() {
                Some(parent) if parent == *ancestor => return Descent::From,
                Some(parent) if may_descend && visited.insert(hash) => hash = parent,
                Some(_) | None => return Descent::NotFrom,
            }
        }
        Descent::From
    }

    /// The proofs of the last removed keys, newest first: parent and child of one removal each.
    ///
    /// A removal by one of the members goes before any other. Of what the removed device signed,
    /// a newcomer takes what the list of the remover confirms, and who was removed may have left
    /// as well, or had itself removed, by a list that names whom it likes.
    pub(super) fn proofs(
        &self,
        members: &BTreeMap<SigningPublic, Member>,
    ) -> Vec<(&SignedManifest, &SignedManifest)> {
        let mut newest: Vec<_> = self.tombs.iter().collect();
        newest.sort_by_key(|(_, tomb)| std::cmp::Reverse(tomb.since_ms));
        newest
            .into_iter()
            .take(PROVEN_KEYS_MAX)
            .filter_map(|(key, tomb)| self.proof(key, tomb, members))
            .collect()
    }

    fn proof(
        &self,
        key: &SigningPublic,
        tomb: &Tomb,
        members: &BTreeMap<SigningPublic, Member>,
    ) -> Option<(&SignedManifest, &SignedManifest)> {
        let proofs = tomb.removals.iter().filter_map(|removal| {
            let child = self.manifest(removal)?;
            let parent = self.parent(child)?;
            parent.lists(key).then_some((parent, child))
        });
        proofs.min_by_key(|(_, child)| {
            let by = child.issuer();
            (!members.contains_key(by), by == key, child.hash())
        })
    }
}
