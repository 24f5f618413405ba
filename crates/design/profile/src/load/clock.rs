//! Log timestamps by the clock of the machine that wrote them, in whole hours and seconds.

use std::fmt;
use std::str::FromStr;

use crate::date::{Date, DateOrder, day, local_day};

/// Seconds of an hour.
pub(super) const HOUR_SECONDS: i64 = 3_600;

const HOURS_OF_A_DAY: i64 = 24;

/// A calendar hour: hours since 1970-01-01, by the clock named in the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockHour(pub(super) i64);

impl ClockHour {
    /// Returns the hour that contains a time in seconds since 1970-01-01.
    pub(super) const fn of(seconds: i64) -> Self {
        Self(seconds.div_euclid(HOUR_SECONDS))
    }

    /// Its first second.
    pub(super) const fn start(self) -> i64 {
        self.0 * HOUR_SECONDS
    }

    /// Hour of its day, 0 to 23.
    pub(crate) fn of_day(self) -> usize {
        usize::try_from(self.0.rem_euclid(HOURS_OF_A_DAY)).unwrap_or_default()
    }

    /// Returns the start of the hour, as `2026-11-20T10:00`.
    pub fn start_text(self) -> String {
        format!("{}T{:02}:00", self.date(), self.of_day())
    }

    pub(super) const fn date(self) -> Date {
        Date::of_days(self.0.div_euclid(HOURS_OF_A_DAY))
    }
}

impl fmt::Display for ClockHour {
    /// As `2026-11-20, 10:00 to 11:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hour = self.of_day();
        write!(f, "{}, {hour:02}:00 to {:02}:00", self.date(), (hour + 1) % 24)
    }
}

/// The clock when a block trace started, such as `2026-11-20T09:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStart {
    /// Seconds since 1970-01-01 by that clock.
    pub(super) seconds: i64,
}

impl FromStr for TraceStart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
        let seconds = day(date).zip(seconds_of_day(time)).map(|(day, time)| day.seconds() + time);
        seconds
            .map(|seconds| Self { seconds })
            .ok_or_else(|| format!("{text:?} is no moment; give one such as 2026-11-20T09:00"))
    }
}

/// Parses `11/20/2026 10:00:15.123` into seconds since 1970-01-01.
pub(super) fn moment(text: &str, order: DateOrder) -> Option<i64> {
    let text = text.trim();
    let date = local_day(text, order)?;
    let (_, time) = text.split_once([' ', 'T'])?;
    Some(date.seconds() + seconds_of_day(time.trim())?)
}

/// Parses `10:00` or `10:00:15.123`; fractions are dropped.
fn seconds_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split([':', '.', ',']).map(str::parse::<i64>);
    let (hour, minute) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let second = parts.next().map_or(Some(0), Result::ok)?;
    let is_sound =
        (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    is_sound.then_some(hour * HOUR_SECONDS + minute * 60 + second)
}
