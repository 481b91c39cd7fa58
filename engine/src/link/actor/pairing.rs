//! A pairing on the thread.
//!
//! Nothing of a pairing is stored but that its mailbox is to be erased; the link that it makes
//! is, and stands beside it from then on until the pairing is over. A pairing that came to
//! nothing stays in the list until the person has seen why.

use rand_core::OsRng;
use sealpost_protocol::link::key::Role;

use super::Actor;
use super::entry::{address, not_reached, place};
use super::traffic::Traffic;
use crate::core::error::StorageFault;
use crate::core::link::pairing::{
    LinkPairing, PairingEffect, PairingFailure, PairingMailbox, PairingPhase, PairingStep,
};
use crate::core::link::{Answer, LinkChange, RequestId, WatchEvent};
use crate::link::error::LinksError;
use crate::link::event::LinksEvent;
use crate::link::info::{LinkEnd, LinkInfo, LinkState, PairingInfo, PairingUrl};
use crate::link::name::LinkName;
use crate::link::store::{EndRecord, Of};
use crate::link::transport::{LinkAddress, LinkFailure};

/// A pairing, until the person has seen how it ended.
pub(super) struct PairingEntry {
    pub(super) of: Of,
    pub(super) role: Role,
    pub(super) run: u64,
    pub(super) machine: LinkPairing,
    pub(super) traffic: Traffic,
    pub(super) failure: Option<LinkFailure>,
    /// The code, on A.
    url: Option<PairingUrl>,
    /// Whether the relay ever made its mailbox.
    is_claimed: bool,
    end: Option<LinkEnd>,
}

impl PairingEntry {
    pub(super) fn new(
        of: Of,
        (role, run): (Role, u64),
        machine: LinkPairing,
        url: Option<PairingUrl>,
    ) -> Self {
        Self {
            of,
            role,
            run,
            machine,
            traffic: Traffic::default(),
            failure: None,
            url,
            is_claimed: false,
            end: None,
        }
    }

    /// When the machine wants to look at the clock.
    pub(super) fn next_timer(&self) -> Option<u64> {
        self.machine.next_timer()
    }

    /// Whether it came to nothing.
    pub(super) const fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Its mailboxes, where they are on the relay in this program.
    pub(super) fn here(&self) -> Vec<LinkAddress> {
        if self.of.relay.is_some() || self.is_over() {
            return Vec::new();
        }
        let both = [PairingMailbox::Code, PairingMailbox::Link];
        let keys = both.into_iter().filter_map(|one| self.machine.keys(one));
        keys.map(address).collect()
    }

    /// How it shows.
    pub(super) fn info(&self) -> LinkInfo {
        let view = self.machine.view();
        let state = self.end.map_or_else(
            || {
                let is_shown = matches!(view.phase, PairingPhase::Waiting);
                LinkState::Pairing(PairingInfo {
                    phase: view.phase,
                    digits: view.digits.map(|digits| digits.to_text()),
                    is_confirmed: view.is_confirmed,
                    url: self.url.clone().filter(|_| is_shown),
                    expires_at_ms: view.expires_ms,
                })
            },
            LinkState::Ended,
        );
        let trouble = (view.is_unanswered && !self.is_over()).then(|| not_reached(self.failure));
        LinkInfo {
            name: self.of.name.clone(),
            role: self.role,
            peer_name: view.peer_name,
            place: place(self.of.relay.as_deref()),
            state,
            made_at_ms: self.of.made_at_ms,
            last_contact_ms: None,
            waiting: 0,
            arrived: 0,
            trouble,
        }
    }
}

impl Actor {
    /// Feeds a pairing and carries out what follows. One that can't be written has ended.
    pub(super) fn feed_pairing(
        &mut self,
        name: &LinkName,
        feed: impl FnOnce(&mut LinkPairing, u64),
    ) {
        if let Err(error) = self.call_pairing(name, feed) {
            tracing::warn!(%error, "a pairing ended");
        }
    }

    /// As [`Self::feed_pairing`], for somebody who waits for what becomes of it.
    pub(super) fn call_pairing(
        &mut self,
        name: &LinkName,
        feed: impl FnOnce(&mut LinkPairing, u64),
    ) -> Result<(), LinksError> {
        let now_ms = self.now_ms();
        let Some(entry) = self.pairings.get_mut(name) else {
            return Err(LinksError::NotPairing);
        };
        feed(&mut entry.machine, now_ms);
        self.settle_pairing(name)
    }

    pub(super) fn answer_pairing(
        &mut self,
        name: &LinkName,
        (id, answer): (RequestId, Answer),
        failure: Option<LinkFailure>,
    ) {
        if let Some(entry) = self.pairings.get_mut(name) {
            entry.failure = failure;
        }
        self.feed_pairing(name, |pairing, now_ms| {
            pairing.handle_answer(id, answer, now_ms, &mut OsRng);
        });
    }

