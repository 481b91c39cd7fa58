//! Section 3.6: when a merge is issued, by whom, and what it does.

use sealpost_protocol::manifest::SignedManifest;

use super::super::{AdmissionDropReason, IssueError, Leave, Membership, MembershipEffect};
use super::{
    HOUR_MS, NOW_MS, Person, founded, joined, listed, manifest, pass, take, take_at, tick,
};

/// The longest delay of a device in a group of so many.
fn longest_ms(members: u64) -> u64 {
    members * 20_000
}

/// Two admissions on the same parent, as `a` sees them.
fn torn(people: &[Person; 4]) -> (Membership, SignedManifest) {
    let [a, b, c, d] = people;
    let mut group = founded(a, b);
    let root = group.current().clone();
    take(&mut group, b, &manifest(2, Some(&root), &[a, b, c], b));
    let theirs = manifest(2, Some(&root), &[a, b, d], b);
    take(&mut group, b, &theirs);
    assert!(group.is_unsatisfied());
    (group, root)
}

#[test]
fn merge_states_the_view_to_everybody_after_the_delay() {
    let people: [Person; 4] = Person::many();
    let (mut group, _) = torn(&people);
    let _ = group.drain();
    assert_eq!(group.next_timer(), None, "not online yet");
    tick(&mut group, &people[0], NOW_MS, true);
    let due_ms = group.next_timer().expect("a timer runs");
    assert!(due_ms < NOW_MS + longest_ms(4));
    if let Some(early_ms) = due_ms.checked_sub(1).filter(|early_ms| *early_ms > NOW_MS) {
        tick(&mut group, &people[0], early_ms, true);
        assert_eq!(group.current().version(), 2, "not before");
    }
    tick(&mut group, &people[0], due_ms, true);
    assert_eq!(group.current().version(), 3);
    assert_eq!(group.current().members().len(), 4);
    let sends = super::drained_sends(&mut group);
    let merges = sends
        .iter()
        .filter(|(_, sent)| sent.hash() == group.current().hash());
    assert_eq!(merges.count(), 3);
    assert!(!group.is_unsatisfied());
    assert_eq!(group.next_timer(), None);
}

#[test]
fn delay_counts_only_while_online() {
    let people: [Person; 4] = Person::many();
    let (mut group, _) = torn(&people);
    tick(&mut group, &people[0], NOW_MS, true);
    let left_ms = group.next_timer().expect("a timer runs") - NOW_MS;
    tick(&mut group, &people[0], NOW_MS + 1, false);
    assert_eq!(group.next_timer(), None, "paused");
    tick(&mut group, &people[0], NOW_MS + HOUR_MS, false);
    assert_eq!(group.current().version(), 2);
    tick(&mut group, &people[0], NOW_MS + HOUR_MS, true);
    let due_ms = group.next_timer().expect("it goes on");
    assert_eq!(due_ms, NOW_MS + HOUR_MS + left_ms - 1);
}

#[test]
fn somebody_else_s_merge_cancels_the_timer() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, d] = &people;
    let (mut group, _) = torn(&people);
    tick(&mut group, a, NOW_MS, true);
    let merge = manifest(3, Some(group.current()), &[a, b, c, d], b);
    take(&mut group, b, &merge);
    assert_eq!(group.next_timer(), None);
    tick(&mut group, a, NOW_MS + longest_ms(4), true);
    assert_eq!(group.current().hash(), merge.hash());
}

#[test]
fn ranks_differ_so_that_one_device_is_first() {
    let people: [Person; 5] = Person::many();
    let [a, b, c, d, leaver] = &people;
    let root = manifest(1, None, &[a, b, c, d, leaver], a);
    let leave = manifest(2, Some(&root), &[a, b, c, d], leaver);
    let mut slots: Vec<u64> = [a, b, c, d]
        .into_iter()
        .map(|me| {
            let mut group = joined(me, &root);
            take(&mut group, leaver, &leave);
            tick(&mut group, me, NOW_MS, true);
            (group.next_timer().expect("a leave wants a merge") - NOW_MS) / 20_000
        })
        .collect();
    slots.sort_unstable();
    assert_eq!(slots, [0, 1, 2, 3]);
}

