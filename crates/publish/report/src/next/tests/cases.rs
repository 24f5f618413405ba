//! A record for each next step, and how the next run differs once the step is taken.

use record::synthetic::Synthetic;
use record::{
    Attached, BackupCopy, Finished, Issue, IssueKind, LogPlace, LongRequest, OtherRun, Phase,
    ProcessorShares, Replay, RunRecord, Seal, Series, SeriesTotal, Severity, Simulation, TestType,
    Tuned,
};

use crate::next::step::StepKind;

const SECOND: u64 = 1_000_000_000;

/// A record that a step is printed for.
pub(super) struct Case {
    /// The step.
    pub kind: StepKind,
    /// Makes the measurement: the storage under the load of the plan.
    pub made: fn() -> Synthetic,
    /// Plan and machine, common to all runs.
    pub plan: fn(&mut RunRecord),
    /// Changes the record so that the step is printed.
    pub cause: fn(&mut RunRecord),
    /// How the cause is removed for the next run.
    pub act: Act,
}

/// Removes the cause.
pub(super) enum Act {
    /// The options of the command are enough.
    Command,
    /// It was a one-time event, absent from another run.
    Repeat,
    /// The user also does this.
    Person(fn(&mut RunRecord)),
    /// A run that takes less time.
    Shorter,
}

fn usual() -> Synthetic {
    Synthetic { warm_intervals: 1, measure_intervals: 4, ..Synthetic::default() }
}

/// Half a minute, the minimum that is judged.
fn short() -> Synthetic {
    Synthetic { measure_intervals: 2, ..usual() }
}

/// Reads that are too slow under the whole load, and fast enough under half of it.
fn slow() -> Synthetic {
    Synthetic { read_median_ns: 22_000_000, ..usual() }
}

/// Reads that are a little too slow.
fn nearly() -> Synthetic {
    Synthetic { read_median_ns: 16_000_000, ..usual() }
}

/// Storage and machine that would carry several times the load.
fn busy() -> Synthetic {
    Synthetic { processor_percent: 97.0, ..slow() }
}

/// A small load, so that hours of it fit into memory.
fn hours(of: u64) -> Synthetic {
    Synthetic {
        interval_seconds: 600,
        load_percent: 2,
        warm_intervals: 1,
        measure_intervals: of * 6,
        ..Synthetic::default()
    }
}

fn an_hour() -> Synthetic {
    hours(1)
}

fn two_hours() -> Synthetic {
    hours(2)
}

fn a_day() -> Synthetic {
    hours(24)
}

const fn nothing(_: &mut RunRecord) {}

pub(super) fn large(run: &mut RunRecord) {
    run.start.settings.target_iops = None;
    for facts in &mut run.start.databases {
        facts.initial_bytes = 1 << 40;
    }
}

fn large_and_quick(run: &mut RunRecord) {
    large(run);
    run.start.command = "plimsoll quick disk".to_owned();
}

fn stress(run: &mut RunRecord) {
    large(run);
    run.start.test = TestType::Stress;
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    run.start.options = vec![option("--test", "stress"), option("--duration", "24h")];
}

fn held(run: &mut RunRecord) {
    run.start.settings.target_iops = Some(run.achieved_transactional_iops());
}

fn of_a_share(run: &mut RunRecord) {
    let settings = &mut run.start.settings;
    (settings.target_iops, settings.throughput_percent) = (None, Some(80.0));
    run.tuned = Some(Tuned { target_iops: Some(200), ..Tuned::default() });
}

fn free(run: &mut RunRecord) {
    run.start.settings.target_iops = None;
    run.start.settings.threads_per_database = 8;
}

fn single(run: &mut RunRecord) {
    run.start.settings.target_iops = None;
    run.start.settings.threads_per_database = 1;
}

fn backup(run: &mut RunRecord) {
    run.start.test = TestType::Backup;
    run.start.settings.verify_checksums = false;
    run.start.settings.thresholds.longest_request_ns = None;
    run.backups = std::mem::take(&mut run.checksums);
    run.start.options = vec![("--test".to_owned(), "backup".to_owned())];
}

/// A backup whose copies take no time.
fn copied(run: &mut RunRecord) {
    backup(run);
    run.start.settings.thresholds.read_rate_bytes_per_second = Some(50 << 20);
    run.copy_checksums.clone_from(&run.backups);
    for (facts, read) in run.start.databases.iter_mut().zip(&mut run.backups) {
        facts.backup_file = Some(format!("/copies/{}.edb", facts.name));
        (read.bytes, read.elapsed_ns) = (60 << 20, SECOND);
        let database = read.database;
        run.backup_copies.push(BackupCopy { database, ..BackupCopy::default() });
    }
}

