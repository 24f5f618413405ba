//! An existing set of tests, read back from the journals of its runs.

use std::path::{Path, PathBuf};

use host::{Measured, journal_of, load};
use record::{Seal, TestType};
use report::{ReportForm, SUITE_PARTS, SuiteTest, TEXT_WIDTH};
use verdict::Ruling;

use super::{Made, conclude, told, write_reports};
use crate::cmd::report::flags::ReportFormat;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Reads the set in `folder`, as far as its runs exist; `None` if it contains no set.
pub(crate) fn made_in(folder: &Path) -> Result<Option<SetOfRuns>, CommandError> {
    let mut made = Vec::new();
    for (name, test) in SUITE_PARTS {
        let run = folder.join(name);
        let measured = if run.is_dir() && journal_of(&run).exists() {
            Ok(measured_before(&run)?)
        } else {
            Err((Ruling::CannotJudge, "no record of it is there".to_owned()))
        };
        made.push((test, name, measured));
    }
    Ok(made.iter().any(|(.., measured)| measured.is_ok()).then_some(SetOfRuns { made }))
}

fn measured_before(run: &Path) -> Result<Measured, CommandError> {
    let record = load(run)?;
    let verdict = verdict::judge(&record);
    Ok(Measured { record, verdict, storage_owes: false })
}

/// An existing set of tests.
pub(crate) struct SetOfRuns {
    made: Vec<(TestType, &'static str, Made)>,
}

impl SetOfRuns {
    /// Renders its report in one format; `None` if a set has no such format.
    pub(crate) fn render(&self, format: ReportFormat) -> Option<String> {
        let tests = self.tests();
        let form = match format {
            ReportFormat::Html => ReportForm::Page,
            ReportFormat::Text => ReportForm::Text { width: TEXT_WIDTH },
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
        write_reports(folder, &tests)?;
        conclude(&tests, folder, false, console)
    }

    /// The combined outcome.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::of_ruling(report::suite_outcome(&self.tests()))
    }

    /// The folders of its runs below `folder`.
    pub(crate) fn runs(&self, folder: &Path) -> Vec<PathBuf> {
        self.seals(folder).into_iter().map(|(run, _)| run).collect()
    }

    /// The folders of its runs, each with the state of its journal's hashes.
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
