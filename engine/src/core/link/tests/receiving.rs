use sealpost_protocol::link::envelope::seal;
use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, LinkKeys, Role};
use sealpost_protocol::link::payload::{Header, Kind, Payload, PayloadId};

use super::super::*;
use super::rig::*;

/// An envelope's worth of bytes that nobody sealed.
fn junk(first: u8) -> Vec<u8> {
    vec![first; 306]
}

fn foreign(rig: &mut Rig, sequence: u64) -> Vec<u8> {
    let keys = LinkKeys::derive(&LinkKey::from_bytes([9; 32]), &LinkId::from_bytes([9; 16]));
    seal(&keys, Direction::AToB, sequence, b"x", &mut rig.rng).unwrap()
}

fn sealed(rig: &mut Rig, sequence: u64, kind: Kind, id: u8) -> Vec<u8> {
    let header = Header {
        kind,
        id: PayloadId::from_bytes([id; 16]),
        ack: None,
        ts_ms: NOW_MS,
        collapse: None,
    };
    let body = format!("by hand {id}").into_bytes();
    let payload = Payload { header, body }.encode().unwrap();
    let keys = rig.keys();
    seal(&keys, Direction::AToB, sequence, &payload, &mut rig.rng).unwrap()
}

#[test]
fn pages_of_envelopes_that_fail_end_and_are_pruned() {
    let mut rig = Rig::new();
    rig.b.crash();
    for sequence in 1..=40 {
        let bytes = match sequence % 4 {
            0 => foreign(&mut rig, sequence),
            1 => junk(0),
            2 => sealed(&mut rig, sequence + 1, Kind::Msg, 1),
            _ => junk(1),
        };
        rig.plant(Direction::AToB, sequence, bytes);
    }
    rig.start(Role::B);
    rig.run();
    assert!(rig.b.arrived.is_empty());
    assert_eq!(rig.head(Direction::AToB).count, 0);
    assert_eq!(
        rig.b.snapshot.row,
        LinkRow {
            is_established: true,
            last_contact_ms: Some(NOW_MS),
            ..LinkRow::default()
        }
    );
    let refused = LinkEvent::EnvelopesRefused { count: 40 };
    assert!(rig.b.events.contains(&refused));
    // Who wrote them has burnt numbers, and nothing else.
    rig.send(Role::A, "real");
    assert_eq!(rig.b.texts(), ["real"]);
    assert_eq!(rig.b.snapshot.row.last_received, Some(41));
}

#[test]
fn a_forged_high_number_moves_nothing_that_is_durable() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    rig.b.crash();
    rig.plant(Direction::AToB, 1_000, junk(1));
    rig.start(Role::B);
    rig.run();
    assert_eq!(rig.b.snapshot.row.last_received, Some(1));
    assert_eq!(rig.head(Direction::AToB).count, 0);
}

#[test]
fn an_envelope_moved_to_another_slot_is_refused_and_the_original_accepted() {
    let mut rig = Rig::new();
    rig.b.crash();
    rig.send(Role::A, "one");
    let (_, bytes) = rig.a.puts().pop().unwrap();
    rig.plant(Direction::AToB, 2, bytes);
    rig.start(Role::B);
    rig.run();
    assert_eq!(rig.b.texts(), ["one"]);
    assert!(
        rig.b
            .events
            .contains(&LinkEvent::EnvelopesRefused { count: 1 })
    );
}

#[test]
fn an_envelope_of_another_version_is_said_counted_and_pruned() {
    let mut rig = Rig::new();
    rig.b.crash();
    let mut newer = sealed(&mut rig, 1, Kind::Msg, 1);
    newer[0] = 2;
    rig.plant(Direction::AToB, 1, newer);
    rig.start(Role::B);
    rig.run();
    assert!(rig.b.link().condition().is_peer_newer);
    assert!(rig.b.events.contains(&LinkEvent::ConditionChanged));
    assert_eq!(rig.head(Direction::AToB).count, 0);
}

