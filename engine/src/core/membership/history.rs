//! What a change of the view means to the person: who came, who went, by whose hand.

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::limit::GROUP_MEMBERS_MAX;
use sealpost_protocol::manifest::{Member, SignedManifest};

use super::view::{Standing, rank};
use super::{AdmissionDropReason, Attribution, Membership, MembershipEffect};

impl Membership {
    /// Tells the difference between two standings.
    pub(super) fn tell_history(&mut self, before: &Standing, was_removed: bool, now_ms: u64) {
        if before.view == self.standing.view && was_removed == self.is_removed() {
            return;
        }
        self.tell_removed(before, now_ms);
        self.tell_added(before, now_ms);
        self.effects.push(MembershipEffect::ViewChanged);
        if self.is_removed() && !was_removed && !self.leaves {
            self.effects.push(MembershipEffect::Removed);
        }
    }

    fn tell_added(&mut self, before: &Standing, now_ms: u64) {
        let view = self.standing.view.values();
        let added: Vec<_> = view
            .filter(|member| !before.view.contains_key(&member.keys.signing))
            .map(|member| MembershipEffect::MemberAdded {
                member: member.clone(),
                by: self.admitter(&member.keys.signing),
                seen_ms: now_ms,
            })
            .collect();
        self.effects.extend(added);
    }

    fn tell_removed(&mut self, before: &Standing, now_ms: u64) {
        let gone = before.view.values();
        let gone: Vec<_> = gone
            .filter(|member| !self.standing.view.contains_key(&member.keys.signing))
            .collect();
        for member in gone {
            let by = self.remover(&member.keys.signing);
            if self.made_room(&member.keys.signing) {
                self.tell_dropped_admission(member);
            }
            self.effects.push(MembershipEffect::MemberRemoved {
                member: member.clone(),
                by,
                seen_ms: now_ms,
            });
        }
    }

    /// Whether this device was removed because it came last into a group that was full.
    #[must_use]
    pub fn is_admission_dropped(&self) -> bool {
        self.made_room(&self.me.signing)
    }

    /// Whether a key was removed because there were too many: every list that lacks it is
    /// full, and somebody else's. Nobody removes a member by hand from more than a full group, so such a list has
    /// a place that is free.
    fn made_room(&self, key: &SigningPublic) -> bool {
        let tomb = self.known.tombs.get(key);
        let removers = tomb.into_iter().flat_map(|tomb| &tomb.removals);
        let known = removers.filter_map(|hash| self.known.manifest(hash));
        let mut known = known.peekable();
        let is_full = |list: &SignedManifest| list.members().len() == GROUP_MEMBERS_MAX;
        known.peek().is_some() && known.all(|list| list.issuer() != key && is_full(list))
    }

    /// A member that had to go because the group was too big is news to its admitter.
    fn tell_dropped_admission(&mut self, member: &Member) {
        let is_mine = self
            .admissions(&member.keys.signing)
            .any(|(_, manifest)| *manifest.issuer() == self.me.signing);
        if is_mine {
            self.effects.push(MembershipEffect::AdmissionDropped {
                name: member.name.clone(),
                reason: AdmissionDropReason::GroupFull,
            });
        }
    }

    /// The first admission of a key; for this device, its anchor.
    fn admitter(&self, key: &SigningPublic) -> Option<Attribution> {
        if *key == self.me.signing {
            return Some(self.attribution(&self.root));
        }
        let counting = self.admissions(key);
        let counting = counting.filter(|(hash, _)| self.standing.counting.contains(hash));
        let first = counting.min_by_key(|(hash, manifest)| rank(hash, manifest));
        first.map(|(_, manifest)| self.attribution(manifest))
    }

    /// The first removal of a key that is still known.
    fn remover(&self, key: &SigningPublic) -> Option<Attribution> {
        let removals = self.known.tombs.get(key)?.removals.iter();
        let known = removals.filter_map(|hash| Some((hash, self.known.manifest(hash)?)));
        let first = known.min_by_key(|(hash, manifest)| rank(hash, manifest));
        first.map(|(_, manifest)| self.attribution(manifest))
    }

    fn attribution(&self, manifest: &SignedManifest) -> Attribution {
        let issuer = *manifest.issuer();
        let listed = self.known.manifests.values();
        let record = self.standing.view.get(&issuer);
        let record = record.or_else(|| {
            let mut listed = listed.filter_map(|known| known.manifest.member(&issuer));
            listed.next()
        });
        Attribution {
            issuer,
            name: record.map(|member| member.name.clone()),
            version: manifest.version(),
        }
    }
}
