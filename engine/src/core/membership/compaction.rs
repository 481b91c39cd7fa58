//! Folding old manifests into the base, so that the rows stay bounded.
//!
//! A wrong guess here makes a device unsatisfied, and a merge corrects it.
//! Spec: membership rule, section 3.8.

use std::collections::BTreeSet;

use sealpost_protocol::manifest::ManifestHash;

use super::bound::{KNOWN_KEPT, KNOWN_MAX};
use super::view::rank;
use super::{Membership, MembershipChange};

impl Membership {
    /// Compacts if too many manifests are known. Returns whether it did.
    pub(super) fn compact(&mut self) -> bool {
        if self.known.manifests.len() <= KNOWN_MAX {
            return false;
        }
        self.fold_view_into_base();
        for hash in self.foldable() {
            self.record(MembershipChange::ManifestDeleted { hash });
        }
        self.drop_dangling_letters();
        true
    }

    fn fold_view_into_base(&mut self) {
        let view = self.standing.view.values();
        let fresh: Vec<_> = view
            .filter(|member| self.known.base.get(&member.keys.signing) != Some(member))
            .cloned()
            .collect();
        for member in fresh {
            self.record(MembershipChange::BaseMemberStored { member });
        }
    }

    /// The oldest manifests that nothing needs: first those that others build on.
    fn foldable(&self) -> Vec<ManifestHash> {
        let kept = self.kept();
        let parents: BTreeSet<_> = self
            .known
            .manifests
            .values()
            .filter_map(|known| known.manifest.parent())
            .collect();
        let mut candidates: Vec<_> = self
            .known
            .manifests
            .iter()
            .filter(|(hash, _)| !kept.contains(hash))
            .collect();
        candidates
            .sort_by_key(|(hash, known)| (!parents.contains(hash), rank(hash, &known.manifest)));
        let excess = self.known.manifests.len().saturating_sub(KNOWN_KEPT);
        candidates
            .into_iter()
            .take(excess)
            .map(|(hash, _)| *hash)
            .collect()
    }

    /// Root, winner, and the proofs of the last removals.
    fn kept(&self) -> BTreeSet<ManifestHash> {
        let proofs = self.known.proofs(self.view()).into_iter();
        proofs
            .flat_map(|(parent, child)| [parent.hash(), child.hash()])
            .chain([self.root.hash(), self.current().hash()])
            .collect()
    }

    /// A hello or seen entry says nothing without its manifest.
    fn drop_dangling_letters(&mut self) {
        let manifests = &self.known.manifests;
        let hello = self.known.hello.iter();
        let hello = hello.filter(|(_, hash)| !manifests.contains_key(hash));
        let seen = self.known.seen.iter();
        let seen = seen.filter(|(_, hash)| !manifests.contains_key(hash));
        let dangling: Vec<_> = hello
            .map(|(key, _)| MembershipChange::HelloDeleted { key: *key })
            .chain(seen.map(|(key, _)| MembershipChange::SeenDeleted { key: *key }))
            .collect();
        for change in dangling {
            self.record(change);
        }
    }
}
