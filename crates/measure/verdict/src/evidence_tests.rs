//! Every rule that can pass, and its answer if its evidence is missing or contradictory: the table
//! of `docs/evidence.md`, row by row.

use std::collections::BTreeSet;

use record::synthetic::Synthetic;
use record::{
    BackupCopy, Checksum, LongRequest, Phase, Replay, RunRecord, Seal, Series, TestType,
    VolumeReads,
};

use crate::{Ruling, judge};

const TABLE: &str = include_str!("../../../../docs/evidence.md");

/// Evidence of one rule, and how to remove it from a record.
struct Loss {
    rule: &'static str,
    run: fn() -> RunRecord,
    lose: fn(&mut RunRecord),
}

fn load() -> RunRecord {
    let mut run =
        Synthetic { warm_intervals: 1, measure_intervals: 8, ..Synthetic::default() }.run();
    run.start.settings.target_iops = Some(1.0);
    let thresholds = &mut run.start.settings.thresholds;
    thresholds.longest_request_ns = Some(5_000_000_000);
    thresholds.read_p99_ns = Some(1_000_000_000);
    thresholds.log_write_p99_ns = Some(1_000_000_000);
    for facts in run.start.databases.clone() {
        let (volume, bytes) = (facts.volume.mount, 100 << 20);
        run.volume_reads.push(VolumeReads {
            volume,
            requested_bytes: bytes,
            device_bytes: bytes,
            accounted_bytes: None,
        });
    }
    run
}

fn reading(test: TestType) -> RunRecord {
    let mut run = load();
    run.start.test = test;
    run.start.settings.target_iops = None;
    run.start.settings.thresholds.read_rate_bytes_per_second = Some(1);
    run.start.settings.verify_checksums = test == TestType::Checksum;
    run
}

fn checksum() -> RunRecord {
    reading(TestType::Checksum)
}

fn backup() -> RunRecord {
    let mut run = reading(TestType::Backup);
    run.backups = std::mem::take(&mut run.checksums);
    for facts in &mut run.start.databases {
        facts.backup_file = Some(format!("/copies/{}", facts.index));
    }
    run.copy_checksums = run.backups.clone();
    run.backup_copies = run.backups.iter().map(copied).collect();
    let backups: Vec<_> = run.start.databases.iter().map(|of| of.index).collect();
    for index in backups {
        let mut totals = run.totals_of(Phase::Check, index).cloned().unwrap_or_default();
        let reads = totals.series.remove(&Series::ChecksumRead);
        totals.series.extend(reads.map(|reads| (Series::BackupRead, reads)));
        run.totals.insert((Phase::Backup, index), totals);
    }
    run.long_requests = told_of_each(&run);
    run
}

fn copied(of: &Checksum) -> BackupCopy {
    BackupCopy {
        at_ns: of.at_ns,
        database: of.database,
        bytes: of.bytes,
        elapsed_ns: of.elapsed_ns,
        reads_waited_ns: 0,
    }
}

fn recovery() -> RunRecord {
    let mut run = reading(TestType::Recovery);
    run.start.settings.replay_logs = 10;
    run.start.settings.thresholds.replay_ns_per_log = Some(1_000_000_000);
    let replay = |index| Replay {
        database: index,
        logs: 10,
        records: 10,
        pages_changed: 10,
        elapsed_ns: 1_000,
        ..Replay::default()
    };
    run.replays = run.start.databases.iter().map(|of| replay(of.index)).collect();
    run.long_requests = told_of_each(&run);
    run
}

fn told_of_each(run: &RunRecord) -> Vec<LongRequest> {
    let told = |index| LongRequest {
        at_ns: 1,
        database: index,
        phase: Phase::Open,
        file: "a.edb".to_owned(),
        operation: "read".to_owned(),
        offset_bytes: 0,
        length_bytes: 1,
        time_ns: 1_000,
        is_answered: true,
    };
    run.start.databases.iter().map(|of| told(of.index)).collect()
}

/// Removes requests of one kind of the last database from the record.
fn forget(run: &mut RunRecord, series: Series) {
    let last = run.start.databases.last().map_or(0, |of| of.index);
    for ((_, index), totals) in &mut run.totals {
        if *index == last {
            totals.series.remove(&series);
        }
    }
    for row in &mut run.intervals {
        for of in row.databases.iter_mut().filter(|of| of.index == last) {
            of.series.remove(&series);
        }
    }
}

/// Removes everything about the last database from the record.
fn forget_the_last(run: &mut RunRecord) {
    let last = run.start.databases.last().map_or(0, |of| of.index);
    run.totals.retain(|(_, index), _| *index != last);
    for row in &mut run.intervals {
        row.databases.retain(|of| of.index != last);
    }
    run.long_requests.retain(|of| of.database != last);
}

