//! The `Date` header of a response, which shows the error of this machine's clock.

/// Converts a date in HTTP format, such as `Sun, 06 Nov 1994 08:49:37 GMT`, to seconds since 1970.
pub(crate) fn unix_seconds(text: &str) -> Option<i64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, rest) = text.split_once(", ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let &[day, month, year, clock, "GMT"] = words.as_slice() else {
        return None;
    };
    let place = MONTHS.find(month).filter(|place| month.len() == 3 && place % 3 == 0)?;
    let month = i64::try_from(place / 3).ok()? + 1;
    let days = days(number(year, 1970..=9999)?, month, number(day, 1..=31)?);
    let mut parts = clock.split(':');
    let hour = number(parts.next()?, 0..=23)?;
    let minute = number(parts.next()?, 0..=59)?;
    let second = number(parts.next()?, 0..=60)?;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

fn number(text: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let value = text.parse().ok()?;
    range.contains(&value).then_some(value)
}

/// Days since 1970 of a Gregorian date. Years begin in March, so that leap days come last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let of_years = 365 * year + year / 4 - year / 100 + year / 400;
    of_years + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::unix_seconds;

    #[test]
    fn dates_are_read_as_http_writes_them() {
        let read = [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Mon, 23 Nov 2026 03:00:00 GMT", Some(1_795_402_800)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 06 anF 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 25:49:37 GMT", None),
            ("", None),
        ];
        for (text, seconds) in read {
            assert_eq!(unix_seconds(text), seconds, "{text}");
        }
    }
}
