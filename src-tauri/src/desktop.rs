//! The window and the tray of a desktop: what [`Window`] means there.
//!
//! Owns the Tauri handles. It decides nothing; the controller does.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, Emitter as _, LogicalPosition, LogicalSize, Manager as _, Url, WebviewUrl,
    WebviewWindow, WebviewWindowBuilder,
};
use tauri_plugin_clipboard_manager::ClipboardExt as _;
use tauri_plugin_dialog::{DialogExt as _, FileDialogBuilder, MessageDialogKind};
use tokio::sync::Notify;

use crate::app_error::{AppError, AppErrorCode};
use crate::catalogue::CurrentCatalogue;
use crate::notification::Subject;
use crate::notification::board::{Answer, Board};
use crate::notification::words::Words;
use crate::options::{IDENTIFIER, PRODUCT_NAME};
use crate::start_at_login::LoginEntry;
use crate::tray::{self, Tray, TrayChoice};
use crate::view::{
    AppView, MESSAGES_EVENT, MessagesChanged, RELAY_TEST_EVENT, RelayTestView, Theme, VIEW_EVENT,
};
use crate::web_process;
use crate::window::{Closing, FileProposal, LoginStart, TrayView, Window};
use crate::window_frame::{self, Frame, FrameFile};

/// The label of the only window, which the capabilities name.
const WINDOW_LABEL: &str = "main";

/// A desktop with one window and perhaps a tray.
pub struct Desktop {
    app: AppHandle,
    catalogue: Arc<CurrentCatalogue>,
    tray: OnceLock<Tray>,
    board: OnceLock<Board>,
    login_entry: Option<LoginEntry>,
    frame_file: FrameFile,
    /// The frame of the window while it neither fills the screen nor is minimised.
    frame: Mutex<Option<Frame>>,
    shown: Notify,
}

impl Desktop {
    /// A desktop without anything on it yet.
    pub fn new(
        app: &AppHandle,
        catalogue: Arc<CurrentCatalogue>,
        login_entry: Option<LoginEntry>,
        frame_file: FrameFile,
    ) -> Self {
        Self {
            app: app.clone(),
            catalogue,
            tray: OnceLock::new(),
            board: OnceLock::new(),
            login_entry,
            frame: Mutex::new(frame_file.load()),
            frame_file,
            shown: Notify::new(),
        }
    }

    /// Makes the window. It talks to the app at once, so the app has to be there before.
    ///
    /// # Errors
    ///
    /// Whatever the system refuses a window with.
    pub fn open_window(&self, hidden: bool) -> tauri::Result<()> {
        let screens = self.app.available_monitors().unwrap_or_default();
        let screens: Vec<Frame> = screens.iter().map(screen_frame).collect();
        let opening = window_frame::opening(*self.lock_frame(), &screens);
        let (size, least) = (opening.size, window_frame::SIZE_MIN);
        let mut builder = WebviewWindowBuilder::new(&self.app, WINDOW_LABEL, WebviewUrl::default())
            .title(PRODUCT_NAME)
            .inner_size(size.0.into(), size.1.into())
            .min_inner_size(least.0.into(), least.1.into())
            .maximized(opening.maximised && !hidden)
            .visible(!hidden)
            .on_navigation(is_own_page)
            .on_new_window(|_, _| NewWindowResponse::Deny);
        if let Some((x, y)) = opening.position {
            builder = builder.position(x.into(), y.into());
        }
        builder.build()?;
        if !hidden {
            self.shown.notify_one();
        }
        Ok(())
    }

    /// Puts the icon into the tray, where there can be one.
    pub fn add_tray(&self, on_choice: impl Fn(TrayChoice) + Send + Sync + 'static) {
        if let Some(tray) = Tray::new(&self.app, &self.catalogue.get(), on_choice) {
            // It is added once, while the app is set up.
            let _ = self.tray.set(tray);
        }
    }

    /// Begins to show notifications.
    pub fn add_board(&self, on_answer: impl Fn(Answer) + Send + Sync + 'static) {
        let _ = self.board.set(Board::new(on_answer));
    }

