//! The icon in the tray and its menu.
//!
//! Owns the menu. Everything in it can be reached in the window too, because many desktops
//! have no tray. The first line says how things stand and can't be chosen; a click on the
//! icon does nothing that the menu doesn't, because Linux reports no such click.
//!
//! Building the icon needs a system library that may be missing, and the crate below panics
//! then. That panic ends here, and the app goes on without a tray.

use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use fluent_bundle::FluentArgs;
use tauri::image::Image;
use tauri::menu::{CheckMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Wry, include_image};

use crate::catalogue::Catalogue;
use crate::desktop::PRODUCT_NAME;
use crate::window::{TrayStatus, TrayView};

const ICON_ID: &str = "main";
const STATUS_ID: &str = "status";
const SHOW_ID: &str = "show";
const RELAY_ID: &str = "relay";
const QUIT_ID: &str = "quit";

/// What a person chose in the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrayChoice {
    /// Show the window.
    Show,
    /// Switch the relay on this computer.
    SwitchRelay,
    /// End the program.
    Quit,
}

impl TrayChoice {
    fn of(event: &MenuEvent) -> Option<Self> {
        match event.id().as_ref() {
            SHOW_ID => Some(Self::Show),
            RELAY_ID => Some(Self::SwitchRelay),
            QUIT_ID => Some(Self::Quit),
            _ => None,
        }
    }
}

/// The icon while the relay on this computer is off.
const PLAIN_ICON: Image<'_> = include_image!("icons/tray.png");

/// The icon while it is on.
const RELAY_ICON: Image<'_> = include_image!("icons/tray-relay-on.png");

/// The icon and the parts of its menu that change.
pub struct Tray {
    icon: TrayIcon<Wry>,
    shows_relay: AtomicBool,
    status: MenuItem<Wry>,
    relay: CheckMenuItem<Wry>,
}

impl Tray {
    /// Puts the icon into the tray. Nothing when this computer can't show one.
    pub fn new(
        app: &AppHandle,
        catalogue: &Catalogue,
        on_choice: impl Fn(TrayChoice) + Send + Sync + 'static,
    ) -> Option<Self> {
        let hook = panic::take_hook();
        // A missing library is no fault of ours that anybody should read a trace of.
        panic::set_hook(Box::new(|_| {}));
        let built = catch_unwind(AssertUnwindSafe(|| Self::build(app, catalogue, on_choice)));
        panic::set_hook(hook);
        match built {
            Ok(Ok(tray)) => Some(tray),
            Ok(Err(_)) | Err(_) => {
                tracing::warn!("there is no tray icon: the system's library for it is missing");
                None
            }
        }
    }

    fn build(
        app: &AppHandle,
        catalogue: &Catalogue,
        on_choice: impl Fn(TrayChoice) + Send + Sync + 'static,
    ) -> tauri::Result<Self> {
        let no_key = None::<&str>;
        let starting = status_text(catalogue, TrayStatus::Starting);
        let status = MenuItem::with_id(app, STATUS_ID, starting, false, no_key)?;
        let show = MenuItem::with_id(app, SHOW_ID, catalogue.text("tray-show"), true, no_key)?;
        let relay_text = catalogue.text("tray-relay");
        let relay = CheckMenuItem::with_id(app, RELAY_ID, relay_text, false, false, no_key)?;
        let quit = MenuItem::with_id(app, QUIT_ID, catalogue.text("tray-quit"), true, no_key)?;
        let line = || PredefinedMenuItem::separator(app);
        let items = [
            &status as &dyn tauri::menu::IsMenuItem<Wry>,
            &show,
            &line()?,
            &relay,
        ];
        let menu = Menu::with_items(app, &items)?;
        menu.append_items(&[&line()?, &quit])?;
        let builder = TrayIconBuilder::with_id(ICON_ID)
            .icon(PLAIN_ICON)
            .menu(&menu)
            .tooltip(PRODUCT_NAME)
            .show_menu_on_left_click(true)
            .on_menu_event(move |_, event| {
                if let Some(choice) = TrayChoice::of(&event) {
                    on_choice(choice);
                }
            });
        Ok(Self {
            icon: builder.build(app)?,
            shows_relay: AtomicBool::new(false),
            status,
            relay,
        })
    }

