//! The values that cross between a pairing and the shell around it.
//!
//! The rules are those of [`crate::core::link::step`]. A pairing uses two mailboxes: that of
//! the scanned code, and, once its person has confirmed, that of the link it makes.

use sealpost_protocol::link::key::Direction;
use sealpost_protocol::link::rotation::Digits;

use super::super::step::{LinkChange, LinkRequest, RequestId};

/// Everything that one drain of a pairing asks for.
#[derive(Debug, Default)]
pub struct PairingStep {
    /// What to write, in this order, in one transaction.
    pub changes: Vec<LinkChange>,
    /// What to do after the commit, in this order.
    pub effects: Vec<PairingEffect>,
}

/// What to do once the changes are durable.
#[derive(Debug)]
pub enum PairingEffect {
    /// Ask the relay, then report by [`super::LinkPairing::handle_answer`].
    Request {
        /// About which mailbox; its keys are [`super::LinkPairing::keys`].
        mailbox: PairingMailbox,
        /// Names the request in its answer.
        id: RequestId,
        /// What to ask.
        request: LinkRequest,
    },
    /// Open a watch on a direction of the code's mailbox and report by
    /// [`super::LinkPairing::handle_watch`].
    OpenWatch(Direction),
    /// Close it.
    CloseWatch(Direction),
    /// The pairing moved on: see [`super::LinkPairing::view`].
    Changed,
    /// The link that this step's [`LinkChange::LinkAdded`] wrote begins: build its machine.
    Begin,
    /// The link that began comes to nothing, because the other device never came over to it:
    /// unpair it.
    Withdraw,
    /// The pairing is over: drop the machine, close its watches, and carry out
    /// the code's row of the erase queue if it is still there. The last view tells how it went.
    End,
}

/// One of the two mailboxes of a pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairingMailbox {
    /// That of the code.
    Code,
    /// That of the link that the pairing makes.
    Link,
}

/// What to show of a pairing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingView {
    /// How far it is.
    pub phase: PairingPhase,
    /// The digits to compare, once both sides have them.
    pub digits: Option<Digits>,
    /// The other device's name, cleaned; empty until it is known, and where nothing is left.
    pub peer_name: String,
    /// When it ends by itself, in Unix ms.
    pub expires_ms: u64,
    /// Whether this device's person has confirmed.
    pub is_confirmed: bool,
    /// Whether the last try to reach the relay got no answer.
    pub is_unanswered: bool,
}

/// How far a pairing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingPhase {
    /// The mailbox isn't claimed yet: A doesn't show its code before.
    Claiming,
    /// A shows its code; B waits for A's answer.
    Waiting,
    /// The other device is there; the digits aren't known yet.
    Exchanging,
    /// Both screens show the digits.
    Comparing,
    /// Confirmed here; the other device has to come over to the new link.
    Finishing,
    /// The link is made.
    Done,
    /// It came to nothing.
    Failed(PairingFailure),
}

/// Why a pairing came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingFailure {
    /// Its five minutes are over, or the code was stale.
    Expired,
    /// The person cancelled it, or said that the digits differ.
    Cancelled,
    /// The other device ended it: cancelled, refused, timed out.
    PeerCancelled,
    /// Another device used the same code.
    TwoDevices,
    /// The other device isn't who it committed to be, or doesn't follow the protocol.
    Mismatch,
    /// Another token owns the mailbox.
    WrongToken,
    /// The relay refuses what it must not refuse.
    Refused,
}

impl PairingFailure {
    /// A stable code for texts and `--json`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::PeerCancelled => "peerCancelled",
            Self::TwoDevices => "twoDevices",
            Self::Mismatch => "mismatch",
            Self::WrongToken => "wrongToken",
            Self::Refused => "refused",
        }
    }
}
