//! Section 3.5: what is taken, parked, dropped or refused, and who greets whom.

use sealpost_protocol::limit::MANIFEST_VERSION_MAX;
use sealpost_protocol::manifest::{GroupId, Manifest, SignedManifest};

use super::super::bound::{BUFFERED_BY_ADMITTER_MAX, BUFFERED_MANIFESTS_MAX, PARKED_MAX};
use super::super::{
    IssueError, ManifestRefused, Membership, MembershipEffect, has_room_before_anchor, is_anchor,
};
use super::{
    HOUR_MS, NOW_MS, Person, drained_sends, founded, joined, listed, manifest, take, take_at,
};

const DAY_MS: u64 = 24 * HOUR_MS;

#[test]
fn anchor_is_signed_and_sent_by_the_admitter_and_lists_both_keys() {
    let [a, b, me] = Person::many();
    let by_a = manifest(4, None, &[&a, &b, &me], &a);
    assert!(is_anchor(&by_a, &a.key(), &me.keys(), &a.key()));
    assert!(
        !is_anchor(&by_a, &b.key(), &me.keys(), &a.key()),
        "sent by another"
    );
    let by_b = manifest(4, None, &[&a, &b, &me], &b);
    assert!(
        !is_anchor(&by_b, &a.key(), &me.keys(), &a.key()),
        "signed by another"
    );
    let without_me = manifest(4, None, &[&a, &b], &a);
    assert!(!is_anchor(&without_me, &a.key(), &me.keys(), &a.key()));
    let mut half = me.keys();
    half.noise = b.keys().noise;
    assert!(
        !is_anchor(&by_a, &a.key(), &half, &a.key()),
        "listed under another noise key"
    );
}

#[test]
fn other_group_and_version_jump_are_refused() {
    let [a, b] = Person::many();
    let mut group = founded(&a, &b);
    let members = vec![a.member.clone(), b.member.clone()];
    let other = Manifest::new(GroupId::from_bytes([8; 32]), 2, None, members).expect("valid");
    let other = other.sign(&b.secrets.signing);
    let refused = group.handle_manifest(&b.key(), other, NOW_MS);
    assert_eq!(refused, Err(ManifestRefused::OtherGroup));
    let root = group.current().clone();
    let highest = manifest(10_001, Some(&root), &[&a, &b], &b);
    let above = manifest(10_002, Some(&root), &[&a, &b], &b);
    let refused = group.handle_manifest(&b.key(), above.clone(), NOW_MS);
    let jump = ManifestRefused::VersionJump {
        version: 10_002,
        accepted: 1,
    };
    assert_eq!(refused, Err(jump));
    assert!(group.drain().0.is_empty(), "a refusal changes nothing");
    take(&mut group, &b, &highest);
    take(&mut group, &b, &above);
    assert_eq!(group.current().hash(), above.hash());
}

#[test]
fn issuer_decides_and_the_author_does_not() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, stranger] = &people;
    let mut group = founded(a, b);
    let admission = manifest(2, Some(group.current()), &[a, b, c], b);
    take(&mut group, stranger, &admission);
    assert_eq!(listed(&group, &people), [0, 1, 2]);
    let puppet = manifest(3, Some(&admission), &[a, b, c, stranger], stranger);
    take(&mut group, a, &puppet);
    assert_eq!(listed(&group, &people), [0, 1, 2]);
    assert!(
        !group.has_ever_held(&stranger.key()),
        "parked manifests are not held"
    );
}

#[test]
fn own_manifest_that_is_not_known_is_dropped() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    let forged = manifest(2, Some(group.current()), &[&a, &b, &c], &a);
    take(&mut group, &b, &forged);
    assert!(group.drain().0.is_empty());
    assert_eq!(group.current().version(), 1);
}

#[test]
fn repeated_manifest_changes_nothing() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    let admission = manifest(2, Some(group.current()), &[&a, &b, &c], &b);
    take(&mut group, &b, &admission);
    let _ = group.drain();
    take(&mut group, &b, &admission);
    let (changes, effects) = group.drain();
    assert!(changes.is_empty() && effects.is_empty());
}

