//! From what a machine decided to what is done: commit, then carry out, then show.

use rand_core::OsRng;
use sealpost_protocol::link::payload::PayloadId;

use super::Actor;
use super::call::View;
use super::entry::{Entry, Machine, address};
use super::pairing::PairingEntry;
use super::traffic::Traffic;
use crate::actor::{REST_FIRST_MS, REST_MAX_MS, Rest};
use crate::core::error::StorageFault;
use crate::core::link::pairing::{HELLO_BODY, HELLO_KEY, LinkPairing};
use crate::core::link::{Link, LinkChange, LinkEffect, LinkEvent, LinkStep, RowFailure, RowKind};
use crate::link::error::LinksError;
use crate::link::event::LinksEvent;
use crate::link::info::{LinkEnd, LinkInfo};
use crate::link::name::LinkName;
use crate::link::store::{EndRecord, LinkRecord, Of};

impl Actor {
    /// Begins: builds every machine, and goes on with what is to be erased.
    pub(super) fn begin(&mut self) {
        for name in self.names_where(|_| true) {
            self.start_link(&name);
        }
        match self.store.erasing() {
            Ok(rows) => {
                for record in rows {
                    self.start_erasing(record.relay, record.row);
                }
            }
            Err(fault) => tracing::warn!(%fault, "mailboxes that are to be erased can't be read"),
        }
        self.show();
    }

    /// Puts what is stored of a link on the thread.
    pub(super) fn enter(&mut self, record: LinkRecord) -> Result<LinkName, StorageFault> {
        let now_ms = self.now_ms();
        let snapshot = self.store.snapshot(&record)?;
        let arrived = self.store.arrived_count(record.position)?;
        let machine = snapshot.map_or(Machine::Ended(LinkEnd::ByPeer), |snapshot| {
            Machine::Link(Box::new(Link::restore(snapshot, now_ms)))
        });
        let name = record.name.clone();
        let entry = Entry {
            of: Of {
                position: Some(record.position),
                name: record.name,
                relay: record.relay,
                made_at_ms: record.made_at_ms,
            },
            role: record.role,
            peer_name: record.peer_name,
            run: self.ways.count(),
            machine,
            traffic: Traffic::default(),
            failure: None,
            arrived,
        };
        self.links.insert(name.clone(), entry);
        Ok(name)
    }

    /// Lets a machine begin.
    fn start_link(&mut self, name: &LinkName) {
        let (now_ms, is_watching) = (self.now_ms(), self.is_watching);
        let entry = self.links.get_mut(name);
        if let Some(link) = entry.and_then(|entry| entry.machine.link()) {
            link.set_visible(is_watching, now_ms, &mut OsRng);
            link.start(now_ms, &mut OsRng);
            self.settle_or_rest(name);
        }
    }

    /// A pairing has made this link.
    pub(super) fn begin_link(&mut self, position: i64) {
        let entered = self.store.links().and_then(|links| {
            let record = links.into_iter().find(|link| link.position == position);
            record.map(|record| self.enter(record)).transpose()
        });
        match entered {
            Ok(Some(name)) => self.start_link(&name),
            Ok(None) => {}
            // It is there at the next start.
            Err(fault) => tracing::warn!(%fault, "a new link can't be read back"),
        }
    }

    /// Commits what the machine decided, and carries it out. What can't be written didn't
    /// happen.
    pub(super) fn settle(&mut self, name: &LinkName) -> Result<(), LinksError> {
        let Some(entry) = self.links.get_mut(name) else {
            return Ok(());
        };
        let Some(link) = entry.machine.link() else {
            return Ok(());
        };
        let mut step = link.drain();
        step.changes.retain(|change| !is_first_state(change));
        let end = end_of(&step);
        let failures = failures_of(&step);
        let applied = self.store.apply(&entry.of, &step.changes, &failures, end);
        if let Err(fault) = applied {
            self.fall(name, fault);
            return Err(fault.into());
        }
        if !step.changes.is_empty() {
            self.failures = 0;
        }
        self.count_arrived(name, &step);
        self.carry_out(name, step, end);
        self.look_for_pairing(name);
        self.show();
        Ok(())
    }

    /// As [`Self::settle`], where nobody waits for what becomes of it.
    pub(super) fn settle_or_rest(&mut self, name: &LinkName) {
        if let Err(error) = self.settle(name) {
            tracing::warn!(%error, "a link rests");
        }
    }

    fn count_arrived(&mut self, name: &LinkName, step: &LinkStep) {
        let is_arrival = |change: &LinkChange| matches!(change, LinkChange::Arrived(_));
        if let Some(entry) = self.links.get_mut(name)
            && let Some(position) = entry.of.position
            && step.changes.iter().any(is_arrival)
            && let Ok(arrived) = self.store.arrived_count(position)
        {
            entry.arrived = arrived;
        }
    }

    fn carry_out(&mut self, name: &LinkName, step: LinkStep, end: EndRecord) {
        let relay = self
            .links
            .get(name)
            .and_then(|entry| entry.of.relay.clone());
        for change in step.changes {
            if let LinkChange::EraseQueued(row) = change {
                self.start_erasing(relay.clone(), row);
            }
        }
        for effect in step.effects {
            let Some(entry) = self.links.get_mut(name) else {
                return;
            };
            match (effect, &mut entry.machine) {
                (LinkEffect::Request { id, request }, Machine::Link(link)) => {
                    let to = (entry.of.relay.as_deref(), entry.run);
                    let address = address(link.keys());
                    self.ways
                        .ask(&mut entry.traffic, to, address, (id, request));
                }
                (LinkEffect::OpenWatch(direction), Machine::Link(link)) => {
                    let (relay, address) = (entry.of.relay.as_deref(), address(link.keys()));
                    self.ways
                        .watch(&mut entry.traffic, relay, address, direction);
                }
                (LinkEffect::CloseWatch(direction), _) => entry.traffic.close_watch(direction),
                (LinkEffect::Tell(event), _) => self.tell(name, event),
                (LinkEffect::Forget, _) => self.forget(name, end),
                (LinkEffect::Request { .. } | LinkEffect::OpenWatch(_), _) => {}
            }
        }
    }

