//! The values that cross between the machine of a link and the shell around it.
//!
//! As for groups ([`crate::core::step`]): the shell feeds one input, drains the [`LinkStep`],
//! commits all its [`LinkChange`]s in **one** transaction and then carries out its
//! [`LinkEffect`]s in order. Nothing is sent or told before the commit; above all no PUT before
//! the floor that it needs (specification 6.3).
//!
//! Rules for the shell:
//! - If a commit fails, drop the machine and the step's effects, close its watches, and build
//!   a new one by [`super::Link::restore`]. Answers to requests of the old one are dropped.
//! - Every [`LinkEffect::Request`] gets exactly one [`Answer`]. A request that takes longer
//!   than the transport's limits is [`Answer::NoAnswer`]. The machine asks one thing at a time.
//! - A change that names an unknown row does nothing.

use std::fmt;

use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, LinkToken, MailboxId, Role};
use sealpost_protocol::link::payload::PayloadId;

/// Everything that one drain of the machine asks for.
#[derive(Debug, Default)]
pub struct LinkStep {
    /// What to write, in this order, in one transaction.
    pub changes: Vec<LinkChange>,
    /// What to do after the commit, in this order.
    pub effects: Vec<LinkEffect>,
}

impl LinkStep {
    /// Whether there is nothing to write and nothing to do.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.effects.is_empty()
    }
}

/// One durable write.
#[derive(Clone, PartialEq, Eq)]
pub enum LinkChange {
    /// The link's row, whole.
    RowSaved(LinkRow),
    /// A row enters the outbox.
    OutboxAdded(OutboxRow),
    /// The relay has the row, or (`None`) has it no more.
    OutboxStored {
        /// The row.
        id: PayloadId,
        /// Where it lies.
        stored: Option<Stored>,
    },
    /// The clock was set: the row was queued at this time of the clock of now.
    OutboxRebased {
        /// The row.
        id: PayloadId,
        /// When it was queued, in Unix ms.
        queued_ms: u64,
    },
    /// A row leaves the outbox: received, superseded or failed.
    OutboxRemoved {
        /// The row.
        id: PayloadId,
    },
    /// A message or state for the app: kept until the app says that it is handled.
    Arrived(ArrivedRow),
    /// This id was accepted; what comes again under it is not for the app. In the order in
    /// which they are written, [`LinkSnapshot::accepted`] gives them back.
    Accepted {
        /// The payload.
        id: PayloadId,
    },
    /// This accepted id is the oldest of too many and goes.
    AcceptedForgotten {
        /// The payload.
        id: PayloadId,
    },
    /// A link was made by a pairing: it starts with these rows, under this key.
    LinkAdded(Box<NewLink>),
    /// The link is over: key, row, outbox and accepted ids go, and what overwrites them is
    /// written. Rows that arrived stay until they are handled.
    Forgotten,
    /// A mailbox is to be erased: kept apart from the link, which it outlives. Takes the place
    /// of a row about the same mailbox.
    EraseQueued(EraseRow),
    /// That mailbox needs no erasing any more.
    EraseRemoved {
        /// The mailbox.
        mailbox: MailboxId,
    },
}

impl LinkChange {
    /// What kind of write it is, without what it writes.
    const fn name(&self) -> &'static str {
        match self {
            Self::RowSaved(_) => "RowSaved",
            Self::OutboxAdded(_) => "OutboxAdded",
            Self::OutboxStored { .. } => "OutboxStored",
            Self::OutboxRebased { .. } => "OutboxRebased",
            Self::OutboxRemoved { .. } => "OutboxRemoved",
            Self::Arrived(_) => "Arrived",
            Self::Accepted { .. } => "Accepted",
            Self::AcceptedForgotten { .. } => "AcceptedForgotten",
            Self::LinkAdded(_) => "LinkAdded",
            Self::Forgotten => "Forgotten",
            Self::EraseQueued(_) => "EraseQueued",
            Self::EraseRemoved { .. } => "EraseRemoved",
        }
    }
}

