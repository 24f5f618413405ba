//! Reports of made-up runs are complete, have no broken links, and do not change over time.

mod agreement;
mod comparison;
pub(crate) mod golden;
pub(crate) mod imported;
mod line;
mod links;
mod marks;
mod page;
mod suite;

use record::synthetic::Synthetic;
use record::{
    BackupCopy, Event, Finished, FurtherErrors, Issue, IssueKind, LogLine, Machine, Phase, Replay,
    RunRecord, Series, Severity, Simulation, TestType, VolumeReads,
};

/// A short run that passes.
pub(crate) fn passing() -> RunRecord {
    Synthetic { warm_intervals: 1, measure_intervals: 4, ..Synthetic::default() }.run()
}

/// A run that passes on volumes without room for the mailboxes of its plan.
pub(crate) fn too_small() -> RunRecord {
    let mut run = passing();
    let settings = &mut run.start.settings;
    (settings.mailboxes, settings.mailbox_bytes) = (Some(1_200), Some(2 << 30));
    run
}

/// A run that passes although its rate of reads falls from start to end.
pub(crate) fn drifting() -> RunRecord {
    let shape = Synthetic { warm_intervals: 1, measure_intervals: 24, ..Synthetic::default() };
    let mut run = shape.run();
    let rows = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
    for (row, number) in rows.zip(0..) {
        let reads = row.series.get_mut(&Series::DatabaseRead).expect("a load reads");
        reads.latency.count -= reads.latency.count * number / 100;
    }
    run
}

/// A run in which everything that can go wrong does.
pub(crate) fn failing() -> RunRecord {
    let mut run = Synthetic {
        spike: Some(2),
        page_fault_stalls: 30,
        processor_percent: 97.0,
        databases: 3,
        measure_intervals: 6,
        ..Synthetic::default()
    }
    .run();
    run.checksums[1].bad_pages = 2;
    run.issues.push(Issue {
        at_ns: 140_000_000_000,
        database: Some(1),
        severity: Severity::Error,
        kind: IssueKind::InputOutput,
        volume: Some("/mail/db02".to_owned()),
        file: Some("/mail/db02/Plimsoll002.edb".to_owned()),
        offset_bytes: Some(1_048_576),
        text: "read of 32768 bytes at 1048576 failed: Input/output error".to_owned(),
    });
    run.push(Event::FurtherErrors(FurtherErrors {
        at_ns: 150_000_000_000,
        database: 1,
        volume: Some("/mail/db02".to_owned()),
        failed_requests: 1_234,
        damaged_content: 5,
    }));
    let last = run.intervals.iter_mut().rfind(|row| row.phase == Phase::Measure);
    last.expect("intervals were measured").is_left_out = true;
    run.torn_tail = true;
    run
}

/// A run that was stopped in its warm-up, on no machine, with hostile texts.
fn interrupted() -> RunRecord {
    let mut run =
        Synthetic { warm_intervals: 2, measure_intervals: 0, ..Synthetic::default() }.run();
    for row in &mut run.intervals {
        row.host = None;
    }
    run.checksums.clear();
    run.start.description = "</title><script>alert('x')</script> & \"more\"".to_owned();
    run.start.plan_text = "</pre><script>alert('x')</script>".to_owned();
    run.log.push(LogLine { at_ns: 1, text: "<script>alert('x')</script>".to_owned() });
    run.finished = Some(Finished {
        at_ns: 29_000_000_000,
        interrupted: true,
        reason: Some("interrupted by Ctrl-C <now>".to_owned()),
        is_for_room: false,
        is_overdue: false,
        was_stopped: false,
    });
    run
}

