//! Starts the actor of a group.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, mpsc::Receiver};
use std::thread;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::call::{ActorHandle, Input, Shared, wait_for};
use super::group::Group;
use super::runs::Runs;
use super::sessions::Sessions;
use super::view::View;
use super::{Actor, ClockJumps, TIDY_AFTER, words_of};
use crate::core::error::StorageFault;
use crate::core::event::Event;
use crate::core::status::{Status, StatusReason};
use crate::engine::{OpenError, OpenOptions};
use crate::notices::Notices;

/// Opens the group on a thread of its own and returns the way to it.
pub(crate) async fn start(options: OpenOptions) -> Result<ActorHandle, OpenError> {
    let (opened, is_opened) = oneshot::channel();
    let (inputs, inputs_of) = mpsc::channel();
    let runtime = Handle::current();
    let thread = thread::Builder::new().name("sealpost-group".to_owned());
    let thread = thread
        .spawn(move || {
            let built = Actor::build(options, runtime, inputs, inputs_of);
            match built {
                Ok(actor) => {
                    let handle = ActorHandle::new(Arc::clone(&actor.shared));
                    // If nobody waits any more, the dropped handle ends the actor.
                    drop(opened.send(Ok(handle)));
                    actor.run();
                }
                Err(error) => drop(opened.send(Err(error))),
            }
        })
        .map_err(|_| StorageFault::Unavailable)?;
    let opened = is_opened
        .await
        .unwrap_or(Err(StorageFault::Unavailable.into()));
    match &opened {
        Ok(handle) => handle.keep(thread),
        // See `ActorHandle::close` for why its end is waited for.
        Err(_) => wait_for(thread).await,
    }
    opened
}

impl Actor {
    pub(super) fn build(
        options: OpenOptions,
        runtime: Handle,
        inputs: Sender<Input>,
        inputs_of: Receiver<Input>,
    ) -> Result<Self, OpenError> {
        let now_ms = options.clock.now_ms();
        let group = Group::open(&options, now_ms)?;
        Self::of(group, options, runtime, inputs, inputs_of)
    }

    /// The actor of a group that is open.
    pub(super) fn of(
        group: Group,
        options: OpenOptions,
        runtime: Handle,
        inputs: Sender<Input>,
        inputs_of: Receiver<Input>,
    ) -> Result<Self, OpenError> {
        let clock = options.clock;
        let relay = group.settle_relay(options.relay)?;
        let notices = Notices::start().map_err(|_| StorageFault::Unavailable)?;
        let opened_ms = clock.now_ms();
        if group.is_reset {
            notices.tell(Event::StatusChanged {
                status: Status::NotJoined,
                reason: Some(StatusReason::StoreReset),
            });
        }
        let view = View::of(&group.device, relay.clone());
        let shared = Arc::new(Shared::new(inputs, notices, view));
        let sessions = Sessions::start(&runtime, &shared, 0);
        Ok(Self {
            inputs: inputs_of,
            shared,
            clock,
            runtime,
            group,
            relay,
            sessions,
            runs: Runs::default(),
            generation: 0,
            rest: None,
            jumps: ClockJumps::new(Instant::now(), opened_ms),
            is_ahead: false,
            owes_sync: false,
            tidy_at: Instant::now().checked_add(TIDY_AFTER),
            words: VecDeque::new(),
            is_computing: false,
            compute: words_of,
            stale: None,
        })
    }
}
