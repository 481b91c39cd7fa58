//! A clock that was set while this program ran.
//!
//! Owns what becomes of the times from which something's age is counted. A clock that was
//! wrong and is set right makes nothing old: what was queued under the wrong one is as old as
//! it was before, and isn't given up for it.

use super::timing;

/// By how much the clock jumped, against the time that this process counted itself.
#[derive(Clone, Copy, Debug)]
pub struct ClockJump {
    /// Forward, or back where it is negative, in ms.
    pub by_ms: i64,
    /// What it shows now, in Unix ms.
    pub now_ms: u64,
}

impl ClockJump {
    /// Whether it is so far that ages have to be counted anew. A computer that slept for a few
    /// days looks the same, and then they are right.
    pub(super) const fn is_far(self) -> bool {
        self.by_ms.unsigned_abs() >= timing::CLOCK_JUMP_MS
    }

    /// A time of before, on the clock of now; nothing was queued later than now.
    pub(super) fn rebase(self, at_ms: u64) -> u64 {
        at_ms.saturating_add_signed(self.by_ms).min(self.now_ms)
    }
}
