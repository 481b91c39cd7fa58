//! From a scanned code to a link (specification section 8, amendment 18).
//!
//! Owns the order of the four messages on both sides, the five minutes, and everything that
//! ends a pairing early. A shows the code, B scanned it; one machine is both, because all but
//! the messages is the same: [`a`] and [`b`] answer what arrives.
//!
//! Invariants:
//! - B accepts exactly one `challenge`, A exactly one `hello` and one `reveal`; a different
//!   second one before the person confirmed ends the pairing. The same one again does nothing;
//! - A sends nothing of the app, and makes no link, before its person has confirmed; B makes
//!   none before its person has confirmed *and* a `welcome` came that proves the exchange;
//! - whatever ends a pairing erases the code's mailbox; where two devices used the code, A
//!   alone does. The row for that is durable before the code is claimed, so a crash leaves
//!   nothing behind either. Of A's link, which is there before B comes over, the link's machine
//!   takes care from then on;
//! - nothing of a pairing survives the process but that row and the finished link: after a
//!   restart there is no half of an exchange (amendment 18: stored together, or both dropped).

mod a;
mod b;
mod mail;
pub mod step;
#[cfg(test)]
mod tests;

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::LINK_PAIRING_MS;
use sealpost_protocol::link::code::PairingCode;
use sealpost_protocol::link::key::{LinkId, LinkKey, LinkKeys, Role};
use sealpost_protocol::link::payload::{Kind, PayloadId};
use sealpost_protocol::link::rotation::Rotation;
use sealpost_protocol::name;

use self::a::ShowingA;
use self::b::JoiningB;
pub(crate) use self::b::{HELLO_BODY, HELLO_KEY};
use self::mail::Mail;
use super::retry::{Retry, Verdict};
use super::step::{
    Answer, EraseRow, LinkChange, LinkRequest, LinkRow, NewLink, OutboxRow, RequestId, WatchClose,
    WatchEvent,
};
use super::timing;

pub use step::{
    PairingEffect, PairingFailure, PairingMailbox, PairingPhase, PairingStep, PairingView,
};

/// The machine of one pairing.
pub struct LinkPairing {
    role: Role,
    key: LinkKey,
    id: LinkId,
    keys: LinkKeys,
    new_keys: Option<LinkKeys>,
    my_name: String,
    peer_name: String,
    peer_platform: String,
    expires_ms: u64,
    phase: PairingPhase,
    side: Side,
    rotation: Option<Rotation>,
    is_confirmed: bool,
    mail: Mail,
    /// The next thing to ask that isn't mail.
    errand: Option<Errand>,
    asked: Option<(RequestId, Asked)>,
    last_request: u64,
    retry: Retry,
    watch_retry: Retry,
    is_watching: bool,
    is_unanswered: bool,
    now_ms: u64,
    step: PairingStep,
}

/// What only one of the two sides remembers.
enum Side {
    A(ShowingA),
    B(JoiningB),
}

/// What is asked apart from mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errand {
    ClaimCode,
    ClaimLink,
}

/// What the unanswered request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Errand(Errand),
    Head,
    Page,
    Put,
}

