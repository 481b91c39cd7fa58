//! A wormhole that lasts as long as the program wants it to.

use std::sync::Arc;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::wormhole::Application;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use zeroize::Zeroizing;

use super::socket::Socket;
use crate::clock::Clock;
use crate::core::wormhole::{
    SendError, Start, Wormhole, WormholeEffect, WormholeEnd, WormholeEvent,
};
use crate::engine::BoxFuture;
use crate::link::{LinkFailure, RelayUrl};

/// How long leaving the mailbox may take.
const LEAVE_MAX: Duration = Duration::from_secs(5);

/// Longer than this the task never sleeps without looking at the clock.
const NAP_MAX_MS: u64 = 60_000;

/// What happens at a meeting.
#[derive(Debug, PartialEq, Eq)]
pub enum MeetingEvent {
    /// The wormhole says something.
    Said(WormholeEvent),
    /// The server can't be reached; it is tried again.
    Unreached(LinkFailure),
}

enum Call {
    Send(Zeroizing<Vec<u8>>, oneshot::Sender<Result<u64, SendError>>),
    Close(WormholeEnd),
}

/// A handle of a running wormhole. Dropping it leaves the mailbox.
pub struct Meeting {
    calls: mpsc::UnboundedSender<Call>,
    events: mpsc::UnboundedReceiver<MeetingEvent>,
    task: tokio::task::JoinHandle<()>,
}

impl Meeting {
    /// Begins one at a relay's web door; it ends by itself when nobody has come `life_ms` from
    /// now. Needs a tokio runtime.
    #[must_use]
    pub fn begin(
        url: RelayUrl,
        app: Application,
        start: Start,
        life_ms: Option<u64>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (calls, inbox) = mpsc::unbounded_channel();
        let (outbox, events) = mpsc::unbounded_channel();
        let now_ms = clock.now_ms();
        let deadline_ms = life_ms.map(|life_ms| now_ms.saturating_add(life_ms));
        let host = Host {
            machine: Wormhole::new(app, start, deadline_ms, now_ms, &mut OsRng),
            url,
            clock,
            socket: None,
            opening: None,
            outbox,
            frames: 0,
        };
        let task = tokio::spawn(host.run(inbox));
        Self {
            calls,
            events,
            task,
        }
    }

    /// What happens next; nothing once the mailbox is left.
    pub async fn next(&mut self) -> Option<MeetingEvent> {
        self.events.recv().await
    }

    /// Sends a message; its place, from 0.
    ///
    /// # Errors
    ///
    /// See [`SendError`].
    pub async fn send(&self, plaintext: Zeroizing<Vec<u8>>) -> Result<u64, SendError> {
        let (answer, answered) = oneshot::channel();
        self.calls
            .send(Call::Send(plaintext, answer))
            .map_err(|_| SendError::Ended)?;
        answered.await.unwrap_or(Err(SendError::Ended))
    }

    /// Leaves the mailbox, behind what was sent if all is said; waits for that a while.
    pub async fn close(self, end: WormholeEnd) {
        let _ = self.calls.send(Call::Close(end));
        let _ = tokio::time::timeout(LEAVE_MAX, self.task).await;
    }
}

struct Host {
    machine: Wormhole,
    url: RelayUrl,
    clock: Arc<dyn Clock>,
    socket: Option<Socket>,
    opening: Option<BoxFuture<Result<Socket, LinkFailure>>>,
    outbox: mpsc::UnboundedSender<MeetingEvent>,
    frames: u64,
}

/// What woke the task.
enum Woken {
    Called(Option<Call>),
    Opened(Box<Result<Socket, LinkFailure>>),
    Heard(Option<String>),
    Late,
}

impl Host {
    async fn run(mut self, mut calls: mpsc::UnboundedReceiver<Call>) {
        let mut is_held = true;
        self.machine.handle_timer(self.clock.now_ms(), &mut OsRng);
        self.settle().await;
        while !self.machine.is_over() {
            let nap = self.nap();
            let woken = tokio::select! {
                call = calls.recv(), if is_held => Woken::Called(call),
                opened = opened(&mut self.opening) => Woken::Opened(Box::new(opened)),
                heard = heard(&mut self.socket) => Woken::Heard(heard),
                () = sleep(nap) => Woken::Late,
            };
            is_held &= !matches!(woken, Woken::Called(None));
            self.wake(woken);
            self.settle().await;
        }
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
    }

    fn nap(&self) -> Duration {
        let now_ms = self.clock.now_ms();
        let timer = self.machine.next_timer();
        let nap_ms = timer.map_or(NAP_MAX_MS, |at_ms| at_ms.saturating_sub(now_ms));
        Duration::from_millis(nap_ms.min(NAP_MAX_MS))
    }

    fn wake(&mut self, woken: Woken) {
        let now_ms = self.clock.now_ms();
        match woken {
            Woken::Called(Some(Call::Send(plaintext, answer))) => {
                let _ = answer.send(self.machine.send(&plaintext, &mut OsRng));
            }
            Woken::Called(Some(Call::Close(end))) => {
                self.machine.close(end, now_ms, &mut OsRng);
            }
            // Nobody is interested any more.
            Woken::Called(None) => {
                self.machine
                    .close(WormholeEnd::Cancelled, now_ms, &mut OsRng);
            }
            Woken::Opened(opened) => self.take_socket(*opened, now_ms),
            Woken::Heard(Some(text)) => {
                self.machine.handle_frame(&text, now_ms, &mut OsRng);
            }
            Woken::Heard(None) => {
                self.socket = None;
                self.machine.handle_lost(now_ms, &mut OsRng);
            }
            Woken::Late => self.machine.handle_timer(now_ms, &mut OsRng),
        }
    }

    fn take_socket(&mut self, opened: Result<Socket, LinkFailure>, now_ms: u64) {
        self.opening = None;
        match opened {
            Ok(socket) => {
                self.socket = Some(socket);
                self.machine.handle_connected(now_ms);
            }
            Err(failure) => {
                tracing::debug!(code = failure.code(), "no mailbox server");
                let _ = self.outbox.send(MeetingEvent::Unreached(failure));
                self.machine.handle_lost(now_ms, &mut OsRng);
            }
        }
    }

    /// Carries out what the machine asks for. There is nothing to commit.
    async fn settle(&mut self) {
        for effect in self.machine.drain().effects {
            match effect {
                WormholeEffect::Connect => {
                    let url = self.url.clone();
                    self.opening = Some(Box::pin(async move { Socket::open(&url).await }));
                }
                WormholeEffect::Disconnect => {
                    self.opening = None;
                    if let Some(socket) = self.socket.take() {
                        socket.close().await;
                    }
                }
                WormholeEffect::Send(frame) => {
                    self.frames = self.frames.saturating_add(1);
                    if let Some(socket) = &mut self.socket
                        && !socket.send(frame.encode(self.frames)).await
                    {
                        self.socket = None;
                        let now_ms = self.clock.now_ms();
                        self.machine.handle_lost(now_ms, &mut OsRng);
                    }
                }
                WormholeEffect::Tell(event) => {
                    let _ = self.outbox.send(MeetingEvent::Said(event));
                }
            }
        }
    }
}

async fn opened(
    opening: &mut Option<BoxFuture<Result<Socket, LinkFailure>>>,
) -> Result<Socket, LinkFailure> {
    match opening {
        Some(opening) => opening.await,
        None => std::future::pending().await,
    }
}

async fn heard(socket: &mut Option<Socket>) -> Option<String> {
    match socket {
        Some(socket) => socket.next().await,
        None => std::future::pending().await,
    }
}
