//! Push Sessions: opened when there is something to push, closed when there isn't.
//!
//! The core keeps at most one push per recipient and 32 in all unanswered, so order per
//! recipient holds whatever happens here. Every push gets exactly one outcome. A session whose
//! relay or network changes is given up at once, whatever it waits for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sealpost_protocol::frame::Frame;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::dial::{Dialler, Line, Way, moved};
use super::handshake::{HandshakeFault, Open, open_push, probe};
use super::timing::Timing;
use super::{Report, Reporter, SessionFault};
use crate::core::status::ConnectFailure;
use crate::core::step::{Push, PushId, PushOutcome};
use crate::core::timing::PUSHES_IN_FLIGHT_MAX;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::frame::Refusal;

/// Why the last attempt to push found no relay.
#[derive(Clone, Default)]
pub(crate) struct PushFailure(Arc<Mutex<Option<ConnectFailure>>>);

impl PushFailure {
    /// The failure, or `None` when the last attempt found the relay.
    pub(crate) fn last(&self) -> Option<ConnectFailure> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, failure: Option<ConnectFailure>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }
}

/// Pushes what it is given.
pub(crate) struct Pusher {
    /// Where to; a change ends the running session.
    pub(crate) relays: watch::Receiver<Option<RelayAddress>>,
    pub(crate) pushes: UnboundedReceiver<Push>,
    pub(crate) report: Reporter,
    pub(crate) failure: PushFailure,
    pub(crate) dialler: Dialler,
    pub(crate) timing: Timing,
}

/// Why a session stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// Nothing is left to do.
    Done,
    /// It is too old to start anything; what waits goes into the next one.
    Old,
    /// It broke, or the relay said something senseless.
    Broken(ConnectFailure),
    /// Another relay is meant now, or the network changed.
    Moved,
}

impl Pusher {
    /// Runs until the actor is gone.
    pub(crate) async fn run(mut self) {
        let mut queue = VecDeque::new();
        loop {
            if queue.is_empty() {
                match self.pushes.recv().await {
                    Some(push) => queue.push_back(push),
                    None => return,
                }
            }
            let relay = self.relays.borrow_and_update().clone();
            let open = match relay {
                None => Err(ConnectFailure::NoRelay.into()),
                Some(relay) => tokio::select! {
                    open = connect(&self.dialler, &self.timing, &relay) => open,
                    changed = self.relays.changed() => match changed {
                        // Another way is to be tried now.
                        Ok(()) => continue,
                        Err(_) => return,
                    },
                },
            };
            match open {
                Ok((open, way)) => {
                    self.failure.set(None);
                    let stop = self.converse(open, way, &mut queue).await;
                    tracing::debug!(?stop, "push session ended");
                    if let Stop::Broken(failure) = stop {
                        self.fail(&mut queue, failure.into());
                    }
                }
                Err(fault) => {
                    tracing::debug!(?fault, "no push session");
                    self.fail(&mut queue, fault);
                }
            }
        }
    }

    /// Gives everything that waits the outcome of `fault`: the core decides when again.
    fn fail(&mut self, queue: &mut VecDeque<Push>, fault: SessionFault) {
        self.failure.set(match fault {
            SessionFault::Failed(failure) => Some(failure),
            // There is a relay; what is wrong with it is a state of the connection.
            SessionFault::Unsupported { .. } => None,
        });
        while let Ok(push) = self.pushes.try_recv() {
            queue.push_back(push);
        }
        for push in queue.drain(..) {
            (self.report)(Report::Pushed(push.id, fault.push_outcome()));
        }
    }

