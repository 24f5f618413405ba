//! Position of a test in a set: its number, and the remaining time of the whole set.

use std::fs;
use std::path::Path;
use std::time::Duration;

use record::Phase;
use serde_json::{Value, json};

use super::LiveRun;
use crate::documents;
use crate::error::CommandError;
use crate::term;

/// File next to the journal of a run in a set: information about the other tests that `watch`
/// cannot see.
const FILE: &str = "set.json";

/// The rate of a smaller share of the work predicts nothing: most of its time went into the start.
const LEAST_SHARE: f64 = 0.01;

/// Size of a log file.
const LOG_BYTES: u64 = 1 << 20;

/// Position of a run in a set of tests, and the known part of the remaining time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetOutlook {
    /// Number of the test, counted from 1.
    pub number: usize,
    /// Number of tests in the set.
    pub count: usize,
    /// Duration of this test, as far as known.
    pub own: Duration,
    /// Duration of the verification at its end, as far as known: a part of `own`.
    pub check: Duration,
    /// Duration of the tests after it, as far as known.
    pub later: Duration,
    /// `true` if a part of these durations is unknown.
    pub is_partial: bool,
}

impl SetOutlook {
    /// Writes the outlook to the folder of the run, where `watch` reads it.
    pub(crate) fn keep(&self, folder: &Path) -> Result<(), CommandError> {
        let told = json!({
            "number": self.number,
            "count": self.count,
            "own_seconds": self.own.as_secs(),
            "check_seconds": self.check.as_secs(),
            "later_seconds": self.later.as_secs(),
            "is_partial": self.is_partial,
        });
        Ok(documents::replace(&folder.join(FILE), told.to_string().as_bytes())?)
    }

    /// Reads the outlook of the run with this journal; `None` if it is a single test.
    pub fn of(journal: &Path) -> Option<Self> {
        let told: Value =
            serde_json::from_slice(&fs::read(journal.with_file_name(FILE)).ok()?).ok()?;
        Some(Self {
            number: usize::try_from(told["number"].as_u64()?).ok()?,
            count: usize::try_from(told["count"].as_u64()?).ok()?,
            own: Duration::from_secs(told["own_seconds"].as_u64()?),
            check: Duration::from_secs(told["check_seconds"].as_u64()?),
            later: Duration::from_secs(told["later_seconds"].as_u64()?),
            is_partial: told["is_partial"].as_bool()?,
        })
    }

    /// Describes the test's position in the set, and the duration of those after it.
    pub fn introduction(&self) -> String {
        let (number, count) = (self.number, self.count);
        let most = if self.is_partial { "at least" } else { "about" };
        let later = term::duration(self.later);
        format!("This is test {number} of {count} of a set; those after it take {most} {later}.")
    }

    /// The time that the set still takes if the run's own load takes `left`.
    pub fn words(&self, left: Duration) -> String {
        let (number, count) = (self.number, self.count);
        if self.is_partial && left.as_secs() == 0 {
            return format!("test {number} of {count}");
        }
        let about = if self.is_partial { "at least" } else { "about" };
        format!("test {number} of {count}: {about} {} left of the set", term::duration(left))
    }
}

impl LiveRun {
    /// Remaining time of the set, `now_ns` after the start of this run in it.
    pub(super) fn outlook(&self, now_ns: u64) -> Option<String> {
        let outlook = self.outlook.as_ref()?;
        let own = TestProgress {
            phase: self.phase(),
            elapsed: self.elapsed(now_ns),
            planned: self.planned(),
            done: self.share_done(),
        };
        Some(outlook.words(left_of_test(&own, outlook) + outlook.later))
    }

    /// Share of the phase's work that is done; `None` if the phase has no known amount of work.
    fn share_done(&self) -> Option<f64> {
        let (done, total) = match (self.phase(), self.work) {
            (Some(Phase::Measure), _) => {
                let logs = u64::from(self.settings.replay_logs);
                (self.logged.bytes, logs * LOG_BYTES * self.logged.databases)
            }
            (_, Some(work)) => (work.done_bytes, work.total_bytes),
            (_, None) => return None,
        };
        (total > 0).then(|| (done as f64 / total as f64).min(1.0))
    }
}

/// Progress of a test.
struct TestProgress {
    phase: Option<Phase>,
    /// Time spent in the phase.
    elapsed: Duration,
    /// Planned length of the phase, if it has one.
    planned: Option<Duration>,
    /// Share of its work that is done, if it has a known amount.
    done: Option<f64>,
}

/// Remaining time of a part that takes `whole` in all unless its rate so far says otherwise.
fn expected(test: &TestProgress, whole: Duration) -> Duration {
    let by_rate = test.done.and_then(|done| left_at_rate(done, test.elapsed));
    by_rate.unwrap_or_else(|| whole.saturating_sub(test.elapsed))
}

/// Remaining time of a test, as far as known: the planned part, and the rest of passes and
/// logs at their rate so far, or as long as earlier tests took for them.
fn left_of_test(test: &TestProgress, outlook: &SetOutlook) -> Duration {
    let SetOutlook { own, check, .. } = *outlook;
    match test.phase {
        None | Some(Phase::Open | Phase::Warm | Phase::Tune) => own,
        Some(Phase::Measure) => {
            let planned = test.planned.map(|planned| planned.saturating_sub(test.elapsed));
            planned.unwrap_or_else(|| expected(test, own.saturating_sub(check))) + check
        }
        Some(Phase::Drain) => check,
        Some(Phase::Backup) => expected(test, own),
        Some(Phase::Check) => expected(test, check),
        Some(Phase::Recover) => expected(test, Duration::ZERO) + check,
    }
}

