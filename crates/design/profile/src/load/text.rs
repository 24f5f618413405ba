//! The load profile for a terminal: the busiest hour, the day as bars, every place, and the parts
//! of files that were not understood.

use std::fmt::{self, Write as _};

use units::{plural, thousands};

use super::hours::{HourLoad, RequestLoad, StorageOperation};
use super::{DayHour, LoadProfile, PlaceLoad};

/// Characters of the longest bar.
const BAR: usize = 40;

/// Places that are listed.
const MOST_PLACES: usize = 20;

/// Bytes of a mebibyte.
const MEBIBYTE: f64 = 1_048_576.0;

const WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

impl LoadProfile {
    /// The profile as text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let written = self.write_text(&mut text);
        written.expect("invariant: writing to a string cannot fail");
        units::plain(&text).into_owned()
    }

    fn write_text(&self, text: &mut String) -> fmt::Result {
        let busiest = &self.busiest;
        let day = WEEKDAYS[usize::try_from(busiest.hour.date().day_of_week()).unwrap_or_default()];
        let weekday = if self.is_relative { String::new() } else { format!("{day} ") };
        let iops = rounded(busiest.load.iops());
        writeln!(text, "Busiest hour: {weekday}{}, with {iops} IOPS", busiest.hour)?;
        writeln!(text, "  {}", in_words(&busiest.load))?;
        if let Some(most) = self.places.iter().max_by(|one, two| one.iops_then(two)) {
            let share = most.then.map_or(0.0, |then| then.iops()) / busiest.load.iops() * 100.0;
            writeln!(
                text,
                "  busiest: {} {}, with {share:.0} % of it",
                most.place.kind.name(),
                most.place
            )?;
        }
        writeln!(text, "Clock: {}", self.clock)?;
        writeln!(text, "Samples from {} until {}\n", self.span.0, self.span.1)?;
        self.write_day(text)?;
        self.write_places(text)?;
        self.write_doubts(text)
    }

    fn write_day(&self, text: &mut String) -> fmt::Result {
        let most = self.day.iter().filter_map(|hour| hour.load).map(|load| load.iops());
        let most = most.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        writeln!(text, "Average of {}, per second", plural(self.days as u64, "day"))?;
        writeln!(text, " hour    IOPS   reads  writes    logs  read ms  write ms  log ms")?;
        for (number, hour) in self.day.iter().enumerate() {
            write_hour(number, hour, most, text)?;
        }
        Ok(())
    }

    fn write_places(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "\nWhere it goes, each place with its own busiest hour")?;
        for PlaceLoad { place, busiest, .. } in self.places.iter().take(MOST_PLACES) {
            let (kind, iops) = (place.kind.name(), rounded(busiest.load.iops()));
            writeln!(text, "  {iops:>7} IOPS  {kind} {place}: {}", busiest.hour)?;
            writeln!(text, "                {}", in_words(&busiest.load))?;
        }
        let more = self.places.len().saturating_sub(MOST_PLACES);
        if more > 0 {
            writeln!(text, "  and {more} more; --json has all")?;
        }
        if self.other_places.is_empty() {
            return Ok(());
        }
        let others: Vec<String> =
            self.other_places.iter().take(8).map(ToString::to_string).collect();
        let count = self.other_places.len();
        writeln!(text, "Not counted: {count} places, such as {}: others", others.join(", "))?;
        writeln!(text, "of their hosts count the same requests, or --only leaves them out.")
    }

    fn write_doubts(&self, text: &mut String) -> fmt::Result {
        let mut doubts: Vec<String> = Vec::new();
        for file in &self.files {
            doubts.extend(file.not_understood().map(|what| format!("{}: {what}", file.name)));
        }
        if self.hours_without_a_host > 0 {
            let hours = plural(self.hours_without_a_host, "hour");
            doubts.push(format!("no sum of {hours} in which a host has no samples"));
        }
        if let Some(hours) = self.unknown_hours_list() {
            doubts.push(format!("no samples of {hours}: as busy as the busiest"));
        }
        if doubts.is_empty() {
            return writeln!(text, "\nEverything in the files was understood.");
        }
        writeln!(text, "\nNot understood or unknown")?;
        doubts.iter().try_for_each(|doubt| writeln!(text, "  {doubt}"))
    }
}

impl PlaceLoad {
    fn iops_then(&self, other: &Self) -> std::cmp::Ordering {
        let [one, two] = [self, other].map(|of| of.then.map_or(0.0, |load| load.iops()));
        one.total_cmp(&two)
    }
}

fn write_hour(number: usize, hour: &DayHour, most: f64, text: &mut String) -> fmt::Result {
    let Some(load) = &hour.load else {
        return writeln!(text, "{number:>2}:00  unknown");
    };
    let [reads, writes, log_reads, log_writes] = StorageOperation::ALL.map(|of| load.of(of));
    let logs: Option<f64> = log_writes
        .or(log_reads)
        .map(|_| log_writes.map_or(0.0, |of| of.iops) + log_reads.map_or(0.0, |of| of.iops));
    let bar = "#".repeat(bar_length(load.iops() / most));
    let line = format!(
        "{number:>2}:00 {:>7} {:>7} {:>7} {:>7} {:>8} {:>9} {:>7}  {bar}",
        rounded(load.iops()),
        rate_cell(reads.map(|of| of.iops)),
        rate_cell(writes.map(|of| of.iops)),
        rate_cell(logs),
        latency_cell(reads),
        latency_cell(writes),
        latency_cell(log_writes),
    );
    writeln!(text, "{}", line.trim_end())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of 40 characters"
)]
fn bar_length(share: f64) -> usize {
    (share.clamp(0.0, 1.0) * BAR as f64).round() as usize
}

/// A rate in whole requests with thousands separators, or with one decimal below ten.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are not negative, and above 2^64 there is none"
)]
fn rounded(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { thousands(rate.round() as u64) }
}

fn rate_cell(of: Option<f64>) -> String {
    of.map_or_else(|| "-".to_owned(), rounded)
}

fn latency_cell(of: Option<RequestLoad>) -> String {
    of.and_then(|of| of.latency_ms).map_or_else(|| "-".to_owned(), |ms| format!("{ms:.2}"))
}

/// Rates, latencies and bytes of one load.
fn in_words(load: &HourLoad) -> String {
    let words = [
        (StorageOperation::Read, "reads"),
        (StorageOperation::Write, "writes"),
        (StorageOperation::LogRead, "log reads"),
        (StorageOperation::LogWrite, "log writes"),
    ];
    let mut parts = Vec::new();
    for (operation, words) in words {
        let Some(of) = load.of(operation) else {
            continue;
        };
        let latency = of.latency_ms.map(|ms| format!(" of {ms:.2} ms"));
        parts.push(format!("{} {words}{}", rounded(of.iops), latency.unwrap_or_default()));
    }
    let bytes = load.bytes_per_second().map(|bytes| format!("{:.1} MiB/s", bytes / MEBIBYTE));
    parts.extend(bytes);
    parts.join(", ")
}
