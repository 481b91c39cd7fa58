//! Which of the two sides of a mailbox wrote a message.

use core::fmt;

use rand_core::{CryptoRng, RngCore};

use crate::limit::WORMHOLE_STRING_BYTES_MAX;

/// Random bytes of a side of one's own, as all clients have it.
const BYTES: usize = 5;

/// Names one side of a mailbox to the server and to the other side; stays the same when that
/// side connects again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side(String);

impl Side {
    /// Draws a new one.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut bytes = [0; BYTES];
        rng.fill_bytes(&mut bytes);
        Self(hex::encode(bytes))
    }

    /// Takes what another side calls itself: any text of 1 to 256 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_side = !text.is_empty() && text.len() <= WORMHOLE_STRING_BYTES_MAX;
        is_side.then(|| Self(text.to_owned()))
    }

    /// The side as it stands in frames.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Side")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_random_hex_and_never_printed() {
        use rand_core::SeedableRng as _;
        let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
        let (one, two) = (Side::generate(&mut rng), Side::generate(&mut rng));
        assert_ne!(one, two);
        assert_eq!(one.as_str().len(), 10);
        assert_eq!(Side::parse(one.as_str()), Some(one.clone()));
        assert_eq!(format!("{one:?}"), "Side");
        assert_eq!(Side::parse(""), None);
        assert_eq!(Side::parse(&"a".repeat(257)), None);
    }
}
