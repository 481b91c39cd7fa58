//! The account of one direction: what was sent, what was shown, and the difference.
//!
//! It knows nothing of programs. A text is told apart by being different from every other
//! text of its direction; the order of one sender is promised, so the order in which the
//! texts were sent is the order in which they must be shown.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;

/// What was sent and what was shown of it, in the order of each.
#[derive(Debug, Default)]
pub struct DeliveryAccount {
    sent: Vec<String>,
    shown: Vec<String>,
}

/// How the two sides of an account differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Texts that were sent.
    pub sent: usize,
    /// Sent texts that were shown at least once.
    pub shown: usize,
    /// Sent texts that were never shown.
    pub lost: usize,
    /// Times that a text was shown again.
    pub twice: usize,
    /// Texts that were shown after a text that was sent later.
    pub out_of_order: usize,
    /// Times that something was shown that nobody sent.
    pub strange: usize,
}

impl DeliveryAccount {
    /// Notes a text as sent.
    pub fn sent(&mut self, text: impl Into<String>) {
        self.sent.push(text.into());
    }

    /// Notes a text as shown.
    pub fn shown(&mut self, text: impl Into<String>) {
        self.shown.push(text.into());
    }

    /// How many times something was shown so far.
    #[must_use]
    pub fn shown_count(&self) -> usize {
        self.shown.len()
    }

    /// Everything that was shown, in that order.
    #[must_use]
    pub fn all_shown(&self) -> &[String] {
        &self.shown
    }

    /// Compares the two sides.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let places: BTreeMap<&str, usize> = self
            .sent
            .iter()
            .enumerate()
            .map(|(place, text)| (text.as_str(), place))
            .collect();
        let mut times: BTreeMap<usize, usize> = BTreeMap::new();
        let mut tally = Tally {
            sent: self.sent.len(),
            ..Tally::default()
        };
        let mut latest = None;
        for text in &self.shown {
            let Some(&place) = places.get(text.as_str()) else {
                tally.strange += 1;
                continue;
            };
            let count = times.entry(place).or_default();
            *count += 1;
            if *count > 1 {
                tally.twice += 1;
            } else if latest > Some(place) {
                tally.out_of_order += 1;
            }
            latest = latest.max(Some(place));
        }
        tally.shown = times.len();
        tally.lost = tally.sent - tally.shown;
        tally
    }
}

impl Tally {
    /// Whether everything was shown, once, in order, and nothing else was.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.sent == self.shown && self.lost + self.twice + self.out_of_order + self.strange == 0
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |a, b| Self {
            sent: a.sent + b.sent,
            shown: a.shown + b.shown,
            lost: a.lost + b.lost,
            twice: a.twice + b.twice,
            out_of_order: a.out_of_order + b.out_of_order,
            strange: a.strange + b.strange,
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sent,
            shown,
            lost,
            twice,
            out_of_order,
            strange,
        } = self;
        write!(
            f,
            "{sent} sent, {shown} shown, {lost} lost, {twice} twice, {out_of_order} out of order"
        )?;
        if *strange > 0 {
            write!(f, ", {strange} that nobody sent")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(sent: &[&str], shown: &[&str]) -> Tally {
        let mut account = DeliveryAccount::default();
        sent.iter().for_each(|text| account.sent(*text));
        shown.iter().for_each(|text| account.shown(*text));
        account.tally()
    }

    #[test]
    fn an_exact_account_says_so() {
        let tally = account(&["a", "b", "c"], &["a", "b", "c"]);
        assert!(tally.is_exact());
        assert_eq!(
            tally.to_string(),
            "3 sent, 3 shown, 0 lost, 0 twice, 0 out of order"
        );
    }

    #[test]
    fn each_fault_is_counted_as_itself() {
        let lost = account(&["a", "b", "c"], &["a", "c"]);
        assert_eq!((lost.lost, lost.out_of_order), (1, 0));
        let twice = account(&["a", "b"], &["a", "b", "a"]);
        assert_eq!((twice.twice, twice.out_of_order, twice.shown), (1, 0, 2));
        let swapped = account(&["a", "b", "c"], &["b", "a", "c"]);
        assert_eq!((swapped.out_of_order, swapped.lost), (1, 0));
        let strange = account(&["a"], &["a", "x"]);
        assert_eq!(strange.strange, 1);
        for tally in [lost, twice, swapped, strange] {
            assert!(!tally.is_exact(), "{tally}");
        }
    }

    #[test]
    fn two_directions_add_up() {
        let both: Tally = [account(&["a"], &["a"]), account(&["b"], &[])]
            .into_iter()
            .sum();
        assert_eq!(
            both.to_string(),
            "2 sent, 1 shown, 1 lost, 0 twice, 0 out of order"
        );
    }
}
