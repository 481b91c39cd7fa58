//! Device names that are safe to show.
//!
//! Owns the cleaning of names that came from outside and the two-word name derived from a
//! signing key. A name is a label and never proves anything. Specification section 1.2 and
//! amendment 13.
//!
//! Invariants of a [`DeviceName`]: 1 to 64 bytes of UTF-8 in normal form C; no control,
//! format, private or unassigned character and no invisible filler; no white space at an end
//! and never two spaces in a row; at most four combining marks in a row and none in front;
//! something to see.

mod words;

use core::fmt;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};
use unicode_security::confusable_detection::skeleton;

use crate::key::SigningPublic;
use crate::limit::{NAME_BYTES_MAX, NAME_MARKS_MAX};

/// The name of a device, cleaned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceName(String);

impl DeviceName {
    /// Cleans a name; where nothing visible is left, the owner's derived name takes its place.
    #[must_use]
    pub fn clean(raw: &str, owner: &SigningPublic) -> Self {
        clean(raw).map_or_else(|| Self::derived(owner), Self)
    }

    /// Cleans the name of a phone, which has no key that a name could follow from; `None` where
    /// nothing visible is left.
    #[must_use]
    pub fn of_phone(raw: &str) -> Option<Self> {
        clean(raw).map(Self)
    }

    /// The two words that follow from a signing key.
    #[must_use]
    pub fn derived(owner: &SigningPublic) -> Self {
        let [first, second, ..] = *owner.as_bytes();
        Self(format!(
            "{} {}",
            pick(&words::QUALITIES, first),
            pick(&words::ANIMALS, second)
        ))
    }

    /// Whether a person could take one name for the other: they differ in nothing but case,
    /// spaces, signs, accents and letters that look alike (Unicode Technical Standard 39).
    #[must_use]
    pub fn looks_like(&self, other: &Self) -> bool {
        let as_written = looks(&self.0) == looks(&other.0);
        as_written || looks(&self.0.to_lowercase()) == looks(&other.0.to_lowercase())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeviceName")
    }
}

/// Cleans a label of any kind under the rules of a name; `None` where nothing visible is left.
#[must_use]
pub fn clean(raw: &str) -> Option<String> {
    let kept: String = raw.chars().filter_map(kept_char).nfc().collect();
    let spaced = limited_marks(&kept)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let capped = capped(&spaced, NAME_BYTES_MAX);
    (!capped.is_empty()).then(|| capped.to_owned())
}

/// What a text looks like, without what an eye passes over. A text of nothing else keeps it.
fn looks(text: &str) -> String {
    let stands_out = |c: &char| {
        !matches!(
            c.general_category_group(),
            GeneralCategoryGroup::Mark
                | GeneralCategoryGroup::Punctuation
                | GeneralCategoryGroup::Separator
        )
    };
    let seen: String = skeleton(text).filter(stands_out).collect();
    if seen.is_empty() {
        return text.nfc().collect();
    }
    seen
}

