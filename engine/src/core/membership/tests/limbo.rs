//! Section 3.6: what becomes of keys in limbo, and of a device that finds itself there.

use std::collections::BTreeSet;

use sealpost_protocol::manifest::SignedManifest;

use super::super::{Membership, MembershipEffect};
use super::{
    HOUR_MS, NOW_MS, Person, drained_sends, joined, listed, manifest, pass, sent, take, take_at,
    tick,
};

const DAY_MS: u64 = 24 * HOUR_MS;

/// `a` removed `b`, which had admitted `joiner` without `a`'s knowledge; `c` is a member too.
struct Torn {
    root: SignedManifest,
    admission: SignedManifest,
    group: Membership,
}

fn torn(people: &[Person; 4]) -> Torn {
    let [a, b, c, joiner] = people;
    let root = manifest(1, None, &[a, b, c], a);
    let admission = manifest(2, Some(&root), &[a, b, c, joiner], b);
    let mut group = joined(a, &root);
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    take(&mut group, b, &admission);
    assert!(group.limbo().contains(&joiner.key()));
    let _ = group.drain();
    Torn {
        root,
        admission,
        group,
    }
}

/// The joiner, which has heard of the removal: nobody with authority let it in.
fn in_limbo(torn: &Torn, [a, _, c, joiner]: &[Person; 4]) -> Membership {
    let mut group = joined(joiner, &torn.admission);
    take(&mut group, a, &manifest(2, Some(&torn.root), &[a, c], a));
    take(&mut group, a, &torn.root);
    assert!(!group.is_listed());
    let _ = group.drain();
    group
}

/// Hands over what one device sent another.
fn hand_over(
    sends: &[(sealpost_protocol::key::SigningPublic, SignedManifest)],
    from: &Person,
    to: &Person,
    group: &mut Membership,
    now_ms: u64,
) {
    for (_, sent) in sends.iter().filter(|(key, _)| *key == to.key()) {
        take_at(group, from, sent, now_ms);
    }
}

#[test]
fn silent_key_is_asked_once_within_a_day_and_never_removed_for_its_silence() {
    let people: [Person; 4] = Person::many();
    let [a, _, _, joiner] = &people;
    let mut torn = torn(&people);
    pass(&mut torn.group, a, NOW_MS, NOW_MS + DAY_MS / 2);
    assert!(drained_sends(&mut torn.group).is_empty(), "not at once");
    pass(
        &mut torn.group,
        a,
        NOW_MS + DAY_MS / 2,
        NOW_MS + 400 * DAY_MS,
    );
    let sends = drained_sends(&mut torn.group);
    let asked: Vec<_> = sends.iter().filter(|(to, _)| *to == joiner.key()).collect();
    let hashes: BTreeSet<_> = asked.iter().map(|(_, sent)| sent.hash()).collect();
    assert_eq!(asked.len(), hashes.len(), "once");
    assert!(hashes.contains(&torn.group.current().hash()));
    assert!(torn.group.limbo().contains(&joiner.key()));
}

#[test]
fn living_key_answers_and_only_then_is_closed_and_learns_it() {
    let people: [Person; 4] = Person::many();
    let [a, _, _, joiner] = &people;
    let mut torn = torn(&people);
    // It came when it was offline, so its greeting never went out.
    let mut other = joined(joiner, &torn.admission);
    pass(&mut torn.group, a, NOW_MS, NOW_MS + DAY_MS);
    let asked_ms = NOW_MS + DAY_MS;
    let question = drained_sends(&mut torn.group);
    hand_over(&question, a, joiner, &mut other, asked_ms);
    let answer = drained_sends(&mut other);
    assert!(answer.iter().any(|(to, _)| *to == a.key()), "it answers");
    hand_over(&answer, joiner, a, &mut torn.group, asked_ms);
    pass(&mut torn.group, a, asked_ms, NOW_MS + 2 * DAY_MS);
    assert!(torn.group.limbo().is_empty());
    assert_eq!(listed(&torn.group, &people), [0, 2]);
    let closing = drained_sends(&mut torn.group);
    hand_over(&closing, a, joiner, &mut other, asked_ms);
    assert!(other.is_removed());
}

/// `c` stated the admission before it heard of the removal, and only the joiner has it.
#[test]
fn what_speaks_for_a_key_comes_with_its_answer_and_saves_it() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, joiner] = &people;
    let mut torn = torn(&people);
    let mut other = joined(joiner, &torn.admission);
    let stated = manifest(3, Some(&torn.admission), &[a, b, c, joiner], c);
    take(&mut other, c, &stated);
    let _ = other.drain();
    pass(&mut torn.group, a, NOW_MS, NOW_MS + DAY_MS);
    let question = drained_sends(&mut torn.group);
    hand_over(&question, a, joiner, &mut other, NOW_MS + DAY_MS);
    let answer = drained_sends(&mut other);
    hand_over(&answer, joiner, a, &mut torn.group, NOW_MS + DAY_MS);
    pass(&mut torn.group, a, NOW_MS + DAY_MS, NOW_MS + 40 * DAY_MS);
    assert_eq!(listed(&torn.group, &people), [0, 2, 3]);
    assert!(!torn.group.snapshot().tombs.contains_key(&joiner.key()));
}

