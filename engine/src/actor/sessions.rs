//! The actor's side of the two sessions.

use std::collections::VecDeque;
use std::sync::Arc;

use sealpost_protocol::address::RelayAddress;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

use super::call::{Input, Shared};
use crate::core::device::Device;
use crate::core::status::ConnectFailure;
use crate::core::step::{Push, SessionId};
use crate::session::dial::Dialler;
use crate::session::push::Pusher;
use crate::session::receive::{ReceiveOrder, Receiver};
use crate::session::timing::Timing;
use crate::session::{QueuePlace, ReceiveGoal, Reporter, Route};

/// Both sessions of one machine under one identity: another one gets sessions of its own, so
/// that they never share a connection and nothing of one reaches the other.
pub(super) struct Sessions {
    goals: watch::Sender<ReceiveGoal>,
    orders: UnboundedSender<ReceiveOrder>,
    relays: watch::Sender<Option<RelayAddress>>,
    pushes: UnboundedSender<Push>,
    hurry: Arc<Notify>,
    receiver: Option<AbortHandle>,
    pusher: AbortHandle,
    /// Places of the blobs that the machine hasn't decided, in the order of delivery.
    places: VecDeque<QueuePlace>,
    aim: Option<Aim>,
}

/// What the goals were derived from last.
#[derive(PartialEq, Eq)]
struct Aim {
    wants_receive: bool,
    relay: Option<RelayAddress>,
}

impl Sessions {
    /// Starts both, with nowhere to go yet.
    pub(super) fn start(runtime: &Handle, shared: &Arc<Shared>, generation: u64) -> Self {
        let reporter = Arc::clone(shared);
        let report: Reporter =
            Arc::new(move |report| reporter.input(Input::Session { generation, report }));
        let (goals, goals_of) = watch::channel(ReceiveGoal::Idle(None));
        let (orders, orders_of) = unbounded_channel();
        let (relays, relays_of) = watch::channel(None);
        let (pushes, pushes_of) = unbounded_channel();
        let hurry = Arc::new(Notify::new());
        let receiver = Receiver {
            goals: goals_of,
            orders: orders_of,
            hurry: Arc::clone(&hurry),
            failures: shared.receive_failures.clone(),
            report: Arc::clone(&report),
            dialler: Dialler::Network,
            timing: Timing::default(),
        };
        let failure = shared.push_failure.clone();
        let pusher = Pusher {
            relays: relays_of,
            pushes: pushes_of,
            report,
            failure,
            dialler: Dialler::Network,
            timing: Timing::default(),
        };
        let receiver = Some(runtime.spawn(receiver.run()).abort_handle());
        let pusher = runtime.spawn(pusher.run()).abort_handle();
        let places = VecDeque::new();
        Self {
            goals,
            orders,
            relays,
            pushes,
            hurry,
            receiver,
            pusher,
            places,
            aim: None,
        }
    }

    /// Sends both where the machine wants them. Nothing happens while that is the same.
    pub(super) fn aim(&mut self, relay: Option<&RelayAddress>, device: &Device) {
        let aim = Aim {
            wants_receive: device.wants_receive_session(),
            relay: relay.cloned(),
        };
        if self.aim.as_ref() == Some(&aim) {
            return;
        }
        let goal = match &aim.relay {
            None => ReceiveGoal::Idle(Some(ConnectFailure::NoRelay)),
            Some(_) if !aim.wants_receive => ReceiveGoal::Idle(Some(ConnectFailure::NoHandler)),
            Some(relay) => ReceiveGoal::Connect(Arc::new(Route {
                relay: relay.clone(),
                device: device.secrets().noise.clone(),
            })),
        };
        self.goals.send_replace(goal);
        // A push session goes on while the relay stays, whatever becomes of receiving.
        let is_same = |last: &Aim| last.relay == aim.relay;
        if !self.aim.as_ref().is_some_and(is_same) {
            self.relays.send_replace(aim.relay.clone());
        }
        self.aim = Some(aim);
    }

    /// Starts both afresh, whatever they are doing: after a sleep of the computer nobody can
    /// tell whether the other side is still there. To be sent anywhere anew ends what there
    /// is, and begins without the delay after a failure.
    pub(super) fn renew(&self) {
        self.goals.send_modify(|_| {});
        self.relays.send_modify(|_| {});
    }

    /// Connects now instead of after the current delay.
    pub(super) fn hurry(&self) {
        self.hurry.notify_one();
    }

    // A session that is gone takes no orders; that is what the core expects.

    pub(super) fn acknowledge(&self, session: SessionId, blob: u64) {
        let _ = self.orders.send(ReceiveOrder::Acknowledge(session, blob));
    }

    pub(super) fn restart(&self, session: SessionId) {
        let _ = self.orders.send(ReceiveOrder::Restart(session));
    }

    pub(super) fn push(&self, push: Push) {
        drop(self.pushes.send(push));
    }

    /// Holds the place of a delivered blob.
    pub(super) fn take_place(&mut self, place: QueuePlace) {
        self.places.push_back(place);
    }

    /// Gives up the places of all but the last `waiting` blobs.
    pub(super) fn release_places(&mut self, waiting: usize) {
        let decided = self.places.len().saturating_sub(waiting);
        self.places.drain(..decided);
    }

    /// Ends both, once the acknowledgements that wait are written. What they still report is
    /// of an earlier machine.
    pub(super) fn retire(mut self) {
        self.goals.send_replace(ReceiveGoal::Idle(None));
        // It goes by itself when it finds that nobody gives it goals any more.
        drop(self.receiver.take());
    }

    /// Ends both.
    pub(super) fn end(&mut self) {
        self.places.clear();
        if let Some(receiver) = &self.receiver {
            receiver.abort();
        }
        self.pusher.abort();
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.end();
    }
}