/// Reads that waited for their copies, and would have been fast without.
fn slow_copies(run: &mut RunRecord) {
    for read in &mut run.backups {
        read.bytes = 40 << 20;
        let mut series = SeriesTotal { bytes: 1 << 20, ..SeriesTotal::default() };
        series.latency.record(SECOND / 100);
        let totals = run.totals.entry((Phase::Backup, read.database)).or_default();
        totals.series.insert(Series::BackupRead, series);
    }
    for copy in &mut run.backup_copies {
        copy.reads_waited_ns = SECOND / 10 * 9;
    }
}

fn recovery(run: &mut RunRecord) {
    run.start.test = TestType::Recovery;
    run.start.settings.thresholds.longest_request_ns = None;
    run.start.settings.replay_logs = 10;
    replay(run, 10);
}

fn replay(run: &mut RunRecord, logs: u64) {
    let replay = |database| Replay {
        database,
        logs,
        pages_changed: 9,
        elapsed_ns: SECOND,
        ..Replay::default()
    };
    run.replays = run.start.databases.iter().map(|of| replay(of.index)).collect();
}

/// A load that misses a limit, for any reason.
fn failing(run: &mut RunRecord) {
    run.start.settings.thresholds.read_average_ns = 1;
}

fn slow_log(run: &mut RunRecord) {
    run.start.settings.thresholds.log_write_average_ns = 1;
}

/// A cache so small that pages wait for a place.
fn crowded(run: &mut RunRecord) {
    run.start.settings.cache_maximum_bytes = 1 << 20;
    run.start.settings.thresholds.page_fault_stalls_per_second = -1.0;
}

/// A held load that keeps the processors busy, with pages that wait for a small cache.
pub(super) fn crowded_and_busy() -> RunRecord {
    let mut run = busy().run();
    held(&mut run);
    run.start.settings.target_iops = run.start.settings.target_iops.map(|iops| iops * 2.0);
    crowded(&mut run);
    run
}

fn delayed(run: &mut RunRecord) {
    run.long_requests.push(LongRequest {
        at_ns: 40 * SECOND,
        phase: Phase::Measure,
        database: 0,
        file: "a.edb".to_owned(),
        operation: "read".to_owned(),
        offset_bytes: 0,
        length_bytes: 32_768,
        time_ns: 8 * SECOND,
        is_answered: true,
    });
}

fn beside_others(run: &mut RunRecord) {
    failing(run);
    crowded_out(run);
}

/// Other programs that leave the processors no time.
pub(in crate::next) fn crowded_out(run: &mut RunRecord) {
    for row in &mut run.intervals {
        let others_percent = 70.0;
        let busy_percent = 97.0;
        row.processors =
            Some(ProcessorShares { busy_percent, others_percent, ..ProcessorShares::default() });
        if let Some(host) = &mut row.host {
            host.processor_percent = Some(busy_percent);
        }
    }
}

fn stolen(run: &mut RunRecord) {
    failing(run);
    for host in run.intervals.iter_mut().filter_map(|row| row.host.as_mut()) {
        host.steal_percent = Some(13.0);
    }
}

fn late(run: &mut RunRecord) {
    failing(run);
    for host in run.intervals.iter_mut().filter_map(|row| row.host.as_mut()) {
        host.reactor_lag_maximum_ns = SECOND / 30;
    }
}

pub(super) fn issue(run: &mut RunRecord, kind: IssueKind) {
    run.issues.push(Issue {
        at_ns: 40 * SECOND,
        database: Some(0),
        severity: Severity::Error,
        kind,
        volume: Some("/mail/db01".to_owned()),
        file: None,
        offset_bytes: None,
        text: "what went wrong".to_owned(),
    });
}

/// A run that ended early.
fn ended(run: &mut RunRecord, is_overdue: bool) {
    run.finished = Some(Finished {
        at_ns: 50 * SECOND,
        interrupted: true,
        reason: Some("the reason".to_owned()),
        is_for_room: false,
        is_overdue,
        was_stopped: false,
    });
}

/// A volume that filled up, which also ended the run.
fn full(run: &mut RunRecord) {
    issue(run, IssueKind::VolumeFull);
    ended(run, false);
}

fn refused(run: &mut RunRecord) {
    issue(run, IssueKind::Refused);
    ended(run, false);
}