#[test]
fn removed_issuer_is_heard_for_thirty_days() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    let root = group.snapshot().root().expect("a root").clone();
    let late = manifest(2, Some(&root), &[&a, &b, &c], &b);
    let _ = group.drain();
    take_at(&mut group, &b, &late, NOW_MS + 30 * DAY_MS + 1);
    assert!(group.drain().0.is_empty(), "dropped");
    take_at(&mut group, &b, &late, NOW_MS + 30 * DAY_MS);
    assert!(!group.drain().0.is_empty(), "taken");
    assert!(!group.view().contains_key(&c.key()), "but void");
}

/// `other` removed `gone`, which then brought in `puppet`.
fn with_puppet(people: &[Person; 6]) -> (Membership, SignedManifest) {
    let [me, gone, other, puppet, ..] = people;
    let root = manifest(1, None, &[me, gone, other], me);
    let mut group = joined(me, &root);
    take(
        &mut group,
        other,
        &manifest(2, Some(&root), &[me, other], other),
    );
    let seed = manifest(2, Some(&root), &[me, gone, other, puppet], gone);
    take_at(&mut group, gone, &seed, NOW_MS + DAY_MS);
    assert!(group.limbo().contains(&puppet.key()));
    let _ = group.drain();
    (group, seed)
}

#[test]
fn puppets_of_a_removed_device_remove_nobody_once_its_grace_has_ended() {
    let people: [Person; 6] = Person::many();
    let [me, gone, other, puppet, second, third] = &people;
    let end_ms = NOW_MS + 30 * DAY_MS;

    // It leaves, and takes a member along.
    let (mut group, seed) = with_puppet(&people);
    let leave = manifest(9, Some(&seed), &[me], puppet);
    take_at(&mut group, puppet, &leave, end_ms + 1);
    assert_eq!(listed(&group, &people), [0, 2]);
    assert!(group.drain().0.is_empty(), "dropped");

    // One brings in the next, and removes the last: none has a grace of its own.
    let next = manifest(10, Some(&seed), &[me, gone, other, second], puppet);
    take_at(&mut group, puppet, &next, end_ms - DAY_MS);
    let last = manifest(11, Some(&next), &[me, other, second, third], second);
    take_at(&mut group, second, &last, end_ms - DAY_MS);
    for (issuer, parent) in [(puppet, &seed), (second, &next), (third, &last)] {
        let removal = manifest(12, Some(parent), &[me, issuer], issuer);
        let leave = manifest(13, Some(parent), &[me], issuer);
        for late in [&removal, &leave] {
            take_at(&mut group, issuer, late, end_ms + 1);
        }
    }
    assert_eq!(listed(&group, &people), [0, 2]);

    // What a removed device may do for thirty days its puppets may, too, as long as that.
    let (mut group, seed) = with_puppet(&people);
    let leave = manifest(9, Some(&seed), &[me], puppet);
    take_at(&mut group, puppet, &leave, end_ms);
    assert_eq!(listed(&group, &people), [0]);
}

#[test]
fn newcomer_of_a_removed_device_is_heard_again_once_somebody_lists_it() {
    let people: [Person; 6] = Person::many();
    let [me, gone, other, newcomer, second, _] = &people;
    let (mut group, seed) = with_puppet(&people);
    let later_ms = NOW_MS + 31 * DAY_MS;
    let unheard = manifest(
        3,
        Some(&seed),
        &[me, gone, other, newcomer, second],
        newcomer,
    );
    take_at(&mut group, newcomer, &unheard, later_ms);
    assert!(group.drain().0.is_empty(), "dropped");
    let root = group.snapshot().root().expect("a root").clone();
    let real = manifest(4, Some(&root), &[me, other, newcomer], other);
    take_at(&mut group, other, &real, later_ms);
    let admission = manifest(5, Some(&real), &[me, other, newcomer, second], newcomer);
    take_at(&mut group, newcomer, &admission, later_ms);
    assert_eq!(listed(&group, &people), [0, 2, 3, 4]);
}