/// A run ended by a full volume, with reads answered by caches.
fn without_room() -> RunRecord {
    let mut run = passing();
    run.start.databases[1].volume.cached = Some("loop0 reads its file".to_owned());
    run.issues.push(Issue {
        at_ns: 40_000_000_000,
        database: Some(0),
        severity: Severity::Error,
        kind: IssueKind::VolumeFull,
        volume: Some("/mail/db01".to_owned()),
        file: Some("/mail/db01/log/E00tmp.plg".to_owned()),
        offset_bytes: Some(1_048_576),
        text: "/mail/db01/log/E00tmp.plg: no space left on the volume".to_owned(),
    });
    run.volume_reads.push(VolumeReads {
        volume: "/mail/db01".to_owned(),
        requested_bytes: 400 << 20,
        device_bytes: 7 << 20,
        accounted_bytes: None,
    });
    run
}

/// A backup of the databases that a run had loaded.
pub(crate) fn backup() -> RunRecord {
    let mut run = passing();
    run.start.test = TestType::Backup;
    run.start.settings.verify_checksums = false;
    run.start.settings.thresholds.read_rate_bytes_per_second = Some(1);
    run.backups = std::mem::take(&mut run.checksums);
    let mut totals = run.sum_of(Phase::Check);
    let reads = totals.series.remove(&Series::ChecksumRead);
    totals.series.extend(reads.map(|reads| (Series::BackupRead, reads)));
    let reads = totals.series[&Series::BackupRead].clone();
    run.start.databases[0].backup_file = Some("/copies/Plimsoll001.edb".to_owned());
    totals.series.insert(Series::BackupCopyWrite, reads.clone());
    run.totals.insert((Phase::Backup, 0), totals);
    for (facts, weight) in run.start.databases.iter_mut().zip([1.0, 2.5]) {
        facts.weight = Some(weight);
    }
    let mut back = run.sum_of(Phase::Check);
    back.series.insert(Series::BackupCopyRead, reads);
    run.totals.insert((Phase::Check, 0), back);
    let of = run.backups[0];
    run.backup_copies.push(BackupCopy {
        at_ns: of.at_ns,
        database: 0,
        bytes: of.bytes,
        elapsed_ns: of.elapsed_ns + 1_000_000_000,
        reads_waited_ns: 0,
    });
    run.copy_checksums.push(of);
    run
}

/// A replay of the logs that a load generated.
fn recovery() -> RunRecord {
    let mut run = passing();
    run.start.test = TestType::Recovery;
    run.start.settings.replay_logs = 500;
    for index in 0..2 {
        run.totals.insert((Phase::Recover, index), run.sum_of(Phase::Measure));
        run.push(Event::Replay(Replay {
            at_ns: 1_300_000_000_000,
            database: index,
            logs: 501,
            records: 500_000,
            pages_changed: 3_000,
            pages_up_to_date: 440_000,
            pages_read: 355_000 + u64::from(index),
            pages_written: 3_001,
            elapsed_ns: 1_115_000_000_000 + u64::from(index) * 6_000_000_000,
            generated_ns: 3_840_000_000_000,
        }));
    }
    run
}

/// A run that never touched storage.
pub(crate) fn simulated() -> RunRecord {
    let mut run = passing();
    run.start.command = "plimsoll simulate plan.toml --array array.toml".to_owned();
    run.start.machine = Machine { input_output: "simulated".to_owned(), ..Machine::default() };
    run.start.simulated = Some(Box::new(Simulation {
        array: "VNXe3300, 7 x 15K in RAID 5".to_owned(),
        array_text: "[raid]\nlevel = 5\ndisks = 7\n".to_owned(),
        seed: 7,
        stretch: 1_024.0,
        calibrated_on: vec!["T1".to_owned(), "T2".to_owned()],
        free_parameters: 14,
        uncertainty_percent: 25.0,
        least_read_ns: 1,
        ..Simulation::default()
    }));
    run
}

fn every_kind() -> [RunRecord; 9] {
    let imported = imported::performance();
    let (recovery, simulated, without_room) = (recovery(), simulated(), without_room());
    [
        passing(),
        too_small(),
        failing(),
        interrupted(),
        without_room,
        backup(),
        recovery,
        simulated,
        imported,
    ]
}
