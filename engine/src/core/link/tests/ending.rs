use sealpost_protocol::link::key::{Direction, Role};
use sealpost_protocol::link::payload::Kind;
use sealpost_relay::mailbox::Making;

use super::super::*;
use super::rig::*;

/// Runs an erasure against the relay; the fates come first.
fn erase(rig: &mut Rig, row: EraseRow, fates: Vec<Answer>) -> (usize, bool) {
    let mut erasure = Erasure::start(row, rig.now_ms);
    let mut fates = fates.into_iter();
    let mut requests = 0;
    let mut is_removed = false;
    loop {
        let step = erasure.drain();
        let is_idle = step.is_empty();
        is_removed |= !step.changes.is_empty();
        for effect in step.effects {
            if let LinkEffect::Request { id, request } = effect {
                requests += 1;
                let answer = fates.next().unwrap_or_else(|| rig.perform(&request));
                erasure.handle_answer(id, answer, rig.now_ms, &mut rig.rng);
            }
        }
        match erasure.next_timer() {
            _ if !is_idle => {}
            Some(next) => {
                rig.now_ms = next;
                erasure.handle_timer(next, false);
            }
            None => break,
        }
    }
    (requests, is_removed)
}

fn unpair(rig: &mut Rig, role: Role) -> EraseRow {
    rig.tell(role, |link, now_ms, rng| link.unpair(now_ms, rng));
    let device = rig.device(role);
    assert!(device.is_forgotten && device.link.is_none());
    device.erase.pop().unwrap()
}

#[test]
fn unpairing_online_unpairs_the_other_device_at_once() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    let row = unpair(&mut rig, Role::A);
    assert_eq!(erase(&mut rig, row, Vec::new()), (2, true));
    rig.run();
    assert!(rig.b.is_forgotten && rig.b.link.is_none());
    assert!(rig.b.events.contains(&LinkEvent::PeerUnpaired));
    // It may have looked between the erase and its close frame, and claimed anew.
    if let Some(row) = rig.b.erase.pop() {
        assert_eq!(erase(&mut rig, row, Vec::new()), (1, true));
    }
    assert_eq!(rig.relay.sums().mailboxes, 0);
}

#[test]
fn a_close_frame_alone_unpairs_and_so_does_a_bye_alone() {
    let mut rig = Rig::new();
    rig.perform(&LinkRequest::Erase);
    rig.run();
    assert!(rig.a.is_forgotten && rig.b.is_forgotten);
    let mut rig = Rig::new();
    let row = unpair(&mut rig, Role::B);
    let bye = row.bye.unwrap();
    rig.plant(bye.direction, bye.sequence, bye.envelope);
    rig.run();
    assert!(rig.a.is_forgotten);
    assert!(rig.a.events.contains(&LinkEvent::PeerUnpaired));
    assert_eq!(rig.a.erase.len(), 1, "whoever hears it erases as well");
}

#[test]
fn unpairing_offline_forgets_at_once_and_erases_later() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    rig.queue(Role::A, "never sent");
    let row = unpair(&mut rig, Role::A);
    let offline = vec![Answer::NoAnswer; 20];
    let (requests, is_removed) = erase(&mut rig, row, offline);
    assert_eq!((requests, is_removed), (22, true));
    rig.run();
    assert!(rig.b.is_forgotten);
    assert_eq!(rig.b.texts(), ["one"]);
}

#[test]
fn a_device_that_was_asleep_learns_it_by_closed_claims() {
    let mut rig = Rig::new();
    rig.b.crash();
    let row = unpair(&mut rig, Role::A);
    erase(&mut rig, row, Vec::new());
    rig.making = Making::Closed;
    rig.start(Role::B);
    rig.queue(Role::B, "to nobody");
    rig.run();
    assert!(rig.b.snapshot.row.lost_since_ms.is_some());
    assert!(rig.b.events.contains(&LinkEvent::ConditionChanged));
    // The key stays, and nothing is asked in a loop.
    assert!(!rig.b.is_forgotten && rig.b.link.is_some());
    let claims = rig.b.claims();
    rig.advance(14 * MINUTE_MS);
    assert_eq!(rig.b.claims(), claims);
    // It comes back soon where the mailbox does.
    rig.making = Making::Below(10);
    rig.advance(2 * MINUTE_MS);
    assert_eq!(rig.b.snapshot.row.lost_since_ms, None);
    assert!(rig.b.snapshot.row.unconfirmed_since_ms.is_some());
}

