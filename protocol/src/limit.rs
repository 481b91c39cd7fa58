//! Every number of the protocol, each in this one place.
//!
//! Owns the constants of specification section 0.3 that more than one program has to agree
//! on. Settings that belong to one side alone live there: a relay's quotas with the relay,
//! retry and timer values with the engine.

/// The version of the Device-to-Relay protocol that this build speaks.
pub const TRANSPORT_VERSION: u16 = 1;

/// The version of the Device-to-Device protocol that this build speaks.
pub const END_TO_END_VERSION: u16 = 1;

/// The port on which a relay accepts Receive Sessions, unless its address says otherwise.
pub const RECEIVE_PORT: u16 = 7700;

/// The port on which a relay accepts Push Sessions, unless its address says otherwise.
pub const PUSH_PORT: u16 = 7701;

/// The port of a relay's health endpoint.
pub const HEALTH_PORT: u16 = 7702;

/// The port of a relay's web door.
pub const WEB_PORT: u16 = 7703;

/// The longest body of one message: the Protocol Size Limit.
pub const BODY_BYTES_MAX: usize = 61_440;

/// The lowest body limit that an operator may set; it keeps every manifest deliverable.
pub const BODY_BYTES_LIMIT_MIN: usize = 8_192;

/// The longest Noise message, set by its two-byte length.
pub const NOISE_MESSAGE_BYTES_MAX: usize = 65_535;

/// The authentication tag at the end of every encrypted Noise message and of every Envelope's
/// ciphertext.
pub const TAG_BYTES: usize = 16;

/// The type and length in front of every frame body.
pub const FRAME_HEADER_BYTES: usize = 5;

/// The longest frame: a Noise message without its tag.
pub const FRAME_BYTES_MAX: usize = NOISE_MESSAGE_BYTES_MAX - TAG_BYTES;

/// The longest Envelope that fits a Push frame.
pub const ENVELOPE_BYTES_MAX: usize = FRAME_BYTES_MAX - FRAME_HEADER_BYTES - KEY_BYTES;

/// What an Envelope may be longer than its body: 208 bytes, and eight parents of 32 bytes.
pub const ENVELOPE_OVERHEAD_BYTES_MAX: usize = 208 + PARENTS_MAX * HASH_BYTES;

/// Bytes of a public key, a private key or a seed.
pub const KEY_BYTES: usize = 32;

/// Bytes of a SHA-256 hash.
pub const HASH_BYTES: usize = 32;

/// Bytes of an Ed25519 signature.
pub const SIGNATURE_BYTES: usize = 64;

/// The most parent hashes that a received Envelope may carry. None is ever sent.
pub const PARENTS_MAX: usize = 8;

/// The most members of one group, the own device included.
pub const GROUP_MEMBERS_MAX: usize = 32;

/// The longest device name, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 64;

/// The most combining marks in a row that a name keeps.
pub const NAME_MARKS_MAX: usize = 4;

/// The highest sequence and the highest timestamp: the largest integer a database column holds.
pub const SEQUENCE_MAX: u64 = i64::MAX.unsigned_abs();

/// The highest manifest version; one number space with sequences, for the same reason.
pub const MANIFEST_VERSION_MAX: u64 = SEQUENCE_MAX;

/// The most Blobs of a newer End-to-End Version that a device leaves on its relay.
pub const HELD_BLOBS_MAX: usize = 100;

/// How often a message handler is tried, the first time included.
pub const HANDLER_ATTEMPTS_MAX: u32 = 5;

/// The most malformed frames in one session before it is closed.
pub const MALFORMED_FRAMES_MAX: u32 = 16;

/// Random bytes that identify one application message.
pub const APP_MESSAGE_ID_BYTES: usize = 16;

/// The longest text of one application message: the body without its id and its headers.
pub const TEXT_BYTES_MAX: usize = BODY_BYTES_MAX - (2 + APP_MESSAGE_ID_BYTES) - (1 + 3);

const SECOND_MS: u64 = 1_000;
const DAY_MS: u64 = 24 * 60 * 60 * SECOND_MS;

/// How long a `Sync` message stays in the outbox before it counts as failed.
pub const OUTBOX_LIFE_MS: u64 = 30 * DAY_MS;

/// How old a message may be by the receiver's clock.
pub const REPLAY_WINDOW_MS: u64 = 60 * DAY_MS;

/// The longest, and the usual, time that a relay keeps a Blob.
pub const RELAY_LIFE_MS_MAX: u64 = 30 * DAY_MS;

/// How often a device sends a Heartbeat.
pub const HEARTBEAT_INTERVAL_MS: u64 = 25 * SECOND_MS;

/// How long a Receive Session may be silent before either side closes it.
pub const RECEIVE_IDLE_MS: u64 = 75 * SECOND_MS;

/// The deadline for prefix and handshake on both ports.
pub const HANDSHAKE_MS: u64 = 10 * SECOND_MS;

/// The total life of a Push Session, from accept to close.
pub const PUSH_SESSION_MS: u64 = 30 * SECOND_MS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_from_the_noise_message() {
        assert_eq!(FRAME_BYTES_MAX, 65_519);
        assert_eq!(ENVELOPE_BYTES_MAX, 65_482);
        assert_eq!(ENVELOPE_OVERHEAD_BYTES_MAX, 464);
        assert_eq!(SEQUENCE_MAX, (1 << 63) - 1);
        const { assert!(BODY_BYTES_MAX + ENVELOPE_OVERHEAD_BYTES_MAX <= ENVELOPE_BYTES_MAX) };
    }
}
