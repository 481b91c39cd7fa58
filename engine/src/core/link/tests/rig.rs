//! Two devices and a relay by its own rules, in one thread, and what a test does to them.

use std::collections::VecDeque;

use bytes::Bytes;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng as _;
use sealpost_protocol::link::envelope;
use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, LinkKeys, Role};
use sealpost_protocol::link::payload::{Kind, Payload, PayloadId};
use sealpost_relay::mailbox::{DirectionHead, MailboxAccess, Making, MemoryMailboxes, Refusal};

use super::super::*;

pub(super) const NOW_MS: u64 = 1_795_000_000_000;
pub(super) const SECOND_MS: u64 = 1_000;
pub(super) const MINUTE_MS: u64 = 60_000;
pub(super) const HOUR_MS: u64 = 3_600_000;
pub(super) const DAY_MS: u64 = 24 * HOUR_MS;

/// What happens to a request instead of what usually does.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    /// It never arrives.
    Lost,
    /// It arrives; its answer doesn't.
    AnswerLost,
    /// The relay says this and does nothing.
    Answered(Answer),
}

/// A refusal.
pub(super) fn refused(status: u16, code: &str) -> Answer {
    Answer::Refused(Refused {
        status,
        error: RefusedError::parse(code),
        last: None,
        retry_after_s: None,
    })
}

/// One device.
pub(super) struct Device {
    pub(super) snapshot: LinkSnapshot,
    pub(super) link: Option<Link>,
    pub(super) arrived: Vec<ArrivedRow>,
    pub(super) erase: Vec<EraseRow>,
    pub(super) is_forgotten: bool,
    pub(super) events: Vec<LinkEvent>,
    /// Every request that it made.
    pub(super) asked: Vec<LinkRequest>,
    pub(super) fates: VecDeque<Fate>,
    pub(super) watches: Vec<Direction>,
    waiting: VecDeque<(RequestId, LinkRequest)>,
    frames: VecDeque<(Direction, WatchEvent)>,
    /// Counts the points at which the process could end; ends it at that one.
    pub(super) crash_at: Option<usize>,
    pub(super) points: usize,
}

pub(super) struct Rig {
    pub(super) relay: MemoryMailboxes,
    pub(super) making: Making,
    pub(super) now_ms: u64,
    pub(super) a: Device,
    pub(super) b: Device,
    pub(super) rng: ChaCha12Rng,
}

impl Device {
    fn new(key: &LinkKey, id: LinkId, role: Role) -> Self {
        let row = LinkRow {
            is_established: true,
            last_contact_ms: Some(NOW_MS),
            ..LinkRow::default()
        };
        let snapshot = LinkSnapshot {
            key: key.clone(),
            id,
            role,
            row,
            outbox: Vec::new(),
            accepted: Vec::new(),
        };
        Self {
            snapshot,
            link: None,
            arrived: Vec::new(),
            erase: Vec::new(),
            is_forgotten: false,
            events: Vec::new(),
            asked: Vec::new(),
            fates: VecDeque::new(),
            watches: Vec::new(),
            waiting: VecDeque::new(),
            frames: VecDeque::new(),
            crash_at: None,
            points: 0,
        }
    }

    pub(super) fn link(&mut self) -> &mut Link {
        self.link.as_mut().expect("the device runs")
    }

    /// The process ends.
    pub(super) fn crash(&mut self) {
        self.link = None;
        self.waiting.clear();
        self.frames.clear();
        self.watches.clear();
    }

    /// The bodies that arrived for the app, as text.
    pub(super) fn texts(&self) -> Vec<String> {
        let text = |row: &ArrivedRow| String::from_utf8(row.body.clone()).unwrap();
        self.arrived.iter().map(text).collect()
    }

    pub(super) fn puts(&self) -> Vec<(u64, Vec<u8>)> {
        let put = |request: &LinkRequest| match request {
            LinkRequest::Put {
                sequence, envelope, ..
            } => Some((*sequence, envelope.clone())),
            _ => None,
        };
        self.asked.iter().filter_map(put).collect()
    }

    pub(super) fn claims(&self) -> usize {
        let is_claim = |request: &&LinkRequest| **request == LinkRequest::Claim;
        self.asked.iter().filter(is_claim).count()
    }

    fn ends_here(&mut self) -> bool {
        self.points += 1;
        let ends = self.crash_at == Some(self.points);
        if ends {
            self.crash();
        }
        ends
    }

    /// Commits and carries out what the machine asks.
    pub(super) fn settle(&mut self) {
        let Some(link) = &mut self.link else { return };
        let step = link.drain();
        if step.is_empty() || self.ends_here() {
            return;
        }
        for change in step.changes {
            self.commit(change);
        }
        for effect in step.effects {
            if self.ends_here() {
                return;
            }
            self.carry_out(effect);
        }
    }

