//! Section 3.3: what is known decides, and not in which order it came.
//!
//! It holds as long as every issuer keeps its authority: here all of them are in the genesis.
//! Where a removal voids the admission of an issuer, a removal by that issuer stands if it was
//! seen first; a merge then spreads it.

use std::collections::BTreeSet;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{ManifestHash, SignedManifest};

use super::super::bound::{LEAVES_PER_KEY_MAX, REMOVALS_PER_KEY_MAX};
use super::{Person, joined, manifest, take};

const FOUNDERS: usize = 5;

fn below(rng: &mut ChaCha8Rng, end: usize) -> usize {
    usize::try_from(rng.next_u64() % (end as u64)).expect("below the end")
}

fn shuffle<T>(rng: &mut ChaCha8Rng, list: &mut [T]) {
    for last in (1..list.len()).rev() {
        list.swap(last, below(rng, last + 1));
    }
}

/// The people that a manifest lists, by position.
fn listed_in(manifest: &SignedManifest, people: &[Person]) -> Vec<usize> {
    (0..people.len())
        .filter(|at| manifest.lists(&people[*at].key()))
        .collect()
}

/// Admissions, removals, leaves and merges by the founders, on parents of any age.
fn history(rng: &mut ChaCha8Rng, people: &[Person], root: &SignedManifest) -> Vec<SignedManifest> {
    let mut history = vec![root.clone()];
    for _ in 0..10 {
        let parent = history[below(rng, history.len())].clone();
        let members = listed_in(&parent, people);
        // What this device itself signed it doesn't take from others.
        let issuers: Vec<usize> = members
            .iter()
            .copied()
            .filter(|at| (1..FOUNDERS).contains(at))
            .collect();
        if issuers.is_empty() {
            continue;
        }
        let issuer = issuers[below(rng, issuers.len())];
        let mut members: BTreeSet<usize> = members.into_iter().collect();
        match below(rng, 4) {
            0 => drop(members.insert(FOUNDERS + below(rng, people.len() - FOUNDERS))),
            1 => drop(members.remove(&below(rng, people.len()))),
            2 => drop(members.remove(&issuer)),
            _ => {}
        }
        if members.is_empty() {
            continue;
        }
        let members: Vec<&Person> = members.iter().map(|at| &people[*at]).collect();
        let version = parent.version() + 1 + below(rng, 3) as u64;
        history.push(manifest(version, Some(&parent), &members, &people[issuer]));
    }
    history.split_off(1)
}

/// An insider that brings somebody in, unseen by its remover, and leaves again and again.
fn leaving_for_ever(people: &[Person], root: &SignedManifest) -> Vec<SignedManifest> {
    let (insider, remover, puppet) = (&people[1], &people[2], &people[FOUNDERS]);
    let others = || {
        let founders = people[..FOUNDERS].iter();
        founders.filter(|who| who.key() != insider.key())
    };
    let everybody: Vec<&Person> = others().chain([insider, puppet]).collect();
    let left: Vec<&Person> = others().chain([puppet]).collect();
    let without_insider: Vec<&Person> = others().collect();
    let admission = manifest(2, Some(root), &everybody, insider);
    let leaves = (3_u64..).take(2 * REMOVALS_PER_KEY_MAX).map(|version| {
        let parent = if version % 2 == 0 { root } else { &admission };
        manifest(version, Some(parent), &left, insider)
    });
    let mut all: Vec<SignedManifest> = leaves.collect();
    all.push(manifest(2, Some(root), &without_insider, remover));
    all.push(admission);
    all
}

type Outcome = (Vec<SigningPublic>, BTreeSet<SigningPublic>, ManifestHash);

fn outcome(people: &[Person], root: &SignedManifest, known: &[SignedManifest]) -> Outcome {
    let mut group = joined(&people[0], root);
    for manifest in known {
        take(&mut group, &people[3], manifest);
    }
    let view = group.view().keys().copied().collect();
    (view, group.limbo().clone(), group.current().hash())
}

/// Takes the manifests in some orders; all have to come to the same.
fn assert_order_is_nothing(rng: &mut ChaCha8Rng, people: &[Person], known: &[SignedManifest]) {
    let founders: Vec<&Person> = people[..FOUNDERS].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    let expected = outcome(people, &root, known);
    let mut known = known.to_vec();
    known.reverse();
    assert_eq!(outcome(people, &root, &known), expected, "backwards");
    for _ in 0..3 {
        shuffle(rng, &mut known);
        assert_eq!(outcome(people, &root, &known), expected);
    }
}

#[test]
fn any_order_of_what_lasting_issuers_signed_gives_the_same_members() {
    let people: Vec<Person> = (0..8).map(Person::new).collect();
    let founders: Vec<&Person> = people[..FOUNDERS].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let known = history(&mut rng, &people, &root);
        assert_order_is_nothing(&mut rng, &people, &known);
    }
}

#[test]
fn leaving_again_and_again_hides_no_removal_by_another() {
    let people: Vec<Person> = (0..8).map(Person::new).collect();
    let founders: Vec<&Person> = people[..FOUNDERS].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let known = leaving_for_ever(&people, &root);
    assert_order_is_nothing(&mut rng, &people, &known);
    let mut group = joined(&people[0], &root);
    for manifest in &known {
        take(&mut group, &people[3], manifest);
    }
    let puppet = people[FOUNDERS].key();
    assert!(
        !group.view().contains_key(&puppet),
        "its remover's list stands"
    );
    let tomb = &group.snapshot().tombs[&people[1].key()];
    assert!(tomb.removals.len() <= 1 + LEAVES_PER_KEY_MAX);
}
