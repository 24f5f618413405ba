//! "Disk Subsystem Performance" of the passes over whole files: how the storage performed during
//! them.

use record::{Phase, PhaseTotals, RunRecord, Series};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// The requests of a pass and how they are shown.
struct PassRequests {
    phase: Phase,
    series: Series,
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    labels: [&'static str; 3],
    metrics: [&'static str; 3],
}

const OF_READS: [&str; 3] = ["Average Latency (msec)", "Reads/sec", "Average Bytes/Read"];
const OF_WRITES: [&str; 3] = ["Average Latency (msec)", "Writes/sec", "Average Bytes/Write"];

const CHECKSUM_READS: PassRequests = PassRequests {
    phase: Phase::Check,
    series: Series::ChecksumRead,
    id: "disk-subsystem-of-checksum",
    title: "Disk Subsystem Performance (of checksum)",
    caption: "The reads of the checksum pass",
    labels: OF_READS,
    metrics: ["checksum-reads-latency", "checksum-reads-rate", "checksum-reads-bytes"],
};

const BACKUP_READS: PassRequests = PassRequests {
    phase: Phase::Backup,
    series: Series::BackupRead,
    id: "disk-subsystem-of-backup",
    title: "Disk Subsystem Performance (of backup)",
    caption: "The reads of the backup",
    labels: OF_READS,
    metrics: ["backup-reads-latency", "backup-reads-rate", "backup-reads-bytes"],
};

const COPY_WRITES: PassRequests = PassRequests {
    phase: Phase::Backup,
    series: Series::BackupCopyWrite,
    id: "disk-subsystem-of-backup-copies",
    title: "Disk Subsystem Performance (of the copies of the backup)",
    caption: "The writes of the copies",
    labels: OF_WRITES,
    metrics: ["backup-copy-writes-latency", "backup-copy-writes-rate", "backup-copy-writes-bytes"],
};

const COPY_READS: PassRequests = PassRequests {
    phase: Phase::Check,
    series: Series::BackupCopyRead,
    id: "disk-subsystem-of-reading-back",
    title: "Disk Subsystem Performance (of reading the copies back)",
    caption: "The reads of the copies",
    labels: OF_READS,
    metrics: ["backup-copy-reads-latency", "backup-copy-reads-rate", "backup-copy-reads-bytes"],
};

/// The reads of the checksum pass, if they were measured.
pub(super) fn checksum_reads(run: &RunRecord) -> Option<Section> {
    disk_subsystem(run, &CHECKSUM_READS)
}

/// The reads of a backup, if they were measured.
pub(super) fn backup_reads(run: &RunRecord) -> Option<Section> {
    disk_subsystem(run, &BACKUP_READS)
}

/// The writes of the copies of a backup, and the reads by which they were verified.
pub(super) fn copy_requests(run: &RunRecord) -> [Option<Section>; 2] {
    [disk_subsystem(run, &COPY_WRITES), disk_subsystem(run, &COPY_READS)]
}

fn disk_subsystem(run: &RunRecord, of_pass: &PassRequests) -> Option<Section> {
    let all = run.sum_of(of_pass.phase);
    if all.count(of_pass.series) == 0 {
        return None;
    }
    let columns = of_pass.labels.iter().zip(of_pass.metrics);
    let columns = columns.map(|(label, metric)| Column::metric(*label, metric));
    let columns = [Column::text("Instance")].into_iter().chain(columns);
    let mut rows: Vec<TableRow> = databases(run)
        .filter_map(|facts| {
            let totals = run.totals_of(of_pass.phase, facts.index)?;
            Some(TableRow::body(cells(&facts.name, totals, of_pass.series)))
        })
        .collect();
    if rows.len() > 1 {
        rows.push(TableRow::sum(cells("(Sum)", &all, of_pass.series)));
    }
    Some(Section {
        id: of_pass.id,
        title: of_pass.title,
        blocks: vec![Block::Table(Table {
            caption: of_pass.caption,
            columns: columns.collect(),
            rows,
        })],
    })
}

fn cells(name: &str, totals: &PhaseTotals, series: Series) -> Vec<Cell> {
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