#[test]
fn history_by_a_device_that_left_is_taken_before_anybody_lists_it() {
    let [a, left, gone, me] = Person::many();
    let first = manifest(1, None, &[&a, &left, &gone], &a);
    let removal = manifest(2, Some(&first), &[&a, &left], &left);
    let leave = manifest(3, Some(&removal), &[&a], &left);
    let anchor = manifest(4, Some(&leave), &[&a, &me], &a);
    let mut group = joined(&me, &anchor);
    for known in [&leave, &removal, &first] {
        take(&mut group, &a, known);
    }
    for removed in [&left, &gone] {
        assert!(group.snapshot().tombs.contains_key(&removed.key()));
    }
    assert!(group.limbo().is_empty());
}

#[test]
fn stranger_can_park_only_so_many_and_keeps_nobody_out() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, stranger] = &people;
    let mut group = founded(a, b);
    let root = group.current().clone();
    for version in 2..100 {
        let junk = manifest(version, Some(&root), &[a, b, stranger], stranger);
        take(&mut group, stranger, &junk);
    }
    assert_eq!(group.snapshot().manifests.len(), PARKED_MAX + 1);
    let missing = manifest(2, Some(&root), &[a, b], b);
    let parked = manifest(3, Some(&missing), &[a, b, c], c);
    take(&mut group, c, &parked);
    assert_eq!(group.snapshot().manifests.len(), PARKED_MAX + 1, "no more");
    let greeting = manifest(3, Some(&missing), &[a, b, c], b);
    take(&mut group, c, &greeting);
    assert_eq!(
        listed(&group, &people),
        [0, 1, 2],
        "what can be judged is taken"
    );
    take(&mut group, a, &parked);
    assert_eq!(
        group.snapshot().manifests.len(),
        PARKED_MAX + 3,
        "a member may"
    );
}

#[test]
fn new_member_greets_everybody_but_its_admitter() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, removed, me] = &people;
    let base = manifest(2, None, &[a, b, c, removed], a);
    let anchor = manifest(3, Some(&base), &[a, b, c, removed, me], a);
    let removal = manifest(4, Some(&anchor), &[a, b, c, me], b);
    let buffered = vec![(b.key(), removal)];
    let mut group = Membership::anchored(me.keys(), anchor.clone(), buffered, NOW_MS);
    assert_eq!(listed(&group, &people), [0, 1, 2, 4], "the buffer counts");
    let mut greeted = drained_sends(&mut group);
    greeted.sort_by_key(|(to, _)| *to);
    let mut expected = [(b.key(), anchor.clone()), (c.key(), anchor)];
    expected.sort_by_key(|(to, _)| *to);
    assert_eq!(greeted, expected);
}

#[test]
fn later_member_is_greeted_if_its_admission_did_not_list_me() {
    let people: [Person; 5] = Person::many();
    let [a, b, me, unaware, aware] = &people;
    let base = manifest(1, None, &[a, b], a);
    let anchor = manifest(2, Some(&base), &[a, b, me], a);
    let mut group = joined(me, &anchor);
    let theirs = manifest(2, Some(&base), &[a, b, unaware], b);
    take(&mut group, unaware, &theirs);
    assert_eq!(drained_sends(&mut group), [(unaware.key(), anchor.clone())]);
    let later = manifest(3, Some(&anchor), &[a, b, me, aware], a);
    take(&mut group, a, &later);
    assert_eq!(listed(&group, &people), [0, 1, 2, 3, 4]);
    assert!(
        drained_sends(&mut group).is_empty(),
        "its admission lists me"
    );
}

