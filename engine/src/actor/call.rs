//! How calls, handlers and sessions reach the actor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use tokio::sync::oneshot;

use super::view::View;
use crate::core::device::Device;
use crate::core::error::{EngineError, StorageFault};
use crate::core::issue::{DeliveryIssue, HandlerError};
use crate::core::message::Message;
use crate::core::status::ConnectFailure;
use crate::core::step::{HandlerRun, WordsRequest};
use crate::engine::BoxFuture;
use crate::notices::Notices;
use crate::session::Report;
use crate::session::backoff::Failures;
use crate::session::push::PushFailure;
use crate::store::Store;
use crate::subscription::Subscription;

/// The one message handler.
pub(crate) type MessageHandler =
    Arc<dyn Fn(Message) -> BoxFuture<Result<(), HandlerError>> + Send + Sync>;

/// Answers a call, given what became of the commit.
pub(super) type Answer = Box<dyn FnOnce(Result<(), EngineError>) + Send>;

/// Runs a call on the machine.
pub(super) type Call = Box<dyn FnOnce(&mut Device, u64, &mut OsRng) -> Answer + Send>;

/// Runs a call on the machine with what the store holds at that moment, or says why that
/// can't be read.
pub(super) type StoredCall =
    Box<dyn FnOnce(&Store, &mut Device, u64) -> Result<Answer, StorageFault> + Send>;

/// Works on the committed state, without the machine; says what failed.
pub(super) type Query = Box<dyn FnOnce(&Store, &Device) -> Option<StorageFault> + Send>;

/// What the actor can be given.
pub(super) enum Input {
    /// A call on the machine.
    Call(Call),
    /// A call on the machine that rests on what the store holds.
    StoredCall(StoredCall),
    /// Something for the store alone.
    Query(Query),
    /// Another relay.
    SetRelay(RelayAddress, Answer),
    /// A message handler was set or cancelled.
    HandlerSet(bool),
    /// Somebody listens to delivery issues now.
    IssueListener,
    /// A run of the message handler ended.
    HandlerDone {
        generation: u64,
        run: HandlerRun,
        outcome: Result<(), HandlerError>,
    },
    /// Pairing words were computed, or couldn't be.
    Words {
        generation: u64,
        request: WordsRequest,
        words: Option<[String; 4]>,
    },
    /// A session has something to say.
    Session { generation: u64, report: Report },
    /// Connect now.
    Reconnect,
    /// Look at the clock.
    Wake,
    /// Close the group.
    Close(oneshot::Sender<()>),
    /// Nobody holds the group any more.
    Abandon,
}

/// What the actor shares with its handle, its handlers and its sessions.
pub(crate) struct Shared {
    inputs: Sender<Input>,
    view: Mutex<Arc<View>>,
    handler: Mutex<Option<MessageHandler>>,
    is_closed: AtomicBool,
    pub(super) notices: Notices,
    pub(super) push_failure: PushFailure,
    /// Of the Receive Session; a new machine goes on with them.
    pub(super) receive_failures: Failures,
}

impl Shared {
    pub(super) fn new(inputs: Sender<Input>, notices: Notices, view: View) -> Self {
        Self {
            inputs,
            view: Mutex::new(Arc::new(view)),
            handler: Mutex::new(None),
            is_closed: AtomicBool::new(false),
            notices,
            push_failure: PushFailure::default(),
            receive_failures: Failures::default(),
        }
    }

    /// Gives the actor an input; nothing happens once it is gone.
    pub(super) fn input(&self, input: Input) {
        drop(self.inputs.send(input));
    }

    pub(super) fn handler(&self) -> Option<MessageHandler> {
        lock(&self.handler).clone()
    }

    pub(super) fn set_view(&self, view: View) {
        *lock(&self.view) = Arc::new(view);
    }

