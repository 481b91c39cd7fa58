//! The engine's own delays and bounds. Those of the protocol are in `protocol::limit`.

/// The first delay after a failed push.
pub const BACKOFF_FIRST_MS: u64 = 1_000;

/// The longest delay after failed pushes.
pub const BACKOFF_MAX_MS: u64 = 300_000;

/// How far a delay is moved at random, in per cent to either side.
pub const JITTER_PERCENT: u64 = 20;

/// How many pushes may be unanswered at once, over all recipients (spec 2.5).
pub const PUSHES_IN_FLIGHT_MAX: usize = 32;

/// How many copies are given up or taken back in one step, for whatever reasons. Each takes its rows with it, and a
/// body has up to 60 KiB: all of a full outbox at once would be a transaction as large as that.
pub const COPIES_REMOVED_AT_ONCE_MAX: usize = 200;

/// How long no push is tried after the relay refused the Transport Version. The refusal isn't
/// authenticated, so it is asked again (spec 2.1).
pub const VERSION_RETRY_MS: u64 = 300_000;

/// After how many temporary refusals of the copy that goes first the others stop waiting for
/// it: a newcomer whose inbox is full mustn't hold up a group.
pub const FIRST_COPY_REFUSALS_MAX: u32 = 4;

/// How long the marker of this run stays unacknowledged: whoever else is connected under the
/// same key reads it meanwhile, and the relay deletes it at the first acknowledgement.
pub const MARKER_HOLD_MS: u64 = 5_000;

/// How often expired entries, dedup rows and held blobs are looked for.
pub const SWEEP_INTERVAL_MS: u64 = 3_600_000;

/// The delay after the first failed attempt of a message handler; it doubles with each.
pub const HANDLER_DELAY_FIRST_MS: u64 = 1_000;

/// The longest delay between two attempts of a message handler.
pub const HANDLER_DELAY_MAX_MS: u64 = 8_000;

/// How long a run of the message handler that outlived its session may hold up the blobs of
/// the next one, before it is taken to hang. The relay delivers what waits first, so its own
/// blob comes before that if there still is one.
pub const RUN_IN_THE_WAY_MS: u64 = 60_000;

/// `heldForUpgrade` is raised at most once per version in this time (spec 3.8).
pub const HELD_ISSUE_INTERVAL_MS: u64 = 60_000;

/// For how many versions that interval is remembered; beyond it nothing is raised.
pub const HELD_ISSUE_VERSIONS_MAX: usize = 16;

/// How many delivered blobs may wait for their decision before the shell stops reading.
pub const INBOX_WAITING_MAX: usize = 256;

/// How long a pairing window stays open. Whoever shows the code closes the window then, the
/// app and the command line alike (amendment 3); the machine never does by itself.
pub const PAIRING_WINDOW_MS: u64 = 600_000;

/// How many spent pairing secrets are remembered, to tell who comes too late from who guesses.
pub const SPENT_WINDOWS_MAX: usize = 8;

/// How many join requests may be open at once.
pub const JOIN_REQUESTS_MAX: usize = 32;

/// How many dismissed join requests a window remembers, so that a repeated blob doesn't ask
/// again.
pub const JOIN_REQUESTS_DISMISSED_MAX: usize = 256;

/// How long after an admission a leave is asked about first. Two that let a device in and
/// leave at the same time tear the group, and no rule can mend that (amendment 2); within this
/// time the others have usually heard of each other.
pub const LEAVING_WARNING_MS: u64 = 10 * 60 * 1_000;

/// The longest name of a group that is taken from another member, in bytes.
pub const GROUP_NAME_BYTES_MAX: usize = 256;

/// The greatest version of a group's name. Above it nobody takes one.
pub const GROUP_NAME_VERSION_MAX: u64 = (1 << 53) - 1;

/// The delay before the next attempt of a message handler: 1, 2, 4, 8 s.
#[must_use]
pub fn handler_delay_ms(attempts_failed: u32) -> u64 {
    doubled_ms(
        HANDLER_DELAY_FIRST_MS,
        attempts_failed.saturating_sub(1),
        HANDLER_DELAY_MAX_MS,
    )
}

/// The delay before the next push, before it is moved at random.
#[must_use]
pub fn backoff_ms(failures: u32) -> u64 {
    doubled_ms(BACKOFF_FIRST_MS, failures, BACKOFF_MAX_MS)
}

fn doubled_ms(first_ms: u64, times: u32, most_ms: u64) -> u64 {
    let factor = 1_u64.checked_shl(times).unwrap_or(u64::MAX);
    first_ms.saturating_mul(factor).min(most_ms)
}
