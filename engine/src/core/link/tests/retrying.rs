use sealpost_protocol::link::key::{Direction, Role};

use super::super::*;
use super::rig::*;

/// A rig of which A begins with these answers, then reaches the relay.
fn beginning_with(answers: Vec<Answer>) -> Rig {
    let mut rig = Rig::stopped();
    rig.a.fates = answers.into_iter().map(Fate::Answered).collect();
    rig.start(Role::A);
    rig.run();
    rig
}

#[test]
fn the_claim_comes_first_once_per_process_and_every_day() {
    let mut rig = Rig::new();
    assert_eq!(rig.a.asked[0], LinkRequest::Claim);
    rig.send(Role::A, "one");
    assert_eq!(rig.a.claims(), 1);
    rig.advance(23 * HOUR_MS);
    assert_eq!(rig.a.claims(), 1);
    rig.advance(2 * HOUR_MS);
    assert_eq!(rig.a.claims(), 2);
    assert_eq!(
        rig.a.watches,
        [Direction::BToA],
        "a watch outlives the claim"
    );
    rig.advance(10 * DAY_MS);
    assert_eq!(rig.a.claims(), 12);
    rig.restart(Role::A);
    assert_eq!(rig.a.claims(), 13);
}

#[test]
fn a_first_claim_that_makes_the_mailbox_is_no_alarm_and_a_later_one_is() {
    let mut rig = Rig::stopped();
    rig.a.snapshot.row.is_established = false;
    rig.start(Role::A);
    rig.run();
    assert!(rig.a.snapshot.row.is_established);
    assert_eq!(rig.a.snapshot.row.unconfirmed_since_ms, None);
    rig.vanish();
    rig.restart(Role::A);
    assert_eq!(rig.a.snapshot.row.unconfirmed_since_ms, Some(rig.now_ms));
}

#[test]
fn no_answer_backs_off_and_any_success_begins_anew() {
    let mut rig = beginning_with(vec![Answer::NoAnswer; 12]);
    assert!(rig.a.link().condition().is_unanswered);
    assert_eq!(rig.a.asked.len(), 1);
    rig.advance(SECOND_MS);
    assert_eq!(rig.a.asked.len(), 2);
    rig.advance(40 * MINUTE_MS);
    assert!(!rig.a.link().condition().is_unanswered);
    let claims = rig.a.claims();
    assert_eq!(claims, 13);
    rig.a.fates.push_back(Fate::Lost);
    rig.queue(Role::A, "one");
    rig.run();
    rig.advance(SECOND_MS + 1);
    assert_eq!(
        rig.a.puts().len(),
        1,
        "the first delay is the short one again"
    );
}

#[test]
fn being_online_again_or_looked_at_tries_at_once() {
    for tries in [
        |link: &mut Link, now_ms, rng: &mut rand_chacha::ChaCha12Rng| {
            link.handle_online(now_ms, rng);
        },
        |link: &mut Link, now_ms, rng: &mut rand_chacha::ChaCha12Rng| {
            link.set_visible(false, now_ms, rng);
            link.set_visible(true, now_ms, rng);
        },
    ] {
        let mut rig = beginning_with(vec![Answer::NoAnswer; 8]);
        rig.advance(20 * SECOND_MS);
        rig.a.fates.clear();
        let asked = rig.a.asked.len();
        rig.tell(Role::A, tries);
        assert_eq!(rig.a.asked.len(), asked + 1);
    }
}

#[test]
fn a_relay_that_asks_for_patience_gets_it() {
    for (answer, least_ms, most_ms) in [
        (wait(503, Some(100)), 80_000, 120_000),
        (wait(429, Some(10)), 8_000, 12_000),
        (wait(503, None), 24_000, 36_000),
    ] {
        let mut rig = beginning_with(vec![answer]);
        let next = rig.a.link().next_timer().unwrap() - rig.now_ms;
        assert!((least_ms..=most_ms).contains(&next), "{next}");
    }
}

fn wait(status: u16, retry_after_s: Option<u64>) -> Answer {
    Answer::Refused(Refused {
        status,
        error: RefusedError::Other,
        last: None,
        retry_after_s,
    })
}

#[test]
fn some_answers_stop_the_link_and_are_reported() {
    for (status, code, error) in [
        (403, "wrong_token", LinkError::WrongToken),
        (401, "unauthorized", LinkError::Unauthorized),
        (400, "bad_request", LinkError::Refused),
        (405, "method_not_allowed", LinkError::Refused),
    ] {
        // The claim, a page, a HEAD: each stops it.
        for place in 0..3 {
            let mut rig = Rig::stopped();
            rig.queue_offline(Role::A, "one");
            rig.start(Role::A);
            rig.a.fates.clear();
            for _ in 0..place {
                rig.a.fates.push_back(Fate::Answered(done()));
            }
            rig.a.fates.push_back(Fate::Answered(refused(status, code)));
            rig.run();
            assert_eq!(
                rig.a.link().condition().error,
                Some(error),
                "{code} {place}"
            );
            let asked = rig.a.asked.len();
            assert_eq!(asked, place + 1);
            rig.advance(2 * DAY_MS);
            assert_eq!(rig.a.asked.len(), asked, "{code} isn't retried");
            assert!(rig.a.events.contains(&LinkEvent::ConditionChanged));
            assert!(rig.a.watches.is_empty());
        }
    }
}

