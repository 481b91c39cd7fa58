//! The settings of a shell that a backup takes along.
//!
//! Owns which these are: what a person chose that makes sense on another computer. Each is a
//! truth, a number or a short word, on the way out and on the way back; a file may come from
//! anywhere, and whatever else it has is left out.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::namespace::Namespace;
use crate::profile::Profile;

/// Settings of the shell, by their keys in `profile.json`.
pub type ShellSettings = BTreeMap<String, Value>;

/// The key that the app has for what a person chose, and those of its fields that go along.
const PREFERENCES: &str = "preferences";
const FIELDS: [&str; 5] = [
    "notifications",
    "theme",
    "language",
    "autoLock",
    "autoLockMinutes",
];
/// The longest word that one of them has.
const WORD_BYTES_MAX: usize = 64;

/// The key of what ended each group that this device is in no more, and what it says of a
/// group that came out of a backup.
const ENDED_GROUPS: &str = "endedGroups";
const RESTORED: &str = "restored";

/// The settings of a profile that a backup takes along.
#[must_use]
pub fn portable_settings(profile: &Profile) -> ShellSettings {
    let found = profile.setting(PREFERENCES);
    bounded(found.map(|found| (PREFERENCES.to_owned(), found)))
}

/// What of these settings a backup of this program may have.
pub(super) fn bounded(settings: impl IntoIterator<Item = (String, Value)>) -> ShellSettings {
    let mut kept = ShellSettings::new();
    for (key, value) in settings {
        if let (PREFERENCES, Value::Object(fields)) = (key.as_str(), value) {
            let fields = fields.into_iter().filter(|(field, value)| {
                FIELDS.contains(&field.as_str()) && is_short_scalar(value)
            });
            kept.insert(key, Value::Object(fields.collect()));
        }
    }
    kept
}

fn is_short_scalar(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(number) => number.as_u64().is_some_and(|n| u32::try_from(n).is_ok()),
        Value::String(word) => word.len() <= WORD_BYTES_MAX,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Takes `chosen` where nothing was chosen here, and says of `groups` that they came out of a
/// backup. Once more changes nothing.
pub(crate) fn take(here: &mut ShellSettings, chosen: ShellSettings, groups: &[Namespace]) {
    for (key, value) in bounded(chosen) {
        here.entry(key).or_insert(value);
    }
    if groups.is_empty() {
        return;
    }
    let ended = here.entry(ENDED_GROUPS.to_owned()).or_default();
    if !ended.is_object() {
        *ended = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(ended) = ended {
        for group in groups {
            ended
                .entry(group.as_str())
                .or_insert_with(|| RESTORED.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> ShellSettings {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn nothing_but_short_words_truths_and_numbers_of_known_fields_goes_along() {
        let deep = format!("{}{}", "[".repeat(90), "]".repeat(90));
        let long = "x".repeat(WORD_BYTES_MAX + 1);
        let found = settings(&format!(
            r#"{{"preferences": {{"theme": "dark", "language": {deep}, "autoLock": "{long}",
                "autoLockMinutes": 7, "startAtLogin": true, "mutedUntilMs": 9, "more": 1,
                "notifications": null}}, "relay": {{"on": true}}, "endedGroups": {{"g": "left"}}}}"#
        ));
        let kept = settings(r#"{"preferences": {"theme": "dark", "autoLockMinutes": 7}}"#);
        assert!(bounded(found) == kept);
        assert!(bounded(settings(r#"{"preferences": [1]}"#)).is_empty());
    }

    #[test]
    fn what_was_chosen_here_stays_and_only_the_new_groups_are_added() {
        let (old, new) = (
            Namespace::parse("g1").unwrap(),
            Namespace::parse("g2").unwrap(),
        );
        let mut here =
            settings(r#"{"preferences": {"theme": "light"}, "endedGroups": {"g1": "left"}}"#);
        let chosen = settings(r#"{"preferences": {"theme": "dark"}}"#);
        for _ in 0..2 {
            take(&mut here, chosen.clone(), &[old.clone(), new.clone()]);
            let expected = settings(
                r#"{"preferences": {"theme": "light"},
                    "endedGroups": {"g1": "left", "g2": "restored"}}"#,
            );
            assert!(here == expected);
        }
        let mut empty = settings(r#"{"endedGroups": 7}"#);
        take(&mut empty, chosen, &[new]);
        let expected =
            settings(r#"{"preferences": {"theme": "dark"}, "endedGroups": {"g2": "restored"}}"#);
        assert!(empty == expected);
    }
}