impl fmt::Debug for LinkChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is durable of a link besides its key and its tables (specification 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkRow {
    /// The last sequence that was accepted.
    pub last_received: Option<u64>,
    /// The incarnation of the mailbox that it was accepted in: `X-Relay-Created`, Unix ms.
    pub received_in: Option<u64>,
    /// The highest sequence that this side ever tried to write, or learnt of. Only a lower
    /// bound: a stale one does no harm.
    pub floor: u64,
    /// Whether the mailbox is known to have existed, so that a claim that creates it says that
    /// it had vanished.
    pub is_established: bool,
    /// Since when nothing shows that the other device still has the link, in Unix ms.
    pub unconfirmed_since_ms: Option<u64>,
    /// Since when the relay has no mailbox for the link and makes none, in Unix ms.
    pub lost_since_ms: Option<u64>,
    /// When something authentic came from the other device last, in Unix ms.
    pub last_contact_ms: Option<u64>,
}

/// Where a row lies on the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Under which sequence.
    pub sequence: u64,
    /// In which incarnation of the mailbox, in Unix ms.
    pub created_ms: u64,
}

/// A message or state that the other device hasn't acknowledged.
#[derive(Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its place in the order; grows.
    pub position: u64,
    /// Its id, the same through every repetition.
    pub id: PayloadId,
    /// What it is.
    pub kind: RowKind,
    /// What it says.
    pub body: Vec<u8>,
    /// When it was queued, in Unix ms.
    pub queued_ms: u64,
    /// Where it lies on the relay.
    pub stored: Option<Stored>,
}

impl fmt::Debug for OutboxRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxRow")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

/// What the app sends over a link.
#[derive(Clone, PartialEq, Eq)]
pub enum RowKind {
    /// Delivered once, in order.
    Msg,
    /// Replaces what waits under the same key.
    State {
        /// The key.
        collapse: String,
    },
}

impl fmt::Debug for RowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Msg => "Msg",
            Self::State { .. } => "State",
        })
    }
}

/// A message or state for the app.
#[derive(Clone, PartialEq, Eq)]
pub struct ArrivedRow {
    /// Its id.
    pub id: PayloadId,
    /// What it is.
    pub kind: RowKind,
    /// What it says.
    pub body: Vec<u8>,
    /// Its sender's clock when it was queued, in Unix ms; for display.
    pub ts_ms: u64,
    /// When it arrived, in Unix ms.
    pub arrived_ms: u64,
}

impl fmt::Debug for ArrivedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArrivedRow")
    }
}

/// A link that a pairing made.
#[derive(Clone, PartialEq, Eq)]
pub struct NewLink {
    /// Its key.
    pub key: LinkKey,
    /// Its id.
    pub id: LinkId,
    /// Which of the two this device is.
    pub role: Role,
    /// The other device's name, cleaned; may be empty.
    pub peer_name: String,
    /// What the other device runs on, cleaned; may be empty.
    pub peer_platform: String,
    /// Its row.
    pub row: LinkRow,
    /// What it has to send from the start.
    pub outbox: Vec<OutboxRow>,
}

impl fmt::Debug for NewLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewLink")
    }
}

/// A mailbox that is to be erased, and what it takes; nothing of it opens an envelope.
#[derive(Clone, PartialEq, Eq)]
pub struct EraseRow {
    /// The mailbox.
    pub mailbox: MailboxId,
    /// Its token.
    pub token: LinkToken,
    /// When it was queued, in Unix ms; after 30 days it is given up.
    pub queued_ms: u64,
    /// The sealed `bye` to put first, and where.
    pub bye: Option<Farewell>,
}

impl fmt::Debug for EraseRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EraseRow")
    }
}

/// A sealed `bye`.
#[derive(Clone, PartialEq, Eq)]
pub struct Farewell {
    /// The direction that this device wrote.
    pub direction: Direction,
    /// The slot.
    pub sequence: u64,
    /// The envelope.
    pub envelope: Vec<u8>,
}

impl fmt::Debug for Farewell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Farewell")
    }
}

