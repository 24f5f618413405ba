//! Composition of the load: the I/O of one batch transaction shows whether the load resembled a
//! mail server's.

use record::{Phase, PhaseTotals, RunRecord, Series};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// Rates of transactions and the cost of each.
pub(super) fn section(run: &RunRecord) -> Section {
    let columns = [
        ("Batches/sec", "batch-transactions"),
        ("Average Latency (msec)", "batch-transaction-latency"),
        ("Database Reads per Batch", "reads-per-batch"),
        ("Pages Written per Batch", "pages-per-batch"),
        ("Log Bytes per Batch", "log-per-batch"),
        ("Log Writes per Batch", "log-writes-per-batch"),
        ("Log Written per Log Volume", "log-write-factor"),
        ("Conflicts/sec", "conflicts"),
    ]
    .map(|(label, metric)| Column::metric(label, metric));
    let mut rows: Vec<TableRow> = databases(run)
        .filter_map(|facts| {
            let totals = run.totals_of(Phase::Measure, facts.index)?;
            Some(TableRow::body(cells(&facts.name, totals)))
        })
        .collect();
    if rows.len() > 1 {
        rows.push(TableRow::sum(cells("(Sum)", &run.sum_of(Phase::Measure))));
    }
    let block = if rows.is_empty() {
        Block::Note("Nothing was measured.".to_owned())
    } else {
        Block::Table(Table {
            caption: "Batch transactions, and the I/O that each of them caused",
            columns: [vec![Column::text("Instance")], columns.to_vec()].concat(),
            rows,
        })
    };
    Section { id: "transactions", title: "Transactions", blocks: vec![block] }
}

fn cells(name: &str, totals: &PhaseTotals) -> Vec<Cell> {
    let counters = totals.counters;
    let batches = totals.count(Series::Transaction);
    let log_series = [Series::LogWrite, Series::LogFormat];
    let log_writes = log_series.iter().map(|series| totals.count(*series)).sum();
    let log_bytes: u64 = log_series
        .iter()
        .filter_map(|series| totals.series.get(series))
        .map(|total| total.bytes)
        .sum();
    let latency = totals.series.get(&Series::Transaction);
    vec![
        Cell::plain(name),
        number(Some(totals.rate(batches)), 3),
        Cell::or_none(latency.map(|total| format::milliseconds(total.latency.mean_ns()))),
        number(ratio(totals.count(Series::DatabaseRead), batches), 2),
        number(ratio(counters.pages_written, batches), 2),
        number(ratio(counters.log_volume_bytes, batches), 0),
        number(ratio(log_writes, batches), 2),
        number(ratio(log_bytes, counters.log_volume_bytes), 3),
        number(Some(totals.rate(counters.conflicts)), 3),
    ]
}

fn number(value: Option<f64>, decimals: usize) -> Cell {
    Cell::or_none(value.map(|value| format::number(value, decimals)))
}

fn ratio(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}
