//! What the controller can do to the world in front of the person.
//!
//! Owns the trait only. The controller knows nothing of Tauri; [`crate::desktop`] implements
//! the trait on a real window, and the tests on a record of what happened.

use std::path::PathBuf;

use crate::app_error::AppError;
use crate::catalogue::Language;
use crate::notification::Subject;
use crate::notification::words::Words;
use crate::view::{AppView, MessagesChanged, RelayTestView, Theme};

/// The effects of the controller. All of them return at once.
pub trait Window: Send + Sync + 'static {
    /// Hands a new state to the window.
    fn emit_view(&self, view: &AppView);

    /// Tells the window that rows of messages changed.
    fn emit_messages(&self, change: &MessagesChanged);

    /// Tells the window how far the test of a relay is.
    fn emit_relay_test(&self, test: &RelayTestView);

    /// Brings the tray's menu up to date.
    fn update_tray(&self, tray: TrayView);

    /// Brings the window to the front.
    fn show(&self);

    /// Hides the window; the app goes on in the tray.
    fn hide(&self);

    /// Says outside of the window what closing it did. May take a while.
    fn tell_closed(&self, what: Closing);

    /// Shows a notification, in place of the one about the same subject.
    fn notify(&self, subject: &Subject, words: &Words);

    /// Takes the notification about a subject away.
    fn withdraw(&self, subject: &Subject);

    /// Gives the frame of the window its colours.
    fn set_theme(&self, theme: Theme);

    /// Writes or removes the entry that starts the app at login. May take a while.
    ///
    /// # Errors
    ///
    /// `start-at-login-unavailable`.
    fn set_start_at_login(&self, start: LoginStart) -> Result<(), AppError>;

    /// Mends an entry that leads to nothing. Whether it is in force: not when somebody has
    /// switched it off outside of the app. May take a while.
    ///
    /// # Errors
    ///
    /// `start-at-login-unavailable`.
    fn mend_start_at_login(&self, start: LoginStart) -> Result<bool, AppError>;

    /// Opens an address in the program that the person has for it. It was checked before.
    ///
    /// # Errors
    ///
    /// `link-refused` when there is no such program.
    fn open_link(&self, url: &str) -> Result<(), AppError>;

    /// Asks the person where to save a file; nothing when they choose none. Takes as long as
    /// the person does.
    fn choose_new_file(&self, proposal: &FileProposal) -> Option<PathBuf>;

    /// Asks the person for a file of the kind of the proposal. Takes as long as the person does.
    fn choose_file(&self, proposal: &FileProposal) -> Option<PathBuf>;

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

/// What closing the window did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The app goes on in the tray.
    Hidden,
    /// The app ended, because nothing shows its icon.
    Ended,
}

/// Whether and how the app starts at login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginStart {
    /// Not at all.
    Never,
    /// With its window.
    Shown,
    /// In the tray.
    Hidden,
}

/// A file that the person is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProposal {
    /// The name of a new file.
    pub name: String,
    /// What files of this kind are called, in the person's language.
    pub kind: String,
    /// How their names end.
    pub extension: &'static str,
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
    /// How many delivery issues there are, in all groups.
    pub issues: u64,
    /// Whether there is a group that devices can be admitted to.
    pub may_pair: bool,
    /// Whether notifications are shown at the moment.
    pub muted: bool,
    /// The language of its words.
    pub language: Language,
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
