use sealpost_protocol::frame::Refusal;
use sealpost_protocol::version::Unsupported;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};

use super::*;
use crate::session::backoff::Failures;
use crate::session::dial::Dialler;
use crate::session::receive::{ReceiveOrder, Receiver};

struct Rig {
    goals: watch::Sender<ReceiveGoal>,
    orders: UnboundedSender<ReceiveOrder>,
    reports: UnboundedReceiver<Report>,
}

impl Rig {
    /// A receiver on its way to `relay`.
    fn new(relay: RelayAddress, timing: Timing) -> Self {
        Self::with_dialler(relay, timing, Dialler::Network)
    }

    fn with_dialler(relay: RelayAddress, timing: Timing, dialler: Dialler) -> Self {
        let device = NoiseSecret::generate(&mut OsRng);
        let route = Arc::new(Route { relay, device });
        let (goals, goals_of) = watch::channel(ReceiveGoal::Connect(route));
        let (orders, orders_of) = unbounded_channel();
        let (report, reports) = reports();
        let hurry = Arc::new(Notify::new());
        let receiver = Receiver {
            goals: goals_of,
            orders: orders_of,
            hurry,
            failures: Failures::default(),
            report,
            dialler,
            timing,
        };
        tokio::spawn(receiver.run());
        Self {
            goals,
            orders,
            reports,
        }
    }

    async fn next(&mut self) -> Report {
        next(&mut self.reports).await
    }

    /// The next state of the connection other than `connecting`.
    async fn next_state(&mut self) -> Connection {
        loop {
            match self.next().await {
                Report::Connection(Connection::Connecting) | Report::Started(_) => {}
                Report::Connection(state) | Report::Ended(_, state) => return state,
                _ => panic!("no state"),
            }
        }
    }

    async fn until_started(&mut self) -> SessionId {
        loop {
            if let Report::Started(session) = self.next().await {
                return session;
            }
        }
    }
}

fn deliver(blob_id: u64, envelope: &[u8]) -> Frame<'_> {
    Frame::Deliver { blob_id, envelope }
}

#[tokio::test]
async fn blobs_reach_the_actor_and_acknowledgements_the_relay() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    let mut side = relay.accept_receive().await;
    side.send(&deliver(7, b"envelope")).await;
    side.send(&Frame::Heartbeat).await;
    side.send(&deliver(8, b"")).await;
    let session = rig.until_started().await;
    for (id, bytes) in [(7, b"envelope".as_slice()), (8, b"")] {
        let Report::Delivered {
            session: on,
            blob,
            envelope,
            ..
        } = rig.next().await
        else {
            panic!("no blob")
        };
        assert_eq!((on, blob, envelope.as_slice()), (session, id, bytes));
    }
    let gone = SessionId(session.0 + 1);
    rig.orders.send(ReceiveOrder::Acknowledge(gone, 7)).unwrap();
    rig.orders
        .send(ReceiveOrder::Acknowledge(session, 8))
        .unwrap();
    let plain = side.read_order().await;
    assert_eq!(Frame::decode(&plain), Ok(Frame::DeliverAck { blob_id: 8 }));
}

#[tokio::test]
async fn heartbeats_are_sent_and_a_silent_relay_is_given_up_and_called_again() {
    let relay = FakeRelay::new().await;
    let timing = Timing {
        heartbeat: Duration::from_millis(5),
        silence_max: Duration::from_millis(200),
        ..short()
    };
    let mut rig = Rig::new(relay.address(), timing);
    let mut side = relay.accept_receive().await;
    let first = rig.until_started().await;
    for _ in 0..3 {
        let plain = side.read().await.unwrap();
        assert_eq!(Frame::decode(&plain), Ok(Frame::Heartbeat));
    }
    let lost = Connection::Disconnected(Some(ConnectFailure::Lost));
    assert_eq!(rig.next_state().await, lost);
    let _side = relay.accept_receive().await;
    assert!(
        rig.until_started().await > first,
        "no session number is used twice"
    );
}

#[tokio::test]
async fn a_full_queue_stops_the_reading_and_is_no_silence() {
    let relay = FakeRelay::new().await;
    let timing = Timing {
        silence_max: Duration::from_millis(300),
        ..short()
    };
    let mut rig = Rig::new(relay.address(), timing);
    let mut side = relay.accept_receive().await;
    rig.until_started().await;
    for blob in 0..300 {
        side.send(&deliver(blob, b"x")).await;
    }
    let mut places = Vec::new();
    while places.len() < timing::QUEUE_FRAMES_MAX {
        let Report::Delivered { place, .. } = rig.next().await else {
            panic!("no blob")
        };
        places.push(place);
    }
    let more = timeout(timing.silence_max * 2, rig.reports.recv()).await;
    assert!(more.is_err(), "neither read on nor given up");
    places.clear();
    for _ in timing::QUEUE_FRAMES_MAX..300 {
        assert!(matches!(rig.next().await, Report::Delivered { .. }));
    }
}

