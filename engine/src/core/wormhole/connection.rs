//! One connection with the server: what is sent on it, and in which order.
//!
//! Owns what this connection has asked already. After `welcome`: `bind`, then the nameplate and
//! the mailbox if they aren't known, `open` with a `ping` behind it, then every own message
//! whose echo hasn't come, in order.

use rand_core::CryptoRngCore;
use sealpost_protocol::wormhole::frame::{ClientFrame, Welcome};

use super::machine::Wormhole;
use super::step::{WormholeChange, WormholeEffect, WormholeEnd};
use super::timing;

/// Where the connection stands.
pub(super) enum Line {
    /// There is none; the next is opened at this time.
    Down {
        /// When.
        at_ms: u64,
    },
    /// One is being opened.
    Opening,
    /// It is open.
    Up(Box<Connection>),
}

/// An open connection.
#[derive(Default)]
pub(super) struct Connection {
    pub(super) welcome: Option<Welcome>,
    has_asked_nameplate: bool,
    has_claimed: bool,
    pub(super) has_opened: bool,
    has_released: bool,
    has_closed: bool,
    /// The next own number to send.
    next_sent: u64,
    /// The number of the last `ping`, and whether something was held when it was sent.
    pub(super) pings: u64,
    pub(super) probe: Option<u64>,
    heard_ms: u64,
    pinged_ms: u64,
}

impl Wormhole {
    /// The connection is open.
    pub fn handle_connected(&mut self, now_ms: u64) {
        if self.is_over {
            return;
        }
        self.line = Line::Up(Box::new(Connection {
            heard_ms: now_ms,
            pinged_ms: now_ms,
            ..Connection::default()
        }));
    }

    /// There is no connection, or it is gone.
    pub fn handle_lost(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if self.is_over {
            return;
        }
        if let Line::Up(connection) = &self.line
            && connection.has_closed
        {
            self.close_attempts = self.close_attempts.saturating_add(1);
        }
        if self.row.end.is_some() && self.close_attempts >= timing::CLOSE_ATTEMPTS_MAX {
            return self.finish();
        }
        self.held.clear();
        let half = self.delay_ms / 2;
        let more = rng.next_u64().checked_rem(half.max(1)).unwrap_or(0);
        let at_ms = now_ms.saturating_add(half).saturating_add(more);
        self.delay_ms = self
            .delay_ms
            .saturating_add(half)
            .min(timing::RECONNECT_MAX_MS);
        self.line = Line::Down { at_ms };
    }

