//! The name of the group, and which of two names it has.
//!
//! Owns the order of names: the greater version, then the greater text. It needs no clock, so
//! devices that have seen the same names show the same one, whatever came first; and a name
//! that comes again, as it does with each newcomer, changes nothing. It never sends anything.
//!
//! Amendment 15; the bytes: `docs/wire/app-message.md`.

use std::fmt;

use sealpost_protocol::name;

use super::timing::{GROUP_NAME_BYTES_MAX, GROUP_NAME_VERSION_MAX};

/// A cleaned name with its place among the names of the group.
///
/// The order of the fields is the order of names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupName {
    /// How many names came before it, as far as its giver knew. 0 for one that is left from an
    /// earlier group: every name that is given in this one goes before it.
    pub version: u64,
    /// The name. Invariant: cleaned, and not empty.
    pub text: String,
}

impl GroupName {
    /// Reads a name that a member gave; `None` for one that everybody passes over.
    #[must_use]
    pub fn received(text: &str, version: u64) -> Option<Self> {
        let is_in_bounds = text.len() <= GROUP_NAME_BYTES_MAX && version <= GROUP_NAME_VERSION_MAX;
        let text = is_in_bounds.then(|| name::clean(text)).flatten()?;
        Some(Self { version, text })
    }

    /// The name that a person gives now, in place of `known`; `None` where nothing visible is
    /// left of it.
    #[must_use]
    pub fn given(text: &str, known: Option<&Self>) -> Option<Self> {
        let last = known.map_or(0, |known| known.version);
        let version = last.saturating_add(1).min(GROUP_NAME_VERSION_MAX);
        let text = name::clean(text)?;
        Some(Self { version, text })
    }

    /// The same name as what is left of an earlier group.
    #[must_use]
    pub fn left_over(self) -> Self {
        Self { version: 0, ..self }
    }
}

impl fmt::Debug for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GroupName(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, proptest};

    use super::*;

    fn name(version: u64, text: &str) -> GroupName {
        GroupName::received(text, version).expect("a good name")
    }

    #[test]
    fn the_greater_version_goes_first_and_then_the_greater_text() {
        assert!(name(2, "a") > name(1, "z"));
        assert!(name(2, "b") > name(2, "a"));
        assert_eq!(
            name(2, " b\u{202e} "),
            name(2, "b"),
            "cleaned before compared"
        );
        assert!(Some(name(0, "a")) > None);
    }

    #[test]
    fn a_name_that_is_given_goes_before_every_name_that_was_known() {
        let first = GroupName::given("Home", None).expect("a good name");
        assert_eq!(first.version, 1);
        let second = GroupName::given("A", Some(&first)).expect("a good name");
        assert!(second > first);
        let left = second.left_over();
        assert!(left < first);
        assert_eq!(
            GroupName::given("B", Some(&left)).map(|name| name.version),
            Some(1)
        );
    }

    #[test]
    fn what_nobody_can_see_or_count_is_passed_over() {
        assert_eq!(GroupName::received("\u{200b}", 1), None);
        assert_eq!(
            GroupName::received(&"n".repeat(GROUP_NAME_BYTES_MAX + 1), 1),
            None
        );
        assert_eq!(GroupName::received("n", GROUP_NAME_VERSION_MAX + 1), None);
        assert_eq!(GroupName::received("n", u64::MAX), None);
        let last = name(GROUP_NAME_VERSION_MAX, "a");
        let next = GroupName::given("b", Some(&last)).expect("a good name");
        assert!(next > last, "as long as the text is greater");
    }

    proptest! {
        #[test]
        fn whoever_has_seen_the_same_names_shows_the_same_one(
            given in vec((0_u64..4, "[a-c]{1,2}"), 1..8),
            turn in any::<usize>(),
        ) {
            let names: Vec<_> = given.iter().map(|(version, text)| name(*version, text)).collect();
            let shown = |names: &mut dyn Iterator<Item = &GroupName>| names.fold(None, |shown, name| {
                shown.max(Some(name.clone()))
            });
            let turn = turn % names.len();
            let turned = names.iter().skip(turn).chain(names.iter().take(turn)).chain(&names);
            let mut turned = turned;
            assert_eq!(shown(&mut names.iter()), shown(&mut turned));
        }
    }
}
