//! Published results, fed as data: the tables of a public white paper, and a comparison of three
//! file systems, cell by cell.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, and says aloud that it was skipped"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use esrp::{TestedRun, Vendor, html, paper};
use record::{
    ImportedResult, PublishedBackup, PublishedChecksum, PublishedCounter, PublishedInstance,
    PublishedIo, PublishedOutcome, PublishedReplay, PublishedRequests, RunRecord, Start, TestType,
};
use verdict::{NamedRun, compare, judge};

type Row = BTreeMap<String, String>;

/// The published rows; `None` if they are not beside the checkout.
fn rows() -> Option<Vec<Row>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/reference/esrp.csv");
    let Ok(text) = fs::read_to_string(&file) else {
        println!("SKIPPED: {} is not there", file.display());
        return None;
    };
    Some(csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect())
}

fn number(row: &Row, column: &str) -> Option<f64> {
    row[column].parse().ok()
}

fn count(row: &Row, column: &str) -> Option<u64> {
    row[column].parse().ok()
}

fn requests(row: &Row, columns: [&str; 3]) -> PublishedRequests {
    let [latency_ms, per_second, bytes] = columns.map(|column| number(row, column));
    PublishedRequests { latency_ms, per_second, bytes }
}

fn instance(row: &Row) -> PublishedInstance {
    let writes = requests(row, ["db_write_lat_ms", "db_writes_s", "db_write_bytes"]);
    let log_writes = requests(row, ["log_write_lat_ms", "log_writes_s", "log_write_bytes"]);
    let log_reads = requests(row, ["log_read_lat_ms", "log_reads_s", "log_read_bytes"]);
    PublishedInstance {
        name: row["instance"].clone(),
        transactional: PublishedIo {
            database_reads: requests(row, ["db_read_lat_ms", "db_reads_s", "db_read_bytes"]),
            database_writes: writes,
            log_writes,
            ..PublishedIo::default()
        },
        total: PublishedIo {
            database_reads: requests(
                row,
                ["db_read_lat_ms", "total_db_reads_s", "total_db_read_bytes"],
            ),
            database_writes: writes,
            log_reads,
            log_writes,
        },
        ..PublishedInstance::default()
    }
}

/// A result of some rows, each of which is a database.
fn imported(rows: &[&Row]) -> ImportedResult {
    let first = rows[0];
    let backup = |row: &&Row| PublishedBackup {
        instance: row["instance"].clone(),
        database_mib: number(row, "backup_mb"),
        mib_per_second: number(row, "backup_mb_s"),
    };
    let replay = |row: &&Row| PublishedReplay {
        instance: row["instance"].clone(),
        logs: count(row, "recovery_logs"),
        seconds: number(row, "recovery_s"),
    };
    let databases: Option<u64> = rows.iter().map(|row| count(row, "db_size_mb")).sum();
    ImportedResult {
        file: "esrp.csv".to_owned(),
        instrument: format!("Jetstress {}", first["jetstress_version"]),
        engine: Some(format!("ESE {}", first["ese_version"])),
        outcome: (first["result"] == "Pass").then_some(PublishedOutcome::Pass),
        achieved_iops: (rows.len() == 1).then(|| number(first, "achieved_iops")).flatten(),
        initial_database_bytes: databases.map(|mib| mib << 20),
        instances: rows.iter().map(|row| instance(row)).collect(),
        host: number(first, "cpu_pct_avg")
            .map(|average| PublishedCounter {
                name: "% Processor Time".to_owned(),
                average: Some(average),
                ..PublishedCounter::default()
            })
            .into_iter()
            .collect(),
        backups: rows.iter().map(backup).filter(|of| of.mib_per_second.is_some()).collect(),
        replays: rows.iter().map(replay).filter(|of| of.logs.is_some()).collect(),
        ..ImportedResult::default()
    }
}

fn record(test: TestType, rows: &[&Row], checksums: &[&Row]) -> RunRecord {
    let mut result = imported(rows);
    result.checksums = checksums
        .iter()
        .map(|row| PublishedChecksum {
            database: row["instance"].clone(),
            seen_pages: count(row, "checksum_pages"),
            bad_pages: Some(0),
            ..PublishedChecksum::default()
        })
        .collect();
    let mut start = Start { test, imported: Some(Box::new(result)), ..Start::default() };
    start.machine.operating_system.clone_from(&rows[0]["os"]);
    start.settings.measure_ns = count(rows[0], "collection_s").unwrap_or(0) * 1_000_000_000;
    start.settings.mailboxes = count(rows[0], "mailboxes");
    start.settings.iops_per_mailbox = number(rows[0], "iops_per_mailbox");
    RunRecord::begin(start)
}

fn of<'a>(rows: &'a [Row], run: &str) -> Vec<&'a Row> {
    let names = [format!("{run}-1"), format!("{run}-2")];
    rows.iter().filter(|row| names.contains(&row["row_id"])).collect()
}

/// The cells of a table of the page, by its caption.
fn cells(page: &str, caption: &str) -> Vec<String> {
    let after = &page[page.find(&format!("<caption>{caption}")).unwrap()..];
    let table = &after[..after.find("</table>").unwrap()];
    let body = &table[table.find("<tbody>").unwrap()..];
    let cells = body.split("</td>").filter_map(|cell| Some(cell.rsplit_once("<td>")?.1.to_owned()));
    cells.collect()
}

