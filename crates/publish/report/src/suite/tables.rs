//! The result tables of a document of the Exchange Solution Reviewed Program, using its arithmetic:
//! rates of a load are sums over databases, latencies plain means.

use record::{
    Phase, PublishedRequests, RunRecord, ServerBackup, ServerLoad, ServerReplay, TestType,
};

use super::SuiteTest;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// The tables of the tests that were made.
pub(super) fn sections(tests: &[SuiteTest<'_>]) -> Vec<Section> {
    [performance(tests), backup(tests), replay(tests)].into_iter().flatten().collect()
}

fn of_kind<'a>(tests: &'a [SuiteTest<'_>], kinds: &[TestType]) -> Vec<(TestType, &'a RunRecord)> {
    tests
        .iter()
        .filter(|test| kinds.contains(&test.kind))
        .filter_map(|test| Some((test.kind, test.run()?)))
        .collect()
}

/// "Storage Performance Results".
fn performance(tests: &[SuiteTest<'_>]) -> Option<Section> {
    let runs = of_kind(tests, &[TestType::Performance, TestType::Stress]);
    let measured = runs.into_iter().filter(|(_, run)| run.span_ns(Phase::Measure) > 0);
    let rows = measured.map(|(kind, run)| TableRow::body(performance_cells(kind, run)));
    let columns = [
        ("Database Disks Transfers/sec", "achieved-transactional-iops"),
        ("Database Disks Reads/sec", "database-reads-rate"),
        ("Database Disks Writes/sec", "database-writes-rate"),
        ("Average Database Disk Read Latency (ms)", "database-reads-latency"),
        ("Average Database Disk Write Latency (ms)", "database-writes-latency"),
        ("Log Disks Writes/sec", "log-writes-rate"),
        ("Average Log Disk Write Latency (ms)", "log-writes-latency"),
    ];
    section(
        ("storage-performance-results", "Storage Performance Results"),
        "Rates of all databases together; a latency is the plain mean over databases, and that of \
         the worst database is among the findings",
        &columns,
        rows.collect(),
    )
}

fn performance_cells(kind: TestType, run: &RunRecord) -> Vec<Cell> {
    let ServerLoad { transfers_per_second, reads, writes, log_writes } = ServerLoad::of(run);
    let cells = [
        kind.name().to_owned(),
        rate(transfers_per_second),
        rate(reads.per_second),
        rate(writes.per_second),
        latency(reads),
        latency(writes),
        rate(log_writes.per_second),
        latency(log_writes),
    ];
    cells.map(Cell::plain).to_vec()
}

fn rate(per_second: Option<f64>) -> String {
    format::number(per_second.unwrap_or(0.0), 2)
}

fn latency(of: PublishedRequests) -> String {
    format::number(of.latency_ms.unwrap_or(0.0), 3)
}

/// "Database Read-Only Performance".
fn backup(tests: &[SuiteTest<'_>]) -> Option<Section> {
    let runs = of_kind(tests, &[TestType::Backup]);
    section(
        ("database-read-only-performance", "Database Read-Only Performance"),
        "Per database: the mean of their rates, each over its own time. In total: all bytes over \
         the time until the last database was read",
        &[
            ("MiB read/sec per database", "checksum-rate"),
            ("MiB read/sec total per server", "checksum-rate"),
        ],
        runs.into_iter().filter_map(backup_row).collect(),
    )
}

/// "Log Recovery/Replay".
fn replay(tests: &[SuiteTest<'_>]) -> Option<Section> {
    let runs = of_kind(tests, &[TestType::Recovery]);
    section(
        ("log-recovery-replay", "Log Recovery/Replay"),
        "Log files of all databases together; the time for one is the mean over databases",
        &[
            ("Log files replayed, all databases", "replayed-logs"),
            ("Average time to play one log file (sec)", "replay-time"),
        ],
        runs.into_iter().filter_map(replay_row).collect(),
    )
}

fn backup_row((kind, run): (TestType, &RunRecord)) -> Option<TableRow> {
    let ServerBackup { mib_per_second_each, mib_per_second } = ServerBackup::of(run)?;
    Some(TableRow::body(vec![
        Cell::plain(kind.name()),
        Cell::plain(format::three_digits(mib_per_second_each)),
        Cell::plain(format::three_digits(mib_per_second)),
    ]))
}

fn replay_row((kind, run): (TestType, &RunRecord)) -> Option<TableRow> {
    let ServerReplay { logs, seconds_per_log } = ServerReplay::of(run)?;
    Some(TableRow::body(vec![
        Cell::plain(kind.name()),
        Cell::plain(format::whole(logs)),
        Cell::plain(format::number(seconds_per_log, 3)),
    ]))
}

/// A table of tests; `None` without rows.
fn section(
    (id, title): (&'static str, &'static str),
    caption: &'static str,
    columns: &[(&'static str, &'static str)],
    rows: Vec<TableRow>,
) -> Option<Section> {
    let columns = columns.iter().map(|(label, metric)| Column::metric(*label, metric));
    let columns = [Column::text("Test")].into_iter().chain(columns).collect();
    (!rows.is_empty()).then(|| Section {
        id,
        title,
        blocks: vec![Block::Table(Table { caption, columns, rows })],
    })
}
