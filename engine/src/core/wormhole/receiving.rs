//! What comes in: echoes, and the peer's messages one at a time and in order.
//!
//! Owns the re-ordering filter (section 14, amendment 24). A message with a number is taken
//! when the one before it is done; one without is told from its repetitions by its phase.
//! What comes too early is held, and when too much is held all of it is dropped and the
//! mailbox opened again: the server still has it.

use std::collections::BTreeMap;

use rand_core::CryptoRngCore;
use sealpost_protocol::label;
use sealpost_protocol::wormhole::frame::{ClientFrame, MailboxMessage};
use sealpost_protocol::wormhole::{Phase, Side, body};

use super::machine::Wormhole;
use super::step::{WormholeChange, WormholeEffect, WormholeEnd, WormholeEvent};
use super::timing;

/// Messages of the peer that wait for one before them.
#[derive(Default)]
pub(super) struct Held {
    /// With their number, or by their phase alone.
    messages: BTreeMap<(Option<u64>, Phase), MailboxMessage>,
    bytes: usize,
}

impl Held {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Takes a message; false when that is too much.
    fn hold(&mut self, message: MailboxMessage) -> bool {
        let size = |message: &MailboxMessage| message.body.as_ref().map_or(0, Vec::len);
        self.bytes = self.bytes.saturating_add(size(&message));
        let key = (message.seqnum, message.phase.clone());
        if let Some(before) = self.messages.insert(key, message) {
            self.bytes = self.bytes.saturating_sub(size(&before));
        }
        self.messages.len() <= timing::HELD_MESSAGES_MAX && self.bytes <= timing::HELD_BYTES_MAX
    }

    fn take_if(&mut self, fits: impl Fn(&MailboxMessage) -> bool) -> Option<MailboxMessage> {
        let found = self.messages.iter().find(|(_, message)| fits(message));
        let key = found.map(|(key, _)| key.clone())?;
        let message = self.messages.remove(&key)?;
        let size = message.body.as_ref().map_or(0, Vec::len);
        self.bytes = self.bytes.saturating_sub(size);
        Some(message)
    }

    fn first_numbered(&self) -> Option<(u64, Phase)> {
        let mut keys = self.messages.keys();
        keys.find_map(|(seqnum, phase)| Some(((*seqnum)?, phase.clone())))
    }
}

/// What there is to do with a message of the peer now.
#[derive(PartialEq, Eq)]
enum Turn {
    /// It was done before.
    Past,
    /// It is its turn.
    Now,
    /// Another one comes first.
    Later,
}

impl Wormhole {
    pub(super) fn handle_message(
        &mut self,
        message: MailboxMessage,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        if message.side == self.row.side {
            return self.handle_echo(&message);
        }
        match &self.row.peer {
            None => {
                self.row.peer = Some(message.side.clone());
                self.is_row_changed = true;
            }
            Some(peer) if *peer != message.side => return self.end(WormholeEnd::Crowded),
            Some(_) => {}
        }
        if self.row.end.is_some() {
            return;
        }
        match self.turn_of(&message) {
            Turn::Past => self.owe(&message),
            Turn::Now => self.take_in_turn(message, rng),
            Turn::Later => {
                if self.held.hold(message) {
                    self.probe_gap();
                } else {
                    self.reconnect(now_ms, rng);
                }
            }
        }
    }

    fn handle_echo(&mut self, message: &MailboxMessage) {
        let seqnum = message.seqnum.or_else(|| {
            let mut rows = self.outbox.iter();
            rows.find(|(_, row)| row.phase == message.phase)
                .map(|(seqnum, _)| *seqnum)
        });
        let Some(row) = seqnum.and_then(|seqnum| self.outbox.remove(&seqnum)) else {
            return;
        };
        let seqnum = row.seqnum;
        self.row.echoed = self.row.echoed.max(Some(seqnum));
        self.is_row_changed = true;
        self.step.changes.push(WormholeChange::Echoed { seqnum });
        if let Phase::Number(number) = row.phase {
            self.tell(WormholeEvent::Stored { number });
        }
    }

    fn turn_of(&self, message: &MailboxMessage) -> Turn {
        let next = self.row.done.map_or(0, |done| done.saturating_add(1));
        match message.seqnum {
            Some(seqnum) if seqnum < next => return Turn::Past,
            Some(seqnum) if seqnum > next => return Turn::Later,
            _ => {}
        }
        match &message.phase {
            Phase::Other(_) => Turn::Now,
            phase if *phase > self.row.expected => Turn::Later,
            // A number that is new with a phase that isn't: done with by doing nothing.
            phase if *phase < self.row.expected && message.seqnum.is_none() => Turn::Past,
            _ => Turn::Now,
        }
    }

    fn take_in_turn(&mut self, message: MailboxMessage, rng: &mut impl CryptoRngCore) {
        let mut next = Some(message);
        while let Some(message) = next {
            self.take(&message, rng);
            if self.row.end.is_some() {
                return;
            }
            next = self.next_held();
        }
    }

    fn next_held(&mut self) -> Option<MailboxMessage> {
        let mut held = std::mem::take(&mut self.held);
        let found = held.take_if(|message| self.turn_of(message) != Turn::Later);
        self.held = held;
        found
    }

    fn take(&mut self, message: &MailboxMessage, rng: &mut impl CryptoRngCore) {
        if self.turn_of(message) == Turn::Past {
            return self.owe(message);
        }
        let is_new = message.phase >= self.row.expected;
        let taken = match &message.phase {
            Phase::Pake if is_new => self.take_pake(message, rng),
            Phase::Version if is_new => self.take_version(message),
            Phase::Number(number) if is_new => self.take_number(message, *number),
            _ => Ok(()),
        };
        if let Err(end) = taken {
            return self.end(end);
        }
        if let Some(seqnum) = message.seqnum {
            self.row.done = self.row.done.max(Some(seqnum));
        }
        self.is_row_changed = true;
        self.owe(message);
    }

