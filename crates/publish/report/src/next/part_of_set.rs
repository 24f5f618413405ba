//! Steps after one test of a set, as its own report prints them: a repeated test joins the set, as
//! in the report of the whole set.

use record::{RunRecord, TestType};

use super::command::{OUTPUT, again, folder_after, output_folder, within_set, without_quote};
use super::step::{NextStep, StepKind};
use crate::suite::{SUITE_PARTS, suite_of};

/// The folders of a set and of one test in it.
pub(super) struct PartOfSet<'a> {
    run: &'a RunRecord,
    /// A word of a shell; `None` if the record does not know it.
    set: Option<String>,
    part: &'a str,
}

impl<'a> PartOfSet<'a> {
    /// The place of `run` in its set: as part of a whole set, or made alone in a folder of one.
    /// `folder` is that of the run, quoted for a shell, if it is known.
    pub(super) fn of(run: &'a RunRecord, folder: Option<&'a str>) -> Option<Self> {
        let mut given = run.start.options.iter();
        let output = given.find(|(option, _)| option == OUTPUT).map(|(_, folder)| folder.as_str());
        if run.start.set.is_empty() {
            let output = output.filter(|folder| is_of(run.start.test, folder))?;
            return Some(Self::at(run, folder.unwrap_or(output)));
        }
        if let Some(folder) = folder {
            return Some(Self::at(run, folder));
        }
        let (part, _) = SUITE_PARTS.iter().find(|(_, test)| *test == run.start.test)?;
        Some(Self { run, set: output.map(str::to_owned), part })
    }

    fn at(run: &'a RunRecord, folder: &'a str) -> Self {
        let (name, quote) = without_quote(folder);
        let (set, part) = name.rsplit_once('/').unwrap_or((".", name));
        Self { run, set: Some(format!("{set}{quote}")), part }
    }

    /// The tests of the set, which answer what this one leaves open.
    pub(super) fn tests(&self) -> Vec<TestType> {
        let mut tests = Vec::new();
        if self.run.start.set.is_empty() {
            tests.extend(SUITE_PARTS.iter().map(|(_, test)| *test));
        }
        tests.extend(self.run.start.set.iter().map(|of| of.test));
        tests
    }

    /// The step with a command whose run joins the set, if it repeats the test, or lies beside the
    /// set.
    pub(super) fn step(&self, step: NextStep) -> NextStep {
        let outside = again(self.run, &[]);
        let within = within_set(&outside, self.part);
        let step = match step.command.clone() {
            Some(command) if step.kind.keeps_plan() => {
                step.replacing(self.part, within_set(&command, self.part))
            }
            _ if step.kind == StepKind::ReportOfSet => step,
            _ if step.kind == StepKind::Resume => step.in_set(self.part, (&outside, &within)),
            _ => return self.beside(step),
        };
        match &self.set {
            Some(set) => step.for_run_in(set),
            None => step,
        }
    }

    /// Names the output folder after set and test: other tests of the set change theirs as well.
    fn beside(&self, step: NextStep) -> NextStep {
        let Some(mut command) = step.command.clone() else { return step };
        let (Some(set), Some(place)) = (&self.set, output_folder(&command)) else { return step };
        let next = folder_after(set);
        let (name, quote) = without_quote(&next);
        let test = self.run.start.test.name().to_lowercase();
        command.replace_range(place, &format!("{name}-{test}{quote}"));
        step.by(command)
    }
}

/// Whether a folder, quoted for a shell, is that of a test of this kind in a set.
fn is_of(test: TestType, folder: &str) -> bool {
    suite_of(without_quote(folder).0).is_some_and(|(_, kind)| kind == test)
}
