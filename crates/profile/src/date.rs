//! Moments as message tracking writes them, and the day of the week.

/// A date of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    /// Days since 1970-01-01.
    days: i64,
}

/// Seconds of an hour and of a day.
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// Reads `2026-11-20T09:15:00.123Z` and returns date and hour where clocks are `offset_hours` ahead
/// of it; none where the text is no such moment.
pub(super) fn moment(text: &str, offset_hours: i32) -> Option<(Date, usize)> {
    let (date, time) = text.split_once(['T', ' '])?;
    let days = day(date)?.days;
    let hour: i64 = time.get(..2)?.parse().ok()?;
    let minute: i64 = time.get(3..5)?.parse().ok()?;
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !time[2..].starts_with(':') {
        return None;
    }
    let seconds = days * DAY + (hour + i64::from(offset_hours)) * HOUR;
    let date = Date { days: seconds.div_euclid(DAY) };
    Some((date, usize::try_from(seconds.rem_euclid(DAY) / HOUR).ok()?))
}

/// Reads `2026-11-20`; none where the text is no date.
pub(super) fn day(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let mut part = |length: usize| {
        let part = parts.next()?;
        let plain = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| part.parse::<i64>().ok())?
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let ends = parts.next().is_none();
    let real = ends && (1..=12).contains(&month) && (1..=length_of(year, month)).contains(&day);
    // The year starts in March, so that the leap day is its last.
    let year_from_march = if month > 2 { year } else { year - 1 };
    let months = (month + 9) % 12;
    let leaps = year_from_march / 4 - year_from_march / 100 + year_from_march / 400;
    let days = year_from_march * 365 + leaps + (months * 153 + 2) / 5 + day - 719_469;
    real.then_some(Date { days })
}

fn length_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Date {
    /// Whether it is a day from Monday to Friday. 1970-01-01 was a Thursday.
    pub(super) fn is_working_day(self) -> bool {
        (self.days + 3).rem_euclid(7) < 5
    }
}

#[cfg(test)]
mod tests {
    use super::{Date, day, moment};

    #[test]
    fn days_of_the_calendar() {
        assert_eq!(day("1970-01-01"), Some(Date { days: 0 }));
        assert_eq!(day("2000-03-01"), Some(Date { days: 11_017 }));
        assert_eq!(day("2024-02-29"), Some(Date { days: 19_782 }));
        for wrong in ["2026-02-29", "2026-13-01", "26-01-01", "20.11.2026", "2026-11-20-1", ""] {
            assert_eq!(day(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn working_days() {
        let working = |text| day(text).unwrap().is_working_day();
        assert!(working("2026-11-20") && working("2026-11-16"));
        assert!(!working("2026-11-21") && !working("2026-11-22"));
    }

    #[test]
    fn hours_move_with_the_clock() {
        let text = "2026-11-20T23:15:00.123Z";
        assert_eq!(moment(text, 0), Some((day("2026-11-20").unwrap(), 23)));
        assert_eq!(moment(text, 2), Some((day("2026-11-21").unwrap(), 1)));
        assert_eq!(moment(text, -24), Some((day("2026-11-19").unwrap(), 23)));
        for wrong in ["2026-11-20", "2026-11-20T25:00:00Z", "2026-11-20T9:15", "T"] {
            assert_eq!(moment(wrong, 0), None, "{wrong}");
        }
    }
}
