//! What has to be looked at from time to time.
//!
//! Owns the one slow loop of the app: pairing windows whose time is over, the numbers and
//! the addresses of the relay on this computer, and a clock that jumped because the
//! computer slept.

use std::sync::Weak;
use std::time::Duration;

use super::{Controller, Shared};
use crate::view::CohesionView;

/// How often it is looked.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many looks there are between two at the addresses of this computer.
const LOOKS_PER_ADDRESSES: u32 = 5;

/// A jump of the clock by more than this means that the computer slept.
const SLEPT_MS: u64 = 30_000;

/// Looks until the app is gone.
pub(super) async fn run(app: Weak<Shared>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last_ms = None;
    for look in (0..LOOKS_PER_ADDRESSES).cycle() {
        ticks.tick().await;
        let Some(shared) = app.upgrade() else { return };
        let controller = Controller { shared };
        let now_ms = controller.now_ms();
        let slept = last_ms.is_some_and(|last| now_ms.saturating_sub(last) > SLEPT_MS);
        last_ms = Some(now_ms);
        controller.look_around(slept, look == 0).await;
    }
}

impl Controller {
    async fn look_around(&self, slept: bool, with_addresses: bool) {
        if slept {
            self.wake_engines();
        }
        self.lock_if_unused().await;
        self.close_expired_windows().await;
        self.refresh_numbers();
        if slept || with_addresses {
            self.refresh_addresses().await;
            self.look_at_trouble();
        }
    }

    /// A group that doesn't hold together is asked again: it may mend without a message.
    fn look_at_trouble(&self) {
        let mut has_trouble = false;
        for group in self.state().groups.values_mut() {
            if group.counted.cohesion != CohesionView::Whole {
                group.changes = group.changes.wrapping_add(1);
                has_trouble = true;
            }
        }
        if has_trouble {
            self.changed();
        }
    }

    /// After a sleep the connections are dead and the timers late.
    fn wake_engines(&self) {
        for (_, engine) in self.engines() {
            engine.wake();
            engine.reconnect();
        }
    }
}
