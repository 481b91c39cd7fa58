//! The values that cross between the machine of a group and the shell around it.
//!
//! The shell feeds one input to [`super::device::Device`], drains the [`Step`] it caused,
//! commits all its [`Change`]s in **one** transaction and then carries out its [`Effect`]s
//! in order. Nothing is pushed, acknowledged or told before the commit.
//!
//! Rules for the shell:
//! - An empty list of changes needs no transaction.
//! - If a commit fails, the machine in memory is ahead of the store: drop it, together with
//!   the step's effects, and build a new one by [`super::device::Device::restore`]. Close
//!   both sessions first; whatever wasn't committed is delivered or pushed again.
//! - Several inputs may share one drain and so one commit; their effects keep their order.
//!   Only a run of the handler may start ahead of it ([`super::device::Device::run_ahead`]).
//! - A change that names an unknown row (already removed) does nothing.

use std::fmt;

use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, MemberId, NoisePublic, SigningPublic};
use sealpost_protocol::manifest::{self, SignedManifest};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::token::PairingSecret;

use super::event::{Event, JoinRequestId};
use super::group_name::GroupName;
use super::issue::{DeliveryIssue, SendFailure};
use super::membership::{Attribution, MembershipChange, MembershipSnapshot};
use super::message::{AppMessageId, DeliveryState, Message, NewMessage};
use super::status::Phase;

/// Everything that one drain of the machine asks for.
#[derive(Debug, Default)]
pub struct Step {
    /// What to write, in this order, in one transaction.
    pub changes: Vec<Change>,
    /// What to do after the commit, in this order.
    pub effects: Vec<Effect>,
}

impl Step {
    /// Whether there is nothing to write and nothing to do.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.effects.is_empty()
    }

    /// Whether nothing is written but what was received and handled, and no run or session
    /// ends with the step.
    pub(super) fn holds_only_records(&self) -> bool {
        let is_record = |change: &Change| {
            matches!(
                change,
                Change::MessageHandled { .. } | Change::MessageStored(_)
            )
        };
        let ends = |effect: &Effect| {
            matches!(
                effect,
                Effect::AbandonHandler(_) | Effect::RestartSession(_) | Effect::RestartIdentity
            )
        };
        self.changes.iter().all(is_record) && !self.effects.iter().any(ends)
    }

    /// Whether it is what `send` leaves and nothing else: rows of own messages and of their
    /// copies, and the news of them.
    pub(super) fn holds_only_sends(&self) -> bool {
        let is_of_send = |change: &Change| match change {
            Change::MessageStored(row) => row.own,
            Change::OutboxMessageAdded(message, _) => {
                matches!(message.kind, OutboxKind::Sync { .. })
            }
            Change::SequenceSaved(_) | Change::OutboxEntryAdded(_) => true,
            _ => false,
        };
        let is_news = |effect: &Effect| matches!(effect, Effect::TellMessageStored(_));
        !self.changes.is_empty()
            && self.changes.iter().all(is_of_send)
            && self.effects.iter().all(is_news)
    }

    /// Takes the run of the handler out, if there is one to start.
    pub(super) fn take_run(&mut self) -> Option<(HandlerRun, Message)> {
        let is_run = |effect: &Effect| matches!(effect, Effect::StartHandler { .. });
        let place = self.effects.iter().position(is_run)?;
        match self.effects.remove(place) {
            Effect::StartHandler { run, message } => Some((run, message)),
            _ => None,
        }
    }

    /// Whether the identity changes, and with it the sessions.
    #[must_use]
    pub fn restarts_identity(&self) -> bool {
        let restarts = |effect: &Effect| matches!(effect, Effect::RestartIdentity);
        self.effects.iter().any(restarts)
    }
}

