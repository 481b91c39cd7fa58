//! Section 3.4: what is issued, on which parent, and who is sent what in which order.

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::SignedManifest;

use super::super::bound::TOMBS_MAX;
use super::super::{IssueError, Leave, Membership, MembershipEffect};
use super::{NOW_MS, Person, drained_sends, founded, joined, listed, manifest, rows, sent, take};

fn admit(group: &mut Membership, by: &Person, who: &Person) -> Result<(), IssueError> {
    let secret = &by.secrets.signing;
    group.issue_admission(&who.keys(), &who.member.name, secret, NOW_MS)
}

#[test]
fn genesis_lists_both_and_is_sent_to_the_joiner() {
    let [a, b] = Person::many();
    let mut group = Membership::genesis(
        super::group_id(),
        a.member.clone(),
        b.member.clone(),
        &a.secrets.signing,
        NOW_MS,
    )
    .expect("two different devices");
    let (changes, effects) = group.drain();
    assert!(!changes.is_empty());
    assert_eq!(sent(&effects), [(b.key(), group.current().clone())]);
    assert!(effects.contains(&MembershipEffect::ViewChanged));
    assert_eq!(group.current().version(), 1);
    assert_eq!(group.current().parent(), None);
    assert!(group.has_ever_held(&b.key()));
}

#[test]
fn newcomer_is_sent_its_manifest_then_history_then_the_others() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, d, e] = &people;
    let mut group = founded(a, b);
    let genesis = group.current().clone();
    admit(&mut group, a, c).expect("room");
    let with_c = group.current().clone();
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    let without_b = group.current().clone();
    admit(&mut group, a, d).expect("room");
    let with_d = group.current().clone();
    let _ = group.drain();
    admit(&mut group, a, e).expect("room");
    let with_e = group.current().clone();
    let sends = drained_sends(&mut group);
    let to_e: Vec<SignedManifest> = sends.iter().take(5).map(|(_, m)| m.clone()).collect();
    assert_eq!(to_e, [with_e.clone(), with_d, without_b, with_c, genesis]);
    assert!(sends.iter().take(5).all(|(to, _)| *to == e.key()));
    let mut others: Vec<_> = sends.into_iter().skip(5).collect();
    others.sort_by_key(|(to, _)| *to);
    let mut expected = [(c.key(), with_e.clone()), (d.key(), with_e)];
    expected.sort_by_key(|(to, _)| *to);
    assert_eq!(others, expected);
}

#[test]
fn old_removals_are_proven_to_a_newcomer() {
    let people: [Person; 10] = Person::many();
    let mut group = founded(&people[0], &people[1]);
    group
        .issue_removal(&people[1].key(), &people[0].secrets.signing, NOW_MS)
        .expect("a member");
    let removal = group.current().clone();
    for who in &people[2..9] {
        admit(&mut group, &people[0], who).expect("room");
    }
    let _ = group.drain();
    admit(&mut group, &people[0], &people[9]).expect("room");
    let sends = drained_sends(&mut group);
    let to_newcomer = sends.iter().filter(|(to, _)| *to == people[9].key());
    let to_newcomer: Vec<_> = to_newcomer.map(|(_, manifest)| manifest.hash()).collect();
    assert_eq!(
        to_newcomer.len(),
        7,
        "manifest, four ancestors, parent and child"
    );
    let parent = removal.parent().expect("the genesis");
    assert_eq!(to_newcomer[5..], [removal.hash(), parent]);

    let anchor = group.current().clone();
    let mut newcomer = joined(&people[9], &anchor);
    for (_, manifest) in sends.iter().filter(|(to, _)| *to == people[9].key()) {
        take(&mut newcomer, &people[0], manifest);
        let removed = people[1].key();
        assert!(!newcomer.view().contains_key(&removed), "not for a moment");
    }
    let greeted = drained_sends(&mut newcomer);
    assert!(greeted.iter().all(|(to, _)| *to != people[1].key()));
    assert!(newcomer.snapshot().tombs.contains_key(&people[1].key()));
    assert_eq!(newcomer.view(), group.view());
}