const VENDOR: &str = "[[disks]]\ncapacity_gb = 600.0\ncount = 7\nformatted_gb = 3209.0\n";

/// The figures that the paper of seven disks printed in its tables 6 to 8, and the mailboxes of its
/// appendix. In table 4 the share of formatted capacity is as printed, but the share of databases
/// is not: the paper printed 46.5 %, a quotient of binary and decimal gigabytes.
#[test]
fn the_tables_of_a_published_paper_are_reproduced() {
    let Some(rows) = rows() else { return };
    let run = |name: &str, test: TestType, checksums: &str| {
        let record = record(test, &of(&rows, name), &of(&rows, checksums));
        TestedRun { name: name.to_owned(), verdict: judge(&record), record }
    };
    let runs = [
        run("002-perf", TestType::Performance, "002-chk-perf"),
        // A day of load that was called performance, and two hours that were called stress.
        run("002-stress", TestType::Performance, "002-chk-stress"),
        run("002-max", TestType::Stress, "002-chk-max"),
        run("002-backup", TestType::Backup, ""),
        run("002-replay", TestType::Recovery, ""),
    ];
    let vendor = Vendor::parse(VENDOR).unwrap();
    let page = html(&paper(&runs, &vendor, Vec::new()).unwrap());
    assert_eq!(
        cells(&page, "Table 6"),
        ["329.49", "204.28", "125.21", "12.77", "8.47", "100.08", "3.55"]
    );
    // The mean is 58.415.
    assert_eq!(cells(&page, "Table 7"), ["58.41", "116.83"]);
    assert_eq!(cells(&page, "Table 8"), ["1,002", "2.23"]);
    assert!(page.contains("about 1,900 mailboxes would make these requests"));
    assert!(page.contains("achieved 329.49 IOPS, and its 1,000 active mailboxes ask for 240"));
    assert!(page.contains("64,085,892 pages were read, and 0 were damaged"));
    let disks = cells(&page, "Table 4");
    let last: Vec<&str> = disks.iter().rev().take(2).map(String::as_str).collect();
    assert_eq!(last, ["49.7 %", "76.4 %"], "{disks:?}");
    println!("tables 6, 7 and 8 of the paper: 11 of 11 cells as published");
}

/// The published comparison of `NTFS`, `ReFS` and `ReFS` with `BitLocker`, value for value, and the
/// changes that its text draws from them.
#[test]
fn the_published_comparison_of_three_file_systems_is_reproduced() {
    let Some(rows) = rows() else { return };
    let published: Vec<&Row> =
        rows.iter().filter(|row| row["row_id"].starts_with("000-")).collect();
    let runs: Vec<NamedRun> = published
        .iter()
        .map(|row| {
            let record = record(TestType::Performance, &[row], &[]);
            NamedRun { name: row["row_id"].clone(), verdict: judge(&record), record }
        })
        .collect();
    let comparison = compare(&runs).unwrap();
    let kib = 1_024.0;
    let columns = [
        ("achieved_transactional_iops", "achieved_iops", 1.0),
        ("read_latency_mean", "db_read_lat_ms", 1.0),
        ("write_latency_mean", "db_write_lat_ms", 1.0),
        ("log_write_latency_mean", "log_write_lat_ms", 1.0),
        ("writes", "db_writes_s", 1.0),
        ("log_writes", "log_writes_s", 1.0),
        ("write_size", "db_write_bytes", kib),
        ("log_write_size", "log_write_bytes", kib),
        ("all_reads", "total_db_reads_s", 1.0),
        ("all_read_size", "total_db_read_bytes", kib),
        ("log_reads", "log_reads_s", 1.0),
        ("log_read_latency", "log_read_lat_ms", 1.0),
        ("log_read_size", "log_read_bytes", kib),
        ("processors", "cpu_pct_avg", 1.0),
    ];
    let mut compared = 0;
    for (metric, column, unit) in columns {
        let row = comparison.rows.iter().find(|row| row.metric.id == metric);
        let row = row.unwrap_or_else(|| panic!("{metric} is not compared"));
        for (value, published) in row.values.iter().zip(&published) {
            let (value, published) = (value.value.unwrap() * unit, number(published, column));
            let off = (value - published.unwrap()).abs();
            assert!(off < 1e-6, "{metric}: {value} and {published:?} was published");
            compared += 1;
        }
    }
    for (metric, changes) in [
        ("achieved_transactional_iops", [-13, -14]),
        ("read_latency_mean", [23, 14]),
        ("write_latency_mean", [63, 56]),
        ("log_write_latency_mean", [40, 30]),
    ] {
        let row = comparison.rows.iter().find(|row| row.metric.id == metric).unwrap();
        for (value, published) in row.values[1..].iter().zip(changes) {
            let change = value.change.unwrap();
            assert!((change.percent - f64::from(published)).abs() < 0.6, "{metric}: {change:?}");
            assert_eq!(change.margin_percent, None, "published averages have no margin");
        }
    }
    println!("{compared} of {} published cells, 8 changes", columns.len() * published.len());
}