/// What to do once the changes are durable.
#[derive(Debug)]
pub enum LinkEffect {
    /// Ask the relay, then report by [`super::Link::handle_answer`].
    Request {
        /// Names the request in its answer.
        id: RequestId,
        /// What to ask.
        request: LinkRequest,
    },
    /// Open a watch on a direction and report by [`super::Link::handle_watch`]. There is at
    /// most one for each direction.
    OpenWatch(Direction),
    /// Close the watch on a direction. It reports nothing more.
    CloseWatch(Direction),
    /// Tell the app.
    Tell(LinkEvent),
    /// The link, or the pairing, is over: drop the machine and its key, close its watches.
    Forget,
}

/// Names a request within a run of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What the machine asks of the relay, about its own mailbox and under its token.
#[derive(Clone, PartialEq, Eq)]
pub enum LinkRequest {
    /// `PUT /v1/mailboxes/{mid}`.
    Claim,
    /// `HEAD …/{dir}`.
    Head(Direction),
    /// `GET …/{dir}?after=N&limit=16`.
    Page {
        /// The direction.
        direction: Direction,
        /// Envelopes above this sequence.
        after: u64,
    },
    /// `PUT …/{dir}/{seq}`.
    Put {
        /// The direction.
        direction: Direction,
        /// The slot.
        sequence: u64,
        /// The sealed envelope.
        envelope: Vec<u8>,
    },
    /// `DELETE …/{dir}?through=N`.
    Prune {
        /// The direction.
        direction: Direction,
        /// Envelopes up to and including this sequence.
        through: u64,
    },
    /// `DELETE /v1/mailboxes/{mid}`.
    Erase,
}

impl fmt::Debug for LinkRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Claim => "Claim",
            Self::Head(_) => "Head",
            Self::Page { .. } => "Page",
            Self::Put { .. } => "Put",
            Self::Prune { .. } => "Prune",
            Self::Erase => "Erase",
        })
    }
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A 2xx that could be read.
    Done(Done),
    /// Any other status.
    Refused(Refused),
    /// A 2xx that couldn't be read: no JSON, a header that isn't a number.
    Unreadable,
    /// Nothing: no connection, TLS failed, it broke off, its time was up.
    NoAnswer,
}

/// A 2xx.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Whether the status was 201: a claim created the mailbox, an envelope was stored.
    pub is_new: bool,
    /// The headers.
    pub headers: RelayHeaders,
    /// The envelopes of a page, as they came.
    pub envelopes: Vec<PageEnvelope>,
}

/// The `X-Relay-…` headers; those that weren't there are `None`. A PUT is answered with last,
/// count, oldest and created, as HEAD and GET are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayHeaders {
    /// The highest sequence ever stored in the direction.
    pub last: Option<u64>,
    /// How many stored envelopes lie beyond the page.
    pub more: Option<u64>,
    /// How many are stored now.
    pub count: Option<u64>,
    /// The lowest stored sequence.
    pub oldest: Option<u64>,
    /// The mailbox's incarnation, in Unix ms.
    pub created_ms: Option<u64>,
    /// When it expires, in Unix s.
    pub expires_s: Option<u64>,
}

/// One envelope of a page.
#[derive(Clone, PartialEq, Eq)]
pub struct PageEnvelope {
    /// Its slot.
    pub sequence: u64,
    /// Its bytes.
    pub envelope: Vec<u8>,
}

impl fmt::Debug for PageEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PageEnvelope")
    }
}

/// A status other than 2xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The status.
    pub status: u16,
    /// What `X-Relay-Error` says.
    pub error: RefusedError,
    /// `X-Relay-Last`.
    pub last: Option<u64>,
    /// `Retry-After`, in seconds.
    pub retry_after_s: Option<u64>,
}

/// The error codes that make a difference beside the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedError {
    /// The mailbox doesn't exist.
    NoMailbox,
    /// It doesn't exist, and this device may not make it.
    ClaimsClosed,
    /// Another token owns the mailbox.
    WrongToken,
    /// The relay doesn't take requests from this origin.
    OriginDenied,
    /// The sequence is too far above the last one.
    SequenceJump,
    /// Another one.
    Other,
    /// None: perhaps it wasn't a relay that answered.
    Missing,
}

