//! Section 4: what no rule repairs, and what a device sees of it.

use std::collections::BTreeSet;

use super::super::{Cohesion, Leave, Membership};
use super::{NOW_MS, Person, joined, listed, manifest, take};

fn cohesion(group: &Membership) -> Cohesion {
    group.cohesion(&BTreeSet::new())
}

#[test]
fn a_group_in_order_is_whole_for_everybody() {
    let [a, b, me] = Person::many();
    let genesis = manifest(1, None, &[&a, &b], &a);
    let anchor = manifest(2, Some(&genesis), &[&a, &b, &me], &a);
    let mut first = joined(&a, &genesis);
    take(&mut first, &me, &anchor);
    assert_eq!(cohesion(&first), Cohesion::Whole);
    assert_eq!(cohesion(&joined(&me, &anchor)), Cohesion::Whole);
}

#[test]
fn a_newcomer_whose_only_common_member_has_gone_is_cut_off_until_somebody_is_heard() {
    let people: [Person; 3] = Person::many();
    let [a, b, me] = &people;
    let genesis = manifest(1, None, &[a, b], a);
    let anchor = manifest(2, Some(&genesis), &[a, b, me], a);
    let mut group = joined(me, &anchor);
    let leave = manifest(3, Some(&anchor), &[b, me], a);
    take(&mut group, a, &leave);
    // The other one may have let somebody in and left meanwhile: nobody would say so here.
    assert_eq!(listed(&group, &people), [1, 2]);
    assert_eq!(cohesion(&group), Cohesion::CutOff);
    let heard = BTreeSet::from([b.key()]);
    assert_eq!(group.cohesion(&heard), Cohesion::Whole);
    take(&mut group, b, &manifest(4, Some(&leave), &[b, me], b));
    assert_eq!(cohesion(&group), Cohesion::Whole, "a manifest says it too");
}

#[test]
fn whoever_is_alone_is_not_cut_off() {
    let [a, me] = Person::many();
    let old = manifest(1, None, &[&a], &a);
    let anchor = manifest(2, Some(&old), &[&a, &me], &a);
    let mut group = joined(&me, &anchor);
    take(&mut group, &a, &manifest(3, Some(&anchor), &[&me], &a));
    assert_eq!(group.view().len(), 1);
    assert_eq!(cohesion(&group), Cohesion::Whole);
}

#[test]
fn an_admission_by_a_removed_device_is_void_as_soon_as_that_is_known() {
    let [a, b, me] = Person::many();
    let base = manifest(1, None, &[&a, &b], &a);
    let anchor = manifest(2, Some(&base), &[&a, &b, &me], &b);
    let mut group = joined(&me, &anchor);
    take(&mut group, &b, &base);
    assert_eq!(cohesion(&group), Cohesion::Whole);
    take(&mut group, &a, &manifest(2, Some(&base), &[&a], &a));
    assert!(!group.is_listed() && !group.is_removed());
    assert_eq!(cohesion(&group), Cohesion::AdmissionVoid);
    // Somebody else counts this device in after all.
    take(&mut group, &a, &manifest(3, Some(&base), &[&a, &me], &a));
    assert_eq!(cohesion(&group), Cohesion::Whole);
}

#[test]
fn the_merge_that_closes_an_admission_is_told_from_a_removal() {
    let [a, b, me] = Person::many();
    let base = manifest(1, None, &[&a, &b], &a);
    let anchor = manifest(2, Some(&base), &[&a, &b, &me], &b);
    let mut closed = joined(&me, &anchor);
    take(&mut closed, &a, &manifest(3, Some(&anchor), &[&a], &a));
    assert!(closed.is_removed() && closed.is_admission_void());

    let mut removed = joined(&me, &anchor);
    take(&mut removed, &a, &manifest(3, Some(&anchor), &[&a, &b], &a));
    assert!(removed.is_removed() && !removed.is_admission_void());

    // First the admitter, whose admission of this device was known, then this device.
    let mut later = joined(&me, &anchor);
    let without_b = manifest(3, Some(&anchor), &[&a, &me], &a);
    take(&mut later, &a, &without_b);
    take(&mut later, &a, &manifest(4, Some(&without_b), &[&a], &a));
    assert!(later.is_removed() && !later.is_admission_void());
}

#[test]
fn a_void_joiner_that_leaves_removes_itself_and_nobody_else() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, me] = &people;
    let base = manifest(1, None, &[a, b, c], a);
    let anchor = manifest(2, Some(&base), &[a, b, c, me], b);
    let removal = manifest(2, Some(&base), &[a, c], a);
    let mut group = joined(me, &anchor);
    take(&mut group, b, &base);
    take(&mut group, a, &removal);
    assert!(!group.is_listed());
    group
        .issue_leave(&me.secrets.signing, NOW_MS)
        .expect("it needs nothing to rest on");
    let (_, effects) = group.drain();
    let sends = super::sent(&effects);
    let leave = &sends.last().expect("the others are told").1;
    let told: BTreeSet<_> = sends.iter().map(|(to, _)| *to).collect();
    assert!(told.contains(&a.key()) && told.contains(&c.key()));

    // One that has heard of the removal, and one that counts the joiner in.
    for knows in [true, false] {
        let mut other = joined(c, &base);
        take(&mut other, b, &anchor);
        if knows {
            take(&mut other, a, &removal);
        }
        take(&mut other, me, leave);
        let tombs = &other.snapshot().tombs;
        assert!(tombs.contains_key(&me.key()), "knows: {knows}");
        assert_eq!(tombs.contains_key(&b.key()), knows);
        let expected: &[usize] = if knows { &[0, 2] } else { &[0, 1, 2] };
        assert_eq!(listed(&other, &people), expected);
    }
}

#[test]
fn a_void_joiner_that_leaves_names_nobody_removed() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, gone, me] = &people;
    let base = manifest(1, None, &[a, b, c, gone], a);
    let anchor = manifest(3, Some(&base), &[a, b, c, gone, me], b);
    let without_b = manifest(2, Some(&base), &[a, c, gone], a);
    let without_gone = manifest(3, Some(&without_b), &[a, c], a);
    let mut group = joined(me, &anchor);
    take(&mut group, b, &base);
    for removal in [&without_b, &without_gone] {
        take(&mut group, a, removal);
    }
    assert!(!group.is_listed() && !group.is_removed());
    let left = group.issue_leave(&me.secrets.signing, NOW_MS);
    assert!(matches!(left, Ok(Leave::Issued)));
    let sends = super::drained_sends(&mut group);
    let leave = &sends.last().expect("the others are told").1;
    let named: BTreeSet<_> = leave.members().iter().map(|m| m.keys.signing).collect();
    assert_eq!(named, [a, c].map(|other| other.key()).into());
    let mut other = joined(c, &base);
    take(&mut other, b, &anchor);
    take(&mut other, me, leave);
    let heard: Vec<_> = other.snapshot().tombs.keys().copied().collect();
    assert_eq!(heard, [me.key()], "nobody else is removed by it");
}