#[test]
fn member_whose_own_anchor_does_not_list_me_is_greeted() {
    let people: [Person; 4] = Person::many();
    let [a, b, me, unaware] = &people;
    let base = manifest(1, None, &[a, b], a);
    let anchor = manifest(2, Some(&base), &[a, b, me], a);
    let mut group = joined(me, &anchor);
    // The admitter's next manifest lists us both; who had admitted the other stays unknown.
    let both = manifest(3, Some(&anchor), &[a, b, me, unaware], a);
    take(&mut group, a, &both);
    assert!(drained_sends(&mut group).is_empty());
    let theirs = manifest(2, Some(&base), &[a, b, unaware], b);
    take(&mut group, unaware, &theirs);
    assert_eq!(drained_sends(&mut group), [(unaware.key(), anchor)]);
    take(&mut group, unaware, &theirs);
    assert!(drained_sends(&mut group).is_empty(), "once");
}

#[test]
fn holder_of_the_genesis_greets_nobody() {
    let [a, b, c] = Person::many();
    let genesis = manifest(1, None, &[&a, &b], &a);
    let mut group = Membership::anchored(b.keys(), genesis.clone(), Vec::new(), NOW_MS);
    take(
        &mut group,
        &a,
        &manifest(2, Some(&genesis), &[&a, &b, &c], &a),
    );
    assert!(drained_sends(&mut group).is_empty());
}

#[test]
fn history_is_trusted_from_the_admitter_alone() {
    let [a, b, gone, me] = Person::many();
    let old = manifest(2, None, &[&a, &gone], &gone);
    let anchor = manifest(5, None, &[&a, &b, &me], &a);
    let anchor = manifest(5, Some(&anchor), &[&a, &b, &me], &a);
    let mut group = joined(&me, &anchor);
    let is_trusted = |group: &Membership, m: &SignedManifest| {
        group
            .snapshot()
            .manifests
            .get(&m.hash())
            .map(|known| known.trusted)
    };
    take(&mut group, &b, &old);
    assert_eq!(is_trusted(&group, &old), Some(false));
    take(&mut group, &a, &old);
    assert_eq!(
        is_trusted(&group, &old),
        Some(true),
        "also where it was known"
    );
    let new = manifest(6, Some(&old), &[&a, &gone], &gone);
    take(&mut group, &a, &new);
    assert_eq!(
        is_trusted(&group, &new),
        Some(false),
        "nothing newer than the anchor"
    );
}

#[test]
fn admitter_that_was_removed_can_make_no_history() {
    let people: [Person; 6] = Person::many();
    let [a, b, other, me, stranger, invented] = &people;
    let first = manifest(1, None, &[a, b, other], a);
    let second = manifest(2, Some(&first), &[a, b, other], a);
    let anchor = manifest(3, Some(&second), &[a, b, other, me], a);
    let removal = manifest(4, Some(&anchor), &[b, other, me], b);
    let mut group = joined(me, &anchor);
    for known in [&second, &first] {
        take(&mut group, a, known);
    }
    take(&mut group, b, &removal);
    assert_eq!(listed(&group, &people), [1, 2, 3]);
    let _ = group.drain();
    // A key of its own, as old as it likes: lists that remove a member, or this device.
    for later_ms in [0, 29 * DAY_MS, 400 * DAY_MS] {
        for victim in [b, me] {
            let old = manifest(1, None, &[stranger, victim, invented], stranger);
            let older = manifest(2, Some(&old), &[stranger, other], stranger);
            for forged in [&old, &older] {
                take_at(&mut group, a, forged, NOW_MS + later_ms);
            }
        }
    }
    assert_eq!(listed(&group, &people), [1, 2, 3]);
    assert!(!group.is_removed());
    assert!(group.limbo().is_empty());
    assert!(!group.has_ever_held(&stranger.key()), "nor may it revoke");
    assert!(!group.has_ever_held(&invented.key()));
}

#[test]
fn newcomer_whose_admitter_is_removed_at_once_still_agrees_with_the_others() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, gone, me] = &people;
    let first = manifest(1, None, &[a, b, c, gone], a);
    let second = manifest(2, Some(&first), &[a, b, c], a);
    let anchor = manifest(3, Some(&second), &[a, b, c, me], a);
    let removal = manifest(4, Some(&anchor), &[b, c, me], b);
    let history = [(a, &second), (a, &first)];
    // The removal overtakes none of the history, some of it, or all.
    for overtaken in 0..=history.len() {
        let mut group = joined(me, &anchor);
        let (before, after) = history.split_at(overtaken);
        for (author, known) in before.iter().chain([&(b, &removal)]).chain(after) {
            take(&mut group, author, known);
        }
        assert_eq!(listed(&group, &people), [1, 2, 4]);
        assert!(group.snapshot().tombs.contains_key(&gone.key()));
        assert_eq!(group.current().hash(), removal.hash());
    }
}

