//! Which groups a phone sees.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Which groups a phone sees. What is not known to be shared isn't.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sharing {
    /// Whether it sees the groups that come later too.
    pub later: bool,
    /// The exceptions: with `later` the groups that it doesn't see, else those that it does.
    groups: BTreeSet<String>,
}

impl Sharing {
    /// Of the groups that there are, `shown` and no others; of those that come later all or
    /// none.
    #[must_use]
    pub fn new<'a>(
        later: bool,
        shown: &BTreeSet<String>,
        all: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let groups = all
            .into_iter()
            .filter(|group| shown.contains(*group) != later);
        Self {
            later,
            groups: groups.map(str::to_owned).collect(),
        }
    }

    /// Whether the phone sees a group.
    #[must_use]
    pub fn shows(&self, group: &str) -> bool {
        self.groups.contains(group) != self.later
    }
}
