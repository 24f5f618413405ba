//! `run --resume`: resumes a run that a crash or a power cut interrupted.

use std::path::Path;

use host::{CutRun, RunOrder};
use plan::{Overrides, Plan, Sessions};
use record::RunRecord;
use units::Nanos;

use crate::cmd::run::flags::RunFlags;
use console::Console;
use console::Outcome;
use console::conclusion::conclude;
use console::documents::read_plan;
use console::error::CommandError;
use console::shell::options;
use console::shown;
use console::signals::{self, STOPS_A_RUN};

/// Measures the remainder of the run at `path`; the outcome is the verdict on all of it.
pub(crate) fn run(
    flags: &RunFlags,
    path: &Path,
    overrides: &Overrides,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let cut = CutRun::open(path)?;
    let journal = cut.journal.display().to_string();
    let text = &cut.record().start.plan_text;
    let recorded = Plan::parse(&journal, text)?;
    refuse_another_plan(flags, overrides, text, &journal)?;
    let plan = rest_of(recorded, cut.record(), Nanos(cut.resumption.remaining_ns));
    console.remark(format_args!(
        "{}: resumes with {:.0} of {:.0} s left to measure",
        path.display(),
        plan.test.duration.as_secs_f64(),
        Nanos(cut.record().start.settings.measure_ns).as_secs_f64()
    ))?;
    let stop = signals::install(STOPS_A_RUN)?;
    let folder = cut.path.clone();
    let order = RunOrder {
        plan: &plan,
        command: String::new(),
        options: Vec::new(),
        folder: &folder,
        tags: &[],
        set: &[],
        resumed: Some(cut),
        acknowledge: None,
        is_held: false,
    };
    let measured = host::run(order, &stop, &shown::on_console(console.is_quiet()))?;
    conclude(&measured, &folder, flags.json, console)
}

/// Refuses options without a plan, and a plan that differs, with its options, from the original.
fn refuse_another_plan(
    flags: &RunFlags,
    overrides: &Overrides,
    recorded: &str,
    journal: &str,
) -> Result<(), CommandError> {
    let given = options(overrides);
    let Some(file) = &flags.plan else {
        return match given.first() {
            None => Ok(()),
            Some((option, _)) => Err(CommandError::usage(format!(
                "{option} has no effect on a resumed run, which keeps plan, settings and \
                 seed; leave it out"
            ))),
        };
    };
    let present = read_plan(file, overrides)?.to_toml();
    let mut lines = recorded.lines().zip(present.lines());
    let other = lines.find(|(was, is)| was != is);
    let (was, is) = match other {
        Some(lines) => lines,
        None if recorded.lines().count() == present.lines().count() => return Ok(()),
        None => ("shorter or longer", "not so"),
    };
    Err(CommandError::new(format!(
        "{}: is not the plan that {journal} began with: `{was}` was there, and now `{is}`; leave \
         the plan out to go on with the old one, or start the test anew",
        file.display()
    )))
}

/// Returns the plan for the remainder: it keeps the number of sessions found, and the target.
fn rest_of(mut plan: Plan, record: &RunRecord, remaining: Nanos) -> Plan {
    plan.test.duration = remaining;
    if let (Sessions::Auto, Some(tuned)) = (plan.workload.sessions, record.tuned) {
        plan.workload.sessions = Sessions::Count(tuned.sessions_per_database);
    }
    if let Some(target_iops) = record.tuned.and_then(|tuned| tuned.target_iops) {
        plan.workload.target_iops = Some(target_iops);
        plan.workload.throughput_percent = None;
    }
    plan
}
