//! What the person does with the notifications on the screen.
//!
//! Owns the signals of the notification server. They are listened to from before the first
//! notification is shown, by one listener for all of them, so that no click comes too early
//! and none is lost while another one is read. Decides nothing: numbers of notifications
//! that other programs show come through here too.

use std::thread::JoinHandle;

/// A notification is not on the screen any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The number that the server gave it.
    pub(super) number: u32,
    /// Whether the person chose it.
    pub(super) was_chosen: bool,
}

/// Where the signals come from, as the specification of notifications names it.
#[cfg(target_os = "linux")]
const SIGNALS: &str = "type='signal',sender='org.freedesktop.Notifications',\
     interface='org.freedesktop.Notifications',path='/org/freedesktop/Notifications'";

/// A click anywhere on a notification is the action of this name.
pub(super) const DEFAULT_ACTION: &str = "default";

/// Begins to listen, and listens on return. The listener ends with the session bus; nothing
/// when there is none.
#[cfg(target_os = "linux")]
pub(super) fn listen(on_end: impl Fn(End) + Send + 'static) -> Option<JoinHandle<()>> {
    let subscribe = || -> zbus::Result<zbus::blocking::MessageIterator> {
        let bus = zbus::blocking::Connection::session()?;
        // Before the rule, so that nothing comes between the two.
        let signals = zbus::blocking::MessageIterator::from(&bus);
        zbus::blocking::fdo::DBusProxy::new(&bus)?.add_match_rule(SIGNALS.try_into()?)?;
        Ok(signals)
    };
    let signals = subscribe().ok()?;
    let thread = std::thread::Builder::new().name("notification-answers".to_owned());
    let listener = thread.spawn(move || {
        for signal in signals {
            let Ok(signal) = signal else { return };
            if let Some(end) = end_of(&signal) {
                on_end(end);
            }
        }
    });
    listener.ok()
}

#[cfg(target_os = "linux")]
fn end_of(signal: &zbus::Message) -> Option<End> {
    let header = signal.header();
    if header.message_type() != zbus::message::Type::Signal {
        return None;
    }
    let (number, was_chosen) = match header.member()?.as_str() {
        "ActionInvoked" => {
            let (number, action): (u32, String) = signal.body().deserialize().ok()?;
            (number, action == DEFAULT_ACTION)
        }
        "NotificationClosed" => {
            let (number, _reason): (u32, u32) = signal.body().deserialize().ok()?;
            (number, false)
        }
        _ => return None,
    };
    Some(End { number, was_chosen })
}

/// Nobody can choose a notification of this system yet.
#[cfg(not(target_os = "linux"))]
pub(super) fn listen(_on_end: impl Fn(End) + Send + 'static) -> Option<JoinHandle<()>> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn signal(
        member: &str,
        body: &(impl serde::Serialize + zbus::zvariant::Type),
    ) -> zbus::Message {
        let path = "/org/freedesktop/Notifications";
        let interface = "org.freedesktop.Notifications";
        let message = zbus::Message::signal(path, interface, member).expect("names");
        message.build(body).expect("a body")
    }

    #[test]
    fn a_click_and_an_end_are_told_apart() {
        let end = |number, was_chosen| Some(End { number, was_chosen });
        assert_eq!(
            end_of(&signal("ActionInvoked", &(7_u32, "default"))),
            end(7, true)
        );
        assert_eq!(
            end_of(&signal("ActionInvoked", &(7_u32, "reply"))),
            end(7, false)
        );
        assert_eq!(
            end_of(&signal("NotificationClosed", &(9_u32, 2_u32))),
            end(9, false)
        );
        assert_eq!(end_of(&signal("ActivationToken", &(9_u32, "token"))), None);
        assert_eq!(end_of(&signal("ActionInvoked", &"nonsense")), None);
    }
}
