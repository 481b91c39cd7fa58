//! Device names that are safe to show.
//!
//! Owns the cleaning of names that came from outside and the two-word name derived from a
//! signing key. A name is a label and never proves anything. Specification section 1.2 and
//! amendment 13.
//!
//! Invariants of a [`DeviceName`]: 1 to 64 bytes of UTF-8 in normal form C; no control,
//! format, private or unassigned character and no invisible filler; no white space at an end
//! and never two spaces in a row; at most three combining marks in a row and none in front;
//! something to see.

mod words;

use core::fmt;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

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
    if c.is_whitespace() && !c.is_control() {
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
        | '\u{1d159}' | '\u{e0100}'..='\u{e01ef}')
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
