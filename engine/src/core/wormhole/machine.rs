//! The machine of one wormhole: its inputs, and how it ends.
//!
//! Invariants: it ends once; what ended it is saved with the step that found it; nothing that
//! the server says makes it forget an own message whose echo hasn't come.

use std::collections::BTreeMap;

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::WORMHOLE_FRAME_BYTES_MAX;
use sealpost_protocol::wormhole::frame::{Refusal, ServerFrame, WormholeMailbox};
use sealpost_protocol::wormhole::{
    Application, Nameplate, PakeSecret, Phase, Side, WormholeCode, body,
};

use super::connection::Line;
use super::receiving::Held;
use super::step::{
    Start, WormholeChange, WormholeEnd, WormholeEvent, WormholeMessage, WormholeRow,
    WormholeSnapshot, WormholeStep,
};
use super::timing;

/// The machine of one wormhole.
pub struct Wormhole {
    pub(super) row: WormholeRow,
    pub(super) outbox: BTreeMap<u64, WormholeMessage>,
    pub(super) held: Held,
    pub(super) line: Line,
    pub(super) delay_ms: u64,
    pub(super) close_attempts: u32,
    pub(super) owes_number: bool,
    pub(super) owed_phases: Vec<Phase>,
    pub(super) is_row_changed: bool,
    /// The mailbox is left: nothing happens any more.
    pub(super) is_over: bool,
    deadline_ms: Option<u64>,
    pub(super) step: WormholeStep,
}

/// Why a message isn't taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The other side hasn't shown that it has the same code.
    #[error("the other side isn't there yet")]
    NotConfirmed,
    /// It is too long for a frame.
    #[error("the message is too long")]
    TooLarge,
    /// Too many wait.
    #[error("too many messages wait")]
    Full,
    /// The wormhole is over.
    #[error("the wormhole is over")]
    Ended,
}

