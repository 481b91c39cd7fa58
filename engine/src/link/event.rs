//! What listeners are told about the links.
//!
//! An event is a hint: it says where to look, and what is there is read. So two equal ones
//! are one, and a listener that is slow costs a bounded amount of memory. An event is told
//! after the commit that it follows from.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use super::name::LinkName;

/// Something happened to a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinksEvent {
    /// A link is there, has gone, or stands otherwise: see [`super::Links::list`].
    Changed(LinkName),
    /// Something arrived: see [`super::Links::arrived`].
    Arrived(LinkName),
    /// Something that was sent got further, or failed: see [`super::Links::outbox`].
    Sent(LinkName),
}

/// The events for one listener, from the call on that made this.
pub struct LinksEvents {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<LinksEvent>,
    is_closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LinksEvents {
    /// The next event; `None` once the links are closed. Loses nothing when dropped early.
    pub async fn next(&mut self) -> Option<LinksEvent> {
        loop {
            let changed = self.queue.changed.notified();
            {
                let mut state = self.queue.lock();
                if let Some(event) = state.waiting.pop_front() {
                    return Some(event);
                }
                if state.is_closed {
                    return None;
                }
            }
            changed.await;
        }
    }
}

/// Who listens.
///
/// Invariant: what is told reaches nobody before [`Self::publish`], which follows once what the
/// events lead to can be seen. Whoever looked at once would see the state before, and nothing
/// would ever tell them to look again.
#[derive(Default)]
pub(super) struct Listeners {
    queues: Mutex<Vec<Weak<Queue>>>,
    told: Mutex<Vec<LinksEvent>>,
}

impl Listeners {
    /// Adds one.
    pub(super) fn listen(&self) -> LinksEvents {
        let queue = Arc::<Queue>::default();
        self.lock().push(Arc::downgrade(&queue));
        LinksEvents { queue }
    }

    /// Tells everybody, with the next [`Self::publish`].
    pub(super) fn tell(&self, event: &LinksEvent) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.contains(event) {
            told.push(event.clone());
        }
    }

    /// What was told can be seen now.
    pub(super) fn publish(&self) {
        let told = std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner));
        for event in told {
            self.each(|state| {
                if !state.waiting.contains(&event) {
                    state.waiting.push_back(event.clone());
                }
            });
        }
    }

    /// Nothing will be told any more.
    pub(super) fn close(&self) {
        self.publish();
        self.each(|state| state.is_closed = true);
    }

    fn each(&self, change: impl Fn(&mut State)) {
        self.lock().retain(|listener| {
            let Some(queue) = listener.upgrade() else {
                return false;
            };
            change(&mut queue.lock());
            queue.changed.notify_one();
            true
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Queue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::OsRng;

    use super::*;

    #[tokio::test]
    async fn equal_events_are_one_and_a_closed_queue_is_read_to_its_end() {
        let listeners = Listeners::default();
        let (mut one, gone) = (listeners.listen(), listeners.listen());
        drop(gone);
        let name = LinkName::generate(&mut OsRng);
        let (changed, arrived) = (
            LinksEvent::Changed(name.clone()),
            LinksEvent::Arrived(name.clone()),
        );
        for event in [&changed, &arrived, &changed, &changed] {
            listeners.tell(event);
        }
        assert!(
            one.queue.lock().waiting.is_empty(),
            "nothing can be seen yet"
        );
        listeners.publish();
        assert_eq!(one.next().await, Some(changed.clone()));
        listeners.tell(&changed);
        listeners.close();
        assert_eq!(one.next().await, Some(arrived));
        assert_eq!(one.next().await, Some(changed));
        assert_eq!(one.next().await, None);
        assert_eq!(listeners.lock().len(), 1, "who is gone is forgotten");
    }
}
