//! Comparisons of made-up runs whose differences are known.

use record::synthetic::Synthetic;
use record::{
    ImportedResult, Phase, PublishedInstance, PublishedIo, PublishedLoad, PublishedRequests,
    RunRecord, Seal, Series, Start, TestType,
};
use units::Seed;

use super::{MetricChange, NamedRun, NotComparable, RunComparison, Significance, compare};
use crate::Ruling;

fn named(name: &str, record: RunRecord) -> NamedRun {
    let verdict = crate::judge(&record);
    NamedRun { name: name.to_owned(), record, verdict }
}

fn made(seed: u64, change: impl Fn(&mut Synthetic)) -> NamedRun {
    let mut parameters = Synthetic { seed: Seed(seed), ..Synthetic::default() };
    change(&mut parameters);
    named(&format!("run {seed}"), parameters.run())
}

/// Significance of all changes of the run at `index`.
fn significances(comparison: &RunComparison, index: usize) -> Vec<(&'static str, Significance)> {
    let of_row = |row: &super::ComparedMetric| {
        Some((row.metric.id, row.values[index].change?.significance()))
    };
    comparison.rows.iter().filter_map(of_row).collect()
}

fn significance(comparison: &RunComparison, id: &str) -> Significance {
    let all = significances(comparison, 1);
    all.into_iter().find(|(of, _)| *of == id).unwrap_or_else(|| panic!("no {id}")).1
}

#[test]
fn repeats_differ_by_noise_in_19_of_20_metrics() {
    let runs: Vec<NamedRun> = (1..=5).map(|seed| made(seed, |_| {})).collect();
    let comparison = compare(&runs).unwrap();
    assert_eq!((&comparison.differences[..], &comparison.doubts[..]), (&[][..], &[][..]));
    let all: Vec<_> = (1..5).flat_map(|index| significances(&comparison, index)).collect();
    let real = all.iter().filter(|(_, worth)| *worth == Significance::Real).count();
    assert!(all.len() >= 40 && real * 20 <= all.len(), "{real} of {}", all.len());
}

#[test]
fn a_slower_disk_is_called_slower_and_nothing_else_changes() {
    let slower = made(2, |parameters| parameters.read_median_ns = 9_840_000);
    let comparison = compare(&[made(1, |_| {}), slower]).unwrap();
    assert_eq!(significance(&comparison, "read_latency_mean"), Significance::Real);
    assert_eq!(significance(&comparison, "log_write_latency_mean"), Significance::Noise);
    let row = comparison.rows.iter().find(|row| row.metric.id == "read_latency_mean").unwrap();
    let MetricChange { percent, margin_percent } = row.values[1].change.unwrap();
    assert!((15.0..25.0).contains(&percent), "{percent}");
    assert!((8.0..15.0).contains(&margin_percent.unwrap()), "{margin_percent:?}");
}

#[test]
fn a_throttle_of_a_tenth_is_called() {
    let mut slow = made(2, |_| {});
    for row in &mut slow.record.intervals {
        row.to_ns = row.from_ns + row.span_ns() * 100 / 90;
    }
    let comparison = compare(&[made(1, |_| {}), slow]).unwrap();
    assert_eq!(significance(&comparison, "achieved_transactional_iops"), Significance::Real);
    let change = comparison.rows[0].values[1].change.unwrap();
    assert!((-12.0..-8.0).contains(&change.percent), "{change:?}");
}

/// Under stricter limits the same load may fail.
#[test]
fn other_limits_are_told() {
    let mut other = made(2, |_| {});
    other.record.start.settings.thresholds.read_average_ns = 5_000_000;
    let comparison = compare(&[made(1, |_| {}), other]).unwrap();
    let [limits] = &comparison.differences[..] else { panic!("{:?}", comparison.differences) };
    assert_eq!((limits.name, limits.is_work), ("limits", false));
    assert_eq!(limits.values, ["strict", "strict, mean ms of reads 5"]);
}

#[test]
fn other_work_and_other_surroundings_are_told_apart() {
    let mut other = made(2, |_| {});
    other.record.start.settings.target_iops = Some(500.0);
    other.record.start.databases[0].volume.file_system = "btrfs".to_owned();
    let comparison = compare(&[made(1, |_| {}), other]).unwrap();
    let differences: Vec<_> =
        comparison.differences.iter().map(|of| (of.name, of.is_work)).collect();
    assert_eq!(differences, [("file system", false), ("target IOPS", true)]);
    assert!(comparison.doubts[0].contains("Not the same work: the runs differ in target IOPS"));
}

