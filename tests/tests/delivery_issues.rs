//! The delivery issues of the engine, of the catalogues and of their page are the same.

use std::collections::BTreeSet;
use std::path::Path;

use sealpost_engine::core::issue::DeliveryIssue;

#[test]
fn every_issue_has_its_texts_in_each_language_and_no_other_has() {
    for language in ["en", "de"] {
        let catalogue = read(&format!("locales/{language}.ftl"));
        let keys: BTreeSet<String> = catalogue
            .lines()
            .filter(|line| line.starts_with("issue-"))
            .filter_map(|line| Some(line.split_once(" =")?.0.to_owned()))
            .collect();
        let expected: BTreeSet<String> = DeliveryIssue::CODES.map(key).into();
        assert_eq!(keys, expected, "{language}");
        for key in keys {
            let entry = catalogue
                .split_once(&format!("\n{key} = "))
                .map(|(_, rest)| rest.lines().skip(1).take(2).collect::<Vec<_>>())
                .unwrap_or_default();
            assert!(entry[0].starts_with("    .why = "), "{language} {key}");
            assert!(entry[1].starts_with("    .action = "), "{language} {key}");
        }
    }
}

#[test]
fn every_issue_is_explained_on_its_page_and_no_other_is() {
    let page = read("docs/delivery-issues.md");
    let explained: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'))
        .collect();
    assert_eq!(explained, DeliveryIssue::CODES);
    assert_eq!(page.matches("*What to do:* ").count(), explained.len());
}

/// `unreadable.senderOutdated` is `issue-unreadable-sender-outdated`.
fn key(code: &str) -> String {
    let mut key = String::from("issue-");
    for character in code.chars() {
        match character {
            '.' => key.push('-'),
            upper if upper.is_ascii_uppercase() => {
                key.push('-');
                key.push(upper.to_ascii_lowercase());
            }
            other => key.push(other),
        }
    }
    key
}

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(path))
        .unwrap_or_else(|error| panic!("{path} can't be read: {error}"))
}