    /// One session. What it started and got no answer to is unanswered.
    async fn converse<R, W>(
        &mut self,
        open: Open<R, W>,
        way: Option<Way>,
        queue: &mut VecDeque<Push>,
    ) -> Stop
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut relays = self.relays.clone();
        let mut unanswered = VecDeque::new();
        let stop = tokio::select! {
            // An answer that is here counts.
            biased;
            stop = self.exchange(open, queue, &mut unanswered) => stop,
            _ = relays.changed() => Stop::Moved,
            () = moved(way) => Stop::Moved,
        };
        for push in unanswered {
            (self.report)(Report::Pushed(push, PushOutcome::Unanswered));
        }
        stop
    }

    async fn exchange<R, W>(
        &mut self,
        mut open: Open<R, W>,
        queue: &mut VecDeque<Push>,
        unanswered: &mut VecDeque<PushId>,
    ) -> Stop
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let begun = Instant::now();
        let (start_until, end) = (
            begun + self.timing.push_start,
            begun + self.timing.push_session,
        );
        loop {
            let is_young = Instant::now() < start_until;
            while is_young && unanswered.len() < PUSHES_IN_FLIGHT_MAX {
                let Some(push) = queue.pop_front() else { break };
                if let Err(stop) = self.start(&mut open, push, unanswered, end).await {
                    return stop;
                }
            }
            let is_idle = unanswered.is_empty();
            if is_idle && !is_young {
                return Stop::Old;
            }
            let rest = if is_idle {
                Instant::now() + self.timing.push_linger
            } else {
                end
            };
            tokio::select! {
                record = open.records.next() => match record {
                    // A relay that ends an idle session has only been quicker than we.
                    Err(_) if is_idle => return Stop::Done,
                    Err(fault) => return Stop::Broken(fault.into()),
                    Ok(record) => {
                        let answer = answer(&mut open, &record);
                        match (answer, unanswered.pop_front()) {
                            (Some(outcome), Some(push)) => {
                                (self.report)(Report::Pushed(push, outcome));
                            }
                            (_, push) => {
                                unanswered.extend(push);
                                (self.report)(Report::BadFrame);
                                return Stop::Broken(ConnectFailure::SomethingElse);
                            }
                        }
                    }
                },
                push = self.pushes.recv() => match push {
                    Some(push) => queue.push_back(push),
                    None => return Stop::Done,
                },
                () = sleep_until(rest) => {
                    return if is_idle { Stop::Done } else { Stop::Broken(ConnectFailure::Lost) };
                }
            }
        }
    }

    async fn start<R, W: AsyncWrite + Unpin>(
        &self,
        open: &mut Open<R, W>,
        push: Push,
        unanswered: &mut VecDeque<PushId>,
        end: Instant,
    ) -> Result<(), Stop> {
        let frame = Frame::Push {
            recipient: push.recipient,
            envelope: &push.envelope,
        };
        let Ok(record) = open.sealer.seal(&frame) else {
            // Larger than any frame: no relay could take it.
            (self.report)(Report::Pushed(
                push.id,
                PushOutcome::Refused(Refusal::TooLarge),
            ));
            return Ok(());
        };
        unanswered.push_back(push.id);
        match timeout_at(end, open.writer.write_all(&record)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Stop::Broken(ConnectFailure::Lost)),
        }
    }
}

/// What the relay answered to the oldest push; `None` when it is no answer.
fn answer<R, W>(open: &mut Open<R, W>, record: &[u8]) -> Option<PushOutcome> {
    let plain = open.opener.open(record).ok()?;
    match Frame::decode(&plain) {
        Ok(Frame::Ack) => Some(PushOutcome::Stored),
        Ok(Frame::Error(refusal)) => Some(PushOutcome::Refused(refusal)),
        _ => None,
    }
}

async fn connect(
    dialler: &Dialler,
    timing: &Timing,
    relay: &RelayAddress,
) -> Result<
    (
        Open<impl AsyncRead + Unpin + use<>, impl AsyncWrite + Unpin + use<>>,
        Option<Way>,
    ),
    SessionFault,
> {
    let Line {
        reader,
        writer,
        way,
    } = dialler
        .dial(timing, relay.host(), relay.push_port())
        .await?;
    match open_push(timing, relay.public_key(), reader, writer).await {
        Ok(open) => Ok((open, way)),
        Err(HandshakeFault::Silent) => Err(explain_silence(dialler, timing, relay).await),
        Err(HandshakeFault::Known(fault)) => Err(fault),
    }
}

/// A relay with another key can't answer the first message of a Push Session at all. Its
/// receive port can, and so tells a wrong key from a relay that takes nobody at the moment.
async fn explain_silence(dialler: &Dialler, timing: &Timing, relay: &RelayAddress) -> SessionFault {
    let (host, port) = (relay.host(), relay.receive_port());
    let Ok(Line { reader, writer, .. }) = dialler.dial(timing, host, port).await else {
        return ConnectFailure::Unavailable.into();
    };
    match probe(timing, relay.public_key(), reader, writer).await {
        Err(HandshakeFault::Known(fault)) => fault,
        Ok(()) | Err(HandshakeFault::Silent) => ConnectFailure::Unavailable.into(),
    }
}
