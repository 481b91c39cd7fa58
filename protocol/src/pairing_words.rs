//! The four words that both sides of a pairing compare, and the code that members compare.
//!
//! Owns both derivations. What the words protect against: somebody who saw the token and
//! stands between the two devices with keys of their own. They are stretched, because the
//! token's holder could otherwise try keys offline until the words agree. Amendment 3.

mod list;

use core::fmt;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::key::DeviceKeys;
use crate::label;
use crate::limit::END_TO_END_VERSION;
use crate::token::PairingSecret;

/// How many words are compared.
pub const WORDS: usize = 4;

const WORD_BITS: u32 = 11;
const WORD_MASK: u128 = (1 << WORD_BITS) - 1;
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 1;
const OUTPUT_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
const CODE_GROUPS: usize = 6;

/// Four words of the one fixed list, the same in every language of the interface.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PairingWords([&'static str; WORDS]);

impl PairingWords {
    /// The words, in their order.
    #[must_use]
    pub fn as_array(&self) -> [&'static str; WORDS] {
        self.0
    }
}

impl fmt::Debug for PairingWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairingWords")
    }
}

/// Derives the words of one pairing. Takes about a fifth of a second and 64 MiB.
///
/// # Errors
///
/// The memory can't be had.
pub fn pairing_words(
    admitter: &DeviceKeys,
    joiner: &DeviceKeys,
    secret: &PairingSecret,
) -> Result<PairingWords, WordsError> {
    let output = stretch(&password(admitter, joiner), &salt(secret))?;
    Ok(words(u128::from_be_bytes(*output)))
}

/// The code that two members compare at any time: 30 digits, the same on both devices.
#[must_use]
pub fn compare_code(a: &DeviceKeys, b: &DeviceKeys) -> String {
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    let hash = Sha256::new()
        .chain_update(label::COMPARE_CODE)
        .chain_update(END_TO_END_VERSION.to_be_bytes())
        .chain_update(first.to_bytes())
        .chain_update(second.to_bytes())
        .finalize();
    // Five bytes for five digits: so many more bits than digits that no code is likelier.
    let groups = hash.chunks_exact(5).take(CODE_GROUPS).map(|chunk| {
        let number = chunk
            .iter()
            .fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
        format!("{:05}", number % 100_000)
    });
    groups.collect::<Vec<_>>().join(" ")
}

/// Why no words could be derived.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum WordsError {
    /// The function wants more memory than there is.
    #[error("there isn't enough memory for the pairing words")]
    Memory,
    /// The function refuses its fixed parameters: a bug.
    #[error("the parameters of the pairing words are wrong")]
    Parameters,
}

fn password(admitter: &DeviceKeys, joiner: &DeviceKeys) -> Vec<u8> {
    let mut password = label::PAIRING_WORDS.to_vec();
    password.extend_from_slice(&END_TO_END_VERSION.to_be_bytes());
    password.extend_from_slice(&admitter.to_bytes());
    password.extend_from_slice(&joiner.to_bytes());
    password
}

fn salt(secret: &PairingSecret) -> [u8; SALT_BYTES] {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(label::PAIRING_SALT)
        .chain_update(secret.as_bytes())
        .finalize()
        .into();
    let mut salt = [0; SALT_BYTES];
    salt.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    salt
}

fn stretch(password: &[u8], salt: &[u8]) -> Result<Zeroizing<[u8; OUTPUT_BYTES]>, WordsError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, Some(OUTPUT_BYTES))
        .map_err(|_| WordsError::Parameters)?;
    // Reserved by ourselves: a failed allocation is an error here and not the end of the program.
    let mut memory = Vec::new();
    memory
        .try_reserve_exact(params.block_count())
        .map_err(|_| WordsError::Memory)?;
    memory.resize(params.block_count(), Block::default());
    let mut output = Zeroizing::new([0; OUTPUT_BYTES]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(password, salt, output.as_mut_slice(), &mut memory)
        .map_err(|_| WordsError::Parameters)?;
    Ok(output)
}

/// The first 44 bits, eleven to a word.
fn words(output: u128) -> PairingWords {
    let mut rest = output;
    PairingWords(core::array::from_fn(|_| {
        rest = rest.rotate_left(WORD_BITS);
        let word = usize::try_from(rest & WORD_MASK)
            .ok()
            .and_then(|index| list::WORDS.get(index));
        word.copied().unwrap_or_default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    fn secret() -> PairingSecret {
        PairingSecret::from_bytes(vectors::array("/inputs/pairing_secret"))
    }

    #[test]
    fn the_vector_is_met() {
        let (a, b) = (vectors::device("a").keys(), vectors::device("b").keys());
        assert_eq!(
            salt(&secret()).as_slice(),
            vectors::bytes("/pairing_words/salt")
        );
        assert_eq!(password(&a, &b), vectors::bytes("/pairing_words/password"));
        let output = stretch(&password(&a, &b), &salt(&secret())).unwrap();
        assert_eq!(output.as_slice(), vectors::bytes("/pairing_words/argon2id"));
        let words = pairing_words(&a, &b, &secret()).unwrap();
        assert_eq!(
            words.as_array().join(" "),
            vectors::text("/pairing_words/words")
        );
        assert_ne!(pairing_words(&b, &a, &secret()).unwrap(), words);
        assert_ne!(
            pairing_words(&a, &b, &PairingSecret::from_bytes([1; 32])).unwrap(),
            words
        );
        assert_eq!(format!("{words:?}"), "PairingWords");
    }

    #[test]
    fn each_word_stands_for_eleven_bits_from_the_front() {
        let place = |word: &str| list::WORDS.binary_search(&word).unwrap();
        assert_eq!(words(0).as_array().map(place), [0; 4]);
        assert_eq!(words(u128::MAX).as_array().map(place), [2_047; 4]);
        let bits = (1 << 117) | (2 << 106) | (3 << 95) | (4 << 84);
        assert_eq!(words(bits).as_array().map(place), [1, 2, 3, 4]);
        // What follows the 44 bits doesn't matter.
        assert_eq!(words(bits | ((1 << 84) - 1)), words(bits));
    }

    #[test]
    fn the_first_four_letters_tell_words_apart() {
        assert!(list::WORDS.is_sorted_by(|a, b| a < b));
        let starts: std::collections::BTreeSet<_> = list::WORDS
            .iter()
            .map(|word| word.chars().take(4).collect::<String>())
            .collect();
        assert_eq!(starts.len(), 1 << WORD_BITS);
        for word in list::WORDS {
            assert!((3..=8).contains(&word.len()), "{word}");
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
        }
    }

    #[test]
    fn the_word_list_is_never_changed() {
        let hash = Sha256::digest(list::WORDS.join("\n"));
        assert_eq!(
            hex::encode(hash),
            vectors::text("/pairing_words/word_list_sha256")
        );
    }

    #[test]
    fn a_compare_code_is_the_same_on_both_devices() {
        let (a, b) = (vectors::device("a").keys(), vectors::device("b").keys());
        let code = compare_code(&a, &b);
        assert_eq!(code, vectors::text("/compare_code/code"));
        assert_eq!(code, compare_code(&b, &a));
        assert_ne!(
            code,
            compare_code(
                &a,
                &DeviceKeys {
                    noise: a.noise,
                    ..b
                }
            )
        );
        // 10^30 codes are more than 2^80.
        assert_eq!(code.bytes().filter(u8::is_ascii_digit).count(), 30);
    }
}
