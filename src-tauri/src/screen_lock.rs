//! When the screen of this computer is locked.
//!
//! Owns the signals that desktops send for it: the screen saver's on the session bus, and the
//! login manager's on the system bus, which also says when the computer goes to sleep. A
//! desktop that sends none locks nothing here; the person can still do it by hand.

/// Calls back whenever the screen is locked, for as long as the app runs.
#[cfg(target_os = "linux")]
pub fn watch(on_lock: impl Fn() + Clone + Send + 'static) {
    let session = || zbus::blocking::Connection::session();
    let system = || zbus::blocking::Connection::system();
    spawn(
        session,
        &["type='signal',member='ActiveChanged'"],
        on_lock.clone(),
    );
    spawn(
        system,
        &[
            "type='signal',interface='org.freedesktop.login1.Session',member='Lock'",
            "type='signal',interface='org.freedesktop.login1.Manager',member='PrepareForSleep'",
        ],
        on_lock,
    );
}

#[cfg(target_os = "linux")]
fn spawn(
    connect: impl Fn() -> zbus::Result<zbus::blocking::Connection> + Send + 'static,
    rules: &'static [&'static str],
    on_lock: impl Fn() + Send + 'static,
) {
    let thread = std::thread::Builder::new().name("screen-lock".to_owned());
    // Without the thread the person locks by hand.
    let _ = thread.spawn(move || {
        let listen = || -> zbus::Result<()> {
            let bus = connect()?;
            let proxy = zbus::blocking::fdo::DBusProxy::new(&bus)?;
            for rule in rules {
                proxy.add_match_rule((*rule).try_into()?)?;
            }
            for message in zbus::blocking::MessageIterator::from(&bus) {
                if is_lock(&message?) {
                    on_lock();
                }
            }
            Ok(())
        };
        if listen().is_err() {
            tracing::debug!("there is no bus to watch for the screen's lock on");
        }
    });
}

/// Whether a signal says that the screen is locked now or about to be.
#[cfg(target_os = "linux")]
fn is_lock(message: &zbus::Message) -> bool {
    let header = message.header();
    let interface = header.interface().map(|name| name.as_str());
    let member = header.member().map(|name| name.as_str());
    match (interface, member) {
        (Some("org.freedesktop.ScreenSaver" | "org.gnome.ScreenSaver"), Some("ActiveChanged"))
        | (Some("org.freedesktop.login1.Manager"), Some("PrepareForSleep")) => {
            message.body().deserialize::<bool>().unwrap_or(false)
        }
        (Some("org.freedesktop.login1.Session"), Some("Lock")) => true,
        _ => false,
    }
}

/// Nothing is known of the screen on this system yet.
#[cfg(not(target_os = "linux"))]
pub fn watch(_on_lock: impl Fn() + Clone + Send + 'static) {}
