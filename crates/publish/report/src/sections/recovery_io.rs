//! Storage requests of a log replay.

use record::{Phase, PhaseTotals, RunRecord, Series, SeriesTotal};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::{format, passes};

/// Kinds of requests of a replay, and their columns.
const REQUESTS: [(Series, [&str; 3], [&str; 3]); 3] = [
    (
        Series::DatabaseRead,
        [
            "I/O Database Reads Average Latency (msec)",
            "I/O Database Reads/sec",
            "I/O Database Reads Average Bytes",
        ],
        ["database-reads-latency", "database-reads-rate", "database-reads-bytes"],
    ),
    (
        Series::DatabaseWrite,
        [
            "I/O Database Writes Average Latency (msec)",
            "I/O Database Writes/sec",
            "I/O Database Writes Average Bytes",
        ],
        ["database-writes-latency", "database-writes-rate", "database-writes-bytes"],
    ),
    (
        Series::LogRead,
        [
            "I/O Log Reads Average Latency (msec)",
            "I/O Log Reads/sec",
            "I/O Log Reads Average Bytes",
        ],
        ["log-reads-latency", "log-reads-rate", "log-reads-bytes"],
    ),
];

/// The requests of the replay, if they were measured.
pub(super) fn section(run: &RunRecord) -> Option<Section> {
    let all = run.sum_of(Phase::Recover);
    if passes::replays(run).is_none() || all.span_ns == 0 {
        return None;
    }
    let columns = REQUESTS.iter().flat_map(|(_, labels, metrics)| {
        labels.iter().zip(metrics).map(|(label, metric)| Column::metric(*label, metric))
    });
    let mut rows: Vec<TableRow> = databases(run)
        .filter_map(|facts| {
            let totals = run.totals_of(Phase::Recover, facts.index)?;
            Some(TableRow::body(requests(&facts.name, totals)))
        })
        .collect();
    if rows.len() > 1 {
        rows.push(TableRow::sum(requests("(Sum)", &all)));
    }
    Some(Section {
        id: "recovery-io",
        title: "Recovery I/O Performance",
        blocks: vec![Block::Table(Table {
            caption: "The requests of the replay",
            columns: [Column::text("Instance")].into_iter().chain(columns).collect(),
            rows,
        })],
    })
}

fn requests(name: &str, totals: &PhaseTotals) -> Vec<Cell> {
    let cells = REQUESTS.iter().flat_map(|(series, _, _)| {
        let total = totals.series.get(series);
        let mean_ns = total.map_or(0.0, |total| total.latency.mean_ns());
        let bytes = total.map_or(0.0, SeriesTotal::mean_bytes);
        [
            format::milliseconds(mean_ns),
            format::number(totals.per_second(*series), 3),
            format::number(bytes, 3),
        ]
    });
    [name.to_owned()].into_iter().chain(cells).map(Cell::plain).collect()
}