#[test]
fn kinds_and_headers_that_are_not_known_are_accepted_and_do_nothing() {
    let mut rig = Rig::new();
    let keys = rig.keys();
    let later = br#"{"t":"wave","id":"AAAAAAAAAAAAAAAAAAAAAA"}"#;
    let payload = [&[0, later.len() as u8][..], later].concat();
    let bytes = seal(&keys, Direction::AToB, 1, &payload, &mut rig.rng).unwrap();
    rig.plant(Direction::AToB, 1, bytes);
    let bytes = seal(&keys, Direction::AToB, 2, b"no payload", &mut rig.rng).unwrap();
    rig.plant(Direction::AToB, 2, bytes);
    let hello = sealed(&mut rig, 3, Kind::Hello, 3);
    rig.plant(Direction::AToB, 3, hello);
    rig.run();
    assert!(rig.b.arrived.is_empty());
    assert_eq!(rig.b.snapshot.row.last_received, Some(3));
    rig.advance(HOUR_MS);
    assert!(
        rig.kinds(Role::B).is_empty(),
        "nothing that is acknowledged"
    );
}

#[test]
fn what_a_crash_left_below_the_cursor_is_pruned() {
    // It ends after it has accepted everything and before it prunes.
    let is_such = |rig: &mut Rig| {
        let is_accepted = rig.b.snapshot.row.last_received == Some(64);
        is_accepted && rig.head(Direction::AToB).count == 64
    };
    let mut rig = (1..400)
        .map(ended_after)
        .find_map(|mut rig| is_such(&mut rig).then_some(rig))
        .expect("there is such a point");
    rig.b.crash_at = None;
    rig.start(Role::B);
    rig.run();
    assert_eq!(rig.head(Direction::AToB).count, 0);
    assert_eq!(rig.b.arrived.len(), 64, "nothing twice");
    rig.send(Role::A, "after");
    assert_eq!(rig.b.texts().pop().as_deref(), Some("after"));
}

/// A full direction, and a reader that ends after so many points of its work.
fn ended_after(points: usize) -> Rig {
    let mut rig = Rig::new();
    rig.b.crash();
    for n in 0..64 {
        rig.queue(Role::A, &n.to_string());
    }
    rig.run();
    rig.b.crash_at = Some(rig.b.points + points);
    rig.start(Role::B);
    rig.run();
    rig
}

#[test]
fn an_idle_expiry_is_noticed_and_traffic_goes_on_both_ways() {
    for messages in [1, 7, 70] {
        let mut rig = Rig::new();
        for n in 0..40 {
            rig.send(Role::A, &format!("a{n}"));
            rig.send(Role::B, &format!("b{n}"));
        }
        rig.advance(10 * SECOND_MS);
        rig.a.crash();
        rig.b.crash();
        let created_ms = rig.head(Direction::AToB).created_ms;
        rig.now_ms += 31 * DAY_MS;
        rig.start(Role::A);
        rig.start(Role::B);
        rig.run();
        assert_ne!(rig.head(Direction::AToB).created_ms, created_ms);
        assert_eq!(rig.a.snapshot.row.unconfirmed_since_ms, Some(rig.now_ms));
        for n in 40..40 + messages {
            rig.send(Role::A, &format!("a{n}"));
            rig.send(Role::B, &format!("b{n}"));
        }
        assert_eq!(rig.a.arrived.len(), 40 + messages);
        assert_eq!(rig.b.arrived.len(), 40 + messages);
        // Numbers went on above the old ones, although the mailbox is a new one.
        assert!(rig.head(Direction::AToB).last > Some(40));
        assert!(rig.a.snapshot.row.unconfirmed_since_ms.is_none());
        assert!(rig.b.snapshot.row.unconfirmed_since_ms.is_none());
    }
}

