//! `compare`: runs or sets of tests side by side, and which differences are more than noise.

mod sets;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use verdict::{NamedRun, RunComparison};

use crate::Outcome;
use crate::console::Console;
use crate::documents::{self, Existing};
use crate::error::CommandError;
use crate::flags::{CompareFlags, ComparisonFormat};
use crate::measure::{is_live, journal_of, load, runs_at};

/// Compares; that runs differ is an answer and no failure.
pub(crate) fn run(flags: &CompareFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if flags.runs.len() > report::MOST_RUNS {
        return Err(CommandError::new(format!(
            "{} runs: at most {} can stand side by side",
            flags.runs.len(),
            report::MOST_RUNS
        )));
    }
    if let Some(sets) = sets::at(&flags.runs)? {
        let names = names(&flags.runs);
        let (text, journals) = sets::compared(flags, (&flags.runs, names), &sets)?;
        return deliver(flags, &text, &journals, console);
    }
    let paths: Result<Vec<PathBuf>, CommandError> =
        flags.runs.iter().map(|path| newest(path)).collect();
    let paths = paths?;
    let names = names(&paths);
    let runs: Result<Vec<NamedRun>, CommandError> =
        paths.iter().zip(names).map(|(path, name)| named(path, name)).collect();
    let runs = runs?;
    let comparison =
        verdict::compare(&runs).map_err(|error| CommandError::new(error.to_string()))?;
    let journals: Vec<PathBuf> = paths.iter().map(|path| journal_of(path)).collect();
    deliver(flags, &render(flags, &runs, &comparison), &journals, console)
}

fn deliver(
    flags: &CompareFlags,
    text: &str,
    journals: &[PathBuf],
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    match &flags.output {
        Some(file) => {
            let existing = Existing::of_flag(flags.force);
            documents::write(file, text.as_bytes(), existing, &inputs(journals))?;
            console.remark(format_args!("Comparison: {}", file.display()))?;
        }
        None => console.answer_text(text)?,
    }
    Ok(Outcome::Pass)
}

fn inputs(journals: &[PathBuf]) -> Vec<&Path> {
    journals.iter().map(PathBuf::as_path).collect()
}

fn render(flags: &CompareFlags, runs: &[NamedRun], comparison: &RunComparison) -> String {
    match format_of(flags) {
        ComparisonFormat::Text => report::comparison_text(runs, comparison),
        ComparisonFormat::Html => report::comparison_html(runs, comparison),
        ComparisonFormat::Json => report::comparison_json(runs, comparison),
        ComparisonFormat::Csv => report::comparison_csv(runs, comparison),
    }
}

fn format_of(flags: &CompareFlags) -> ComparisonFormat {
    if flags.json { ComparisonFormat::Json } else { flags.format }
}

/// A run, or the newest one in a folder of runs.
fn newest(path: &Path) -> Result<PathBuf, CommandError> {
    Ok(runs_at(path)?.remove(0))
}

fn named(path: &Path, name: String) -> Result<NamedRun, CommandError> {
    if is_live(path) {
        return Err(CommandError::new(format!(
            "{}: the run is live; compare it when it has ended",
            path.display()
        )));
    }
    let record = load(path)?;
    let verdict = verdict::judge(&record);
    Ok(NamedRun { name, record, verdict })
}

/// The last parts of the paths, or the whole paths where two would have the same name.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let short: Vec<String> = paths
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned())
        .collect();
    if short.iter().collect::<BTreeSet<_>>().len() == paths.len() {
        return short;
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}