/// A run stopped by the user.
/// A limit is missed while another run is on the disk.
fn beside_a_run(run: &mut RunRecord) {
    failing(run);
    let volume = run.start.databases[0].volume.mount.clone();
    let (folder, disk) = ("/other".to_owned(), "sda".to_owned());
    run.other_runs.push(OtherRun { at_ns: 1, folder, volume, disk });
}

fn stopped(run: &mut RunRecord) {
    cut_off(run);
    ended(run, false);
    run.finished.as_mut().expect("just set").was_stopped = true;
}

pub(super) fn cut_off(run: &mut RunRecord) {
    run.finished = None;
    let attached = Attached {
        at_ns: 1,
        database: 0,
        log_signature: String::new(),
        place: LogPlace::default(),
    };
    run.attachments.insert(0, attached);
}

fn paused(run: &mut RunRecord) {
    for row in run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure).take(3) {
        row.is_left_out = true;
    }
}

/// A load whose databases fit into their caches.
pub(super) fn from_memory(run: &mut RunRecord) {
    for totals in run.totals.values_mut() {
        totals.series.remove(&Series::DatabaseRead);
    }
    for of in run.intervals.iter_mut().flat_map(|row| &mut row.databases) {
        of.series.remove(&Series::DatabaseRead);
    }
    run.start.settings.target_iops = None;
}

fn short_of_target(run: &mut RunRecord) {
    run.start.settings.target_iops = Some(1.3 * run.achieved_transactional_iops());
}

/// The same target for the load of as many sessions as a search finds.
fn within_target(run: &mut RunRecord) {
    run.tuned = Some(Tuned::default());
    run.start.settings.target_iops = Some(0.6 * run.achieved_transactional_iops());
}

fn simulated(run: &mut RunRecord) {
    run.start.command = "plimsoll simulate plan.toml --array shelf".to_owned();
    let array_text = "[raid]\nlevel = 5\ndisks = 7\n".to_owned();
    run.start.simulated = Some(Box::new(Simulation { array_text, ..Simulation::default() }));
}

/// An array whose write cache holds the databases.
fn simulated_with_cache(run: &mut RunRecord) {
    simulated(run);
    let text =
        "[cache]\nmode = \"write-back\"\nbattery = true\nsize_mib = 65536\nwrite_percent = 75\n";
    if let Some(simulation) = &mut run.start.simulated {
        simulation.array_text += text;
    }
}

fn simulated_with_many_requests_asked(run: &mut RunRecord) {
    simulated(run);
    run.start.settings.thresholds.minimum_log_writes = 4_000;
}

fn impossible(run: &mut RunRecord) {
    let simulation = Simulation { least_read_ns: SECOND, ..Simulation::default() };
    run.start.simulated = Some(Box::new(simulation));
}

fn measured(run: &mut RunRecord) {
    run.start.simulated = None;
    run.start.command = "plimsoll run plan.toml".to_owned();
}

const fn case(kind: StepKind, cause: fn(&mut RunRecord), act: Act) -> Case {
    Case { kind, made: usual, plan: nothing, cause, act }
}

const REMOVED: Act = Act::Person(nothing);