/// Remaining time of work of which this share is done; `None` if too little of it is done to
/// extrapolate.
fn left_at_rate(done: f64, elapsed: Duration) -> Option<Duration> {
    (done >= LEAST_SHARE).then(|| elapsed.mul_f64((1.0 - done) / done))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use record::{Edge, Event, Phase, PhaseMark, Settings};

    use super::super::{LiveRun, Logged, PassWork};
    use super::{SetOutlook, TestProgress, left_of_test};

    fn begin(run: &mut LiveRun, phase: Phase, second: u64) {
        let at_ns = second * 1_000_000_000;
        run.event(&Event::Phase(PhaseMark { at_ns, phase, edge: Edge::Begin }));
    }

    #[test]
    fn those_who_look_on_are_told_what_follows_the_run() {
        let folder = std::env::temp_dir().join(format!("plimsoll-set-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let journal = folder.join("record.jsonl");
        assert_eq!(SetOutlook::of(&journal), None);
        let outlook = SetOutlook {
            number: 2,
            count: 4,
            own: Duration::from_mins(130),
            check: Duration::from_mins(10),
            later: Duration::from_mins(30),
            is_partial: true,
        };
        outlook.keep(&folder).unwrap();
        let said = outlook.introduction();
        let expected = "This is test 2 of 4 of a set; those after it take at least 30 min 00 s.";
        assert_eq!(said, expected);
        assert_eq!(SetOutlook::of(&journal), Some(outlook));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_time_of_the_set_is_what_is_left_of_the_test_and_of_those_that_follow() {
        let settings = Settings { measure_ns: 7_200_000_000_000, ..Settings::default() };
        let mut run = LiveRun::new(settings, BTreeMap::new());
        run.outlook = Some(SetOutlook {
            number: 2,
            count: 4,
            own: Duration::from_mins(130),
            check: Duration::from_mins(10),
            later: Duration::from_mins(30),
            is_partial: true,
        });
        begin(&mut run, Phase::Warm, 0);
        let said = |run: &LiveRun, second: u64| run.sentence(second * 1_000_000_000);
        assert!(said(&run, 60).ends_with("test 2 of 4: at least 2 h 40 min left of the set"));
        begin(&mut run, Phase::Measure, 100);
        assert!(said(&run, 3_700).ends_with("at least 1 h 40 min left of the set"));
        begin(&mut run, Phase::Check, 7_400);
        run.set_work(PassWork { done_bytes: 1, total_bytes: 4 });
        assert!(said(&run, 7_500).ends_with("at least 35 min 00 s left of the set"));
        if let Some(outlook) = &mut run.outlook {
            (outlook.later, outlook.check) = (Duration::ZERO, Duration::ZERO);
        }
        run.set_work(PassWork { done_bytes: 4, total_bytes: 4 });
        assert!(said(&run, 7_600).ends_with("; test 2 of 4"), "{}", said(&run, 7_600));
        let lines = run.lines(7_500_000_000_000, 80);
        assert!(lines.last().is_some_and(|line| line.starts_with("  test 2 of 4")), "{lines:?}");
    }

    #[test]
    fn what_is_left_of_a_test_follows_from_its_own_plan_and_the_rates_so_far() {
        let minutes = Duration::from_mins;
        let outlook = SetOutlook { own: minutes(50), check: minutes(10), ..SetOutlook::default() };
        let left = |phase, elapsed, planned: Option<u64>, done| {
            let planned = planned.map(minutes);
            let test = TestProgress { phase, elapsed: minutes(elapsed), planned, done };
            left_of_test(&test, &outlook)
        };
        for phase in [None, Some(Phase::Open), Some(Phase::Warm)] {
            assert_eq!(left(phase, 1, None, None), minutes(50), "{phase:?}");
        }
        assert_eq!(left(Some(Phase::Measure), 30, Some(40), None), minutes(20));
        // While logs are generated: by their own rate, or before it is known, by the rate of
        // earlier tests.
        assert_eq!(left(Some(Phase::Measure), 5, None, Some(0.25)), minutes(25));
        assert_eq!(left(Some(Phase::Measure), 5, None, Some(0.001)), minutes(45));
        assert_eq!(left(Some(Phase::Recover), 2, None, Some(0.5)), minutes(12));
        assert_eq!(left(Some(Phase::Check), 2, None, Some(0.001)), minutes(8));
        assert_eq!(left(Some(Phase::Backup), 5, None, None), minutes(45));
        assert_eq!(left(Some(Phase::Drain), 5, None, None), minutes(10));
    }

    #[test]
    fn a_test_that_reads_or_replays_is_not_given_the_time_of_a_load() {
        let settings = Settings { measure_ns: 7_200_000_000_000, ..Settings::default() };
        let mut backup = LiveRun::new(settings.clone(), BTreeMap::new());
        let own = Duration::from_mins(3);
        backup.outlook = Some(SetOutlook { number: 3, count: 4, own, ..SetOutlook::default() });
        begin(&mut backup, Phase::Open, 0);
        let said = backup.sentence(1_000_000_000);
        assert!(said.ends_with("about 3 min 00 s left of the set"), "{said}");
        let settings = Settings { replay_logs: 10, ..settings };
        let mut recovery = LiveRun::new(settings, BTreeMap::new());
        recovery.outlook = Some(SetOutlook { number: 4, count: 4, own, ..SetOutlook::default() });
        begin(&mut recovery, Phase::Measure, 0);
        recovery.logged = Logged { bytes: 10 << 20, databases: 2 };
        let said = recovery.sentence(60_000_000_000);
        assert!(said.ends_with("about 1 min 00 s left of the set"), "{said}");
    }
}
