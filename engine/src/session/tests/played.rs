//! The Receive Session on a clock and a network that a test plays: hours pass at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sealpost_protocol::channel::ExpectReceiveHello;
use sealpost_protocol::version::PREFIX_BYTES;
use tokio::io::{DuplexStream, duplex, split};
use tokio::sync::mpsc::{UnboundedSender, error::TryRecvError};
use tokio::sync::{Notify, watch};

use super::*;
use crate::session::backoff::Failures;
use crate::session::dial::{Dialler, Line, Way};
use crate::session::receive::{ReceiveOrder, Receiver};

const HOUR: Duration = Duration::from_secs(3_600);
/// Within this time after a change of the network or a sleep there is a session again.
const RENEWED_MAX: Duration = Duration::from_secs(10);

/// A relay that answers in memory.
#[derive(Clone)]
struct Played {
    key: Arc<Mutex<NoiseSecret>>,
    /// What the next connection is told of its way.
    way: Arc<Mutex<Option<Way>>>,
    dialled: Arc<AtomicUsize>,
    /// How many sessions are open.
    open: Arc<AtomicUsize>,
}

impl Played {
    fn new() -> Self {
        Self {
            key: Arc::new(Mutex::new(NoiseSecret::generate(&mut OsRng))),
            way: Arc::default(),
            dialled: Arc::default(),
            open: Arc::default(),
        }
    }

    fn address(&self) -> RelayAddress {
        let key = self.key.lock().unwrap().public();
        RelayAddress::new(key, "relay.invalid", 1, 1).unwrap()
    }

    fn dialler(&self) -> Dialler {
        let played = self.clone();
        Dialler::Played(Arc::new(move || {
            played.dialled.fetch_add(1, Ordering::SeqCst);
            let (ours, theirs) = duplex(64 * 1024);
            tokio::spawn(played.clone().serve(theirs));
            let (reader, writer) = split(ours);
            Ok(Line {
                reader: Box::new(reader),
                writer: Box::new(writer),
                way: played.way.lock().unwrap().take(),
            })
        }))
    }

