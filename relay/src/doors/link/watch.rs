//! A watch as a WebSocket (specification "paired-mailbox/1" 5).
//!
//! Owns: frames, beats, pings and close codes. No data travels here and nothing is
//! acknowledged here: frames are hints.
//!
//! Invariant: code 1000 is used for an erased mailbox and nothing else.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use crate::doors::web::is_too_large;
use crate::store::{MailboxWatch, WatchEnd, WatchFrame};

/// Bytes of a message of the other side, which has nothing to say.
pub(super) const MESSAGE_BYTES_MAX: usize = 1_024;

/// Messages of the other side between two beats.
const MESSAGES_PER_BEAT_MAX: u32 = 64;

/// Pings that may stay unanswered.
const UNANSWERED_PINGS_MAX: u32 = 2;

/// How long one frame may take to be written.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// How a watch is closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Close {
    Erased,
    Stopping,
    TooLarge,
    TooMuch,
    Replaced,
    Expired,
}

impl Close {
    fn code(self) -> u16 {
        match self {
            Self::Erased => 1000,
            Self::Stopping => 1001,
            Self::TooLarge => 1009,
            Self::TooMuch => 1013,
            Self::Replaced => 4409,
            Self::Expired => 4410,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Erased => "erased",
            Self::Stopping => "going away",
            Self::TooLarge => "too large",
            Self::TooMuch => "over a limit",
            Self::Replaced => "replaced",
            Self::Expired => "expired",
        }
    }
}

impl From<WatchEnd> for Close {
    fn from(end: WatchEnd) -> Self {
        match end {
            WatchEnd::Erased => Self::Erased,
            WatchEnd::Expired => Self::Expired,
            WatchEnd::Replaced => Self::Replaced,
            WatchEnd::Stopping => Self::Stopping,
        }
    }
}

/// The other side is gone, or doesn't read.
struct Gone;

/// Closes a watch that never began.
pub(super) async fn refuse(mut socket: WebSocket, close: Close) {
    let _ = say_goodbye(&mut socket, close).await;
}

/// Serves a watch to its end. `is_over` is asked now and then: a mailbox's time may be over without
/// anybody having removed it.
pub(super) async fn serve(
    mut socket: WebSocket,
    mut watch: MailboxWatch,
    beat: Duration,
    stopping: CancellationToken,
    is_over: impl Fn() -> bool + Send,
) {
    let mut beats = interval_at(Instant::now() + beat, beat);
    // After a pause of the whole process, beats that were missed must not come all at once:
    // the other side would have no time to answer between them.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut peer = Peer::default();
    loop {
        let step = tokio::select! {
            frame = watch.next() => match frame {
                Some(WatchFrame::Ended(end)) => Err(Some(end.into())),
                Some(frame) => send(&mut socket, text_of(&frame)).await.map_err(|Gone| None),
                None => Err(None),
            },
            message = socket.recv() => peer.hear(message),
            _ = beats.tick() => if is_over() {
                Err(Some(Close::Expired))
            } else {
                peer.beat(&mut socket).await
            },
            () = stopping.cancelled() => Err(Some(Close::Stopping)),
        };
        match step {
            Ok(()) => {}
            Err(Some(close)) => {
                let _ = say_goodbye(&mut socket, close).await;
                return;
            }
            Err(None) => return,
        }
    }
}

/// What the other side has said since the last beat.
#[derive(Default)]
struct Peer {
    unanswered: u32,
    messages: u32,
}

impl Peer {
    fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), Option<Close>> {
        self.messages = self.messages.saturating_add(1);
        match message {
            None | Some(Ok(Message::Close(_))) => Err(None),
            Some(Err(error)) if is_too_large(&error) => Err(Some(Close::TooLarge)),
            Some(Err(_)) => Err(None),
            _ if self.messages > MESSAGES_PER_BEAT_MAX => Err(Some(Close::TooMuch)),
            Some(Ok(Message::Pong(_))) => {
                self.unanswered = 0;
                Ok(())
            }
            Some(Ok(_)) => Ok(()),
        }
    }

    /// Shows that the relay lives, and asks whether the other side does.
    async fn beat(&mut self, socket: &mut WebSocket) -> Result<(), Option<Close>> {
        self.messages = 0;
        if self.unanswered >= UNANSWERED_PINGS_MAX {
            return Err(None);
        }
        self.unanswered = self.unanswered.saturating_add(1);
        for message in [
            Message::Text(Utf8Bytes::from_static(r#"{"type":"beat"}"#)),
            Message::Ping(bytes::Bytes::new()),
        ] {
            send(socket, message).await.map_err(|Gone| None)?;
        }
        Ok(())
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Gone> {
    match timeout(WRITE_TIME, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Gone),
    }
}

async fn say_goodbye(socket: &mut WebSocket, close: Close) -> Result<(), Gone> {
    let frame = CloseFrame {
        code: close.code(),
        reason: Utf8Bytes::from_static(close.reason()),
    };
    send(socket, Message::Close(Some(frame))).await?;
    // The other side closes the connection, so that it has read the code for certain.
    let rest = async { while let Some(Ok(_)) = socket.recv().await {} };
    let _ = timeout(WRITE_TIME, rest).await;
    Ok(())
}

fn text_of(frame: &WatchFrame) -> Message {
    let value = match *frame {
        WatchFrame::State {
            last,
            count,
            created_ms,
        } => serde_json::json!({
            "type": "state", "last": last, "count": count, "created": created_ms,
        }),
        WatchFrame::Stored { last, count } => {
            serde_json::json!({"type": "stored", "last": last, "count": count})
        }
        WatchFrame::Pruned { count } => serde_json::json!({"type": "pruned", "count": count}),
        // Said with the close code.
        WatchFrame::Ended(_) => serde_json::json!({"type": "ended"}),
    };
    Message::Text(value.to_string().into())
}