#[test]
fn member_gets_the_ancestors_that_it_was_not_sent() {
    let [a, b, c, d, e] = Person::many();
    let root = manifest(1, None, &[&a, &b, &c], &a);
    let mut group = joined(&a, &root);
    group
        .issue_removal(&c.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    let removal = group.current().clone();
    admit(&mut group, &a, &e).expect("room");
    let with_e = group.current().clone();
    // Neither was sent to `d`, which `b` admitted meanwhile.
    let by_b = manifest(2, Some(&root), &[&a, &b, &c, &d], &b);
    take(&mut group, &b, &by_b);
    let _ = group.drain();
    group
        .issue_removal(&e.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    let sends = drained_sends(&mut group);
    let to_d = sends.iter().filter(|(to, _)| *to == d.key());
    let to_d: Vec<_> = to_d.map(|(_, manifest)| manifest.clone()).collect();
    let without_e = group.current().clone();
    assert_eq!(to_d, [without_e, with_e, removal, root]);

    let mut other = joined(&d, &by_b);
    for sent in &to_d {
        take(&mut other, &a, sent);
        let removed = e.key();
        assert!(!other.view().contains_key(&removed), "not for a moment");
    }
    let greeted = drained_sends(&mut other);
    assert!(greeted.iter().all(|(to, _)| *to != e.key()));
    assert_eq!(other.view(), group.view());
}

#[test]
fn versions_grow_from_the_highest_accepted_one() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    let far = manifest(900, Some(group.current()), &[&a, &b], &b);
    take(&mut group, &b, &far);
    admit(&mut group, &a, &c).expect("room");
    assert_eq!(group.current().version(), 901);
    assert_eq!(group.current().parent(), Some(far.hash()));
}

#[test]
fn removed_device_can_come_back_only_with_new_keys() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, fresh] = &people;
    let mut group = founded(a, b);
    admit(&mut group, a, c).expect("room");
    group
        .issue_removal(&c.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    assert!(matches!(
        admit(&mut group, a, c),
        Err(IssueError::RemovedBefore)
    ));
    admit(&mut group, a, fresh).expect("new keys");
    assert_eq!(listed(&group, &people), [0, 1, 3]);
}

#[test]
fn half_known_keys_are_refused() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    let mut half = c.clone();
    half.member.keys.noise = b.keys().noise;
    assert!(matches!(
        admit(&mut group, &a, &half),
        Err(IssueError::KeysMismatch)
    ));
    let mut half = b;
    half.member.keys.noise = c.keys().noise;
    assert!(matches!(
        admit(&mut group, &a, &half),
        Err(IssueError::KeysMismatch)
    ));
}

#[test]
fn full_group_admits_nobody() {
    let people: Vec<Person> = (0..33).map(Person::new).collect();
    let mut group = founded(&people[0], &people[1]);
    for who in &people[2..32] {
        admit(&mut group, &people[0], who).expect("room");
    }
    let refused = admit(&mut group, &people[0], &people[32]);
    assert!(matches!(refused, Err(IssueError::GroupFull { max: 32 })));
}

#[test]
fn group_that_removed_too_many_admits_nobody() {
    let [a, b, c] = Person::many();
    let group = founded(&a, &b);
    let mut rows = group.snapshot().clone();
    let removal = group.current().hash();
    for number in 0..TOMBS_MAX {
        let mut bytes = [9; 32];
        bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
        rows.apply(&super::MembershipChange::RemovalStored {
            key: SigningPublic::from_bytes(bytes),
            removal,
            since_ms: 1,
        });
    }
    let mut group = Membership::restore(a.keys(), rows, NOW_MS).expect("a root");
    let refused = admit(&mut group, &a, &c);
    assert!(matches!(refused, Err(IssueError::TombsFull { max: 4_096 })));
}

#[test]
fn repeated_admission_gives_the_joiner_a_manifest_of_its_admitter() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    admit(&mut group, &a, &c).expect("room");
    let mine = group.current().clone();
    let _ = group.drain();
    admit(&mut group, &a, &c).expect("a member");
    let sends = drained_sends(&mut group);
    assert!(sends.iter().all(|(to, _)| *to == c.key()));
    assert_eq!(sends.first(), Some(&(c.key(), mine.clone())));

    let theirs = manifest(3, Some(&mine), &[&a, &b, &c], &b);
    take(&mut group, &b, &theirs);
    admit(&mut group, &a, &c).expect("a member");
    assert_eq!(*group.current().issuer(), a.key(), "issued anew");
    let sends = drained_sends(&mut group);
    assert_eq!(sends.first(), Some(&(c.key(), group.current().clone())));
    assert!(sends.contains(&(b.key(), group.current().clone())));
}

#[test]
fn removal_is_sent_to_the_removed_device() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    admit(&mut group, &a, &c).expect("room");
    let _ = group.drain();
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    let to: Vec<_> = drained_sends(&mut group)
        .into_iter()
        .map(|(to, _)| to)
        .collect();
    assert!(to.contains(&b.key()) && to.contains(&c.key()));
    let again = group.issue_removal(&b.key(), &a.secrets.signing, NOW_MS);
    assert!(matches!(again, Err(IssueError::MemberUnknown)));
    let myself = group.issue_removal(&a.key(), &a.secrets.signing, NOW_MS);
    assert!(matches!(myself, Err(IssueError::MemberUnknown)));
}

#[test]
fn removal_of_a_member_that_no_manifest_lists_beside_me_merges_first() {
    let people: [Person; 4] = Person::many();
    let [a, b, me, other] = &people;
    let base = manifest(1, None, &[a, b], a);
    let mine = manifest(2, Some(&base), &[a, b, me], a);
    let theirs = manifest(2, Some(&base), &[a, b, other], b);
    let mut group = joined(me, &mine);
    take(&mut group, b, &theirs);
    assert_eq!(listed(&group, &people), [0, 1, 2, 3]);
    group
        .issue_removal(&other.key(), &me.secrets.signing, NOW_MS)
        .expect("a merge to build on");
    assert_eq!(listed(&group, &people), [0, 1, 2]);
    assert!(group.snapshot().tombs.contains_key(&other.key()));
}

