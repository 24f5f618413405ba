//! Derives the start of a test from its file names. Times within a result follow the machine's
//! regional settings, so 4/5/2011 may be in April or in May; file names put the year first.

use time::{Date, Month};

/// The last part of a path, in lower case.
pub(super) fn name(path: &str) -> String {
    path.rsplit(['\\', '/']).next().unwrap_or_default().to_lowercase()
}

/// The time in a name such as `Performance_2011_4_21_10_10_1.blg`, in nanoseconds since 1970-01-01
/// on the clock of the machine.
pub(super) fn started(path: &str) -> Option<u64> {
    let name = name(path);
    let stem = name.split('.').next()?;
    let numbers: Option<Vec<u16>> =
        stem.rsplitn(7, '_').take(6).map(|part| part.parse().ok()).collect();
    let [second, minute, hour, day, month, year] = numbers?.try_into().ok()?;
    // Jetstress is not older than this, and larger numbers are not years.
    if !(1990..2100).contains(&year) {
        return None;
    }
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(year.into(), month, u8::try_from(day).ok()?).ok()?;
    let [hour, minute, second] = [hour, minute, second].map(|part| u8::try_from(part).ok());
    let time = date.with_hms(hour?, minute?, second?).ok()?;
    u64::try_from(time.assume_utc().unix_timestamp_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::started;

    #[test]
    fn names_of_files_tell_the_time() {
        let known = started("C:\\Jetstress\\Performance_2011_4_21_10_10_1.blg");
        assert_eq!(known, Some(1_303_380_601_000_000_000));
        assert_eq!(started("Stress_2012_2_29_0_0_0.html"), Some(1_330_473_600_000_000_000));
    }

    #[test]
    fn other_names_do_not() {
        let names = [
            "",
            "result.html",
            "Performance_2011_2_29_0_0_0.html",
            "Performance_2011_13_1_0_0_0.html",
            "Performance_99999999999999999_1_1_0_0_0.html",
            "2011_4_21_10_10.html",
        ];
        for name in names {
            assert_eq!(started(name), None, "{name}");
        }
    }
}
