// Every number of the paired-device mailbox that the page knows. Owns nothing else; the Rust
// side has the same in protocol::limit and engine::core::link, and limit.test.ts compares.

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Envelopes that a direction of a mailbox holds (2). */
export const SLOTS_MAX = 64;
/** Envelopes of one page (2). */
export const PAGE_ENVELOPES_MAX = 16;
/** The shortest envelope: an empty payload, padded (7.0). */
export const ENVELOPE_BYTES_MIN = 306;
/** The longest envelope that a relay stores (2). */
export const ENVELOPE_BYTES_MAX = 65_536;
/** The longest payload that fits an envelope (2). */
export const PAYLOAD_BYTES_MAX = 65_279;
/** The longest header of a payload (7.1). */
export const HEADER_BYTES_MAX = 2_048;
/** The highest sequence number (2). */
export const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER;
/** The highest number of a relay that is believed (amendment 17). */
export const TRUSTED_SEQUENCE_MAX = 2 ** 52;
/** The newest accepted ids that a reader knows again (7.1). */
export const ACCEPTED_IDS_MAX = 4_096;

/** How long a request may take (2). */
export const REQUEST_MS = 30 * SECOND_MS;
/** A claim is repeated while the page runs (6.2). */
export const RECLAIM_MS = DAY_MS;
/** How often one row is tried in a row after 409 (6.3). */
export const PUT_ATTEMPTS_MAX = 5;
/** The pause after that (6.3). */
export const ATTEMPTS_PAUSE_MS = 30 * SECOND_MS;
/** A writer that a full direction blocks looks again after this (6.3). */
export const BLOCKED_MS = 15 * MINUTE_MS;
/** A link that the relay doesn't know is asked for again after this (6.7). */
export const LOST_MS = 15 * MINUTE_MS;
/** How long an accepted message waits for something that carries its acknowledgement (7.2). */
export const ACK_DELAY_MS = 5 * SECOND_MS;
/** An acknowledgement of its own is sent below this many envelopes only (7.2). */
export const ACK_SLOTS_MAX = 16;
/** At most one resync in this time (7.2). */
export const RESYNC_MS = 10 * MINUTE_MS;
/** A row that is not delivered in this time has failed (6.8). */
export const ROW_LIFE_MS = 30 * DAY_MS;
/** An erase that could not be done is tried for this long (6.7). */
export const ERASE_LIFE_MS = 30 * DAY_MS;
/** Without a word of the other side for this long, unpairing is offered (6.7). */
export const UNCONFIRMED_MS = 7 * DAY_MS;

/** The first delay of a backoff (6.8). */
export const BACKOFF_MS = SECOND_MS;
/** The longest delay of a backoff (6.8). */
export const BACKOFF_MAX_MS = 5 * MINUTE_MS;
/** The longest delay before a watch is opened again (6.8). */
export const WATCH_BACKOFF_MAX_MS = 30 * SECOND_MS;
/** Where a relay names no time after 429 and 503 (6.8). */
export const RETRY_AFTER_MS = 30 * SECOND_MS;
/** A relay that asks for more is asked again after this. */
export const RETRY_AFTER_MAX_MS = HOUR_MS;
/** A pause after 1013 (5). */
export const WATCH_LIMIT_MS = 30 * SECOND_MS;
/** A page served under an address that the relay refuses (6.8). */
export const CONFIGURATION_MS = 5 * MINUTE_MS;
/** Answers without sense, one after the other, until the relay is said to misbehave (6.8). */
export const UNREADABLE_MAX = 5;
/** A watch that is silent for this long is dropped (5). */
export const SILENCE_MS = 75 * SECOND_MS;

/** A clock that is set by no more than this is taken as it is. */
export const CLOCK_STEP_MS = MINUTE_MS;

/** How long the page's own pairing may take, by its own clock (8.3). */
export const PAIRING_MS = 10 * MINUTE_MS;
/** The longest name of a device, in bytes. */
export const NAME_BYTES_MAX = 64;