    fn commit(&mut self, change: LinkChange) {
        let outbox = &mut self.snapshot.outbox;
        match change {
            LinkChange::RowSaved(row) => self.snapshot.row = row,
            LinkChange::OutboxAdded(row) => outbox.push(row),
            LinkChange::OutboxStored { id, stored } => outbox
                .iter_mut()
                .filter(|row| row.id == id)
                .for_each(|row| row.stored = stored),
            LinkChange::OutboxRebased { id, queued_ms } => outbox
                .iter_mut()
                .filter(|row| row.id == id)
                .for_each(|row| row.queued_ms = queued_ms),
            LinkChange::OutboxRemoved { id } => outbox.retain(|row| row.id != id),
            LinkChange::Arrived(row) => self.arrived.push(row),
            LinkChange::Accepted { id } => self.snapshot.accepted.push(id),
            LinkChange::AcceptedForgotten { id } => {
                self.snapshot.accepted.retain(|other| *other != id);
            }
            LinkChange::LinkAdded(_) => unreachable!("a link makes no links"),
            LinkChange::Forgotten => self.is_forgotten = true,
            LinkChange::EraseQueued(row) => self.erase.push(row),
            LinkChange::EraseRemoved { mailbox } => {
                self.erase.retain(|row| row.mailbox != mailbox);
            }
        }
    }

    fn carry_out(&mut self, effect: LinkEffect) {
        match effect {
            LinkEffect::Request { id, request } => {
                self.asked.push(request.clone());
                self.waiting.push_back((id, request));
            }
            LinkEffect::OpenWatch(direction) => self.watches.push(direction),
            LinkEffect::CloseWatch(direction) => self.watches.retain(|open| *open != direction),
            LinkEffect::Tell(event) => self.events.push(event),
            LinkEffect::Forget => self.crash(),
        }
    }
}

impl Rig {
    /// Both devices run, with nothing said yet.
    pub(super) fn new() -> Self {
        let mut rig = Self::stopped();
        rig.start(Role::A);
        rig.start(Role::B);
        rig.run();
        rig
    }

    pub(super) fn stopped() -> Self {
        let key = LinkKey::from_bytes([7; 32]);
        let id = LinkId::from_bytes([8; 16]);
        Self {
            relay: MemoryMailboxes::new(),
            making: Making::Below(10),
            now_ms: NOW_MS,
            a: Device::new(&key, id, Role::A),
            b: Device::new(&key, id, Role::B),
            rng: ChaCha12Rng::seed_from_u64(1),
        }
    }

    pub(super) fn keys(&self) -> LinkKeys {
        LinkKeys::derive(&self.a.snapshot.key, &self.a.snapshot.id)
    }

    fn access(&self) -> MailboxAccess {
        let keys = self.keys();
        MailboxAccess::new(&keys.mailbox(), keys.token())
    }

    pub(super) fn device(&mut self, role: Role) -> &mut Device {
        match role {
            Role::A => &mut self.a,
            Role::B => &mut self.b,
        }
    }

    /// The process starts, from what is stored.
    pub(super) fn start(&mut self, role: Role) {
        let now_ms = self.now_ms;
        let mut link = Link::restore(self.device(role).snapshot.clone(), now_ms);
        link.start(now_ms, &mut self.rng);
        let device = self.device(role);
        device.link = Some(link);
        device.settle();
    }

    pub(super) fn restart(&mut self, role: Role) {
        self.device(role).crash();
        self.start(role);
        self.run();
    }

    /// Says something to the machine of a device.
    pub(super) fn tell(
        &mut self,
        role: Role,
        input: impl FnOnce(&mut Link, u64, &mut ChaCha12Rng),
    ) {
        let now_ms = self.now_ms;
        let device = match role {
            Role::A => &mut self.a,
            Role::B => &mut self.b,
        };
        if let Some(link) = &mut device.link {
            input(link, now_ms, &mut self.rng);
        }
        device.settle();
    }

    /// Queues a message.
    pub(super) fn queue(&mut self, role: Role, text: &str) -> PayloadId {
        let mut id = None;
        self.tell(role, |link, now_ms, rng| {
            let row = (RowKind::Msg, text.as_bytes().to_vec());
            id = Some(link.queue(row, None, now_ms, rng).unwrap());
        });
        id.expect("the device runs")
    }

    /// What was queued by an earlier run of the process.
    pub(super) fn queue_offline(&mut self, role: Role, text: &str) {
        let id = PayloadId::generate(&mut self.rng);
        let row = OutboxRow {
            position: 1,
            id,
            kind: RowKind::Msg,
            body: text.as_bytes().to_vec(),
            queued_ms: self.now_ms,
            stored: None,
        };
        self.device(role).snapshot.outbox.push(row);
    }