/// A 2xx of an empty direction.
fn done() -> Answer {
    let headers = RelayHeaders {
        more: Some(0),
        count: Some(0),
        created_ms: Some(NOW_MS),
        ..RelayHeaders::default()
    };
    Answer::Done(Done {
        headers,
        ..Done::default()
    })
}

#[test]
fn a_wrong_setup_is_reported_and_tried_every_five_minutes() {
    for answer in [
        refused(403, "origin_denied"),
        refused(421, "bad_host"),
        refused(404, ""),
        refused(302, ""),
    ] {
        let mut rig = beginning_with(vec![answer.clone(), answer]);
        let error = Some(LinkError::Configuration);
        assert_eq!(rig.a.link().condition().error, error);
        rig.advance(9 * MINUTE_MS);
        assert_eq!(rig.a.claims(), 2);
        rig.advance(2 * MINUTE_MS);
        assert_eq!(rig.a.link().condition().error, None);
    }
}

#[test]
fn a_mailbox_that_is_gone_is_claimed_once_and_then_waited_for() {
    let mut rig = Rig::new();
    rig.vanish();
    rig.send(Role::A, "one");
    assert_eq!(rig.a.claims(), 2);
    assert_eq!(rig.a.puts().len(), 1, "nothing is put where nothing is");
    // A relay that says 404 right after a claim isn't asked in a loop.
    let mut rig = Rig::new();
    for _ in 0..6 {
        rig.a.fates.extend([
            Fate::Answered(refused(404, "no_mailbox")),
            Fate::Answered(done()),
        ]);
    }
    let asked = rig.a.asked.len();
    rig.send(Role::A, "two");
    assert!(rig.a.asked.len() <= asked + 4, "{}", rig.a.asked.len());
    rig.advance(5 * MINUTE_MS);
    assert_eq!(rig.b.texts(), ["two"]);
}

#[test]
fn a_put_into_a_mailbox_that_is_gone_is_sealed_again() {
    let mut rig = Rig::new();
    rig.queue(Role::A, "one");
    let head = rig.perform(&LinkRequest::Head(Direction::AToB));
    rig.vanish();
    rig.a.fates.push_back(Fate::Answered(head));
    rig.run();
    let puts = rig.a.puts();
    assert_eq!((puts[0].0, puts[1].0), (1, 2));
    assert_eq!(rig.b.texts(), ["one"]);
}

#[test]
fn answers_that_cannot_be_read_are_retried_and_after_five_told() {
    let mut rig = beginning_with(vec![Answer::Unreadable; 5]);
    while rig.a.claims() < 5 {
        assert_eq!(rig.a.link().condition().error, None);
        rig.advance(SECOND_MS / 4);
    }
    assert_eq!(rig.a.link().condition().error, Some(LinkError::Misbehaves));
    rig.advance(MINUTE_MS);
    assert_eq!(rig.a.link().condition().error, None, "it answers again");
}

#[test]
fn a_prune_without_an_answer_is_made_up_for() {
    let mut rig = Rig::new();
    rig.a.crash();
    rig.send(Role::B, "one");
    rig.start(Role::A);
    // Claim, page, then the prune.
    let claimed = rig.perform(&LinkRequest::Claim);
    let page = rig.perform(&LinkRequest::Page {
        direction: Direction::BToA,
        after: 0,
    });
    rig.a
        .fates
        .extend([Fate::Answered(claimed), Fate::Answered(page), Fate::Lost]);
    rig.run();
    assert_eq!(rig.head(Direction::BToA).count, 1);
    rig.advance(2 * SECOND_MS);
    assert_eq!(rig.head(Direction::BToA).count, 0);
    assert_eq!(rig.a.texts(), ["one"]);
}

#[test]
fn a_last_sequence_beyond_belief_never_reaches_the_floor() {
    let mut rig = Rig::new();
    rig.queue(Role::A, "one");
    let headers = RelayHeaders {
        last: Some((1 << 52) + 1),
        count: Some(0),
        created_ms: Some(NOW_MS),
        ..RelayHeaders::default()
    };
    let head = Answer::Done(Done {
        headers,
        ..Done::default()
    });
    rig.a.fates.push_back(Fate::Answered(head));
    rig.run();
    assert_eq!(rig.a.link().condition().error, Some(LinkError::Misbehaves));
    assert_eq!(rig.a.snapshot.row.floor, 0);
    rig.advance(6 * MINUTE_MS);
    assert_eq!(rig.a.puts()[0].0, 1);
    assert_eq!(rig.b.texts(), ["one"]);
}

