//! Delivery issues in words: those of the English catalogue, which the app shows as well.

const CATALOGUE: &str = include_str!("../../../locales/en.ftl");

/// What happened, why, and what to do; the code alone where the catalogue has no words.
pub(crate) fn issue_text(code: &str) -> String {
    let key = catalogue_key(code);
    let mut lines = CATALOGUE.lines();
    let what = lines.find_map(|line| line.strip_prefix(&key)?.strip_prefix(" = "));
    let mut part = |name: &str| {
        let line = lines.next().unwrap_or_default();
        line.trim_start().strip_prefix(name).unwrap_or_default()
    };
    let (why, action) = (part(".why = "), part(".action = "));
    what.map_or_else(
        || format!("Delivery issue: {code}"),
        |what| format!("Delivery issue: {what}. {why} {action}"),
    )
}

/// `unreadable.senderOutdated` is `issue-unreadable-sender-outdated`.
fn catalogue_key(code: &str) -> String {
    let mut key = String::from("issue-");
    for character in code.chars() {
        if character == '.' || character.is_ascii_uppercase() {
            key.push('-');
        }
        if character != '.' {
            key.push(character.to_ascii_lowercase());
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use sealpost_engine::core::issue::DeliveryIssue;

    use super::*;

    #[test]
    fn every_issue_is_told_in_three_sentences_of_its_own() {
        let mut texts: Vec<_> = DeliveryIssue::CODES.map(issue_text).into();
        for text in &texts {
            assert!(!text.contains(" = ") && !text.contains(".."), "{text}");
            assert!(text.matches(". ").count() >= 2, "{text}");
        }
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), DeliveryIssue::CODES.len());
    }
}
