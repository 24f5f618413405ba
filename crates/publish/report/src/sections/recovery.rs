//! `SoftRecovery Statistics`: duration and amount of work of each database's log replay.

use record::{Replay, RunRecord};

use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::{format, meaning, passes};

/// Logs and seconds per database, for a recovery test.
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

/// States what the logs were replayed into.
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

/// Sums all databases. Their replays run concurrently, so the longest counts.
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

/// The cells of a row. `seconds` is the time per log file; in the total row it is the mean over
/// databases.
fn cells(name: &str, of: &Replay, seconds: Option<f64>) -> Vec<Cell> {
    vec![
        Cell::plain(name),
        Cell::plain(format::whole(of.logs)),
        Cell::plain(format::number(of.elapsed_ns as f64 / 1e9, 1)),
        Cell::or_none(seconds.map(|seconds| format::number(seconds, 3))),
        Cell::plain(format::whole(of.records)),
        Cell::plain(format::whole(of.pages_changed)),
        Cell::plain(format::whole(of.pages_up_to_date)),
        per_log(of, of.pages_read),
        per_log(of, of.pages_written),
    ]
}

fn per_log(of: &Replay, pages: u64) -> Cell {
    let rate = (of.logs > 0).then(|| pages as f64 / of.logs as f64);
    Cell::or_none(rate.map(|rate| format::number(rate, 1)))
}