    pub(super) fn queue_state(&mut self, role: Role, key: &str, text: &str) {
        let collapse = key.to_owned();
        self.tell(role, |link, now_ms, rng| {
            let row = (RowKind::State { collapse }, text.as_bytes().to_vec());
            link.queue(row, None, now_ms, rng).unwrap();
        });
    }

    /// Queues a message, and everything follows that needs no time.
    pub(super) fn send(&mut self, role: Role, text: &str) -> PayloadId {
        let id = self.queue(role, text);
        self.run();
        id
    }

    /// Everything that needs no time.
    pub(super) fn run(&mut self) {
        for _ in 0..20_000 {
            let before = (self.a.asked.len(), self.b.asked.len());
            self.turn(Role::A);
            self.turn(Role::B);
            let is_idle = |device: &Device| device.waiting.is_empty() && device.frames.is_empty();
            let is_same = before == (self.a.asked.len(), self.b.asked.len());
            if is_same && is_idle(&self.a) && is_idle(&self.b) {
                return;
            }
        }
        panic!("the devices don't come to rest");
    }

    /// One request or one frame of a device.
    fn turn(&mut self, role: Role) {
        if let Some((direction, event)) = self.device(role).frames.pop_front() {
            self.tell(role, |link, now_ms, rng| {
                link.handle_watch(direction, event, now_ms, rng);
            });
        }
        let Some((id, request)) = self.device(role).waiting.pop_front() else {
            return;
        };
        let answer = match self.device(role).fates.pop_front() {
            Some(Fate::Lost) => Answer::NoAnswer,
            Some(Fate::Answered(answer)) => answer,
            Some(Fate::AnswerLost) => {
                self.perform(&request);
                Answer::NoAnswer
            }
            None => self.perform(&request),
        };
        self.tell(role, |link, now_ms, rng| {
            link.handle_answer(id, answer, now_ms, rng);
        });
    }

    /// Time goes by, and whatever is due in it happens when it is due.
    pub(super) fn advance(&mut self, ms: u64) {
        let end_ms = self.now_ms + ms;
        for _ in 0..100_000 {
            self.run();
            let timer = |device: &Device| device.link.as_ref().and_then(Link::next_timer);
            let next = [timer(&self.a), timer(&self.b)].into_iter().flatten().min();
            let Some(next) = next.filter(|at_ms| *at_ms <= end_ms) else {
                self.now_ms = end_ms;
                return;
            };
            self.now_ms = next.max(self.now_ms);
            for role in [Role::A, Role::B] {
                for direction in self.device(role).watches.clone() {
                    // A relay that lives beats.
                    let frame = (direction, WatchEvent::Beat);
                    self.device(role).frames.push_back(frame);
                }
            }
            self.run();
            for role in [Role::A, Role::B] {
                let due = self.device(role).link.as_ref().and_then(Link::next_timer);
                if due.is_some_and(|at_ms| at_ms <= self.now_ms) {
                    self.tell(role, |link, now_ms, rng| link.handle_timer(now_ms, rng));
                }
            }
        }
        panic!("timers don't come to rest");
    }

    /// The clock is set, for this device and everything else.
    pub(super) fn jump(&mut self, role: Role, by_ms: i64) {
        self.now_ms = self.now_ms.checked_add_signed(by_ms).unwrap();
        self.tell(role, |link, now_ms, _| {
            link.handle_clock_jump(ClockJump { by_ms, now_ms });
        });
    }

    /// What the relay does with a request, and whom it tells.
    pub(super) fn perform(&mut self, request: &LinkRequest) -> Answer {
        let access = self.access();
        match self.ask(&access, request) {
            Ok((done, frame)) => {
                if let Some(frame) = frame {
                    self.frame(frame);
                }
                Answer::Done(done)
            }
            Err(refusal) => Answer::Refused(to_refused(&refusal)),
        }
    }

    fn frame(&mut self, frame: (Direction, WatchEvent)) {
        for device in [&mut self.a, &mut self.b] {
            if device.watches.contains(&frame.0) {
                device.frames.push_back(frame);
            }
        }
    }

    /// Ends every watch like this.
    pub(super) fn close_watches(&mut self, close: WatchClose) {
        for device in [&mut self.a, &mut self.b] {
            for direction in std::mem::take(&mut device.watches) {
                let frame = (direction, WatchEvent::Closed(close));
                device.frames.push_back(frame);
            }
        }
    }

