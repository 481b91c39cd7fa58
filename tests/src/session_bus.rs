//! What a desktop has on its session bus beside the keychain: a tray and notifications.
//!
//! Both are servers of the test itself, so that it sees what the app says to them and does
//! what a person would do: choose a line of the tray's menu, click a notification. They come
//! and go with the value.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use zbus::blocking::connection::Builder;
use zbus::blocking::{Connection, Proxy};
use zbus::message::Header;
use zbus::zvariant::{Dict, OwnedObjectPath, OwnedValue, Structure, Value};

use crate::desktop::Desktop;
use crate::process::wait_until;

/// How long an answer on the bus may take.
const PATIENCE: Duration = Duration::from_secs(30);

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn connect(desktop: &Desktop) -> anyhow::Result<Builder<'static>> {
    let address = desktop
        .environment()
        .find(|(name, _)| *name == "DBUS_SESSION_BUS_ADDRESS")
        .context("the desktop has no session bus")?;
    Ok(Builder::address(address.1)?)
}

/// An icon that was registered: the name of its program on the bus, and the object.
type Item = (String, String);

/// A desktop panel that shows tray icons.
pub struct TrayHost {
    connection: Connection,
    items: Arc<Mutex<Vec<Item>>>,
}

/// A menu as its protocol tells it: number, properties, lines.
type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

/// One line of the tray's menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuLine {
    id: i32,
    /// What it says.
    pub label: String,
    /// Whether it can be chosen.
    pub enabled: bool,
    /// Whether it has a tick, where it can have one.
    pub checked: Option<bool>,
}

struct Watcher {
    items: Arc<Mutex<Vec<Item>>>,
}

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the macro hands the header over by value"
    )]
    fn register_status_notifier_item(&self, service: &str, #[zbus(header)] header: Header<'_>) {
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        // Either the path of the object or the name of a service.
        let item = if service.starts_with('/') {
            (sender, service.to_owned())
        } else {
            (service.to_owned(), "/StatusNotifierItem".to_owned())
        };
        lock(&self.items).push(item);
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        let items = lock(&self.items);
        items
            .iter()
            .map(|(name, path)| format!("{name}{path}"))
            .collect()
    }
}

impl TrayHost {
    /// Starts a panel on the desktop.
    ///
    /// # Errors
    ///
    /// When the bus refuses it.
    pub fn start(desktop: &Desktop) -> anyhow::Result<Self> {
        let items = Arc::new(Mutex::new(Vec::new()));
        let watcher = Watcher {
            items: Arc::clone(&items),
        };
        let connection = connect(desktop)?
            .serve_at("/StatusNotifierWatcher", watcher)?
            .name("org.kde.StatusNotifierWatcher")?
            .build()?;
        Ok(Self { connection, items })
    }

    /// Waits until an icon is there.
    ///
    /// # Errors
    ///
    /// When there is none in time.
    pub fn until_icon(&self) -> anyhow::Result<()> {
        wait_until("an icon in the tray", PATIENCE, || self.item()).map(drop)
    }

    /// The lines of the menu, separators left out.
    ///
    /// # Errors
    ///
    /// When there is no icon, or it has no menu.
    pub fn menu(&self) -> anyhow::Result<Vec<MenuLine>> {
        let menu = self.menu_proxy()?;
        let arguments = (0_i32, -1_i32, Vec::<String>::new());
        let (_, (_, _, children)): (u32, Layout) = menu.call("GetLayout", &arguments)?;
        let lines = children
            .iter()
            .filter_map(|child| menu_line(child).transpose());
        lines.collect()
    }

