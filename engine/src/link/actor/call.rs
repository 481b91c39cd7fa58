//! The way from the handle to the thread, and what both of them hold.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::Actor;
use crate::actor::wait_for;
use crate::core::link::{Answer, RequestId, WatchEvent};
use crate::link::error::LinksError;
use crate::link::event::{LinksEvents, Listeners};
use crate::link::info::LinkInfo;
use crate::link::transport::{LinkAddress, LinkFailure, LinkTransport};

/// Runs a call, and answers it.
pub(super) type Call = Box<dyn FnOnce(&mut Actor) + Send>;

/// What the thread can be given.
pub(super) enum Input {
    /// A call.
    Call(Call),
    /// A request of a machine was answered, or not.
    Answered {
        run: u64,
        id: RequestId,
        outcome: Result<Answer, LinkFailure>,
    },
    /// A watch saw something.
    Watched { watch: u64, event: WatchEvent },
    /// A watch is over.
    WatchEnded { watch: u64 },
    /// The relay in this program.
    Here(Option<Arc<dyn LinkTransport>>),
    /// Try now.
    Hurry,
    /// Whether somebody looks.
    Watching(bool),
    /// Close.
    Close(oneshot::Sender<()>),
    /// Nobody holds the links any more.
    Abandon,
}

/// What can be seen without asking the thread: the committed state.
#[derive(Default)]
pub(in crate::link) struct View {
    pub(in crate::link) links: Vec<LinkInfo>,
    pub(in crate::link) here: Vec<LinkAddress>,
    pub(in crate::link) erasing: usize,
}

/// What the thread shares with its handle and its requests.
pub(in crate::link) struct Shared {
    inputs: Sender<Input>,
    view: Mutex<Arc<View>>,
    pub(super) listeners: Listeners,
}

impl Shared {
    pub(super) fn new(inputs: Sender<Input>) -> Self {
        Self {
            inputs,
            view: Mutex::default(),
            listeners: Listeners::default(),
        }
    }

    /// Gives the thread an input; nothing happens once it is gone.
    pub(super) fn input(&self, input: Input) {
        drop(self.inputs.send(input));
    }

    pub(super) fn set_view(&self, view: View) {
        *lock(&self.view) = Arc::new(view);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way to the thread, which ends when this is dropped.
pub(in crate::link) struct ActorHandle {
    shared: Arc<Shared>,
    /// Until somebody waits for its end.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for ActorHandle {
    fn drop(&mut self) {
        self.shared.input(Input::Abandon);
    }
}

impl ActorHandle {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            thread: Mutex::new(None),
        }
    }

    /// Keeps the thread until the links are closed.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        *lock(&self.thread) = Some(thread);
    }

    /// The committed state.
    pub(in crate::link) fn view(&self) -> Arc<View> {
        Arc::clone(&lock(&self.shared.view))
    }

    pub(in crate::link) fn listen(&self) -> LinksEvents {
        self.shared.listeners.listen()
    }

    pub(in crate::link) fn set_here(&self, transport: Option<Arc<dyn LinkTransport>>) {
        self.shared.input(Input::Here(transport));
    }

    pub(in crate::link) fn hurry(&self) {
        self.shared.input(Input::Hurry);
    }

    pub(in crate::link) fn set_watching(&self, is_watching: bool) {
        self.shared.input(Input::Watching(is_watching));
    }

    /// Runs a call and answers once its changes are durable.
    pub(in crate::link) async fn call<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Actor) -> Result<T, LinksError> + Send + 'static,
    ) -> Result<T, LinksError> {
        let (reply, answer) = oneshot::channel();
        self.shared.input(Input::Call(Box::new(move |actor| {
            // A caller that has gone away takes no answer; the call stands.
            drop(reply.send(run(actor)));
        })));
        answer.await.unwrap_or(Err(LinksError::Closed))
    }

    /// Closes the links; the store is free on return, and the thread is gone (see
    /// `crate::actor` for why that matters).
    pub(in crate::link) async fn close(&self) {
        let (closed, is_closed) = oneshot::channel();
        self.shared.input(Input::Close(closed));
        // An error says that they were closed before.
        drop(is_closed.await);
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            wait_for(thread).await;
        }
    }
}