    fn take_pake(
        &mut self,
        message: &MailboxMessage,
        rng: &mut impl CryptoRngCore,
    ) -> Result<(), WormholeEnd> {
        let theirs = message.body.as_deref().and_then(body::read_pake);
        let (Some(theirs), Some(code)) = (theirs, &self.row.code) else {
            return Err(WormholeEnd::Damaged);
        };
        let key = self.row.pake.finish(self.row.app, code, &theirs);
        let key = key.map_err(|_| WormholeEnd::Damaged)?;
        let sealed = key.seal(&self.row.side, &Phase::Version, &body::version(), rng);
        self.row.key = Some(key);
        self.row.expected = Phase::Version;
        self.queue(Phase::Version, sealed);
        self.tell(WormholeEvent::PeerFound);
        Ok(())
    }

    fn take_version(&mut self, message: &MailboxMessage) -> Result<(), WormholeEnd> {
        let plaintext = self.unseal(message).ok_or(WormholeEnd::WrongCode)?;
        if !body::is_version(&plaintext) {
            return Err(WormholeEnd::Damaged);
        }
        self.row.is_confirmed = true;
        self.row.expected = Phase::Number(0);
        self.tell(WormholeEvent::Confirmed);
        Ok(())
    }

    fn take_number(&mut self, message: &MailboxMessage, number: u64) -> Result<(), WormholeEnd> {
        let plaintext = self.unseal(message).ok_or(WormholeEnd::Damaged)?;
        self.row.expected = Phase::Number(number.saturating_add(1));
        self.step.changes.push(WormholeChange::Arrived {
            number,
            plaintext: plaintext.clone(),
        });
        self.tell(WormholeEvent::Arrived { number, plaintext });
        Ok(())
    }

    fn unseal(&self, message: &MailboxMessage) -> Option<zeroize::Zeroizing<Vec<u8>>> {
        let key = self.row.key.as_ref()?;
        let bytes = message.body.as_deref()?;
        key.open(&message.side, &message.phase, bytes).ok()
    }

    /// The server may forget a message, once what is drained now is saved.
    fn owe(&mut self, message: &MailboxMessage) {
        if message.seqnum.is_some() {
            self.owes_number = true;
        } else {
            self.owed_phases.push(message.phase.clone());
        }
    }

    /// Says, behind everything else of the step, what the server may forget.
    pub(super) fn acknowledge(&mut self) {
        let phases = std::mem::take(&mut self.owed_phases);
        let owes_number = std::mem::take(&mut self.owes_number);
        let Some(peer) = self.row.peer.clone() else {
            return;
        };
        let Some(welcome) = self.connection().and_then(|c| c.welcome.clone()) else {
            return;
        };
        if let (true, true, Some(seqnum)) = (owes_number, welcome.numbers, self.row.done) {
            let side = peer.clone();
            self.send_frame(ClientFrame::Acknowledge { side, seqnum });
        }
        if welcome.deletes {
            for phase in phases {
                let side = peer.clone();
                self.send_frame(ClientFrame::Delete { side, phase });
            }
        }
    }

    /// What the mailbox remembers of numbers: more than this side does means that this side was
    /// set back, less that the server has forgotten the mailbox.
    pub(super) fn compare(&mut self, seqnums: &BTreeMap<Side, u64>, acked: &BTreeMap<Side, u64>) {
        let own = seqnums.get(&self.row.side).copied();
        let is_ahead = own.is_some_and(|own| own >= self.row.next_seqnum);
        let peers = self.row.peer.as_ref().and_then(|peer| acked.get(peer));
        if is_ahead || peers.copied() > self.row.done {
            return self.end(WormholeEnd::SetBack);
        }
        if own < self.row.echoed {
            self.row.echoed = own;
            self.is_row_changed = true;
            self.tell(WormholeEvent::Forgotten);
        }
    }

    /// Something is held: whether anything fills the gap is known with the next `pong`.
    fn probe_gap(&mut self) {
        let is_probing = self.connection().is_none_or(|line| line.probe.is_some());
        if is_probing || !self.row.is_lasting {
            return;
        }
        let number = self.ping();
        if let Some(connection) = self.connection() {
            connection.probe = Some(number);
        }
    }

    /// Everything that was sent before has come. What a lasting wormhole still lacks now is
    /// lost, and is said; it goes on with what it has.
    pub(super) fn handle_pong(&mut self, number: Option<u64>, rng: &mut impl CryptoRngCore) {
        let Some(connection) = self.connection() else {
            return;
        };
        if connection.probe.is_none() || connection.probe != number {
            return;
        }
        connection.probe = None;
        let Some((seqnum, phase)) = self.held.first_numbered() else {
            return;
        };
        let before = seqnum.checked_sub(1);
        let next = self.row.done.map_or(0, |done| done.saturating_add(1));
        self.tell(WormholeEvent::Missed {
            count: seqnum.saturating_sub(next),
        });
        self.row.done = before;
        self.row.expected = self.row.expected.clone().max(phase);
        self.is_row_changed = true;
        if let Some(message) = self.next_held() {
            self.take_in_turn(message, rng);
        }
    }

    pub(super) fn tell(&mut self, event: WormholeEvent) {
        self.step.effects.push(WormholeEffect::Tell(event));
    }

    /// The seed of a lasting wormhole that begins with this one.
    #[must_use]
    pub fn seed(&self) -> Option<sealpost_protocol::wormhole::WormholeKey> {
        let key = self.row.key.as_ref().filter(|_| self.row.is_confirmed)?;
        Some(key.derive(label::WORMHOLE_SEED))
    }
}
