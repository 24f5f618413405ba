//! `list`: the runs below a folder, the newest first; a set of tests is one of them.

mod entry;

use std::fs;
use std::path::{Path, PathBuf};

use record::{JOURNAL, RunRecord, Series};
use report::{SUITE_PARTS, mean_ms, started_iso};
use serde_json::{Value, json};

use crate::Outcome;
use crate::console::{self, Console};
use crate::error::CommandError;
use crate::flags::ListFlags;
use crate::measure::{is_live, load, refusal_to_resume};
use crate::shell::shell_word;

use entry::{CutOff, ListEntry, ListedRun, ListedSet, entries};

/// Runs and sets of tests lie in a folder of runs, or in one of such folders.
const DEEPEST: u32 = 3;

/// Lists; that there are none is an answer too.
pub(crate) fn run(flags: &ListFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut folders = Vec::new();
    find(&flags.folder, DEEPEST, &mut folders)
        .map_err(|error| CommandError::file(&flags.folder, "look for runs in", &error))?;
    let mut runs = Vec::new();
    for folder in folders {
        match load(&folder) {
            Ok(record) => {
                let (verdict, is_live) = (verdict::judge(&record), is_live(&folder));
                let cut = if is_live { None } else { cut_off(&folder, &record)? };
                runs.push(ListedRun { folder, record, verdict, is_live, cut });
            }
            // One that cannot be read hides none of the others.
            Err(error) => match error.told() {
                Some((sentence, _)) => console::complain(sentence),
                None => return Err(error),
            },
        }
    }
    runs.retain(|run| flags.tags.iter().all(|tag| run.record.start.tags.contains(tag)));
    let entries = entries(runs);
    if flags.json {
        console.answer_json("runs", entries_json(&entries))?;
    } else {
        print(&entries, &flags.folder, console)?;
    }
    Ok(Outcome::Pass)
}

/// How a run can be completed that was cut off; none of a run that came to an end.
fn cut_off(folder: &Path, record: &RunRecord) -> Result<Option<CutOff>, CommandError> {
    if !report::is_cut_off(record) {
        return Ok(None);
    }
    Ok(Some(match refusal_to_resume(folder)? {
        None => CutOff::Resumable(format!("plimsoll run --resume {}", shell_word(folder))),
        Some(why) => CutOff::Lost(why),
    }))
}

/// Folders that hold a journal; links are not followed, so there are no circles.
fn find(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.join(JOURNAL).is_file() {
        found.push(folder.to_path_buf());
        return Ok(());
    }
    if depth == 0 {
        // A set here is one of the runs, although the runs of its tests lie deeper.
        let parts = SUITE_PARTS.map(|(part, _)| folder.join(part));
        found.extend(parts.into_iter().filter(|part| part.join(JOURNAL).is_file()));
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            // A folder that may not be looked into holds no run for this user.
            let _ = find(&entry.path(), depth - 1, found);
        }
    }
    Ok(())
}

fn print(entries: &[ListEntry], below: &Path, console: &mut Console) -> Result<(), CommandError> {
    if entries.is_empty() {
        return console.remark(format_args!("No runs found in `{}`.", below.display()));
    }
    console.answer(
        "Started           Verdict                IOPS  Read ms   Log ms  Name              Run",
    )?;
    for entry in entries {
        match entry {
            ListEntry::Run(run) => print_run(run, "", console)?,
            ListEntry::Set(set) => {
                print_set(set, console)?;
                for run in &set.tests {
                    print_run(run, "  ", console)?;
                }
            }
        }
    }
    Ok(())
}

fn print_set(set: &ListedSet, console: &mut Console) -> Result<(), CommandError> {
    let first = set.first();
    console.answer(format_args!(
        "{:<16}  {:<15}  {:>10}  {:>7}  {:>7}  {:<16}  {}{}",
        started(first),
        set.verdict_word(),
        set.passed(),
        "",
        "",
        name(first),
        set.folder.display(),
        tags(first)
    ))
}

fn print_run(run: &ListedRun, indent: &str, console: &mut Console) -> Result<(), CommandError> {
    console.answer(format_args!(
        "{:<16}  {:<15}  {:>10}  {:>7}  {:>7}  {:<16}  {indent}{}{}",
        started(run),
        run.verdict_word(),
        rate(run),
        milliseconds(mean_ms(&run.record, Series::DatabaseRead)),
        milliseconds(mean_ms(&run.record, Series::LogWrite)),
        name(run),
        run.folder.display(),
        tags(run)
    ))?;
    match &run.cut {
        None => Ok(()),
        Some(CutOff::Resumable(command)) => {
            console.answer(format_args!("{:<16}  {indent}complete it: {command}", ""))
        }
        Some(CutOff::Lost(why)) => console.answer(format_args!("{:<16}  {indent}{why}", "")),
    }
}

fn started(run: &ListedRun) -> String {
    started_iso(&run.record).map_or("-".to_owned(), |time| {
        let text: String = time.chars().take(16).collect();
        text.replace('T', " ")
    })
}

/// The IOPS of a load; a backup has MiB/s.
fn rate(run: &ListedRun) -> String {
    let iops = report::achieved_iops(&run.record).map(|iops| format!("{iops:.0}"));
    let mebibytes =
        report::backup_mib_per_second(&run.record).map(|rate| format!("{rate:.0} MiB/s"));
    iops.or(mebibytes).unwrap_or_else(|| "-".to_owned())
}

fn name(run: &ListedRun) -> &str {
    match run.record.start.name.as_str() {
        "" => "-",
        name => name,
    }
}

fn tags(run: &ListedRun) -> String {
    let tags = run.record.start.tags.join(", ");
    if tags.is_empty() { tags } else { format!("  [{tags}]") }
}

fn milliseconds(mean: Option<f64>) -> String {
    mean.map_or("-".to_owned(), |mean| format!("{mean:.3}"))
}

fn entries_json(entries: &[ListEntry]) -> Value {
    let mut runs = Vec::new();
    for entry in entries {
        runs.push(match entry {
            ListEntry::Run(run) => run_json(run),
            ListEntry::Set(set) => set_json(set),
        });
    }
    json!({ "runs": runs })
}

fn set_json(set: &ListedSet) -> Value {
    let start = &set.first().record.start;
    json!({
        "name": start.name,
        "tags": start.tags,
        "folder": set.folder.display().to_string(),
        "description": start.description,
        "test": "Set of tests",
        "started": started_iso(&set.first().record),
        "verdict": set.verdict_for_programs(),
        "tests": set.tests.iter().map(run_json).collect::<Vec<Value>>(),
    })
}

fn run_json(run: &ListedRun) -> Value {
    json!({
        "name": run.record.start.name,
        "tags": run.record.start.tags,
        "folder": run.folder.display().to_string(),
        "description": run.record.start.description,
        "test": run.record.start.test.name(),
        "started": started_iso(&run.record),
        "verdict": run.verdict_for_programs(),
        "cut_off": run.cut.is_some(),
        "resume": match &run.cut {
            Some(CutOff::Resumable(command)) => Some(command),
            Some(CutOff::Lost(_)) | None => None,
        },
        "simulated": run.record.simulated().map(|simulation| &simulation.array),
        "imported": run.record.imported().map(|imported| &imported.instrument),
        "achieved_transactional_iops": report::achieved_iops(&run.record),
        "backup_mib_per_second": report::backup_mib_per_second(&run.record),
        "read_latency_ms": mean_ms(&run.record, Series::DatabaseRead),
        "log_write_latency_ms": mean_ms(&run.record, Series::LogWrite),
    })
}
