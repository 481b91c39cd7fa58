//! Members, codes, the ends of a group, and what a person hands to somebody who helps.

use super::*;
use crate::view::{
    HistoryKind, MemberIn, ReadHistory, ReadIssues, RenameGroup, Search, SetSettings,
};

fn history_of(group: &str) -> ReadHistory {
    ReadHistory {
        group: group.to_owned(),
        before: None,
        limit: 50,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_devices_compare_the_same_code_and_see_who_let_whom_in() {
    let pair = Pair::new().await;
    let code = async |app: &App, group: &str| {
        let member = app.group(group).await.members[0].id.clone();
        let args = MemberIn {
            group: group.to_owned(),
            member,
        };
        app.controller.compare_code(&args).unwrap().code
    };
    let here = code(&pair.laptop, &pair.laptop_group).await;
    assert_eq!(here, code(&pair.phone, &pair.phone_group).await);
    let seen = pair
        .laptop
        .window
        .until("who let the phone in", |view| {
            group_is(view, &pair.laptop_group, |group| {
                group.members[0].added_at_ms.is_some()
            })
        })
        .await;
    let phone = &find(&seen, &pair.laptop_group).members[0];
    assert_eq!(phone.added_by.as_deref(), Some("Laptop"));
    let args = history_of(&pair.laptop_group);
    let page = pair.laptop.controller.membership_history(args).await;
    let page = page.unwrap();
    let added = page
        .entries
        .iter()
        .find(|entry| entry.kind == HistoryKind::Added)
        .expect("the phone was added");
    assert_eq!((added.who.as_str(), added.by_is_me), ("Phone", true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_travels_and_a_group_that_is_over_can_be_deleted() {
    let pair = Pair::new().await;
    let rename = RenameGroup {
        group: pair.laptop_group.clone(),
        name: "The kitchen".to_owned(),
    };
    pair.laptop.controller.rename_group(rename).await.unwrap();
    pair.phone
        .window
        .until("the new name", |view| {
            group_is(view, &pair.phone_group, |group| group.name == "The kitchen")
        })
        .await;
    let delete = || in_group(&pair.phone_group);
    let refused = pair.phone.controller.delete_group_history(delete()).await;
    assert_eq!(
        refused.err().map(|error| error.code),
        Some(AppErrorCode::GroupNotOver)
    );
    pair.phone.controller.leave_group(delete()).await.unwrap();
    pair.phone
        .window
        .until("the end", |view| {
            group_is(view, &pair.phone_group, |group| {
                group.status == crate::view::GroupStatus::NotJoined
            })
        })
        .await;
    pair.phone
        .controller
        .delete_group_history(delete())
        .await
        .unwrap();
    assert!(pair.phone.controller.view().await.groups.is_empty());
    let kept = pair.phone.keychain.len();
    let files = std::fs::read_dir(pair._data.path().join("phone")).unwrap();
    let data = files
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .filter(|name| name.contains(&pair.phone_group));
    assert_eq!((kept, data.collect::<Vec<_>>()), (0, vec![]));
    let Pair { phone, _data, .. } = pair;
    let phone = phone.restart(_data.path(), "phone").await;
    assert!(phone.controller.view().await.groups.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_support_bundle_names_nobody_and_nothing() {
    let pair = Pair::new().await;
    pair.laptop.send(&pair.laptop_group, "canary text").await;
    pair.phone
        .until_messages(&pair.phone_group, "the message", |rows| rows.len() == 1)
        .await;
    let rename = RenameGroup {
        group: pair.phone_group.clone(),
        name: "canary group".to_owned(),
    };
    pair.phone.controller.rename_group(rename).await.unwrap();
    let view = pair.phone.controller.view().await;
    let group = &view.groups[0];
    let text = pair.phone.controller.support_bundle().await.unwrap().text;
    let canaries = [
        "canary",
        "Laptop",
        "Phone",
        "127.0.0.1",
        &group.id,
        &group.me.id,
        &group.me.fingerprint,
        &group.members[0].id,
        &view.settings.data_directory,
    ];
    for canary in canaries {
        assert!(!text.contains(canary), "{canary} is in it:\n{text}");
    }
    assert!(
        text.contains("groups: 1") && text.contains("Member"),
        "{text}"
    );
    // What is shown is what is saved.
    let file = pair._data.path().join("bundle.txt");
    *pair.phone.window.file.lock().unwrap() = Some(file.clone());
    let saved = pair.phone.controller.save_support_bundle().await.unwrap();
    assert!(saved.saved);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    *pair.phone.window.file.lock().unwrap() = Some(pair._data.path().join("no/such/folder"));
    let refused = pair.phone.controller.save_support_bundle().await.err();
    assert_eq!(refused, Some(AppErrorCode::FileUnwritable.into()));
    *pair.phone.window.file.lock().unwrap() = None;
    let saved = pair.phone.controller.save_support_bundle().await.unwrap();
    assert!(!saved.saved);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_found_in_any_group_and_gone_once_deleted() {
    let pair = Pair::new().await;
    pair.laptop.send(&pair.laptop_group, "Grüße aus 東京").await;
    let rows = pair
        .phone
        .until_messages(&pair.phone_group, "the message", |rows| rows.len() == 1)
        .await;
    let search = |text: &str| Search {
        text: text.to_owned(),
        before: None,
        limit: 10,
    };
    for text in ["grüße", "GRU\u{308}ßE", "東京"] {
        let page = pair.phone.controller.search(search(text)).await.unwrap();
        assert_eq!(page.hits.len(), 1, "{text}");
        assert_eq!(page.hits[0].position, rows[0].position);
        assert_eq!(page.hits[0].matches.len(), 1);
    }
    let deleted = crate::view::MessageIn {
        group: pair.phone_group.clone(),
        position: rows[0].position,
    };
    pair.phone.controller.delete_message(deleted).await.unwrap();
    let page = pair.phone.controller.search(search("東京")).await.unwrap();
    assert!(page.hits.is_empty());
    assert!(pair.phone.messages(&pair.phone_group).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_issues_the_list_is_empty_and_settings_need_a_profile() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    let page = app
        .controller
        .delivery_issues(ReadIssues {
            before: None,
            limit: 10,
        })
        .await
        .unwrap();
    assert!(page.issues.is_empty() && page.next.is_none());
    app.controller.quit().await;
    let late = app.controller.set_settings(SetSettings::default()).await;
    assert_eq!(late.err(), Some(AppErrorCode::Closed.into()));
}
