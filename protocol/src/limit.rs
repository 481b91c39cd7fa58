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

/// The version of a link's envelopes that this build writes and reads.
pub const LINK_ENVELOPE_VERSION: u8 = 1;

/// Bytes of a link's id, of a mailbox's id and of a payload's id.
pub const LINK_ID_BYTES: usize = 16;

/// Envelopes that a relay keeps in one direction of a mailbox.
pub const LINK_SLOTS: usize = 64;

/// The most envelopes in one page.
pub const LINK_PAGE_ENVELOPES_MAX: usize = 16;

/// A link's payload is padded to a multiple of this.
pub const LINK_PADDING_BYTES: usize = 256;

/// The shortest envelope of a link: one padding unit and 50 bytes around it.
pub const LINK_ENVELOPE_BYTES_MIN: usize = LINK_PADDING_BYTES + 50;

/// The longest envelope of a link that a relay takes.
pub const LINK_ENVELOPE_BYTES_MAX: usize = 65_536;

/// The longest payload of an envelope: 255 padding units without the byte that ends it.
pub const LINK_PAYLOAD_BYTES_MAX: usize = 255 * LINK_PADDING_BYTES - 1;

/// The longest header of a payload.
pub const LINK_HEADER_BYTES_MAX: usize = 2_048;

/// The longest body of a payload that the Link takes; leaves room for any header.
pub const LINK_BODY_BYTES_MAX: usize = BODY_BYTES_MAX;

/// The longest collapse key.
pub const LINK_COLLAPSE_BYTES_MAX: usize = 128;

/// The highest sequence of a link: what JavaScript counts exactly.
pub const LINK_SEQUENCE_MAX: u64 = (1 << 53) - 1;

/// A relay that reports a last sequence above this misbehaves (amendment 17).
pub const LINK_LAST_MAX: u64 = 1 << 52;

/// How far a sequence may lie above the last one of its direction.
pub const LINK_JUMP_MAX: u64 = 1 << 24;

/// The longest name in a pairing code, in characters.
pub const LINK_CODE_NAME_CHARS_MAX: usize = 24;

/// The longest frame to or from a mailbox server.
pub const WORMHOLE_FRAME_BYTES_MAX: usize = 4 << 20;

/// The longest app id, side, phase, mailbox id or message id.
pub const WORMHOLE_STRING_BYTES_MAX: usize = 256;

/// The most digits of a nameplate.
pub const WORMHOLE_NAMEPLATE_DIGITS_MAX: usize = 40;

/// The highest number of a message: what JavaScript counts exactly.
pub const WORMHOLE_SEQNUM_MAX: u64 = (1 << 53) - 1;

/// The random bytes in front of a sealed message.
pub const WORMHOLE_NONCE_BYTES: usize = 24;

/// Words of a code that pairs two devices, and of one that hands a text over.
pub const WORMHOLE_CODE_WORDS: usize = 3;

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

/// How long a mailbox lives after its latest stored envelope or claim.
pub const LINK_MAILBOX_LIFE_MS: u64 = 30 * DAY_MS;

/// How long a pairing code is valid, and a pairing may take.
pub const LINK_PAIRING_MS: u64 = 5 * 60 * SECOND_MS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_from_the_noise_message() {
        assert_eq!(FRAME_BYTES_MAX, 65_519);
        assert_eq!(ENVELOPE_BYTES_MAX, 65_482);
        assert_eq!(ENVELOPE_OVERHEAD_BYTES_MAX, 464);
        assert_eq!(SEQUENCE_MAX, (1 << 63) - 1);
        assert_eq!(LINK_PAYLOAD_BYTES_MAX, 65_279);
        assert_eq!(LINK_ENVELOPE_BYTES_MIN, 306);
        const {
            assert!(LINK_BODY_BYTES_MAX + 2 + LINK_HEADER_BYTES_MAX <= LINK_PAYLOAD_BYTES_MAX);
        }
        const { assert!(BODY_BYTES_MAX + ENVELOPE_OVERHEAD_BYTES_MAX <= ENVELOPE_BYTES_MAX) };
    }
}
