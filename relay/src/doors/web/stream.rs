//! A connection of the web door: plain or TLS, and a moment at which it ends.
//!
//! Invariant: every connection has such a moment, but for a watch, which sees to itself:
//! nobody who says nothing, says it slowly or doesn't read keeps a connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_rustls::server::TlsStream;

/// What a connection waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// The first byte of a request, or the reading of the last answer.
    Idle,
    /// The rest of a header, a body, or an answer.
    Busy,
    /// Nothing of its own: it has become a watch.
    Watch,
}

#[derive(Debug)]
struct Times {
    phase: Phase,
    ends_at: Instant,
}

/// The moment at which a connection ends, as what serves it sees and sets it.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    times: Arc<Mutex<Times>>,
    header_read: Duration,
}

impl Deadline {
    /// A connection that is new, and has as long for its first header as for any.
    pub(crate) fn new(header_read: Duration) -> Self {
        let times = Times {
            phase: Phase::Busy,
            ends_at: Instant::now() + header_read,
        };
        Self {
            times: Arc::new(Mutex::new(times)),
            header_read,
        }
    }

    fn set(&self, phase: Phase, after: Duration) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.phase = phase;
        times.ends_at = Instant::now() + after;
    }

    /// A header was read; its body may take so long.
    pub(crate) fn begin_body(&self, body_read: Duration) {
        self.set(Phase::Busy, body_read);
    }

    /// A request was answered; reading that and the next request may take so long.
    pub(crate) fn answered(&self, idle: Duration) {
        let is_watch = {
            let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            times.phase == Phase::Watch
        };
        if !is_watch {
            self.set(Phase::Idle, idle);
        }
    }

    /// The connection becomes a watch.
    pub(crate) fn watch(&self) {
        self.times
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .phase = Phase::Watch;
    }

    /// The first byte of a request is here.
    fn arrived(&self) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if times.phase == Phase::Idle {
            times.phase = Phase::Busy;
            times.ends_at = Instant::now() + self.header_read;
        }
    }

    fn ends_at(&self) -> Option<Instant> {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        (times.phase != Phase::Watch).then_some(times.ends_at)
    }
}

/// Plain or TLS.
#[expect(
    clippy::large_enum_variant,
    reason = "one per connection, and TLS is the rule"
)]
pub(crate) enum WebStream {
    /// As it comes.
    Plain(TcpStream),
    /// Decrypted.
    Tls(TlsStream<TcpStream>),
}

impl WebStream {
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

/// A connection that fails once its time is over, and holds a place for as long as it lives.
pub(crate) struct TimedStream<Place> {
    stream: WebStream,
    deadline: Deadline,
    timer: Pin<Box<Sleep>>,
    _place: Place,
}

impl<Place: Unpin> TimedStream<Place> {
    pub(crate) fn new(stream: WebStream, deadline: Deadline, place: Place) -> Self {
        Self {
            stream,
            deadline,
            timer: Box::pin(sleep_until(Instant::now())),
            _place: place,
        }
    }

    /// Runs `step` unless the time is over, and is woken when it is.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        step: impl FnOnce(&mut WebStream, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Some(ends_at) = self.deadline.ends_at() {
            if self.timer.deadline() != ends_at {
                self.timer.as_mut().reset(ends_at);
            }
            if self.timer.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        step(&mut self.stream, context)
    }
}

impl<Place: Unpin> AsyncRead for TimedStream<Place> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.in_time(context, |stream, context| stream.poll_read(context, buffer));
        if buffer.filled().len() > before {
            self.deadline.arrived();
        }
        read
    }
}

impl<Place: Unpin> AsyncWrite for TimedStream<Place> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(context, |stream, context| stream.poll_shutdown(context))
    }
}
