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

/// Position of a run in a set of tests, and the known part of the remaining time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetOutlook {
    /// Its number, counted from 1.
    pub number: usize,
    /// Tests of the set.
    pub count: usize,
    /// Time of the verification at its end, if known.
    pub check: Duration,
    /// Time of the tests after it, if known.
    pub later: Duration,
    /// `true` if part of that is still unknown.
    pub is_partial: bool,
}

impl SetOutlook {
    /// Writes it to the folder of the run, for observers.
    pub(crate) fn keep(&self, folder: &Path) -> Result<(), CommandError> {
        let told = json!({
            "number": self.number,
            "count": self.count,
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
        Some(outlook.words(self.left(outlook, now_ns) + outlook.later))
    }

    /// Remaining time of this run, as far as known.
    fn left(&self, outlook: &SetOutlook, now_ns: u64) -> Duration {
        let elapsed = self.elapsed(now_ns);
        let is_load = self.settings.replay_logs == 0;
        let measured = Duration::from_nanos(if is_load { self.settings.measure_ns } else { 0 });
        match self.phase() {
            None | Some(Phase::Open | Phase::Warm | Phase::Tune) => measured + outlook.check,
            Some(Phase::Measure) => {
                let planned = self.planned().unwrap_or_default();
                planned.saturating_sub(elapsed) + outlook.check
            }
            Some(Phase::Drain) => outlook.check,
            Some(Phase::Check | Phase::Backup) => self.left_of_pass(elapsed).unwrap_or_default(),
            Some(Phase::Recover) => Duration::ZERO,
        }
    }

    /// Remaining time of a pass through files at its rate so far.
    fn left_of_pass(&self, elapsed: Duration) -> Option<Duration> {
        let work = self.work.filter(|work| work.done_bytes > 0)?;
        let left = work.total_bytes.saturating_sub(work.done_bytes) as f64 / work.done_bytes as f64;
        Some(elapsed.mul_f64(left))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use record::{Edge, Event, Phase, PhaseMark, Settings};

    use super::super::{LiveRun, PassWork};
    use super::SetOutlook;

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
}
