use sealpost_protocol::limit::{LINK_BODY_BYTES_MAX, LINK_SLOTS};
use sealpost_protocol::link::key::{Direction, Role};
use sealpost_protocol::link::payload::Kind;

use super::super::*;
use super::rig::*;

#[test]
fn messages_arrive_in_order_and_are_acknowledged() {
    let mut rig = Rig::new();
    let ids: Vec<_> = ["one", "two", "three"]
        .map(|text| rig.queue(Role::A, text))
        .into();
    rig.run();
    assert_eq!(rig.b.texts(), ["one", "two", "three"]);
    assert_eq!(rig.a.snapshot.outbox.len(), 3, "stored isn't received");
    rig.advance(6 * SECOND_MS);
    assert!(rig.a.snapshot.outbox.is_empty());
    for id in ids {
        assert!(rig.a.events.contains(&LinkEvent::RowStored(id)));
        assert!(rig.a.events.contains(&LinkEvent::RowReceived(id)));
        assert!(rig.b.events.contains(&LinkEvent::Arrived(id)));
    }
    assert_eq!(rig.kinds(Role::B), [Kind::Ack]);
    assert_eq!(rig.head(Direction::AToB).count, 0);
    assert_eq!(rig.head(Direction::BToA).count, 0);
}

#[test]
fn an_acknowledgement_travels_on_a_message_where_there_is_one() {
    let mut rig = Rig::new();
    rig.send(Role::A, "question");
    rig.send(Role::B, "answer");
    assert!(rig.a.snapshot.outbox.is_empty());
    rig.advance(6 * SECOND_MS);
    assert_eq!(rig.kinds(Role::B), [Kind::Msg]);
    assert_eq!(rig.kinds(Role::A), [Kind::Msg, Kind::Ack]);
    rig.advance(HOUR_MS);
    assert_eq!(
        rig.kinds(Role::A).len(),
        2,
        "an acknowledgement isn't acknowledged"
    );
}

#[test]
fn an_acknowledgement_that_is_owed_survives_a_restart() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    // It has it, and ends before it says so.
    rig.restart(Role::B);
    assert_eq!(rig.b.texts(), ["one"]);
    assert!(rig.kinds(Role::B).is_empty());
    assert_eq!(rig.a.snapshot.outbox.len(), 1);
    rig.advance(6 * SECOND_MS);
    assert_eq!(rig.kinds(Role::B), [Kind::Ack]);
    assert!(rig.a.snapshot.outbox.is_empty());
}

#[test]
fn no_acknowledgement_of_its_own_goes_into_a_direction_that_nobody_empties() {
    let mut rig = Rig::new();
    rig.a.crash();
    for n in 0..16 {
        rig.send(Role::B, &n.to_string());
    }
    let access = rig.keys();
    let put = sealpost_protocol::link::envelope::seal(
        &access,
        Direction::AToB,
        1,
        &message("hello"),
        &mut rig.rng,
    );
    rig.plant(Direction::AToB, 1, put.unwrap());
    rig.run();
    rig.advance(HOUR_MS);
    assert_eq!(rig.b.texts(), ["hello"]);
    assert!(rig.kinds(Role::B).iter().all(|kind| *kind == Kind::Msg));
    rig.start(Role::A);
    rig.advance(HOUR_MS);
    assert!(rig.kinds(Role::B).contains(&Kind::Ack), "there is room now");
}

fn message(text: &str) -> Vec<u8> {
    use sealpost_protocol::link::payload::{Header, Payload, PayloadId};
    let header = Header {
        kind: Kind::Msg,
        id: PayloadId::from_bytes([0x55; 16]),
        ack: None,
        ts_ms: NOW_MS,
        collapse: None,
    };
    let body = text.as_bytes().to_vec();
    Payload { header, body }.encode().unwrap()
}

/// Wherever the process ends, no number went out that isn't durable as the floor.
#[test]
fn the_floor_is_durable_before_the_put_that_needs_it() {
    for ahead in 1..12 {
        let mut rig = Rig::new();
        rig.send(Role::A, "one");
        rig.a.crash_at = Some(rig.a.points + ahead);
        rig.queue(Role::A, "two");
        rig.run();
        let numbers: Vec<u64> = rig.a.puts().iter().map(|put| put.0).collect();
        let floor = rig.a.snapshot.row.floor;
        assert!(numbers.iter().all(|number| *number <= floor), "{numbers:?}");
        rig.a.crash_at = None;
        rig.a.crash();
        rig.start(Role::A);
        rig.send(Role::A, "three");
        let next = rig.a.puts().pop().unwrap().0;
        assert!(next > floor || numbers.len() < 2, "{next} after {floor}");
    }
}

