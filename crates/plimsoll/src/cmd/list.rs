//! `list`: the runs below a folder, the newest first.

use std::fs;
use std::path::{Path, PathBuf};

use record::{JOURNAL, RunRecord, Series};
use report::{achieved_iops, mean_ms, started_iso, started_ns};
use serde_json::{Value, json};
use verdict::Verdict;

use crate::Outcome;
use crate::console::{self, Console};
use crate::error::CommandError;
use crate::flags::ListFlags;
use crate::measure::{is_live, load, refusal_to_resume};
use crate::shell::shell_word;

/// Runs lie in a folder of runs, or in one of such folders.
const DEEPEST: u32 = 3;

/// A run that was found.
struct ListedRun {
    folder: PathBuf,
    record: RunRecord,
    verdict: Verdict,
    is_live: bool,
    cut: Option<CutOff>,
}

/// A run whose program or machine stopped in its midst.
enum CutOff {
    /// This command completes it.
    Resumable(String),
    /// Why none does.
    Lost(String),
}

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
    runs.sort_by_key(|run| std::cmp::Reverse(started_ns(&run.record)));
    if flags.json {
        console
            .answer_json("runs", json!({ "runs": runs.iter().map(as_json).collect::<Vec<_>>() }))?;
    } else {
        print(&runs, &flags.folder, console)?;
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

fn print(runs: &[ListedRun], below: &Path, console: &mut Console) -> Result<(), CommandError> {
    if runs.is_empty() {
        return console.remark(format_args!("No run lies in {}.", below.display()));
    }
    console.answer(
        "Started           Verdict              IOPS  Read ms   Log ms  Name              Run",
    )?;
    for run in runs {
        let started = started_iso(&run.record).map_or("-".to_owned(), |time| {
            let text: String = time.chars().take(16).collect();
            text.replace('T', " ")
        });
        console.answer(format_args!(
            "{started:<16}  {:<15}  {:>8}  {:>7}  {:>7}  {:<16}  {}{}",
            verdict_word(run),
            achieved_iops(&run.record).map_or("-".to_owned(), |iops| format!("{iops:.0}")),
            milliseconds(mean_ms(&run.record, Series::DatabaseRead)),
            milliseconds(mean_ms(&run.record, Series::LogWrite)),
            name(run),
            run.folder.display(),
            tags(run)
        ))?;
        match &run.cut {
            None => {}
            Some(CutOff::Resumable(command)) => {
                console.answer(format_args!("{:<16}  complete it: {command}", ""))?;
            }
            Some(CutOff::Lost(why)) => console.answer(format_args!("{:<16}  {why}", ""))?,
        }
    }
    Ok(())
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

fn verdict_word(run: &ListedRun) -> String {
    match (run.is_live, &run.cut) {
        (true, _) => "live".to_owned(),
        (false, Some(_)) => "Cut off".to_owned(),
        (false, None) => report::verdict_name(&run.record, &run.verdict),
    }
}

fn verdict_for_programs(run: &ListedRun) -> &'static str {
    if run.is_live { "live" } else { report::verdict_of(&run.record, &run.verdict) }
}

fn as_json(run: &ListedRun) -> Value {
    json!({
        "name": run.record.start.name,
        "tags": run.record.start.tags,
        "folder": run.folder.display().to_string(),
        "description": run.record.start.description,
        "test": run.record.start.test.name(),
        "started": started_iso(&run.record),
        "verdict": verdict_for_programs(run),
        "cut_off": run.cut.is_some(),
        "resume": match &run.cut {
            Some(CutOff::Resumable(command)) => Some(command),
            Some(CutOff::Lost(_)) | None => None,
        },
        "simulated": run.record.simulated().map(|simulation| &simulation.array),
        "imported": run.record.imported().map(|imported| &imported.instrument),
        "achieved_transactional_iops": achieved_iops(&run.record),
        "read_latency_ms": mean_ms(&run.record, Series::DatabaseRead),
        "log_write_latency_ms": mean_ms(&run.record, Series::LogWrite),
    })
}
