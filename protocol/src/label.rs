//! Every domain-separation label, each in this one place.
//!
//! A label stands in front of whatever is hashed, signed, keyed or authenticated, so that
//! bytes made for one purpose never verify for another. Each ends in a zero byte that the text
//! can't contain, which makes the set free of prefixes; [`LINK_SALT`], a salt, and
//! [`WORMHOLE_PHASE`], which others chose, have none. A label is never reused and never
//! changed; a new meaning gets a new text. Specification sections 3.2, 3.6, 4.2, 4.3, 5.1 and
//! amendment 3; those of links: "paired-mailbox/1" sections 3, 7 and 8, and amendment 18.

/// In front of what an Envelope's signature covers.
pub const ENVELOPE_SIGNATURE: &[u8] = b"trueseal-sync envelope signature v1\0";

/// The HKDF info of Addressed Encryption.
pub const ADDRESSED_ENCRYPTION: &[u8] = b"trueseal-sync addressed encryption v1\0";

/// The associated data of an Envelope's ciphertext.
pub const ENVELOPE_AAD: &[u8] = b"trueseal-sync envelope aad v1\0";

/// In front of author and sequence in a Message ID.
pub const MESSAGE_ID: &[u8] = b"trueseal-message-id-v1\0";

/// In front of what a pairing token's check covers.
pub const PAIRING_TOKEN: &[u8] = b"trueseal-sync pairing token v1\0";

/// In front of what the proof in a `Pair` covers.
pub const PAIR_PROOF: &[u8] = b"trueseal-sync pair proof v1\0";

/// The Argon2id password of the pairing words.
pub const PAIRING_WORDS: &[u8] = b"trueseal-sync pairing words v1\0";

/// In front of the secret in the Argon2id salt of the pairing words.
pub const PAIRING_SALT: &[u8] = b"trueseal-sync pairing salt v1\0";

/// In front of both members' keys in a compare code.
pub const COMPARE_CODE: &[u8] = b"trueseal-sync compare code v1\0";

/// In front of what a manifest's signature covers.
pub const MANIFEST_SIGNATURE: &[u8] = b"trueseal-sync manifest signature v1\0";

/// In front of the signing input in a manifest's hash.
pub const MANIFEST_HASH: &[u8] = b"trueseal-sync manifest hash v1\0";

/// The salt under which everything of a link is derived: the protocol's name.
pub const LINK_SALT: &[u8] = b"paired-mailbox/1";

/// The HKDF info of a link's mailbox id, in front of the link's id.
pub const LINK_MAILBOX_ID: &[u8] = b"mailbox-id\0";

/// The HKDF info of a link's token, in front of the link's id.
pub const LINK_TOKEN: &[u8] = b"token\0";

/// The HKDF info of the key of what A writes, in front of the link's id.
pub const LINK_KEY_A_TO_B: &[u8] = b"key a2b\0";

/// The HKDF info of the key of what B writes, in front of the link's id.
pub const LINK_KEY_B_TO_A: &[u8] = b"key b2a\0";

/// In front of the associated data of a link's envelope.
pub const LINK_ENVELOPE: &[u8] = b"paired-mailbox/1 envelope\0";

/// In front of the public key in a joiner's commitment.
pub const LINK_COMMITMENT: &[u8] = b"paired-mailbox/1 commit\0";

/// In front of a rotation's transcript.
pub const LINK_ROTATION: &[u8] = b"paired-mailbox/1 rotate\0";

/// The HKDF info of the key after a rotation, in front of the transcript.
pub const LINK_ROTATED_KEY: &[u8] = b"link-key\0";

/// The HKDF info of the id after a rotation, in front of the transcript.
pub const LINK_ROTATED_ID: &[u8] = b"link-id\0";

/// The HKDF info of the six digits, in front of the transcript.
pub const LINK_DIGITS: &[u8] = b"sas\0";

/// The HKDF info of the key that confirms a `welcome`, in front of the transcript.
pub const LINK_CONFIRMATION_KEY: &[u8] = b"confirm\0";

/// In front of what a `welcome`'s confirmation covers.
pub const LINK_WELCOME: &[u8] = b"paired-mailbox/1 welcome\0";

/// In front of side and phase in the HKDF info of a message's key: as every magic-wormhole
/// client has it, and so without a zero byte.
pub const WORMHOLE_PHASE: &[u8] = b"wormhole:phase:";

/// The HKDF info of a lasting wormhole's mailbox.
pub const WORMHOLE_MAILBOX: &[u8] = b"sealpost wormhole mailbox v1\0";

/// The HKDF info of a lasting wormhole's seed, from the key of the wormhole it begins with.
pub const WORMHOLE_SEED: &[u8] = b"sealpost wormhole seed v1\0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_is_a_prefix_of_another() {
        let labels = [
            ENVELOPE_SIGNATURE,
            ADDRESSED_ENCRYPTION,
            ENVELOPE_AAD,
            MESSAGE_ID,
            PAIRING_TOKEN,
            PAIR_PROOF,
            PAIRING_WORDS,
            PAIRING_SALT,
            COMPARE_CODE,
            MANIFEST_SIGNATURE,
            MANIFEST_HASH,
            LINK_MAILBOX_ID,
            LINK_TOKEN,
            LINK_KEY_A_TO_B,
            LINK_KEY_B_TO_A,
            LINK_ENVELOPE,
            LINK_COMMITMENT,
            LINK_ROTATION,
            LINK_ROTATED_KEY,
            LINK_ROTATED_ID,
            LINK_DIGITS,
            LINK_CONFIRMATION_KEY,
            LINK_WELCOME,
            WORMHOLE_MAILBOX,
            WORMHOLE_SEED,
        ];
        for (i, one) in labels.iter().enumerate() {
            assert_eq!(one.iter().filter(|byte| **byte == 0).count(), 1);
            assert_eq!(one.last(), Some(&0));
            for other in labels.iter().skip(i + 1) {
                assert!(!one.starts_with(other) && !other.starts_with(one));
            }
        }
    }
}
