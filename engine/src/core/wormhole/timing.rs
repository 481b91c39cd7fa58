//! The wormhole client's own delays and bounds.

const SECOND_MS: u64 = 1_000;

/// The first delay before a lost connection is opened again; each next one is half longer.
pub const RECONNECT_FIRST_MS: u64 = SECOND_MS;

/// The longest of these delays.
pub const RECONNECT_MAX_MS: u64 = 60 * SECOND_MS;

/// How often the server is asked whether it is still there.
pub const PING_INTERVAL_MS: u64 = 30 * SECOND_MS;

/// How long a connection may be silent.
pub const SILENCE_MS: u64 = 75 * SECOND_MS;

/// How often leaving a mailbox is tried; the server forgets it anyhow.
pub const CLOSE_ATTEMPTS_MAX: u32 = 3;

/// The most own messages whose echo hasn't come.
pub const OUTBOX_ROWS_MAX: usize = 1_024;

/// The most messages that are held until their turn; the server still has the rest.
pub const HELD_MESSAGES_MAX: usize = 1_000;

/// The most bytes of them.
pub const HELD_BYTES_MAX: usize = 4 << 20;

/// What a frame around a body takes.
pub const FRAME_OVERHEAD_BYTES: usize = 1_024;

/// How long a typed code is good for, as long as the window behind it.
pub const CODE_LIFE_MS: u64 = 10 * 60 * SECOND_MS;