impl RefusedError {
    /// Reads `X-Relay-Error`; empty where it isn't there.
    #[must_use]
    pub fn parse(code: &str) -> Self {
        match code {
            "no_mailbox" => Self::NoMailbox,
            "claims_closed" => Self::ClaimsClosed,
            "wrong_token" => Self::WrongToken,
            "origin_denied" => Self::OriginDenied,
            "sequence_jump" => Self::SequenceJump,
            "" => Self::Missing,
            _ => Self::Other,
        }
    }
}

/// What a watch reports. Frames are hints: no data travels in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// The first frame.
    State {
        /// The highest sequence ever stored.
        last: Option<u64>,
        /// How many are stored.
        count: u64,
        /// The mailbox's incarnation, in Unix ms.
        created_ms: Option<u64>,
    },
    /// Something was stored.
    Stored {
        /// The highest sequence ever stored.
        last: u64,
    },
    /// Something was pruned.
    Pruned,
    /// The relay is still there. Also for frames of types that aren't known.
    Beat,
    /// It is closed, by whomever.
    Closed(WatchClose),
}

/// Why a watch is closed: code **and** reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchClose {
    /// 1000 `erased`: the mailbox was erased.
    Erased,
    /// 1001: the relay stops.
    GoingAway,
    /// 1013: over a limit.
    OverLimit,
    /// 4409: a fifth watch pushed this one out.
    Replaced,
    /// 4410: the mailbox expired.
    Expired,
    /// Anything else: another code or reason, a connection that broke off, one that never came
    /// about, a refused upgrade.
    Other,
}

impl WatchClose {
    /// Reads a close frame; without one it is [`WatchClose::Other`].
    #[must_use]
    pub fn parse(code: u16, reason: &str) -> Self {
        match (code, reason) {
            (1000, "erased") => Self::Erased,
            (1001, _) => Self::GoingAway,
            (1013, _) => Self::OverLimit,
            (4409, _) => Self::Replaced,
            (4410, _) => Self::Expired,
            _ => Self::Other,
        }
    }
}

/// What the app is told. Everything it says is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Something for the app arrived.
    Arrived(PayloadId),
    /// The relay has the row.
    RowStored(PayloadId),
    /// The other device seems to have fetched the row. A hint of the relay's.
    RowCollected(PayloadId),
    /// The other device has the row.
    RowReceived(PayloadId),
    /// A newer state took the place of the row before it was sent.
    RowSuperseded(PayloadId),
    /// The row won't arrive.
    RowFailed {
        /// The row.
        id: PayloadId,
        /// Why.
        reason: RowFailure,
    },
    /// Something about the link changed: see [`super::Link::condition`].
    ConditionChanged,
    /// Envelopes that couldn't be accepted were passed over and removed.
    EnvelopesRefused {
        /// How many.
        count: u64,
    },
    /// The link is over, because of the other device.
    PeerUnpaired,
    /// The pairing moved on: see [`super::pairing::LinkPairing::view`].
    PairingChanged,
}

/// Why a row won't arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFailure {
    /// The relay takes none that large.
    TooLarge,
    /// The relay refuses it for good.
    Malformed,
    /// Nobody fetched it in 30 days.
    Expired,
}

impl RowFailure {
    /// A stable code for texts and `--json`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge => "tooLarge",
            Self::Malformed => "malformed",
            Self::Expired => "expired",
        }
    }
}

/// What the store holds of a link; what [`super::Link::restore`] builds a machine from.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkSnapshot {
    /// Its key.
    pub key: LinkKey,
    /// Its id.
    pub id: LinkId,
    /// Which of the two this device is.
    pub role: Role,
    /// Its row.
    pub row: LinkRow,
    /// Its outbox, in any order.
    pub outbox: Vec<OutboxRow>,
    /// The accepted ids, oldest first.
    pub accepted: Vec<PayloadId>,
}

impl fmt::Debug for LinkSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkSnapshot")
    }
}