#[test]
fn what_lay_in_a_mailbox_that_vanished_is_sent_again() {
    let mut rig = Rig::new();
    rig.b.crash();
    rig.send(Role::A, "one");
    rig.send(Role::A, "two");
    rig.vanish();
    rig.close_watches(WatchClose::Other);
    rig.advance(MINUTE_MS);
    assert!(rig.a.link().condition().unconfirmed_since_ms.is_some());
    rig.start(Role::B);
    rig.advance(10 * SECOND_MS);
    assert_eq!(rig.b.texts(), ["one", "two"]);
    assert!(rig.a.snapshot.outbox.is_empty());
    assert!(rig.a.link().condition().unconfirmed_since_ms.is_none());
}

#[test]
fn a_relay_set_back_to_an_older_copy_loses_nothing() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    let yesterday = rig.relay.clone();
    rig.b.crash();
    for text in ["two", "three"] {
        rig.send(Role::A, text);
    }
    // It comes back with less, and its connections are gone.
    rig.relay = yesterday;
    rig.close_watches(WatchClose::GoingAway);
    rig.advance(MINUTE_MS);
    rig.start(Role::B);
    rig.send(Role::A, "four");
    rig.advance(MINUTE_MS);
    let mut texts = rig.b.texts();
    texts.sort();
    assert_eq!(texts, ["four", "one", "three", "two"]);
    assert!(rig.a.snapshot.outbox.is_empty());
    assert_eq!(rig.head(Direction::AToB).count, 0);
}

#[test]
fn a_relay_set_back_that_nobody_noticed_is_looked_at_before_anything_is_sent() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    let yesterday = rig.relay.clone();
    rig.b.crash();
    rig.send(Role::A, "two");
    rig.send(Role::A, "three");
    // Its incarnation is the same, no connection broke and no time went by: an acknowledgement
    // of "four" would cover the numbers of "two" and "three", which are gone.
    rig.relay = yesterday;
    rig.send(Role::A, "four");
    rig.start(Role::B);
    rig.advance(MINUTE_MS);
    let mut texts = rig.b.texts();
    texts.sort();
    assert_eq!(texts, ["four", "one", "three", "two"]);
    assert!(rig.a.snapshot.outbox.is_empty());
}

#[test]
fn a_relay_set_back_gives_again_what_was_pruned_and_nothing_is_shown_twice() {
    let mut rig = Rig::new();
    rig.b.crash();
    rig.send(Role::A, "one");
    let full = rig.relay.clone();
    rig.start(Role::B);
    rig.send(Role::A, "two");
    rig.relay = full;
    rig.restart(Role::B);
    rig.advance(MINUTE_MS);
    assert_eq!(rig.b.texts(), ["one", "two"]);
    assert_eq!(rig.head(Direction::AToB).count, 0);
    assert!(!rig.kinds(Role::B).contains(&Kind::Resync));
}

#[test]
fn a_device_set_back_is_asked_to_send_again_above_what_is_known() {
    let mut rig = Rig::new();
    rig.send(Role::A, "zero");
    rig.advance(10 * SECOND_MS);
    let yesterday = rig.a.snapshot.clone();
    for n in 0..20 {
        rig.send(Role::A, &n.to_string());
    }
    rig.advance(10 * SECOND_MS);
    // A is set back, and the relay lost its data: nothing lifts A's numbers.
    rig.vanish();
    rig.a.crash();
    rig.a.snapshot = yesterday;
    rig.start(Role::A);
    rig.send(Role::A, "new");
    rig.restart(Role::B);
    rig.advance(MINUTE_MS);
    assert_eq!(rig.b.texts().pop().as_deref(), Some("new"));
    let resyncs = rig
        .kinds(Role::B)
        .into_iter()
        .filter(|kind| *kind == Kind::Resync);
    assert!(resyncs.count() <= 1);
    assert!(
        rig.a.snapshot.row.floor > 20,
        "lifted by what B has accepted"
    );
    assert!(rig.a.snapshot.outbox.is_empty());
}

