//! The rows of one case: each figure, its published band, and whether it is in the band.

use std::fmt;
use std::ops::RangeInclusive;

use crate::budget::Totals;
use crate::fidelity::published::Case;
use crate::fidelity::scene::SceneCounts;

/// Bytes of a log file.
const LOG_FILE_BYTES: f64 = 1_048_576.0;

/// One figure.
#[derive(Clone)]
struct FidelityRow {
    name: &'static str,
    ours: f64,
    band: RangeInclusive<f64>,
}

/// All figures of a case.
pub(super) struct BandTable {
    case: &'static str,
    rows: Vec<FidelityRow>,
}

impl BandTable {
    /// Compares the counts with the bands of `case`.
    pub(super) fn new(case: &Case, counted: &SceneCounts) -> Self {
        Self { case: case.name, rows: rows(case, counted) }
    }

    /// Number of rows outside their bands.
    pub(super) fn out(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_in()).count()
    }
}

fn rows(case: &Case, counted: &SceneCounts) -> Vec<FidelityRow> {
    [log_rows(case, counted), file_rows(case, counted)].concat()
}

const fn row(name: &'static str, ours: f64, band: RangeInclusive<f64>) -> FidelityRow {
    FidelityRow { name, ours, band }
}

fn ratio(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

fn log_rows(case: &Case, counted: &SceneCounts) -> Vec<FidelityRow> {
    let Totals { batches, log_volume, log_writes, log_formats, .. } = counted.settled;
    let mut writes = log_writes;
    writes += log_formats;
    let volume = ratio(log_volume, batches);
    let factor = counted.log_write_factor;
    let written = ratio(writes.count, batches);
    let size = ratio(writes.bytes, writes.count);
    vec![
        row("log volume per batch, bytes", volume, 22_050.0..=26_950.0),
        row("batches per log file", LOG_FILE_BYTES / volume, 41.0..=45.0),
        row("log bytes written / log volume", factor, 2.0..=2.1),
        row("log writes per batch", written, case.log_writes.clone()),
        row("log write size, bytes", size, case.log_write_bytes.clone()),
    ]
}

fn file_rows(case: &Case, counted: &SceneCounts) -> Vec<FidelityRow> {
    let Totals { batches, reads, writes, maintenance, .. } = counted.settled;
    let period = ratio(counted.settled.nanos, maintenance.count);
    let pause = (period - case.read_latency.0 as f64) / 1e6;
    let pages = ratio(counted.settled.pages_written, batches);
    let grown = counted.growth_per_batch;
    vec![
        row("database reads per batch", ratio(reads.count, batches), 17.0..=23.0),
        row("pages written per batch", pages, case.pages_written.clone()),
        row("growth per batch, bytes", grown, 13_300.0..=14_700.0),
        row("database read size, bytes", ratio(reads.bytes, reads.count), 32_768.0..=33_800.0),
        row("database write size, bytes", ratio(writes.bytes, writes.count), 34_300.0..=37_700.0),
        row(
            "maintenance read size, bytes",
            ratio(maintenance.bytes, maintenance.count),
            261_600.0..=262_144.0,
        ),
        row("pause of maintenance, ms", pause, case.maintenance_pause.clone()),
    ]
}

impl FidelityRow {
    fn is_in(&self) -> bool {
        self.band.contains(&self.ours)
    }
}

impl fmt::Display for BandTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.case)?;
        for row in &self.rows {
            let word = if row.is_in() { "in" } else { "OUT" };
            let (name, ours) = (row.name, row.ours);
            let (from, to) = (row.band.start(), row.band.end());
            writeln!(f, "  {name:<32} {ours:>11.3}   {from:>10.1} to {to:>10.1}  {word}")?;
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::BandTable;
    use crate::budget::{Requests, Totals};
    use crate::fidelity::published::CASES;
    use crate::fidelity::scene::SceneCounts;

    const fn requests(count: u64, bytes: u64) -> Requests {
        Requests { count, bytes: count * bytes }
    }

    /// Counts of a thousand batches of Jetstress 2013 that match the published figures.
    fn published() -> SceneCounts {
        SceneCounts {
            settled: Totals {
                nanos: 1_000 * (100_000_000 + CASES[2].read_latency.0),
                batches: 1_000,
                reads: requests(20_000, 33_019),
                writes: requests(16_300, 34_497),
                pages_written: 17_100,
                log_writes: requests(1_900, 23_500),
                log_formats: requests(100, 65_536),
                maintenance: requests(1_000, 262_144),
                log_volume: 24_400_000,
            },
            log_write_factor: 2.011,
            growth_per_batch: 14_000.0,
        }
    }

    #[test]
    fn what_was_published_is_in_its_bands() {
        let table = BandTable::new(&CASES[2], &published());
        assert_eq!(table.out(), 0, "{table}");
    }

    #[test]
    fn every_row_can_be_out() {
        let mut counted = published();
        let totals = &mut counted.settled;
        totals.batches /= 2;
        totals.reads.bytes /= 3;
        totals.writes.bytes /= 2;
        totals.log_formats.bytes *= 9;
        totals.maintenance.bytes /= 2;
        totals.nanos *= 2;
        counted.log_write_factor = 1.0;
        counted.growth_per_batch *= 2.0;
        let table = BandTable::new(&CASES[2], &counted);
        assert_eq!(table.out(), 12, "{table}");
        assert_eq!(table.to_string().matches("OUT").count(), 12);
    }
}