#[test]
fn a_clock_set_back_a_year_stops_nothing() {
    let mut rig = beginning_with(vec![Answer::NoAnswer; 9]);
    rig.advance(2 * MINUTE_MS);
    rig.start(Role::B);
    rig.run();
    rig.now_ms -= 365 * DAY_MS;
    rig.queue(Role::A, "one");
    rig.advance(10 * MINUTE_MS);
    assert_eq!(rig.b.texts(), ["one"]);
    rig.advance(2 * DAY_MS);
    assert!(rig.a.claims() < 20, "{} claims", rig.a.claims());
}

#[test]
fn a_clock_set_forward_a_year_loses_nothing_in_silence() {
    let mut rig = Rig::new();
    rig.b.crash();
    let id = rig.send(Role::A, "one");
    rig.now_ms += 365 * DAY_MS;
    rig.advance(SECOND_MS);
    let reason = RowFailure::Expired;
    assert!(rig.a.events.contains(&LinkEvent::RowFailed { id, reason }));
    rig.start(Role::B);
    rig.send(Role::A, "two");
    rig.send(Role::B, "three");
    assert_eq!(rig.b.texts().pop().as_deref(), Some("two"));
    assert_eq!(rig.a.texts(), ["three"]);
}

#[test]
fn what_waits_is_no_older_once_a_clock_is_set_right() {
    const YEAR_MS: i64 = 366 * DAY_MS.cast_signed();
    // A clock a year behind is set right; and one that was right, goes wrong and is set right.
    for jumps in [&[YEAR_MS][..], &[-YEAR_MS, YEAR_MS]] {
        let mut rig = Rig::new();
        rig.b.crash();
        rig.send(Role::A, "one");
        for by_ms in jumps {
            rig.jump(Role::A, *by_ms);
            rig.advance(SECOND_MS);
        }
        rig.restart(Role::A);
        rig.advance(29 * DAY_MS);
        assert_eq!(rig.a.snapshot.outbox.len(), 1, "{jumps:?}");
        let mut late = rig.a.snapshot.clone();
        rig.start(Role::B);
        rig.advance(MINUTE_MS);
        assert_eq!(rig.b.texts(), ["one"]);
        // It still has an end.
        rig.b.crash();
        rig.a.crash();
        std::mem::swap(&mut rig.a.snapshot, &mut late);
        rig.start(Role::A);
        rig.advance(2 * DAY_MS);
        assert!(rig.a.snapshot.outbox.is_empty(), "{jumps:?}");
    }
}

#[test]
fn a_computer_that_slept_for_days_tells_when_things_were_queued() {
    let mut rig = Rig::new();
    rig.b.crash();
    let queued_ms = rig.now_ms;
    rig.send(Role::A, "one");
    rig.jump(Role::A, 6 * DAY_MS.cast_signed());
    rig.advance(SECOND_MS);
    assert_eq!(rig.a.snapshot.outbox[0].queued_ms, queued_ms);
}

#[test]
fn a_mailbox_that_can_be_claimed_and_is_never_there_is_asked_for_ever_more_rarely() {
    let mut rig = Rig::new();
    for _ in 0..2_000 {
        rig.a.fates.extend([
            Fate::Answered(refused(404, "no_mailbox")),
            Fate::Answered(done()),
        ]);
    }
    let claims = rig.a.claims();
    rig.send(Role::A, "one");
    rig.advance(HOUR_MS);
    let claims = rig.a.claims() - claims;
    assert!((10..40).contains(&claims), "{claims} claims in an hour");
    // Once it is there, the next trouble is tried soon again.
    rig.a.fates.clear();
    rig.advance(6 * MINUTE_MS);
    assert_eq!(rig.b.texts(), ["one"]);
    rig.a.fates.push_back(Fate::Lost);
    rig.send(Role::A, "two");
    rig.advance(2 * SECOND_MS);
    assert_eq!(rig.b.texts(), ["one", "two"]);
}

#[test]
fn answers_to_nobody_do_nothing() {
    let mut rig = Rig::new();
    let before = rig.a.asked.len();
    rig.tell(Role::A, |link, now_ms, rng| {
        link.handle_answer(RequestId(999), refused(403, "wrong_token"), now_ms, rng);
        link.handle_answer(RequestId(0), Answer::NoAnswer, now_ms, rng);
    });
    assert_eq!(rig.a.asked.len(), before);
    assert_eq!(rig.a.link().condition().error, None);
}
