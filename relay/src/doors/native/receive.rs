//! Receive Sessions: a device takes what waits for it (specification 2.6).
//!
//! Owns: delivering in arrival order, once per session, and deleting what the device
//! acknowledges. Reader and writer are independent (amendment 12): a device that doesn't read
//! can still acknowledge and heartbeat, and only its silence ends the session. Everything that
//! is written passes through the one owner of the cipher state.
//!
//! Invariants:
//! - the cursor only grows, so no blob goes out twice in one session;
//! - while nothing moves a session holds neither an Envelope nor a buffer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::channel::{
    Channel, ExpectReceiveHello, Opener, RECEIVE_FINISH_BYTES, RECEIVE_HELLO_BYTES, Sealer,
};
use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::key::NoisePublic;
use sealpost_protocol::limit::MALFORMED_FRAMES_MAX;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::ending::Ending;
use super::greeting::greet;
use super::record_reader::RecordReader;
use super::{NativeDoor, SessionKind, before_deadline, wire};
use crate::store::BlobId;

/// How long the last answers of a session that is closed for its malformed frames may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Replies of one kind that are written at a time.
const REPLIES_PER_ROUND: u32 = 1_024;

/// Serves one session from accept to close.
pub(super) async fn serve(door: &NativeDoor, stream: &TcpStream) -> Ending {
    // Boxed, so that the memory of the handshake is free again while the session idles.
    let handshake = Box::pin(before_deadline(door, shake_hands(door, stream)));
    let (channel, device, reader) = match handshake.await {
        Ok(done) => done,
        Err(ending) => return ending,
    };
    let (sealer, opener) = channel.split();
    let Some(_place) = door.receive_sessions.enter(device) else {
        return refuse(stream, sealer).await;
    };
    let replies = Replies::default();
    let _watch = door.store.watch(device, Arc::clone(&replies.bell));
    let read = read_frames(door, device, reader, opener, &replies);
    let write = write_frames(door, device, stream, sealer, &replies);
    let ending = tokio::select! {
        ending = read => ending,
        ending = write => ending,
    };
    // What was written last should arrive, the blobs before one that can't be read too.
    if matches!(ending, Ending::Malformed | Ending::Store(_)) {
        wire::close_softly(stream).await;
    }
    ending
}

async fn shake_hands<'a>(
    door: &NativeDoor,
    stream: &'a TcpStream,
) -> Result<(Channel, NoisePublic, RecordReader<'a>), Ending> {
    let mut reader = greet(stream).await?;
    let hello = reader.next_of(RECEIVE_HELLO_BYTES).await?;
    let (state, reply) = ExpectReceiveHello::new(&door.key, &mut OsRng)?.handle_hello(&hello)?;
    wire::write(stream, &reply).await?;
    let finish = reader.next_of(RECEIVE_FINISH_BYTES).await?;
    let (channel, device) = state.handle_finish(&finish)?;
    door.metrics.begin_session(SessionKind::Receive);
    Ok((channel, device, reader))
}

/// Tells a device that it has its share of sessions.
async fn refuse(stream: &TcpStream, mut sealer: Sealer) -> Ending {
    let refused = async {
        let record = sealer.seal(&Frame::Error(Refusal::Unavailable))?;
        wire::write(stream, &record).await?;
        wire::close_softly(stream).await;
        Ok(Ending::TooManySessions)
    };
    match tokio::time::timeout(LAST_WORDS.saturating_mul(2), refused).await {
        Ok(Ok(ending) | Err(ending)) => ending,
        Err(_) => Ending::TooManySessions,
    }
}

/// What the reader asks the writer to say. Counters, so that a device that sends without
/// reading costs no memory.
#[derive(Default)]
struct Replies {
    echoes: AtomicU32,
    refusals: AtomicU32,
    /// Whether the refusals are the last that is said.
    is_closing: AtomicBool,
    /// Rings on every change here and on every insert into the inbox.
    bell: Arc<Notify>,
}

impl Replies {
    /// One more of a kind. A count that no honest device reaches stays where it is.
    fn add(&self, count: &AtomicU32) {
        let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_add(1));
        self.bell.notify_one();
    }

    fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        self.bell.notify_one();
    }
}

