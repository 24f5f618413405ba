//! "Checksum Statistics": what the pass over every page found, and how the storage did meanwhile.

use record::{Checksum, Phase, PhaseTotals, RunRecord, Series};

use super::databases;
use crate::document::{Block, Cell, Column, Row, Section, Table, Tone};
use crate::{format, meaning};

/// Pages by what is wrong with them, per database.
pub(super) fn checksums(run: &RunRecord) -> Section {
    let block = if run.checksums.is_empty() {
        let why = if run.start.settings.verify_checksums {
            "The run ended before the checksum pass."
        } else {
            "The plan asks for no checksum pass."
        };
        Block::Note(why.to_owned())
    } else {
        Block::Table(statistics(run))
    };
    Section {
        id: "checksum-statistics",
        title: "Checksum Statistics - All",
        blocks: vec![block],
    }
}

fn statistics(run: &RunRecord) -> Table {
    let columns = [
        ("Seen pages", "seen-pages"),
        ("Bad pages", "bad-pages"),
        ("Correctable pages", "correctable-pages"),
        ("Wrong page-number pages", "wrong-page-number-pages"),
        ("Lost flushes", "lost-flush-pages"),
        ("Uninitialised pages", "uninitialised-pages"),
        ("Foreign pages", "foreign-pages"),
        ("File length (MiB)", "file-length"),
        ("Seconds taken", "checksum-time"),
        ("MiB/s", "checksum-rate"),
    ]
    .map(|(label, metric)| Column::metric(label, metric));
    let mut rows: Vec<Row> = run
        .checksums
        .iter()
        .map(|of| Row::body(cells(&meaning::database_name(run, of.database), of)))
        .collect();
    if rows.len() > 1 {
        rows.push(Row::sum(cells("(Sum)", &sum(&run.checksums))));
    }
    Table {
        caption: "Every page of every database, read and verified after the load",
        columns: [vec![Column::text("Database")], columns.to_vec()].concat(),
        rows,
    }
}

/// Pages and bytes add up; the databases are read at the same time, so the longest time counts.
fn sum(all: &[Checksum]) -> Checksum {
    let mut sum = Checksum::default();
    for of in all {
        sum.seen_pages += of.seen_pages;
        sum.bad_pages += of.bad_pages;
        sum.correctable_pages += of.correctable_pages;
        sum.wrong_page_number_pages += of.wrong_page_number_pages;
        sum.lost_flush_pages += of.lost_flush_pages;
        sum.uninitialised_pages += of.uninitialised_pages;
        sum.foreign_pages += of.foreign_pages;
        sum.bytes += of.bytes;
        sum.elapsed_ns = sum.elapsed_ns.max(of.elapsed_ns);
    }
    sum
}

fn cells(name: &str, of: &Checksum) -> Vec<Cell> {
    let mebibytes = of.bytes as f64 / 1_048_576.0;
    let seconds = of.elapsed_ns as f64 / 1e9;
    let rate = (seconds > 0.0).then(|| format::number(mebibytes / seconds, 1));
    let damage = |pages: u64| {
        let tone = if pages > 0 { Tone::Fail } else { Tone::Plain };
        Cell::plain(format::whole(pages)).toned(tone)
    };
    vec![
        Cell::plain(name),
        Cell::plain(format::whole(of.seen_pages)),
        damage(of.bad_pages),
        damage(of.correctable_pages),
        damage(of.wrong_page_number_pages),
        damage(of.lost_flush_pages),
        Cell::plain(format::whole(of.uninitialised_pages)),
        Cell::plain(format::whole(of.foreign_pages)),
        Cell::plain(format::number(mebibytes, 1)),
        Cell::plain(format::number(seconds, 1)),
        Cell::or_none(rate),
    ]
}

/// The reads of the pass, where they were measured.
pub(super) fn disk_subsystem(run: &RunRecord) -> Option<Section> {
    let all = run.sum_of(Phase::Check);
    if all.count(Series::ChecksumRead) == 0 {
        return None;
    }
    let columns = [
        ("Average Latency (msec)", "checksum-reads-latency"),
        ("Reads/sec", "checksum-reads-rate"),
        ("Average Bytes/Read", "checksum-reads-bytes"),
    ]
    .map(|(label, metric)| Column::metric(label, metric));
    let cells = |name: &str, totals: &PhaseTotals| {
        let total = totals.series.get(&Series::ChecksumRead);
        let mean_ns = total.map_or(0.0, |total| total.latency.mean_ns());
        let bytes = total.map_or(0.0, record::SeriesTotal::mean_bytes);
        let rate = totals.per_second(Series::ChecksumRead);
        vec![
            Cell::plain(name),
            Cell::plain(format::milliseconds(mean_ns)),
            Cell::plain(format::number(rate, 3)),
            Cell::plain(format::number(bytes, 3)),
        ]
    };
    let mut rows: Vec<Row> = databases(run)
        .filter_map(|facts| {
            let totals = run.totals_of(Phase::Check, facts.index)?;
            Some(Row::body(cells(&facts.name, totals)))
        })
        .collect();
    if rows.len() > 1 {
        rows.push(Row::sum(cells("(Sum)", &all)));
    }
    Some(Section {
        id: "disk-subsystem-of-checksum",
        title: "Disk Subsystem Performance (of checksum)",
        blocks: vec![Block::Table(Table {
            caption: "The reads of the checksum pass",
            columns: [vec![Column::text("Instance")], columns.to_vec()].concat(),
            rows,
        })],
    })
}
