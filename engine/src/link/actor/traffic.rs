//! What is under way at the relays: requests and watches, each a task of its own.
//!
//! Owns the ways to the relays and the tasks on them. A task reports to the thread and is ended
//! with the machine that it works for.

use std::collections::BTreeMap;
use std::sync::Arc;

use sealpost_protocol::link::key::Direction;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::call::{Input, Shared};
use crate::core::link::{LinkRequest, RequestId};
use crate::link::http::HttpTransport;
use crate::link::relay_url::RelayUrl;
use crate::link::transport::{LinkAddress, LinkFailure, LinkTransport};

/// The ways to the relays.
pub(super) struct Ways {
    runtime: Handle,
    shared: Arc<Shared>,
    here: Option<Arc<dyn LinkTransport>>,
    over_http: BTreeMap<String, Arc<dyn LinkTransport>>,
    /// Counts machines and watches, so that reports for one that is gone are told apart.
    counted: u64,
}

/// What is under way for one machine. Ended when this is dropped.
#[derive(Default)]
pub(super) struct Traffic {
    requests: Vec<AbortHandle>,
    watches: BTreeMap<Direction, (u64, AbortHandle)>,
}

impl Drop for Traffic {
    fn drop(&mut self) {
        let watches = self.watches.values().map(|(_, task)| task);
        self.requests
            .iter()
            .chain(watches)
            .for_each(AbortHandle::abort);
    }
}

impl Traffic {
    /// The direction of a watch that is open.
    pub(super) fn watched(&self, watch: u64) -> Option<Direction> {
        let mut watches = self.watches.iter();
        watches.find_map(|(direction, (number, _))| (*number == watch).then_some(*direction))
    }

    /// Ends every watch, and says on which directions there were any.
    pub(super) fn close_watches(&mut self) -> Vec<Direction> {
        let directions: Vec<_> = self.watches.keys().copied().collect();
        for direction in &directions {
            self.close_watch(*direction);
        }
        directions
    }

    /// Ends the watch on a direction, if it is open.
    pub(super) fn close_watch(&mut self, direction: Direction) {
        if let Some((_, task)) = self.watches.remove(&direction) {
            task.abort();
        }
    }
}

impl Ways {
    pub(super) const fn new(runtime: Handle, shared: Arc<Shared>) -> Self {
        Self {
            runtime,
            shared,
            here: None,
            over_http: BTreeMap::new(),
            counted: 0,
        }
    }

    /// A number that nothing had before.
    pub(super) const fn count(&mut self) -> u64 {
        self.counted = self.counted.saturating_add(1);
        self.counted
    }

    /// The relay in this program.
    pub(super) fn set_here(&mut self, transport: Option<Arc<dyn LinkTransport>>) {
        self.here = transport;
    }

    /// The network has changed.
    pub(super) fn renew(&self) {
        self.over_http.values().for_each(|way| way.renew());
    }

    /// The way to a relay; none where it is the one in this program and doesn't run.
    fn to(&mut self, relay: Option<&str>) -> Result<Arc<dyn LinkTransport>, LinkFailure> {
        let Some(text) = relay else {
            return self.here.clone().ok_or(LinkFailure::RelayOff);
        };
        if let Some(way) = self.over_http.get(text) {
            return Ok(Arc::clone(way));
        }
        // It was read when the link was made.
        let url = RelayUrl::parse(text).map_err(|_| LinkFailure::NameNotFound)?;
        let way: Arc<dyn LinkTransport> = Arc::new(HttpTransport::new(url));
        self.over_http.insert(text.to_owned(), Arc::clone(&way));
        Ok(way)
    }

    /// Asks a relay; the answer comes as an input under `run`.
    pub(super) fn ask(
        &mut self,
        traffic: &mut Traffic,
        (relay, run): (Option<&str>, u64),
        address: LinkAddress,
        (id, request): (RequestId, LinkRequest),
    ) {
        let way = self.to(relay);
        let shared = Arc::clone(&self.shared);
        let task = self.runtime.spawn(async move {
            let outcome = match way {
                Ok(way) => way.perform(address, request).await,
                Err(failure) => Err(failure),
            };
            shared.input(Input::Answered { run, id, outcome });
        });
        traffic.requests.retain(|task| !task.is_finished());
        traffic.requests.push(task.abort_handle());
    }

    /// Watches a direction, in place of an earlier watch on it.
    pub(super) fn watch(
        &mut self,
        traffic: &mut Traffic,
        relay: Option<&str>,
        address: LinkAddress,
        direction: Direction,
    ) {
        traffic.close_watch(direction);
        let watch = self.count();
        let shared = Arc::clone(&self.shared);
        let way = self.to(relay);
        let task = self.runtime.spawn(async move {
            let told = Arc::clone(&shared);
            let sink = Arc::new(move |event| told.input(Input::Watched { watch, event }));
            if let Ok(way) = way {
                way.watch(address, direction, sink).await;
            }
            // Whatever the way told, and if it told nothing.
            shared.input(Input::WatchEnded { watch });
        });
        traffic
            .watches
            .insert(direction, (watch, task.abort_handle()));
    }
}