    /// The line whose text begins so.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn line(&self, label: &str) -> anyhow::Result<MenuLine> {
        let lines = self.menu()?;
        let found = lines.iter().find(|line| line.label.starts_with(label));
        found
            .cloned()
            .with_context(|| format!("no line {label:?} in {lines:?}"))
    }

    /// Waits until the line that begins so is as it should be.
    ///
    /// # Errors
    ///
    /// When it isn't in time.
    pub fn until_line(
        &self,
        label: &str,
        is_so: impl Fn(&MenuLine) -> bool,
    ) -> anyhow::Result<MenuLine> {
        let what = format!("the line {label:?} of the tray");
        wait_until(&what, PATIENCE, || self.line(label).ok().filter(&is_so))
            .with_context(|| format!("{:?}", self.menu()))
    }

    /// Chooses the line whose text begins so.
    ///
    /// # Errors
    ///
    /// When there is none that can be chosen.
    pub fn choose(&self, label: &str) -> anyhow::Result<()> {
        let line = self.line(label)?;
        ensure!(line.enabled, "{label:?} can't be chosen");
        let event = (line.id, "clicked", Value::from(0_i32), 0_u32);
        let _: () = self.menu_proxy()?.call("Event", &event)?;
        Ok(())
    }

    fn item(&self) -> Option<Item> {
        lock(&self.items).last().cloned()
    }

    fn menu_proxy(&self) -> anyhow::Result<Proxy<'static>> {
        let (name, path) = self.item().context("there is no icon")?;
        let interface = "org.kde.StatusNotifierItem";
        let item = Proxy::new(&self.connection, name.clone(), path, interface)?;
        let menu: OwnedObjectPath = item.get_property("Menu")?;
        let interface = "com.canonical.dbusmenu";
        Ok(Proxy::new(&self.connection, name, menu, interface)?)
    }
}

/// Nothing for a separator.
fn menu_line(child: &OwnedValue) -> anyhow::Result<Option<MenuLine>> {
    let fields: &Structure<'_> = child.downcast_ref().ok().context("no line of a menu")?;
    let [id, properties, _children] = fields.fields() else {
        bail!("a line of a menu has three parts");
    };
    let id: i32 = id.downcast_ref()?;
    let properties: &Dict<'_, '_> = properties.downcast_ref()?;
    let text = |name: &str| properties.get::<_, String>(&name).ok().flatten();
    if text("type").as_deref() == Some("separator") {
        return Ok(None);
    }
    let enabled = properties.get::<_, bool>(&"enabled").ok().flatten();
    let checked = properties.get::<_, i32>(&"toggle-state").ok().flatten();
    Ok(Some(MenuLine {
        id,
        // An underscore marks the key of a menu.
        label: text("label").unwrap_or_default().replace('_', ""),
        enabled: enabled.unwrap_or(true),
        checked: checked
            .filter(|_| text("toggle-type").is_some())
            .map(|state| state == 1),
    }))
}

/// A notification that is or was on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its number.
    pub id: u32,
    /// The title.
    pub title: String,
    /// The body.
    pub body: String,
    /// Whether a click does something.
    pub has_default: bool,
    /// Whether the app took it away.
    pub withdrawn: bool,
}

/// A server of notifications.
pub struct NotificationServer {
    connection: Connection,
    notices: Arc<Mutex<Vec<Notice>>>,
}

struct Server {
    notices: Arc<Mutex<Vec<Notice>>>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Server {
    fn get_capabilities(&self) -> Vec<String> {
        vec![
            "actions".to_owned(),
            "body".to_owned(),
            "body-markup".to_owned(),
        ]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        let text = |text: &str| text.to_owned();
        (text("test"), text("test"), text("1"), text("1.2"))
    }

    #[expect(
        clippy::too_many_arguments,
        clippy::needless_pass_by_value,
        reason = "the signature is that of the specification"
    )]
    fn notify(
        &self,
        _app: &str,
        replaces: u32,
        _icon: &str,
        title: &str,
        body: &str,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _expires: i32,
    ) -> u32 {
        let mut notices = lock(&self.notices);
        let next = u32::try_from(notices.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        let notice = Notice {
            id: if replaces == 0 { next } else { replaces },
            title: title.to_owned(),
            body: body.to_owned(),
            has_default: actions.iter().any(|action| action == "default"),
            withdrawn: false,
        };
        let id = notice.id;
        notices.push(notice);
        id
    }

    fn close_notification(&self, id: u32) {
        for notice in lock(&self.notices).iter_mut().filter(|one| one.id == id) {
            notice.withdrawn = true;
        }
    }
}

impl NotificationServer {
    /// Starts a server on the desktop.
    ///
    /// # Errors
    ///
    /// When the bus refuses it.
    pub fn start(desktop: &Desktop) -> anyhow::Result<Self> {
        let notices = Arc::new(Mutex::new(Vec::new()));
        let server = Server {
            notices: Arc::clone(&notices),
        };
        let connection = connect(desktop)?
            .serve_at("/org/freedesktop/Notifications", server)?
            .name("org.freedesktop.Notifications")?
            .build()?;
        Ok(Self {
            connection,
            notices,
        })
    }