#[test]
fn question_by_a_stranger_or_about_the_past_is_not_answered() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, joiner] = &people;
    let root = manifest(1, None, &[a, b, c], a);
    let admission = manifest(5, Some(&root), &[a, b, c, joiner], b);
    let mut group = joined(joiner, &admission);
    let stranger = Person::new(99);
    let foreign = manifest(6, Some(&root), &[a, &stranger], &stranger);
    take(&mut group, &stranger, &foreign);
    take(
        &mut group,
        &stranger,
        &manifest(7, Some(&root), &[a, b, c], a),
    );
    // What the admitter tells of the past, and what a member's later word has overtaken.
    take(&mut group, b, &manifest(4, Some(&root), &[a, b, c], a));
    let last_word = manifest(8, Some(&admission), &[a, b, c, joiner], a);
    take(&mut group, a, &last_word);
    take(&mut group, a, &manifest(6, Some(&root), &[a, b, c], c));
    let to_members: Vec<_> = drained_sends(&mut group);
    assert!(to_members.is_empty(), "{}", to_members.len());
}

#[test]
fn devices_close_a_key_at_different_times() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, d, joiner] = &people;
    let root = manifest(1, None, &[a, b, c, d], a);
    let removal = manifest(2, Some(&root), &[a, c, d], a);
    let void = manifest(2, Some(&root), &[a, b, c, d, joiner], b);
    let dues: BTreeSet<_> = [c, d]
        .into_iter()
        .map(|me| {
            let mut group = joined(me, &root);
            take(&mut group, a, &removal);
            take(&mut group, joiner, &void);
            pass(&mut group, me, NOW_MS, NOW_MS + DAY_MS);
            let due_ms = group.next_timer().expect("the closing is planned");
            assert!((NOW_MS + DAY_MS..NOW_MS + DAY_MS * 3 / 2).contains(&due_ms));
            due_ms
        })
        .collect();
    assert_eq!(dues.len(), 2);
}

#[test]
fn device_in_limbo_leaves_after_fifteen_days_and_removes_nobody_else() {
    let people: [Person; 4] = Person::many();
    let [_, b, c, joiner] = &people;
    let torn = torn(&people);
    let mut group = in_limbo(&torn, &people);
    pass(&mut group, joiner, NOW_MS, NOW_MS + 15 * DAY_MS);
    assert!(!group.is_removed(), "not before");
    pass(
        &mut group,
        joiner,
        NOW_MS + 15 * DAY_MS,
        NOW_MS + 16 * DAY_MS,
    );
    assert!(group.is_removed());
    let (_, effects) = group.drain();
    assert!(effects.contains(&MembershipEffect::Removed), "it wipes");
    // Whoever counts it in is told, and removes nobody else.
    let mut counting = joined(c, &torn.root);
    take(&mut counting, b, &torn.admission);
    assert_eq!(listed(&counting, &people), [0, 1, 2, 3]);
    hand_over(&sent(&effects), joiner, c, &mut counting, NOW_MS);
    assert_eq!(listed(&counting, &people), [0, 1, 2]);
}

/// `c` stated its admission after all, and that waits on the relay: nothing may be decided
/// before it is read, however long ago the limbo began.
#[test]
fn device_that_comes_back_after_weeks_reads_what_waits_before_it_leaves() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, joiner] = &people;
    let torn = torn(&people);
    let group = in_limbo(&torn, &people);
    let back_ms = NOW_MS + 16 * DAY_MS;
    let rows = group.snapshot().clone();
    let mut group = Membership::restore(joiner.keys(), rows, back_ms).expect("its own rows");
    pass(&mut group, joiner, back_ms, back_ms + 5 * HOUR_MS);
    assert!(!group.is_removed());
    let stated = manifest(3, Some(&torn.admission), &[a, b, c, joiner], c);
    take_at(&mut group, c, &stated, back_ms + 5 * HOUR_MS);
    assert!(group.is_listed());
    pass(
        &mut group,
        joiner,
        back_ms + 5 * HOUR_MS,
        back_ms + 40 * DAY_MS,
    );
    assert!(group.is_listed() && !group.is_removed());
}

