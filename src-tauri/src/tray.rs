//! The icon in the tray and its menu.
//!
//! Owns the menu. Everything in it can be reached in the window too, because many desktops
//! have no tray. The first line says how things stand and can't be chosen; a click on the
//! icon does nothing that the menu doesn't, because Linux reports no such click.
//!
//! Building the icon needs a system library that may be missing, and the crate below panics
//! then. That panic ends here, and the app goes on without a tray.

mod icon;

use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use fluent_bundle::FluentArgs;
use tauri::menu::{CheckMenuItem, IsMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Wry};

use crate::catalogue::Catalogue;
use crate::options::PRODUCT_NAME;
use crate::window::{TrayStatus, TrayView};

use icon::{IconState, Mark};

const ICON_ID: &str = "main";

/// What a person chose in the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrayChoice {
    /// Show the window.
    Show,
    /// Switch the relay on this computer.
    SwitchRelay,
    /// Show the pairing code of a group.
    Pair,
    /// Show the delivery issues.
    Issues,
    /// Show no notifications, or show them again.
    SwitchMute,
    /// End the program.
    Quit,
}

impl TrayChoice {
    const ALL: [Self; 6] = [
        Self::Show,
        Self::SwitchRelay,
        Self::Pair,
        Self::Issues,
        Self::SwitchMute,
        Self::Quit,
    ];

    /// The key of its words, which is its name in the menu too.
    const fn key(self) -> &'static str {
        match self {
            Self::Show => "tray-show",
            Self::SwitchRelay => "tray-relay",
            Self::Pair => "tray-pair",
            Self::Issues => "tray-issues",
            Self::SwitchMute => "tray-mute",
            Self::Quit => "tray-quit",
        }
    }

    fn of(event: &MenuEvent) -> Option<Self> {
        let key = event.id().as_ref();
        Self::ALL.into_iter().find(|choice| choice.key() == key)
    }
}

/// The icon and the parts of its menu that change.
pub struct Tray {
    icon: TrayIcon<Wry>,
    shown: Mutex<IconState>,
    status: MenuItem<Wry>,
    show: MenuItem<Wry>,
    relay: CheckMenuItem<Wry>,
    pair: MenuItem<Wry>,
    issues: MenuItem<Wry>,
    mute: CheckMenuItem<Wry>,
    quit: MenuItem<Wry>,
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
        let starting = status_text(catalogue, TrayStatus::Starting);
        let status = MenuItem::with_id(app, "status", starting, false, None::<&str>)?;
        let item = |choice: TrayChoice, enabled: bool| {
            let text = catalogue.text(choice.key());
            MenuItem::with_id(app, choice.key(), text, enabled, None::<&str>)
        };
        let check = |choice: TrayChoice| {
            let text = catalogue.text(choice.key());
            CheckMenuItem::with_id(app, choice.key(), text, false, false, None::<&str>)
        };
        let (show, quit) = (item(TrayChoice::Show, true)?, item(TrayChoice::Quit, true)?);
        let (relay, mute) = (
            check(TrayChoice::SwitchRelay)?,
            check(TrayChoice::SwitchMute)?,
        );
        let pair = item(TrayChoice::Pair, false)?;
        let issues = MenuItem::with_id(
            app,
            TrayChoice::Issues.key(),
            issues_text(catalogue, 0),
            false,
            None::<&str>,
        )?;
        let line = || PredefinedMenuItem::separator(app);
        let (first, second) = (line()?, line()?);
        let items: [&dyn IsMenuItem<Wry>; 9] = [
            &status, &show, &first, &relay, &pair, &issues, &mute, &second, &quit,
        ];
        let menu = Menu::with_items(app, &items)?;
        let builder = TrayIconBuilder::with_id(ICON_ID)
            .icon(IconState::default().draw())
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
            shown: Mutex::default(),
            status,
            show,
            relay,
            pair,
            issues,
            mute,
            quit,
        })
    }

    /// Brings the menu up to date. To be called on the main thread.
    pub fn update(&self, view: TrayView, catalogue: &Catalogue) {
        let status = status_text(catalogue, view.status);
        if set_text(&self.status, status.clone()) {
            let _ = self.icon.set_tooltip(Some(status));
        }
        for (item, choice) in [
            (&self.show, TrayChoice::Show),
            (&self.pair, TrayChoice::Pair),
            (&self.quit, TrayChoice::Quit),
        ] {
            set_text(item, catalogue.text(choice.key()));
        }
        set_text(&self.issues, issues_text(catalogue, view.issues));
        set_enabled(&self.pair, view.may_pair);
        set_enabled(&self.issues, view.relay_ready);
        let relay = catalogue.text(TrayChoice::SwitchRelay.key());
        set_check(&self.relay, relay, view.relay_on, view.relay_ready);
        let mute = catalogue.text(TrayChoice::SwitchMute.key());
        set_check(&self.mute, mute, view.muted, view.relay_ready);
        self.set_icon(IconState {
            relay_on: view.relay_on,
            mark: match (view.issues, view.unread) {
                (0, 0) => Mark::None,
                (0, _) => Mark::Unread,
                _ => Mark::Issue,
            },
        });
    }

    fn set_icon(&self, state: IconState) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *shown, state) != state {
            let _ = self.icon.set_icon(Some(state.draw()));
        }
    }
}

