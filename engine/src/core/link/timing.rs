//! The Link's own delays and bounds (specification sections 2, 6 and 7). What both devices or
//! the relay have to agree on is in `protocol::limit`.

use sealpost_protocol::limit::LINK_PAIRING_MS;

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// The first delay after a request that got no answer; it doubles with each.
pub const BACKOFF_FIRST_MS: u64 = SECOND_MS;

/// The longest delay after requests that got no answer.
pub const BACKOFF_MAX_MS: u64 = 5 * MINUTE_MS;

/// The longest delay before a watch is opened again.
pub const WATCH_BACKOFF_MAX_MS: u64 = 30 * SECOND_MS;

/// The delay before a watch that was over a limit is opened again.
pub const WATCH_LIMIT_MS: u64 = 30 * SECOND_MS;

/// How long a watch may be silent.
pub const WATCH_SILENCE_MS: u64 = 75 * SECOND_MS;

/// The delay that a relay asks for when it doesn't say how long.
pub const RETRY_AFTER_MS: u64 = 30 * SECOND_MS;

/// The longest delay that a relay may ask for: longer is taken for this.
pub const RETRY_AFTER_MAX_MS: u64 = HOUR_MS;

/// How far a delay that the relay asks for is moved at random, in per cent to either side.
pub const RETRY_AFTER_JITTER_PERCENT: u64 = 20;

/// The delay after an answer that only a person can mend.
pub const CONFIGURATION_RETRY_MS: u64 = 5 * MINUTE_MS;

/// How often a row tries the number after the one that is taken.
pub const TAKEN_ATTEMPTS_MAX: u32 = 5;

/// The delay after so many taken numbers.
pub const TAKEN_PAUSE_MS: u64 = 30 * SECOND_MS;

/// How long a full direction is left alone when nothing else says that it was emptied.
pub const BLOCKED_MS: u64 = 15 * MINUTE_MS;

/// How often the mailbox is claimed again.
pub const RECLAIM_MS: u64 = DAY_MS;

/// How often a mailbox is claimed that the relay doesn't have and doesn't make.
pub const LOST_RECLAIM_MS: u64 = 15 * MINUTE_MS;

/// From how far on a clock that is set changes how old what waits is taken to be. A week: of
/// the 30 days that a row has, a shorter jump leaves enough.
pub const CLOCK_JUMP_MS: u64 = 7 * DAY_MS;

/// How long A keeps a link to which B never came over. Longer than a pairing lasts, which ends
/// such a link itself, unless the process ended first.
pub const COMING_OVER_MS: u64 = 2 * LINK_PAIRING_MS;

/// How long an acknowledgement waits for a message to travel on.
pub const ACK_DELAY_MS: u64 = 5 * SECOND_MS;

/// How long an acknowledgement that has no room waits.
pub const ACK_ROOM_MS: u64 = 15 * MINUTE_MS;

/// No acknowledgement of its own goes into a direction that holds this many envelopes.
pub const ACK_ENVELOPES_MAX: u64 = 16;

/// `resync` is asked for once in this time.
pub const RESYNC_INTERVAL_MS: u64 = 10 * MINUTE_MS;

/// How many answers in a row that can't be read make a relay one that misbehaves.
pub const UNREADABLE_MAX: u32 = 5;

/// How many accepted ids are kept.
pub const ACCEPTED_IDS_MAX: usize = 4_096;

/// The most rows of one outbox.
pub const OUTBOX_ROWS_MAX: usize = 1_024;

/// How long a row stays in the outbox.
pub const ROW_LIFE_MS: u64 = 30 * DAY_MS;

/// How long a mailbox that is to be erased is tried.
pub const ERASE_LIFE_MS: u64 = 30 * DAY_MS;

/// After how long without anything from the other device an unconfirmed link is offered to be
/// unpaired.
pub const UNCONFIRMED_OFFER_MS: u64 = 7 * DAY_MS;