    /// No call is answered from now on, and what the handler holds is let go.
    pub(super) fn end(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        drop(lock(&self.handler).take());
        self.notices.close();
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way to an actor. The actor ends when this is dropped.
pub(crate) struct ActorHandle {
    shared: Arc<Shared>,
    /// Until somebody waits for its end.
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Waits until a thread is gone. A panic in it was told where it happened.
pub(crate) async fn wait_for(thread: JoinHandle<()>) {
    drop(tokio::task::spawn_blocking(|| thread.join()).await);
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

    /// Keeps the actor's thread until the group is closed.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        *lock(&self.thread) = Some(thread);
    }

    /// Gives the actor any input.
    #[cfg(test)]
    pub(super) fn shared_input(&self, input: Input) {
        self.shared.input(input);
    }

    /// The committed state.
    pub(crate) fn view(&self) -> Arc<View> {
        Arc::clone(&lock(&self.shared.view))
    }

    /// Events and their listeners.
    pub(crate) fn events(&self) -> &Notices {
        &self.shared.notices
    }

    /// Why the last attempt to push found no relay.
    pub(crate) fn push_failure(&self) -> Option<ConnectFailure> {
        self.shared.push_failure.last()
    }

    /// Runs a call and answers once its changes are durable. What couldn't be written is the
    /// answer to a refused call, too: one that is refused for now leaves a wish behind.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Device, u64, &mut OsRng) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.shared
            .input(Input::Call(Box::new(move |device, now_ms, rng| {
                let result = run(device, now_ms, rng);
                // A caller that has gone away takes no answer; the call stands.
                Box::new(move |committed: Result<(), EngineError>| {
                    drop(reply.send(committed.and(result)));
                })
            })));
        answer.await.unwrap_or(Err(EngineError::Closed))
    }

    /// Runs a call that can't be refused.
    pub(crate) async fn change(
        &self,
        run: impl FnOnce(&mut Device, u64, &mut OsRng) + Send + 'static,
    ) -> Result<(), EngineError> {
        self.call(|device, now_ms, rng| {
            run(device, now_ms, rng);
            Ok(())
        })
        .await
    }

    /// Runs a call on the machine that rests on a row of the store, in one input: whatever was
    /// called before is committed when the row is read, and nothing comes in between.
    pub(crate) async fn call_with<S, T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Store) -> Result<S, StorageFault> + Send + 'static,
        run: impl FnOnce(&mut Device, S, u64) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.shared
            .input(Input::StoredCall(Box::new(move |store, device, now_ms| {
                let stored = match ask(store) {
                    Ok(stored) => stored,
                    Err(fault) => {
                        drop(reply.send(Err(fault.into())));
                        return Err(fault);
                    }
                };
                let result = run(device, stored, now_ms);
                Ok(Box::new(move |committed: Result<(), EngineError>| {
                    drop(reply.send(committed.and(result)));
                }))
            })));
        answer.await.unwrap_or(Err(EngineError::Closed))
    }

    /// Asks something of the committed state. Writes nothing that the machine reads.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Store, &Device) -> Result<T, StorageFault> + Send + 'static,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.shared
            .input(Input::Query(Box::new(move |store, device| {
                let result = ask(store, device);
                let fault = result.as_ref().err().copied();
                drop(reply.send(result));
                fault
            })));
        match answer.await {
            Ok(result) => result.map_err(EngineError::Storage),
            Err(_) => Err(EngineError::Closed),
        }
    }

    /// Changes what stands in the store alone: the machine never reads it. Durable on return.
    pub(crate) async fn change_store<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Store) -> Result<T, StorageFault> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.query(move |store, _| run(store)).await
    }

    /// Changes the relay.
    pub(crate) async fn set_relay(&self, relay: RelayAddress) -> Result<(), EngineError> {
        let (reply, answer) = oneshot::channel();
        let reply = Box::new(move |result| {
            let _ = reply.send(result);
        });
        self.shared.input(Input::SetRelay(relay, reply));
        answer.await.unwrap_or(Err(EngineError::Closed))
    }

    /// Registers the message handler.
    pub(crate) fn set_handler(&self, handler: MessageHandler) -> Result<Subscription, EngineError> {
        if self.shared.is_closed() {
            return Err(EngineError::Closed);
        }
        let mut held = lock(&self.shared.handler);
        if held.is_some() {
            return Err(EngineError::MessageHandlerAlreadySet);
        }
        *held = Some(handler);
        drop(held);
        self.shared.input(Input::HandlerSet(true));
        let shared = Arc::clone(&self.shared);
        Ok(Subscription::new(move || {
            drop(lock(&shared.handler).take());
            shared.input(Input::HandlerSet(false));
        }))
    }

    /// Registers a listener of delivery issues.
    pub(crate) fn listen_to_issues(
        &self,
        listener: impl Fn(DeliveryIssue) + Send + Sync + 'static,
    ) -> Subscription {
        let subscription = self.shared.notices.listen_to_issues(listener);
        self.shared.input(Input::IssueListener);
        subscription
    }

    /// Connects now.
    pub(crate) fn reconnect(&self) {
        self.shared.input(Input::Reconnect);
    }

    /// Looks at the clock.
    pub(crate) fn wake(&self) {
        self.shared.input(Input::Wake);
    }

    /// Closes the group; its store is free on return, and its thread is gone: the database's
    /// cryptography keeps things for each thread, and a program that ends while the thread does
    /// would have both give them back at once, which ruins the heap.
    pub(crate) async fn close(&self) {
        let (closed, is_closed) = oneshot::channel();
        self.shared.input(Input::Close(closed));
        // An error says that it was closed before.
        drop(is_closed.await);
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            wait_for(thread).await;
        }
    }
}
