use sealpost_protocol::frame::Refusal;
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::version::Unsupported;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::*;
use crate::core::step::Push;
use crate::session::dial::Dialler;
use crate::session::push::{PushFailure, Pusher};

struct Rig {
    relays: watch::Sender<Option<RelayAddress>>,
    pushes: UnboundedSender<Push>,
    reports: UnboundedReceiver<Report>,
    failure: PushFailure,
}

impl Rig {
    fn new(relay: Option<RelayAddress>, timing: Timing) -> Self {
        let (relays, relays_of) = watch::channel(relay);
        let (pushes, pushes_of) = unbounded_channel();
        let (report, reports) = reports();
        let failure = PushFailure::default();
        let told = failure.clone();
        let pusher = Pusher {
            relays: relays_of,
            pushes: pushes_of,
            report,
            failure: told,
            dialler: Dialler::Network,
            timing,
        };
        tokio::spawn(pusher.run());
        Self {
            relays,
            pushes,
            reports,
            failure,
        }
    }

    fn push(&self, id: u64) {
        let recipient = NoisePublic::from_bytes([u8::try_from(id).unwrap(); 32]);
        let envelope = format!("envelope {id}").into_bytes();
        let _ = self.pushes.send(Push {
            id: PushId(id),
            recipient,
            envelope,
        });
    }

    async fn outcome(&mut self) -> (u64, PushOutcome) {
        match next(&mut self.reports).await {
            Report::Pushed(push, outcome) => (push.0, outcome),
            _ => panic!("no outcome"),
        }
    }
}

/// The number of the push that a relay reads next.
async fn pushed(side: &mut RelaySide) -> u64 {
    let plain = side.read().await.unwrap();
    let Ok(Frame::Push {
        recipient,
        envelope,
    }) = Frame::decode(&plain)
    else {
        panic!("no push")
    };
    let id = u64::from(recipient.as_bytes()[0]);
    assert_eq!(envelope, format!("envelope {id}").as_bytes());
    id
}

#[tokio::test]
async fn pushes_are_pipelined_and_answered_in_order_and_a_refusal_ends_nothing() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(Some(relay.address()), short());
    (1..=3).for_each(|id| rig.push(id));
    let mut side = relay.accept_push().await;
    for id in 1..=3 {
        assert_eq!(pushed(&mut side).await, id, "none waits for an answer");
    }
    side.send(&Frame::Ack).await;
    side.send(&Frame::Error(Refusal::InboxFull)).await;
    side.send(&Frame::Ack).await;
    assert_eq!(rig.outcome().await, (1, PushOutcome::Stored));
    assert_eq!(
        rig.outcome().await,
        (2, PushOutcome::Refused(Refusal::InboxFull))
    );
    assert_eq!(rig.outcome().await, (3, PushOutcome::Stored));
    assert_eq!(rig.failure.last(), None);
}

#[tokio::test]
async fn no_more_than_32_are_unanswered() {
    let relay = FakeRelay::new().await;
    let rig = Rig::new(Some(relay.address()), short());
    (1..=40).for_each(|id| rig.push(id));
    let mut side = relay.accept_push().await;
    for id in 1..=32 {
        assert_eq!(pushed(&mut side).await, id);
    }
    assert!(
        timeout(Duration::from_millis(100), side.records.next())
            .await
            .is_err()
    );
    side.send(&Frame::Ack).await;
    assert_eq!(pushed(&mut side).await, 33);
}

#[tokio::test]
async fn a_session_lingers_for_the_next_push_and_then_ends() {
    let relay = FakeRelay::new().await;
    let timing = Timing {
        push_linger: Duration::from_millis(300),
        ..short()
    };
    let mut rig = Rig::new(Some(relay.address()), timing);
    rig.push(1);
    let mut side = relay.accept_push().await;
    for id in 1..=2 {
        assert_eq!(pushed(&mut side).await, id);
        side.send(&Frame::Ack).await;
        assert_eq!(rig.outcome().await, (id, PushOutcome::Stored));
        rig.push(id + 1);
    }
    assert_eq!(pushed(&mut side).await, 3);
    side.send(&Frame::Ack).await;
    assert_eq!(
        side.read().await,
        Err(ReadFault::Lost),
        "nothing to do: it ends"
    );
    assert_eq!(rig.outcome().await, (3, PushOutcome::Stored));
    rig.push(4);
    let mut side = relay.accept_push().await;
    assert_eq!(pushed(&mut side).await, 4);
}

#[tokio::test]
async fn an_old_session_starts_nothing_and_what_waits_goes_into_the_next() {
    let relay = FakeRelay::new().await;
    let timing = Timing {
        push_start: Duration::from_millis(300),
        ..short()
    };
    let mut rig = Rig::new(Some(relay.address()), timing);
    rig.push(1);
    let mut side = relay.accept_push().await;
    assert_eq!(pushed(&mut side).await, 1);
    tokio::time::sleep(timing.push_start).await;
    rig.push(2);
    assert!(
        timeout(Duration::from_millis(100), side.records.next())
            .await
            .is_err()
    );
    side.send(&Frame::Ack).await;
    assert_eq!(rig.outcome().await, (1, PushOutcome::Stored));
    assert_eq!(side.read().await, Err(ReadFault::Lost));
    let mut side = relay.accept_push().await;
    assert_eq!(pushed(&mut side).await, 2, "not failed, only later");
}

