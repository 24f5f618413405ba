//! `run --test all`: all tests of the Exchange Solution Reviewed Program in one run, with one
//! report.

mod made;
mod outlook;
pub(crate) mod parts;

use std::path::Path;

use host::{HostError, Measured, RunOrder, StopFlag, is_live, journal_of, refuse_shortage};
use plan::{Overrides, Plan, Test, TestKind};
use record::{TestOfSet, TestType};
use report::{ReportForm, SUITE_PARTS, SuiteTest, TEXT_WIDTH, Unmeasured, render_suite};
use verdict::Ruling;

use crate::cmd::run::flags::RunFlags;
use console::Outcome;
use console::documents::{self, dated_folder, read_plan};
use console::error::CommandError;
use console::live::SetOutlook;
use console::shell::{options_of_run, shell_word};
use console::shown;
use console::signals::{self, STOPS_A_RUN};
use console::{Concluded, Console};

use outlook::{SeenRates, announce};

pub(crate) use made::{SetOfRuns, made_in};

/// The tests of [`SUITE_PARTS`] as plans name them.
const KINDS: [TestKind; SUITE_PARTS.len()] =
    [TestKind::Performance, TestKind::Stress, TestKind::Backup, TestKind::Recovery];

/// One of the tests, ready to be run.
struct SuiteRun {
    plan: Plan,
    overrides: Overrides,
    /// Folder of the run, relative to that of the set.
    folder: &'static str,
}

impl SuiteRun {
    /// The test with the options that run it alone.
    fn of_set(&self, tags: &[String]) -> TestOfSet {
        let options = options_of_run(&self.overrides, tags, None);
        TestOfSet { test: trial::test_type(&self.plan), options }
    }
}

/// Result of one test, or why there is none.
type Made = Result<Measured, Unmeasured>;

/// Runs all tests of the plan in `file`; the outcome is the worst verdict.
pub(crate) fn run(
    flags: &RunFlags,
    file: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    if flags.acknowledge.is_some() {
        let text = "--acknowledge has no effect on a set of tests; leave it out";
        return Err(CommandError::usage(text));
    }
    let tests = tests_of(flags, file)?;
    let folder =
        flags.output.clone().unwrap_or_else(|| dated_folder(Path::new("."), &tests[0].plan.name));
    refuse_taken(&folder)?;
    let stop = signals::install(STOPS_A_RUN)?;
    // Checked up front: a day of tests must not end because the last one has no room.
    for test in &tests {
        refuse_shortage(&test.plan, &stop)?;
    }
    let plans: Vec<&Plan> = tests.iter().map(|test| &test.plan).collect();
    announce(&plans, console)?;
    let mut made: Vec<Made> = Vec::new();
    let mut seen = SeenRates::default();
    let tags = &flags.recorded.identity.tags;
    let set: Vec<TestOfSet> = tests.iter().map(|test| test.of_set(tags)).collect();
    for (index, test) in tests.iter().enumerate() {
        let one = if let Some(why) = why_not(&stop, made.last()) {
            Err(why)
        } else {
            let outlook = seen.outlook(&plans, index);
            let left = outlook.words(seen.left(&plans, index));
            console.remark(format_args!("{}, {left}", test.plan.test.kind))?;
            console.flush()?;
            let of_set = (test, &*set, outlook);
            make((flags, file), of_set, &folder, (&stop, console.is_quiet()))?
        };
        if let Ok(measured) = &one {
            seen.see(&measured.record);
        }
        made.push(one);
    }
    let mut all = Vec::new();
    for (test, made) in tests.iter().zip(&made) {
        all.push(told(trial::test_type(&test.plan), test.folder, made));
    }
    write_reports(&folder, &all)?;
    conclude(&all, &folder, flags.json, console)
}

/// Refuses a folder that holds tests of a set already: the new ones would mix with them.
fn refuse_taken(folder: &Path) -> Result<(), CommandError> {
    if SUITE_PARTS.iter().any(|(part, _)| journal_of(&folder.join(part)).exists()) {
        let folder = folder.display();
        return Err(CommandError::new(format!(
            "{folder}: holds a set of tests already; choose another folder with --output"
        )));
    }
    Ok(())
}

/// The tests of the set, each with its plan.
fn tests_of(flags: &RunFlags, file: &Path) -> Result<Vec<SuiteRun>, CommandError> {
    let of_plan = read_plan(file, &Overrides::default())?.test;
    let mut tests = Vec::new();
    for (kind, (folder, _)) in KINDS.into_iter().zip(SUITE_PARTS) {
        let overrides = overrides(flags, kind, of_plan);
        let plan = read_plan(file, &overrides)?;
        tests.push(SuiteRun { plan, overrides, folder });
    }
    Ok(tests)
}