#[test]
fn a_lost_put_answer_is_asked_again_with_the_same_bytes_and_delivered_once() {
    let mut rig = Rig::new();
    rig.send(Role::A, "zero");
    rig.b.crash();
    rig.queue(Role::A, "one");
    let head = rig.perform(&LinkRequest::Head(Direction::AToB));
    rig.a.fates.extend([Fate::Answered(head), Fate::AnswerLost]);
    rig.run();
    rig.advance(5 * SECOND_MS);
    let puts = rig.a.puts();
    let [.., first, second] = puts.as_slice() else {
        panic!("two puts")
    };
    assert_eq!(first, second, "same bytes, same number");
    rig.start(Role::B);
    rig.run();
    assert_eq!(rig.b.texts(), ["zero", "one"]);
    assert_eq!(rig.head(Direction::AToB).last, Some(2));
}

#[test]
fn two_instances_of_one_side_both_get_through() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    // Another instance of A wrote meanwhile.
    let keys = rig.keys();
    rig.queue(Role::A, "two");
    let head = rig.perform(&LinkRequest::Head(Direction::AToB));
    rig.a.fates.push_back(Fate::Answered(head));
    let sealed = sealpost_protocol::link::envelope::seal(
        &keys,
        Direction::AToB,
        2,
        &message("from the other instance"),
        &mut rig.rng,
    );
    rig.plant(Direction::AToB, 2, sealed.unwrap());
    rig.run();
    assert_eq!(rig.b.texts(), ["one", "from the other instance", "two"]);
    let puts = rig.a.puts();
    let [.., taken, again] = puts.as_slice() else {
        panic!("two puts")
    };
    assert_eq!((taken.0, again.0), (2, 3));
    assert_ne!(taken.1[10..34], again.1[10..34], "a new nonce");
}

#[test]
fn numbers_that_are_taken_again_and_again_are_left_alone_for_a_while() {
    let mut rig = Rig::new();
    rig.queue(Role::A, "one");
    let head = rig.perform(&LinkRequest::Head(Direction::AToB));
    for _ in 0..5 {
        rig.a.fates.push_back(Fate::Answered(head.clone()));
        let taken = refused(409, "sequence_taken");
        rig.a.fates.push_back(Fate::Answered(taken));
    }
    rig.run();
    assert_eq!(rig.a.puts().len(), 5);
    rig.advance(29 * SECOND_MS);
    assert_eq!(rig.a.puts().len(), 5);
    rig.advance(2 * SECOND_MS);
    assert_eq!(rig.a.puts().len(), 6);
    assert_eq!(rig.b.texts(), ["one"]);
}

#[test]
fn a_full_direction_is_not_tried_in_a_loop_and_resumes_without_a_timer() {
    let mut rig = Rig::new();
    rig.b.crash();
    for n in 0..LINK_SLOTS + 3 {
        rig.send(Role::A, &n.to_string());
    }
    assert!(rig.a.link().condition().is_blocked);
    let puts = rig.a.puts().len();
    assert_eq!(puts, LINK_SLOTS + 1, "one too many, once");
    rig.advance(14 * MINUTE_MS);
    rig.send(Role::A, "later");
    assert_eq!(rig.a.puts().len(), puts);
    assert_eq!(
        rig.a.watches.len(),
        2,
        "it watches its own direction meanwhile"
    );
    // The other device collects: nothing but frames makes the sender go on.
    let now_ms = rig.now_ms;
    rig.start(Role::B);
    rig.run();
    assert_eq!(rig.now_ms, now_ms);
    assert_eq!(rig.b.texts().len(), LINK_SLOTS + 4);
    assert!(!rig.a.link().condition().is_blocked);
    assert_eq!(rig.a.watches, [Direction::BToA]);
}

#[test]
fn a_full_direction_is_tried_after_a_quarter_of_an_hour_and_at_a_start() {
    let mut rig = Rig::new();
    rig.b.crash();
    for n in 0..=LINK_SLOTS {
        rig.send(Role::A, &n.to_string());
    }
    let puts = rig.a.puts().len();
    rig.advance(16 * MINUTE_MS);
    assert_eq!(rig.a.puts().len(), puts + 1);
    rig.restart(Role::A);
    assert_eq!(rig.a.puts().len(), puts + 2);
}

