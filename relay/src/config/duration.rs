//! Durations as operators write them: `720h`, `1h30m`, `1.5s`, `250ms`.
//!
//! Owns: the grammar (Go's, specification 2.9) without sign. Never rounds: a fraction finer
//! than a nanosecond is refused.

use std::time::Duration;

/// Why a text is not a duration.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DurationError {
    /// No text.
    #[error("a duration such as 720h or 10s is expected")]
    Empty,
    /// A part that doesn't start with a number.
    #[error("a duration such as 720h or 10s is expected")]
    NoNumber,
    /// A number without a unit.
    #[error("a unit is missing: h, m, s, ms, us or ns")]
    NoUnit,
    /// A unit that isn't known.
    #[error("the units are h, m, s, ms, us and ns")]
    UnknownUnit,
    /// Longer than can be counted.
    #[error("the duration is too long")]
    TooLong,
    /// Finer than a nanosecond.
    #[error("the duration is finer than a nanosecond")]
    TooFine,
}

/// Reads a duration.
///
/// # Errors
///
/// Says what is missing or too much.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(DurationError::Empty);
    }
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    let mut total_ns = 0_u64;
    while !rest.is_empty() {
        let (part_ns, after) = parse_part(rest)?;
        total_ns = total_ns
            .checked_add(part_ns)
            .ok_or(DurationError::TooLong)?;
        rest = after;
    }
    Ok(Duration::from_nanos(total_ns))
}

/// One number with its unit, and what follows it.
fn parse_part(text: &str) -> Result<(u64, &str), DurationError> {
    let number_end = text
        .find(|symbol: char| !symbol.is_ascii_digit() && symbol != '.')
        .ok_or(DurationError::NoUnit)?;
    let (number, rest) = text.split_at(number_end);
    let unit_end = rest
        .find(|symbol: char| symbol.is_ascii_digit() || symbol == '.')
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_end);
    let unit_ns = match unit {
        "h" => 3_600_000_000_000,
        "m" => 60_000_000_000,
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" | "µs" | "μs" => 1_000,
        "ns" => 1,
        _ => return Err(DurationError::UnknownUnit),
    };
    Ok((scale(number, unit_ns)?, rest))
}

/// `number` (with or without a fraction) times `unit_ns`, exactly.
fn scale(number: &str, unit_ns: u64) -> Result<u64, DurationError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(DurationError::NoNumber);
    }
    let whole = if whole.is_empty() {
        0
    } else {
        parse_digits(whole)?
    };
    let mut total = whole.checked_mul(unit_ns).ok_or(DurationError::TooLong)?;
    let mut place_ns = unit_ns;
    for digit in fraction.trim_end_matches('0').bytes() {
        if !place_ns.is_multiple_of(10) {
            return Err(DurationError::TooFine);
        }
        place_ns /= 10;
        let share = u64::from(digit.saturating_sub(b'0')).saturating_mul(place_ns);
        total = total.checked_add(share).ok_or(DurationError::TooLong)?;
    }
    Ok(total)
}

fn parse_digits(digits: &str) -> Result<u64, DurationError> {
    digits.parse().map_err(|_| DurationError::TooLong)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_and_sums() {
        let cases = [
            ("720h", Duration::from_secs(2_592_000)),
            ("1h30m", Duration::from_secs(5_400)),
            ("1.5s", Duration::from_millis(1_500)),
            (".5s", Duration::from_millis(500)),
            ("250ms", Duration::from_millis(250)),
            ("3us", Duration::from_micros(3)),
            ("3µs", Duration::from_micros(3)),
            ("7ns", Duration::from_nanos(7)),
            ("1.500h", Duration::from_secs(5_400)),
            (" 10s ", Duration::from_secs(10)),
            ("0", Duration::ZERO),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn each_refusal_has_its_own_reason() {
        let cases = [
            ("", DurationError::Empty),
            ("10", DurationError::NoUnit),
            ("h", DurationError::NoNumber),
            (".s", DurationError::NoNumber),
            ("1.2.3s", DurationError::NoNumber),
            ("-1s", DurationError::UnknownUnit),
            ("1d", DurationError::UnknownUnit),
            ("1s m", DurationError::UnknownUnit),
            ("0.5ns", DurationError::TooFine),
            ("99999999999999999999h", DurationError::TooLong),
            ("9999999h", DurationError::TooLong),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_duration(text), Err(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "\\PC{0,24}") {
            let _ = parse_duration(&text);
        }

        #[test]
        fn whole_seconds_come_back(seconds in 0_u64..1_000_000_000) {
            prop_assert_eq!(
                parse_duration(&format!("{seconds}s")),
                Ok(Duration::from_secs(seconds))
            );
        }
    }
}
