//! Performance-counter logs as relog and typeperf write them: a column for each counter, a row for
//! each sample, and values in the digits of the system's language.

use csv::{ReaderBuilder, StringRecord};

use super::clock::{ClockHour, moment};
use super::counters::{CounterColumn, CounterMeasure};
use super::{LoadFile, LoadProfileError, PlaceHours};
use crate::date::DateOrder;

mod cells;

use cells::CounterGroup;

/// Starts of the first header: `(PDH-CSV 4.0) (Eastern Standard Time)(300)`.
const MARKS: [&str; 2] = ["(PDH-CSV", "(PDH-TSV"];

/// Maximum number of headers to show if none is recognised.
const MOST_SHOWN: usize = 4;

/// A pause of more than this many usual intervals is a gap.
const GAP_INTERVALS: i64 = 3;

/// A sample and its time, in seconds since 1970-01-01 by the log's clock.
type TimedRow = (i64, StringRecord);

pub(super) fn is_log(text: &str) -> bool {
    let first = text.trim_start_matches(['\u{feff}', '"']);
    MARKS.iter().any(|mark| first.starts_with(mark))
}

/// Minutes by which UTC is ahead of the log's clock; 0 if not stated.
pub(super) fn bias_minutes(text: &str) -> i64 {
    zone_parts(text).and_then(|(_, bias)| bias.trim().parse().ok()).unwrap_or(0)
}

/// Name and bias of the time zone in the first header.
fn zone_parts(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.lines().next()?.split_once(") (")?;
    let (zone, rest) = rest.split_once(")(")?;
    let (bias, _) = rest.split_once(')')?;
    Some((zone, bias))
}

/// Reads a log and shifts its times to a clock that UTC is `bias` minutes ahead of.
pub(super) fn read(
    text: &str,
    file: &mut LoadFile,
    (places, bias): (&mut PlaceHours, i64),
) -> Result<(), LoadProfileError> {
    file.zone = zone_parts(text).map(|(zone, _)| zone.to_owned());
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes());
    let mut records = reader.records().map(Result::unwrap_or_default);
    let headers = records.next().unwrap_or_default();
    let groups = groups(&headers, file)?;
    let rows = rows(records, file);
    let interval = usual_interval(&rows);
    note_gaps(&rows, interval, file);
    let shift = (bias_minutes(text) - bias) * 60;
    for group in &groups {
        let hours = places.entry(group.place.clone()).or_default();
        for (at, row) in &rows {
            if let Some(load) = group.load(row, file) {
                let sum = hours.entry(ClockHour::of(at + shift)).or_default();
                sum.add(group.operation, interval as f64, load);
                file.used += 1;
            }
        }
    }
    if file.used == 0 {
        let skipped = file.not_understood().unwrap_or_else(|| "it has no rows".to_owned());
        return Err(LoadProfileError::NoSamples { file: file.name.clone(), skipped });
    }
    Ok(())
}

/// Returns the separator after the first header, which contains none itself.
fn delimiter(text: &str) -> u8 {
    let header = text.lines().next().unwrap_or_default();
    let behind = header.split_once(')').map_or("", |(_, rest)| rest);
    let found = behind.chars().find(|symbol| matches!(symbol, ',' | ';' | '\t'));
    found.and_then(|symbol| u8::try_from(symbol).ok()).unwrap_or(b',')
}

/// The usable columns, by place and kind of requests.
fn groups(
    headers: &StringRecord,
    file: &mut LoadFile,
) -> Result<Vec<CounterGroup>, LoadProfileError> {
    let mut groups: Vec<CounterGroup> = Vec::new();
    for (column, header) in headers.iter().enumerate().skip(1) {
        let Some(counter) = CounterColumn::of_path(header) else {
            file.other_column(header);
            continue;
        };
        let same = groups
            .iter_mut()
            .find(|of| of.place == counter.place && of.operation == counter.operation);
        match same {
            Some(group) => group.columns.push((column, counter.part, counter.measure)),
            None => groups.push(CounterGroup::of(column, counter)),
        }
    }
    if groups.is_empty() {
        let found = headers
            .iter()
            .skip(1)
            .take(MOST_SHOWN)
            .map(|header| units::shortened(header, 80).into_owned())
            .collect();
        return Err(LoadProfileError::NoCounters { file: file.name.clone(), found });
    }
    let (rated, others): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|of| of.columns.iter().any(|(.., measure)| *measure == CounterMeasure::Rate));
    let without_rate: usize = others.iter().map(|group| group.columns.len()).sum();
    file.skip(
        "columns of latencies or bytes without their requests per second",
        without_rate as u64,
    );
    Ok(rated)
}

/// The date order that fits more rows. Counter logs have the month first, unless another program
/// has rewritten them.
fn order(records: &[StringRecord]) -> DateOrder {
    if readable(records, DateOrder::DayFirst) > readable(records, DateOrder::MonthFirst) {
        DateOrder::DayFirst
    } else {
        DateOrder::MonthFirst
    }
}

/// Number of rows whose date can be read in this order.
fn readable(records: &[StringRecord], order: DateOrder) -> usize {
    let dates = records.iter().filter_map(|row| row.get(0));
    dates.filter(|date| moment(date, order).is_some()).count()
}

/// The rows in time order.
fn rows(records: impl Iterator<Item = StringRecord>, file: &mut LoadFile) -> Vec<TimedRow> {
    let records: Vec<StringRecord> = records.collect();
    let order = order(&records);
    let mut rows: Vec<TimedRow> = Vec::new();
    for record in records {
        file.rows += 1;
        let last = rows.last().map_or(i64::MIN, |(at, _)| *at);
        match moment(record.get(0).unwrap_or_default(), order) {
            None => file.skip("rows without a moment", 1),
            Some(at) if at <= last => file.skip("rows out of order or repeated", 1),
            Some(at) => rows.push((at, record)),
        }
    }
    rows
}

/// Seconds that a typical row covers.
fn usual_interval(rows: &[TimedRow]) -> i64 {
    let mut spans: Vec<i64> = rows.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    spans.sort_unstable();
    spans.get(spans.len() / 2).copied().unwrap_or(1)
}

fn note_gaps(rows: &[TimedRow], interval: i64, file: &mut LoadFile) {
    for pair in rows.windows(2) {
        let span = pair[1].0 - pair[0].0;
        if span > GAP_INTERVALS * interval {
            file.gaps = (file.gaps.0 + 1, file.gaps.1.max(span));
        }
    }
}
