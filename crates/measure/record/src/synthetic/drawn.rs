//! Records of any kind, drawn at random, to test properties that hold for every run.

use units::{Prng, Seed};

use super::Synthetic;
use crate::{
    BackupCopy, Break, Checksum, Finished, FurtherErrors, Issue, IssueKind, LongRequest, Phase,
    ProcessorShares, ProgramShare, Replay, RunRecord, Seal, Series, Severity, Simulation, TestType,
    Thresholds, Tuned, VolumeReads,
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

const TESTS: [TestType; 8] = [
    TestType::Performance,
    TestType::Performance,
    TestType::Performance,
    TestType::Stress,
    TestType::Stress,
    TestType::Backup,
    TestType::Checksum,
    TestType::Recovery,
];

const ISSUES: [IssueKind; 7] = [
    IssueKind::InputOutput,
    IssueKind::VolumeFull,
    IssueKind::ConnectionLost,
    IssueKind::LostFlush,
    IssueKind::Unfinished,
    IssueKind::Refused,
    IssueKind::Other,
];

/// A run of any kind, with any kind of failure; one in three has no problem except those its plan
/// asks for. The same seed gives the same run.
pub fn drawn(seed: u64) -> RunRecord {
    let mut draw = Draw(Prng::new(Seed(seed)));
    if draw.one_in(3) {
        return draw.calm();
    }
    let mut run = draw.load();
    draw.settings(&mut run);
    draw.limits(&mut run.start.settings.thresholds);
    draw.volumes(&mut run);
    draw.machine(&mut run);
    draw.test(&mut run);
    draw.errors(&mut run);
    draw.end(&mut run);
    run
}

struct Draw(Prng);

impl Draw {
    fn one_in(&mut self, count: u64) -> bool {
        self.0.below(count) == 0
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        let at = self.0.below(values.len() as u64);
        values[usize::try_from(at).expect("invariant: below the length")].clone()
    }

    /// One of `values`, or `None` half of the time.
    fn perhaps<T: Clone>(&mut self, values: &[T]) -> Option<T> {
        self.one_in(2).then(|| self.of(values))
    }

    fn calm(&mut self) -> RunRecord {
        let synthetic = Synthetic {
            seed: Seed(self.0.below(u64::MAX)),
            interval_seconds: 10,
            warm_intervals: 1,
            measure_intervals: 4,
            read_median_ns: self.of(&[2, 8]) * MS,
            ..Synthetic::default()
        };
        let mut run = synthetic.run();
        self.settings(&mut run);
        for facts in &mut run.start.databases {
            facts.volume.size_bytes = self.of(&[0, 300 << 30, 2 << 40]);
            facts.volume.free_bytes = facts.volume.size_bytes;
            facts.initial_bytes = self.of(&[1 << 30, 1 << 40]);
        }
        run
    }

    fn load(&mut self) -> RunRecord {
        let synthetic = Synthetic {
            seed: Seed(self.0.below(u64::MAX)),
            databases: u32::try_from(self.0.below(3)).expect("below 3") + 1,
            interval_seconds: self.of(&[2, 10]),
            warm_intervals: 1,
            measure_intervals: self.of(&[0, 1, 4, 7]),
            load_percent: 100,
            read_median_ns: self.of(&[2, 8, 14, 16, 30]) * MS,
            log_write_median_ns: self.of(&[1, 2, 8, 20]) * MS,
            processor_percent: self.of(&[14.0, 60.0, 88.0, 95.0]),
            page_fault_stalls: self.of(&[0, 0, 3, 9]),
            spike: self.perhaps(&[0, 1]),
        };
        synthetic.run()
    }

    fn settings(&mut self, run: &mut RunRecord) {
        let achieved = run.achieved_transactional_iops();
        let settings = &mut run.start.settings;
        settings.target_iops =
            self.perhaps(&[1.0, achieved * 0.9, achieved * 1.003_4, achieved * 1.1, 1e5]);
        settings.mailboxes = self.perhaps(&[1, 1_117, 40_000]);
        settings.iops_per_mailbox = settings.mailboxes.map(|_| 0.12);
        settings.mailbox_bytes = settings.mailboxes.and_then(|_| self.perhaps(&[1 << 30, 3 << 30]));
        settings.threads_per_database = self.of(&[1, 3, 16]);
        settings.verify_checksums = !self.one_in(4);
        settings.measure_ns = settings.measure_ns.max(SECOND) * self.of(&[1, 1, 10]);
        if settings.target_iops.is_none() && self.one_in(4) {
            settings.throughput_percent = Some(80.0);
            run.tuned = Some(Tuned {
                sessions_per_database: 4,
                target_iops: self.perhaps(&[100, 400]),
                ..Tuned::default()
            });
        } else if self.one_in(2) {
            let sessions_per_database = settings.threads_per_database;
            run.tuned = Some(Tuned { sessions_per_database, ..Tuned::default() });
        }
        run.start.command = self.of(&[
            "plimsoll run plan.toml".to_owned(),
            "plimsoll quick disk".to_owned(),
            String::new(),
        ]);
    }

    fn limits(&mut self, limits: &mut Thresholds) {
        limits.minimum_measure_ns = self.of(&[0, 10, 30, 60]) * SECOND;
        limits.minimum_reads = self.of(&[0, 100, 4_000]);
        limits.minimum_log_writes = self.of(&[0, 100, 2_500]);
        limits.read_p99_ns = self.perhaps(&[30 * MS, 300 * MS]);
        limits.log_write_p99_ns = self.perhaps(&[6 * MS, 300 * MS]);
        limits.longest_request_ns = self.perhaps(&[100 * MS, 5 * SECOND]);
        limits.read_rate_bytes_per_second = self.perhaps(&[1, 80 << 20, 84 << 20, 1 << 40]);
        limits.replay_ns_per_log = self.perhaps(&[SECOND, 3 * SECOND]);
        limits.target_reached_percent = self.of(&[90.0, 95.0, 99.7]);
    }

    fn volumes(&mut self, run: &mut RunRecord) {
        for index in 0..run.start.databases.len() {
            let facts = &mut run.start.databases[index];
            let volume = &mut facts.volume;
            volume.cached = self.one_in(12).then(|| "loop0 reads its file".to_owned());
            volume.caching_unknown = self.one_in(6).then(|| "fuse does not say".to_owned());
            volume.size_bytes = self.of(&[0, 300 << 30, 2 << 40]);
            volume.free_bytes = volume.size_bytes;
            if self.one_in(8) {
                volume.io_limits = vec!["the control group /box allows 200 writes".to_owned()];
            }
            let mount = volume.mount.clone();
            facts.initial_bytes = self.of(&[4 << 20, 1 << 30, 1 << 40]);
            if self.one_in(2) {
                run.volume_reads.push(VolumeReads {
                    volume: mount,
                    requested_bytes: self.of(&[1, 16, 400]) << 20,
                    device_bytes: self.of(&[1, 8, 190, 390, 420, 900]) << 20,
                    accounted_bytes: self.one_in(3).then_some(8 << 20),
                });
            }
        }
        if self.one_in(6) {
            run.start.simulated = Some(Box::new(Simulation {
                array: "shelf".to_owned(),
                uncertainty_percent: self.of(&[0.0, 25.0, 100.0]),
                least_read_ns: self.of(&[0, 4 * MS, 12 * MS]),
                ..Simulation::default()
            }));
            run.start.command = String::from("plimsoll simulate plan.toml --array shelf");
        }
    }

    fn machine(&mut self, run: &mut RunRecord) {
        let lag_ns = self.perhaps(&[4 * MS, 6 * MS, 32 * MS]);
        let steal = self.perhaps(&[None, Some(5.0), Some(13.0)]);
        let others = self.perhaps(&[3.0, 25.0, 66.0]);
        let is_untold = self.one_in(10);
        for row in &mut run.intervals {
            row.is_left_out = self.one_in(12);
            let others = if self.one_in(2) { others } else { others.map(|_| 3.0) };
            row.processors = others.map(|others_percent| ProcessorShares {
                busy_percent: 96.0,
                own_percent: 20.0,
                others_percent,
                top: Some(ProgramShare { name: "rustc".to_owned(), percent: others_percent }),
                ..ProcessorShares::default()
            });
            let Some(host) = &mut row.host else { continue };
            host.steal_percent = steal.unwrap_or(host.steal_percent);
            host.reactor_lag_maximum_ns = lag_ns.unwrap_or(host.reactor_lag_maximum_ns);
            if is_untold {
                host.processor_percent = None;
            }
        }
        if self.one_in(6) {
            slow_down(run);
        }
        if self.one_in(10) {
            run.breaks.push(Break { from_ns: SECOND, to_ns: 9 * SECOND, is_orderly: false });
        }
    }

    fn test(&mut self, run: &mut RunRecord) {
        run.start.test = self.of(&TESTS);
        match run.start.test {
            TestType::Performance | TestType::Stress => {}
            TestType::Checksum => run.start.settings.verify_checksums = true,
            TestType::Backup => self.backup(run),
            TestType::Recovery => self.recovery(run),
        }
        if self.one_in(8) {
            run.checksums.pop();
        }
        if self.one_in(10) {
            damage(&mut run.checksums);
        }
    }

    fn backup(&mut self, run: &mut RunRecord) {
        run.backups = std::mem::take(&mut run.checksums);
        if self.one_in(8) {
            run.backups.pop();
        }
        let copies = self.one_in(2);
        for facts in run.start.databases.iter_mut().filter(|_| copies) {
            facts.backup_file = Some(format!("/copies/{}.edb", facts.name));
        }
        for of in run.backups.clone().into_iter().filter(|_| copies) {
            run.copy_checksums.push(of);
            run.backup_copies.push(BackupCopy {
                at_ns: of.at_ns,
                database: of.database,
                bytes: of.bytes,
                elapsed_ns: of.elapsed_ns,
                reads_waited_ns: self.of(&[0, SECOND / 10, 9 * SECOND]),
            });
        }
        if self.one_in(8) {
            run.backup_copies.pop();
        }
    }

    fn recovery(&mut self, run: &mut RunRecord) {
        run.start.settings.replay_logs = 10;
        for database in run.start.databases.iter().map(|of| of.index) {
            if self.one_in(8) {
                continue;
            }
            run.replays.push(Replay {
                at_ns: 60 * SECOND,
                database,
                logs: self.of(&[4, 10, 11]),
                records: 100,
                pages_changed: self.of(&[0, 10]),
                elapsed_ns: self.of(&[5, 20, 90]) * SECOND,
                generated_ns: 60 * SECOND,
                ..Replay::default()
            });
        }
    }

    fn errors(&mut self, run: &mut RunRecord) {
        if self.one_in(4) {
            let kind = self.of(&ISSUES);
            run.issues.push(Issue {
                at_ns: 20 * SECOND,
                database: Some(0),
                severity: self.of(&[Severity::Warning, Severity::Error]),
                kind,
                volume: Some("/mail/db01".to_owned()),
                file: None,
                offset_bytes: None,
                text: "what went wrong".to_owned(),
            });
        }
        if self.one_in(12) {
            run.further_errors.push(FurtherErrors { failed_requests: 7, ..Default::default() });
        }
        if self.one_in(6) {
            run.long_requests.push(LongRequest {
                at_ns: 30 * SECOND,
                phase: Phase::Open,
                database: 0,
                file: "a.edb".to_owned(),
                operation: "read".to_owned(),
                offset_bytes: 0,
                length_bytes: 4_096,
                time_ns: self.of(&[SECOND, 6 * SECOND]),
                is_answered: true,
            });
        }
    }

    fn end(&mut self, run: &mut RunRecord) {
        let cut = self.0.below(8);
        if cut == 0 {
            run.finished = None;
        }
        if cut == 1 {
            run.finished = Some(Finished {
                at_ns: 60 * SECOND,
                interrupted: true,
                reason: self.perhaps(&["stopped by the user".to_owned()]),
                is_for_room: self.one_in(3),
                is_overdue: self.one_in(3),
                was_stopped: false,
            });
        }
        if self.one_in(20) {
            run.seal = Seal::Altered { line: 7 };
        }
    }
}

/// Every interval reads less than the one before.
fn slow_down(run: &mut RunRecord) {
    for (number, row) in (0_u64..).zip(&mut run.intervals) {
        if let Some(reads) = row.series.get_mut(&Series::DatabaseRead) {
            reads.latency.count -= reads.latency.count * number.min(9) / 10;
        }
    }
}

fn damage(all: &mut [Checksum]) {
    if let Some(of) = all.first_mut() {
        of.bad_pages = 2;
    }
}
