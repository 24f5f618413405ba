//! "Checksum Statistics" and "Backup Statistics": what a pass over every page found, and how the
//! storage did meanwhile.

use record::{Checksum, Phase, PhaseTotals, RunRecord, Series, TestType};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow, Tone};
use crate::{format, meaning, passes};

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
        let caption = "Every page of every database, read and verified";
        Block::Table(statistics(run, caption, &run.checksums))
    };
    Section { id: "checksum-statistics", title: "Checksum Statistics - All", blocks: vec![block] }
}

/// The same of a backup, where one was made.
pub(super) fn backup(run: &RunRecord) -> Option<Section> {
    let block = match (run.backups.is_empty(), run.start.test) {
        (true, TestType::Backup) => Block::Note("No database was read to its end.".to_owned()),
        (true, _) => return None,
        (false, _) => {
            let caption = "Every database, read as a backup does";
            Block::Table(statistics(run, caption, &run.backups))
        }
    };
    Some(Section {
        id: "backup-statistics",
        title: "Database Backup Statistics - All",
        blocks: vec![block],
    })
}

fn statistics(run: &RunRecord, caption: &'static str, pass: &[Checksum]) -> Table {
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
    let mut rows: Vec<TableRow> = pass
        .iter()
        .map(|of| TableRow::body(cells(&meaning::database_name(run, of.database), of)))
        .collect();
    if rows.len() > 1 {
        rows.push(TableRow::sum(cells("(Sum)", &passes::sum(pass))));
    }
    Table { caption, columns: [vec![Column::text("Database")], columns.to_vec()].concat(), rows }
}

fn cells(name: &str, of: &Checksum) -> Vec<Cell> {
    let mebibytes = of.bytes as f64 / 1_048_576.0;
    let seconds = of.elapsed_ns as f64 / 1e9;
    let rate = of.mib_per_second().map(|rate| format::number(rate, 1));
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

fn damage(pages: u64) -> Cell {
    let tone = if pages > 0 { Tone::Fail } else { Tone::Plain };
    Cell::plain(format::whole(pages)).toned(tone)
}

/// The reads of a pass and how they are shown.
struct PassReads {
    phase: Phase,
    series: Series,
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    metrics: [&'static str; 3],
}

const CHECKSUM_READS: PassReads = PassReads {
    phase: Phase::Check,
    series: Series::ChecksumRead,
    id: "disk-subsystem-of-checksum",
    title: "Disk Subsystem Performance (of checksum)",
    caption: "The reads of the checksum pass",
    metrics: ["checksum-reads-latency", "checksum-reads-rate", "checksum-reads-bytes"],
};

const BACKUP_READS: PassReads = PassReads {
    phase: Phase::Backup,
    series: Series::BackupRead,
    id: "disk-subsystem-of-backup",
    title: "Disk Subsystem Performance (of backup)",
    caption: "The reads of the backup",
    metrics: ["backup-reads-latency", "backup-reads-rate", "backup-reads-bytes"],
};

/// The reads of the checksum pass, where they were measured.
pub(super) fn checksum_reads(run: &RunRecord) -> Option<Section> {
    disk_subsystem(run, &CHECKSUM_READS)
}

/// The reads of a backup, where they were measured.
pub(super) fn backup_reads(run: &RunRecord) -> Option<Section> {
    disk_subsystem(run, &BACKUP_READS)
}

fn disk_subsystem(run: &RunRecord, reads: &PassReads) -> Option<Section> {
    let all = run.sum_of(reads.phase);
    if all.count(reads.series) == 0 {
        return None;
    }
    let labels = ["Average Latency (msec)", "Reads/sec", "Average Bytes/Read"];
    let columns = labels.iter().zip(reads.metrics);
    let columns = columns.map(|(label, metric)| Column::metric(label, metric));
    let columns = [Column::text("Instance")].into_iter().chain(columns);
    let mut rows: Vec<TableRow> = databases(run)
        .filter_map(|facts| {
            let totals = run.totals_of(reads.phase, facts.index)?;
            Some(TableRow::body(read_cells(&facts.name, totals, reads.series)))
        })
        .collect();
    if rows.len() > 1 {
        rows.push(TableRow::sum(read_cells("(Sum)", &all, reads.series)));
    }
    Some(Section {
        id: reads.id,
        title: reads.title,
        blocks: vec![Block::Table(Table {
            caption: reads.caption,
            columns: columns.collect(),
            rows,
        })],
    })
}

fn read_cells(name: &str, totals: &PhaseTotals, series: Series) -> Vec<Cell> {
    let total = totals.series.get(&series);
    let mean_ns = total.map_or(0.0, |total| total.latency.mean_ns());
    let bytes = total.map_or(0.0, record::SeriesTotal::mean_bytes);
    let rate = totals.per_second(series);
    vec![
        Cell::plain(name),
        Cell::plain(format::milliseconds(mean_ns)),
        Cell::plain(format::number(rate, 3)),
        Cell::plain(format::number(bytes, 3)),
    ]
}