    fn tell(&self, name: &LinkName, event: LinkEvent) {
        let name = name.clone();
        let event = match event {
            LinkEvent::Arrived(_) => LinksEvent::Arrived(name),
            LinkEvent::RowStored(_)
            | LinkEvent::RowCollected(_)
            | LinkEvent::RowReceived(_)
            | LinkEvent::RowSuperseded(_)
            | LinkEvent::RowFailed { .. } => LinksEvent::Sent(name),
            LinkEvent::ConditionChanged | LinkEvent::PeerUnpaired | LinkEvent::PairingChanged => {
                LinksEvent::Changed(name)
            }
            LinkEvent::EnvelopesRefused { count } => {
                tracing::debug!(count, "envelopes that could not be opened were passed over");
                return;
            }
        };
        self.shared.listeners.tell(&event);
    }

    /// The link is over: its keys are gone from the store already.
    fn forget(&mut self, name: &LinkName, end: EndRecord) {
        match end {
            EndRecord::Nothing => drop(self.links.remove(name)),
            EndRecord::WhatArrived => {
                if let Some(entry) = self.links.get_mut(name) {
                    entry.machine = Machine::Ended(LinkEnd::ByPeer);
                    entry.traffic = Traffic::default();
                }
            }
        }
        self.shared
            .listeners
            .tell(&LinksEvent::Changed(name.clone()));
    }

    /// On A the pairing is over once the other device has come over to the link.
    fn look_for_pairing(&mut self, name: &LinkName) {
        if !self.pairings.contains_key(name) {
            return;
        }
        let entry = self.links.get_mut(name);
        let link = entry.and_then(|entry| entry.machine.link());
        if link.is_some_and(|link| link.condition().last_contact_ms.is_some()) {
            self.feed_pairing(name, LinkPairing::handle_link_heard);
        }
    }

    /// What the machine decided couldn't be written: it goes, with everything in flight, and is
    /// built anew after a rest.
    fn fall(&mut self, name: &LinkName, fault: StorageFault) {
        if let Some(entry) = self.links.get_mut(name) {
            entry.machine = Machine::Stale(fault);
            entry.traffic = Traffic::default();
            entry.run = self.ways.count();
        }
        let doubled = REST_FIRST_MS.checked_shl(self.failures).unwrap_or(u64::MAX);
        self.rest = Some(Rest {
            until_ms: self.now_ms().saturating_add(doubled.min(REST_MAX_MS)),
            failures: self.failures,
        });
        self.failures = self.failures.saturating_add(1);
        self.shared
            .listeners
            .tell(&LinksEvent::Changed(name.clone()));
        self.show();
    }

    /// Builds those machines anew whose rest is over.
    pub(super) fn revive(&mut self) {
        let now_ms = self.now_ms();
        if self.rest.is_some_and(|rest| rest.lasts(now_ms)) {
            return;
        }
        self.rest = None;
        let stale = self.names_where(|entry| matches!(entry.machine, Machine::Stale(_)));
        for name in stale {
            match self.rebuild(&name) {
                Ok(()) => self.start_link(&name),
                Err(fault) => self.fall(&name, fault),
            }
        }
    }

    fn rebuild(&mut self, name: &LinkName) -> Result<(), StorageFault> {
        let mut records = self.store.links()?.into_iter();
        match records.find(|record| record.name == *name) {
            Some(record) => self.enter(record).map(drop),
            None => {
                self.links.remove(name);
                Ok(())
            }
        }
    }

    /// Makes the committed state visible.
    pub(super) fn show(&self) {
        let mut links: Vec<_> = self.pairings.values().map(PairingEntry::info).collect();
        let is_shown_already = |name: &LinkName| self.pairings.contains_key(name);
        let others = self.links.values();
        links.extend(
            others
                .filter(|entry| !is_shown_already(&entry.of.name))
                .map(Entry::info),
        );
        links.sort_by(|one, other| {
            let key = |link: &LinkInfo| (link.made_at_ms, link.name.clone());
            key(one).cmp(&key(other))
        });
        let here = self.links.values().filter_map(Entry::here);
        let pairing = self.pairings.values().flat_map(PairingEntry::here);
        let view = View {
            here: here.chain(pairing).collect(),
            erasing: self.erasing.len(),
            links,
        };
        self.shared.set_view(view);
    }
}

/// The state with which a device comes over from its pairing says nothing to the app.
fn is_first_state(change: &LinkChange) -> bool {
    let LinkChange::Arrived(row) = change else {
        return false;
    };
    let has_key = |key: &str| matches!(&row.kind, RowKind::State { collapse } if collapse == key);
    has_key(HELLO_KEY) && row.body == HELLO_BODY
}

/// What is left of a link that this step ends.
fn end_of(step: &LinkStep) -> EndRecord {
    let by_peer = |effect: &LinkEffect| matches!(effect, LinkEffect::Tell(LinkEvent::PeerUnpaired));
    if step.effects.iter().any(by_peer) {
        EndRecord::WhatArrived
    } else {
        EndRecord::Nothing
    }
}

fn failures_of(step: &LinkStep) -> Vec<(PayloadId, RowFailure)> {
    let failed = step.effects.iter().filter_map(|effect| match effect {
        LinkEffect::Tell(LinkEvent::RowFailed { id, reason }) => Some((*id, *reason)),
        _ => None,
    });
    failed.collect()
}
