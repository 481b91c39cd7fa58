//! Section 3.3, step by step, on known manifests that are written down by hand.

use std::collections::BTreeSet;

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{Manifest, SignedManifest};

use super::super::bound::REMOVALS_PER_KEY_MAX;
use super::super::known::{Descent, MembershipSnapshot};
use super::super::view::{Standing, compute};
use super::{MembershipChange, Person, group_id, joined, listed, manifest, rows, take};

fn standing(rows: &MembershipSnapshot, me: &Person) -> Standing {
    compute(rows, &me.key()).0
}

fn members(standing: &Standing) -> BTreeSet<SigningPublic> {
    standing.view.keys().copied().collect()
}

fn keys(people: &[&Person]) -> BTreeSet<SigningPublic> {
    people.iter().map(|person| person.key()).collect()
}

/// Rows to which the removals that compute finds have been added.
fn settled(mut rows: MembershipSnapshot, me: &Person) -> (MembershipSnapshot, Standing) {
    let (standing, removals) = compute(&rows, &me.key());
    for (key, removal) in removals {
        rows.apply(&MembershipChange::RemovalStored {
            key,
            removal,
            since_ms: 1,
        });
    }
    assert!(
        compute(&rows, &me.key()).1.is_empty(),
        "nothing is found twice"
    );
    (rows, standing)
}

#[test]
fn child_of_accepted_parent_is_accepted() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let child = manifest(2, Some(&root), &[&a, &b, &c], &b);
    let standing = standing(&rows(&root, &[&child]), &a);
    assert!(standing.accepted.contains(&child.hash()));
    assert_eq!(members(&standing), keys(&[&a, &b, &c]));
    assert_eq!(standing.winner, Some(child.hash()));
    assert_eq!(standing.version, 2);
}

#[test]
fn child_by_somebody_its_parent_does_not_list_is_parked() {
    let [a, b, stranger] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let child = manifest(2, Some(&root), &[&a, &b, &stranger], &stranger);
    let standing = standing(&rows(&root, &[&child]), &a);
    assert!(!standing.accepted.contains(&child.hash()));
    assert_eq!(members(&standing), keys(&[&a, &b]));
    assert!(
        standing.limbo.is_empty(),
        "parked manifests put nobody in limbo"
    );
}

#[test]
fn child_without_a_higher_version_is_parked() {
    let [a, b, c] = Person::many();
    let root = manifest(3, None, &[&a, &b], &a);
    let child = manifest(3, Some(&root), &[&a, &b, &c], &a);
    let standing = standing(&rows(&root, &[&child]), &a);
    assert!(!standing.accepted.contains(&child.hash()));
}

#[test]
fn unknown_parent_is_forgiven_to_anybody_ever_listed() {
    let [a, b, c, stranger] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let missing = manifest(2, Some(&root), &[&a, &b], &a);
    let by_member = manifest(3, Some(&missing), &[&a, &b, &c], &b);
    let by_stranger = manifest(3, Some(&missing), &[&a, &b, &stranger], &stranger);
    let standing = standing(&rows(&root, &[&by_member, &by_stranger]), &a);
    assert!(standing.accepted.contains(&by_member.hash()));
    assert!(!standing.accepted.contains(&by_stranger.hash()));
    assert_eq!(members(&standing), keys(&[&a, &b, &c]));
}

#[test]
fn trusted_history_is_accepted_whatever_its_issuer() {
    let [a, b, c, gone] = Person::many();
    let old = manifest(2, None, &[&a, &gone], &gone);
    let root = manifest(5, Some(&old), &[&a, &b, &c], &a);
    let mut rows = rows(&root, &[]);
    rows.apply(&MembershipChange::ManifestStored {
        manifest: old.clone(),
        trusted: true,
    });
    let (_, standing) = settled(rows, &c);
    assert!(standing.accepted.contains(&old.hash()));
    assert_eq!(
        members(&standing),
        keys(&[&a, &b, &c]),
        "the root removed it"
    );
}

#[test]
fn removed_issuer_adds_only_what_the_remover_confirms() {
    let [a, b, puppet, known] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let bad = manifest(2, Some(&root), &[&a, &b, &puppet, &known], &b);
    let removal = manifest(2, Some(&root), &[&a, &known], &a);
    let (_, standing) = settled(rows(&root, &[&bad, &removal]), &a);
    assert_eq!(members(&standing), keys(&[&a, &known]));
    assert_eq!(standing.limbo, keys(&[&puppet]));
}

