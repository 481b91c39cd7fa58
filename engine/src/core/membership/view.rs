//! What the known manifests say: authority, removals, view and current manifest.
//!
//! [`compute`] is a pure function of the rows; it is the whole of section 3.3 of the
//! membership rule, one function per step, and is run after every change. Removals grow
//! only and win; additions come from whole member lists of manifests whose issuer has
//! authority. It never writes: the removals it finds are returned for the caller to keep.
//! Within it keys and manifests are the numbers that `roll` gives them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};

use super::bound::{LEAVES_PER_KEY_MAX, REMOVALS_PER_KEY_MAX};
use super::known::{Descent, MembershipSnapshot};
use super::roll::{Numbers, Roll, Rolls};

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
            return (computation.conclude(&accepted, &authority), fresh);
        }
        computation.bury(&found);
        fresh.extend(found);
    }
}

/// The rows, their manifests in ascending order, and the tombs found so far.
struct Computation<'a> {
    known: &'a MembershipSnapshot,
    me: SigningPublic,
    rolls: Rolls<'a>,
    tombs: Tombs,
    /// The keys in `tombs`, but for those that nothing known names.
    buried: Numbers,
}

/// Step 1: the accepted manifests, and everybody they list.
#[derive(Default)]
struct Accepted {
    places: Numbers,
    listed: Numbers,
}

/// Step 2: the member lists that tombs have cut down. All others stand as they are.
struct Effective {
    cut: BTreeMap<usize, Numbers>,
}

/// Step 3: the keys with authority, and the manifests that count.
struct Authority {
    keys: Numbers,
    counting: Numbers,
}

impl Effective {
    fn is_empty(&self, roll: &Roll<'_>) -> bool {
        self.cut.get(&roll.place).is_some_and(Numbers::is_empty)
    }

    fn members<'m>(&'m self, roll: &'m Roll<'_>) -> &'m Numbers {
        self.cut.get(&roll.place).unwrap_or(&roll.lists)
    }
}

impl<'a> Computation<'a> {
    fn new(known: &'a MembershipSnapshot, me: SigningPublic) -> Self {
        let rolls = Rolls::new(known);
        let tombs = known.tombs.iter();
        let buried = known.tombs.keys().filter_map(|key| rolls.number(key));
        Self {
            known,
            me,
            tombs: tombs.map(|(key, t)| (*key, t.removals.clone())).collect(),
            buried: buried.collect(),
            rolls,
        }
    }

    /// Step 1: root and trusted history; children of accepted parents that list the
    /// issuer; and, where the parent can't be judged, manifests by anybody ever listed.
    fn accepted(&self, effective: &Effective) -> Accepted {
        let mut accepted = Accepted::default();
        loop {
            let mut is_more = false;
            for roll in self.rolls.ascending() {
                if !accepted.places.contains(roll.place)
                    && self.is_acceptable(roll, &accepted, effective)
                {
                    accepted.places.insert(roll.place);
                    accepted.listed.add_all(&roll.lists);
                    is_more = true;
                }
            }
            if !is_more {
                return accepted;
            }
        }
    }

    fn is_acceptable(&self, roll: &Roll<'_>, accepted: &Accepted, effective: &Effective) -> bool {
        if roll.known.trusted || self.known.root == Some(roll.hash) {
            return true;
        }
        match self.accepted_parent(roll, accepted) {
            Some(parent) => {
                let is_later = roll.manifest().version() > parent.manifest().version();
                parent.lists.contains(roll.issuer) && is_later
            }
            None => {
                let stands = !self.buried.contains(roll.issuer) || !effective.is_empty(roll);
                stands && accepted.listed.contains(roll.issuer)
            }
        }
    }

    fn accepted_parent(&self, roll: &Roll<'a>, accepted: &Accepted) -> Option<&Roll<'a>> {
        let parent = self.rolls.parent(roll);
        parent.filter(|parent| accepted.places.contains(parent.place))
    }

    /// Step 2: of what a removed issuer signed and its remover had not seen, only what the
    /// remover's own list confirms stands.
    fn effective(&self) -> Effective {
        let mut lineages = BTreeMap::new();
        let mut cut = BTreeMap::new();
        for roll in self.rolls.ascending() {
            if !self.buried.contains(roll.issuer) {
                continue;
            }
            let mut left = roll.lists.clone();
            for removal in self
                .tombs
                .get(roll.manifest().issuer())
                .into_iter()
                .flatten()
            {
                let lineage = lineages
                    .entry(*removal)
                    .or_insert_with(|| self.rolls.lineage(removal));
                if !lineage.contains(roll.place) {
                    self.keep_confirmed(&mut left, removal);
                }
            }
            cut.insert(roll.place, left);
        }
        Effective { cut }
    }

    /// A remover's list that was folded away confirms nothing any more.
    fn keep_confirmed(&self, left: &mut Numbers, removal: &ManifestHash) {
        match self.rolls.with_hash(removal) {
            Some(remover) => left.keep_all(&remover.lists),
            None => *left = Numbers::default(),
        }
    }

    /// Step 3: from the root's members, through every manifest issued with authority.
    fn authority(&self, accepted: &Accepted, effective: &Effective) -> Authority {
        let mut keys = self.first_authority();
        let mut counting = Numbers::default();
        loop {
            let mut is_more = false;
            for roll in self.rolls.among(&accepted.places) {
                let counts = keys.contains(roll.issuer) && !effective.is_empty(roll);
                if counts && counting.insert(roll.place) {
                    keys.add_all(effective.members(roll));
                    is_more = true;
                }
            }
            if !is_more {
                return Authority { keys, counting };
            }
        }
    }

    fn first_authority(&self) -> Numbers {
        let base = self.known.base.keys();
        let mut first: Numbers = base.filter_map(|key| self.rolls.number(key)).collect();
        if let Some(root) = self.root() {
            first.add_all(&self.standing_members_of_root(root));
        }
        first
    }

    fn root(&self) -> Option<&Roll<'a>> {
        self.rolls.with_hash(&self.known.root?)
    }

