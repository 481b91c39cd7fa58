//! The codes of wormholes: a nameplate and words, such as `7-velvet-cottage-abbey`.
//!
//! Owns how a code is made, how any client's code is read, and how a code of this program's
//! own words is read as people type it: with blanks for hyphens, capital letters, words begun
//! and not finished, and words one letter off. A code never prints itself.
//!
//! Invariant: what two devices put into the key exchange is the same text, letter for letter,
//! once it is normalised (NFC).

mod near;
#[cfg(test)]
mod tests;
mod words;

use core::fmt;

use rand_core::{CryptoRng, RngCore};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use crate::limit::{WORMHOLE_CODE_WORDS, WORMHOLE_NAMEPLATE_DIGITS_MAX, WORMHOLE_STRING_BYTES_MAX};

/// The bits that one word stands for.
const WORD_BITS: u32 = 10;
const WORD_MASK: u32 = (1 << WORD_BITS) - 1;

/// The short number that leads to a mailbox: 1 to 40 digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nameplate(String);

impl Nameplate {
    /// Reads a nameplate.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_nameplate = !text.is_empty()
            && text.len() <= WORMHOLE_NAMEPLATE_DIGITS_MAX
            && text.bytes().all(|byte| byte.is_ascii_digit());
        is_nameplate.then(|| Self(text.to_owned()))
    }

    /// The nameplate as it stands in frames.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Nameplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nameplate")
    }
}

/// A code: whoever has it first, besides the one who made it, is the other side.
#[derive(Clone, PartialEq, Eq)]
pub struct WormholeCode {
    nameplate: Nameplate,
    secret: Zeroizing<String>,
}

/// Which part of a text keeps it from being a code.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CodeError {
    /// There is no text.
    #[error("the code is empty")]
    Empty,
    /// Too long to be one.
    #[error("the code is too long")]
    TooLong,
    /// It doesn't begin with a number.
    #[error("the number at the front of the code is missing")]
    Nameplate,
    /// There is a number, and nothing behind it.
    #[error("the words of the code are missing")]
    NoWords,
    /// There are blanks in it, and it isn't a code of this program's words.
    #[error("there are blanks in the code")]
    Blanks,
    /// Not as many words as there have to be.
    #[error("the code has {found} words and needs {WORMHOLE_CODE_WORDS}")]
    WordCount {
        /// How many there are.
        found: usize,
    },
    /// One of the words isn't in the list, and no single one is near it.
    #[error("word {} of the code isn't one", .place.saturating_add(1))]
    Word {
        /// Which one, counted from 0.
        place: usize,
        /// Words that it may have been meant to be, nearest first.
        near: Vec<&'static str>,
    },
}

impl CodeError {
    /// A stable name for each part.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong => "tooLong",
            Self::Nameplate => "nameplate",
            Self::NoWords => "noWords",
            Self::Blanks => "blanks",
            Self::WordCount { .. } => "wordCount",
            Self::Word { .. } => "word",
        }
    }
}

/// A code that was typed, and whether it had to be put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedCode {
    /// The code.
    pub code: WormholeCode,
    /// The places of the words that were completed or corrected, counted from 0.
    pub corrected: Vec<usize>,
}

impl WormholeCode {
    /// Makes a code with words of the list.
    #[must_use]
    pub fn generate(nameplate: Nameplate, rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let words: Vec<_> = (0..WORMHOLE_CODE_WORDS)
            .map(|_| word(rng.next_u32()))
            .collect();
        Self::of(nameplate, &words.join("-"))
    }

    /// Reads a code of any client: a number, a hyphen and whatever follows, without blanks.
    ///
    /// # Errors
    ///
    /// Names the part that is wrong, without any of it.
    pub fn parse(text: &str) -> Result<Self, CodeError> {
        let text = checked(text)?;
        if text.contains(char::is_whitespace) {
            return Err(CodeError::Blanks);
        }
        let (nameplate, secret) = text.split_once('-').unwrap_or((text, ""));
        let nameplate = Nameplate::parse(nameplate).ok_or(CodeError::Nameplate)?;
        if secret.is_empty() {
            return Err(CodeError::NoWords);
        }
        Ok(Self::of(nameplate, secret))
    }

    /// Reads a code of this program's words as a person typed it, and puts right what can be
    /// put right in one way only.
    ///
    /// # Errors
    ///
    /// Names the part that is wrong, with words that are near it.
    pub fn read_typed(text: &str) -> Result<TypedCode, CodeError> {
        let text = checked(text)?.to_lowercase();
        let mut parts = text.split(is_gap).filter(|part| !part.is_empty());
        let nameplate = parts.next().ok_or(CodeError::Empty)?;
        let nameplate = Nameplate::parse(nameplate).ok_or(CodeError::Nameplate)?;
        let typed: Vec<&str> = parts.collect();
        if typed.is_empty() {
            return Err(CodeError::NoWords);
        }
        if typed.len() != WORMHOLE_CODE_WORDS {
            return Err(CodeError::WordCount { found: typed.len() });
        }
        let (mut words, mut corrected) = (Vec::new(), Vec::new());
        for (place, part) in typed.into_iter().enumerate() {
            let word = near::meant(part).map_err(|near| CodeError::Word { place, near })?;
            if word != part {
                corrected.push(place);
            }
            words.push(word);
        }
        let code = Self::of(nameplate, &words.join("-"));
        Ok(TypedCode { code, corrected })
    }

    fn of(nameplate: Nameplate, secret: &str) -> Self {
        let secret = Zeroizing::new(secret.nfc().collect());
        Self { nameplate, secret }
    }

    /// The nameplate.
    #[must_use]
    pub const fn nameplate(&self) -> &Nameplate {
        &self.nameplate
    }

    /// The whole code: what is said, typed, and put into the key exchange.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{}-{}", self.nameplate.0, *self.secret))
    }
}

impl fmt::Debug for WormholeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WormholeCode")
    }
}

/// The words that begin with what was typed so far, in alphabetical order, at most `limit`.
#[must_use]
pub fn completions(begun: &str, limit: usize) -> Vec<&'static str> {
    let begun = begun.to_lowercase();
    let fitting = words::WORDS.iter().filter(|word| word.starts_with(&begun));
    fitting.take(limit).copied().collect()
}

fn word(bits: u32) -> &'static str {
    let place = usize::try_from(bits & WORD_MASK).unwrap_or_default();
    words::WORDS.get(place).copied().unwrap_or_default()
}

fn checked(text: &str) -> Result<&str, CodeError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CodeError::Empty);
    }
    if text.len() > WORMHOLE_STRING_BYTES_MAX {
        return Err(CodeError::TooLong);
    }
    Ok(text)
}

/// What stands between the parts of a typed code: blanks, and every sort of dash that a
/// keyboard or a messenger makes of a hyphen.
fn is_gap(character: char) -> bool {
    let is_dash = matches!(
        character,
        '-' | '_' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ad}'
    );
    is_dash || character.is_whitespace() || matches!(character, ',' | '.' | ';' | '/')
}
