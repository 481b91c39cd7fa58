//! What the known manifests say: authority, removals, view and current manifest.
//!
//! [`compute`] is a pure function of the rows; it is the whole of section 3.3 of the
//! membership rule, one function per step, and is run after every change. Removals grow
//! only and win; additions come from whole member lists of manifests whose issuer has
//! authority. It never writes: the removals it finds are returned for the caller to keep.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};

use super::bound::{LEAVES_PER_KEY_MAX, REMOVALS_PER_KEY_MAX};
use super::known::{Descent, KnownManifest, MembershipSnapshot};

/// What the known manifests say at this moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// Manifests taken as part of the group's history; all others are parked.
    pub(super) accepted: BTreeSet<ManifestHash>,
    /// Accepted manifests whose issuer has authority, and that say something.
    pub(super) counting: BTreeSet<ManifestHash>,
    /// The keys with authority, removed ones included.
    pub(super) authority: BTreeSet<SigningPublic>,
    /// The members.
    pub(super) view: BTreeMap<SigningPublic, Member>,
    /// Keys that accepted manifests list, that nobody removed and that nobody with
    /// authority admitted.
    pub(super) limbo: BTreeSet<SigningPublic>,
    /// The greatest counting manifest by a member: the current one.
    pub(super) winner: Option<ManifestHash>,
    /// The greatest counting manifest.
    pub(super) tip: Option<ManifestHash>,
    /// The highest accepted version.
    pub(super) version: u64,
    /// Whether this device owes its place to nobody but an admitter that had been removed.
    pub(super) is_admission_void: bool,
}

/// A key and a manifest that removed it.
pub(super) type Removal = (SigningPublic, ManifestHash);

/// The order of manifests: the higher version, on a tie the lower hash.
pub(super) type Rank = (u64, Reverse<ManifestHash>);

type Tombs = BTreeMap<SigningPublic, BTreeSet<ManifestHash>>;

/// The place of a manifest in the order of manifests.
pub(super) fn rank(hash: &ManifestHash, manifest: &SignedManifest) -> Rank {
    (manifest.version(), Reverse(*hash))
}

/// Computes the standing, and the removals that the rows don't hold yet.
pub(super) fn compute(known: &MembershipSnapshot, me: &SigningPublic) -> (Standing, Vec<Removal>) {
    let mut computation = Computation::new(known, *me);
    let mut fresh = Vec::new();
    loop {
        let effective = computation.effective();
        let accepted = computation.accepted(&effective);
        let authority = computation.authority(&accepted, &effective);
        let found = computation.removals(&accepted, &authority.keys);
        if found.is_empty() {
            return (computation.conclude(accepted, authority), fresh);
        }
        computation.bury(&found);
        fresh.extend(found);
    }
}

/// The rows, their manifests in ascending order, and the tombs found so far.
struct Computation<'a> {
    known: &'a MembershipSnapshot,
    me: SigningPublic,
    ascending: Vec<(ManifestHash, &'a KnownManifest)>,
    tombs: Tombs,
}

/// Step 2: the member lists that tombs have cut down. All others stand as they are.
struct Effective {
    cut: BTreeMap<ManifestHash, BTreeSet<SigningPublic>>,
}

/// Step 3: the keys with authority, and the manifests that count.
struct Authority {
    keys: BTreeSet<SigningPublic>,
    counting: BTreeSet<ManifestHash>,
}

impl Effective {
    fn is_empty(&self, hash: &ManifestHash) -> bool {
        self.cut.get(hash).is_some_and(BTreeSet::is_empty)
    }

    fn members<'m>(
        &'m self,
        hash: &ManifestHash,
        manifest: &'m SignedManifest,
    ) -> impl Iterator<Item = SigningPublic> + 'm {
        let cut = self.cut.get(hash);
        keys(manifest).filter(move |key| cut.is_none_or(|left| left.contains(key)))
    }
}