// A menu that can't be changed is one that is going away. What it shows is compared, because
// a click has moved the tick already, whatever came of it.

fn set_text(item: &MenuItem<Wry>, text: String) -> bool {
    let is_new = item.text().ok().as_ref() != Some(&text);
    if is_new {
        let _ = item.set_text(text);
    }
    is_new
}

fn set_enabled(item: &MenuItem<Wry>, enabled: bool) {
    if item.is_enabled().ok() != Some(enabled) {
        let _ = item.set_enabled(enabled);
    }
}

fn set_check(item: &CheckMenuItem<Wry>, text: String, checked: bool, enabled: bool) {
    if item.text().ok().as_ref() != Some(&text) {
        let _ = item.set_text(text);
    }
    if item.is_checked().ok() != Some(checked) {
        let _ = item.set_checked(checked);
    }
    if item.is_enabled().ok() != Some(enabled) {
        let _ = item.set_enabled(enabled);
    }
}

fn issues_text(catalogue: &Catalogue, issues: u64) -> String {
    let mut arguments = FluentArgs::new();
    arguments.set("count", issues);
    plain(&catalogue.text_with(TrayChoice::Issues.key(), &arguments))
}

/// A text without the marks that hold a number apart from its surroundings: a menu may draw
/// them, and a number turns nothing around.
fn plain(text: &str) -> String {
    text.replace(['\u{2068}', '\u{2069}'], "")
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
    plain(&catalogue.text_with(key, &arguments))
}

/// The name on the session bus of what shows tray icons.
#[cfg(target_os = "linux")]
const WATCHER: &str = "org.kde.StatusNotifierWatcher";

/// Whether something on this computer shows tray icons now.
///
/// On Linux that is the owner of a name on the session bus, which comes and goes with the
/// desktop's panel. The call blocks for as long as the bus takes to answer.
#[cfg(target_os = "linux")]
pub fn host_is_present() -> bool {
    let ask = || -> zbus::Result<bool> {
        let bus = zbus::blocking::Connection::session()?;
        let bus = zbus::blocking::fdo::DBusProxy::new(&bus)?;
        Ok(bus.name_has_owner(WATCHER.try_into()?)?)
    };
    ask().unwrap_or(false)
}

/// Calls back whenever what shows tray icons comes or goes. Returns when the bus ends; the
/// icon itself is registered anew by the library that made it.
#[cfg(target_os = "linux")]
pub fn watch_host(on_change: impl Fn()) {
    let watch = || -> zbus::Result<()> {
        let bus = zbus::blocking::Connection::session()?;
        let bus = zbus::blocking::fdo::DBusProxy::new(&bus)?;
        for _ in bus.receive_name_owner_changed_with_args(&[(0, WATCHER)])? {
            on_change();
        }
        Ok(())
    };
    if watch().is_err() {
        tracing::debug!("there is no session bus to watch for a tray on");
    }
}

/// Whether something on this computer shows tray icons now: these systems always do.
#[cfg(not(target_os = "linux"))]
pub fn host_is_present() -> bool {
    true
}

/// Nothing comes or goes on this system.
#[cfg(not(target_os = "linux"))]
pub fn watch_host(_on_change: impl Fn()) {}

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
            for key in ["tray-hidden", "tray-ended"] {
                assert_ne!(catalogue.text(key), key);
                assert_ne!(catalogue.attribute(key, "about"), key);
            }
            for choice in TrayChoice::ALL {
                assert_ne!(catalogue.text(choice.key()), choice.key());
            }
            assert!(issues_text(&catalogue, 7).contains("(7)"));
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