/// Takes heartbeats and acknowledgements until the device is silent, gone or wrong too often.
async fn read_frames(
    door: &NativeDoor,
    device: NoisePublic,
    mut reader: RecordReader<'_>,
    mut opener: Opener,
    replies: &Replies,
) -> Ending {
    let mut strikes = 0;
    let mut acknowledged = Vec::new();
    while strikes < MALFORMED_FRAMES_MAX {
        let record = match next_record(door, device, &mut reader, &mut acknowledged).await {
            Ok(record) => record,
            Err(ending) => return ending,
        };
        let frame = match opener.open(&record) {
            Ok(frame) => frame,
            Err(error) => {
                delete_all(door, device, &mut acknowledged);
                return error.into();
            }
        };
        match Frame::decode(&frame) {
            Ok(Frame::Heartbeat) => replies.add(&replies.echoes),
            Ok(Frame::DeliverAck { blob_id }) => acknowledged.push(BlobId::from_u64(blob_id)),
            Ok(_) | Err(_) => {
                strikes += 1;
                replies.add(&replies.refusals);
            }
        }
    }
    delete_all(door, device, &mut acknowledged);
    replies.close();
    // The writer ends the session once it has said everything, and this ends it for a device
    // that doesn't read.
    tokio::time::sleep(LAST_WORDS).await;
    Ending::Malformed
}

/// The next message. Before it waits for one, it deletes what was acknowledged: all that came
/// in one read takes the store's lock once.
async fn next_record(
    door: &NativeDoor,
    device: NoisePublic,
    reader: &mut RecordReader<'_>,
    acknowledged: &mut Vec<BlobId>,
) -> Result<Vec<u8>, Ending> {
    let read = reader.next_read();
    if !matches!(read, Ok(Some(_))) {
        delete_all(door, device, acknowledged);
    }
    match read? {
        Some(record) => Ok(record),
        None => tokio::time::timeout(door.limits.receive_idle, reader.next())
            .await
            .unwrap_or(Err(Ending::Idle)),
    }
}

/// Leaves no memory behind, because a session may be idle for days afterwards.
fn delete_all(door: &NativeDoor, device: NoisePublic, acknowledged: &mut Vec<BlobId>) {
    let acknowledged = std::mem::take(acknowledged);
    if !acknowledged.is_empty() {
        door.metrics.delivery_acks.add(acknowledged.len() as u64);
        door.store.delete_all(device, &acknowledged);
    }
}

/// Writes replies and blobs until the session ends.
async fn write_frames(
    door: &NativeDoor,
    device: NoisePublic,
    stream: &TcpStream,
    mut sealer: Sealer,
    replies: &Replies,
) -> Ending {
    let mut cursor = BlobId::START;
    loop {
        match write_round(door, device, stream, &mut sealer, replies, &mut cursor).await {
            Ok(true) => {}
            Ok(false) => replies.bell.notified().await,
            Err(ending) => return ending,
        }
    }
}

/// Writes what there is to say now and one chunk of blobs; false if there was neither.
async fn write_round(
    door: &NativeDoor,
    device: NoisePublic,
    stream: &TcpStream,
    sealer: &mut Sealer,
    replies: &Replies,
    cursor: &mut BlobId,
) -> Result<bool, Ending> {
    let is_closing = replies.is_closing.load(Ordering::Acquire);
    let mut records = Vec::new();
    for _ in 0..take(&replies.refusals) {
        sealer.seal_into(&Frame::Error(Refusal::Malformed), &mut records)?;
    }
    for _ in 0..take(&replies.echoes) {
        sealer.seal_into(&Frame::Heartbeat, &mut records)?;
    }
    if is_closing {
        wire::write(stream, &records).await?;
        return Err(Ending::Malformed);
    }
    let chunk = door
        .store
        .read(device, *cursor, door.clock.now_ms())
        .await?;
    for blob in &chunk.blobs {
        let (blob_id, envelope) = (blob.id.as_u64(), blob.envelope.as_ref());
        sealer.seal_into(&Frame::Deliver { blob_id, envelope }, &mut records)?;
    }
    let is_more = !records.is_empty() || chunk.through > *cursor;
    *cursor = chunk.through;
    let deliveries = chunk.blobs.len() as u64;
    drop(chunk);
    wire::write(stream, &records).await?;
    door.metrics.deliveries.add(deliveries);
    Ok(is_more)
}

/// Takes as many as one round writes.
fn take(count: &AtomicU32) -> u32 {
    let taken = count.load(Ordering::Relaxed).min(REPLIES_PER_ROUND);
    count.fetch_sub(taken, Ordering::Relaxed);
    taken
}