impl LinkPairing {
    /// A's side: makes the mailbox of a code that this device shows.
    #[must_use]
    pub fn show(
        (key, id): (LinkKey, LinkId),
        my_name: &str,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Self {
        let side = Side::A(ShowingA::new(rng));
        Self::new(Role::A, (key, id), my_name, side, now_ms)
    }

    /// B's side: joins with a code. The time in the code isn't looked at: A's clock, or this
    /// one, may be wrong, and A takes its code back by erasing.
    #[must_use]
    pub fn join(
        code: &PairingCode,
        (my_name, my_platform): (&str, &str),
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> Self {
        let side = Side::B(JoiningB::new(my_platform, rng));
        let link = (code.key().clone(), code.id());
        let mut pairing = Self::new(Role::B, link, my_name, side, now_ms);
        pairing.peer_name = code.name().unwrap_or_default().to_owned();
        pairing
    }

    fn new(
        role: Role,
        (key, id): (LinkKey, LinkId),
        my_name: &str,
        side: Side,
        now_ms: u64,
    ) -> Self {
        let keys = LinkKeys::derive(&key, &id);
        let mut pairing = Self {
            role,
            key,
            id,
            keys,
            new_keys: None,
            my_name: name::clean(my_name).unwrap_or_default(),
            peer_name: String::new(),
            peer_platform: String::new(),
            expires_ms: now_ms.saturating_add(LINK_PAIRING_MS),
            phase: PairingPhase::Claiming,
            side,
            rotation: None,
            is_confirmed: false,
            mail: Mail::default(),
            errand: Some(Errand::ClaimCode),
            asked: None,
            last_request: 0,
            retry: Retry::default(),
            watch_retry: Retry::default(),
            is_watching: false,
            is_unanswered: false,
            now_ms,
            step: PairingStep::default(),
        };
        let erase = pairing.erase_row();
        pairing.step.changes.push(LinkChange::EraseQueued(erase));
        pairing.pump(now_ms);
        pairing
    }

    fn erase_row(&self) -> EraseRow {
        EraseRow {
            mailbox: self.keys.mailbox(),
            token: self.keys.token().clone(),
            queued_ms: self.now_ms,
            bye: None,
        }
    }

    /// The relay answered, or didn't.
    pub fn handle_answer(
        &mut self,
        id: RequestId,
        answer: Answer,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) {
        if !self.enter(now_ms) {
            return;
        }
        let Some((_, asked)) = self.asked.take_if(|(asked, _)| *asked == id) else {
            return;
        };
        let is_unanswered = answer == Answer::NoAnswer;
        if is_unanswered != self.is_unanswered {
            self.is_unanswered = is_unanswered;
            self.tell();
        }
        match Verdict::from(answer) {
            Verdict::Done(done) => {
                self.retry.reset();
                match asked {
                    Asked::Errand(errand) => self.run_errand(errand, done.is_new, rng),
                    Asked::Head => self.take_head(done.headers.last, rng),
                    Asked::Page => self.take_page(&done, rng),
                    Asked::Put => self.take_stored(),
                }
            }
            Verdict::Backoff | Verdict::Unreadable => {
                self.retry.fail(timing::WATCH_BACKOFF_MAX_MS, now_ms, rng);
            }
            Verdict::Wait(wait_ms) => self.retry.wait_as_asked(wait_ms, now_ms, rng),
            Verdict::Configuration => {
                self.retry.wait(timing::WATCH_BACKOFF_MAX_MS, now_ms);
                self.is_unanswered = true;
            }
            // Before the claim it was stale, after it the other device took it back.
            Verdict::ClaimsClosed => self.fail(PairingFailure::Expired),
            Verdict::NoMailbox => self.fail(PairingFailure::PeerCancelled),
            Verdict::WrongToken => self.fail(PairingFailure::WrongToken),
            Verdict::Taken(_) if self.is_saying_hello() => self.mail.look_again(),
            // Nobody else writes this direction, unless somebody else has the code.
            Verdict::Taken(_) | Verdict::Jump | Verdict::Full => {
                self.fail(PairingFailure::TwoDevices);
            }
            Verdict::Refused | Verdict::Unauthorized | Verdict::TooLarge => {
                self.fail(PairingFailure::Refused);
            }
        }
        self.pump(now_ms);
    }

    fn run_errand(&mut self, errand: Errand, is_new: bool, rng: &mut impl CryptoRngCore) {
        self.errand = None;
        match errand {
            Errand::ClaimCode if self.role == Role::B && is_new => {
                // The code was stale: B has just made an empty mailbox, which goes again.
                self.fail(PairingFailure::Expired);
            }
            Errand::ClaimCode => {
                self.set_phase(PairingPhase::Waiting);
                if self.role == Role::B {
                    self.mail.wants_head = true;
                }
                self.mail.wants_fetch = true;
            }
            Errand::ClaimLink => self.send_welcome(rng),
        }
    }

    /// The watch on the code's mailbox saw something.
    pub fn handle_watch(&mut self, event: WatchEvent, now_ms: u64, rng: &mut impl CryptoRngCore) {
        if !self.enter(now_ms) || !self.is_watching {
            return;
        }
        match event {
            WatchEvent::State { .. } | WatchEvent::Stored { .. } => {
                self.watch_retry.reset();
                self.mail.wants_fetch = true;
            }
            WatchEvent::Pruned | WatchEvent::Beat => {}
            WatchEvent::Closed(WatchClose::Erased) => {
                self.is_watching = false;
                self.fail(PairingFailure::PeerCancelled);
            }
            WatchEvent::Closed(_) => {
                self.is_watching = false;
                let cap_ms = timing::WATCH_BACKOFF_MAX_MS;
                self.watch_retry.fail(cap_ms, now_ms, rng);
                self.mail.wants_fetch = true;
            }
        }
        self.pump(now_ms);
    }

    /// A time that [`LinkPairing::next_timer`] named has come.
    pub fn handle_timer(&mut self, now_ms: u64) {
        if self.enter(now_ms) {
            self.pump(now_ms);
        }
    }

    /// The network is back, or the person wants it now.
    pub fn handle_online(&mut self, now_ms: u64) {
        if self.enter(now_ms) {
            self.retry.hurry();
            self.watch_retry.hurry();
            self.mail.wants_fetch = true;
            self.pump(now_ms);
        }
    }

    /// The person says that both screens show the same digits. Nothing where there are none.
    pub fn confirm(&mut self, now_ms: u64) {
        if !self.enter(now_ms) || self.phase != PairingPhase::Comparing {
            return;
        }
        self.is_confirmed = true;
        match self.role {
            Role::A => self.confirm_as_a(),
            Role::B => self.try_finish_as_b(),
        }
        self.tell();
        self.pump(now_ms);
    }

    /// The person cancels, or says that the digits differ.
    pub fn cancel(&mut self, now_ms: u64) {
        if self.enter(now_ms) {
            self.fail(PairingFailure::Cancelled);
        }
    }

    /// A: the new link accepted its first envelope, so the other device has come over.
    pub fn handle_link_heard(&mut self, now_ms: u64) {
        if self.enter(now_ms) && self.phase == PairingPhase::Finishing {
            self.end(PairingPhase::Done);
        }
    }

    /// Takes the time; whether the pairing still goes on.
    fn enter(&mut self, now_ms: u64) -> bool {
        if self.is_over() {
            return false;
        }
        if now_ms < self.now_ms {
            // The clock was set back: what is left of the five minutes stays the same.
            let back_ms = self.now_ms.saturating_sub(now_ms);
            self.expires_ms = self.expires_ms.saturating_sub(back_ms);
            self.retry.hurry();
            self.watch_retry.hurry();
        }
        self.now_ms = now_ms;
        if self.expires_ms <= now_ms {
            self.fail(PairingFailure::Expired);
            return false;
        }
        true
    }

    /// Whether it is over, one way or the other.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, PairingPhase::Done | PairingPhase::Failed(_))
    }

    /// The code's mailbox goes. Its row in the erase queue is there since the begin; from now
    /// on, without this machine, it is carried out.
    fn fail(&mut self, failure: PairingFailure) {
        if self.is_over() {
            return;
        }
        let is_shared = self.mail.is_shared && failure == PairingFailure::PeerCancelled;
        let failure = if is_shared {
            PairingFailure::TwoDevices
        } else {
            failure
        };
        if self.new_keys.is_some() {
            self.step.effects.push(PairingEffect::Withdraw);
        }
        if self.role == Role::B && failure == PairingFailure::TwoDevices {
            // A has to read the second `hello` first, to tell its person; then it erases.
            let mailbox = self.keys.mailbox();
            self.step.changes.push(LinkChange::EraseRemoved { mailbox });
        }
        self.end(PairingPhase::Failed(failure));
    }

    fn end(&mut self, phase: PairingPhase) {
        self.asked = None;
        self.rotation = None;
        self.phase = phase;
        self.tell();
        self.step.effects.push(PairingEffect::End);
    }

    fn set_phase(&mut self, phase: PairingPhase) {
        self.phase = phase;
        self.tell();
    }

    fn tell(&mut self) {
        self.step.effects.push(PairingEffect::Changed);
    }

    /// What arrived from the other side, authentic and in order.
    fn take_payload(
        &mut self,
        kind: Kind,
        id: PayloadId,
        body: &[u8],
        rng: &mut impl CryptoRngCore,
    ) {
        match (&self.side, kind) {
            (_, Kind::Bye) => self.fail(PairingFailure::PeerCancelled),
            (Side::A(_), Kind::Hello) => self.take_hello(id, body, rng),
            (Side::A(_), Kind::Reveal) => self.take_reveal(body),
            (Side::B(_), Kind::Challenge) => self.take_challenge(body, rng),
            (Side::B(_), Kind::Welcome) => self.take_welcome(body),
            _ => {}
        }
    }

    /// Writes the link that this pairing makes.
    fn add_link(&mut self, rotation: &Rotation, is_established: bool, outbox: Vec<OutboxRow>) {
        self.new_keys = Some(LinkKeys::derive(rotation.key(), &rotation.id()));
        let row = LinkRow {
            is_established,
            // Until something comes from the other device in the new mailbox.
            unconfirmed_since_ms: Some(self.now_ms),
            ..LinkRow::default()
        };
        let link = NewLink {
            key: rotation.key().clone(),
            id: rotation.id(),
            role: self.role,
            peer_name: self.peer_name.clone(),
            peer_platform: self.peer_platform.clone(),
            row,
            outbox,
        };
        self.step
            .changes
            .push(LinkChange::LinkAdded(Box::new(link)));
    }

    fn pump(&mut self, now_ms: u64) {
        if self.is_over() {
            return;
        }
        let is_claimed = self.phase != PairingPhase::Claiming;
        let may_watch = self.watch_retry.until(now_ms).is_none();
        if is_claimed && !self.is_watching && may_watch {
            self.is_watching = true;
            let direction = self.role.reads();
            self.step.effects.push(PairingEffect::OpenWatch(direction));
        }
        if self.asked.is_some() || self.retry.until(now_ms).is_some() {
            return;
        }
        if let Some(errand) = self.errand {
            let mailbox = match errand {
                Errand::ClaimCode => PairingMailbox::Code,
                Errand::ClaimLink => PairingMailbox::Link,
            };
            self.ask(Asked::Errand(errand), mailbox, LinkRequest::Claim);
        } else if let Some((asked, request)) = self.mail.next(self.role) {
            self.ask(asked, PairingMailbox::Code, request);
        }
    }

    fn ask(&mut self, asked: Asked, mailbox: PairingMailbox, request: LinkRequest) {
        self.last_request = self.last_request.saturating_add(1);
        let id = RequestId(self.last_request);
        self.asked = Some((id, asked));
        self.step.effects.push(PairingEffect::Request {
            mailbox,
            id,
            request,
        });
    }

    /// What to write and what to do since the last drain.
    pub fn drain(&mut self) -> PairingStep {
        std::mem::take(&mut self.step)
    }

    /// When [`LinkPairing::handle_timer`] is to be called, in Unix ms.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        if self.is_over() {
            return None;
        }
        let now_ms = self.now_ms;
        let retry = self.retry.until(now_ms).filter(|_| self.asked.is_none());
        let is_unwatched = self.phase != PairingPhase::Claiming && !self.is_watching;
        let watch = self.watch_retry.until(now_ms).filter(|_| is_unwatched);
        [Some(self.expires_ms), retry, watch]
            .into_iter()
            .flatten()
            .min()
    }

    /// What to show.
    #[must_use]
    pub fn view(&self) -> PairingView {
        PairingView {
            phase: self.phase,
            digits: self.rotation.as_ref().map(Rotation::digits),
            peer_name: self.peer_name.clone(),
            expires_ms: self.expires_ms,
            is_confirmed: self.is_confirmed,
            is_unanswered: self.is_unanswered,
        }
    }

    /// What follows from the key of one of its mailboxes; that of the link is known only once
    /// the pairing made it.
    #[must_use]
    pub const fn keys(&self, mailbox: PairingMailbox) -> Option<&LinkKeys> {
        match mailbox {
            PairingMailbox::Code => Some(&self.keys),
            PairingMailbox::Link => self.new_keys.as_ref(),
        }
    }
}

impl std::fmt::Debug for LinkPairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkPairing")
    }
}