fn forget_the_measurement(run: &mut RunRecord) {
    run.totals.retain(|(phase, _), _| *phase != Phase::Measure);
    run.intervals.retain(|row| row.phase != Phase::Measure);
}

const LOSSES: [Loss; 28] = [
    Loss { rule: "record-intact", run: load, lose: |run| run.seal = Seal::Altered { line: 7 } },
    Loss { rule: "target-iops", run: load, lose: forget_the_measurement },
    Loss { rule: "target-iops", run: load, lose: forget_the_last },
    Loss { rule: "read-latency-average", run: load, lose: |run| forget(run, Series::DatabaseRead) },
    Loss { rule: "read-latency-maximum", run: load, lose: |run| forget(run, Series::DatabaseRead) },
    Loss {
        rule: "log-write-latency-average",
        run: load,
        lose: |run| forget(run, Series::LogWrite),
    },
    Loss {
        rule: "log-write-latency-maximum",
        run: load,
        lose: |run| forget(run, Series::LogWrite),
    },
    Loss { rule: "read-latency-p99", run: load, lose: |run| forget(run, Series::DatabaseRead) },
    Loss { rule: "log-write-latency-p99", run: load, lose: |run| forget(run, Series::LogWrite) },
    Loss { rule: "longest-request", run: load, lose: forget_the_last },
    Loss { rule: "longest-request", run: checksum, lose: forget_the_last },
    Loss { rule: "page-fault-stalls", run: load, lose: forget_the_measurement },
    Loss { rule: "page-fault-stalls", run: load, lose: forget_the_last },
    Loss { rule: "checksums", run: load, lose: |run| discard(run.checksums.pop()) },
    Loss { rule: "checksums", run: checksum, lose: |run| run.checksums.clear() },
    Loss { rule: "checksums", run: backup, lose: |run| discard(run.copy_checksums.pop()) },
    Loss { rule: "read-rate", run: checksum, lose: |run| discard(run.checksums.pop()) },
    Loss { rule: "read-rate", run: backup, lose: |run| discard(run.backups.pop()) },
    Loss { rule: "copy-rate", run: backup, lose: |run| discard(run.backup_copies.pop()) },
    Loss { rule: "replay-time", run: recovery, lose: |run| discard(run.replays.pop()) },
    Loss { rule: "replayed-logs", run: recovery, lose: |run| run.replays.clear() },
    Loss { rule: "input-output-errors", run: load, lose: forget_the_measurement },
    Loss { rule: "caches", run: load, lose: uncounted },
    Loss { rule: "device-reads", run: load, lose: |run| run.volume_reads[0].device_bytes = 1 },
    Loss { rule: "measured-time", run: load, lose: forget_the_measurement },
    Loss { rule: "completed", run: load, lose: |run| run.finished = None },
    Loss { rule: "completed", run: recovery, lose: |run| run.finished = None },
    Loss { rule: "pauses", run: load, lose: |run| leave_out(run) },
];

fn discard<T>(_: T) {}

fn uncounted(run: &mut RunRecord) {
    run.volume_reads.clear();
    run.start.databases[0].volume.caching_unknown = Some("fuse does not say".to_owned());
}

fn leave_out(run: &mut RunRecord) {
    for row in run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure).take(4) {
        row.is_left_out = true;
    }
}

#[test]
fn no_rule_passes_without_its_evidence() {
    let mut passing = Vec::new();
    for (number, Loss { rule, run, lose }) in LOSSES.iter().enumerate() {
        let mut run = run();
        let whole = judge(&run);
        assert_eq!(whole.outcome, Ruling::Pass, "{number} {rule}: {:?}", whole.objections());
        lose(&mut run);
        if judge(&run).outcome == Ruling::Pass {
            passing.push(format!("{number} {rule}"));
        }
    }
    assert_eq!(passing, Vec::<String>::new());
}

/// Rules of the table that can only object: their silence makes nothing pass.
const ONLY_OBJECT: [&str; 15] = [
    "io-limits",
    "simulated",
    "possible-reads",
    "steady-state",
    "generator-limited",
    "processor-steal",
    "completion-lag",
    "starved-lag",
    "other-programs",
    "other-reads",
    "other-runs",
    "volume-full",
    "connection-lost",
    "mailbox-load",
    "mailbox-room",
];

#[test]
fn every_rule_stands_in_the_table() {
    let mut rules: BTreeSet<&str> = LOSSES.iter().map(|loss| loss.rule).collect();
    rules.extend(ONLY_OBJECT);
    rules.insert("resumed");
    for rule in &rules {
        assert!(TABLE.contains(&format!("| `{rule}` |")), "{rule} is not in docs/evidence.md");
    }
    for run in [load(), checksum(), backup(), recovery()] {
        for finding in judge(&run).findings {
            assert!(rules.contains(finding.rule), "{} has no row here", finding.rule);
        }
    }
}
