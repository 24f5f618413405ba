//! Duration of a set of tests: announced before it starts, and estimated from completed tests while
//! it runs.

use std::time::Duration;

use plan::{Plan, TestKind};
use record::{Phase, RunRecord};

use crate::cmd::load_words;
use console::Console;
use console::error::CommandError;
use console::live::SetOutlook;
use console::term;

/// Size of a log file.
const LOG_BYTES: u64 = 1 << 20;

/// Storage rates seen in the tests so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SeenRates {
    /// Duration of a pass through every page of all databases.
    pass: Option<Duration>,
    /// Total log rate of all databases under a load that nothing holds back.
    log_bytes_per_second: Option<f64>,
}

impl SeenRates {
    /// Adds the rates of a test.
    pub(super) fn see(&mut self, run: &RunRecord) {
        let passes = [Phase::Check, Phase::Backup].map(|phase| run.span_ns(phase));
        if let Some(ns) = passes.into_iter().find(|&ns| ns > 0) {
            self.pass = Some(Duration::from_nanos(ns));
        }
        self.log_bytes_per_second = free_log_rate(run).or(self.log_bytes_per_second);
    }

    /// Estimates the duration of a test; `true` if the estimate covers all of it.
    fn estimate(&self, plan: &Plan) -> (Duration, bool) {
        let (checked, is_known) = self.check(plan);
        match plan.test.kind {
            TestKind::Performance | TestKind::Stress => {
                (Duration::from_nanos(plan.test.duration.0) + checked, is_known)
            }
            TestKind::Backup | TestKind::Checksum => {
                (self.pass.unwrap_or_default(), self.pass.is_some())
            }
            // The duration of the replay cannot be known in advance.
            TestKind::Recovery => (self.generation(plan) + checked, false),
        }
    }

    /// Estimated duration of the verification at the end of a test; `true` if it is known.
    fn check(&self, plan: &Plan) -> (Duration, bool) {
        if !plan.test.checksum {
            return (Duration::ZERO, true);
        }
        (self.pass.unwrap_or_default(), self.pass.is_some())
    }

    fn generation(&self, plan: &Plan) -> Duration {
        let logs = u64::from(plan.test.replay_logs) * plan.databases.len() as u64;
        let rate = self.log_bytes_per_second.filter(|&rate| rate >= 1.0);
        let seconds = rate.map(|rate| (logs * LOG_BYTES) as f64 / rate);
        seconds.map_or(Duration::ZERO, Duration::from_secs_f64)
    }

    /// The outlook of the test at `index` of `plans`.
    pub(super) fn outlook(&self, plans: &[&Plan], index: usize) -> SetOutlook {
        let later = plans[index + 1..].iter().map(|plan| self.estimate(plan));
        let (later, known): (Vec<Duration>, Vec<bool>) = later.unzip();
        let (own, is_known) = self.estimate(plans[index]);
        SetOutlook {
            number: index + 1,
            count: plans.len(),
            own,
            check: self.check(plans[index]).0,
            later: later.into_iter().sum(),
            is_partial: !is_known || known.contains(&false),
        }
    }

    /// Total duration of the tests from `index` on.
    pub(super) fn left(&self, plans: &[&Plan], index: usize) -> Duration {
        plans[index..].iter().map(|plan| self.estimate(plan).0).sum()
    }
}

/// Log bytes per second of a test in a phase whose load is not held: the logs of a recovery test
/// are generated that fast. `None` if a target held the load from the start, which would make
/// hours of what takes minutes.
fn free_log_rate(run: &RunRecord) -> Option<f64> {
    let settings = &run.start.settings;
    let is_held = settings.target_iops.is_some() || settings.throughput_percent.is_some();
    let phases: &[Phase] = match (is_held, settings.warm_up_held) {
        (false, _) => &[Phase::Measure],
        (true, false) => &[Phase::Tune, Phase::Warm],
        (true, true) => &[],
    };
    phases.iter().find_map(|&phase| {
        let (span_ns, bytes) = (run.span_ns(phase), run.sum_of(phase).counters.log_volume_bytes);
        (span_ns > 0 && bytes > 0).then(|| bytes as f64 / (span_ns as f64 / 1e9))
    })
}

/// Announces the tests, and the time of each.
pub(super) fn announce(plans: &[&Plan], console: &mut Console) -> Result<(), CommandError> {
    let least = SeenRates::default().left(plans, 0);
    let (count, databases) = (plans.len(), plans[0].databases.len());
    let databases = match databases {
        1 => "1 database".to_owned(),
        databases => format!("{databases} databases"),
    };
    console.remark(format_args!(
        "{count} tests of {databases}: at least {}, and what passes through their files \
         take.",
        term::duration(least)
    ))?;
    for (number, plan) in (1..).zip(plans) {
        console.remark(format_args!("  {number}  {}", length(plan)))?;
    }
    console.flush()
}