#[test]
fn what_the_remover_had_seen_stands() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let admission = manifest(2, Some(&root), &[&a, &b, &c], &b);
    let removal = manifest(3, Some(&admission), &[&a, &c], &a);
    let (_, standing) = settled(rows(&root, &[&admission, &removal]), &a);
    assert_eq!(members(&standing), keys(&[&a, &c]));
    assert!(standing.limbo.is_empty());
}

#[test]
fn remover_list_that_was_folded_away_confirms_nothing() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let admission = manifest(2, Some(&root), &[&a, &b, &c], &b);
    let removal = manifest(2, Some(&root), &[&a, &c], &a);
    let mut rows = rows(&root, &[&admission]);
    rows.apply(&MembershipChange::RemovalStored {
        key: b.key(),
        removal: removal.hash(),
        since_ms: 1,
    });
    assert_eq!(members(&standing(&rows, &a)), keys(&[&a]));
}

#[test]
fn puppets_of_a_puppet_get_nothing() {
    let [a, b, puppet, second] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let bad = manifest(2, Some(&root), &[&a, &b, &puppet], &b);
    let worse = manifest(3, Some(&bad), &[&puppet, &second], &puppet);
    let removal = manifest(2, Some(&root), &[&a], &a);
    let (_, standing) = settled(rows(&root, &[&bad, &worse, &removal]), &a);
    assert_eq!(members(&standing), keys(&[&a]));
    assert!(!standing.counting.contains(&worse.hash()));
}

#[test]
fn joiner_admitted_after_its_admitter_was_removed_is_not_listed() {
    let [a, b, me] = Person::many();
    let base = manifest(1, None, &[&a, &b], &a);
    let anchor = manifest(2, Some(&base), &[&a, &b, &me], &b);
    let removal = manifest(2, Some(&base), &[&a], &a);
    let (_, unknown) = settled(rows(&anchor, &[]), &me);
    assert_eq!(members(&unknown), keys(&[&a, &b, &me]));
    let mut rows = rows(&anchor, &[&removal]);
    rows.apply(&MembershipChange::ManifestStored {
        manifest: base,
        trusted: true,
    });
    let (_, standing) = settled(rows, &me);
    assert_eq!(members(&standing), keys(&[&a]));
    assert_eq!(standing.limbo, keys(&[&me]), "in limbo, not removed");
}

#[test]
fn joiner_admitted_before_its_admitter_was_removed_stays() {
    let [a, b, me] = Person::many();
    let base = manifest(1, None, &[&a, &b], &a);
    let anchor = manifest(2, Some(&base), &[&a, &b, &me], &b);
    let removal = manifest(3, Some(&anchor), &[&a, &me], &a);
    let (_, standing) = settled(rows(&anchor, &[&removal]), &me);
    assert_eq!(members(&standing), keys(&[&a, &me]));
}

#[test]
fn all_members_of_a_genesis_stand() {
    let [a, b, c] = Person::many();
    let genesis = manifest(1, None, &[&a, &b, &c], &a);
    let removal = manifest(2, Some(&genesis), &[&b, &c], &b);
    let (_, standing) = settled(rows(&genesis, &[&removal]), &c);
    assert_eq!(members(&standing), keys(&[&b, &c]));
}

#[test]
fn removals_at_the_same_time_both_stand() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b, &c], &a);
    let one = manifest(2, Some(&root), &[&a, &c], &a);
    let two = manifest(2, Some(&root), &[&b, &c], &b);
    let (_, standing) = settled(rows(&root, &[&one, &two]), &c);
    assert_eq!(members(&standing), keys(&[&c]));
}

#[test]
fn stranger_removes_nobody() {
    let [a, b, stranger] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let removal = manifest(2, Some(&root), &[&a, &stranger], &stranger);
    let (rows, standing) = settled(rows(&root, &[&removal]), &a);
    assert!(rows.tombs.is_empty());
    assert_eq!(members(&standing), keys(&[&a, &b]));
}

