//! When a test began, by the name of its files. Times within a result are written as the machine's
//! region has them, so that 4/5/2011 is a day of April or of May; names are year first.

/// The last part of a path, in small letters.
pub(super) fn name(path: &str) -> String {
    path.rsplit(['\\', '/']).next().unwrap_or_default().to_lowercase()
}

/// Nanoseconds since 1970-01-01, on the clock of the machine, of a name such as
/// `Performance_2011_4_21_10_10_1.blg`.
pub(super) fn started(path: &str) -> Option<u64> {
    let name = name(path);
    let stem = name.split('.').next()?;
    let numbers: Option<Vec<u64>> =
        stem.rsplitn(7, '_').take(6).map(|part| part.parse().ok()).collect();
    let [second, minute, hour, day, month, year] = numbers?.try_into().ok()?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    let is_date = (1990..2100).contains(&year)
        && (1..=12).contains(&month)
        && (1..=month_days(year, month)).contains(&day);
    (is_time && is_date).then(|| {
        let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
        seconds * 1_000_000_000
    })
}

/// Days from 1970-01-01 to a date.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let years: u64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let months: u64 = (1..month).map(|month| month_days(year, month)).sum();
    years + months + day.saturating_sub(1)
}

const fn month_days(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
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
