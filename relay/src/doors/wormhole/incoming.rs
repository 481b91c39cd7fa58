//! Frames that have come and wait for their turn.
//!
//! Reading goes on while a connection is being written to, so that pings are answered however
//! slowly the other side reads. Invariant: the bytes that wait are bounded; one frame of any
//! allowed size always fits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What a frame costs beside its bytes.
const FRAME_OVERHEAD: usize = 256;

/// Something that came.
#[derive(Debug)]
pub(super) enum Arrived {
    /// A frame.
    Frame(Bytes),
    /// A frame above the limit.
    TooLarge,
    /// The end.
    End,
}

struct State {
    frames: VecDeque<Arrived>,
    bytes: usize,
    heard_at: Instant,
}

/// The queue between the reading and the handling of one connection.
pub(super) struct Incoming {
    state: Mutex<State>,
    bytes_max: usize,
    arrived: Notify,
    taken: Notify,
}

impl Incoming {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            state: Mutex::new(State {
                frames: VecDeque::new(),
                bytes: 0,
                heard_at: Instant::now(),
            }),
            bytes_max,
            arrived: Notify::new(),
            taken: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a sign of life.
    pub(super) fn hear(&self) {
        self.lock().heard_at = Instant::now();
    }

    /// When the last sign of life came.
    pub(super) fn heard_at(&self) -> Instant {
        self.lock().heard_at
    }

    /// Puts something in the queue, once there is room.
    pub(super) async fn push(&self, arrived: Arrived) {
        let bytes = cost_of(&arrived);
        loop {
            let room = self.taken.notified();
            {
                let mut state = self.lock();
                if state.frames.is_empty() || state.bytes.saturating_add(bytes) <= self.bytes_max {
                    state.bytes = state.bytes.saturating_add(bytes);
                    state.frames.push_back(arrived);
                    break;
                }
            }
            room.await;
        }
        self.arrived.notify_one();
    }

    /// Takes the next one out of the queue.
    pub(super) async fn next(&self) -> Arrived {
        loop {
            let arrival = self.arrived.notified();
            if let Some(next) = self.try_next() {
                return next;
            }
            arrival.await;
        }
    }

    fn try_next(&self) -> Option<Arrived> {
        let mut state = self.lock();
        let next = state.frames.pop_front()?;
        state.bytes = state.bytes.saturating_sub(cost_of(&next));
        if state.frames.is_empty() {
            // Most connections are idle for most of their time.
            state.frames = VecDeque::new();
        }
        drop(state);
        self.taken.notify_one();
        Some(next)
    }
}

fn cost_of(arrived: &Arrived) -> usize {
    match arrived {
        Arrived::Frame(frame) => frame.len().saturating_add(FRAME_OVERHEAD),
        Arrived::TooLarge | Arrived::End => FRAME_OVERHEAD,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn reading_waits_for_room_and_one_large_frame_always_fits() {
        let incoming = Incoming::new(1_000);
        let push = |bytes| {
            let frame = Arrived::Frame(vec![0; bytes].into());
            incoming.push(frame).now_or_never()
        };
        assert!(push(5_000).is_some());
        assert!(push(1).is_none());
        assert!(matches!(
            incoming.next().now_or_never(),
            Some(Arrived::Frame(_))
        ));
        assert!(push(1).is_some());
        assert!(push(1).is_some());
        assert!(push(600).is_none());
    }
}
