//! Looking for words in the messages of all groups.
//!
//! Owns the order over the groups (newest first) and the part of a text that is shown. What a
//! text holds is found by the engine.

use std::ops::Range;

use sealpost_engine::history::{PAGE_ROWS_MAX, SearchHit as Found};

use super::Controller;
use super::membership::page_rows;
use crate::app_error::AppError;
use crate::view::{MatchRange, Search, SearchHit, SearchPage};

/// How much of a text is shown on each side of what was found first, in characters.
const AROUND: usize = 60;

impl Controller {
    /// The messages of all groups that hold the words, newest first.
    ///
    /// # Errors
    ///
    /// `storage`.
    pub async fn search(&self, args: Search) -> Result<SearchPage, AppError> {
        self.note_use();
        let skipped = usize::try_from(args.before.unwrap_or_default()).unwrap_or(PAGE_ROWS_MAX);
        let end = skipped.saturating_add(page_rows(args.limit));
        let mut found: Vec<(String, String, Found)> = Vec::new();
        for (group, engine) in self.engines() {
            let name = engine.group_name().unwrap_or_default();
            for hit in engine
                .search(&args.text, None, end.saturating_add(1))
                .await?
            {
                found.push((group.clone(), name.clone(), hit));
            }
        }
        let age = |hit: &Found| (hit.message.stored_at_ms, hit.message.position);
        found.sort_by_key(|(_, _, hit)| std::cmp::Reverse(age(hit)));
        let next = (found.len() > end).then(|| u64::try_from(end).unwrap_or(u64::MAX));
        let shown = found.into_iter().take(end).skip(skipped);
        let hits = shown.map(|(group, name, hit)| hit_view(group, name, hit));
        Ok(SearchPage {
            hits: hits.collect(),
            next,
        })
    }
}

fn hit_view(group: String, group_name: String, hit: Found) -> SearchHit {
    let message = hit.message;
    let text = message.content.text().unwrap_or_default();
    let (snippet, matches) = snippet(text, &hit.places);
    SearchHit {
        group,
        group_name,
        position: message.position,
        author_name: message.author_name,
        own: message.own,
        snippet,
        matches,
        at_ms: message.stored_at_ms,
    }
}

/// The part of a text around the first place, on one line, and the places within it.
fn snippet(text: &str, places: &[Range<usize>]) -> (String, Vec<MatchRange>) {
    let first = places.first().map_or(0, |place| place.start);
    let begin = back(text, first, AROUND);
    let end = forth(text, first, AROUND.saturating_mul(2));
    let mut snippet = String::new();
    let mut units = 0_u32;
    let mut matches: Vec<MatchRange> = Vec::new();
    if begin > 0 {
        push(&mut snippet, &mut units, '…');
    }
    for (at, character) in text.char_indices() {
        if at < begin || at >= end {
            continue;
        }
        let is_found = places.iter().any(|place| place.contains(&at));
        let start = units;
        // A line break has no width in one line.
        let shown = if character.is_control() {
            ' '
        } else {
            character
        };
        push(&mut snippet, &mut units, shown);
        if is_found {
            match matches.last_mut() {
                Some(last) if last.end == start => last.end = units,
                _ => matches.push(MatchRange { start, end: units }),
            }
        }
    }
    if end < text.len() {
        push(&mut snippet, &mut units, '…');
    }
    (snippet, matches)
}

fn push(snippet: &mut String, units: &mut u32, character: char) {
    snippet.push(character);
    let length = u32::try_from(character.len_utf16()).unwrap_or(1);
    *units = units.saturating_add(length);
}

/// The place some characters before another one.
fn back(text: &str, from: usize, characters: usize) -> usize {
    let before = text.get(..from).unwrap_or_default();
    let place = before
        .char_indices()
        .rev()
        .nth(characters.saturating_sub(1));
    place.map_or(0, |(at, _)| at)
}

/// The place some characters behind another one.
fn forth(text: &str, from: usize, characters: usize) -> usize {
    let behind = text.get(from..).unwrap_or_default();
    let place = behind.char_indices().nth(characters);
    place.map_or(text.len(), |(at, _)| from.saturating_add(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a window marks: the parts of the snippet, cut as JavaScript cuts.
    fn marked(text: &str, places: &[Range<usize>]) -> (String, Vec<String>) {
        let (snippet, matches) = snippet(text, places);
        let units: Vec<u16> = snippet.encode_utf16().collect();
        let parts = matches.iter().map(|range| {
            let range = range.start as usize..range.end as usize;
            String::from_utf16(&units[range]).expect("whole characters")
        });
        let parts = parts.collect();
        (snippet, parts)
    }

    fn one(place: Range<usize>) -> Vec<Range<usize>> {
        vec![place]
    }

    #[test]
    fn what_was_found_is_marked_whatever_stands_before_it() {
        for before in ["", "é", "𝄞𝄞 ", "日本語 ", "👩‍👩‍👧 "] {
            let text = format!("{before}Nadel und nadel");
            let first = before.len()..before.len() + 5;
            let second = text.len() - 5..text.len();
            let (snippet, parts) = marked(&text, &[first, second]);
            assert_eq!(snippet, text);
            assert_eq!(parts, ["Nadel", "nadel"]);
        }
    }

    #[test]
    fn a_long_text_is_cut_around_what_was_found() {
        let text = format!("{}needle{}", "ö".repeat(500), "ü".repeat(500));
        let at = "ö".len() * 500;
        let (snippet, parts) = marked(&text, &one(at..at + 6));
        assert_eq!(parts, ["needle"]);
        assert!(
            snippet.starts_with("…ö") && snippet.ends_with("ü…"),
            "{snippet}"
        );
        assert!(snippet.chars().count() < 200);
    }

    #[test]
    fn places_that_touch_are_one_and_odd_ones_harm_nothing() {
        assert_eq!(marked("abcd", &[0..2, 2..4]).1, ["abcd"]);
        assert_eq!(marked("ab", &one(1..900)).1, ["b"]);
        assert_eq!(marked("é", &one(1..2)).0, "é");
        assert_eq!(marked("", &[]).0, "");
        assert_eq!(
            marked("a\nb", &one(2..3)),
            ("a b".to_owned(), vec!["b".to_owned()])
        );
    }
}
