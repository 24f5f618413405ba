//! Next steps after a run: each changes the verdict or narrows the question. `docs/next-steps.md`
//! lists all of them, and a test executes each.

mod arrays;
mod cached;
mod command;
mod failed;
mod full;
mod latest;
mod of_deployment;
mod of_set;
mod of_sweep;
mod others;
mod part_of_set;
mod passed;
mod rest_of_set;
mod set_command;
mod small;
mod step;
mod time;
mod unjudged;

use record::{RunRecord, Sequel, TestType};
use verdict::{Ruling, Verdict};

use command::{again, measured, simulated_plan, with_distinct_folders};
use part_of_set::PartOfSet;
use step::{FOLDER, NextStep, OF_THIS_SET, StepKind, one_for_each_command};

pub use cached::OnArrays;
pub(crate) use cached::is_in_write_cache;
pub use of_deployment::{Interruption, SimulatedDeployment, deployment_steps};
pub(crate) use of_set::steps_of_set;
pub use of_sweep::{BestOfSweep, sweep_steps};
pub(crate) use rest_of_set::{MissingTest, rest_of_set};
pub(crate) use set_command::JudgedTest;
pub(crate) use small::is_small;
pub use time::time_for_verdict;

/// The steps, the most important one first.
pub(crate) fn steps(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    in_own_folders(run, verdict, None).iter().map(ToString::to_string).collect()
}

/// The steps of a run in `folder`, quoted for a shell.
pub(crate) fn steps_in(run: &RunRecord, verdict: &Verdict, folder: &str) -> Vec<String> {
    in_own_folders(run, verdict, Some(folder))
        .into_iter()
        .map(|step| step.for_run_in(folder).to_string())
        .collect()
}

/// The steps of one list: one for each command, each with its own output folder.
fn in_own_folders(run: &RunRecord, verdict: &Verdict, folder: Option<&str>) -> Vec<NextStep> {
    let mut steps = one_for_each_command(advice(run, verdict));
    if let Some(part) = PartOfSet::of(run, folder) {
        steps = steps.into_iter().map(|step| part.step(step)).collect();
    }
    with_distinct_folders(&mut steps);
    steps
}

/// The steps of a run. One of a set leaves what other tests of the set answer to them.
fn advice(run: &RunRecord, verdict: &Verdict) -> Vec<NextStep> {
    let kinds = PartOfSet::of(run, None).map_or_else(Vec::new, |part| part.tests());
    let steps = advice_beside(run, verdict, &kinds);
    let is_replaced = run.sequel == Sequel::Replaced;
    if (steps.is_empty() || is_replaced) && !kinds.is_empty() {
        let words = format!("Read the report of the whole set{OF_THIS_SET}");
        return vec![StepKind::ReportOfSet.with(words, format!("plimsoll report {FOLDER}"))];
    }
    steps
}

/// The steps of a run within a set of tests, without steps to tests already in `kinds`.
fn advice_beside(run: &RunRecord, verdict: &Verdict, kinds: &[TestType]) -> Vec<NextStep> {
    let has_stress = kinds.contains(&TestType::Stress);
    let mut steps = advice_alone(run, verdict);
    steps.retain(|step| match step.kind {
        StepKind::DayOfStress => run.start.test == TestType::Stress || !has_stress,
        StepKind::RecoveryTest => !kinds.contains(&TestType::Recovery),
        StepKind::LoadTest => !has_stress && !kinds.contains(&TestType::Performance),
        _ => true,
    });
    steps
}

fn advice_alone(run: &RunRecord, verdict: &Verdict) -> Vec<NextStep> {
    if run.imported().is_some() {
        let words = "Set this result beside a run of your own";
        let command = "plimsoll compare RESULT RUN".to_owned();
        return vec![StepKind::CompareImported.with(words, command)];
    }
    // Steps follow from the verdict, which is that of the deployment.
    if run.is_host_of_deployment() {
        return Vec::new();
    }
    if run.simulated().is_some() {
        return vec![simulated(run, verdict)];
    }
    let mut steps = match verdict.outcome {
        Ruling::Pass | Ruling::Warn => return passed::steps(run, verdict),
        Ruling::Fail => failed::steps(run, verdict),
        Ruling::CannotJudge => unjudged::steps(run, verdict),
    };
    steps.extend(passed::more_room(run, verdict));
    // A cause that another step removes would have the same effect again.
    if steps.iter().any(|step| step.kind != StepKind::MeasureAgain) {
        steps.retain(|step| step.kind != StepKind::MeasureAgain);
    }
    steps
}

/// Next step after a prediction.
fn simulated(run: &RunRecord, verdict: &Verdict) -> NextStep {
    let is_impossible = verdict
        .findings
        .iter()
        .any(|of| of.rule == "possible-reads" && of.outcome == Ruling::CannotJudge);
    if is_impossible {
        let words = "Simulate the disks and not the memory of the model";
        let detailed = again(run, &[("--level", "2".to_owned())]);
        return StepKind::DetailedSimulation.with(words, detailed);
    }
    // If the model did not support the load, nothing is worth buying yet.
    if verdict.outcome == Ruling::Fail {
        return arrays::other(run);
    }
    if verdict.lacks_sessions() {
        return arrays::more_sessions(run, time::longer(run, verdict));
    }
    if verdict.outcome == Ruling::CannotJudge
        && let Some(duration) = time::longer(run, verdict)
    {
        let words = "Simulate for longer, until enough is seen for a verdict";
        return StepKind::MeasureLonger.with(words, again(run, &[("--duration", duration)]));
    }
    if let Some(step) = cached::larger_databases(run, verdict) {
        return step;
    }
    match time::until_steady(run, verdict) {
        Some(duration) => {
            let words = "Simulate for longer, until the load is steady";
            StepKind::MeasureLonger.with(words, again(run, &[("--duration", duration)]))
        }
        None => measure_simulated(run, verdict.outcome),
    }
}

/// Measures the storage; a sample of it if the simulation was too near a limit, since buying it all
/// would be a guess.
fn measure_simulated(run: &RunRecord, outcome: Ruling) -> NextStep {
    let plan = simulated_plan(run);
    let measure = if outcome == Ruling::CannotJudge {
        "Do not buy it on this result, which only hardware can decide: measure a sample of the \
         storage"
    } else {
        "Measure the storage once it is installed"
    };
    let words = format!(
        "{measure}, and compare both (plimsoll compare SIMULATED RUN): plimsoll prepare {plan}, \
         then"
    );
    StepKind::MeasureSimulated.with(words, measured(run, plan))
}

#[cfg(test)]
mod tests;