/// A backup of two databases that were read in unequal times.
fn backup(seed: u64) -> NamedRun {
    let mut run = made(seed, |_| {}).record;
    run.start.test = TestType::Backup;
    for row in &mut run.intervals {
        row.phase = Phase::Backup;
    }
    let totals = std::mem::take(&mut run.totals);
    for ((phase, database), mut of) in totals {
        if phase == Phase::Check {
            let reads = of.series.remove(&Series::ChecksumRead);
            of.series.extend(reads.map(|reads| (Series::BackupRead, reads)));
            run.totals.insert((Phase::Backup, database), of);
        }
    }
    run.backups = std::mem::take(&mut run.checksums);
    run.backups[0].elapsed_ns *= 2;
    let verdict = crate::Verdict { outcome: crate::Ruling::Pass, findings: Vec::new() };
    NamedRun { name: format!("backup {seed}"), record: run, verdict }
}

#[test]
fn a_backup_differs_only_in_what_a_backup_depends_on() {
    let mut other = backup(2);
    let settings = &mut other.record.start.settings;
    settings.target_iops = Some(500.0);
    settings.threads_per_database += 1;
    settings.cache_maximum_bytes *= 2;
    settings.measure_ns *= 2;
    let comparison = compare(&[backup(1), other.clone()]).unwrap();
    assert_eq!((&comparison.differences[..], &comparison.doubts[..]), (&[][..], &[][..]));
    other.record.start.settings.page_size_bytes = 8_192;
    let comparison = compare(&[backup(1), other]).unwrap();
    assert!(comparison.doubts[0].contains("the runs differ in page size."), "{comparison:?}");
}

#[test]
fn a_backup_has_the_rate_that_its_report_has() {
    let run = backup(1);
    let expected = record::Checksum::together(&run.record.backups).mib_per_second();
    let comparison = compare(&[run, backup(2)]).unwrap();
    let row = comparison.rows.iter().find(|row| row.metric.id == "throughput").unwrap();
    assert_eq!(row.values[0].value, expected);
}

#[test]
fn simulated_runs_on_several_arrays_name_their_number() {
    let simulated = |seed| {
        let mut run = made(seed, |_| {}).record;
        let array = "shelf".to_owned();
        run.start.simulated = Some(Box::new(record::Simulation { array, ..Default::default() }));
        run
    };
    let one = named("one", simulated(1));
    let doubts = compare(&[one.clone(), named("two", simulated(2))]).unwrap().doubts;
    assert!(doubts[0].starts_with("one: SIMULATED on the model \"shelf\""), "{doubts:?}");
    let mut several = simulated(2);
    several.start.options.push(("--each-folder".to_owned(), String::new()));
    for (index, database) in several.start.databases.iter_mut().enumerate() {
        database.volume.mount = format!("/mail/{index}");
        database.log_volume.mount = format!("/mail/{index}");
    }
    let comparison = compare(&[one, named("two", several)]).unwrap();
    let doubts = &comparison.doubts;
    assert!(doubts[0].starts_with("one: SIMULATED on 1 array of the model"), "{doubts:?}");
    assert!(doubts[1].starts_with("two: SIMULATED on 2 arrays of the model"), "{doubts:?}");
    assert!(comparison.differences.iter().any(|of| of.name == "simulated arrays"));
}

#[test]
fn a_run_is_of_the_same_work_until_a_setting_of_its_result_changes() {
    let (run, mut other) = (made(1, |_| {}).record, made(2, |_| {}).record);
    other.start.started_epoch_ns += 1;
    other.start.machine.name.push('x');
    assert_eq!(crate::work_of(&run), crate::work_of(&other));
    other.start.settings.target_iops = Some(500.0);
    assert_ne!(crate::work_of(&run), crate::work_of(&other));
    let mut stress = run.clone();
    stress.start.test = TestType::Stress;
    assert_ne!(crate::work_of(&run), crate::work_of(&stress));
}

#[test]
fn what_a_reader_must_not_overlook_is_said() {
    let mut altered = made(2, |_| {});
    altered.record.seal = Seal::Altered { line: 7 };
    let short = made(3, |parameters| parameters.measure_intervals = 1);
    let comparison = compare(&[made(1, |_| {}), altered, short]).unwrap();
    assert_eq!(comparison.doubts.len(), 2, "{:?}", comparison.doubts);
    assert!(comparison.doubts[0].starts_with("run 2: its journal was ALTERED"));
    assert!(comparison.doubts[1].starts_with("run 3: could not be judged ("));
    let unknown = significances(&comparison, 2);
    assert!(unknown.iter().all(|(_, worth)| *worth == Significance::Unknown), "{unknown:?}");
}