#[test]
fn clock_that_jumps_back_only_delays() {
    let people: [Person; 4] = Person::many();
    let (mut group, _) = torn(&people);
    tick(&mut group, &people[0], NOW_MS, true);
    tick(&mut group, &people[0], NOW_MS - HOUR_MS, true);
    let due_ms = group.next_timer().expect("a timer runs");
    assert!(due_ms < NOW_MS - HOUR_MS + longest_ms(4));
    tick(&mut group, &people[0], due_ms, true);
    assert_eq!(group.current().version(), 3);
}

/// `a` removed `b`, which had admitted `limbo` without `a`'s knowledge, and the limbo device
/// has greeted `a`.
fn with_limbo(people: &[Person; 4]) -> (Membership, SignedManifest) {
    let [a, b, c, limbo] = people;
    let root = manifest(1, None, &[a, b, c], a);
    let mut group = joined(a, &root);
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    let void = manifest(2, Some(&root), &[a, b, c, limbo], b);
    take(&mut group, limbo, &void);
    assert!(group.limbo().contains(&limbo.key()));
    let _ = group.drain();
    (group, void)
}

#[test]
fn limbo_key_is_closed_after_a_day() {
    let people: [Person; 4] = Person::many();
    let [a, _, _, limbo] = &people;
    let (mut group, void) = with_limbo(&people);
    pass(&mut group, a, NOW_MS, NOW_MS + 24 * HOUR_MS);
    assert!(group.limbo().contains(&limbo.key()), "not within a day");
    pass(&mut group, a, NOW_MS + 24 * HOUR_MS, NOW_MS + 37 * HOUR_MS);
    assert_eq!(group.current().parent(), Some(void.hash()));
    assert_eq!(listed(&group, &people), [0, 2]);
    assert!(group.snapshot().tombs.contains_key(&limbo.key()));
    let sends = super::drained_sends(&mut group);
    assert!(sends.iter().any(|(to, _)| *to == limbo.key()), "it is told");

    let mut other = joined(limbo, &void);
    take(&mut other, a, group.current());
    assert!(other.is_removed());
}

#[test]
fn limbo_key_whose_admission_arrives_is_not_closed() {
    let people: [Person; 4] = Person::many();
    let [a, _, c, limbo] = &people;
    let (mut group, _) = with_limbo(&people);
    tick(&mut group, a, NOW_MS, true);
    let root = group.snapshot().root().expect("a root").clone();
    let real = manifest(3, Some(&root), &[a, c, limbo], c);
    take(&mut group, c, &real);
    assert!(group.limbo().is_empty());
    tick(&mut group, a, NOW_MS + 48 * HOUR_MS, true);
    assert_eq!(listed(&group, &people), [0, 2, 3]);
}

#[test]
fn limbo_key_that_was_never_heard_is_not_closed_however_long_its_admission_takes() {
    let people: [Person; 4] = Person::many();
    let [a, b, c, limbo] = &people;
    let root = manifest(1, None, &[a, b, c], a);
    let admission = manifest(2, Some(&root), &[a, b, c, limbo], b);
    // `c` heard of the admission, stated it, and was offline from then on.
    let real = manifest(3, Some(&admission), &[a, b, c, limbo], c);
    for days in [1, 14, 16, 31, 400] {
        let mut group = joined(a, &root);
        group
            .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
            .expect("a member");
        take(&mut group, b, &admission);
        assert!(group.limbo().contains(&limbo.key()));
        let mut now_ms = NOW_MS + days * 24 * HOUR_MS;
        tick(&mut group, a, now_ms, true);
        while let Some(due_ms) = group.next_timer() {
            now_ms = now_ms.max(due_ms);
            tick(&mut group, a, now_ms, true);
        }
        take_at(&mut group, c, &real, now_ms);
        assert_eq!(listed(&group, &people), [0, 2, 3], "after {days} days");
    }
}