#[test]
fn a_device_that_was_asleep_is_unconfirmed_where_it_may_claim_and_offered_to_be_unpaired() {
    let mut rig = Rig::new();
    rig.b.crash();
    let row = unpair(&mut rig, Role::A);
    erase(&mut rig, row, Vec::new());
    rig.now_ms += 1;
    rig.start(Role::B);
    rig.run();
    let condition = rig.b.link().condition();
    assert!(condition.unconfirmed_since_ms.is_some());
    assert!(!condition.is_unpair_offered(rig.now_ms));
    assert!(condition.is_unpair_offered(rig.now_ms + 7 * DAY_MS));
    rig.advance(8 * DAY_MS);
    rig.restart(Role::B);
    assert!(rig.b.link().condition().is_unpair_offered(rig.now_ms));
}

#[test]
fn an_erase_is_tried_for_thirty_days_and_given_up() {
    let mut rig = Rig::new();
    let row = unpair(&mut rig, Role::A);
    let begun_ms = rig.now_ms;
    let (requests, is_removed) = erase(&mut rig, row, vec![Answer::NoAnswer; 100_000]);
    assert!(is_removed);
    assert!(rig.now_ms >= begun_ms + 30 * DAY_MS);
    // Five minutes at most between two tries, half of that at least.
    assert!(
        (30 * 24 * 12..30 * 24 * 25).contains(&requests),
        "{requests}"
    );
}

#[test]
fn an_erase_is_not_given_up_because_a_clock_was_set_right() {
    let mut rig = Rig::new();
    let row = unpair(&mut rig, Role::A);
    let mailbox = row.mailbox;
    let mut erasure = Erasure::start(row, rig.now_ms);
    let step = erasure.drain();
    let [LinkEffect::Request { id, .. }] = step.effects[..] else {
        panic!("it asks once");
    };
    erasure.handle_answer(id, Answer::NoAnswer, rig.now_ms, &mut rig.rng);
    let now_ms = rig.now_ms + 366 * DAY_MS;
    let by_ms = 366 * DAY_MS.cast_signed();
    erasure.handle_clock_jump(ClockJump { by_ms, now_ms });
    erasure.handle_timer(now_ms, true);
    let step = erasure.drain();
    let [LinkChange::EraseQueued(row)] = &step.changes[..] else {
        panic!("its row is moved, and not removed");
    };
    assert!(row.mailbox == mailbox && row.queued_ms == now_ms);
    assert!(matches!(step.effects[..], [LinkEffect::Request { .. }]));
}

#[test]
fn an_erase_ends_where_there_is_nothing_to_erase_or_nothing_that_may_be() {
    for (status, code) in [
        (404, "no_mailbox"),
        (403, "wrong_token"),
        (401, "unauthorized"),
    ] {
        let mut rig = Rig::new();
        let row = unpair(&mut rig, Role::A);
        let fates = vec![refused(status, code)];
        assert_eq!(erase(&mut rig, row, fates), (1, true), "{code}");
    }
    // A full direction keeps nobody from erasing.
    let mut rig = Rig::new();
    let row = unpair(&mut rig, Role::A);
    let fates = vec![refused(507, "direction_full")];
    assert_eq!(erase(&mut rig, row, fates), (2, true));
}

#[test]
fn what_arrived_before_a_bye_is_still_the_apps() {
    let mut rig = Rig::new();
    rig.a.crash();
    rig.send(Role::B, "last words");
    let row = unpair(&mut rig, Role::B);
    let bye = row.bye.unwrap();
    rig.plant(bye.direction, bye.sequence, bye.envelope);
    rig.start(Role::A);
    rig.run();
    assert_eq!(rig.a.texts(), ["last words"]);
    assert!(rig.a.is_forgotten);
}