#[test]
fn while_it_is_blocked_a_newer_state_takes_the_place_of_the_older_one() {
    let mut rig = Rig::new();
    rig.b.crash();
    for n in 0..=LINK_SLOTS {
        rig.send(Role::A, &n.to_string());
    }
    for n in 0..10 {
        rig.queue_state(Role::A, "tail", &format!("tail {n}"));
        rig.queue_state(Role::A, "groups", &format!("groups {n}"));
    }
    let unsent = rig
        .a
        .snapshot
        .outbox
        .iter()
        .filter(|row| row.stored.is_none());
    assert_eq!(unsent.count(), 3);
    rig.start(Role::B);
    rig.run();
    let texts = rig.b.texts();
    let states = texts.iter().filter(|text| text.contains(' '));
    assert_eq!(states.collect::<Vec<_>>(), ["tail 9", "groups 9"]);
}

#[test]
fn an_older_state_that_is_requeued_does_not_overtake_a_newer_one() {
    let mut rig = Rig::new();
    rig.b.crash();
    rig.queue_state(Role::A, "tail", "old");
    rig.run();
    rig.queue_state(Role::A, "tail", "new");
    rig.run();
    rig.vanish();
    rig.restart(Role::A);
    rig.start(Role::B);
    rig.run();
    assert_eq!(rig.b.texts(), ["new"]);
}

#[test]
fn a_row_too_large_or_refused_fails_for_good_and_the_next_goes_on() {
    let mut rig = Rig::new();
    for (status, code, reason) in [
        (413, "envelope_too_large", RowFailure::TooLarge),
        (400, "bad_envelope", RowFailure::Malformed),
    ] {
        let id = rig.queue(Role::A, "bad");
        rig.queue(Role::A, "good");
        let head = rig.perform(&LinkRequest::Head(Direction::AToB));
        let refusal = refused(status, code);
        rig.a
            .fates
            .extend([Fate::Answered(head), Fate::Answered(refusal)]);
        rig.run();
        assert!(rig.a.events.contains(&LinkEvent::RowFailed { id, reason }));
    }
    assert_eq!(rig.b.texts(), ["good", "good"]);
}

#[test]
fn a_jump_is_looked_at_once_and_then_reported() {
    let mut rig = Rig::new();
    let id = rig.queue(Role::A, "far");
    let head = rig.perform(&LinkRequest::Head(Direction::AToB));
    for _ in 0..2 {
        rig.a.fates.push_back(Fate::Answered(head.clone()));
        rig.a
            .fates
            .push_back(Fate::Answered(refused(400, "sequence_jump")));
    }
    rig.run();
    assert_eq!(rig.a.puts().len(), 2);
    let reason = RowFailure::Malformed;
    assert!(rig.a.events.contains(&LinkEvent::RowFailed { id, reason }));
}

#[test]
fn a_row_that_nobody_fetches_in_thirty_days_fails() {
    let mut rig = Rig::new();
    rig.b.crash();
    let id = rig.send(Role::A, "one");
    rig.advance(30 * DAY_MS - HOUR_MS);
    assert_eq!(rig.a.snapshot.outbox.len(), 1);
    rig.advance(2 * HOUR_MS);
    assert!(rig.a.snapshot.outbox.is_empty());
    let reason = RowFailure::Expired;
    assert!(rig.a.events.contains(&LinkEvent::RowFailed { id, reason }));
}

#[test]
fn what_cannot_be_queued_is_said_at_once() {
    let mut rig = Rig::new();
    let (now_ms, mut rng) = (rig.now_ms, rig.rng.clone());
    let link = rig.a.link();
    let mut queue = |kind, body| link.queue((kind, body), None, now_ms, &mut rng);
    let longest = vec![0; LINK_BODY_BYTES_MAX];
    assert!(queue(RowKind::Msg, longest).is_ok());
    let longer = vec![0; LINK_BODY_BYTES_MAX + 1];
    assert_eq!(queue(RowKind::Msg, longer), Err(QueueError::TooLarge));
    let collapse = "k".repeat(129);
    let long_key = RowKind::State { collapse };
    assert_eq!(queue(long_key, Vec::new()), Err(QueueError::TooLarge));
    for _ in 1..timing::OUTBOX_ROWS_MAX {
        queue(RowKind::Msg, Vec::new()).unwrap();
    }
    assert_eq!(queue(RowKind::Msg, Vec::new()), Err(QueueError::Full));
}

