//! `compare`: runs or sets of tests side by side, and which differences are more than noise.

pub(crate) mod flags;
mod fleets;
mod sets;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use host::{is_live, journal_of, load, runs_at};
use record::RunRecord;
use verdict::NamedRun;

use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use flags::{CompareFlags, ComparisonFormat};

/// File extensions and their formats.
const ENDINGS: [(&str, ComparisonFormat); 5] = [
    ("txt", ComparisonFormat::Text),
    ("html", ComparisonFormat::Html),
    ("htm", ComparisonFormat::Html),
    ("json", ComparisonFormat::Json),
    ("csv", ComparisonFormat::Csv),
];

/// Compares runs; differences are an answer, not a failure.
pub(crate) fn run(flags: &CompareFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if flags.runs.len() > report::MOST_RUNS {
        return Err(CommandError::new(format!(
            "{} runs: at most {} can stand side by side",
            flags.runs.len(),
            report::MOST_RUNS
        )));
    }
    let format = format(flags)?;
    let named_file = documents::named_file(flags.output.as_ref());
    let form = format.form(named_file.map_or_else(|| console.text_width(), |_| report::TEXT_WIDTH));
    let within = fleets::within(&flags.runs)?;
    if within.is_none() && fleets::are_fleets(&flags.runs)? {
        let (text, journals) = fleets::compared(form, &flags.runs)?;
        return deliver(flags, (format, &text), &journals, console);
    }
    if within.is_none()
        && let Some(sets) = sets::at(&flags.runs)?
    {
        let (text, journals) = sets::compared(form, &flags.runs, &sets)?;
        return deliver(flags, (format, &text), &journals, console);
    }
    let mut paths = Vec::new();
    let mut records = Vec::new();
    for path in within.as_ref().unwrap_or(&flags.runs) {
        let path = newest(path)?;
        records.push(recorded(&path)?);
        paths.push(path);
    }
    let runs = named(records, &paths);
    let comparison =
        verdict::compare(&runs).map_err(|error| CommandError::new(error.to_string()))?;
    let journals: Vec<PathBuf> = paths.iter().map(|path| journal_of(path)).collect();
    let text = report::render_comparison(form, &runs, &comparison);
    deliver(flags, (format, &text), &journals, console)
}

fn deliver(
    flags: &CompareFlags,
    (format, text): (ComparisonFormat, &str),
    journals: &[PathBuf],
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    match documents::named_file(flags.output.as_ref()) {
        Some(file) => {
            let existing = Existing::of_flag(flags.force);
            documents::write(file, text.as_bytes(), existing, &inputs(journals))?;
            console.remark(format_args!("Comparison: {}", file.display()))?;
        }
        None if format == ComparisonFormat::Text => console.answer_prose(text)?,
        None => console.answer_text(text)?,
    }
    Ok(Outcome::Pass)
}

fn format(flags: &CompareFlags) -> Result<ComparisonFormat, CommandError> {
    let given = if flags.json { Some(ComparisonFormat::Json) } else { flags.format };
    let format = documents::form_of(given, flags.output.as_deref(), &ENDINGS)?;
    Ok(format.unwrap_or(ComparisonFormat::Text))
}

fn inputs(journals: &[PathBuf]) -> Vec<&Path> {
    journals.iter().map(PathBuf::as_path).collect()
}

/// A run, or the newest one in a folder of runs.
fn newest(path: &Path) -> Result<PathBuf, CommandError> {
    Ok(runs_at(path)?.remove(0))
}

fn recorded(path: &Path) -> Result<RunRecord, CommandError> {
    if is_live(path) {
        return Err(CommandError::new(format!(
            "{}: the run is live; compare it when it has ended",
            path.display()
        )));
    }
    Ok(load(path)?)
}

/// The runs with their verdicts, under distinct names.
fn named(records: Vec<RunRecord>, paths: &[PathBuf]) -> Vec<NamedRun> {
    let own: Vec<&str> = records.iter().map(|record| record.start.name.as_str()).collect();
    let changes = record::scenario_names(records.iter().map(|of| &*of.start.options));
    let names = report::comparison_names(&own, changes.unwrap_or_else(|| names(paths)));
    let mut named = Vec::new();
    for (record, name) in records.into_iter().zip(names) {
        let verdict = verdict::judge(&record);
        named.push(NamedRun { name, record, verdict });
    }
    named
}

/// The last parts of the paths, or the whole paths if two would have the same name.
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
