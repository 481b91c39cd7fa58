//! Events and delivery issues on their way to listeners.
//!
//! Owns the listeners, the queue in front of them and the thread that calls them one after
//! the other, so that a slow listener delays neither messages nor the actor. Events from
//! before the first listener wait for it; issues don't, because the store keeps them
//! (amendment 7).
//!
//! Invariants:
//! - what is told is told in order;
//! - of the states that replace each other (members, connection, pairing) only the latest
//!   waits, so that a listener that is slow or not there yet costs a bounded amount of memory.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::{discriminant, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use sealpost_protocol::message_id::MessageId;

use crate::core::event::Event;
use crate::core::issue::DeliveryIssue;
use crate::subscription::Subscription;

type EventListener = Arc<dyn Fn(Event) + Send + Sync>;
type IssueListener = Arc<dyn Fn(DeliveryIssue) + Send + Sync>;

/// The way from the actor to the listeners. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Notices {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Notice>,
    /// The messages that the queue says have changed: each once, however far behind the
    /// listeners are.
    changed: BTreeSet<MessageId>,
    event_listeners: BTreeMap<u64, EventListener>,
    issue_listeners: BTreeMap<u64, IssueListener>,
    listeners_made: u64,
    /// Events wait until there was a first listener.
    had_event_listener: bool,
    is_closed: bool,
}

enum Notice {
    Event(Event),
    Issue(DeliveryIssue),
}

impl Notices {
    /// Starts the thread that calls the listeners.
    pub(crate) fn start() -> std::io::Result<Self> {
        let notices = Self {
            shared: Arc::default(),
        };
        let shared = Arc::clone(&notices.shared);
        thread::Builder::new()
            .name("sealpost-notices".to_owned())
            .spawn(move || shared.run())?;
        Ok(notices)
    }

    /// Tells an event.
    pub(crate) fn tell(&self, event: Event) {
        self.shared.lock().add_event(event);
        self.shared.changed.notify_one();
    }

    /// Tells a delivery issue to those who listen now.
    pub(crate) fn raise(&self, issue: DeliveryIssue) {
        self.shared.lock().queue.push_back(Notice::Issue(issue));
        self.shared.changed.notify_one();
    }

    /// Whether anybody listens to delivery issues.
    pub(crate) fn has_issue_listener(&self) -> bool {
        !self.shared.lock().issue_listeners.is_empty()
    }

    /// Adds a listener of events.
    pub(crate) fn listen(&self, listener: impl Fn(Event) + Send + Sync + 'static) -> Subscription {
        let mut state = self.shared.lock();
        let id = state.next_id();
        state.event_listeners.insert(id, Arc::new(listener));
        state.had_event_listener = true;
        drop(state);
        self.shared.changed.notify_one();
        let shared = Arc::clone(&self.shared);
        Subscription::new(move || drop(shared.lock().event_listeners.remove(&id)))
    }

    /// Adds a listener of delivery issues.
    pub(crate) fn listen_to_issues(
        &self,
        listener: impl Fn(DeliveryIssue) + Send + Sync + 'static,
    ) -> Subscription {
        let mut state = self.shared.lock();
        let id = state.next_id();
        state.issue_listeners.insert(id, Arc::new(listener));
        drop(state);
        let shared = Arc::clone(&self.shared);
        Subscription::new(move || drop(shared.lock().issue_listeners.remove(&id)))
    }

    /// Lets the thread end once what waits is told.
    pub(crate) fn close(&self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while let Some(call) = self.next() {
            // A listener that panics has broken itself, and must not break the others.
            if catch_unwind(AssertUnwindSafe(call)).is_err() {
                tracing::error!("a listener panicked");
            }
        }
        // What the listeners hold, perhaps the group itself, is let go.
        let mut state = self.lock();
        let (events, issues) = (
            take(&mut state.event_listeners),
            take(&mut state.issue_listeners),
        );
        drop(state);
        drop((events, issues));
    }