    /// Gives the connection up and opens another one.
    pub(super) fn reconnect(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.step.effects.push(WormholeEffect::Disconnect);
        self.handle_lost(now_ms, rng);
    }

    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        match &mut self.line {
            Line::Up(connection) => Some(connection),
            _ => None,
        }
    }

    /// Something came over the connection.
    pub(super) fn note_heard(&mut self, now_ms: u64) {
        if let Some(connection) = self.connection() {
            connection.heard_ms = now_ms;
        }
    }

    /// The first frame: from now on there is something to say.
    pub(super) fn welcomed(&mut self, welcome: Welcome) {
        let is_unwelcome = welcome.error.is_some() || welcome.wants_permission;
        let Some(connection) = self.connection() else {
            return;
        };
        if connection.welcome.is_some() {
            return;
        }
        connection.welcome = Some(welcome);
        self.delay_ms = timing::RECONNECT_FIRST_MS;
        self.send_frame(ClientFrame::Bind {
            app: self.row.app,
            side: self.row.side.clone(),
        });
        if is_unwelcome {
            self.end(WormholeEnd::Unwelcome);
        }
    }

    pub(super) fn send_frame(&mut self, frame: ClientFrame) {
        self.step.effects.push(WormholeEffect::Send(frame));
    }

    /// When the connection has to be looked at.
    pub(super) fn next_line_timer(&self) -> Option<u64> {
        match &self.line {
            Line::Down { at_ms } => Some(*at_ms),
            Line::Opening => None,
            Line::Up(connection) => {
                let silent_ms = connection.heard_ms.saturating_add(timing::SILENCE_MS);
                let ping_ms = connection
                    .pinged_ms
                    .saturating_add(timing::PING_INTERVAL_MS);
                Some(silent_ms.min(ping_ms))
            }
        }
    }

    /// Opens, pings or gives up a connection whose time it is.
    pub(super) fn look_at_line(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        match &mut self.line {
            Line::Down { at_ms } if *at_ms <= now_ms => {
                self.line = Line::Opening;
                self.step.effects.push(WormholeEffect::Connect);
            }
            Line::Up(connection) => {
                if connection.heard_ms.saturating_add(timing::SILENCE_MS) <= now_ms {
                    return self.reconnect(now_ms, rng);
                }
                if connection
                    .pinged_ms
                    .saturating_add(timing::PING_INTERVAL_MS)
                    <= now_ms
                {
                    connection.pinged_ms = now_ms;
                    self.ping();
                }
            }
            _ => {}
        }
    }

    /// Asks for a `pong` behind everything that was sent so far.
    pub(super) fn ping(&mut self) -> u64 {
        let Some(connection) = self.connection() else {
            return 0;
        };
        connection.pings = connection.pings.saturating_add(1);
        let number = connection.pings;
        if connection.welcome.is_some() {
            self.send_frame(ClientFrame::Ping(number));
        }
        number
    }

    /// Says what can be said now.
    pub(super) fn pump(&mut self) {
        let Line::Up(connection) = &self.line else {
            return;
        };
        if connection.welcome.is_none() || self.is_over || connection.has_closed {
            return;
        }
        if self.row.end.is_some_and(|end| end != WormholeEnd::Done) {
            return self.leave();
        }
        if self.row.mailbox.is_none() {
            return self.ask_for_mailbox();
        }
        self.open_mailbox();
        self.send_outbox();
        if self.row.peer.is_some() {
            self.release();
        }
        if self.row.end == Some(WormholeEnd::Done) && self.outbox.is_empty() {
            self.leave();
        }
    }

    fn ask_for_mailbox(&mut self) {
        let nameplate = self.row.nameplate.clone();
        let Some(connection) = self.connection() else {
            return;
        };
        match nameplate {
            None if !connection.has_asked_nameplate => {
                connection.has_asked_nameplate = true;
                self.send_frame(ClientFrame::Allocate);
            }
            Some(nameplate) if !connection.has_claimed => {
                connection.has_claimed = true;
                self.send_frame(ClientFrame::Claim(nameplate));
            }
            _ => {}
        }
    }

    fn open_mailbox(&mut self) {
        let Some(mailbox) = self.row.mailbox.clone() else {
            return;
        };
        match self.connection() {
            Some(connection) if !connection.has_opened => connection.has_opened = true,
            _ => return,
        }
        self.send_frame(ClientFrame::Open(mailbox));
        self.ping();
    }

    fn send_outbox(&mut self) {
        let Line::Up(connection) = &mut self.line else {
            return;
        };
        let numbers = connection.welcome.as_ref().is_some_and(|w| w.numbers);
        for (seqnum, message) in self.outbox.range(connection.next_sent..) {
            connection.next_sent = seqnum.saturating_add(1);
            self.step
                .effects
                .push(WormholeEffect::Send(ClientFrame::Add {
                    phase: message.phase.clone(),
                    body: message.body.clone(),
                    seqnum: numbers.then_some(*seqnum),
                }));
        }
    }

    /// The peer is there: the short number can be somebody else's.
    fn release(&mut self) {
        if self.row.is_released {
            return;
        }
        let Some(nameplate) = self.row.nameplate.clone() else {
            return;
        };
        match self.connection() {
            Some(connection) if !connection.has_released => connection.has_released = true,
            _ => return,
        }
        self.send_frame(ClientFrame::Release(nameplate));
    }

    fn leave(&mut self) {
        let (Some(mailbox), Some(end)) = (self.row.mailbox.clone(), self.row.end) else {
            return self.finish();
        };
        self.release();
        if let Some(connection) = self.connection() {
            connection.has_closed = true;
        }
        let mood = end.mood(self.row.peer.is_some());
        self.send_frame(ClientFrame::Close { mailbox, mood });
    }

    /// The mailbox is left, or it was tried often enough.
    pub(super) fn finish(&mut self) {
        self.is_over = true;
        self.is_row_changed = false;
        self.step.changes.push(WormholeChange::Removed);
        self.step.effects.push(WormholeEffect::Disconnect);
        self.line = Line::Opening;
    }
}