#[test]
fn the_same_id_is_queued_once_and_delivered_once() {
    let mut rig = Rig::new();
    let id = rig.queue(Role::A, "one");
    for _ in 0..2 {
        rig.tell(Role::A, |link, now_ms, rng| {
            let row = (RowKind::Msg, b"one".to_vec());
            assert_eq!(link.queue(row, Some(id), now_ms, rng), Ok(id));
        });
        rig.run();
        rig.advance(10 * SECOND_MS);
    }
    assert_eq!(rig.b.texts(), ["one"]);
}

#[test]
fn rows_tell_how_far_they_are() {
    let mut rig = Rig::new();
    rig.b.crash();
    rig.a.fates.push_back(Fate::Lost);
    let id = rig.send(Role::A, "one");
    let progress = |rig: &mut Rig| rig.a.link().outbox().collect::<Vec<_>>();
    assert_eq!(progress(&mut rig), [(id, RowProgress::Queued)]);
    rig.advance(2 * SECOND_MS);
    assert_eq!(progress(&mut rig), [(id, RowProgress::Stored)]);
    // Collected, but not acknowledged: a hint that the next look at the direction gives.
    rig.perform(&LinkRequest::Prune {
        direction: Direction::AToB,
        through: 1,
    });
    rig.send(Role::A, "two");
    assert_eq!(progress(&mut rig)[0], (id, RowProgress::Collected));
    let collected = LinkEvent::RowCollected(id);
    let told = rig.a.events.iter().filter(|event| **event == collected);
    assert_eq!(told.count(), 1);
}

/// Crashes at every point of both machines, from what was committed (sections 6.3, 6.4, 6.6).
#[test]
fn a_crash_at_any_line_loses_nothing_and_shows_nothing_twice() {
    let points = {
        let mut rig = Rig::stopped();
        conversation(&mut rig);
        (rig.a.points, rig.b.points)
    };
    assert!(points.0 > 20 && points.1 > 20, "{points:?}");
    for (role, points) in [(Role::A, points.0), (Role::B, points.1)] {
        for point in 1..=points {
            let mut rig = Rig::stopped();
            rig.device(role).crash_at = Some(point);
            conversation(&mut rig);
            let told = format!("{role:?} ended at point {point}");
            assert_eq!(rig.a.texts().len(), rig.a.arrived.len(), "{told}");
            for (device, from) in [(&rig.a, "b"), (&rig.b, "a")] {
                let mut texts = device.texts();
                texts.sort();
                let expected: Vec<_> = (0..3).map(|n| format!("{from}{n}")).collect();
                assert_eq!(texts, expected, "{told}");
            }
            assert!(rig.a.snapshot.outbox.is_empty(), "{told}");
            assert!(rig.b.snapshot.outbox.is_empty(), "{told}");
            for direction in Direction::ALL {
                assert_eq!(rig.head(direction).count, 0, "{told}");
            }
        }
    }
}

/// Three messages each way. Who ended starts again; what wasn't promised is queued again.
fn conversation(rig: &mut Rig) {
    rig.start(Role::A);
    rig.start(Role::B);
    for n in 0..3_u8 {
        for (role, from, mark) in [(Role::A, "a", 0xa0), (Role::B, "b", 0xb0)] {
            let id = sealpost_protocol::link::payload::PayloadId::from_bytes([mark + n; 16]);
            let body = format!("{from}{n}").into_bytes();
            for _ in 0..2 {
                revive(rig);
                let body = body.clone();
                let is_known = |row: &OutboxRow| row.id == id;
                let was_queued = rig.device(role).snapshot.outbox.iter().any(is_known);
                rig.tell(role, |link, now_ms, rng| {
                    let row = (RowKind::Msg, body);
                    link.queue(row, Some(id), now_ms, rng).unwrap();
                });
                let device = rig.device(role);
                let is_promised = device.snapshot.outbox.iter().any(is_known);
                if device.link.is_some() || is_promised || was_queued {
                    break;
                }
            }
            rig.run();
        }
    }
    for _ in 0..4 {
        revive(rig);
        rig.advance(DAY_MS);
    }
}

fn revive(rig: &mut Rig) {
    for role in [Role::A, Role::B] {
        if rig.device(role).link.is_none() {
            rig.start(role);
        }
    }
    rig.run();
}
