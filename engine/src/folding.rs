//! One spelling for texts that a person holds for the same.
//!
//! Owns how texts are compared in a search: composed and decomposed forms, wide and narrow
//! ones, large and small letters of every script are alike; letters with and without an accent
//! are not. Remembers which part of the text each folded part came from. Never looks at the
//! language: a Turkish dotless i is an i without its dot here.
//!
//! A text is folded cluster by cluster, a letter with the marks on it, so that a part of a
//! folded text is the folded part, and what is stored and what is asked for can't differ.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A folded text and the way back.
pub(crate) struct Folded {
    text: String,
    /// Where the clusters begin in the folded text, and which part of the original they are.
    clusters: Vec<(usize, Range<usize>)>,
}

impl Folded {
    /// Folds a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(text.len()),
            clusters: Vec::new(),
        };
        let mut begin = 0;
        for (place, letter) in text.char_indices() {
            if place > begin && !is_joined(letter) {
                folded.add(text, begin..place);
                begin = place;
            }
        }
        if begin < text.len() {
            folded.add(text, begin..text.len());
        }
        folded
    }

    /// The folded text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Up to `limit` places of the original, in bytes, at which a folded term stands.
    pub(crate) fn find(&self, term: &str, limit: usize) -> Vec<Range<usize>> {
        let places = self.text.match_indices(term).take(limit);
        places
            .filter_map(|(begin, found)| {
                let last = begin.saturating_add(found.len()).saturating_sub(1);
                let (begin, last) = (self.cluster(begin)?, self.cluster(last)?);
                Some(begin.start..last.end)
            })
            .collect()
    }

    /// The part of the original that a byte of the folded text came from.
    fn cluster(&self, place: usize) -> Option<&Range<usize>> {
        let after = self.clusters.partition_point(|(begin, _)| *begin <= place);
        let (_, original) = self.clusters.get(after.checked_sub(1)?)?;
        Some(original)
    }

    fn add(&mut self, text: &str, original: Range<usize>) {
        let Some(cluster) = text.get(original.clone()) else {
            return;
        };
        self.clusters.push((self.text.len(), original));
        match cluster.as_bytes() {
            [byte] if byte.is_ascii() => self.text.push(char::from(byte.to_ascii_lowercase())),
            _ => self.text.extend(cluster.nfkc().flat_map(fold_case).nfkc()),
        }
    }
}

/// Letter by letter, without its surroundings: a sigma is one wherever it stands. By way of
/// the large letter, because ß has two of them.
fn fold_case(letter: char) -> impl Iterator<Item = char> {
    letter.to_uppercase().flat_map(char::to_lowercase)
}

/// Whether it belongs to the letter before: a mark, the later parts of a Hangul syllable, or
/// the sound marks of narrow kana.
fn is_joined(letter: char) -> bool {
    matches!(letter, '\u{1160}'..='\u{11ff}' | '\u{ff9e}' | '\u{ff9f}') || is_combining_mark(letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fold(text: &str) -> String {
        Folded::of(text).text().to_owned()
    }

    #[test]
    fn spellings_of_one_text_are_alike() {
        let alike = [
            ("Straße", "STRASSE"),
            ("ΟΔΥΣΣΕΎΣ", "οδυσσεύς"),
            ("Привет, Ёж", "привет, ёж"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("\u{1100}\u{1161}\u{11a8}", "\u{ac01}"),
            ("ﾊﾞｽ", "バス"),
            ("ＡＢＣ　１", "abc 1"),
            ("q\u{323}\u{307}", "q\u{307}\u{323}"),
            ("ﬁn", "FIN"),
        ];
        for (one, other) in alike {
            assert_eq!(fold(one), fold(other), "{one} and {other}");
        }
        for (one, other) in [("schon", "schön"), ("か", "が"), ("e", "é")] {
            assert_ne!(fold(one), fold(other));
        }
    }

    #[test]
    fn what_is_found_is_named_in_the_original() {
        let text = "Die STRASSE nach Cafe\u{301}-Nord, 東京都";
        let found = |term: &str| -> Vec<&str> {
            let places = Folded::of(text).find(&fold(term), 10);
            places
                .into_iter()
                .map(|place| text.get(place).unwrap())
                .collect()
        };
        assert_eq!(found("straße"), ["STRASSE"]);
        assert_eq!(found("CAFÉ"), ["Cafe\u{301}"]);
        assert_eq!(found("京"), ["京"]);
        assert_eq!(found("s"), ["S", "S", "S"]);
        assert!(found("cafe").is_empty());
        // Half of a letter that folds to two is shown as the whole letter.
        assert_eq!(Folded::of("groß").find("s", 10), [3..5, 3..5]);
    }

    proptest! {
        #[test]
        fn a_text_contains_itself_and_folding_twice_changes_nothing(text in "\\PC{0,40}") {
            let folded = Folded::of(&text);
            prop_assert_eq!(fold(folded.text()), folded.text());
            if !text.is_empty() {
                let whole = folded.find(folded.text(), 1);
                prop_assert_eq!(whole, vec![0..text.len()]);
            }
        }

        #[test]
        fn places_are_parts_of_the_text(text in "\\PC{0,40}", term in "\\PC{1,2}") {
            for place in Folded::of(&text).find(&fold(&term), 100) {
                prop_assert!(text.get(place).is_some());
            }
        }
    }
}
