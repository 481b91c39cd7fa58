//! The known manifests of one computation, with keys and manifests as small numbers.
//!
//! Owns [`Rolls`], which `view` computes on: it asks hundreds of times who lists whom, and sets
//! of numbers answer that at once, where sets of keys would be compared byte by byte. It is
//! made anew for each computation, holds nothing that the rows don't, and judges nothing.
//!
//! Spec: membership rule, section 3.3.

use std::collections::BTreeMap;

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};

use super::known::{KnownManifest, MembershipSnapshot};
use super::view::rank;

/// A set of small numbers: keys, or places of manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers(Vec<u64>);

impl Numbers {
    /// Returns whether it is new.
    pub(super) fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = place(number);
        if self.0.len() <= word {
            self.0.resize(word.saturating_add(1), 0);
        }
        let bits = self.0.get_mut(word);
        bits.is_some_and(|bits| {
            let is_new = *bits & bit == 0;
            *bits |= bit;
            is_new
        })
    }

    pub(super) fn remove(&mut self, number: usize) {
        let (word, bit) = place(number);
        if let Some(bits) = self.0.get_mut(word) {
            *bits &= !bit;
        }
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        let (word, bit) = place(number);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    pub(super) fn add_all(&mut self, others: &Self) {
        if self.0.len() < others.0.len() {
            self.0.resize(others.0.len(), 0);
        }
        for (bits, others) in self.0.iter_mut().zip(&others.0) {
            *bits |= others;
        }
    }

    pub(super) fn keep_all(&mut self, others: &Self) {
        let others = others.0.iter().chain(std::iter::repeat(&0));
        for (bits, others) in self.0.iter_mut().zip(others) {
            *bits &= others;
        }
    }

    pub(super) fn without(mut self, others: &Self) -> Self {
        for (bits, others) in self.0.iter_mut().zip(&others.0) {
            *bits &= !others;
        }
        self
    }

    /// The numbers, lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let words = (0_usize..).step_by(WORD_BITS).zip(&self.0);
        words.flat_map(|(first, bits)| {
            let set = (0..WORD_BITS).filter(move |bit| bits >> bit & 1 != 0);
            set.map(move |bit| first.saturating_add(bit))
        })
    }
}

impl FromIterator<usize> for Numbers {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = Self::default();
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

const WORD_BITS: usize = 64;

const fn place(number: usize) -> (usize, u64) {
    (number / WORD_BITS, 1 << (number % WORD_BITS))
}

/// One known manifest.
pub(super) struct Roll<'a> {
    /// Its place in the ascending order.
    pub(super) place: usize,
    pub(super) hash: ManifestHash,
    pub(super) known: &'a KnownManifest,
    pub(super) issuer: usize,
    /// The place of its parent, if that is known.
    pub(super) parent: Option<usize>,
    /// Whom it lists.
    pub(super) lists: Numbers,
    /// The same, in the order of its members.
    numbers: Vec<usize>,
}

impl<'a> Roll<'a> {
    pub(super) const fn manifest(&self) -> &'a SignedManifest {
        &self.known.manifest
    }

    /// The members, each with its number.
    pub(super) fn members(&self) -> impl Iterator<Item = (usize, &'a Member)> {
        let numbers = self.numbers.iter().copied();
        numbers.zip(self.manifest().members())
    }
}

/// All known manifests in ascending order, and who has which number.
pub(super) struct Rolls<'a> {
    ascending: Vec<Roll<'a>>,
    places: BTreeMap<ManifestHash, usize>,
    keys: Vec<SigningPublic>,
    numbers: BTreeMap<SigningPublic, usize>,
}

impl<'a> Rolls<'a> {
    pub(super) fn new(known: &'a MembershipSnapshot) -> Self {
        let mut ascending: Vec<_> = known.manifests.iter().collect();
        ascending.sort_by_key(|(hash, known)| rank(hash, &known.manifest));
        let places = ascending.iter().enumerate();
        let mut rolls = Self {
            places: places.map(|(place, (hash, _))| (**hash, place)).collect(),
            ascending: Vec::with_capacity(ascending.len()),
            keys: Vec::new(),
            numbers: BTreeMap::new(),
        };
        for key in known.base.keys() {
            rolls.give_number(key);
        }
        for (hash, known) in ascending {
            rolls.enter(*hash, known);
        }
        rolls
    }

    fn enter(&mut self, hash: ManifestHash, known: &'a KnownManifest) {
        let manifest = &known.manifest;
        let numbers = self.numbers_like_the_last(manifest);
        let issuer = self.give_number(manifest.issuer());
        let parent = manifest.parent();
        self.ascending.push(Roll {
            place: self.ascending.len(),
            hash,
            known,
            issuer,
            parent: parent.and_then(|parent| self.places.get(&parent).copied()),
            lists: numbers.iter().copied().collect(),
            numbers,
        });
    }

    /// The numbers of the members. Most of them the manifest before lists as well, in the same
    /// order: those needn't be looked up.
    fn numbers_like_the_last(&mut self, manifest: &SignedManifest) -> Vec<usize> {
        let last: Vec<_> = self.ascending.last().map_or_else(Vec::new, |last| {
            let members = last.members();
            members
                .map(|(number, member)| (number, member.keys.signing))
                .collect()
        });
        let mut last = last.into_iter().peekable();
        let members = manifest.members().iter().map(|member| member.keys.signing);
        let numbers = members.map(|key| {
            while last.next_if(|(_, before)| *before < key).is_some() {}
            match last.next_if(|(_, same)| *same == key) {
                Some((number, _)) => number,
                None => self.give_number(&key),
            }
        });
        numbers.collect()
    }

    fn give_number(&mut self, key: &SigningPublic) -> usize {
        *self.numbers.entry(*key).or_insert_with(|| {
            self.keys.push(*key);
            self.keys.len().saturating_sub(1)
        })
    }

    /// The manifests, lowest first.
    pub(super) fn ascending(&self) -> impl DoubleEndedIterator<Item = &Roll<'a>> {
        self.ascending.iter()
    }

    /// Those of them that are in a set, lowest first.
    pub(super) fn among<'s>(
        &'s self,
        places: &'s Numbers,
    ) -> impl DoubleEndedIterator<Item = &'s Roll<'a>> {
        self.ascending().filter(|roll| places.contains(roll.place))
    }

    pub(super) fn parent(&self, roll: &Roll<'a>) -> Option<&Roll<'a>> {
        self.ascending.get(roll.parent?)
    }

    pub(super) fn with_hash(&self, hash: &ManifestHash) -> Option<&Roll<'a>> {
        self.ascending.get(*self.places.get(hash)?)
    }

    /// A manifest and its ancestors, as far as the parents are known.
    pub(super) fn lineage(&self, of: &ManifestHash) -> Numbers {
        let mut lineage = Numbers::default();
        let mut next = self.with_hash(of);
        while let Some(roll) = next.filter(|roll| lineage.insert(roll.place)) {
            next = self.parent(roll);
        }
        lineage
    }

    /// The number of a key that is listed, has issued something, or was folded in.
    pub(super) fn number(&self, key: &SigningPublic) -> Option<usize> {
        self.numbers.get(key).copied()
    }

    /// The key of each number.
    pub(super) fn keys(&self, numbers: &Numbers) -> impl Iterator<Item = SigningPublic> {
        let keys = numbers.iter().filter_map(|number| self.keys.get(number));
        keys.copied()
    }
}
