//! When a notification comes, changes and goes, with the time as an argument.

use super::words::words;
use super::*;
use crate::catalogue::{Catalogue, Language};

const START: u64 = 1_000_000;

fn message(position: u64, author: &str, text: &str) -> NewMessage {
    NewMessage {
        group: "g1".to_owned(),
        position,
        author: author.to_owned(),
        text: Some(text.to_owned()),
    }
}

fn group() -> Subject {
    Subject::Group("g1".to_owned())
}

/// The summaries that are to be shown, by subject.
fn shown(changes: Vec<Change>) -> Vec<(Subject, Summary)> {
    let shown = changes.into_iter().filter_map(|change| match change {
        Change::Show(subject, summary) => Some((subject, summary)),
        Change::Withdraw(_) => None,
    });
    shown.collect()
}

fn withdrawn(changes: Vec<Change>) -> Vec<Subject> {
    let withdrawn = changes.into_iter().filter_map(|change| match change {
        Change::Withdraw(subject) => Some(subject),
        Change::Show(..) => None,
    });
    withdrawn.collect()
}

#[test]
fn two_thousand_messages_in_a_burst_are_a_few_notifications() {
    let mut notifications = Notifications::default();
    let mut told = 0;
    let mut last = 0;
    for position in 1..=2_000 {
        // Two hundred in a second.
        let now_ms = START + position * 5;
        notifications.handle_message(message(position, "Anna", "text"), now_ms);
        for (_, summary) in shown(notifications.take_due(now_ms)) {
            told += 1;
            last = summary.count;
        }
    }
    assert!((2..=5).contains(&told), "{told} notifications");
    // What came after the last one is said when its time has come, and then all is said.
    let due = notifications.next_due_ms().expect("there is more to say");
    assert!(last < 2_000);
    assert_eq!(shown(notifications.take_due(due))[0].1.count, 2_000);
    assert_eq!(notifications.next_due_ms(), None);
    assert!(notifications.take_due(u64::MAX).is_empty());
}

#[test]
fn the_first_message_is_told_at_once_and_each_group_has_its_own() {
    let mut notifications = Notifications::default();
    notifications.handle_message(message(1, "Anna", "text"), START);
    assert_eq!(shown(notifications.take_due(START)).len(), 1);
    let other = NewMessage {
        group: "g2".to_owned(),
        ..message(1, "Ben", "text")
    };
    notifications.handle_message(other, START + 1);
    let now = shown(notifications.take_due(START + 1));
    assert_eq!(now.len(), 1);
    assert!(now[0].0 == Subject::Group("g2".to_owned()));
}

#[test]
fn a_message_that_comes_twice_counts_once() {
    let mut notifications = Notifications::default();
    notifications.handle_message(message(7, "Anna", "text"), START);
    notifications.handle_message(message(7, "Anna", "text"), START);
    assert_eq!(shown(notifications.take_due(START))[0].1.count, 1);
}

#[test]
fn nothing_is_said_of_the_group_that_the_person_looks_at() {
    let mut notifications = Notifications::default();
    notifications.handle_look(Some("g1".to_owned()), false, true);
    notifications.handle_message(message(1, "Anna", "text"), START);
    assert!(notifications.take_due(START).is_empty());
    // The window is open on it, but something else has the keyboard.
    notifications.handle_look(Some("g1".to_owned()), false, false);
    notifications.handle_message(message(2, "Anna", "text"), START);
    assert_eq!(shown(notifications.take_due(START)).len(), 1);
    // Coming back takes it away.
    notifications.handle_look(Some("g1".to_owned()), false, true);
    assert!(withdrawn(notifications.take_due(START)) == [group()]);
    // Another group on the screen is no reason to be silent about this one.
    notifications.handle_look(Some("g2".to_owned()), false, true);
    notifications.handle_message(message(3, "Anna", "text"), START);
    assert_eq!(shown(notifications.take_due(START)).len(), 1);
}

#[test]
fn what_was_read_is_withdrawn_and_never_shown_later() {
    let mut notifications = Notifications::default();
    notifications.handle_message(message(1, "Anna", "text"), START);
    notifications.take_due(START);
    notifications.handle_message(message(2, "Anna", "text"), START + 1);
    // Only the first was seen: what there is to say stays.
    notifications.handle_read("g1", 1);
    assert!(withdrawn(notifications.take_due(START + 1)).is_empty());
    notifications.handle_read("g1", 2);
    assert!(withdrawn(notifications.take_due(START + 2)) == [group()]);
    assert_eq!(notifications.next_due_ms(), None);
    // Read before it was shown: there is nothing to take away.
    notifications.handle_message(message(3, "Anna", "text"), START + 3);
    notifications.handle_read("g1", 3);
    assert!(notifications.take_due(u64::MAX).is_empty());
}

#[test]
fn mute_lasts_until_its_end_and_leaves_nothing_to_be_told_after_it() {
    let mut notifications = Notifications::default();
    notifications.choose(NotificationPrivacy::Who, Some(START + 10));
    notifications.handle_message(message(1, "Anna", "text"), START + 9);
    notifications.handle_issue(START + 9);
    assert!(notifications.take_due(u64::MAX).is_empty());
    notifications.handle_message(message(2, "Anna", "text"), START + 10);
    assert_eq!(shown(notifications.take_due(START + 10))[0].1.count, 1);
}

#[test]
fn a_text_is_kept_only_where_it_may_be_shown() {
    for (privacy, kept) in [
        (NotificationPrivacy::Nothing, None),
        (NotificationPrivacy::Who, None),
        (NotificationPrivacy::WhoAndText, Some("the text".to_owned())),
    ] {
        let mut notifications = Notifications::default();
        notifications.choose(privacy, None);
        notifications.handle_message(message(1, "Anna", "the text"), START);
        assert!(shown(notifications.take_due(START))[0].1.text == kept);
    }
}

