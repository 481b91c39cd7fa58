//! What two linked devices share, and everything that follows from it.
//!
//! Owns the link's key and id, and the derivation of mailbox, token and the two envelope keys.
//! Nothing derived needs storing. Specification section 3.
//!
//! Invariants: secrets are wiped when dropped; nothing of this module prints itself; separate
//! keys per direction, so that an envelope that the relay reflects doesn't open.

use core::fmt;

use hkdf::Hkdf;
use rand_core::{CryptoRng, RngCore};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::limit::{HASH_BYTES, KEY_BYTES, LINK_ID_BYTES};
use crate::secret::secret_bytes;
use crate::{base64url, label};

/// The length of a mailbox id as text: lower-case hex.
pub const MAILBOX_ID_CHARS: usize = 2 * LINK_ID_BYTES;

/// The secret of a link. Whoever has it, and the link's id, is one of the two devices.
#[derive(Clone)]
pub struct LinkKey([u8; KEY_BYTES]);

secret_bytes!(LinkKey);

impl LinkKey {
    /// The key as 43 characters of base64url, for the pairing code.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(base64url::encode(&self.0))
    }

    /// Reads what [`LinkKey::to_text`] gave; any other text is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base64url::decode(text).map(Self)
    }
}

/// Implements what ids of 16 bytes share: made at random, compared, never printed.
macro_rules! id_bytes {
    ($name:ident) => {
        impl $name {
            /// Takes 16 bytes as they are.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; LINK_ID_BYTES]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; LINK_ID_BYTES] {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

pub(super) use id_bytes;

/// Names a link to its two devices; nobody else learns it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId([u8; LINK_ID_BYTES]);

id_bytes!(LinkId);

impl LinkId {
    /// Draws a new id.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut bytes = [0; LINK_ID_BYTES];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// The id as 22 characters of base64url, for the pairing code.
    #[must_use]
    pub fn to_text(&self) -> String {
        base64url::encode(&self.0)
    }

    /// Reads what [`LinkId::to_text`] gave; any other text is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base64url::decode(text).map(Self)
    }
}

/// Names a mailbox to its relay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailboxId([u8; LINK_ID_BYTES]);

id_bytes!(MailboxId);

impl MailboxId {
    /// The id as 32 lower-case hex digits, as in a path.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    /// Reads 32 lower-case hex digits; any other text is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_lower_case = text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let mut bytes = [0; LINK_ID_BYTES];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        is_lower_case.then_some(Self(bytes))
    }
}

/// What both devices show the relay to use their mailbox. It opens nothing.
#[derive(Clone)]
pub struct LinkToken([u8; KEY_BYTES]);

secret_bytes!(LinkToken);

impl LinkToken {
    /// The token as 43 characters of base64url.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(base64url::encode(&self.0))
    }

    /// Reads what [`LinkToken::to_text`] gave; any other text is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base64url::decode(text).map(Self)
    }

    /// What a relay stores of it: SHA-256. To be compared in constant time.
    #[must_use]
    pub fn digest(&self) -> [u8; HASH_BYTES] {
        Sha256::digest(self.0).into()
    }
}

/// One of the two ordered stores of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Written by A, read by B.
    AToB,
    /// Written by B, read by A.
    BToA,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::AToB, Self::BToA];

    /// The direction as in a path.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AToB => "a2b",
            Self::BToA => "b2a",
        }
    }

    /// Reads what [`Direction::as_str`] gave.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dir| dir.as_str() == text)
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::AToB => Self::BToA,
            Self::BToA => Self::AToB,
        }
    }

    /// The byte that stands for it in an envelope's associated data.
    pub(super) const fn byte(self) -> u8 {
        match self {
            Self::AToB => b'a',
            Self::BToA => b'b',
        }
    }
}

/// Which of the two devices this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Made the link and showed the code.
    A,
    /// Scanned the code.
    B,
}

impl Role {
    /// The direction that this device writes.
    #[must_use]
    pub const fn writes(self) -> Direction {
        match self {
            Self::A => Direction::AToB,
            Self::B => Direction::BToA,
        }
    }

    /// The direction that this device reads.
    #[must_use]
    pub const fn reads(self) -> Direction {
        self.writes().other()
    }
}

/// Everything that follows from a link's key and id.
#[derive(Clone)]
pub struct LinkKeys {
    mailbox: MailboxId,
    token: LinkToken,
    a_to_b: Zeroizing<[u8; KEY_BYTES]>,
    b_to_a: Zeroizing<[u8; KEY_BYTES]>,
}

