//! `line`: raises the load past the load line, and reports its position.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::{Measured, RunOrder, StopFlag};
use plan::{Overrides, Plan, Sessions, WarmUpPace};
use record::RunRecord;
use report::LineReport;
use trial::{LineAdvice, TriedLoad, loads_left, next_load};
use units::Nanos;
use verdict::LoadStep;

use crate::Outcome;
use crate::console::{Concluded, Console};
use crate::documents::{dated_folder, make_new_folder, read_plan, write_new};
use crate::error::CommandError;
use crate::flags::LineFlags;
use crate::shell::shell_word;
use crate::shown;
use crate::signals::{self, STOPS_A_RUN};
use crate::term;

/// Held loads have this many times the sessions that the tuner settled at, so that the pace holds
/// the load and not the sessions.
const MORE_SESSIONS: u32 = 2;

/// No longer samples: a step must have enough of them for a confidence interval.
const LONGEST_SAMPLE: Nanos = Nanos::from_secs(5);

/// The loads that were tried.
struct Search<'a> {
    plan: Plan,
    command: String,
    tags: &'a [String],
    folder: &'a Path,
    steps: Vec<LoadStep>,
    last: Option<RunRecord>,
    /// How long each load took, warm-up and all.
    took: Vec<Duration>,
}

/// Searches, writes the reports, and prints the result.
pub(crate) fn run(flags: &LineFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let overrides = Overrides { name: flags.identity.name.clone(), ..Overrides::default() };
    let plan = read_plan(&flags.plan, &overrides)?;
    if !plan.test.kind.is_load() {
        return Err(CommandError::new(format!(
            "a {} test has no load to search the line of; give a plan of a performance test",
            plan.test.kind
        )));
    }
    let folder = flags.output.clone().unwrap_or_else(|| dated_folder(Path::new("."), &plan.name));
    make_new_folder(&folder)?;
    let stop = signals::install(STOPS_A_RUN)?;
    let required = plan.workload.target_iops.map(f64::from);
    let mut search = Search {
        plan: step_plan(plan, flags.step),
        command: format!("plimsoll run {}", shell_word(&flags.plan)),
        tags: &flags.identity.tags,
        folder: &folder,
        steps: Vec::new(),
        last: None,
        took: Vec::new(),
    };
    let is_complete = search.carry_out(&stop, console)?;
    let Some(run) = &search.last else {
        return Err(CommandError::new("no load was measured, so there is no line".to_owned()));
    };
    let (required_iops, steps) = (required, &*search.steps);
    let line = LineReport { run, steps, required_iops, is_complete };
    conclude(&line, &folder, flags.json, console)
}

/// The plan of one step; the load is set separately.
fn step_plan(mut plan: Plan, step: Nanos) -> Plan {
    plan.test.duration = step;
    plan.test.interval = plan.test.interval.min(LONGEST_SAMPLE).min(step);
    plan.test.checksum = false;
    // The loads are shares of the highest already.
    plan.workload.throughput_percent = None;
    // It loads the storage to its limit in any case.
    plan.test.warm_up = WarmUpPace::Full;
    plan
}

impl Search<'_> {
    /// Tries loads until no further one adds information; returns whether the search was completed.
    fn carry_out(&mut self, stop: &StopFlag, console: &mut Console) -> Result<bool, CommandError> {
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
            self.tell(asked, &tried, console)?;
            let began = Instant::now();
            let measured = self.step(asked, stop, console)?;
            self.took.push(began.elapsed());
            if stop.is_set() {
                self.last.get_or_insert(measured.record);
                return Ok(false);
            }
            self.steps.push(LoadStep::of(&measured.record, &measured.verdict));
            self.last = Some(measured.record);
        }
    }

    fn tell(
        &self,
        asked: Option<u32>,
        tried: &[TriedLoad],
        console: &mut Console,
    ) -> Result<(), CommandError> {
        let number = tried.len() + 1;
        let load = asked.map_or_else(|| "not held".to_owned(), |iops| format!("at {iops} IOPS"));
        let measured = Duration::from_nanos(self.plan.test.duration.0);
        let left = left(loads_left(tried), &self.took, measured);
        console.remark(format_args!("Load {number}, {load}; {left}"))
    }

    /// One load, as a separate run in a separate folder.
    fn step(
        &self,
        asked: Option<u32>,
        stop: &StopFlag,
        console: &Console,
    ) -> Result<Measured, CommandError> {
        let mut plan = self.plan.clone();
        plan.workload.target_iops = asked;
        if let (Some(_), Sessions::Auto, Some(free)) =
            (asked, plan.workload.sessions, self.steps.first())
        {
            plan.workload.sessions = Sessions::Count(free.sessions * MORE_SESSIONS);
        }
        let folder: PathBuf = self.folder.join(format!("load-{:02}", self.steps.len() + 1));
        let order = RunOrder {
            plan: &plan,
            command: self.command.clone(),
            options: Vec::new(),
            folder: &folder,
            tags: self.tags,
            resumed: None,
            acknowledge: None,
            is_held: false,
        };
        Ok(host::run(order, stop, &shown::on_console(console.is_quiet()))?)
    }
}

