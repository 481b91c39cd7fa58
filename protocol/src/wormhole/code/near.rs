//! Which word of the list was meant by what was typed.
//!
//! Owns how far two words are apart: letters wrong, missing, added or swapped. Decides nothing
//! where more than one word comes into question.

use super::words::WORDS;

/// A word that was begun with so many letters or more is finished, where only one fits.
const LETTERS_OF_A_BEGINNING: usize = 4;

/// How many slips are put right.
const SLIPS_CORRECTED: usize = 1;

/// How many slips away words are still named.
const SLIPS_NAMED: usize = 2;

/// How many words are named.
const NAMED_MAX: usize = 3;

/// The longest text that is compared; the longest word has eight letters.
const LETTERS_COMPARED_MAX: usize = 16;

/// The word that was meant, or those that come into question.
pub(super) fn meant(typed: &str) -> Result<&'static str, Vec<&'static str>> {
    if let Some(word) = WORDS.iter().find(|word| **word == typed) {
        return Ok(word);
    }
    let mut near = by_slips(typed);
    if let Some(word) = finished(typed) {
        near.retain(|(_, other)| *other != word);
        near.insert(0, (0, word));
    }
    let mut likely = near.iter().filter(|(slips, _)| *slips <= SLIPS_CORRECTED);
    if let (Some((_, word)), None) = (likely.next(), likely.next()) {
        return Ok(word);
    }
    near.truncate(NAMED_MAX);
    Err(near.into_iter().map(|(_, word)| word).collect())
}

/// The only word with this beginning, if there is enough of it.
fn finished(begun: &str) -> Option<&'static str> {
    if begun.chars().count() < LETTERS_OF_A_BEGINNING {
        return None;
    }
    let mut fitting = WORDS.iter().filter(|word| word.starts_with(begun));
    match (fitting.next(), fitting.next()) {
        (Some(word), None) => Some(word),
        _ => None,
    }
}

/// The words that are near, the nearest first.
fn by_slips(typed: &str) -> Vec<(usize, &'static str)> {
    let letters: Vec<char> = typed.chars().collect();
    if letters.len() > LETTERS_COMPARED_MAX {
        return Vec::new();
    }
    let mut near: Vec<_> = WORDS
        .iter()
        .filter(|word| word.len().abs_diff(letters.len()) <= SLIPS_NAMED)
        .map(|word| (slips(&letters, &word.chars().collect::<Vec<_>>()), *word))
        .filter(|(slips, _)| *slips <= SLIPS_NAMED)
        .collect();
    near.sort_unstable();
    near
}

/// How many letters are wrong, missing, too many or swapped with the next one.
fn slips(typed: &[char], word: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=word.len()).collect();
    for (row, letter) in typed.iter().enumerate() {
        let mut now = vec![row.saturating_add(1)];
        for (column, expected) in word.iter().enumerate() {
            let at = |line: &[usize], place: usize| line.get(place).copied().unwrap_or(usize::MAX);
            let wrong = at(&last, column).saturating_add(usize::from(letter != expected));
            let missing = at(&now, column).saturating_add(1);
            let added = at(&last, column.saturating_add(1)).saturating_add(1);
            let is_swapped = row > 0
                && column > 0
                && typed.get(row.wrapping_sub(1)) == Some(expected)
                && word.get(column.wrapping_sub(1)) == Some(letter);
            let swapped = if is_swapped {
                at(&before_last, column.wrapping_sub(1)).saturating_add(1)
            } else {
                usize::MAX
            };
            now.push(wrong.min(missing).min(added).min(swapped));
        }
        before_last = core::mem::replace(&mut last, now);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &str, b: &str) -> usize {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        slips(&letters(a), &letters(b))
    }

    #[test]
    fn slips_are_counted_as_people_make_them() {
        for (typed, word, count) in [
            ("", "abc", 3),
            ("cottage", "cottage", 0),
            ("cotage", "cottage", 1),
            ("cottgae", "cottage", 1),
            ("cottagee", "cottage", 1),
            ("kottage", "cottage", 1),
            ("kotage", "cottage", 2),
            ("abbey", "violet", 5),
        ] {
            assert_eq!(distance(typed, word), count, "{typed} {word}");
        }
    }

    /// Every eleventh word with single slips at each place: the word itself, or a choice, and never another word.
    #[test]
    fn one_slip_never_becomes_another_word() {
        let (mut corrected, mut named, mut tried) = (0_usize, 0_usize, 0_usize);
        for word in WORDS.iter().step_by(11) {
            for slipped in slipped(word) {
                tried += 1;
                match meant(&slipped) {
                    Ok(found) if found == *word => corrected += 1,
                    Ok(found) => panic!("{slipped} of {word} became {found}"),
                    Err(near) => named += usize::from(near.contains(word)),
                }
            }
        }
        assert_eq!(corrected + named, tried, "a word that was meant is missing");
        assert!(corrected * 100 > tried * 95, "{corrected} of {tried}");
    }

    /// Some slips of every kind: a letter left out, two swapped, one doubled, one replaced.
    fn slipped(word: &str) -> Vec<String> {
        let letters: Vec<char> = word.chars().collect();
        let mut all = Vec::new();
        for place in 0..letters.len() {
            let mut without = letters.clone();
            without.remove(place);
            let mut doubled = letters.clone();
            doubled.insert(place, letters[place]);
            let mut wrong = letters.clone();
            wrong[place] = if letters[place] == 'e' { 'a' } else { 'e' };
            let mut swapped = letters.clone();
            swapped.swap(place, (place + 1) % letters.len());
            all.extend([without, doubled, wrong]);
            if place + 1 < letters.len() {
                all.push(swapped);
            }
        }
        let texts = all.into_iter().map(String::from_iter);
        texts.filter(|text| text != word).collect()
    }
}