#[test]
fn member_that_was_not_sent_the_parent_gets_it_as_well() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, d, unaware] = &people;
    let root = manifest(1, None, &[a, b, c], a);
    let mut group = joined(a, &root);
    take(
        &mut group,
        b,
        &manifest(2, Some(&root), &[a, b, c, unaware], b),
    );
    let removal = manifest(3, Some(&root), &[a, b], b);
    take(&mut group, b, &removal);
    let _ = group.drain();
    admit(&mut group, a, d).expect("room");
    let issued = group.current().clone();
    assert_eq!(issued.parent(), Some(removal.hash()));
    let sends = drained_sends(&mut group);
    let to = |who: &Person| -> Vec<SignedManifest> {
        let sends = sends.iter().filter(|(to, _)| *to == who.key());
        sends.map(|(_, manifest)| manifest.clone()).collect()
    };
    assert_eq!(to(unaware), [issued.clone(), removal, root]);
    assert_eq!(to(b), [issued]);
}

#[test]
fn parent_never_lists_a_limbo_key() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, puppet, fresh] = &people;
    let mut group = founded(a, b);
    admit(&mut group, a, c).expect("room");
    let shared = group.current().clone();
    let void = manifest(9, Some(&shared), &[a, b, c, puppet], c);
    group
        .issue_removal(&c.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    take(&mut group, c, &void);
    assert!(group.limbo().contains(&puppet.key()));
    admit(&mut group, a, fresh).expect("room");
    let parent = group.current().parent().expect("a parent");
    let parent = group.snapshot().manifest(&parent).expect("known");
    assert!(!parent.lists(&puppet.key()));
    assert!(!group.snapshot().tombs.contains_key(&puppet.key()));
}

#[test]
fn leaver_tells_the_others_and_is_removed_without_news() {
    let [a, b] = Person::many();
    let mut group = founded(&a, &b);
    let leave = group
        .issue_leave(&a.secrets.signing, NOW_MS)
        .expect("a parent");
    assert_eq!(leave, Leave::Issued);
    assert!(group.is_removed());
    let (_, effects) = group.drain();
    assert_eq!(sent(&effects).len(), 1);
    assert!(!effects.contains(&MembershipEffect::Removed));

    let mut other = joined(&b, &founded(&a, &b).current().clone());
    let leave = sent(&effects).remove(0).1;
    take(&mut other, &a, &leave);
    assert!(!other.is_removed());
    let alone = other
        .issue_leave(&b.secrets.signing, NOW_MS)
        .expect("nobody to tell");
    assert_eq!(alone, Leave::Alone);
    assert!(drained_sends(&mut other).is_empty());
}

#[test]
fn unlisted_device_issues_nothing() {
    let people: [Person; 4] = Person::many();
    let [a, b, me, other] = &people;
    let base = manifest(1, None, &[a, b], a);
    let anchor = manifest(2, Some(&base), &[a, b, me], b);
    let removal = manifest(2, Some(&base), &[a], a);
    let mut rows = rows(&anchor, &[&removal]);
    rows.apply(&super::MembershipChange::ManifestStored {
        manifest: base,
        trusted: true,
    });
    let mut group = Membership::restore(me.keys(), rows, NOW_MS).expect("a root");
    assert!(!group.is_listed() && !group.is_removed());
    assert!(matches!(
        admit(&mut group, me, other),
        Err(IssueError::NotListed)
    ));
    let removal = group.issue_removal(&a.key(), &me.secrets.signing, NOW_MS);
    assert!(matches!(removal, Err(IssueError::NotListed)));
}

/// What a removed device says of its own going is no proof while a member's word is there: its
/// list would count for a newcomer, who has nothing else to judge it by.
#[test]
fn newcomer_is_proven_a_removal_by_a_member_and_not_by_the_removed_device() {
    for seed in 0..20 {
        let people: Vec<Person> = (seed..seed + 5)
            .map(|n| Person::new(1_000 + n * 7))
            .collect();
        let [a, b, rogue, puppet, newcomer] = &people[..] else {
            panic!("five people");
        };
        let root = manifest(1, None, &[a, b, rogue], a);
        let mut group = joined(a, &root);
        group
            .issue_removal(&rogue.key(), &a.secrets.signing, NOW_MS)
            .expect("a member");
        let leave = manifest(2, Some(&root), &[a, b, puppet], rogue);
        take(&mut group, rogue, &leave);
        assert_eq!(listed(&group, &people), [0, 1]);
        let (keys, name) = (newcomer.keys(), &newcomer.member.name);
        group
            .issue_admission(&keys, name, &a.secrets.signing, NOW_MS)
            .expect("room");
        let sends = drained_sends(&mut group);
        let to_newcomer = sends.iter().filter(|(to, _)| *to == newcomer.key());
        let to_newcomer: Vec<_> = to_newcomer.map(|(_, sent)| sent.clone()).collect();
        let mut theirs = joined(newcomer, &to_newcomer[0]);
        for sent in &to_newcomer[1..] {
            take(&mut theirs, a, sent);
        }
        assert_eq!(listed(&theirs, &people), [0, 1, 4], "seed {seed}");
    }
}
