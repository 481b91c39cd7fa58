use sealpost_protocol::app_message::{AppMessage, AppMessageKind};

use super::*;
use crate::core::step::Change;
use crate::keys::IdentityId;
use crate::store::tests::message;

struct Shelf {
    _folder: tempfile::TempDir,
    store: Store,
    count: u64,
}

impl Shelf {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.db");
        let store = Store::open(&path, &[7; 32], &IdentityId::from_bytes([1; 16])).unwrap();
        Self {
            _folder: folder,
            store,
            count: 0,
        }
    }

    fn add(&mut self, text: &str) -> u64 {
        let kind = AppMessageKind::Text(text.to_owned());
        self.add_body(AppMessage::new(kind, &mut rand_core::OsRng).encode())
    }

    fn add_body(&mut self, body: Vec<u8>) -> u64 {
        let mut row = message(1, false, &[]);
        self.count += 1;
        let mut id = [0; 32];
        id[..8].copy_from_slice(&self.count.to_le_bytes());
        row.id = sealpost_protocol::message_id::MessageId::from_bytes(id);
        row.app_id = None;
        row.body = body;
        let applied = self.store.apply(&[Change::MessageStored(row)], None);
        applied.unwrap().stored[0].1
    }

    fn index(&self) -> usize {
        let mut steps = 0;
        while !self.store.index_step().unwrap() {
            steps += 1;
        }
        steps
    }

    /// The positions of all hits, in pages.
    fn find_by(&self, text: &str, limit: usize) -> Vec<u64> {
        let query = Query::parse(text).unwrap();
        let (mut hits, mut before) = (Vec::new(), None);
        loop {
            let found = self.store.search(&query, before, limit).unwrap();
            assert!(found.hits.len() <= limit);
            hits.extend(found.hits.iter().map(|hit| hit.message.position));
            match found.rest {
                None => return hits,
                rest => before = rest,
            }
        }
    }

    fn find(&self, text: &str) -> Vec<u64> {
        self.index();
        self.find_by(text, 100)
    }
}

#[test]
fn texts_are_found_in_every_script_and_spelling() {
    let mut shelf = Shelf::new();
    let german = shelf.add("Die Haustür an der Langen Straße");
    let chinese = shelf.add("明天在東京見面");
    let greek = shelf.add("Ο ΟΔΥΣΣΕΥΣ");
    let russian = shelf.add("Встреча в Четверг");
    let french = shelf.add("Le cafe\u{301} est ferme\u{301}");
    for (asked, found) in [
        ("TÜR", german),
        ("strasse", german),
        ("haustu\u{308}r STRASSE", german),
        ("東京見", chinese),
        ("東京", chinese),
        ("見", chinese),
        ("οδυσσευς", greek),
        ("четверг", russian),
        ("FERM\u{c9}", french),
        ("café", french),
    ] {
        assert_eq!(shelf.find(asked), [found], "{asked}");
    }
    for nothing in [
        "cafe est",
        "東見",
        "haustür café",
        "haustur",
        "\"AND\"",
        "x OR e*",
    ] {
        assert!(shelf.find(nothing).is_empty(), "{nothing}");
    }
    assert!(Query::parse(" \u{3000}\n").is_none());
}

#[test]
fn what_is_found_is_marked_in_the_text_as_it_stands() {
    let mut shelf = Shelf::new();
    let text = "Straßenbahn, STRASSEN, strasse";
    shelf.add(text);
    shelf.index();
    let query = Query::parse("strasse ass").unwrap();
    let found = shelf.store.search(&query, None, 10).unwrap();
    let marked: Vec<&str> = found.hits[0]
        .places
        .iter()
        .map(|place| text.get(place.clone()).unwrap())
        .collect();
    assert_eq!(marked, ["Straße", "STRASSE", "strasse"]);
}

#[test]
fn hits_come_in_pages_newest_first_and_go_with_their_messages() {
    let mut shelf = Shelf::new();
    let mut all = Vec::new();
    for number in 0..700 {
        let text = if number % 7 == 0 {
            "the same words"
        } else {
            "some other text"
        };
        let position = shelf.add(text);
        if number % 7 == 0 {
            all.push(position);
        }
    }
    all.reverse();
    shelf.index();
    // With the index, and without it: "w" is no piece.
    for asked in ["same WORDS", "w"] {
        assert_eq!(shelf.find_by(asked, 8), all, "{asked}");
    }
    let gone = all.remove(3);
    let delete = Change::MessageDeleted { position: gone };
    shelf.store.apply(&[delete], None).unwrap();
    assert_eq!(shelf.find("same words"), all);
    let left: i64 = shelf
        .store
        .connection
        .query_row(
            "SELECT count(*) FROM search_docsize WHERE id = ?1",
            [integer(gone)],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn a_search_finds_all_however_far_the_index_is_and_writes_nothing() {
    let mut shelf = Shelf::new();
    let mut all = Vec::new();
    for number in 0..LOOK_ROWS_MAX * 2 + 100 {
        let text = if number % 90 == 0 {
            "rare words"
        } else {
            "usual"
        };
        let position = shelf.add(text);
        if number % 90 == 0 {
            all.push(position);
        }
    }
    all.reverse();
    shelf.store.fill_disk(true);
    let mut is_indexed = false;
    for step in 0.. {
        let written = shelf.store.rows_written();
        for limit in [1, 5, 100] {
            assert_eq!(shelf.find_by("rare word", limit), all, "after {step} steps");
        }
        assert_eq!(shelf.store.rows_written(), written);
        if is_indexed {
            assert!(step > 5);
            break;
        }
        shelf.store.fill_disk(false);
        is_indexed = shelf.store.index_step().unwrap();
    }
}

#[test]
fn an_old_store_is_taken_up_in_steps_and_what_is_no_text_is_passed_over() {
    let mut shelf = Shelf::new();
    for _ in 0..STEP_ROWS_MAX * 2 {
        shelf.add("old");
    }
    shelf.add_body(b"not a message".to_vec());
    shelf.add(&"large ".repeat(10_000));
    let last = shelf.add("the last one");
    let steps = shelf.index();
    assert!(steps >= 3, "{steps}");
    assert_eq!(shelf.index(), 0);
    assert_eq!(shelf.find("last"), [last]);
    // The newest one goes, and the next one is found all the same.
    let delete = Change::MessageDeleted { position: last };
    shelf.store.apply(&[delete], None).unwrap();
    let next = shelf.add("the last one");
    assert!(next > last);
    assert_eq!(shelf.find("last one"), [next]);
}

#[test]
fn a_question_is_data_and_never_a_command() {
    let mut shelf = Shelf::new();
    let position = shelf.add("say \"hello\" NEAR(a, b) col:x* -- ^");
    for asked in [
        "\"hello\"",
        "near(a,",
        "col:x*",
        "hel\0lo",
        "\"\"\"",
        "'",
        "* ^ --",
    ] {
        let found = shelf.find(asked);
        let holds = asked
            .split_whitespace()
            .all(|term| "say \"hello\" near(a, b) col:x* -- ^".contains(term));
        assert_eq!(found == [position], holds, "{asked}");
    }
    let long = "very long question ".repeat(1_000);
    assert!(shelf.find(&long).is_empty());
}
