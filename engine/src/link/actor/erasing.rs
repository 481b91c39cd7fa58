//! Mailboxes of links that are over, until their relays have erased them.

use rand_core::OsRng;

use super::Actor;
use super::traffic::Traffic;
use crate::core::link::{Answer, ClockJump, EraseRow, Erasure, LinkChange, LinkEffect, RequestId};
use crate::link::transport::LinkAddress;

/// A mailbox that is to be erased.
pub(super) struct Erasing {
    pub(super) run: u64,
    pub(super) relay: Option<String>,
    address: LinkAddress,
    erasure: Erasure,
    traffic: Traffic,
    is_over: bool,
}

impl Erasing {
    /// When it wants to look at the clock.
    pub(super) fn next_timer(&self) -> Option<u64> {
        self.erasure.next_timer()
    }
}

impl Actor {
    /// Begins to erase a mailbox whose row is written.
    pub(super) fn start_erasing(&mut self, relay: Option<String>, row: EraseRow) {
        let address = LinkAddress {
            mailbox: row.mailbox,
            token: row.token.clone(),
        };
        // A row that was written anew takes the place of the one before.
        self.erasing
            .retain(|erasing| erasing.address.mailbox != address.mailbox);
        self.erasing.push(Erasing {
            run: self.ways.count(),
            relay,
            address,
            erasure: Erasure::start(row, self.clock.now_ms()),
            traffic: Traffic::default(),
            is_over: false,
        });
        self.settle_erasing(self.erasing.len().saturating_sub(1));
        self.end_erasing();
    }

    /// A relay answered, or didn't.
    pub(super) fn take_erased(&mut self, place: usize, id: RequestId, answer: Answer) {
        let now_ms = self.now_ms();
        if let Some(erasing) = self.erasing.get_mut(place) {
            let erasure = &mut erasing.erasure;
            erasure.handle_answer(id, answer, now_ms, &mut OsRng);
        }
        self.settle_erasing(place);
        self.end_erasing();
    }

    /// Tries those that are meant at once.
    pub(super) fn hurry_erasing(&mut self, is_meant: impl Fn(&Erasing) -> bool) {
        let now_ms = self.now_ms();
        for place in 0..self.erasing.len() {
            if let Some(erasing) = self.erasing.get_mut(place)
                && is_meant(erasing)
            {
                erasing.erasure.handle_timer(now_ms, true);
                self.settle_erasing(place);
            }
        }
        self.end_erasing();
    }

    /// The clock was set.
    pub(super) fn rebase_erasing(&mut self, jump: ClockJump) {
        for place in 0..self.erasing.len() {
            if let Some(erasing) = self.erasing.get_mut(place) {
                erasing.erasure.handle_clock_jump(jump);
                self.settle_erasing(place);
            }
        }
    }

    /// Looks at the timers.
    pub(super) fn look_at_erasing(&mut self, now_ms: u64) {
        for place in 0..self.erasing.len() {
            if let Some(erasing) = self.erasing.get_mut(place)
                && erasing.next_timer().is_some_and(|due| due <= now_ms)
            {
                erasing.erasure.handle_timer(now_ms, false);
                self.settle_erasing(place);
            }
        }
        self.end_erasing();
    }

    fn settle_erasing(&mut self, place: usize) {
        let Some(erasing) = self.erasing.get_mut(place) else {
            return;
        };
        let step = erasing.erasure.drain();
        for change in &step.changes {
            let written = match change {
                LinkChange::EraseRemoved { mailbox } => self.store.remove_erase(mailbox),
                LinkChange::EraseQueued(row) => {
                    self.store.rebase_erase(&row.mailbox, row.queued_ms)
                }
                _ => continue,
            };
            if let Err(fault) = written {
                // The row stays as it is, and is tried again at another start.
                tracing::debug!(%fault, "an erased mailbox can't be crossed off");
            }
        }
        for effect in step.effects {
            match effect {
                LinkEffect::Request { id, request } => self.ways.ask(
                    &mut erasing.traffic,
                    (erasing.relay.as_deref(), erasing.run),
                    erasing.address.clone(),
                    (id, request),
                ),
                LinkEffect::Forget => erasing.is_over = true,
                LinkEffect::OpenWatch(_) | LinkEffect::CloseWatch(_) | LinkEffect::Tell(_) => {}
            }
        }
    }

    fn end_erasing(&mut self) {
        self.erasing.retain(|erasing| !erasing.is_over);
        self.show();
    }
}