    /// Waits for something to tell; `None` when nothing will come any more.
    fn next(&self) -> Option<Box<dyn FnOnce()>> {
        let mut state = self.lock();
        loop {
            if let Some(call) = state.take() {
                return Some(call);
            }
            if state.is_closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    const fn next_id(&mut self) -> u64 {
        self.listeners_made += 1;
        self.listeners_made
    }

    fn add_event(&mut self, event: Event) {
        if self.had_event_listener && self.event_listeners.is_empty() {
            return;
        }
        let replaces = match &event {
            Event::MembersChanged(_)
            | Event::ConnectionChanged(_)
            | Event::PairingChanged
            | Event::GroupRenamed => true,
            // Who listens later reads the history instead.
            Event::MessageStored { .. } | Event::MessageChanged { .. }
                if !self.had_event_listener =>
            {
                return;
            }
            Event::MessageChanged { id } => {
                if !self.changed.insert(*id) {
                    return;
                }
                false
            }
            Event::StatusChanged { .. }
            | Event::JoinRequested(_)
            | Event::StaleRequest { .. }
            | Event::AdmissionDropped { .. }
            | Event::MessageStored { .. } => false,
        };
        if replaces {
            let kind = discriminant(&event);
            self.queue.retain(|waiting| match waiting {
                Notice::Event(of) => discriminant(of) != kind,
                Notice::Issue(_) => true,
            });
        }
        self.queue.push_back(Notice::Event(event));
    }

    /// The next call of listeners, if anything may be told yet.
    fn take(&mut self) -> Option<Box<dyn FnOnce()>> {
        let may_tell = |notice: &Notice| match notice {
            Notice::Event(_) => self.had_event_listener,
            Notice::Issue(_) => true,
        };
        let place = self.queue.iter().position(may_tell)?;
        match self.queue.remove(place)? {
            Notice::Event(event) => {
                if let Event::MessageChanged { id } = &event {
                    self.changed.remove(id);
                }
                let listeners: Vec<_> = self.event_listeners.values().cloned().collect();
                Some(Box::new(move || {
                    listeners.iter().for_each(|tell| tell(event.clone()))
                }))
            }
            Notice::Issue(issue) => {
                let listeners: Vec<_> = self.issue_listeners.values().cloned().collect();
                Some(Box::new(move || {
                    listeners.iter().for_each(|tell| tell(issue.clone()))
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::core::status::{Connection, Status, StatusReason};

    const SOON: Duration = Duration::from_secs(10);

    fn status(status: Status) -> Event {
        Event::StatusChanged {
            status,
            reason: Some(StatusReason::Created),
        }
    }

    #[test]
    fn early_events_wait_for_the_first_listener_and_states_only_as_their_latest() {
        let notices = Notices::start().unwrap();
        notices.tell(status(Status::PendingJoin));
        notices.tell(Event::ConnectionChanged(Connection::Connecting));
        notices.tell(Event::MessageStored { position: 1 });
        notices.tell(status(Status::Member));
        notices.tell(Event::ConnectionChanged(Connection::Connected));
        let (told, tells) = mpsc::channel();
        let _subscription = notices.listen(move |event| told.send(event).unwrap());
        let next = || tells.recv_timeout(SOON).unwrap();
        assert!(matches!(
            next(),
            Event::StatusChanged {
                status: Status::PendingJoin,
                ..
            }
        ));
        assert!(matches!(
            next(),
            Event::StatusChanged {
                status: Status::Member,
                ..
            }
        ));
        assert!(matches!(
            next(),
            Event::ConnectionChanged(Connection::Connected)
        ));
        notices.tell(Event::MessageStored { position: 2 });
        assert!(matches!(next(), Event::MessageStored { position: 2 }));
        notices.close();
        assert!(
            tells.recv().is_err(),
            "the thread ends and drops the listener"
        );
    }

    #[test]
    fn a_listener_that_panics_or_is_cancelled_does_not_stop_the_others() {
        let notices = Notices::start().unwrap();
        let (told, tells) = mpsc::channel();
        let broken = notices.listen(|_| panic!("on purpose"));
        drop(notices.listen(move |event| told.send(event).unwrap()));
        notices.tell(status(Status::Member));
        broken.cancel();
        notices.tell(status(Status::Leaving));
        let mut seen = std::iter::from_fn(|| tells.recv_timeout(SOON).ok());
        assert!(seen.any(|event| matches!(
            event,
            Event::StatusChanged {
                status: Status::Leaving,
                ..
            }
        )));
        notices.close();
    }

    #[test]
    fn a_listener_that_is_behind_hears_of_each_changed_message_once() {
        let notices = Notices::start().unwrap();
        let (told, tells) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let may_go_on = Mutex::new(may_go_on);
        let _subscription = notices.listen(move |event| {
            if let Event::MessageChanged { id } = event {
                told.send(id).unwrap();
                let _ = may_go_on.lock().unwrap().recv_timeout(SOON);
            }
        });
        let id = |number| MessageId::from_bytes([number; 32]);
        notices.tell(Event::MessageChanged { id: id(0) });
        assert_eq!(tells.recv_timeout(SOON).unwrap(), id(0));
        // It is busy with that one, while seven steps of two others are told, and one more
        // of its own: that isn't what it reads now, so it is told again.
        for number in [1, 2, 1, 1, 2, 0, 2, 1] {
            notices.tell(Event::MessageChanged { id: id(number) });
        }
        notices.close();
        drop(go_on);
        let rest: Vec<_> = tells.iter().collect();
        assert_eq!(rest, [id(1), id(2), id(0)]);
    }

    #[test]
    fn issues_do_not_wait_behind_events_that_nobody_listens_to() {
        let notices = Notices::start().unwrap();
        notices.tell(status(Status::Member));
        assert!(!notices.has_issue_listener());
        let (told, tells) = mpsc::channel();
        let _subscription = notices.listen_to_issues(move |issue| told.send(issue).unwrap());
        assert!(notices.has_issue_listener());
        notices.raise(DeliveryIssue::Unauthorized);
        assert_eq!(
            tells.recv_timeout(SOON).unwrap(),
            DeliveryIssue::Unauthorized
        );
        notices.close();
    }
}
