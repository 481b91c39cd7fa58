//! The notifications of the system: where they are shown, replaced and taken away.
//!
//! Owns one thread that talks to the notification server, because each call may take as long
//! as the server likes. What the person answers comes from [`answers`]. Decides nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use notify_rust::{Notification, NotificationHandle};

use super::Subject;
use super::answers::{self, End};
use super::words::Words;
use crate::options::{IDENTIFIER, PRODUCT_NAME};

/// What became of a notification.
#[derive(Clone, PartialEq, Eq)]
pub enum Answer {
    /// The person chose it.
    Chosen(Subject),
    /// It is gone without that.
    Gone(Subject),
}

/// What the board is asked to do.
enum Order {
    Show(Subject, Words),
    Withdraw(Subject),
    /// A notification is not on the screen any more.
    End(End),
}

/// The notifications that are on the screen.
pub struct Board {
    orders: Sender<Order>,
}

impl Board {
    /// Starts the board; `on_answer` is called on a thread of its own.
    pub fn new(on_answer: impl Fn(Answer) + Send + Sync + 'static) -> Self {
        let (orders, received) = mpsc::channel();
        let desk = Desk {
            orders: orders.clone(),
            on_answer: Arc::new(on_answer),
            shown: Shown::default(),
            listener: None,
        };
        let thread = thread::Builder::new().name("notifications".to_owned());
        // Without the thread nothing is shown, as on a desktop without notifications.
        if thread.spawn(move || desk.run(&received)).is_err() {
            tracing::warn!("there are no notifications: no thread for them");
        }
        Self { orders }
    }

    /// Shows a notification, in place of the one about the same subject.
    pub fn show(&self, subject: Subject, words: Words) {
        let _ = self.orders.send(Order::Show(subject, words));
    }

    /// Takes a notification away.
    pub fn withdraw(&self, subject: Subject) {
        let _ = self.orders.send(Order::Withdraw(subject));
    }
}

/// What is on the screen, by subject, with the numbers that the server gave. The end of
/// something that was taken away or replaced meanwhile is the end of nothing.
struct Shown<T> {
    by_subject: BTreeMap<Subject, (u32, T)>,
}

impl<T> Default for Shown<T> {
    fn default() -> Self {
        Self {
            by_subject: BTreeMap::new(),
        }
    }
}

impl<T> Shown<T> {
    fn insert(&mut self, subject: Subject, number: u32, handle: T) {
        self.by_subject.insert(subject, (number, handle));
    }

    fn remove(&mut self, subject: &Subject) -> Option<T> {
        self.by_subject.remove(subject).map(|(_, handle)| handle)
    }

    /// Handles that a number is gone. What it was about, if it was still there.
    fn end(&mut self, number: u32) -> Option<Subject> {
        let mut held = self.by_subject.iter();
        let (subject, _) = held.find(|(_, (held, _))| *held == number)?;
        let subject = subject.clone();
        self.by_subject.remove(&subject);
        Some(subject)
    }
}

type OnAnswer = Arc<dyn Fn(Answer) + Send + Sync>;

/// The thread's own.
struct Desk {
    orders: Sender<Order>,
    on_answer: OnAnswer,
    shown: Shown<NotificationHandle>,
    listener: Option<JoinHandle<()>>,
}

impl Desk {
    fn run(mut self, orders: &Receiver<Order>) {
        while let Ok(order) = orders.recv() {
            match order {
                Order::Show(subject, words) => self.show(subject, &words),
                Order::Withdraw(subject) => {
                    if let Some(handle) = self.shown.remove(&subject) {
                        close(handle);
                    }
                }
                Order::End(End { number, was_chosen }) => {
                    if let Some(subject) = self.shown.end(number) {
                        (self.on_answer)(if was_chosen {
                            Answer::Chosen(subject)
                        } else {
                            Answer::Gone(subject)
                        });
                    }
                }
            }
        }
    }

    fn show(&mut self, subject: Subject, words: &Words) {
        self.listen();
        let body = body(&words.body);
        if let Some(mut handle) = self.shown.remove(&subject) {
            handle.summary(&words.title).body(&body);
            if update(&mut handle) {
                // A server that was started anew gives it another number.
                self.shown.insert(subject, number_of(&handle), handle);
                return;
            }
        }
        let mut notification = Notification::new();
        notification
            .appname(PRODUCT_NAME)
            .icon(IDENTIFIER)
            .summary(&words.title)
            .body(&body);
        decorate(&mut notification);
        // Where nothing shows notifications, the badges in the window and the tray remain.
        if let Ok(handle) = notification.show() {
            self.shown.insert(subject, number_of(&handle), handle);
        }
    }

    /// Listens to what the person answers, before there is anything to be answered.
    fn listen(&mut self) {
        if self.listener.as_ref().is_none_or(JoinHandle::is_finished) {
            let orders = self.orders.clone();
            self.listener = answers::listen(move |end| {
                let _ = orders.send(Order::End(end));
            });
        }
    }
}

#[cfg(target_os = "linux")]
fn number_of(handle: &NotificationHandle) -> u32 {
    handle.id()
}

#[cfg(target_os = "linux")]
fn update(handle: &mut NotificationHandle) -> bool {
    handle.update().is_ok()
}

#[cfg(target_os = "linux")]
fn close(handle: NotificationHandle) {
    handle.close();
}

#[cfg(target_os = "linux")]
fn decorate(notification: &mut Notification) {
    use notify_rust::Hint;

    notification
        .action(answers::DEFAULT_ACTION, answers::DEFAULT_ACTION)
        .hint(Hint::DesktopEntry(IDENTIFIER.to_owned()))
        .hint(Hint::Category("im.received".to_owned()));
}

/// A server that reads markup gets none from us: names and texts are other people's.
#[cfg(target_os = "linux")]
fn body(text: &str) -> String {
    let capabilities = notify_rust::get_capabilities().unwrap_or_default();
    if capabilities.iter().any(|one| one == "body-markup") {
        escaped(text)
    } else {
        text.to_owned()
    }
}

#[cfg(any(target_os = "linux", test))]
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(not(target_os = "linux"))]
fn number_of(_handle: &NotificationHandle) -> u32 {
    0
}

#[cfg(not(target_os = "linux"))]
fn update(_handle: &mut NotificationHandle) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn close(_handle: NotificationHandle) {}

#[cfg(not(target_os = "linux"))]
fn decorate(_notification: &mut Notification) {}

#[cfg(not(target_os = "linux"))]
fn body(text: &str) -> String {
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_what_is_still_there_is_told() {
        let about = Subject::Group("g1".to_owned());
        let mut shown = Shown::default();
        assert!(shown.end(1).is_none(), "nothing is there");
        shown.insert(about.clone(), 1, ());
        assert!(shown.end(9).is_none(), "another program's");
        // Taken away by the app, and then a newer one was shown.
        assert_eq!(shown.remove(&about), Some(()));
        assert!(shown.end(1).is_none(), "the app itself closed it");
        shown.insert(about.clone(), 2, ());
        shown.insert(Subject::Issues, 3, ());
        assert!(shown.end(1).is_none(), "a late end of the one before");
        assert!(shown.end(2) == Some(about), "the newer one stayed");
        assert!(shown.end(2).is_none(), "it ends once");
        assert!(shown.end(3) == Some(Subject::Issues));
    }

    #[test]
    fn markup_in_a_text_stays_text() {
        assert_eq!(
            escaped("<b>&amp;</b><img src=x>"),
            "&lt;b&gt;&amp;amp;&lt;/b&gt;&lt;img src=x&gt;"
        );
    }
}
