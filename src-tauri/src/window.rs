//! What the controller can do to the world in front of the person.
//!
//! Owns the trait only. The controller knows nothing of Tauri; [`crate::desktop`] implements
//! the trait on a real window, and the tests on a record of what happened.

use crate::app_error::AppError;
use crate::view::{AppView, MessagesChanged};

/// The effects of the controller. All of them return at once.
pub trait Window: Send + Sync + 'static {
    /// Hands a new state to the window.
    fn emit_view(&self, view: &AppView);

    /// Tells the window that rows of messages changed.
    fn emit_messages(&self, change: &MessagesChanged);

    /// Brings the tray's menu up to date.
    fn update_tray(&self, tray: TrayView);

    /// Brings the window to the front.
    fn show(&self);

    /// Hides the window; the app goes on in the tray.
    fn hide(&self);

    /// Says outside of the window that the app goes on in the tray. May take a while.
    fn tell_hidden(&self);

    /// Puts a text on the clipboard.
    ///
    /// # Errors
    ///
    /// `clipboard-unavailable` when the system has none or refuses.
    fn copy_text(&self, text: &str) -> Result<(), AppError>;

    /// Whether a tray shows the app's icon, so that a hidden window can be found again.
    fn has_tray(&self) -> bool;

    /// Ends the program. Everything is closed already.
    fn exit(&self);
}

/// What the tray shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrayView {
    /// The first line of its menu.
    pub status: TrayStatus,
    /// Whether the relay on this computer is switched on.
    pub relay_on: bool,
    /// Whether it can be switched now.
    pub relay_ready: bool,
    /// How many messages were not read yet, in all groups.
    pub unread: u64,
}

/// The first line of the tray's menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrayStatus {
    /// The app is coming up.
    Starting,
    /// The app can't go on without the person.
    NeedsAttention,
    /// There is no group yet.
    NoGroup,
    /// All groups reach their relays.
    Connected,
    /// Some do not.
    PartlyConnected {
        /// How many do.
        connected: usize,
        /// How many groups there are.
        groups: usize,
    },
    /// None does.
    NotConnected,
}
