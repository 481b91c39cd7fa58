//! The identifier of one message of one author.
//!
//! Owns its derivation and its text. Both inputs come from inside the ciphertext, so a relay
//! can't choose them. Apps compare the text and never take it apart. Specification section 3.6.

use core::fmt;

use sha2::{Digest as _, Sha256};

use crate::key::SigningPublic;
use crate::limit::HASH_BYTES;
use crate::{base64url, label};

const TEXT_PREFIX: &str = "tsm1_";

/// Identifies one message; the same on every device. `Debug` prints a fixed word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId([u8; HASH_BYTES]);

impl MessageId {
    /// Derives the id of the message that `author` sent under `sequence`.
    #[must_use]
    pub fn derive(author: &SigningPublic, sequence: u64) -> Self {
        let hash = Sha256::new()
            .chain_update(label::MESSAGE_ID)
            .chain_update(author.as_bytes())
            .chain_update(sequence.to_be_bytes());
        Self(hash.finalize().into())
    }

    /// Takes a stored hash.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; HASH_BYTES]) -> Self {
        Self(bytes)
    }

    /// The hash, for storing.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; HASH_BYTES] {
        &self.0
    }

    /// The id as 48 characters of text.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{TEXT_PREFIX}{}", base64url::encode(&self.0))
    }

    /// Reads a text that [`MessageId::to_text`] gave; any other is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base64url::decode(text.strip_prefix(TEXT_PREFIX)?).map(Self)
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageId")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    #[test]
    fn the_published_example_is_met() {
        let author = SigningPublic::from_bytes(vectors::array("/inputs/message_id_example/author"));
        let id = MessageId::derive(&author, 7);
        assert_eq!(
            id.to_text(),
            vectors::text("/message_id_example/message_id")
        );
        assert_eq!(MessageId::parse(&id.to_text()), Some(id));
        assert_eq!(id.to_text().len(), 48);
        assert_eq!(format!("{id:?}"), "MessageId");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "tsm1_",
            "tsm2_P2JlgL-zK1M_f19R3JDQz3Ny459blO_UjFJ_APmTTrY",
        ] {
            assert_eq!(MessageId::parse(text), None);
        }
    }
}
