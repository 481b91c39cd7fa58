//! One device of the model: the engine's machine, its disk, and where it may crash.

use std::collections::{BTreeSet, VecDeque};

use sealpost_engine::core::link::{
    Answer, Link, LinkEffect, LinkEvent, LinkRequest, LinkStep, RequestId, RowKind, WatchClose,
    WatchEvent,
};
use sealpost_protocol::link::key::Direction;
use sealpost_protocol::link::payload::PayloadId;

use super::line::Dice;
use super::store::ModelStore;

/// A crash at one of the points of a step, in per mille.
const CRASH_PER_MILLE: u64 = 50;

/// What goes to a machine.
pub(super) enum Input {
    Answer(RequestId, Answer),
    Watch(Direction, WatchEvent),
    Timer,
    Online,
    Look(bool),
    Queue(RowKind, PayloadId),
}

/// One device.
pub(super) struct Device {
    pub(super) store: ModelStore,
    /// `None`: it crashed and hasn't started again.
    pub(super) link: Option<Link>,
    /// The request that is on its way.
    pub(super) request: Option<(RequestId, LinkRequest)>,
    /// What comes to the machine, in order.
    pub(super) inbox: VecDeque<Input>,
    pub(super) watches: BTreeSet<Direction>,
    pub(super) crashes: u64,
    pub(super) failed: u64,
    is_watching: bool,
}

impl Device {
    pub(super) fn new(store: ModelStore, is_watching: bool) -> Self {
        Self {
            store,
            link: None,
            request: None,
            inbox: VecDeque::new(),
            watches: BTreeSet::new(),
            crashes: 0,
            failed: 0,
            is_watching,
        }
    }

    /// Starts the process.
    pub(super) fn start(&mut self, now_ms: u64, dice: &mut Dice) {
        let mut link = Link::restore(self.store.snapshot(), now_ms);
        link.set_visible(self.is_watching, now_ms, &mut dice.0);
        link.start(now_ms, &mut dice.0);
        self.link = Some(link);
        self.settle(dice, false);
    }

    /// The process ends: everything that isn't on the disk is gone, and so are its
    /// connections.
    pub(super) fn crash(&mut self) {
        self.crashes += 1;
        self.link = None;
        self.request = None;
        self.inbox.clear();
        self.watches.clear();
    }

    /// Gives the machine one input and carries out what it asks.
    pub(super) fn take(&mut self, input: Input, now_ms: u64, dice: &mut Dice, may_crash: bool) {
        let Some(link) = &mut self.link else { return };
        match input {
            Input::Answer(id, answer) => link.handle_answer(id, answer, now_ms, &mut dice.0),
            Input::Watch(direction, event) => {
                if matches!(event, WatchEvent::Closed(_)) {
                    self.watches.remove(&direction);
                }
                link.handle_watch(direction, event, now_ms, &mut dice.0);
            }
            Input::Timer => link.handle_timer(now_ms, &mut dice.0),
            Input::Online => link.handle_online(now_ms, &mut dice.0),
            Input::Look(is_watching) => {
                self.is_watching = is_watching;
                link.set_visible(is_watching, now_ms, &mut dice.0);
            }
            Input::Queue(kind, id) => {
                let row = (kind, id.as_bytes().to_vec());
                // A full outbox is told to the caller: nothing was promised.
                let _ = link.queue(row, Some(id), now_ms, &mut dice.0);
            }
        }
        self.settle(dice, may_crash);
    }

    /// Commits a step, then does what it asks; or stops somewhere in between.
    fn settle(&mut self, dice: &mut Dice, may_crash: bool) {
        let Some(link) = &mut self.link else { return };
        let LinkStep { changes, effects } = link.drain();
        let points = effects.len() as u64 + 2;
        let crash_at = (may_crash && dice.happens(CRASH_PER_MILLE)).then(|| dice.below(points));
        if crash_at == Some(0) {
            self.crash();
            return;
        }
        self.store.commit(&changes);
        for (point, effect) in effects.into_iter().enumerate() {
            if crash_at == Some(point as u64 + 1) {
                self.crash();
                return;
            }
            self.carry_out(effect);
        }
        if crash_at == Some(points - 1) {
            self.crash();
        }
    }

    fn carry_out(&mut self, effect: LinkEffect) {
        match effect {
            LinkEffect::Request { id, request } => self.request = Some((id, request)),
            LinkEffect::OpenWatch(direction) => {
                self.watches.insert(direction);
                self.inbox.push_back(Input::Watch(
                    direction,
                    WatchEvent::State {
                        last: None,
                        count: 0,
                        created_ms: None,
                    },
                ));
            }
            LinkEffect::CloseWatch(direction) => {
                self.watches.remove(&direction);
                let is_other =
                    |input: &Input| !matches!(input, Input::Watch(of, _) if *of == direction);
                self.inbox.retain(is_other);
            }
            LinkEffect::Tell(LinkEvent::RowFailed { .. }) => self.failed += 1,
            LinkEffect::Tell(_) | LinkEffect::Forget => {}
        }
    }

    /// The connection to the relay is gone, with all watches.
    pub(super) fn disconnect(&mut self) {
        self.inbox
            .retain(|input| !matches!(input, Input::Watch(..)));
        for direction in std::mem::take(&mut self.watches) {
            let closed = WatchEvent::Closed(WatchClose::Other);
            self.inbox.push_back(Input::Watch(direction, closed));
        }
        if let Some((id, _)) = self.request.take() {
            self.inbox.push_back(Input::Answer(id, Answer::NoAnswer));
        }
        self.inbox
            .iter_mut()
            .filter(|input| matches!(input, Input::Answer(..)))
            .for_each(|input| {
                if let Input::Answer(_, answer) = input {
                    *answer = Answer::NoAnswer;
                }
            });
    }
}
