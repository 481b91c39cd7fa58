//! The Receive Session: dialled, kept, and dialled again while the group wants one.

use std::sync::Arc;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::channel::{Opener, Sealer};
use sealpost_protocol::frame::Frame;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout};

use super::backoff::{Backoff, Failures};
use super::dial::{Dialler, Line, Way, moved};
use super::handshake::{Open, open_receive};
use super::record::RecordReader;
use super::timing::{QUEUE_BYTES_MAX, QUEUE_FRAMES_MAX, Timing};
use super::{QueuePlace, ReceiveGoal, Report, Reporter, Route, SessionFault};
use crate::core::status::{ConnectFailure, Connection};
use crate::core::step::SessionId;

/// How many acknowledgements are written at once.
const ACKS_AT_ONCE_MAX: usize = 64;

/// What the actor asks of the running session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReceiveOrder {
    /// Acknowledge a blob; nothing if that session is gone.
    Acknowledge(SessionId, u64),
    /// End that session and open another after the usual delay.
    Restart(SessionId),
}

/// Keeps a Receive Session as long as the goal says so.
pub(crate) struct Receiver {
    pub(crate) goals: watch::Receiver<ReceiveGoal>,
    pub(crate) orders: UnboundedReceiver<ReceiveOrder>,
    /// Notified to connect now instead of after the delay.
    pub(crate) hurry: Arc<Notify>,
    pub(crate) failures: Failures,
    pub(crate) report: Reporter,
    pub(crate) dialler: Dialler,
    pub(crate) timing: Timing,
}

