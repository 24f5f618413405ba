//! Further copies read every closed log, in addition to the load and counted separately.

use record::{Event, Phase, Series};

use super::{PLAN, RunSummary, issues, prepared, run_once};

/// Replication reads and their bytes, closed log files, and database reads.
fn replicated(copies: u32) -> (u64, u64, u64) {
    let plan = PLAN.replace("[test]\n", &format!("[test]\ncopies = {copies}\n"));
    let (summary, events) = run_once(&prepared(&plan), None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let (mut reads, mut bytes, mut log_bytes) = (0, 0, 0);
    for event in &events {
        let Event::Interval(interval) = event else { continue };
        if interval.phase == Phase::Check {
            continue;
        }
        for database in &interval.databases {
            log_bytes += database.counters.log_volume_bytes;
            for series in database.series.iter().filter(|of| of.series == Series::ReplicationRead) {
                reads += series.latency.count();
                bytes += series.bytes;
            }
        }
    }
    (reads, bytes, log_bytes >> 20)
}

#[test]
fn each_further_copy_makes_nine_reads_of_every_closed_log() {
    assert_eq!(replicated(1).0, 0);
    for copies in [2, 3] {
        let (reads, bytes, logs) = replicated(copies);
        let of_a_log = 9 * u64::from(copies - 1);
        assert!(logs >= 4, "{logs}");
        // The last read of each database may be cut off by the end of the load.
        let expected = (logs - 4) * of_a_log..=logs * of_a_log;
        assert!(expected.contains(&reads), "{reads} of {logs} logs");
        let size = bytes / reads;
        assert!((225_000..235_000).contains(&size), "{size}");
    }
}