    /// Shows the window as an entry of the task bar only.
    pub fn show_minimised(&self) {
        if let Some(window) = self.window() {
            let _ = window.minimize();
            let _ = window.show();
        }
    }

    /// Whether the person can't find the window without a tray.
    pub fn is_hidden(&self) -> bool {
        let window = self.window();
        window.is_some_and(|window| window.is_visible().is_ok_and(|visible| !visible))
    }

    /// Loads the page anew when its process ends, and calls `on_hopeless` where that is no
    /// help.
    pub fn watch_page(&self, on_hopeless: impl Fn() + Send + 'static) {
        if let Some(window) = self.window() {
            web_process::watch(&window, on_hopeless);
        }
    }

    /// Says in a dialogue of the system that the window can't show anything.
    pub fn tell_page_lost(&self) {
        let catalogue = self.catalogue.get();
        self.app
            .dialog()
            .message(catalogue.attribute("page-lost", "about"))
            .title(catalogue.text("page-lost"))
            .kind(MessageDialogKind::Error)
            .show(|_| {});
    }

    /// Waits until the window was shown for the first time.
    pub async fn until_shown(&self) {
        self.shown.notified().await;
    }

    /// Keeps where the window is, for the next start.
    pub fn note_frame(&self) {
        let Some(window) = self.window() else { return };
        let is_plain = !window.is_minimized().unwrap_or(true)
            && !window.is_maximized().unwrap_or(true)
            && !window.is_fullscreen().unwrap_or(true)
            && window.is_visible().unwrap_or(false);
        if let (true, Some(now)) = (is_plain, frame_of(&window)) {
            *self.lock_frame() = Some(now);
        }
    }

    fn store_frame(&self) {
        let is_maximised = self
            .window()
            .is_some_and(|window| window.is_maximized().unwrap_or(false));
        if let Some(frame) = *self.lock_frame() {
            self.frame_file.store(Frame {
                maximised: is_maximised,
                ..frame
            });
        }
    }

    fn lock_frame(&self) -> std::sync::MutexGuard<'_, Option<Frame>> {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn window(&self) -> Option<WebviewWindow> {
        self.app.get_webview_window(WINDOW_LABEL)
    }

    fn dialog(&self, proposal: &FileProposal) -> FileDialogBuilder<tauri::Wry> {
        let dialog = self.app.dialog().file();
        let dialog = dialog.add_filter(&proposal.kind, &[proposal.extension]);
        match self.window() {
            Some(window) => dialog.set_parent(&window),
            None => dialog,
        }
    }
}

fn screen_frame(monitor: &tauri::Monitor) -> Frame {
    let scale = monitor.scale_factor();
    let position: LogicalPosition<i32> = monitor.position().to_logical(scale);
    let size: LogicalSize<u32> = monitor.size().to_logical(scale);
    Frame {
        x: position.x,
        y: position.y,
        width: size.width,
        height: size.height,
        maximised: false,
    }
}

fn frame_of(window: &WebviewWindow) -> Option<Frame> {
    let scale = window.scale_factor().ok()?;
    let position: LogicalPosition<i32> = window.outer_position().ok()?.to_logical(scale);
    let size: LogicalSize<u32> = window.inner_size().ok()?.to_logical(scale);
    Some(Frame {
        x: position.x,
        y: position.y,
        width: size.width,
        height: size.height,
        maximised: false,
    })
}

/// Whether an address is one of the interface's own pages: nothing else is ever loaded.
fn is_own_page(url: &Url) -> bool {
    let own_host = matches!(url.host_str(), Some("localhost" | "tauri.localhost"));
    let own_scheme = matches!(url.scheme(), "tauri" | "http" | "https");
    own_host && own_scheme
}

impl Window for Desktop {
    fn emit_view(&self, view: &AppView) {
        // A window that is gone needs no news.
        let _ = self.app.emit_to(WINDOW_LABEL, VIEW_EVENT, view);
    }

    fn emit_messages(&self, change: &MessagesChanged) {
        let _ = self.app.emit_to(WINDOW_LABEL, MESSAGES_EVENT, change);
    }

