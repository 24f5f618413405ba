//! The tables of a published result. A cell without a value is marked as such.

use record::{ImportedResult, PublishedInstance, PublishedIo, PublishedRequests};

use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// Every table that has rows.
pub(super) fn sections(imported: &ImportedResult) -> Vec<Section> {
    [
        as_published(imported),
        io(imported, ("transactional-io", "Transactional I/O Performance"), |of| of.transactional),
        reads(
            imported,
            ("maintenance-io", "Background Database Maintenance I/O Performance"),
            ["maintenance-reads-rate", "maintenance-reads-bytes"],
            |of| of.maintenance,
        ),
        reads(
            imported,
            ("log-replication-io", "Log Replication I/O Performance"),
            ["log-reads-rate", "log-reads-bytes"],
            |of| of.replication,
        ),
        io(imported, ("total-io", "Total I/O Performance"), |of| of.total),
        host(imported),
        checksums(imported),
        backups(imported),
        replays(imported),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn section(
    (id, title): (&'static str, &'static str),
    columns: Vec<Column>,
    rows: Vec<TableRow>,
) -> Option<Section> {
    let caption = "As published";
    let table = Table { caption, columns, rows };
    (!table.rows.is_empty()).then(|| Section { id, title, blocks: vec![Block::Table(table)] })
}

fn figure(value: Option<f64>) -> Cell {
    Cell::or_none(value.map(|value| format::number(value, 3)))
}

fn count(value: Option<u64>) -> Cell {
    Cell::or_none(value.map(format::whole))
}

fn as_published(imported: &ImportedResult) -> Option<Section> {
    let columns = ["Section", "Name", "Value"].map(Column::text).to_vec();
    let rows = imported
        .facts
        .iter()
        .map(|fact| {
            TableRow::body([&fact.section, &fact.name, &fact.value].map(Cell::plain).to_vec())
        })
        .collect();
    section(("as-published", "Names and Values"), columns, rows)
}

/// The columns for one kind of request.
fn group(group: &'static str, [latency, rate, bytes]: [&'static str; 3]) -> [Column; 3] {
    [
        Column::metric("ms", latency).under(group),
        Column::metric("/sec", rate).under(group),
        Column::metric("Bytes", bytes).under(group),
    ]
}

/// A table with the twelve columns of a Jetstress I/O table.
fn io(
    imported: &ImportedResult,
    names: (&'static str, &'static str),
    of: fn(&PublishedInstance) -> PublishedIo,
) -> Option<Section> {
    let columns = [
        group(
            "Database Reads",
            ["database-reads-latency", "database-reads-rate", "database-reads-bytes"],
        ),
        group(
            "Database Writes",
            ["database-writes-latency", "database-writes-rate", "database-writes-bytes"],
        ),
        group("Log Reads", ["log-reads-latency", "log-reads-rate", "log-reads-bytes"]),
        group("Log Writes", ["log-writes-latency", "log-writes-rate", "log-writes-bytes"]),
    ];
    let columns = [vec![Column::text("Instance")], columns.concat()].concat();
    let rows = imported
        .instances
        .iter()
        .filter(|row| of(row) != PublishedIo::default())
        .map(|row| {
            let PublishedIo { database_reads, database_writes, log_reads, log_writes } = of(row);
            let kinds = [database_reads, database_writes, log_reads, log_writes];
            let figures = kinds.iter().flat_map(|of| [of.latency_ms, of.per_second, of.bytes]);
            TableRow::body(
                [Cell::plain(&row.name)].into_iter().chain(figures.map(figure)).collect(),
            )
        })
        .collect();
    section(names, columns, rows)
}

/// A table of reads, with their rate and their size.
fn reads(
    imported: &ImportedResult,
    names: (&'static str, &'static str),
    [rate, bytes]: [&'static str; 2],
    of: fn(&PublishedInstance) -> PublishedRequests,
) -> Option<Section> {
    let columns = vec![
        Column::text("Instance"),
        Column::metric("Reads/sec", rate),
        Column::metric("Average Bytes", bytes),
    ];
    let rows = imported
        .instances
        .iter()
        .filter(|row| of(row).per_second.is_some())
        .map(|row| {
            let reads = of(row);
            TableRow::body(vec![
                Cell::plain(&row.name),
                figure(reads.per_second),
                figure(reads.bytes),
            ])
        })
        .collect();
    section(names, columns, rows)
}

fn host(imported: &ImportedResult) -> Option<Section> {
    let columns = vec![
        Column::text("Counter"),
        Column::numbers("Average"),
        Column::numbers("Minimum"),
        Column::numbers("Maximum"),
    ];
    let rows = imported
        .host
        .iter()
        .map(|counter| {
            let figures = [counter.average, counter.minimum, counter.maximum].map(figure);
            TableRow::body([Cell::plain(&counter.name)].into_iter().chain(figures).collect())
        })
        .collect();
    section(("host-system", "Host System Performance"), columns, rows)
}

fn checksums(imported: &ImportedResult) -> Option<Section> {
    let columns = vec![
        Column::text("Database"),
        Column::numbers("Seen pages"),
        Column::numbers("Bad pages"),
        Column::numbers("Correctable pages"),
        Column::numbers("Wrong page-number pages"),
    ];
    let rows = imported
        .checksums
        .iter()
        .map(|of| {
            let counts =
                [of.seen_pages, of.bad_pages, of.correctable_pages, of.wrong_page_number_pages];
            let cells = counts.map(count);
            TableRow::body([Cell::plain(&of.database)].into_iter().chain(cells).collect())
        })
        .collect();
    section(("checksum-statistics", "Checksum Statistics"), columns, rows)
}

fn backups(imported: &ImportedResult) -> Option<Section> {
    let columns = vec![
        Column::text("Database Instance"),
        Column::numbers("Database Size (MiB)"),
        Column::metric("MiB Transferred/sec", "checksum-rate"),
    ];
    let rows = imported
        .backups
        .iter()
        .map(|of| {
            let name = Cell::plain(&of.instance);
            TableRow::body(vec![name, figure(of.database_mib), figure(of.mib_per_second)])
        })
        .collect();
    section(("backup-statistics", "Database Backup Statistics"), columns, rows)
}

fn replays(imported: &ImportedResult) -> Option<Section> {
    let columns = vec![
        Column::text("Database Instance"),
        Column::metric("Log files replayed", "replayed-logs"),
        Column::numbers("Elapsed seconds"),
    ];
    let rows = imported
        .replays
        .iter()
        .map(|of| {
            TableRow::body(vec![Cell::plain(&of.instance), count(of.logs), figure(of.seconds)])
        })
        .collect();
    section(("replay-statistics", "SoftRecovery Statistics"), columns, rows)
}

/// Seconds per log file, as a plain mean over databases.
pub(super) fn seconds_per_log(imported: &ImportedResult) -> Option<f64> {
    let each = imported.replays.iter().map(|of| {
        let logs = of.logs.filter(|logs| *logs > 0)?;
        Some(of.seconds? / logs as f64)
    });
    let sum = each.sum::<Option<f64>>().filter(|_| !imported.replays.is_empty());
    sum.map(|sum| sum / imported.replays.len() as f64)
}