#[test]
fn less_privacy_never_outlives_the_choice() {
    let mut notifications = Notifications::default();
    notifications.choose(NotificationPrivacy::WhoAndText, None);
    notifications.handle_message(message(1, "Anna", "the text"), START);
    notifications.take_due(START);
    notifications.choose(NotificationPrivacy::Nothing, None);
    assert!(withdrawn(notifications.take_due(START)) == [group()]);
}

#[test]
fn issues_share_one_notification_that_goes_when_they_are_seen() {
    let mut notifications = Notifications::default();
    notifications.handle_issue(START);
    notifications.handle_issue(START);
    let now = shown(notifications.take_due(START));
    assert_eq!((now.len(), now[0].1.count), (1, 2));
    notifications.handle_issues_seen();
    assert!(withdrawn(notifications.take_due(START)) == [Subject::Issues]);
}

#[test]
fn an_answered_notification_begins_anew() {
    let mut notifications = Notifications::default();
    notifications.handle_message(message(1, "Anna", "text"), START);
    notifications.take_due(START);
    notifications.handle_gone(&group());
    assert_eq!(notifications.next_due_ms(), None);
    notifications.handle_message(message(2, "Anna", "text"), START + 1);
    assert_eq!(shown(notifications.take_due(START + 1))[0].1.count, 1);
}

fn summary(count: u64, authors: &[&str], text: Option<&str>) -> Summary {
    Summary {
        count,
        authors: authors.iter().map(|&name| name.to_owned()).collect(),
        text: text.map(str::to_owned),
        is_unknown: false,
    }
}

#[test]
fn each_level_says_what_it_may_in_each_language() {
    for language in [Language::English, Language::German] {
        let catalogue = Catalogue::new(language);
        let all = summary(3, &["Ben", "Anna"], Some("the text"));
        for (privacy, names, texts) in [
            (NotificationPrivacy::Nothing, false, false),
            (NotificationPrivacy::WhoAndText, true, true),
        ] {
            let said = words(&catalogue, privacy, &group(), "Home", &all);
            let said = format!("{}\n{}", said.title, said.body);
            assert_eq!(
                said.contains("Home") && said.contains("Anna"),
                names,
                "{said}"
            );
            assert_eq!(said.contains("the text"), texts, "{said}");
            assert!(!said.contains("notification-"), "{said}");
        }
        let who = summary(3, &["Ben", "Anna"], None);
        let said = words(&catalogue, NotificationPrivacy::Who, &group(), "Home", &who);
        assert!(
            said.body.contains('3') && said.body.contains("Anna"),
            "{}",
            said.body
        );
        let issues = words(
            &catalogue,
            NotificationPrivacy::Who,
            &Subject::Issues,
            "",
            &summary(2, &[], None),
        );
        assert!(issues.title.contains('2'), "{}", issues.title);
    }
}

#[test]
fn a_hostile_name_or_text_can_not_turn_the_words_around_it() {
    let catalogue = Catalogue::new(Language::English);
    let long = "x".repeat(5_000);
    for text in ["a\u{202e}b", "a\u{0}b", "a\nb", long.as_str()] {
        let one = summary(1, &["An\u{202e}na"], Some(text));
        let said = words(
            &catalogue,
            NotificationPrivacy::WhoAndText,
            &group(),
            "Ho\u{2066}me",
            &one,
        );
        let all = format!("{}{}", said.title, said.body);
        // Fluent itself puts balanced isolates around what it fills in.
        let opened = all.matches('\u{2068}').count();
        assert_eq!(opened, all.matches('\u{2069}').count());
        assert!(
            !all.contains(['\u{202e}', '\u{2066}', '\0', '\n']),
            "{all:?}"
        );
        assert!(all.chars().count() < 300, "{}", all.len());
        assert_eq!(said.title, "Home");
    }
}

#[test]
fn a_new_mute_silences_what_was_to_be_shown() {
    let mut notifications = Notifications::default();
    notifications.handle_message(message(1, "Ben", "text"), START);
    notifications.handle_issue(START);
    let shown = notifications.take_due(START);
    assert_eq!(shown.len(), 2);
    // Each would change after the burst.
    notifications.handle_message(message(2, "Ben", "text"), START);
    let elsewhere = NewMessage {
        group: "g2".to_owned(),
        ..message(1, "Ben", "text")
    };
    notifications.handle_message(elsewhere, START);
    notifications.choose(NotificationPrivacy::default(), Some(START + 100_000));
    let changes = notifications.take_due(START + 50_000);
    assert!(
        changes
            .iter()
            .all(|change| matches!(change, Change::Withdraw(_))),
        "something was shown while muted"
    );
    assert_eq!(changes.len(), 2, "what stands there goes");
    assert_eq!(notifications.next_due_ms(), None);
}

#[test]
fn the_issues_are_withdrawn_once_seen_and_nobody_who_looks_at_them_is_called() {
    let mut notifications = Notifications::default();
    notifications.handle_issue(START);
    assert_eq!(notifications.take_due(START).len(), 1);
    notifications.handle_look(None, true, false);
    assert!(notifications.take_due(START).is_empty(), "nobody is there");
    notifications.handle_look(None, true, true);
    let changes = notifications.take_due(START);
    assert!(changes == [Change::Withdraw(Subject::Issues)]);
    notifications.handle_issue(START);
    assert!(notifications.take_due(START + BURST_MS).is_empty());
    notifications.handle_look(None, false, true);
    notifications.handle_issue(START);
    assert_eq!(notifications.take_due(START).len(), 1);
}
