//! Checks switched off on purpose, to see that the simulation would notice.
//!
//! None of them is in the program: each changes what the simulated shell, disk, clock or
//! relay does around the real machines, where the rule in question rests on them.

/// One check switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// The relay answers a push before its commit.
    RelayAcksBeforeCommit,
    /// The relay keeps blobs for 29 days only.
    RelayLifeTooShort,
    /// `send` returns before the outbox is written.
    SendReturnsBeforeCommit,
    /// The row that makes a `send` durable isn't synced before the answer.
    SentRowNotSynced,
    /// A `send` that a stop left half written stays so.
    LeftSendsNotFinished,
    /// … or is finished once the machine is built, which then doesn't know of it.
    LeftSendsFinishedTooLate,
    /// A message that is sent once more gets another id in its body, too.
    RetryUnderNewAppMessageId,
    /// A reader knows messages by their Message IDs only.
    AppMessageIdsForgotten,
    /// A deleted message is taken back though a copy of it has left.
    DeletedThoughItLeft,
    /// The device acknowledges before it commits.
    AckBeforeCommit,
    /// The device's disk is told to write, and not to sync.
    CommitWithoutSync,
    /// What the handler took is shown, and not recorded.
    SuccessNotRecorded,
    /// Records of handled messages go after a day.
    DedupKeptOneDay,
    /// Messages of up to 61 days are taken.
    ReplayWindowOneDayLonger,
    /// Messages of more than 59 days are refused.
    ReplayWindowOneDayShorter,
    /// The next push goes out before the last one to that recipient is answered.
    TwoPushesUnanswered,
    /// A refused copy is put behind those that come after it.
    RefusedCopyOvertaken,
    /// A push without an answer counts as stored.
    SilenceCountsAsAck,
    /// A permanent refusal is tried again.
    RetryAfterPermanentRefusal,
    /// What is sealed again gets a new sequence number.
    NewSequenceAtReseal,
    /// A restored store goes on counting where it was.
    SequenceReusedAfterRestore,
    /// Control messages expire like those of the app.
    ControlExpires,
    /// Of too many held blobs the newest goes.
    HeldOverflowDropsNewest,
    /// A device takes its inbox in the order of the senders' times.
    OrderByTimestamp,
    /// An issue is told, and recorded only then.
    IssueRecordedAfterAck,
    /// A failing handler counts as done.
    HandlerFailureIgnored,
    /// Messages wait in the outbox for 31 days.
    OutboxLifeOneDayLonger,
    /// Messages are given up after 29 days.
    OutboxLifeOneDayShorter,
    /// The relay keeps blobs for 31 days.
    RelayLifeTooLong,
    /// Of the records that share a commit only the last is kept.
    SharedCommitKeepsLastRecord,
    /// What a handler sends isn't written with the record of its message.
    HandlersSendNotWritten,
    /// A handler that hangs isn't abandoned.
    HungRunGoesOn,
    /// What only a newer version can read is acknowledged instead of held.
    NewerAcknowledged,
    /// A device doesn't look for copies of itself.
    NoLookForCopies,
    /// A run isn't noted in the store.
    RunNotNoted,
}

impl Mutation {
    /// Every mutation.
    pub const ALL: [Self; 35] = [
        Self::RelayAcksBeforeCommit,
        Self::RelayLifeTooShort,
        Self::SendReturnsBeforeCommit,
        Self::SentRowNotSynced,
        Self::LeftSendsNotFinished,
        Self::LeftSendsFinishedTooLate,
        Self::RetryUnderNewAppMessageId,
        Self::AppMessageIdsForgotten,
        Self::DeletedThoughItLeft,
        Self::AckBeforeCommit,
        Self::CommitWithoutSync,
        Self::SuccessNotRecorded,
        Self::DedupKeptOneDay,
        Self::ReplayWindowOneDayLonger,
        Self::ReplayWindowOneDayShorter,
        Self::TwoPushesUnanswered,
        Self::RefusedCopyOvertaken,
        Self::SilenceCountsAsAck,
        Self::RetryAfterPermanentRefusal,
        Self::NewSequenceAtReseal,
        Self::SequenceReusedAfterRestore,
        Self::ControlExpires,
        Self::HeldOverflowDropsNewest,
        Self::OrderByTimestamp,
        Self::IssueRecordedAfterAck,
        Self::HandlerFailureIgnored,
        Self::OutboxLifeOneDayLonger,
        Self::OutboxLifeOneDayShorter,
        Self::RelayLifeTooLong,
        Self::SharedCommitKeepsLastRecord,
        Self::HandlersSendNotWritten,
        Self::HungRunGoesOn,
        Self::NewerAcknowledged,
        Self::NoLookForCopies,
        Self::RunNotNoted,
    ];
}