/// Number of remaining loads, the next one included, and their time: as long as those that were
/// held and `took` this long. The first of all, which fills the caches and searches for the number
/// of sessions, is less representative; before it, only the measured length of each is known.
fn left((fewest, most): (usize, usize), took: &[Duration], measured: Duration) -> String {
    // A load that has to be repeated may have made it more than was foreseen.
    let (fewest, most) = (fewest.max(1), most.max(1));
    let loads = match most {
        _ if fewest < most => format!("{fewest} to {most} loads left"),
        1 => "the last load".to_owned(),
        most => format!("{most} loads left"),
    };
    let Some(first) = took.first() else {
        let measured = term::duration(measured);
        return format!("{loads}, each measured for {measured} after its warm-up");
    };
    let held = took.get(1..).unwrap_or_default();
    let each = match u32::try_from(held.len()) {
        Ok(count) if count > 0 => held.iter().sum::<Duration>() / count,
        _ => *first,
    };
    let [least, longest] = [fewest, most]
        .map(|loads| term::duration(each.saturating_mul(u32::try_from(loads).unwrap_or(u32::MAX))));
    if least == longest {
        return format!("{loads}, about {least}");
    }
    format!("{loads}, about {least} to {longest}")
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

/// Writes the reports and says the last words.
fn conclude(
    line: &LineReport<'_>,
    folder: &Path,
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let (text, answer) = (report::line_text(line), report::line_json(line));
    let page = folder.join("line.html");
    write_new(&page, report::line_html(line).as_bytes())?;
    write_new(&folder.join("line.txt"), text.as_bytes())?;
    write_new(&folder.join("line.json"), answer.as_bytes())?;
    let outcome = outcome(line);
    console.conclude(Concluded {
        folder: folder.to_path_buf(),
        name: line.run.start.name.clone(),
        verdict: outcome.word(),
        headline: text.lines().next().unwrap_or_default().to_owned(),
    });
    if json {
        console.answer(answer.trim_end())?;
    } else {
        console.answer(text.trim_end())?;
        console.answer(format_args!("Report: {}", page.display()))?;
    }
    Ok(outcome)
}

/// Pass if the line was found at the required load or above; fail if it is below, if no judged load
/// passes, and if data was damaged.
fn outcome(line: &LineReport<'_>) -> Outcome {
    if line.steps.iter().any(|step| step.is_damaged) {
        return Outcome::Fail;
    }
    let was_judged = line.steps.iter().any(|step| step.holds.is_some());
    match line.knee() {
        Some(found) if line.required_iops.is_none_or(|required| found.iops >= required) => {
            Outcome::Pass
        }
        _ if !line.is_complete || !was_judged => Outcome::CannotJudge,
        _ => Outcome::Fail,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::left;

    fn told(loads: (usize, usize), took: &[u64]) -> String {
        let took: Vec<Duration> =
            took.iter().map(|seconds| Duration::from_secs(*seconds)).collect();
        left(loads, &took, Duration::from_mins(1))
    }

    #[test]
    fn the_time_that_is_left_is_that_of_the_held_loads_so_far() {
        assert!(told((5, 9), &[]).starts_with("5 to 9 loads left, each measured for 1 min"));
        assert_eq!(told((4, 8), &[200]), "4 to 8 loads left, about 13 min 20 s to 26 min 40 s");
        assert_eq!(told((2, 2), &[200, 80, 120]), "2 loads left, about 3 min 20 s");
        assert_eq!(told((0, 0), &[200, 80, 120]), "the last load, about 1 min 40 s");
    }
}