#[test]
fn a_relay_that_replays_old_envelopes_causes_one_resync_in_ten_minutes() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    rig.send(Role::A, "two");
    for round in 0_u8..30 {
        // Authentic, old, and of a message that B never got.
        let stale = sealed(&mut rig, 1, Kind::Msg, 0x80 + round);
        let mut headers = RelayHeaders {
            last: Some(2),
            more: Some(0),
            count: Some(1),
            oldest: Some(1),
            created_ms: Some(NOW_MS + 7),
            expires_s: None,
        };
        headers.created_ms = Some(NOW_MS + u64::from(round) + 7);
        let page = Answer::Done(Done {
            is_new: false,
            headers,
            envelopes: vec![PageEnvelope {
                sequence: 1,
                envelope: stale,
            }],
        });
        let empty = Answer::Done(Done {
            headers,
            ..Done::default()
        });
        rig.b
            .fates
            .extend([Fate::Answered(empty), Fate::Answered(page)]);
        rig.tell(Role::B, |link, now_ms, rng| link.handle_online(now_ms, rng));
        rig.advance(MINUTE_MS);
    }
    let resyncs = rig
        .kinds(Role::B)
        .into_iter()
        .filter(|kind| *kind == Kind::Resync);
    let resyncs = resyncs.count();
    assert!((1..=4).contains(&resyncs), "{resyncs} in half an hour");
    assert_eq!(rig.b.texts(), ["one", "two"]);
}

#[test]
fn a_relay_that_answers_what_cannot_be_is_told_and_moves_nothing() {
    let good = |last, more| RelayHeaders {
        last: Some(last),
        more: Some(more),
        count: Some(1),
        oldest: Some(1),
        created_ms: Some(NOW_MS),
        expires_s: None,
    };
    let page = |headers, slots: &[u64]| {
        let envelopes = slots.iter().map(|sequence| PageEnvelope {
            sequence: *sequence,
            envelope: junk(1),
        });
        Answer::Done(Done {
            is_new: false,
            headers,
            envelopes: envelopes.collect(),
        })
    };
    for answer in [
        page(good(5, 0), &[3, 3]),
        page(good(5, 0), &[4, 2]),
        page(good(5, 0), &[6]),
        page(good(5, 0), &[0]),
        page(good((1 << 52) + 1, 0), &[]),
    ] {
        let mut rig = Rig::new();
        rig.b.fates.push_back(Fate::Answered(answer));
        rig.tell(Role::B, |link, now_ms, rng| link.handle_online(now_ms, rng));
        rig.run();
        let condition = rig.b.link().condition();
        assert_eq!(condition.error, Some(LinkError::Misbehaves));
        assert_eq!(rig.b.snapshot.row.last_received, None);
        let asked = rig.b.asked.len();
        rig.advance(4 * MINUTE_MS);
        assert_eq!(rig.b.asked.len(), asked, "it is tried rarely");
        rig.send(Role::A, "still");
        rig.advance(2 * MINUTE_MS);
        assert_eq!(rig.b.texts(), ["still"]);
        assert_eq!(rig.b.link().condition().error, None);
    }
}

#[test]
fn a_page_that_claims_more_and_moves_nothing_ends_the_fetch() {
    let mut rig = Rig::new();
    let headers = RelayHeaders {
        more: Some(9),
        created_ms: Some(NOW_MS),
        ..RelayHeaders::default()
    };
    let page = Answer::Done(Done {
        headers,
        ..Done::default()
    });
    rig.b.fates.push_back(Fate::Answered(page));
    let asked = rig.b.asked.len();
    rig.tell(Role::B, |link, now_ms, rng| link.handle_online(now_ms, rng));
    rig.run();
    assert_eq!(rig.b.asked.len(), asked + 1);
}