/// One durable write.
pub enum Change {
    /// Where the device stands.
    PhaseSaved(Phase),
    /// Whether the person wants to leave as soon as that can be.
    LeaveWanted(bool),
    /// The last time at which there was a session with the relay, in Unix ms.
    SeenSaved(u64),
    /// The last used sequence number (spec 3.4). Only ever grows; survives until a wipe.
    SequenceSaved(u64),
    /// The one unfinished join; replaces an earlier one.
    JoinSaved(JoinRecord),
    /// No join is unfinished any more.
    JoinRemoved,
    /// A manifest that arrived before the admission is kept for later judgement.
    ManifestBuffered(BufferedManifest),
    /// The buffered manifests are judged, or nobody waits for them any more.
    BufferedManifestsRemoved,
    /// A message enters the outbox: its metadata and its body, stored once.
    OutboxMessageAdded(OutboxMessage, OutboxBody),
    /// One copy of a message for one recipient.
    OutboxEntryAdded(OutboxEntry),
    /// A copy is done with: on the relay, failed or withdrawn.
    OutboxEntryRemoved {
        /// The message's sequence number.
        sequence: u64,
        /// The recipient.
        recipient: NoisePublic,
    },
    /// The last copy is done with: metadata and body go.
    OutboxMessageRemoved {
        /// The message's sequence number.
        sequence: u64,
    },
    /// `sendFailed` was raised for this message and reason, and is not to be raised again.
    OutboxFailureReported {
        /// The message's sequence number.
        sequence: u64,
        /// The reason that was reported.
        failure: SendFailure,
    },
    /// A row of the dedup table.
    MessageHandled {
        /// The handled message.
        id: MessageId,
        /// The row is needed up to and including this time.
        keep_until_ms: u64,
    },
    /// Dedup rows whose `keep_until_ms` is below this time may go.
    HandledPurged {
        /// The time of the purge.
        before_ms: u64,
    },
    /// A row of the message history, with its deliveries. Ignored (row and deliveries) if a
    /// row with this Message ID, or with this author and app id, exists.
    MessageStored(NewMessage),
    /// A row of the message history goes, with its deliveries.
    MessageDeleted {
        /// Its place in the history.
        position: u64,
    },
    /// An own message is sent once more, under another Message ID, to recipients at which it
    /// failed: there it waits again. What becomes of that id becomes of the row.
    MessageResent {
        /// Its place in the history.
        position: u64,
        /// The other id.
        id: MessageId,
        /// The recipients.
        members: Vec<MemberId>,
    },
    /// A delivery of an own message moved on.
    DeliveryChanged {
        /// The message.
        message: MessageId,
        /// The recipient.
        member: MemberId,
        /// The new state; never [`DeliveryState::Sending`].
        state: DeliveryState,
    },
    /// The group has another name.
    GroupNamed {
        /// The name.
        name: GroupName,
        /// Whether it was given on this device, which then tells it to those who come later.
        is_mine: bool,
    },
    /// A delivery issue. Anybody who knows a device's key can cause issues, so the store may
    /// bound the rows per code and drop the oldest ones.
    IssueAdded {
        /// When.
        at_ms: u64,
        /// What.
        issue: DeliveryIssue,
    },
    /// A blob of a newer version waits on the relay.
    HeldBlobAdded(HeldBlob),
    /// A held blob was handled, dropped, or is too old to exist.
    HeldBlobRemoved {
        /// SHA-256 of the envelope.
        digest: [u8; 32],
    },
    /// A write of the membership rule.
    Membership(MembershipChange),
    /// A line of the membership history, which nothing rests on.
    MembershipNoted(MembershipNote),
    /// The group is over: outbox, join, membership, dedup rows, held blobs and sequence go.
    /// Message history, membership history, delivery issues and the group's name stay
    /// (amendment 9), the name as [`GroupName::left_over`]; deliveries that still wait become
    /// [`DeliveryState::Withdrawn`].
    GroupWiped,
    /// The device takes a fresh identity, at most once in a step; the last write of a wipe.
    /// The shell adds the
    /// secrets to the key store before the commit and removes the old ones after it
    /// (amendment 11).
    IdentityReplaced(DeviceSecrets),
}

