//! What a link is called on this device alone.
//!
//! Random, never sent and nothing to do with the link's key or id, so that it may stand in a
//! command line or in an event.

use std::fmt;

use rand_core::{CryptoRng, RngCore};

/// Characters of a name.
const CHARS: usize = 12;

/// No two letters that are easily mistaken for each other.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Names a link on this device.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkName(String);

impl LinkName {
    /// Draws a new name.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut random = [0_u8; CHARS];
        rng.fill_bytes(&mut random);
        let letters = random
            .iter()
            .filter_map(|byte| ALPHABET.get(usize::from(byte % 32)));
        Self(letters.map(|&letter| char::from(letter)).collect())
    }

    /// Reads a name; `None` where the text is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_one = text.len() == CHARS && text.bytes().all(|byte| ALPHABET.contains(&byte));
        is_one.then(|| Self(text.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LinkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkName")
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn a_name_is_read_back_and_nothing_else_is_one() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let name = LinkName::generate(&mut rng);
        assert_eq!(LinkName::parse(name.as_str()), Some(name.clone()));
        assert_ne!(LinkName::generate(&mut rng), name);
        for wrong in [
            "",
            "abc",
            "abcdefghijkl",
            "abcdefghijk\u{e9}",
            "ABCDEFGHJKMN",
        ] {
            assert_eq!(LinkName::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{name:?}"), "LinkName");
    }
}
