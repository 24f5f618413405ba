//! Human-readable numbers, sizes and times, identical in every form of the report.

use record::Start;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
pub(crate) use units::three_digits;
pub use units::{decimal as number, plural};

/// A whole number with commas between thousands.
pub fn whole(value: u64) -> String {
    // Exact up to 2^53, far beyond any count of a run.
    number(value as f64, 0)
}

/// Start of the run. A simulated run has no date: virtual time always begins at the same moment.
pub fn started(start: &Start) -> String {
    match start.simulated {
        Some(_) => "simulated, in virtual time".to_owned(),
        None => timestamp(start.started_epoch_ns),
    }
}

/// A latency for a table column: milliseconds with three digits, as Jetstress prints them.
pub(crate) fn milliseconds(nanoseconds: f64) -> String {
    number(nanoseconds / 1e6, 3)
}

/// Nanoseconds as a number of milliseconds.
pub(crate) fn as_milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// One latency with its unit, in the shortest form.
pub(crate) fn latency(nanoseconds: f64) -> String {
    format!("{} ms", three_digits(nanoseconds / 1e6))
}

/// A size in the nearest binary unit.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0);
    format!("{} {}", number(value, decimals), UNITS[unit])
}

/// A room in its nearest binary unit, rounded down to a hundredth: a size that is called enough
/// must fit, and as many mailboxes as it holds must not seem to take more.
pub fn room(bytes: u64) -> String {
    let units = [(50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes >> shift > 0);
    unit.map_or_else(
        || size(bytes),
        |(shift, name)| {
            let hundredths = (u128::from(bytes) * 100) >> shift;
            format!("{} {name}", number(hundredths as f64 / 100.0, 2))
        },
    )
}

/// The I/O per second of a mailbox with two decimals, or as many as change it by no more than two
/// in a thousand.
pub(crate) fn iops_each(iops: f64) -> String {
    let decimals = (2..6).find(|decimals| {
        let shown: f64 = format!("{iops:.decimals$}").parse().unwrap_or(iops);
        (shown / iops - 1.0).abs() <= 0.002
    });
    number(iops, decimals.unwrap_or(6))
}

/// A size in bytes and in the nearest binary unit.
pub(crate) fn exact_size(bytes: u64) -> String {
    format!("{} ({})", whole(bytes), size(bytes))
}

/// A duration in conversational form: `45 s`, `10 min`, `2 h 5 min`.
pub fn duration(nanoseconds: u64) -> String {
    let seconds = nanoseconds.saturating_add(500_000_000) / 1_000_000_000;
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let said: Vec<String> = [(hours, "h"), (minutes, "min"), (rest, "s")]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if nanoseconds < 1_000_000_000 {
        return format!("{} s", three_digits(nanoseconds as f64 / 1e9));
    }
    said.join(" ")
}

/// A time since the start of the run: `1:15`, `2:05:00`.
pub(crate) fn offset(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// A wall clock time in UTC, to the second; the epoch's nanoseconds if it is out of range.
pub fn timestamp(epoch_ns: u64) -> String {
    let format = format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(epoch_ns))
        .ok()
        .and_then(|time| time.format(format).ok())
        .unwrap_or_else(|| format!("{epoch_ns} ns"))
}

/// A time in ISO 8601, in UTC, for programs; `None` if it is out of range.
pub fn iso_time(epoch_ns: u64) -> Option<String> {
    let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(epoch_ns)).ok()?;
    time.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::{duration, iops_each, offset, plural, room, size, timestamp, whole};

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(whole(1_000), "1,000");
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!(size(1_023), "1,023 B");
        assert_eq!(size(1_536), "1.5 KiB");
        assert_eq!(size(1 << 40), "1.0 TiB");
    }

    #[test]
    fn a_room_is_never_rounded_up() {
        assert_eq!(room(22_517_998_136), "20.97 GiB");
        assert_eq!(room(2_250 << 30), "2.19 TiB");
        assert_eq!(room(7), "7 B");
    }

    /// 150 mailboxes of 0.06 IOPS would need 9.00 and not 9.65.
    #[test]
    fn the_load_of_a_mailbox_has_the_digits_that_its_total_needs() {
        let shown = [0.1, 0.064_32, 0.08, 0.016_7].map(iops_each);
        assert_eq!(shown, ["0.10", "0.0643", "0.08", "0.0167"]);
    }

    #[test]
    fn times_read_like_speech() {
        assert_eq!(duration(45_000_000_000), "45 s");
        assert_eq!(duration(7_500_000_000_000), "2 h 5 min");
        assert_eq!(duration(250_000_000), "0.250 s");
        assert_eq!(duration(9_750_000_000), "10 s");
        assert_eq!(offset(75_000_000_000), "1:15");
        assert_eq!(offset(7_500_000_000_000), "2:05:00");
        assert_eq!(timestamp(1_795_219_200_000_000_000), "2026-11-21 00:00:00 UTC");
        assert_eq!(plural(1, "page"), "1 page");
        assert_eq!(plural(2, "page"), "2 pages");
    }
}