    fn emit_relay_test(&self, test: &RelayTestView) {
        let _ = self.app.emit_to(WINDOW_LABEL, RELAY_TEST_EVENT, test);
    }

    fn update_tray(&self, view: TrayView) {
        let app = self.app.clone();
        let _ = self.app.run_on_main_thread(move || {
            let Some(desktop) = app.try_state::<Arc<Self>>() else {
                return;
            };
            if let Some(tray) = desktop.tray.get() {
                tray.update(view, &desktop.catalogue.get());
            }
        });
    }

    fn show(&self) {
        if let Some(window) = self.window() {
            let _ = window.show();
            let _ = window.unminimize();
            let _ = window.set_focus();
            self.shown.notify_one();
        }
    }

    fn hide(&self) {
        self.note_frame();
        self.store_frame();
        if let Some(window) = self.window() {
            let _ = window.hide();
        }
    }

    fn tell_closed(&self, what: Closing) {
        let key = match what {
            Closing::Hidden => "tray-hidden",
            Closing::Ended => "tray-ended",
        };
        let catalogue = self.catalogue.get();
        // Where nothing shows notifications, there is no other place to say it.
        let _ = notify_rust::Notification::new()
            .appname(PRODUCT_NAME)
            .icon(IDENTIFIER)
            .summary(&catalogue.text(key))
            .body(&catalogue.attribute(key, "about"))
            .show();
    }

    fn notify(&self, subject: &Subject, words: &Words) {
        if let Some(board) = self.board.get() {
            board.show(subject.clone(), words.clone());
        }
    }

    fn withdraw(&self, subject: &Subject) {
        if let Some(board) = self.board.get() {
            board.withdraw(subject.clone());
        }
    }

    fn set_theme(&self, theme: Theme) {
        if let Some(window) = self.window() {
            let _ = window.set_theme(match theme {
                Theme::System => None,
                Theme::Light => Some(tauri::Theme::Light),
                Theme::Dark => Some(tauri::Theme::Dark),
            });
        }
    }

    fn set_start_at_login(&self, start: LoginStart) -> Result<(), AppError> {
        let entry = self.login_entry.as_ref();
        let refused = || AppError::from(AppErrorCode::StartAtLoginUnavailable);
        entry.ok_or_else(refused)?.set(start).map_err(|_| refused())
    }

    fn mend_start_at_login(&self, start: LoginStart) -> Result<bool, AppError> {
        let entry = self.login_entry.as_ref();
        let refused = || AppError::from(AppErrorCode::StartAtLoginUnavailable);
        entry
            .ok_or_else(refused)?
            .mend(start)
            .map_err(|_| refused())
    }

    fn open_link(&self, url: &str) -> Result<(), AppError> {
        tauri_plugin_opener::open_url(url, None::<&str>)
            .map_err(|_| AppErrorCode::LinkRefused.into())
    }

    fn choose_new_file(&self, proposal: &FileProposal) -> Option<PathBuf> {
        let dialog = self.dialog(proposal).set_file_name(&proposal.name);
        dialog.blocking_save_file()?.into_path().ok()
    }

    fn choose_file(&self, proposal: &FileProposal) -> Option<PathBuf> {
        let dialog = self.dialog(proposal);
        dialog.blocking_pick_file()?.into_path().ok()
    }

    fn copy_text(&self, text: &str) -> Result<(), AppError> {
        self.app
            .clipboard()
            .write_text(text)
            .map_err(|_| AppErrorCode::ClipboardUnavailable.into())
    }

    fn has_tray(&self) -> bool {
        self.tray.get().is_some() && tray::host_is_present()
    }

    fn exit(&self) {
        self.store_frame();
        self.app.exit(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_pages_are_loaded() {
        let own = |text: &str| is_own_page(&text.parse().expect("an address"));
        assert!(own("tauri://localhost/index.html"));
        assert!(own("http://tauri.localhost/"));
        assert!(!own("https://example.org/"));
        assert!(!own("https://localhost.example.org/"));
        assert!(!own("file:///etc/passwd"));
        assert!(!own("data:text/html,x"));
    }
}
