//! The four I/O tables of a Jetstress report, with its columns in its order, and next to each mean
//! the percentiles that Jetstress never had.

use std::iter;

use record::{Phase, PhaseTotals, RunRecord, Series, SeriesTotal};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// I/O that the transactions caused.
pub(super) fn transactional(run: &RunRecord) -> Section {
    let kinds = IoKinds {
        database_reads: &[Series::DatabaseRead],
        database_writes: &[Series::DatabaseWrite],
        // Replication reads logs, transactions never do.
        log_reads: &[],
        log_writes: &[Series::LogWrite],
    };
    Section {
        id: "transactional-io",
        title: "Transactional I/O Performance",
        blocks: vec![
            Block::Table(kinds.table(run, "I/O of the transactions, per database")),
            Block::Table(distribution(
                run,
                "Latency of the transactions' I/O in ms, over every single request",
                &[Series::DatabaseRead, Series::DatabaseWrite, Series::LogWrite],
            )),
        ],
    }
}

/// Reads of the background maintenance scan.
pub(super) fn maintenance(run: &RunRecord) -> Section {
    reads_of_one_kind(
        run,
        (
            "maintenance-io",
            "Background Database Maintenance I/O Performance",
            "Reads of the background maintenance scan",
        ),
        Series::MaintenanceRead,
        [
            Column::metric("Database Maintenance IO Reads/sec", "maintenance-reads-rate"),
            Column::metric(
                "Database Maintenance IO Reads Average Bytes",
                "maintenance-reads-bytes",
            ),
        ],
        "Background maintenance did not run.",
    )
}

/// Reads of closed logs, as additional copies would cause them.
pub(super) fn replication(run: &RunRecord) -> Section {
    reads_of_one_kind(
        run,
        (
            "log-replication-io",
            "Log Replication I/O Performance",
            "Reads of closed log files, as further copies would make them",
        ),
        Series::ReplicationRead,
        [
            Column::metric("I/O Log Reads/sec", "log-reads-rate"),
            Column::metric("I/O Log Reads Average Bytes", "log-reads-bytes"),
        ],
        "No further copies were simulated.",
    )
}

/// Everything that reached the storage during the measurement.
pub(super) fn total(run: &RunRecord) -> Section {
    let kinds = IoKinds {
        database_reads: &[Series::DatabaseRead, Series::MaintenanceRead],
        database_writes: &[Series::DatabaseWrite, Series::HeaderWrite],
        log_reads: &[Series::LogRead, Series::ReplicationRead],
        log_writes: &[Series::LogWrite, Series::LogFormat],
    };
    Section {
        id: "total-io",
        title: "Total I/O Performance",
        blocks: vec![
            Block::Table(kinds.table(run, "All I/O during the measurement, per database")),
            Block::Table(distribution(
                run,
                "Latency of all other I/O in ms, over every single request",
                &[
                    Series::MaintenanceRead,
                    Series::LogRead,
                    Series::ReplicationRead,
                    Series::LogFormat,
                    Series::HeaderWrite,
                    Series::Flush,
                ],
            )),
        ],
    }
}

