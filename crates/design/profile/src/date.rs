//! Timestamps in the formats of message tracking, and the day of the week.

/// A date of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Date {
    /// Days since 1970-01-01.
    days: i64,
}

/// Seconds in an hour and in a day.
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// Parses `2026-11-20T09:15:00.123Z` and returns date and hour on clocks that are `offset_hours`
/// ahead of UTC; `None` if the text is not such a timestamp.
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

/// The order of day, month and year in dates with a culture's separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// `11/25/2026`.
    MonthFirst,
    /// `25/11/2026` or `25.11.2026`.
    DayFirst,
}

impl DateOrder {
    /// The order shared by all `dates` of a file: the day is first if any date has dots, or starts
    /// with a number above twelve. Ambiguous dates have the month first.
    pub(super) fn of<'a>(dates: impl Iterator<Item = &'a str>) -> Self {
        let mut order = Self::MonthFirst;
        for date in dates {
            let mut parts = date.split(['/', '.', '-', ' ']);
            let first: Option<u32> = parts.next().and_then(|part| part.parse().ok());
            if first.is_some_and(|first| (13..=31).contains(&first)) || date.contains('.') {
                order = Self::DayFirst;
            }
        }
        order
    }
}

/// Reads `11/25/2026`, in the order given, or `2026-11-25`; a time may follow.
pub(super) fn local_day(text: &str, order: DateOrder) -> Option<Date> {
    let date = text.split([' ', 'T']).next()?;
    if let Some(date) = day(date) {
        return Some(date);
    }
    let parts: Vec<u32> = date.split(['/', '.', '-']).map_while(|part| part.parse().ok()).collect();
    let &[first, second, year] = parts.as_slice() else {
        return None;
    };
    let (month, of_month) = match order {
        DateOrder::MonthFirst => (first, second),
        DateOrder::DayFirst => (second, first),
    };
    day(&format!("{year:04}-{month:02}-{of_month:02}"))
}

/// Reads `11/25/2026 9:01:02 AM`, and other forms of it.
pub(super) fn local_moment(text: &str, order: DateOrder) -> Option<(Date, usize)> {
    let date = local_day(text, order)?;
    let (_, time) = text.split_once([' ', 'T'])?;
    let hour: usize = time.trim().split([':', '.']).next()?.parse().ok()?;
    let half = time.trim().to_ascii_uppercase();
    let hour = match (hour, half.ends_with("AM"), half.ends_with("PM")) {
        (12, true, _) => 0,
        (1..=11, _, true) => hour + 12,
        _ => hour,
    };
    (hour < 24).then_some((date, hour))
}

/// Parses `2026-11-20`; `None` if the text is not a date.
pub(super) fn day(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let year = digits(parts.next()?, 4)?;
    let (month, day) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let ends = parts.next().is_none();
    let real = ends && (1..=12).contains(&month) && (1..=length_of(year, month)).contains(&day);
    // The year starts in March, so that the leap day is its last.
    let year_from_march = if month > 2 { year } else { year - 1 };
    let months = (month + 9) % 12;
    let leaps = year_from_march / 4 - year_from_march / 100 + year_from_march / 400;
    let days = year_from_march * 365 + leaps + (months * 153 + 2) / 5 + day - 719_469;
    real.then_some(Date { days })
}

/// A number of exactly `length` ASCII digits.
fn digits(part: &str, length: usize) -> Option<i64> {
    let is_plain = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| part.parse().ok())?
}

fn length_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl std::fmt::Display for Date {
    /// As `2026-11-20`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Here too the year starts in March; eras of 400 years repeat.
        let days = self.days + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl Date {
    /// The date `days` days after 1970-01-01.
    pub(super) const fn of_days(days: i64) -> Self {
        Self { days }
    }

    /// Its first second, since 1970-01-01.
    pub(super) const fn seconds(self) -> i64 {
        self.days * DAY
    }

    /// Day of the week: 0 is Thursday, as 1970-01-01 was.
    pub(super) const fn day_of_week(self) -> i64 {
        self.days.rem_euclid(7)
    }

    /// Whether it is a day from Monday to Friday. 1970-01-01 was a Thursday.
    pub(super) fn is_working_day(self) -> bool {
        (self.days + 3).rem_euclid(7) < 5
    }
}

#[cfg(test)]
mod tests {
    use super::{Date, DateOrder, day, local_day, local_moment, moment};

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
    fn dates_are_written_as_they_are_read() {
        for text in ["1969-12-31", "1970-01-01", "2000-02-29", "2026-11-20", "2027-01-01"] {
            assert_eq!(day(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn dates_of_other_cultures_are_read_in_the_order_of_their_file() {
        let wanted = day("2026-11-05").unwrap();
        let order = |dates: &[&str]| DateOrder::of(dates.iter().copied());
        for (dates, text) in [
            (&["11/25/2026", "11/5/2026"][..], "11/5/2026"),
            (&["25/11/2026", "5/11/2026"], "5/11/2026"),
            (&["05.11.2026"], "05.11.2026"),
            (&["2026-11-05"], "2026-11-05"),
        ] {
            assert_eq!(local_day(text, order(dates)), Some(wanted), "{text}");
        }
        let hours = [("9:01:02 AM", 9), ("12:00:00 AM", 0), ("1:00 PM", 13), ("23:59:00", 23)];
        for (time, hour) in hours {
            let found = local_moment(&format!("11/5/2026 {time}"), DateOrder::MonthFirst);
            assert_eq!(found, Some((wanted, hour)), "{time}");
        }
        assert_eq!(local_day("13/13/2026", DateOrder::MonthFirst), None);
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
