//! Calendar dates, stored as days since 1899-12-30 with the time of day as a fraction.

use std::fmt;
use std::ops::Range;

use super::write_real;

/// Days between 1899-12-30 and 1970-01-01.
const DAYS_BEFORE_1970: i64 = 25_569;
/// The years 100 to 9999, the range of dates in OLE automation.
const DATES: Range<f64> = -657_434.0..2_958_466.0;

const DAY_MILLIS: f64 = 86_400_000.0;
const DAY_MICROS: i64 = 86_400_000_000;
/// Units of 100 nanoseconds.
const DAY_TICKS: u64 = 864_000_000_000;
const SECOND_TICKS: u64 = 10_000_000;
const MILLI_TICKS: u64 = 10_000;

/// Units of 100 nanoseconds from the start of 1601, the epoch of Windows file times, to 1970.
const TICKS_BEFORE_1970: u64 = 116_444_736_000_000_000;
/// File times from 1970 to 2154. Interpreted as days they are all below 1e-298, so that no date is
/// mistaken for one.
pub(super) const FILE_TIMES: Range<u64> = TICKS_BEFORE_1970..TICKS_BEFORE_1970 + 67_431 * DAY_TICKS;

/// A moment that a number of days represents exactly.
struct DateMoment {
    /// Days since 1970.
    day: i64,
    /// Since midnight.
    ticks: u64,
}

/// Writes dates, in milliseconds if exact; anything else as a number. Programs such as the user
/// access log of Windows Server store file times in date columns: those always have seven decimals.
pub(super) fn write(days: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_file_time = FILE_TIMES.contains(&days.to_bits());
    match stored_moment(days) {
        Some(moment) => {
            let with_ticks = is_file_time || !moment.ticks.is_multiple_of(MILLI_TICKS);
            write_moment(&moment, with_ticks, f)
        }
        None => write_real(days, f),
    }
}

/// The moment of a file time or of a number of days.
fn stored_moment(days: f64) -> Option<DateMoment> {
    if !FILE_TIMES.contains(&days.to_bits()) {
        return moment(days);
    }
    let ticks = days.to_bits() - TICKS_BEFORE_1970;
    Some(DateMoment { day: (ticks / DAY_TICKS).cast_signed(), ticks: ticks % DAY_TICKS })
}

/// Microseconds since 1970, rounded down; `None` if the number is not an exact time.
pub(super) fn unix_microseconds(days: f64) -> Option<i64> {
    let moment = stored_moment(days)?;
    let ticks = moment.ticks / (MILLI_TICKS / 1_000);
    Some(moment.day * DAY_MICROS + ticks.cast_signed())
}

/// `None` for a number that does not exactly represent a calendar time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the range keeps it far inside 64 bits; parts of a day are above 0 and fit 53 bits"
)]
fn moment(days: f64) -> Option<DateMoment> {
    // Hours count forward even in negative numbers, so that -0.5 would mean the same as 0.5.
    if !DATES.contains(&days) || days.is_sign_negative() && days > -1.0 {
        return None;
    }
    let (whole, part) = (days.trunc(), days.fract().abs());
    let is_exact = |part: f64| (whole + part.copysign(days)).to_bits() == days.to_bits();
    let day = whole as i64 - DAYS_BEFORE_1970;
    let millis = (part * DAY_MILLIS).round();
    if is_exact(millis / DAY_MILLIS) {
        return Some(DateMoment { day, ticks: millis as u64 * MILLI_TICKS });
    }
    let ticks = (part * DAY_TICKS as f64).round();
    is_exact(ticks / DAY_TICKS as f64).then_some(DateMoment { day, ticks: ticks as u64 })
}

fn write_moment(moment: &DateMoment, with_ticks: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (year, month, day) = calendar(moment.day + (moment.ticks / DAY_TICKS).cast_signed());
    let (seconds, part) = (moment.ticks % DAY_TICKS / SECOND_TICKS, moment.ticks % SECOND_TICKS);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.")?;
    if with_ticks { write!(f, "{part:07}Z") } else { write!(f, "{:03}Z", part / MILLI_TICKS) }
}

/// Year, month and day of a number of days since 1970, always in the Gregorian calendar. Years
/// begin in March here, so that a leap day is the last one, and repeat in cycles of 400 of equal
/// length.
const fn calendar(day: i64) -> (i64, i64, i64) {
    let since_0000_03_01 = day + 719_468;
    let (cycle, day) = (since_0000_03_01.div_euclid(146_097), since_0000_03_01.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + later, month, day)
}