    /// Everything that was shown, oldest first; what was replaced is there twice.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        lock(&self.notices).clone()
    }

    /// Waits for a notification that is as it should be.
    ///
    /// # Errors
    ///
    /// When there is none in time.
    pub fn until(&self, what: &str, is_so: impl Fn(&Notice) -> bool) -> anyhow::Result<Notice> {
        wait_until(what, PATIENCE, || self.notices().into_iter().find(&is_so))
            .with_context(|| format!("{:?}", self.notices()))
    }

    /// Waits for a notification that is as it should be, after the first `count` ones.
    ///
    /// # Errors
    ///
    /// When there is none in time.
    pub fn until_after(
        &self,
        count: usize,
        what: &str,
        is_so: impl Fn(&Notice) -> bool,
    ) -> anyhow::Result<Notice> {
        let find = || self.notices().into_iter().skip(count).find(&is_so);
        wait_until(what, PATIENCE, find).with_context(|| format!("{:?}", self.notices()))
    }

    /// Does what a click on a notification does.
    ///
    /// # Errors
    ///
    /// When the bus refuses it.
    pub fn click(&self, id: u32) -> anyhow::Result<()> {
        self.emit("ActionInvoked", &(id, "default"))
    }

    /// Takes a notification away, as a click does too.
    ///
    /// # Errors
    ///
    /// The bus.
    pub fn close(&self, id: u32) -> anyhow::Result<()> {
        self.emit("NotificationClosed", &(id, 2_u32))
    }

    fn emit(
        &self,
        name: &str,
        body: &(impl serde::Serialize + zbus::zvariant::DynamicType),
    ) -> anyhow::Result<()> {
        self.connection.emit_signal(
            None::<&str>,
            "/org/freedesktop/Notifications",
            "org.freedesktop.Notifications",
            name,
            body,
        )?;
        Ok(())
    }
}

/// What says that the screen was locked. On a test's desktop the system bus is the session's.
pub struct ScreenSaver {
    connection: Connection,
}

/// A signal: path, interface, name, and what it carries.
type ScreenSignal = (&'static str, &'static str, &'static str, Option<bool>);

impl ScreenSaver {
    /// Everything that says so on the desktops there are.
    pub const LOCKS: [ScreenSignal; 4] = [
        (
            "/org/freedesktop/ScreenSaver",
            "org.freedesktop.ScreenSaver",
            "ActiveChanged",
            Some(true),
        ),
        (
            "/org/gnome/ScreenSaver",
            "org.gnome.ScreenSaver",
            "ActiveChanged",
            Some(true),
        ),
        (
            "/org/freedesktop/login1/session/_31",
            "org.freedesktop.login1.Session",
            "Lock",
            None,
        ),
        (
            "/org/freedesktop/login1",
            "org.freedesktop.login1.Manager",
            "PrepareForSleep",
            Some(true),
        ),
    ];

    /// Something that may speak of the screen.
    ///
    /// # Errors
    ///
    /// When the bus refuses it.
    pub fn start(desktop: &Desktop) -> anyhow::Result<Self> {
        let connection = connect(desktop)?.build()?;
        Ok(Self { connection })
    }

    /// Sends one of the signals.
    ///
    /// # Errors
    ///
    /// The bus.
    pub fn say(&self, (path, interface, name, state): ScreenSignal) -> anyhow::Result<()> {
        let to = None::<&str>;
        match state {
            Some(state) => self
                .connection
                .emit_signal(to, path, interface, name, &state)?,
            None => self
                .connection
                .emit_signal(to, path, interface, name, &())?,
        }
        Ok(())
    }

    /// Says in each way that the screen is open, or that something else is locked.
    ///
    /// # Errors
    ///
    /// The bus.
    pub fn say_unlocked(&self) -> anyhow::Result<()> {
        for (path, interface, name, state) in Self::LOCKS {
            match state {
                Some(_) => self.say((path, interface, name, Some(false)))?,
                None => self.say((path, interface, "Unlock", None))?,
            }
        }
        Ok(())
    }
}
