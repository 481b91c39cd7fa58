//! Push Sessions on a clock and a network that a test plays: a network that is gone holds up
//! no message for as long as a session may last.

use std::sync::Mutex;

use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::version::PREFIX_BYTES;
use tokio::io::{DuplexStream, duplex, split};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::time::Instant;

use super::*;
use crate::core::step::Push;
use crate::session::dial::{Dialler, Line, Way};
use crate::session::push::{PushFailure, Pusher};
use crate::session::timing::LOOK_AT_WAY;

/// So much goes into the network before somebody has to take it out.
const WIRE_BYTES: usize = 4 * 1024;

/// A relay in memory, whose network is dead in its first session once that is open.
struct Played {
    relays: watch::Sender<Option<RelayAddress>>,
    pushes: UnboundedSender<Push>,
    reports: UnboundedReceiver<Report>,
}

impl Played {
    /// `way` is that of the first connection.
    fn new(way: Option<Way>) -> Self {
        let key = NoiseSecret::generate(&mut OsRng);
        let relay = RelayAddress::new(key.public(), "relay.invalid", 1, 1).unwrap();
        let first = Mutex::new(Some(way));
        let play = move || {
            let first = first.lock().unwrap().take();
            let (ours, theirs) = duplex(WIRE_BYTES);
            tokio::spawn(serve(key.clone(), theirs, first.is_none()));
            let (reader, writer) = split(ours);
            Ok(Line {
                reader: Box::new(reader),
                writer: Box::new(writer),
                way: first.flatten(),
            })
        };
        let (relays, relays_of) = watch::channel(Some(relay));
        let (pushes, pushes_of) = unbounded_channel();
        let (report, reports) = reports();
        let pusher = Pusher {
            relays: relays_of,
            pushes: pushes_of,
            report,
            failure: PushFailure::default(),
            dialler: Dialler::Played(Arc::new(play)),
            timing: Timing::default(),
        };
        tokio::spawn(pusher.run());
        Self {
            relays,
            pushes,
            reports,
        }
    }

    fn push(&self, id: u64, bytes: usize) {
        let push = Push {
            id: PushId(id),
            recipient: NoisePublic::from_bytes([7; 32]),
            envelope: vec![7; bytes],
        };
        self.pushes.send(push).unwrap();
    }

    async fn outcome(&mut self) -> (u64, PushOutcome) {
        match self.reports.recv().await {
            Some(Report::Pushed(push, outcome)) => (push.0, outcome),
            _ => panic!("no outcome"),
        }
    }
}

async fn serve(key: NoiseSecret, mut stream: DuplexStream, is_alive: bool) {
    let mut hello = [0; PREFIX_BYTES + 2 + PUSH_HELLO_BYTES];
    stream.read_exact(&mut hello).await.unwrap();
    let expect = ExpectPushHello::new(&key, &mut OsRng).unwrap();
    let (channel, answer) = expect.handle_hello(&hello[PREFIX_BYTES + 2..]).unwrap();
    stream.write_all(&answer).await.unwrap();
    let (mut sealer, _opener) = channel.split();
    let (reader, mut writer) = split(stream);
    if !is_alive {
        std::future::pending::<()>().await;
    }
    let mut records = RecordReader::new(reader, RecordBuffer::new());
    while records.next().await.is_ok() {
        let answer = sealer.seal(&Frame::Ack).unwrap();
        writer.write_all(&answer).await.unwrap();
    }
}

/// What waits for an answer, and what can't even be written.
const SMALL_AND_STUCK: [usize; 2] = [100, 3 * WIRE_BYTES];

#[tokio::test(start_paused = true)]
async fn a_push_on_a_network_that_changed_is_given_up_and_the_next_goes_another_way() {
    for bytes in SMALL_AND_STUCK {
        let mut played = Played::new(Some(Way::moved()));
        let begun = Instant::now();
        played.push(1, bytes);
        assert_eq!(played.outcome().await, (1, PushOutcome::Unanswered));
        assert!(begun.elapsed() <= 2 * LOOK_AT_WAY, "{:?}", begun.elapsed());
        let begun = Instant::now();
        played.push(2, bytes);
        assert_eq!(played.outcome().await, (2, PushOutcome::Stored));
        assert!(begun.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_push_that_hangs_when_the_sessions_are_renewed_is_given_up_at_once() {
    for bytes in SMALL_AND_STUCK {
        let mut played = Played::new(None);
        played.push(1, bytes);
        played.push(2, bytes);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let begun = Instant::now();
        played.relays.send_modify(|_| {});
        assert_eq!(played.outcome().await, (1, PushOutcome::Unanswered));
        // The second was unanswered as well, or hadn't been begun and goes out now.
        let expected = if bytes < WIRE_BYTES {
            PushOutcome::Unanswered
        } else {
            PushOutcome::Stored
        };
        assert_eq!(played.outcome().await, (2, expected));
        assert!(begun.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_change_a_push_is_waited_for_until_its_session_ends() {
    let mut played = Played::new(None);
    let begun = Instant::now();
    played.push(1, 100);
    assert_eq!(played.outcome().await, (1, PushOutcome::Unanswered));
    assert!(begun.elapsed() >= Timing::default().push_session);
}