/// The command line's values for a test of the set. A `duration` in the plan is that of the plan's
/// own `type`; another load lasts as long as the plan sets for its kind, or else the default for
/// its kind.
fn overrides(flags: &RunFlags, kind: TestKind, of_plan: Test) -> Overrides {
    let is_load = matches!(kind, TestKind::Performance | TestKind::Stress);
    let is_planned = kind == of_plan.kind || of_plan.of_kinds.of(kind).is_some();
    let usual = (is_load && !is_planned).then(|| kind.duration());
    Overrides {
        name: flags.recorded.identity.name.clone(),
        test: Some(kind.to_string()),
        duration: flags.duration_of(kind).filter(|_| is_load).or(usual),
        sessions: flags.threads.filter(|_| kind.is_load()),
        target_iops: flags.target_iops.filter(|_| is_load),
        seed: flags.seed,
        size: None,
        volume_of: None,
    }
}

/// Why the next test is not run; `None` if it is.
fn why_not(stop: &StopFlag, last: Option<&Made>) -> Option<Unmeasured> {
    if stop.is_set() {
        let why = "stopped by the user".to_owned();
        return Some(Unmeasured::Because(Ruling::CannotJudge, why));
    }
    match last {
        Some(Ok(measured)) if measured.storage_owes => Some(Unmeasured::StorageOwes),
        Some(Err(Unmeasured::StorageOwes)) => Some(Unmeasured::StorageOwes),
        _ => None,
    }
}

fn make(
    (flags, file): (&RunFlags, &Path),
    (test, set, outlook): (&SuiteRun, &[TestOfSet], SetOutlook),
    folder: &Path,
    (stop, quiet): (&StopFlag, bool),
) -> Result<Made, CommandError> {
    let folder = folder.join(test.folder);
    let tags = &flags.recorded.identity.tags;
    let order = RunOrder {
        plan: &test.plan,
        command: format!("plimsoll run {}", shell_word(file)),
        options: options_of_run(&test.overrides, tags, flags.output.as_deref()),
        folder: &folder,
        tags,
        set,
        resumed: None,
        acknowledge: None,
        is_held: false,
    };
    match host::run(order, stop, &shown::in_set(outlook, folder.clone(), quiet)) {
        Ok(measured) => Ok(Ok(measured)),
        // Another set took the folder after this one had looked.
        Err(error) if is_live(&folder) => Err(error.into()),
        Err(HostError::Sentence(why) | HostError::Design(why)) => {
            Ok(Err(Unmeasured::Because(Ruling::CannotJudge, why)))
        }
        Err(HostError::Damage(why)) => Ok(Err(Unmeasured::Because(Ruling::Fail, why))),
        // The other tests have the same options.
        Err(error @ HostError::Usage(_)) => Err(error.into()),
    }
}

fn told<'a>(kind: TestType, folder: &str, made: &'a Made) -> SuiteTest<'a> {
    SuiteTest {
        kind,
        folder: folder.to_owned(),
        measured: match made {
            Ok(measured) => Ok((&measured.record, &measured.verdict)),
            Err(why) => Err(why.clone()),
        },
    }
}

fn write_reports(folder: &Path, tests: &[SuiteTest<'_>]) -> Result<(), CommandError> {
    let text = ReportForm::Text { width: TEXT_WIDTH };
    let reports = [
        ("report.html", render_suite(ReportForm::Page, tests)),
        ("report.txt", render_suite(text, tests)),
        ("report.json", render_suite(ReportForm::Json, tests)),
    ];
    for (name, text) in reports {
        documents::replace(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// Prints the closing lines and returns the outcome.
fn conclude(
    tests: &[SuiteTest<'_>],
    folder: &Path,
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let outcome = Outcome::of_ruling(report::suite_outcome(tests));
    let summary = report::suite_summary_in(tests, &shell_word(folder));
    console.conclude(Concluded {
        folder: folder.to_path_buf(),
        name: name_of(tests),
        verdict: outcome.word(),
        headline: summary.lines().next().unwrap_or_default().to_owned(),
    });
    if json {
        console.answer(render_suite(ReportForm::Json, tests).trim_end())?;
    } else {
        console.answer(summary.trim_end())?;
        console.answer(format_args!("Report: {}", folder.join("report.html").display()))?;
    }
    Ok(outcome)
}

/// Common name of the tests in the set.
fn name_of(tests: &[SuiteTest<'_>]) -> String {
    let mut records = tests.iter().filter_map(|test| test.measured.as_ref().ok());
    records.next().map_or_else(String::new, |(record, _)| record.start.name.clone())
}