    /// The root's members, without those that its issuer admitted when it had already
    /// been removed. A genesis has nobody before it, so all of its members stand.
    fn standing_members_of_root(&self, root: &Roll<'_>) -> Numbers {
        let mut members = root.lists.clone();
        if root.manifest().parent().is_some() && self.is_root_after_removal(root.manifest()) {
            match self.rolls.parent(root) {
                Some(parent) => members.keep_all(&parent.lists),
                None => {
                    let me = self.rolls.number(&self.me);
                    me.into_iter().for_each(|me| members.remove(me));
                }
            }
        }
        members
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
    fn removals(&self, accepted: &Accepted, authority: &Numbers) -> Vec<Removal> {
        let rolls = self.rolls.among(&accepted.places);
        rolls
            .map(|roll| self.removals_by(roll, accepted, authority))
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
        roll: &Roll<'a>,
        accepted: &Accepted,
        authority: &Numbers,
    ) -> Vec<Removal> {
        let issuer = roll.issuer;
        let may_remove = authority.contains(issuer) || self.buried.contains(issuer);
        let parent = self.accepted_parent(roll, accepted);
        let parent = parent.filter(|parent| may_remove && parent.lists.contains(issuer));
        let mut gone = parent.map_or_else(Numbers::default, |parent| {
            parent.lists.clone().without(&roll.lists)
        });
        if !roll.lists.contains(issuer) {
            gone.insert(issuer);
        }
        self.rolls
            .keys(&gone)
            .filter(|key| self.is_fresh(key, &roll.hash))
            .map(|key| (key, roll.hash))
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
            if let Some(number) = self.rolls.number(key) {
                self.buried.insert(number);
            }
        }
    }

    /// Steps 5 and 6: the view, limbo, the winner and the tip.
    fn conclude(&self, accepted: &Accepted, authority: &Authority) -> Standing {
        let view = self.view(authority);
        let descending = || self.rolls.among(&authority.counting).rev();
        let tip = descending().next().map(|roll| roll.hash);
        let winner = descending().find(|roll| view.contains_key(roll.manifest().issuer()));
        let winner = winner.map(|roll| roll.hash);
        let last = self.rolls.among(&accepted.places).next_back();
        let limbo = accepted.listed.clone().without(&authority.keys);
        Standing {
            is_admission_void: self.is_admission_void(authority),
            limbo: self.rolls.keys(&limbo.without(&self.buried)).collect(),
            version: last.map_or(0, |roll| roll.manifest().version()),
            winner: winner.or(tip).or(self.known.root),
            tip,
            counting: self.hashes(&authority.counting),
            authority: self.rolls.keys(&authority.keys).collect(),
            accepted: self.hashes(&accepted.places),
            view,
        }
    }

    fn hashes(&self, places: &Numbers) -> BTreeSet<ManifestHash> {
        self.rolls.among(places).map(|roll| roll.hash).collect()
    }

    /// Everybody with authority whom nobody removed.
    ///
    /// Where manifests differ in a member's noise key or name the greatest one decides, so
    /// that all devices settle on the same record. A noise key belongs to one member: a
    /// second claim to it is left out, for no manifest could list both.
    fn view(&self, authority: &Authority) -> BTreeMap<SigningPublic, Member> {
        let mut unrecorded = authority.keys.clone().without(&self.buried);
        let mut view = BTreeMap::new();
        let mut noise = BTreeSet::new();
        let counting = self.rolls.among(&authority.counting).rev();
        let listed = counting.chain(self.root()).flat_map(Roll::members);
        let base = self.known.base.values();
        let base =
            base.filter_map(|member| Some((self.rolls.number(&member.keys.signing)?, member)));
        for (number, member) in listed.chain(base) {
            if unrecorded.is_empty() {
                break;
            }
            if unrecorded.contains(number) && noise.insert(member.keys.noise) {
                unrecorded.remove(number);
                view.insert(member.keys.signing, member.clone());
            }
        }
        view
    }

    fn is_admission_void(&self, authority: &Authority) -> bool {
        let root = self.known.root().filter(|root| root.parent().is_some());
        let me = self.rolls.number(&self.me);
        root.is_some_and(|root| self.is_root_after_removal(root))
            && !me.is_some_and(|me| authority.keys.contains(me))
    }
}