impl Receiver {
    /// Runs until the actor is gone.
    pub(crate) async fn run(mut self) {
        let mut sessions = 0;
        let mut backoff = Backoff::new(self.timing, self.failures.clone());
        let mut last = None;
        loop {
            let goal = self.goals.borrow_and_update().clone();
            let route = match goal {
                ReceiveGoal::Connect(route) => route,
                ReceiveGoal::Idle(reason) => {
                    self.tell(Connection::Disconnected(reason));
                    // Without a reason nothing was decided yet.
                    if reason.is_some() {
                        backoff.reset();
                    }
                    last = None;
                    if self.wait_for_goal().await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            if !last.is_some_and(stands) {
                self.tell(Connection::Connecting);
            }
            sessions += 1;
            let Some(end) = self.keep(&route, SessionId(sessions)).await else {
                // The goal changed: a new one is sought at once.
                backoff.reset();
                last = None;
                continue;
            };
            let fault = end.fault;
            if end.lived >= self.timing.settled {
                backoff.reset();
            }
            last = Some(fault);
            let delay = backoff.delay(fault, &mut OsRng);
            let hurry = Arc::clone(&self.hurry);
            tokio::select! {
                () = sleep(delay) => {}
                () = hurry.notified() => {}
                changed = self.wait_for_goal() => match changed {
                    Ok(()) => backoff.reset(),
                    Err(Gone) => return,
                },
            }
        }
    }

    /// One session from dialling to its end; `None` when it ended because the goal or the
    /// network changed.
    async fn keep(&mut self, route: &Route, session: SessionId) -> Option<End> {
        let (mut goals, timing) = (self.goals.clone(), self.timing);
        let opened = tokio::select! {
            opened = connect(&self.dialler, &timing, route) => opened,
            _ = goals.changed() => return None,
        };
        let (open, way) = match opened {
            Ok(opened) => opened,
            Err(fault) => {
                tracing::debug!(?fault, "no receive session");
                self.tell(fault.connection());
                return Some(End {
                    fault,
                    lived: Duration::ZERO,
                });
            }
        };
        let began = Instant::now();
        tracing::debug!(session = session.0, "receive session up");
        (self.report)(Report::Started(session));
        let ended = tokio::select! {
            // What is to be acknowledged by now is written before the session ends.
            biased;
            fault = converse(&timing, open, session, &mut self.orders, &self.report) => Some(fault),
            _ = goals.changed() => None,
            () = moved(way) => None,
        };
        tracing::debug!(session = session.0, ?ended, "receive session ended");
        let connection = ended.map_or(Connection::Connecting, SessionFault::connection);
        (self.report)(Report::Ended(session, connection));
        ended.map(|fault| End {
            fault,
            lived: began.elapsed(),
        })
    }

    /// Waits for the next goal, and drops orders for sessions that are gone.
    async fn wait_for_goal(&mut self) -> Result<(), Gone> {
        loop {
            tokio::select! {
                changed = self.goals.changed() => return changed.map_err(|_| Gone),
                order = self.orders.recv() => { order.ok_or(Gone)?; }
            }
        }
    }

    fn tell(&self, connection: Connection) {
        (self.report)(Report::Connection(connection));
    }
}

/// Whether what the relay answered stands until it answers something else: another version
/// or another key doesn't go away by asking again, and must not flicker while it is asked.
const fn stands(fault: SessionFault) -> bool {
    matches!(
        fault,
        SessionFault::Unsupported { .. } | SessionFault::Failed(ConnectFailure::WrongKey)
    )
}

/// How a session ended by itself.
struct End {
    fault: SessionFault,
    lived: Duration,
}

/// The actor is gone.
struct Gone;

async fn connect(
    dialler: &Dialler,
    timing: &Timing,
    route: &Route,
) -> Result<
    (
        Open<impl AsyncRead + Unpin + use<>, impl AsyncWrite + Unpin + use<>>,
        Option<Way>,
    ),
    SessionFault,
> {
    let (host, port) = (route.relay.host(), route.relay.receive_port());
    let Line {
        reader,
        writer,
        way,
    } = dialler.dial(timing, host, port).await?;
    let opened = open_receive(
        timing,
        &route.device,
        route.relay.public_key(),
        reader,
        writer,
    )
    .await;
    let open = opened.map_err(super::handshake::HandshakeFault::fault)?;
    Ok((open, way))
}

/// Reads and writes, neither waiting for the other, until one of them can't go on.
pub(crate) async fn converse<R, W>(
    timing: &Timing,
    open: Open<R, W>,
    session: SessionId,
    orders: &mut UnboundedReceiver<ReceiveOrder>,
    report: &Reporter,
) -> SessionFault
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let Open {
        records,
        writer,
        sealer,
        opener,
    } = open;
    let failure = tokio::select! {
        failure = read_frames(timing, records, opener, session, report) => failure,
        failure = write_frames(timing, writer, sealer, session, orders) => failure,
    };
    failure.into()
}

async fn read_frames<R: AsyncRead + Unpin>(
    timing: &Timing,
    mut records: RecordReader<R>,
    mut opener: Opener,
    session: SessionId,
    report: &Reporter,
) -> ConnectFailure {
    let frames = Arc::new(Semaphore::new(QUEUE_FRAMES_MAX));
    let bytes = Arc::new(Semaphore::new(QUEUE_BYTES_MAX));
    loop {
        // While the queue is full nothing is read, and the relay's silence isn't counted.
        let Ok(frame_place) = Arc::clone(&frames).acquire_owned().await else {
            return ConnectFailure::Lost;
        };
        let record = match timeout(timing.silence_max, records.next()).await {
            Ok(Ok(record)) => record,
            Ok(Err(fault)) => return fault.into(),
            Err(_) => return ConnectFailure::Lost,
        };
        let Ok(plain) = opener.open(&record) else {
            return ConnectFailure::Lost;
        };
        match Frame::decode(&plain) {
            Ok(Frame::Deliver { blob_id, envelope }) => {
                let count = u32::try_from(envelope.len()).unwrap_or(u32::MAX);
                let Ok(bytes_place) = Arc::clone(&bytes).acquire_many_owned(count).await else {
                    return ConnectFailure::Lost;
                };
                let place = QueuePlace {
                    _frame: frame_place,
                    _bytes: bytes_place,
                };
                let envelope = envelope.to_vec();
                report(Report::Delivered {
                    session,
                    blob: blob_id,
                    envelope,
                    place,
                });
            }
            Ok(Frame::Heartbeat) => {}
            Ok(Frame::Error(refusal)) if !refusal.is_permanent() => {
                return ConnectFailure::Unavailable;
            }
            _ => {
                report(Report::BadFrame);
                return ConnectFailure::SomethingElse;
            }
        }
    }
}

async fn write_frames<W: AsyncWrite + Unpin>(
    timing: &Timing,
    mut writer: W,
    mut sealer: Sealer,
    session: SessionId,
    orders: &mut UnboundedReceiver<ReceiveOrder>,
) -> ConnectFailure {
    let mut heartbeat = interval_at(Instant::now() + timing.heartbeat, timing.heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut waiting = Vec::with_capacity(ACKS_AT_ONCE_MAX);
    loop {
        let mut bytes = Vec::new();
        tokio::select! {
            _ = heartbeat.tick() => match sealer.seal(&Frame::Heartbeat) {
                Ok(record) => bytes.extend(record),
                Err(_) => return ConnectFailure::Lost,
            },
            count = orders.recv_many(&mut waiting, ACKS_AT_ONCE_MAX) => {
                if count == 0 {
                    return ConnectFailure::Lost;
                }
                for order in waiting.drain(..) {
                    match order {
                        ReceiveOrder::Acknowledge(of, blob_id) if of == session => {
                            match sealer.seal(&Frame::DeliverAck { blob_id }) {
                                Ok(record) => bytes.extend(record),
                                Err(_) => return ConnectFailure::Lost,
                            }
                        }
                        ReceiveOrder::Restart(of) if of == session => return ConnectFailure::Lost,
                        ReceiveOrder::Acknowledge(..) | ReceiveOrder::Restart(_) => {}
                    }
                }
            }
        }
        match timeout(timing.silence_max, writer.write_all(&bytes)).await {
            Ok(Ok(())) => {}
            _ => return ConnectFailure::Lost,
        }
    }
}
