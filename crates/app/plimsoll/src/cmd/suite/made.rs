//! An existing set of tests, read back from the journals of its runs.

use std::path::{Path, PathBuf};

use host::{Measured, is_live, journal_of};
use record::{Seal, Sequel, TestType};
use report::{ReportForm, SuiteTest, Unmeasured};

use super::parts::parts_of;
use super::{Made, conclude, told, write_reports};
use crate::cmd::report::flags::ReportFormat;
use crate::cmd::sequel::loaded;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shell::shell_word;

/// Reads the set in `folder`, as far as its runs exist; `None` if it contains no set.
pub(crate) fn made_in(folder: &Path) -> Result<Option<SetOfRuns>, CommandError> {
    let parts = parts_of(folder);
    let is_set_live = parts.iter().any(|(name, _)| is_live(&folder.join(name)));
    let mut made = Vec::new();
    for (name, test) in parts {
        let run = folder.join(&name);
        let has_record = run.is_dir() && journal_of(&run).exists();
        let measured = match why_without(is_live(&run), has_record, is_set_live) {
            Some(why) => Err(why),
            None => Ok(measured_before(&run)?),
        };
        made.push((test, name, measured));
    }
    let is_set = is_set_live || made.iter().any(|(.., measured)| measured.is_ok());
    Ok(is_set.then_some(SetOfRuns { made }))
}

/// Why a test cannot be read; `None` if it has ended. A set that is live has tests to come.
const fn why_without(is_live: bool, has_record: bool, is_set_live: bool) -> Option<Unmeasured> {
    match (is_live, has_record) {
        (true, _) => Some(Unmeasured::Running),
        (false, true) => None,
        (false, false) if is_set_live => Some(Unmeasured::Waiting),
        (false, false) => Some(Unmeasured::Unrecorded),
    }
}

fn measured_before(run: &Path) -> Result<Measured, CommandError> {
    let record = loaded(run)?;
    let verdict = verdict::judge(&record);
    Ok(Measured { record, verdict, storage_owes: false })
}

/// An existing set of tests.
pub(crate) struct SetOfRuns {
    made: Vec<(TestType, String, Made)>,
}

impl SetOfRuns {
    /// Renders its report in one format, a text in lines of `width` characters; `None` if a set has
    /// no such format.
    pub(crate) fn render(&self, format: ReportFormat, width: usize) -> Option<String> {
        let tests = self.tests();
        let form = match format {
            ReportFormat::Html => ReportForm::Page,
            ReportFormat::Text => ReportForm::Text { width },
            ReportFormat::Json => ReportForm::Json,
            ReportFormat::Csv => ReportForm::Csv,
            ReportFormat::Xml => return Some(report::suite_xml(&tests)),
            ReportFormat::Esrp => return None,
        };
        Some(report::render_suite(form, &tests))
    }

    /// Rewrites its reports, and prints the result.
    pub(crate) fn conclude(
        &self,
        folder: &Path,
        console: &mut Console,
    ) -> Result<Outcome, CommandError> {
        let tests = self.tests();
        self.renew_overtaken(folder)?;
        write_reports(folder, &tests)?;
        conclude(&tests, folder, false, console)
    }

    /// Rewrites the reports of tests that a later run replaced or made impossible to resume: those
    /// written at their end still say how to complete them.
    fn renew_overtaken(&self, folder: &Path) -> Result<(), CommandError> {
        for (_, name, made) in &self.made {
            if let Ok(Measured { record, verdict, .. }) = made
                && record.sequel != Sequel::None
            {
                host::write_reports(&folder.join(name), record, verdict)?;
            }
        }
        Ok(())
    }

    /// The combined outcome.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::of_ruling(report::suite_outcome(&self.tests()))
    }

    /// The closing lines about it.
    pub(crate) fn summary(&self, folder: &Path) -> String {
        report::suite_summary_in(&self.tests(), &shell_word(folder))
    }

    /// The folders of its runs below `folder`, the live one included.
    pub(crate) fn runs(&self, folder: &Path) -> Vec<PathBuf> {
        self.made
            .iter()
            .map(|(_, name, _)| folder.join(name))
            .filter(|run| journal_of(run).exists())
            .collect()
    }

    /// The folder of the test that is running.
    pub(crate) fn live(&self, folder: &Path) -> Option<PathBuf> {
        let mut made = self.made.iter();
        made.find(|(.., made)| matches!(made, Err(Unmeasured::Running)))
            .map(|(_, name, _)| folder.join(name))
    }

    /// The folders of its ended runs, each with the state of its journal's hashes.
    pub(crate) fn seals(&self, folder: &Path) -> Vec<(PathBuf, Seal)> {
        self.made
            .iter()
            .filter_map(|(_, name, made)| {
                Some((folder.join(name), made.as_ref().ok()?.record.seal))
            })
            .collect()
    }

    /// Its tests, including those that were not run.
    pub(crate) fn tests(&self) -> Vec<SuiteTest<'_>> {
        self.made.iter().map(|(kind, folder, made)| told(*kind, folder, made)).collect()
    }
}

#[cfg(test)]
mod tests {
    use report::Unmeasured;

    use super::why_without;

    #[test]
    fn a_live_set_has_tests_to_come_and_an_ended_one_lacks_them() {
        assert_eq!(why_without(true, true, true), Some(Unmeasured::Running));
        assert_eq!(why_without(false, false, true), Some(Unmeasured::Waiting));
        assert_eq!(why_without(false, true, true), None);
        assert_eq!(why_without(false, false, false), Some(Unmeasured::Unrecorded));
    }
}
