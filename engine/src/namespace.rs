//! The name of one group's corner of a profile.
//!
//! A namespace selects one identity and at most one group (specification, 6.3). It is chosen
//! by this program, carries nothing of the group it stands for, and is safe as part of a
//! file name on every platform.

use std::fmt;

use rand_core::{CryptoRng, RngCore};

/// Longest namespace, in bytes.
pub const NAMESPACE_BYTES_MAX: usize = 64;

/// Letters of a fresh namespace: no two that differ only in case, because some file systems
/// don't tell them apart.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A checked namespace: `[A-Za-z0-9_-]{1,64}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(String);

/// The text is not a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a namespace has 1 to 64 of the characters A-Z a-z 0-9 _ -")]
pub struct InvalidNamespace;

impl Namespace {
    /// Checks `text`.
    ///
    /// # Errors
    ///
    /// [`InvalidNamespace`] when it is empty, too long, or has any other character.
    pub fn parse(text: &str) -> Result<Self, InvalidNamespace> {
        let fits = !text.is_empty() && text.len() <= NAMESPACE_BYTES_MAX;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if fits && text.bytes().all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidNamespace)
        }
    }

    /// Makes the namespace of the `place`-th group of a profile. The leading number keeps a
    /// sorted listing in the order of creation; the rest is random, so that a group that was
    /// deleted and one that was made afterwards never share a name.
    #[must_use]
    pub fn fresh(place: u32, rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut random = [0_u8; 16];
        rng.fill_bytes(&mut random);
        let letters = random
            .iter()
            .filter_map(|byte| ALPHABET.get(usize::from(byte % 32)));
        let tail: String = letters.map(|&letter| char::from(letter)).collect();
        Self(format!("{place:06}-{tail}"))
    }

    /// The number that [`Self::fresh`] put in front, if there is one.
    #[must_use]
    pub fn place(&self) -> Option<u32> {
        self.0
            .split_once('-')
            .and_then(|(place, _)| place.parse().ok())
    }

    /// The namespace as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Namespace")
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn the_grammar_is_kept_on_both_sides() {
        for good in ["a", "Default", "a_b-C9", &"x".repeat(64)] {
            assert_eq!(Namespace::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            " ",
            "a b",
            "../x",
            "a.b",
            "ä",
            "a/b",
            "a\0",
            &"x".repeat(65),
        ] {
            assert_eq!(Namespace::parse(bad), Err(InvalidNamespace), "{bad:?}");
        }
    }

    #[test]
    fn a_fresh_namespace_parses_and_sorts_by_its_place() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let first = Namespace::fresh(9, &mut rng);
        let second = Namespace::fresh(10, &mut rng);
        assert_eq!(Namespace::parse(first.as_str()).unwrap(), first);
        assert!(first < second);
        assert_eq!((first.place(), second.place()), (Some(9), Some(10)));
        assert_ne!(Namespace::fresh(9, &mut rng), first);
    }
}
