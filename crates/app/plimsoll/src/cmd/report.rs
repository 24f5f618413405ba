//! `report`: the report of a run from its journal, today or years later.

pub(crate) mod flags;
mod live;
mod paper;
mod sweep;

use std::path::{Path, PathBuf};

use host::{is_live, journal_of, runs_at, write_reports};
use record::{RunRecord, Seal};
use verdict::Verdict;

use super::sequel::loaded;
use super::suite::{self, SetOfRuns};
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use console::shell::shell_word;
use console::{self, Console};
use flags::{ReportFlags, ReportFormat};

/// File extensions and their formats.
const ENDINGS: [(&str, ReportFormat); 8] = [
    ("txt", ReportFormat::Text),
    ("html", ReportFormat::Html),
    ("html", ReportFormat::Esrp),
    ("htm", ReportFormat::Html),
    ("json", ReportFormat::Json),
    ("xml", ReportFormat::Xml),
    ("csv", ReportFormat::Csv),
    ("docx", ReportFormat::Esrp),
];

/// Renders the report; the outcome is the verdict of the run.
pub(crate) fn run(flags: &ReportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if flags.vendor_template {
        console.answer_text(esrp::template())?;
        return Ok(Outcome::Pass);
    }
    let format = documents::form_of(flags.format, flags.output.as_deref(), &ENDINGS)?;
    let flags = &ReportFlags { format, ..flags.clone() };
    if flags.format == Some(ReportFormat::Esrp) {
        return paper::run(flags, console);
    }
    if flags.vendor.is_some() {
        let text = "--vendor has an effect on white papers alone; add --format esrp";
        return Err(CommandError::usage(text));
    }
    match flags.runs.as_slice() {
        [run] => report_at(flags, run, console),
        runs => Err(CommandError::usage(format!(
            "{} runs: a report is of one; `plimsoll compare` sets several side by side, and \
             --format esrp makes one paper of them",
            runs.len()
        ))),
    }
}

fn report_at(
    flags: &ReportFlags,
    path: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    if fleets::show::is_fleet(path) {
        return report_fleet(flags, path, console);
    }
    if sweep::is_sweep(path) {
        return sweep::report_sweep(flags, path, console);
    }
    if let Some(set) = suite::made_in(path)? {
        return report_set((flags, path), &set, console);
    }
    let run = newest_run(path, console)?;
    if is_live(&run) {
        return live::report_run(flags, &run, console);
    }
    let record = loaded(&run)?;
    let verdict = verdict::judge(&record);
    let outcome = Outcome::of(&verdict);
    complain_of_seal(&record.seal, &run);
    if flags.format.is_none() && flags.output.is_none() && run.is_dir() {
        console.answer(report::summary_in(&record, &verdict, &shell_word(&run)).trim_end())?;
        write_reports(&run, &record, &verdict)?;
        let page = run.join("report.html");
        console.answer(format_args!("Report: {}", page.display()))?;
        return Ok(outcome);
    }
    render(flags, &run, (&record, &verdict), console)?;
    Ok(outcome)
}

/// The verdict on a fleet, as text or JSON.
fn report_fleet(
    flags: &ReportFlags,
    path: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let json = match flags.format {
        None | Some(ReportFormat::Text) => false,
        Some(ReportFormat::Json) => true,
        Some(_) => {
            return Err(CommandError::usage(
                "a fleet run is answered as text and as JSON; its folder has report.html and \
                 report.csv, and the folders below hosts/ have all forms",
            ));
        }
    };
    fleets::show::show(path, json, console)
}

/// Warns if the journal was altered, or has no hashes that would show an alteration.
fn complain_of_seal(seal: &Seal, run: &Path) {
    let run = run.display();
    match seal {
        Seal::Altered { line } => console::complain(&format!(
            "{run}: ALTERED after it was written, from line {line} on: nothing in it proves \
             anything"
        )),
        Seal::Unsealed => console::complain(&format!(
            "{run}: unsealed: its lines carry no hashes, so nothing shows whether they were edited"
        )),
        Seal::Whole { .. } => {}
    }
}

/// Finds the newest run at `path`, which may be a folder of several runs.
fn newest_run(path: &Path, console: &mut Console) -> Result<PathBuf, CommandError> {
    let mut runs = runs_at(path)?;
    let newest = runs.remove(0);
    if newest != path {
        let others = match runs.len() {
            0 => String::new(),
            count => format!(", the newest of {}", count + 1),
        };
        console.remark(format_args!("The run in {}{others}.", newest.display()))?;
    }
    Ok(newest)
}

/// Writes the report of a set of tests.
fn report_set(
    (flags, path): (&ReportFlags, &Path),
    set: &SetOfRuns,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    for (run, seal) in set.seals(path) {
        complain_of_seal(&seal, &run);
    }
    if flags.format.is_none() && flags.output.is_none() {
        return match set.live(path) {
            Some(run) => live::report_set(set, (path, &run), console),
            None => set.conclude(path, console),
        };
    }
    let format = flags.format.unwrap_or(ReportFormat::Text);
    let text = set.render(format, text_width(flags, console)).ok_or_else(|| {
        CommandError::new(format!(
            "{}: a set of tests has no such form; name the folder of one of its tests",
            path.display()
        ))
    })?;
    let journals: Vec<PathBuf> = set.runs(path).iter().map(|run| journal_of(run)).collect();
    deliver(flags, &text, &journals.iter().map(PathBuf::as_path).collect::<Vec<_>>(), console)?;
    Ok(set.outcome())
}

/// Writes one form of the report to a file or to the terminal. A file may be moved with the run, so
/// only the terminal names the folder in the next steps.
fn render(
    flags: &ReportFlags,
    run: &Path,
    (record, verdict): (&RunRecord, &Verdict),
    console: &mut Console,
) -> Result<(), CommandError> {
    let text = match flags.format.unwrap_or(ReportFormat::Text) {
        ReportFormat::Html => report::html(record, verdict),
        ReportFormat::Text if documents::named_file(flags.output.as_ref()).is_some() => {
            report::text(record, verdict)
        }
        ReportFormat::Text => {
            report::text_in(record, verdict, &shell_word(run), console.text_width())
        }
        ReportFormat::Json => report::json(record, verdict),
        ReportFormat::Xml => report::result_xml(record, verdict).ok_or_else(|| {
            CommandError::new(format!(
                "{}: only a load measured here has the XML of Jetstress; name another form",
                journal_of(run).display()
            ))
        })?,
        ReportFormat::Csv => report::csv(record),
        ReportFormat::Esrp => unreachable!("papers are made before a single run is looked for"),
    };
    deliver(flags, &text, &[&journal_of(run)], console)
}

/// Width of a report in text: that of the terminal which shows it.
fn text_width(flags: &ReportFlags, console: &Console) -> usize {
    match documents::named_file(flags.output.as_ref()) {
        Some(_) => report::TEXT_WIDTH,
        None => console.text_width(),
    }
}

/// Writes a text made from `inputs` to a file or to the terminal.
fn deliver(
    flags: &ReportFlags,
    text: &str,
    inputs: &[&Path],
    console: &mut Console,
) -> Result<(), CommandError> {
    match documents::named_file(flags.output.as_ref()) {
        Some(file) => {
            let existing = Existing::of_flag(flags.force);
            documents::write(file, text.as_bytes(), existing, inputs)
        }
        None if matches!(flags.format, None | Some(ReportFormat::Text)) => {
            console.answer_prose(text)
        }
        None => console.answer_text(text),
    }
}