fn reads_of_one_kind(
    run: &RunRecord,
    (id, title, caption): (&'static str, &'static str, &'static str),
    series: Series,
    columns: [Column; 2],
    otherwise: &str,
) -> Section {
    let sum = run.sum_of(Phase::Measure);
    let block = if sum.count(series) == 0 {
        Block::Note(otherwise.to_owned())
    } else {
        Block::Table(Table {
            caption,
            columns: [Column::text("Instance")].into_iter().chain(columns).collect(),
            rows: rows_per_database(run, |totals| rate_and_size(totals, series)),
        })
    };
    Section { id, title, blocks: vec![block] }
}

/// Requests per second and their mean bytes.
fn rate_and_size(totals: Option<&PhaseTotals>, series: Series) -> [Cell; 2] {
    let total = totals.map(|totals| merged(totals, &[series])).unwrap_or_default();
    let rate = totals.map_or(0.0, |totals| totals.rate(total.latency.count()));
    [format::number(rate, 3), format::number(total.mean_bytes(), 3)].map(Cell::plain)
}

/// Which requests each group of columns counts.
struct IoKinds {
    database_reads: &'static [Series],
    database_writes: &'static [Series],
    log_reads: &'static [Series],
    log_writes: &'static [Series],
}

impl IoKinds {
    /// The table with the twelve columns of Jetstress.
    fn table(&self, run: &RunRecord, caption: &'static str) -> Table {
        let table = Table {
            caption,
            columns: [vec![Column::text("Instance")], Self::columns()].concat(),
            rows: rows_per_database(run, |totals| self.cells(totals)),
        };
        let sum = run.sum_of(Phase::Measure);
        let has_log_reads = self.log_reads.iter().any(|series| sum.count(*series) > 0);
        if has_log_reads { table } else { without(table, &LOG_READS) }
    }

    fn columns() -> Vec<Column> {
        const DATABASE: &str = "I/O Database";
        const LOG: &str = "I/O Log";
        [
            (DATABASE, "Reads Average Latency (msec)", "database-reads-latency"),
            (DATABASE, "Writes Average Latency (msec)", "database-writes-latency"),
            (DATABASE, "Reads/sec", "database-reads-rate"),
            (DATABASE, "Writes/sec", "database-writes-rate"),
            (DATABASE, "Reads Average Bytes", "database-reads-bytes"),
            (DATABASE, "Writes Average Bytes", "database-writes-bytes"),
            (LOG, "Reads Average Latency (msec)", "log-reads-latency"),
            (LOG, "Writes Average Latency (msec)", "log-writes-latency"),
            (LOG, "Reads/sec", "log-reads-rate"),
            (LOG, "Writes/sec", "log-writes-rate"),
            (LOG, "Reads Average Bytes", "log-reads-bytes"),
            (LOG, "Writes Average Bytes", "log-writes-bytes"),
        ]
        .map(|(group, label, metric)| Column::metric(label, metric).under(group))
        .to_vec()
    }

    fn cells(&self, totals: Option<&PhaseTotals>) -> Vec<Cell> {
        let groups =
            [(self.database_reads, self.database_writes), (self.log_reads, self.log_writes)];
        let mut cells = Vec::with_capacity(12);
        for (reads, writes) in groups {
            let pair = [reads, writes].map(|series| {
                let total = totals.map(|totals| merged(totals, series)).unwrap_or_default();
                let rate = totals.map_or(0.0, |totals| totals.rate(total.latency.count()));
                (total, rate)
            });
            let latencies =
                pair.each_ref().map(|(total, _)| format::milliseconds(total.latency.mean_ns()));
            let rates = pair.each_ref().map(|(_, rate)| format::number(*rate, 3));
            let sizes = pair.each_ref().map(|(total, _)| format::number(total.mean_bytes(), 1));
            cells.extend([latencies, rates, sizes].concat().into_iter().map(Cell::plain));
        }
        cells
    }
}

/// The columns of log reads, which are all zeros if no logs were read.
const LOG_READS: [&str; 3] = ["log-reads-latency", "log-reads-rate", "log-reads-bytes"];

/// The table without the columns of these metrics.
fn without(mut table: Table, metrics: &[&str]) -> Table {
    let kept: Vec<bool> = table
        .columns
        .iter()
        .map(|column| column.metric.is_none_or(|metric| !metrics.contains(&metric)))
        .collect();
    table.columns = only(table.columns, &kept);
    for row in &mut table.rows {
        row.cells = only(std::mem::take(&mut row.cells), &kept);
    }
    table
}

/// The elements of `all` that are kept.
fn only<T>(all: Vec<T>, kept: &[bool]) -> Vec<T> {
    all.into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(of, _)| of).collect()
}

/// All requests of several kinds as one.
fn merged(totals: &PhaseTotals, series: &[Series]) -> SeriesTotal {
    let mut merged = SeriesTotal::default();
    for total in series.iter().filter_map(|series| totals.series.get(series)) {
        merged.merge(total);
    }
    merged
}

/// One row per database, and a total if there are several.
fn rows_per_database<C: IntoIterator<Item = Cell>>(
    run: &RunRecord,
    cells: impl Fn(Option<&PhaseTotals>) -> C,
) -> Vec<TableRow> {
    let mut rows: Vec<TableRow> = databases(run)
        .map(|facts| {
            let totals = run.totals_of(Phase::Measure, facts.index);
            TableRow::body(named(&facts.name, cells(totals)))
        })
        .collect();
    if rows.len() > 1 {
        rows.push(TableRow::sum(named("(All)", cells(Some(&run.sum_of(Phase::Measure))))));
    }
    rows
}

fn named(name: &str, cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    iter::once(Cell::plain(name)).chain(cells).collect()
}

/// Mean, percentiles and maximum of several kinds of requests, per database.
fn distribution(run: &RunRecord, caption: &'static str, kinds: &[Series]) -> Table {
    let columns = [
        ("Requests", "request-count"),
        ("Average", "latency-average"),
        ("p50", "latency-percentile"),
        ("p90", "latency-percentile"),
        ("p99", "latency-percentile"),
        ("p99.9", "latency-percentile"),
        ("Max", "latency-maximum"),
    ]
    .map(|(label, metric)| Column::metric(label, metric));
    let sum = run.sum_of(Phase::Measure);
    let several = run.start.databases.len() > 1;
    let mut rows = Vec::new();
    for &series in kinds {
        for facts in databases(run) {
            let totals = run.totals_of(Phase::Measure, facts.index);
            if let Some(total) = totals.and_then(|totals| totals.series.get(&series)) {
                rows.push(TableRow::body(distribution_cells(series, &facts.name, total)));
            }
        }
        if let Some(total) = sum.series.get(&series).filter(|_| several) {
            rows.push(TableRow::sum(distribution_cells(series, "(All)", total)));
        }
    }
    Table {
        caption,
        columns: [vec![Column::text("Requests of"), Column::text("Instance")], columns.to_vec()]
            .concat(),
        rows,
    }
}

fn distribution_cells(series: Series, name: &str, total: &SeriesTotal) -> Vec<Cell> {
    let summary = total.latency.summary();
    let mut cells = vec![
        Cell::plain(series.name()),
        Cell::plain(name),
        Cell::plain(format::whole(summary.count)),
        Cell::plain(format::milliseconds(summary.mean_ns)),
    ];
    let quantiles =
        [summary.p50_ns, summary.p90_ns, summary.p99_ns, summary.p999_ns, summary.maximum_ns];
    cells.extend(quantiles.map(|ns| Cell::plain(format::milliseconds(ns as f64))));
    cells
}
