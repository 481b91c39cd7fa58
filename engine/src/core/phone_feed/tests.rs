//! The feed against a phone that collects when it likes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sealpost_protocol::key::MemberId;
use sealpost_protocol::link::feed::{FromDesktop, GROUPS_KEY, Message, changed_key, tail_key};
use sealpost_protocol::link::payload::PayloadId;
use sealpost_protocol::message_id::MessageId;

use super::*;
use crate::core::error::{EngineError, StorageFault};
use crate::core::issue::SendFailure;
use crate::core::message::DeliveryState;
use crate::core::status::Status;
use crate::history::{Content, Delivery, StoredMessage};

fn row(position: u64, text: &str) -> StoredMessage {
    let bytes = [u8::try_from(position % 256).unwrap(); 32];
    StoredMessage {
        position,
        id: MessageId::from_bytes(bytes),
        own: false,
        author: MemberId::parse(&"A".repeat(43)).unwrap(),
        author_name: "Anna \"the\" Otter".to_owned(),
        app_id: Some([7; 16]),
        via: None,
        content: Content::Text(text.to_owned()),
        sent_at_ms: 1,
        stored_at_ms: 2,
        deliveries: Vec::new(),
    }
}

/// Positions have holes where a message was deleted.
fn rows(texts: &[String]) -> Vec<StoredMessage> {
    let positions = (0_u64..).map(|place| 3 + place * 2);
    let rows = positions.zip(texts).map(|(at, text)| row(at, text));
    rows.collect()
}

/// Texts of any length, of signs that take one to six bytes in JSON.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let sign = prop_oneof![
        8 => Just('x'), 1 => Just('\n'), 1 => Just('\u{1}'), 1 => Just('"'), 1 => Just('手'),
        1 => Just('\u{1f9a6}'),
    ];
    let short =
        (sign.clone(), 0_usize..40).prop_map(|(sign, length)| sign.to_string().repeat(length));
    let long = (sign, 0_usize..61_440)
        .prop_map(|(sign, length)| sign.to_string().repeat(length / sign.len_utf8()));
    proptest::collection::vec(prop_oneof![3 => short, 1 => long], 0..60)
}

fn positions(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.position).collect()
}