impl<'a> Computation<'a> {
    fn new(known: &'a MembershipSnapshot, me: SigningPublic) -> Self {
        let mut ascending: Vec<_> = known.manifests.iter().map(|(h, m)| (*h, m)).collect();
        ascending.sort_by_key(|(hash, known)| rank(hash, &known.manifest));
        let tombs = known.tombs.iter();
        Self {
            known,
            me,
            ascending,
            tombs: tombs.map(|(key, t)| (*key, t.removals.clone())).collect(),
        }
    }

    /// Step 1: root and trusted history; children of accepted parents that list the
    /// issuer; and, where the parent can't be judged, manifests by anybody ever listed.
    fn accepted(&self, effective: &Effective) -> BTreeSet<ManifestHash> {
        let mut accepted = BTreeSet::new();
        let mut listed = BTreeSet::new();
        loop {
            let before = accepted.len();
            for (hash, known) in &self.ascending {
                if !accepted.contains(hash)
                    && self.is_acceptable(hash, known, &accepted, &listed, effective)
                {
                    accepted.insert(*hash);
                    listed.extend(keys(&known.manifest));
                }
            }
            if accepted.len() == before {
                return accepted;
            }
        }
    }

    fn is_acceptable(
        &self,
        hash: &ManifestHash,
        known: &KnownManifest,
        accepted: &BTreeSet<ManifestHash>,
        listed: &BTreeSet<SigningPublic>,
        effective: &Effective,
    ) -> bool {
        if known.trusted || self.known.root == Some(*hash) {
            return true;
        }
        let manifest = &known.manifest;
        let issuer = manifest.issuer();
        match self.accepted_parent(manifest, accepted) {
            Some(parent) => parent.lists(issuer) && manifest.version() > parent.version(),
            None => {
                let stands = !self.tombs.contains_key(issuer) || !effective.is_empty(hash);
                stands && listed.contains(issuer)
            }
        }
    }

