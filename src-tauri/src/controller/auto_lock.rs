//! When the app locks by itself.
//!
//! Owns the time of the last use. Use is what the person does in the window; what arrives
//! from others is none.

use super::Controller;
use crate::app_error::AppError;
use crate::settings::Preferences;
use crate::view::AutoLock;

impl Controller {
    /// Handles that the person used the window in a way that asks for nothing here, such as
    /// by scrolling. The window says it now and then, not each time.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub fn used(&self) -> Result<(), AppError> {
        self.note_use();
        Ok(())
    }

    /// Handles that the person used the app. What the window does by itself when something
    /// arrives (reading rows, marking them as read, saying what it shows) is no use.
    pub(super) fn note_use(&self) {
        let now_ms = self.now_ms();
        self.state().used_at_ms = now_ms;
    }

    /// Handles that the screen of this computer was locked.
    pub async fn handle_screen_lock(&self) {
        let chosen = self.auto_lock();
        if chosen.is_some_and(|chosen| chosen.auto_lock != AutoLock::Never) {
            // Nothing to lock is locked enough.
            let _ = self.lock().await;
        }
    }

    /// Locks when the app was not used for as long as the person chose.
    pub(super) async fn lock_if_unused(&self) {
        let (now_ms, used_at_ms) = (self.now_ms(), self.state().used_at_ms);
        let chosen = self.auto_lock();
        if chosen.is_some_and(|chosen| is_over(&chosen, used_at_ms, now_ms)) {
            let _ = self.lock().await;
        }
    }

    /// What the person chose, while there is something to lock.
    fn auto_lock(&self) -> Option<Preferences> {
        self.opened().ok()?;
        Some(self.state().preferences)
    }
}

fn is_over(chosen: &Preferences, used_at_ms: u64, now_ms: u64) -> bool {
    const MINUTE_MS: u64 = 60_000;
    let patience = u64::from(chosen.auto_lock_minutes).saturating_mul(MINUTE_MS);
    chosen.auto_lock == AutoLock::AfterMinutes && now_ms.saturating_sub(used_at_ms) >= patience
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_locks_after_the_minutes_and_only_then() {
        let chosen = Preferences {
            auto_lock: AutoLock::AfterMinutes,
            auto_lock_minutes: 2,
            ..Preferences::default()
        };
        assert!(!is_over(&chosen, 1_000, 120_999));
        assert!(is_over(&chosen, 1_000, 121_000));
        // A clock that was set back is no reason.
        assert!(!is_over(&chosen, 200_000, 100_000));
        let never = Preferences {
            auto_lock: AutoLock::Never,
            ..chosen
        };
        assert!(!is_over(&never, 0, u64::MAX));
    }
}
