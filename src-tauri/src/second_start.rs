//! What a second start of the same profile means, and what it does when nobody answers.
//!
//! Owns the way from the arguments of a second start to the app that runs: they wait here
//! until there is a controller. And owns the end of a second start whose first one hangs:
//! the call to it has no limit of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Parser as _;

use crate::options::Options;

/// How long the first start may take to answer the second.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(10);

/// Starts that wait for a controller; what comes beyond them is dropped.
const WAITING_MAX: usize = 16;

/// What a second start asks of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// To show its window.
    Show,
    /// To open an invitation.
    Open(String),
    /// Nothing: it is the login's, which the person didn't ask for.
    Nothing,
}

impl Request {
    /// Reads the arguments of a second start. Whoever mistypes them wants to see something.
    pub fn of(arguments: impl IntoIterator<Item = String>) -> Self {
        match Options::try_parse_from(arguments) {
            Ok(Options {
                invitation: Some(link),
                ..
            }) => Self::Open(link),
            Ok(options) if options.hidden => Self::Nothing,
            Ok(_) | Err(_) => Self::Show,
        }
    }
}

/// Takes requests from the first moment on and hands them over once somebody answers.
#[derive(Default)]
pub struct Doorbell {
    door: Mutex<Door>,
}

enum Door {
    /// Nobody answers yet.
    Waiting(Vec<Request>),
    Answered(Box<dyn Fn(Request) + Send>),
}

impl Default for Door {
    fn default() -> Self {
        Self::Waiting(Vec::new())
    }
}

impl Doorbell {
    /// Handles a request of a second start.
    pub fn ring(&self, request: Request) {
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *door {
            Door::Waiting(waiting) if waiting.len() < WAITING_MAX => waiting.push(request),
            Door::Waiting(_) => {}
            Door::Answered(answer) => answer(request),
        }
    }

    /// Answers what has come, in its order, and all that comes.
    pub fn answer(&self, answer: impl Fn(Request) + Send + 'static) {
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        if let Door::Waiting(waiting) = &mut *door {
            std::mem::take(waiting).into_iter().for_each(&answer);
        }
        *door = Door::Answered(Box::new(answer));
    }
}

/// Ends a start that is not answered in time, unless it turns out to be the first.
pub struct Watchdog {
    is_first: Arc<AtomicBool>,
}

impl Watchdog {
    /// Calls back after a time, on a thread of its own, unless it is stopped before.
    pub fn start(patience: Duration, on_silence: impl FnOnce() + Send + 'static) -> Self {
        let is_first = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_first);
        let thread = std::thread::Builder::new().name("second-start".to_owned());
        // Without the thread it waits for as long as the first start likes.
        let _ = thread.spawn(move || {
            std::thread::sleep(patience);
            if !stopped.load(Ordering::SeqCst) {
                on_silence();
            }
        });
        Self { is_first }
    }

    /// The app runs: there is nobody to wait for.
    pub fn stop(&self) {
        self.is_first.store(true, Ordering::SeqCst);
    }
}

/// The process that has a name on the session bus; nothing when nobody has it. The bus
/// itself answers, so a process that hangs is found too.
#[cfg(target_os = "linux")]
pub fn process_of(name: &str) -> Option<u32> {
    let bus = zbus::blocking::Connection::session().ok()?;
    let proxy = zbus::blocking::fdo::DBusProxy::new(&bus).ok()?;
    proxy
        .get_connection_unix_process_id(name.try_into().ok()?)
        .ok()
}

/// Other systems end such a call by themselves.
#[cfg(not(target_os = "linux"))]
pub fn process_of(_name: &str) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn request(arguments: &[&str]) -> Request {
        let all = std::iter::once(&"sealpost-app").chain(arguments);
        Request::of(all.map(|one| (*one).to_owned()))
    }

    #[test]
    fn a_second_start_shows_the_window_unless_it_is_hidden() {
        assert_eq!(request(&[]), Request::Show);
        assert_eq!(request(&["--no-such-flag"]), Request::Show);
        assert_eq!(request(&["--hidden"]), Request::Nothing);
        let open = Request::Open("trueseal://x".to_owned());
        assert_eq!(request(&["trueseal://x"]), open);
        assert_eq!(request(&["--hidden", "trueseal://x"]), open);
    }

    #[test]
    fn what_comes_before_anybody_answers_waits_in_its_order() {
        let bell = Doorbell::default();
        let link = |number: usize| Request::Open(format!("trueseal://{number}"));
        for number in 0..100 {
            bell.ring(link(number));
        }
        let (said, heard) = mpsc::channel();
        bell.answer(move |request| said.send(request).expect("somebody listens"));
        bell.ring(Request::Show);
        let heard: Vec<Request> = heard.try_iter().collect();
        let mut expected: Vec<Request> = (0..WAITING_MAX).map(link).collect();
        expected.push(Request::Show);
        assert_eq!(heard, expected);
    }

    #[test]
    fn a_start_that_is_not_answered_ends_and_the_first_one_stays() {
        let (said, heard) = mpsc::channel();
        let dog = Watchdog::start(Duration::ZERO, move || {
            said.send(()).expect("somebody listens");
        });
        heard.recv().expect("it barks");
        drop(dog);
        let (said, heard) = mpsc::channel::<()>();
        let dog = Watchdog::start(Duration::from_millis(100), move || {
            said.send(()).expect("somebody listens");
        });
        dog.stop();
        // The thread ends, and its end of the channel with it.
        assert!(heard.recv().is_err(), "it barked at the first start");
    }
}
