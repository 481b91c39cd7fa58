//! The pages in `docs/wire/` show the golden vectors and nothing else.
//!
//! A block fenced as `vector /place` holds the hex of the vector at that place, or its text,
//! broken into lines with a remark after each hash sign and a space. It has to be the vector
//! that the tests of this crate are held to, and every vector of bytes has to be shown.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

const VECTORS: &str = include_str!("vectors/trueseal.json");

/// Those of links, as a whole, are shown below `/link`.
const LINK_VECTORS: &str = include_str!("vectors/paired-mailbox.json");

fn vectors() -> Value {
    let mut vectors: Value = serde_json::from_str(VECTORS).unwrap();
    vectors["link"] = serde_json::from_str(LINK_VECTORS).unwrap();
    vectors
}

fn pages() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/wire");
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read_to_string(path).unwrap(),
            )
        })
        .collect()
}

/// Each block's place and its text without remarks and white space.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open = None;
    for line in page.lines() {
        if let Some(place) = line.strip_prefix("```vector ") {
            open = Some((place.to_owned(), String::new()));
        } else if line == "```" {
            blocks.extend(open.take());
        } else if let Some((_, text)) = &mut open {
            let shown = line.split("# ").next().unwrap_or_default();
            text.extend(shown.split_whitespace());
        }
    }
    blocks
}

/// The places of all vectors longer than a number or a name, the inputs apart.
fn places(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                places(value, &format!("{place}/{name}"), found);
            }
        }
        Value::String(text) if text.len() >= 10 && !place.starts_with("/inputs") => {
            found.insert(place.to_owned());
        }
        _ => {}
    }
}

#[test]
fn the_pages_show_every_vector_as_it_is() {
    let vectors = vectors();
    let mut missing = BTreeSet::new();
    places(&vectors, "", &mut missing);
    missing.remove("/about");
    missing.remove("/link/note");
    // What is one byte repeated is said in words.
    missing.remove("/link/rotation/secret_a");
    missing.remove("/link/rotation/secret_b");
    for (name, page) in pages() {
        for (place, shown) in blocks(&page) {
            let vector = vectors.pointer(&place).and_then(Value::as_str);
            let vector = vector.map(|text| text.split_whitespace().collect::<String>());
            assert_eq!(Some(&shown), vector.as_ref(), "{place} in {name}");
            missing.remove(&place);
        }
    }
    assert_eq!(missing, BTreeSet::new(), "vectors that no page shows");
}