#[test]
fn only_sixteen_limbo_keys_are_closed_in_a_day() {
    let people: Vec<Person> = (0..30).map(Person::new).collect();
    let (a, b) = (&people[0], &people[1]);
    let root = manifest(1, None, &[a, b], a);
    let mut group = joined(a, &root);
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    for puppet in &people[2..] {
        take(
            &mut group,
            puppet,
            &manifest(2, Some(&root), &[a, b, puppet], b),
        );
    }
    assert_eq!(group.limbo().len(), 28);
    let mut now_ms = NOW_MS + 24 * HOUR_MS;
    let end_ms = now_ms + 23 * HOUR_MS;
    tick(&mut group, a, now_ms, true);
    while let Some(due_ms) = group.next_timer().filter(|due_ms| *due_ms < end_ms) {
        now_ms = now_ms.max(due_ms);
        tick(&mut group, a, now_ms, true);
    }
    assert_eq!(group.limbo().len(), 12);
    let resumes_ms = group.next_timer().expect("the rest is planned");
    assert!(resumes_ms >= NOW_MS + 48 * HOUR_MS);
}

#[test]
fn more_than_sixteen_limbo_keys_of_one_manifest_take_one_merge_on_a_day_of_its_own() {
    let people: Vec<Person> = (0..36).map(Person::new).collect();
    let (a, b) = (&people[0], &people[1]);
    let root = manifest(1, None, &[a, b], a);
    let mut group = joined(a, &root);
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    let crowd: Vec<&Person> = people[..32].iter().collect();
    take(&mut group, &people[2], &manifest(2, Some(&root), &crowd, b));
    for puppet in &people[32..] {
        take(
            &mut group,
            puppet,
            &manifest(2, Some(&root), &[a, b, puppet], b),
        );
    }
    // Whoever is due by then can be told, too.
    for puppet in &people[3..32] {
        take(&mut group, puppet, &manifest(2, Some(&root), &crowd, b));
    }
    assert_eq!(group.limbo().len(), 34);
    let before = group.current().version();
    let mut now_ms = NOW_MS + 24 * HOUR_MS;
    let mut closed_by_day = Vec::new();
    for day in 1..4 {
        let end_ms = NOW_MS + (day + 1) * 24 * HOUR_MS;
        let left = group.limbo().len();
        tick(&mut group, a, now_ms, true);
        while let Some(due_ms) = group.next_timer().filter(|due_ms| *due_ms < end_ms) {
            now_ms = now_ms.max(due_ms);
            tick(&mut group, a, now_ms, true);
        }
        closed_by_day.push(left - group.limbo().len());
        now_ms = end_ms;
    }
    closed_by_day.sort_unstable();
    assert_eq!(closed_by_day, [0, 4, 30], "never the crowd and another");
    assert_eq!(group.current().version(), before + 5);
}

#[test]
fn overfull_group_drops_who_came_last_and_tells_the_admitter() {
    let people: Vec<Person> = (0..34).map(Person::new).collect();
    let founders: Vec<&Person> = people[..31].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    let mut group = joined(&people[0], &root);
    let secret = &people[0].secrets.signing;
    let mine = &people[31];
    group
        .issue_admission(&mine.keys(), &mine.member.name, secret, NOW_MS)
        .expect("room");
    let admit = |version: u64, who: &Person, by: &Person| {
        let members: Vec<&Person> = founders.iter().copied().chain([who]).collect();
        manifest(version, Some(&root), &members, by)
    };
    take(&mut group, &people[1], &admit(2, &people[32], &people[1]));
    take(&mut group, &people[2], &admit(3, &people[33], &people[2]));
    assert_eq!(group.view().len(), 34);
    let _ = group.drain();
    tick(&mut group, &people[0], NOW_MS, true);
    let due_ms = group.next_timer().expect("too many");
    tick(&mut group, &people[0], due_ms, true);
    assert_eq!(group.view().len(), 32);
    assert!(
        !group.view().contains_key(&people[33].key()),
        "the highest version goes"
    );
    assert!(
        founders
            .iter()
            .all(|founder| group.view().contains_key(&founder.key()))
    );
    assert!(!group.is_unsatisfied());
    let (_, effects) = group.drain();
    let is_mine_gone = !group.view().contains_key(&mine.key());
    let dropped = MembershipEffect::AdmissionDropped {
        name: mine.member.name.clone(),
        reason: AdmissionDropReason::GroupFull,
    };
    assert_eq!(effects.contains(&dropped), is_mine_gone);
}