impl Change {
    /// What kind of write it is, without what it writes.
    const fn name(&self) -> &'static str {
        match self {
            Self::PhaseSaved(..) => "PhaseSaved",
            Self::SequenceSaved(..) => "SequenceSaved",
            Self::JoinSaved(..) => "JoinSaved",
            Self::JoinRemoved => "JoinRemoved",
            Self::ManifestBuffered(..) => "ManifestBuffered",
            Self::BufferedManifestsRemoved => "BufferedManifestsRemoved",
            Self::OutboxMessageAdded(..) => "OutboxMessageAdded",
            Self::OutboxEntryAdded(..) => "OutboxEntryAdded",
            Self::OutboxEntryRemoved { .. } => "OutboxEntryRemoved",
            Self::OutboxMessageRemoved { .. } => "OutboxMessageRemoved",
            Self::OutboxFailureReported { .. } => "OutboxFailureReported",
            Self::MessageHandled { .. } => "MessageHandled",
            Self::HandledPurged { .. } => "HandledPurged",
            Self::MessageStored(..) => "MessageStored",
            Self::MessageDeleted { .. } => "MessageDeleted",
            Self::MessageResent { .. } => "MessageResent",
            Self::DeliveryChanged { .. } => "DeliveryChanged",
            Self::GroupNamed { .. } => "GroupNamed",
            Self::LeaveWanted(_) => "LeaveWanted",
            Self::SeenSaved(_) => "SeenSaved",
            Self::IssueAdded { .. } => "IssueAdded",
            Self::HeldBlobAdded(..) => "HeldBlobAdded",
            Self::HeldBlobRemoved { .. } => "HeldBlobRemoved",
            Self::Membership(..) => "Membership",
            Self::MembershipNoted(..) => "MembershipNoted",
            Self::GroupWiped => "GroupWiped",
            Self::IdentityReplaced(..) => "IdentityReplaced",
        }
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What to do once the changes are durable.
#[derive(Debug)]
pub enum Effect {
    /// Tell the listeners of events.
    Tell(Event),
    /// Tell the listeners of delivery issues. The row is in the same step's changes, except
    /// for a repeated [`DeliveryIssue::HeldForUpgrade`] of a later run.
    Raise(DeliveryIssue),
    /// If the row of this message was really added, tell [`Event::MessageStored`] with the
    /// position it got.
    TellMessageStored(MessageId),
    /// Write a DeliverAck on that Receive Session; if it is gone, nothing.
    Acknowledge {
        /// The session that delivered the blob.
        session: SessionId,
        /// The relay's id of the blob.
        blob: u64,
    },
    /// End that Receive Session and open another after the usual delay: something couldn't
    /// be decided, and the blobs after it must not overtake it.
    RestartSession(SessionId),
    /// Push an envelope, then report by [`super::device::Device::handle_push_outcome`]. The
    /// outcome of [`PushId::UNTRACKED`] changes no message.
    Push(Push),
    /// Run the message handler, then report by
    /// [`super::device::Device::handle_handler_outcome`].
    StartHandler {
        /// Names the run.
        run: HandlerRun,
        /// What to handle.
        message: Message,
    },
    /// Cancel the run, or ignore its result: its group ends, or its message was delivered
    /// again after the session ended under it (amendment 8).
    AbandonHandler(HandlerRun),
    /// Compute pairing words off this thread (Argon2id, about 0.2 s), then report by
    /// [`super::device::Device::handle_words`].
    ComputeWords(WordsRequest),
    /// The identity changed: end both sessions; the next ones use the new keys.
    RestartIdentity,
}

/// Names a Receive Session. The shell counts them up and never uses a number twice in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// Names a push within a run of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PushId(pub u64);

impl PushId {
    /// A push that isn't in the outbox: nothing is lost where it doesn't arrive.
    pub const UNTRACKED: Self = Self(0);
}

/// Names a run of the message handler within a run of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandlerRun(pub u64);

/// One envelope to push. Pushes of one step may all travel in one Push Session.
pub struct Push {
    /// Names the push in its outcome.
    pub id: PushId,
    /// Whose inbox it goes to.
    pub recipient: NoisePublic,
    /// The sealed envelope.
    pub envelope: Vec<u8>,
}

impl fmt::Debug for Push {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Push")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// How a push ended. Every push gets exactly one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The relay answered Ack: the blob is durable there.
    Stored,
    /// The relay answered with a refusal.
    Refused(sealpost_protocol::frame::Refusal),
    /// No answer: no connection came about, it broke off, or its time was up.
    Unanswered,
    /// The relay speaks only other Transport Versions.
    VersionUnsupported {
        /// Lowest version that the relay speaks.
        min: u16,
        /// Highest version that the relay speaks.
        max: u16,
    },
}

/// A computation of pairing words.
#[derive(Debug)]
pub struct WordsRequest {
    /// What the words are for.
    pub target: WordsTarget,
    /// The keys of the side that opened the window.
    pub admitter: DeviceKeys,
    /// The keys of the side that joins.
    pub joiner: DeviceKeys,
    /// The pairing secret of the window.
    pub secret: PairingSecret,
}

/// What computed words are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordsTarget {
    /// A request at this device's window.
    Request(JoinRequestId),
    /// This device's own join; the number tells it from one that it replaced.
    Join(u64),
}