#[test]
fn clock_that_is_set_ahead_takes_no_device_out_of_its_group_at_once() {
    let people: [Person; 4] = Person::many();
    let [_, _, _, joiner] = &people;
    let torn = torn(&people);
    let mut group = in_limbo(&torn, &people);
    tick(&mut group, joiner, NOW_MS, true);
    for step in 1..=3 {
        tick(&mut group, joiner, NOW_MS + step * 100 * DAY_MS, true);
        assert!(!group.is_removed(), "step {step}");
    }
}

#[test]
fn only_sixteen_keys_in_limbo_are_asked_in_a_day() {
    let people: Vec<Person> = (0..42).map(Person::new).collect();
    let (a, b) = (&people[0], &people[1]);
    let root = manifest(1, None, &[a, b], a);
    let mut group = joined(a, &root);
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    for puppet in &people[2..] {
        take(&mut group, b, &manifest(2, Some(&root), &[a, b, puppet], b));
    }
    assert_eq!(group.limbo().len(), 40);
    let _ = group.drain();
    let asked = |group: &mut Membership| {
        let sends = drained_sends(group);
        sends.into_iter().map(|(to, _)| to).collect::<BTreeSet<_>>()
    };
    let mut now_ms = NOW_MS;
    let mut of_days = Vec::new();
    for day in 1..=5 {
        let end_ms = NOW_MS + day * DAY_MS;
        pass(&mut group, a, now_ms, end_ms);
        of_days.push(asked(&mut group).len());
        now_ms = end_ms;
    }
    assert!(of_days.iter().all(|count| *count <= 16), "{of_days:?}");
    assert_eq!(of_days.iter().sum::<usize>(), 40, "{of_days:?}");
}

#[test]
fn question_of_many_manifests_is_answered_once() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, joiner] = &people;
    let torn = torn(&people);
    let mut other = joined(joiner, &torn.admission);
    let _ = other.drain();
    let mut parent = torn.root;
    let mut answers = 0;
    for version in 3..10 {
        let question = manifest(version, Some(&parent), &[a, b, c], a);
        take(&mut other, a, &question);
        let sends = drained_sends(&mut other);
        answers += usize::from(sends.iter().any(|(to, _)| *to == a.key()));
        parent = question;
    }
    assert_eq!(answers, 1);
}

/// Every manifest that lists it lists another key in limbo, which a leave mustn't name.
#[test]
fn device_in_limbo_that_can_build_on_nothing_leaves_on_a_manifest_that_nobody_knows() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, first, joiner] = &people;
    let root = manifest(1, None, &[a, b, c], a);
    let before = manifest(2, Some(&root), &[a, b, c, first], b);
    let admission = manifest(3, Some(&before), &[a, b, c, first, joiner], b);
    let mut group = joined(joiner, &admission);
    take(&mut group, a, &manifest(2, Some(&root), &[a, c], a));
    take(&mut group, b, &before);
    take(&mut group, b, &root);
    take(&mut group, a, &manifest(3, Some(&root), &[a, c], a));
    // One that lists `first` without authority for it.
    let _ = group.drain();
    pass(&mut group, joiner, NOW_MS, NOW_MS + 16 * DAY_MS);
    assert!(group.is_removed());
    let sends = drained_sends(&mut group);
    let told: BTreeSet<_> = sends.iter().map(|(to, _)| *to).collect();
    assert!(told.contains(&c.key()));
    let mut counting = joined(c, &admission);
    hand_over(&sends, joiner, c, &mut counting, NOW_MS);
    assert!(!counting.view().contains_key(&joiner.key()));
    let gone: Vec<_> = counting.snapshot().tombs.keys().collect();
    assert_eq!(gone, [&joiner.key()]);
}

/// The anchor names what it descends from; whoever sends that, it is history.
#[test]
fn what_the_anchor_descends_from_is_history_whoever_sends_it() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, d, joiner] = &people;
    let root = manifest(1, None, &[a, b, c, d], a);
    let leave = manifest(2, Some(&root), &[b, c, d], a);
    let admission = manifest(3, Some(&leave), &[b, c, d, joiner], b);
    let mut group = joined(joiner, &admission);
    take(&mut group, d, &leave);
    take(&mut group, d, &root);
    assert!(group.snapshot().tombs.contains_key(&a.key()));
    // Nothing else that isn't the admitter's is.
    let forged = manifest(2, Some(&root), &[a, b, joiner], a);
    let foreign = manifest(1, None, &[a, d, joiner], d);
    take(&mut group, d, &foreign);
    let is_trusted = |hash| group.snapshot().manifests.get(&hash).map(|m| m.trusted);
    assert_eq!(is_trusted(leave.hash()), Some(true));
    assert_eq!(is_trusted(root.hash()), Some(true));
    assert_eq!(is_trusted(foreign.hash()), Some(false));
    assert_ne!(is_trusted(forged.hash()), Some(true));
}