#[test]
fn hello_is_the_first_and_seen_the_last() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    let root = group.current().clone();
    let first = manifest(2, Some(&root), &[&a, &b, &c], &b);
    let second = manifest(3, Some(&first), &[&a, &b, &c], &b);
    let own = manifest(4, Some(&second), &[&a, &b, &c], &c);
    take(&mut group, &b, &first);
    for manifest in [&first, &second, &own] {
        take(&mut group, &c, manifest);
    }
    let snapshot = group.snapshot();
    assert_eq!(snapshot.hello.get(&c.key()), Some(&first.hash()));
    assert_eq!(snapshot.seen.get(&c.key()), Some(&own.hash()));
    assert_eq!(
        snapshot.hello.get(&b.key()),
        None,
        "it only sent what it issued"
    );
}

#[test]
fn removed_device_is_told_once_and_everybody_hears_who_did_it() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b, &c], &a);
    let mut group = joined(&c, &root);
    let removal = manifest(2, Some(&root), &[&a, &b], &b);
    take_at(&mut group, &b, &removal, NOW_MS + 5);
    let (_, effects) = group.drain();
    let removed = effects
        .iter()
        .filter(|effect| **effect == MembershipEffect::Removed);
    assert_eq!(removed.count(), 1);
    let by = effects.iter().find_map(|effect| match effect {
        MembershipEffect::MemberRemoved { by, seen_ms, .. } => Some((by.clone(), *seen_ms)),
        _ => None,
    });
    let (by, seen_ms) = by.expect("a removal in the history");
    let by = by.expect("somebody did it");
    assert_eq!((by.issuer, by.version, seen_ms), (b.key(), 2, NOW_MS + 5));
    assert_eq!(by.name, Some(b.member.name.clone()));
    assert!(group.is_removed());
    take(&mut group, &a, &manifest(3, Some(&removal), &[&a, &b], &a));
    assert!(!group.drain().1.contains(&MembershipEffect::Removed));
    assert!(
        group.has_ever_held(&c.key()),
        "a former member may still revoke"
    );
}

#[test]
fn admission_names_the_admitter() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    let admission = manifest(2, Some(group.current()), &[&a, &b, &c], &b);
    take(&mut group, &b, &admission);
    let (_, effects) = group.drain();
    let added = effects.iter().find_map(|effect| match effect {
        MembershipEffect::MemberAdded { member, by, .. } => Some((member.clone(), by.clone())),
        _ => None,
    });
    let (member, by) = added.expect("an addition in the history");
    assert_eq!(member, c.member);
    assert_eq!(by.map(|by| by.issuer), Some(b.key()));
}

#[test]
fn no_version_can_end_the_counting() {
    let [a, b, c] = Person::many();
    let mut group = founded(&a, &b);
    let root = group.current().clone();
    let last = MANIFEST_VERSION_MAX;
    let far = manifest(last, Some(&root), &[&a, &b], &b);
    let refused = group.handle_manifest(&b.key(), far, NOW_MS);
    let jump = ManifestRefused::VersionJump {
        version: last,
        accepted: 1,
    };
    assert_eq!(refused, Err(jump));
    // Beyond that the shape itself is none.
    let members = vec![a.member.clone(), b.member.clone()];
    assert!(Manifest::new(super::group_id(), u64::MAX, None, members).is_err());
    // An anchor may have any version: at the end nothing more can be issued, and says so.
    let anchor = manifest(last, Some(&root), &[&a, &b], &a);
    let mut group = joined(&b, &anchor);
    let secret = &b.secrets.signing;
    let refused = group.issue_admission(&c.keys(), &c.member.name, secret, NOW_MS);
    assert!(matches!(refused, Err(IssueError::VersionExhausted)));
    assert!(group.drain().0.is_empty());
}