    /// Answers as a relay does, keeps the session, and echoes nothing.
    async fn serve(self, mut stream: DuplexStream) {
        let key = self.key.lock().unwrap().clone();
        let mut hello = [0; PREFIX_BYTES + 2 + RECEIVE_HELLO_BYTES];
        stream.read_exact(&mut hello).await.unwrap();
        let expect = ExpectReceiveHello::new(&key, &mut OsRng).unwrap();
        let (expect, answer) = expect.handle_hello(&hello[PREFIX_BYTES + 2..]).unwrap();
        stream.write_all(&answer).await.unwrap();
        let mut finish = [0; 2 + RECEIVE_FINISH_BYTES];
        if stream.read_exact(&mut finish).await.is_err() {
            return;
        }
        expect.handle_finish(&finish[2..]).unwrap();
        self.open.fetch_add(1, Ordering::SeqCst);
        let _ = stream.read_to_end(&mut Vec::new()).await;
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A receiver on its way to a relay that is played.
struct Rig {
    goals: watch::Sender<ReceiveGoal>,
    _orders: UnboundedSender<ReceiveOrder>,
    reports: UnboundedReceiver<Report>,
}

impl Rig {
    fn new(address: RelayAddress, played: &Played) -> Self {
        let device = NoiseSecret::generate(&mut OsRng);
        let route = Arc::new(Route {
            relay: address,
            device,
        });
        let (goals, goals_of) = watch::channel(ReceiveGoal::Connect(route));
        let (orders, orders_of) = unbounded_channel();
        let (report, reports) = reports();
        let receiver = Receiver {
            goals: goals_of,
            orders: orders_of,
            hurry: Arc::new(Notify::new()),
            failures: Failures::default(),
            report,
            dialler: played.dialler(),
            timing: Timing::default(),
        };
        tokio::spawn(receiver.run());
        Self {
            goals,
            _orders: orders,
            reports,
        }
    }

    /// The states that were told since the last look.
    fn states(&mut self) -> Vec<Connection> {
        let mut states = Vec::new();
        loop {
            match self.reports.try_recv() {
                Ok(Report::Connection(state) | Report::Ended(_, state)) => states.push(state),
                Ok(Report::Started(_)) => states.push(Connection::Connected),
                Ok(_) => panic!("no state"),
                Err(TryRecvError::Empty) => return states,
                Err(TryRecvError::Disconnected) => panic!("the receiver is gone"),
            }
        }
    }
}

/// Counts the lines of the log.
#[derive(Clone, Default)]
struct LogLines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl LogLines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_relay_whose_key_changed_is_one_state_and_a_few_lines_in_hours() {
    let lines = LogLines::default();
    let writer = lines.clone();
    let log = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _log = tracing::subscriber::set_default(log);
    let played = Played::new();
    let mut rig = Rig::new(played.address(), &played);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(played.open.load(Ordering::SeqCst), 1);
    let right = played.key.lock().unwrap().clone();
    rig.states();

    // Somebody has set the relay up anew; the session that was open breaks off.
    *played.key.lock().unwrap() = NoiseSecret::generate(&mut OsRng);
    rig.goals.send_modify(|_| {});
    let (dialled_before, lines_before) = (
        played.dialled.load(Ordering::SeqCst),
        lines.text().lines().count(),
    );
    tokio::time::sleep(6 * HOUR).await;
    let wrong = Connection::Disconnected(Some(ConnectFailure::WrongKey));
    let mut states = rig.states();
    states.dedup();
    let expected = [Connection::Connecting, wrong];
    assert_eq!(states, expected, "no flicker");
    assert_eq!(played.open.load(Ordering::SeqCst), 0, "never accepted");
    let dialled = played.dialled.load(Ordering::SeqCst) - dialled_before;
    // Eight while the delay grows to five minutes, then every five, give or take a fifth.
    assert!((60..=99).contains(&dialled), "{dialled}");
    let text = lines.text();
    let told = text.lines().count() - lines_before;
    assert!(told <= 2 * dialled, "{told} lines for {dialled} attempts");
    let loud = [" INFO ", " WARN ", "ERROR "];
    let is_loud = |line: &&str| loud.iter().any(|level| line.contains(level));
    assert_eq!(text.lines().filter(is_loud).count(), 0);

    // The right one is back, and nobody had to do anything.
    *played.key.lock().unwrap() = right;
    tokio::time::sleep(HOUR / 10).await;
    assert_eq!(rig.states().first(), Some(&Connection::Connected));
}

#[tokio::test(start_paused = true)]
async fn a_network_that_changed_under_a_session_is_noticed() {
    let played = Played::new();
    *played.way.lock().unwrap() = Some(Way::moved());
    let mut rig = Rig::new(played.address(), &played);
    tokio::time::sleep(RENEWED_MAX).await;
    let (connecting, connected) = (Connection::Connecting, Connection::Connected);
    let expected = [connecting, connected, connecting, connecting, connected];
    assert_eq!(rig.states(), expected);
    assert_eq!(played.open.load(Ordering::SeqCst), 1, "no second session");
    assert_eq!(played.dialled.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_sent_anew_is_there_again_at_once_whatever_it_was_doing() {
    let played = Played::new();
    let right = played.key.lock().unwrap().clone();
    let mut rig = Rig::new(played.address(), &played);
    // In the middle of a session.
    tokio::time::sleep(Duration::from_secs(30)).await;
    rig.goals.send_modify(|_| {});
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(rig.states().last(), Some(&Connection::Connected));
    assert_eq!(played.open.load(Ordering::SeqCst), 1, "no second session");
    // In the middle of the longest delay.
    *played.key.lock().unwrap() = NoiseSecret::generate(&mut OsRng);
    rig.goals.send_modify(|_| {});
    tokio::time::sleep(HOUR).await;
    *played.key.lock().unwrap() = right;
    rig.goals.send_modify(|_| {});
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(rig.states().last(), Some(&Connection::Connected));
    assert_eq!(played.open.load(Ordering::SeqCst), 1, "no second session");
}
