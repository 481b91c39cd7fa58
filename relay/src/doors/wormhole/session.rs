//! One connection of the wormhole door.
//!
//! Owns: the order of what is sent. A command is handled only when everything about the one
//! before has been handed to the socket; its ack comes first, then what it sends to this
//! connection itself, then its reply, and that only after the commit.
//!
//! Invariants:
//! - frames out are text;
//! - the door closes a connection only when it can't go on with it: a frame that is no object
//!   (1007) or too large (1009), a reader that is too slow (1013), the relay's end (1001);
//! - what a client has sent before it went is done all the same.

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{Instant, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use super::Wormholes;
use super::incoming::{Arrived, Incoming};
use crate::config::WormholeConfig;
use crate::doors::web::is_too_large;
use crate::limits::{WORMHOLE_PING_INTERVAL, WORMHOLE_SILENCE_MAX, WORMHOLE_WRITE_TIME};
use crate::store::Visitor;
use crate::wormhole::{
    Answer, Connection, Frame, Opening, Outcome, Request, Rules, Then, error_text, message_text,
};

/// What a client is told when the store can't do its part; its own fault it is not.
const UNAVAILABLE: &str = "relay unavailable";

/// Why a connection ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ending {
    /// The other side has gone.
    Gone,
    Stopping,
    NotAnObject,
    TooLarge,
    TooSlow,
}

impl Ending {
    fn close(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Gone => return None,
            Self::Stopping => (1001, "going away"),
            Self::NotAnObject => (1007, "not a JSON object"),
            Self::TooLarge => (1009, "too large"),
            Self::TooSlow => (1013, "too slow"),
        };
        let reason = Utf8Bytes::from_static(reason);
        Some(CloseFrame { code, reason })
    }
}

/// What serves one connection.
pub(super) struct Session {
    wormholes: Wormholes,
    rules: Rules,
    connection: Connection,
    visitor: Visitor,
    stopping: CancellationToken,
}

impl Session {
    pub(super) fn new(
        wormholes: Wormholes,
        config: &WormholeConfig,
        stopping: CancellationToken,
    ) -> Self {
        let visitor = wormholes.store.visitor();
        Self {
            wormholes,
            rules: config.rules,
            connection: Connection::new(config.listing),
            visitor,
            stopping,
        }
    }

    /// Serves the connection to its end.
    pub(super) async fn serve(mut self, socket: WebSocket, welcome: String) {
        let (sink, stream) = socket.split();
        let incoming = Incoming::new(self.rules.limits.frame_bytes_max);
        let reading = read_all(stream, &incoming);
        let handling = async {
            let mut outgoing = Outgoing::new(sink);
            outgoing.say(welcome).await;
            outgoing.flush().await;
            let ending = self.handle_all(&incoming, &mut outgoing).await;
            // Whoever waits for its seat to be free shouldn't wait for the goodbye.
            drop(self);
            if let Some(close) = ending.close() {
                outgoing.close(close, &incoming).await;
            }
        };
        tokio::select! {
            () = reading => {}
            () = handling => {}
        }
    }

    async fn handle_all(&mut self, incoming: &Incoming, outgoing: &mut Outgoing) -> Ending {
        let first = Instant::now() + WORMHOLE_PING_INTERVAL;
        let mut pings = interval_at(first, WORMHOLE_PING_INTERVAL);
        let stopping = self.stopping.clone();
        loop {
            let step = tokio::select! {
                arrived = incoming.next() => match arrived {
                    Arrived::Frame(frame) => self.handle(&frame, outgoing).await,
                    Arrived::TooLarge => Err(Ending::TooLarge),
                    Arrived::End => Err(Ending::Gone),
                },
                message = self.visitor.next() => match message {
                    Ok(message) => {
                        outgoing.say(message_text(&message, self.now_ms())).await;
                        self.pass_on(outgoing).await
                    }
                    Err(_) => Err(Ending::TooSlow),
                },
                _ = pings.tick() => {
                    if incoming.heard_at().elapsed() >= WORMHOLE_SILENCE_MAX {
                        return Ending::Gone;
                    }
                    outgoing.send(Message::Ping(axum::body::Bytes::new())).await;
                    Ok(())
                }
                () = stopping.cancelled() => Err(Ending::Stopping),
            };
            if let Err(ending) = step {
                return ending;
            }
            outgoing.flush().await;
            if outgoing.is_broken {
                self.finish(incoming, outgoing).await;
                return Ending::Gone;
            }
        }
    }

    /// Does what the client has still sent before it went.
    async fn finish(&mut self, incoming: &Incoming, outgoing: &mut Outgoing) {
        while let Ok(Arrived::Frame(frame)) = timeout(GOODBYE_TIME, incoming.next()).await {
            if self.handle(&frame, outgoing).await.is_err() {
                return;
            }
        }
    }

    /// Handles one frame, from its ack to its reply.
    async fn handle(&mut self, frame: &[u8], outgoing: &mut Outgoing) -> Result<(), Ending> {
        let now_ms = self.now_ms();
        let Ok(frame) = Frame::read(frame) else {
            let error = "a frame must be one JSON object";
            outgoing.say(error_text(error, None, now_ms)).await;
            return Err(Ending::NotAnObject);
        };
        let reaction = self.connection.handle(&frame, now_ms);
        if let Some(ack) = reaction.ack {
            outgoing.say(ack).await;
        }
        let refusal = match reaction.then {
            Then::Nothing => return Ok(()),
            Then::Say(reply) => {
                outgoing.say(reply.text(now_ms)).await;
                return Ok(());
            }
            Then::Refuse(error) => error,
            Then::Ask(request) => match self.ask(request, outgoing).await? {
                Ok(()) => return Ok(()),
                Err(error) => error,
            },
        };
        let text = error_text(&refusal, Some(frame.text()), self.now_ms());
        outgoing.say(text).await;
        Ok(())
    }

