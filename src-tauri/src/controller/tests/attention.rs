//! Notifications and the places that something outside of the window leads to.

use super::*;
use crate::view::{Arrived, IssueIn, MarkRead, NotificationPrivacy, Place, SetSettings, Showing};
use sealpost_engine::core::issue::DeliveryIssue;

impl RecordedWindow {
    /// Waits until something was done about a subject: shown (what it says) or withdrawn.
    async fn until_notice(&self, what: &str, is_so: impl Fn(&[(Subject, Option<Words>)]) -> bool) {
        let mut noticed = self.noticed.subscribe();
        let seen = noticed.wait_for(|_| is_so(&self.notices.lock().unwrap()));
        tokio::time::timeout(PATIENCE, seen)
            .await
            .unwrap_or_else(|_| panic!("never saw: {what}"))
            .expect("the app runs");
    }

    fn notice_count(&self) -> usize {
        self.notices.lock().unwrap().len()
    }
}

fn showing(group: Option<&str>) -> Showing {
    Showing {
        group: group.map(str::to_owned),
        issues: false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_calls_unless_the_person_looks_at_it_and_reading_takes_it_away() {
    let pair = Pair::new().await;
    let (phone, group) = (&pair.phone, &pair.phone_group);
    let about = Subject::Group(group.clone());
    pair.laptop.send(&pair.laptop_group, "the secret").await;
    phone
        .window
        .until_notice("a notification", |notices| {
            notices.iter().any(|(subject, words)| {
                let words = words.as_ref();
                *subject == about && words.is_some_and(|words| words.body.contains("Laptop"))
            })
        })
        .await;
    let said = phone.window.notices.lock().unwrap().clone();
    let all = said.iter().filter_map(|(_, words)| words.as_ref());
    assert!(all.clone().count() > 0);
    assert!(!all.clone().any(|words| words.body.contains("secret")));
    // The sender is told nothing.
    assert_eq!(pair.laptop.window.notice_count(), 0);

    let position = phone.group(group).await.last_position;
    let read = MarkRead {
        group: group.clone(),
        position,
    };
    phone.controller.mark_read(read).await.unwrap();
    phone
        .window
        .until_notice("its end", |notices| {
            notices.contains(&(about.clone(), None))
        })
        .await;

    phone.controller.showing(&showing(Some(group))).unwrap();
    phone.controller.handle_focus(true);
    let before = phone.window.notice_count();
    pair.laptop.send(&pair.laptop_group, "seen at once").await;
    phone
        .until_messages(group, "the second message", |rows| rows.len() == 2)
        .await;
    // The same window without the keyboard is told; then all that came before was decided.
    phone.controller.handle_focus(false);
    pair.laptop.send(&pair.laptop_group, "not seen").await;
    phone
        .window
        .until_notice("a notification again", |notices| notices.len() > before)
        .await;
    assert_eq!(phone.window.notice_count(), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_notification_leads_to_its_group_once() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    app.controller
        .answer_notification(Subject::Group(group.clone()));
    let view = app.controller.view().await;
    let destination = view.destination.expect("the window is led");
    assert_eq!(destination.place, Place::Group);
    assert_eq!(destination.group, Some(group));
    assert_eq!(app.window.shown.load(Ordering::SeqCst), 1);
    let arrived = Arrived { id: destination.id };
    app.controller.arrived(&arrived).unwrap();
    assert!(app.controller.view().await.destination.is_none());
    app.controller.answer_notification(Subject::Issues);
    let view = app.controller.view().await;
    assert_eq!(view.destination.map(|one| one.place), Some(Place::Issues));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_the_form_once_however_often_it_is_opened() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    for _ in 0..3 {
        app.controller.open_invitation(" TrueSeal://somewhere ");
    }
    let first = app.controller.view().await.destination.expect("a form");
    assert_eq!(first.place, Place::Join);
    assert_eq!(first.invitation.as_deref(), Some("TrueSeal://somewhere"));
    app.controller.open_invitation("trueseal://elsewhere");
    app.controller.arrived(&Arrived { id: first.id }).unwrap();
    let second = app.controller.view().await.destination.expect("the other");
    assert_eq!(second.invitation.as_deref(), Some("trueseal://elsewhere"));
    app.controller.arrived(&Arrived { id: second.id }).unwrap();
    assert!(app.controller.view().await.destination.is_none());

    let long = format!("trueseal:{}", "x".repeat(5_000));
    for other in ["", "https://example.org/", "--profile", "true", "é", &long] {
        app.controller.open_invitation(other);
        assert!(app.controller.view().await.destination.is_none(), "{other}");
    }
    // Thousands of links fill no memory.
    for number in 0..1_000 {
        app.controller
            .open_invitation(&format!("trueseal://{number}"));
    }
    let mut count = 0;
    while let Some(one) = app.controller.view().await.destination {
        app.controller.arrived(&Arrived { id: one.id }).unwrap();
        count += 1;
    }
    assert_eq!(count, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tray_leads_to_the_code_of_a_group_that_admits() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.controller.lead_to_pairing().await;
    assert!(app.controller.view().await.destination.is_none());
    let group = app.start_group().await;
    app.controller.lead_to_pairing().await;
    let led = app.controller.view().await.destination.expect("a place");
    assert_eq!((led.place, led.group), (Place::Pair, Some(group)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrives_while_the_app_locks_is_not_shown() {
    let pair = Pair::new().await;
    let (phone, group) = (&pair.phone, &pair.phone_group);
    let everything = SetSettings {
        notifications: Some(NotificationPrivacy::WhoAndText),
        ..SetSettings::default()
    };
    phone.controller.set_settings(everything).await.unwrap();
    pair.laptop.send(&pair.laptop_group, "the secret").await;
    phone
        .window
        .until_notice("the text", |notices| {
            let said = notices.iter().filter_map(|(_, words)| words.as_ref());
            said.clone().any(|words| words.body.contains("secret"))
        })
        .await;
    // What is left of a group that is being closed: its rows are read, and then it is locked.
    let position = phone.group(group).await.last_position;
    let held: Vec<_> = {
        let mut state = phone.controller.state();
        std::mem::take(&mut state.groups).into_iter().collect()
    };
    phone.controller.lock().await.unwrap();
    let before = phone.window.notice_count();
    let said = phone.window.notices.lock().unwrap().last().cloned();
    assert!(matches!(said, Some((_, None))), "what was shown goes");
    phone.controller.state().groups.extend(held);
    phone.controller.handle_stored(group, position).await;
    let issue = DeliveryIssue::DeviceCopied;
    phone.controller.handle_issue(group, &issue);
    phone.controller.show_notifications();
    assert_eq!(phone.window.notice_count(), before, "it is locked");
    let view = phone.controller.view().await;
    assert!(view.groups.is_empty(), "a locked app shows no group");
    phone.controller.close_groups().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn issues_that_were_seen_or_dismissed_call_no_more() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let ends = |notices: &[(Subject, Option<Words>)]| {
        let of_issues = notices
            .iter()
            .filter(|(about, _)| *about == Subject::Issues);
        of_issues
            .clone()
            .filter(|(_, words)| words.is_none())
            .count()
    };
    let shown = |notices: &[(Subject, Option<Words>)]| {
        let last = notices.iter().rfind(|(about, _)| *about == Subject::Issues);
        last.is_some_and(|(_, words)| words.is_some())
    };
    let issue = DeliveryIssue::DeviceCopied;
    app.controller.handle_issue(&group, &issue);
    app.window.until_notice("the issue", shown).await;
    app.controller.handle_focus(true);
    let looking = Showing {
        group: None,
        issues: true,
    };
    app.controller.showing(&looking).unwrap();
    app.window
        .until_notice("its end", |all| ends(all) == 1)
        .await;
    app.controller.showing(&showing(None)).unwrap();
    app.controller.handle_issue(&group, &issue);
    app.window.until_notice("the next one", shown).await;
    // The list in the store is empty: what the counter says then is none.
    let gone = IssueIn {
        group: group.clone(),
        issue: 1,
    };
    app.controller.dismiss_issue(gone).await.unwrap();
    app.window
        .until_notice("its end", |all| ends(all) == 2)
        .await;
}
