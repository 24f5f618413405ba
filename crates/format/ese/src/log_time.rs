//! Calendar times as headers store them.

use std::fmt;

/// A UTC time of the calendar in 8 bytes, to the millisecond. All zero means "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LogTime([u8; 8]);

const DAY_MILLIS: u64 = 86_400_000;

impl LogTime {
    /// "Never".
    pub const NEVER: Self = Self([0; 8]);
    pub(crate) const BYTES: usize = 8;

    /// Decodes a stored time.
    pub const fn decode(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The stored form.
    pub const fn encode(self) -> [u8; Self::BYTES] {
        self.0
    }

    /// The UTC time `millis` milliseconds after the start of 1970. The last supported year is 2155.
    pub fn from_unix_millis(millis: u64) -> Self {
        let (year, month, day) = civil_date(millis / DAY_MILLIS);
        let of_day = millis % DAY_MILLIS;
        let fraction = of_day % 1_000;
        Self([
            low_byte(of_day / 1_000 % 60),
            low_byte(of_day / 60_000 % 60),
            low_byte(of_day / 3_600_000),
            day,
            month,
            low_byte(year.saturating_sub(1900).min(255)),
            low_byte((fraction & 0x7F) << 1 | 1),
            low_byte((fraction >> 7) << 1),
        ])
    }

    /// Whether this is a time rather than "never".
    pub(crate) fn is_some(self) -> bool {
        self != Self::NEVER
    }

    pub(crate) const fn year(self) -> u16 {
        1900 + self.0[5] as u16
    }

    const fn millisecond(self) -> u16 {
        (self.0[6] >> 1) as u16 | ((self.0[7] >> 1 & 7) as u16) << 7
    }

    /// Whether the time is UTC; else it is local to the server that wrote it.
    pub(crate) const fn is_utc(self) -> bool {
        self.0[6] & 1 != 0
    }
}

impl fmt::Display for LogTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_some() {
            return f.write_str("never");
        }
        let [second, minute, hour, day, month, ..] = self.0;
        let (year, zone) = (self.year(), if self.is_utc() { "Z" } else { "" });
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        write!(f, ".{:03}{zone}", self.millisecond())
    }
}

const fn low_byte(number: u64) -> u8 {
    number.to_le_bytes()[0]
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// Years start in March, so that the leap day comes last: see Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`.
fn civil_date(days_since_1970: u64) -> (u64, u8, u8) {
    const DAYS_BEFORE_1970: u64 = 719_468;
    const DAYS_OF_ERA: u64 = 146_097;
    let days = days_since_1970 + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month.to_le_bytes()[0], day.to_le_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::LogTime;

    #[test]
    fn known_instants_read_as_the_calendar_has_them() {
        let text = |millis| LogTime::from_unix_millis(millis).to_string();
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(text(1_767_225_600_123), "2026-01-01T00:00:00.123Z");
        assert_eq!(LogTime::NEVER.to_string(), "never");
    }

    #[test]
    fn every_millisecond_survives_its_two_bytes() {
        for millis in 0..1_000 {
            let time = LogTime::from_unix_millis(1_700_000_000_000 + u64::from(millis));
            assert_eq!(time.millisecond(), millis);
            assert_eq!(LogTime::decode(time.encode()), time);
        }
    }
}