#[test]
fn removed_device_merges_nothing() {
    let [a, b, c] = Person::many();
    let root = manifest(1, None, &[&a, &b, &c], &a);
    let mut group = joined(&c, &root);
    take_at(
        &mut group,
        &b,
        &manifest(2, Some(&root), &[&a, &b], &b),
        NOW_MS,
    );
    assert!(!group.is_unsatisfied());
    tick(&mut group, &c, NOW_MS, true);
    assert_eq!(group.next_timer(), None);
}

#[test]
fn whoever_first_hears_of_an_overfull_group_by_its_merge_is_told_whom_it_let_in_in_vain() {
    let people: Vec<Person> = (0..34).map(Person::new).collect();
    let founders: Vec<&Person> = people[..31].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    let mut group = joined(&people[0], &root);
    let mine = &people[31];
    let secret = &people[0].secrets.signing;
    group
        .issue_admission(&mine.keys(), &mine.member.name, secret, NOW_MS)
        .expect("room");
    let _ = group.drain();
    // Another device has let somebody in at the same time, met both, and made room.
    let with_mine = group.current().clone();
    let full: Vec<&Person> = founders.iter().copied().chain([&people[32]]).collect();
    let merge = manifest(3, Some(&with_mine), &full, &people[1]);
    take(&mut group, &people[1], &merge);
    let (_, effects) = group.drain();
    assert!(effects.contains(&MembershipEffect::AdmissionDropped {
        name: mine.member.name.clone(),
        reason: AdmissionDropReason::GroupFull,
    }));
}

#[test]
fn a_removal_by_hand_while_the_group_is_overfull_is_no_dropped_admission() {
    let people: Vec<Person> = (0..33).map(Person::new).collect();
    let founders: Vec<&Person> = people[..30].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    let mut group = joined(&people[0], &root);
    let secret = &people[0].secrets.signing;
    let mine = &people[30];
    group
        .issue_admission(&mine.keys(), &mine.member.name, secret, NOW_MS)
        .expect("room");
    let with_mine = group.current().clone();
    for (version, at) in [(3, 31), (4, 32)] {
        let members: Vec<&Person> = people[..=30].iter().chain([&people[at]]).collect();
        let by = &people[at - 30];
        take(
            &mut group,
            by,
            &manifest(version, Some(&with_mine), &members, by),
        );
    }
    assert_eq!(group.view().len(), 33);
    let _ = group.drain();
    // Somebody who doesn't know that removes the one that this device let in.
    let removal = manifest(5, Some(&with_mine), &founders, &people[5]);
    take(&mut group, &people[5], &removal);
    assert!(!group.view().contains_key(&mine.key()));
    let (_, effects) = group.drain();
    let is_drop =
        |effect: &MembershipEffect| matches!(effect, MembershipEffect::AdmissionDropped { .. });
    assert!(!effects.iter().any(is_drop), "it was removed by hand");
}

