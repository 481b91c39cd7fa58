//! Section 3.8: old manifests are folded away, and nobody is lost by it.

use super::super::bound::{KNOWN_KEPT, KNOWN_MAX};
use super::super::{Membership, MembershipChange};
use super::{NOW_MS, Person, founded, listed, manifest, take};

/// A group after that many further manifests by its second member.
fn long_lived(people: &[Person; 4], manifests: u64) -> Membership {
    let [a, b, c, gone] = people;
    let mut group = founded(a, b);
    for who in [c, gone] {
        group
            .issue_admission(&who.keys(), &who.member.name, &a.secrets.signing, NOW_MS)
            .expect("room");
    }
    group
        .issue_removal(&gone.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    for _ in 0..manifests {
        let current = group.current().clone();
        let next = manifest(current.version() + 1, Some(&current), &[a, b, c], b);
        take(&mut group, b, &next);
    }
    group
}

#[test]
fn known_manifests_stay_bounded() {
    let people: [Person; 4] = Person::many();
    let mut group = long_lived(&people, 252);
    assert_eq!(group.snapshot().manifests.len(), KNOWN_MAX);
    let view = group.view().clone();
    let current = group.current().clone();
    let _ = group.drain();
    let next = manifest(
        current.version() + 1,
        Some(&current),
        &[&people[0], &people[1], &people[2]],
        &people[1],
    );
    take(&mut group, &people[1], &next);
    assert_eq!(group.snapshot().manifests.len(), KNOWN_KEPT);
    assert_eq!(*group.view(), view);
    assert_eq!(group.current().hash(), next.hash());
    let (changes, _) = group.drain();
    let deleted = changes
        .iter()
        .filter(|c| matches!(c, MembershipChange::ManifestDeleted { .. }));
    assert_eq!(deleted.count(), KNOWN_MAX + 1 - KNOWN_KEPT);
}

#[test]
fn root_winner_proofs_and_tombs_are_kept() {
    let people: [Person; 4] = Person::many();
    let group = long_lived(&people, 600);
    let snapshot = group.snapshot();
    assert!(snapshot.manifests.len() <= KNOWN_MAX);
    assert!(snapshot.root().is_some());
    assert_eq!(group.current().version(), 4 + 600);
    assert!(snapshot.tombs.contains_key(&people[3].key()));
    assert_eq!(
        snapshot.proofs(group.view()).len(),
        1,
        "the removal can still be proven"
    );
    assert!(group.has_ever_held(&people[3].key()));
    assert_eq!(listed(&group, &people), [0, 1, 2]);
}

#[test]
fn members_survive_the_loss_of_the_manifests_that_admitted_them() {
    let people: [Person; 4] = Person::many();
    let mut group = long_lived(&people, 600);
    let snapshot = group.snapshot();
    assert!(snapshot.base.contains_key(&people[2].key()));
    let letters = snapshot.hello.values().chain(snapshot.seen.values());
    assert!(letters.clone().count() > 0);
    for hash in letters {
        assert!(
            snapshot.manifests.contains_key(hash),
            "letters don't dangle"
        );
    }
    let late = manifest(2, None, &[&people[0], &people[3]], &people[3]);
    take(&mut group, &people[3], &late);
    assert_eq!(
        listed(&group, &people),
        [0, 1, 2],
        "the removed stay removed"
    );
}