#[test]
fn only_so_many_manifests_are_kept_before_the_anchor() {
    let [a, b, me] = Person::many();
    let genesis = manifest(1, None, &[&a, &b], &a);
    let anchor = manifest(2, Some(&genesis), &[&a, &b, &me], &a);
    let buffered = (3_u64..200)
        .map(|version| {
            (
                b.key(),
                manifest(version, Some(&anchor), &[&a, &b, &me], &b),
            )
        })
        .collect();
    let group = Membership::anchored(me.keys(), anchor, buffered, NOW_MS);
    let most = 1 + BUFFERED_MANIFESTS_MAX + BUFFERED_BY_ADMITTER_MAX;
    assert_eq!(group.snapshot().manifests.len(), most);
}

#[test]
fn a_manifest_that_never_knew_this_device_removes_nobody_and_is_mended() {
    let people: [Person; 4] = Person::many();
    let [a, b, me, other] = &people;
    let base = manifest(1, None, &[a, b], a);
    let anchor = manifest(2, Some(&base), &[a, b, me], a);
    let mut group = joined(me, &anchor);
    // Greater than the anchor, so it is the current manifest, and it doesn't list this device.
    let beside = manifest(3, Some(&base), &[a, b, other], b);
    take(&mut group, b, &beside);
    assert_eq!(group.current().hash(), beside.hash());
    assert!(!group.is_removed() && group.is_listed());
    assert_eq!(listed(&group, &people), [0, 1, 2, 3]);
    assert!(group.is_unsatisfied(), "a merge will list everybody");
}

#[test]
fn older_equal_and_losing_manifests_are_taken_in_silence() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, d, e] = &people;
    let mut group = founded(a, b);
    let root = group.current().clone();
    let second = manifest(2, Some(&root), &[a, b, c], b);
    let third = manifest(3, Some(&second), &[a, b, c], b);
    take(&mut group, b, &third);
    take(&mut group, b, &second);
    assert_eq!(group.current().hash(), third.hash(), "older");
    let equal = manifest(3, Some(&second), &[a, b, c, d], a);
    let equal = [equal, manifest(3, Some(&second), &[a, b, c, e], b)];
    let [one, two] = &equal;
    take(&mut group, b, two);
    let mut other = founded(a, b);
    for manifest in [two, &third, &second] {
        take(&mut other, b, manifest);
    }
    // Of one version the lower hash is current, in whatever order they come.
    let lower = third.hash().min(two.hash());
    assert_eq!(group.current().hash(), lower);
    assert_eq!(other.current().hash(), lower);
    assert_eq!(group.view(), other.view(), "and both count");
    // This device didn't issue that one: somebody else has its key.
    take(&mut group, b, one);
    assert!(!group.view().contains_key(&d.key()));
}

/// Whoever sends without end, before a device knows a single member, takes only its own room.
#[test]
fn flood_before_the_anchor_crowds_out_neither_the_admitter_nor_another() {
    let people: Vec<Person> = (0..150).map(Person::new).collect();
    let (admitter, rogue, honest) = (people[0].key(), people[1].key(), people[2].key());
    let mut kept = Vec::new();
    let mut keep = |author| {
        let has_room = has_room_before_anchor(kept.iter(), &author, &admitter);
        if has_room {
            kept.push(author);
        }
        has_room
    };
    let from_one = (0..200).filter(|_| keep(rogue)).count();
    assert_eq!(from_one, 16);
    assert!(keep(honest), "another has room");
    let from_many = people[3..].iter().filter(|one| keep(one.key())).count();
    assert_eq!(from_many, 96 - 16 - 1);
    assert!(!keep(honest), "all others together have no more");
    let from_admitter = (0..200).filter(|_| keep(admitter)).count();
    assert_eq!(from_admitter, 16, "the admitter has room of its own");
}