#[tokio::test]
async fn a_session_that_breaks_leaves_its_pushes_unanswered() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(Some(relay.address()), short());
    (1..=2).for_each(|id| rig.push(id));
    let mut side = relay.accept_push().await;
    assert_eq!(pushed(&mut side).await, 1);
    side.send(&Frame::Ack).await;
    assert_eq!(pushed(&mut side).await, 2);
    drop(side);
    assert_eq!(rig.outcome().await, (1, PushOutcome::Stored));
    assert_eq!(rig.outcome().await, (2, PushOutcome::Unanswered));
}

#[tokio::test]
async fn a_relay_that_never_answers_ends_with_the_session() {
    let relay = FakeRelay::new().await;
    let timing = Timing {
        push_session: Duration::from_millis(100),
        ..short()
    };
    let mut rig = Rig::new(Some(relay.address()), timing);
    rig.push(1);
    let mut side = relay.accept_push().await;
    assert_eq!(pushed(&mut side).await, 1);
    assert_eq!(rig.outcome().await, (1, PushOutcome::Unanswered));
}

#[tokio::test]
async fn an_answer_to_nothing_ends_the_session() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(Some(relay.address()), short());
    rig.push(1);
    let mut side = relay.accept_push().await;
    assert_eq!(pushed(&mut side).await, 1);
    side.send(&Frame::Heartbeat).await;
    assert!(matches!(next(&mut rig.reports).await, Report::BadFrame));
    assert_eq!(rig.outcome().await, (1, PushOutcome::Unanswered));
}

#[tokio::test]
async fn a_wrong_key_is_told_from_a_relay_that_takes_nobody() {
    for is_key_wrong in [true, false] {
        let relay = FakeRelay::new().await;
        let address = if is_key_wrong {
            relay.address_with_another_key()
        } else {
            relay.address()
        };
        let mut rig = Rig::new(Some(address), short());
        rig.push(1);
        // A relay can't answer a first message that was meant for another key.
        let mut raw = Raw::accept(&relay.push).await;
        raw.hello(PUSH_HELLO_BYTES).await;
        drop(raw);
        let mut raw = Raw::accept(&relay.receive).await;
        let expect = ExpectReceiveHello::new(&relay.key, &mut OsRng).unwrap();
        let hello = raw.hello(RECEIVE_HELLO_BYTES).await;
        let (_, answer) = expect.handle_hello(&hello).unwrap();
        raw.stream.write_all(&answer).await.unwrap();
        let mut rest = Vec::new();
        raw.stream.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty(), "a probe ends before it shows any key");
        assert_eq!(rig.outcome().await, (1, PushOutcome::Unanswered));
        let wrong = is_key_wrong.then_some(ConnectFailure::WrongKey);
        assert_eq!(
            rig.failure.last(),
            wrong.or(Some(ConnectFailure::Unavailable))
        );
    }
}

#[tokio::test]
async fn an_unspoken_version_is_no_failed_push() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(None, short());
    rig.push(0);
    rig.outcome().await;
    assert_eq!(rig.failure.last(), Some(ConnectFailure::NoRelay));
    rig.relays.send_replace(Some(relay.address()));
    rig.push(1);
    let mut raw = Raw::accept(&relay.push).await;
    raw.hello(PUSH_HELLO_BYTES).await;
    raw.stream
        .write_all(&Unsupported { min: 4, max: 5 }.encode())
        .await
        .unwrap();
    let unsupported = PushOutcome::VersionUnsupported { min: 4, max: 5 };
    assert_eq!(rig.outcome().await, (1, unsupported));
    assert_eq!(
        rig.failure.last(),
        None,
        "there is a relay, whatever was before"
    );
}

#[tokio::test]
async fn without_a_relay_nothing_is_answered_and_with_another_it_goes_there() {
    let mut rig = Rig::new(None, short());
    rig.push(1);
    assert_eq!(rig.outcome().await, (1, PushOutcome::Unanswered));
    assert_eq!(rig.failure.last(), Some(ConnectFailure::NoRelay));
    let (first, second) = (FakeRelay::new().await, FakeRelay::new().await);
    rig.relays.send_replace(Some(first.address()));
    rig.push(2);
    let mut side = first.accept_push().await;
    assert_eq!(pushed(&mut side).await, 2);
    rig.relays.send_replace(Some(second.address()));
    assert_eq!(rig.outcome().await, (2, PushOutcome::Unanswered));
    rig.push(3);
    let mut side = second.accept_push().await;
    assert_eq!(pushed(&mut side).await, 3);
}