#[test]
fn a_link_that_is_over_takes_nothing_more() {
    let mut rig = Rig::new();
    let now_ms = rig.now_ms;
    let mut rng = rig.rng.clone();
    let mut link = rig.a.link.take().unwrap();
    link.unpair(now_ms, &mut rng);
    link.drain();
    let row = (RowKind::Msg, Vec::new());
    let queued = link.queue(row, None, now_ms, &mut rng);
    assert_eq!(queued, Err(QueueError::Ended));
    link.unpair(now_ms, &mut rng);
    link.handle_timer(now_ms + DAY_MS, &mut rng);
    link.handle_online(now_ms, &mut rng);
    link.handle_watch(Direction::BToA, WatchEvent::Beat, now_ms, &mut rng);
    assert!(link.drain().is_empty());
    assert_eq!(link.next_timer(), None);
}

#[test]
fn a_bye_is_sealed_under_the_next_number() {
    let mut rig = Rig::new();
    rig.send(Role::A, "one");
    let row = unpair(&mut rig, Role::A);
    let bye = row.bye.unwrap();
    assert_eq!((bye.direction, bye.sequence), (Direction::AToB, 2));
    rig.a.asked.push(LinkRequest::Put {
        direction: bye.direction,
        sequence: bye.sequence,
        envelope: bye.envelope,
    });
    assert_eq!(rig.last_put(Role::A).header.kind, Kind::Bye);
    assert_eq!(format!("{:?}", rig.b.link()), "Link");
}

/// A ended in the middle of a pairing: its link is stored, and B isn't known to have come over.
fn alone() -> Rig {
    let mut rig = Rig::stopped();
    rig.a.snapshot.row.last_contact_ms = None;
    rig.a.snapshot.row.is_established = false;
    rig.start(Role::A);
    rig.run();
    rig
}

#[test]
fn a_link_that_nobody_came_over_to_goes_with_its_mailbox() {
    let mut rig = alone();
    rig.advance(9 * MINUTE_MS);
    assert!(!rig.a.is_forgotten, "B may be on its way");
    rig.advance(2 * MINUTE_MS);
    assert!(rig.a.is_forgotten && rig.a.link.is_none());
    let row = rig.a.erase.pop().unwrap();
    assert_eq!(erase(&mut rig, row, Vec::new()), (1, true));
    let head = rig.perform(&LinkRequest::Head(Direction::AToB));
    assert_eq!(head, refused(404, "no_mailbox"));
}

#[test]
fn a_link_stays_whose_other_device_came_over_or_may_have() {
    // It comes over late.
    let mut rig = alone();
    rig.advance(9 * MINUTE_MS);
    rig.start(Role::B);
    rig.send(Role::B, "here I am");
    rig.advance(HOUR_MS);
    assert!(!rig.a.is_forgotten);
    // It has come over, and the relay can't be reached: nothing is known until it can.
    let mut rig = alone();
    rig.start(Role::B);
    rig.a.fates.extend(vec![Fate::Lost; 12]);
    rig.send(Role::B, "here I am");
    rig.advance(11 * MINUTE_MS);
    assert!(!rig.a.fates.is_empty() && !rig.a.is_forgotten);
    rig.advance(HOUR_MS);
    assert_eq!(rig.a.texts(), ["here I am"]);
    assert!(!rig.a.is_forgotten);
    // The clock is set right while it is on its way.
    let mut rig = alone();
    rig.jump(Role::A, 366 * DAY_MS.cast_signed());
    rig.advance(SECOND_MS);
    assert!(!rig.a.is_forgotten);
    // B keeps a link to which A has said nothing.
    let mut rig = Rig::stopped();
    rig.b.snapshot.row.last_contact_ms = None;
    rig.start(Role::B);
    rig.advance(HOUR_MS);
    assert!(!rig.b.is_forgotten);
}