fn parts(body: FromDesktop) -> (Vec<Message>, Option<u64>, bool) {
    match body {
        FromDesktop::Tail { messages, from, .. } => (messages, from, false),
        FromDesktop::Page { messages, more, .. } => (messages, None, more),
        FromDesktop::Changed { messages, .. } => (messages, None, false),
        _ => unreachable!("not a body with messages"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_tail_is_the_newest_that_fits_and_says_what_stands_before_it(texts in texts()) {
        let rows = rows(&texts);
        let newest: Vec<_> = rows[rows.len().saturating_sub(TAIL_MESSAGES_MAX + 1)..].to_vec();
        let body = tail("000001-abc", &newest);
        prop_assert!(body.encode().len() <= BODY_BYTES_MAX);
        let (messages, from, _) = parts(body);
        prop_assert!(messages.len() <= TAIL_MESSAGES_MAX);
        let all: Vec<u64> = rows.iter().map(|row| row.position).collect();
        prop_assert!(all.ends_with(&positions(&messages)), "the newest, with no gap");
        let before = all.len() - messages.len();
        prop_assert_eq!(from, before.checked_sub(1).map(|at| all[at]));
        prop_assert!(rows.is_empty() || !messages.is_empty());
        // There was no room for one more.
        if let (Some(at), true) = (before.checked_sub(1), messages.len() < TAIL_MESSAGES_MAX) {
            let with = serde_json::to_vec(&message(&rows[at])).unwrap().len();
            let held = serde_json::to_vec(&messages).unwrap().len();
            prop_assert!(with + held > BODY_BYTES_MAX - 600);
        }
    }

    #[test]
    fn pages_asked_for_one_after_the_other_hold_everything_once(texts in texts()) {
        let rows = rows(&texts);
        let mut seen: Vec<u64> = Vec::new();
        let mut before = u64::MAX;
        loop {
            let older: Vec<_> = rows.iter().filter(|row| row.position < before).cloned().collect();
            let from = older.len().saturating_sub(HISTORY_MESSAGES_MAX + 1);
            let body = history("g", "AAAAAAAAAAAAAAAAAAAAAA", &older[from..]);
            prop_assert!(body.encode().len() <= BODY_BYTES_MAX);
            let (messages, _, more) = parts(body);
            prop_assert!(!more || !messages.is_empty(), "every page gets on");
            seen.splice(0..0, positions(&messages));
            match messages.first() {
                Some(first) if more => before = first.position,
                _ => break,
            }
        }
        let all: Vec<u64> = rows.iter().map(|row| row.position).collect();
        prop_assert_eq!(seen, all);
    }

    #[test]
    fn what_is_cut_is_a_beginning_and_says_so(texts in texts()) {
        for text in &texts {
            let told = message(&row(1, text));
            let begin = told.text.unwrap();
            prop_assert!(text.starts_with(&begin));
            prop_assert_eq!(told.cut, begin.len() < text.len());
            let json = serde_json::to_vec(&begin).unwrap().len();
            prop_assert!(json <= TEXT_BYTES_MAX + 2);
            prop_assert!(!told.cut || json + 6 > TEXT_BYTES_MAX, "no more than needed");
        }
    }

    #[test]
    fn a_group_is_shown_as_chosen_and_later_ones_as_said(
        all in proptest::collection::btree_set("[a-f]", 0..6),
        shown in proptest::collection::btree_set("[a-f]", 0..6),
        later: bool,
    ) {
        let sharing = Sharing::new(later, &shown, all.iter().map(String::as_str));
        for group in &all {
            prop_assert_eq!(sharing.shows(group), shown.contains(group));
        }
        prop_assert_eq!(sharing.shows("came later"), later);
        let kept = serde_json::to_string(&sharing).unwrap();
        prop_assert_eq!(serde_json::from_str::<Sharing>(&kept).unwrap(), sharing);
    }
}

#[test]
fn a_phone_of_which_nothing_is_known_sees_nothing() {
    assert!(!Sharing::default().shows("000001-abc"));
    let unreadable: Sharing = serde_json::from_str("{}").unwrap();
    assert!(!unreadable.shows("000001-abc"));
}

#[test]
fn an_own_message_says_how_far_it_is_and_nobody_elses_does() {
    let to = |state| Delivery {
        member: MemberId::parse(&"A".repeat(43)).unwrap(),
        name: "Bob".to_owned(),
        state,
    };
    let mut own = row(4, "hello");
    own.own = true;
    own.via = Some("Moto".to_owned());
    own.deliveries = vec![
        to(DeliveryState::OnRelay { at_ms: 9 }),
        to(DeliveryState::Failed(SendFailure::Expired)),
        to(DeliveryState::Withdrawn),
    ];
    let told = serde_json::to_value(message(&own)).unwrap();
    assert_eq!(
        told,
        serde_json::json!({
            "position": 4, "id": "BwcHBwcHBwcHBwcHBwcHBw", "author": "Anna \"the\" Otter",
            "own": true, "via": "Moto", "text": "hello", "at": 2,
            "delivery": {"state": "failed", "onRelay": 1, "total": 2, "reason": "expired"}
        })
    );
    own.own = false;
    assert!(message(&own).delivery.is_none());
    own.content = Content::Unknown;
    own.app_id = None;
    let unknown = message(&own);
    assert_eq!((unknown.text, unknown.cut), (None, false));
    assert_eq!(unknown.id, "BAQEBAQEBAQEBAQEBAQEBA");
}

/// A link whose phone collects when it is told to, and what the phone holds then.
#[derive(Default)]
struct Phone {
    feed: PhoneFeed,
    /// Oldest first: id, key, body, whether it has left the desktop.
    outbox: Vec<(PayloadId, String, Vec<u8>, bool)>,
    states: BTreeMap<String, Vec<u8>>,
    /// Of each group the newest state of each message that was told.
    changed: BTreeMap<(String, u64), Message>,
    next_id: u8,
}

impl Phone {
    fn send_all(&mut self) {
        while let Some(out) = self.feed.next() {
            self.next_id = self
                .next_id
                .checked_add(1)
                .expect("it never goes round in circles");
            let id = PayloadId::from_bytes([self.next_id; 16]);
            assert!(out.body.len() <= BODY_BYTES_MAX);
            self.outbox
                .retain(|(_, key, _, has_left)| *has_left || *key != out.key);
            self.feed.handle_handed(&out, id);
            self.outbox.push((id, out.key, out.body, false));
            assert!(self.outbox.len() <= ROWS_MAX);
        }
    }

    /// The link puts everything on the relay.
    fn leave(&mut self) {
        for row in &mut self.outbox {
            row.3 = true;
        }
        self.tell_outbox();
    }

    /// The phone reads what is on the relay and says so.
    fn collect(&mut self, count: usize) {
        let left = self.outbox.iter().filter(|row| row.3).count();
        for _ in 0..count.min(left) {
            let (_, key, body, _) = self.outbox.remove(0);
            if let Some(FromDesktop::Changed { messages, group }) = FromDesktop::decode(&body) {
                let told = messages
                    .into_iter()
                    .map(|one| ((group.clone(), one.position), one));
                self.changed.extend(told);
            }
            self.states.insert(key, body);
        }
        self.tell_outbox();
    }

    fn tell_outbox(&mut self) {
        let rows = self.outbox.iter().map(|(id, key, _, has_left)| WaitingRow {
            id: *id,
            key: Some(key.clone()),
            is_here: !has_left,
        });
        self.feed.handle_outbox(rows.collect());
        self.send_all();
    }

    /// The phone didn't look for so long that nothing of it waits any more.
    fn expire(&mut self) {
        for (id, key, _, _) in std::mem::take(&mut self.outbox) {
            self.feed.handle_expired(id, &key);
        }
        self.tell_outbox();
    }

    /// Until nothing is left to say.
    fn collect_all(&mut self) {
        self.send_all();
        while !self.outbox.is_empty() {
            self.leave();
            self.next_id = 0;
            self.collect(usize::MAX);
        }
    }
}

fn groups(language: &str) -> FromDesktop {
    FromDesktop::Groups {
        desktop: "Desk".to_owned(),
        phone: "Moto".to_owned(),
        language: language.to_owned(),
        groups: Vec::new(),
    }
}

/// What happens between the desktop and its phone.
#[derive(Clone, Debug)]
enum Turn {
    Groups(u8),
    Tail(u8, u8),
    Moved(u8, u8, u8),
    Withdraw(u8),
    Leave,
    Collect(u8),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        2 => (0_u8..4).prop_map(Turn::Groups),
        4 => (0_u8..12, 0_u8..4).prop_map(|(group, version)| Turn::Tail(group, version)),
        3 => (0_u8..3, 0_u8..5, 0_u8..4).prop_map(|(group, at, version)| Turn::Moved(group, at, version)),
        1 => (0_u8..12).prop_map(Turn::Withdraw),
        3 => Just(Turn::Leave),
        2 => (1_u8..9).prop_map(Turn::Collect),
    ];
    proptest::collection::vec(turn, 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever the phone misses meanwhile: what it holds at the end is the newest, it never
    /// has too much waiting, and of a group that it sees no more it holds nothing.
    #[test]
    fn a_phone_that_was_away_ends_with_the_newest_of_everything(turns in turns()) {
        let mut phone = Phone::default();
        let mut newest: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut moved: BTreeMap<(String, u64), Message> = BTreeMap::new();
        for turn in turns {
            match turn {
                Turn::Groups(version) => {
                    let body = groups(&version.to_string());
                    phone.feed.offer_groups(&body);
                    newest.insert(GROUPS_KEY.to_owned(), body.encode());
                }
                Turn::Tail(group, version) => {
                    let group = format!("{group}");
                    let body = tail(&group, &[row(90, "before"), row(100, &version.to_string())]);
                    phone.feed.offer_tail(&group, &body);
                    newest.insert(tail_key(&group), body.encode());
                }
                Turn::Moved(group, at, version) => {
                    let (group, at) = (format!("{group}"), u64::from(at));
                    let told = message(&row(at, &version.to_string()));
                    phone.feed.note_changed(&group, told.clone());
                    moved.insert((group, at), told);
                }
                Turn::Withdraw(group) => {
                    let group = format!("{group}");
                    let was_told = phone.feed.told().any(|told| told == group);
                    phone.feed.withdraw(&group);
                    moved.retain(|(of, _), _| *of != group);
                    if was_told {
                        let empty = tail(&group, &[]).encode();
                        newest.insert(tail_key(&group), empty);
                    }
                }
                Turn::Leave => phone.leave(),
                Turn::Collect(count) => phone.collect(count.into()),
            }
            phone.next_id = u8::try_from(phone.outbox.len()).unwrap() + phone.next_id % 64;
            phone.send_all();
        }
        phone.next_id = 100;
        phone.collect_all();
        for (key, body) in &newest {
            prop_assert_eq!(phone.states.get(key), Some(body), "{}", key);
        }
        for (of, told) in &moved {
            prop_assert_eq!(phone.changed.get(of), Some(told), "{:?}", of);
        }
    }
}

#[test]
fn what_has_not_left_is_replaced_and_costs_no_second_row() {
    let mut phone = Phone::default();
    for version in 0..200_u64 {
        phone.next_id = 0;
        phone.feed.offer_tail("g", &tail("g", &[row(version, "x")]));
        phone.send_all();
    }
    assert_eq!(phone.outbox.len(), 1);
    // Once it has left, a few more of the kind may follow, and then the newest waits.
    for version in 200..400 {
        phone.leave();
        phone.next_id = 0;
        phone.feed.offer_tail("g", &tail("g", &[row(version, "x")]));
        phone.send_all();
    }
    assert_eq!(phone.outbox.len(), ROWS_OF_A_KEY_MAX);
    phone.collect_all();
    assert_eq!(
        phone.states[&tail_key("g")],
        tail("g", &[row(399, "x")]).encode()
    );
}

#[test]
fn nothing_is_said_twice() {
    let mut phone = Phone::default();
    let said = tail("g", &[row(1, "x")]);
    phone.feed.offer_tail("g", &said);
    phone.feed.offer_groups(&groups("en"));
    assert_eq!(
        phone.feed.next().unwrap().key,
        GROUPS_KEY,
        "the list comes first"
    );
    phone.send_all();
    phone.feed.offer_tail("g", &said);
    phone.feed.offer_groups(&groups("en"));
    assert!(phone.feed.next().is_none());
    phone.collect_all();
    phone.feed.offer_tail("g", &said);
    assert!(phone.feed.next().is_none());
}

#[test]
fn what_moved_on_is_told_beside_what_the_phone_has_not_said_that_it_has() {
    let mut phone = Phone::default();
    phone.feed.note_changed("g", message(&row(1, "sent")));
    phone.send_all();
    phone.feed.note_changed("g", message(&row(2, "sent")));
    phone.send_all();
    // The second took the place of the first, which had not left.
    assert_eq!(phone.outbox.len(), 1);
    phone.collect_all();
    assert_eq!(phone.changed.len(), 2);
    // Said once, it is said no more.
    phone.send_all();
    assert!(phone.outbox.is_empty());
    // More than one body holds goes in several.
    for at in 0..12 {
        phone
            .feed
            .note_changed("g", message(&row(at, &"y".repeat(9_000))));
    }
    phone.collect_all();
    assert_eq!(phone.changed.len(), 12);
}

#[test]
fn a_group_that_was_shared_in_an_earlier_run_can_be_withdrawn() {
    let mut feed = PhoneFeed::default();
    let row = |number: u8, key: String| WaitingRow {
        id: PayloadId::from_bytes([number; 16]),
        key: Some(key),
        is_here: true,
    };
    let other = row(3, "mood:g".to_owned());
    feed.handle_outbox(vec![row(1, tail_key("g")), row(2, changed_key("g")), other]);
    assert_eq!(feed.told().collect::<Vec<_>>(), ["g"]);
    feed.withdraw("g");
    let mut gone = BTreeSet::new();
    while let Some(out) = feed.next() {
        feed.handle_handed(&out, PayloadId::from_bytes([9; 16]));
        let (messages, from, _) = parts(FromDesktop::decode(&out.body).unwrap());
        assert_eq!((messages.len(), from), (0, None));
        gone.insert(out.key);
    }
    assert_eq!(gone, BTreeSet::from([tail_key("g"), changed_key("g")]));
    feed.withdraw("never shared");
    assert!(feed.next().is_none());
}

#[test]
fn what_expired_before_the_phone_looked_is_offered_again_though_it_is_the_same() {
    let mut phone = Phone::default();
    let newest = [row(9, "new")];
    phone.feed.offer_groups(&groups("en"));
    phone.feed.offer_tail("g", &tail("g", &newest));
    phone.feed.offer_tail("gone", &tail("gone", &newest));
    phone.feed.note_changed("g", message(&row(3, "old")));
    phone.collect_all();
    let offered = |phone: &mut Phone, text: &str| {
        phone.feed.offer_groups(&groups("de"));
        phone.feed.offer_tail("g", &tail("g", &[row(9, text)]));
        phone.send_all();
    };
    offered(&mut phone, "newer");
    phone.feed.note_changed("g", message(&row(3, "older")));
    phone.feed.withdraw("gone");
    phone.send_all();
    assert_eq!(phone.outbox.len(), 4);
    phone.leave();
    phone.expire();
    // Nothing has changed meanwhile; the group that was taken away is taken away again.
    assert!(phone.feed.told().any(|group| group == "gone"));
    phone.feed.withdraw("gone");
    offered(&mut phone, "newer");
    phone.collect_all();
    assert_eq!(phone.states[GROUPS_KEY], groups("de").encode());
    let told = tail("g", &[row(9, "newer")]).encode();
    assert_eq!(phone.states[&tail_key("g")], told);
    let (messages, ..) = parts(FromDesktop::decode(&phone.states[&tail_key("gone")]).unwrap());
    assert!(messages.is_empty());
    let text = &phone.changed[&("g".to_owned(), 3)].text;
    assert_eq!(text.as_deref(), Some("older"));
    // Once it has it, the same isn't said again.
    offered(&mut phone, "newer");
    assert!(phone.outbox.is_empty());
}

#[test]
fn answers_have_room_while_the_phone_collects_them() {
    let mut feed = PhoneFeed::default();
    let answers = |count: u8| {
        let rows = (0..count).map(|number| WaitingRow {
            id: PayloadId::from_bytes([number; 16]),
            key: None,
            is_here: false,
        });
        rows.collect::<Vec<_>>()
    };
    feed.handle_outbox(answers(15));
    assert!(feed.has_room_for_answer());
    feed.handle_outbox(answers(16));
    assert!(!feed.has_room_for_answer());
}

#[test]
fn what_a_phone_sends_leads_to_what_its_group_allows() {
    let text = br#"{"type":"text","group":"g","text":"hi"}"#;
    let blank = br#"{"type":"text","group":"g","text":" \n"}"#;
    let history = br#"{"type":"history","group":"g","before":7}"#;
    let read_up_to = br#"{"type":"read","group":"g","position":9}"#;
    let ask = |body: &[u8], standing| {
        read(body, |group| {
            assert_eq!(group, "g");
            standing
        })
    };
    let group = || "g".to_owned();
    let is = |action: Action, expected: Action| assert!(action == expected);
    is(
        ask(text, Standing::Shared),
        Action::Send {
            group: group(),
            text: "hi".to_owned(),
        },
    );
    is(ask(blank, Standing::Shared), Action::Refuse(Refusal::Empty));
    is(
        ask(history, Standing::Shared),
        Action::Page {
            group: group(),
            before: 7,
        },
    );
    is(
        ask(read_up_to, Standing::Shared),
        Action::Read {
            group: group(),
            position: 9,
        },
    );
    is(
        ask(text, Standing::NotShared),
        Action::Refuse(Refusal::NotShared),
    );
    is(
        ask(text, Standing::Gone),
        Action::Refuse(Refusal::GroupGone),
    );
    for body in [&history[..], read_up_to] {
        is(ask(body, Standing::NotShared), Action::Nothing);
        is(ask(body, Standing::Gone), Action::Nothing);
        is(ask(body, Standing::Closed), Action::Wait);
    }
    is(ask(text, Standing::Closed), Action::Wait);
    for odd in [
        &b"{}"[..],
        b"",
        b"{\"type\":\"wave\"}",
        b"{\"type\":\"text\"}",
    ] {
        is(read(odd, |_| Standing::Shared), Action::Nothing);
    }
}

#[test]
fn only_what_stays_refused_is_refused() {
    let refusal = |error: EngineError| Refusal::of(&error).map(Refusal::code);
    let status = Status::NotJoined;
    assert_eq!(
        refusal(EngineError::NotMember { status }),
        Some("notMember")
    );
    assert_eq!(
        refusal(EngineError::PayloadTooLarge { max: 9 }),
        Some("tooLarge")
    );
    let full = StorageFault::Full;
    assert_eq!(
        refusal(EngineError::Storage(full)),
        None,
        "it is tried again"
    );
    assert_eq!(refusal(EngineError::Closed), None);
}
