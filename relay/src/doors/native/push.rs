//! Push Sessions: a device without a name stores Envelopes for others (specification 2.5).
//!
//! Owns: the order of checks on a push, and one answer per frame in the order of the frames.
//! Reading and answering are independent, so that many pushes share one commit; how far
//! reading runs ahead is bounded. Never does: answer `Ack` before the store says durable.

use bytes::Bytes;
use rand_core::OsRng;
use sealpost_protocol::channel::{Channel, ExpectPushHello, Opener, PUSH_HELLO_BYTES, Sealer};
use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::limit::MALFORMED_FRAMES_MAX;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::ending::Ending;
use super::greeting::greet;
use super::record_reader::RecordReader;
use super::{NativeDoor, SessionKind, before_deadline, wire};
use crate::limits::charged_bytes;
use crate::store::{PutRefusal, PutTicket, StoreError};

/// Frames that are read before the first of them is answered. Devices keep 32 unanswered.
const UNANSWERED_MAX: usize = 64;

/// Serves one session from accept to close.
pub(super) async fn serve(door: &NativeDoor, stream: &TcpStream) -> Ending {
    let session = async {
        match before_deadline(door, shake_hands(door, stream)).await {
            Ok((channel, reader)) => exchange(door, stream, channel, reader).await,
            Err(ending) => ending,
        }
    };
    let ending = tokio::time::timeout(door.limits.push_session, session).await;
    ending.unwrap_or(Ending::PushDeadline)
}

async fn shake_hands<'a>(
    door: &NativeDoor,
    stream: &'a TcpStream,
) -> Result<(Channel, RecordReader<'a>), Ending> {
    let mut reader = greet(stream).await?;
    let hello = reader.next_of(PUSH_HELLO_BYTES).await?;
    let (channel, reply) = ExpectPushHello::new(&door.key, &mut OsRng)?.handle_hello(&hello)?;
    wire::write(stream, &reply).await?;
    door.metrics.begin_session(SessionKind::Push);
    Ok((channel, reader))
}

/// Reads and answers until the device closes, and answers what was read before.
async fn exchange(
    door: &NativeDoor,
    stream: &TcpStream,
    channel: Channel,
    reader: RecordReader<'_>,
) -> Ending {
    let (sealer, opener) = channel.split();
    let (answers, pending) = mpsc::channel(UNANSWERED_MAX);
    let read = read_pushes(door, reader, opener, answers);
    let write = write_answers(door, stream, sealer, pending);
    tokio::pin!(read, write);
    let ending = tokio::select! {
        ending = &mut read => ending,
        Err(ending) = &mut write => return ending,
    };
    if let Err(ending) = write.await {
        return ending;
    }
    if matches!(ending, Ending::Malformed | Ending::Stopping) {
        wire::close_softly(stream).await;
    }
    ending
}

/// Takes frames until there is a reason to stop; dropping the sender ends the answering.
async fn read_pushes(
    door: &NativeDoor,
    mut reader: RecordReader<'_>,
    mut opener: Opener,
    answers: mpsc::Sender<Answer>,
) -> Ending {
    let mut strikes = 0;
    loop {
        let record = tokio::select! {
            record = reader.next() => record,
            () = door.stops.pushing.cancelled() => return Ending::Stopping,
        };
        let frame = match record {
            Ok(record) => opener.open(&record).map_err(Ending::from),
            Err(ending) => Err(ending),
        };
        let answer = match frame {
            Ok(frame) => take_frame(door, Bytes::from(frame)).await,
            Err(ending) => return ending,
        };
        if matches!(answer, Answer::Refused(Refusal::Malformed)) {
            strikes += 1;
        }
        if answers.send(answer).await.is_err() {
            return Ending::Disconnected;
        }
        if strikes >= MALFORMED_FRAMES_MAX {
            return Ending::Malformed;
        }
    }
}