#[test]
fn changes_of_an_overfull_group_wait_for_the_merge_that_makes_room() {
    let people: Vec<Person> = (0..35).map(Person::new).collect();
    let founders: Vec<&Person> = people[..31].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    let mut group = joined(&people[0], &root);
    for (version, at) in (2_u64..).zip(31..34) {
        let members: Vec<&Person> = founders.iter().copied().chain([&people[at]]).collect();
        let by = &people[at - 30];
        take(
            &mut group,
            by,
            &manifest(version, Some(&root), &members, by),
        );
    }
    assert_eq!(group.view().len(), 34);
    let me = &people[0];
    let secret = &me.secrets.signing;
    let removal = group.issue_removal(&people[5].key(), secret, NOW_MS);
    assert!(matches!(removal, Err(IssueError::NoParent)));
    let newcomer = &people[34];
    let admission = group.issue_admission(&newcomer.keys(), &newcomer.member.name, secret, NOW_MS);
    assert!(matches!(admission, Err(IssueError::GroupFull { max: 32 })));
    tick(&mut group, me, NOW_MS, true);
    let due_ms = group.next_timer().expect("too many");
    tick(&mut group, me, due_ms, true);
    assert_eq!(group.view().len(), 32);
    group
        .issue_removal(&people[5].key(), secret, NOW_MS)
        .expect("there is room");
    assert_eq!(group.view().len(), 31);
}

#[test]
fn a_leave_of_an_overfull_group_waits_for_nothing_and_removes_nobody_else() {
    let people: Vec<Person> = (0..34).map(Person::new).collect();
    let founders: Vec<&Person> = people[..31].iter().collect();
    let root = manifest(1, None, &founders, &people[0]);
    let (leaver, other) = (&people[4], &people[0]);
    let overfull = |me: &Person| {
        let mut group = joined(me, &root);
        for (version, at) in (2_u64..).zip(31..34) {
            let members: Vec<&Person> = founders.iter().copied().chain([&people[at]]).collect();
            let by = &people[at - 30];
            take(
                &mut group,
                by,
                &manifest(version, Some(&root), &members, by),
            );
        }
        assert_eq!(group.view().len(), 34);
        let _ = group.drain();
        group
    };
    let mut group = overfull(leaver);
    let left = group.issue_leave(&leaver.secrets.signing, NOW_MS);
    assert!(matches!(left, Ok(Leave::Issued)));
    assert!(group.is_removed());
    let sends = super::drained_sends(&mut group);
    let told: std::collections::BTreeSet<_> = sends.iter().map(|(to, _)| *to).collect();
    assert_eq!(told.len(), 33, "everybody else is told");
    assert!(!told.contains(&leaver.key()));

    // Its admitter doesn't take it for one that had to make room.
    let mut remaining = overfull(other);
    for (_, sent) in sends.iter().filter(|(to, _)| *to == other.key()) {
        take(&mut remaining, leaver, sent);
    }
    let tombs: Vec<_> = remaining.snapshot().tombs.keys().copied().collect();
    assert_eq!(tombs, [leaver.key()]);
    assert_eq!(remaining.view().len(), 33);
    let (_, effects) = remaining.drain();
    let is_drop =
        |effect: &MembershipEffect| matches!(effect, MembershipEffect::AdmissionDropped { .. });
    assert!(!effects.iter().any(is_drop));
    tick(&mut remaining, other, NOW_MS, true);
    let due_ms = remaining.next_timer().expect("one too many");
    tick(&mut remaining, other, due_ms, true);
    assert_eq!(remaining.view().len(), 32);
}

#[test]
fn one_firing_issues_six_merges_at_most() {
    let people: Vec<Person> = (0..20).map(Person::new).collect();
    let (a, b) = (&people[0], &people[1]);
    let root = manifest(1, None, &[a, b], a);
    let mut group = joined(a, &root);
    group
        .issue_removal(&b.key(), &a.secrets.signing, NOW_MS)
        .expect("a member");
    // Each puppet needs a merge of its own.
    for puppet in &people[2..12] {
        let void = manifest(2, Some(&root), &[a, b, puppet], b);
        take(&mut group, puppet, &void);
    }
    let due_ms = NOW_MS + 36 * HOUR_MS;
    tick(&mut group, a, due_ms, true);
    let fires_ms = group.next_timer().expect("ten are due");
    let before = group.current().version();
    tick(&mut group, a, fires_ms, true);
    assert_eq!(group.current().version(), before + 6);
    assert_eq!(group.limbo().len(), 4);
}