#[test]
fn a_run_that_fails_is_not_called_unjudged() {
    let mut failed = made(2, |parameters| parameters.measure_intervals = 1);
    failed.verdict.outcome = crate::Ruling::Fail;
    let comparison = compare(&[made(1, |_| {}), failed]).unwrap();
    assert_eq!(comparison.doubts, [""; 0]);
}

/// Two runs whose slowest hundredth forms a separate hump: a slight change decides whether the
/// overall 99th percentile falls into it or before it.
#[test]
fn a_percentile_between_two_humps_is_no_difference() {
    let with = |slow_per_mille: u64| {
        let mut run = made(1, |_| {});
        for totals in run.record.totals.values_mut() {
            let Some(total) = totals.series.get_mut(&Series::DatabaseRead) else { continue };
            let count = total.latency.count() * slow_per_mille / 1_000;
            for _ in 0..count {
                total.latency.record(900_000_000);
            }
        }
        run
    };
    let comparison = compare(&[with(8), with(12)]).unwrap();
    let row = comparison.rows.iter().find(|row| row.metric.id == "read_latency_p99").unwrap();
    assert!(row.values[1].change.unwrap().percent > 100.0, "{row:?}");
    assert_eq!(significance(&comparison, "read_latency_p99"), Significance::Noise);
}

#[test]
fn changes_of_several_runs_are_held_to_wider_margins_than_one() {
    let runs: Vec<NamedRun> = (1..=5).map(|seed| made(seed, |_| {})).collect();
    let margin = |runs: &[NamedRun]| {
        compare(runs).unwrap().rows[0].values[1].change.unwrap().margin_percent.unwrap()
    };
    assert!(margin(&runs) > 1.2 * margin(&runs[..2]), "{} {}", margin(&runs), margin(&runs[..2]));
}

#[test]
fn databases_of_another_size_and_a_busy_machine_are_doubts() {
    let mut larger = made(2, |parameters| parameters.processor_percent = 97.0);
    for database in &mut larger.record.start.databases {
        database.initial_bytes *= 2;
    }
    let comparison = compare(&[made(1, |_| {}), larger]).unwrap();
    let doubts = &comparison.doubts;
    let sizes =
        "run 2: its databases were 3.98 GiB when the run began; those of run 1 were 1.99 GiB.";
    assert_eq!(doubts[0], sizes);
    assert!(doubts[1].starts_with("run 2: "), "{doubts:?}");
    assert_eq!(doubts.len(), 2, "{doubts:?}");
    let sizes = &comparison.differences[0];
    assert_eq!(sizes.values, ["1.99 GiB", "3.98 GiB"], "{sizes:?}");
    assert!(!sizes.is_work && comparison.differences.len() == 1, "{comparison:?}");
}

/// A run of databases in another folder.
fn moved(seed: u64) -> NamedRun {
    let mut run = made(seed, |_| {}).record;
    for database in &mut run.start.databases {
        database.file.insert_str(0, "/other");
    }
    named(&format!("run {seed}"), run)
}

#[test]
fn runs_of_other_folders_on_the_devices_of_the_first_do_not_compare_disks() {
    let doubts = |runs: &[NamedRun]| compare(runs).unwrap().doubts;
    let first = made(1, |_| {});
    let said = "run 1 and run 2 are both on sdb, sdc, in different folders: what differs is not \
                the disk.";
    assert_eq!(doubts(&[first.clone(), moved(2)]), [said]);
    let all = doubts(&[first.clone(), moved(2), made(3, |_| {}), moved(4)]);
    assert!(all[0].starts_with("run 1, run 2 and run 4 are all on sdb, sdc"), "{all:?}");
    let mut elsewhere = moved(2);
    elsewhere.record.start.databases[0].volume.device = "/dev/sdx".to_owned();
    assert_eq!(doubts(&[first.clone(), elsewhere]), [""; 0]);
    let mut remote = moved(2);
    remote.record.start.machine.name.push('2');
    remote.record.start.machine.id.push('2');
    assert_eq!(doubts(&[first, remote]), [""; 0], "a device of another machine");
}

