//! The window and the tray of a desktop: what [`Window`] means there.
//!
//! Owns the Tauri handles. It decides nothing; the controller does.

use std::sync::{Arc, OnceLock};

use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, Emitter as _, Manager as _, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
};
use tauri_plugin_clipboard_manager::ClipboardExt as _;

use crate::app_error::{AppError, AppErrorCode};
use crate::catalogue::Catalogue;
use crate::options::IDENTIFIER;
use crate::tray::{self, Tray, TrayChoice};
use crate::view::{AppView, MESSAGES_EVENT, MessagesChanged, VIEW_EVENT};
use crate::window::{TrayView, Window};

/// The product's name, which is the same in all languages.
pub const PRODUCT_NAME: &str = "Sealpost";

/// The label of the only window, which the capabilities name.
const WINDOW_LABEL: &str = "main";

/// The size of a new window, in logical pixels.
const WINDOW_SIZE: (f64, f64) = (960.0, 680.0);

/// The smallest size at which everything can be used, in logical pixels.
const WINDOW_SIZE_MIN: (f64, f64) = (360.0, 480.0);

/// A desktop with one window and perhaps a tray.
pub struct Desktop {
    app: AppHandle,
    catalogue: Arc<Catalogue>,
    tray: OnceLock<Tray>,
}

impl Desktop {
    /// A desktop without anything on it yet.
    pub fn new(app: &AppHandle, catalogue: Arc<Catalogue>) -> Self {
        Self {
            app: app.clone(),
            catalogue,
            tray: OnceLock::new(),
        }
    }

    /// Makes the window. It talks to the app at once, so the app has to be there before.
    ///
    /// # Errors
    ///
    /// Whatever the system refuses a window with.
    pub fn open_window(&self, hidden: bool) -> tauri::Result<()> {
        WebviewWindowBuilder::new(&self.app, WINDOW_LABEL, WebviewUrl::default())
            .title(PRODUCT_NAME)
            .inner_size(WINDOW_SIZE.0, WINDOW_SIZE.1)
            .min_inner_size(WINDOW_SIZE_MIN.0, WINDOW_SIZE_MIN.1)
            .visible(!hidden)
            .on_navigation(is_own_page)
            .on_new_window(|_, _| NewWindowResponse::Deny)
            .build()?;
        Ok(())
    }

    /// Puts the icon into the tray, where there can be one.
    pub fn add_tray(&self, on_choice: impl Fn(TrayChoice) + Send + Sync + 'static) {
        if let Some(tray) = Tray::new(&self.app, &self.catalogue, on_choice) {
            // It is added once, while the app is set up.
            let _ = self.tray.set(tray);
        }
    }

    /// Shows the window as an entry of the task bar only.
    pub fn show_minimised(&self) {
        if let Some(window) = self.window() {
            let _ = window.minimize();
            let _ = window.show();
        }
    }

    fn window(&self) -> Option<WebviewWindow> {
        self.app.get_webview_window(WINDOW_LABEL)
    }
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

    fn update_tray(&self, view: TrayView) {
        let app = self.app.clone();
        let _ = self.app.run_on_main_thread(move || {
            let Some(desktop) = app.try_state::<Arc<Self>>() else {
                return;
            };
            if let Some(tray) = desktop.tray.get() {
                tray.update(view, &desktop.catalogue);
            }
        });
    }

    fn show(&self) {
        if let Some(window) = self.window() {
            let _ = window.show();
            let _ = window.unminimize();
            let _ = window.set_focus();
        }
    }

    fn hide(&self) {
        if let Some(window) = self.window() {
            let _ = window.hide();
        }
    }

    fn tell_hidden(&self) {
        // Where nothing shows notifications, the icon in the tray has to be enough.
        let _ = notify_rust::Notification::new()
            .appname(PRODUCT_NAME)
            .icon(IDENTIFIER)
            .summary(&self.catalogue.text("tray-hidden"))
            .body(&self.catalogue.attribute("tray-hidden", "about"))
            .show();
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