/// At least one case for each step.
pub(super) const CASES: &[Case] = &[
    case(
        StepKind::FindRoom,
        |run| {
            let settings = &mut run.start.settings;
            (settings.mailboxes, settings.mailbox_bytes) = (Some(1_200), Some(2 << 30));
        },
        REMOVED,
    ),
    case(StepKind::FewerMailboxes, |run| run.start.settings.mailboxes = Some(40_000), REMOVED),
    case(StepKind::LargerDatabases, nothing, Act::Person(large)),
    case(StepKind::LargerDatabases, from_memory, Act::Person(large)),
    Case {
        plan: simulated_with_cache,
        ..case(StepKind::LargerDatabases, nothing, Act::Person(large))
    },
    Case { made: two_hours, plan: large, ..case(StepKind::DayOfStress, nothing, Act::Command) },
    Case { made: two_hours, plan: stress, ..case(StepKind::DayOfStress, nothing, Act::Command) },
    Case { made: an_hour, plan: stress, ..case(StepKind::TwoHours, nothing, Act::Command) },
    Case { made: an_hour, plan: large, ..case(StepKind::TwoHours, nothing, Act::Command) },
    Case {
        made: an_hour,
        plan: large_and_quick,
        ..case(StepKind::TwoHours, nothing, Act::Command)
    },
    Case {
        made: two_hours,
        plan: large_and_quick,
        ..case(StepKind::OwnPlan, nothing, Act::Person(measured))
    },
    Case { made: a_day, plan: stress, ..case(StepKind::RecoveryTest, nothing, Act::Command) },
    Case { plan: backup, ..case(StepKind::LoadTest, nothing, Act::Command) },
    case(StepKind::FindCause, |run| run.checksums[0].bad_pages = 2, REMOVED),
    case(StepKind::FindCause, |run| issue(run, IssueKind::InputOutput), REMOVED),
    case(StepKind::CheckWriteCache, slow_log, REMOVED),
    case(StepKind::LargerCache, crowded, REMOVED),
    Case { plan: copied, ..case(StepKind::FasterCopies, slow_copies, REMOVED) },
    case(StepKind::FindDelay, delayed, REMOVED),
    Case { made: slow, plan: held, ..case(StepKind::FindLine, nothing, Act::Command) },
    Case { made: slow, plan: free, ..case(StepKind::FindLine, nothing, Act::Command) },
    Case { made: nearly, plan: held, ..case(StepKind::LowerTarget, nothing, Act::Command) },
    Case { made: slow, plan: held, ..case(StepKind::LowerTarget, nothing, Act::Command) },
    Case { plan: of_a_share, ..case(StepKind::LowerShare, failing, REMOVED) },
    Case { made: slow, plan: free, ..case(StepKind::FewerSessions, nothing, Act::Command) },
    Case { made: nearly, plan: single, ..case(StepKind::HoldLess, nothing, Act::Command) },
    case(StepKind::OriginalRecord, |run| run.seal = Seal::Altered { line: 7 }, Act::Repeat),
    Case {
        made: short,
        plan: |run| run.start.settings.thresholds.minimum_log_writes = 4_000,
        ..case(StepKind::MeasureLonger, nothing, Act::Command)
    },
    Case {
        made: || Synthetic { measure_intervals: 1, ..usual() },
        ..case(StepKind::MeasureLonger, nothing, Act::Command)
    },
    Case {
        made: short,
        plan: simulated_with_many_requests_asked,
        ..case(StepKind::MeasureLonger, nothing, Act::Command)
    },
    case(StepKind::EndOthers, beside_others, REMOVED),
    case(StepKind::OneAtATime, beside_a_run, REMOVED),
    Case { made: busy, plan: free, ..case(StepKind::SpareProcessors, nothing, Act::Command) },
    Case { made: busy, plan: held, ..case(StepKind::SpareProcessors, nothing, Act::Command) },
    case(StepKind::SpareProcessors, late, REMOVED),
    case(StepKind::OwnProcessors, stolen, REMOVED),
    case(
        StepKind::WithoutCache,
        |run| run.start.databases[0].volume.cached = Some("loop0 reads its file".to_owned()),
        REMOVED,
    ),
    case(StepKind::ShorterRun, full, Act::Shorter),
    Case { made: short, ..case(StepKind::SmallerDatabases, full, REMOVED) },
    Case {
        made: short,
        plan: |run| run.start.command = "plimsoll quick disk".to_owned(),
        ..case(StepKind::SmallerDatabases, full, REMOVED)
    },
    Case {
        made: short,
        plan: |run| run.start.databases[0].initial_bytes = 16 << 20,
        ..case(StepKind::LargerVolume, full, REMOVED)
    },
    case(StepKind::ReachServer, |run| issue(run, IssueKind::ConnectionLost), REMOVED),
    case(StepKind::FreeVolume, |run| ended(run, true), REMOVED),
    case(StepKind::Resume, cut_off, Act::Repeat),
    case(StepKind::Resume, stopped, Act::Repeat),
    case(StepKind::KeepRunning, paused, REMOVED),
    Case {
        plan: recovery,
        ..case(
            StepKind::FewerLogs,
            |run| replay(run, 4),
            Act::Person(|run| {
                run.start.settings.replay_logs = 4;
                replay(run, 4);
            }),
        )
    },
    case(StepKind::ReportRefusal, refused, REMOVED),
    case(StepKind::ReadDatabases, |run| run.checksums.truncate(1), Act::Repeat),
    case(StepKind::MeasureAgain, |run| ended(run, false), Act::Repeat),
    Case { plan: simulated, ..case(StepKind::DetailedSimulation, impossible, REMOVED) },
    Case { plan: simulated, ..case(StepKind::OtherArray, failing, REMOVED) },
    Case {
        plan: simulated,
        ..case(StepKind::MoreSessions, short_of_target, Act::Person(within_target))
    },
    case(StepKind::MoreSessions, short_of_target, Act::Person(within_target)),
    Case { plan: simulated, ..case(StepKind::MeasureSimulated, nothing, Act::Person(measured)) },
];
