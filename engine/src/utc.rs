//! Points in time as text, in UTC.
//!
//! The system's own time zone can't be read here without code that the workspace forbids,
//! so the text says what it is by its last letter.

/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// Writes Unix milliseconds as `2026-11-30 02:30:12Z`.
#[must_use]
pub fn to_text(unix_ms: u64) -> String {
    let (year, month, day) = date_of(unix_ms / DAY_MS);
    let seconds = unix_ms % DAY_MS / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day counted from 1970-01-01, in the Gregorian calendar.
fn date_of(days: u64) -> (u64, u64, u64) {
    // Years that start in March end with the leap day, and 400 of them repeat exactly.
    const DAYS_TO_1970: u64 = 719_468;
    const ERA_DAYS: u64 = 146_097;
    let days = days.saturating_add(DAYS_TO_1970);
    let (era, day_of_era) = (days / ERA_DAYS, days % ERA_DAYS);
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_right() {
        assert_eq!(to_text(0), "1970-01-01 00:00:00Z");
        assert_eq!(to_text(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(to_text(1_790_812_800_000), "2026-10-01 00:00:00Z");
        assert_eq!(to_text(1_798_761_599_999), "2026-12-31 23:59:59Z");
        assert_eq!(to_text(4_107_542_400_000), "2100-03-01 00:00:00Z");
    }

    #[test]
    fn the_largest_number_is_no_trouble() {
        assert!(to_text(u64::MAX).ends_with('Z'));
    }
}