#[test]
fn a_run_on_some_of_the_devices_of_another_may_compare_disks() {
    let mut fewer = moved(2);
    let databases = &mut fewer.record.start.databases;
    let volume = databases[0].volume.clone();
    for database in databases {
        database.volume.clone_from(&volume);
        database.log_volume.clone_from(&volume);
    }
    let all = made(1, |_| {});
    for runs in [[all.clone(), fewer.clone()], [fewer, all]] {
        assert_eq!(compare(&runs).unwrap().doubts, [""; 0]);
    }
}

#[test]
fn a_run_that_is_not_steady_is_a_doubt() {
    let mut drifting = made(2, |_| {}).record;
    let rows = drifting.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
    for (row, number) in rows.zip(0..) {
        let reads = row.series.get_mut(&Series::DatabaseRead).unwrap();
        reads.latency.count -= reads.latency.count * number / 100;
    }
    let doubts = compare(&[made(1, |_| {}), named("run 2", drifting)]).unwrap().doubts;
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    let [before, after] = ["run 2: not steady, ", " % from start to end: the rate of reads and"];
    assert!(doubts[0].starts_with(before) && doubts[0].contains(after), "{doubts:?}");
}

#[test]
fn a_third_run_beside_one_of_those_compared_is_a_doubt() {
    let mut beside = made(2, |_| {}).record;
    beside.other_runs.push(record::OtherRun {
        at_ns: 1,
        folder: "runs/third".to_owned(),
        volume: "/mnt".to_owned(),
        disk: "sdb".to_owned(),
    });
    let doubts = compare(&[made(1, |_| {}), named("run 2", beside)]).unwrap().doubts;
    let said = "run 2: Other runs on the same disks: the run in runs/third used sdb too";
    assert!(doubts.len() == 1 && doubts[0].starts_with(said), "{doubts:?}");
}

/// The report of such a run names what decided, and no latency of it.
#[test]
fn a_run_that_was_not_judged_is_a_doubt_for_the_reason_that_its_report_names() {
    let mut short = made(2, |_| {}).record;
    let thresholds = &mut short.start.settings.thresholds;
    (thresholds.minimum_measure_ns, thresholds.minimum_log_writes) = (u64::MAX, u64::MAX);
    let short = named("short", short);
    let found = short.verdict.findings.iter();
    assert!(found.filter(|of| of.outcome == Ruling::CannotJudge).count() > 1);
    let mut doubts = compare(&[made(1, |_| {}), short]).unwrap().doubts;
    doubts.retain(|doubt| doubt.contains("judged"));
    assert_eq!(doubts, ["short: could not be judged (Measured time)."]);
}

#[test]
fn runs_on_one_volume_at_the_same_time_are_a_doubt() {
    let mut second = made(2, |_| {});
    second.record.start.started_epoch_ns += 60_000_000_000;
    let doubts = compare(&[made(1, |_| {}), second]).unwrap().doubts;
    assert!(doubts.iter().any(|doubt| doubt.starts_with("run 1 and run 2 were on ")), "{doubts:?}");
}

#[test]
fn what_cannot_stand_side_by_side_is_refused() {
    let one = made(1, |_| {});
    assert_eq!(compare(&[]).unwrap_err(), NotComparable::TooFew);
    assert_eq!(compare(std::slice::from_ref(&one)).unwrap_err(), NotComparable::TooFew);
    let mut backup = made(2, |_| {});
    backup.record.start.test = TestType::Backup;
    let refused = compare(&[one.clone(), backup]).unwrap_err().to_string();
    assert!(refused.contains("run 1 was a test of kind Performance, run 2"), "{refused}");
    let mut replayed = made(3, |_| {});
    replayed.record.start.test = TestType::Recovery;
    let refused = compare(&[replayed.clone(), replayed]).unwrap_err().to_string();
    assert!(refused.contains("Soft recovery has one result without a margin"), "{refused}");
    let mut empty = made(3, |_| {});
    empty.record.intervals.retain(|row| row.phase != Phase::Measure);
    let refused = compare(&[one, empty]).unwrap_err();
    assert_eq!(refused, NotComparable::NothingMeasured { name: "run 3".to_owned() });
}