    /// Asks the store, then says what has come of it; the words of a refusal if it is one.
    async fn ask(
        &mut self,
        request: Request,
        outgoing: &mut Outgoing,
    ) -> Result<Result<(), String>, Ending> {
        if matches!(request, Request::Bind(_)) && self.rules.usage_blur_ms.is_none() {
            return Ok(self.answer(Ok(Outcome::Done), outgoing).await);
        }
        let Some(bound) = self.connection.bound() else {
            return Ok(Err(UNAVAILABLE.to_owned()));
        };
        if !self.wormholes.clock.is_set() {
            return Ok(Err(UNAVAILABLE.to_owned()));
        }
        let who = (bound.app.clone(), bound.side.clone());
        let under = (self.rules, self.now_ms());
        let store = &self.wormholes.store;
        let asked = store.ask_wormhole(&self.visitor, who, request, under);
        let Ok(outcome) = asked.await else {
            return Ok(Err(UNAVAILABLE.to_owned()));
        };
        // What was committed before this command comes before its reply.
        let is_open = matches!(outcome, Ok(Outcome::Opened(_)));
        if !is_open {
            self.pass_on(outgoing).await?;
        }
        let replay = match &outcome {
            Ok(Outcome::Opened(opening)) => Some(opening.clone()),
            _ => None,
        };
        let answered = self.answer(outcome, outgoing).await;
        if let Some(opening) = replay {
            return self.replay(&opening, outgoing).await.map(|()| answered);
        }
        Ok(answered)
    }

    async fn answer(
        &mut self,
        outcome: Answer<Outcome>,
        outgoing: &mut Outgoing,
    ) -> Result<(), String> {
        let reply = self.connection.answered(outcome)?;
        if let Some(reply) = reply {
            outgoing.say(reply.text(self.now_ms())).await;
        }
        Ok(())
    }

    /// Sends what was stored before the connection had its seat; the rest is in its queue.
    async fn replay(&self, opening: &Opening, outgoing: &mut Outgoing) -> Result<(), Ending> {
        let mut from = Some(0);
        while let Some(start) = from.filter(|_| !outgoing.is_broken) {
            let range = (start, opening.replay_below);
            let read = self.wormholes.store.replay_wormhole(opening.number, range);
            // A client that has seen only a part must not believe that it has seen all of it.
            let replay = read.await.map_err(|_| Ending::TooSlow)?;
            for message in &replay.messages {
                outgoing.say(message_text(message, self.now_ms())).await;
            }
            outgoing.flush().await;
            from = replay.next;
        }
        Ok(())
    }

    /// Sends everything that is in the queue now.
    async fn pass_on(&self, outgoing: &mut Outgoing) -> Result<(), Ending> {
        while let Some(message) = self.visitor.try_next() {
            let message = message.map_err(|_| Ending::TooSlow)?;
            outgoing.say(message_text(&message, self.now_ms())).await;
        }
        Ok(())
    }

    fn now_ms(&self) -> u64 {
        self.wormholes.clock.now_ms()
    }
}

/// Reads until the other side ends, then waits to be dropped.
async fn read_all(mut stream: SplitStream<WebSocket>, incoming: &Incoming) {
    loop {
        let arrived = match stream.next().await {
            Some(Ok(Message::Text(text))) => Arrived::Frame(text.into()),
            Some(Ok(Message::Binary(bytes))) => Arrived::Frame(bytes),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                incoming.hear();
                continue;
            }
            Some(Ok(Message::Close(_))) | None => break,
            Some(Err(error)) if is_too_large(&error) => {
                incoming.push(Arrived::TooLarge).await;
                break;
            }
            Some(Err(_)) => break,
        };
        incoming.hear();
        incoming.push(arrived).await;
    }
    incoming.push(Arrived::End).await;
    std::future::pending().await
}

/// The writing half. Once it is broken, nothing is written any more and nothing fails.
struct Outgoing {
    sink: SplitSink<WebSocket, Message>,
    is_broken: bool,
}

impl Outgoing {
    fn new(sink: SplitSink<WebSocket, Message>) -> Self {
        Self {
            sink,
            is_broken: false,
        }
    }

    async fn say(&mut self, text: String) {
        self.send(Message::Text(text.into())).await;
    }

    /// Hands a frame to the socket, which may keep it until the next flush.
    async fn send(&mut self, message: Message) {
        if !self.is_broken {
            let sent = timeout(WORMHOLE_WRITE_TIME, self.sink.feed(message)).await;
            self.is_broken = !matches!(sent, Ok(Ok(())));
        }
    }

    async fn flush(&mut self) {
        if !self.is_broken {
            let flushed = timeout(WORMHOLE_WRITE_TIME, self.sink.flush()).await;
            self.is_broken = !matches!(flushed, Ok(Ok(())));
        }
    }

    /// Says why the connection ends and lets the other side close it, so that it has read the
    /// reason for certain.
    async fn close(&mut self, close: CloseFrame, incoming: &Incoming) {
        self.send(Message::Close(Some(close))).await;
        self.flush().await;
        let rest = async { while !matches!(incoming.next().await, Arrived::End) {} };
        if !self.is_broken {
            let _ = timeout(GOODBYE_TIME, rest).await;
        }
    }
}

/// How long the other side may take to close.
const GOODBYE_TIME: std::time::Duration = std::time::Duration::from_secs(2);