    fn ask(
        &mut self,
        access: &MailboxAccess,
        request: &LinkRequest,
    ) -> Result<(Done, Option<(Direction, WatchEvent)>), Refusal> {
        let now_ms = self.now_ms;
        let mut done = Done::default();
        let mut frame = None;
        match request {
            LinkRequest::Claim => {
                let claimed = self.relay.claim(access, self.making, now_ms)?;
                done.is_new = claimed.is_new;
                done.headers.created_ms = Some(claimed.created_ms);
                done.headers.expires_s = Some(claimed.expires_s);
            }
            LinkRequest::Head(direction) => {
                done.headers = headers(&self.relay.head(access, *direction, now_ms)?);
            }
            LinkRequest::Page { direction, after } => {
                let page = self.relay.page(access, *direction, (*after, 16), now_ms)?;
                done.headers = headers(&page.head);
                done.headers.more = Some(page.more.into());
                let found = |(sequence, bytes): (u64, Bytes)| PageEnvelope {
                    sequence,
                    envelope: bytes.to_vec(),
                };
                done.envelopes = page.envelopes.into_iter().map(found).collect();
            }
            LinkRequest::Put {
                direction,
                sequence,
                envelope,
            } => {
                let bytes = Bytes::from(envelope.clone());
                let put = (*sequence, &bytes);
                let stored = self.relay.put(access, *direction, put, || true, now_ms)?;
                done.is_new = stored.is_new;
                done.headers = headers(&stored.head);
                let last = *sequence;
                frame = stored
                    .is_new
                    .then_some((*direction, WatchEvent::Stored { last }));
            }
            LinkRequest::Prune { direction, through } => {
                let head = self.relay.prune(access, *direction, *through, now_ms)?;
                done.headers = headers(&head);
                frame = Some((*direction, WatchEvent::Pruned));
            }
            LinkRequest::Erase => {
                self.relay.erase(access, now_ms)?;
                self.close_watches(WatchClose::Erased);
            }
        }
        Ok((done, frame))
    }

    /// The mailbox goes as when its time is over, and nobody hears of it.
    pub(super) fn vanish(&mut self) {
        let access = self.access();
        let _ = self.relay.erase(&access, self.now_ms);
        self.now_ms += 1;
    }

    pub(super) fn head(&mut self, direction: Direction) -> DirectionHead {
        let access = self.access();
        self.relay.head(&access, direction, self.now_ms).unwrap()
    }

    /// What a device put last, opened.
    pub(super) fn last_put(&mut self, role: Role) -> Payload {
        let keys = self.keys();
        let (sequence, bytes) = self.device(role).puts().pop().unwrap();
        let opened = envelope::open(&keys, role.writes(), sequence, None, &bytes).unwrap();
        Payload::decode(&opened.payload).unwrap()
    }

    /// The kinds of everything that a device put, repetitions included.
    pub(super) fn kinds(&mut self, role: Role) -> Vec<Kind> {
        let keys = self.keys();
        let puts = self.device(role).puts();
        let kind = |(sequence, bytes): &(u64, Vec<u8>)| {
            let opened = envelope::open(&keys, role.writes(), *sequence, None, bytes).unwrap();
            Payload::decode(&opened.payload).unwrap().header.kind
        };
        puts.iter().map(kind).collect()
    }

    /// Somebody who has the token writes this.
    pub(super) fn plant(&mut self, direction: Direction, sequence: u64, envelope: Vec<u8>) {
        let request = LinkRequest::Put {
            direction,
            sequence,
            envelope,
        };
        assert!(matches!(self.perform(&request), Answer::Done(_)));
    }
}

fn headers(head: &DirectionHead) -> RelayHeaders {
    RelayHeaders {
        last: head.last,
        more: None,
        count: Some(head.count.into()),
        oldest: head.oldest,
        created_ms: Some(head.created_ms),
        expires_s: Some(head.expires_s),
    }
}

fn to_refused(refusal: &Refusal) -> Refused {
    let (status, code, last) = match refusal {
        Refusal::NoMailbox => (404, "no_mailbox", None),
        Refusal::ClaimsClosed => (404, "claims_closed", None),
        Refusal::WrongToken => (403, "wrong_token", None),
        Refusal::SequenceTaken(head) => (409, "sequence_taken", head.last),
        Refusal::DirectionFull(head) => (507, "direction_full", head.last),
        Refusal::SequenceJump => (400, "sequence_jump", None),
        Refusal::EnvelopeTooLarge => (413, "envelope_too_large", None),
        Refusal::BadEnvelope | Refusal::BadSequence => (400, "bad_request", None),
        _ => (503, "unavailable", None),
    };
    Refused {
        status,
        error: RefusedError::parse(code),
        last,
        retry_after_s: None,
    }
}