fn pick<const N: usize>(words: &[&'static str; N], byte: u8) -> &'static str {
    words
        .iter()
        .cycle()
        .nth(usize::from(byte))
        .copied()
        .unwrap_or_default()
}

/// The character as a name keeps it: dropped where it can't be seen, a space where it is white.
fn kept_char(c: char) -> Option<char> {
    if c.is_whitespace() {
        return Some(' ');
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Other => None,
        _ if is_filler(c) => None,
        _ => Some(c),
    }
}

/// Characters that are drawn as nothing although they count as letters, marks or symbols.
fn is_filler(c: char) -> bool {
    matches!(c,
        '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fffc}'
        | '\u{13441}' | '\u{13442}' | '\u{16fe4}' | '\u{1d159}' | '\u{e0100}'..='\u{e01ef}')
}

/// Drops marks beyond the limit, and marks that have nothing to stand on.
fn limited_marks(text: &str) -> String {
    let mut marks = NAME_MARKS_MAX;
    text.chars()
        .filter(|c| match c.general_category() {
            GeneralCategory::NonspacingMark
            | GeneralCategory::EnclosingMark
            | GeneralCategory::SpacingMark => {
                marks = marks.saturating_add(1);
                marks <= NAME_MARKS_MAX
            }
            _ => {
                marks = if *c == ' ' { NAME_MARKS_MAX } else { 0 };
                true
            }
        })
        .collect()
}

/// The longest front part of at most `bytes` bytes, without a space at its end.
fn capped(text: &str, bytes: usize) -> &str {
    let end = text.floor_char_boundary(bytes);
    text.get(..end).unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::vectors;

    fn owner() -> SigningPublic {
        vectors::device("a").keys().signing
    }

    fn cleaned(raw: &str) -> String {
        clean(raw).unwrap_or_default()
    }

    #[test]
    fn ordinary_names_stay_as_they_are() {
        for name in [
            "QuietHeron",
            "Anna's laptop",
            "Zoë",
            "台所のパソコン",
            "משרד",
            "🦀 desk",
            "١٢",
        ] {
            assert_eq!(DeviceName::clean(name, &owner()).as_str(), name);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_removed() {
        assert_eq!(
            cleaned("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{ad}f"),
            "abcdef"
        );
        assert_eq!(cleaned("a\0b\x1b[31mc\u{7f}\u{9f}"), "ab[31mc");
        assert_eq!(cleaned("a\u{e000}\u{f0000}\u{e0041}\u{fff9}\u{378}b"), "ab");
        assert_eq!(cleaned("a\u{3164}\u{fe0f}\u{e0100}\u{34f}b"), "ab");
    }

    #[test]
    fn white_space_is_one_space_and_none_at_the_ends() {
        assert_eq!(cleaned("  a\u{a0}\u{2003} b\u{3000}"), "a b");
        // Line ends and tabs are control characters; they part words all the same.
        assert_eq!(cleaned("a\r\nb\tc\u{2028}d\u{85}e"), "a b c d e");
    }

    #[test]
    fn a_name_of_nothing_visible_is_derived() {
        for raw in [
            "",
            " ",
            "\u{200b}\u{200d}",
            "\u{2800}",
            "\u{3164}\u{115f}",
            "\u{301}\u{302}",
        ] {
            assert_eq!(clean(raw), None, "{raw:?}");
            assert_eq!(
                DeviceName::clean(raw, &owner()),
                DeviceName::derived(&owner())
            );
        }
    }

    #[test]
    fn a_name_is_in_normal_form() {
        assert_eq!(cleaned("Zoe\u{308}"), "Zoë");
        assert_eq!(cleaned("\u{212b}"), "\u{c5}");
        // Parts that only meet once the character between them is gone.
        assert_eq!(cleaned("e\u{200b}\u{308}"), "ë");
    }

    #[test]
    fn marks_are_not_stacked() {
        let tower = format!("z{}y", "\u{30d}".repeat(40));
        assert_eq!(
            cleaned(&tower),
            format!("z{}y", "\u{30d}".repeat(NAME_MARKS_MAX))
        );
        assert_eq!(cleaned("\u{489}a"), "a");
        assert_eq!(cleaned("a \u{489}b"), "a b");
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        assert_eq!(cleaned(&"n".repeat(65)), "n".repeat(64));
        assert_eq!(cleaned(&"é".repeat(33)), "é".repeat(32));
        assert_eq!(cleaned(&format!("{}é", "n".repeat(63))), "n".repeat(63));
        assert_eq!(cleaned(&format!("{} n", "n".repeat(63))), "n".repeat(63));
    }

    #[test]
    fn derived_names_are_names_themselves() {
        let words = words::QUALITIES.iter().chain(&words::ANIMALS);
        assert_eq!(words.clone().collect::<BTreeSet<_>>().len(), 240);
        for word in words {
            assert!(word.chars().all(|c| c.is_ascii_alphabetic()));
            assert!(word.starts_with(|c: char| c.is_ascii_uppercase()));
        }
        for first in 0..=255 {
            let mut key = [0; 32];
            key[0] = first;
            key[1] = 255 - first;
            let name = DeviceName::derived(&SigningPublic::from_bytes(key));
            assert_eq!(clean(name.as_str()).as_deref(), Some(name.as_str()));
        }
    }

    #[test]
    fn a_name_is_not_printed() {
        assert_eq!(format!("{:?}", DeviceName::derived(&owner())), "DeviceName");
    }
}