/// Checks in this order: size, form, rate, quota, store (specification 2.8). Form comes
/// before size only where there is no size to speak of.
async fn take_frame(door: &NativeDoor, frame: Bytes) -> Answer {
    let Ok(Frame::Push {
        recipient,
        envelope,
    }) = Frame::decode(&frame)
    else {
        return Answer::Refused(Refusal::Malformed);
    };
    if envelope.len() > door.limits.envelope_bytes_max() {
        return Answer::Refused(Refusal::TooLarge);
    }
    let envelope = frame.slice_ref(envelope);
    store(door, recipient, envelope)
        .await
        .unwrap_or_else(Answer::Refused)
}

async fn store(
    door: &NativeDoor,
    recipient: NoisePublic,
    envelope: Bytes,
) -> Result<Answer, Refusal> {
    let now_ms = door.clock.now_ms();
    if !door.take_push_token(recipient, now_ms) {
        return Err(Refusal::RateLimited);
    }
    let bytes = charged_bytes(1, envelope.len() as u64);
    let bytes = u32::try_from(bytes).map_err(|_| Refusal::TooLarge)?;
    let room = door.push_room.clone().acquire_many_owned(bytes).await;
    let room = room.map_err(|_| Refusal::Unavailable)?;
    if !door.clock.is_set() {
        return Err(Refusal::Unavailable);
    }
    let ticket = door.store.put(recipient, envelope, room.into(), now_ms)?;
    Ok(Answer::Pending(ticket))
}

/// What a frame is answered with, in its turn.
enum Answer {
    Refused(Refusal),
    /// Known after the commit.
    Pending(PutTicket),
}

impl Answer {
    /// The frame, if it is known by now.
    fn try_frame(&mut self) -> Option<Frame<'static>> {
        match self {
            Self::Refused(refusal) => Some(Frame::Error(*refusal)),
            Self::Pending(ticket) => ticket.try_outcome().map(frame_of),
        }
    }

    async fn frame(self) -> Frame<'static> {
        match self {
            Self::Refused(refusal) => Frame::Error(refusal),
            Self::Pending(ticket) => frame_of(ticket.outcome().await),
        }
    }
}

fn frame_of(outcome: Result<(), StoreError>) -> Frame<'static> {
    match outcome {
        Ok(()) => Frame::Ack,
        Err(error) => Frame::Error(error.into()),
    }
}

/// Answers in order. Answers that are known together go out together.
async fn write_answers(
    door: &NativeDoor,
    stream: &TcpStream,
    mut sealer: Sealer,
    mut pending: mpsc::Receiver<Answer>,
) -> Result<(), Ending> {
    let mut next = pending.recv().await;
    while let Some(answer) = next {
        let mut records = Vec::new();
        let mut seal = |frame: Frame<'_>| {
            door.metrics.answer(&frame);
            sealer.seal_into(&frame, &mut records)
        };
        seal(answer.frame().await)?;
        next = None;
        while let Ok(mut answer) = pending.try_recv() {
            let Some(frame) = answer.try_frame() else {
                next = Some(answer);
                break;
            };
            seal(frame)?;
        }
        wire::write(stream, &records).await?;
        // The one that isn't known yet goes out with those known when it is.
        if next.is_none() {
            next = pending.recv().await;
        }
    }
    Ok(())
}

/// What a device may learn of a put that wasn't queued.
impl From<PutRefusal> for Refusal {
    fn from(refusal: PutRefusal) -> Self {
        match refusal {
            PutRefusal::InboxFull => Self::InboxFull,
            PutRefusal::Unavailable => Self::Unavailable,
        }
    }
}

/// What a device may learn of a put that failed. Both are temporary: it pushes again.
impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Closed | StoreError::DiskFull | StoreError::LogFull | StoreError::Io => {
                Self::Unavailable
            }
            StoreError::Damaged | StoreError::Database(_) => Self::InternalError,
        }
    }
}