/// Everything the machine needs to go on after a restart.
pub struct Snapshot {
    /// The identity in use.
    pub secrets: DeviceSecrets,
    /// The device's own name.
    pub name: DeviceName,
    /// The group's name, if it has one.
    pub group_name: Option<GroupName>,
    /// Whether that name was given on this device.
    pub gave_name: bool,
    /// Where the device stands.
    pub phase: Phase,
    /// Whether the person wants to leave, which no known manifest could carry yet.
    pub wants_leave: bool,
    /// The last time at which there was a session with the relay, in Unix ms.
    pub seen_ms: Option<u64>,
    /// The last used sequence number; 0 if none was.
    pub last_sequence: u64,
    /// The unfinished join.
    pub join: Option<JoinRecord>,
    /// Manifests that wait for the admission, in the order of arrival.
    pub buffered: Vec<BufferedManifest>,
    /// Messages of which at least one copy waits, with the failures already reported.
    pub outbox_messages: Vec<OutboxMessage>,
    /// The waiting copies.
    pub outbox_entries: Vec<OutboxEntry>,
    /// Held blobs, in any order.
    pub held: Vec<HeldBlob>,
    /// The state of the membership rule; there is one exactly in `Member` and `Ending`.
    pub membership: Option<MembershipSnapshot>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The snapshot of a namespace that was just created.
    #[must_use]
    pub const fn fresh(secrets: DeviceSecrets, name: DeviceName) -> Self {
        Self {
            secrets,
            name,
            group_name: None,
            gave_name: false,
            phase: Phase::NotJoined,
            wants_leave: false,
            seen_ms: None,
            last_sequence: 0,
            join: None,
            buffered: Vec::new(),
            outbox_messages: Vec::new(),
            outbox_entries: Vec::new(),
            held: Vec::new(),
            membership: None,
        }
    }
}

/// A join that isn't finished: from `join` until the admission is here **and** the person
/// confirmed the words.
#[derive(Clone, Debug)]
pub struct JoinRecord {
    /// The admitter's keys from the token: the only anchor of trust.
    pub admitter: DeviceKeys,
    /// The pairing secret from the token.
    pub secret: PairingSecret,
    /// Whether the person said *Same*. Until then own Sync messages are held.
    pub confirmed: bool,
    /// Whether the relay refused the request for good.
    pub is_refused: bool,
}

/// A manifest that arrived while the admission was still awaited (membership rule, 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferedManifest {
    /// Who sent it, which needn't be who issued it.
    pub author: SigningPublic,
    /// The manifest.
    pub manifest: SignedManifest,
}

/// Somebody entered or left the view of this device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MembershipNote {
    /// Whether the member was added; otherwise it is gone.
    pub is_added: bool,
    /// Who.
    pub member: manifest::Member,
    /// Whether that is this device itself.
    pub is_me: bool,
    /// By whom, where this device can know.
    pub by: Option<Attribution>,
    /// Whether it was by this device itself.
    pub by_me: bool,
    /// When this device saw it.
    pub seen_ms: u64,
}

/// The metadata of a message in the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxMessage {
    /// Its sequence number; the key of the row.
    pub sequence: u64,
    /// What it is.
    pub kind: OutboxKind,
    /// The recipient whose copy has to be done with before any other goes out: a newcomer
    /// hears of its admission first (spec 4.6).
    pub first: Option<NoisePublic>,
    /// The failures for which `sendFailed` was raised already.
    pub reported: Vec<SendFailure>,
}

/// What a message in the outbox is: this decides stamping and expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutboxKind {
    /// A request to join. Stamped at each seal, never expires.
    Pair,
    /// A message of the app. Stamped once, at `send`; expires 30 days after.
    Sync {
        /// The Sender Timestamp.
        sent_at_ms: u64,
    },
    /// The end of the group. Stamped at each seal, never expires.
    Revoke,
    /// A manifest. Stamped at each seal, never expires.
    GroupManifest,
}

/// The body of a message in the outbox.
#[derive(Clone, PartialEq, Eq)]
pub struct OutboxBody(pub Vec<u8>);

impl fmt::Debug for OutboxBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutboxBody(..)")
    }
}

/// One copy of a message for one recipient. Its key is (sequence, recipient's noise key).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The message.
    pub sequence: u64,
    /// Who it goes to.
    pub recipient: DeviceKeys,
}

/// A blob of a newer End-to-End Version that was left on the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBlob {
    /// SHA-256 of the envelope: stable across re-deliveries and restarts.
    pub digest: [u8; 32],
    /// The version that it names.
    pub version: u32,
    /// Counts up in the order of first sight.
    pub order: u64,
    /// When it was first seen; after the relay's longest life it can't exist any more.
    pub first_seen_ms: u64,
}

/// What the machine looks up instead of holding it in memory. The answers include
/// everything that was committed before the input.
pub trait Lookup {
    /// Whether the dedup table has the message.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError>;

    /// The body of a message in the outbox.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError>;

    /// What the history holds under a Message ID.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError>;

    /// What the history holds under an author and the id inside a body.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError>;

    /// Whether the history held a message of an author with that id inside its body, and the
    /// person deleted it.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    fn is_deleted(&self, author: &MemberId, app_id: &AppMessageId) -> Result<bool, LookupError>;
}

/// What makes a message of the history the same as another one.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredContent {
    /// When the author says it was sent.
    pub sent_at_ms: u64,
    /// The body.
    pub body: Vec<u8>,
}

impl fmt::Debug for StoredContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredContent(..)")
    }
}

/// The store couldn't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store can't be read")]
pub struct LookupError;
