//! The watches: when one is opened, when again, what its closing means (specification 5).
//!
//! Frames are hints. A watch on the direction that is read is open while somebody is looking;
//! one on the direction that is written only while that one is full.

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::LINK_SLOTS;
use sealpost_protocol::link::key::Direction;

use super::machine::Link;
use super::retry::Retry;
use super::step::{LinkEffect, WatchClose, WatchEvent};
use super::timing;

/// One watch.
#[derive(Default)]
pub(super) struct Watch {
    /// Until when it may be silent; `None`: it isn't open.
    silent_ms: Option<u64>,
    retry: Retry,
    /// Another watch took its place: not again before somebody looks.
    is_held: bool,
}

impl Watch {
    /// The clock was set back: nothing may wait for the old time.
    pub(super) fn rebase(&mut self, now_ms: u64) {
        self.retry.hurry();
        if self.silent_ms.is_some() {
            self.silent_ms = Some(now_ms.saturating_add(timing::WATCH_SILENCE_MS));
        }
    }

    fn next_timer(&self, now_ms: u64, is_wanted: bool) -> Option<u64> {
        self.silent_ms.or_else(|| {
            self.retry
                .until(now_ms)
                .filter(|_| is_wanted && !self.is_held)
        })
    }
}

impl Link {
    /// The shell's watch on a direction saw something.
    pub fn handle_watch(
        &mut self,
        direction: Direction,
        event: WatchEvent,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        self.enter(now_ms);
        let watch = self.watch_mut(direction);
        if watch.silent_ms.is_none() || self.is_over {
            return;
        }
        self.watch_mut(direction).silent_ms = Some(now_ms.saturating_add(timing::WATCH_SILENCE_MS));
        let is_own = direction == self.role.writes();
        match event {
            WatchEvent::State {
                count, created_ms, ..
            } => {
                self.watch_mut(direction).retry.reset();
                self.note_created(created_ms);
                if is_own && count < LINK_SLOTS as u64 {
                    self.unblock();
                }
                self.wants_fetch |= !is_own;
            }
            WatchEvent::Stored { .. } => self.wants_fetch |= !is_own,
            WatchEvent::Pruned => {
                if is_own {
                    self.unblock();
                }
            }
            WatchEvent::Beat => {}
            WatchEvent::Closed(close) => self.watch_closed(direction, close, now_ms, rng),
        }
        self.pump(now_ms, rng);
    }

    fn watch_closed(
        &mut self,
        direction: Direction,
        close: WatchClose,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        if close == WatchClose::Erased {
            self.end_by_close(now_ms);
            return;
        }
        let watch = self.watch_mut(direction);
        watch.silent_ms = None;
        match close {
            WatchClose::OverLimit => watch.retry.wait(timing::WATCH_LIMIT_MS, now_ms),
            WatchClose::Replaced => watch.is_held = true,
            _ => watch.retry.fail(timing::WATCH_BACKOFF_MAX_MS, now_ms, rng),
        }
        if close == WatchClose::Expired {
            self.claimed_at_ms = None;
            self.needs_claim = true;
        }
        if !matches!(close, WatchClose::Replaced | WatchClose::OverLimit) {
            // The relay may have gone and come back with less than it had. The page's status
            // tells, too, what a refused upgrade doesn't.
            self.doubt_relay();
            self.wants_fetch |= direction == self.role.reads();
        }
    }

    /// Opens and closes watches as they are wanted now.
    pub(super) fn pump_watches(&mut self, now_ms: u64) {
        for direction in Direction::ALL {
            let is_wanted = self.is_watch_wanted(direction);
            // One that is open stays when the mailbox isn't there any more: why, its close
            // frame says.
            let is_here = self.claimed_at_ms.is_some();
            let watch = self.watch_mut(direction);
            let is_silent = watch.silent_ms.is_some_and(|at_ms| at_ms <= now_ms);
            if watch.silent_ms.is_some() && (!is_wanted || is_silent) {
                watch.silent_ms = None;
                self.step.effects.push(LinkEffect::CloseWatch(direction));
                if is_silent {
                    self.doubt_relay();
                }
            }
            let watch = self.watch_mut(direction);
            let may_open = is_here && watch.retry.until(now_ms).is_none() && !watch.is_held;
            if is_wanted && watch.silent_ms.is_none() && may_open {
                watch.silent_ms = Some(now_ms.saturating_add(timing::WATCH_SILENCE_MS));
                self.step.effects.push(LinkEffect::OpenWatch(direction));
            }
        }
    }

    fn is_watch_wanted(&self, direction: Direction) -> bool {
        let is_needed = direction == self.role.reads() || self.sending.blocked_until_ms.is_some();
        self.is_visible && is_needed && !self.is_standing_still() && !self.is_over
    }

    /// Somebody looks, or the network is back: watches are tried at once.
    pub(super) fn hurry_watches(&mut self) {
        for direction in Direction::ALL {
            let watch = self.watch_mut(direction);
            watch.retry.hurry();
            watch.is_held = false;
        }
    }

    pub(super) fn next_watch_timer(&self, now_ms: u64) -> Option<u64> {
        Direction::ALL
            .into_iter()
            .filter_map(|direction| {
                let watch = if direction == Direction::AToB {
                    &self.watches.0
                } else {
                    &self.watches.1
                };
                let is_wanted = self.is_watch_wanted(direction) && self.claimed_at_ms.is_some();
                watch.next_timer(now_ms, is_wanted)
            })
            .min()
    }

    pub(super) const fn watch_mut(&mut self, direction: Direction) -> &mut Watch {
        match direction {
            Direction::AToB => &mut self.watches.0,
            Direction::BToA => &mut self.watches.1,
        }
    }
}
