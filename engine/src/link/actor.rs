//! The one thread that owns the links of a profile: their store, their key and their machines.
//!
//! Owns the order of things. Inputs come through one channel; what a machine makes of one is
//! drained into a step, committed in one transaction, and only then answered and carried out.
//! Holds no rule of delivery or pairing.
//!
//! Invariants:
//! - nothing is sent, answered or told before the commit that it follows from;
//! - a commit that fails drops the machine and everything in flight, and a new machine is
//!   built from the store: what wasn't committed didn't happen;
//! - what was asked or watched for a machine that is gone is dropped when it reports.

mod call;
mod calls;
mod start;

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use tokio::runtime::Handle;

pub(super) use self::call::ActorHandle;
use self::call::{Input, Shared};
pub(super) use self::start::start;
use super::store::LinkStore;
use crate::clock::Clock;

/// The owner of the links.
pub(super) struct Actor {
    inputs: Receiver<Input>,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    runtime: Handle,
    store: LinkStore,
}

impl Actor {
    /// Runs until the links are closed.
    fn run(self) {
        let mut actor = self;
        let closed = loop {
            match actor.inputs.recv() {
                Ok(Input::Call(call)) => {
                    let reply = call(&mut actor);
                    reply(Ok(()));
                }
                Ok(Input::Close(closed)) => break Some(closed),
                Ok(Input::Abandon) | Err(_) => break None,
                Ok(_) => {}
            }
        };
        actor.shared.listeners.close();
        // The store is free before anybody is told that the links are closed.
        drop(actor.store);
        if let Some(closed) = closed {
            // Nobody waits for it any more: that is fine.
            let _ = closed.send(());
        }
    }
}
