//! `compare` for sets of tests: each test of one set with the same test of the others.

use std::path::{Path, PathBuf};

use host::{is_live, journal_of};
use report::{NamedSet, ReportForm};

use crate::cmd::suite::{self, SetOfRuns};
use console::error::CommandError;

/// Returns the sets at `paths`; `None` if no path is a set.
pub(super) fn at(paths: &[PathBuf]) -> Result<Option<Vec<SetOfRuns>>, CommandError> {
    let mut sets = Vec::new();
    let mut run = None;
    for path in paths {
        match suite::made_in(path)? {
            Some(set) => sets.push((path, set)),
            None => run = Some(path),
        }
    }
    match (sets.first(), run) {
        (None, _) => Ok(None),
        (Some(_), None) => Ok(Some(sets.into_iter().map(|(_, set)| set).collect())),
        (Some((set, _)), Some(run)) => Err(CommandError::new(format!(
            "{}: is a set of tests, and {} a single run; compare sets with sets, or name one of \
             its tests, such as {}",
            set.display(),
            run.display(),
            set.join("1-performance").display()
        ))),
    }
}

/// Returns the comparison in a form, and the journals behind it.
pub(super) fn compared(
    form: ReportForm,
    paths: &[PathBuf],
    sets: &[SetOfRuns],
) -> Result<(String, Vec<PathBuf>), CommandError> {
    let mut journals = Vec::new();
    for (path, set) in paths.iter().zip(sets) {
        for run in set.runs(path) {
            refuse_live(&run)?;
            journals.push(journal_of(&run));
        }
    }
    let own: Vec<&str> = sets.iter().map(name).collect();
    let named: Vec<NamedSet<'_>> = report::comparison_names(&own, super::names(paths))
        .into_iter()
        .zip(sets)
        .map(|(name, set)| NamedSet { name, tests: set.tests() })
        .collect();
    Ok((report::render_suites(form, &named), journals))
}

/// The name that the runs of a set were given; empty if there is none.
fn name(set: &SetOfRuns) -> &str {
    let measured = set.tests().into_iter().find_map(|test| test.measured.ok());
    measured.map_or("", |(run, _)| &run.start.name)
}

fn refuse_live(run: &Path) -> Result<(), CommandError> {
    let text = format!("{}: the run is live; compare it when it has ended", run.display());
    if is_live(run) { Err(CommandError::new(text)) } else { Ok(()) }
}
