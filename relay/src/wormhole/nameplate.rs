//! Nameplates: short numbers that people say to each other.

use rand_core::RngCore;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Digits of a nameplate.
const DIGITS_MAX: usize = 40;

/// Lengths that are filled up before longer ones are tried.
const SHORT_DIGITS: std::ops::RangeInclusive<u32> = 1..=3;

/// What is tried once every short one is taken.
const LONG: std::ops::Range<u32> = 1_000..1_000_000;

/// How often.
const LONG_TRIES: usize = 1_000;

/// The name of a nameplate: 1 to 40 ASCII digits.
#[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
pub struct Nameplate(Arc<str>);

impl Nameplate {
    /// Reads one as a client gave it.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = (1..=DIGITS_MAX).contains(&text.len());
        (is_number && fits).then(|| Self(text.into()))
    }

    fn of(number: u32) -> Self {
        Self(number.to_string().into())
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many digits it has.
    pub fn digits(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for Nameplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Nameplate(..)")
    }
}

/// Picks a free nameplate, one of the shortest there are. `taken` tells those of a length that
/// are taken, `is_taken` whether one is.
pub(super) fn pick<S, E>(
    state: &mut S,
    rng: &mut impl RngCore,
    mut taken: impl FnMut(&mut S, usize) -> Result<BTreeSet<Nameplate>, E>,
    mut is_taken: impl FnMut(&mut S, &Nameplate) -> Result<bool, E>,
) -> Result<Option<Nameplate>, E> {
    for digits in SHORT_DIGITS {
        let taken = taken(state, digits as usize)?;
        let numbers = 10_u32.pow(digits - 1)..10_u32.pow(digits);
        let free: Vec<_> = numbers
            .map(Nameplate::of)
            .filter(|nameplate| !taken.contains(nameplate))
            .collect();
        if !free.is_empty() {
            return Ok(free.get(below(rng, free.len() as u32) as usize).cloned());
        }
    }
    for _ in 0..LONG_TRIES {
        let number = LONG.start + below(rng, LONG.end - LONG.start);
        let nameplate = Nameplate::of(number);
        if !is_taken(state, &nameplate)? {
            return Ok(Some(nameplate));
        }
    }
    Ok(None)
}

/// A number below `bound`. The bias of a few parts in a billion is nobody's advantage.
fn below(rng: &mut impl RngCore, bound: u32) -> u32 {
    let scaled = u64::from(rng.next_u32()) * u64::from(bound);
    (scaled >> 32) as u32
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn a_nameplate_is_ascii_digits_only() {
        for good in ["0", "4", "007", &"9".repeat(40)] {
            assert!(Nameplate::parse(good).is_some(), "{good}");
        }
        for bad in ["", "4\n", " 4", "-4", "4a", "٤", "４", &"9".repeat(41)] {
            assert!(Nameplate::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn the_shortest_are_given_first_and_none_twice() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut all = BTreeSet::new();
        let mut lengths = Vec::new();
        for _ in 0..1_010 {
            let picked = pick(
                &mut all,
                &mut rng,
                |all: &mut BTreeSet<Nameplate>, digits| {
                    let of_length = all.iter().filter(|one| one.digits() == digits);
                    Ok::<_, Infallible>(of_length.cloned().collect())
                },
                |all, nameplate| Ok(all.contains(nameplate)),
            );
            let picked = picked.unwrap().unwrap();
            lengths.push(picked.digits());
            assert!(all.insert(picked));
        }
        let count = |digits| lengths.iter().filter(|one| **one == digits).count();
        assert_eq!([count(1), count(2), count(3)], [9, 90, 900]);
        assert!(lengths.is_sorted_by_key(|digits| *digits.min(&4)));
    }

    #[test]
    fn when_every_number_is_taken_there_is_none() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let all = |_: &mut (), digits: usize| {
            let numbers = 10_u32.pow(digits as u32 - 1)..10_u32.pow(digits as u32);
            Ok::<_, Infallible>(numbers.map(Nameplate::of).collect())
        };
        let picked = pick(&mut (), &mut rng, all, |(), _| Ok(true));
        assert_eq!(picked, Ok(None));
    }
}