    /// Brings the menu up to date. To be called on the main thread.
    pub fn update(&self, view: TrayView, catalogue: &Catalogue) {
        let text = status_text(catalogue, view.status);
        // A menu that can't be changed is one that is going away. What it shows is compared,
        // because a click has moved the tick already, whatever came of it.
        if self.status.text().ok().as_ref() != Some(&text) {
            let _ = self.icon.set_tooltip(Some(&text));
            let _ = self.status.set_text(text);
        }
        if self.relay.is_checked().ok() != Some(view.relay_on) {
            let _ = self.relay.set_checked(view.relay_on);
        }
        if self.relay.is_enabled().ok() != Some(view.relay_ready) {
            let _ = self.relay.set_enabled(view.relay_ready);
        }
        if self.shows_relay.swap(view.relay_on, Ordering::Relaxed) != view.relay_on {
            let icon = if view.relay_on {
                RELAY_ICON
            } else {
                PLAIN_ICON
            };
            let _ = self.icon.set_icon(Some(icon));
        }
    }
}

fn status_text(catalogue: &Catalogue, status: TrayStatus) -> String {
    let mut arguments = FluentArgs::new();
    let key = match status {
        TrayStatus::Starting | TrayStatus::NeedsAttention => "tray-status-closed",
        TrayStatus::NoGroup => "tray-status-no-group",
        TrayStatus::Connected => "tray-status-ready",
        TrayStatus::NotConnected => "tray-status-waiting",
        TrayStatus::PartlyConnected { connected, groups } => {
            arguments.set("connected", connected);
            arguments.set("groups", groups);
            "tray-status-partly"
        }
    };
    catalogue.text_with(key, &arguments)
}

/// Whether something on this computer shows tray icons now.
///
/// On Linux that is the owner of a name on the session bus, which comes and goes with the
/// desktop's panel. The call blocks for as long as the bus takes to answer.
#[cfg(target_os = "linux")]
pub fn host_is_present() -> bool {
    const WATCHER: &str = "org.kde.StatusNotifierWatcher";
    let ask = || -> zbus::Result<bool> {
        let bus = zbus::blocking::Connection::session()?;
        let bus = zbus::blocking::fdo::DBusProxy::new(&bus)?;
        Ok(bus.name_has_owner(WATCHER.try_into()?)?)
    };
    ask().unwrap_or(false)
}

/// Whether something on this computer shows tray icons now: these systems always do.
#[cfg(not(target_os = "linux"))]
pub fn host_is_present() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Language;

    #[test]
    fn every_line_of_the_menu_has_words_in_each_language() {
        let states = [
            TrayStatus::Starting,
            TrayStatus::NeedsAttention,
            TrayStatus::NoGroup,
            TrayStatus::Connected,
            TrayStatus::NotConnected,
            TrayStatus::PartlyConnected {
                connected: 1,
                groups: 3,
            },
        ];
        for language in [Language::English, Language::German] {
            let catalogue = Catalogue::new(language);
            assert_ne!(catalogue.attribute("tray-hidden", "about"), "tray-hidden");
            for key in ["tray-hidden", "tray-show", "tray-relay", "tray-quit"] {
                assert_ne!(catalogue.text(key), key);
            }
            for state in states {
                let text = status_text(&catalogue, state);
                assert!(!text.starts_with("tray-"), "{text}");
            }
        }
        let some = TrayStatus::PartlyConnected {
            connected: 1,
            groups: 3,
        };
        let text = status_text(&Catalogue::new(Language::English), some);
        assert!(text.contains('1') && text.contains('3'), "{text}");
    }
}