#[tokio::test]
async fn the_queue_is_bounded_in_bytes_too() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    let mut side = relay.accept_receive().await;
    rig.until_started().await;
    let envelope = vec![0; 65_482];
    let fitting = timing::QUEUE_BYTES_MAX / envelope.len();
    tokio::spawn(async move {
        for blob in 0..200 {
            side.send(&deliver(blob, &envelope)).await;
        }
        std::future::pending::<()>().await;
    });
    let mut places = Vec::new();
    while places.len() < fitting {
        let Report::Delivered { place, .. } = rig.next().await else {
            panic!("no blob")
        };
        places.push(place);
    }
    assert!(
        timeout(Duration::from_millis(200), rig.reports.recv())
            .await
            .is_err()
    );
    places.clear();
    assert!(matches!(rig.next().await, Report::Delivered { .. }));
}

#[tokio::test]
async fn a_senseless_frame_is_reported_once_and_ends_the_session() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    let mut side = relay.accept_receive().await;
    rig.until_started().await;
    side.send(&Frame::Ack).await;
    assert!(matches!(rig.next().await, Report::BadFrame));
    let senseless = Connection::Disconnected(Some(ConnectFailure::SomethingElse));
    assert_eq!(rig.next_state().await, senseless);
}

#[tokio::test]
async fn a_refused_session_is_tried_again_later() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    let mut side = relay.accept_receive().await;
    side.send(&Frame::Error(Refusal::Unavailable)).await;
    rig.until_started().await;
    let full = Connection::Disconnected(Some(ConnectFailure::Unavailable));
    assert_eq!(rig.next_state().await, full);
    relay.accept_receive().await;
    rig.until_started().await;
}

#[tokio::test]
async fn a_restart_ends_the_session_it_names_and_no_other() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    let mut side = relay.accept_receive().await;
    let first = rig.until_started().await;
    rig.orders.send(ReceiveOrder::Restart(first)).unwrap();
    assert_eq!(side.read().await, Err(ReadFault::Lost));
    let mut side = relay.accept_receive().await;
    let second = rig.until_started().await;
    rig.orders.send(ReceiveOrder::Restart(first)).unwrap();
    rig.orders
        .send(ReceiveOrder::Acknowledge(second, 3))
        .unwrap();
    side.read_order().await;
}

#[tokio::test]
async fn a_goal_of_nothing_ends_the_session_and_says_why() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    let mut side = relay.accept_receive().await;
    rig.until_started().await;
    rig.goals
        .send_replace(ReceiveGoal::Idle(Some(ConnectFailure::NoHandler)));
    assert_eq!(side.read().await, Err(ReadFault::Lost));
    assert!(matches!(rig.next().await, Report::Ended(..)));
    let idle = Connection::Disconnected(Some(ConnectFailure::NoHandler));
    assert_eq!(rig.next_state().await, idle);
}

/// What the device says of a relay that answers its first message with `answer`.
async fn state_after(answer: &'static [u8]) -> Connection {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    let mut raw = Raw::accept(&relay.receive).await;
    raw.hello(RECEIVE_HELLO_BYTES).await;
    raw.stream.write_all(answer).await.unwrap();
    drop(raw);
    rig.next_state().await
}

#[tokio::test]
async fn each_kind_of_failure_is_told_apart() {
    let failed = |failure| Connection::Disconnected(Some(failure));
    let something_else = failed(ConnectFailure::SomethingElse);
    assert_eq!(
        state_after(b"HTTP/1.1 400 Bad Request\r\n\r\n").await,
        something_else
    );
    assert_eq!(state_after(b"SSH-2.0-x\r\n").await, something_else);
    assert_eq!(state_after(b"\x00\x60short").await, something_else);
    assert_eq!(state_after(b"\x00\x61").await, something_else);
    assert_eq!(state_after(b"").await, failed(ConnectFailure::Unavailable));

    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address_with_another_key(), short());
    relay.accept_and_see_no_key().await;
    assert_eq!(rig.next_state().await, failed(ConnectFailure::WrongKey));

    let address = relay.address();
    drop(relay);
    assert_eq!(
        Rig::new(address, short()).next_state().await,
        failed(ConnectFailure::Refused)
    );

    let silent = FakeRelay::new().await;
    let timing = Timing {
        handshake: Duration::from_millis(50),
        ..short()
    };
    let mut rig = Rig::new(silent.address(), timing);
    assert_eq!(rig.next_state().await, failed(ConnectFailure::NoAnswer));
}

#[tokio::test]
async fn an_unspoken_version_stands_until_a_handshake_succeeds() {
    let relay = FakeRelay::new().await;
    let mut rig = Rig::new(relay.address(), short());
    for _ in 0..2 {
        let mut raw = Raw::accept(&relay.receive).await;
        raw.hello(RECEIVE_HELLO_BYTES).await;
        let answer = Unsupported { min: 2, max: 3 }.encode();
        raw.stream.write_all(&answer).await.unwrap();
    }
    assert!(matches!(
        rig.next().await,
        Report::Connection(Connection::Connecting)
    ));
    for _ in 0..2 {
        let Report::Connection(state) = rig.next().await else {
            panic!("no state")
        };
        assert_eq!(
            state,
            Connection::RelayVersionUnsupported { min: 2, max: 3 }
        );
    }
    relay.accept_receive().await;
    assert!(matches!(rig.next().await, Report::Started(_)));
}