impl LinkKeys {
    /// Derives them.
    #[must_use]
    pub fn derive(key: &LinkKey, id: &LinkId) -> Self {
        let hkdf = Hkdf::<Sha256>::new(Some(label::LINK_SALT), key.as_bytes());
        let mut mailbox = [0; LINK_ID_BYTES];
        expand(&hkdf, label::LINK_MAILBOX_ID, id, &mut mailbox);
        let [mut token, mut a_to_b, mut b_to_a] =
            [0; 3].map(|_: u8| Zeroizing::new([0; KEY_BYTES]));
        expand(&hkdf, label::LINK_TOKEN, id, token.as_mut_slice());
        expand(&hkdf, label::LINK_KEY_A_TO_B, id, a_to_b.as_mut_slice());
        expand(&hkdf, label::LINK_KEY_B_TO_A, id, b_to_a.as_mut_slice());
        Self {
            mailbox: MailboxId(mailbox),
            token: LinkToken(*token),
            a_to_b,
            b_to_a,
        }
    }

    /// The mailbox of the link.
    #[must_use]
    pub const fn mailbox(&self) -> MailboxId {
        self.mailbox
    }

    /// The token of the mailbox.
    #[must_use]
    pub const fn token(&self) -> &LinkToken {
        &self.token
    }

    pub(super) fn envelope_key(&self, direction: Direction) -> &[u8; KEY_BYTES] {
        match direction {
            Direction::AToB => &self.a_to_b,
            Direction::BToA => &self.b_to_a,
        }
    }
}

impl fmt::Debug for LinkKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkKeys")
    }
}

/// `X(label, n)` of the specification: the id follows the label and its own length.
fn expand(hkdf: &Hkdf<Sha256>, label: &[u8], id: &LinkId, out: &mut [u8]) {
    let length = [u8::try_from(LINK_ID_BYTES).unwrap_or(u8::MAX)];
    let expanded = hkdf.expand_multi_info(&[label, &length, id.as_bytes()], out);
    debug_assert!(expanded.is_ok(), "HKDF gives up to 8,160 bytes");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::vectors;

    #[test]
    fn the_vectors_are_met() {
        let keys = vectors::keys();
        assert_eq!(keys.mailbox().to_hex(), vectors::text("/mailbox_id"));
        assert_eq!(*keys.token().to_text(), vectors::text("/token_b64url"));
        assert_eq!(
            keys.token().digest().as_slice(),
            vectors::bytes("/token_sha256")
        );
        for (direction, place) in [(Direction::AToB, "/key_a2b"), (Direction::BToA, "/key_b2a")] {
            assert_eq!(
                keys.envelope_key(direction).as_slice(),
                vectors::bytes(place)
            );
        }
    }

    #[test]
    fn another_key_or_id_gives_everything_else() {
        let (key, id) = (
            LinkKey::from_bytes([1; KEY_BYTES]),
            LinkId::from_bytes([2; LINK_ID_BYTES]),
        );
        let first = LinkKeys::derive(&key, &id);
        for (key, id) in [
            (LinkKey::from_bytes([3; KEY_BYTES]), id),
            (key, LinkId::from_bytes([4; LINK_ID_BYTES])),
        ] {
            let other = LinkKeys::derive(&key, &id);
            assert_ne!(first.mailbox(), other.mailbox());
            assert_ne!(first.token(), other.token());
            for direction in Direction::ALL {
                assert_ne!(first.envelope_key(direction), other.envelope_key(direction));
            }
        }
    }

    #[test]
    fn texts_are_read_back_and_no_other() {
        let keys = vectors::keys();
        let hex = keys.mailbox().to_hex();
        assert_eq!(MailboxId::parse(&hex), Some(keys.mailbox()));
        assert_eq!(hex.len(), MAILBOX_ID_CHARS);
        let longer = format!("{hex}0");
        let shorter = hex.strip_prefix('a').unwrap();
        for wrong in [&hex.to_uppercase(), shorter, &longer, "", "ü"] {
            assert_eq!(MailboxId::parse(wrong), None);
        }
        let token = keys.token().to_text();
        assert_eq!(LinkToken::parse(&token).as_ref(), Some(keys.token()));
        assert_eq!(LinkToken::parse(&format!("{}=", *token)), None);
        let (key, id) = (vectors::key(), vectors::id());
        assert_eq!(LinkKey::parse(&key.to_text()), Some(key));
        assert_eq!(LinkId::parse(&id.to_text()), Some(id));
        assert_eq!(LinkId::parse(""), None);
        for direction in Direction::ALL {
            assert_eq!(Direction::parse(direction.as_str()), Some(direction));
        }
        assert_eq!(Direction::parse("A2B"), None);
    }

    #[test]
    fn each_role_reads_what_the_other_writes() {
        assert_eq!(Role::A.writes(), Direction::AToB);
        assert_eq!(Role::A.reads(), Role::B.writes());
        assert_eq!(Role::B.reads(), Role::A.writes());
    }

    #[test]
    fn nothing_is_printed() {
        let keys = vectors::keys();
        assert_eq!(
            format!(
                "{:?} {:?} {:?} {:?} {keys:?}",
                vectors::key(),
                vectors::id(),
                keys.mailbox(),
                keys.token()
            ),
            "LinkKey LinkId MailboxId LinkToken LinkKeys"
        );
    }
}