    pub(super) fn watch_pairing(&mut self, name: &LinkName, event: WatchEvent) {
        self.feed_pairing(name, |pairing, now_ms| {
            pairing.handle_watch(event, now_ms, &mut OsRng);
        });
    }

    /// Commits what the machine decided, and carries it out.
    pub(super) fn settle_pairing(&mut self, name: &LinkName) -> Result<(), LinksError> {
        let Some(entry) = self.pairings.get_mut(name) else {
            return Ok(());
        };
        let step = entry.machine.drain();
        let applied = self
            .store
            .apply(&entry.of, &step.changes, &[], EndRecord::Nothing);
        let position = match applied {
            Ok(position) => position,
            Err(fault) => {
                self.fail_pairing(name, fault);
                return Err(fault.into());
            }
        };
        entry.is_claimed |= entry.machine.view().phase != PairingPhase::Claiming
            && !matches!(entry.machine.view().phase, PairingPhase::Failed(_));
        let is_added = step.changes.iter().any(is_link_added);
        self.carry_out_pairing(name, step, position.filter(|_| is_added));
        self.show();
        Ok(())
    }

    /// The machine can't go on: what it decided isn't written. What it wrote before, that its
    /// mailbox is to be erased, is carried out.
    fn fail_pairing(&mut self, name: &LinkName, fault: StorageFault) {
        if let Some(entry) = self.pairings.get_mut(name) {
            entry.end = Some(LinkEnd::Storage(fault));
            entry.traffic = Traffic::default();
        }
        self.shared
            .listeners
            .tell(&LinksEvent::Changed(name.clone()));
        self.erase_code(name);
        self.show();
    }

    fn carry_out_pairing(&mut self, name: &LinkName, step: PairingStep, link: Option<i64>) {
        for effect in step.effects {
            let Some(entry) = self.pairings.get_mut(name) else {
                return;
            };
            match effect {
                PairingEffect::Request {
                    mailbox,
                    id,
                    request,
                } => {
                    let Some(keys) = entry.machine.keys(mailbox) else {
                        continue;
                    };
                    let address = address(keys);
                    let to = (entry.of.relay.as_deref(), entry.run);
                    self.ways
                        .ask(&mut entry.traffic, to, address, (id, request));
                }
                PairingEffect::OpenWatch(direction) => {
                    if let Some(keys) = entry.machine.keys(PairingMailbox::Code) {
                        let (relay, address) = (entry.of.relay.as_deref(), address(keys));
                        let traffic = &mut entry.traffic;
                        self.ways.watch(traffic, relay, address, direction);
                    }
                }
                PairingEffect::CloseWatch(direction) => entry.traffic.close_watch(direction),
                PairingEffect::Changed => self
                    .shared
                    .listeners
                    .tell(&LinksEvent::Changed(name.clone())),
                PairingEffect::Begin => {
                    if let Some(position) = link {
                        self.begin_link(position);
                    }
                }
                // The link was there already, and the other device won't come over to it.
                PairingEffect::Withdraw => {
                    if let Err(error) = self.end_link(name) {
                        tracing::warn!(%error, "a link that came to nothing stays");
                    }
                }
                PairingEffect::End => self.end_pairing(name),
            }
        }
    }

    fn end_pairing(&mut self, name: &LinkName) {
        let now_ms = self.now_ms();
        self.erase_code(name);
        let Some(entry) = self.pairings.get_mut(name) else {
            return;
        };
        entry.traffic = Traffic::default();
        let view = entry.machine.view();
        match view.phase {
            // The person knows.
            PairingPhase::Failed(PairingFailure::Cancelled) | PairingPhase::Done => {
                self.pairings.remove(name);
            }
            PairingPhase::Failed(failure) => {
                let is_refused = failure == PairingFailure::Expired
                    && entry.role == Role::A
                    && !entry.is_claimed
                    && now_ms < view.expires_ms;
                entry.end = Some(if is_refused {
                    LinkEnd::ClaimsClosed
                } else {
                    LinkEnd::Pairing(failure)
                });
            }
            _ => {}
        }
    }

    /// Carries out that the code's mailbox is erased, unless that isn't for this side to do.
    fn erase_code(&mut self, name: &LinkName) {
        let Some(entry) = self.pairings.get(name) else {
            return;
        };
        let relay = entry.of.relay.clone();
        let keys = entry.machine.keys(PairingMailbox::Code);
        let Some(mailbox) = keys.map(|keys| keys.mailbox()) else {
            return;
        };
        match self.store.erasing() {
            Ok(rows) => {
                let row = rows
                    .into_iter()
                    .find(|record| record.row.mailbox == mailbox);
                if let Some(record) = row {
                    self.start_erasing(relay, record.row);
                }
            }
            // The row is there, and carried out at another start.
            Err(fault) => tracing::debug!(%fault, "a code's mailbox can't be erased now"),
        }
    }
}

fn is_link_added(change: &LinkChange) -> bool {
    matches!(change, LinkChange::LinkAdded(_))
}
