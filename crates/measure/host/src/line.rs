//! Runs in a row up to and past the load line: `trial` chooses each load, and each load is a
//! separate run in a separate folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plan::{Plan, Sessions, WarmUpPace};
use record::RunRecord;
use trial::{LineAdvice, TriedLoad, loads_left, next_load};
use units::Nanos;
use verdict::LoadStep;

use crate::error::HostError;
use crate::measure::{Measured, RunOrder, run};
use crate::observer::{HostEvent, HostObserver, NextLoad};
use crate::stop::StopFlag;

/// Factor on the session count at which the tuner settled, for held loads, so that the pace and not
/// the sessions limits the load.
const MORE_SESSIONS: u32 = 2;

/// Longest sample interval: a step must have enough samples for a confidence interval.
const LONGEST_SAMPLE: Nanos = Nanos::from_secs(5);

/// Parameters of a search for the load line.
pub struct LineOrder<'a> {
    /// The plan, its databases prepared; the search replaces its load.
    pub plan: Plan,
    /// Measurement time of each load.
    pub step: Nanos,
    /// The command that runs the plan, without its options.
    pub command: String,
    /// The options of that command that the user gave, each with its value.
    pub options: Vec<(String, String)>,
    /// Words that the runs can be found by.
    pub tags: &'a [String],
    /// Parent of the runs' folders.
    pub folder: &'a Path,
}

/// Result of a search for the load line.
pub struct TriedLine {
    /// The last run that counts.
    pub run: RunRecord,
    /// The loads, in the order in which they were tried.
    pub steps: Vec<LoadStep>,
    /// `true` if no further load adds information, `false` if stopped earlier.
    pub is_complete: bool,
}

/// The loads tried so far.
struct Search<'a> {
    order: LineOrder<'a>,
    steps: Vec<LoadStep>,
    last: Option<RunRecord>,
    /// Total time of each load, including warm-up.
    took: Vec<Duration>,
}

/// Tries loads until no further one adds information, or `stop` is set. Announces each load to the
/// observer before its run.
pub fn search_line(
    mut order: LineOrder<'_>,
    stop: &StopFlag,
    observer: &HostObserver,
) -> Result<TriedLine, HostError> {
    order.plan = step_plan(order.plan, order.step);
    let mut search = Search { order, steps: Vec::new(), last: None, took: Vec::new() };
    let is_complete = search.carry_out(stop, observer)?;
    let Search { last, steps, .. } = search;
    let run = last.ok_or_else(|| HostError::new("no load was measured, so there is no line"))?;
    Ok(TriedLine { run, steps, is_complete })
}

/// The plan of one step; the load is set separately.
fn step_plan(mut plan: Plan, step: Nanos) -> Plan {
    plan.test.duration = step;
    plan.test.interval = plan.test.interval.min(LONGEST_SAMPLE).min(step);
    plan.test.checksum = false;
    // The search chooses each load itself.
    plan.workload.throughput_percent = None;
    // The search loads the storage to its limit in any case.
    plan.test.warm_up = WarmUpPace::Full;
    plan
}

impl Search<'_> {
    /// Tries loads until no further one adds information; returns whether the search was completed.
    fn carry_out(&mut self, stop: &StopFlag, observer: &HostObserver) -> Result<bool, HostError> {
        loop {
            if self.steps.iter().any(|step| step.is_damaged) {
                return Ok(true);
            }
            let tried: Vec<TriedLoad> = self.steps.iter().map(tried).collect();
            let asked = match next_load(&tried) {
                LineAdvice::End => return Ok(true),
                LineAdvice::Free => None,
                LineAdvice::Hold(iops) => Some(iops),
            };
            observer.tell(HostEvent::Load(&self.next(asked, &tried)));
            let began = Instant::now();
            let measured = self.step(asked, stop, observer)?;
            self.took.push(began.elapsed());
            if stop.is_set() {
                self.last.get_or_insert(measured.record);
                return Ok(false);
            }
            self.steps.push(LoadStep::of(&measured.record, &measured.verdict));
            self.last = Some(measured.record);
        }
    }

    fn next(&self, asked_iops: Option<u32>, tried: &[TriedLoad]) -> NextLoad<'_> {
        NextLoad {
            number: tried.len() + 1,
            asked_iops,
            left: loads_left(tried),
            took: &self.took,
            measured: Duration::from_nanos(self.order.plan.test.duration.0),
        }
    }

    /// One load, as a separate run in a separate folder.
    fn step(
        &self,
        asked: Option<u32>,
        stop: &StopFlag,
        observer: &HostObserver,
    ) -> Result<Measured, HostError> {
        let mut plan = self.order.plan.clone();
        plan.workload.target_iops = asked;
        if let (Some(_), Sessions::Auto, Some(free)) =
            (asked, plan.workload.sessions, self.steps.first())
        {
            plan.workload.sessions = Sessions::Count(free.sessions * MORE_SESSIONS);
        }
        let folder: PathBuf = self.order.folder.join(format!("load-{:02}", self.steps.len() + 1));
        let order = RunOrder {
            plan: &plan,
            command: self.order.command.clone(),
            options: options_of_load(&self.order.options, asked),
            folder: &folder,
            tags: self.order.tags,
            set: &[],
            resumed: None,
            acknowledge: None,
            is_held: false,
        };
        run(order, stop, observer)
    }
}

/// The options that repeat a load, without the folder that the search gave it.
fn options_of_load(given: &[(String, String)], asked: Option<u32>) -> Vec<(String, String)> {
    let target = asked.map(|iops| ("--target-iops".to_owned(), iops.to_string()));
    given.iter().cloned().chain(target).collect()
}

/// The result of a step for the search.
fn tried(step: &LoadStep) -> TriedLoad {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it was a whole number when it was asked for"
    )]
    let asked_iops = step.asked_iops.map(|iops| iops as u32);
    TriedLoad { asked_iops, iops: step.iops.mean, holds: step.holds }
}

#[cfg(test)]
mod tests {
    use super::options_of_load;

    #[test]
    fn a_held_load_is_repeated_at_its_rate() {
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let given = [option("--tag", "rack-3")];
        assert_eq!(options_of_load(&given, None), given);
        let held = [option("--tag", "rack-3"), option("--target-iops", "9296")];
        assert_eq!(options_of_load(&given, Some(9_296)), held);
    }
}