#[test]
fn values_are_those_of_the_report() {
    let run = made(1, |_| {});
    let totals = run.record.sum_of(Phase::Measure);
    let iops = run.record.achieved_transactional_iops();
    let comparison = compare(&[run, made(2, |_| {})]).unwrap();
    let value = |id: &str| {
        let row = comparison.rows.iter().find(|row| row.metric.id == id).unwrap();
        row.values[0].value.unwrap()
    };
    let reads = &totals.series[&Series::DatabaseRead].latency;
    let expected = [
        ("achieved_transactional_iops", iops),
        ("read_latency_mean", reads.mean_ns() / 1e6),
        ("read_latency_p99", reads.quantile(0.99) as f64 / 1e6),
    ];
    for (id, expected) in expected {
        assert!((value(id) - expected).abs() <= expected * 1e-12, "{id}: {}", value(id));
    }
}

#[test]
fn a_change_is_real_beyond_its_margin_whichever_way_it_goes() {
    let worth = |percent: f64| MetricChange { percent, margin_percent: Some(10.0) }.significance();
    assert_eq!([-10.1, 10.1].map(worth), [Significance::Real; 2]);
    assert_eq!([-10.0, 0.0, 10.0].map(worth), [Significance::Noise; 3]);
}

/// A published result that states little.
fn imported(name: &str, result: ImportedResult) -> NamedRun {
    named(name, RunRecord::begin(Start { imported: Some(Box::new(result)), ..Start::default() }))
}

fn published() -> ImportedResult {
    let requests = |latency_ms, per_second| PublishedRequests {
        latency_ms: Some(latency_ms),
        per_second: Some(per_second),
        bytes: None,
    };
    let transactional = PublishedIo {
        database_reads: requests(12.0, 100.0),
        log_writes: requests(3.0, 50.0),
        ..PublishedIo::default()
    };
    let instance = PublishedInstance { transactional, ..PublishedInstance::default() };
    ImportedResult {
        file: "old.html".to_owned(),
        instrument: "Jetstress 14.1".to_owned(),
        achieved_iops: Some(160.0),
        instances: vec![instance],
        load: PublishedLoad { copies_per_database: Some(2), ..PublishedLoad::default() },
        ..ImportedResult::default()
    }
}

#[test]
fn an_imported_result_has_values_and_no_margin_and_says_so() {
    for runs in [
        [imported("old", published()), made(1, |_| {})],
        [made(1, |_| {}), imported("old", published())],
    ] {
        let comparison = compare(&runs).unwrap();
        let worth = significances(&comparison, 1);
        let changed =
            ["achieved_transactional_iops", "read_latency_mean", "log_write_latency_mean"];
        assert_eq!(worth.iter().map(|(id, _)| *id).take(3).collect::<Vec<_>>(), changed);
        assert!(worth.iter().all(|(_, worth)| *worth == Significance::Unknown), "{worth:?}");
        let of = |id: &str| comparison.rows.iter().find(|row| row.metric.id == id).unwrap();
        let at = usize::from(runs[1].record.imported().is_some());
        assert_eq!(of("achieved_transactional_iops").values[at].value, Some(160.0));
        // Neither percentiles nor sizes were published.
        assert_eq!(of("read_latency_p99").values[at].value, None);
        assert_eq!(of("read_size").values[at].value, None);
        let doubt = comparison.doubts.iter().find(|doubt| doubt.starts_with("old: IMPORTED"));
        let doubt = doubt.unwrap_or_else(|| panic!("{:?}", comparison.doubts));
        assert!(
            doubt.contains("old.html (Jetstress 14.1)") && doubt.contains("no change against it")
        );
        assert!(
            doubt.contains("commits per batch") && !doubt.contains("copies of each"),
            "{doubt}"
        );
    }
}

#[test]
fn what_an_imported_result_does_not_state_is_no_other_work() {
    let mut first = made(1, |_| {});
    first.record.start.settings.copies_per_database = 2;
    let comparison = compare(&[first.clone(), imported("old", published())]).unwrap();
    let work = comparison.differences.iter().filter(|of| of.is_work).map(|of| of.name);
    assert_eq!(work.collect::<Vec<_>>(), ["databases"]);
    let mut other = published();
    other.load.copies_per_database = Some(3);
    let comparison = compare(&[first, imported("old", other)]).unwrap();
    assert!(comparison.differences.iter().any(|of| of.is_work && of.name.starts_with("copies")));
    // It does not have databases of size zero either.
    assert!(!comparison.doubts.iter().any(|doubt| doubt.contains("its databases were")));
}

#[test]
fn an_imported_result_without_values_is_refused() {
    let empty = imported("old", ImportedResult::default());
    let refused = compare(&[made(1, |_| {}), empty]).unwrap_err();
    assert_eq!(refused, NotComparable::NothingMeasured { name: "old".to_owned() });
}