    fn accepted_parent(
        &self,
        manifest: &SignedManifest,
        accepted: &BTreeSet<ManifestHash>,
    ) -> Option<&'a SignedManifest> {
        let parent = manifest.parent()?;
        accepted.contains(&parent).then_some(())?;
        self.known.manifest(&parent)
    }

    /// Step 2: of what a removed issuer signed and its remover had not seen, only what the
    /// remover's own list confirms stands.
    fn effective(&self) -> Effective {
        let mut lineages = BTreeMap::new();
        let mut cut = BTreeMap::new();
        for (hash, known) in &self.ascending {
            let issuer = known.manifest.issuer();
            let Some(removals) = self.tombs.get(issuer) else {
                continue;
            };
            let mut left: BTreeSet<_> = keys(&known.manifest).collect();
            for removal in removals {
                let lineage = lineages
                    .entry(*removal)
                    .or_insert_with(|| self.known.lineage(removal));
                if !lineage.contains(hash) {
                    self.keep_confirmed(&mut left, removal);
                }
            }
            cut.insert(*hash, left);
        }
        Effective { cut }
    }

    /// A remover's list that was folded away confirms nothing any more.
    fn keep_confirmed(&self, left: &mut BTreeSet<SigningPublic>, removal: &ManifestHash) {
        match self.known.manifest(removal) {
            Some(remover) => left.retain(|key| remover.lists(key)),
            None => left.clear(),
        }
    }

    /// Step 3: from the root's members, through every manifest issued with authority.
    fn authority(&self, accepted: &BTreeSet<ManifestHash>, effective: &Effective) -> Authority {
        let mut keys = self.first_authority();
        let mut counting = BTreeSet::new();
        loop {
            let before = counting.len();
            for (hash, known) in &self.ascending {
                let counts = accepted.contains(hash)
                    && keys.contains(known.manifest.issuer())
                    && !effective.is_empty(hash);
                if counts && counting.insert(*hash) {
                    keys.extend(effective.members(hash, &known.manifest));
                }
            }
            if counting.len() == before {
                return Authority { keys, counting };
            }
        }
    }

    fn first_authority(&self) -> BTreeSet<SigningPublic> {
        let mut first: BTreeSet<_> = self.known.base.keys().copied().collect();
        if let Some(root) = self.known.root() {
            first.extend(self.standing_members_of_root(root));
        }
        first
    }

    /// The root's members, without those that its issuer admitted when it had already
    /// been removed. A genesis has nobody before it, so all of its members stand.
    fn standing_members_of_root(&self, root: &SignedManifest) -> BTreeSet<SigningPublic> {
        let members = keys(root);
        if root.parent().is_none() || !self.is_root_after_removal(root) {
            return members.collect();
        }
        match self.known.parent(root) {
            Some(parent) => members.filter(|key| parent.lists(key)).collect(),
            None => members.filter(|key| *key != self.me).collect(),
        }
    }

    fn is_root_after_removal(&self, root: &SignedManifest) -> bool {
        let root_hash = root.hash();
        self.tombs.get(root.issuer()).is_some_and(|removals| {
            removals
                .iter()
                .any(|removal| self.known.descent(removal, &root_hash) == Descent::NotFrom)
        })
    }

    /// Step 4: the removals of the lowest manifest that makes new ones.
    ///
    /// One manifest at a time: a removal may void what a later one rests on.
    fn removals(
        &self,
        accepted: &BTreeSet<ManifestHash>,
        authority: &BTreeSet<SigningPublic>,
    ) -> Vec<Removal> {
        let ascending = self.ascending.iter();
        ascending
            .filter(|(hash, _)| accepted.contains(hash))
            .map(|(hash, known)| self.removals_by(hash, &known.manifest, accepted, authority))
            .find(|removals| !removals.is_empty())
            .unwrap_or_default()
    }

    /// Whoever an accepted parent lists and its accepted child does not is removed, if the
    /// issuer has authority or was removed itself. And an issuer that doesn't list itself
    /// leaves: for that its own signature is enough, parent or not.
    ///
    /// A removed issuer that never had authority counts as well: whoever saw it as a member
    /// has taken its removals, and all have to come to the same. It was brought in by a device
    /// that could have removed the same members, and isn't heard for longer than that one.
    fn removals_by(
        &self,
        hash: &ManifestHash,
        manifest: &SignedManifest,
        accepted: &BTreeSet<ManifestHash>,
        authority: &BTreeSet<SigningPublic>,
    ) -> Vec<Removal> {
        let issuer = manifest.issuer();
        let may_remove = authority.contains(issuer) || self.tombs.contains_key(issuer);
        let parent = self.accepted_parent(manifest, accepted);
        let parent = parent.filter(|parent| may_remove && parent.lists(issuer));
        let removed = parent.into_iter().flat_map(keys);
        let removed = removed.filter(|key| !manifest.lists(key) && key != issuer);
        let leaver = (!manifest.lists(issuer)).then_some(*issuer);
        let gone = leaver.into_iter().chain(removed);
        gone.filter(|key| self.is_fresh(key, hash))
            .map(|key| (key, *hash))
            .collect()
    }

    /// Whether a removal is one that the tombs lack and have room for.
    ///
    /// A key's own leaves don't count towards the room for others' removals: whatever order a
    /// device that leaves a hundred times has them arrive in, it is removed by the same hands.
    fn is_fresh(&self, key: &SigningPublic, removal: &ManifestHash) -> bool {
        let Some(removals) = self.tombs.get(key) else {
            return true;
        };
        if removals.contains(removal) {
            return false;
        }
        let is_own = |removal: &ManifestHash| {
            let manifest = self.known.manifest(removal);
            manifest.is_some_and(|manifest| manifest.issuer() == key)
        };
        let own = removals.iter().filter(|removal| is_own(removal)).count();
        if is_own(removal) {
            own < LEAVES_PER_KEY_MAX
        } else {
            removals.len().saturating_sub(own) < REMOVALS_PER_KEY_MAX
        }
    }

    fn bury(&mut self, found: &[Removal]) {
        for (key, removal) in found {
            self.tombs.entry(*key).or_default().insert(*removal);
        }
    }

    /// Steps 5 and 6: the view, limbo, the winner and the tip.
    fn conclude(&self, accepted: BTreeSet<ManifestHash>, authority: Authority) -> Standing {
        let view = self.view(&authority);
        let (winner, tip) = self.winner_and_tip(&authority.counting, &view);
        Standing {
            is_admission_void: self.is_admission_void(&authority),
            limbo: self.limbo(&accepted, &authority.keys),
            version: self.highest_version(&accepted),
            winner: winner.or(tip).or(self.known.root),
            tip,
            counting: authority.counting,
            authority: authority.keys,
            accepted,
            view,
        }
    }

    /// Everybody with authority whom nobody removed.
    ///
    /// Where manifests differ in a member's noise key or name the greatest one decides, so
    /// that all devices settle on the same record. A noise key belongs to one member: a
    /// second claim to it is left out, for no manifest could list both.
    fn view(&self, authority: &Authority) -> BTreeMap<SigningPublic, Member> {
        let counting = self.ascending.iter().rev();
        let counting = counting.filter(|(hash, _)| authority.counting.contains(hash));
        let records = counting
            .flat_map(|(_, known)| known.manifest.members())
            .chain(
                self.known
                    .root()
                    .into_iter()
                    .flat_map(SignedManifest::members),
            )
            .chain(self.known.base.values());
        let mut view = BTreeMap::new();
        let mut noise = BTreeSet::new();
        for member in records {
            let key = member.keys.signing;
            let is_member = authority.keys.contains(&key) && !self.tombs.contains_key(&key);
            if is_member && !view.contains_key(&key) && noise.insert(member.keys.noise) {
                view.insert(key, member.clone());
            }
        }
        view
    }

    fn is_admission_void(&self, authority: &Authority) -> bool {
        let root = self.known.root().filter(|root| root.parent().is_some());
        root.is_some_and(|root| self.is_root_after_removal(root))
            && !authority.keys.contains(&self.me)
    }

    fn limbo(
        &self,
        accepted: &BTreeSet<ManifestHash>,
        authority: &BTreeSet<SigningPublic>,
    ) -> BTreeSet<SigningPublic> {
        let accepted = self
            .ascending
            .iter()
            .filter(|(hash, _)| accepted.contains(hash));
        accepted
            .flat_map(|(_, known)| keys(&known.manifest))
            .filter(|key| !authority.contains(key) && !self.tombs.contains_key(key))
            .collect()
    }

    fn winner_and_tip(
        &self,
        counting: &BTreeSet<ManifestHash>,
        view: &BTreeMap<SigningPublic, Member>,
    ) -> (Option<ManifestHash>, Option<ManifestHash>) {
        let descending = || {
            let descending = self.ascending.iter().rev();
            descending.filter(|(hash, _)| counting.contains(hash))
        };
        let winner = descending().find(|(_, known)| view.contains_key(known.manifest.issuer()));
        let tip = descending().next();
        (winner.map(|(hash, _)| *hash), tip.map(|(hash, _)| *hash))
    }

    fn highest_version(&self, accepted: &BTreeSet<ManifestHash>) -> u64 {
        let accepted = self
            .ascending
            .iter()
            .filter(|(hash, _)| accepted.contains(hash));
        accepted
            .map(|(_, known)| known.manifest.version())
            .max()
            .unwrap_or(0)
    }
}

fn keys(manifest: &SignedManifest) -> impl Iterator<Item = SigningPublic> + '_ {
    manifest.members().iter().map(|member| member.keys.signing)
}
