//! Published instance rows against the published figures of their servers.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, and says aloud that it was skipped"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use jetstress::{InstanceRow, PublishedSummary};

/// Rows by the names of their columns.
fn table(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or(0.0)
}

fn instance(row: &BTreeMap<String, String>) -> InstanceRow {
    InstanceRow {
        database_reads_per_second: number(row, "db_reads_s"),
        database_writes_per_second: number(row, "db_writes_s"),
        database_read_ms: number(row, "db_read_lat_ms"),
        database_write_ms: number(row, "db_write_lat_ms"),
        database_read_bytes: number(row, "db_read_bytes"),
        database_write_bytes: number(row, "db_write_bytes"),
        maintenance_reads_per_second: number(row, "bdm_reads_s"),
        maintenance_read_bytes: number(row, "bdm_read_bytes"),
        log_writes_per_second: number(row, "log_writes_s"),
        log_write_ms: number(row, "log_write_lat_ms"),
        log_write_bytes: number(row, "log_write_bytes"),
    }
}

/// By how many units of its last printed digit a figure is off.
fn off_by(computed: f64, printed: &str) -> f64 {
    let decimals = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
    let unit = 10_f64.powi(-i32::try_from(decimals).unwrap());
    let published: f64 = printed.parse().unwrap();
    (computed - published).abs() / unit
}

#[test]
fn the_figures_of_published_servers_follow_from_their_instances() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/reference/esrp.csv");
    let Ok(text) = fs::read_to_string(&file) else {
        println!("SKIPPED: {} is not there", file.display());
        return;
    };
    let rows = table(&text);
    let (mut compared, mut exact) = (0, 0);
    for total in rows.iter().filter(|row| row["row_id"].ends_with("-T")) {
        let run = total["row_id"].strip_suffix("-T").unwrap();
        let of_run = |row: &&BTreeMap<String, String>| {
            row["row_id"].strip_prefix(run).is_some_and(|rest| ["-1", "-2"].contains(&rest))
        };
        let instances: Vec<_> = rows.iter().filter(of_run).map(instance).collect();
        let Some(summary) = PublishedSummary::of(&instances) else {
            continue;
        };
        let server = summary.server;
        let figures = [
            ("achieved_iops", summary.achieved_transactional_iops),
            ("db_reads_s", server.database_reads_per_second),
            ("db_writes_s", server.database_writes_per_second),
            ("db_read_lat_ms", server.database_read_ms),
            ("db_write_lat_ms", server.database_write_ms),
            ("log_writes_s", server.log_writes_per_second),
            ("log_write_lat_ms", server.log_write_ms),
            ("bdm_reads_s", server.maintenance_reads_per_second),
            ("total_db_reads_s", summary.total_reads_per_second),
        ];
        for (column, computed) in figures.into_iter().filter(|(of, _)| !total[*of].is_empty()) {
            if run.contains("replay") && column == "achieved_iops" {
                continue;
            }
            let printed = &total[column];
            let off = off_by(computed, printed);
            // Instances are printed rounded, so that their sum may be off by one.
            assert!(off < 1.01, "{run}: {column} is {computed} and {printed} was published");
            exact += u32::from(off < 0.51);
            compared += 1;
        }
    }
    println!("{compared} published figures follow from their rows, {exact} to the last digit");
    assert!(compared >= 30 && exact * 10 >= compared * 9, "{exact} of {compared}");
}

/// Numbers made up for this test, small enough to be computed by hand.
#[test]
fn rates_are_summed_latencies_averaged_and_sizes_weighted() {
    let row = |reads: f64, writes: f64, ms: f64, bytes: f64| InstanceRow {
        database_reads_per_second: reads,
        database_writes_per_second: writes,
        database_read_ms: ms,
        database_read_bytes: bytes,
        maintenance_reads_per_second: 10.0,
        maintenance_read_bytes: 200.0,
        ..InstanceRow::default()
    };
    let summary =
        PublishedSummary::of(&[row(30.0, 5.0, 10.0, 100.0), row(10.0, 1.0, 30.0, 300.0)]).unwrap();
    let near = |one: f64, two: f64| assert!((one - two).abs() < 1e-9, "{one} is not {two}");
    near(summary.achieved_transactional_iops, 46.0);
    near(summary.server.database_read_ms, 20.0);
    near(summary.server.database_read_bytes, 150.0);
    near(summary.total_reads_per_second, 60.0);
    near(summary.total_read_bytes, (40.0 * 150.0 + 20.0 * 200.0) / 60.0);
    assert_eq!(PublishedSummary::of(&[]), None);
}