/// Work and length of one test.
fn length(plan: &Plan) -> String {
    let (test, size) = (plan.test, plan.size);
    let kind = test.kind;
    match kind {
        TestKind::Performance | TestKind::Stress => {
            let check = if test.checksum { ", then a check of every page" } else { "" };
            let usual = if test.duration == kind.duration() {
                format!(" (`--duration {kind}=TIME` changes it)")
            } else {
                String::new()
            };
            let pace = load_words::pace(plan).map_or_else(String::new, |pace| format!("; {pace}"));
            format!(
                "{kind}: {}{usual}{} after a warm-up of at most {}{check}{pace}",
                term::duration(Duration::from_nanos(test.duration.0)),
                load_words::doubt(test.duration),
                term::duration(Duration::from_nanos(test.warm_up_limit.0)),
            )
        }
        TestKind::Backup | TestKind::Checksum => {
            format!("{kind}: reads every database once, from {size} each")
        }
        TestKind::Recovery => format!(
            "{kind}: generates {} logs of 1 MiB for each database, then replays them",
            test.replay_logs
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::{Plan, TestKind};
    use record::RunRecord;
    use record::synthetic::Synthetic;

    use super::{SeenRates, free_log_rate, length};

    fn plans() -> Vec<Plan> {
        let text = "[databases]\nfolders = [\"/a\"]\ncount = 2\nsize = \"1GiB\"\n[test]\n\
                    duration = \"2h\"\nreplay_logs = 30\n";
        let kinds = [TestKind::Performance, TestKind::Stress, TestKind::Backup, TestKind::Recovery];
        let plan = Plan::parse("test", text).expect("a valid plan");
        kinds
            .into_iter()
            .map(|kind| {
                let mut plan = plan.clone();
                plan.test.kind = kind;
                plan.test.duration = kind.duration();
                plan
            })
            .collect()
    }

    /// A test whose load nothing holds back.
    fn free() -> RunRecord {
        let mut run = Synthetic::default().run();
        run.start.settings.target_iops = None;
        run
    }

    #[test]
    fn the_logs_of_a_replay_are_not_expected_at_the_rate_of_a_held_load() {
        let all = plans();
        let mut seen = SeenRates::default();
        let mut held = free();
        held.start.settings.target_iops = Some(240.0);
        seen.see(&held);
        let pass = seen.pass.unwrap_or_default();
        assert_eq!(seen.estimate(&all[3]), (pass, false), "the generation is unknown");
        // The warm-up before it was not held.
        held.start.settings.warm_up_held = false;
        seen.see(&held);
        assert_eq!(seen.log_bytes_per_second, free_log_rate(&held));
        assert!(seen.estimate(&all[3]).0 > pass, "{seen:?}");
        // A later test whose load is held throughout does not change the known rate.
        let known = seen.log_bytes_per_second;
        held.start.settings.warm_up_held = true;
        seen.see(&held);
        assert_eq!(seen.log_bytes_per_second, known);
    }

    #[test]
    fn a_test_that_reads_takes_as_long_as_a_pass() {
        let all = plans();
        let plans: Vec<&Plan> = all.iter().collect();
        let mut seen = SeenRates::default();
        seen.see(&free());
        let backup = seen.outlook(&plans, 2);
        assert_eq!(Some(backup.own), seen.pass);
    }

    #[test]
    fn what_follows_is_known_better_with_every_test() {
        let all = plans();
        let plans: Vec<&Plan> = all.iter().collect();
        let mut seen = SeenRates::default();
        let first = seen.outlook(&plans, 0);
        assert_eq!((first.number, first.count, first.check), (1, 4, Duration::ZERO));
        assert_eq!(first.later, Duration::from_hours(24), "no pass has been seen");
        assert!(first.is_partial);
        seen.see(&free());
        assert!(seen.pass.is_some() && seen.log_bytes_per_second.is_some(), "{seen:?}");
        let pass = seen.pass.unwrap_or_default();
        let backup = seen.outlook(&plans, 2);
        assert!(backup.later > pass, "logs are generated, then every page is checked");
        assert!(seen.outlook(&plans, 3).is_partial, "a replay was not seen");
        let only_loads = &plans[..2];
        assert!(!seen.outlook(only_loads, 0).is_partial);
        assert_eq!(seen.left(only_loads, 1), Duration::from_hours(24) + pass);
    }

    #[test]
    fn the_length_of_each_test_is_said_with_what_changes_it() {
        let all = plans();
        let said: Vec<String> = all.iter().map(length).collect();
        assert!(said[1].starts_with("stress: 24 h 00 min (`--duration stress=TIME` changes it)"));
        assert!(said[2].starts_with("backup: reads every database once"), "{}", said[2]);
        assert!(said[3].contains("30 logs of 1 MiB"), "{}", said[3]);
    }
}
