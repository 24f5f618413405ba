//! `SoftRecovery Statistics`: what the replay of each database's log took and did, and its I/O.

use record::{Phase, PhaseTotals, Replay, RunRecord, Series, SeriesTotal};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::{format, meaning, passes};

/// Logs and seconds per database, where the test is one of recovery.
pub(super) fn statistics(run: &RunRecord) -> Option<Section> {
    let replays = passes::replays(run)?;
    let block = if replays.is_empty() {
        Block::Note("No database came to the end of its log.".to_owned())
    } else {
        Block::Table(table(run, replays))
    };
    Some(Section {
        id: "soft-recovery-statistics",
        title: "SoftRecovery Statistics - All",
        blocks: vec![Block::Note(into(run)), block],
    })
}

/// What the logs were replayed into.
fn into(run: &RunRecord) -> String {
    match run.start.settings.passive_copy_depth_bytes {
        None => {
            "The logs were replayed into the databases that had generated them, which hold most \
                 of their changes already: a replay reads much and writes little."
                .to_owned()
        }
        Some(depth) => format!(
            "The logs were replayed into copies of the databases from before them, which were \
             written as passive copies of a checkpoint depth of {} are.",
            format::size(depth)
        ),
    }
}

fn table(run: &RunRecord, replays: &[Replay]) -> Table {
    let columns = [
        ("Log files replayed", "replayed-logs"),
        ("Elapsed seconds", "replay-elapsed"),
        ("Seconds/log file", "replay-time"),
        ("Records", "replay-records"),
        ("Page changes made", "replay-changes"),
        ("Page changes found", "replay-found"),
        ("Pages read/log file", "replay-pages-read"),
        ("Pages written/log file", "replay-pages-written"),
    ]
    .map(|(label, metric)| Column::metric(label, metric));
    let mut rows: Vec<TableRow> = replays
        .iter()
        .map(|of| {
            let seconds = of.ns_per_log().map(|ns| ns / 1e9);
            TableRow::body(cells(&meaning::database_name(run, of.database), of, seconds))
        })
        .collect();
    if rows.len() > 1 {
        let whole = sum(replays);
        rows.push(TableRow::sum(cells("(Sum)", &whole, passes::seconds_per_log(replays))));
    }
    Table {
        caption: "The logs of every database, replayed at the same time",
        columns: [vec![Column::text("Database Instance")], columns.to_vec()].concat(),
        rows,
    }
}

/// All databases. Their replays go on at the same time, so the longest counts.
fn sum(replays: &[Replay]) -> Replay {
    let mut sum = Replay::default();
    for of in replays {
        sum.logs += of.logs;
        sum.records += of.records;
        sum.pages_changed += of.pages_changed;
        sum.pages_up_to_date += of.pages_up_to_date;
        sum.pages_read += of.pages_read;
        sum.pages_written += of.pages_written;
        sum.elapsed_ns = sum.elapsed_ns.max(of.elapsed_ns);
    }
    sum
}

/// `seconds` is the time of each log file: the sum has the mean over databases.
fn cells(name: &str, of: &Replay, seconds: Option<f64>) -> Vec<Cell> {
    let per_log = |pages: u64| {
        let rate = (of.logs > 0).then(|| pages as f64 / of.logs as f64);
        Cell::or_none(rate.map(|rate| format::number(rate, 1)))
    };
    vec![
        Cell::plain(name),
        Cell::plain(format::whole(of.logs)),
        Cell::plain(format::number(of.elapsed_ns as f64 / 1e9, 1)),
        Cell::or_none(seconds.map(|seconds| format::number(seconds, 3))),
        Cell::plain(format::whole(of.records)),
        Cell::plain(format::whole(of.pages_changed)),
        Cell::plain(format::whole(of.pages_up_to_date)),
        per_log(of.pages_read),
        per_log(of.pages_written),
    ]
}

/// What a replay asks of the storage, and its columns.
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

/// The requests of the replay, where they were measured.
pub(super) fn input_output(run: &RunRecord) -> Option<Section> {
    let all = run.sum_of(Phase::Recover);
    if passes::replays(run).is_none() || all.span_ns == 0 {
        return None;
    }
    let columns = REQUESTS.iter().flat_map(|(_, labels, metrics)| {
        labels.iter().zip(metrics).map(|(label, metric)| Column::metric(label, metric))
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