impl Wormhole {
    /// A new wormhole. It ends by itself when nobody has come `deadline_ms`.
    pub fn new(
        app: Application,
        start: Start,
        deadline_ms: Option<u64>,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Self {
        let row = WormholeRow {
            app,
            side: Side::generate(rng),
            is_lasting: matches!(start, Start::Seed(_)),
            pake: PakeSecret::generate(rng),
            nameplate: None,
            code: None,
            mailbox: None,
            key: None,
            is_confirmed: false,
            is_released: false,
            next_seqnum: 0,
            next_number: 0,
            echoed: None,
            peer: None,
            done: None,
            expected: Phase::Pake,
            end: None,
        };
        let outbox = Vec::new();
        let mut wormhole = Self::restore(WormholeSnapshot { row, outbox }, deadline_ms, now_ms);
        match start {
            Start::Allocate => {}
            Start::Code(code) => wormhole.take_code(code),
            Start::Seed(key) => {
                wormhole.row.mailbox = WormholeMailbox::parse(&key.mailbox());
                wormhole.row.key = Some(key);
                wormhole.row.is_confirmed = true;
                wormhole.row.expected = Phase::Number(0);
            }
        }
        wormhole.is_row_changed = true;
        wormhole
    }

    /// Builds the machine from what is stored.
    #[must_use]
    pub fn restore(snapshot: WormholeSnapshot, deadline_ms: Option<u64>, now_ms: u64) -> Self {
        let rows = snapshot.outbox.into_iter();
        Self {
            row: snapshot.row,
            outbox: rows.map(|message| (message.seqnum, message)).collect(),
            held: Held::default(),
            line: Line::Down { at_ms: now_ms },
            delay_ms: timing::RECONNECT_FIRST_MS,
            close_attempts: 0,
            owes_number: false,
            owed_phases: Vec::new(),
            is_row_changed: false,
            is_over: false,
            deadline_ms,
            step: WormholeStep::default(),
        }
    }

    /// A frame came.
    pub fn handle_frame(&mut self, text: &str, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if self.is_over || self.connection().is_none() {
            return;
        }
        self.note_heard(now_ms);
        match ServerFrame::decode(text) {
            Ok(frame) => self.handle(frame, now_ms, rng),
            // Something else than a mailbox server, or one that went mad.
            Err(_) => self.reconnect(now_ms, rng),
        }
        self.pump();
    }

    fn handle(&mut self, frame: ServerFrame, now_ms: u64, rng: &mut impl CryptoRngCore) {
        match frame {
            ServerFrame::Welcome(welcome) => self.welcomed(welcome),
            ServerFrame::Allocated(nameplate) => self.allocated(nameplate, rng),
            ServerFrame::Claimed(mailbox) => {
                if self.row.mailbox.is_none() {
                    self.row.mailbox = Some(mailbox);
                    self.is_row_changed = true;
                }
            }
            ServerFrame::Released => {
                self.row.is_released = true;
                self.is_row_changed = true;
            }
            ServerFrame::Opened { seqnums, acked } => self.compare(&seqnums, &acked),
            ServerFrame::Message(message) => self.handle_message(message, now_ms, rng),
            ServerFrame::Closed => {
                if self.row.end.is_some() {
                    self.finish();
                }
            }
            ServerFrame::Pong(number) => self.handle_pong(number, rng),
            ServerFrame::Refused(refusal) => self.refused(refusal, now_ms, rng),
            ServerFrame::Other => {}
        }
    }

    fn allocated(&mut self, nameplate: Nameplate, rng: &mut impl CryptoRngCore) {
        if self.row.code.is_none() {
            let code = WormholeCode::generate(nameplate, rng);
            self.take_code(code.clone());
            self.tell(WormholeEvent::Code(code));
        }
    }

    fn take_code(&mut self, code: WormholeCode) {
        let message = self.row.pake.message(self.row.app, &code);
        self.row.nameplate = Some(code.nameplate().clone());
        self.row.code = Some(code);
        self.queue(Phase::Pake, body::pake(&message));
    }

    /// What a refusal means: for a wormhole by code its end, and for a lasting one mostly that
    /// it is tried again later.
    fn refused(&mut self, refusal: Refusal, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if self.row.end.is_some() {
            // Leaving was refused: the server doesn't have this side any more.
            return self.finish();
        }
        match refusal {
            Refusal::Crowded => self.end(WormholeEnd::Crowded),
            Refusal::SeqnumUsed => self.end(WormholeEnd::SetBack),
            _ if self.row.is_lasting => self.reconnect(now_ms, rng),
            _ => self.end(WormholeEnd::Refused),
        }
    }

    /// Time has passed.
    pub fn handle_timer(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if self.is_over {
            return;
        }
        let is_late = self.deadline_ms.is_some_and(|at_ms| at_ms <= now_ms);
        if is_late && !self.row.is_confirmed {
            self.end(WormholeEnd::TimedOut);
        }
        self.look_at_line(now_ms, rng);
        self.pump();
    }

    /// The network is back: a connection is opened at once.
    pub fn handle_online(&mut self, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if let Line::Down { at_ms } = &mut self.line {
            *at_ms = now_ms;
        }
        self.handle_timer(now_ms, rng);
    }

    /// Sends a message of the application; its place, from 0.
    ///
    /// # Errors
    ///
    /// See [`SendError`].
    pub fn send(
        &mut self,
        plaintext: &[u8],
        rng: &mut impl CryptoRngCore,
    ) -> Result<u64, SendError> {
        if self.row.end.is_some() || self.is_over {
            return Err(SendError::Ended);
        }
        let key = self.row.key.as_ref().filter(|_| self.row.is_confirmed);
        let key = key.ok_or(SendError::NotConfirmed)?;
        if self.outbox.len() >= timing::OUTBOX_ROWS_MAX {
            return Err(SendError::Full);
        }
        let number = self.row.next_number;
        let phase = Phase::Number(number);
        let sealed = key.seal(&self.row.side, &phase, plaintext, rng);
        let room = WORMHOLE_FRAME_BYTES_MAX.saturating_sub(timing::FRAME_OVERHEAD_BYTES);
        if sealed.len().saturating_mul(2) > room {
            return Err(SendError::TooLarge);
        }
        self.row.next_number = number.saturating_add(1);
        self.queue(phase, sealed);
        self.pump();
        Ok(number)
    }

    /// Leaves the mailbox: with [`WormholeEnd::Done`] once the server has every own message,
    /// else at once.
    pub fn close(&mut self, end: WormholeEnd, now_ms: u64, rng: &mut impl CryptoRngCore) {
        self.end(end);
        self.handle_online(now_ms, rng);
    }

    pub(super) fn queue(&mut self, phase: Phase, body: Vec<u8>) {
        let message = WormholeMessage {
            seqnum: self.row.next_seqnum,
            phase,
            body,
        };
        self.row.next_seqnum = self.row.next_seqnum.saturating_add(1);
        self.is_row_changed = true;
        self.outbox.insert(message.seqnum, message.clone());
        self.step.changes.push(WormholeChange::Queued(message));
    }

    pub(super) fn end(&mut self, end: WormholeEnd) {
        if self.row.end.is_some() || self.is_over {
            return;
        }
        self.row.end = Some(end);
        self.is_row_changed = true;
        self.held.clear();
        self.tell(WormholeEvent::Ended(end));
    }

    /// Takes what there is to write and to do.
    pub fn drain(&mut self) -> WormholeStep {
        if !self.is_over {
            self.acknowledge();
        }
        if std::mem::take(&mut self.is_row_changed) {
            let row = Box::new(self.row.clone());
            self.step.changes.push(WormholeChange::Saved(row));
        }
        std::mem::take(&mut self.step)
    }

    /// When [`Wormhole::handle_timer`] is to be called next.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        if self.is_over {
            return None;
        }
        let deadline_ms = self
            .deadline_ms
            .filter(|_| !self.row.is_confirmed && self.row.end.is_none());
        [self.next_line_timer(), deadline_ms]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether the mailbox is left.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The state.
    #[must_use]
    pub const fn row(&self) -> &WormholeRow {
        &self.row
    }

    /// Whether something waits for its echo.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Whether a message waits for one before it.
    #[must_use]
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }
}
