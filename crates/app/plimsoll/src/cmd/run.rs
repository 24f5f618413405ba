//! `run`: loads prepared databases, measures, verifies, judges and reports.

pub(crate) mod flags;

use std::path::Path;

use host::RunOrder;
use plan::{Overrides, TestKind};

use super::load_words;
use super::resume;
use super::suite;
use console::Console;
use console::Outcome;
use console::conclusion::conclude;
use console::documents::{dated_folder, read_plan};
use console::error::CommandError;
use console::shell::{options_of_run, shell_word};
use console::shown;
use console::signals::{self, STOPS_A_RUN};
use flags::RunFlags;

/// Runs the plan; the outcome is its verdict.
pub(crate) fn run(flags: &RunFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if let (Some(file), Some(flags::ALL), None) =
        (&flags.plan, flags.test.as_deref(), &flags.resume)
    {
        return suite::run(flags, file, console);
    }
    let overrides = Overrides {
        name: flags.recorded.identity.name.clone(),
        test: flags.test.clone(),
        duration: flags.duration_of_any()?,
        sessions: flags.threads,
        target_iops: flags.target_iops,
        seed: flags.seed,
        size: None,
        volume_of: None,
    };
    if let Some(run) = &flags.resume {
        return resume::run(flags, run, &overrides, console);
    }
    let file = flags.plan.as_deref().expect("invariant: required where no run is resumed");
    let plan = read_plan(file, &overrides)?;
    refuse_options_of_a_load(flags, plan.test.kind)?;
    let folder = flags.output.clone().unwrap_or_else(|| dated_folder(Path::new("."), &plan.name));
    let stop = signals::install(STOPS_A_RUN)?;
    let tags = &flags.recorded.identity.tags;
    // The folder of a run that a fleet's agent starts is the agent's choice.
    let output = flags.output.as_deref().filter(|_| !flags.hold_measurement);
    let order = RunOrder {
        plan: &plan,
        command: format!("plimsoll run {}", shell_word(file)),
        options: options_of_run(&overrides, tags, output),
        folder: &folder,
        tags,
        set: &[],
        resumed: None,
        acknowledge: flags.acknowledge.as_deref(),
        is_held: flags.hold_measurement,
    };
    if let Some(words) = load_words::run_words(&plan) {
        console.remark(words)?;
    }
    let measured = host::run(order, &stop, &shown::on_console(console.is_quiet()))?;
    conclude(&measured, &folder, flags.json, console)
}

/// Refuses options that the test would ignore.
fn refuse_options_of_a_load(flags: &RunFlags, kind: TestKind) -> Result<(), CommandError> {
    let what_it_does = match kind {
        TestKind::Performance | TestKind::Stress => return Ok(()),
        TestKind::Backup | TestKind::Checksum => "which reads every database once",
        TestKind::Recovery => "whose logs are generated as fast as the sessions can",
    };
    let has_sessions = kind == TestKind::Recovery;
    let passed_over = [
        ("--duration", !flags.duration.is_empty()),
        ("--target-iops", flags.target_iops.is_some()),
        ("--threads", flags.threads.is_some() && !has_sessions),
        ("--acknowledge", flags.acknowledge.is_some() && !has_sessions),
    ];
    match passed_over.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(CommandError::usage(format!(
            "{option} has no effect on a {kind} test, {what_it_does}; leave it out"
        ))),
        None => Ok(()),
    }
}