#[test]
fn removals_of_one_key_are_bounded() {
    let [a, b] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let removals: Vec<_> = (2..200)
        .map(|version| manifest(version, Some(&root), &[&a], &a))
        .collect();
    let removals: Vec<_> = removals.iter().collect();
    let (rows, standing) = settled(rows(&root, &removals), &a);
    let tomb = rows.tombs.get(&b.key()).expect("removed");
    assert_eq!(tomb.removals.len(), REMOVALS_PER_KEY_MAX);
    assert_eq!(members(&standing), keys(&[&a]));
}

#[test]
fn leave_is_taken_without_its_parent() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b, &c], &a);
    let missing = manifest(2, Some(&root), &[&a, &b, &c], &b);
    let leave = manifest(3, Some(&missing), &[&a, &b], &c);
    let (_, standing) = settled(rows(&root, &[&leave]), &a);
    assert_eq!(members(&standing), keys(&[&a, &b]));
    assert_eq!(standing.tip, Some(leave.hash()));
    assert_eq!(
        standing.winner,
        Some(root.hash()),
        "a leaver's word doesn't rule"
    );
}

#[test]
fn higher_version_wins_and_then_the_lower_hash() {
    let [a, b, c, d] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let one = manifest(2, Some(&root), &[&a, &b, &c], &a);
    let two = manifest(2, Some(&root), &[&a, &b, &d], &b);
    let (_, tied) = settled(rows(&root, &[&one, &two]), &a);
    assert_eq!(tied.winner, Some(one.hash().min(two.hash())));
    let three = manifest(3, Some(&one), &[&a, &b, &c, &d], &a);
    let (_, merged) = settled(rows(&root, &[&one, &two, &three]), &a);
    assert_eq!(merged.winner, Some(three.hash()));
}

#[test]
fn greatest_counting_manifest_decides_a_member_record() {
    let [a, b, other] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let mut renamed = b.clone();
    renamed.member.name = other.member.name;
    let rename = manifest(2, Some(&root), &[&a, &renamed], &a);
    let standing = standing(&rows(&root, &[&rename]), &a);
    assert_eq!(standing.view.get(&b.key()), Some(&renamed.member));
}

#[test]
fn noise_key_belongs_to_one_member() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b], &a);
    let mut thief = c;
    thief.member.keys.noise = b.keys().noise;
    let theft = manifest(2, Some(&root), &[&a, &thief], &b);
    let standing = standing(&rows(&root, &[&theft]), &a);
    let noise: BTreeSet<_> = standing.view.values().map(|m| m.keys.noise).collect();
    assert_eq!(noise.len(), standing.view.len());
    let members = standing.view.into_values().collect();
    assert!(
        Manifest::new(group_id(), 3, None, members).is_ok(),
        "a view can be stated"
    );
}

#[test]
fn descent_is_known_as_soon_as_versions_tell() {
    let [a, b] = Person::many();
    let root = manifest(4, None, &[&a, &b], &a);
    let missing = manifest(5, Some(&root), &[&a, &b], &a);
    let child = manifest(6, Some(&missing), &[&a, &b], &a);
    let beside = manifest(5, Some(&manifest(4, None, &[&a], &a)), &[&a, &b], &b);
    let rows = rows(&root, &[&child, &beside]);
    let descent = |of: &SignedManifest| rows.descent(&of.hash(), &root.hash());
    assert_eq!(descent(&root), Descent::From);
    assert_eq!(descent(&missing), Descent::Unknown);
    assert_eq!(descent(&child), Descent::Unknown);
    assert_eq!(descent(&beside), Descent::NotFrom);
}

/// A removed device that is known to be gone by its own leave signs another, earlier or later.
#[test]
fn another_leave_of_a_removed_device_names_nobody_new() {
    let people: [Person; 4] = Person::many();
    let [a, b, rogue, puppet] = &people;
    let root = manifest(1, None, &[a, b, rogue], a);
    let leave = manifest(50, Some(&root), &[a, b], rogue);
    for version in [2, 49, 51, 900] {
        let mut group = joined(a, &root);
        take(&mut group, rogue, &leave);
        let other = manifest(version, Some(&root), &[a, b, puppet], rogue);
        take(&mut group, rogue, &other);
        assert_eq!(listed(&group, &people), [0, 1], "version {version}");
    }
}
