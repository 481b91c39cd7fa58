use sealpost_engine::core::event::{AdmissionDropped, Event};
use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::name::DeviceName;

use super::*;
use crate::view::{
    ConnectionState, DeliveryState, DroppedReason, GroupStatus, MarkRead, PairingClosed,
    ReadInvitation, Screen, StatusReason,
};

#[tokio::test(flavor = "multi_thread")]
async fn two_profiles_pair_by_the_link_and_exchange_messages() {
    let pair = Pair::new().await;
    let laptop = pair.laptop.group(&pair.laptop_group).await;
    assert_eq!(laptop.status, GroupStatus::Member);
    assert_eq!(laptop.pairing_closed, Some(PairingClosed::Accepted));
    assert!(laptop.pairing.is_none());
    assert!(laptop.relay_is_here);
    assert_eq!(laptop.members[0].name, "Phone");
    assert_eq!(laptop.me.name, "Laptop");
    let phone = pair.phone.group(&pair.phone_group).await;
    assert_eq!(phone.status_reason, Some(StatusReason::Joined));
    assert!(!phone.relay_is_here);
    assert_eq!(phone.me.id, laptop.members[0].id);
    assert_eq!(phone.me.fingerprint, laptop.members[0].fingerprint);

    pair.laptop
        .send(&pair.laptop_group, "from the laptop")
        .await;
    pair.phone.send(&pair.phone_group, "from the phone").await;
    for (app, group) in [
        (&pair.laptop, &pair.laptop_group),
        (&pair.phone, &pair.phone_group),
    ] {
        let messages = app
            .until_messages(
                group,
                "both messages, the own one on the relay",
                |messages| {
                    let own = messages.iter().find(|message| message.own);
                    let delivery = own.and_then(|own| own.delivery.as_ref());
                    messages.len() == 2
                        && delivery.is_some_and(|delivery| delivery.state == DeliveryState::OnRelay)
                },
            )
            .await;
        let own = messages.iter().find(|message| message.own).unwrap();
        let delivery = own.delivery.as_ref().unwrap();
        assert_eq!((delivery.on_relay, delivery.total), (1, 1));
        let end = delivery.kept_until_ms.unwrap();
        assert!(end > own.sent_at_ms + 29 * 24 * 3_600_000, "{end}");
        assert!(
            messages
                .iter()
                .any(|message| !message.own && message.delivery.is_none())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_messages_are_counted_until_they_are_seen() {
    let pair = Pair::new().await;
    pair.phone.send(&pair.phone_group, "one").await;
    pair.phone.send(&pair.phone_group, "two").await;
    let view = pair
        .laptop
        .window
        .until("two unread", |view| {
            group_is(view, &pair.laptop_group, |group| group.unread == 2)
        })
        .await;
    let position = find(&view, &pair.laptop_group).last_position;
    let read = MarkRead {
        group: pair.laptop_group.clone(),
        position,
    };
    pair.laptop.controller.mark_read(read).await.unwrap();
    pair.laptop
        .window
        .until("none", |view| {
            group_is(view, &pair.laptop_group, |group| group.unread == 0)
        })
        .await;
    let page = ReadMessages {
        group: pair.laptop_group.clone(),
        before: None,
        limit: 1,
    };
    let page = pair.laptop.controller.messages(page).await.unwrap();
    assert!(page.more);
    assert_eq!(page.messages[0].text.as_deref(), Some("two"));
    let page = ReadMessages {
        group: pair.laptop_group.clone(),
        before: Some(page.messages[0].position),
        limit: 1,
    };
    let page = pair.laptop.controller.messages(page).await.unwrap();
    assert!(!page.more);
    assert_eq!(page.messages[0].text.as_deref(), Some("one"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_closes_after_ten_minutes_and_says_so() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let open = app.group(&group).await.pairing.expect("a window is open");
    let rest_ms = open.expires_at_ms - app.clock.now_ms();
    assert!((590_000..=600_000).contains(&rest_ms), "{rest_ms}");
    app.clock.added_ms.store(rest_ms, Ordering::SeqCst);
    let view = app
        .window
        .until("it closed", |view| {
            group_is(view, &group, |group| group.pairing_closed.is_some())
        })
        .await;
    assert_eq!(
        find(&view, &group).pairing_closed,
        Some(PairingClosed::Expired)
    );

    app.controller
        .start_pairing(in_group(&group))
        .await
        .unwrap();
    let again = app.group(&group).await;
    assert_ne!(again.pairing.expect("a new window").link, open.link);
    assert_eq!(again.pairing_closed, None);
    app.controller
        .cancel_pairing(in_group(&group))
        .await
        .unwrap();
    app.controller
        .cancel_pairing(in_group(&group))
        .await
        .unwrap();
    let closed = app.group(&group).await;
    assert!(closed.pairing.is_none());
    assert_eq!(closed.pairing_closed, Some(PairingClosed::Cancelled));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_is_read_before_anything_is_connected() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let other = App::fresh(data.path(), "other").await;
    let group = app.start_group().await;
    let link = app.link(&group).await;
    let read = |app: &App, text: &str| {
        app.controller.read_invitation(&ReadInvitation {
            text: text.to_owned(),
        })
    };
    let own = read(&app, &link).err();
    assert_eq!(own, Some(AppErrorCode::InvitationIsOwn.into()));

    let (address, token) = link.split_once('#').unwrap();
    let wrapped = link.split_at(40);
    let wrapped = format!("  <{}\r\n  {}>\n", wrapped.0, wrapped.1);
    for text in [link.as_str(), &wrapped] {
        let preview = read(&other, text).expect("it can be read");
        assert_eq!(preview.relay_host.as_deref(), Some("127.0.0.1"));
        assert_eq!(preview.relay_text.as_deref(), Some(address));
        assert_eq!(preview.relay_words.expect("a key").len(), 19);
        assert!(!preview.needs_relay);
    }
    let bare = read(&other, token).expect("a bare token can be read");
    assert!(bare.needs_relay && bare.relay_host.is_none());
    let bare = JoinGroup {
        device_name: "Phone".to_owned(),
        invitation: token.to_owned(),
        relay_address: None,
    };
    let refused = other.controller.join_group(bare).await.err();
    assert_eq!(refused, Some(AppErrorCode::RelayNeeded.into()));
    assert!(other.controller.view().await.groups.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_part_of_a_bad_invitation_has_its_own_word() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let other = App::fresh(data.path(), "other").await;
    let group = app.start_group().await;
    let link = app.link(&group).await;
    let (address, token) = link.split_once('#').unwrap();
    let changed = if token.ends_with('A') { "B" } else { "A" };
    let cases = [
        (String::new(), "empty"),
        (link.replace("trueseal", "https"), "scheme"),
        (link.replace("trueseal://", "trueseal://0"), "key"),
        (link.replace("@127.0.0.1", "@"), "host"),
        (format!("{address}0000#{token}"), "port"),
        (link.replace("?push", "?fbid=1&push"), "query"),
        (address.to_owned(), "token"),
        (
            format!("{}{changed}", link.split_at(link.len() - 1).0),
            "token",
        ),
        (format!("{link}?utm_source=x"), "query"),
    ];
    for (text, part) in cases {
        let answer = other.controller.read_invitation(&ReadInvitation { text });
        let expected = AppError::new(AppErrorCode::InvitationInvalid).with_word("part", part);
        assert_eq!(answer.err(), Some(expected), "{part}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_join_that_is_taken_back_leaves_no_group_behind() {
    let data = tempfile::tempdir().unwrap();
    let laptop = App::fresh(data.path(), "laptop").await;
    let phone = App::fresh(data.path(), "phone").await;
    let group = laptop.start_group().await;
    let link = laptop.link(&group).await;
    let first = phone.join(&link).await;
    assert_eq!(phone.group(&first).await.status, GroupStatus::PendingJoin);
    phone
        .controller
        .cancel_join(in_group(&first))
        .await
        .unwrap();
    phone
        .window
        .until("no group", |view| view.screen == Screen::FirstStart)
        .await;
    let second = phone.join(&link).await;
    assert_eq!(second, first, "the same place is taken again");
    phone
        .controller
        .words_different(in_group(&second))
        .await
        .unwrap();
    let phone = phone.restart(data.path(), "phone").await;
    assert_eq!(phone.controller.view().await.screen, Screen::FirstStart);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dismissed_request_is_gone_and_an_unknown_one_is_named() {
    let data = tempfile::tempdir().unwrap();
    let laptop = App::fresh(data.path(), "laptop").await;
    let phone = App::fresh(data.path(), "phone").await;
    let group = laptop.start_group().await;
    phone.join(&laptop.link(&group).await).await;
    let requests = |view: &AppView| {
        let group = view.groups.iter().find(|one| one.id == group);
        let pairing = group.and_then(|group| group.pairing.as_ref());
        pairing.map_or(0, |pairing| pairing.requests.len())
    };
    let view = laptop
        .window
        .until("a request", |view| requests(view) == 1)
        .await;
    let request = find(&view, &group).pairing.as_ref().unwrap().requests[0]
        .id
        .clone();
    let dismissed = JoinRequestIn {
        group: group.clone(),
        request,
    };
    laptop
        .controller
        .dismiss_request(dismissed.clone())
        .await
        .unwrap();
    laptop
        .window
        .until("no request", |view| requests(view) == 0)
        .await;
    let gone = laptop.controller.accept_request(dismissed).await.err();
    assert_eq!(gone, Some(AppErrorCode::RequestUnknown.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_sent_is_said_with_its_numbers() {
    let pair = Pair::new().await;
    let send = |text: String| {
        let args = SendMessage {
            group: pair.laptop_group.clone(),
            text,
        };
        pair.laptop.controller.send_message(args)
    };
    assert_eq!(
        send(" \n".to_owned()).await.err(),
        Some(AppErrorCode::MessageEmpty.into())
    );
    let error = send("x".repeat(70_000))
        .await
        .err()
        .expect("it is too large");
    assert_eq!(error.code, AppErrorCode::MessageTooLarge);
    assert_eq!(
        error.args["size"],
        crate::app_error::ErrorArgument::Number(70_000)
    );
    assert!(error.args.contains_key("max"));
    assert_eq!(
        pair.laptop.controller.view().await.groups[0]
            .connection
            .state,
        ConnectionState::Connected
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_joins_the_same_group_only_once() {
    let pair = Pair::new().await;
    pair.laptop
        .controller
        .start_pairing(in_group(&pair.laptop_group))
        .await
        .unwrap();
    let args = JoinGroup {
        device_name: "Phone".to_owned(),
        invitation: pair.laptop.link(&pair.laptop_group).await,
        relay_address: None,
    };
    let refused = pair.phone.controller.join_group(args).await.err();
    assert_eq!(refused, Some(AppErrorCode::AlreadyInGroup.into()));
    assert_eq!(pair.phone.controller.view().await.groups.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_code_of_the_same_device_replaces_the_join_that_waits() {
    let data = tempfile::tempdir().unwrap();
    let laptop = App::fresh(data.path(), "laptop").await;
    let phone = App::fresh(data.path(), "phone").await;
    let group = laptop.start_group().await;
    let first = phone.join(&laptop.link(&group).await).await;
    let before = laptop.link(&group).await;
    assert_eq!(phone.join(&before).await, first);
    let controller = &laptop.controller;
    controller.start_pairing(in_group(&group)).await.unwrap();
    assert!(laptop.link(&group).await == before, "an open code stays");
    controller.cancel_pairing(in_group(&group)).await.unwrap();
    controller.start_pairing(in_group(&group)).await.unwrap();
    let link = laptop.link(&group).await;
    assert!(link != before);
    assert_eq!(phone.join(&link).await, first, "also with another code");
    assert_eq!(phone.controller.view().await.groups.len(), 1);
    laptop
        .window
        .until("one request", |view| {
            group_is(view, &group, |one| {
                one.pairing
                    .as_ref()
                    .is_some_and(|pairing| pairing.requests.len() == 1)
            })
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admission_that_came_to_nothing_is_said_until_the_next_window_opens() {
    let data = tempfile::tempdir().unwrap();
    let laptop = App::fresh(data.path(), "laptop").await;
    let group = laptop.start_group().await;
    assert!(laptop.group(&group).await.dropped_admission.is_none());
    for (told, shown) in [
        (AdmissionDropped::GroupFull, DroppedReason::GroupFull),
        (AdmissionDropped::Removed, DroppedReason::Removed),
    ] {
        let event = Event::AdmissionDropped {
            name: DeviceName::clean("Phone", &SigningPublic::from_bytes([1; 32])),
            reason: told,
        };
        laptop.controller.handle_event(&group, event);
        let view = laptop
            .window
            .until("it is said", |view| {
                group_is(view, &group, |one| one.dropped_admission.is_some())
            })
            .await;
        let dropped = find(&view, &group).dropped_admission.clone().unwrap();
        assert!(dropped.name == "Phone" && dropped.reason == shown);
        laptop
            .controller
            .start_pairing(in_group(&group))
            .await
            .unwrap();
        assert!(laptop.group(&group).await.dropped_admission.is_none());
        laptop
            .window
            .until("it is gone", |view| {
                group_is(view, &group, |one| one.dropped_admission.is_none())
            })
            .await;
    }
}
